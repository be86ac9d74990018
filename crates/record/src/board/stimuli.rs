//! Where the rows of stimuli lie in the shared memory.

use super::Board;
use crate::stimulus::{Feed, Shape};
use vecud_plan::Plan;

/// The first word of each stimulus, from `next` on, and its shape.
pub(super) fn places(plan: &Plan, next: &mut usize) -> Vec<(usize, Shape)> {
    let place = |shape: Shape| {
        let start = *next;
        *next += shape.words();
        (start, shape)
    };
    plan.stimuli.iter().map(Shape::of).map(place).collect()
}

impl<'a> Board<'a> {
    /// The rows of a stimulus, by its place in [`Plan::stimuli`].
    pub fn stimulus(&self, stimulus: usize) -> Feed<'a> {
        let (start, shape) = self.layout.stimuli[stimulus];
        Feed::new(&self.words[start..start + shape.words()], shape)
    }
}
