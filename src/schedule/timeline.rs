//! The releases of one task.
//!
//! Guarantees (design S1–S3, S12):
//! * activation times strictly increase;
//! * a periodic clock stays on its grid, whatever happens: a late start never changes an activation time;
//! * a tick at the time of one pending or activated (of the last [`QUEUE`]) is coalesced, another one that is earlier than
//!   the last activation gets the time of its dispatch, and pending ones are taken in the order of their times;
//! * a deadline that has passed before its clock is armed anew is a tick like any other;
//! * nothing is activated at or after the stop of the run;
//! * no allocation after [`Timeline::new`].

use crate::plan::Release;
use crate::time::{Fraction, Instant, Nanos};

/// Ticks that may wait per clock (design S9).
pub const QUEUE: usize = 16;

/// What became of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tick {
    /// It waits for its activation.
    Queued,
    /// There is an activation with exactly this time already.
    Coalesced,
    /// [`QUEUE`] others wait already.
    Full,
    /// Its time is not before the stop of the run.
    AfterStop,
}

/// An activation that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// `activationTime`.
    pub time: Instant,
    /// When it was dispatched, for those that something else released; `None`: `time` itself is the release.
    pub dispatched: Option<Nanos>,
    /// Its tick came too late for its own time and has that of its dispatch.
    pub retimed: bool,
}

/// When something was handed over, on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// CLOCK_MONOTONIC.
    pub wall: Nanos,
    /// The same as simulation time.
    pub time: Instant,
}

/// A release that was left out because the activation before it had not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The activation time that it would have had.
    pub time: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    time: Instant,
    dispatched: Nanos,
    retimed: bool,
}

#[derive(Clone, Debug)]
enum Source {
    /// `origin + k · interval`, next is `k`.
    Grid { origin: Instant, interval: Fraction, k: u64, next: Instant },
    /// A list, next is the index.
    List { times: Vec<Instant>, next: usize },
    /// A deadline, when armed.
    Countdown { armed: Option<Waiting> },
    /// Nothing but ticks.
    Ticks,
}

/// The releases of one task: what comes next, and what becomes of ticks.
#[derive(Clone, Debug)]
pub struct Timeline {
    source: Source,
    waiting: Vec<Waiting>,
    last: Option<Instant>,
    /// Times of the last activations, in no order; the next one overwrites the oldest.
    recent: [Option<Instant>; QUEUE],
    oldest: usize,
    stop: Option<Instant>,
}

impl Timeline {
    /// The timeline of a task in a run over [start, stop).
    pub fn new(release: &Release, start: Instant, stop: Option<Instant>) -> Timeline {
        let source = match release {
            Release::Periodic { shift, interval } => {
                let origin = start.after(*shift);
                Source::Grid { origin, interval: *interval, k: 0, next: origin }
            }
            Release::At(times) => Source::List { times: times.clone(), next: 0 },
            Release::Countdown => Source::Countdown { armed: None },
            Release::Triggered { .. } | Release::Never => Source::Ticks,
        };
        Timeline { source, waiting: Vec::with_capacity(QUEUE), last: None, recent: [None; QUEUE], oldest: 0, stop }
    }

    /// The time of the next activation, as far as it is known; only times before the stop of the run.
    pub fn next(&self) -> Option<Instant> {
        let own = match &self.source {
            Source::Grid { next, .. } => Some(*next),
            Source::List { times, next } => times.get(*next).copied(),
            Source::Countdown { armed } => armed.map(|waiting| waiting.time),
            Source::Ticks => None,
        };
        let tick = self.waiting.first().map(|waiting| waiting.time);
        let next = match (own, tick) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        next.filter(|time| self.stop.is_none_or(|stop| *time < stop))
    }

    /// Takes the next activation off the timeline.
    pub fn take(&mut self) -> Option<Due> {
        let time = self.next()?;
        if self.waiting.first().is_some_and(|waiting| waiting.time == time) {
            let waiting = self.waiting.remove(0);
            return Some(self.activate(waiting));
        }
        let due = match &mut self.source {
            Source::Grid { origin, interval, k, next } => {
                *k += 1;
                *next = origin.after_many(*interval, *k);
                Due { time, dispatched: None, retimed: false }
            }
            Source::List { next, .. } => {
                *next += 1;
                Due { time, dispatched: None, retimed: false }
            }
            Source::Countdown { armed } => {
                let waiting = armed.take().expect("next() found it");
                return Some(self.activate(waiting));
            }
            Source::Ticks => unreachable!("next() found nothing but ticks"),
        };
        self.activated(due.time);
        Some(due)
    }

    fn activated(&mut self, time: Instant) {
        self.last = Some(time);
        self.recent[self.oldest] = Some(time);
        self.oldest = (self.oldest + 1) % QUEUE;
    }

    fn activate(&mut self, waiting: Waiting) -> Due {
        let Waiting { time, dispatched, retimed } = waiting;
        self.activated(time);
        Due { time, dispatched: Some(dispatched), retimed }
    }

    /// What waits for `time`, or, when the clock has moved on, for the time of the dispatch: the first nanosecond from
    /// there on that is later than the last activation and that nothing else waits for.
    fn waiting_for(&self, time: Instant, dispatch: Dispatch) -> Waiting {
        let Some(last) = self.last.filter(|last| time < *last) else {
            return Waiting { time, dispatched: dispatch.wall, retimed: false };
        };
        let mut time = dispatch.time.max(last.after(Fraction::NANOSECOND));
        while self.waits_for(time) {
            time = time.after(Fraction::NANOSECOND);
        }
        Waiting { time, dispatched: dispatch.wall, retimed: true }
    }

    fn waits_for(&self, time: Instant) -> bool {
        let armed = matches!(&self.source, Source::Countdown { armed: Some(armed) } if armed.time == time);
        armed || self.waiting.iter().any(|waiting| waiting.time == time)
    }

    /// A tick at `time`.
    pub fn tick(&mut self, time: Instant, dispatch: Dispatch) -> Tick {
        if self.recent.contains(&Some(time)) || self.waits_for(time) {
            return Tick::Coalesced;
        }
        self.queue(self.waiting_for(time, dispatch))
    }

    fn queue(&mut self, tick: Waiting) -> Tick {
        if self.stop.is_some_and(|stop| tick.time >= stop) {
            return Tick::AfterStop;
        }
        if self.waiting.len() == QUEUE {
            return Tick::Full;
        }
        let place = self.waiting.partition_point(|waiting| waiting.time < tick.time);
        self.waiting.insert(place, tick);
        Tick::Queued
    }

    /// A countdown clock is armed, by an activation at `since`, to tick at `time`. What was armed before is forgotten,
    /// unless that was to tick before `since`: it has, then, though it was not activated yet, and waits. `Coalesced` when
    /// the clock was activated at exactly `time`, `Full` when there is no room for what has ticked.
    pub fn arm(&mut self, time: Instant, since: Instant, dispatch: Dispatch) -> Tick {
        let Source::Countdown { armed } = &mut self.source else { return Tick::Queued };
        let ticked = armed.take().filter(|armed| armed.time < since);
        let outcome = ticked.map_or(Tick::Queued, |ticked| self.queue(ticked));
        if self.recent.contains(&Some(time)) {
            return Tick::Coalesced;
        }
        let deadline = self.waiting_for(time, dispatch);
        if let Source::Countdown { armed } = &mut self.source {
            *armed = Some(deadline);
        }
        outcome
    }

    /// Leaves out the next release of a periodic clock if it is at or before `now`, since the activation before it ran
    /// until then; to be called until it returns `None`. Other clocks queue and never skip.
    pub fn skip(&mut self, now: Instant) -> Option<Skipped> {
        let stop = self.stop;
        let Source::Grid { origin, interval, k, next } = &mut self.source else { return None };
        let time = *next;
        if time > now || stop.is_some_and(|stop| time >= stop) {
            return None;
        }
        *k += 1;
        *next = origin.after_many(*interval, *k);
        self.last = Some(time);
        Some(Skipped { time })
    }

    /// Throws away what waits and tells how much it was: ticks, and an armed countdown.
    pub fn discard(&mut self) -> u64 {
        let armed = match &mut self.source {
            Source::Countdown { armed } => u64::from(armed.take().is_some()),
            _ => 0,
        };
        let ticks = self.waiting.len() as u64;
        self.waiting.clear();
        ticks + armed
    }

    /// Ticks that wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(seconds: f64) -> Instant {
        Instant::from_f64(seconds).unwrap()
    }

    fn periodic(interval: &str, shift: &str, stop: f64) -> Timeline {
        let release =
            Release::Periodic { shift: Fraction::parse(shift).unwrap(), interval: Fraction::parse(interval).unwrap() };
        Timeline::new(&release, Instant::ZERO, Some(at(stop)))
    }

    fn ticked() -> Timeline {
        Timeline::new(&Release::Never, Instant::ZERO, Some(at(1000.0)))
    }

    fn dispatched(seconds: f64) -> Dispatch {
        Dispatch { wall: at(seconds).nanos(), time: at(seconds) }
    }

    #[test]
    fn a_grid_starts_at_its_shift_and_ends_before_the_stop() {
        let mut timeline = periodic("0.01", "0.003", 0.033);
        let times: Vec<f64> = std::iter::from_fn(|| timeline.take()).map(|d| d.time.seconds()).collect();
        assert_eq!(times, [0.003, 0.013, 0.023]);
    }

    #[test]
    fn a_late_activation_keeps_its_time_and_the_grid_skips() {
        let mut timeline = periodic("0.01", "0", 1.0);
        assert_eq!(timeline.take().unwrap().time, at(0.0));
        let skipped: Vec<Skipped> = std::iter::from_fn(|| timeline.skip(at(0.025))).collect();
        assert_eq!(skipped, [Skipped { time: at(0.01) }, Skipped { time: at(0.02) }]);
        assert_eq!(timeline.next(), Some(at(0.03)));
    }

    #[test]
    fn equal_ticks_are_coalesced_pending_or_activated() {
        let mut timeline = ticked();
        assert_eq!(timeline.tick(at(1.0), dispatched(0.0)), Tick::Queued);
        assert_eq!(timeline.tick(at(1.0), dispatched(0.0)), Tick::Coalesced);
        timeline.take();
        assert_eq!(timeline.tick(at(1.0), dispatched(0.0)), Tick::Coalesced);
        // Also when others have been activated since.
        timeline.tick(at(2.0), dispatched(0.0));
        timeline.take();
        assert_eq!(timeline.tick(at(1.0), dispatched(0.0)), Tick::Coalesced);
    }

    #[test]
    fn pending_ticks_are_taken_in_the_order_of_their_times() {
        let mut timeline = ticked();
        for time in [3.0, 1.0, 2.0] {
            timeline.tick(at(time), dispatched(0.0));
        }
        let times: Vec<f64> = std::iter::from_fn(|| timeline.take()).map(|d| d.time.seconds()).collect();
        assert_eq!(times, [1.0, 2.0, 3.0]);
    }

    #[test]
    fn a_tick_that_is_too_late_gets_the_time_of_its_dispatch() {
        let mut timeline = ticked();
        timeline.tick(at(2.0), dispatched(2.0));
        timeline.take();
        timeline.tick(at(1.0), dispatched(2.5));
        timeline.tick(at(1.5), dispatched(2.5));
        let due = timeline.take().unwrap();
        assert_eq!((due.time, due.retimed, due.dispatched), (at(2.5), true, Some(at(2.5).nanos())));
        assert!(timeline.take().unwrap().time > at(2.5), "strictly increasing even at one instant");
    }

    #[test]
    fn a_tick_that_is_too_late_does_not_make_others_late() {
        let mut timeline = ticked();
        timeline.tick(at(2.0), dispatched(2.0));
        timeline.take();
        for (time, dispatch) in [(3.0, 3.0), (4.0, 4.0), (1.0, 5.0)] {
            timeline.tick(at(time), dispatched(dispatch));
        }
        let times: Vec<_> =
            std::iter::from_fn(|| timeline.take()).map(|due| (due.time.seconds(), due.retimed)).collect();
        assert_eq!(times, [(3.0, false), (4.0, false), (5.0, true)]);
    }

    #[test]
    fn a_tick_that_cannot_be_activated_before_the_stop_is_said_to_be_so() {
        let mut timeline = ticked();
        assert_eq!(timeline.tick(at(1000.0), dispatched(1000.0)), Tick::AfterStop);
        timeline.tick(at(2.0), dispatched(2.0));
        timeline.take();
        assert_eq!(timeline.tick(at(1.0), dispatched(1001.0)), Tick::AfterStop, "it would run after the stop");
        assert_eq!((timeline.next(), timeline.waiting()), (None, 0));
    }

    #[test]
    fn the_seventeenth_tick_is_refused() {
        let mut timeline = ticked();
        for k in 0..QUEUE {
            assert_eq!(timeline.tick(at(k as f64), dispatched(0.0)), Tick::Queued);
        }
        assert_eq!(timeline.tick(at(99.0), dispatched(0.0)), Tick::Full);
    }

    #[test]
    fn arming_again_replaces_the_deadline() {
        let mut timeline = Timeline::new(&Release::Countdown, Instant::ZERO, Some(at(10.0)));
        timeline.arm(at(3.0), at(0.0), dispatched(0.0));
        timeline.arm(at(2.0), at(0.0), dispatched(0.0));
        assert_eq!(timeline.next(), Some(at(2.0)));
        assert_eq!(timeline.take().unwrap().time, at(2.0));
        assert_eq!(timeline.next(), None);
        assert_eq!(timeline.arm(at(2.0), at(0.0), dispatched(0.0)), Tick::Coalesced);
    }

    #[test]
    fn a_deadline_that_has_passed_is_not_forgotten_by_arming_anew() {
        let mut timeline = Timeline::new(&Release::Countdown, Instant::ZERO, Some(at(10.0)));
        timeline.arm(at(2.0), at(1.0), dispatched(1.0));
        timeline.arm(at(5.0), at(3.0), dispatched(3.0));
        let times: Vec<f64> = std::iter::from_fn(|| timeline.take()).map(|due| due.time.seconds()).collect();
        assert_eq!(times, [2.0, 5.0]);
        timeline.arm(at(6.0), at(5.5), dispatched(5.5));
        timeline.arm(at(7.0), at(6.0), dispatched(6.0));
        assert_eq!(timeline.take().unwrap().time, at(7.0), "armed anew at the very instant of its deadline");
    }

    #[test]
    fn what_lies_at_or_after_the_stop_never_comes() {
        let mut timeline = Timeline::new(&Release::Countdown, Instant::ZERO, Some(at(10.0)));
        timeline.arm(at(10.0), at(0.0), dispatched(0.0));
        assert_eq!(timeline.next(), None);
        let mut timeline = Timeline::new(&Release::At(vec![at(9.0), at(10.0)]), Instant::ZERO, Some(at(10.0)));
        assert!(timeline.take().is_some());
        assert!(timeline.take().is_none());
    }

    proptest! {
        /// S3, whatever the ticks and however late they come.
        #[test]
        fn activation_times_strictly_increase(ticks in proptest::collection::vec((0u64..50, 0u64..3), 1..100)) {
            let mut timeline = ticked();
            let mut last = None;
            for (now, (time, take)) in ticks.into_iter().enumerate() {
                timeline.tick(at(time as f64), dispatched(now as f64));
                for _ in 0..take {
                    if let Some(due) = timeline.take() {
                        prop_assert!(last.is_none_or(|last| due.time > last));
                        last = Some(due.time);
                    }
                }
            }
        }

        /// Every tick is accounted for: activated, coalesced, refused or still waiting.
        #[test]
        fn no_tick_is_lost(ticks in proptest::collection::vec((0u64..40, any::<bool>()), 1..200)) {
            let mut timeline = ticked();
            let (mut activated, mut coalesced, mut full) = (0, 0, 0);
            for (k, (time, take)) in ticks.iter().enumerate() {
                match timeline.tick(at(*time as f64), dispatched(k as f64)) {
                    Tick::Queued => (),
                    Tick::Coalesced => coalesced += 1,
                    Tick::Full => full += 1,
                    Tick::AfterStop => prop_assert!(false, "the run is long enough"),
                }
                if *take && timeline.take().is_some() {
                    activated += 1;
                }
            }
            prop_assert_eq!(ticks.len(), activated + coalesced + full + timeline.waiting());
        }
    }
}
