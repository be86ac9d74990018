//! Grids, each for all tasks that are released on it: what comes next is worked out once for all of them.
//!
//! A task is released by its shared grid as long as nothing concerns it alone (a tick, another interval). What its own
//! timeline would be is worked out when it leaves, from how often the grid has passed.

use super::super::Timeline;
use super::super::grid::Grid;
use super::queue::Queue;
use crate::time::Instant;
use std::collections::HashMap;

/// A grid, and who is released by it.
#[derive(Clone, Debug)]
pub(super) struct SharedGrid {
    grid: Grid,
    stop: Option<Instant>,
    /// Instants that it has passed.
    pub(super) passed: u64,
    /// A bit per task.
    pub(super) tasks: Box<[u64]>,
}

/// All of them.
#[derive(Clone, Debug)]
pub(super) struct SharedGrids {
    pub(super) all: Vec<SharedGrid>,
    /// Those that have instants before their stop.
    pub(super) queue: Queue,
}

impl SharedGrids {
    /// The grids of these tasks; and for each of them the one that it shares, as long as it can.
    pub(super) fn of(timelines: &[Timeline]) -> (SharedGrids, Vec<Option<usize>>) {
        let mut grids = SharedGrids { all: Vec::new(), queue: Queue::default() };
        let mut known = HashMap::new();
        let shared = timelines.iter().enumerate().map(|(task, timeline)| {
            let (grid, stop) = timeline.nothing_but_grid()?;
            let number = *known.entry((grid.to_words(), stop.map(Instant::to_words))).or_insert_with(|| {
                let tasks = vec![0; timelines.len().div_ceil(64)].into_boxed_slice();
                grids.all.push(SharedGrid { grid: *grid, stop, passed: 0, tasks });
                grids.all.len() - 1
            });
            grids.all[number].tasks[task / 64] |= 1 << (task % 64);
            Some(number)
        });
        let shared: Vec<_> = shared.collect();
        for (number, shared) in grids.all.iter().enumerate() {
            shared.next_before_stop().into_iter().for_each(|next| grids.queue.push(next, number));
        }
        (grids, shared)
    }

    /// The first one in the queue passes its instant; its tasks are added to those that are `due`.
    #[inline]
    pub(super) fn pass(&mut self, number: usize, due: &mut [u64]) {
        let shared = &mut self.all[number];
        shared.grid.pass();
        shared.passed += 1;
        due.iter_mut().zip(&shared.tasks).for_each(|(due, tasks)| *due |= tasks);
        match shared.next_before_stop() {
            Some(next) => self.queue.put_off(next),
            None => self.queue.pop(),
        }
    }
}

impl SharedGrid {
    /// Its next instant, whether it comes before the stop or not.
    #[inline]
    pub(super) fn next(&self) -> Instant {
        self.grid.next()
    }

    #[inline]
    fn next_before_stop(&self) -> Option<Instant> {
        let next = self.grid.next();
        self.stop.is_none_or(|stop| next < stop).then_some(next)
    }
}
