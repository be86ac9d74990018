//! Clocks of FMUs for Co-Simulation (semantics S22): `fmus/step_clocks` refuses every call that is out of place within an
//! iteration of Event Mode, a tick off its time, and a step beyond the next tick of a clock.

use super::program::{Outcome, Rig, real_time, skipped};
use super::{numbers, run};
use std::path::{Path, PathBuf};

fn fmu(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(name).display().to_string()
}

fn rig(seconds: &str, rest: &str) -> Rig {
    let text = rest.replace("STEP_CLOCKS", &fmu("step_clocks")).replace("THREE", &fmu("three_input_clocks"));
    let text = text.replace("PLANT", &fmu("engine_plant"));
    Rig::of_text(&format!("[rig]\nstop_time = {seconds}\n[record]\nclocks = true\n{text}"))
}

/// The instants at which a recorded clock has ticked.
fn ticks(outcome: &Outcome, clock: &str) -> Vec<f64> {
    let rows = outcome.signals().times().into_iter().zip(numbers(outcome, clock));
    rows.filter(|(_, ticked)| *ticked == 1.0).map(|(time, _)| time).collect()
}

/// What both modes record, which is the same.
fn in_both_modes(test: &str, rig: &Rig) -> Outcome {
    let outcome = run(rig, "virtual").exits(0);
    real_time(test, || assert_eq!(run(rig, "realtime").exits(0).file("signals.csv"), outcome.file("signals.csv")));
    outcome
}

/// 15 ms; 7 and 11 ms in turns; 4.3 ms after each call; a list. None of them is on the grid of the steps, 10 ms.
#[test]
fn clocks_of_all_kinds_tick_at_their_instants_in_both_modes() {
    let rig = rig(
        "0.1",
        "[fmu.s]\npath = 'STEP_CLOCKS'\n[[trigger]]\nclock = 's.called'\nat = [0.002, 0.03, 0.0333, 0.09]\n",
    );
    let outcome = in_both_modes("clocks_of_all_kinds_tick_at_their_instants_in_both_modes", &rig);
    assert_eq!(ticks(&outcome, "s.every"), [0.0, 0.015, 0.03, 0.045, 0.06, 0.075, 0.09]);
    assert_eq!(ticks(&outcome, "s.out"), ticks(&outcome, "s.every"));
    let changing = [0.007, 0.018, 0.025, 0.036, 0.043, 0.054, 0.061, 0.072, 0.079, 0.09, 0.097];
    assert_eq!(ticks(&outcome, "s.changing"), changing);
    assert_eq!(ticks(&outcome, "s.called"), [0.002, 0.03, 0.0333, 0.09]);
    // The call at 33.3 ms comes before the one at 30 ms is over, and counts instead.
    assert_eq!(ticks(&outcome, "s.later"), [0.0063, 0.0376, 0.0943]);
    // Every communication point is a row, and every row is one.
    let grid = (0..=10).map(|k| f64::from(k) / 100.0);
    let mut points: Vec<f64> = ["s.every", "s.changing", "s.called", "s.later"].map(|c| ticks(&outcome, c)).concat();
    points.extend(grid);
    points.sort_by(f64::total_cmp);
    points.dedup();
    assert_eq!(outcome.signals().times(), points);
}

/// The order of the released standard (semantics S22), call by call.
#[test]
fn an_iteration_makes_its_calls_in_order() {
    let rig = rig(
        "0.012",
        "[fmu.s]\npath = 'STEP_CLOCKS'\nlog = true\nstart = { log_calls = true, delay = 0 }\n\
         [[trigger]]\nclock = 's.called'\nat = [0.002]\n",
    );
    let log = run(&rig, "virtual").exits(0).file("run.log");
    let calls: Vec<&str> = log.lines().filter_map(|line| line.split("[logEvents] ").nth(1)).collect();
    let iteration = |time: &str, intervals: usize| {
        let mut calls = ["set clocks", "get clocks", "update"].map(|call| format!("{time} {call}")).to_vec();
        calls.extend(vec![format!("{time} intervals"); intervals]);
        calls
    };
    let mut expected = vec!["0 intervals".to_owned(), "0 intervals".to_owned()];
    expected.extend(iteration("0", 1));
    expected.extend(["0 enter step mode", "0 step", "0.002 enter event mode"].map(str::to_owned));
    expected.extend(iteration("0.002", 1));
    // The countdown says 0: it ticks in an iteration of its own.
    expected.extend(iteration("0.002", 1));
    expected.extend(["0.002 enter step mode", "0.002 step", "0.007 enter event mode"].map(str::to_owned));
    expected.extend(iteration("0.007", 2));
    expected.extend(["0.007 enter step mode", "0.007 step", "0.01 step"].map(str::to_owned));
    assert_eq!(calls, expected);
}

/// Two FMUs with connected clocks make their steps together: what one ticks, the other has in the same instant, with the value
/// that goes with it, and there and back again.
#[test]
fn fmus_with_connected_clocks_make_their_steps_together() {
    let rig = rig(
        "0.1",
        "[fmu.a]\npath = 'STEP_CLOCKS'\n[fmu.b]\npath = 'STEP_CLOCKS'\nstart = { out_each = 2, delay = 0 }\n\
         [[trigger]]\nclock = 'b.called'\nfrom = 'a.out'\n[[trigger]]\nclock = 'a.called'\nfrom = 'b.later'\n\
         [[connect]]\nfrom = 'a.payload'\nto = 'b.message'\n",
    );
    let outcome = in_both_modes("fmus_with_connected_clocks_make_their_steps_together", &rig);
    let every = ticks(&outcome, "a.every");
    for clock in ["a.out", "b.called", "b.later", "a.called", "b.every"] {
        assert_eq!(ticks(&outcome, clock), every, "{clock}");
    }
    let called = |time: &&f64| every.contains(time);
    let rows = outcome.signals().times();
    let at = |column: &str| {
        let values = numbers(&outcome, column).into_iter().zip(&rows);
        values.filter(|(_, time)| called(time)).map(|(value, _)| value).collect::<Vec<_>>()
    };
    assert_eq!(at("b.last_message"), (1..=7).map(|k| 1000.0 + f64::from(k)).collect::<Vec<_>>());
    assert_eq!(at("b.message"), at("b.last_message"));
    // A communication point of one is one of all: the countdown of `a` and the changing clocks of both.
    assert_eq!(outcome.count("a", "step", "activations"), outcome.count("b", "step", "activations"));
    assert_eq!(outcome.count("a", "step", "activations") as usize, rows.len() - 1);
}

/// A tick of a partition at τ is set at the first communication point strictly after τ; what a step ticks has its own time,
/// and the value goes with it.
#[test]
fn partitions_and_steps_tick_one_another() {
    let rig = rig(
        "0.2",
        "[fmu.s]\npath = 'STEP_CLOCKS'\n[fmu.t]\npath = 'THREE'\n\
         [[trigger]]\nclock = 's.called'\nfrom = 't.OutClock'\n[[trigger]]\nclock = 't.AperiodicClock'\nfrom = 's.out'\n\
         [[connect]]\nfrom = 's.payload'\nto = 't.BIn'\n[[connect]]\nfrom = 't.AOut'\nto = 's.message'\n\
         [[connect]]\nfrom = 's.last_called'\nto = 't.AIn1'\n",
    );
    let outcome = in_both_modes("partitions_and_steps_tick_one_another", &rig);
    let times = outcome.signals().times();
    let raised = ticks(&outcome, "t.OutClock");
    assert!(raised.len() > 5);
    let after = |tick: &f64| *times.iter().find(|time| *time > tick && is_point(&outcome, **time)).unwrap();
    assert_eq!(ticks(&outcome, "s.called"), raised.iter().map(after).collect::<Vec<_>>());
    assert_eq!(outcome.count("s", "step", "deferred") as usize, raised.len());
    assert_eq!(ticks(&outcome, "t.AperiodicClock"), ticks(&outcome, "s.every"));
    let expected: Vec<f64> = (1..=ticks(&outcome, "s.every").len()).map(|k| 1000.0 + k as f64).collect();
    let got: Vec<f64> = times
        .iter()
        .zip(numbers(&outcome, "t.BOut"))
        .filter(|(time, _)| ticks(&outcome, "s.every").contains(time))
        .map(|(_, value)| value)
        .collect();
    assert_eq!(got, expected);
}

/// Whether the step FMU of that rig has a communication point at this time: the grid of 10 ms, or one of its clocks.
fn is_point(outcome: &Outcome, time: f64) -> bool {
    let on_grid = ((time * 100.0) - (time * 100.0).round()).abs() < 1e-9;
    on_grid || ["s.every", "s.changing", "s.later"].iter().any(|clock| ticks(outcome, clock).contains(&time))
}

/// A state knows when clocks tick next, and which ticks wait for a communication point.
#[test]
fn a_run_that_is_cut_anywhere_ticks_and_records_the_same() {
    let rig = rig(
        "0.2",
        "[fmu.a]\npath = 'STEP_CLOCKS'\n[fmu.b]\npath = 'STEP_CLOCKS'\nstart = { early = 0.03125 }\n\
         [fmu.t]\npath = 'PLANT'\n\
         [[trigger]]\nclock = 'b.called'\nfrom = 'a.out'\n[[trigger]]\nclock = 'a.called'\nfrom = 't.crank_tooth'\n\
         [[connect]]\nfrom = 'a.payload'\nto = 'b.message'\n",
    );
    let state = rig.folder().join("state");
    let state = state.to_str().unwrap();
    let rows = |arguments: &[&str]| {
        let outcome = rig.run_with(&[&["--mode", "virtual"], arguments].concat()).exits(0);
        outcome.file("signals.csv").lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let whole = rows(&["--stop-time", "0.2"]);
    for cut in ["0.05", "0.0611", "0.1", "0.1001"] {
        let mut parts = rows(&["--stop-time", cut, "--save-state", state]);
        parts.extend(rows(&["--stop-time", "0.2", "--restore-state", state]));
        let different = parts.iter().zip(&whole).position(|(part, whole)| part != whole);
        assert_eq!(
            different,
            None,
            "cut at {cut}: {:?} {:?}",
            different.map(|i| &parts[i]),
            different.map(|i| &whole[i])
        );
        assert_eq!(parts.len(), whole.len(), "cut at {cut}");
    }
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let refused = |rest: &str, words: &[&str]| {
        let outcome = run(&rig("1", rest), "virtual").exits(2);
        assert!(words.iter().all(|word| outcome.stderr.contains(word)), "{words:?}: {}", outcome.stderr);
    };
    let two = "[fmu.a]\npath = 'STEP_CLOCKS'\nstep = '1/100'\n[fmu.b]\npath = 'STEP_CLOCKS'\nstep = '3/200'\n\
               [[trigger]]\nclock = 'b.called'\nfrom = 'a.out'\n";
    refused(two, &["b and a make their steps together", "no multiple"]);
    let figures = "[fmu.s]\npath = 'STEP_CLOCKS'\n[fmu.s.clock.every]\nmax_overruns = 0\n";
    refused(figures, &["s.every ticks between the steps of s", "[fmu.s]"]);
    let led = "[fmu.a]\npath = 'STEP_CLOCKS'\n[fmu.b]\npath = 'STEP_CLOCKS'\nmax_overruns = 0\n\
               [[trigger]]\nclock = 'b.called'\nfrom = 'a.out'\n";
    refused(led, &["b makes its steps together with a", "[fmu.a]"]);
    let timing = "[fmu.a]\npath = 'STEP_CLOCKS'\n[fmu.b]\npath = 'STEP_CLOCKS'\n[[trigger]]\nclock = 'b.called'\nfrom = 'a.out'\n\
                  [[connect]]\nfrom = 'a.payload'\nto = 'b.message'\ntiming = 'delayed'\n";
    refused(timing, &["inside of a group", "leave timing out"]);
}

/// An FMU whose steps may not vary has ticks at instants of its grid alone, and so has who makes steps together with it.
#[test]
fn clocks_off_the_grid_of_steps_that_may_not_vary_are_refused() {
    let folder = crate::program::tempdir().unwrap();
    let rigid = folder.path().join("rigid");
    copy(Path::new(&fmu("step_clocks")), &rigid);
    let xml = std::fs::read_to_string(rigid.join("modelDescription.xml")).unwrap();
    let xml = xml.replace("canHandleVariableCommunicationStepSize=\"true\" ", "");
    std::fs::write(rigid.join("modelDescription.xml"), &xml).unwrap();
    let refused = |text: &str, name: &str| {
        let outcome = run(&rig("0.9", &text.replace("RIGID", &rigid.display().to_string())), "virtual").exits(2);
        let words = format!("{name}.every ticks every 0.015 s, which is not on the grid of its steps, 0.01 s");
        assert!(outcome.stderr.contains(&words), "{}", outcome.stderr);
    };
    refused("[fmu.s]\npath = 'RIGID'\n", "s");
    std::fs::write(
        rigid.join("modelDescription.xml"),
        xml.replace("intervalDecimal=\"0.015\"", "intervalDecimal=\"0.02\""),
    )
    .unwrap();
    let both =
        "[fmu.a]\npath = 'STEP_CLOCKS'\n[fmu.b]\npath = 'RIGID'\n[[trigger]]\nclock = 'b.called'\nfrom = 'a.out'\n";
    refused(both, "a");
}

/// The CAN demonstration of FMI-LS-BUS, three FMUs that others have made: the frames of its published trace. `VECUD_LS_BUS`
/// names the folder with `bus.fmu`, `node1.fmu` and `node2.fmu`.
#[test]
fn the_can_bus_of_fmi_ls_bus_carries_its_published_frames() {
    let test = "the_can_bus_of_fmi_ls_bus_carries_its_published_frames";
    let Some(folder) = std::env::var_os("VECUD_LS_BUS").map(PathBuf::from) else {
        return skipped(test, &"VECUD_LS_BUS does not name the FMUs of the CAN demonstration");
    };
    let mut text = String::from("[rig]\nstop_time = 1.5\n[record]\ntext_size = 64\nclocks = true\n");
    for name in ["bus", "node1", "node2"] {
        text += &format!("[fmu.{name}]\npath = '{}'\nstep = '1/10'\n", folder.join(format!("{name}.fmu")).display());
    }
    for node in ["1", "2"] {
        text += &format!(
            "[[connect]]\nfrom = 'node{node}.CanChannel.Tx_Data'\nto = 'bus.Node{node}.Rx_Data'\n\
             [[connect]]\nfrom = 'bus.Node{node}.Tx_Data'\nto = 'node{node}.CanChannel.Rx_Data[1]'\n\
             [[trigger]]\nclock = 'bus.Node{node}.Rx_Clock'\nfrom = 'node{node}.CanChannel.Tx_Clock'\n\
             [[trigger]]\nclock = 'node{node}.CanChannel.Rx_Clock'\nfrom = 'bus.Node{node}.Tx_Clock'\n"
        );
    }
    let outcome = in_both_modes(test, &Rig::of_text(&text));
    let (frame, confirmation) = ("0x1000000014000000010000000000040001020304", "0x200000000c00000001000000");
    let times = outcome.signals().times();
    let cell = |column: &str, time: f64| {
        let row = times.iter().position(|at| *at == time).unwrap_or_else(|| panic!("no row at {time}"));
        outcome.signals().column(column)[row].to_owned()
    };
    for sent in [0.3, 0.6, 0.9, 1.2] {
        let [first, second] = [0.00048, 0.00096].map(|later| ((sent + later) * 1e5_f64).round() / 1e5);
        assert_eq!(cell("node1.CanChannel.Tx_Data", sent), frame);
        assert_eq!(cell("bus.Node2.Rx_Data", sent), frame);
        let received = |node: u32, time| cell(&format!("node{node}.CanChannel.Rx_Data[1]"), time);
        let mut both = [[received(1, first), received(2, first)], [received(1, second), received(2, second)]];
        // Which of the two wins the arbitration is the bus's affair.
        both.sort();
        assert_eq!(both, [[frame, confirmation], [confirmation, frame]]);
        for clock in
            ["bus.Node1.Tx_Clock", "bus.Node2.Tx_Clock", "node1.CanChannel.Rx_Clock", "node2.CanChannel.Rx_Clock"]
        {
            let expected = [first, second];
            let own: Vec<f64> =
                ticks(&outcome, clock).into_iter().filter(|t| (sent..sent + 0.01).contains(t)).collect();
            assert_eq!(own, expected, "{clock}");
        }
    }
}

/// The four cases of the founding text's figure on early return (requirements, row 75): one FMU returns early at t' and waits in
/// Event Mode; one that has passed t' is taken back and steps there anew; one that has not stepped yet goes no further; one
/// that has passed t' and cannot be taken back has the tick at its own end.
#[test]
fn what_ticks_where_one_has_returned_early_ticks_there_in_all_that_can() {
    let folder = crate::program::tempdir().unwrap();
    let stays = folder.path().join("stays");
    copy(Path::new(&fmu("step_clocks")), &stays);
    let xml = std::fs::read_to_string(stays.join("modelDescription.xml")).unwrap();
    std::fs::write(
        stays.join("modelDescription.xml"),
        xml.replace(" canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"", ""),
    )
    .unwrap();
    let plain = folder.path().join("plain");
    copy(&stays, &plain);
    let xml = std::fs::read_to_string(stays.join("modelDescription.xml")).unwrap();
    std::fs::write(plain.join("modelDescription.xml"), xml.replace(" mightReturnEarlyFromDoStep=\"true\"", ""))
        .unwrap();
    // The order of the steps is that of the rig: `back` and `stays` have passed t' when `early` returns, `later` has not stepped.
    let text = format!(
        "[fmu.back]\npath = 'STEP_CLOCKS'\nstart = {{ out_each = 0 }}\n\
         [fmu.stays]\npath = '{}'\nstart = {{ out_each = 0 }}\n\
         [fmu.early]\npath = 'STEP_CLOCKS'\nstart = {{ out_each = 0, early = 0.03125 }}\n\
         [fmu.later]\npath = '{}'\nstart = {{ out_each = 0 }}\n\
         [[trigger]]\nclock = 'back.called'\nfrom = 'early.out'\n[[trigger]]\nclock = 'stays.called'\nfrom = 'early.out'\n\
         [[trigger]]\nclock = 'later.called'\nfrom = 'early.out'\n",
        stays.display(),
        plain.display()
    );
    let test = "what_ticks_where_one_has_returned_early_ticks_there_in_all_that_can";
    let outcome = in_both_modes(test, &rig("0.12", &text));
    let early = [0.03125, 0.0625, 0.09375];
    assert_eq!(ticks(&outcome, "early.out"), early);
    assert_eq!(ticks(&outcome, "back.called"), early, "taken back");
    assert_eq!(ticks(&outcome, "later.called"), early, "had not stepped");
    // At the communication point that it had come to: the next tick of a clock of one of them, or the grid.
    assert_eq!(ticks(&outcome, "stays.called"), [0.036, 0.07, 0.097]);
    assert_eq!(outcome.signals().last("back.n_later"), 3);
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        match std::fs::metadata(entry.path()).unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => std::fs::write(to.join(entry.file_name()), std::fs::read(entry.path()).unwrap()).unwrap(),
        }
    }
}
