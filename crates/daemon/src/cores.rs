//! Which cores the threads of the daemon itself run on: those that answer requests, watch sessions, and write reports.

use std::collections::BTreeSet;
use vecud_linux::affinity;
use vecud_plan::RunningRig;

/// Moves all threads of this process to the cores among `cpus` that are theirs beside such rigs.
pub fn settle(cpus: &BTreeSet<usize>, running: &[RunningRig]) {
    affinity::keep_process_on(&own(cpus, running));
}

/// Cores without partitions. If there are none, those that no rig has alone, and if there are none of these either, all: partitions
/// go first on any core, and most of them sleep most of the time.
fn own(cpus: &BTreeSet<usize>, running: &[RunningRig]) -> BTreeSet<usize> {
    let without = |rigs: &mut dyn Iterator<Item = &RunningRig>| {
        let theirs: BTreeSet<usize> = rigs.flat_map(RunningRig::cores).collect();
        cpus.difference(&theirs).copied().collect::<BTreeSet<usize>>()
    };
    let (free, open) = (without(&mut running.iter()), without(&mut running.iter().filter(|rig| rig.exclusive)));
    [free, open].into_iter().find(|cores| !cores.is_empty()).unwrap_or_else(|| cpus.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use vecud_plan::RunningThread;

    fn rig(exclusive: bool, cores: &[usize]) -> RunningRig {
        let thread = |cpu: &usize| RunningThread { cpu: *cpu, fifo: None, is_task: true };
        RunningRig { exclusive, threads: cores.iter().map(thread).collect(), ..RunningRig::default() }
    }

    #[test]
    fn free_cores_come_first_then_those_that_are_shared_then_all() {
        let own = |running: &[RunningRig]| own(&BTreeSet::from([0, 1, 2]), running).into_iter().collect::<Vec<_>>();
        assert_eq!(own(&[]), [0, 1, 2]);
        assert_eq!(own(&[rig(false, &[2]), rig(true, &[1, 7])]), [0]);
        assert_eq!(own(&[rig(false, &[2, 0]), rig(true, &[1])]), [0, 2]);
        assert_eq!(own(&[rig(true, &[2, 0]), rig(true, &[1])]), [0, 1, 2]);
        let receiver = RunningThread { cpu: 0, fifo: None, is_task: false };
        let receives = RunningRig { threads: vec![receiver], ..RunningRig::default() };
        assert_eq!(own(&[receives]), [0, 1, 2], "a thread that receives datagrams has no core of its own");
    }
}
