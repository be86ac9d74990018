//! Exact seconds, `seconds + counter/resolution` with a counter below the resolution, rounded once.

use super::Nanos;

/// Whole numbers up to this one are exact as `f64`.
const EXACT: u64 = 1 << 53;

/// The nearest `f64`.
#[inline]
pub(super) fn nearest_double(seconds: i64, counter: u64, resolution: u64) -> f64 {
    const SECONDS: u64 = 1 << 21;
    if (seconds as u64).wrapping_add(SECONDS) < 2 * SECONDS && resolution <= EXACT / SECONDS {
        // Both are exact, so this is rounded once.
        return (seconds * resolution as i64 + counter as i64) as f64 / resolution as f64;
    }
    nearest_double_of_any(seconds, counter, resolution)
}

#[cold]
fn nearest_double_of_any(seconds: i64, counter: u64, resolution: u64) -> f64 {
    let small = i64::try_from(resolution).ok().and_then(|resolution| seconds.checked_mul(resolution));
    let small = small.and_then(|whole| whole.checked_add_unsigned(counter));
    if let Some(numerator) = small.filter(|n| n.unsigned_abs() <= EXACT && resolution <= EXACT) {
        return numerator as f64 / resolution as f64;
    }
    let numerator = i128::from(seconds) * i128::from(resolution) + i128::from(counter);
    // Beyond 53 bits the division itself would round operands first: keep 64 quotient bits and a sticky one.
    let magnitude = numerator.unsigned_abs();
    if magnitude == 0 {
        return 0.0;
    }
    let shift = 64 - (128 - magnitude.leading_zeros() as i32) + (64 - resolution.leading_zeros() as i32);
    let shift = shift.clamp(0, magnitude.leading_zeros() as i32) as u32;
    let scaled = magnitude << shift;
    let quotient = scaled / u128::from(resolution);
    let sticky = u128::from(!scaled.is_multiple_of(u128::from(resolution)));
    let value = (quotient | sticky) as f64 * 2f64.powi(-(shift as i32));
    if numerator < 0 { -value } else { value }
}

/// The nearest nanosecond.
pub(super) fn nearest_nanos(seconds: i64, counter: u64, resolution: u64) -> Nanos {
    const BILLION: u64 = 1_000_000_000;
    let half = resolution / 2;
    let part = match counter.checked_mul(BILLION).and_then(|n| n.checked_add(half)) {
        Some(numerator) => numerator / resolution,
        None => {
            let numerator = u128::from(counter) * u128::from(BILLION) + u128::from(half);
            (numerator / u128::from(resolution)) as u64
        }
    };
    Nanos(seconds.saturating_mul(BILLION as i64).saturating_add(part as i64))
}
