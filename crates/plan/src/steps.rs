//! The length of each step of an FMU, and whether the FMU can make such steps (semantics S19).

use super::clocks::ClockNetwork;
use super::clocks::candidates::Candidate;
use super::described::{DescribedFmu, StepAbilities};
use super::findings::Findings;
use super::timetable::Timetable;
use super::{Figures, Limits, Mode, Release, Retry, groups, integration};
use crate::rig::{At, Place, Rig, RigTask, TriggerSource};
use vecud_base::time::{Fraction, Instant};

/// The step where neither the rig nor the FMU gives one, or the smallest multiple of the FMU's internal step from here on.
const DEFAULT: Fraction = Fraction::MILLISECOND;

/// The shortest step in real time, which can be kept.
const SHORTEST: Fraction = Fraction::MICROSECOND;

/// The candidates of all FMUs that make steps, in rig order.
pub(super) fn candidates(
    rig: &Rig,
    fmus: &[DescribedFmu],
    times: &Timetable,
    findings: &mut Findings,
) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    groups::check(rig, fmus, findings);
    let mut steps: Vec<Option<At<Fraction>>> = fmus.iter().map(|described| step(rig, described, findings)).collect();
    groups::steps(rig, fmus, &mut steps, findings);
    tell_unused(rig, &steps, findings);
    for ((fmu, described), step) in fmus.iter().enumerate().zip(steps) {
        let Some(own) = described.steps() else {
            refuse_keys(described, findings);
            continue;
        };
        let served =
            |name: &str| format!("{name} has no Event Mode (hasEventMode), in which alone clocks tick between steps");
        for trigger in &rig.triggers {
            let from = match &trigger.source {
                TriggerSource::OutputClock(from) => Some(from),
                _ => None,
            };
            let own = [Some(&trigger.clock), from].into_iter().flatten().filter(|at| at.value.fmu == described.name());
            let own = own.filter(|_| !described.handles_events());
            own.for_each(|at| findings.rig(at.place, served(described.name())));
        }
        for clock in described.rig.clocks.iter().filter(|_| !described.handles_events()) {
            let (name, clock_name) = (described.name(), &clock.name.value);
            let message = format!(
                "{}: leave [fmu.{name}.clock.{clock_name}] out; what is said of its steps stands in [fmu.{name}]",
                served(name)
            );
            findings.rig(clock.name.place, message);
        }
        let Some(step) = step else { continue };
        check(rig, described, own, &step, times, findings);
        integration::check(rig, described, &step, findings);
        integration::check_states(described, findings);
        let leads = groups::leads(fmus, fmu);
        if leads || described.master.is_none() {
            integration::check_matrices(fmus, described, findings);
            integration::check_rounding(described, findings);
        }
        let said = match described.master {
            Some(master) if leads => master.task.clone(),
            Some(_) => RigTask::default(),
            None => described.rig.task.as_ref().map(|at| at.value.clone()).unwrap_or_default(),
        };
        let RigTask { overrun, limits: Limits { max_latency, max_execution, max_overruns }, .. } = said;
        candidates.push(Candidate {
            fmu,
            clock: None,
            is_group: leads,
            in_steps: false,
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

/// Joins the FMUs of a `[master.NAME]` (semantics S24), and FMUs whose clocks are connected: on their shortest step, of which the
/// other steps must be multiples (S22).
pub(super) fn join(rig: &Rig, fmus: &[DescribedFmu], clocks: &mut ClockNetwork, findings: &mut Findings) {
    let first = |firsts: &[usize], mut fmu: usize| {
        while firsts[fmu] != fmu {
            fmu = firsts[fmu];
        }
        fmu
    };
    for (from, described) in fmus.iter().enumerate() {
        for to in clocks.tick_sources[from].iter().flat_map(|source| &source.step_targets).map(|(to, _)| *to) {
            if described.steps().is_some() {
                let (a, b) = (first(&clocks.firsts, from), first(&clocks.firsts, to));
                clocks.firsts[a.max(b)] = a.min(b);
            }
        }
    }
    clocks.firsts = (0..fmus.len()).map(|fmu| first(&clocks.firsts, fmu)).collect();
    groups::join(rig, fmus, &mut clocks.firsts, findings);
    for (fmu, first) in clocks.firsts.iter().enumerate() {
        clocks.groups.entry(*first).or_default().push(fmu);
    }
    clocks.groups.retain(|_, members| members.len() > 1);
    for (first, members) in clocks.groups.clone() {
        let steps: Vec<usize> = members.iter().filter_map(|fmu| clocks.steps_of(*fmu)).collect();
        // The settings of a `[master.NAME]` are the same for all of its FMUs.
        if steps.len() < members.len() || fmus[first].master.is_some() {
            continue;
        }
        let shortest = steps.iter().filter_map(|step| clocks.candidates[*step].period).min();
        let Some(shortest) = shortest else { continue };
        for (&fmu, &candidate) in members.iter().zip(&steps) {
            let own = clocks.candidates[candidate].period.unwrap_or(shortest);
            let (name, with) = (fmus[fmu].name(), fmus[first].name());
            if !own.is_in_steps(shortest) {
                let message = format!(
                    "{name} and {with} make their steps together, since their clocks are connected, but the step of {name}, {} s, \
                     is no multiple of the shortest of them, {} s: give it one as step in [fmu.{name}]",
                    own.seconds(),
                    shortest.seconds()
                );
                let place = fmus[fmu].rig.step.as_ref().map_or(fmus[fmu].rig.path.place, |step| step.place);
                findings.rig(place, message);
            }
            if let (Some(a), Some(b)) = (&fmus[fmu].rig.cpu, &fmus[first].rig.cpu)
                && a.value != b.value
            {
                let message = format!(
                    "{name} and {with} make their steps together, on one core, since their clocks are connected: give both the \
                     same cpu"
                );
                findings.rig(a.place, message);
            }
            if let Some(task) = fmus[fmu].rig.task.as_ref().filter(|_| fmu != first) {
                let message = format!(
                    "{name} makes its steps together with {with}, since their clocks are connected: say limits, the overrun policy \
                     and figures of them all in [fmu.{with}]"
                );
                findings.rig(task.place, message);
            }
            let candidate = &mut clocks.candidates[candidate];
            candidate.release = Release::Periodic { shift: Fraction::ZERO, interval: shortest };
            candidate.period = Some(shortest);
        }
    }
    check_clocks(fmus, clocks, findings);
}

/// Checks that the clocks of an FMU are on the grid of its steps, if these steps may not vary, or those of an FMU that steps
/// together with it.
fn check_clocks(fmus: &[DescribedFmu], clocks: &ClockNetwork, findings: &mut Findings) {
    for (fmu, described) in fmus.iter().enumerate() {
        if described.steps().is_none() || may_vary(fmus, clocks, fmu) {
            continue;
        }
        let step = clocks.steps_of(fmu).and_then(|step| clocks.candidates[step].period);
        for input in clocks.tick_sources[fmu].iter().filter_map(|source| source.step_clock.as_ref()) {
            let (Release::Periodic { shift, interval }, Some(step)) = (&input.release, step) else { continue };
            if shift.is_multiple_of(step) && interval.is_multiple_of(step) {
                continue;
            }
            let name = described.name();
            let message = format!(
                "{name}.{} ticks every {} s, which is not on the grid of its steps, {} s, and these may not vary, nor those that are made together with them \
                 (canHandleVariableCommunicationStepSize): give it a step that its clocks are multiples of",
                input.name(described),
                interval.seconds(),
                step.seconds()
            );
            findings.rig(described.rig.path.place, message);
        }
    }
}

/// Whether the steps of an FMU may be of any size: its own, and those that are made together with them.
pub(super) fn may_vary(fmus: &[DescribedFmu], clocks: &ClockNetwork, fmu: usize) -> bool {
    let varies = |fmu: usize| fmus[fmu].steps().is_none_or(|own| own.varies);
    varies(fmu) && clocks.group(fmu).iter().all(|other| varies(*other))
}

/// Whether another FMU that makes its steps together with this one may return early from them.
pub(super) fn may_be_cut_short(fmus: &[DescribedFmu], clocks: &ClockNetwork, fmu: usize) -> bool {
    let may = |other: usize| fmus[other].steps().is_some_and(|own| own.may_return_early);
    clocks.group(fmu).iter().any(|other| *other != fmu && may(*other))
}

/// The core of each FMU: FMUs that make their steps together share that of the first one.
pub(super) fn cores(clocks: &ClockNetwork, fmus: &[DescribedFmu], cpus: Vec<usize>) -> Vec<usize> {
    let of = |fmu: usize| {
        let named = clocks.group(fmu).iter().find(|other| fmus[**other].cpu().is_some()).map(|other| cpus[*other]);
        named.unwrap_or(cpus[clocks.firsts[fmu]])
    };
    (0..cpus.len()).map(of).collect()
}

/// Keys that only an FMU can have that makes steps.
fn refuse_keys(described: &DescribedFmu, findings: &mut Findings) {
    let step = described.rig.step.as_ref().map(|step| ("step", step.place));
    let step_size = described.rig.step_size.as_ref().map(|at| ("step_size", at.place));
    let retry = described.rig.retry_steps.as_ref().map(|at| ("retry_steps", at.place));
    let task = described.rig.task.as_ref().map(|task| ("a limit, overrun policy or figure", task.place));
    let tolerance = described.rig.integration.tolerance.as_ref().map(|at| ("tolerance", at.place));
    let all = [step, step_size, retry, task, described.rig.integration.first(), tolerance];
    for (what, place) in all.into_iter().flatten() {
        let name = described.name();
        if place.option().is_some() {
            let message =
                format!("{name} makes no steps: its clocks say when it computes (Scheduled Execution); leave it out");
            findings.rig(place, message);
            continue;
        }
        let message = format!(
            "{what} in [fmu.{name}] is for FMUs that make steps (Co-Simulation, Model Exchange), and {name} has clocks: say it of \
             these, in [fmu.{name}.clock.CLOCK]"
        );
        findings.rig(place, message);
    }
}

/// The length of an FMU's own step, s: the step that the rig gives it, else the one that its description suggests, else the step
/// of all FMUs in the rig; 1 ms where the FMU runs alone. `None`: none is given, its group decides later, or it makes no steps.
fn step(rig: &Rig, described: &DescribedFmu, findings: &mut Findings) -> Option<At<Fraction>> {
    described.steps()?;
    if let Some(step) = &described.rig.step {
        return Some(step.clone());
    }
    let suggested = described.input.description.default_experiment.step_size;
    let of_rig = rig.step.clone().filter(|_| described.master.is_none());
    let name = described.name();
    match (suggested, internal_step(described)) {
        (Some(step), None) => return Some(At::unplaced(step)),
        (suggested, Some(internal)) => {
            let At { value: wanted, place } = suggested.map(At::unplaced).or(of_rig).unwrap_or(At::unplaced(DEFAULT));
            let value = first_multiple(internal, wanted)?;
            if place != Place::default() && value != wanted {
                findings.note(format!(
                    "{name} makes steps of {} s instead of {} s: the next multiple of its internal step of {} s \
                     (fixedInternalStepSize)",
                    value.seconds(),
                    wanted.seconds(),
                    internal.seconds()
                ));
            }
            return Some(At { value, place });
        }
        (None, None) if of_rig.is_some() || described.master.is_some() => return of_rig,
        (None, None) => {}
    }
    if rig.experiment_of_fmu {
        findings.note(format!(
            "how far {name} is to go in one step is said nowhere (its description has no stepSize): {} s; `vecud run --step` gives it another one",
            DEFAULT.seconds()
        ));
        return Some(At::unplaced(DEFAULT));
    }
    let path = described.input.path.display();
    let message = format!(
        "how far {name} ({path}) is to go in one step is said nowhere: its description has neither a stepSize nor a \
         fixedInternalStepSize; give it as step in [fmu.{name}], such as step = \"1/1000\", or give step in [rig], or `vecud run --step`, for \
         all such FMUs"
    );
    findings.rig(described.rig.path.place, message);
    None
}

/// Notes that no FMU takes the default step of the rig.
fn tell_unused(rig: &Rig, steps: &[Option<At<Fraction>>], findings: &mut Findings) {
    let Some(step) = &rig.step else { return };
    if !steps.iter().flatten().any(|taken| taken.place == step.place) {
        let what = if step.place.option().is_some() { "--step" } else { "step in [rig]" };
        findings.note(format!(
            "no FMU takes {what}, {} s: each has a step of its own, in the rig or in its description, or makes none",
            step.value.seconds()
        ));
    }
}

/// The first multiple of `internal` that is at least `least`, which itself is one if [rounding](Fraction::steps) alone keeps it from
/// that. `None`: it cannot be held.
pub fn first_multiple(internal: Fraction, least: Fraction) -> Option<Fraction> {
    match least.steps(internal) {
        (1.., true) => Some(least),
        (whole, _) => times(internal, whole.checked_add(1)?),
    }
}

/// The last multiple of `internal` that is no more than `most`, which itself is one if [rounding](Fraction::steps) alone keeps it from
/// that; or `internal` itself if that is longer.
pub(super) fn last_multiple(internal: Fraction, most: Fraction) -> Fraction {
    match most.steps(internal) {
        (0, _) => internal,
        (_, true) => most,
        (whole, false) => times(internal, whole).unwrap_or(most),
    }
}

fn times(step: Fraction, count: u64) -> Option<Fraction> {
    Instant::ZERO.after_many(step, count).minus(Instant::ZERO)
}

/// `fixedInternalStepSize` in seconds.
pub(super) fn internal_step(described: &DescribedFmu) -> Option<Fraction> {
    described.input.description.time.duration(described.steps()?.internal_step?)
}

/// The retry in parts of a step that the FMU discards. The host takes a state before each step in virtual time, and where the
/// rig asks for it.
pub(super) fn retry(rig: &Rig, described: &DescribedFmu) -> Retry {
    let can = described.steps().map_or(Retry::Never, |own| own.retry);
    match described.rig.retry_steps.as_ref().map(|at| at.value) {
        _ if can == Retry::Never => Retry::Never,
        Some(false) => Retry::Unwanted,
        None if can == Retry::FromState && rig.mode == Mode::RealTime => Retry::Unwanted,
        _ => can,
    }
}

/// Whether the FMU can make these steps up to the end of the run.
fn check(
    rig: &Rig,
    described: &DescribedFmu,
    own: StepAbilities,
    step: &At<Fraction>,
    times: &Timetable,
    findings: &mut Findings,
) {
    let (name, h) = (described.name(), step.value);
    if let Some(at) = described.rig.step_size.as_ref().filter(|_| described.co_simulation().is_none()) {
        findings
            .rig(at.place, format!("step_size in [fmu.{name}] is for Co-Simulation: {name} is told times, not steps"));
    }
    if let Some(at) = described.rig.retry_steps.as_ref().filter(|at| at.value && own.retry == Retry::Never) {
        let way_out = match described.master {
            Some(own) if own.algorithm.takes_back() => "its group takes it back by itself: leave retry_steps out",
            _ => {
                "its steps may not vary (canHandleVariableCommunicationStepSize), or it cannot be taken back \
                 (canGetAndSetFMUState, in FMI 1.0 canRejectSteps): leave retry_steps out"
            }
        };
        findings.rig(at.place, format!("a step that {name} discards cannot be tried in parts: {way_out}"));
    }
    if let Some(internal) = internal_step(described).filter(|internal| !h.is_in_steps(*internal)) {
        let message = format!(
            "the step of {name}, {} s, is no multiple of its internal step of {} s (fixedInternalStepSize)",
            h.seconds(),
            internal.seconds()
        );
        match own.varies {
            true => findings.note(message),
            false => findings.rig(step.place, format!("{message}, and its steps may not vary: use a multiple")),
        }
    }
    if rig.mode == Mode::RealTime && h < SHORTEST {
        let message = format!(
            "the step of {name} is shorter than a microsecond, which no real time can keep: try mode = \"virtual\" in [rig], or `vecud run --mode virtual`"
        );
        findings.rig(step.place, message);
    }
    let length = times.stop.and_then(|stop| stop.minus(times.start));
    if let Some(length) = length.filter(|length| !own.varies && !length.is_in_steps(h)) {
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
            prop_assert!(step.is_in_steps(internal) && step >= least);
            let before = Instant::ZERO.after(step).minus(Instant::ZERO.after(internal));
            prop_assert!(before.is_none_or(|before| before < least), "{before:?}");
            let last = last_multiple(internal, least);
            let is_longer = internal > least && last == internal;
            prop_assert!(is_longer || last.is_in_steps(internal) && last <= least, "{last:?}");
            prop_assert!(Instant::ZERO.after(last).after(internal) > Instant::ZERO.after(least));
        }
    }
}
