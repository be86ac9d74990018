//! The longest latency and response of each clock in each interval of the run, taken from the shared histograms while it
//! goes on: no thread with a deadline knows of it.
//!
//! A run of any length has at most [`MOST`] intervals: when there are more, two become one that is twice as long. What came
//! between two looks counts for each interval that ended between them, so a supervisor that was kept from looking shows a
//! plateau and never hides a value.

use crate::plan::{Mode, Plan, TaskId};
use crate::record::board::{Board, Global, Metric};
use crate::record::histogram::Seen;
use crate::report::OverTime;
use std::sync::atomic::Ordering::SeqCst;

/// Intervals that there are at most.
const MOST: usize = 240;
/// The first interval, ns, for each hundred clocks: it costs time to look at a histogram.
const FIRST: i64 = 50_000_000;

/// What was seen of a run so far.
#[derive(Clone)]
pub struct Watched {
    /// The first interval, ns; `None`: there is nothing to be seen, since nothing is late in virtual time.
    first: Option<i64>,
    interval: i64,
    /// The run's start, as it was when that was seen first: FMU code can write anywhere.
    start: i64,
    /// Intervals that have ended.
    ended: usize,
    clocks: Vec<[Course; 2]>,
}

/// What is watched of each clock.
const METRICS: [Metric; 2] = [Metric::Start, Metric::Response];

#[derive(Clone, Default)]
struct Course {
    seen: Seen,
    points: Vec<Option<u64>>,
    /// The longest of an interval that has begun before intervals became twice as long and has not ended since.
    begun: Option<u64>,
}

impl Watched {
    /// Nothing yet.
    pub fn new(plan: &Plan) -> Watched {
        let first = (plan.mode == Mode::RealTime).then(|| FIRST * plan.tasks.len().div_ceil(100).max(1) as i64);
        Watched {
            first,
            interval: first.unwrap_or(FIRST),
            start: 0,
            ended: 0,
            clocks: vec![Default::default(); plan.tasks.len()],
        }
    }

    /// Looks at the run, if an interval has ended. `now`: CLOCK_MONOTONIC, ns; up to then all notes are in the histograms.
    pub fn look(&mut self, board: Board, now: i64) {
        let [start, ended] = [Global::Start, Global::Ended].map(|word| board.global(word).load(SeqCst) as i64);
        if self.start == 0 && (1..=now).contains(&start) {
            self.start = start;
        }
        let start = self.start;
        // While FMUs are terminated nothing is activated.
        let now = if ended > 0 { now.min(ended) } else { now };
        if self.first.is_none() || start <= 0 || now < start {
            return;
        }
        let due = self.due(now - start);
        if due > 0 {
            self.end(due, |task, metric, seen| board.task(TaskId(task)).histogram(metric).longest_since(seen));
        }
    }

    /// Intervals that have ended and were not looked at, so long after the start.
    fn due(&self, since: i64) -> usize {
        usize::try_from(since / self.interval - self.ended as i64).unwrap_or(0)
    }

    /// The courses, when the run is over; then there is nothing again.
    pub fn finish(&mut self, board: Board) -> Vec<Option<OverTime>> {
        if self.first.is_none() || self.start == 0 {
            return vec![None; self.clocks.len()];
        }
        // The last one may be shorter.
        self.end(1, |task, metric, seen| board.task(TaskId(task)).histogram(metric).longest_since(seen));
        if self.clocks.iter().flatten().any(|course| course.begun.is_some()) {
            self.clocks.iter_mut().flatten().for_each(|course| course.points.push(course.begun.take()));
        }
        let interval_s = self.interval as f64 / 1e9;
        let courses = self.clocks.iter_mut().map(|clock| {
            let [start_latency, response] = std::mem::take(clock).map(|course| course.points);
            let any = start_latency.iter().chain(&response).any(Option::is_some);
            any.then_some(OverTime { interval_s, start_latency, response })
        });
        let courses = courses.collect();
        (self.interval, self.start, self.ended) = (self.first.unwrap_or(FIRST), 0, 0);
        courses
    }

    /// So many intervals have ended since the last look.
    fn end(&mut self, due: usize, longest: impl Fn(usize, Metric, &mut Seen) -> Option<u64>) {
        // Of a stretch that is longer than all that fits, nobody sees each interval.
        let due = due.min(1 << 20);
        for (task, clock) in self.clocks.iter_mut().enumerate() {
            for (metric, course) in METRICS.into_iter().zip(clock) {
                let value = longest(task, metric, &mut course.seen).max(course.begun.take());
                course.points.extend(std::iter::repeat_n(value, due));
            }
        }
        self.ended += due;
        while self.ended > MOST {
            let odd = self.ended % 2 == 1;
            self.ended /= 2;
            self.interval *= 2;
            for course in self.clocks.iter_mut().flatten() {
                if odd {
                    course.begun = course.begun.max(course.points.pop().flatten());
                }
                course.points = course.points.chunks(2).map(|pair| pair.iter().copied().max().flatten()).collect();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched() -> Watched {
        Watched { first: Some(FIRST), interval: FIRST, start: 0, ended: 0, clocks: vec![Default::default(); 2] }
    }

    #[test]
    fn a_run_of_any_length_has_few_intervals_and_loses_no_maximum() {
        let mut watched = watched();
        let (mut longest, mut looks) = (0, 0);
        for step in 0..100_000u64 {
            longest = longest.max(if step == 54_321 { 9_999 } else { step % 7 });
            let due = watched.due((step as i64 + 1) * FIRST);
            if due > 0 {
                watched.end(due, |task, _, _| (task == 0).then_some(longest));
                (longest, looks) = (0, looks + 1);
            }
        }
        assert!(looks < 2_000, "the longer the run, the fewer the looks: {looks}");
        let points = &watched.clocks[0][0].points;
        assert!(points.len() <= MOST && points.len() > MOST / 4 && points.len() == watched.ended, "{}", points.len());
        assert_eq!(watched.interval, FIRST * 512);
        assert_eq!(points.iter().position(|point| *point == Some(9_999)), Some(54_321 / 512));
        assert!(watched.clocks[1][1].points.iter().all(Option::is_none), "a clock that never ran");
    }

    #[test]
    fn who_was_kept_from_looking_shows_a_plateau() {
        let mut watched = watched();
        watched.end(1, |_, _, _| Some(1));
        watched.end(3, |_, _, _| Some(5));
        assert_eq!(watched.clocks[0][1].points, [Some(1), Some(5), Some(5), Some(5)]);
        watched.end(usize::MAX, |_, _, _| None);
        assert!(watched.ended <= MOST && watched.clocks[0][0].points[0] == Some(5));
    }
}
