//! Work that is handed to a task: ticks, deadlines of countdown clocks, changes of intervals.

use super::shared::RunState;
use crate::exchange::{Deadline, TickStamp};
use std::sync::PoisonError;
use std::sync::atomic::Ordering::SeqCst;
use vecud_base::time::{Fraction, Instant, Nanos};
use vecud_linux::prefetch::prefetch;
use vecud_plan::schedule::{Armed, Tick};
use vecud_plan::{StepClock, UnitId};
use vecud_record::board::promise::Break;
use vecud_record::board::{Scheduling, TaskWord};

impl RunState {
    /// Hands a tick to a task's thread, and the caller wakes the thread. `false`: it was not taken, since the queue is
    /// full, which is an overrun, or since the instance has failed.
    pub fn tick(&self, target: UnitId, stamp: TickStamp) -> bool {
        let state = &self.tasks[target.0];
        if self.instances[self.plan.units[target.0].fmu.0].failed.load(SeqCst) {
            self.board.task(target).count_shared(TaskWord::Discarded, 1);
            return false;
        }
        let outcome = state.ticks.push(stamp);
        if outcome != Tick::Queued {
            self.count(target, stamp, outcome);
            return false;
        }
        // In the draft a tick may have a delay.
        self.dispatched(target, || stamp.dispatched.max(self.wall(stamp.time)));
        true
    }

    /// Hands a tick to a clock that ticks between the steps of its instance, which takes it at the next communication point.
    /// `false`: it was not taken, as of [`RunState::tick`].
    pub fn tick_between_steps(&self, StepClock { fmu, clock }: StepClock, stamp: TickStamp) -> bool {
        let instance = &self.instances[fmu.0];
        let Some(unit) = instance.steps else { return false };
        if instance.failed.load(SeqCst) {
            self.discard_ticks(unit, 1);
            return false;
        }
        let outcome = instance.ticks[clock].push(stamp);
        if outcome == Tick::Full {
            self.board.task(unit).count_shared(TaskWord::RefusedTicks, 1);
        }
        self.count(unit, stamp, outcome);
        outcome != Tick::Full
    }

    /// Discards this number of ticks of clocks that tick between the steps of `unit`.
    pub fn discard_ticks(&self, unit: UnitId, number: u64) {
        self.board.task(unit).count_shared(TaskWord::Discarded, number);
        self.board.task(unit).count_shared(TaskWord::DiscardedTicks, number);
    }

    /// Keeps, after the run, the ticks without a communication point for the saved state, or discards them.
    ///
    /// Not before: other tasks tick such clocks until the last of them has left, and the thread that makes the steps may be the
    /// first.
    pub fn leave_ticks(&self) {
        for instance in &self.instances {
            let Some(unit) = instance.steps else { continue };
            let mut left = Vec::new();
            for (clock, queue) in instance.ticks.iter().enumerate() {
                left.extend(std::iter::from_fn(|| queue.pop()).map(|tick| (clock, tick.time)));
                queue.set_waiting(0);
            }
            if self.saves {
                instance.between.lock().unwrap_or_else(PoisonError::into_inner).ticks = left;
            } else {
                self.discard_ticks(unit, left.len() as u64);
            }
        }
    }

    /// Prefetches the memory that [`RunState::tick`] changes.
    #[inline]
    pub fn prefetch_tick(&self, target: UnitId) {
        let state = &self.tasks[target.0];
        state.ticks.places().into_iter().for_each(prefetch);
        prefetch(&state.wake);
    }

    /// Counts the outcome of a tick; one that found its queue full is an overrun, seen when it was dispatched.
    pub fn count(&self, target: UnitId, tick: TickStamp, outcome: Tick) {
        let cells = self.board.task(target);
        match outcome {
            Tick::Queued => (),
            Tick::Coalesced => cells.count_shared(TaskWord::Coalesced, 1),
            Tick::Full => {
                cells.count_shared(TaskWord::Overruns, 1);
                self.board.note_break(target, Break::Overrun, tick.time);
                self.overrun(target, tick.time, tick.dispatched.minus(self.wall(tick.time)).0);
            }
            Tick::AfterStop => cells.count_shared(TaskWord::Discarded, 1),
        }
    }

    /// [`RunState::count`] of a countdown clock that was armed with `tick`, and of the deadline before.
    pub fn count_armed(&self, target: UnitId, tick: TickStamp, armed: Armed) {
        if let Some(time) = armed.lost {
            self.count(target, TickStamp { time, ..tick }, Tick::Full);
        }
        self.count(target, tick, armed.tick);
    }

    /// Arms a countdown clock. The caller wakes the thread.
    pub fn arm(&self, target: UnitId, deadline: Deadline) {
        let state = &self.tasks[target.0];
        // A deadline that the clock's thread has seen is kept by it. One that it has not seen, and that was reached, would be
        // lost.
        if let Some(before) = state.unseen_deadline().filter(|before| before.tick.time <= deadline.since) {
            self.tick(target, before.tick);
        }
        let words = deadline.to_words();
        state.armed.write(|i| words[i]);
        self.dispatched(target, || self.wall(deadline.tick.time));
    }

    /// Changes the interval of a tunable clock from `from` on. The caller wakes the thread, and excludes other callers.
    pub fn retune(&self, target: UnitId, interval: Fraction, from: Instant) {
        let [a, b, c] = from.to_words();
        let words = [interval.counter(), interval.resolution(), a, b, c];
        self.tasks[target.0].retuned.write(|i| words[i]);
        // Its thread alone has the time of its last tick, so it may be due at once.
        self.dispatched(target, || self.wall(from));
    }

    /// `target` has mail, and is due at `release` (wall clock).
    fn dispatched(&self, target: UnitId, release: impl Fn() -> Nanos) {
        let state = &self.tasks[target.0];
        self.dispatches.fetch_add(1, SeqCst);
        // With this the mail is given: its thread looks for none without it.
        self.cores[state.core].pending[state.place / 64].fetch_or(1 << (state.place % 64), SeqCst);
        if self.scheduling == Scheduling::Cooperative {
            let turns = &self.instances[self.plan.units[target.0].fmu.0].turns;
            turns.expect(target.0, release().0);
            // Its thread reports that it has finished before it takes back what it announced: one of the two sees the other.
            if state.finished.load(SeqCst) {
                turns.retire(target.0);
            }
        }
        state.wake.mark();
    }
}
