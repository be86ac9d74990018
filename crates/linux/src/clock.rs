//! The clock that a run keeps time by: `CLOCK_MONOTONIC`, or `CLOCK_TAI` on machines whose clocks a grandmaster keeps
//! together (PTP), where the same instant of several machines has the same reading.
//!
//! Deadlines of the run, and stamps that are compared with them, are of this clock. Everything else (timeouts, the lengths
//! of waits) is of [`monotonic_now`], which nobody can set.

use rustix::time::{ClockId, DynamicClockId, Timespec, clock_gettime, clock_gettime_dynamic};

/// Which clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SystemClock {
    /// `CLOCK_MONOTONIC`: starts with the machine, never jumps.
    #[default]
    Monotonic,
    /// `CLOCK_TAI`: seconds since 1970 without leap seconds; the program that disciplines the system's clock keeps it.
    Tai,
}

impl SystemClock {
    /// `CLOCK_TAI` or the ordinary one.
    pub fn tai_if(tai: bool) -> SystemClock {
        if tai { SystemClock::Tai } else { SystemClock::Monotonic }
    }

    /// Now, ns.
    #[inline]
    pub fn now(self) -> i64 {
        match self {
            SystemClock::Monotonic => monotonic_now(),
            SystemClock::Tai => tai_now(),
        }
    }

    /// Offset of the clock against `CLOCK_MONOTONIC`, ns: the most precise of several readings.
    pub fn ahead(self) -> i64 {
        if self == SystemClock::Monotonic {
            return 0;
        }
        let looks = (0..16).map(|_| {
            let (before, own, after) = (monotonic_now(), self.now(), monotonic_now());
            (after - before, own - before - (after - before) / 2)
        });
        looks.min().expect("sixteen looks").1
    }
}

/// Now, in nanoseconds of `CLOCK_MONOTONIC`.
#[inline]
pub fn monotonic_now() -> i64 {
    nanos(clock_gettime(ClockId::Monotonic))
}

#[inline(never)] // few runs keep it
fn tai_now() -> i64 {
    // Every kernel of the last decade has it.
    clock_gettime_dynamic(DynamicClockId::Tai).map_or(0, nanos)
}

/// Now, in nanoseconds of `CLOCK_REALTIME`: the clock of the kernel's receive times.
#[inline]
pub fn real_time_now() -> i64 {
    nanos(clock_gettime(ClockId::Realtime))
}

/// The seconds by which `CLOCK_TAI` is ahead of UTC. 0: nobody has told the kernel (37 since 2017).
pub fn tai_offset() -> i64 {
    // The two looks are apart by less than half a second.
    (tai_now() - real_time_now() + 500_000_000).div_euclid(1_000_000_000)
}

#[inline]
fn nanos(now: Timespec) -> i64 {
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_of_two_clocks_stays() {
        assert_eq!(SystemClock::Monotonic.ahead(), 0);
        let distance = |_| SystemClock::Tai.ahead();
        let (first, last) = (distance(()), distance(()));
        assert!((first - last).abs() < 1_000_000, "{first} and {last}");
        assert!((SystemClock::Tai.now() - monotonic_now() - first).abs() < 1_000_000_000);
    }

    #[test]
    fn tai_is_whole_seconds_ahead_of_utc() {
        assert!((0..100).contains(&tai_offset()), "{}", tai_offset());
    }
}
