//! The end of a run: who asks for it, when threads leave their loops, and what ends before the others.

use super::shared::{Ending, RunState};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use vecud_base::time::{Instant, Nanos};
use vecud_plan::{FmuId, Mode, OnError, Overrun, UnitId};
use vecud_record::board::{FmuWord, Global, TaskWord};

impl RunState {
    /// The word that tells whether the run ends: 0 while it goes on.
    pub fn ending_word(&'static self) -> &'static AtomicU64 {
        &self.ending
    }

    /// Whether threads are to leave.
    pub fn ending(&self) -> Ending {
        match self.ending.load(SeqCst) {
            0 => Ending::No,
            1 => Ending::Finished,
            _ => Ending::Discard,
        }
    }

    /// Makes all partition threads leave; a discard overrides a regular end, and releases after it do not count.
    pub fn end(&self, ending: Ending) {
        if ending == Ending::Discard && self.plan.mode == Mode::RealTime {
            let now = match self.start().0 {
                // A run that never starts.
                0 => self.begin_nanos.0 - 1,
                _ => self.simulation(Nanos(self.now())).nanos().0,
            };
            let _whoever_is_first = self.ends_at.compare_exchange(i64::MAX, now, SeqCst, SeqCst);
        }
        self.ending.fetch_max(ending as u64, SeqCst);
        for task in &self.tasks {
            task.wake.wake();
        }
    }

    /// The simulation time of a wall clock, but none after the stop, or after that at which the run was [ended](RunState::end)
    /// before.
    pub fn until(&self, wall: Nanos) -> Instant {
        let time = self.simulation(wall).min(Instant::from_nanos(Nanos(self.ends_at.load(SeqCst))));
        self.plan.stop.map_or(time, |stop| stop.min(time))
    }

    /// The thread of a task has left its loop, or it is a group's, and this its member: nothing of it is still to come.
    pub fn left(&self, unit: UnitId) {
        self.board.task(unit).word(TaskWord::Left).store(1, SeqCst);
        self.tasks[unit.0].next.store(i64::MAX, SeqCst);
        self.tasks[unit.0].finished.store(true, SeqCst);
    }

    /// Lets partition threads end that have left their loops.
    pub fn dismiss(&self) {
        self.dismissed.store(true, SeqCst);
        for task in &self.tasks {
            task.wake.wake();
        }
    }

    /// Waits, on the thread of a task that is done, for [`RunState::dismiss`].
    pub fn wait_to_leave(&self, unit: UnitId) {
        let wake = &self.tasks[unit.0].wake;
        loop {
            let seen = wake.value();
            if self.dismissed.load(SeqCst) {
                return;
            }
            wake.wait_until(seen, None);
        }
    }

    /// An instance has failed: none of its partitions starts any more (semantics S13).
    pub fn instance_failed(&self, fmu: FmuId) {
        if self.instances[fmu.0].failed.swap(true, SeqCst) {
            return;
        }
        if self.plan.on_error == OnError::Stop {
            self.end(Ending::Discard);
            return;
        }
        for (unit, state) in self.plan.units.iter().zip(&self.tasks) {
            if unit.fmu == fmu {
                state.wake.wake();
            }
        }
    }

    /// Gives up the instances that the supervisor names: as if they had failed, but activations that have begun are not waited
    /// for. Returns whether there was one.
    pub fn give_up(&self) -> bool {
        let mut any = false;
        for (fmu, instance) in self.instances.iter().enumerate() {
            let is_told = self.board.fmu(FmuId(fmu)).word(FmuWord::GivenUp).load(SeqCst) != 0;
            if is_told && !instance.given_up.swap(true, SeqCst) {
                self.instance_failed(FmuId(fmu));
                any = true;
            }
        }
        any
    }

    /// Counts an overrun of `unit`, seen `late` after its release or tick at `time`; it ends the run, in an orderly way, if the
    /// rig says so.
    pub fn overrun(&self, unit: UnitId, time: Instant, late: i64) {
        if self.plan.task_of(unit).overrun != Overrun::Stop {
            return;
        }
        let word = |word: Global| self.board.global(word);
        if word(Global::OverrunTask).compare_exchange(0, unit.0 as u64 + 1, SeqCst, SeqCst).is_ok() {
            let times = [Global::OverrunTime, Global::OverrunTime1, Global::OverrunTime2];
            times.into_iter().zip(time.to_words()).for_each(|(place, value)| word(place).store(value, Relaxed));
            word(Global::OverrunLate).store(late.max(0) as u64, SeqCst);
            self.end(Ending::Discard);
        }
    }
}
