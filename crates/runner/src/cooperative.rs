//! Turns: one partition of an instance at a time, the most urgent due one next (semantics S8).
//!
//! Without real-time scheduling nothing prevents a partition from being interrupted by one of lower priority, so here
//! partitions of an instance do not overlap at all. Preemption by a higher one is lost, the logical results stay.
//!
//! Order: the lowest level first (0 is the most urgent), then the earliest release, as under `SCHED_FIFO`, then the order of the
//! plan. A partition is *ready* when its thread requests the turn. A due partition whose thread the kernel has not let run yet is
//! waited for, so that the order does not depend on the kernel:
//! - its thread has [announced](Turns::announce) a release that has come; or
//! - it was given work that its thread [has not seen](Turns::expect) yet; or
//! - its thread is [deciding](Turns::decide) what is next: from the end of its turn, or from waking, to its announcement.
//!
//! The work is given before `expect`, `decide` comes before the thread looks for work, and its announcement after: work that is
//! given in between leaves its expectation behind, so that no less urgent partition slips in.
//!
//! Used only without `SCHED_FIFO`: a lock without priority inheritance is no loss there.

use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, PoisonError};

/// Not before anything else that matters.
const NEVER: i64 = i64::MAX;
/// Due whatever the time is.
const NOW: i64 = i64::MIN;

/// The turns of one instance. Tasks are numbered as in the plan.
pub struct Turns {
    state: Mutex<State>,
    changed: Box<[Condvar]>,
    /// Wakes a caller of [`Turns::pause`] once no partition runs.
    at_rest: Condvar,
    /// Per task: its level; `None` when it is no task of this instance.
    levels: Box<[Option<usize>]>,
    /// Per task: wall clock of the release that its thread has announced, [`NOW`] while it decides.
    announced: Box<[AtomicI64]>,
    /// Per task: wall clock of work that its thread has not seen yet.
    expected: Box<[AtomicI64]>,
}

struct State {
    running: bool,
    /// A pause is requested, or under way.
    pausing: bool,
    /// Per task: the release for which it requests a turn.
    ready: Vec<Option<i64>>,
}

impl Turns {
    /// Turns among the tasks that have a level. Each of them has to announce before anybody less urgent has a turn.
    pub fn new(levels: impl Iterator<Item = Option<usize>>) -> Turns {
        let levels: Box<[Option<usize>]> = levels.collect();
        Turns {
            state: Mutex::new(State { running: false, pausing: false, ready: vec![None; levels.len()] }),
            at_rest: Condvar::new(),
            changed: levels.iter().map(|_| Condvar::new()).collect(),
            announced: levels.iter().map(|own| AtomicI64::new(own.map_or(NEVER, |_| NOW))).collect(),
            expected: levels.iter().map(|_| AtomicI64::new(NEVER)).collect(),
            levels,
        }
    }

    /// `task` looks for work now, and will announce the release that it finds.
    #[cold]
    pub fn decide(&self, task: usize) {
        self.announced[task].store(NOW, SeqCst);
        self.expected[task].store(NEVER, SeqCst);
    }

    /// `task` will request a turn at `release`; `None`: the time is not known.
    #[cold]
    pub fn announce(&self, task: usize, release: Option<i64>) {
        let release = release.unwrap_or(NEVER);
        if self.announced[task].swap(release, SeqCst) < release {
            // Another task may be waiting for this one.
            self.pass_on(&self.lock());
        }
    }

    /// `task` was given work for `release`, and its thread has still to see it.
    pub fn expect(&self, task: usize, release: i64) {
        self.expected[task].fetch_min(release, SeqCst);
    }

    /// `task` will never request a turn again.
    pub fn retire(&self, task: usize) {
        self.announced[task].store(NEVER, SeqCst);
        self.expected[task].store(NEVER, SeqCst);
        self.pass_on(&self.lock());
    }

    /// Waits for the turn of `task`, which was released at `release`. `now` is the wall clock.
    #[cold]
    pub fn take(&self, task: usize, release: i64, now: impl Fn() -> i64) {
        let mut state = self.lock();
        state.ready[task] = Some(release);
        self.announced[task].store(NEVER, SeqCst);
        loop {
            let free = !state.running && !state.pausing;
            if free && state.first(self) == Some(task) && !self.is_one_due_before(&state, task, release, now()) {
                state.running = true;
                state.ready[task] = None;
                return;
            }
            state = self.changed[task].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends the turn of `task`, which decides now on its next release.
    #[cold]
    pub fn give_back(&self, task: usize) {
        let mut state = self.lock();
        state.running = false;
        self.announced[task].store(NOW, SeqCst);
        self.pass_on(&state);
    }

    /// Waits until no partition runs, and lets none run until [`Turns::resume`]. One caller at a time.
    pub fn pause(&self) {
        let mut state = self.lock();
        state.pausing = true;
        while state.running {
            state = self.at_rest.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends a [pause](Turns::pause).
    pub fn resume(&self) {
        let mut state = self.lock();
        state.pausing = false;
        self.pass_on(&state);
    }

    /// Smaller is sooner.
    fn order(&self, task: usize, release: i64) -> (Option<usize>, i64, usize) {
        (self.levels[task], release, task)
    }

    /// Whether a task is due that has not requested its turn yet. A task that has requested it keeps its place: it sees later
    /// work only after its turn, and does not keep others waiting for it.
    fn is_one_due_before(&self, state: &State, task: usize, release: i64, now: i64) -> bool {
        let own = self.order(task, release);
        let to_come = |other: &usize| self.levels[*other].is_some() && state.ready[*other].is_none();
        (0..self.levels.len()).filter(|other| *other != task).filter(to_come).any(|other| {
            let release = self.announced[other].load(SeqCst).min(self.expected[other].load(SeqCst));
            release <= now && self.order(other, release) < own
        })
    }

    fn pass_on(&self, state: &State) {
        if state.pausing {
            if !state.running {
                self.at_rest.notify_one();
            }
            return;
        }
        if let Some(next) = state.first(self).filter(|_| !state.running) {
            self.changed[next].notify_one();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The first of the tasks that request a turn.
    fn first(&self, turns: &Turns) -> Option<usize> {
        let asking = self.ready.iter().enumerate().filter_map(|(task, release)| Some((task, (*release)?)));
        asking.min_by_key(|(task, release)| turns.order(*task, *release)).map(|(task, _)| task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread::{JoinHandle, sleep, spawn};
    use std::time::Duration;

    /// Turns of tasks with these levels, which have nothing to do so far, and the order in which they had turns.
    struct Scene {
        turns: Arc<Turns>,
        order: Arc<Mutex<Vec<usize>>>,
        threads: Vec<JoinHandle<()>>,
    }

    fn scene(levels: &[usize]) -> Scene {
        let turns = Turns::new(levels.iter().copied().map(Some));
        (0..levels.len()).for_each(|task| turns.announce(task, None));
        Scene { turns: Arc::new(turns), order: Arc::default(), threads: Vec::new() }
    }

    impl Scene {
        /// `task` asks on a thread of its own; the wall clock is 100.
        fn ask(&mut self, task: usize, release: i64) {
            let (turns, order) = (Arc::clone(&self.turns), Arc::clone(&self.order));
            self.threads.push(spawn(move || {
                turns.take(task, release, || 100);
                order.lock().unwrap().push(task);
                turns.give_back(task);
                turns.announce(task, None);
            }));
            while self.turns.lock().ready[task].is_none() && !self.order.lock().unwrap().contains(&task) {
                sleep(Duration::from_millis(1));
            }
            sleep(Duration::from_millis(5));
        }

        fn had_turns(&self) -> Vec<usize> {
            self.order.lock().unwrap().clone()
        }

        fn end(self) -> Vec<usize> {
            self.threads.into_iter().for_each(|thread| thread.join().unwrap());
            self.order.lock().unwrap().clone()
        }
    }

    #[test]
    fn the_most_urgent_ready_one_is_next_and_of_one_level_the_one_that_was_released_first() {
        let mut scene = scene(&[0, 1, 1, 1, 2]);
        scene.turns.take(4, 0, || 0);
        for (task, release) in [(3, 50), (2, 40), (1, 50), (0, 90)] {
            scene.ask(task, release);
        }
        scene.turns.give_back(4);
        scene.turns.announce(4, None);
        assert_eq!(scene.end(), [0, 2, 1, 3]);
    }

    #[test]
    fn a_higher_one_that_is_due_is_waited_for_even_before_it_asks() {
        let mut scene = scene(&[0, 1]);
        scene.turns.announce(0, Some(100));
        scene.ask(1, 90);
        assert_eq!(scene.had_turns(), [0; 0]);
        scene.ask(0, 100);
        assert_eq!(scene.end(), [0, 1]);
    }

    #[test]
    fn one_that_is_due_later_or_will_not_come_is_not_waited_for() {
        let mut scene = scene(&[0, 0, 1, 2]);
        scene.turns.announce(0, Some(101));
        scene.turns.announce(1, Some(100));
        scene.turns.expect(1, 100);
        scene.turns.announce(2, Some(100));
        scene.ask(3, 90);
        scene.turns.announce(2, None);
        scene.turns.retire(1);
        assert_eq!(scene.end(), [3]);
    }

    #[test]
    fn who_has_just_had_a_turn_decides_before_a_lower_one_has_its_own() {
        let mut scene = scene(&[0, 1]);
        scene.turns.take(0, 10, || 100);
        scene.ask(1, 10);
        scene.turns.give_back(0);
        sleep(Duration::from_millis(5));
        assert_eq!(scene.had_turns(), [0; 0], "more work may be waiting for it");
        scene.turns.announce(0, Some(200));
        assert_eq!(scene.end(), [1]);
    }

    #[test]
    fn work_given_while_its_task_decides_is_not_forgotten() {
        let mut scene = scene(&[0, 1]);
        scene.turns.decide(0);
        // It has looked and found nothing; now it is given something, and only then it announces that there is nothing.
        scene.turns.expect(0, 50);
        scene.turns.announce(0, None);
        scene.ask(1, 10);
        assert_eq!(scene.had_turns(), [0; 0]);
        scene.turns.decide(0);
        scene.ask(0, 50);
        assert_eq!(scene.end(), [0, 1]);
    }

    #[test]
    fn nobody_has_a_turn_before_more_urgent_ones_have_said_when_they_begin() {
        let turns = Arc::new(Turns::new([Some(0), Some(1), None].into_iter()));
        turns.announce(1, Some(0));
        let mut scene = Scene { turns, order: Arc::default(), threads: Vec::new() };
        scene.ask(1, 0);
        assert_eq!(scene.had_turns(), [0; 0]);
        scene.turns.announce(0, Some(101));
        assert_eq!(scene.end(), [1]);
    }

    #[test]
    fn earlier_work_for_one_that_asks_already_does_not_hold_up_those_before_it() {
        let mut scene = scene(&[0, 0, 0]);
        scene.turns.take(0, 10, || 100);
        scene.ask(1, 40);
        scene.ask(2, 50);
        // The one that runs, late, gives the last one something that was due before both; its thread waits for its turn
        // and does not see that.
        scene.turns.expect(2, 30);
        scene.turns.give_back(0);
        scene.turns.announce(0, None);
        let began = std::time::Instant::now();
        while scene.had_turns().len() < 2 {
            assert!(began.elapsed() < Duration::from_secs(10), "each waits for the other: {:?}", scene.had_turns());
            sleep(Duration::from_millis(1));
        }
        assert_eq!(scene.end(), [1, 2]);
    }

    #[test]
    fn at_rest_nobody_runs_until_the_end_of_it() {
        let turns = Arc::new(Turns::new([Some(0)].into_iter()));
        let order = Arc::new(Mutex::new(Vec::new()));
        turns.take(0, 0, || 0);
        let rest = {
            let (turns, order) = (Arc::clone(&turns), Arc::clone(&order));
            std::thread::spawn(move || {
                turns.pause();
                order.lock().unwrap().push("rest");
                std::thread::sleep(Duration::from_millis(10));
                order.lock().unwrap().push("end");
                turns.resume();
            })
        };
        while !turns.lock().pausing {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(order.lock().unwrap().is_empty());
        turns.give_back(0);
        turns.take(0, 0, || 0);
        order.lock().unwrap().push("next");
        turns.give_back(0);
        rest.join().unwrap();
        assert_eq!(*order.lock().unwrap(), ["rest", "end", "next"]);
    }
}
