//! The end of the instances (design S13, S14): Terminate where it is allowed, Free where it is allowed.

use super::activation::Activation;
use super::thread_host::PartitionHost;
use super::world::World;
use crate::ffi::{Health, InstanceControl, Partition, TerminateError, set_thread_host};
use crate::record::board::FmuWord;
use std::sync::atomic::Ordering::SeqCst;

/// Ends all instances, in the reverse order of their making. All partition threads have returned.
pub fn end_instances(
    world: &World,
    controls: Vec<InstanceControl>,
    activations: Vec<Activation>,
    hosts: &[&'static PartitionHost],
) {
    let mut partitions: Vec<Vec<Partition>> = controls.iter().map(|_| Vec::new()).collect();
    // Not by their place in the list: a thread that could not be started is missing from it.
    for (task, partition) in activations.into_iter().map(Activation::into_partition) {
        partitions[world.plan.tasks[task.0].fmu.0].push(partition);
    }
    for (index, (control, own)) in controls.into_iter().zip(partitions).enumerate().rev() {
        set_thread_host(Some(hosts[index]));
        let health = control.health();
        let result = control.terminate(own);
        if let Err(TerminateError::Failed(failure)) = &result {
            hosts[index].fail(failure);
        }
        hosts[index].returned_from_fmu();
        let end = match (health, &result) {
            (Health::Fatal, _) | (_, Err(TerminateError::PartitionsMissing(_))) => 3,
            (Health::Healthy, Ok(_)) => 1,
            _ => 2,
        };
        world.board.fmu(hosts[index].fmu()).word(FmuWord::End).store(end, SeqCst);
    }
    set_thread_host(None);
}
