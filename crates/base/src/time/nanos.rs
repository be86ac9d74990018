//! Wall-clock time.

use serde::{Deserialize, Serialize};

/// Nanoseconds of wall-clock time: a point of `CLOCK_MONOTONIC` or a difference of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Nanos(pub i64);

impl Nanos {
    /// Later than everything.
    pub const MAX: Nanos = Nanos(i64::MAX);

    /// `self + other`, saturating.
    pub fn plus(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }

    /// `self - other`, saturating.
    pub fn minus(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }

    /// The nearest nanosecond to a number of seconds.
    pub fn from_seconds(seconds: f64) -> Nanos {
        Nanos((seconds * 1e9).round() as i64)
    }

    /// The value in seconds.
    pub fn seconds(self) -> f64 {
        // Divided: 1e-9 is no double, so 5.1 s times it would be 5.1000000000000005.
        self.0 as f64 / 1e9
    }
}
