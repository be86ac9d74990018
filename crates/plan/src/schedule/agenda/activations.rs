//! The next activations of all tasks, in their order.

use super::groups::DueTasks;
use super::shared_grids::{Instants, SharedGrids};
use crate::schedule::{Armed, DispatchStamp, Due, Tick, Timeline};
use crate::{TaskId, UnitId};
use vecud_base::time::{Fraction, Instant, Nanos};

/// The order of the next activations of all tasks.
#[derive(Clone, Debug)]
pub struct Agenda {
    /// The timelines; for a task that shares a grid, its state when it joined the grid.
    timelines: Vec<Timeline>,
    /// Per task: the grid that the task shares, or has left and may return to, and the number of the grid's instants that had passed when
    /// the task joined it.
    shared: Vec<Option<(usize, u64)>>,
    /// Per task: the source of its next activation.
    noted: Vec<Noted>,
    /// Whether tasks of an instant, that of `taken`, are being taken.
    in_instant: bool,
    /// Number of instants that have begun.
    instants: u64,
    /// The tasks that are still due at the present instant, a bit each.
    due: Box<[u64]>,
    /// The first word of `due` that may have a bit.
    first_word: usize,
    /// Instants that were interrupted by an earlier one, with the tasks that are still due, the earliest last.
    suspended: Vec<(Instant, Box<[u64]>)>,
    grids: SharedGrids,
    pub(super) groups: DueTasks,
    /// The last taken activation; activations by shared grids differ within an instant only in their `next`.
    taken: Due,
    /// Whether the last taken activation came from a timeline of its own, not from a shared grid.
    taken_alone: bool,
}

/// The source of a task's next activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noted {
    /// There is no next activation.
    Nowhere,
    /// The task is among the due ones, or in a suspended instant.
    Due,
    /// The task is in a group.
    Group(usize),
    /// The task has no activations but those of a shared grid.
    Grid(usize),
}

impl Agenda {
    /// An agenda of these tasks, in merged order.
    pub fn new(timelines: Vec<Timeline>) -> Agenda {
        let tasks = timelines.len();
        let (grids, shared) = SharedGrids::of(&timelines);
        let mut agenda = Agenda {
            timelines,
            shared: shared.iter().map(|grid| Some(((*grid)?, 0))).collect(),
            noted: shared.iter().map(|grid| grid.map_or(Noted::Nowhere, Noted::Grid)).collect(),
            in_instant: false,
            instants: 0,
            due: vec![0; tasks.div_ceil(64)].into_boxed_slice(),
            first_word: 0,
            suspended: Vec::new(),
            grids,
            groups: DueTasks::new(tasks),
            taken: Due::own(Instant::ZERO),
            taken_alone: false,
        };
        (0..tasks).filter(|task| shared[*task].is_none()).for_each(|task| agenda.note(TaskId(task)));
        agenda
    }

    /// Notes the next activation of a task that shares no grid.
    #[inline]
    fn note(&mut self, task: TaskId) {
        let time = self.timelines[task.0].next();
        let (word, bit) = (task.0 / 64, 1 << (task.0 % 64));
        match self.noted[task.0] {
            Noted::Group(group) if self.groups.time(group) == time => return,
            Noted::Group(group) => self.groups.words(group)[word] &= !bit,
            Noted::Due => self.sets().for_each(|set| set[word] &= !bit),
            Noted::Nowhere | Noted::Grid(_) => (),
        }
        self.noted[task.0] = match time {
            None => Noted::Nowhere,
            Some(time) if self.in_instant && self.taken.time == time => {
                self.due[word] |= bit;
                self.first_word = self.first_word.min(word);
                Noted::Due
            }
            Some(time) => {
                if self.in_instant && self.taken.time > time {
                    let nobody = vec![0; self.due.len()].into_boxed_slice();
                    self.suspended.push((self.taken.time, std::mem::replace(&mut self.due, nobody)));
                    self.in_instant = false;
                }
                let group = self.groups.at(time);
                self.groups.words(group)[word] |= bit;
                Noted::Group(group)
            }
        };
    }

    /// The bits of the tasks that are due now, then those of suspended instants.
    fn sets(&mut self) -> impl Iterator<Item = &mut [u64]> {
        let suspended = self.suspended.iter_mut().map(|(_, set)| &mut **set);
        std::iter::once(&mut *self.due).chain(suspended)
    }

    /// Gives a task a timeline of its own, as if it had always had one.
    fn leave_grid(&mut self, task: TaskId) {
        let Noted::Grid(grid) = self.noted[task.0] else { return };
        let (word, bit) = (task.0 / 64, 1 << (task.0 % 64));
        let is_due = self.sets().any(|set| set[word] & bit != 0);
        let passed = self.grids.leave(grid, task);
        let before = self.shared[task.0].map_or(0, |(_, before)| before);
        self.timelines[task.0].pass(passed - before - u64::from(is_due));
        self.noted[task.0] = if is_due { Noted::Due } else { Noted::Nowhere };
        if !is_due {
            self.note(task);
        }
    }

    /// Returns a task to its shared grid if its timeline is nothing but that grid again. Returns whether it is.
    fn rejoin_grid(&mut self, task: TaskId) -> bool {
        let Some((grid, _)) = self.shared[task.0] else { return false };
        let Some((own, _)) = self.timelines[task.0].nothing_but_grid() else { return false };
        let Some(passed) = self.grids.rejoin(grid, task, own) else { return false };
        (self.shared[task.0], self.noted[task.0]) = (Some((grid, passed)), Noted::Grid(grid));
        true
    }

    /// Goes to the next instant at which a task is due, unless one is due now. Returns the word of the first due task; `None`:
    /// there is none.
    #[inline(always)]
    fn advance(&mut self) -> Option<u64> {
        loop {
            if let Some(word) = self.due.get(self.first_word).filter(|word| **word != 0) {
                return Some(*word);
            }
            if self.first_word + 1 < self.due.len() {
                self.first_word += 1;
            } else if !self.next_instant() {
                return None;
            }
        }
    }

    /// Makes the tasks of the next instant due, once none is due any more.
    #[inline(always)]
    fn next_instant(&mut self) -> bool {
        self.first_word = 0;
        let next = match self.groups.queue.first().is_none() && self.suspended.is_empty() {
            true => self.grids.pass(&mut self.due),
            false => return self.next_of_all(),
        };
        self.in_instant = false;
        next.map(|now| self.begin(now)).is_some()
    }

    /// Begins an instant.
    #[inline(always)]
    fn begin(&mut self, now: Instant) {
        self.in_instant = true;
        self.instants += 1;
        if self.taken_alone {
            (self.taken, self.taken_alone) = (Due::own(now), false);
        }
        (self.taken.time, self.taken.next) = (now, None);
    }

    #[inline(never)]
    fn next_of_all(&mut self) -> bool {
        self.in_instant = false;
        let grid = self.grids.next();
        let others = self.groups.queue.first().map(|(time, _)| *time);
        let others = self.suspended.last().map(|(time, _)| *time).into_iter().chain(others);
        let Some(now) = others.chain(grid).min() else { return false };
        if grid == Some(now) {
            self.grids.pass(&mut self.due);
        }
        self.join(now);
        self.begin(now);
        true
    }

    /// Makes the groups of this instant, and its suspended tasks, due.
    fn join(&mut self, now: Instant) {
        while let Some((_, group)) = self.groups.queue.first().filter(|(time, _)| *time == now) {
            let group = *group;
            self.groups.queue.pop();
            for (word, bits) in self.groups.words(group).iter().enumerate() {
                self.due[word] |= bits;
                let tasks = (0..64).filter(|bit| bits >> bit & 1 == 1).map(|bit| word * 64 + bit);
                tasks.for_each(|task| self.noted[task] = Noted::Due);
            }
            self.groups.dissolve(group);
        }
        while let Some((_, set)) = self.suspended.pop_if(|(time, _)| *time == now) {
            self.due.iter_mut().zip(set).for_each(|(due, bits)| *due |= bits);
        }
    }

    /// Takes the next activation: the earliest, and of several at one time the most urgent. [`Agenda::due`] has it, without
    /// [`Due::next`], which few tasks need: [`Agenda::tell_next`] adds that.
    #[inline(always)]
    pub fn take(&mut self) -> Option<TaskId> {
        let bits = self.advance()?;
        self.due[self.first_word] = bits & (bits - 1);
        let task = TaskId(self.first_word * 64 + bits.trailing_zeros() as usize);
        match self.noted[task.0] {
            Noted::Grid(_) if self.taken_alone => {
                (self.taken, self.taken_alone) = (Due::own(self.taken.time), false);
            }
            // The value of another task does not hold for this one.
            Noted::Grid(_) => self.taken.next = None,
            _ => self.take_alone(task),
        }
        Some(task)
    }

    #[inline(never)]
    fn take_alone(&mut self, task: TaskId) {
        let due = self.timelines[task.0].take().expect("its timeline says so");
        self.noted[task.0] = Noted::Nowhere;
        if !self.rejoin_grid(task) {
            self.note(task);
        }
        (self.taken, self.taken_alone) = (due, true);
    }

    /// A batch of next instants at which only the tasks of one grid are due. `None`: a task is due now, or another task is due
    /// first.
    pub fn next_instants(&self) -> Option<Instants> {
        let is_at_rest = self.suspended.is_empty() && self.due[self.first_word..].iter().all(|word| *word == 0);
        if is_at_rest { self.grids.next_instants(self.groups.queue.first().map(|(time, _)| *time)) } else { None }
    }

    /// The tasks that are released at each instant of a batch, in their order.
    #[inline]
    pub fn released(&self, batch: &Instants) -> impl Iterator<Item = TaskId> {
        self.grids.released(batch).flat_map(|(word, bits)| {
            let mut bits = *bits;
            std::iter::from_fn(move || {
                let bit = bits.trailing_zeros() as usize;
                (bits != 0).then(|| {
                    bits &= bits - 1;
                    TaskId(word * 64 + bit)
                })
            })
        })
    }

    /// Passes a number of `instants` of a batch, as if each activation had been [taken](Agenda::take).
    pub fn pass(&mut self, batch: &Instants, instants: u64) {
        if let Some(last) = self.grids.pass_many(batch, instants) {
            self.instants += instants - 1;
            self.first_word = 0;
            self.begin(last);
        }
    }

    /// Adds [`Due::next`] to the last taken activation, which is one of `task`: the next instant of its grid or list.
    pub fn tell_next(&mut self, task: TaskId) {
        if let Noted::Grid(grid) = self.noted[task.0]
            && !self.taken_alone
        {
            self.taken.next = Some(self.grids.next_of(grid));
        }
    }

    /// The last taken activation.
    #[inline]
    pub fn due(&self) -> &Due {
        &self.taken
    }

    /// The number of the instant of [`Agenda::due`].
    #[inline]
    pub fn instant(&self) -> u64 {
        self.instants
    }

    /// The time of the next activation.
    #[inline(never)]
    pub fn peek(&mut self) -> Option<Instant> {
        self.advance().map(|_| self.taken.time)
    }

    /// Has times of a stimulus brought to a task for which none of them waits.
    pub fn feed(&mut self, task: TaskId, feed: impl FnOnce(&mut Timeline)) {
        let timeline = &mut self.timelines[task.0];
        if timeline.is_hungry() {
            feed(timeline);
            if !timeline.is_hungry() {
                self.note(task);
            }
        }
    }

    /// The present timelines, by task.
    pub fn into_timelines(mut self) -> Vec<Timeline> {
        (0..self.timelines.len()).for_each(|task| self.leave_grid(TaskId(task)));
        self.timelines
    }

    /// The grid of a periodic clock.
    pub fn grid(&self, task: TaskId) -> Option<(Instant, Fraction)> {
        self.timelines[task.0].grid()
    }

    /// Ticks a task; `root`: the clock at the root of the chain of ticks.
    pub fn tick(&mut self, task: TaskId, time: Instant, root: Option<UnitId>) -> Tick {
        self.change(task, |timeline| timeline.tick(time, DispatchStamp { wall: Nanos(0), time, root }))
    }

    /// Arms a countdown by an activation at `since`; `root`: the clock at the root of the chain of ticks.
    pub fn arm(&mut self, task: TaskId, time: Instant, since: Instant, root: Option<UnitId>) -> Armed {
        self.change(task, |timeline| timeline.arm(time, since, DispatchStamp { wall: Nanos(0), time, root }))
    }

    /// Sets the next tick of a changing clock that was activated at `since`: after `interval`.
    pub fn follow(&mut self, task: TaskId, interval: Fraction, since: Instant) {
        self.change(task, |timeline| timeline.follow(interval, since));
    }

    /// Adds a release of a periodic task at this time, before the next one of its grid.
    pub fn beside(&mut self, task: TaskId, time: Instant) {
        self.change(task, |timeline| timeline.beside(time));
    }

    /// Changes the interval of a periodic clock at `from`.
    pub fn retune(&mut self, task: TaskId, interval: Fraction, from: Instant) {
        self.change(task, |timeline| timeline.retune(interval, from));
    }

    /// Changes the timeline of one task, which leaves its shared grid for that.
    fn change<T>(&mut self, task: TaskId, change: impl FnOnce(&mut Timeline) -> T) -> T {
        self.leave_grid(task);
        let outcome = change(&mut self.timelines[task.0]);
        self.note(task);
        outcome
    }
}
