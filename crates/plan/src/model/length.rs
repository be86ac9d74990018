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
