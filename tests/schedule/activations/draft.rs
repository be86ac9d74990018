//! FMUs of the draft dialect of FMI 3.0, through the whole program: the FMU
//! `draft_clocks` ticks as its parameters say and notes every call.

use crate::program::{Event, Outcome, Rig, Trace, real_time, shared_core};
use std::path::{Path, PathBuf};
use std::process::Command;

const BASE: u32 = 1;
const URGENT: u32 = 2;
const MIDDLE: u32 = 3;
const LAST: u32 = 4;
const LATE: u32 = 5;
const BANK: u32 = 6;
const EACH: u32 = 7;
const OUTSIDE: u32 = 8;

fn draft_clocks() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/draft_clocks")
}

/// A rig of one draft_clocks, `d`, over 0.1 s.
fn rig(start: &str, keys: &str) -> Rig {
    Rig::new("stop_time = 0.1").fmu("d", draft_clocks(), start, keys)
}

fn in_virtual_time(start: &str, keys: &str) -> Outcome {
    rig(start, keys).run_virtual()
}

/// Activation times of one element of a clock (0: a scalar).
fn times(trace: &Trace, clock: u32, element: u32) -> Vec<f64> {
    let own = |e: &&Event| e.is("activate", "begin") && e.clock == clock && e.vr == element;
    trace.events.iter().filter(own).map(|e| e.time).collect()
}

/// `count` times from `first`, `step` ns apart, as the nearest doubles of their decimals.
fn grid(first: u64, step: u64, count: u64) -> Vec<f64> {
    (0..count).map(|k| (first + k * step) as f64 / 1e9).collect()
}

const MS: u64 = 1_000_000;

// ---- Unions ----

#[test]
fn a_tick_activates_every_clock_that_it_triggers_at_its_time_most_urgent_first() {
    let run = in_virtual_time("", "").exits(0);
    let trace = run.trace("d");
    let union: Vec<(u32, f64)> = trace
        .events
        .iter()
        .filter(|e| e.is("activate", "begin") && [BASE, URGENT, MIDDLE, LAST].contains(&e.clock))
        .map(|e| (e.clock, e.time))
        .collect();
    let expected: Vec<(u32, f64)> =
        grid(0, 10 * MS, 10).into_iter().flat_map(|t| [BASE, URGENT, MIDDLE, LAST].map(|clock| (clock, t))).collect();
    assert_eq!(union, expected);
    assert_eq!(trace.activations(LATE), [0.0; 0], "out_late never ticked");
}

#[test]
fn the_tick_has_the_time_that_the_callback_says() {
    let check = |run: Outcome| {
        let trace = run.exits(0).trace("d");
        assert_eq!(trace.activations(BASE), grid(0, 10 * MS, 10));
        let said: Vec<f64> = grid(0, 10 * MS, 10).iter().map(|t| t + 0.002).collect();
        for clock in [URGENT, MIDDLE, LAST] {
            assert_eq!(trace.activations(clock), said);
        }
    };
    check(in_virtual_time("offset = 0.002", ""));
    real_time("the_tick_has_the_time_that_the_callback_says", || {
        check(rig("offset = 0.002", "").run().exits(0));
    });
}

/// Position of the first such event from `from` on.
fn find(trace: &Trace, from: usize, what: &str, phase: &str, clock: u32) -> usize {
    let rest = trace.events[from..].iter();
    from + rest.take_while(|e| !(e.is(what, phase) && e.clock == clock)).count()
}

#[test]
fn a_more_urgent_partition_runs_inside_the_callback_and_a_less_urgent_one_waits() {
    real_time("a_more_urgent_partition_runs_inside_the_callback", || {
        for (misbehave, callback) in [(0, true), (8, false)] {
            let trace = rig(&format!("burn_us = 100, misbehave = {misbehave}"), "").run().exits(0).trace("d");
            let mut at = 0;
            for _ in 0..trace.activations(BASE).len() {
                let base = find(&trace, at, "activate", "begin", BASE);
                let (update, updated) =
                    (find(&trace, base, "update", "begin", BASE), find(&trace, base, "update", "end", BASE));
                let ended = find(&trace, base, "activate", "end", BASE);
                let urgent = find(&trace, base, "activate", "begin", URGENT);
                // Holding the lock, the partition gives way where it unlocks.
                assert_eq!((update..updated).contains(&urgent), callback, "misbehave = {misbehave}");
                assert!((update..ended).contains(&urgent), "misbehave = {misbehave}");
                for waits in [MIDDLE, LAST] {
                    assert!(find(&trace, base, "activate", "begin", waits) > ended);
                }
                at = ended;
            }
        }
    });
}

#[test]
fn times_of_callbacks_may_decrease_under_preemption() {
    real_time("times_of_callbacks_may_decrease_under_preemption", || {
        // bank[1] is released at 1 ms, preempted by base at 10 ms, and ticks afterwards.
        let run = rig("bank_burn_us = 12000", "clock.bank = { interval = 0.05 }").run().exits(0);
        let trace = run.trace("d");
        let updates: Vec<f64> = trace.events.iter().filter(|e| e.is("update", "begin")).map(|e| e.time).collect();
        assert_eq!(updates[..3], [0.0, 0.01, 0.001]);
        assert_eq!(times(&trace, EACH, 1), [0.001, 0.051]);
        assert_eq!(trace.activations(URGENT), grid(0, 10 * MS, 10));
        assert_eq!(run.finding("d", "illegal_tick_time"), None);
        assert_eq!(run.count("d", "each[1]", "retimed"), 0);
    });
}

#[test]
fn a_callback_may_say_the_time_of_a_preempted_partition_but_no_earlier_one() {
    real_time("a_callback_may_say_the_time_of_a_preempted_partition", || {
        // At 10 ms and 60 ms bank[1], released 9 ms before, is preempted by base, which says 5 ms less than its own time.
        let run = rig("bank_burn_us = 12000, offset = -0.005", "clock.bank = { interval = 0.05 }").run().exits(0);
        let trace = run.trace("d");
        let base = trace.activations(BASE);
        let said: Vec<f64> =
            base.iter().enumerate().map(|(k, t)| if k == 1 || k == 6 { t - 0.005 } else { *t }).collect();
        assert_eq!(trace.activations(URGENT), said);
        assert_eq!(run.finding("d", "illegal_tick_time"), Some(8));
    });
}

#[test]
fn every_callback_reads_all_elements_of_all_output_clocks_once() {
    let check = |run: Outcome| {
        let trace = run.exits(0).trace("d");
        let mut inside = 0;
        for event in &trace.events {
            match (event.what.as_str(), event.phase.as_str()) {
                ("get_clock", "begin") => {
                    assert_eq!((event.vr, event.n), (10, 5));
                    inside += 1;
                }
                ("update", "end") => assert_eq!(std::mem::take(&mut inside), 1),
                _ => (),
            }
        }
        assert_eq!(trace.count("get_clock", "begin"), trace.count("update", "begin"));
        assert_eq!(trace.count("update", "begin"), 10 + 30);
        assert_eq!(trace.count("violation", "note"), 0, "the early return was answered");
    };
    check(in_virtual_time("", ""));
    shared_core(|| {
        check(rig("", "").run().exits(0));
    });
}

// ---- Delays ----

#[test]
fn what_a_clock_triggers_is_activated_after_the_interval_that_it_says() {
    // Longer than three periods: several ticks wait at once.
    for get in ["true", "'fraction'"] {
        let check = |run: Outcome| {
            let run = run.exits(0);
            let trace = run.trace("d");
            assert_eq!(trace.activations(LATE), grid(35 * MS, 10 * MS, 7));
            assert_eq!(trace.activations(URGENT), grid(0, 10 * MS, 10), "out has no delay");
            assert_eq!(run.count("d", "late", "coalesced"), 0);
            assert_eq!(run.count("d", "late", "retimed"), 0);
            let asked: Vec<&Event> = trace.events.iter().filter(|e| e.is("get_interval", "begin")).collect();
            assert_eq!(asked.len(), 10 + 30, "once in every callback in which a clock ticked");
            assert!(asked.iter().all(|e| e.clock == u32::from(get != "true")), "decimal or fraction");
        };
        let start = "late_every = 1, delay = 0.035";
        check(in_virtual_time(start, &format!("get_intervals = {get}")));
        shared_core(|| {
            let run = rig(start, &format!("get_intervals = {get}")).run().exits(0);
            // Latency counts from when it is due, not from the tick.
            let late = run.clock("d", "late")["start_latency"]["p50"].as_f64().unwrap();
            assert!(late < 30e6, "{late} ns, of which the delay is 35 ms");
            check(run);
        });
    }
}

#[test]
fn without_the_question_there_is_no_delay() {
    let trace = in_virtual_time("late_every = 1, delay = 0.035", "get_intervals = false").exits(0).trace("d");
    assert_eq!(trace.activations(LATE), grid(0, 10 * MS, 10));
    assert_eq!(trace.count("get_interval", "begin"), 0);
}

#[test]
fn an_fmu_that_refuses_the_question_runs_when_it_is_not_asked() {
    let run = in_virtual_time("misbehave = 1", "").exits(1);
    run.problem(&["fmi3GetIntervalDecimal", "fmi3Error", "base", "get_intervals = false"]);
    let run = in_virtual_time("misbehave = 1", "get_intervals = false").exits(0);
    assert_eq!(run.trace("d").activations(LAST).len(), 10);
}

#[test]
fn a_delay_that_is_none_is_a_finding_and_the_tick_comes_at_once() {
    for delay in ["nan", "-1.0", "inf"] {
        let run = in_virtual_time(&format!("late_every = 1, delay = {delay}"), "").exits(0);
        assert_eq!(run.finding("d", "illegal_interval"), Some(10));
        assert_eq!(run.trace("d").activations(LATE), grid(0, 10 * MS, 10));
    }
}

// ---- Array clocks ----

#[test]
fn every_element_of_an_array_clock_has_a_task_and_a_period_of_its_own() {
    let keys = "clock.bank = { interval = 0.005 }\nclock.'bank[2]' = { interval = '1/50', max_overruns = 1000 }";
    let check = |run: Outcome| {
        let run = run.exits(0);
        let trace = run.trace("d");
        for (element, step, count) in [(1, 5, 20), (2, 20, 5), (3, 5, 20)] {
            let expected = grid(MS, step * MS, count);
            assert_eq!(times(&trace, BANK, element), expected);
            // Element i of the output clock triggers element i of the union.
            let delayed = grid(MS + 100_000 * u64::from(element - 1), step * MS, count);
            assert_eq!(times(&trace, EACH, element), delayed);
            assert_eq!(run.count("d", &format!("bank[{element}]"), "activations"), count);
        }
        // Told before initialisation, all elements in one call.
        let told: Vec<(u32, f64)> =
            trace.events.iter().filter(|e| e.is("arm", "note")).map(|e| (e.vr, e.time)).collect();
        assert_eq!(told, [(1, 0.005), (2, 0.02), (3, 0.005)]);
        let first = |what: &str| trace.events.iter().position(|e| e.what == what).unwrap();
        assert!(first("arm") < first("enter_init"));
        trace
    };
    check(rig("", keys).run_virtual());
    real_time("every_element_of_an_array_clock_has_a_thread", || {
        let trace = check(rig("", keys).run().exits(0));
        let threads: std::collections::BTreeSet<(u32, u32, u32)> = trace
            .events
            .iter()
            .filter(|e| e.is("activate", "begin") && [BANK, EACH].contains(&e.clock))
            .map(|e| (e.clock, e.vr, e.tid))
            .collect();
        let tids: std::collections::BTreeSet<u32> = threads.iter().map(|(_, _, tid)| *tid).collect();
        assert_eq!((threads.len(), tids.len()), (6, 6), "one thread for each element");
    });
}

#[test]
fn intervals_that_the_rig_leaves_alone_are_not_set() {
    let trace = in_virtual_time("", "").exits(0).trace("d");
    assert_eq!(trace.count("arm", "note"), 0);
    assert_eq!(times(&trace, BANK, 3), grid(MS, 10 * MS, 10));
}

#[test]
fn the_interval_of_a_strictly_periodic_clock_is_its_own() {
    let run = in_virtual_time("", "clock.base = { interval = 0.02 }").exits(2);
    assert!(run.stderr.contains("d.base cannot be set to 0.02 s: it is a strictly periodic clock"), "{}", run.stderr);
}

#[test]
fn a_variable_of_one_element_is_touched_by_the_task_of_that_element_only() {
    let trace = in_virtual_time("", "").exits(0).trace("d");
    let mut element = 0;
    let mut seen = [0; 4];
    for event in &trace.events {
        if event.is("activate", "begin") {
            element = if event.clock == BANK { event.vr } else { 0 };
        }
        // count_bank is read by all of them, count_second by the second too.
        if event.is("get", "begin") && event.vr == 22 {
            assert_eq!(event.n, if element == 2 { 2 } else { 1 });
            seen[element as usize] += 1;
        }
    }
    assert_eq!(seen, [0, 10, 10, 10]);
}

// ---- Triggers of the rig ----

#[test]
fn the_rig_does_not_trigger_what_the_fmu_triggers_itself() {
    for clock in ["d.urgent", "d.each[2]"] {
        let run = rig("", "").trigger("d.out", clock).run_virtual().exits(2);
        assert!(run.stderr.contains("of the FMU itself (triggeredBy): no [[trigger]] can"), "{}", run.stderr);
    }
}

#[test]
fn an_element_of_an_output_clock_triggers_a_clock_of_another_fmu() {
    let rig = rig("", "").fmu("other", draft_clocks(), "", "").trigger("d.out_each[2]", "other.outside");
    let run = rig.run_virtual().exits(0);
    let expected: Vec<f64> = grid(MS + 100_000, 10 * MS, 10);
    assert_eq!(run.trace("other").activations(OUTSIDE), expected);
    assert_eq!(run.trace("d").activations(OUTSIDE), [0.0; 0]);
    let missing = self::rig("", "").trigger("d.out_each[4]", "d.outside").run_virtual().exits(2);
    assert!(missing.stderr.contains("no output clock \"out_each[4]\""), "{}", missing.stderr);
}

// ---- Callbacks as they should not be ----

#[test]
fn a_tick_at_no_possible_time_is_a_finding_and_gets_the_time_of_the_activation() {
    for misbehave in [5, 6] {
        let run = in_virtual_time(&format!("misbehave = {misbehave}"), "").exits(0);
        assert_eq!(run.finding("d", "illegal_tick_time"), Some(10));
        assert_eq!(run.trace("d").activations(URGENT), grid(0, 10 * MS, 10));
        let rows = run.signals().times();
        assert!(rows.windows(2).all(|pair| pair[0] < pair[1]), "rows are ordered by time");
    }
}

#[test]
fn null_pointers_in_the_callback_do_no_harm() {
    let trace = in_virtual_time("misbehave = 7", "").exits(0).trace("d");
    assert_eq!(trace.activations(LAST).len(), 10);
}

#[test]
fn callbacks_from_where_they_may_not_come_are_refused_and_counted() {
    for (misbehave, kind, count) in
        [(2, "nested_update", 40), (3, "foreign_thread", 10), (4, "outside_clock_activation", 1)]
    {
        let run = in_virtual_time(&format!("misbehave = {misbehave}"), "").exits(0);
        assert_eq!(run.finding("d", kind), Some(count));
        let trace = run.trace("d");
        let end = find(&trace, 0, "terminate", "begin", 0);
        assert!(!trace.events[end..].iter().any(|e| e.what == "activate" || e.what == "get_clock"));
        assert_eq!(trace.activations(LAST).len(), 10);
    }
}

#[test]
fn the_fmu_is_told_its_resources_as_a_uri_and_logs_with_five_arguments() {
    let folder = crate::program::tempdir().unwrap();
    let fmu = folder.path().join("ä b");
    copy(&draft_clocks(), &fmu);
    std::fs::create_dir(fmu.join("resources")).unwrap();
    std::fs::write(fmu.join("resources/table"), "1").unwrap();
    let run = Rig::new("stop_time = 0.1").fmu("d", fmu, "", "").run_virtual().exits(0);
    let log = run.file("run.log");
    // By a path that needs no escape, for those that open it undecoded.
    assert!(log.contains("file:///") && log.contains("/resources") && !log.contains('%'), "{log}");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

// ---- The unit of time ----

/// The same FMU, with a description that counts time in milliseconds: intervals, shifts and delays of it are in them, and so
/// are the times that it gets and says; what the rig and the report say is in s (`crates/base/src/time/unit.rs`).
#[test]
fn an_fmu_that_counts_milliseconds_is_activated_at_its_times() {
    let folder = crate::program::tempdir().unwrap();
    let fmu = folder.path().join("milliseconds");
    copy(&draft_clocks(), &fmu);
    let units = "<UnitDefinitions><Unit name=\"ms\"><BaseUnit s=\"1\" factor=\"0.001\"/></Unit></UnitDefinitions>";
    let time =
        "<Float64 name=\"t\" valueReference=\"99\" causality=\"independent\" variability=\"continuous\" unit=\"ms\"/>";
    let description = draft_description()
        .replace("resolution=\"1000\"", "resolution=\"1\"")
        .replace("<LogCategories>", &format!("{units}<LogCategories>"))
        .replace("<ModelVariables>", &format!("<ModelVariables>{time}"));
    std::fs::write(fmu.join("modelDescription.xml"), description).unwrap();
    let milliseconds =
        |first: f64, step: f64, count: u32| -> Vec<f64> { (0..count).map(|k| first + step * f64::from(k)).collect() };
    for get in ["true", "'fraction'"] {
        // out_late comes 2 ms after the tick, which the FMU says to be 0.5 ms after the activation; element 2 of bank is
        // told the 20 ms of the rig, the others keep their own 10 ms.
        let keys = format!("get_intervals = {get}\nclock.'bank[2]' = {{ interval = '1/50' }}");
        let rig = Rig::new("stop_time = 0.1").fmu("d", fmu.clone(), "late_every = 1, delay = 2.0, offset = 0.5", &keys);
        let check = |run: Outcome| {
            let run = run.exits(0);
            let trace = run.trace("d");
            assert_eq!(trace.activations(BASE), milliseconds(0.0, 10.0, 10));
            assert_eq!(trace.activations(URGENT), milliseconds(0.5, 10.0, 10), "at the time of the callback");
            assert_eq!(trace.activations(LATE), milliseconds(2.5, 10.0, 10), "by the delay that it says");
            assert_eq!(times(&trace, BANK, 1), milliseconds(1.0, 10.0, 10));
            assert_eq!(times(&trace, BANK, 2), milliseconds(1.0, 20.0, 5));
            let told: Vec<f64> = trace.events.iter().filter(|e| e.is("arm", "note")).map(|e| e.time).collect();
            assert_eq!(told, [10.0, 20.0, 10.0]);
            assert_eq!(run.finding("d", "illegal_tick_time"), None);
        };
        check(rig.run_virtual());
        shared_core(|| check(rig.run()));
    }
}

// ---- Which dialect a library speaks ----

/// An FMU with this description and a library built of these files with these arguments.
fn binary_fmu(folder: &Path, description: &str, arguments: &[&str]) -> PathBuf {
    let binaries = folder.join("binaries/x86_64-linux");
    std::fs::create_dir_all(&binaries).unwrap();
    std::fs::write(folder.join("modelDescription.xml"), description).unwrap();
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or("cc".into()));
    cc.current_dir(env!("CARGO_MANIFEST_DIR")).args(["-shared", "-fPIC", "-D_GNU_SOURCE", "-o"]);
    cc.arg(binaries.join("draft_clocks.so")).args(arguments);
    assert!(cc.status().expect("this test needs a C compiler").success());
    folder.to_owned()
}

fn draft_description() -> String {
    std::fs::read_to_string(draft_clocks().join("modelDescription.xml")).unwrap()
}

const DRAFT: [&str; 4] = [
    "-Icrates/fmu/src/headers/draft",
    "fmus/draft_clocks/sources/fmu.c",
    "fmus/draft_clocks/sources/variables.c",
    "fmus/draft_clocks/sources/trace.c",
];
const RELEASED: [&str; 2] = ["-Icrates/fmu/src/headers", "fmus/tracer/sources/fmi3_base.c"];

#[cfg(target_arch = "x86_64")]
#[test]
fn a_released_library_behind_a_draft_description_is_refused_by_name() {
    let folder = crate::program::tempdir().unwrap();
    let fmu = binary_fmu(folder.path(), &draft_description(), &RELEASED);
    let run = Rig::new("stop_time = 0.1").fmu("d", fmu, "", "").run_virtual().exits(2);
    for words in ["fmu `d`", "fmi3DeserializeFMUState", "the draft of FMI 3.0", "dialect = \"released\" in [fmu.d]"] {
        assert!(run.stderr.contains(words), "{words}: {}", run.stderr);
    }
}

/// A description that says nothing of its dialect is taken for a released one.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_draft_library_behind_a_released_description_is_refused_and_the_rig_overrides() {
    let folder = crate::program::tempdir().unwrap();
    let description = "<fmiModelDescription fmiVersion='3.0' modelName='m' instantiationToken='{vecud-draft-clocks-1}'>\
        <ScheduledExecution modelIdentifier='draft_clocks'/><ModelVariables>\
        <Float64 name='t' valueReference='99' causality='independent' variability='continuous'/>\
        <String name='trace_file' valueReference='30' causality='parameter' variability='fixed'><Start value=''/></String>\
        </ModelVariables><ModelStructure/></fmiModelDescription>";
    // What tells a draft library from one that lacks some functions: a name of its own.
    let sign = folder.path().join("sign.c");
    std::fs::write(&sign, "int fmi3DeSerializeFMUState(void) { return 3; }").unwrap();
    let arguments: Vec<&str> = DRAFT.into_iter().chain([sign.to_str().unwrap()]).collect();
    let fmu = binary_fmu(&folder.path().join("fmu"), description, &arguments);
    let run = |keys| Rig::new("stop_time = 0.1").fmu("d", fmu.clone(), "", keys).run_virtual();
    let refused = run("").exits(2);
    for words in ["fmu `d`", "fmi3DeSerializeFMUState", "dialect = \"draft\" in [fmu.d]"] {
        assert!(refused.stderr.contains(words), "{words}: {}", refused.stderr);
    }
    assert_eq!(run("dialect = 'draft'").exits(0).trace("d").count("free", "begin"), 1);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn functions_that_the_rig_needs_and_a_library_lacks_are_listed() {
    let folder = crate::program::tempdir().unwrap();
    let hidden = "-Wl,--version-script=".to_owned() + folder.path().join("map").to_str().unwrap();
    std::fs::write(
        folder.path().join("map"),
        "{ global: fmi3*; local: fmi3GetIntervalDecimal; fmi3GetUInt64; fmi3SetIntervalFraction; };",
    )
    .unwrap();
    let arguments: Vec<&str> = DRAFT.into_iter().chain([hidden.as_str()]).collect();
    let fmu = binary_fmu(&folder.path().join("fmu"), &draft_description(), &arguments);
    let run = |keys: &str| Rig::new("stop_time = 0.1").fmu("d", fmu.clone(), "", keys).run_virtual();
    let refused = run("").exits(2);
    assert!(refused.stderr.contains("lacks functions that this rig needs"), "{}", refused.stderr);
    for (words, there) in
        [("fmi3GetIntervalDecimal", true), ("fmi3GetUInt64", true), ("fmi3SetIntervalFraction", false)]
    {
        assert_eq!(refused.stderr.contains(words), there, "{words}: {}", refused.stderr);
    }
}

#[test]
fn what_concerns_the_draft_is_refused_for_released_fmus() {
    let run = Rig::new("stop_time = 0.1").tracer_with("t", "", "get_intervals = true").run_virtual().exits(2);
    assert!(run.stderr.contains("get_intervals concerns FMUs of the draft dialect"), "{}", run.stderr);
}
