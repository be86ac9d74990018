//! Ticks of clocks in recordings.

use super::program::clock::{INPUTS, NAMES, OUT_HIGH, OUT_LOW};
use super::program::{Outcome, Rig, shared_core};
use super::{messages_of, rows, two};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

const VIRTUAL: &str = "stop_time = 0.3\nmode = 'virtual'";

const CLOCKS: &str = "signals = ['?.out_f64', '?.fast', '?.equal_?', '?.slow', '?.high', '?.low', '?.delayed', '?.out_high', '?.out_low']\n\
    clocks = true\n";

fn both(rig: &str) -> Rig {
    two(rig, &format!("[record]\nformat = ['csv', 'mcap']\n{CLOCKS}"))
}

/// The times of the rows in which a clock has ticked; in all others it has not.
fn ticked(run: &Outcome, clock: &str) -> Vec<f64> {
    let signals = run.signals();
    let rows: Vec<(f64, &str)> = signals.times().into_iter().zip(signals.column(clock)).collect();
    assert!(rows.iter().all(|(_, cell)| ["0", "1"].contains(cell)), "{clock}");
    rows.into_iter().filter(|(_, cell)| *cell == "1").map(|(time, _)| time).collect()
}

/// What the FMU says of itself. Several partitions tick out_high and out_low, some of them at the same instant, before others
/// that could and do not.
#[test]
fn a_clock_shows_1_at_each_instant_at_which_it_has_ticked() {
    let run = both(VIRTUAL).run().exits(0);
    let mut seen = 0;
    for fmu in ["a", "b"] {
        let trace = run.trace(fmu);
        for clock in INPUTS {
            let expected = trace.activations(clock);
            assert_eq!(ticked(&run, &format!("{fmu}.{}", NAMES[clock as usize])), expected);
            seen += expected.len();
        }
        for output in [OUT_HIGH, OUT_LOW] {
            let ticks = trace.events.iter().filter(|event| event.is("tick", "note") && event.vr == output);
            let mut expected: Vec<f64> = ticks.map(|event| event.time).collect();
            expected.sort_by(f64::total_cmp);
            expected.dedup();
            assert_eq!(ticked(&run, &format!("{fmu}.{}", NAMES[output as usize])), expected);
            seen += expected.len();
        }
    }
    assert!(seen > 1400, "{seen}");
}

#[test]
fn all_formats_have_the_same_ticks_and_messages_say_which_activation_has_ticked() {
    let run = both(VIRTUAL).run().exits(0);
    let csv = rows(&run.out.join("signals.csv"));
    assert!(rows(&run.out.join("signals.mcap")) == csv);
    let json = two(VIRTUAL, &format!("[record]\nformat = 'mcap'\nmcap = 'json'\n{CLOCKS}")).run().exits(0);
    assert!(rows(&json.out.join("signals.mcap")) == csv);
    let (mut ticks, mut others) = (0, 0);
    for (topic, .., text) in messages_of(&json) {
        let message: Value = serde_json::from_str(&text).unwrap();
        // Only who ticks a clock, or may, says something of it.
        assert_eq!(
            message.get("fast").and_then(Value::as_bool),
            topic.ends_with("/fast").then_some(true),
            "{topic}: {text}"
        );
        match (topic.as_str(), message.get("out_high").map(|ticked| ticked.as_bool().expect("a Boolean"))) {
            ("/a/fast", Some(true)) => ticks += 1,
            ("/a/fast", Some(false)) => others += 1,
            ("/a/fast" | "/a/slow", None) => panic!("{topic}: {text}"),
            ("/a/high", Some(_)) => panic!("its clocks attribute does not name that: {text}"),
            _ => (),
        }
    }
    assert!(ticks > 40 && others > 240, "{ticks} {others}");
}

/// In the draft a clock can be an array, of which each element is a column.
#[test]
fn elements_of_a_clock_have_columns_of_their_own() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/draft_clocks");
    let run = Rig::new(VIRTUAL)
        .fmu("e", path, "", "")
        .trigger("e.out_each[2]", "e.outside")
        .more("[record]\nclocks = true\nsignals = ['e.*']\n")
        .run()
        .exits(0);
    let of = |clock: &str| ticked(&run, clock);
    for element in [1, 2] {
        let ticks = of(&format!("e.out_each[{element}]"));
        assert!(!ticks.is_empty() && ticks == of(&format!("e.bank[{element}]")), "{ticks:?}");
    }
    // The second one says that what it triggers comes 100 µs later; it ticks when it ticks.
    let later: Vec<f64> = of("e.out_each[2]").iter().map(|time| ((time + 1e-4) * 1e6).round()).collect();
    assert_eq!(of("e.outside").iter().map(|time| (time * 1e6).round()).collect::<Vec<_>>(), later);
}

/// What rigs without the key record is what they always have.
#[test]
fn clocks_are_recorded_where_the_rig_says_so() {
    let without = two(VIRTUAL, "[record]\nsignals = ['*']\n").run().exits(0).signals();
    assert!(!without.names.iter().any(|name| name == "a.fast"));
    let with = two(VIRTUAL, "[record]\nsignals = ['*']\nclocks = true\n").run().exits(0).signals();
    for name in &without.names {
        assert!(with.column(name) == without.column(name), "{name}");
    }
    let clocks = with.names.iter().filter(|name| !without.names.contains(name)).count();
    assert_eq!(clocks, 2 * 9);
}

/// One partition ticks, so that no other one comes in the midst of it.
#[test]
fn real_time_records_the_ticks_of_virtual_time() {
    shared_core(|| {
        let kinds = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/clock_kinds");
        let csv = |mode: &str| {
            let rig = Rig::new(&format!("stop_time = 0.5\n{mode}"))
                .fmu("k", kinds.clone(), "tick_every = 2, arm_every = 3", "")
                .trigger("k.out", "k.triggered")
                .more("[record]\nclocks = true\nsignals = ['k.base', 'k.out', 'k.triggered', 'k.countdown', 'k.fixed_given']\n");
            let run = rig.run().exits(0);
            let columns = run.report()["signals"].clone();
            assert!(columns.as_array().unwrap().iter().all(|column| column["type"] == "Clock"), "{columns}");
            assert_eq!(run.report()["promise"]["covered"], 5);
            fs::read_to_string(run.out.join("signals.csv")).unwrap()
        };
        let (real, virtual_time) = (csv("overrun = 'queue'"), csv("mode = 'virtual'"));
        assert!(real == virtual_time && real.lines().count() > 75, "{real}");
    });
}

/// Of every second tick, as the rule says; and no tick is left out because it is like the one before.
#[test]
fn rules_count_ticks() {
    let record = |rule: &str| format!("[record]\nclocks = true\nsignals = ['a.slow', 'a.count_fast']\n{rule}");
    let ticks = |rule: &str| ticked(&two(VIRTUAL, &record(rule)).run().exits(0), "a.slow").len();
    assert_eq!(ticks(""), 30);
    assert_eq!(ticks("[[record.rule]]\nsignals = ['a.slow']\nevery = 2\n"), 15);
    assert_eq!(ticks("[[record.rule]]\nsignals = ['*']\nchange = true\n"), 30);
}

/// A clock that is 1 in every row is no constant line: each tick is drawn, whatever the recording is in.
#[test]
fn ticks_are_drawn_as_spikes() {
    let drawn = |format: &str| {
        let record = format!("[record]\nclocks = true\nformat = '{format}'\nsignals = ['a.slow']\n");
        let run = two(VIRTUAL, &record).run().exits(0);
        let arguments = ["plot", ".", "a.slow", "-o", "slow.svg"];
        let plot = Command::new(env!("CARGO_BIN_EXE_vecud")).current_dir(&run.out).args(arguments).output().unwrap();
        assert!(plot.status.success(), "{plot:?}");
        let page = run.file("report.html");
        assert!(!page.contains("Not drawn, since it never changed"), "{format}");
        run.file("slow.svg")
    };
    let csv = drawn("csv");
    assert_eq!(csv, drawn("mcap"));
    let line = csv.split("<path class=\"line").nth(1).unwrap().split("/>").next().unwrap();
    // A stroke for each of them.
    assert_eq!(line.matches('V').count(), 30, "{line}");
}
