//! Time stamps for measuring: a cycle counter where it is trustworthy, else `CLOCK_MONOTONIC`.
//!
//! [`ticks`] is monotone on one core and costs a few nanoseconds; what a tick is, [`TickScale`] says, which is calibrated
//! once against `CLOCK_MONOTONIC`. Differences are exact to the calibration's error (some parts per million): right for
//! durations up to seconds. Instants come from [`monotonic_now`], as sleeps need them, or of stamps from a [`Ruler`].
//!
//! - x86-64: the TSC, when CPUID calls it invariant and the kernel itself keeps time by it (directly or as kvm-clock).
//! - aarch64: the virtual counter, which is constant by architecture.
//! - elsewhere, or when in doubt: `clock_gettime`.

use super::clock::{SystemClock, monotonic_now};
use std::sync::atomic::{AtomicU8, Ordering};

/// The source of [`ticks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CycleSource {
    /// The processor's own counter.
    Counter = 1,
    /// `clock_gettime(CLOCK_MONOTONIC)`: a tick is a nanosecond.
    Monotonic = 2,
}

/// 0: not yet looked. Detection always finds the same, so racing threads agree; relaxed is enough for a lone byte.
static SOURCE: AtomicU8 = AtomicU8::new(0);

/// A time stamp. Only differences have a meaning; [`TickScale`] turns them into nanoseconds.
#[inline]
pub fn ticks() -> u64 {
    if SOURCE.load(Ordering::Relaxed) == CycleSource::Counter as u8 {
        return counter();
    }
    slow_ticks()
}

#[cold]
fn slow_ticks() -> u64 {
    match source() {
        CycleSource::Counter => counter(),
        CycleSource::Monotonic => monotonic_now() as u64,
    }
}

/// The source of ticks on this machine; looks once.
pub fn source() -> CycleSource {
    match SOURCE.load(Ordering::Relaxed) {
        1 => CycleSource::Counter,
        2 => CycleSource::Monotonic,
        _ => {
            let found = if counter_is_trustworthy() { CycleSource::Counter } else { CycleSource::Monotonic };
            SOURCE.store(found as u8, Ordering::Relaxed);
            found
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn counter() -> u64 {
    // SAFETY: RDTSC exists on every x86-64 processor and touches no memory; Linux lets user code execute it unless a
    // process asked otherwise (PR_SET_TSC), in which case `counter_is_trustworthy` is not reached with a TSC clock.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(target_arch = "aarch64")]
#[inline]
fn counter() -> u64 {
    let value: u64;
    // SAFETY: reads a counter register that Linux enables for user code; no memory, no flags.
    unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) value, options(nomem, nostack, preserves_flags)) };
    value
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline]
fn counter() -> u64 {
    monotonic_now() as u64
}

#[cfg(target_arch = "x86_64")]
fn counter_is_trustworthy() -> bool {
    use std::arch::x86_64::__cpuid;
    const ADVANCED_POWER: u32 = 0x8000_0007;
    const INVARIANT_TSC: u32 = 1 << 8;
    let has_leaf = __cpuid(0x8000_0000).eax >= ADVANCED_POWER;
    let invariant = has_leaf && __cpuid(ADVANCED_POWER).edx & INVARIANT_TSC != 0;
    invariant && kernel_keeps_time_by_tsc()
}

#[cfg(target_arch = "x86_64")]
fn kernel_keeps_time_by_tsc() -> bool {
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    // Each of these is computed from the TSC; `hpet` or `acpi_pm` mean that the kernel has given up on it.
    std::fs::read_to_string(path)
        .is_ok_and(|name| matches!(name.trim(), "tsc" | "tsc-early" | "kvm-clock" | "hyperv_clocksource_tsc_page"))
}

#[cfg(target_arch = "aarch64")]
fn counter_is_trustworthy() -> bool {
    true
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn counter_is_trustworthy() -> bool {
    false
}

/// The nanoseconds of a tick: `ticks × multiplier ÷ 2³²`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TickScale {
    multiplier: u64,
}

const SHIFT: u32 = 32;

impl TickScale {
    /// Measures for `nanos` of wall-clock time, sleeping; 20 ms give about 5 parts per million. Returns at once where
    /// ticks are nanoseconds.
    pub fn calibrate(nanos: i64) -> Self {
        if source() == CycleSource::Monotonic {
            return TickScale { multiplier: 1 << SHIFT };
        }
        let first = pair(SystemClock::Monotonic);
        std::thread::sleep(std::time::Duration::from_nanos(nanos.max(1_000_000) as u64));
        let last = pair(SystemClock::Monotonic);
        let elapsed = (last.1 - first.1) as u128;
        let ticks = u128::from(last.0.wrapping_sub(first.0)).max(1);
        TickScale { multiplier: ((elapsed << SHIFT) / ticks) as u64 }
    }

    /// A difference of ticks in nanoseconds.
    #[inline]
    pub fn nanos(&self, ticks: u64) -> u64 {
        ((u128::from(ticks) * u128::from(self.multiplier)) >> SHIFT) as u64
    }
}

/// A time stamp and the instant it was taken at: the tightest of some tries, so that a preemption in the middle of one
/// does not spoil the pair.
fn pair(clock: SystemClock) -> (u64, i64) {
    (0..16)
        .map(|_| {
            let before = ticks();
            let nanos = clock.now();
            let after = ticks();
            let width = after.wrapping_sub(before);
            (width, before.wrapping_add(width / 2), nanos)
        })
        .min_by_key(|(width, _, _)| *width)
        .map(|(_, stamp, nanos)| (stamp, nanos))
        .expect("sixteen tries")
}

/// Turns time stamps of the last seconds into instants of a clock, in a run of any length: along the line through pairs that it takes again and again. Stamps of other threads, and of other processes, are as good as its own.
#[derive(Clone, Copy, Debug)]
pub struct Ruler {
    clock: SystemClock,
    /// A pair that is one to two seconds old, after that time of use.
    older: (u64, i64),
    middle: (u64, i64),
    newer: (u64, i64),
}

impl Ruler {
    /// A ruler that is good once it was [advanced](Ruler::advance) some milliseconds later.
    pub fn new(clock: SystemClock) -> Ruler {
        let now = pair(clock);
        Ruler { clock, older: now, middle: now, newer: now }
    }

    /// Now, ns of the clock.
    pub fn now(&self) -> i64 {
        self.clock.now()
    }

    /// Takes a pair.
    pub fn advance(&mut self) {
        const APART: i64 = 1_000_000_000;
        self.newer = pair(self.clock);
        if self.newer.1 - self.middle.1 > APART {
            (self.older, self.middle) = (self.middle, self.newer);
        }
    }

    /// The instant of a stamp, ns of the clock.
    pub fn instant(&self, stamp: u64) -> i64 {
        let nanos = i128::from(self.newer.1 - self.older.1);
        let ticks = i128::from(self.newer.0.wrapping_sub(self.older.0) as i64);
        let since = i128::from(stamp.wrapping_sub(self.newer.0) as i64);
        let since = if ticks > 0 { since * nanos / ticks } else { since };
        self.newer.1.saturating_add(since as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_agree_with_the_clock() {
        let scale = TickScale::calibrate(20_000_000);
        let (ticks_before, before) = pair(SystemClock::Monotonic);
        std::thread::sleep(std::time::Duration::from_millis(30));
        let (ticks_after, after) = pair(SystemClock::Monotonic);
        let measured = scale.nanos(ticks_after - ticks_before) as i64;
        let error = (measured - (after - before)).abs();
        assert!(error < 30_000, "{error} ns off in 30 ms");
    }

    #[test]
    fn a_ruler_tells_when_a_stamp_was_taken() {
        let mut ruler = Ruler::new(SystemClock::Monotonic);
        std::thread::sleep(std::time::Duration::from_millis(20));
        let (stamp, instant) = pair(SystemClock::Monotonic);
        std::thread::sleep(std::time::Duration::from_millis(20));
        ruler.advance();
        let error = (ruler.instant(stamp) - instant).abs();
        assert!(error < 20_000, "{error} ns off");
    }

    #[test]
    fn differences_of_any_length_are_converted() {
        let scale = TickScale { multiplier: (1 << SHIFT) / 2 };
        assert_eq!(scale.nanos(10), 5);
        assert_eq!(scale.nanos(u64::MAX), u64::MAX / 2);
    }
}
