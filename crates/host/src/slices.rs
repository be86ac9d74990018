//! Contents of each histogram at intervals, so that `histograms.hlog` shows latency over time: copied from the shared
//! histograms during the run, only by the supervisor.
//!
//! Each mark holds the contents of the histograms at one instant; the difference of two is an interval. When there are
//! too many, every second one is dropped, and they are made half as often: a run of any length has at most [`MOST`]
//! intervals, and all histograms together at most [`ENTRIES`] entries. A histogram that FMU code has overwritten has no
//! intervals, only its total.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use vecud_plan::{FmuId, Mode, Plan, UnitId};
use vecud_record::board::causes::ResponsePart;
use vecud_record::board::{Board, Global, Metric};
use vecud_record::histogram::SparseHistogram;
use vecud_report::Run;

/// Greatest number of intervals.
const MOST: usize = 32;
/// Greatest number of entries of all histograms together. A rig with less than [`FEWEST`] for each has no intervals.
const ENTRIES: usize = 8192;
const FEWEST: usize = 4;
/// Length of the first interval, ms.
const FIRST: u64 = 250;

/// Measured quantities of each clock, in the order of its distributions.
const METRICS: [Metric; 5] = [Metric::Wakeup, Metric::Start, Metric::Jitter, Metric::Execution, Metric::Response];
const PARTS: [ResponsePart; 5] = [
    ResponsePart::Preempted,
    ResponsePart::Blocked,
    ResponsePart::SetGet,
    ResponsePart::Host,
    ResponsePart::WakeupMachine,
];

/// The marks of a run so far.
#[derive(Clone)]
pub struct Slices {
    /// The FMU of each task.
    tasks: Vec<FmuId>,
    fmus: usize,
    /// Greatest number of marks; 0: none.
    most: usize,
    /// Interval between marks, ms.
    interval: u64,
    marks: Vec<Arc<Mark>>,
}

/// Contents of the histograms at one instant.
struct Mark {
    /// Time since the start of the run, ms.
    at: u64,
    /// The metrics and parts of each task.
    tasks: Vec<Vec<SparseHistogram>>,
    /// The hold and wait times of each FMU's lock.
    locks: Vec<[SparseHistogram; 2]>,
}

impl Slices {
    /// Begins without marks.
    pub fn new(plan: &Plan) -> Slices {
        let tasks: Vec<FmuId> = plan.units.iter().map(|unit| unit.fmu).collect();
        let histograms = tasks.len() * (METRICS.len() + PARTS.len() + 1) + 2 * plan.fmus.len();
        let most = (ENTRIES / histograms.max(1)).min(MOST);
        // The end of the run closes the last interval without a mark. In virtual time nothing is late.
        let most = if plan.mode == Mode::RealTime && most >= FEWEST { most - 1 } else { 0 };
        Slices { tasks, fmus: plan.fmus.len(), most, interval: FIRST, marks: Vec::new() }
    }

    /// Makes a mark if an interval has ended. `now`: CLOCK_MONOTONIC, ns; all notes up to then are in the histograms.
    pub fn look(&mut self, board: Board, now: i64) {
        let [start, ended] = [Global::StartMonotonic, Global::Ended].map(|word| board.global(word).load(SeqCst) as i64);
        if self.most == 0 || start <= 0 || ended > 0 || now <= start {
            return;
        }
        let at = (now - start) as u64 / 1_000_000;
        if self.is_due(at) {
            self.mark(self.of(board, at));
        }
    }

    fn is_due(&self, at: u64) -> bool {
        // FMU code can overwrite the start.
        let last = self.marks.last().map_or(0, |mark| mark.at);
        at >= last.saturating_add(self.interval)
    }

    fn mark(&mut self, mark: Mark) {
        self.marks.push(Arc::new(mark));
        if self.marks.len() > self.most {
            let mut place = 0;
            self.marks.retain(|_| {
                place += 1;
                place % 2 == 0
            });
            self.interval *= 2;
        }
    }

    fn of(&self, board: Board, at: u64) -> Mark {
        let histograms = |unit| -> Vec<SparseHistogram> {
            let cells = board.task(UnitId(unit));
            let metrics = METRICS.map(|metric| cells.histogram(metric).counts());
            let causes = board.causes(UnitId(unit));
            let parts = PARTS
                .map(|part| causes.as_ref().map_or_else(SparseHistogram::default, |own| own.histogram(part).counts()));
            metrics.into_iter().chain(parts).collect()
        };
        let lock = |fmu: usize| {
            let words = board.fmu(FmuId(fmu));
            let mut lock = [words.hold().counts(), words.wait().counts()];
            for (unit, _) in self.tasks.iter().enumerate().filter(|(_, own)| own.0 == fmu) {
                let cells = board.task(UnitId(unit));
                for (sum, metric) in lock.iter_mut().zip([Metric::LockHold, Metric::LockWait]) {
                    sum.add(&cells.histogram(metric).counts());
                }
            }
            lock
        };
        Mark { at, tasks: (0..self.tasks.len()).map(histograms).collect(), locks: (0..self.fmus).map(lock).collect() }
    }

    /// Adds intervals to the distributions of a run. `run`: the report of the run up to now, or at its end.
    pub fn split(&self, run: &mut Run) {
        let end = Duration::try_from_secs_f64(run.wall_seconds).unwrap_or_default();
        let marks: Vec<(Duration, &Mark)> = self
            .marks
            .iter()
            .map(|mark| (Duration::from_millis(mark.at), &**mark))
            .filter(|(at, _)| *at < end)
            .collect();
        if marks.is_empty() {
            return;
        }
        for (unit, clock) in run.clocks.iter_mut().enumerate() {
            // Arrivals are releases, so their latencies are start latencies.
            let places = (0..METRICS.len() + PARTS.len()).chain([1]);
            for (place, distribution) in places.zip(clock.distributions()) {
                let own: Vec<_> = marks.iter().map(|(at, mark)| (*at, &mark.tasks[unit][place])).collect();
                distribution.split(&own, end);
            }
        }
        for (fmu, result) in run.fmus.iter_mut().enumerate() {
            for (place, distribution) in [&mut result.lock.hold, &mut result.lock.wait].into_iter().enumerate() {
                let own: Vec<_> = marks.iter().map(|(at, mark)| (*at, &mark.locks[fmu][place])).collect();
                distribution.split(&own, end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A month of looks, each 20 ms or as late as the machine likes.
    #[test]
    fn a_month_has_few_marks_over_all_of_it() {
        let mut slices = Slices { tasks: Vec::new(), fmus: 0, most: MOST - 1, interval: FIRST, marks: Vec::new() };
        const MONTH: u64 = 30 * 86_400_000;
        let (mut at, mut looks) = (0, 0);
        while at < MONTH {
            // What is not due costs no look; come just before it is, and some time after.
            let due = slices.marks.last().map_or(0, |mark| mark.at) + slices.interval;
            assert!(!slices.is_due(due - 1));
            at = due + looks % 17;
            assert!(slices.is_due(at));
            slices.mark(Mark { at, tasks: Vec::new(), locks: Vec::new() });
            looks += 1;
            assert!(slices.marks.len() < MOST);
        }
        assert!(looks < 800, "{looks}");
        let times: Vec<u64> = slices.marks.iter().map(|mark| mark.at).collect();
        assert!(times.len() >= MOST / 2 - 1 && times.is_sorted(), "{times:?}");
        let longest = times.windows(2).map(|pair| pair[1] - pair[0]).chain([times[0]]).max().unwrap();
        assert!(longest < MONTH / 8, "{times:?}");
    }
}
