//! Virtual time: all timelines in one order.
//!
//! Activations come out ordered by (time, merged order of the tasks), so a run is repeatable byte for byte (design S15).

use super::{Dispatch, Due, Timeline};
use crate::plan::TaskId;
use crate::time::{Fraction, Instant, Nanos};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What comes next among all tasks.
#[derive(Clone, Debug)]
pub struct Agenda {
    timelines: Vec<Timeline>,
    /// Entries may be outdated; one is valid while its task's timeline still says that time.
    heap: BinaryHeap<Reverse<(Instant, TaskId)>>,
}

impl Agenda {
    /// An agenda of these tasks, in merged order.
    pub fn new(timelines: Vec<Timeline>) -> Agenda {
        let heap = BinaryHeap::with_capacity(4 * timelines.len());
        let mut agenda = Agenda { timelines, heap };
        for task in 0..agenda.timelines.len() {
            agenda.note(TaskId(task));
        }
        agenda
    }

    fn note(&mut self, task: TaskId) {
        if let Some(time) = self.timelines[task.0].next() {
            self.heap.push(Reverse((time, task)));
        }
    }

    /// The next activation: the earliest, and of equal ones the most urgent.
    pub fn take(&mut self) -> Option<(TaskId, Due)> {
        loop {
            let Reverse((time, task)) = self.heap.pop()?;
            if self.timelines[task.0].next() != Some(time) {
                continue;
            }
            let due = self.timelines[task.0].take().expect("its timeline says so");
            self.note(task);
            return Some((task, due));
        }
    }

    /// When the next activation is due.
    pub fn next(&self) -> Option<Instant> {
        self.timelines.iter().filter_map(Timeline::next).min()
    }

    /// [`Agenda::next`], without looking at every task.
    pub fn peek(&mut self) -> Option<Instant> {
        loop {
            let Reverse((time, task)) = self.heap.peek()?;
            if self.timelines[task.0].next() == Some(*time) {
                return Some(*time);
            }
            self.heap.pop();
        }
    }

    /// How a task stands.
    pub fn timeline(&self, task: TaskId) -> &Timeline {
        &self.timelines[task.0]
    }

    /// The next time of a stimulus, while there is room.
    pub fn feed(&mut self, task: TaskId, time: Instant) {
        let before = self.timelines[task.0].next();
        self.timelines[task.0].feed(time);
        if before.is_none() {
            self.note(task);
        }
    }

    /// The timelines as they are now, by task.
    pub fn into_timelines(self) -> Vec<Timeline> {
        self.timelines
    }

    /// The grid of a periodic clock.
    pub fn grid(&self, task: TaskId) -> Option<(Instant, Fraction)> {
        self.timelines[task.0].grid()
    }

    /// A tick for a task; `root`: at the root of the chain that led to it.
    pub fn tick(&mut self, task: TaskId, time: Instant, root: Option<TaskId>) -> super::Tick {
        let outcome = self.timelines[task.0].tick(time, Dispatch { wall: Nanos(0), time, root });
        self.note(task);
        outcome
    }

    /// A countdown is armed by an activation at `since`; `root`: at the root of the chain that led to it.
    pub fn arm(&mut self, task: TaskId, time: Instant, since: Instant, root: Option<TaskId>) -> super::Tick {
        let outcome = self.timelines[task.0].arm(time, since, Dispatch { wall: Nanos(0), time, root });
        self.note(task);
        outcome
    }

    /// A changing clock, activated at `since`, ticks next after `interval`.
    pub fn follow(&mut self, task: TaskId, interval: Fraction, since: Instant) {
        self.timelines[task.0].follow(interval, since);
        self.note(task);
    }

    /// The interval of a periodic clock has changed and counts from `from`.
    pub fn retune(&mut self, task: TaskId, interval: Fraction, from: Instant) {
        self.timelines[task.0].retune(interval, from);
        self.note(task);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Release;
    use crate::time::Fraction;

    fn at(seconds: f64) -> Instant {
        Instant::from_f64(seconds).unwrap()
    }

    fn timeline(release: Release) -> Timeline {
        Timeline::new(&release, Instant::ZERO, Some(at(0.05)))
    }

    fn every(interval: &str) -> Timeline {
        timeline(Release::Periodic { shift: Fraction::ZERO, interval: Fraction::parse(interval).unwrap() })
    }

    fn order(agenda: &mut Agenda) -> Vec<(usize, f64)> {
        std::iter::from_fn(|| agenda.take()).map(|(task, due)| (task.0, due.time.seconds())).collect()
    }

    #[test]
    fn equal_times_come_in_merged_order() {
        let mut agenda = Agenda::new(vec![every("0.01"), every("0.02")]);
        let expected = [(0, 0.0), (1, 0.0), (0, 0.01), (0, 0.02), (1, 0.02), (0, 0.03), (0, 0.04), (1, 0.04)];
        assert_eq!(order(&mut agenda), expected);
    }

    #[test]
    fn a_triggered_task_runs_at_the_time_of_its_tick_before_less_urgent_ones() {
        let mut agenda = Agenda::new(vec![timeline(Release::Never), every("0.02"), every("0.02")]);
        assert_eq!(agenda.take().unwrap().0, TaskId(1));
        agenda.tick(TaskId(0), at(0.0), None);
        assert_eq!(agenda.take().unwrap().0, TaskId(0));
        assert_eq!(agenda.take().unwrap().0, TaskId(2));
    }

    #[test]
    fn a_retuned_task_comes_at_the_times_of_its_new_grid_only() {
        let mut agenda = Agenda::new(vec![every("0.01"), every("0.03")]);
        assert_eq!(agenda.take().unwrap().0, TaskId(0));
        agenda.retune(TaskId(1), Fraction::parse("0.02").unwrap(), at(0.0));
        assert_eq!(agenda.take().unwrap().1.time, at(0.0), "released already");
        let expected = [(0, 0.01), (0, 0.02), (1, 0.02), (0, 0.03), (0, 0.04), (1, 0.04)];
        assert_eq!(order(&mut agenda), expected);
    }

    #[test]
    fn a_changing_task_comes_when_it_said() {
        let mut agenda = Agenda::new(vec![timeline(Release::Changing), every("0.02")]);
        agenda.follow(TaskId(0), Fraction::ZERO, at(0.0)); // as the first tick
        assert_eq!(agenda.take().unwrap().0, TaskId(0));
        agenda.follow(TaskId(0), Fraction::parse("0.03").unwrap(), at(0.0));
        assert_eq!(order(&mut agenda), [(1, 0.0), (1, 0.02), (0, 0.03), (1, 0.04)]);
    }

    #[test]
    fn a_replaced_deadline_does_not_come_twice() {
        let mut agenda = Agenda::new(vec![timeline(Release::Countdown)]);
        agenda.arm(TaskId(0), at(0.03), at(0.0), None);
        agenda.arm(TaskId(0), at(0.02), at(0.0), None);
        agenda.arm(TaskId(0), at(0.03), at(0.0), None);
        assert_eq!(order(&mut agenda), [(0, 0.03)]);
    }
}
