//! Clocks of FMUs for Model Exchange (semantics S22, S25): `fmus/sampled` is a plant with a sampled controller, of which each value has
//! a closed form between two ticks. It refuses a tick off its time, one that is left out, and every call that is out of place within an
//! iteration of Event Mode.

use super::program::{Outcome, Rig, cache, real_time};
use super::{numbers, run};
use std::path::{Path, PathBuf};
use std::process::Command;

pub fn fmu(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(name)
}

/// Between two ticks 1 ms is four orders of magnitude below what the fixed step of the order 4 makes of it.
const SOLVER: &str = "solver = 'rk4'\ninternal_step = '1/2000'\n";

/// A rig in which `@NAME` is the path of an FMU of this project, and `SOLVER` the keys of a solver.
pub fn rig(seconds: &str, rest: &str) -> Rig {
    rig_that_records("", seconds, rest)
}

/// Such a rig with further keys of `[record]`.
pub fn rig_that_records(keys: &str, seconds: &str, rest: &str) -> Rig {
    let rest = rest.replace("SOLVER\n", SOLVER);
    let mut text = format!("[rig]\nstop_time = {seconds}\n[record]\nclocks = true\n{keys}{rest}");
    for name in [
        "sampled",
        "sampled_draft",
        "bank_draft",
        "three_input_clocks",
        "engine_plant",
        "step_clocks",
        "rejecting",
        "integrator",
    ] {
        text = text.replace(&format!("@{name}'"), &format!("{}'", fmu(name).display()));
    }
    Rig::of_text(&text)
}

/// The instants at which a recorded clock has ticked.
pub fn ticks(outcome: &Outcome, clock: &str) -> Vec<f64> {
    let signals = outcome.signals();
    let rows = signals.times().into_iter().zip(signals.column(clock));
    // Before a partition has run it has no values.
    rows.filter(|(_, ticked)| **ticked == *"1").map(|(time, _)| time).collect()
}

/// What both modes record, which is the same.
pub fn in_both_modes(test: &str, rig: &Rig) -> Outcome {
    let outcome = run(rig, "virtual").exits(0);
    real_time(test, || assert_eq!(run(rig, "realtime").exits(0).file("signals.csv"), outcome.file("signals.csv")));
    outcome
}

/// The multiples of an interval in milliseconds from 0 up to before the end, in seconds.
pub fn each(interval: u32, end: u32) -> Vec<f64> {
    (0..).map(|k| k * interval).take_while(|at| *at < end).map(|at| f64::from(at) / 1000.0).collect()
}

/// The plant by its closed form, from one tick to the next.
struct Plant {
    time: f64,
    x: f64,
    v: f64,
    y: f64,
    u: f64,
    gain: f64,
}

impl Plant {
    fn new(gain: f64, u: f64) -> Plant {
        Plant { time: 0.0, x: 0.0, v: 0.0, y: 0.0, u, gain }
    }

    /// At a later time: `T der(x) = v + u - x` with T = 0.1.
    fn at(&self, time: f64) -> f64 {
        let goal = self.v + self.u;
        goal + (self.x - goal) * (-(time - self.time) / 0.1).exp()
    }

    fn go(&mut self, time: f64) {
        (self.x, self.time) = (self.at(time), time);
    }

    /// The controller's sample, with r = 1.
    fn sample(&mut self, time: f64) {
        self.go(time);
        self.y = self.x;
        self.v += self.gain * (1.0 - self.x);
    }
}

pub fn off(a: f64, b: f64) -> f64 {
    (a - b).abs()
}

/// 15, 20 and 25 ms; 7 and 11 ms in turns; 4.3 ms after each call; a list. The grid of the steps is 10 ms. In between x is integrated, to the
/// tick exactly: it is where the closed form has it, with the jumps that calls and countdowns make.
#[test]
fn clocks_of_all_kinds_tick_between_integrator_steps_at_their_instants_in_both_modes() {
    let rig = rig(
        "0.1",
        "[fmu.s]\npath = '@sampled'\nstart = { message = 0.5 }\nSOLVER\n\
         [[trigger]]\nclock = 's.called'\nat = [0.002, 0.03, 0.0333, 0.09]\n",
    );
    let test = "clocks_of_all_kinds_tick_between_integrator_steps_at_their_instants_in_both_modes";
    let outcome = in_both_modes(test, &rig);
    let changing = [0.007, 0.018, 0.025, 0.036, 0.043, 0.054, 0.061, 0.072, 0.079, 0.09, 0.097];
    assert_eq!(ticks(&outcome, "s.sample"), each(15, 100));
    assert_eq!(ticks(&outcome, "s.out"), each(15, 100));
    assert_eq!(ticks(&outcome, "s.fixed"), each(20, 100));
    assert_eq!(ticks(&outcome, "s.tuned"), each(25, 100));
    assert_eq!(ticks(&outcome, "s.changing"), changing);
    assert_eq!(ticks(&outcome, "s.called"), [0.002, 0.03, 0.0333, 0.09]);
    // The call at 33.3 ms comes before the countdown of the one at 30 ms is over, and counts instead.
    let later = [0.0063, 0.0376, 0.0943];
    assert_eq!(ticks(&outcome, "s.later"), later);
    for (clock, count) in [
        ("sample", 7),
        ("out", 7),
        ("fixed", 5),
        ("tuned", 4),
        ("changing", 11),
        ("called", 4),
        ("later", 3),
        ("crossed", 0),
    ] {
        assert_eq!(outcome.signals().last(&format!("s.n_{clock}")), count, "{clock}");
    }
    // Every communication point is a row, and every row is one.
    let clocks = ["s.sample", "s.fixed", "s.tuned", "s.changing", "s.called", "s.later"];
    let mut points: Vec<f64> = clocks.map(|clock| ticks(&outcome, clock)).concat();
    points.extend((0..=10).map(|k| f64::from(k) / 100.0));
    points.sort_by(f64::total_cmp);
    points.dedup();
    let times = outcome.signals().times();
    assert_eq!(times, points);
    follows_the_closed_form(&outcome);
}

/// Each row of a plant `s` has what the closed form has, where each call gives 0.5 that the next tick of `later` takes back.
pub fn follows_the_closed_form(outcome: &Outcome) {
    let [x, y, v] = ["s.x", "s.y", "s.v"].map(|column| numbers(outcome, column));
    let [sample, called, later] = ["s.sample", "s.called", "s.later"].map(|clock| ticks(outcome, clock));
    let mut plant = Plant::new(0.2, 0.0);
    let (mut given, mut worst) = (0.0, 0.0_f64);
    for (row, &time) in outcome.signals().times().iter().enumerate() {
        if sample.contains(&time) {
            plant.sample(time);
        }
        plant.go(time);
        if later.contains(&time) {
            plant.x -= std::mem::take(&mut given);
        }
        if called.contains(&time) {
            (plant.x, given) = (plant.x + 0.5, given + 0.5);
        }
        worst = worst.max(off(x[row], plant.x)).max(off(y[row], plant.y)).max(off(v[row], plant.v));
    }
    assert!(worst < 1e-10, "{worst}");
    assert!(v.last().is_some_and(|v| *v > 0.5), "{v:?}");
}

/// A countdown of 0 is a further iteration of the same event: a call takes back at once what it has given, and x goes on where it was.
#[test]
fn a_countdown_of_nothing_ticks_in_the_same_instant() {
    let rig = rig(
        "0.1",
        "[fmu.s]\npath = '@sampled'\nstart = { message = 0.5, delay = 0 }\nSOLVER\n\
         [[trigger]]\nclock = 's.called'\nat = [0.0333, 0.045]\n",
    );
    let outcome = run(&rig, "virtual").exits(0);
    assert_eq!(ticks(&outcome, "s.later"), [0.0333, 0.045]);
    assert_eq!(outcome.signals().last("s.n_later"), 2);
    let mut plant = Plant::new(0.2, 0.0);
    each(15, 100).into_iter().for_each(|time| plant.sample(time));
    let x = *numbers(&outcome, "s.x").last().unwrap();
    assert!(off(x, plant.at(0.1)) < 1e-10, "{x}");
}

/// Rows of a run in which x is to rise from 0 to 1 with nobody to control it, crosses `level`, and is thrown back where something calls.
pub fn crossing(level: f64) -> f64 {
    // 1 - exp(-t / T) = level.
    -0.1 * (1.0 - level).ln()
}

/// An output clock that ticks at a state event does so at the time of the event, which is a communication point, and what it triggers is
/// activated at that time: a partition with a value, whose own clock ticks in turn are deferred to the next communication point.
#[test]
fn an_output_clock_that_ticks_at_a_state_event_activates_a_partition_at_that_time() {
    let rig = rig(
        "0.12",
        "[fmu.s]\npath = '@sampled'\nstart = { gain = 0, u = 1, level = 0.5 }\nSOLVER\n[fmu.t]\npath = '@three_input_clocks'\n\
         [[trigger]]\nclock = 't.AperiodicClock'\nfrom = 's.crossed'\n[[trigger]]\nclock = 's.called'\nfrom = 't.OutClock'\n\
         [[connect]]\nfrom = 's.crossing'\nto = 't.BIn'\n",
    );
    let test = "an_output_clock_that_ticks_at_a_state_event_activates_a_partition_at_that_time";
    let outcome = in_both_modes(test, &rig);
    let crossed = ticks(&outcome, "s.crossed");
    assert_eq!(crossed.len(), 1, "{crossed:?}");
    assert!(off(crossed[0], crossing(0.5)) < 1e-9, "{crossed:?}");
    assert_eq!(ticks(&outcome, "t.AperiodicClock"), crossed);
    let row = outcome.signals().times().iter().position(|time| *time == crossed[0]).unwrap();
    let told: f64 = outcome.signals().column("t.BOut")[row].parse().unwrap();
    assert_eq!(told, crossed[0]);
    assert!(numbers(&outcome, "s.x")[row] > 0.5 && numbers(&outcome, "s.x")[row] < 0.5 + 1e-9);
    // A tick of a partition at τ is one of the plant at the first communication point strictly after τ.
    let raised = ticks(&outcome, "t.OutClock");
    let points = points(&outcome, &["s.sample", "s.fixed", "s.tuned", "s.changing", "s.crossed", "s.later"]);
    let after = |tick: &f64| points.iter().copied().find(|point| point > tick);
    let mut expected: Vec<f64> = raised.iter().filter_map(after).collect();
    expected.dedup();
    assert!(expected.len() > 3, "{raised:?}");
    assert_eq!(ticks(&outcome, "s.called"), expected);
    assert_eq!(outcome.count("s", "step", "deferred") as usize, raised.len());
}

/// The communication points of an FMU: the grid of 10 ms, and the ticks of clocks of its own.
fn points(outcome: &Outcome, clocks: &[&str]) -> Vec<f64> {
    let end = *outcome.signals().times().last().unwrap();
    let grid = (0..).map(|k| f64::from(k) / 100.0).take_while(|time| *time <= end);
    let mut points: Vec<f64> = clocks.iter().flat_map(|clock| ticks(outcome, clock)).chain(grid).collect();
    points.sort_by(f64::total_cmp);
    points.dedup();
    points
}

/// Two plants whose clocks are connected are integrated together, with a master or without: what one ticks the other has in the same
/// instant, with the value that goes with it, and x jumps there; a state event of one is a tick of the other.
#[test]
fn plants_with_connected_clocks_tick_in_the_same_instant() {
    let two = "[fmu.a]\npath = '@sampled'\nstart = { gain = 0, u = 1, level = 0.5 }\nKEYS[fmu.b]\npath = '@sampled'\nstart = { gain = 0 }\n\
               KEYS[[trigger]]\nclock = 'b.called'\nfrom = 'a.crossed'\n[[connect]]\nfrom = 'a.crossing'\nto = 'b.message'\n\
               [[trigger]]\nclock = 'a.called'\nfrom = 'b.later'\n";
    let mut recorded = Vec::new();
    let alone = two.replace("KEYS", "SOLVER\n");
    let of_master = |algorithm: &str| {
        format!("{}[master.g]\nfmus = ['a', 'b']\nalgorithm = '{algorithm}'\nSOLVER\n", two.replace("KEYS", ""))
    };
    for text in [alone, of_master("jacobi"), of_master("gauss-seidel"), of_master("rollback"), of_master("predictable")]
    {
        let test = "plants_with_connected_clocks_tick_in_the_same_instant";
        let outcome = in_both_modes(test, &rig("0.12", &text));
        // What happens within a release of a master has no row of its own.
        let last = |column: &str| *numbers(&outcome, column).last().unwrap();
        let (crossed, later) = (last("a.last_crossed"), last("b.last_later"));
        if !text.contains("[master.") {
            assert_eq!((ticks(&outcome, "a.crossed"), ticks(&outcome, "b.called")), (vec![crossed], vec![crossed]));
            assert_eq!((ticks(&outcome, "b.later"), ticks(&outcome, "a.called")), (vec![later], vec![later]));
        }
        assert!(off(crossed, crossing(0.5)) < 1e-9, "{crossed}: {text}");
        assert_eq!((last("b.last_called"), last("a.last_called")), (crossed, later), "{text}");
        assert!(off(later, crossed + 0.0043) < 1e-12, "{later}: {text}");
        for (count, value) in
            [("a.n_crossed", 1), ("b.n_called", 1), ("b.n_later", 1), ("a.n_called", 1), ("a.n_later", 1)]
        {
            assert_eq!(outcome.signals().last(count), value, "{count}: {text}");
        }
        assert_eq!(last("b.last_message"), crossed, "{text}");
        // From the tick on b falls from what it was given, and loses that with the countdown.
        let expected = (crossed * (-0.0043_f64 / 0.1).exp() - crossed) * (-(0.12 - later) / 0.1).exp();
        let x = last("b.x");
        assert!(off(x, expected) < 1e-9, "{x} {expected}: {text}");
        recorded.push([crossed, later, last("a.x"), x]);
    }
    assert!(recorded.iter().all(|own| *own == recorded[0]), "{recorded:?}");
}

/// A plant in a group with an FMU for Co-Simulation: whose clocks tick the plant's where all stop at an event, and the plant's its own.
#[test]
fn clocks_of_steps_and_of_a_plant_tick_one_another() {
    let text = "[fmu.a]\npath = '@step_clocks'\nstart = { delay = 0 }\n[fmu.b]\npath = '@sampled'\nstart = { gain = 0 }\nSOLVER\n\
                [[trigger]]\nclock = 'b.called'\nfrom = 'a.out'\n[[connect]]\nfrom = 'a.payload'\nto = 'b.message'\n\
                [[trigger]]\nclock = 'a.called'\nfrom = 'b.out'\n[[connect]]\nfrom = 'b.payload'\nto = 'a.message'\n";
    let outcome = in_both_modes("clocks_of_steps_and_of_a_plant_tick_one_another", &rig("0.1", text));
    let every = each(15, 100);
    for clock in ["a.every", "b.sample", "a.out", "b.out", "b.called", "a.called", "a.later"] {
        assert_eq!(ticks(&outcome, clock), every, "{clock}");
    }
    assert_eq!(
        ticks(&outcome, "b.later"),
        every.iter().map(|time| ((time + 0.0043) * 1e4).round() / 1e4).collect::<Vec<_>>()
    );
    assert_eq!(*numbers(&outcome, "b.last_message").last().unwrap(), 1007.0);
    assert_eq!(*numbers(&outcome, "a.last_message").last().unwrap(), 1007.0);
}

/// A tick of a partition finds a plant in a group, too, at the first communication point strictly after it, which may lie within a step of
/// the group: neither mode has computed beyond that point when the tick comes.
#[test]
fn a_partition_ticks_a_plant_of_a_group_at_the_next_communication_point() {
    for algorithm in ["predictable", "rollback"] {
        let text = format!(
            "[fmu.s]\npath = '@sampled'\nstart = {{ gain = 0 }}\n[fmu.i]\npath = '@integrator'\n[fmu.t]\npath = '@three_input_clocks'\n\
             [master.g]\nfmus = ['s', 'i']\nstep = '1/100'\nalgorithm = '{algorithm}'\nSOLVER\n\
             [[trigger]]\nclock = 's.called'\nfrom = 't.OutClock'\n"
        );
        let test = "a_partition_ticks_a_plant_of_a_group_at_the_next_communication_point";
        let outcome = in_both_modes(test, &rig("0.1", &text));
        assert!(!outcome.stdout.contains("came too late"), "{}", outcome.stdout);
        let raised = ticks(&outcome, "t.OutClock");
        assert_eq!(raised, [0.0, 0.02, 0.04, 0.06, 0.08]);
        // 0.025, for one, is a tick of `tuned` and `changing`, and 0.0063 there is none: that one is armed by the first call.
        assert_eq!(outcome.signals().last("s.n_called"), 5);
        let last = *numbers(&outcome, "s.last_called").last().unwrap();
        // The last countdown is armed at 0.0643; the next tick of any clock after 80 ms is that of `changing`.
        assert_eq!(last, 0.09, "{algorithm}");
    }
}

/// Clocks may tick as often as they like within a step: what `max_events` counts is events that nobody knows beforehand.
#[test]
fn ticks_are_not_counted_as_events_that_a_step_may_have() {
    let keys = "start = { gain = 0, u = 1, level = 0.5 }\nstep = 1\nmax_events = 2\nsolver = 'rk4'\ninternal_step = '1/1000'\n";
    let outcome = run(&rig("1", &format!("[fmu.s]\npath = '@sampled'\n{keys}")), "virtual").exits(0);
    assert_eq!(outcome.finding("s", "too_many_events"), None, "{}", outcome.stdout);
    let crossed = ticks(&outcome, "s.crossed");
    assert!(off(crossed[0], crossing(0.5)) < 1e-9, "{crossed:?}");
    assert_eq!(outcome.signals().last("s.n_sample"), 67);
}

/// A state knows when clocks tick next, and which ticks wait for a communication point.
#[test]
fn a_run_of_a_plant_that_is_cut_anywhere_ticks_and_records_the_same() {
    let rig = rig(
        "0.2",
        "[fmu.s]\npath = '@sampled'\nstart = { message = 0.1, level = 0.4 }\nSOLVER\n[fmu.t]\npath = '@engine_plant'\n\
         [[trigger]]\nclock = 's.called'\nfrom = 't.crank_tooth'\n",
    );
    records_the_same_when_cut(&rig, &["0.03", "0.05", "0.06", "0.11"]);
}

/// A run of 0.2 s that is saved and taken up again at one of these times has the rows of one that is not.
pub fn records_the_same_when_cut(rig: &Rig, cuts: &[&str]) {
    let state = rig.folder().join("state");
    let state = state.to_str().unwrap();
    let rows = |arguments: &[&str]| {
        let outcome = rig.run_with(&[&["--mode", "virtual"], arguments].concat()).exits(0);
        outcome.file("signals.csv").lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let whole = rows(&["--stop-time", "0.2"]);
    for cut in cuts {
        let mut parts = rows(&["--stop-time", cut, "--save-state", state]);
        parts.extend(rows(&["--stop-time", "0.2", "--restore-state", state]));
        let different = parts.iter().zip(&whole).find(|(part, whole)| part != whole);
        assert_eq!(different, None, "cut at {cut}");
        assert_eq!(parts.len(), whole.len(), "cut at {cut}");
    }
}

/// The rig says the intervals of clocks that leave them to the importer.
#[test]
fn intervals_of_the_rig_are_told_to_a_plant_and_kept() {
    let keys = "[fmu.s]\npath = '@sampled'\nSOLVER\n[fmu.s.clock.fixed]\ninterval = '1/80'\n[fmu.s.clock.tuned]\ninterval = '3/100'\n";
    let outcome = run(&rig("0.1", keys), "virtual").exits(0);
    assert_eq!(ticks(&outcome, "s.fixed"), (0..8).map(|k| f64::from(k) / 80.0).collect::<Vec<_>>());
    assert_eq!(ticks(&outcome, "s.tuned"), each(30, 100));
}

#[test]
fn what_cannot_be_of_a_plants_clocks_is_refused_with_its_place() {
    let plant = "[fmu.s]\npath = '@sampled'\n[fmu.t]\npath = '@sampled'\nstep = '3/200'\n";
    for (rest, place, words) in [
        ("[fmu.s.clock.sample]\ninterval = '1/10'\n", "11:12: ", "it is a constant clock, not a fixed or tunable one"),
        ("[fmu.s.clock.sample]\nmax_overruns = 0\n", "10:14: ", "in [fmu.s]"),
        (
            "[fmu.s.clock.sample]\nmax_overruns = 0\n",
            "10:14: ",
            "s.sample ticks between the steps of s (Model Exchange)",
        ),
        ("[fmu.s.clock.none]\ninterval = 1\n", "10:14: ", "s has no input clock \"none\""),
        ("[[trigger]]\nclock = 's.sample'\nat = [0.1]\n", "11:9: ", "only triggered clocks can have a trigger"),
        ("[[trigger]]\nclock = 's.out'\nat = [0.1]\n", "11:9: ", "s.out is no input clock"),
        ("[[trigger]]\nclock = 's.called'\nfrom = 't.x'\n", "12:8: ", "only output clocks can trigger"),
        (
            "[[trigger]]\nclock = 't.called'\nfrom = 's.out'\n",
            "9:8: ",
            "is no multiple of the shortest of them, 0.01 s: give it one",
        ),
    ] {
        let rig = rig("1", &format!("{plant}{rest}"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
        command.arg("check").arg(rig.file()).env("VECUD_CACHE", cache());
        let outcome = rig.finish(rig.start(command)).exits(2);
        assert!(outcome.stderr.contains(place) && outcome.stderr.contains(words), "{rest}: {}", outcome.stderr);
    }
}
