//! Wall-clock time.

use super::Instant;
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

    /// From seconds, rounded to the nearest nanosecond.
    pub fn from_seconds(seconds: f64) -> Nanos {
        Nanos((seconds * 1e9).round() as i64)
    }

    /// In seconds.
    pub fn seconds(self) -> f64 {
        // Divided: 1e-9 is no double, so 5.1 s times it would be 5.1000000000000005.
        self.0 as f64 / 1e9
    }
}

/// [`Instant::nanos`] of many instants, which mostly have the same denominator: a division less.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToNanos {
    resolution: u64,
    /// Nanoseconds of one part.
    part: u64,
}

impl ToNanos {
    /// To the nearest nanosecond of simulation time.
    #[inline]
    pub fn of(&mut self, time: &Instant) -> Nanos {
        const BILLION: u64 = 1_000_000_000;
        const SOON: u64 = 1 << 32;
        if time.resolution == self.resolution && (time.seconds as u64).wrapping_add(SOON) < 2 * SOON {
            return Nanos(time.seconds * BILLION as i64 + (time.counter * self.part) as i64);
        }
        self.of_any(time)
    }

    #[inline(never)]
    fn of_any(&mut self, time: &Instant) -> Nanos {
        const BILLION: u64 = 1_000_000_000;
        if time.resolution != self.resolution {
            if !BILLION.is_multiple_of(time.resolution) {
                return time.nanos();
            }
            *self = ToNanos { resolution: time.resolution, part: BILLION / time.resolution };
        }
        let whole = time.seconds.saturating_mul(BILLION as i64);
        Nanos(whole.saturating_add((time.counter * self.part) as i64))
    }
}
