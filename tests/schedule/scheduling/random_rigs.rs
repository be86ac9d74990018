//! Property: whatever a legal rig asks for, the host keeps the standard's rules, as the tracer judges them from inside and
//! its traces from outside, and what it counts adds up.
//!
//! A seed that fails is printed with the command that repeats it. `VECUD_SEED=17` runs one seed, `VECUD_SEED=100..400` many.

use crate::program::clock::{INPUTS, NAMES};
use crate::program::random::{DISCARD, ERROR, FATAL, Source, seeds};
use crate::program::{Drawn, End, Kind, Outcome, Seen, Trace, draw, has_real_time, send, shared_core};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Duration;

/// The bit of `violation_kinds` for "a call after an error".
const CALL_AFTER_END: u64 = 1 << 12;
/// And for "a clock update that did not read everything".
const UPDATE_INCOMPLETE: u64 = 1 << 11;

/// What has come of a run.
struct Verdict {
    seen: Seen,
    broken: Vec<String>,
    failed: bool,
}

/// The status that an instance has returned as asked for, if it came to that.
fn failure(drawn: &Drawn, run: &Outcome) -> Option<u64> {
    let misdeed = drawn.misdeed.filter(|misdeed| [ERROR, DISCARD, FATAL].contains(&misdeed.kind))?;
    let name = drawn.names[misdeed.fmu];
    // An early one leaves no trace: the name of its file has not been set yet.
    let failed = !run.has_trace(name) || run.trace(name).count("fail", "note") > 0;
    failed.then_some(misdeed.kind)
}

fn judge(drawn: &Drawn, run: &Outcome, is_virtual: bool) -> Verdict {
    let (mut seen, mut broken) = (Seen::default(), Vec::new());
    let failure = failure(drawn, run);
    let code = i32::from(failure.is_some());
    if run.code != code {
        broken.push(format!("exit code {}, not {code}: {}", run.code, run.stderr));
        return Verdict { seen, broken, failed: true };
    }
    let report = run.report();
    let whole = failure.is_none() && report["end"] == "stop_time";
    let fifo = report["host"]["scheduling"] == "fifo";
    let in_terminate = drawn.misdeed.is_some_and(|misdeed| misdeed.function == 8);
    let culprit = drawn.misdeed.filter(|_| failure.is_some()).map(|misdeed| misdeed.fmu);
    // An instance that fails early leaves no trace: the name of its file has not been set yet.
    let all = drawn.names.iter().enumerate().filter(|(_, name)| run.has_trace(name));
    let mut traces: BTreeMap<usize, Trace> = all.map(|(index, name)| (index, run.trace(name))).collect();
    let initialised = |trace: &Trace| trace.events.iter().any(|event| event.is("exit_init", "end") && event.status < 2);
    let started = traces.len() == drawn.names.len() && traces.values().all(initialised);
    if !started {
        if failure.is_none() {
            broken.push("some instance has left no trace".to_owned());
        }
        for trace in traces.values().filter(|trace| trace.count("activate", "begin") > 0 || trace.violations() > 0) {
            broken.push(format!("{} is activated, or has found: {:?}", trace.fmu, trace.summary));
        }
        return Verdict { seen, broken, failed: true };
    }
    for (index, trace) in &mut traces {
        let kind = match (fifo, drawn.sleeps[*index]) {
            (false, _) => Kind::OneAtATime,
            (true, true) => Kind::Sleeping,
            (true, false) => Kind::Preemptive,
        };
        let status = run.status(&trace.fmu);
        let (expected, end) = match (failure, culprit == Some(*index)) {
            (Some(FATAL), true) => ("fatal", End::Left),
            // It may have ended well before another one failed in fmi3Terminate.
            (Some(FATAL), false) if status == "terminated" && in_terminate => ("terminated", End::Terminated),
            (Some(FATAL), false) => ("aborted", End::Left),
            (Some(_), true) => ("error", End::Freed),
            _ => ("terminated", End::Terminated),
        };
        if status != expected {
            broken.push(format!("{} is {status}, not {expected}", trace.fmu));
        }
        *trace = Trace {
            clocks: drawn.clocks[*index].clone(),
            end,
            cut: !whole,
            ..std::mem::replace(trace, Trace::parse("", ""))
        };
        excuse(trace, is_virtual, &mut broken);
        let (own, found) = trace.check(kind);
        seen += own;
        broken.extend(found);
        if !is_virtual {
            broken.extend(crate::program::check_threads(trace));
        }
        broken.extend(counts(drawn, run, trace, whole, is_virtual));
    }
    for (target, clock, source) in &drawn.triggers {
        broken.extend(ticks(drawn, run, &traces, *target, *clock, source, whole));
    }
    broken.extend(run.problems().into_iter().filter(|problem| problem.contains("after their row")));
    Verdict { seen, broken, failed: failure.is_some() }
}

/// Between the instruction that makes an instance a failed one and the one with which the host hears of it, a more urgent
/// partition may begin; and in other instances of an FMU that has failed fatally, callbacks get no answer any more.
fn excuse(trace: &mut Trace, is_virtual: bool, broken: &mut Vec<String>) {
    let kinds = u64::from_str_radix(&trace.summary["kinds"][2..], 16).unwrap();
    let excused = match (is_virtual, trace.end) {
        (true, _) | (_, End::Terminated) => 0,
        (false, End::Freed) => CALL_AFTER_END,
        (false, End::Left) => CALL_AFTER_END | UPDATE_INCOMPLETE,
    };
    if trace.violations() > 0 && kinds & !excused == 0 {
        // One call each, at most.
        if trace.violations() > 7 {
            broken.push(format!("{}: {:?}", trace.fmu, trace.summary));
        }
        println!("{}: excused {:?}", trace.fmu, trace.summary);
        trace.summary.insert("violations".to_owned(), "0".to_owned());
    }
}

/// What was activated, recorded, reported and left out, against what was due.
fn counts(drawn: &Drawn, run: &Outcome, trace: &Trace, whole: bool, is_virtual: bool) -> Vec<String> {
    let mut broken = Vec::new();
    let (fmu, signals) = (&trace.fmu, run.signals());
    let mut unrecorded = 0;
    for clock in INPUTS {
        let name = NAMES[clock as usize];
        let [activations, skipped] = ["activations", "skipped"].map(|what| run.count(fmu, name, what));
        let traced = trace.activations(clock).len() as u64;
        let recorded = signals.last(&format!("{fmu}.count_{name}"));
        let place = || {
            format!(
                "{fmu}.{name}: {traced} activations traced, {recorded} recorded, {activations} reported, {skipped} skipped"
            )
        };
        if activations != traced || recorded > activations {
            broken.push(place());
        }
        unrecorded += activations.saturating_sub(recorded);
        if let Some(times) = trace.clocks.times_before(clock, &drawn.stop) {
            let due = times.len() as u64;
            if whole && activations + skipped != due || activations + skipped > due {
                broken.push(format!("{}, {due} due", place()));
            }
            if is_virtual && !times.starts_with(&trace.activations(clock)) {
                broken.push(format!("{}; times {:?}, not {times:?}", place(), trace.activations(clock)));
            }
        }
    }
    // What failed is not recorded; in virtual time that is one activation.
    let allowed = match (trace.end, is_virtual) {
        (End::Terminated, _) => 0,
        (_, true) => 1,
        (_, false) => 7,
    };
    if unrecorded > allowed {
        broken.push(format!("{fmu}, {:?}: {unrecorded} activations are not recorded", trace.end));
    }
    broken
}

/// Every tick that was read has become an activation or is counted as something else.
fn ticks(
    drawn: &Drawn,
    run: &Outcome,
    traces: &BTreeMap<usize, Trace>,
    target: usize,
    clock: u32,
    source: &Source,
    whole: bool,
) -> Vec<String> {
    let (fmu, name) = (drawn.names[target], NAMES[clock as usize]);
    let counts =
        ["activations", "coalesced", "overruns", "discarded", "skipped"].map(|what| run.count(fmu, name, what));
    let sum: u64 = counts.iter().sum();
    let (ticks, from) = match source {
        Source::Times(times) => (*times, "its list".to_owned()),
        Source::Output(from, output) => {
            let Some(trace) = traces.get(from) else { return Vec::new() };
            (trace.ticks(*output), format!("{}.{}", trace.fmu, NAMES[*output as usize]))
        }
    };
    if sum == ticks || !whole && sum < ticks {
        return Vec::new();
    }
    vec![format!("{ticks} ticks of {from}, but {fmu}.{name}: {counts:?}")]
}

/// Runs `judge` for one seed; gives what was seen, or says how to repeat it.
fn seed(test: &str, seed: u64, judge: impl FnOnce() -> Verdict) -> Result<Verdict, String> {
    let again = || format!("VECUD_SEED={seed} cargo test --test schedule {test}");
    match catch_unwind(AssertUnwindSafe(judge)) {
        Ok(verdict) if verdict.broken.is_empty() => {
            println!("seed {seed}: {:?}", verdict.seen);
            Ok(verdict)
        }
        Ok(Verdict { broken, .. }) => {
            let first = broken.iter().take(8).map(|line| format!("\n    {line:.600}")).collect::<String>();
            Err(format!("seed {seed}, {} rules broken ({}):{first}", broken.len(), again()))
        }
        Err(_) => Err(format!("seed {seed} panicked ({})", again())),
    }
}

#[track_caller]
fn report(results: Vec<Result<Verdict, String>>) -> (Seen, usize) {
    let errors: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(errors.is_empty(), "{} seeds of {}:\n{:#?}", errors.len(), results.len(), errors);
    let mut total = Seen::default();
    let mut failed = 0;
    for verdict in results.into_iter().flatten() {
        total += verdict.seen;
        failed += usize::from(verdict.failed);
    }
    println!("{total:?}, {failed} failed as drawn");
    (total, failed)
}

/// Counters of the report that repeat in virtual time.
fn counters(run: &Outcome) -> Vec<serde_json::Value> {
    let report = run.report();
    ["clocks", "problems", "end", "end_time", "verdict"].map(|what| report[what].clone()).to_vec()
}

#[test]
fn in_virtual_time_random_rigs_keep_every_rule_and_repeat_to_the_byte() {
    let test = "in_virtual_time_random_rigs_keep_every_rule_and_repeat_to_the_byte";
    let judge_one = |number: u64| {
        seed(test, number, || {
            let drawn = draw(number, true);
            let run = drawn.rig.run();
            let mut verdict = judge(&drawn, &run, true);
            if run.code == 2 {
                return verdict;
            }
            let (before, signals) = (counters(&run), std::fs::read(run.out.join("signals.csv")).ok());
            let again = drawn.rig.run();
            if signals != std::fs::read(again.out.join("signals.csv")).ok() {
                verdict.broken.push("signals.csv differs from run to run".to_owned());
            }
            if before != counters(&again) {
                verdict.broken.push("report.json differs from run to run".to_owned());
            }
            verdict
        })
    };
    // Two at a time: none of them waits for a clock.
    let todo = Mutex::new(seeds(60).into_iter());
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(number) = { todo.lock().unwrap().next() } {
                    let result = judge_one(number);
                    results.lock().unwrap().push(result);
                }
            });
        }
    });
    let results = results.into_inner().unwrap();
    let all = results.len() >= 60;
    let (seen, failed) = report(results);
    if all {
        assert!(seen.activations > 10_000 && seen.callbacks > 5_000 && seen.high_ticks > 500, "{seen:?}");
        assert!(failed > 5, "{failed}");
    }
}

#[test]
fn in_real_time_random_rigs_keep_every_rule() {
    let test = "in_real_time_random_rigs_keep_every_rule";
    shared_core(|| {
        // Without, partitions take turns instead of preempting each other.
        let fifo = has_real_time(&format!("{test}, in part"));
        let mut results = Vec::new();
        for number in seeds(12) {
            results.push(seed(test, number, || {
                let drawn = draw(number, false);
                let child = drawn.rig.start(drawn.rig.command());
                if let Some(after) = drawn.signal_ms {
                    drawn.rig.wait_until_it_runs();
                    std::thread::sleep(Duration::from_millis(after));
                    send(child.id() as i32, nix::sys::signal::Signal::SIGTERM);
                }
                let run = drawn.rig.finish(child);
                judge(&drawn, &run, false)
            }));
        }
        let all = results.len() >= 12;
        let (seen, _) = report(results);
        if all {
            // Without priorities a busy machine leaves less to see.
            let enough = if fifo { 5_000 } else { 1_000 };
            assert!(seen.activations > enough && seen.callbacks > enough / 3, "{seen:?}");
            // Let in, and then overtaken by one that fell asleep: that takes less than a microsecond.
            assert!(seen.inside_sleepers * 500 < seen.activations, "{seen:?}");
        }
    });
}
