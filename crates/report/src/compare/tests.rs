use super::comparison::beginning;
use super::*;
use crate::{ReportFile, Run, Screen, json, sample};
use proptest::prelude::*;
use std::fmt::Write;

const COURSE: ComparedTimes = ComparedTimes { same_time: 1e-9, common_only: false, until: None, ends: [None, None] };

fn compare(a: &str, b: &str, course: &ComparedTimes, tolerances: &Tolerances) -> SignalsComparison {
    let (mut a, mut b) = (ComparedTable::of_tool(a.as_bytes()).unwrap(), ComparedTable::of_tool(b.as_bytes()).unwrap());
    signals(&mut a, &mut b, course, tolerances).unwrap()
}

fn point(time: f64, a: &str, b: &str) -> SamplePair {
    SamplePair { time, a: a.into(), b: b.into() }
}

/// A comparison of these recordings and runs.
fn comparison(signals: Option<SignalsComparison>, runs: [Option<&Run>; 2], ratio: Option<f64>) -> Comparison {
    let reports = runs.map(|run| run.map(|run| ReportFile::parse(&json(run)).unwrap()));
    let both = match &reports {
        [Some(a), Some(b)] => Some(clocks(a, b)),
        _ => None,
    };
    Comparison {
        names: ["new".into(), "old".into()],
        reports,
        signals,
        clocks: both,
        curves: vec![],
        ratio,
        common_only: false,
        notes: vec![],
    }
}

const OLD: &str = "time,a.x,a.n,a.on,a.gone\n0.0,1.0,1,0,0\n0.1,2.0,2,0,0\n0.2,4.0,3,1,0\n0.3,0.0,3,1,0\n";

#[test]
fn a_difference_has_its_first_time_and_its_largest_deviations() {
    // Other order, other line ends, other columns.
    let new = "t;a.on;new;a.n;a.x\r\n0.0;0;;1;1\r\n0.1;0;;2;2.5\r\n0.2;1;;3;3.0\r\n0.3;1;;3;0.0\r\n";
    let result = compare(new, OLD, &COURSE, &Tolerances::default());
    assert_eq!((&result.equal[..], result.number()), (&["a.on".to_owned(), "a.n".into()][..], 3));
    assert_eq!(result.only, [vec!["new".to_owned()], vec!["a.gone".into()]]);
    let [x] = &result.different[..] else { panic!("{:?}", result.different) };
    assert_eq!((x.name.as_str(), x.differing, x.beyond, x.unlike, x.one_sided), ("a.x", 2, 2, 0, 0));
    assert_eq!(x.first, Some(point(0.1, "2.5", "2.0")));
    assert_eq!(x.largest_absolute, Some((1.0, point(0.2, "3.0", "4.0"))));
    assert_eq!(x.largest_relative, Some((0.25, point(0.2, "3.0", "4.0"))));
    let text = comparison(Some(result), [None, None], None).excesses();
    assert_eq!(text, ["a.x: 2.5 against 2.0 at 0.1 s, the first of 2 times (exact)"]);
}

#[test]
fn tolerances_decide_what_is_beyond() {
    let new = "time,a.x,a.n,a.on,a.gone\n0.0,1.0,1,0,\n0.1,2.1,3,0,0\n0.2,4.4,3,1,0\n0.3,nan,3,1,0\n";
    let with = |absolute, relative, named: &[&str]| {
        let named = named.iter().map(|text| text.parse().unwrap()).collect();
        let result = compare(new, OLD, &COURSE, &Tolerances { absolute, relative, named });
        comparison(Some(result), [None, None], None).excesses()
    };
    let gone = "a.gone: no value against 0 at 0 s, there only";
    let nan = "a.x: nan against 0.0 at 0.3 s, there only";
    assert_eq!(
        with(0.0, 0.0, &[]),
        [
            format!("{gone} (exact)"),
            "a.n: 3 against 2 at 0.1 s, there only (exact)".into(),
            "a.x: 2.1 against 2.0 at 0.1 s, the first of 3 times (exact)".into()
        ]
    );
    let exact = "a.n: 3 against 2 at 0.1 s, there only (exact)";
    assert_eq!(
        with(0.2, 0.1, &[]),
        [format!("{gone} (tolerance 0.2 or 10 %)"), exact.into(), format!("{nan} (tolerance 0.2 or 10 %)")]
    );
    assert_eq!(with(0.2, 0.1, &["a.?=10,0%", "a.gone=inf"]), [format!("{nan} (tolerance 10)")]);
    assert_eq!(with(0.0, 0.0, &["*=inf"]), [""; 0]);
}

#[test]
fn a_recording_that_ends_early_is_not_equal() {
    let (short, long) = ("time,x\n0,1\n1,1\n", "time,x\n0,1\n1,1\n2,1\n3,1\n");
    let excesses = |a, b, course: &ComparedTimes| {
        let result = compare(a, b, course, &Tolerances::default());
        comparison(Some(result), [None, None], None).excesses()
    };
    assert_eq!(
        excesses(short, long, &COURSE),
        ["the recording ends at 1 s; the reference goes on until 3 s (2 rows more)"]
    );
    assert!(excesses(long, short, &COURSE).is_empty());
    assert!(excesses(short, long, &ComparedTimes { until: Some(1.5), ..COURSE }).is_empty());
    assert!(excesses(short, long, &ComparedTimes { ends: [Some(4.0), None], ..COURSE }).is_empty());
    assert_eq!(excesses("time,x\n", long, &COURSE), ["the recording has no rows; the reference has some, until 3 s"]);
    assert!(excesses("time,x\n", "time,x\n", &COURSE).is_empty());
}

#[test]
fn differences_between_rows_only_are_said_to_be_such() {
    let thinned = "time,x\n0,1\n2,3\n";
    let result = compare(thinned, "time,x\n0,1\n1,2\n2,3\n", &COURSE, &Tolerances::default());
    assert!(result.only_between_rows());
    let notes = comparison(Some(result), [None, None], None).all_notes();
    assert!(notes.iter().any(|note| note.contains("--common-times")), "{notes:?}");
    let common = ComparedTimes { common_only: true, ..COURSE };
    let result = compare(thinned, "time,x\n0,1\n1,2\n2,3\n", &common, &Tolerances::default());
    assert!(result.different.is_empty() && result.span.moments == 2);
}

#[test]
fn the_signal_with_the_largest_deviation_for_its_size_comes_first() {
    // y passes through zero at different times, which is a relative deviation of 100 %.
    let a = "time,x,y,z\n0,10.0,100.0,5\n1,10.0,0.0,5\n2,20.0,-100.0,\n";
    let b = "time,x,y,z\n0,10.0,100.0,5\n1,10.0,1.0,5\n2,10.0,-100.0,5\n";
    let names = |tolerances: &Tolerances| -> Vec<String> {
        compare(a, b, &COURSE, tolerances).different.into_iter().map(|signal| signal.name).collect()
    };
    assert_eq!(names(&Tolerances::default()), ["z", "x", "y"]);
    assert_eq!(names(&Tolerances { named: vec!["z=inf".parse().unwrap()], ..Default::default() }), ["x", "y", "z"]);
}

#[test]
fn curves_lose_no_peak_however_long_the_recording() {
    let recording = |peak: usize| {
        let mut text = "time,x,same\n".to_owned();
        for row in 0..100_000 {
            writeln!(text, "{},{},1", row as f64 / 1000.0, if row == peak { 7.5 } else { 1.0 }).unwrap();
        }
        text
    };
    let (a, b) = (recording(77_777), recording(usize::MAX));
    let comparison = compare(&a, &b, &COURSE, &Tolerances::default());
    let (mut a, mut b) = (ComparedTable::of_tool(a.as_bytes()).unwrap(), ComparedTable::of_tool(b.as_bytes()).unwrap());
    let curves = curves(&mut a, &mut b, &COURSE, &comparison, 3).unwrap();
    let [curve] = &curves[..] else { panic!("{curves:?}") };
    let most = curve.deviation.iter().flatten().copied().fold(0.0, f64::max);
    let high = curve.values[0].iter().flatten().map(|(_, high)| *high).fold(0.0, f64::max);
    assert_eq!((most, high, curve.times), (6.5, 7.5, (0.0, 99.999)));
    assert_eq!(curve.deviation.iter().flatten().filter(|most| **most > 0.0).count(), 1);
}

#[test]
fn latencies_are_judged_only_when_asked_for() {
    let (a, b) = (sample(1), sample(2));
    let with = |ratio| comparison(None, [Some(&a), Some(&b)], ratio).excesses();
    assert!(with(None).is_empty() && with(Some(10.0)).is_empty());
    let beyond = with(Some(0.5));
    assert!(beyond.len() > 10 && beyond[0].contains(" times the reference's "), "{beyond:?}");
}

#[test]
fn the_terminal_has_no_long_lines_and_no_foreign_commands() {
    let mut a = sample(1);
    (a.clocks[0].clock, a.rig) = ("\x1b[2Jx".into(), "\x1b[2J".into());
    let mut b = sample(2);
    b.clocks[0].clock = a.clocks[0].clock.clone();
    b.clocks[1].activations = 3;
    let header: String = (0..60).map(|i| format!(",\x1b[2J{i}")).collect();
    let row = |value: &str| (0..60).map(|_| format!(",{value}")).collect::<String>();
    let table = |value| format!("time{header}\n0{}\n", row(value));
    for (x, y) in [("1.0", "2.0"), ("", "1"), ("\x1b[2J", "nan"), ("1e308", "-1e308")] {
        let signals = compare(&table(x), &table(y), &COURSE, &Tolerances::default());
        let comparison = comparison(Some(signals), [Some(&a), Some(&b)], Some(0.5));
        for columns in [20, 80, 120, 140, 200] {
            let text = comparison_summary(&comparison, "comparison.html", Screen { columns, lines: 1, color: false });
            assert!(!text.contains('\x1b'), "{text}");
            let tables = text.split("run:  ").next().unwrap();
            let is_table = |line: &&str| !line.starts_with("only in") && !line.contains(" different at ");
            assert!(tables.lines().filter(is_table).all(|line| line.chars().count() <= columns), "{columns}: {text}");
            assert!(text.contains("… 40 more signals\n") && text.ends_with("comparison: comparison.html\n"), "{text}");
        }
        let wide = comparison_summary(&comparison, "x", Screen { columns: 170, lines: 1, color: false });
        for word in ["p99.9", "max", "activations 7,000 against 3", "wake-up latency"] {
            assert!(wide.contains(word), "{word}: {wide}");
        }
    }
}

#[test]
fn pairs_are_as_short_as_they_are_different() {
    for (a, b, short) in [
        ("-78.5076931504949", "-78.0935399492356", ("-78.508", "-78.094")),
        ("350.02074882945595", "350.02074641963753", ("350.020749", "350.020746")),
        ("1", "2", ("1", "2")),
        ("", "1.5", ("no value", "1.5")),
        ("10.503255283948604", "", ("10.503", "no value")),
        ("0.1", "0.12345678901", ("0.1", "0.12346")),
    ] {
        assert_eq!(shown_pair(a, b), (short.0.to_owned(), short.1.to_owned()));
    }
}

/// Times in steps of 0.5 s, and a value each.
fn recording() -> impl Strategy<Value = Vec<(u8, u8)>> {
    proptest::collection::btree_map(0u8..12, 0u8..3, 0..8).prop_map(|rows| rows.into_iter().collect())
}

fn text(rows: &[(u8, u8)]) -> String {
    let rows = rows.iter().map(|(time, value)| format!("{},{value}.0\n", f64::from(*time) / 2.0));
    format!("time,x\n{}", rows.collect::<String>())
}

proptest! {
    #[test]
    fn a_recording_is_equal_to_itself(rows in recording(), common_only: bool) {
        let text = text(&rows);
        let result = compare(&text, &text, &ComparedTimes { common_only, ..COURSE }, &Tolerances::default());
        prop_assert!(result.different.is_empty());
        prop_assert_eq!(result.span.moments, rows.len() as u64);
        prop_assert!(comparison(Some(result), [None, None], None).excesses().is_empty());
    }

    #[test]
    fn differences_are_those_of_the_definition(a in recording(), b in recording()) {
        let result = compare(&text(&a), &text(&b), &COURSE, &Tolerances::default());
        // The value of the last row, between the first and the last one.
        let at = |rows: &[(u8, u8)], time: u8| {
            let end = rows.last()?.0;
            rows.iter().rev().find(|row| row.0 <= time && time <= end).map(|row| row.1)
        };
        let times = (0..12).filter(|time| a.iter().chain(&b).any(|row| row.0 == *time));
        let both: Vec<(u8, u8, u8)> = times.filter_map(|time| Some((time, at(&a, time)?, at(&b, time)?))).collect();
        let differing: Vec<_> = both.iter().filter(|(_, a, b)| a != b).collect();
        prop_assert_eq!(result.span.moments, both.len() as u64);
        prop_assert_eq!(result.different.len(), usize::from(!differing.is_empty()));
        if let (Some(signal), Some(first)) = (result.different.first(), differing.first()) {
            prop_assert_eq!(signal.differing, differing.len() as u64);
            prop_assert_eq!(signal.first.as_ref().unwrap().time, f64::from(first.0) / 2.0);
            let largest = differing.iter().map(|(_, a, b)| a.abs_diff(*b)).max().unwrap();
            prop_assert_eq!(signal.largest_absolute.as_ref().unwrap().0, f64::from(largest));
        }
    }
}

/// Strings and binaries may have a million characters; what is cut off is counted, and never within a character.
#[test]
fn a_long_value_is_told_by_its_beginning() {
    assert_eq!(beginning(&"ä".repeat(40)), "ä".repeat(40));
    assert_eq!(beginning(&"ä".repeat(1041)), "ä".repeat(40) + "… (1,041 characters)");
}
