//! The one place where ticks from outside are taken in, whatever endpoint they come from.
//!
//! Nothing here waits or allocates.

use crate::exchange::TickStamp;
use crate::run_state::RunState;
use std::sync::atomic::Ordering::SeqCst;
use vecud_base::time::{Instant, Nanos};
use vecud_plan::schedule::{Agenda, QUEUE, Tick, TokenBucket};
use vecud_plan::{EndpointPlan, TickTarget};
use vecud_record::board::TaskWord;

/// Items that a target accepts at once; as many as its queue of ticks holds.
const BURST: u32 = QUEUE as u32;

/// Hands ticks from outside to one target, which nothing else ticks.
#[derive(Debug)]
pub struct TickProducer {
    /// The task, and the clock of its step, that they tick.
    pub target: TickTarget,
    /// Simulation time of the last tick; the next one is later.
    pub last: Nanos,
}

/// The fate of an item that was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The target has it.
    Taken,
    /// As many ticks of the target as there may be wait already.
    Full,
    /// The instance of the target has failed.
    Refused,
}

impl TickProducer {
    /// The producer of this target's ticks.
    pub fn of(target: TickTarget) -> TickProducer {
        TickProducer { target, last: Nanos(i64::MIN) }
    }

    /// The time of a tick that was found at that time: later than the last one.
    pub fn next_time(&self, found: Nanos) -> Nanos {
        found.max(self.last.plus(Nanos(1)))
    }

    /// Hands a tick over: in virtual time by the `agenda`, else to the thread of the task, for the caller to [wake](TickProducer::wake).
    pub fn hand_over(&self, run: &RunState, stamp: TickStamp, agenda: Option<&mut Agenda>) -> Fate {
        let TickTarget { unit, clock } = self.target;
        let is_taken = match (clock, agenda) {
            // The next communication point looks for it.
            (Some(clock), _) => run.tick_between_steps(clock, stamp),
            (None, None) => run.tick(unit, stamp),
            (None, Some(agenda)) => {
                let outcome = agenda.tick(run.task_of[unit.0], stamp.time, None);
                run.count(unit, stamp, outcome);
                // A clock ticks once for two items at one time.
                matches!(outcome, Tick::Queued | Tick::Coalesced)
            }
        };
        match run.instances[run.plan.units[unit.0].fmu.0].failed.load(SeqCst) {
            _ if is_taken => Fate::Taken,
            true => Fate::Refused,
            false => Fate::Full,
        }
    }

    /// Wakes the thread of the task that has taken a tick.
    pub fn wake(&self, run: &RunState) {
        if self.target.clock.is_none() {
            run.tasks[self.target.unit.0].wake.wake_marked();
        }
    }

    /// Counts an item that comes to nothing: it is from before or after the run, or from a pause.
    pub fn discard(&self, run: &RunState) {
        match self.target.clock {
            None => run.board.task(self.target.unit).count_shared(TaskWord::Discarded, 1),
            Some(_) => run.discard_ticks(self.target.unit, 1),
        }
    }
}

/// Takes in the items of one endpoint that the receiver serves, by their arrival.
#[derive(Debug)]
pub struct Intake {
    ticks: TickProducer,
    bucket: TokenBucket,
    /// Items count as discarded from now on.
    closed: bool,
}

impl Intake {
    /// The intake of an endpoint.
    pub fn of(plan: &EndpointPlan) -> Intake {
        let bucket = TokenBucket::new(plan.max_rate, BURST);
        Intake { ticks: TickProducer::of(plan.target), bucket, closed: false }
    }

    /// The clock, or the task, that the items of this endpoint tick.
    pub fn target(&self) -> TickTarget {
        self.ticks.target
    }

    /// From now on items are counted as discarded.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Takes an item in that came at `arrival`, wall clock: hands it over, or counts it by the reason why not.
    pub fn take(&mut self, run: &RunState, arrival: Nanos) {
        let cells = run.board.task(self.target().unit);
        cells.count_shared(TaskWord::Received, 1);
        let after = run.plan.stop.is_some_and(|stop| arrival >= run.wall(stop));
        // In a pause, or in one that is over by now.
        let paused = arrival < run.since() || run.flowing(arrival).0 > run.held_at();
        if self.closed || after || paused {
            return self.ticks.discard(run);
        }
        if !self.bucket.accept(arrival) {
            cells.count_shared(TaskWord::RateLimited, 1);
            return;
        }
        let closed_before = run.horizon.enter();
        let mut time = run.simulation(arrival).nanos();
        if time.0 < closed_before {
            time = Nanos(closed_before);
            cells.count_shared(TaskWord::LateEvents, 1);
        }
        self.ticks.last = self.ticks.next_time(time);
        let stamp = TickStamp { time: Instant::from_nanos(self.ticks.last), dispatched: arrival, root: None };
        let fate = self.ticks.hand_over(run, stamp, None);
        run.horizon.leave();
        if fate == Fate::Taken {
            self.ticks.wake(run);
        }
    }
}
