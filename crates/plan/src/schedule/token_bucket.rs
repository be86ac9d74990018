//! The number of external events that a clock accepts: `rate` per second, and a short burst at once.
//!
//! Guarantee: of the events within any span of time `w`, at most `burst + w · rate` are accepted, whatever the others do; and
//! events that come no faster than the rate are all accepted. Decided by the events' own times, so that a receiver that comes
//! late to them decides the same.

use vecud_base::time::Nanos;

/// A bucket that fills with one token per interval and holds a burst of them. (Kept as the time at which it would be
/// full: the "theoretical arrival time" of the generic cell rate algorithm, which needs neither fractions nor a timer.)
#[derive(Clone, Debug)]
pub struct TokenBucket {
    interval: i64,
    /// The time that a full bucket is worth, less one token.
    tolerance: i64,
    /// The instant from which on the bucket is full.
    full: i64,
    last: i64,
}

impl TokenBucket {
    /// A full bucket: `rate` events per second, `burst` of them at once.
    ///
    /// # Panics
    /// If the rate is not above 0, or the burst is 0.
    pub fn new(rate: f64, burst: u32) -> TokenBucket {
        assert!(rate > 0.0 && burst > 0, "a bucket of {burst} for {rate} events per second accepts nothing");
        // Rounded up, so that the rate is never exceeded.
        let interval = (1e9 / rate).ceil().min(1e18) as i64;
        let tolerance = interval.saturating_mul(i64::from(burst) - 1);
        TokenBucket { interval, tolerance, full: i64::MIN, last: i64::MIN }
    }

    /// Whether the event at `now` is accepted. One earlier than the last counts as at its time.
    pub fn accept(&mut self, now: Nanos) -> bool {
        self.last = self.last.max(now.0);
        let accepted = self.full.saturating_sub(self.tolerance) <= self.last;
        if accepted {
            self.full = self.full.max(self.last).saturating_add(self.interval);
        }
        accepted
    }

    /// The earliest time at which an event would be accepted.
    pub fn next(&self) -> Nanos {
        Nanos(self.full.saturating_sub(self.tolerance).max(self.last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let mut bucket = TokenBucket::new(1000.0, 16);
        let mut at = |now: i64, events: usize| (0..events).filter(|_| bucket.accept(Nanos(now))).count();
        assert_eq!(at(0, 100), 16);
        assert_eq!((at(MS - 1, 100), at(MS, 100), at(MS, 100)), (0, 1, 0));
        assert_eq!(at(4 * MS, 100), 3);
        assert_eq!(at(1000 * MS, 100), 16, "no more than the burst is ever saved up");
    }

    #[test]
    fn the_next_token_is_announced() {
        let mut bucket = TokenBucket::new(0.5, 2);
        assert_eq!(bucket.next(), Nanos(i64::MIN));
        assert!(bucket.accept(Nanos(7)) && bucket.accept(Nanos(7)) && !bucket.accept(Nanos(8)));
        assert_eq!(bucket.next(), Nanos(2_000_000_007));
        assert!(!bucket.accept(Nanos(2_000_000_006)) && bucket.accept(Nanos(2_000_000_007)));
    }

    proptest! {
        #[test]
        fn no_span_of_time_has_more_than_burst_and_rate(
            rate in 0.001f64..1e6,
            burst in 1u32..40,
            steps in proptest::collection::vec(0u32..1000, 1..300),
            scale in 1i64..10_000_000,
        ) {
            let mut bucket = TokenBucket::new(rate, burst);
            let mut now = 0i64;
            let mut accepted = Vec::new();
            for step in steps {
                now += i64::from(step / 10) * scale;
                let due = bucket.next().0 <= now;
                let yes = bucket.accept(Nanos(now));
                prop_assert_eq!(yes, due, "what was announced is what happens");
                if yes {
                    accepted.push(now);
                }
            }
            for (i, first) in accepted.iter().enumerate() {
                for (j, last) in accepted.iter().enumerate().skip(i) {
                    let span = (last - first) as f64 / 1e9;
                    prop_assert!((j - i + 1) as f64 <= f64::from(burst) + span * rate + 1e-6);
                }
            }
        }

        #[test]
        fn events_that_keep_to_the_rate_are_all_accepted(
            rate in 0.001f64..1e6,
            burst in 1u32..40,
            extra in proptest::collection::vec(0i64..1_000_000, 1..200),
        ) {
            let mut bucket = TokenBucket::new(rate, burst);
            let interval = (1e9 / rate).ceil() as i64;
            let mut now = 0;
            for extra in extra {
                prop_assert!(bucket.accept(Nanos(now)));
                now += interval + extra;
            }
        }

        #[test]
        fn times_that_go_back_gain_nothing(back in proptest::collection::vec(0i64..1_000_000_000, 1..100)) {
            let mut bucket = TokenBucket::new(10.0, 3);
            let now = 1_000_000_000;
            let accepted = (0..3).filter(|_| bucket.accept(Nanos(now))).count();
            prop_assert_eq!(accepted, 3);
            prop_assert!(back.into_iter().all(|back| !bucket.accept(Nanos(now - back))));
        }
    }
}
