//! The grid of a periodic clock (semantics S1), and changes of the interval of a tunable one (S2).
//!
//! Guarantees: its instants strictly increase; each is computed by one step from the origin, so no error accumulates. After a
//! change at `from` they are `last + k · interval` exactly, where `last` is the last instant up to then (FMI 3.0.2, 2.2.8.3,
//! "Periodic Clock": t(i) = t(i-1) + T(i)). Where `last + interval` is before `from`, time cannot go back: the next instant is
//! `from` itself, and the grid counts from there.

use serde::{Deserialize, Serialize};
use vecud_base::time::{Fraction, Instant};

/// `origin + k · interval`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Grid {
    origin: Instant,
    interval: Fraction,
    k: u64,
    next: Instant,
    /// The instant before `next`.
    passed: Option<Instant>,
    /// A new interval, and when it was given: not before everything up to that time has been passed, it holds.
    change: Option<(Fraction, Instant)>,
}

impl Grid {
    /// The grid that starts at `origin`.
    pub(super) fn new(origin: Instant, interval: Fraction) -> Grid {
        Grid { origin, interval, k: 0, next: origin, passed: None, change: None }
    }

    /// Whether its parts are consistent, which only foreign data are not: it goes on, and does not return to instants before the
    /// next one.
    pub(super) fn is_one(&self) -> bool {
        let goes_on = !self.interval.is_zero() && self.change.is_none_or(|(interval, _)| !interval.is_zero());
        // The difference is much less than this: only large denominators are rounded.
        let apart = self.next.nanos().minus(self.origin.after_many(self.interval, self.k).nanos()).0;
        goes_on && self.k < 1 << 62 && apart.abs() <= 1 && self.passed.is_none_or(|passed| passed < self.next)
    }

    /// The interval that holds now.
    pub(super) fn interval(&self) -> Fraction {
        self.interval
    }

    /// An instant of the grid, from which on it counts.
    pub(super) fn origin(&self) -> Instant {
        self.origin
    }

    /// The next instant.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// The instant after the next one, unless the interval [changes](Grid::changes).
    #[inline]
    pub(super) fn after_next(&self) -> Instant {
        match self.next.shares_denominator(self.interval) {
            // The same, exactly: nothing is rounded when only numerators are added.
            true => self.next.after(self.interval),
            false => self.origin.after_many(self.interval, self.k + 1),
        }
    }

    /// Passes the next instant, and gives it and the one after it.
    #[inline(always)]
    pub(super) fn pass(&mut self) -> (Instant, Instant) {
        let (time, next) = (self.next, self.after_next());
        self.passed = Some(time);
        self.k += 1;
        self.next = next;
        if self.change.is_some() {
            self.apply();
            return (time, self.next);
        }
        (time, next)
    }

    /// [`Grid::pass`] for a number of `instants`.
    pub(super) fn pass_many(&mut self, instants: u64) {
        // The first step may find the common denominator, the last one notes the instant that it passes.
        for _ in 0..instants.min(2) {
            self.pass();
        }
        let Some(left) = instants.checked_sub(2).filter(|left| *left > 0) else { return };
        let leap = left - 1;
        self.next = match self.next.shares_denominator(self.interval) {
            true => self.next.after_many(self.interval, leap),
            false => self.origin.after_many(self.interval, self.k + leap),
        };
        self.k += leap;
        self.pass();
    }

    /// Whether another interval waits for its time.
    pub(super) fn changes(&self) -> bool {
        self.change.is_some()
    }

    /// Changes the interval at `from`. Instants of the old grid up to `from`, this one included, stay.
    pub(super) fn retune(&mut self, interval: Fraction, from: Instant) {
        self.change = Some((interval, from));
        self.apply();
    }

    #[cold]
    fn apply(&mut self) {
        let Some((interval, from)) = self.change.filter(|(_, from)| self.next > *from) else { return };
        self.change = None;
        self.interval = interval;
        (self.origin, self.k) = match self.passed {
            // The clock has not ticked yet: the first instant does not depend on the interval.
            None => (self.next, 0),
            Some(last) if last.after(interval) < from => (from, 0),
            Some(last) => (last, 1),
        };
        self.next = self.origin.after_many(interval, self.k);
    }
}

/// The first instant of the grid `origin + k · interval` strictly after `time`. From any point, without walking there.
pub fn first_after(origin: Instant, interval: Fraction, time: Instant) -> Instant {
    if time < origin {
        return origin;
    }
    search(origin, interval, time, |next| next > time)
}

/// The first instant of the grid `origin + k · interval` at or after `time`.
pub fn first_from(origin: Instant, interval: Fraction, time: Instant) -> Instant {
    if time <= origin {
        return origin;
    }
    search(origin, interval, time, |next| next >= time)
}

/// The first instant after the origin that `is_it`, which lies near `time`.
fn search(origin: Instant, interval: Fraction, time: Instant, is_it: impl Fn(Instant) -> bool) -> Instant {
    let behind = time.nanos().minus(origin.nanos()).seconds() / interval.seconds();
    // Rounding errors are less than this, unless the interval is less than a nanosecond.
    let mut k = ((behind * (1.0 - 1e-9)) as u64).saturating_sub(1).max(1);
    while k > 1 && is_it(origin.after_many(interval, k)) {
        k = k.saturating_sub(64).max(1);
    }
    loop {
        let next = origin.after_many(interval, k);
        if is_it(next) {
            return next;
        }
        k += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fraction(text: &str) -> Fraction {
        Fraction::parse(text).unwrap()
    }

    fn at(seconds: f64) -> Instant {
        Instant::from_f64(seconds).unwrap()
    }

    fn times(grid: &mut Grid, count: usize) -> Vec<f64> {
        (0..count).map(|_| grid.pass().0.seconds()).collect()
    }

    #[test]
    fn a_new_interval_counts_from_the_last_instant_before_the_change() {
        let mut grid = Grid::new(at(0.0), fraction("0.01"));
        assert_eq!(times(&mut grid, 3), [0.0, 0.01, 0.02]);
        grid.retune(fraction("2/300"), at(0.025));
        assert_eq!(grid.interval(), fraction("2/300"));
        assert_eq!(grid.pass().0, at(0.02).after(fraction("2/300")));
        assert_eq!(grid.pass().0, at(0.02).after(fraction("4/300")));
        assert_eq!(times(&mut grid, 1), [0.04]);
    }

    #[test]
    fn what_was_due_up_to_the_change_stays() {
        let mut grid = Grid::new(at(0.0), fraction("0.01"));
        grid.retune(fraction("1"), at(0.02));
        assert_eq!(grid.interval(), fraction("0.01"), "until then");
        assert_eq!(times(&mut grid, 4), [0.0, 0.01, 0.02, 1.02]);
    }

    #[test]
    fn the_last_of_two_changes_counts() {
        let mut grid = Grid::new(at(0.0), fraction("0.01"));
        grid.retune(fraction("1"), at(0.005));
        grid.retune(fraction("2"), at(0.007));
        assert_eq!(times(&mut grid, 3), [0.0, 2.0, 4.0]);
    }

    #[test]
    fn an_instant_that_would_be_before_the_change_comes_at_the_change() {
        let mut grid = Grid::new(at(0.0), fraction("1"));
        assert_eq!(times(&mut grid, 2), [0.0, 1.0]);
        grid.retune(fraction("0.25"), at(1.75));
        assert_eq!(times(&mut grid, 3), [1.75, 2.0, 2.25]);
        // One exactly then is not before it.
        grid.retune(fraction("0.125"), at(2.375));
        assert_eq!(times(&mut grid, 2), [2.375, 2.5]);
    }

    #[test]
    fn the_first_instant_does_not_depend_on_the_interval() {
        let mut grid = Grid::new(at(0.3), fraction("1"));
        grid.retune(fraction("0.5"), at(0.1));
        assert_eq!(times(&mut grid, 3), [0.3, 0.8, 1.3]);
    }

    /// A partition that came late has changed the interval of a clock that has moved on since.
    #[test]
    fn a_clock_that_has_moved_on_goes_on_after_where_it_is() {
        let mut grid = Grid::new(at(0.0), fraction("0.01"));
        times(&mut grid, 6);
        grid.retune(fraction("0.02"), at(0.025));
        assert_eq!(times(&mut grid, 2), [0.07, 0.09]);
        grid.retune(fraction("1e-6"), at(0.0));
        assert_eq!(times(&mut grid, 2), [0.090001, 0.090002]);
    }

    /// Resolutions whose sums are exact.
    fn exact() -> impl Strategy<Value = u64> {
        proptest::sample::select(vec![1u64, 3, 7, 10, 64, 300, 1000])
    }

    proptest! {
        #[test]
        fn the_first_instant_from_any_time_on_is_found_without_walking_there(
            interval in (1u64..50, 1u64..1000), k in 0u64..3000, off in 0u64..3, millis in 0u64..9000,
        ) {
            let (origin, interval) = (at(0.25), Fraction::new(interval.0, interval.1).unwrap());
            let near = origin.after_many(interval, k).after_many(fraction("1e-9"), off);
            for time in [near, at(millis as f64 / 1000.0)] {
                let walk = |is_it: &dyn Fn(Instant) -> bool, from: u64| {
                    (from..).map(|k| origin.after_many(interval, k)).find(|instant| is_it(*instant)).unwrap()
                };
                prop_assert_eq!(first_after(origin, interval, time), walk(&|instant| instant > time, 0));
                prop_assert_eq!(first_from(origin, interval, time), walk(&|instant| instant >= time, 0));
            }
        }

        /// Many steps at once are those steps, to the denominator.
        #[test]
        fn a_leap_is_so_many_steps(
            origin in (0u64..50, 1u64..2000), interval in (1u64..50, any::<u64>()), before in 0u64..5, instants in 0u64..3000,
        ) {
            let interval = Fraction::new(interval.0, (interval.1 >> 2).max(1)).unwrap();
            let mut grid = Grid::new(Instant::ZERO.after(Fraction::new(origin.0, origin.1).unwrap()), interval);
            (0..before).for_each(|_| _ = grid.pass());
            let mut leap = grid;
            leap.pass_many(instants);
            (0..instants).for_each(|_| _ = grid.pass());
            prop_assert_eq!(leap, grid);
            prop_assert_eq!(leap.next.to_words(), grid.next.to_words());
        }

        /// Whatever changes when: each instant is the one before it plus the interval that was given last, or when that
        /// was given, whichever is later; but what was due by then stays.
        #[test]
        fn instants_increase_and_each_comes_an_interval_after_the_one_before_it(
            first in (1u64..50, exact()),
            steps in proptest::collection::vec((0usize..6, proptest::option::of((1u64..50, exact(), 0u64..4000))), 1..30),
        ) {
            let mut interval = Fraction::new(first.0, first.1).unwrap();
            let mut grid = Grid::new(at(0.25), interval);
            let (mut last, mut due): (Option<Instant>, Instant) = (None, at(0.25));
            let mut given: Option<(Instant, Fraction)> = None;
            for (count, change) in steps {
                for _ in 0..count {
                    let (time, next) = grid.pass();
                    prop_assert_eq!(next, grid.next());
                    prop_assert_eq!(time, due);
                    prop_assert!(last.is_none_or(|last| time > last), "{time:?} after {last:?}");
                    (last, due) = (Some(time), time.after(interval));
                    if let Some((from, changed)) = given.take_if(|(from, _)| due > *from) {
                        (interval, due) = (changed, time.after(changed).max(from));
                    }
                }
                if let Some((counter, resolution, millis)) = change {
                    let (changed, from) = (Fraction::new(counter, resolution).unwrap(), at(millis as f64 / 1000.0));
                    grid.retune(changed, from);
                    given = Some((from, changed)).filter(|(from, _)| due <= *from);
                    if given.is_none() {
                        interval = changed;
                        due = last.map_or(due, |last| last.after(changed).max(from));
                    }
                }
            }
        }
    }
}
