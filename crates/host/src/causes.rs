//! Shared memory → where the time of each clock's activations went.

use std::sync::atomic::Ordering::SeqCst;
use vecud_base::time::{Instant, Nanos};
use vecud_plan::{Plan, UnitId};
use vecud_record::board::causes::{Counted, CounterReading, ResponsePart, WORST, WorstBy};
use vecud_record::board::{Board, Global, TaskWord};
use vecud_record::{board, moment};
use vecud_report::{
    ActivationResult, Causes, KernelCounters, OtherClock, OverrunResult, PartsResult, ThreadCounts, overrun_cause,
};

/// The histograms that only this part has.
pub fn parts(board: Board, unit: UnitId) -> PartsResult {
    let Some(cells) = board.causes(unit) else { return PartsResult::default() };
    let read = |part| cells.histogram(part).read().into();
    PartsResult {
        preempted: read(ResponsePart::Preempted),
        blocked: read(ResponsePart::Blocked),
        set_get: read(ResponsePart::SetGet),
        host: read(ResponsePart::Host),
        wakeup_machine: read(ResponsePart::WakeupMachine),
    }
}

/// Everything else.
pub fn causes(plan: &Plan, board: Board, unit: UnitId) -> Causes {
    let words = board.task(unit);
    let (other_core, demoted) = (words.get(TaskWord::WrongCore), words.get(TaskWord::Demoted) == 1);
    let Some(cells) = board.causes(unit) else { return Causes::default() };
    let names = Names { plan, board };
    let worst = |by: WorstBy| {
        let all = (0..WORST).filter_map(|place| cells.worst(by, place).read(plan.units.len()));
        let mut all: Vec<ActivationResult> = all.map(|moment| names.moment(&moment)).collect();
        all.sort_by_key(|moment| {
            let key = if by == WorstBy::Wakeup { moment.wakeup_machine() } else { moment.response };
            (std::cmp::Reverse(key), moment.release_monotonic_ns)
        });
        all
    };
    let (rows, overran_total) = cells.overruns(plan.units.len());
    let [begin, first, end] =
        [CounterReading::Begin, CounterReading::First, CounterReading::End].map(|when| cells.counted(when));
    let thread = match (begin, first, end) {
        (Some(begin), Some(first), Some(end)) => {
            Some(ThreadCounts { first: Some(between(begin, first)), later: between(first, end) })
        }
        (Some(begin), None, Some(end)) => Some(ThreadCounts { first: None, later: between(begin, end) }),
        _ => None,
    };
    Causes {
        worst_responses: worst(WorstBy::Response),
        worst_wakeups: worst(WorstBy::Wakeup),
        overran: rows.iter().map(|row| names.overran(row)).collect(),
        overran_total,
        thread,
        other_core,
        demoted,
    }
}

fn between(before: Counted, after: Counted) -> KernelCounters {
    KernelCounters {
        minor_faults: after.minor_faults.saturating_sub(before.minor_faults),
        major_faults: after.major_faults.saturating_sub(before.major_faults),
        voluntary_switches: after.voluntary.saturating_sub(before.voluntary),
        involuntary_switches: after.involuntary.saturating_sub(before.involuntary),
    }
}

/// Seconds as a fraction in lowest terms, or as a whole number.
fn exact(time: Instant) -> String {
    let [seconds, counter, resolution] = time.to_words();
    let (mut a, mut b) = (counter, resolution);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    let (counter, resolution) = (counter / a.max(1), resolution / a.max(1));
    match i128::from(seconds as i64) * i128::from(resolution) + i128::from(counter) {
        whole if resolution <= 1 => whole.to_string(),
        numerator => format!("{numerator}/{resolution}"),
    }
}

struct Names<'a> {
    plan: &'a Plan,
    board: Board<'a>,
}

impl Names<'_> {
    fn name(&self, unit: UnitId) -> String {
        self.plan.full_name(&self.plan.units[unit.0])
    }

    /// The clock of a thread.
    fn of_thread(&self, tid: u32) -> Option<String> {
        let mut units = (0..self.plan.units.len()).map(UnitId).filter(|_| tid != 0);
        units.find(|unit| self.board.task(*unit).get(TaskWord::Tid) == u64::from(tid)).map(|unit| self.name(unit))
    }

    fn moment(&self, moment: &moment::NotableActivation) -> ActivationResult {
        let moment::ResponseBreakdown { wakeup, gate, executing, preempted, blocked, set_get } = moment.parts;
        let [wakeup, gate, executing, preempted, blocked, set_get] =
            [wakeup, gate, executing, preempted, blocked, set_get].map(|part| part.max(0) as u64);
        // Releases are instants of the run's clock.
        let [start, monotonic] =
            [Global::Start, Global::StartMonotonic].map(|word| self.board.global(word).load(SeqCst));
        let other = |other: &moment::Other| OtherClock {
            clock: self.name(other.unit),
            overlap: other.overlap.max(0) as u64,
            under_way: other.under_way,
        };
        ActivationResult {
            time: exact(moment.time),
            time_s: moment.time.seconds(),
            release_monotonic_ns: moment.release - (start as i64 - monotonic as i64),
            response: moment.parts.response().max(0) as u64,
            wakeup,
            gate,
            executing,
            preempted,
            blocked,
            set_get,
            wakeup_rig: moment.rig.clamp(0, moment.parts.wakeup.max(0)) as u64,
            gate_waits: moment.gate_waits,
            follows: moment.follows,
            first: moment.first,
            blocked_by: self.of_thread(moment.blocker),
            others: moment.others.iter().flatten().map(other).collect(),
            more_others: moment.more_others,
            kernel: Vec::new(),
        }
    }

    fn overran(&self, row: &board::causes::OverrunActivation) -> OverrunResult {
        let overran = OverrunResult {
            release: exact(row.release),
            release_s: row.release.seconds(),
            releases: row.releases,
            late: row.late.max(0) as u64,
            budget: (row.period != Nanos::MAX).then_some(row.period.0.max(0) as u64),
            cause: String::new(),
            predecessor: self.moment(&row.predecessor),
        };
        OverrunResult { cause: overrun_cause(&overran), ..overran }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_fractions_in_lowest_terms() {
        for (seconds, text) in [(0.0, "0"), (3.0, "3"), (0.25, "1/4"), (1.0015, "2003/2000"), (-0.5, "-1/2")] {
            assert_eq!(exact(Instant::from_f64(seconds).unwrap()), text);
        }
    }
}
