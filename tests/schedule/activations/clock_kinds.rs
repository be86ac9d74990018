//! Every kind of clock of FMI 3.0 (2.2.8.3), run by the whole program on `fmus/clock_kinds`, which says what each clock is
//! asked and told, and refuses needless calls: exact activation times in virtual time, counts in real time, and answers
//! that no clock can have.

use crate::program::{Outcome, Rig, Trace, real_time, shared_core};
use proptest::prelude::*;
use std::path::Path;
use vecud::time::{Fraction, Instant};

const BASE: u32 = 1;
const FIXED_GIVEN: u32 = 2;
const FIXED_ASKED: u32 = 3;
const FIXED_ASKED_FRACTION: u32 = 4;
const TUNABLE_GIVEN: u32 = 5;
const TUNABLE_ASKED: u32 = 6;
const CHANGING: u32 = 7;
const CHANGING_FRACTION: u32 = 8;
const COUNTDOWN: u32 = 9;
const COUNTDOWN_FRACTION: u32 = 10;
const TRIGGERED: u32 = 11;

const NAMES: [&str; 12] = [
    "none",
    "base",
    "fixed_given",
    "fixed_asked",
    "fixed_asked_fraction",
    "tunable_given",
    "tunable_asked",
    "changing",
    "changing_fraction",
    "countdown",
    "countdown_fraction",
    "triggered",
];

fn kinds(rig: &str, start: &str, keys: &str) -> Rig {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/clock_kinds");
    Rig::new(rig).fmu("k", path, start, keys).trigger("k.out", "k.triggered")
}

fn fraction(text: &str) -> Fraction {
    Fraction::parse(text).unwrap()
}

fn at(text: &str) -> Instant {
    Instant::ZERO.after(fraction(text))
}

/// `origin + k · interval` before `stop`, as FMUs get it.
fn grid(origin: &str, interval: &str, stop: &str) -> Vec<f64> {
    let times = (0..).map(|k| at(origin).after_many(fraction(interval), k));
    times.take_while(|time| *time < at(stop)).map(|time| time.seconds()).collect()
}

/// A first time and intervals, before `stop`.
fn chain(first: Instant, intervals: impl IntoIterator<Item = Fraction>, stop: &str) -> Vec<f64> {
    let mut time = first;
    let mut times = Vec::new();
    for interval in intervals {
        if time >= at(stop) {
            return times;
        }
        times.push(time.seconds());
        time = time.after(interval);
    }
    panic!("too few intervals");
}

/// What a clock was asked and told: function and value, in order.
fn calls(trace: &Trace, clock: u32) -> Vec<(String, f64)> {
    let call = |what: &str| ["get_interval", "get_shift", "set_interval", "set_shift"].contains(&what);
    let of = trace.events.iter().filter(|event| event.clock == clock && call(&event.what));
    of.map(|event| (event.what.clone(), event.time)).collect()
}

fn called(calls: &[(&str, f64)]) -> Vec<(String, f64)> {
    calls.iter().map(|(what, value)| ((*what).to_owned(), *value)).collect()
}

/// Activation times in the trace, which are those of signals.csv.
#[track_caller]
fn times(run: &Outcome, clock: u32) -> Vec<f64> {
    let times = run.trace("k").activations(clock);
    let name = NAMES[clock as usize];
    assert_eq!(run.count("k", name, "activations"), times.len() as u64, "{name}");
    let signals = run.signals();
    let mut recorded: Vec<f64> =
        signals.column(&format!("k.time_{name}")).iter().filter_map(|time| time.parse().ok()).collect();
    recorded.dedup();
    if recorded.first() == Some(&0.0) && times.first() != Some(&0.0) {
        recorded.remove(0);
    }
    assert_eq!(recorded, times, "{name}");
    times
}

#[track_caller]
fn no_violation(run: &Outcome) {
    let trace = run.trace("k");
    assert_eq!(trace.violations(), 0, "{:?}\n{}", trace.summary, run.stderr);
    assert_eq!(trace.summary["dropped"], "0");
}

#[test]
fn each_kind_of_clock_ticks_exactly_when_the_standard_says() {
    let start = "fixed_asked_interval = 0.03, fixed_asked_shift = 0.007, fixed_asked_fraction_counter = 1, \
                 fixed_asked_fraction_resolution = 30, fixed_asked_fraction_shift_counter = 2, \
                 tunable_asked_interval = 0.04, changing_interval = 0.01, changing_step = 0.0123, changing_cycle = 5, \
                 changing_fraction_counter = 2, changing_fraction_resolution = 300, changing_fraction_counter_step = 3, \
                 changing_fraction_cycle = 4, arm_every = 10, countdown_interval = 0.0123456789, \
                 countdown_fraction_counter = 1, countdown_fraction_resolution = 70, tick_every = 7";
    let run = kinds("stop_time = 1", start, "").run_virtual().exits(0);
    no_violation(&run);
    assert_eq!(times(&run, BASE), grid("0", "0.01", "1"));
    assert_eq!(times(&run, FIXED_GIVEN), grid("0.003", "0.02", "1"));
    assert_eq!(times(&run, FIXED_ASKED), grid("0.007", "0.03", "1"));
    assert_eq!(times(&run, FIXED_ASKED_FRACTION), grid("2/30", "1/30", "1"));
    assert_eq!(times(&run, TUNABLE_GIVEN), grid("0", "0.025", "1"));
    assert_eq!(times(&run, TUNABLE_ASKED), grid("0", "0.04", "1"));
    // The first tick of a changing clock is one interval after the start; decimals count as their shortest text.
    let decimals = (1..).map(|n| Fraction::from_f64(0.01 + f64::from(n % 5) * 0.0123).unwrap());
    assert_eq!(times(&run, CHANGING), chain(at("0.01"), decimals, "1"));
    let fractions = (1..).map(|n| Fraction::new(2 + n % 4 * 3, 300).unwrap());
    assert_eq!(times(&run, CHANGING_FRACTION), chain(at("2/300"), fractions, "1"));
    // base arms at 0.09, 0.19, ...
    let armed = grid("0.09", "0.1", "1");
    let after = |delay: &str| -> Vec<f64> {
        (0..10).map(|k| at("0.09").after_many(fraction("0.1"), k).after(fraction(delay)).seconds()).collect()
    };
    let before_stop = |times: Vec<f64>| -> Vec<f64> { times.into_iter().filter(|time| *time < 1.0).collect() };
    assert_eq!(armed.len(), 10);
    assert_eq!(times(&run, COUNTDOWN), before_stop(after("0.0123456789")));
    assert_eq!(times(&run, COUNTDOWN_FRACTION), before_stop(after("1/70")));
    assert_eq!(times(&run, TRIGGERED), grid("0.06", "0.07", "1"));
}

/// Rows of the standard's table "Overview of Clock types": nothing more is called, nothing less, and as a fraction where the
/// clock supports that.
#[test]
fn clocks_are_asked_and_told_what_their_kind_wants_and_nothing_else() {
    let run = kinds("stop_time = 0.1", "", "").run_virtual().exits(0);
    no_violation(&run);
    let trace = run.trace("k");
    assert_eq!(calls(&trace, BASE), []);
    assert_eq!(calls(&trace, TRIGGERED), []);
    assert_eq!(calls(&trace, FIXED_GIVEN), called(&[("set_interval", 0.02)]));
    assert_eq!(calls(&trace, TUNABLE_GIVEN), called(&[("set_interval", 0.025)]));
    for (clock, interval) in [(FIXED_ASKED, 0.03), (FIXED_ASKED_FRACTION, 0.03), (TUNABLE_ASKED, 0.05)] {
        assert_eq!(calls(&trace, clock), called(&[("get_interval", interval), ("get_shift", 0.0)]));
    }
    // In Initialization Mode, and after each of the activations at 0.04 and 0.08.
    for clock in [CHANGING, CHANGING_FRACTION] {
        assert_eq!(calls(&trace, clock), called(&[("get_interval", 0.04); 3]));
    }
    // In Initialization Mode only: there was no clock update.
    for clock in [COUNTDOWN, COUNTDOWN_FRACTION] {
        assert_eq!(calls(&trace, clock), called(&[("get_interval", 0.012)]));
    }
    let as_fraction = |clock| {
        let of = trace.events.iter().filter(|event| event.clock == clock && event.what.contains("_interval"));
        of.map(|event| event.hash != 0).collect::<Vec<bool>>()
    };
    assert_eq!((as_fraction(TUNABLE_GIVEN), as_fraction(FIXED_GIVEN)), (vec![true], vec![false]));
    assert_eq!((as_fraction(CHANGING_FRACTION), as_fraction(CHANGING)), (vec![true; 3], vec![false; 3]));
}

#[test]
fn intervals_and_shifts_of_the_rig_are_told_where_the_importer_decides_them() {
    let keys = "clock.fixed_given = { interval = \"1/30\", shift = 0.004 }\n\
                clock.tunable_given = { interval = \"1/7\", shift = \"0\" }";
    let run = kinds("stop_time = 1", "", keys).run_virtual().exits(0);
    no_violation(&run);
    let trace = run.trace("k");
    let told = |clock: u32, expected: &[(&str, f64)]| assert_eq!(calls(&trace, clock), called(expected), "{clock}");
    told(FIXED_GIVEN, &[("set_interval", 1.0 / 30.0), ("set_shift", 0.004)]);
    told(TUNABLE_GIVEN, &[("set_interval", 1.0 / 7.0), ("set_shift", 0.0)]);
    assert_eq!(times(&run, FIXED_GIVEN), grid("0.004", "1/30", "1"));
    assert_eq!(times(&run, TUNABLE_GIVEN), grid("0", "1/7", "1"));
    assert_eq!(run.clock("k", "fixed_asked_fraction")["interval_s"], 0.03, "what the FMU has said");
}

/// Without `intervalDecimal` it is the FMU that says both (FMI 3.0.2, 2.2.8.2).
#[test]
fn intervals_and_shifts_that_the_fmu_decides_are_refused_in_the_rig() {
    for (clock, key, what) in [
        ("fixed_asked", "interval = 0.06", "interval of k.fixed_asked cannot be set to 0.06 s"),
        ("tunable_asked", "shift = 0.01", "shift of k.tunable_asked cannot be set to 0.01 s"),
    ] {
        let run = kinds("stop_time = 1", "", &format!("clock.{clock} = {{ {key} }}")).run_virtual().exits(2);
        assert!(run.stderr.contains(what) && run.stderr.contains("no intervalDecimal"), "{}", run.stderr);
    }
}

#[test]
fn a_countdown_may_be_known_from_the_start_be_armed_anew_and_be_due_at_once() {
    // Armed for 0.35 s at the start; base arms it every 0.1 s for as long, so each deadline but the last is replaced.
    let rearmed = "known_at_start = true, arm_every = 10, countdown_interval = 0.35, countdown_fraction_counter = 5, \
                   countdown_fraction_resolution = 100";
    let run = kinds("stop_time = 2", rearmed, "").run_virtual().exits(0);
    no_violation(&run);
    assert!(times(&run, COUNTDOWN).is_empty(), "replaced at 0.09, 0.19, ..., 1.99");
    // One of 0.05 s runs out in between: at 0.05, and 0.05 s after each arming.
    let mut expected = vec![0.05];
    expected.extend((0..20).map(|k| at("0.14").after_many(fraction("0.1"), k).seconds()).filter(|time| *time < 2.0));
    assert_eq!(times(&run, COUNTDOWN_FRACTION), expected);
    // 0 is at once: at the time of the activation that has armed it, and before the start's other partitions are through.
    let at_once = "known_at_start = true, arm_every = 5, countdown_interval = 0, countdown_fraction_counter = 0";
    let run = kinds("stop_time = 0.2", at_once, "").run_virtual().exits(0);
    no_violation(&run);
    for clock in [COUNTDOWN, COUNTDOWN_FRACTION] {
        assert_eq!(times(&run, clock), [0.0, 0.04, 0.09, 0.14, 0.19]);
    }
}

#[test]
fn a_changing_clock_may_tick_at_the_very_start() {
    // The standard allows 0 for the first interval, since there was no tick before.
    let start = "odd_clock = 7, odd_reading = 1, odd_kind = 1";
    let run = kinds("stop_time = 0.1", start, "").run_virtual().exits(0);
    no_violation(&run);
    assert_eq!(times(&run, CHANGING), [0.0, 0.04, 0.08]);
}

#[test]
fn an_interval_that_is_said_to_be_unchanged_holds_on() {
    let start = "odd_clock = 7, odd_reading = 3, odd_kind = 7";
    let run = kinds("stop_time = 0.2", start, "").run_virtual().exits(0);
    assert_eq!(times(&run, CHANGING), [0.04, 0.08, 0.12, 0.16]);
}

#[test]
fn virtual_time_repeats_to_the_byte_with_every_kind_of_clock() {
    let signals = || {
        let start = "changing_interval = 0.0123456789012345, changing_step = 0.00000000314159, changing_cycle = 97, \
                     arm_every = 3, countdown_interval = 0.0333333333333333, tick_every = 2, lock_in_get_interval = true";
        kinds("stop_time = 3", start, "").run_virtual().exits(0).file("signals.csv")
    };
    let first = signals();
    assert!(first.lines().count() > 500 && (0..2).all(|_| signals() == first));
}

#[test]
fn real_time_activates_the_same_times_as_virtual_time() {
    real_time("real_time_activates_the_same_times_as_virtual_time", || {
        let start = "changing_interval = 0.005, changing_step = 0.001, changing_cycle = 3, arm_every = 4, tick_every = 3, \
                 lock_in_get_interval = true, fixed_asked_shift = 0.011";
        let rig = || kinds("stop_time = 0.8\noverrun = 'queue'", start, "");
        let (real, simulated) = (rig().run().exits(0), rig().run_virtual().exits(0));
        no_violation(&real);
        let (own, expected) = (real.trace("k"), simulated.trace("k"));
        for clock in BASE..=TRIGGERED {
            let name = NAMES[clock as usize];
            assert_eq!(own.activations(clock), expected.activations(clock), "{name}");
            assert_eq!(calls(&own, clock), calls(&expected, clock), "{name}");
        }
        assert!(real.count("k", "changing", "activations") > 100);
    });
}

/// The report's failure, and that the FMU was freed without fmi3Terminate.
#[track_caller]
fn fails(run: &Outcome, words: &[&str]) -> String {
    assert_eq!(run.status("k"), "error");
    run.problem(words)
}

#[test]
fn before_the_run_an_interval_that_a_clock_cannot_have_fails_it_by_name() {
    let illegal = [
        (FIXED_ASKED, 1, "the interval 0 s, which is not above 0"),
        (FIXED_ASKED_FRACTION, 1, "the interval 0/1000 s, which is not above 0"),
        (TUNABLE_ASKED, 2, "the interval NaN s, which is not finite"),
        (FIXED_ASKED, 3, "the interval -0.25 s, which is negative"),
        (CHANGING, 3, "the interval -0.25 s, which is negative"),
        (CHANGING, 4, "the interval inf s, which is not finite"),
        (FIXED_ASKED_FRACTION, 5, "the interval 30/0 s, which has the resolution 0"),
        (CHANGING_FRACTION, 5, "the interval 40/0 s, which has the resolution 0"),
        (COUNTDOWN, 2, "the interval NaN s, which is not finite"),
        (COUNTDOWN_FRACTION, 5, "the interval 12/0 s, which has the resolution 0"),
        (TUNABLE_ASKED, 6, "the qualifier fmi3IntervalNotYetKnown, which only a countdown clock can have"),
        (CHANGING, 6, "the qualifier fmi3IntervalNotYetKnown, which only a countdown clock can have"),
        (COUNTDOWN, 8, "the interval qualifier 7, which does not exist"),
        (FIXED_ASKED, 12, "the shift NaN s, which is not finite"),
        (TUNABLE_ASKED, 13, "the shift -0.25 s, which is negative"),
        (FIXED_ASKED, 14, "the shift inf s, which is not finite"),
    ];
    for (clock, kind, what) in illegal {
        let start = format!("known_at_start = true, odd_clock = {clock}, odd_kind = {kind}");
        let run = kinds("start_time = 0.5\nstop_time = 0.6", &start, "").run_virtual().exits(1);
        let name = NAMES[clock as usize];
        let form = if name.ends_with("fraction") { "Fraction" } else { "Decimal" };
        let function = if kind > 10 { format!("fmi3GetShift{form}") } else { format!("fmi3GetInterval{form}") };
        let place = format!("for clock {name} at 0.5 s");
        fails(&run, &["fmu `k`", &function, what, &place]);
        assert_eq!(run.trace("k").count("activate", "begin"), 0);
    }
}

#[test]
fn an_interval_too_short_for_real_time_fails_the_run_by_name() {
    shared_core(|| {
        let start = "odd_clock = 3, odd_kind = 9";
        let run = kinds("stop_time = 0.1", start, "").run().exits(1);
        fails(
            &run,
            &["fmi3GetIntervalDecimal", "0.000000000001 s, which is shorter than there can be", "fixed_asked at 0 s"],
        );
    });
}

/// Design S13: the instance fails, since its clock has no next tick; the rig says what that means for the others.
#[test]
fn a_changing_clock_without_a_next_interval_is_a_failure_of_its_fmu() {
    for (clock, kind, what) in [
        (CHANGING, 1, "the interval 0 s, which is not above 0, so the clock would tick twice at one time"),
        (CHANGING, 2, "the interval NaN s, which is not finite"),
        (CHANGING_FRACTION, 5, "the interval 40/0 s, which has the resolution 0"),
        (CHANGING, 6, "the qualifier fmi3IntervalNotYetKnown"),
        (CHANGING_FRACTION, 8, "the interval qualifier 7, which does not exist"),
    ] {
        // The third reading is that of the second activation.
        let start = format!("odd_clock = {clock}, odd_reading = 3, odd_kind = {kind}");
        let name = NAMES[clock as usize];
        let form = if name.ends_with("fraction") { "Fraction" } else { "Decimal" };
        let place = format!("for clock {name} at 0.08 s");
        let check = |run: Outcome| {
            fails(&run, &["fmu `k`", &format!("fmi3GetInterval{form} gave {what}"), &place]);
            assert_eq!(run.trace("k").activations(clock), [0.04, 0.08]);
            run
        };
        check(kinds("stop_time = 0.3", &start, "").run_virtual().exits(1));
        let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/clock_kinds");
        let run = kinds("stop_time = 0.3\non_error = 'continue'", &start, "").fmu("other", other, "", "");
        let run = check(run.run_virtual().exits(1));
        assert_eq!((run.status("other").as_str(), run.count("other", "base", "activations")), ("terminated", 30));
        real_time("a_changing_clock_without_a_next_interval_is_a_failure_of_its_fmu", || {
            check(kinds("stop_time = 0.3", &start, "").run().exits(1));
        });
    }
}

#[test]
fn a_countdown_with_an_interval_that_it_cannot_have_is_ignored_and_found() {
    for (clock, kind, finding, value) in [
        (COUNTDOWN, 2, "illegal_interval", "NaN s for clock countdown"),
        (COUNTDOWN, 3, "illegal_interval", "-0.25 s for clock countdown"),
        (COUNTDOWN, 4, "illegal_interval", "inf s for clock countdown"),
        (COUNTDOWN_FRACTION, 5, "illegal_interval", "inf s for clock countdown_fraction"),
        (COUNTDOWN, 8, "illegal_qualifier", "7 for clock countdown"),
    ] {
        // Readings: one before the run, then one at 0.09, 0.19, 0.29 and so on.
        let start = format!("arm_every = 10, odd_clock = {clock}, odd_reading = 3, odd_kind = {kind}");
        let run = kinds("stop_time = 0.5", &start, "").run_virtual().exits(0);
        let of = |clock| run.trace("k").activations(clock).len();
        assert_eq!(of(clock), 3, "at 0.102, 0.302 and 0.402, not at 0.202");
        assert_eq!(of(if clock == COUNTDOWN { COUNTDOWN_FRACTION } else { COUNTDOWN }), 4);
        let fmu = run.fmu("k");
        let found = fmu["findings"].as_array().unwrap().iter().find(|found| found["kind"] == finding);
        let found = found.unwrap_or_else(|| panic!("{finding}: {fmu:#}"));
        assert_eq!(found["count"], 1);
        let message = found["message"].as_str().unwrap();
        assert!(message.contains(value) && message.contains("in clock base at 0.19 s"), "{message}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the intervals: times are those of the exact sums, and the FMU has nothing to complain about.
    #[test]
    fn random_clocks_keep_every_rule(
        (interval, step, cycle) in (1u32..400_000, 0u32..50_000, 1u64..9),
        (counter, resolution, counter_step) in (1u64..50, 50u64..4000, 0u64..20),
        (fixed, shift) in (1u64..97, 0u64..97),
        (arm_every, delay, tick_every) in (1u32..20, 0u32..300_000, 0u32..9),
        known_at_start in any::<bool>(),
    ) {
        let micro = |micros: u32| f64::from(micros + 1_000) / 1e6;
        let (interval, step, delay) = (micro(interval), f64::from(step) / 1e7, f64::from(delay) / 1e6);
        let start = format!(
            "changing_interval = {interval:?}, changing_step = {step:?}, changing_cycle = {cycle}, \
             changing_fraction_counter = {counter}, changing_fraction_resolution = {resolution}, \
             changing_fraction_counter_step = {counter_step}, changing_fraction_cycle = {cycle}, \
             fixed_asked_fraction_counter = {fixed}, fixed_asked_fraction_resolution = 997, \
             fixed_asked_fraction_shift_counter = {shift}, arm_every = {arm_every}, tick_every = {tick_every}, \
             countdown_interval = {delay:?}, known_at_start = {known_at_start}"
        );
        let run = kinds("stop_time = 1", &start, "").run_virtual().exits(0);
        no_violation(&run);
        let place = |n: u64| if cycle > 1 { n % cycle } else { 0 };
        let decimal = |n: u64| Fraction::from_f64(interval + place(n) as f64 * step).unwrap();
        let exact = |n: u64| Fraction::new(counter + place(n) * counter_step, resolution).unwrap();
        prop_assert_eq!(times(&run, CHANGING), chain(Instant::ZERO.after(decimal(0)), (1..).map(decimal), "1"));
        prop_assert_eq!(times(&run, CHANGING_FRACTION), chain(Instant::ZERO.after(exact(0)), (1..).map(exact), "1"));
        prop_assert_eq!(
            times(&run, FIXED_ASKED_FRACTION),
            grid(&format!("{shift}/997"), &format!("{fixed}/997"), "1")
        );
        // A deadline stands unless base arms the clock anew before it, or at it.
        let every = fraction("0.01").seconds() * f64::from(arm_every);
        let due = times(&run, COUNTDOWN);
        prop_assert!(due.windows(2).all(|pair| pair[0] < pair[1]));
        if delay < every * 0.999 {
            let armed = 100 / arm_every;
            prop_assert!(due.len() as u32 + 1 >= armed && due.len() as u32 <= armed + 1, "{} of {}", due.len(), armed);
        }
        let ticks = 100_u32.checked_div(tick_every).unwrap_or(0);
        prop_assert_eq!(run.count("k", "triggered", "activations"), u64::from(ticks));
    }
}
