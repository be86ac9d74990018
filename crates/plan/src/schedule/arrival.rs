//! The arrival time of a datagram, on the clock of the activations.
//!
//! The kernel stamps datagrams by `CLOCK_REALTIME`, which can be set at any time; activations live by `CLOCK_MONOTONIC`. The
//! offset between the two is measured anew each time it is used, and the result is believed only as far as it is possible: a
//! datagram cannot have come after it was read, nor before its socket was last seen empty.

use vecud_base::time::Nanos;

/// The offset of `CLOCK_REALTIME` against `CLOCK_MONOTONIC`, from one look at both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockOffset {
    offset: i64,
    /// Between the looks at the monotonic clock; half of it is the error at most.
    bracket: i64,
}

impl ClockOffset {
    /// The offset by one look at the real-time clock between two looks at the monotonic one, ns.
    pub fn between(before: Nanos, realtime: Nanos, after: Nanos) -> ClockOffset {
        let bracket = after.0.saturating_sub(before.0);
        ClockOffset { offset: realtime.0.saturating_sub(before.0.saturating_add(bracket / 2)), bracket }
    }

    /// The measurement with the smallest error. `None`: there are none.
    pub fn best(measurements: impl IntoIterator<Item = ClockOffset>) -> Option<ClockOffset> {
        measurements.into_iter().min_by_key(|offset| offset.bracket)
    }

    /// The largest error of the offset, ns.
    pub fn error(self) -> Nanos {
        Nanos(self.bracket / 2 + 1)
    }

    /// The arrival (`CLOCK_MONOTONIC`) of the datagram with this kernel stamp, after `empty` and not after `now`. A stamp outside
    /// of these bounds by no more than the error of this measurement is moved to the nearer bound; any other one is older than a
    /// step of the clock and worthless: then, as without a stamp, the arrival is `now`.
    pub fn arrival(self, stamp: Option<Nanos>, empty: Nanos, now: Nanos) -> Nanos {
        let Some(stamp) = stamp else { return now };
        let arrival = stamp.0.saturating_sub(self.offset);
        let early = empty.0.saturating_sub(arrival);
        if early > self.error().0 { now } else { Nanos(arrival.max(empty.0).min(now.0)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Realtime is ahead by this much.
    const AHEAD: i64 = 1_700_000_000_000_000_000;

    fn offset(error: i64) -> ClockOffset {
        ClockOffset::between(Nanos(1000), Nanos(1000 + AHEAD + error), Nanos(1000 + 2 * error))
    }

    #[test]
    fn a_stamp_is_moved_by_the_offset() {
        let arrival = offset(20).arrival(Some(Nanos(AHEAD + 5_000)), Nanos(4_000), Nanos(9_000));
        assert_eq!(arrival, Nanos(5_000));
        assert_eq!(
            offset(20).arrival(None, Nanos(4_000), Nanos(9_000)),
            Nanos(9_000),
            "no stamp: the moment it was read"
        );
    }

    #[test]
    fn small_errors_are_clamped_and_steps_of_the_clock_are_not_believed() {
        let arrival = |stamp: i64| offset(20).arrival(Some(Nanos(AHEAD + stamp)), Nanos(4_000), Nanos(9_000)).0;
        assert_eq!((arrival(3_985), arrival(9_010)), (4_000, 9_000));
        const HOUR: i64 = 3_600_000_000_000;
        assert_eq!((arrival(5_000 - HOUR), arrival(5_000 + HOUR)), (9_000, 9_000));
    }

    #[test]
    fn the_tightest_measurement_is_used() {
        let best = ClockOffset::best([offset(500), offset(3), offset(90)]).unwrap();
        assert_eq!((best, best.error()), (offset(3), Nanos(4)));
        assert_eq!(ClockOffset::best([]), None);
    }

    proptest! {
        /// Wherever within its bracket the real-time clock was read, the result is off by no more than the error.
        #[test]
        fn the_error_is_within_what_is_promised(
            ahead in -2_000_000_000_000_000_000i64..2_000_000_000_000_000_000,
            before in 0i64..1_000_000_000_000,
            bracket in 0i64..100_000,
            share in 0f64..=1.0,
            waited in 0i64..50_000_000,
            read in 0i64..50_000_000,
        ) {
            let looked = before + (bracket as f64 * share) as i64;
            let offset = ClockOffset::between(Nanos(before), Nanos(looked + ahead), Nanos(before + bracket));
            let arrived = before + 100_000 + waited;
            let (empty, now) = (Nanos(before + 100_000), Nanos(arrived + read));
            let result = offset.arrival(Some(Nanos(arrived + ahead)), empty, now);
            prop_assert!(result >= empty && result <= now);
            prop_assert!((result.0 - arrived).abs() <= offset.error().0, "{} ns off", result.0 - arrived);
        }

        #[test]
        fn no_stamp_leads_out_of_what_is_possible(
            ahead in any::<i64>(), stamp in any::<i64>(), empty in 0i64..1_000_000, wait in 0i64..1_000_000,
        ) {
            let offset = ClockOffset::between(Nanos(0), Nanos(ahead), Nanos(10));
            let arrival = offset.arrival(Some(Nanos(stamp)), Nanos(empty), Nanos(empty + wait));
            prop_assert!((empty..=empty + wait).contains(&arrival.0));
        }
    }
}
