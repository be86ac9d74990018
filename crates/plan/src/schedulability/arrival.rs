//! The number of activations within a span of time.
//!
//! A grid with interval T whose instants may each be late by up to J has at most ⌈(w + J) / T⌉ instants within any span of length
//! w (the span has its first instant, not its last): the worst is a late first one, followed by punctual ones. Stated for release
//! jitter by N. Audsley, A. Burns, M. Richardson, K. Tindell, A. Wellings, "Applying new scheduling theory to static priority
//! pre-emptive scheduling", Software Engineering Journal 8 (1993). The same holds for a clock that ticks at any times that are T
//! apart. J = (n - 1) · T is a burst of n at once.

/// Instants before any delay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrivalPattern {
    /// `interval` apart, each late by up to `jitter`.
    Grid {
        /// Above 0.
        interval: i128,
        /// The longest delay of an instant, from 0 on.
        jitter: i128,
    },
    /// Instants at these times, increasing, and never again. The run may begin at any of them.
    Times(Vec<i128>),
}

impl ArrivalPattern {
    /// The most instants within a span of this length, above 0.
    fn most(&self, span: i128) -> i128 {
        match self {
            ArrivalPattern::Grid { interval, jitter } => {
                let over = span + jitter + interval - 1;
                // Ordinary figures, and many times faster.
                match (u64::try_from(over), u64::try_from(*interval)) {
                    (Ok(over), Ok(interval)) => i128::from(over / interval),
                    _ => over / interval,
                }
            }
            ArrivalPattern::Times(times) => {
                let (mut first, mut most) = (0, 0);
                for (last, time) in times.iter().enumerate() {
                    while time - times[first] >= span {
                        first += 1;
                    }
                    most = most.max(last - first + 1);
                }
                most as i128
            }
        }
    }
}

/// A pattern that reaches a task with a further delay.
#[derive(Clone, Copy, Debug)]
pub struct DelayedPattern<'a> {
    /// The instants at its root.
    pub pattern: &'a ArrivalPattern,
    /// The longest delay between an instant and the activation of the task, from 0 on.
    pub jitter: i128,
}

impl DelayedPattern<'_> {
    /// The most activations within a span of this length, above 0.
    pub fn most(&self, span: i128) -> i128 {
        self.pattern.most(span + self.jitter)
    }
}

/// The most activations of several streams together within a span of this length, above 0.
pub(super) fn most(streams: &[DelayedPattern], span: i128) -> i128 {
    streams.iter().map(|stream| stream.most(span)).sum()
}

/// The shortest time from an activation to the `nth` from it on, which is 1 for itself; it is known to be below `limit`.
pub(super) fn distance(streams: &[DelayedPattern], nth: i128, limit: i128) -> i128 {
    // A span with both ends has as many as one that is a unit longer, without its last instant.
    let (mut low, mut high) = (0, limit);
    while low < high {
        let middle = low + (high - low) / 2;
        if most(streams, middle + 1) >= nth { high = middle } else { low = middle + 1 }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grid(interval: i128, jitter: i128) -> ArrivalPattern {
        ArrivalPattern::Grid { interval, jitter }
    }

    #[test]
    fn a_span_has_its_first_instant_and_not_its_last() {
        let pattern = grid(10, 0);
        assert_eq!([1, 10, 11, 20, 21].map(|span| pattern.most(span)), [1, 1, 2, 2, 3]);
        assert_eq!([1, 2, 11, 12].map(|span| grid(10, 9).most(span)), [1, 2, 2, 3]);
        assert_eq!(grid(10, 150).most(1), 16, "a burst of sixteen");
        let times = ArrivalPattern::Times(vec![0, 5, 6, 7, 20]);
        assert_eq!([1, 2, 3, 8, 9, 1000].map(|span| times.most(span)), [1, 2, 3, 4, 4, 5]);
        assert_eq!(ArrivalPattern::Times(Vec::new()).most(5), 0);
    }

    #[test]
    fn distances_are_those_of_the_densest_place() {
        let of = |pattern: &ArrivalPattern, jitter| {
            let streams = [DelayedPattern { pattern, jitter }];
            [1, 2, 3, 4].map(|nth| distance(&streams, nth, 1000))
        };
        assert_eq!(of(&grid(10, 0), 0), [0, 10, 20, 30]);
        assert_eq!(of(&grid(10, 5), 8), [0, 0, 7, 17]);
        assert_eq!(of(&ArrivalPattern::Times(vec![0, 5, 6, 7, 20]), 0), [0, 1, 2, 7]);
        let both =
            [DelayedPattern { pattern: &grid(10, 0), jitter: 0 }, DelayedPattern { pattern: &grid(15, 0), jitter: 0 }];
        assert_eq!([1, 2, 3, 4, 5].map(|nth| distance(&both, nth, 1000)), [0, 0, 10, 15, 20]);
    }

    proptest! {
        /// A random sequence that fits a pattern never has more instants in a span than the pattern's bound.
        #[test]
        fn no_drawn_sequence_has_more(
            interval in 1i128..30, jitter in 0i128..100, extra in 0i128..50,
            delays in proptest::collection::vec(0.0f64..=1.0, 1..40), span in 1i128..200,
        ) {
            let late = |share: &f64| (share * (jitter + extra) as f64) as i128;
            let mut times: Vec<i128> =
                delays.iter().enumerate().map(|(k, share)| k as i128 * interval + late(share)).collect();
            times.sort_unstable();
            let pattern = grid(interval, jitter);
            let stream = DelayedPattern { pattern: &pattern, jitter: extra };
            let seen = ArrivalPattern::Times(times).most(span);
            prop_assert!(seen <= stream.most(span));
        }
    }
}
