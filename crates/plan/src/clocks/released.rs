//! The target of a release from outside of all FMUs: a task, or a clock that ticks between the steps of its FMU.

use crate::{FmuId, FmuPlan, OutputClock, Release, StepClock, TickTarget, UnitId, UnitPlan};

/// The task that is released like this; or, where a clock between steps is, the task that makes the steps, and that clock.
pub fn released(release: &Release, units: &[UnitPlan], fmus: &[FmuPlan]) -> Option<TickTarget> {
    if let Some(unit) = units.iter().position(|unit| unit.release == *release) {
        return Some(TickTarget { unit: UnitId(unit), clock: None });
    }
    let is_it = |clock: &OutputClock| clock.input.as_ref().is_some_and(|own| own.release == *release);
    let (fmu, clock) =
        fmus.iter().enumerate().find_map(|(fmu, own)| Some((FmuId(fmu), own.output_clocks.iter().position(is_it)?)))?;
    let unit = units.iter().position(|unit| unit.fmu == fmu)?;
    Some(TickTarget { unit: UnitId(unit), clock: Some(StepClock { fmu, clock }) })
}
