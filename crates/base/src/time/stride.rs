//! Steps of one length: [`Instant::after`] without a search for the common denominator, which is mostly the same one.

use super::{Fraction, Instant};

/// A duration, and how it is told in the parts of a second that the last instant was counted in.
#[derive(Clone, Copy, Debug)]
pub struct Stride {
    length: Fraction,
    seconds: i64,
    counter: u64,
    resolution: u64,
}

impl Stride {
    /// Strides of this length.
    pub fn new(length: Fraction) -> Stride {
        // No instant has the resolution 0, so that the first one is looked at.
        Stride { length, seconds: 0, counter: 0, resolution: 0 }
    }

    /// Length of a stride.
    pub fn length(&self) -> Fraction {
        self.length
    }

    /// The instant one stride after another one.
    #[inline(always)] // as `Subdivision::after`, for instants that were written in parts a moment ago
    pub fn after(&mut self, time: &Instant) -> Instant {
        if time.resolution != self.resolution {
            return self.after_any(*time);
        }
        // Both are below 2^63.
        let (seconds, counter) = (time.seconds.saturating_add(self.seconds), time.counter + self.counter);
        match counter.checked_sub(self.resolution) {
            None => Instant { seconds, counter, resolution: self.resolution },
            Some(counter) => Instant { seconds: seconds.saturating_add(1), counter, resolution: self.resolution },
        }
    }

    #[inline(never)]
    fn after_any(&mut self, time: Instant) -> Instant {
        let resolution = time.resolution;
        if resolution.is_multiple_of(self.length.resolution)
            && let Ok(seconds) = i64::try_from(self.length.counter / self.length.resolution)
        {
            // Less than the resolution of the instant.
            let counter = self.length.counter % self.length.resolution * (resolution / self.length.resolution);
            *self = Stride { seconds, counter, resolution, ..*self };
        }
        time.after(self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn strides_come_to_the_same_instants(
            length in (0u64..5000, 1u64..2000),
            times in proptest::collection::vec((-3i64..1000, 0u64..2000, 1u64..2000), 1..8),
        ) {
            let mut stride = Stride::new(Fraction::new(length.0, length.1).unwrap());
            for (seconds, counter, resolution) in times {
                let mut time = Instant { seconds, counter: counter % resolution, resolution };
                for _ in 0..5 {
                    let next = stride.after(&time);
                    prop_assert_eq!(next, time.after(stride.length()));
                    prop_assert_eq!(next.to_words(), time.after(stride.length()).to_words());
                    time = next;
                }
            }
        }
    }
}
