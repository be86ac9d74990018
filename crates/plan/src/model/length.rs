//! Lengths of array dimensions, and the parameters that change them while a rig runs.

use serde::{Deserialize, Serialize};
use vecud_description::ValueReference;

/// The length of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Length {
    /// Always this.
    Fixed(usize),
    /// The value of this entry of [`FmuPlan::sizes`](super::FmuPlan::sizes).
    By(usize),
}

/// A parameter that determines lengths of array dimensions, and that may change at run time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizePlan {
    /// The value reference of the parameter.
    pub reference: ValueReference,
    /// The value of the parameter at the start, which is also the largest that it may get: buffers are made for it.
    pub start: u64,
}

/// A number of elements, with these values of [`FmuPlan::sizes`](super::FmuPlan::sizes).
pub fn elements(lengths: &[Length], size: impl Fn(usize) -> u64) -> usize {
    lengths.iter().fold(1, |product: usize, length| {
        product.saturating_mul(match length {
            Length::Fixed(length) => *length,
            Length::By(parameter) => usize::try_from(size(*parameter)).unwrap_or(usize::MAX),
        })
    })
}

/// The index that an element of an array of the planned size has in the array of the present size, both in row-major order;
/// `None`: the present array has no such element.
pub fn element_place(
    lengths: &[Length],
    element: usize,
    planned: impl Fn(usize) -> u64,
    now: impl Fn(usize) -> u64,
) -> Option<usize> {
    let (mut rest, mut place, mut factor) = (element, 0, 1);
    // The last index runs fastest.
    for length in lengths.iter().rev() {
        let (planned, now) = match length {
            Length::Fixed(length) => (*length, *length),
            Length::By(size) => (planned(*size) as usize, now(*size) as usize),
        };
        let index = rest % planned;
        if index >= now {
            return None;
        }
        rest /= planned;
        place += index * factor;
        factor *= now;
    }
    Some(place)
}
