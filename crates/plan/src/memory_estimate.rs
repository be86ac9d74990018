//! The memory of a plan, reckoned before most of it is taken: whoever makes plans for others has a bound for it.

use super::clocks::candidates::{ELEMENTS, is_input_clock};
use super::described::DescribedFmu;
use super::findings::{Findings, PlanError};
use super::resolved::Resolved;
use crate::rig::{Place, Rig};
use std::collections::HashMap;
use std::ops::AddAssign;
use std::ptr;
use vecud_description::{Dimension, ModelDescription};

/// Bytes of an instance, as many instances of small FMUs take them.
const INSTANCE: usize = 4 << 10;
/// Bytes of a name of a variable that can be set or shown.
const NAME: usize = 256;
/// Bytes of a task.
const TASK: usize = 4 << 10;
/// Bytes of a variable for each task that sets or reads it, and of each of its elements there.
const ACCESS: usize = 256;
const ELEMENT: usize = 16;

/// What drives the memory of a plan.
#[derive(Clone, Copy, Default)]
struct PlanSize {
    instances: usize,
    names: usize,
    tasks: usize,
}

impl PlanSize {
    /// PlanSize all instances of a rig by their descriptions; many may be the same one.
    fn of<'a>(descriptions: impl Iterator<Item = &'a ModelDescription>) -> PlanSize {
        let (mut all, mut known) = (PlanSize::default(), HashMap::new());
        for description in descriptions {
            all += *known.entry(ptr::from_ref(description)).or_insert_with(|| PlanSize::of_instance(description));
        }
        all
    }

    fn of_instance(description: &ModelDescription) -> PlanSize {
        let clocks = description.variables.iter().filter(|variable| is_input_clock(variable));
        let ticks = clocks.map(|clock| match clock.dimensions.iter().all(|own| matches!(own, Dimension::Fixed(_))) {
            true => usize::try_from(description.elements(clock)).unwrap_or(ELEMENTS).min(ELEMENTS),
            // The rig may say how many.
            false => ELEMENTS,
        });
        let names = description.variables.iter().map(|variable| 1 + variable.aliases.len());
        PlanSize { instances: 1, names: names.sum(), tasks: ticks.sum::<usize>().max(1) }
    }

    fn bytes(self) -> usize {
        INSTANCE * self.instances + NAME * self.names + TASK * self.tasks
    }
}

impl AddAssign for PlanSize {
    fn add_assign(&mut self, other: PlanSize) {
        self.instances += other.instances;
        self.names += other.names;
        self.tasks += other.tasks;
    }
}

/// Bytes that a plan of instances with these descriptions takes, before anything is connected or recorded.
pub fn reckoned<'a>(descriptions: impl Iterator<Item = &'a ModelDescription>) -> usize {
    PlanSize::of(descriptions).bytes()
}

/// Refuses a rig whose instances alone take more than there is room for.
pub(super) fn check_instances(rig: &Rig, fmus: &[DescribedFmu], findings: &mut Findings) -> Result<(), PlanError> {
    let counts = PlanSize::of(fmus.iter().map(|fmu| fmu.input.description));
    match rig.room {
        Some(room) if counts.bytes() > room => {
            let PlanSize { instances, names, tasks } = counts;
            let what = format!("{instances} FMUs with {names} variables and {tasks} tasks");
            refuse(&what, counts.bytes(), room, "make several rigs of it", findings)
        }
        _ => Ok(()),
    }
}

/// Refuses a rig whose tasks set and read more than there is room for.
pub(super) fn check_accesses(resolved: &Resolved, findings: &mut Findings) -> Result<(), PlanError> {
    let Some(room) = resolved.rig.room else { return Ok(()) };
    let mut bytes = reckoned(resolved.fmus.iter().map(|fmu| fmu.input.description));
    let mut accesses = 0;
    for (fmu, needed) in resolved.needed.iter().enumerate() {
        let described = &resolved.fmus[fmu];
        let read = needed.read.iter().map(|&own| (own, resolved.getting((fmu, own)).len()));
        let written = needed.written.iter().map(|&own| (own, resolved.setting((fmu, own)).len()));
        for (variable, tasks) in read.chain(written) {
            let elements = described.elements(&described.variables()[variable]);
            accesses += tasks;
            bytes = bytes.saturating_add(tasks.saturating_mul(ACCESS + ELEMENT.saturating_mul(elements)));
        }
    }
    if bytes <= room {
        return Ok(());
    }
    let what =
        format!("{} FMUs whose tasks set and read {accesses} variables, some more than once,", resolved.fmus.len());
    refuse(&what, bytes, room, "record and connect fewer variables, or make several rigs of it", findings)
}

fn refuse(what: &str, bytes: usize, room: usize, way_out: &str, findings: &mut Findings) -> Result<(), PlanError> {
    let (bytes, room) = (bytes.div_ceil(1 << 20), room >> 20);
    findings.rig(
        Place::default(),
        format!("{what} take some {bytes} MiB to plan, and a daemon has {room} MiB for one rig: {way_out}, or run it without a daemon"),
    );
    findings.refuse()
}
