//! A timeline that goes on in a later run: its grid, its last activation times and waiting ticks are kept, so activation times
//! increase strictly over both runs.

use super::releases::{FED, ReleaseSource, Timeline, Waiting};
use crate::QUEUE;
use crate::{Release, UnitId};
use std::collections::VecDeque;
use vecud_base::time::{Instant, Nanos};

impl Timeline {
    /// Resumes the timeline in a run that ends at `stop`. Waiting ticks were handed over before that run's start, and have no
    /// dispatch of this run. `Err`: it cannot have been a timeline of a task that is released like this.
    pub fn resume(self, release: &Release, stop: Option<Instant>) -> Result<Timeline, &'static str> {
        let same = matches!(
            (&self.source, release),
            (ReleaseSource::Grid { .. }, Release::Periodic { .. } | Release::Asked)
                | (ReleaseSource::Changing { .. }, Release::Changing)
                | (ReleaseSource::List { .. }, Release::At(_))
                | (ReleaseSource::Fed { .. }, Release::Stimulus { .. })
                | (ReleaseSource::Countdown { .. }, Release::Countdown)
                | (
                    ReleaseSource::Ticks,
                    Release::Triggered { .. } | Release::Endpoint { .. } | Release::Request | Release::Never
                )
        );
        if !same {
            return Err("is released in another way");
        }
        if self.waiting.len() > QUEUE || self.oldest >= QUEUE {
            return Err("has more ticks waiting than there can be");
        }
        let mut source = self.source;
        match &mut source {
            ReleaseSource::Countdown { armed: Some(armed) } => armed.dispatched = Nanos(0),
            // All memory that it will ever need.
            ReleaseSource::Grid { backlog, .. } => backlog.reserve(QUEUE.saturating_sub(backlog.len())),
            // The stimulus feeds the times again.
            ReleaseSource::Fed { times } => *times = VecDeque::with_capacity(FED),
            _ => (),
        }
        let mut waiting = Vec::with_capacity(QUEUE);
        waiting.extend(self.waiting.iter().map(|tick| Waiting { dispatched: Nanos(0), ..*tick }));
        Ok(Timeline { source, waiting, stop, keeps: false, ..self })
    }

    /// Whether this can be a timeline of one of `tasks` tasks in a run that was left at `time`, whatever wrote it: its next
    /// release is not before that, nor before its last activation; it goes on; and it names existing tasks only.
    pub fn could_be_left(&self, time: Instant, tasks: usize) -> Result<(), &'static str> {
        let is_one = match &self.source {
            ReleaseSource::Grid { grid, backlog } => {
                let kept = backlog.iter().chain([&grid.next()]).is_sorted_by(|a, b| a < b);
                grid.is_one() && backlog.len() <= QUEUE && kept
            }
            ReleaseSource::List { times, next } => *next <= times.len() && times.is_sorted_by(|a, b| a < b),
            ReleaseSource::Changing { .. }
            | ReleaseSource::Fed { .. }
            | ReleaseSource::Countdown { .. }
            | ReleaseSource::Ticks => true,
        };
        let armed = match &self.source {
            ReleaseSource::Countdown { armed } => armed.as_ref(),
            _ => None,
        };
        let known = |root: Option<UnitId>| root.is_none_or(|root| root.0 < tasks);
        let sorted = self.waiting.is_sorted_by(|a, b| a.time < b.time);
        if !is_one || !sorted || !self.waiting.iter().chain(armed).all(|tick| known(tick.root)) {
            return Err("does not go on as any clock does");
        }
        match self.next_ever() {
            Some(next) if next < time => Err("is due before the time at which that run was left"),
            Some(next) if self.last.is_some_and(|last| next <= last) => Err("is due where it was activated already"),
            _ => Ok(()),
        }
    }

    /// The timeline in a run that may be taken up again: a tick after the stop time waits for that.
    pub fn keeping(self) -> Timeline {
        Timeline { keeps: true, ..self }
    }

    /// The time of the next activation, whenever the run ends.
    pub fn next_ever(&self) -> Option<Instant> {
        Timeline { stop: None, ..self.clone() }.next()
    }
}

#[cfg(test)]
mod tests {
    use super::super::releases::{DispatchStamp, Tick};
    use super::*;
    use proptest::prelude::*;
    use vecud_base::time::Fraction;

    fn at(seconds: f64) -> Instant {
        Instant::from_f64(seconds).unwrap()
    }

    /// Through bytes, as a file would have it.
    fn through_bytes(timeline: &Timeline) -> Timeline {
        postcard::from_bytes(&postcard::to_stdvec(timeline).unwrap()).unwrap()
    }

    fn releases() -> Vec<Release> {
        let fraction = |text: &str| Fraction::parse(text).unwrap();
        vec![
            Release::Periodic { shift: fraction("0.0013"), interval: fraction("1/300") },
            Release::At([0.0, 0.01, 0.015, 0.3].map(at).to_vec()),
            Release::Changing,
            Release::Countdown,
            Release::Never,
            Release::Stimulus { stimulus: 0, tick: 0 },
        ]
    }

    #[test]
    fn a_timeline_is_not_resumed_as_another_kind() {
        for (i, one) in releases().iter().enumerate() {
            for (k, other) in releases().iter().enumerate() {
                let timeline = Timeline::new(one, Instant::ZERO, None);
                assert_eq!(timeline.resume(other, None).is_ok(), i == k, "{one:?} as {other:?}");
            }
        }
    }

    /// A forged state may have any content.
    #[test]
    fn what_no_run_can_have_left_is_refused() {
        let stop = Some(at(1.0));
        let mut left = Timeline::new(&releases()[0], Instant::ZERO, stop);
        let _taken: Vec<_> = (0..3).map(|_| left.take()).collect();
        let time = left.next().unwrap();
        assert_eq!(left.could_be_left(time, 1), Ok(()));
        let dispatch = |root| DispatchStamp { wall: Nanos(0), time, root };
        let mut ticked = left.clone();
        assert_eq!(ticked.tick(at(0.3), dispatch(Some(UnitId(1)))), Tick::Queued);
        assert_eq!((ticked.could_be_left(time, 2), ticked.could_be_left(time, 1).is_err()), (Ok(()), true));
        assert!(left.could_be_left(at(0.5), 1).is_err(), "it is due before");
        assert!(Timeline { last: Some(time), ..left.clone() }.could_be_left(time, 1).is_err(), "it was activated then");
        let stands = Fraction::ZERO;
        let grid =
            ReleaseSource::Grid { grid: crate::schedule::grid::Grid::new(time, stands), backlog: VecDeque::new() };
        assert!(Timeline { source: grid, ..left.clone() }.could_be_left(time, 1).is_err(), "it never goes on");
        let list = ReleaseSource::List { times: vec![], next: 1 };
        assert!(Timeline { source: list, ..left }.could_be_left(time, 1).is_err(), "it has no such place");
    }

    /// Times of a stimulus are handed over anew, from where the run was left.
    #[test]
    fn what_a_stimulus_has_handed_over_comes_again_and_nothing_that_was_activated() {
        let release = Release::Stimulus { stimulus: 0, tick: 0 };
        let mut left = Timeline::new(&release, Instant::ZERO, Some(at(1.0)));
        assert!(left.is_hungry());
        [0.0, 0.1, 0.2].map(at).into_iter().for_each(|time| left.feed(time));
        assert_eq!(
            (left.take().map(|due| due.time), left.next(), left.room()),
            (Some(at(0.0)), Some(at(0.1)), FED - 2)
        );
        let mut later = through_bytes(&left).resume(&release, Some(at(0.25))).unwrap();
        assert!(later.is_hungry() && later.next().is_none());
        [0.0, 0.1, 0.2, 0.2, 0.3].map(at).into_iter().for_each(|time| later.feed(time));
        let rest: Vec<Instant> = std::iter::from_fn(|| later.take()).map(|due| due.time).collect();
        assert_eq!(rest, [at(0.1), at(0.2)], "0 s was activated, and 0.3 s is after the stop");
        assert!(!later.is_hungry());
    }

    #[test]
    fn a_stimulus_hands_over_no_more_than_there_is_room_for() {
        let mut timeline = Timeline::new(&Release::Stimulus { stimulus: 0, tick: 0 }, Instant::ZERO, None);
        (0..2 * FED as u32).for_each(|time| timeline.feed(at(f64::from(time))));
        assert_eq!((timeline.room(), std::iter::from_fn(|| timeline.take()).count()), (0, FED));
        assert_eq!(Timeline::new(&Release::Never, Instant::ZERO, None).room(), 0);
    }

    #[test]
    fn a_deadline_and_a_grid_beyond_the_stop_are_there_in_the_next_run() {
        let mut countdown = Timeline::new(&Release::Countdown, Instant::ZERO, Some(at(1.0)));
        countdown.arm(at(1.5), at(0.9), DispatchStamp { wall: Nanos(7), time: at(0.9), root: None });
        assert_eq!((countdown.next(), countdown.next_ever()), (None, Some(at(1.5))));
        let mut later = countdown.resume(&Release::Countdown, Some(at(2.0))).unwrap();
        let due = later.take().unwrap();
        assert_eq!((due.time, due.dispatched), (at(1.5), Some(Nanos(0))));
    }

    #[test]
    fn a_tick_after_the_stop_waits_for_the_next_run() {
        let never = |stop| Timeline::new(&Release::Never, Instant::ZERO, Some(at(stop)));
        let dispatch = DispatchStamp { wall: Nanos(0), time: at(0.9), root: None };
        assert_eq!(never(1.0).tick(at(1.25), dispatch), Tick::AfterStop);
        let mut left = never(1.0).keeping();
        assert_eq!(left.tick(at(1.25), dispatch), Tick::Queued);
        assert_eq!((left.next(), left.take()), (None, None));
        let mut later = through_bytes(&left).resume(&Release::Never, Some(at(2.0))).unwrap();
        assert_eq!(later.take().unwrap().time, at(1.25));
        assert_eq!(later.tick(at(2.5), dispatch), Tick::AfterStop);
    }

    proptest! {
        /// Whatever happens to a timeline: cut at any point, saved and resumed, it goes on as if it had not been cut.
        #[test]
        fn a_cut_timeline_goes_on_as_an_uncut_one(
            kind in 0usize..5,
            events in prop::collection::vec((0u8..7, 0u32..400), 1..60),
            cut in 0usize..60,
        ) {
            let release = &releases()[kind];
            let stop = Some(at(0.3));
            let mut whole = Timeline::new(release, Instant::ZERO, stop);
            let mut parts = whole.clone();
            for (index, (event, millis)) in events.into_iter().enumerate() {
                if index == cut {
                    parts = through_bytes(&parts).resume(release, stop).unwrap();
                }
                let time = at(f64::from(millis) / 1000.0);
                let dispatch = DispatchStamp { wall: Nanos(0), time, root: None };
                let interval = Fraction::new(u64::from(millis) + 1, 7000).unwrap();
                match event {
                    0 => prop_assert_eq!(whole.tick(time, dispatch), parts.tick(time, dispatch)),
                    1 => prop_assert_eq!(whole.arm(time, time, dispatch), parts.arm(time, time, dispatch)),
                    2 => prop_assert_eq!(whole.skip(time), parts.skip(time)),
                    3 => prop_assert_eq!(whole.keep(time), parts.keep(time)),
                    4 => [&mut whole, &mut parts].into_iter().for_each(|one| one.follow(interval, time)),
                    5 => [&mut whole, &mut parts].into_iter().for_each(|one| one.retune(interval, time)),
                    _ => prop_assert_eq!(whole.take(), parts.take()),
                }
            }
            prop_assert_eq!(whole, parts);
        }
    }
}
