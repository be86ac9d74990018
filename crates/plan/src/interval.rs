//! Intervals as text.

use vecud_base::time::Fraction;

/// An interval as exact text: `10 ms`, `1.630545 ms`, `1/3 s`. The text has the largest unit, from µs on, in which the
/// interval is whole; an interval that is whole only in ns is a decimal of the largest unit in which it is at least 1.
pub fn interval_text(interval: Fraction) -> String {
    let (counter, resolution) = (u128::from(interval.counter()), u128::from(interval.resolution()));
    let whole = |factor: u128| (counter * factor).is_multiple_of(resolution).then(|| counter * factor / resolution);
    for (unit, factor) in [("s", 1), ("ms", 1_000), ("µs", 1_000_000)] {
        if let Some(number) = whole(factor) {
            return format!("{number} {unit}");
        }
    }
    let Some(nanos) = whole(1_000_000_000) else { return format!("{interval} s") };
    let units = [("s", 9), ("ms", 6), ("µs", 3)].into_iter().map(|(unit, digits)| (unit, digits, 10u128.pow(digits)));
    match units.into_iter().find(|(_, _, one)| nanos >= *one) {
        Some((unit, digits, one)) => {
            let decimals = format!("{:0>1$}", nanos % one, digits as usize);
            format!("{}.{} {unit}", nanos / one, decimals.trim_end_matches('0'))
        }
        None => format!("{nanos} ns"),
    }
}
