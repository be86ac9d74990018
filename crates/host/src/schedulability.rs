//! Worst responses beside the measured ones: what of the board serves to compute them, and the results of a run's own.

use vecud_plan::schedulability::{Analysis, analyse};
use vecud_plan::{FmuId, Mode, Plan, UnitId};
use vecud_record::board::{Metric, TaskCells, TaskWord};
use vecud_report::{ClockResult, PredictedFrom, Schedulability, Scheduling, measured};

/// The figures of a task on the board; none in virtual time, in which a report is the same each time.
pub fn seen(plan: &Plan, cells: TaskCells) -> Schedulability {
    if plan.mode == Mode::Virtual {
        return Schedulability::default();
    }
    let own = cells.get(TaskWord::LongestOwnLock);
    Schedulability {
        longest_lock: cells.histogram(Metric::LockHold).read().max().max(own),
        shortest_interval: cells.get(TaskWord::ShortestInterval).checked_sub(1),
        ..Schedulability::default()
    }
}

/// Computes the worst response of each clock, from the rig's figures, and missing ones from the measurements of this
/// run. A clock that was slower than the rig's figures allow is noted. Returns a warning for each FMU whose levels
/// share FIFO priorities. Only SCHED_FIFO schedules as the computation assumes.
pub fn predict(
    plan: &Plan,
    scheduling: Scheduling,
    clocks: &mut [ClockResult],
    notes: &mut Vec<String>,
) -> Vec<(FmuId, String)> {
    if scheduling != Scheduling::Fifo {
        return Vec::new();
    }
    let analysis = analyse(plan, Some(&measured(clocks)));
    for (clock, predicted) in clocks.iter_mut().zip(&analysis.clocks) {
        let worst = predicted.worst();
        clock.schedulability.predicted_response = worst.map(|worst| worst.response.0 as u64);
        clock.schedulability.predicted_from = worst.map(|worst| worst.basis.into());
    }
    notes.extend(clocks.iter().enumerate().filter_map(|(unit, clock)| slower(plan, &analysis, UnitId(unit), clock)));
    plan.shared_priorities(&analysis)
}

/// A note that a clock was slower than computed from figures of the rig.
fn slower(plan: &Plan, analysis: &Analysis, unit: UnitId, clock: &ClockResult) -> Option<String> {
    let Schedulability { predicted_response: Some(predicted), predicted_from: Some(from), .. } = clock.schedulability
    else {
        return None;
    };
    let response = clock.response.max();
    if response <= predicted || from == PredictedFrom::Run {
        return None;
    }
    let micros = |nanos: u64| nanos as f64 / 1e3;
    let given = plan.figures(unit).execution.map(|given| given.0 as u64);
    let longest = clock.execution.max();
    let execution = match given {
        Some(given) if longest > given => {
            format!("its execution took up to {} µs, more than its execution_us = {}", micros(longest), micros(given))
        }
        Some(given) => {
            format!("its own execution kept to execution_us = {} (at most {} µs)", micros(given), micros(longest))
        }
        None => "its execution_us is not given".to_owned(),
    };
    let wakeup = analysis.known.wakeup[unit.0].0;
    Some(format!(
        "{}: its response reached {} µs, more than the {} µs computed from the rig's figures: {execution}; other \
         figures to look at are those of more urgent clocks, and wakeup_us = {} of [host]",
        plan.told_name(&plan.units[unit.0]),
        micros(response),
        micros(predicted),
        wakeup.0 as f64 / 1e3
    ))
}
