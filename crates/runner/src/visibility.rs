//! The instant from which on the outputs of an activation are visible to delayed connections (semantics S11).
//!
//! Any thread can ask for the next release of a clock that is at the root of its chain: a list is in the plan, and a grid is in a
//! cell of its task, which the task's own thread writes when it learns or changes it.

use super::run_state::{GRID, RunState};
use crate::exchange::Stamp;
use std::sync::atomic::Ordering::Relaxed;
use vecud_base::time::{Fraction, Instant};
use vecud_plan::schedule::{Due, Timeline, first_after};
use vecud_plan::{Release, UnitId};
use vecud_record::board::TaskWord;

/// Works out the stamps of one task's activations.
#[derive(Clone, Debug, Default)]
pub struct Visibility {
    /// A root, and two neighbouring releases of it: chains are shorter than the period of their root, mostly.
    between: Option<(UnitId, Instant, Instant)>,
}

impl Visibility {
    /// The stamp of the values that the activation `due` of `unit` publishes; `interval`: the one that a changing clock has
    /// returned in it. `None`: they are never visible.
    pub fn of(&mut self, run: &RunState, unit: UnitId, due: &Due, interval: Option<Fraction>) -> Option<Stamp> {
        let time = due.time;
        let visible = match &run.plan.units[unit.0].release {
            Release::Periodic { .. } | Release::Asked | Release::At(_) => due.next?,
            Release::Changing => time.after(interval.unwrap_or(Fraction::NANOSECOND)),
            _ => self.release_of_root(run, due.root.unwrap_or(unit), time)?,
        };
        Some(Stamp { visible, activation: time })
    }

    /// The first release of `root` strictly after `time`; `None`: there is none any more. Where its releases are not known
    /// beforehand, the next nanosecond.
    fn release_of_root(&mut self, run: &RunState, root: UnitId, time: Instant) -> Option<Instant> {
        if let Some((_, _, next)) = self.between.filter(|(of, from, next)| *of == root && *from <= time && time < *next)
        {
            return Some(next);
        }
        let release = &run.plan.units[root.0].release;
        if let Release::At(times) = release {
            return times.get(times.partition_point(|at| *at <= time)).copied();
        }
        let Some((origin, interval)) = run.grid(root) else {
            return Some(time.after(Fraction::NANOSECOND));
        };
        let next = first_after(origin, interval, time);
        self.between = matches!(release, Release::Periodic { .. }).then_some((root, time, next));
        Some(next)
    }
}

impl RunState {
    /// The grid of a periodic clock, as its thread has it: an instant of it, and its interval.
    fn grid(&self, unit: UnitId) -> Option<(Instant, Fraction)> {
        let mut words = [0; GRID];
        let version = self.tasks[unit.0].grid.read(|i, word| words[i] = word);
        let [a, b, c, counter, resolution] = words;
        let interval = Fraction::new(counter, resolution).ok()?;
        (version > 0).then_some((Instant::from_words([a, b, c]), interval))
    }

    /// Tells everybody the grid of a periodic clock, if that is another one now. For its own thread.
    pub fn tell_grid(&self, unit: UnitId, grid: Option<(Instant, Fraction)>) {
        if self.grid(unit) != grid {
            self.put_grid(unit, grid);
        }
    }

    /// [`RunState::tell_grid`] of all units, before the run.
    pub fn tell_grids(&self, timelines: &[Timeline]) {
        for (task, timeline) in self.plan.tasks.iter().zip(timelines) {
            task.units().iter().for_each(|unit| self.put_grid(*unit, timeline.grid()));
        }
    }

    fn put_grid(&self, unit: UnitId, grid: Option<(Instant, Fraction)>) {
        let Some((origin, interval)) = grid else { return };
        let [a, b, c] = origin.to_words();
        let words = [a, b, c, interval.counter(), interval.resolution()];
        self.tasks[unit.0].grid.write(|i| words[i]);
        let cells = self.board.task(unit);
        cells.word(TaskWord::IntervalCounter).store(interval.counter(), Relaxed);
        cells.word(TaskWord::IntervalResolution).store(interval.resolution(), Relaxed);
        let places = [TaskWord::Origin, TaskWord::Origin1, TaskWord::Origin2];
        places.into_iter().zip([a, b, c]).for_each(|(place, word)| cells.word(place).store(word, Relaxed));
    }

    /// The clock at the root of the activation of `unit` that is under way.
    pub fn root(&self, unit: UnitId) -> Option<UnitId> {
        self.tasks[unit.0].root.load(Relaxed).checked_sub(1).map(|root| UnitId(root as usize))
    }

    /// To which clock a deadline is put down that was armed in Initialization Mode: to the only one that can be at the root of
    /// it otherwise.
    pub fn initial_root(&self, roots: &[Vec<UnitId>], unit: UnitId) -> Option<UnitId> {
        match roots[unit.0].as_slice() {
            [root] => Some(*root),
            _ => None,
        }
    }
}
