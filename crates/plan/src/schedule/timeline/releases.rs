//! The releases of one task, and the outcomes of its ticks.

use crate::schedule::grid::{Grid, first_after};
use crate::{QUEUE, Release, UnitId};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use vecud_base::time::{Fraction, Instant, Nanos};

/// Times that are taken from a stimulus at once.
pub const FED: usize = 64;

/// The fate of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tick {
    /// The tick waits for its activation.
    Queued,
    /// There is an activation with exactly this time already.
    Coalesced,
    /// [`QUEUE`] others wait already.
    Full,
    /// The tick's time is not before the stop of the run.
    AfterStop,
}

/// The result of arming a countdown clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Armed {
    /// The fate of the new deadline.
    pub tick: Tick,
    /// The deadline before it, which had been reached and for which there was no room any more.
    pub lost: Option<Instant>,
}

/// An activation that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// `activationTime`.
    pub time: Instant,
    /// Time of the dispatch, if something else released the activation; `None`: `time` itself is the release.
    pub dispatched: Option<Nanos>,
    /// The tick came too late for its own time and has that of its dispatch.
    pub retimed: bool,
    /// The first instant after `time` of the clock's grid or list, whether it will be activated then or not; `None`: the
    /// clock is neither periodic nor listed, or has no further instant.
    pub next: Option<Instant>,
    /// The clock at the root of the chain that caused it; `None`: no other one did.
    pub root: Option<UnitId>,
}

impl Due {
    /// A release by the clock itself.
    pub(in crate::schedule) fn own(time: Instant) -> Due {
        Due { time, dispatched: None, retimed: false, next: None, root: None }
    }
}

/// The time of a dispatch, on both clocks, and its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DispatchStamp {
    /// CLOCK_MONOTONIC.
    pub wall: Nanos,
    /// The dispatch as simulation time.
    pub time: Instant,
    /// The clock at the root of the chain that leads here; `None`: there is none.
    pub root: Option<UnitId>,
}

/// A release that was left out because the activation before it had not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The activation time that it would have had.
    pub time: Instant,
}

/// The fate of a release that found the activation before it still running, where such releases wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateRelease {
    /// The tick waits, to be activated at its own time, which is this.
    Waits(Instant),
    /// The tick was left out, since [`QUEUE`] wait already.
    Not(Skipped),
}

/// The facts about its clock that an FMU gives in Initialization Mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Learned {
    /// No release, or none yet.
    #[default]
    Nothing,
    /// The first tick of a changing clock, or the first deadline of a countdown clock.
    First(Instant),
    /// The grid of a periodic clock.
    Grid {
        /// First tick after the start of the run.
        shift: Fraction,
        /// Never zero.
        interval: Fraction,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Waiting {
    pub(super) time: Instant,
    pub(super) dispatched: Nanos,
    pub(super) retimed: bool,
    pub(super) root: Option<UnitId>,
}

impl Waiting {
    pub(super) fn due(&self) -> Due {
        let Waiting { time, dispatched, retimed, root } = *self;
        Due { dispatched: Some(dispatched), retimed, root, ..Due::own(time) }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum ReleaseSource {
    /// Periodic. Releases that wait for their predecessor to end are before those of the grid, and so is one beside it.
    Grid { grid: Grid, backlog: VecDeque<Instant> },
    /// The time that the last activation gave, if there is one.
    Changing { next: Option<Instant> },
    /// A list, next is the index.
    List { times: Vec<Instant>, next: usize },
    /// A list that is handed over in portions of at most [`FED`], the earliest first.
    Fed { times: VecDeque<Instant> },
    /// A deadline, when armed.
    Countdown { armed: Option<Waiting> },
    /// Releases come from ticks alone.
    Ticks,
}

/// The releases of one task: the next ones, and the fate of ticks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    pub(super) source: ReleaseSource,
    pub(super) waiting: Vec<Waiting>,
    pub(super) last: Option<Instant>,
    /// Times of the last activations, in no order; the next one overwrites the oldest.
    pub(super) recent: [Option<Instant>; QUEUE],
    pub(super) oldest: usize,
    pub(super) stop: Option<Instant>,
    /// Ticks after the stop wait, for a later run.
    pub(super) keeps: bool,
}

impl Timeline {
    /// The timeline of a task in a run over [start, stop).
    pub fn new(release: &Release, start: Instant, stop: Option<Instant>) -> Timeline {
        let source = match release {
            Release::Periodic { shift, interval } => {
                let grid = Grid::new(start.after(*shift), *interval);
                ReleaseSource::Grid { grid, backlog: VecDeque::with_capacity(QUEUE) }
            }
            Release::At(times) => ReleaseSource::List { times: times.clone(), next: 0 },
            Release::Stimulus { .. } => ReleaseSource::Fed { times: VecDeque::with_capacity(FED) },
            Release::Changing => ReleaseSource::Changing { next: None },
            Release::Countdown => ReleaseSource::Countdown { armed: None },
            // Until it is learned, a grid that is asked for is none.
            Release::Asked
            | Release::Triggered { .. }
            | Release::Endpoint { .. }
            | Release::Request
            | Release::Never => ReleaseSource::Ticks,
        };
        Timeline {
            source,
            waiting: Vec::with_capacity(QUEUE),
            last: None,
            recent: [None; QUEUE],
            oldest: 0,
            stop,
            keeps: false,
        }
    }

    /// The number of stimulus times that the timeline would take now; 0 for clocks of another kind.
    pub fn room(&self) -> usize {
        match &self.source {
            ReleaseSource::Fed { times } => FED - times.len(),
            _ => 0,
        }
    }

    /// Whether nothing that a stimulus has handed over waits.
    pub fn is_hungry(&self) -> bool {
        matches!(&self.source, ReleaseSource::Fed { times } if times.is_empty())
    }

    /// Adds the next time of a stimulus, while there is [`Timeline::room`]; times increase. A time that the saved run has
    /// activated already is not activated again.
    pub fn feed(&mut self, time: Instant) {
        let last = self.last;
        if let ReleaseSource::Fed { times } = &mut self.source
            && times.len() < FED
            && last.is_none_or(|last| time > last)
            && times.back().is_none_or(|last| time > *last)
        {
            times.push_back(time);
        }
    }

    /// The first time after this one that a stimulus has handed over and that waits.
    pub fn fed_after(&self, time: Instant) -> Option<Instant> {
        match &self.source {
            ReleaseSource::Fed { times } => times.iter().copied().find(|fed| *fed > time),
            _ => None,
        }
    }

    /// Takes over the facts that the FMU gave about the clock before the run, which starts at `start`. `root`: the clock that a
    /// deadline which was armed so early is attributed to.
    pub fn learn(&mut self, learned: Learned, start: Instant, root: Option<UnitId>) {
        match learned {
            Learned::Nothing => (),
            Learned::First(time) => match &mut self.source {
                ReleaseSource::Changing { next } => *next = Some(time),
                _ => {
                    self.arm(time, start, DispatchStamp { wall: Nanos(0), time: start, root });
                }
            },
            Learned::Grid { shift, interval } => {
                let grid = Grid::new(start.after(shift), interval);
                self.source = ReleaseSource::Grid { grid, backlog: VecDeque::with_capacity(QUEUE) };
            }
        }
    }

    /// The interval of a periodic clock.
    pub fn interval(&self) -> Option<Fraction> {
        match &self.source {
            ReleaseSource::Grid { grid, .. } => Some(grid.interval()),
            _ => None,
        }
    }

    /// The grid of a periodic clock: an instant of it, and its interval.
    pub fn grid(&self) -> Option<(Instant, Fraction)> {
        match &self.source {
            ReleaseSource::Grid { grid, .. } => Some((grid.origin(), grid.interval())),
            _ => None,
        }
    }

    /// The interval of a periodic clock has changed at `from`: releases of the old grid up to that instant stay, the next
    /// one comes the new interval after the last of them, but not before `from`.
    pub fn retune(&mut self, interval: Fraction, from: Instant) {
        if let ReleaseSource::Grid { grid, .. } = &mut self.source {
            grid.retune(interval, from);
        }
    }

    /// A periodic task has a release at this time too, which is after its last one and before the next one of its grid. It is
    /// never left out, nor is the grid passed over while it waits.
    pub fn beside(&mut self, time: Instant) {
        let last = self.last;
        if let ReleaseSource::Grid { grid, backlog } = &mut self.source
            && time < grid.next()
            && last.is_none_or(|last| time > last)
        {
            debug_assert!(backlog.is_empty(), "one at a time");
            backlog.push_front(time);
        }
    }

    /// A changing clock, activated at `since`, ticks next after `interval`, which is not zero.
    #[inline(never)] // few clocks are changing ones
    pub fn follow(&mut self, interval: Fraction, since: Instant) {
        if let ReleaseSource::Changing { next } = &mut self.source {
            let time = since.after(interval);
            *next = Some(time).filter(|time| self.last.is_none_or(|last| *time > last));
        }
    }

    /// The grid, when nothing else can come next.
    #[inline]
    pub(super) fn plain_grid(&self) -> Option<&Grid> {
        match &self.source {
            ReleaseSource::Grid { grid, backlog } if backlog.is_empty() && self.waiting.is_empty() => Some(grid),
            _ => None,
        }
    }

    /// The time of the next activation, as far as it is known; only times before the stop of the run.
    #[inline]
    pub fn next(&self) -> Option<Instant> {
        let next = match self.plain_grid() {
            Some(grid) => Some(grid.next()),
            None => self.next_of_all(),
        };
        next.filter(|time| self.stop.is_none_or(|stop| *time < stop))
    }

    #[inline(never)]
    fn next_of_all(&self) -> Option<Instant> {
        let own = match &self.source {
            ReleaseSource::Grid { grid, backlog } => Some(backlog.front().copied().unwrap_or(grid.next())),
            ReleaseSource::Changing { next } => *next,
            ReleaseSource::List { times, next } => times.get(*next).copied(),
            ReleaseSource::Fed { times } => times.front().copied(),
            ReleaseSource::Countdown { armed } => armed.map(|waiting| waiting.time),
            ReleaseSource::Ticks => None,
        };
        let tick = self.waiting.first().map(|waiting| waiting.time);
        match (own, tick) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Takes the next activation off the timeline.
    #[inline(always)]
    pub fn take(&mut self) -> Option<Due> {
        let time = self.next()?;
        if self.plain_grid().is_some()
            && let ReleaseSource::Grid { grid, .. } = &mut self.source
        {
            let (time, next) = grid.pass();
            self.activated(time);
            return Some(Due { next: Some(next), ..Due::own(time) });
        }
        self.take_of_all(time)
    }

    #[inline(never)]
    fn take_of_all(&mut self, time: Instant) -> Option<Due> {
        if self.waiting.first().is_some_and(|waiting| waiting.time == time) {
            let waiting = self.waiting.remove(0);
            return Some(self.activate(waiting));
        }
        let due = match &mut self.source {
            ReleaseSource::Grid { grid, backlog } => {
                let next = match backlog.pop_front() {
                    // A release between it and the next waiting one may have been left out.
                    Some(_) => first_after(grid.origin(), grid.interval(), time),
                    None => grid.pass().1,
                };
                Due { next: Some(next), ..Due::own(time) }
            }
            ReleaseSource::Changing { next } => {
                *next = None;
                Due::own(time)
            }
            ReleaseSource::List { times, next } => {
                *next += 1;
                Due { next: times.get(*next).copied(), ..Due::own(time) }
            }
            ReleaseSource::Fed { times } => {
                times.pop_front();
                Due::own(time)
            }
            ReleaseSource::Countdown { armed } => {
                let waiting = armed.take().expect("next() found it");
                return Some(self.activate(waiting));
            }
            ReleaseSource::Ticks => unreachable!("next() found nothing but ticks"),
        };
        self.activated(due.time);
        Some(due)
    }

    #[inline]
    fn activated(&mut self, time: Instant) {
        self.last = Some(time);
        self.recent[self.oldest] = Some(time);
        self.oldest = (self.oldest + 1) % QUEUE;
    }

    fn activate(&mut self, waiting: Waiting) -> Due {
        self.activated(waiting.time);
        waiting.due()
    }

    /// The tick waits for `time`, or, when the clock has moved on, for the time of the dispatch: the first nanosecond from there
    /// on that is later than the last activation and that nothing else waits for.
    fn waiting_for(&self, time: Instant, dispatch: DispatchStamp) -> Waiting {
        let Some(last) = self.last.filter(|last| time < *last) else {
            return Waiting { time, dispatched: dispatch.wall, retimed: false, root: dispatch.root };
        };
        let mut time = dispatch.time.max(last.after(Fraction::NANOSECOND));
        while self.waits_for(time) {
            time = time.after(Fraction::NANOSECOND);
        }
        Waiting { time, dispatched: dispatch.wall, retimed: true, root: dispatch.root }
    }

    fn waits_for(&self, time: Instant) -> bool {
        let armed = matches!(&self.source, ReleaseSource::Countdown { armed: Some(armed) } if armed.time == time);
        armed || self.waiting.iter().any(|waiting| waiting.time == time)
    }

    /// A tick at `time`.
    pub fn tick(&mut self, time: Instant, dispatch: DispatchStamp) -> Tick {
        if self.was_activated_at(time) || self.waits_for(time) {
            return Tick::Coalesced;
        }
        self.queue(self.waiting_for(time, dispatch))
    }

    /// Whether one of the last activations had this time. Times only grow, so most need not be looked for.
    fn was_activated_at(&self, time: Instant) -> bool {
        self.last.is_some_and(|last| time <= last) && self.recent.contains(&Some(time))
    }

    fn queue(&mut self, tick: Waiting) -> Tick {
        if !self.keeps && self.stop.is_some_and(|stop| tick.time >= stop) {
            return Tick::AfterStop;
        }
        if self.waiting.len() == QUEUE {
            return Tick::Full;
        }
        let place = self.waiting.partition_point(|waiting| waiting.time < tick.time);
        self.waiting.insert(place, tick);
        Tick::Queued
    }

    /// Arms a countdown clock, by an activation at `since`, to tick at `time`. The deadline before is forgotten (FMI 3.0.2,
    /// 2.2.8.4: re-scheduled), unless that was at `since` or before: then it has ticked, though it was not activated yet, and
    /// waits. `Coalesced` when the clock was activated at exactly `time`, or a tick waits for that.
    pub fn arm(&mut self, time: Instant, since: Instant, dispatch: DispatchStamp) -> Armed {
        let ReleaseSource::Countdown { armed } = &mut self.source else {
            return Armed { tick: Tick::Queued, lost: None };
        };
        let reached = armed.take().filter(|armed| armed.time <= since);
        let lost = reached.filter(|reached| self.queue(*reached) == Tick::Full).map(|reached| reached.time);
        if self.was_activated_at(time) || self.waits_for(time) {
            return Armed { tick: Tick::Coalesced, lost };
        }
        let deadline = self.waiting_for(time, dispatch);
        if let ReleaseSource::Countdown { armed } = &mut self.source {
            *armed = Some(deadline);
        }
        Armed { tick: Tick::Queued, lost }
    }

    /// Leaves out the next release of a periodic clock if it is at or before `now`, since the activation before it ran
    /// until then; to be called until it returns `None`. Other clocks queue and never skip.
    pub fn skip(&mut self, now: Instant) -> Option<Skipped> {
        let stop = self.stop;
        let ReleaseSource::Grid { grid, .. } = &mut self.source else { return None };
        if grid.next() > now || stop.is_some_and(|stop| grid.next() >= stop) {
            return None;
        }
        let (time, _) = grid.pass();
        self.last = Some(time);
        Some(Skipped { time })
    }

    /// [`Timeline::skip`] of all but the last such release, which stays the next one, for a task that is to catch up at once.
    pub fn skip_to_last(&mut self, now: Instant) -> Option<Skipped> {
        let stop = self.stop;
        let ReleaseSource::Grid { grid, backlog } = &self.source else { return None };
        if !backlog.is_empty() {
            return None;
        }
        let later = grid.after_next();
        let is_last = later > now || stop.is_some_and(|stop| later >= stop);
        if is_last { None } else { self.skip(now) }
    }

    /// Keeps the releases of a periodic clock at or before `now`, since the activation before them ran until then: they are
    /// activated one after the other, at their times. Leaves out one for which there is no room. Returns one after the other; to
    /// be called until it returns `None`.
    pub fn keep(&mut self, now: Instant) -> Option<LateRelease> {
        let stop = self.stop;
        let ReleaseSource::Grid { grid, backlog } = &mut self.source else { return None };
        if grid.next() > now || stop.is_some_and(|stop| grid.next() >= stop) {
            return None;
        }
        let (time, _) = grid.pass();
        if backlog.len() == QUEUE {
            return Some(LateRelease::Not(Skipped { time }));
        }
        backlog.push_back(time);
        Some(LateRelease::Waits(time))
    }

    /// The next release of a periodic or changing clock if it is at or before `now`: its predecessor ran until then.
    pub fn overdue(&self, now: Instant) -> Option<Instant> {
        match &self.source {
            ReleaseSource::Grid { .. } | ReleaseSource::Changing { .. } => self.next().filter(|time| *time <= now),
            _ => None,
        }
    }

    /// Passes over the next release of a periodic or changing clock if it is at or before `now`, whether it waits or is still on
    /// the grid: it is not activated any more.
    pub fn leave_out(&mut self, now: Instant) -> Option<Instant> {
        let stop = self.stop;
        let is_due = |time: Instant| time <= now && stop.is_none_or(|stop| time < stop);
        let time = match &mut self.source {
            ReleaseSource::Changing { next } => next.take_if(|next| is_due(*next))?,
            ReleaseSource::Grid { grid, backlog } => match backlog.front() {
                Some(first) if is_due(*first) => backlog.pop_front()?,
                None if is_due(grid.next()) => grid.pass().0,
                _ => return None,
            },
            _ => return None,
        };
        self.last = self.last.max(Some(time));
        Some(time)
    }

    /// The time of the last activation, or of a release after it that was passed over.
    pub fn last(&self) -> Option<Instant> {
        self.last
    }

    /// Discards everything that waits at `now` and returns the number: ticks, kept releases, an armed countdown, and the times of
    /// a list or a stimulus that have come. Times from then on do not count.
    pub fn discard(&mut self, now: Instant) -> u64 {
        let stop = self.stop;
        let is_due = |time: &&Instant| **time <= now && stop.is_none_or(|stop| **time < stop);
        let armed = match &mut self.source {
            ReleaseSource::Countdown { armed } => u64::from(armed.take().is_some()),
            ReleaseSource::Grid { backlog, .. } => {
                let kept = backlog.iter().filter(is_due).count();
                backlog.clear();
                kept as u64
            }
            ReleaseSource::List { times, next } => {
                let due = times[*next..].iter().take_while(is_due).count();
                *next += due;
                due as u64
            }
            ReleaseSource::Fed { times } => {
                let due = times.iter().take_while(is_due).count();
                times.drain(..due);
                due as u64
            }
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
