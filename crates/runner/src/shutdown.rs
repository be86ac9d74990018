//! The end of the instances (semantics S13, S14): Terminate and Free where they are allowed, or the preparation of a further run.

use super::activation::Activation;
use super::run_state::RunState;
use super::surroundings;
use super::thread_host::PartitionHost;
use super::unit::{self, Ready, Unit};
use std::sync::atomic::Ordering::SeqCst;
use vecud_fmi::{Failure, Health, Instance, InstanceControl, Outcome, Running, Terminated, set_thread_host};
use vecud_record::board::FmuWord;
use vecud_record::findings::When;

/// Puts the instances together again, in rig order. All partition threads have returned; an instance that lacks one,
/// since its thread could not be started, is abandoned and missing from the list.
pub fn join(
    run: &RunState,
    controls: Vec<InstanceControl>,
    activations: Vec<Activation>,
) -> Vec<Option<Instance<Running>>> {
    let mut units: Vec<Vec<Unit>> = controls.iter().map(|_| Vec::new()).collect();
    // Not by their place in the list: a thread that could not be started is missing from it.
    for (id, unit) in activations.into_iter().flat_map(Activation::into_units) {
        units[run.plan.units[id.0].fmu.0].push(unit);
    }
    let joined = controls.into_iter().zip(units).enumerate().map(|(index, (control, own))| {
        let whole = unit::join(control, own);
        if whole.is_none() {
            run.board.fmu(vecud_plan::FmuId(index)).word(FmuWord::End).store(3, SeqCst);
        }
        whole
    });
    joined.collect()
}

/// Ends all instances, in the reverse order of their making.
pub fn end_instances(run: &RunState, instances: Vec<Option<Instance<Running>>>, hosts: &[&'static PartitionHost]) {
    for (index, instance) in instances.into_iter().enumerate().rev() {
        let Some(instance) = instance else { continue };
        set_thread_host(Some(hosts[index]));
        let health = instance.health();
        note_end(run, hosts[index], health, instance.end());
    }
    set_thread_host(None);
}

/// Ends the run of all instances, in the reverse order of their making, and keeps them.
pub fn terminate(
    run: &RunState,
    instances: Vec<Instance<Running>>,
    hosts: &[&'static PartitionHost],
) -> Vec<Instance<Terminated>> {
    let mut kept = Vec::new();
    for (index, instance) in instances.into_iter().enumerate().rev() {
        set_thread_host(Some(hosts[index]));
        let health = instance.health();
        let (instance, result) = instance.terminate();
        note_end(run, hosts[index], health, result);
        kept.push(instance);
    }
    set_thread_host(None);
    kept.reverse();
    kept
}

/// Frees instances whose run is over, in the reverse order of their instantiation.
pub fn free(instances: Vec<Instance<Terminated>>, hosts: &[&'static PartitionHost]) {
    for (instance, host) in instances.into_iter().zip(hosts).rev() {
        set_thread_host(Some(*host));
        let _it_has_ended_before = instance.end();
    }
    set_thread_host(None);
}

/// Ends instances that do not come to their start, in the reverse order of their instantiation, each under its own host. The
/// first ones are ready, and end like others after a run; `drop` drops an instance that is not.
pub fn give_up(run: &RunState, mut ready: Vec<Ready>, hosts: &[&'static PartitionHost], mut drop: impl FnMut(usize)) {
    for (index, host) in hosts.iter().enumerate().rev() {
        set_thread_host(Some(*host));
        drop(index);
        if let Some(Ready { control, units }) = ready.drain(index.min(ready.len())..).next() {
            // None of them is missing.
            if let Some(instance) = unit::join(control, units.into_iter().map(|(_, unit)| unit).collect()) {
                let health = instance.health();
                note_end(run, host, health, instance.end());
            }
        }
        host.returned_from_fmu();
    }
    set_thread_host(None);
}

fn note_end(run: &RunState, host: &PartitionHost, before: Health, result: Result<Outcome, Failure>) {
    if let Err(failure) = &result {
        host.fail(failure);
    }
    host.returned_from_fmu();
    surroundings::look(run, host.fmu(), When::Ending);
    let end = match (before, &result) {
        (Health::Fatal, _) => 3,
        (Health::Healthy, Ok(_)) => 1,
        _ => 2,
    };
    run.board.fmu(host.fmu()).word(FmuWord::End).store(end, SeqCst);
}
