//! Releases of a periodic clock that come while an activation of it is under way: the overruns that will be counted when it
//! returns (semantics S12), computed before it does, and whether it ever does.

use super::{QUEUE, first_after};
use vecud_base::time::{Fraction, Instant, Nanos};

/// Releases that have come while an activation was under way, and that its thread has not counted: it does when the activation
/// has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The first release.
    pub first: Instant,
    /// Number of releases, at least 1.
    pub count: u64,
    interval: Fraction,
}

/// The longest believed activation or period, ns (two years): FMU code has written over a longer one.
const LONGEST: i64 = 1 << 56;

impl Passed {
    /// The releases after `activation`, the time of the activation under way, which is on the grid of its clock, up to `now`, but
    /// before the `stop` of the run. The releases up to `counted` are counted already: where they queue, the activations before
    /// this one have found them. `None`: none has come.
    pub fn of(
        activation: Instant,
        interval: Fraction,
        counted: Instant,
        now: Instant,
        stop: Option<Instant>,
    ) -> Option<Passed> {
        let has_come = |release: Instant| release <= now && stop.is_none_or(|stop| release < stop);
        let span = now.nanos().minus(activation.nanos());
        let is_sane = Passed::counts(interval, span) && span.0 >= 0 && activation.nanos().0.unsigned_abs() < 1 << 62;
        if !is_sane || !has_come(activation) {
            return None;
        }
        let first = first_after(activation, interval, activation.max(counted));
        if !has_come(first) {
            return None;
        }
        let until = stop.map_or(now, |stop| stop.min(now));
        let estimate = until.nanos().minus(first.nanos()).seconds() / interval.seconds();
        // The rounding error is less than a release or two.
        let mut further = (estimate as u64).saturating_sub(2);
        while has_come(first.after_many(interval, further + 1)) {
            further += 1;
        }
        Some(Passed { first, count: further + 1, interval })
    }

    /// The releases of a clock after `counted`; `origin` is the first instant of its grid. Other arguments and the answer are those
    /// of [`Passed::of`]. Precondition: no activation of the clock is under way.
    pub fn on_grid(
        origin: Instant,
        interval: Fraction,
        counted: Instant,
        now: Instant,
        stop: Option<Instant>,
    ) -> Option<Passed> {
        if counted >= origin {
            return Passed::of(origin, interval, counted, now, stop);
        }
        if origin > now || stop.is_some_and(|stop| origin >= stop) {
            return None;
        }
        let later = Passed::of(origin, interval, origin, now, stop);
        Some(Passed { first: origin, count: 1 + later.map_or(0, |later| later.count), interval })
    }

    /// Whether intervals this short are counted over a span this long.
    pub fn counts(interval: Fraction, span: Nanos) -> bool {
        (1_000..LONGEST).contains(&interval.nanos().0) && span.0 < LONGEST
    }

    /// The first release alone, where no other counts.
    pub fn first_alone(self) -> Passed {
        Passed { count: 1, ..self }
    }

    /// The number of releases that wait, where releases wait and `already` do so; the others are left out (semantics S9).
    pub fn waiting(&self, already: u64) -> u64 {
        self.count.min((QUEUE as u64).saturating_sub(already))
    }

    /// The release with this place among them, the first has 0.
    pub fn release(&self, place: u64) -> Instant {
        self.first.after_many(self.interval, place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Release;
    use crate::schedule::{LateRelease, Timeline};
    use proptest::prelude::*;

    fn at(nanos: i64) -> Instant {
        Instant::from_nanos(Nanos(nanos))
    }

    fn fraction(text: &str) -> Fraction {
        Fraction::parse(text).unwrap()
    }

    #[test]
    fn releases_count_at_their_instant_and_not_before() {
        let passed = |now: i64| Passed::of(at(300_000_000), fraction("0.001"), at(0), at(now), None);
        assert_eq!(passed(300_999_999), None);
        let first = passed(301_000_000).unwrap();
        assert_eq!((first.first, first.count), (at(301_000_000), 1));
        let later = passed(8_900_000_000).unwrap();
        assert_eq!((later.count, later.release(later.count - 1)), (8_600, at(8_900_000_000)));
    }

    #[test]
    fn nothing_is_released_at_the_stop_of_the_run() {
        let passed = |stop: i64| Passed::of(at(0), fraction("1/3"), at(0), at(10_000_000_000), Some(at(stop)));
        assert_eq!(passed(1_000_000_000).map(|passed| passed.count), Some(2));
        assert_eq!(passed(1_000_000_001).map(|passed| passed.count), Some(3));
        assert_eq!(passed(1), None);
    }

    #[test]
    fn where_nothing_has_begun_the_first_instant_of_the_grid_counts() {
        let millis = |millis: i64| at(millis * 1_000_000);
        let passed = |counted: i64, now: i64, stop: Option<i64>| {
            let passed = Passed::on_grid(millis(5), fraction("0.001"), millis(counted), millis(now), stop.map(millis));
            passed.map(|passed| (passed.first, passed.count))
        };
        assert_eq!(passed(0, 4, None), None);
        assert_eq!(passed(0, 5, Some(5)), None);
        assert_eq!(passed(0, 5, None), Some((millis(5), 1)));
        assert_eq!(passed(0, 7, None), Some((millis(5), 3)));
        assert_eq!(passed(0, 7, Some(7)), Some((millis(5), 2)));
        assert_eq!(passed(5, 7, None), Some((millis(6), 2)));
    }

    /// What others have written into shared memory ends in some figure, at once.
    #[test]
    fn any_words_have_a_count() {
        let wild = [Instant::MAX, at(i64::MIN), at(i64::MAX), Instant::ZERO];
        for (activation, now) in wild.into_iter().flat_map(|a| wild.map(|b| (a, b))) {
            for interval in [Fraction::ZERO, Fraction::MICROSECOND, Fraction::new(u64::MAX, 1).unwrap()] {
                let passed = Passed::of(activation, interval, Instant::ZERO, now, None);
                assert!(passed.is_none_or(|passed| passed.count > 0));
            }
        }
    }

    proptest! {
        /// The activation that returns now finds what was told before: neither more nor less, whichever policy there is.
        #[test]
        fn what_has_passed_is_what_the_timeline_finds_when_it_returns(
            micros in 1u64..5_000, activations in prop::collection::vec((0i64..20_000, 0i64..40_000), 1..12),
            stop in prop::option::of(1i64..200_000), queues: bool,
        ) {
            let interval = Fraction::new(micros, 1_000_000).unwrap();
            let release = Release::Periodic { shift: Fraction::ZERO, interval };
            let stop = stop.map(|stop| at(stop * 1_000));
            let mut timeline = Timeline::new(&release, Instant::ZERO, stop);
            let (mut now, mut counted) = (0, Instant::ZERO);
            for (late, execution) in activations {
                let Some(due) = timeline.take() else { break };
                now = due.time.nanos().0.max(now) + late * 1_000;
                now += execution * 1_000;
                let told = Passed::of(due.time, interval, counted, at(now), stop);
                let mut found = Vec::new();
                if queues {
                    while let Some(kept) = timeline.keep(at(now)) {
                        let (LateRelease::Waits(time) | LateRelease::Not(crate::schedule::Skipped { time })) = kept;
                        found.push(time);
                    }
                } else {
                    while let Some(skipped) = timeline.skip(at(now)) {
                        found.push(skipped.time);
                    }
                }
                let times = told.iter().flat_map(|told| (0..told.count).map(|place| told.release(place)));
                prop_assert_eq!(times.collect::<Vec<_>>(), found);
                counted = at(now);
            }
        }
    }
}
