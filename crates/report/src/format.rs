//! Numbers for people.

/// A duration with three significant digits and the unit that suits it: `850 ns`, `12.3 µs`, `5.21 ms`, `1.50 s`.
pub fn duration(nanos: u64) -> String {
    let units = [("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    if nanos < 1000 {
        return format!("{nanos} ns");
    }
    for (unit, scale) in units {
        let value = nanos as f64 / scale;
        // The last unit takes everything; the others only what does not round up to a thousand.
        if value < 999.5 || unit == "s" {
            let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
            return format!("{value:.decimals$} {unit}");
        }
    }
    unreachable!("seconds take every value")
}

/// A [`duration`] without trailing zeros, for limits and axes that people have chosen: `200 µs`.
pub fn short_duration(nanos: u64) -> String {
    let text = duration(nanos);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

/// Microseconds with one decimal, for columns that are compared: `5,210.4`.
pub fn micros(nanos: u64) -> String {
    let tenths = nanos / 100 + u64::from(nanos % 100 >= 50);
    format!("{}.{}", count(tenths / 10), tenths % 10)
}

/// Microseconds for narrow columns: with one decimal up to 10 ms, beyond that it says nothing: `52,104`.
pub fn short_micros(nanos: u64) -> String {
    if nanos < 10_000_000 { micros(nanos) } else { count(nanos / 1000 + u64::from(nanos % 1000 >= 500)) }
}

/// A count with its thousands apart: `10,000`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with six significant digits, and an exponent where it is very large or small: `850.123`, `0.05`, `-1.5e12`.
pub fn significant(value: f64) -> String {
    if !value.is_finite() || value == 0.0 {
        return value.to_string();
    }
    let rounded = format!("{value:.5e}");
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let short = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    match exponent {
        -5..=5 => short(&format!("{value:.*}", (5 - exponent) as usize)),
        6..=8 => format!("{value:.0}"),
        _ => format!("{}e{exponent}", short(mantissa)),
    }
}

/// A time in seconds as short as it is precise, up to a millisecond: `10 s`, `0.125 s`.
pub fn seconds(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{} s", if text == "-0" { "0" } else { text })
}

/// `count` things: `1 value`, `3 values`.
pub fn plural(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A [`plural`] in full digits, for messages, which others may search: `1 tick`, `7000 ticks`.
pub fn some(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// A list of cores: `2-5, 7`.
pub fn cores(cpus: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let texts = ranges.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    texts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits() {
        let cases = [
            (0, "0 ns"),
            (999, "999 ns"),
            (1000, "1.00 µs"),
            (9_994, "9.99 µs"),
            (9_996, "10.0 µs"),
            (99_960, "100 µs"),
            (999_400, "999 µs"),
            (999_600, "1.00 ms"),
            (5_210_000, "5.21 ms"),
            (999_600_000, "1.00 s"),
            (7_200_000_000_000, "7200 s"),
        ];
        for (nanos, text) in cases {
            assert_eq!(duration(nanos), text);
        }
        assert_eq!(short_duration(200_000), "200 µs");
        assert_eq!(short_duration(10_000_000), "10 ms");
    }

    #[test]
    fn columns_have_one_decimal_and_thousands() {
        assert_eq!(micros(5_210_449), "5,210.4");
        assert_eq!(micros(949), "0.9");
        assert_eq!((short_micros(9_999_949), short_micros(10_000_500)), ("9,999.9".into(), "10,001".into()));
        assert_eq!(micros(950), "1.0");
        assert_eq!(micros(u64::MAX), "18,446,744,073,709,551.6");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(999), "999");
    }

    #[test]
    fn numbers_have_six_digits_and_an_exponent_only_where_it_is_shorter() {
        for (value, text) in [
            (0.0, "0"),
            (850.123456, "850.123"),
            (0.05, "0.05"),
            (-1.0, "-1"),
            (0.1 + 0.2, "0.3"),
            (999_999.7, "1000000"),
            (123_456.7, "123457"),
            (12_345_678.9, "12345679"),
            (1.5e12, "1.5e12"),
            (-2.5e-7, "-2.5e-7"),
            (0.000_012_345_678, "0.0000123457"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(significant(value), text);
        }
    }

    #[test]
    fn seconds_are_short() {
        assert_eq!(seconds(10.0), "10 s");
        assert_eq!(seconds(0.125), "0.125 s");
        assert_eq!(seconds(-0.0001), "0 s");
    }

    #[test]
    fn neighbouring_cores_are_a_range() {
        assert_eq!(cores(&[2, 3, 4, 5, 7]), "2-5, 7");
        assert_eq!(cores(&[]), "");
    }
}
