//! Two priorities that must never be mixed up.
//!
//! FMI counts down (the smaller value is the more urgent one), Linux counts up. Both are plain integers in their
//! documents, so each gets its own type here and there is no ordering between the two.

#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// The `priority` attribute of an input clock: **smaller is more urgent**, equal means "must not preempt each other"
/// (FMI 3.0, 2.2.8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FmiPriority(pub u32);

impl FmiPriority {
    /// A sort key that puts the most urgent clock first.
    pub fn most_urgent_first(self) -> u32 {
        self.0
    }
}

/// A `SCHED_FIFO` priority, 1 to 99: **larger is more urgent**.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FifoPriority(u8);

impl FifoPriority {
    /// The range that Linux offers.
    pub const RANGE: std::ops::RangeInclusive<u8> = 1..=99;

    /// A priority, if Linux has it.
    pub fn new(value: u8) -> Option<Self> {
        Self::RANGE.contains(&value).then_some(Self(value))
    }

    /// The number that the kernel wants.
    pub fn get(self) -> u8 {
        self.0
    }

    /// A sort key that puts the most urgent thread first.
    pub fn most_urgent_first(self) -> Reverse<u8> {
        Reverse(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_scales_sort_the_most_urgent_first() {
        let mut fmi = [FmiPriority(7), FmiPriority(0), FmiPriority(3)];
        fmi.sort_by_key(|p| p.most_urgent_first());
        assert_eq!(fmi.map(|p| p.0), [0, 3, 7]);
        let mut fifo = [50, 89, 51].map(|p| FifoPriority::new(p).unwrap());
        fifo.sort_by_key(|p| p.most_urgent_first());
        assert_eq!(fifo.map(FifoPriority::get), [89, 51, 50]);
    }

    #[test]
    fn linux_has_no_fifo_priority_outside_1_to_99() {
        assert_eq!(FifoPriority::new(0), None);
        assert_eq!(FifoPriority::new(100), None);
    }
}
