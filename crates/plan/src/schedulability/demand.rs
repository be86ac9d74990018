//! The demand of tasks on a core.

use super::DelayedPattern;
use super::arrival::most;

/// The demand of a task on its core.
#[derive(Clone, Debug)]
pub struct Demand<'a> {
    /// The processor time of each activation.
    pub execution: i128,
    /// The longest wake-up of the thread.
    pub wake: i128,
    /// The arrivals of the task's activations.
    pub streams: Vec<DelayedPattern<'a>>,
}

impl Demand<'_> {
    /// The most activations that can be ready within a span of this length, above 0.
    pub fn most(&self, span: i128) -> i128 {
        most(&self.streams, span + self.wake)
    }
}
