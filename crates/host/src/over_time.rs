//! The longest latency and response of each clock in each interval of the run, and their instants, taken from the shared histograms
//! while the run goes on: no thread with a deadline takes part.
//!
//! A run of any length has at most [`MOST`] intervals: when there are more, two become one that is twice as long. Each keeps the
//! instant of its longest value to the finest interval, and the longest one of its other instants: a spike stays a spike after a
//! instant of its longest value to the finest interval, and the longest value of its other instants: a spike remains
//! visible after a month, beside the usual values around it. A value between two checks counts for each interval
//! between them, so a supervisor
//! that was kept from checking shows a plateau and never hides a value.
//! A check without news costs a few cache lines of a histogram: it reads only the tail, from the longest value known of
//! the interval except its longest instant. It reads the whole histogram when an interval begins or ends.

use std::sync::atomic::Ordering::SeqCst;
use vecud_plan::{Mode, Plan, UnitId};
use vecud_record::board::{Board, Global, Metric};
use vecud_record::histogram::HistogramCursor;
use vecud_report::{OverTime, Peaks};

/// Greatest number of intervals.
const MOST: u64 = 240;
/// The finest interval, ns, for each hundred clocks: checking a histogram takes time.
const FINEST: i64 = 50_000_000;

/// Observations of a run so far.
#[derive(Clone)]
pub struct IntervalMaxima {
    /// The finest interval, ns; `None`: virtual time, where nothing is late.
    finest: Option<i64>,
    /// Number of finest intervals in an interval.
    each: u64,
    /// Start of the run, as first read: FMU code can overwrite the original.
    start: i64,
    /// Number of finest intervals that have been checked.
    looked: u64,
    clocks: Vec<[Course; 2]>,
}

/// Observed metrics of each clock.
const METRICS: [Metric; 2] = [Metric::Start, Metric::Response];

#[derive(Clone, Default)]
struct Course {
    seen: HistogramCursor,
    /// Completed intervals.
    ended: Vec<Option<Peak>>,
    /// The current interval.
    begun: Option<Peak>,
}

/// The longest value of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Peak {
    longest: u64,
    /// Number of the finest interval of the value since the start, the first one if there were several.
    at: u64,
    /// The longest value of the other finest intervals.
    otherwise: Option<u64>,
}

impl Peak {
    /// Merges two intervals, the earlier one first.
    fn both(earlier: Option<Peak>, later: Option<Peak>) -> Option<Peak> {
        let (Some(one), Some(other)) = (earlier, later) else { return earlier.or(later) };
        let (higher, lower) = if other.longest > one.longest { (other, one) } else { (one, other) };
        let otherwise = higher.otherwise.max(lower.otherwise).max(Some(lower.longest));
        Some(Peak { otherwise, ..higher })
    }
}

impl Course {
    fn note(&mut self, value: Option<u64>, at: u64) {
        let peak = value.map(|longest| Peak { longest, at, otherwise: None });
        self.begun = Peak::both(self.begun, peak);
    }

    /// Halves the resolution: two intervals become one.
    fn halve(&mut self) {
        if self.ended.len() % 2 == 1 {
            self.begun = Peak::both(self.ended.pop().flatten(), self.begun);
        }
        self.ended = self.ended.chunks(2).map(|pair| Peak::both(pair[0], pair[1])).collect();
    }

    /// The least value that would change the current interval. `None`: any.
    fn least_of_interest(&self) -> Option<u64> {
        self.begun?.otherwise
    }
}

impl IntervalMaxima {
    /// Observes a run from its beginning.
    pub fn new(plan: &Plan) -> IntervalMaxima {
        let finest = (plan.mode == Mode::RealTime).then(|| FINEST * plan.units.len().div_ceil(100).max(1) as i64);
        IntervalMaxima { finest, each: 1, start: 0, looked: 0, clocks: vec![Default::default(); plan.units.len()] }
    }

    /// Checks the run, if one of the finest intervals has ended. `now`: CLOCK_MONOTONIC, ns; all notes up to then are
    /// in the histograms.
    pub fn look(&mut self, board: Board, now: i64) {
        let [start, ended] = [Global::StartMonotonic, Global::Ended].map(|word| board.global(word).load(SeqCst) as i64);
        if self.start == 0 && (1..=now).contains(&start) {
            self.start = start;
        }
        let start = self.start;
        // Nothing is activated while FMUs are terminated.
        let now = if ended > 0 { now.min(ended) } else { now };
        let Some(finest) = self.finest.filter(|_| start > 0 && now >= start) else { return };
        let until = ((now - start) / finest) as u64;
        if until > self.looked {
            self.take(until, |unit, metric, seen, least| {
                board.task(UnitId(unit)).histogram(metric).longest_since(seen, least)
            });
        }
    }

    /// Returns the courses at the end of the run, and clears them.
    pub fn finish(&mut self, board: Board) -> Vec<Option<OverTime>> {
        let Some(finest) = self.finest.filter(|_| self.start != 0) else { return vec![None; self.clocks.len()] };
        for (unit, clock) in self.clocks.iter_mut().enumerate() {
            for (metric, course) in METRICS.into_iter().zip(clock) {
                let value = board.task(UnitId(unit)).histogram(metric).longest_since(&mut course.seen, 0);
                course.note(value, self.looked);
            }
        }
        // The last interval may be shorter.
        if self.clocks.iter().flatten().any(|course| course.begun.is_some()) {
            self.clocks.iter_mut().flatten().for_each(|course| course.ended.push(course.begun.take()));
        }
        let (each, resolution_s) = (std::mem::replace(&mut self.each, 1), finest as f64 / 1e9);
        (self.start, self.looked) = (0, 0);
        let courses = self.clocks.iter_mut().map(|clock| {
            let [start_latency, response] = std::mem::take(clock).map(|course| course.ended);
            let any = start_latency.iter().chain(&response).any(Option::is_some);
            let longest = |points: &[Option<Peak>]| points.iter().map(|peak| Some(peak.as_ref()?.longest)).collect();
            let peaks = |points: &[Option<Peak>]| if each > 1 { peaks(points, finest) } else { Peaks::default() };
            any.then(|| OverTime {
                interval_s: each as f64 * resolution_s,
                resolution_s,
                start_latency: longest(&start_latency),
                response: longest(&response),
                start_latency_peaks: peaks(&start_latency),
                response_peaks: peaks(&response),
            })
        });
        courses.collect()
    }

    /// Takes the values since the last check, which came until `until` of the finest intervals had ended.
    fn take(&mut self, until: u64, longest: impl Fn(usize, Metric, &mut HistogramCursor, u64) -> Option<u64>) {
        while until / self.each > MOST {
            self.each *= 2;
            self.clocks.iter_mut().flatten().for_each(Course::halve);
        }
        let (each, from) = (self.each, self.looked);
        let one_ends = until / each > from / each;
        for (unit, clock) in self.clocks.iter_mut().enumerate() {
            for (metric, course) in METRICS.into_iter().zip(clock) {
                let least = course.least_of_interest().filter(|_| !one_ends).unwrap_or(0);
                let value = longest(unit, metric, &mut course.seen, least);
                for interval in from / each..until / each {
                    course.note(value, from.max(interval * each));
                    course.ended.push(course.begun.take());
                }
                let begin = from.max(until / each * each);
                if begin < until {
                    course.note(value, begin);
                }
            }
        }
        self.looked = until;
    }
}

/// The longest value of each interval with its time, and the longest other value.
fn peaks(points: &[Option<Peak>], finest: i64) -> Peaks {
    // Rounded to the microsecond, without meaningless digits.
    let seconds = |at: u64| (at as i64).saturating_mul(finest / 1000) as f64 / 1e6;
    Peaks {
        at_s: points.iter().map(|peak| Some(seconds(peak.as_ref()?.at))).collect(),
        otherwise: points.iter().map(|peak| peak.as_ref()?.otherwise).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    fn watched() -> IntervalMaxima {
        IntervalMaxima { finest: Some(FINEST), each: 1, start: 0, looked: 0, clocks: vec![Default::default(); 2] }
    }

    /// 52 million looks of 50 ms are a month. Each interval that shows a spike knows its instant, and the few looks at all of a
    /// histogram are those at the begin or end of an interval.
    #[test]
    fn after_a_month_the_instant_of_a_spike_is_known_to_the_finest_interval() {
        const MONTH: u64 = 30 * 86_400 * 20;
        let spikes = [(7, 9_000), (54_321, 9_999), (20_000_001, 50_000), (MONTH - 2, 70_000)];
        let usual = |place: u64| if place.is_multiple_of(3) { 12 } else { 20 };
        let (mut watched, whole) = (watched(), Cell::new(0));
        // Looks of a whole second keep the test short; around the spikes they are the finest.
        let mut place = 0;
        while place < MONTH {
            let near = spikes.iter().any(|(at, _)| place <= *at && *at < place + 40);
            let next = (place + if near { 1 } else { 20 }).min(MONTH);
            let spike = spikes.iter().find(|(at, _)| (place..next).contains(at)).map(|(_, value)| *value);
            watched.take(next, |unit, _, _, least| {
                whole.set(whole.get() + u64::from(least == 0));
                (unit == 0).then_some(spike.unwrap_or(usual(place))).filter(|value| *value >= least)
            });
            place = next;
        }
        let course = &watched.clocks[0][0];
        assert!(course.ended.len() as u64 <= MOST && course.ended.len() as u64 > MOST / 4, "{}", course.ended.len());
        for (at, value) in spikes {
            let expected = Some(Peak { longest: value, at, otherwise: Some(20) });
            let all: Vec<_> = course.ended.iter().chain([&course.begun]).collect();
            let of_two = [spikes[0], spikes[1]].contains(&(at, value));
            match of_two {
                // Both are in the first interval of hours: the greater one has it, the other one is what is otherwise the longest.
                true => assert_eq!(all[0].unwrap(), Peak { longest: 9_999, at: 54_321, otherwise: Some(9_000) }),
                false => assert!(all.contains(&&expected), "{value}: {all:?}"),
            }
        }
        assert!(watched.clocks[1][1].ended.iter().all(Option::is_none), "a clock that never ran");
        // Of the clock that ran: its two histograms.
        let of_one = whole.get() - 2 * whole_of_idle(MONTH, &spikes);
        assert!(of_one < 2 * 40_000, "{of_one} looks at whole histograms in a month of {MONTH}");
    }

    /// A clock without values is looked at whole at each look: there is nothing in its histogram.
    fn whole_of_idle(month: u64, spikes: &[(u64, u64)]) -> u64 {
        let (mut place, mut looks) = (0, 0);
        while place < month {
            let near = spikes.iter().any(|(at, _)| place <= *at && *at < place + 40);
            (place, looks) = ((place + if near { 1 } else { 20 }).min(month), looks + 1);
        }
        looks
    }

    #[test]
    fn who_was_kept_from_looking_shows_a_plateau() {
        let mut watched = watched();
        watched.take(1, |_, _, _, _| Some(1));
        watched.take(4, |_, _, _, _| Some(5));
        let longest = |watched: &IntervalMaxima| -> Vec<_> {
            watched.clocks[0][1].ended.iter().map(|peak| peak.map(|peak| peak.longest)).collect()
        };
        assert_eq!(longest(&watched), [Some(1), Some(5), Some(5), Some(5)]);
        watched.take(1 << 40, |_, _, _, _| None);
        assert!(watched.clocks[0][0].ended.len() as u64 <= MOST);
        assert_eq!(longest(&watched)[0], Some(5));
    }

    proptest! {
        /// However often it is looked, whatever comes: no maximum is lost, each has its instant, and what is otherwise the longest of its
        /// interval is that of all its other instants.
        #[test]
        fn each_interval_has_its_longest_value_and_its_instant(values in proptest::collection::vec(0u64..50, 1..3_000)) {
            let mut watched = watched();
            for (place, value) in values.iter().enumerate() {
                watched.take(place as u64 + 1, |_, _, _, least| Some(*value).filter(|value| *value >= least));
            }
            let (course, each) = (&watched.clocks[0][0], watched.each as usize);
            let shown: Vec<Peak> = course.ended.iter().copied().chain([course.begun]).flatten().collect();
            prop_assert_eq!(shown.len(), values.chunks(each).count());
            for (number, (own, peak)) in values.chunks(each).zip(shown).enumerate() {
                let longest = *own.iter().max().unwrap();
                let place = own.iter().position(|value| *value == longest).unwrap();
                let others = own.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, value)| *value).max();
                prop_assert_eq!(peak, Peak { longest, at: (number * each + place) as u64, otherwise: others });
            }
        }
    }
}
