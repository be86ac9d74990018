//! Virtual time: all timelines in one order.
//!
//! Activations come out ordered by (time, merged order of the tasks), so a run is repeatable byte for byte (design S15).
//!
//! Tasks that are due at the same instant form a *group*, a bit per task: their order costs nothing, and the heap has an entry
//! per instant instead of one per activation. A group that the small table `near` finds is joined. Where it does not know
//! one there may be several groups of an instant, which are put together when it comes.

use super::{Dispatch, Due, Timeline};
use crate::plan::TaskId;
use crate::time::{Fraction, Instant, Nanos};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Groups that can be found again.
const NEAR: usize = 64;

/// What comes next among all tasks.
#[derive(Clone, Debug)]
pub struct Agenda {
    timelines: Vec<Timeline>,
    /// Per task: the group that it is in.
    noted: Vec<Option<usize>>,
    groups: Groups,
    /// The group that is worked off, and which of its words is the first that may have a bit.
    current: Option<(usize, usize)>,
    /// The others, some of which may be empty.
    later: Later,
    /// By hash of an instant: a group that may be of that instant.
    near: [usize; NEAR],
}

/// Who is due when.
#[derive(Clone, Debug)]
struct Groups {
    /// `None`: no group.
    times: Vec<Option<Instant>>,
    /// Bits of the tasks, `width` words for each group.
    due: Vec<u64>,
    width: usize,
    free: Vec<usize>,
}

/// Groups by instant.
#[derive(Clone, Debug, Default)]
struct Later {
    /// Before all others.
    first: Option<(Instant, usize)>,
    others: BinaryHeap<Reverse<(Instant, usize)>>,
}

impl Later {
    #[inline]
    fn push(&mut self, time: Instant, group: usize) {
        match self.first {
            None => self.first = Some((time, group)),
            Some((first, other)) if time < first => {
                self.first = Some((time, group));
                self.others.push(Reverse((first, other)));
            }
            Some(_) => self.others.push(Reverse((time, group))),
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<(Instant, usize)> {
        let first = self.first.take();
        if !self.others.is_empty() {
            self.first = self.others.pop().map(|Reverse(next)| next);
        }
        first
    }

    fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
        self.others.retain(|Reverse((_, group))| keep(*group));
        if self.first.is_some_and(|(_, group)| !keep(group)) {
            self.pop();
        }
    }
}

impl Groups {
    fn add(&mut self, time: Instant) -> usize {
        let group = self.free.pop().unwrap_or_else(|| {
            self.due.resize(self.due.len() + self.width, 0);
            self.times.push(None);
            self.times.len() - 1
        });
        self.times[group] = Some(time);
        group
    }

    #[inline]
    fn words(&mut self, group: usize) -> &mut [u64] {
        &mut self.due[group * self.width..(group + 1) * self.width]
    }

    /// Nobody is in it any more.
    #[inline]
    fn dissolve(&mut self, group: usize) {
        self.times[group] = None;
        self.free.push(group);
    }

    fn in_use(&self) -> usize {
        self.times.len() - self.free.len()
    }
}

impl Agenda {
    /// An agenda of these tasks, in merged order.
    pub fn new(timelines: Vec<Timeline>) -> Agenda {
        let tasks = timelines.len();
        let groups = Groups { times: Vec::new(), due: Vec::new(), width: tasks.div_ceil(64), free: Vec::new() };
        let noted = vec![None; tasks];
        let mut agenda = Agenda { timelines, noted, groups, current: None, later: Later::default(), near: [0; NEAR] };
        for task in 0..tasks {
            agenda.note(TaskId(task));
        }
        agenda
    }

    /// Puts a task into the group of its next activation.
    #[inline]
    fn note(&mut self, task: TaskId) {
        let time = self.timelines[task.0].next();
        let (word, bit) = (task.0 / 64, 1 << (task.0 % 64));
        if let Some(group) = self.noted[task.0] {
            if self.groups.times[group] == time {
                return;
            }
            self.groups.words(group)[word] &= !bit;
        }
        let group = time.map(|time| self.group(time, word));
        self.noted[task.0] = group;
        if let Some(group) = group {
            self.groups.words(group)[word] |= bit;
        }
    }

    /// The group of an instant, which gets a bit in this word.
    #[inline]
    fn group(&mut self, time: Instant, word: usize) -> usize {
        if let Some((group, from)) = &mut self.current
            && self.groups.times[*group] == Some(time)
        {
            *from = word.min(*from);
            return *group;
        }
        let [seconds, counter, _] = time.to_words();
        let mixed = (seconds.rotate_left(32) ^ counter).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = (mixed >> 32) as usize % NEAR;
        let near = self.near[place];
        if self.groups.times.get(near) == Some(&Some(time)) {
            return near;
        }
        self.near[place] = self.found(time);
        self.near[place]
    }

    fn found(&mut self, time: Instant) -> usize {
        // Tasks leave groups that nobody is in any more, over and over again when a far deadline is put off.
        if self.groups.in_use() > 2 * self.timelines.len() + NEAR {
            let groups = &mut self.groups;
            self.later.retain(|group| {
                let is_used = groups.words(group).iter().any(|word| *word != 0);
                if !is_used {
                    groups.dissolve(group);
                }
                is_used
            });
        }
        let group = self.groups.add(time);
        // Something earlier than what is worked off.
        if let Some((current, _)) = self.current.take_if(|(current, _)| self.groups.times[*current] > Some(time)) {
            self.groups.times[current].into_iter().for_each(|time| self.later.push(time, current));
        }
        self.later.push(time, group);
        group
    }

    /// Goes to the next group that somebody is in; the word that has the first of them.
    #[inline]
    fn advance(&mut self) -> Option<(usize, usize)> {
        loop {
            if let Some((group, from)) = self.current {
                let words = self.groups.words(group);
                if let Some(first) = words[from..].iter().position(|word| *word != 0) {
                    self.current = Some((group, from + first));
                    return self.current;
                }
                self.groups.dissolve(group);
            }
            self.current = None;
            let (time, group) = self.later.pop()?;
            self.current = Some((group, 0));
            while let Some((_, other)) = self.later.first.filter(|(other, _)| *other == time) {
                self.later.pop();
                self.unite(group, other);
            }
        }
    }

    /// Two groups of an instant become one.
    fn unite(&mut self, group: usize, other: usize) {
        for word in 0..self.groups.width {
            let bits = std::mem::take(&mut self.groups.words(other)[word]);
            self.groups.words(group)[word] |= bits;
            let tasks = (0..64).filter(|bit| bits >> bit & 1 == 1).map(|bit| word * 64 + bit);
            tasks.for_each(|task| self.noted[task] = Some(group));
        }
        self.groups.dissolve(other);
    }

    /// The next activation: the earliest, and of equal ones the most urgent.
    #[inline(always)]
    pub fn take(&mut self) -> Option<(TaskId, Due)> {
        let (group, word) = self.advance()?;
        let bits = &mut self.groups.words(group)[word];
        let first = *bits & bits.wrapping_neg();
        let task = TaskId(word * 64 + first.trailing_zeros() as usize);
        let due = self.timelines[task.0].take().expect("its timeline says so");
        if !self.goes_on(group, word, first, task) {
            self.groups.words(group)[word] &= !first;
            self.noted[task.0] = None;
            self.note(task);
        }
        Some((task, due))
    }

    /// Nobody else is in the group, and the task comes before all others again: the group goes on to that instant.
    #[inline]
    fn goes_on(&mut self, group: usize, word: usize, bit: u64, task: TaskId) -> bool {
        let Some(next) = self.timelines[task.0].next() else { return false };
        let words = self.groups.words(group);
        let goes_on = words[word] == bit
            && words[word + 1..].iter().all(|word| *word == 0)
            && self.later.first.is_none_or(|(first, _)| next < first);
        if goes_on {
            self.groups.times[group] = Some(next);
        }
        goes_on
    }

    /// When the next activation is due.
    pub fn next(&self) -> Option<Instant> {
        self.timelines.iter().filter_map(Timeline::next).min()
    }

    /// [`Agenda::next`], without looking at every task.
    pub fn peek(&mut self) -> Option<Instant> {
        self.advance().and_then(|(group, _)| self.groups.times[group])
    }

    /// How a task stands.
    pub fn timeline(&self, task: TaskId) -> &Timeline {
        &self.timelines[task.0]
    }

    /// The next time of a stimulus, while there is room.
    pub fn feed(&mut self, task: TaskId, time: Instant) {
        self.timelines[task.0].feed(time);
        self.note(task);
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
    use proptest::prelude::*;

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
    fn groups_that_everybody_has_left_do_not_pile_up() {
        let mut agenda = Agenda::new(vec![timeline(Release::Countdown), every("0.001")]);
        for k in 0..40 {
            agenda.arm(TaskId(0), at(0.049).after_many(Fraction::NANOSECOND, k), at(0.0), None);
        }
        let mut heap = 0;
        for k in 0..10_000 {
            agenda.arm(TaskId(0), at(0.049).after_many(Fraction::NANOSECOND, 10_000 - k), at(0.0), None);
            heap = heap.max(agenda.later.others.len() + 1);
        }
        assert!(heap <= 2 * 2 + NEAR + 1, "{heap} groups for two tasks");
        assert_eq!(order(&mut agenda).iter().filter(|(task, _)| *task == 0).count(), 1);
    }

    proptest! {
        /// Whatever is ticked, armed and retuned when, also in the past: always the earliest of all timelines, and of equal
        /// ones the first.
        #[test]
        fn the_order_is_that_of_all_timelines(
            intervals in proptest::collection::vec((1u64..7, 1u64..400), 1..150),
            steps in proptest::collection::vec((0u8..4, any::<usize>(), 0u64..60), 0..300),
        ) {
            let interval = |(counter, resolution)| Fraction::new(counter, resolution).unwrap();
            let release = |(index, of): (usize, &(u64, u64))| match index % 3 {
                0 => Release::Countdown,
                _ => Release::Periodic { shift: Fraction::ZERO, interval: interval(*of) },
            };
            let mut agenda = Agenda::new(intervals.iter().enumerate().map(release).map(timeline).collect());
            for (step, task, millis) in steps {
                let (task, time) = (TaskId(task % intervals.len()), at(millis as f64 / 1000.0));
                match step {
                    0 => drop(agenda.tick(task, time, None)),
                    1 => drop(agenda.arm(task, time, at(0.0), None)),
                    2 => agenda.retune(task, interval((1 + millis, 1000)), time),
                    _ => {
                        let due = agenda.timelines.iter().enumerate().filter_map(|(task, t)| Some((t.next()?, task)));
                        let expected = due.min();
                        prop_assert_eq!(agenda.peek(), expected.map(|(time, _)| time));
                        let taken = agenda.take();
                        prop_assert_eq!(taken.map(|(task, due)| (due.time, task.0)), expected);
                    }
                }
            }
        }
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
