//! The place of the rows of stimuli in the shared memory.

use crate::stimulus::Shape;
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
