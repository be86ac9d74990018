//! How far each step of a Co-Simulation FMU goes, and whether the FMU can go so far (semantics S19).

use super::Timetable;
use super::clocks::candidates::Candidate;
use super::described::DescribedFmu;
use super::findings::Findings;
use super::schedulability::Figures;
use super::{Limits, Mode, Release};
use crate::fmu::description::CoSimulation;
use crate::rig::{At, Rig, RigTask, TriggerSource};
use crate::time::{Fraction, Instant};

/// The name of the task that makes the steps of an FMU.
pub const NAME: &str = "step";

/// Where neither the rig nor the FMU says more: the smallest multiple of the FMU's internal step from here on.
const SHORTEST_DEFAULT: Fraction = Fraction::MILLISECOND;

/// The shortest step in real time, which can be kept.
const SHORTEST: Fraction = Fraction::MICROSECOND;

/// What makes the steps of each FMU that runs with Co-Simulation, in rig order.
pub(super) fn candidates(
    rig: &Rig,
    fmus: &[DescribedFmu],
    times: &Timetable,
    findings: &mut Findings,
) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for (fmu, described) in fmus.iter().enumerate() {
        let Some(own) = described.co_simulation() else {
            refuse_keys(described, findings);
            continue;
        };
        let served = |name: &str| format!("{name} runs with Co-Simulation, where vecud does not serve clocks yet");
        for trigger in &rig.triggers {
            let from = match &trigger.source {
                TriggerSource::OutputClock(from) => Some(from),
                _ => None,
            };
            let own = [Some(&trigger.clock), from].into_iter().flatten().filter(|at| at.value.fmu == described.name());
            own.for_each(|at| findings.rig(at.place, served(described.name())));
        }
        for clock in &described.rig.clocks {
            let (name, clock_name) = (described.name(), &clock.name.value);
            let message = format!(
                "{}: leave [fmu.{name}.clock.{clock_name}] out; what is said of its steps stands in [fmu.{name}]",
                served(name)
            );
            findings.rig(clock.name.place, message);
        }
        let Some(step) = step(described, own, findings) else { continue };
        check(rig, described, own, &step, times, findings);
        let said = described.rig.task.as_ref().map(|at| at.value.clone()).unwrap_or_default();
        let RigTask { overrun, limits: Limits { max_latency, max_execution, max_overruns }, .. } = said;
        candidates.push(Candidate {
            fmu,
            clock: None,
            priority: None,
            release: Release::Periodic { shift: Fraction::ZERO, interval: step.value },
            period: Some(step.value),
            overrun: overrun.unwrap_or(rig.overrun),
            limits: Limits { max_latency, max_execution, max_overruns },
            figures: Figures::of(&[&said]),
        });
    }
    candidates
}

/// Whether its step may be of any size.
pub(super) fn is_variable(own: &CoSimulation) -> bool {
    own.can_handle_variable_communication_step_size
}

/// Keys that only an FMU can have that makes steps.
fn refuse_keys(described: &DescribedFmu, findings: &mut Findings) {
    let step = described.rig.step.as_ref().map(|step| ("step", step.place));
    let task = described.rig.task.as_ref().map(|task| ("a limit, overrun policy or figure", task.place));
    for (what, place) in [step, task].into_iter().flatten() {
        let name = described.name();
        let message = format!(
            "{what} in [fmu.{name}] is for FMUs that make steps (Co-Simulation), and {name} has clocks: say it of these, in \
             [fmu.{name}.clock.CLOCK]"
        );
        findings.rig(place, message);
    }
}

/// The step of the rig, else the one that the description suggests.
fn step(described: &DescribedFmu, own: &CoSimulation, findings: &mut Findings) -> Option<At<Fraction>> {
    if let Some(step) = &described.rig.step {
        return Some(step.clone());
    }
    let unit = described.input.description.time.unit();
    let seconds = |value: f64| {
        let amount = Fraction::from_f64(value).ok().filter(|amount| !amount.is_zero())?;
        unit.duration(amount).ok()
    };
    let suggested = described.input.description.default_experiment.step_size.and_then(seconds);
    let internal = own.fixed_internal_step_size.and_then(seconds);
    let step = match (suggested, internal) {
        (Some(step), None) => Some(step),
        (step, Some(internal)) => first_multiple(internal, step.unwrap_or(SHORTEST_DEFAULT)),
        (None, None) => None,
    };
    if step.is_none() {
        let name = described.name();
        let message = format!(
            "how far {name} is to go in one step is said nowhere: its description has neither a stepSize nor a \
             fixedInternalStepSize; give it as step in [fmu.{name}] of a rig file, such as step = \"1/1000\""
        );
        findings.rig(described.rig.path.place, message);
    }
    step.map(At::unplaced)
}

/// The first multiple of `internal` that is at least `least`.
pub fn first_multiple(internal: Fraction, least: Fraction) -> Option<Fraction> {
    let times = |count: u64| Instant::ZERO.after_many(internal, count).minus(Instant::ZERO);
    // Both are seconds, and rounding moves the count by one at most.
    let about = (least.seconds() / internal.seconds()).min(1e15) as u64;
    (about.saturating_sub(1).max(1)..=about + 2).filter_map(times).find(|step| *step >= least)
}

/// Whether the FMU can make these steps up to the end of the run.
fn check(
    rig: &Rig,
    described: &DescribedFmu,
    own: &CoSimulation,
    step: &At<Fraction>,
    times: &Timetable,
    findings: &mut Findings,
) {
    let (name, h) = (described.name(), step.value);
    let unit = described.input.description.time.unit();
    let internal = own.fixed_internal_step_size.and_then(|value| Fraction::from_f64(value).ok());
    let internal = internal.and_then(|amount| unit.duration(amount).ok()).filter(|internal| !internal.is_zero());
    if let Some(internal) = internal.filter(|internal| !h.is_multiple_of(*internal)) {
        let message = format!(
            "the step of {name}, {} s, is no multiple of its internal step of {} s (fixedInternalStepSize)",
            h.seconds(),
            internal.seconds()
        );
        match is_variable(own) {
            true => findings.note(message),
            false => findings.rig(step.place, format!("{message}, and its steps may not vary: use a multiple")),
        }
    }
    if rig.mode == Mode::RealTime && h < SHORTEST {
        let message = format!(
            "the step of {name} is shorter than a microsecond, which no real time can keep: try --mode virtual"
        );
        findings.rig(step.place, message);
    }
    let length = times.stop.and_then(|stop| stop.minus(times.start));
    if let Some(length) = length.filter(|length| !is_variable(own) && !length.is_multiple_of(h)) {
        let message = format!(
            "the run of {} s is no whole number of steps of {name}, {} s each, and its last step may not be shorter \
             (canHandleVariableCommunicationStepSize): use another stop time, or another step",
            length.seconds(),
            h.seconds()
        );
        let place = rig.stop_time.as_ref().map_or(step.place, |stop| stop.place);
        findings.rig(place, message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fraction(counter: u64, resolution: u64) -> Fraction {
        Fraction::new(counter, resolution).unwrap()
    }

    #[test]
    fn a_step_is_raised_to_a_multiple_of_the_internal_one() {
        assert_eq!(first_multiple(fraction(1, 400), Fraction::MILLISECOND), Some(fraction(1, 400)));
        assert_eq!(first_multiple(fraction(3, 10_000), Fraction::MILLISECOND), Some(fraction(12, 10_000)));
        assert_eq!(first_multiple(fraction(1, 1000), Fraction::MILLISECOND), Some(Fraction::MILLISECOND));
        assert_eq!(first_multiple(fraction(1, 3000), Fraction::MILLISECOND), Some(Fraction::MILLISECOND));
    }

    proptest! {
        #[test]
        fn it_is_the_first_multiple(counter in 1..1000_u64, resolution in 1..100_000_u64, least in 1..1_000_000_u64) {
            let (internal, least) = (fraction(counter, resolution), fraction(least, 100_000));
            let step = first_multiple(internal, least).unwrap();
            prop_assert!(step.is_multiple_of(internal) && step >= least);
            let before = Instant::ZERO.after(step).minus(Instant::ZERO.after(internal)).unwrap();
            prop_assert!(before < least, "{before:?}");
        }
    }
}
