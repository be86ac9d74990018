//! Rigs that are running when another one is planned (semantics S26).
//!
//! Guarantees: their cores and priorities stay theirs. The planned rig takes free cores, as long as there are some; on a shared
//! core its levels get FIFO priorities that are free there (`priorities::slots`), and a note names the other rigs. A rig that is
//! `exclusive` shares the cores of its partitions with none, whichever came first.

use super::described::DescribedFmu;
use super::findings::Findings;
use super::{HostFacts, Mode};
use crate::rig::{Place, Rig};
use std::collections::BTreeSet;

/// Refuses to share a core of an exclusive rig. `cpus`: the core of each FMU.
pub(super) fn check(rig: &Rig, fmus: &[DescribedFmu], cpus: &[usize], host: &HostFacts, findings: &mut Findings) {
    if rig.mode == Mode::Virtual {
        return;
    }
    let mut seen = BTreeSet::new();
    for (fmu, cpu) in fmus.iter().zip(cpus.iter().copied()).filter(|(_, cpu)| seen.insert(*cpu)) {
        for other in host.on(cpu).filter(|other| other.process.is_none()) {
            let name = &other.name;
            if let Some(place) = rig.host.exclusive {
                let message = format!(
                    "exclusive: rig `{name}` runs on core {cpu} already; name a core that is free (cpus in [host], cpu of an FMU), stop \
                     that rig, or share the core by leaving exclusive out"
                );
                findings.rig(place, message);
            } else if other.exclusive && other.cores().contains(&cpu) {
                let message = format!(
                    "core {cpu} is that of rig `{name}` alone ({name}: exclusive = true in [host]); name another core (cpus in [host], \
                     cpu of an FMU), stop that rig, or have it share its cores"
                );
                findings.rig(place_of(rig, fmu, cpu), message);
            }
        }
    }
}

/// The place in the rig that puts this FMU on that core, else that of the FMU's table.
fn place_of(rig: &Rig, fmu: &DescribedFmu, cpu: usize) -> Place {
    let of_rig = || rig.host.cpus.iter().find(|given| given.value == cpu);
    fmu.cpu().or_else(of_rig).map_or(Place::default(), |given| given.place)
}
