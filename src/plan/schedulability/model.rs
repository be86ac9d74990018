//! A clock in numbers, all times in one unit. See [`super::Ticks`] for how they come about.

use super::Pattern;

/// A task as the analysis sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its core.
    pub core: usize,
    /// Its instance, all of whose tasks have the same core.
    pub instance: usize,
    /// Larger goes first; equal ones follow one another in any order.
    pub urgency: u32,
    /// The most processor time of an activation, with everything that the host does for it.
    pub execution: i128,
    /// Of it the longest locked section.
    pub section: i128,
    /// The most time from the release to the thread's waking up, when nothing else runs: release jitter.
    pub wake: i128,
    /// When it is activated.
    pub arrivals: Arrivals,
}

/// Where activations come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// Of itself.
    Own(Pattern),
    /// At most once in each activation of these tasks, by index, at any time until it has responded.
    By(Vec<usize>),
}
