//! Turns: one partition of an instance at a time, the most urgent ready one next (design S8).
//!
//! Without real-time scheduling nothing prevents a partition from being interrupted by one of lower priority, so here
//! partitions of an instance do not overlap at all. Preemption by a higher one is lost, the logical results stay.
//!
//! A partition is *ready* when its thread asks for the turn; one whose release has come but whose thread the kernel has
//! not let run yet is waited for, so that the order of priorities holds at common releases too.
//!
//! Used only without `SCHED_FIFO`: a lock without priority inheritance is no loss there.

use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, PoisonError};

/// The turns of one instance. Tasks are numbered in merged order: the smaller is the more urgent one.
pub struct Turns {
    state: Mutex<State>,
    changed: Box<[Condvar]>,
    /// Per task: wall clock of its next release, `i64::MAX` when none is known or it is no task of this instance.
    releases: Box<[AtomicI64]>,
}

struct State {
    running: bool,
    ready: Vec<bool>,
}

impl Turns {
    /// Turns among at most `tasks` tasks.
    pub fn new(tasks: usize) -> Turns {
        Turns {
            state: Mutex::new(State { running: false, ready: vec![false; tasks] }),
            changed: (0..tasks).map(|_| Condvar::new()).collect(),
            releases: (0..tasks).map(|_| AtomicI64::new(i64::MAX)).collect(),
        }
    }

    /// `task` will ask for a turn at `release` (`i64::MAX`: it is not known when).
    pub fn announce(&self, task: usize, release: i64) {
        if self.releases[task].swap(release, SeqCst) < release {
            // Somebody may be waiting for this one.
            self.pass_on(&mut self.lock());
        }
    }

    /// `task` was given work for `release` and its thread, which will [announce](Turns::announce) it, has not run yet: no
    /// less urgent one gets the turn in between.
    pub fn expect(&self, task: usize, release: i64) {
        self.releases[task].fetch_min(release, SeqCst);
    }

    /// Waits for the turn of `task`. `now` is the wall clock.
    pub fn take(&self, task: usize, now: impl Fn() -> i64) {
        let mut state = self.lock();
        state.ready[task] = true;
        self.releases[task].store(i64::MAX, SeqCst);
        loop {
            let first = state.ready.iter().position(|ready| *ready) == Some(task);
            if !state.running && first && !self.is_a_higher_one_due(task, now()) {
                state.running = true;
                state.ready[task] = false;
                return;
            }
            state = self.changed[task].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn is_a_higher_one_due(&self, task: usize, now: i64) -> bool {
        self.releases[..task].iter().any(|release| release.load(SeqCst) <= now)
    }

    /// Ends the turn.
    pub fn give_back(&self) {
        let mut state = self.lock();
        state.running = false;
        self.pass_on(&mut state);
    }

    fn pass_on(&self, state: &mut State) {
        if let Some(next) = state.ready.iter().position(|ready| *ready).filter(|_| !state.running) {
            self.changed[next].notify_one();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn the_most_urgent_ready_one_is_next() {
        let turns = Arc::new(Turns::new(4));
        let order = Arc::new(Mutex::new(Vec::new()));
        turns.take(3, || 0);
        let threads: Vec<_> = [2, 0, 1]
            .into_iter()
            .map(|task| {
                let (turns, order) = (Arc::clone(&turns), Arc::clone(&order));
                std::thread::spawn(move || {
                    turns.take(task, || 0);
                    order.lock().unwrap().push(task);
                    turns.give_back();
                })
            })
            .collect();
        while turns.lock().ready.iter().filter(|ready| **ready).count() < 3 {
            std::thread::sleep(Duration::from_millis(1));
        }
        turns.give_back();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(*order.lock().unwrap(), [0, 1, 2]);
    }

    #[test]
    fn a_higher_one_that_is_due_is_waited_for_even_before_it_asks() {
        let turns = Arc::new(Turns::new(2));
        let order = Arc::new(Mutex::new(Vec::new()));
        turns.announce(0, 100);
        let low = {
            let (turns, order) = (Arc::clone(&turns), Arc::clone(&order));
            std::thread::spawn(move || {
                turns.take(1, || 100);
                order.lock().unwrap().push(1);
                turns.give_back();
            })
        };
        while !turns.lock().ready[1] {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(5));
        turns.take(0, || 100);
        order.lock().unwrap().push(0);
        turns.give_back();
        low.join().unwrap();
        assert_eq!(*order.lock().unwrap(), [0, 1]);
    }

    #[test]
    fn one_that_will_not_come_is_not_waited_for() {
        let turns = Arc::new(Turns::new(2));
        turns.announce(0, 100);
        let low = {
            let turns = Arc::clone(&turns);
            std::thread::spawn(move || {
                turns.take(1, || 100);
                turns.give_back();
            })
        };
        while !turns.lock().ready[1] {
            std::thread::sleep(Duration::from_millis(1));
        }
        turns.announce(0, i64::MAX);
        low.join().unwrap();
    }
}
