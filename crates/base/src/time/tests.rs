//! Rules that hold for times of all kinds, and between them.

use super::denominator::{DENOMINATOR_LIMIT, gcd};
use super::*;
use proptest::prelude::*;

fn fraction(text: &str) -> Fraction {
    Fraction::parse(text).unwrap()
}

#[test]
fn nanoseconds_are_the_nearest_double_of_their_seconds() {
    assert_eq!(Nanos(5_100_000_000).seconds(), 5.1);
    assert_eq!(Nanos(-300_000_000).seconds(), -0.3);
}

#[test]
fn what_is_no_time_is_not_read_from_a_file() {
    for (counter, resolution) in [(0, 0), (1, 0), (1, 1), (7, 6), (0, DENOMINATOR_LIMIT + 1), (0, u64::MAX)] {
        let bytes = postcard::to_stdvec(&(0i64, counter, resolution)).unwrap();
        assert!(postcard::from_bytes::<Instant>(&bytes).is_err(), "{counter}/{resolution}");
    }
    let bytes = postcard::to_stdvec(&(1u64, 0u64)).unwrap();
    assert!(postcard::from_bytes::<Fraction>(&bytes).is_err());
    let good = (Instant::MAX, fraction("1/3"));
    assert_eq!(postcard::from_bytes(&postcard::to_stdvec(&good).unwrap()), Ok(good));
}

proptest! {
    #[test]
    fn nanoseconds_are_the_same_from_a_denominator_that_is_known(
        instants in proptest::collection::vec((-5i64..5, any::<u64>(), prop_oneof![1u64..2000, any::<u64>()]), 1..20),
    ) {
        let mut nanos = ToNanos::default();
        for (seconds, counter, resolution) in instants {
            let resolution = (resolution % DENOMINATOR_LIMIT).max(1);
            for counter in [0, counter % resolution, resolution - 1] {
                let time = Instant { seconds, counter, resolution };
                prop_assert_eq!(nanos.of(&time), time.nanos());
            }
        }
    }

    /// Adding numerators gives what the general way gives, to the denominator.
    #[test]
    fn a_step_is_the_same_whichever_way_it_is_taken(
        seconds in -5i64..5, counter in any::<u64>(), resolution in 1u64..=DENOMINATOR_LIMIT, step in any::<u64>(),
    ) {
        let from = Instant { seconds, counter: counter % resolution, resolution };
        for step in [step, step % resolution] {
            let step = Fraction { counter: step, resolution };
            prop_assert_eq!(from.after(step).to_words(), from.after_many(step, 1).to_words());
        }
    }
}

#[test]
fn a_decimal_is_exactly_what_it_says() {
    assert_eq!(fraction("0.01"), Fraction::new(1, 100).unwrap());
    assert_eq!(fraction("1e-3"), Fraction::new(1, 1000).unwrap());
    assert_eq!(fraction("2.50E1"), Fraction::new(25, 1).unwrap());
    assert_eq!(fraction(" 10/1000 "), Fraction::new(1, 100).unwrap());
    assert_eq!(fraction("-0.0"), Fraction::ZERO);
}

/// Durations of descriptions: `1/60` by a tool that writes doubles, by one that writes 15 digits.
#[test]
fn a_duration_to_which_a_fraction_was_divided_out_is_that_fraction() {
    for (text, divided) in [
        ("0.016666666666666666", "1/60"),
        ("0.0333333333333333", "1/30"),
        ("0.14285714285714285", "1/7"),
        ("1.6666666666666667e-05", "1/60000"),
        ("16.666666666666668", "50/3"),
        ("0.333333333333333", "1/3"),
        ("123.000000000000001", "123/1"),
    ] {
        assert_eq!(Fraction::parse_duration(text), Fraction::parse(divided), "{text}");
    }
    // Too few digits, and a fraction that nobody has divided out.
    for text in ["0.33333333333333", "0.01", "1e-9", "0.123456789012345", "15.485688109741", "3", "1/3", " 10/1000 "] {
        assert_eq!(Fraction::parse_duration(text), Fraction::parse(text), "{text}");
    }
    // Sums of doubles: more digits than a fraction holds, so to the attosecond; of a fraction there is no double.
    assert_eq!(Fraction::parse_duration("0.0022500000000000003"), Fraction::parse("0.00225"));
    assert_eq!(
        Fraction::parse_duration("12.345678901234567890123"),
        Fraction::from_f64("12.345678901234567890123".parse().unwrap())
    );
    assert_eq!(Fraction::parse_duration("18446744073709551616/3"), Err(NotAFraction::TooLarge));
    assert_eq!(Fraction::duration(f64::NAN), Err(NotAFraction::NotFinite));
    assert_eq!(Fraction::duration(-1.0 / 3.0), Err(NotAFraction::Negative));
    assert_eq!(Fraction::duration(0.0), Ok(Fraction::ZERO));
}

#[test]
fn nonsense_is_refused_with_its_reason() {
    for (text, reason) in [
        ("", NotAFraction::Syntax),
        ("ten", NotAFraction::Syntax),
        ("1/x", NotAFraction::Syntax),
        ("1/0", NotAFraction::ZeroResolution),
        ("-0.1", NotAFraction::Negative),
        ("NaN", NotAFraction::NotFinite),
        ("inf", NotAFraction::NotFinite),
        ("1e-40", NotAFraction::TooLarge),
        ("1/18446744073709551616", NotAFraction::TooLarge),
        ("18446744073709551616/3", NotAFraction::TooLarge),
        ("1/18446744073709551615", NotAFraction::TooLarge),
    ] {
        assert_eq!(Fraction::parse(text), Err(reason), "{text}");
    }
}

#[test]
fn a_grid_and_a_decimal_meet_exactly() {
    let grid = Instant::ZERO.after_many(fraction("1/100"), 3);
    let countdown = Instant::ZERO.after(fraction("0.01")).after(Fraction::from_f64(0.02).unwrap());
    assert_eq!(grid, countdown);
    assert_eq!(Instant::ZERO.after_many(fraction("1/3"), 3), Instant::ZERO.after(fraction("1")));
}

#[test]
fn a_whole_number_of_steps_is_told_exactly() {
    let is = |own: &str, step: &str| fraction(own).is_multiple_of(fraction(step));
    assert!(is("0", "1/3") && is("0.3", "0.1") && is("1", "1/3") && is("4611686018427387904", "1/4611686018427387904"));
    assert!(!is("0.1", "0.3") && !is("0.3", "0.2") && !is("0.333333333333333333", "1/3"));
}

#[test]
fn what_is_left_over_or_missing_below_a_billionth_of_a_step_is_nothing() {
    let steps = |own: &str, step: &str| fraction(own).steps(fraction(step));
    assert_eq!(steps("1", "0.09999999999999"), (10, true), "left over");
    assert_eq!(steps("1", "0.10000000000001"), (10, true), "missing");
    assert_eq!((steps("1", "0.0999999999"), steps("1", "0.1000000001")), ((10, false), (9, false)));
    assert_eq!((steps("1", "1/3"), steps("0", "1/3")), ((3, true), (0, true)));
    assert_eq!((steps("1e-10", "0.1"), steps("1e-11", "0.1")), ((0, false), (0, true)));
    assert_eq!(steps("9223372036854775807", "1/9223372036854775807"), (u64::MAX, true));
}

#[test]
fn no_drift_after_a_billion_ticks() {
    let tick = Instant::ZERO.after_many(fraction("0.001"), 1_000_000_007);
    assert_eq!(tick.seconds(), 1_000_000.007);
    assert_eq!(tick.nanos(), Nanos(1_000_000_007_000_000));
    assert_eq!(Instant::ZERO.after_many(fraction("1/3"), 1_000_000_000).seconds(), 1e9 / 3.0);
}

#[test]
fn negative_start_times_work() {
    let start = Instant::from_f64(-0.25).unwrap();
    assert_eq!(start.seconds(), -0.25);
    assert_eq!(start.after(fraction("0.25")), Instant::ZERO);
    assert_eq!(start.nanos(), Nanos(-250_000_000));
}

#[test]
fn an_interval_with_too_many_digits_is_rounded_to_the_attosecond() {
    let tiny = Fraction::from_f64(0.000_345_678_912_345_678_9).unwrap();
    assert!((tiny.seconds() - 0.000_345_678_912_345_678_9).abs() < 1e-18);
    let odd = Instant::ZERO.after(fraction("1/3")).after(tiny);
    assert!((odd.seconds() - (1.0 / 3.0 + 0.000_345_678_912_345_678_9)).abs() < 1e-16);
}

proptest! {
    #[test]
    fn the_greatest_divisor_is_euclids(a in any::<u64>(), b in any::<u64>(), shift in 0u32..64) {
        let euclid = |mut a: u64, mut b: u64| {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a.max(1)
        };
        for (a, b) in [(a, b), (a >> shift, b), (a, b >> shift), (a << shift, b << (shift / 2))] {
            prop_assert_eq!(gcd(a, b), euclid(a, b));
        }
    }

    #[test]
    fn nanoseconds_are_rounded_the_same_way_whatever_the_resolution(counter in any::<u64>(), resolution in 1..1u64 << 63) {
        let counter = counter % resolution;
        let exact = (u128::from(counter) * 2_000_000_000 + u128::from(resolution) - u128::from(resolution % 2)) / (2 * u128::from(resolution));
        prop_assert_eq!(Instant { seconds: 0, counter, resolution }.nanos(), Nanos(exact as i64));
    }

    #[test]
    fn seconds_reads_back_what_the_shortest_decimal_said(value in 0.0..1e9f64) {
        let instant = Instant::from_f64(value).unwrap();
        prop_assert!((instant.seconds() - value).abs() <= value * f64::EPSILON);
    }

    /// Of 15 digits and more; 625405/40386 happens to be the double 15.485688109741, which could be a decimal that somebody meant.
    #[test]
    fn doubles_of_fractions_are_these(counter in 1u64..1_000_000, resolution in 1u64..=100_000) {
        let fraction = Fraction::new(counter, resolution).unwrap();
        let text = format!("{:e}", fraction.seconds());
        let digits = text.split('e').next().unwrap().bytes().filter(u8::is_ascii_digit).count();
        let expected = if digits < 15 { Fraction::from_f64(fraction.seconds()) } else { Ok(fraction) };
        prop_assert!([expected, Ok(fraction)].contains(&Fraction::duration(fraction.seconds())));
    }

    #[test]
    fn decimals_of_15_digits_survive_exactly(digits in 0u64..1_000_000_000_000_000, places in 0usize..15) {
        let text = format!("{}e-{}", digits, places);
        let expected: f64 = text.parse().unwrap();
        prop_assert_eq!(Fraction::parse(&text).unwrap().seconds(), expected);
    }

    #[test]
    fn order_agrees_with_cross_multiplication(a in 0u64..1_000_000, b in 1u64..1_000_000, c in 0u64..1_000_000, d in 1u64..1_000_000) {
        let left = Instant::ZERO.after(Fraction::new(a, b).unwrap());
        let right = Instant::ZERO.after(Fraction::new(c, d).unwrap());
        prop_assert_eq!(left.cmp(&right), (a * d).cmp(&(c * b)));
    }

    /// "Rounded once": what the C library and Rust make of the same decimal, also beyond 53 bits.
    #[test]
    fn seconds_are_correctly_rounded(whole in 0u64..10_000_000_000, attos in 0u64..1_000_000_000_000_000_000) {
        let part = Fraction::new(attos, 1_000_000_000_000_000_000).unwrap();
        let instant = Instant::ZERO.after(Fraction::new(whole, 1).unwrap()).after(part);
        let expected: f64 = format!("{whole}.{attos:018}").parse().unwrap();
        prop_assert_eq!(instant.seconds(), expected);
    }

    #[test]
    fn words_round_trip(seconds in any::<i32>(), counter in 0u64..1000, resolution in 1u64..1000) {
        let instant = Instant { seconds: i64::from(seconds), counter: counter % resolution, resolution };
        prop_assert_eq!(Instant::from_words(instant.to_words()), instant);
    }
}
