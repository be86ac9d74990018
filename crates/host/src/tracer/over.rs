//! Finds the activations beyond a limit of the rig, and the first of them: the flight recorder writes files for them,
//! and the first one stops the kernel's trace.

use crate::hangs::Hangs;
use std::sync::atomic::Ordering::SeqCst;
use vecud_plan::{Overrun, Plan, UnitId};
use vecud_record::board::{Board, Global, TaskWord};
use vecud_record::trace::Note;
use vecud_report::{Kind, LimitKey, Measured, exceeded};

/// A completed activation with the figures that limits refer to; instants in ns by any clock.
pub(super) struct Single {
    pub unit: UnitId,
    /// The activation time, ns of simulation time.
    pub time: i64,
    pub release: i64,
    pub start: i64,
    pub end: i64,
    pub execution: i64,
}

/// Time of an activation's violation of a limit, by its own clock, with its description.
pub(super) fn over_limit(plan: &Plan, single: &Single) -> Option<(i64, String)> {
    let &Single { unit, time, release, start, end, execution } = single;
    let (late, execution) = ((start - release).max(0) as u64, execution.max(0) as u64);
    let measured = Measured { start_latency: late, execution, ..Measured::default() };
    let (at, what, nanos) = match exceeded(&plan.limits(unit), &measured).next()? {
        Kind::LatencyLimit { reached, .. } => (start, "start latency", reached),
        _ => (end, "execution", execution),
    };
    let (name, time) = (plan.full_name(&plan.units[unit.0]), time as f64 / 1e9);
    Some((at, format!("{what} of {name} {} µs at {time} s", nanos as f64 / 1e3)))
}

/// The first violation of a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstOver {
    /// Time, CLOCK_MONOTONIC in ns: the first FMI call of an activation that began too late, the end of one that took
    /// too long, the skipped release of an overrun; or the time of detection.
    pub at: i64,
    /// Description of the violation.
    pub why: String,
}

/// Finds the first violation.
#[derive(Debug)]
pub(super) struct Over {
    /// Time of the first violation by the run's clock, with its description.
    first: Option<(i64, String)>,
    /// Time of the last skipped release of each task, by the run's clock, ns.
    skipped: Vec<Option<i64>>,
}

impl Over {
    pub(super) fn new(plan: &Plan) -> Over {
        Over { first: None, skipped: vec![None; plan.units.len()] }
    }

    /// Examines a note of a task.
    pub(super) fn see(&mut self, plan: &Plan, unit: UnitId, note: &Note) {
        match *note {
            Note::Activated { time, release, start, end, execution, .. } if self.first.is_none() => {
                self.first = over_limit(plan, &Single { unit, time, release, start, end, execution });
            }
            Note::Skipped { at, .. } => self.skipped[unit.0] = Some(at),
            _ => (),
        }
    }

    /// The first violation so far, including activations that have not returned. `now`: CLOCK_MONOTONIC, ns.
    pub(super) fn look(&self, plan: &Plan, board: Board, hangs: &Hangs, now: i64) -> Option<FirstOver> {
        let [start, of_monotonic] =
            [Global::Start, Global::StartMonotonic].map(|word| board.global(word).load(SeqCst) as i64);
        let monotonic = |at: i64| at.saturating_sub(start).saturating_add(of_monotonic);
        if let Some((at, why)) = &self.first {
            return Some(FirstOver { at: monotonic(*at), why: why.clone() });
        }
        let name = |unit: UnitId| plan.full_name(&plan.units[unit.0]);
        if let Some((unit, limit)) = hangs.over_limit() {
            let why = format!("{} has not returned and is over {}", name(unit), limit.key());
            return Some(FirstOver { at: now, why });
        }
        (0..plan.units.len()).map(UnitId).find_map(|unit| {
            let (limits, cells) = (plan.limits(unit), board.task(unit));
            let overruns = cells.get(TaskWord::Overruns);
            let many = limits.max_overruns.is_some_and(|limit| overruns > limit);
            let why = if many {
                format!("{overruns} overruns of {}, {}", name(unit), LimitKey::Overruns.key())
            } else if overruns > 0 && plan.task_of(unit).overrun == Overrun::Stop {
                format!("overrun of {}, which ends the run", name(unit))
            } else if cells.get(TaskWord::Demoted) == 1 && limits.max_execution.is_some() {
                format!("{} took longer than {}", name(unit), LimitKey::Execution.key())
            } else {
                return None;
            };
            Some(FirstOver { at: self.skipped[unit.0].map_or(now, monotonic), why })
        })
    }
}
