//! Quiet points: times between releases at which housekeeping threads look around, with the least harm.
//!
//! A timer that expires on a core some microseconds before a release, or a switch to a thread, delays the interrupt of that
//! release, however urgent its thread is. A thread that looks periodically, at no exact time, does so in the midst between two
//! releases.

use super::first_after;
use crate::{Plan, Release};
use vecud_base::time::{Fraction, Instant, Nanos};

/// The releases of the most frequent periodic clock of a run.
#[derive(Clone, Copy, Debug)]
pub struct QuietPoint {
    /// An instant of the grid.
    origin: Instant,
    interval: Fraction,
}

impl QuietPoint {
    /// The quiet points of a run; `None`: it has no clock whose period is known before.
    pub fn of(plan: &Plan) -> Option<QuietPoint> {
        QuietPoint::between(plan.units.iter().filter_map(|unit| match unit.release {
            Release::Periodic { shift, interval } => Some((plan.start.after(shift), interval)),
            _ => None,
        }))
    }

    /// The quiet points between releases of clocks with these origins and intervals; `None`: there are no clocks.
    fn between(clocks: impl Iterator<Item = (Instant, Fraction)>) -> Option<QuietPoint> {
        let most_frequent = clocks.filter(|clock| clock.1.nanos().0 > 0).min_by_key(|clock| clock.1.nanos())?;
        Some(QuietPoint { origin: most_frequent.0, interval: most_frequent.1 })
    }

    /// The pause from `now` on: `least`, and then up to an instant that is half of `least` away from the releases before and after
    /// it, or half an interval where that is less. Less than one and a half of the longer of both.
    pub fn pause(&self, now: Instant, least: Nanos) -> Nanos {
        let interval = self.interval.nanos().0;
        // The interval in parts, each at least as long as `least`, if it is not longer itself.
        let part = interval / (interval / least.0.max(1)).max(1);
        let earliest = now.nanos().plus(least);
        let release = first_after(self.origin, self.interval, Instant::from_nanos(earliest));
        let into = interval - release.nanos().minus(earliest).0;
        if into < 0 {
            // Before the first release.
            return least;
        }
        let midst = (into - part / 2 + part - 1).div_euclid(part) * part + part / 2;
        let midst = if midst < interval { midst } else { interval + part / 2 };
        least.plus(Nanos(midst - into))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn milliseconds(numerator: u64, denominator: u64) -> Fraction {
        Fraction::new(numerator, 1_000 * denominator).unwrap()
    }

    #[test]
    fn a_look_comes_in_the_midst_between_two_releases() {
        let every = |interval| QuietPoint::between([(Instant::ZERO, interval)].into_iter()).unwrap();
        let at = |quiet: QuietPoint, now, least| now + quiet.pause(Instant::from_nanos(Nanos(now)), Nanos(least)).0;
        assert_eq!(at(every(milliseconds(1, 1)), 5_400_000, 2_000_000), 7_500_000);
        assert_eq!(at(every(milliseconds(1, 1)), 5_500_000, 2_000_000), 7_500_000);
        assert_eq!(at(every(milliseconds(1, 1)), 5_600_000, 2_000_000), 8_500_000);
        // Of a slow clock: in the midst of each of its fifths.
        assert_eq!(at(every(milliseconds(10, 1)), 5_000_000, 2_000_000), 7_000_000);
        assert_eq!(at(every(milliseconds(10, 1)), 7_300_000, 2_000_000), 11_000_000);
    }

    #[test]
    fn the_most_frequent_clock_counts() {
        let clocks = [(Instant::ZERO, milliseconds(10, 1)), (Instant::ZERO, milliseconds(1, 1))];
        let quiet = QuietPoint::between(clocks.into_iter()).unwrap();
        assert_eq!(quiet.pause(Instant::ZERO, Nanos(2_000_000)), Nanos(2_500_000));
        assert!(QuietPoint::between(std::iter::empty()).is_none());
    }

    proptest! {
        /// Never sooner than asked for, not much later, and as far from releases as there is room.
        #[test]
        fn pauses_are_long_enough_and_end_far_from_releases(
            (numerator, denominator) in (1_u64..5_000, 1_u64..50),
            shift in 0_i64..3_000_000,
            now in 0_i64..1_000_000_000_000,
            least in 100_000_i64..30_000_000,
        ) {
            let (interval, origin) = (milliseconds(numerator, denominator), Instant::from_nanos(Nanos(shift)));
            let period = interval.nanos().0;
            let quiet = QuietPoint::between([(origin, interval)].into_iter()).unwrap();
            let pause = quiet.pause(Instant::from_nanos(Nanos(now)), Nanos(least)).0;
            prop_assert!(pause >= least && pause <= least + least.max(period) + least.min(period) / 2 + 1);
            let end = Instant::from_nanos(Nanos(now + pause));
            if end >= origin && now + least >= shift {
                let release = first_after(origin, interval, end);
                let before = release.nanos().minus(end.nanos()).0;
                let room = least.min(period) / 2 - 2;
                prop_assert!(before >= room && period - before >= room, "{before} of {period}, {room} wanted");
            }
        }
    }
}
