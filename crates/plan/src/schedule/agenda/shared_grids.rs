//! Grids, each for all tasks that are released on it: the next instant is computed once for all of them, in whole parts of a
//! second that all grids have in common.
//!
//! A task is released by its shared grid as long as nothing concerns it alone (a tick, another interval). Its own timeline is
//! computed when it leaves, from the number of instants that the grid has passed; it comes back when its timeline has the grid's
//! instants again. A grid that would need too small parts is not shared.

use super::super::grid::Grid;
use super::super::{Due, Timeline};
use super::queue::Queue;
use crate::TaskId;
use std::collections::HashMap;
use vecud_base::time::{Instant, Subdivision};

/// A grid, and the tasks that it releases. Instants are numbers of parts.
#[derive(Clone, Debug)]
struct SharedGrid {
    next: u64,
    interval: u64,
    stop: u64,
    /// The first instant of the grid.
    first: u64,
    /// A bit per task: the first word that has one, by its number, and the others.
    tasks: (usize, u64),
    others: Vec<(usize, u64)>,
}

impl SharedGrid {
    /// The words that have a bit.
    fn words(&mut self) -> impl Iterator<Item = &mut (usize, u64)> {
        std::iter::once(&mut self.tasks).chain(&mut self.others)
    }
}

/// Instants of a grid, one after another, before anything else is due; each is followed by another one of the grid.
#[derive(Clone, Copy, Debug)]
pub struct Instants {
    grid: usize,
    /// Number of the first instant.
    first: u64,
    interval: u64,
    parts: Subdivision,
    due: Due,
    left: u64,
}

impl Instants {
    /// The activations of the instant that it is at: at first, its first one.
    #[inline]
    pub fn due(&self) -> &Due {
        &self.due
    }

    /// Number of instants from the present one on.
    #[inline]
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The instant of the grid after that.
    #[inline]
    pub fn next(&self) -> Instant {
        self.parts.after(self.due.time, self.interval)
    }

    /// Goes on to the `next` instant. `false`: that is beyond the batch.
    #[inline]
    pub fn go_on(&mut self, next: Instant) -> bool {
        self.due.time = next;
        self.left -= 1;
        self.left > 0
    }
}

/// All shared grids.
#[derive(Clone, Debug)]
pub(super) struct SharedGrids {
    all: Vec<SharedGrid>,
    /// The grids that have instants before their stop.
    queue: Queue<u64>,
    parts: Subdivision,
    /// An instant that was reached, and its number.
    reached: (Instant, u64),
}

impl SharedGrids {
    /// The grids of these tasks, and for each task the grid that it shares, as long as it can.
    pub(super) fn of(timelines: &[Timeline]) -> (SharedGrids, Vec<Option<usize>>) {
        let begins = timelines.iter().filter_map(|timeline| Some(timeline.nothing_but_grid()?.0.next()));
        let mut parts = begins.min().and_then(Subdivision::from).unwrap_or_default();
        for (grid, _) in timelines.iter().filter_map(Timeline::nothing_but_grid) {
            let [_, _, resolution] = grid.next().to_words();
            let with = parts.with(resolution).and_then(|parts| parts.with(grid.interval().resolution()));
            parts = with.unwrap_or(parts);
        }
        let mut grids = SharedGrids { all: Vec::new(), queue: Queue::new(), parts, reached: (parts.base(), 0) };
        let mut known = HashMap::new();
        let shared = timelines.iter().enumerate().map(|(task, timeline)| {
            let (grid, stop) = timeline.nothing_but_grid()?;
            let (next, interval) = (parts.first_from(grid.next()), parts.length(grid.interval())?);
            if parts.after(parts.base(), next) != grid.next() {
                return None;
            }
            let stop = stop.map_or(u64::MAX, |stop| parts.first_from(stop));
            let number = *known.entry((next, interval, stop)).or_insert_with(|| {
                let (tasks, others) = ((task / 64, 0), Vec::new());
                grids.all.push(SharedGrid { next, interval, stop, first: next, tasks, others });
                grids.all.len() - 1
            });
            let (word, bit) = (task / 64, 1 << (task % 64));
            let grid = &mut grids.all[number];
            if !grid.words().any(|(of, _)| *of == word) {
                grid.others.push((word, 0));
            }
            grid.words().filter(|(of, _)| *of == word).for_each(|(_, bits)| *bits |= bit);
            Some(number)
        });
        let shared: Vec<_> = shared.collect();
        for (number, grid) in grids.all.iter().enumerate().filter(|(_, grid)| grid.next < grid.stop) {
            grids.queue.push(grid.next, number);
        }
        (grids, shared)
    }

    /// The next instant of any grid.
    #[inline]
    pub(super) fn next(&self) -> Option<Instant> {
        let (number, _) = self.queue.first()?;
        Some(self.after_reached(*number))
    }

    #[inline]
    fn after_reached(&self, number: u64) -> Instant {
        let (reached, of) = self.reached;
        self.parts.after(reached, number - of)
    }

    /// Passes the next instant of all grids and sets the bits of their tasks in `due`, which was empty. `None`: there is none.
    #[inline(always)] // so that the instant stays in registers
    pub(super) fn pass(&mut self, due: &mut [u64]) -> Option<Instant> {
        let (number, first) = *self.queue.first()?;
        let now = self.after_reached(number);
        self.reached = (now, number);
        let (word, bits) = self.all[first].tasks;
        due[word] = bits;
        self.pass_one(number, first, due);
        while let Some((_, other)) = self.queue.first().filter(|(next, _)| *next == number) {
            let other = *other;
            let (word, bits) = self.all[other].tasks;
            due[word] |= bits;
            self.pass_one(number, other, due);
        }
        Some(now)
    }

    /// The first in the queue is put off; but for its first word, its tasks are due.
    #[inline(always)]
    fn pass_one(&mut self, number: u64, grid: usize, due: &mut [u64]) {
        let grid = &mut self.all[grid];
        grid.next = number.saturating_add(grid.interval);
        grid.others.iter().for_each(|(word, bits)| due[*word] |= bits);
        match grid.next < grid.stop {
            true => self.queue.put_off(grid.next),
            false => self.queue.pop(),
        }
    }

    /// The next instants of one grid alone, before `others`; `None`: there are none.
    pub(super) fn next_instants(&self, others: Option<Instant>) -> Option<Instants> {
        let (first, grid) = *self.queue.first()?;
        let SharedGrid { interval, stop, .. } = self.all[grid];
        let others = others.map_or(u64::MAX, |time| self.parts.first_from(time));
        let others = self.queue.second().map_or(others, |(next, _)| others.min(*next));
        let before_others = others.saturating_sub(first).div_ceil(interval);
        let left = before_others.min((stop - 1 - first) / interval);
        let due = Due::own(self.after_reached(first));
        (left > 0).then_some(Instants { grid, first, interval, parts: self.parts, due, left })
    }

    /// The tasks that are released at each instant of a batch, most urgent first, a bit each in numbered words.
    pub(super) fn released(&self, batch: &Instants) -> impl Iterator<Item = &(usize, u64)> {
        let SharedGrid { tasks, others, .. } = &self.all[batch.grid];
        std::iter::once(tasks).chain(others)
    }

    /// Passes the instants of a batch before its present one. Returns the last of them; `None`: there are none.
    pub(super) fn pass_many(&mut self, batch: &Instants, instants: u64) -> Option<Instant> {
        let last = batch.first + instants.checked_sub(1)? * batch.interval;
        let time = self.after_reached(last);
        self.reached = (time, last);
        self.all[batch.grid].next = last + batch.interval;
        self.queue.put_off(last + batch.interval);
        Some(time)
    }

    /// A task is released by a grid no more; how many instants that has passed.
    pub(super) fn leave(&mut self, grid: usize, task: TaskId) -> u64 {
        let (word, bit) = (task.0 / 64, 1 << (task.0 % 64));
        let grid = &mut self.all[grid];
        grid.words().filter(|(of, _)| *of == word).for_each(|(_, bits)| *bits &= !bit);
        (grid.next - grid.first) / grid.interval
    }

    /// Returns a task to a grid that it has left, if its `own` one is the same from here on. Returns the number of instants that
    /// the grid has passed.
    pub(super) fn rejoin(&mut self, grid: usize, task: TaskId, own: &Grid) -> Option<u64> {
        let (next, interval) = (self.next_of(grid), self.parts.length(own.interval()));
        let grid = &mut self.all[grid];
        if grid.next >= grid.stop || interval != Some(grid.interval) || next != own.next() {
            return None;
        }
        let (word, bit) = (task.0 / 64, 1 << (task.0 % 64));
        grid.words().filter(|(of, _)| *of == word).for_each(|(_, bits)| *bits |= bit);
        Some((grid.next - grid.first) / grid.interval)
    }

    /// The next instant of a grid, whether it comes before the stop or not.
    #[inline]
    pub(super) fn next_of(&self, grid: usize) -> Instant {
        self.after_reached(self.all[grid].next)
    }
}
