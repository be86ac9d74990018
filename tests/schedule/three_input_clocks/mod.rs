//! The founding text's example of Scheduled Execution, ThreeInputClocks: the order of its events, in
//! virtual time exactly and in real time as in the figure, in both dialects of FMI 3.0.

mod c_interface;
use crate::program;

use program::{Outcome, Rig, real_time};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Value references.
const TEN_MS: u32 = 5;
const APERIODIC: u32 = 6;
const OUT: u32 = 7;
const FIFTY_MS: u32 = 8;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Dialect {
    Released,
    Draft,
}

impl Dialect {
    fn folder(self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(match self {
            Dialect::Released => "three_input_clocks",
            Dialect::Draft => "three_input_clocks_draft",
        })
    }

    /// A rig of this FMU alone. In the draft the FMU says itself what OutClock triggers.
    fn rig(self, rig: &str, start: &str) -> Rig {
        let start = format!("AIn1 = 1.25, AIn2 = 2.5, {start}");
        let rig = Rig::new(rig).fmu("three", self.folder(), &start, "").connect("three.AOut", "three.BIn");
        match self {
            Dialect::Released => rig.trigger("three.OutClock", "three.AperiodicClock"),
            Dialect::Draft => rig,
        }
    }

    /// When OutClock ticks after the activation time of the 10 ms partition: only the draft has a time of its own for it.
    fn tick_after(self, burn_us: f64) -> f64 {
        match self {
            Dialect::Released => 0.0,
            Dialect::Draft => 0.6 * burn_us * 1e-6,
        }
    }

    fn clock_names(self) -> [(&'static str, u64); 3] {
        match self {
            Dialect::Released => [("Clock10ms", 600), ("AperiodicClock", 300), ("Clock50ms", 120)],
            Dialect::Draft => [("10msClock", 600), ("AperiodicClock", 300), ("50msClock", 120)],
        }
    }
}

/// What happens, to which clock, at which activation time.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Begin(u32, f64),
    End(u32, f64),
    /// OutClock ticks, inside the callback is read once, and is active.
    TickRead,
    /// The host sets or reads a variable.
    Set(u32),
    Get(u32),
}

fn seen(run: &Outcome) -> Vec<Seen> {
    let trace = run.trace("three");
    assert_eq!(trace.violations(), 0, "{:?}", trace.summary);
    let mut inside: Option<u32> = None;
    let mut seen = Vec::new();
    for event in &trace.events {
        match (event.what.as_str(), event.phase.as_str()) {
            ("activate", "begin") => seen.push(Seen::Begin(event.clock, event.time)),
            ("activate", "end") => seen.push(Seen::End(event.clock, event.time)),
            ("set", "note") => seen.push(Seen::Set(event.vr)),
            ("get", "note") => seen.push(Seen::Get(event.vr)),
            ("update", "begin") => inside = Some(0),
            ("update", "end") => assert_eq!(inside.take(), Some(1), "OutClock is read once in each callback"),
            ("get_clock", "end") => {
                let reads = inside.as_mut().expect("only in callbacks");
                *reads += 1;
                assert_eq!((event.vr, event.n, event.hash), (OUT, 1, 1 << OUT), "it is found active");
                seen.push(Seen::TickRead);
            }
            _ => {}
        }
    }
    seen
}

fn activations(seen: &[Seen]) -> Vec<Seen> {
    seen.iter().filter(|event| !matches!(event, Seen::Set(_) | Seen::Get(_))).cloned().collect()
}

/// By the rules: at one instant the more urgent partition first, a triggered one after the one that has triggered it.
fn virtual_order(dialect: Dialect) -> Vec<Seen> {
    let mut order = Vec::new();
    for k in 0..600 {
        let time = f64::from(k) / 100.0;
        order.push(Seen::Begin(TEN_MS, time));
        if k % 2 == 0 {
            order.push(Seen::TickRead);
        }
        order.push(Seen::End(TEN_MS, time));
        if k % 2 == 0 {
            let time = time + dialect.tick_after(0.0);
            order.extend([Seen::Begin(APERIODIC, time), Seen::End(APERIODIC, time)]);
        }
        if k % 5 == 0 {
            order.extend([Seen::Begin(FIFTY_MS, time), Seen::End(FIFTY_MS, time)]);
        }
    }
    order
}

fn six_virtual_seconds(dialect: Dialect) {
    let run = dialect.rig("mode = 'virtual'\nstop_time = 6", "").run().exits(0);
    let seen = seen(&run);
    let (found, wanted) = (activations(&seen), virtual_order(dialect));
    let different = found.iter().zip(&wanted).position(|(found, wanted)| found != wanted);
    if let Some(at) = different {
        panic!("event {at}: {:?}, wanted {:?}", &found[at.saturating_sub(2)..=at], &wanted[at.saturating_sub(2)..=at]);
    }
    assert_eq!(found.len(), wanted.len());
    for (clock, count) in dialect.clock_names() {
        assert_eq!(run.count("three", clock, "activations"), count, "{clock}");
    }
    // Set, activate, get: inputs before their partition, outputs after it.
    let begins = |seen: &[Seen], clock| seen.iter().position(|event| matches!(event, Seen::Begin(c, _) if *c == clock));
    for (clock, input, output) in [(TEN_MS, None, 2), (APERIODIC, Some(3), 4)] {
        let begin = begins(&seen, clock).unwrap();
        assert!(seen[..begin].iter().all(|event| *event != Seen::Get(output)), "clock {clock}");
        assert!(seen[begin..].contains(&Seen::Get(output)), "clock {clock}");
        assert!(input.is_none_or(|input| seen[..begin].contains(&Seen::Set(input))), "clock {clock}");
    }
    let signals = run.signals();
    assert!(signals.column("three.AOut").iter().all(|value| *value == "3.75"), "AIn1 + AIn2");
    assert!(signals.column("three.BOut").iter().all(|value| *value == "3.75"), "what BIn was given, from the first on");
}

#[test]
fn six_seconds_in_virtual_time_have_the_order_of_the_rules() {
    six_virtual_seconds(Dialect::Released);
}

#[test]
fn six_seconds_in_virtual_time_have_the_same_order_in_the_draft() {
    six_virtual_seconds(Dialect::Draft);
}

/// The figure, up to the third release after the start: most urgent first, and who preempts whom.
fn figure(dialect: Dialect, burn_us: f64) -> Vec<Seen> {
    let (t0, t1, t2, t3) = (0.0, 0.01, 0.02, 0.03);
    let (ta0, ta1) = (t0 + dialect.tick_after(burn_us), t2 + dialect.tick_after(burn_us));
    use Seen::{Begin, End, TickRead};
    vec![
        Begin(TEN_MS, t0), // the 50 ms partition is released too, and waits
        TickRead,          // the aperiodic one waits as well
        End(TEN_MS, t0),
        Begin(APERIODIC, ta0),
        Begin(TEN_MS, t1), // preempts, and does not tick
        End(TEN_MS, t1),
        End(APERIODIC, ta0),
        Begin(FIFTY_MS, t0), // still its own activation time
        Begin(TEN_MS, t2),   // preempts
        TickRead,
        End(TEN_MS, t2),
        Begin(APERIODIC, ta1), // before the 50 ms partition goes on
        End(APERIODIC, ta1),
        End(FIFTY_MS, t0),
        Begin(TEN_MS, t3),
    ]
}

/// Partitions whose ends are further from releases than in the figure, a millisecond at least, and five before the last one, so
/// that a slower machine keeps the order: 2.0 ms, tick after 1.2 ms, 9.0 then 2.0 ms, 8.0 ms.
fn preemption_of_the_figure(dialect: Dialect) {
    let start = "burn_10ms_us = 2000, burn_aperiodic_first_us = 9000, burn_aperiodic_us = 2000, burn_50ms_us = 8000";
    let wanted = figure(dialect, 2000.0);
    // Whoever else the machine works for may take the core for milliseconds; then the order is another one.
    let mut found = Vec::new();
    for _ in 0..5 {
        let run = dialect.rig("stop_time = 0.05", start).run().exits(0);
        let trace = run.trace("three");
        let tid = |clock| {
            let mut of: Vec<u32> =
                trace.events.iter().filter(|e| e.is("activate", "begin") && e.clock == clock).map(|e| e.tid).collect();
            of.dedup();
            assert_eq!(of.len(), 1, "one thread for clock {clock}");
            of[0]
        };
        let mut threads = [TEN_MS, APERIODIC, FIFTY_MS].map(tid);
        threads.sort_unstable();
        assert!(threads.windows(2).all(|pair| pair[0] != pair[1]), "a thread for each clock");
        found = activations(&seen(&run));
        found.truncate(wanted.len());
        if found == wanted {
            return;
        }
    }
    assert_eq!(found, wanted, "in none of five runs");
}

#[test]
fn partitions_preempt_each_other_as_in_the_figure() {
    real_time("partitions_preempt_each_other_as_in_the_figure", || {
        preemption_of_the_figure(Dialect::Released);
    });
}

#[test]
fn partitions_of_the_draft_preempt_each_other_as_in_the_figure() {
    real_time("partitions_of_the_draft_preempt_each_other_as_in_the_figure", || {
        preemption_of_the_figure(Dialect::Draft);
    });
}

#[test]
fn the_examples_run_in_virtual_time() {
    for (example, dialect) in [("three_input_clocks", Dialect::Released), ("three_input_clocks_draft", Dialect::Draft)]
    {
        let rig = Rig::of_file(&format!("examples/{example}.toml"));
        let mut command = rig.command();
        command.args(["--mode", "virtual", "--stop-time", "0.1"]);
        let run = rig.finish(rig.start(command)).exits(0);
        for (clock, count) in dialect.clock_names() {
            assert_eq!(run.count("three", clock, "activations"), count / 60, "{clock}");
        }
        assert_eq!(run.signals().last("three.violations"), 0);
    }
}

fn inspect(dialect: Dialect, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
    command.arg("inspect").arg(dialect.folder()).args(arguments).env("VECUD_CACHE", program::cache());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn inspect_shows_dialect_clocks_and_who_triggers_whom() {
    let text = inspect(Dialect::Draft, &[]);
    for part in [
        "ThreeInputClocks (FMI 3.0, draft dialect)\n",
        "\
Clocks
  name            reference  causality  kind               interval  shift  priority
  10msClock               5  input      strictly periodic  10 ms                   1
  AperiodicClock          6  input      aperiodic                                  2
  OutClock                7  output     aperiodic                                  2
  50msClock               8  input      strictly periodic  50 ms                   3
",
        "\nWho may tick what\n  OutClock may tick in 10msClock, triggers AperiodicClock\n",
    ] {
        assert!(text.contains(part), "{part}\nis not in\n{text}");
    }
    let json: serde_json::Value = serde_json::from_str(&inspect(Dialect::Draft, &["--json"])).unwrap();
    assert_eq!(json["dialect"], "draft");
    let graph = serde_json::json!([{ "clock": "OutClock", "ticksIn": ["10msClock"], "triggers": ["AperiodicClock"] }]);
    assert_eq!(json["clockGraph"], graph);
    let clocks: Vec<_> = json["variables"].as_array().unwrap().iter().filter(|v| v["type"] == "Clock").collect();
    assert_eq!(clocks[1]["clock"]["triggeredBy"], "OutClock");
    assert!(clocks.iter().all(|clock| clock["clock"]["clockType"] == "communicationPoint"));
    // The rig decides what is triggered in the released dialect.
    let text = inspect(Dialect::Released, &[]);
    assert!(text.starts_with("ThreeInputClocks (FMI 3.0)\n"), "{text}");
    assert!(text.contains("\n  OutClock may tick in Clock10ms\n"), "{text}");
}

#[test]
fn a_rig_says_which_dialect_an_fmu_is_of() {
    let rig = |dialect: &str| {
        let keys = format!("dialect = '{dialect}'");
        Rig::new("mode = 'virtual'\nstop_time = 0.1").fmu("three", Dialect::Released.folder(), "", &keys)
    };
    let refused = rig("draft").run().exits(2);
    assert!(refused.stderr.contains("attribute `clockType` is missing"), "{}", refused.stderr);
    let unknown = rig("beta").run().exits(2);
    assert!(unknown.stderr.contains("dialect must be \"draft\" or \"released\", not \"beta\""), "{}", unknown.stderr);
    rig("released").run().exits(0);
}
