//! The consequences of a connection's timing for its consumers, as text: the delay of a delayed one, and whether the values of an
//! immediate one depend on the schedule (semantics S11, S15).

use super::delays::{Ends, ends};
use crate::interval::interval_text;
use crate::{ConnectionPlan, Extrapolation, Mode, Plan, Release, Timing, UnitId};
use vecud_base::time::{Fraction, Instant};

/// Everything about each connection, by its place, after the word that the rig has for it.
pub fn words(plan: &Plan) -> Vec<String> {
    let roots = crate::roots(&plan.units);
    let ends = ends(plan.connections.len(), &plan.units, &plan.fmus);
    let of = |(planned, ends): (&ConnectionPlan, Ends)| match planned.timing {
        _ if planned.delay.as_ref().is_some_and(|delay| delay.with_tick) => {
            "with the tick, at its time; else at the end of the step".to_owned()
        }
        _ if planned.is_inside => "as it comes: both make their steps together".to_owned(),
        Timing::Delayed => delayed(plan, &ends.producers, &roots),
        Timing::Immediate => immediate(plan, &ends),
    };
    let of = |(planned, ends): (&ConnectionPlan, Ends)| match planned.extrapolation {
        Extrapolation::Hold => of((planned, ends)),
        Extrapolation::Linear => of((planned, ends)) + "; between two values on the line through the last one",
        Extrapolation::Quadratic => of((planned, ends)) + "; between two values on the parabola through the last one",
    };
    plan.connections.iter().zip(ends).map(of).collect()
}

/// `plant.step`.
pub fn name(plan: &Plan, unit: UnitId) -> String {
    plan.full_name(&plan.units[unit.0])
}

/// [`Plan::told_name`] of a task of this number.
pub fn told_name(plan: &Plan, unit: UnitId) -> String {
    plan.told_name(&plan.units[unit.0])
}

fn names(plan: &Plan, units: &[UnitId]) -> String {
    units.iter().map(|unit| name(plan, *unit)).collect::<Vec<_>>().join(", ")
}

fn delayed(plan: &Plan, producers: &[UnitId], roots: &[Vec<UnitId>]) -> String {
    let [producer] = producers else {
        if producers.is_empty() {
            return "no clock computes it".to_owned();
        }
        return format!("visible at the next release of the one of {} that has computed it", names(plan, producers));
    };
    let own = name(plan, *producer);
    match &plan.units[producer.0].release {
        Release::Periodic { interval, .. } if plan.units[producer.0].leaves_its_grid() => format!(
            "visible at the end of the step of {own}, {} after at most; what an event changes a nanosecond after it",
            interval_text(*interval)
        ),
        Release::Periodic { interval, .. } => {
            format!("visible at the next release of {own}, {} after", interval_text(*interval))
        }
        Release::Asked => format!("visible at the next release of {own}, by the interval that the FMU says"),
        Release::Changing => format!("visible at the next release of {own}, by its last interval"),
        Release::At(times) => {
            let last =
                times.last().map_or_else(String::new, |last| format!("; never, if computed at {} s", last.seconds()));
            format!("visible at the next time in the list of {own}{last}")
        }
        Release::Never => format!("never visible: nothing activates {own}"),
        Release::Endpoint { .. } | Release::Stimulus { .. } | Release::Request => {
            format!("visible a nanosecond after the activation of {own}")
        }
        Release::Triggered { .. } | Release::Countdown => {
            let (known, unknown): (Vec<UnitId>, Vec<UnitId>) =
                roots[producer.0].iter().partition(|root| plan.units[root.0].release.has_instants());
            match (known.as_slice(), unknown.as_slice()) {
                ([], _) => format!(
                    "visible a nanosecond after the activation of {own}, since no clock with known times causes it"
                ),
                ([root], []) => {
                    let after = plan.units[root.0].release.shortest_known();
                    let after = after.map_or_else(String::new, |i| format!(", up to {} after", interval_text(i)));
                    format!("visible at the next release of {}, which causes {own}{after}", name(plan, *root))
                }
                (known, _) => {
                    format!("visible at the next release of the one of {} that has caused {own}", names(plan, known))
                }
            }
        }
    }
}

fn immediate(plan: &Plan, ends: &Ends) -> String {
    if plan.mode == Mode::Virtual {
        return "the same in every run in virtual time".to_owned();
    }
    let ([producer], [consumer]) = (ends.producers.as_slice(), ends.consumers.as_slice()) else {
        return "depends on the schedule: several partitions compute or set it".to_owned();
    };
    let (from, to) = (&plan.units[producer.0], &plan.units[consumer.0]);
    let (a, b) = (name(plan, *producer), name(plan, *consumer));
    let (from_cpu, to_cpu) = (plan.task_of(*producer).cpu, plan.task_of(*consumer).cpu);
    if from_cpu != to_cpu {
        return format!("depends on the schedule: {a} runs on core {from_cpu}, {b} on core {to_cpu}");
    }
    let (Release::Periodic { shift, interval }, Release::Periodic { shift: other_shift, interval: other }) =
        (&from.release, &to.release)
    else {
        let odd = if matches!(from.release, Release::Periodic { .. }) { b } else { a };
        return format!("depends on the schedule: {odd} is not periodic");
    };
    let aligned = is_within((*shift, *interval), (*other_shift, *other));
    if !aligned {
        return format!(
            "depends on the schedule: {b} is released in the midst of a period of {a}, which may run until then"
        );
    }
    if consumer < producer {
        return format!("without overruns the value of the period before: {b} is more urgent than {a}");
    }
    if interval == other && shift == other_shift {
        return format!("without overruns the value of the same time: {b} is less urgent than {a}");
    }
    format!("depends on the schedule: {b} may start after the next release of {a}, and then sees that")
}

/// Whether all instants of the second grid are such of the first, from the first one of that on.
fn is_within((shift, interval): (Fraction, Fraction), (other_shift, other): (Fraction, Fraction)) -> bool {
    let (first, second) = (Instant::ZERO.after(shift), Instant::ZERO.after(other_shift));
    let apart = second.minus(first).or_else(|| first.minus(second));
    other.is_multiple_of(interval) && apart.is_some_and(|apart| apart.is_multiple_of(interval))
}

impl ConnectionPlan {
    /// Source and target: `plant.speed → ecu.speed`.
    pub fn arrow(&self) -> String {
        format!("{} → {}", self.from, self.to)
    }
}
