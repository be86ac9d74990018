//! What must never happen, and whether it does.

use crate::kernel::Status;
use crate::protocol::{Model, State};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Violation {
    StartsInsideLockedSection,
    GoesOnInsideLockedSection,
    /// A section runs while a higher one is in its activation and awake: it waits for the lock.
    GoesOnInsideHigher,
    InterleavesWithEqual,
    /// A more urgent one starts inside of a less urgent one that shares its priority.
    InterleavesWithShared,
    StartsInsideHigher,
    StartsBeforeHigherTarget,
    RunsAbovePriority,
    HigherWaitsForLower,
    Deadlock,
    LostTick,
    Livelock,
}

impl Model {
    /// What is wrong about FMU code of `me` running now.
    pub fn judge_running(&self, state: &State, me: u8) -> Option<Violation> {
        let others = || self.threads().filter(|t| *t != me);
        // When the holder itself sleeps inside its section, who is active already cannot be stopped.
        let inside = |t: &u8| state.inside[*t as usize] && state.machine.status[*t as usize] != Status::Sleeping;
        if others().any(|t| inside(&t)) && !self.scene.may_sleep_locked {
            return Some(Violation::GoesOnInsideLockedSection);
        }
        let awake =
            |t: &u8| state.started[*t as usize] && self.scene.levels[*t as usize] < self.scene.levels[me as usize];
        let nobody_sleeps = !self.scene.may_sleep && !self.scene.may_sleep_locked;
        if state.inside[me as usize] && nobody_sleeps && others().any(|t| awake(&t)) {
            return Some(Violation::GoesOnInsideHigher);
        }
        if !state.inside[me as usize] {
            if state.machine.effective(me) != state.machine.base[me as usize] {
                return Some(Violation::RunsAbovePriority);
            }
            let higher = |t: &u8| state.machine.base[*t as usize] > state.machine.base[me as usize];
            if others().filter(higher).any(|t| state.machine.waits_for(t) == Some(me)) {
                return Some(Violation::HigherWaitsForLower);
            }
        }
        None
    }

    /// What is wrong about an activation of `me` starting now.
    pub fn judge_start(&self, state: &State, me: u8) -> Option<Violation> {
        let level = |t: u8| self.scene.levels[t as usize];
        let started = |t: &u8| *t != me && state.started[*t as usize];
        if self.threads().any(|t| t != me && state.inside[t as usize]) {
            return Some(Violation::StartsInsideLockedSection);
        }
        if self.threads().filter(started).any(|t| level(t) == level(me)) {
            return Some(Violation::InterleavesWithEqual);
        }
        if self
            .threads()
            .filter(started)
            .any(|t| self.shares(level(t)) && self.shares(level(me)) && level(t) > level(me))
        {
            return Some(Violation::InterleavesWithShared);
        }
        if self.threads().filter(started).any(|t| level(t) < level(me)) {
            return Some(Violation::StartsInsideHigher);
        }
        let target = self.scene.target.filter(|t| *t != me && level(*t) < level(me));
        (state.pending && target.is_some()).then_some(Violation::StartsBeforeHigherTarget)
    }
}
