//! Tunable clocks whose interval depends on a tunable parameter (FMI 3.0, 2.2.8.3; semantics S2): when the parameter is set
//! while a run goes on, the interval is read again, and the next tick comes the new interval after the last one
//! ("Periodic Clock": t(i) = t(i-1) + T(i)), or at the change where that has passed.

use crate::program::{Trace, real_time};
use std::path::{Path, PathBuf};
use vecud::fmu::description::Values;
use vecud::plan::Mode;
use vecud::supervisor::{self, EventSink, Options, Session};
use vecud::time::{Fraction, Instant};

const BASE: u32 = 1;
const TUNABLE_ASKED: u32 = 6;

/// Runs `fmus/clock_kinds` to 0.5 s, with these intervals of `tunable_asked` set at these times: exit code, problems, and
/// what the FMU has noted.
fn run(mode: Mode, start: &str, changes: Vec<(f64, f64)>) -> (u8, String, Trace) {
    let folder = crate::program::tempdir().unwrap();
    let fmu = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/clock_kinds");
    let trace = folder.path().join("trace.csv");
    let text = format!(
        "[rig]\nstop_time = 0.5\noverrun = 'queue'\n[fmu.k]\npath = '{}'\nstart = {{ trace_file = '{}'{start} }}\n",
        fmu.display(),
        trace.display()
    );
    std::fs::write(folder.path().join("rig.toml"), text).unwrap();
    let options = Options {
        file: folder.path().join("rig.toml"),
        mode: Some(mode),
        out: Some(folder.path().join("out")),
        control: true,
        cache: Some(crate::program::cache()),
        runner: Some(PathBuf::from(env!("CARGO_BIN_EXE_vecud"))),
        ..Options::default()
    };
    let prepared = supervisor::plan(&options, &EventSink::default()).unwrap();
    let session = Session::start(prepared, EventSink::default(), |control| {
        for (time, interval) in changes {
            let values = Values::Float64(vec![interval]);
            let at = Instant::from_f64(time);
            control.set_together("k", &[("tunable_asked_interval", values)], at).unwrap();
        }
    })
    .unwrap();
    let finished = session.wait().unwrap().remove(0);
    let problems: Vec<String> = finished.run.problems.iter().map(|problem| problem.message()).collect();
    let problems = problems.join("\n");
    (finished.exit_code(), problems, Trace::parse("k", &std::fs::read_to_string(trace).unwrap()))
}

/// `from + k · interval` after `from`, up to `to`.
fn grid(from: &str, interval: &str, to: &str) -> Vec<f64> {
    let at = |text: &str| Instant::ZERO.after(Fraction::parse(text).unwrap());
    let times = (1..).map(|k| at(from).after_many(Fraction::parse(interval).unwrap(), k));
    times.take_while(|time| *time <= at(to)).map(|time| time.seconds()).collect()
}

fn readings(trace: &Trace) -> Vec<f64> {
    let of = |event: &&crate::program::Event| event.what == "get_interval" && event.clock == TUNABLE_ASKED;
    trace.events.iter().filter(of).map(|event| event.time).collect()
}

/// fixed_given ticks at 0.123 s and 0.303 s, and nothing else in between is at or after the times asked for. Ticks that the
/// clock has had by then: 0.1 s, then 0.24 s, whose successor 0.252 s has passed at 0.303 s.
fn counts_from_the_last_tick(mode: Mode) {
    let (code, problems, trace) = run(mode, "", vec![(0.123, 0.07), (0.301, 0.012)]);
    assert_eq!(code, 0, "{problems}");
    let mut expected = vec![0.0, 0.05, 0.1];
    expected.extend([0.17, 0.24, 0.303]);
    expected.extend(grid("0.303", "0.012", "0.499"));
    assert_eq!(trace.activations(TUNABLE_ASKED), expected);
    assert_eq!(readings(&trace), [0.05, 0.07, 0.012], "once before the run and once for each change");
    assert_eq!(trace.activations(BASE).len(), 50);
    assert_eq!(trace.violations(), 0, "{:?}", trace.summary);
}

#[test]
fn a_new_interval_counts_from_the_last_tick() {
    counts_from_the_last_tick(Mode::Virtual);
}

#[test]
fn in_real_time_too() {
    real_time("in_real_time_too", || {
        counts_from_the_last_tick(Mode::RealTime);
    });
}

#[test]
fn what_is_due_at_the_time_of_the_change_still_comes() {
    let (code, problems, trace) = run(Mode::Virtual, "", vec![(0.15, 0.2)]);
    assert_eq!(code, 0, "{problems}");
    assert_eq!(trace.activations(TUNABLE_ASKED), [0.0, 0.05, 0.1, 0.15, 0.35]);
}

#[test]
fn without_a_change_nothing_is_read_again() {
    let (code, _, trace) = run(Mode::Virtual, "", Vec::new());
    assert_eq!((code, readings(&trace), trace.violations()), (0, vec![0.05], 0));
}

#[test]
fn an_interval_that_the_clock_cannot_have_is_a_failure_of_the_fmu() {
    for (kind, what) in [(1, "the interval 0 s, which is not above 0"), (2, "the interval NaN s, which is not finite")]
    {
        let start = format!(", odd_clock = {TUNABLE_ASKED}, odd_reading = 2, odd_kind = {kind}");
        let (code, problems, trace) = run(Mode::Virtual, &start, vec![(0.2, 0.1)]);
        assert_eq!(code, 1);
        for words in ["fmu `k`: fmi3GetIntervalDecimal gave", what, "for clock tunable_asked at 0.2 s"] {
            assert!(problems.contains(words), "{problems}");
        }
        assert_eq!(*trace.activations(TUNABLE_ASKED).last().unwrap(), 0.15);
    }
}
