//! A task in whole numbers of one unit of time ([`super::CommonUnit`]).

use super::ArrivalPattern;

/// A task as the analysis sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The core that the task runs on.
    pub core: usize,
    /// The instance of the task; all tasks of an instance have the same core.
    pub instance: usize,
    /// Larger goes first; equal ones of different instances follow one another in any order.
    pub urgency: u32,
    /// The place of the task among those of its instance with the same urgency: smaller goes first, equal ones follow one
    /// another in any order.
    pub level: usize,
    /// A less urgent one of its instance with the same urgency that has begun is not interrupted.
    pub waits: bool,
    /// The number of its turn: of activations of all tasks with this number one ends before the next begins.
    pub turn: Option<usize>,
    /// The most processor time of an activation, with everything that the host does for it.
    pub execution: i128,
    /// The longest locked section, which is part of the execution.
    pub section: i128,
    /// The most time from the release to the thread's waking up, when nothing else runs: release jitter.
    pub wake: i128,
    /// The arrivals of the task.
    pub arrivals: Arrivals,
}

impl Task {
    /// Never starts while `other`, which is on the same core, is ready.
    pub fn goes_after(&self, other: &Task) -> bool {
        self.urgency < other.urgency || (self.shares_with(other) && self.level > other.level)
    }

    /// Whether both are of one instance and have the same urgency.
    pub fn shares_with(&self, other: &Task) -> bool {
        self.instance == other.instance && self.urgency == other.urgency
    }
}

/// The source of a task's activations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// The task is activated by its own pattern.
    Own(ArrivalPattern),
    /// At most one activation in each activation of these tasks, by index, at any time until it has responded.
    By(Vec<usize>),
}
