//! Which core runs which FMU. All partitions of an instance share one (design S6).

use super::HostFacts;
use super::findings::{Findings, Unit};
use crate::rig::{At, Mode, Rig};

/// The core of each FMU. FMUs without `cpu` take the rig's cores in turn.
pub(super) fn assign(rig: &Rig, units: &[Unit], host: &HostFacts, findings: &mut Findings) -> Vec<usize> {
    let usable = host.usable();
    for cpu in &rig.host.cpus {
        check(rig, cpu, &usable, "cpus", findings);
    }
    let pool: Vec<usize> = match rig.host.cpus.as_slice() {
        [] => host.default_cores(),
        given => given.iter().map(|cpu| cpu.value).collect(),
    };
    let mut turn = pool.iter().cycle();
    let mut core_of = |unit: &Unit| match &unit.rig.cpu {
        Some(cpu) => {
            check(rig, cpu, &usable, "cpu", findings);
            cpu.value
        }
        None => *turn.next().expect("the pool is never empty"),
    };
    units.iter().map(&mut core_of).collect()
}

fn check(rig: &Rig, cpu: &At<usize>, usable: &[usize], key: &str, findings: &mut Findings) {
    if usable.contains(&cpu.value) {
        return;
    }
    let known: Vec<String> = usable.iter().map(usize::to_string).collect();
    let message = format!(
        "{key}: core {} does not exist on this machine or is not open to this process; usable are {}",
        cpu.value,
        known.join(", ")
    );
    // In virtual time cores mean nothing: a rig for a larger machine can be tried anywhere.
    if rig.mode == Mode::Virtual { findings.note(message) } else { findings.rig(cpu.place, message) }
}
