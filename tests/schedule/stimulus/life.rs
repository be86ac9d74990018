//! Runs that end early, runs that are cut in two, files that break off: nothing is lost, nothing is left behind.

use super::program::{PATIENCE, Rig, clock, runner_of, send, shared_core};
use super::{Numbers, draw, drive, fed, run};
use crate::wait_until_recorded;
use nix::sys::signal::Signal;
use std::time::Duration;

fn integer(numbers: &mut Numbers) -> String {
    numbers.below(100).to_string()
}

fn boolean(numbers: &mut Numbers) -> String {
    numbers.below(2).to_string()
}

fn driven(seed: u64, interpolation: &str) -> (Rig, super::Drawn) {
    let drawn = draw(seed, "a.in_f64,a.in_f32,a.high", &[integer, integer, boolean]);
    (fed("0.5", &format!("interpolation = '{interpolation}'"), &drawn.text), drawn)
}

#[test]
fn a_cut_run_is_the_uncut_one() {
    for (seed, interpolation) in [(1, "hold"), (2, "linear")] {
        let (rig, drawn) = driven(seed, interpolation);
        let whole = run(&rig, &[]).exits(0);
        // The runs to come write to the same folder.
        let (uncut, all_ticks) = (whole.file("signals.csv"), whole.count("a", "high", "activations"));
        let state = rig.folder().join("state");
        let state = state.to_str().unwrap();
        // In the midst of nothing, on the grid, and at a tick.
        let tick =
            drawn.times.iter().zip(&drawn.cells).find(|(time, row)| **time > 100_000 && row[2].as_deref() == Some("1"));
        let tick = format!("{}", *tick.unwrap().0 as f64 / 1e6);
        for cut in ["0.0837", "0.25", tick.as_str()] {
            let first = run(&rig, &["--stop-time", cut, "--save-state", state]).exits(0);
            let (one, ticks) = (first.file("signals.csv"), first.count("a", "high", "activations"));
            let second = run(&rig, &["--restore-state", state]).exits(0);
            let two = second.file("signals.csv");
            let joined = one + two.split_once('\n').unwrap().1;
            let differs = joined.lines().zip(uncut.lines()).find(|(joined, uncut)| joined != uncut);
            assert!(joined == uncut, "cut at {cut} s: {differs:?}");
            let both = ticks + second.count("a", "high", "activations");
            assert_eq!(both, all_ticks, "cut at {cut} s");
        }
    }
}

#[test]
fn a_run_that_a_signal_cuts_in_real_time_loses_no_tick_and_repeats_none() {
    let text = (0..20_000).fold("time,a.in_f64,a.high\n".to_owned(), |text, i| {
        text + &format!("{},{i},{}\n", f64::from(i) / 1e3, i % 3 / 2)
    });
    shared_core(|| {
        let rig = fed("20", "", &text);
        let state = rig.folder().join("state");
        let state = state.to_str().unwrap();
        let mut command = rig.command();
        command.args(["--mode", "realtime", "--save-state", state]);
        let child = rig.start(command);
        wait_until_recorded(&rig.out(), "time", 0.3);
        send(child.id() as i32, Signal::SIGTERM);
        let first = rig.finish(child).exits(0);
        let mut ticks = first.trace("a").activations(clock::HIGH);
        let stop = (ticks.last().unwrap() * 1000.0).round() / 1000.0 + 0.2;
        let second = run(&rig, &["--restore-state", state, "--stop-time", &format!("{stop:.3}")]).exits(0);
        ticks.extend(second.trace("a").activations(clock::HIGH));
        let expected: Vec<f64> = (0..20_000)
            .filter(|i| i % 3 == 2)
            .map(|i| f64::from(i) / 1e3)
            .take_while(|time| *time < stop - 1e-9)
            .collect();
        assert_eq!(ticks, expected);
    });
}

#[test]
fn a_row_that_cannot_be_read_ends_the_run_where_it_would_be_needed() {
    // With ticks nobody knows what else there would have been; without, it concerns those who are fed: fast and slow.
    for ticks in [true, false] {
        let (name, cell) = if ticks { ("a.high", "0") } else { ("a.in_i32", "7") };
        let mut text = format!("time,a.in_u8,a.in_f64,{name}\n");
        (0..3000).for_each(|i| text += &format!("{},{},1,{cell}\n", f64::from(i) / 1e4, i % 256));
        text += "0.3,256,1,1\n0.4,1,1,1\n";
        breaks_off(&fed("0.5", "", &text));
    }
}

fn breaks_off(rig: &Rig) {
    let check = |outcome: super::Outcome| {
        let outcome = outcome.exits(1);
        let words =
            ["drive.csv:3002:5: column 2 (\"a.in_u8\"): \"256\" does not fit a.in_u8", "the run ended where it"];
        outcome.problem(&words);
        assert_eq!(outcome.report()["verdict"], "fail");
        outcome
    };
    let outcome = check(run(rig, &[]));
    // Rows up to 0.2999 s are good: so are the activations up to there.
    assert_eq!(outcome.signals().times().last(), Some(&0.299));
    shared_core(|| {
        let outcome = check(run(rig, &["--mode", "realtime"]));
        let last = *outcome.signals().times().last().unwrap();
        assert!((0.28..0.3).contains(&last), "{last}");
    });
    // Nobody needs it.
    let outcome = run(rig, &["--stop-time", "0.2"]).exits(0);
    assert_eq!(outcome.report()["problems"].as_array().unwrap().len(), 0, "{:?}", outcome.problems());
}

#[test]
fn an_activation_that_comes_before_its_row_is_counted() {
    shared_core(|| {
        // Far more rows in a moment than anybody reads in that moment.
        let mut text = "time,a.in_f64\n0,1\n0.1,2\n".to_owned();
        (0..400_000).for_each(|i| text += &format!("{:.9},{i}\n", 0.2 + f64::from(i) * 1e-9));
        text += "0.9,3\n";
        let rig = fed("0.3", "", &text);
        let outcome = run(&rig, &["--mode", "realtime"]).exits(0);
        let stimulus = &outcome.report()["stimuli"][0];
        assert!(stimulus["starved"].as_u64().unwrap() > 0, "{stimulus}");
        assert_eq!(stimulus["first_starved"]["clock"], "a.fast");
        assert!((0.2..0.3).contains(&stimulus["first_starved"]["time"].as_f64().unwrap()), "{stimulus}");
        outcome.problem(&["came before the file was read that far", "first clock a.fast at 0.2"]);
        let outcome = run(&rig, &[]).exits(0);
        assert_eq!(outcome.report()["stimuli"][0]["starved"], 0, "virtual time waits");
    });
}

#[test]
fn ctrl_c_in_the_midst_leaves_nobody_behind() {
    shared_core(|| {
        let text = (0..200_000)
            .fold("time,a.in_f64,a.high\n".to_owned(), |text, i| text + &format!("{},{i},1\n", f64::from(i) / 1e4));
        for mode in ["virtual", "realtime"] {
            let rig = fed("1000", "", &text);
            let mut command = rig.command();
            command.args(["--mode", mode]);
            let child = rig.start(command);
            rig.wait_until_it_runs();
            std::thread::sleep(Duration::from_millis(100));
            let runner = runner_of(&child);
            send(child.id() as i32, Signal::SIGINT);
            let outcome = rig.finish(child).exits(0);
            assert_eq!(outcome.report()["end"], "signal");
            assert!(!std::path::Path::new(&format!("/proc/{runner}")).exists(), "{runner} is still there");
        }
    });
}

#[test]
fn a_run_does_not_overwrite_what_it_reads() {
    let (rig, _) = driven(3, "hold");
    run(&rig, &[]).exits(0);
    let before = std::fs::read(rig.out().join("signals.csv")).unwrap();
    let text = std::fs::read_to_string(rig.file()).unwrap().replace("file = 'drive.csv'", "recording = 'out'");
    std::fs::write(rig.folder().join("again.toml"), text).unwrap();
    let again = Rig::of_file(rig.folder().join("again.toml").to_str().unwrap());
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_vecud"));
    command.arg("run").arg(again.file()).arg("--out").arg(rig.out()).env("VECUD_CACHE", super::program::cache());
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("signals.csv, a stimulus of its rig") && error.contains("--out"), "{error}");
    assert!(std::fs::read(rig.out().join("signals.csv")).unwrap() == before);
    // Elsewhere it replays: what was an input gets what it got then.
    let replay = run(&again, &[]).exits(0);
    let columns = |text: &str| -> Vec<String> {
        let names: Vec<&str> = text.lines().next().unwrap().split(',').collect();
        let wanted: Vec<usize> = (0..names.len()).filter(|i| names[*i].starts_with("a.in_f")).collect();
        let rows = text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
        let on_grid = rows.filter(|row| (row[0].parse::<f64>().unwrap() * 1e6).round() % 1000.0 == 0.0);
        on_grid.map(|row| wanted.iter().map(|i| row[*i]).collect::<Vec<_>>().join(",")).collect()
    };
    let (one, two) = (columns(std::str::from_utf8(&before).unwrap()), columns(&replay.file("signals.csv")));
    assert_eq!(one, two);
    assert!(drive(&rig).exists());
}

#[test]
fn a_file_that_changes_while_it_is_read_is_told() {
    shared_core(|| {
        let text = (0..200_000)
            .fold("time,a.in_f64\n".to_owned(), |text, i| text + &format!("{},{i}.5\n", f64::from(i) / 1e4));
        // Three seconds: what is cut off has not been read when the file becomes shorter, and the run comes to it.
        let rig = fed("3", "", &text);
        let mut command = rig.command();
        command.args(["--mode", "realtime"]);
        let child = rig.start(command);
        rig.wait_until_it_runs();
        // In the midst of a number.
        std::fs::File::options().write(true).open(drive(&rig)).unwrap().set_len(400_002).unwrap();
        let outcome = rig.finish(child).exits(0);
        outcome.problem(&["drive.csv", "was changed while it was read", "400002 bytes"]);
        // One that is whole again before the next run, or is changed when it was read, is nobody's concern.
        let rig = fed("0.1", "", "time,a.in_f64\n0,1\n");
        let mut command = rig.command();
        command.args(["--mode", "realtime", "--stop-time", "0.5"]);
        let child = rig.start(command);
        rig.wait_until_it_runs();
        std::fs::write(drive(&rig), "time,a.in_f64\n0,2\n").unwrap();
        let outcome = rig.finish(child).exits(0);
        assert!(!outcome.problems().iter().any(|problem| problem.contains("changed")), "{:?}", outcome.problems());
    });
}

#[test]
fn half_a_row_at_the_end_of_a_recording_is_none() {
    // What a process that was killed has left: 3000.5 was to come.
    let rig = Rig::new("mode = 'virtual'\nstop_time = 0.05").tracer("a", "");
    let rig = rig.more("[[stimulus]]\nrecording = '.'\n[record]\nsignals = ['a.in_f64']");
    let text = "time,a.in_f64\n0.0,1000.5\n0.01,2000.5\n0.02,300";
    std::fs::write(rig.folder().join("signals.csv"), text).unwrap();
    assert_eq!(run(&rig, &[]).exits(0).signals().column("a.in_f64").last(), Some(&"2000.5"));
}

#[test]
fn a_recording_of_two_instants_that_look_the_same_is_replayed() {
    let kinds = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/clock_kinds");
    let more = format!(
        "[[trigger]]\nclock = 'a.high'\nat = [0.3333333333333333]\n[fmu.k]\npath = '{}'\n\
         [fmu.k.clock.fixed_given]\ninterval = '1/3'\nshift = 0.0\n[record]\nsignals = ['a.count_high', 'a.in_f64', 'k.*']",
        kinds.display()
    );
    let original = Rig::new("mode = 'virtual'\nstop_time = 1").tracer("a", "").more(&more);
    let recorded = run(&original, &[]).exits(0).file("signals.csv");
    assert_eq!(recorded.lines().filter(|line| line.starts_with("0.3333333333333333,")).count(), 2);
    let replay = Rig::new("mode = 'virtual'\nstop_time = 1").tracer("a", "");
    let replay = replay.more("[[stimulus]]\nrecording = '.'\n[record]\nsignals = ['a.in_f64']");
    std::fs::write(replay.folder().join("signals.csv"), recorded).unwrap();
    run(&replay, &[]).exits(0);
}

#[test]
fn a_header_of_100_000_columns_is_read_in_no_time() {
    let columns: String = (0..100_000).map(|i| format!(",x{i}")).collect();
    let text = format!("time{columns}\n0{}\n", ",1".repeat(100_000));
    let outcome = run(&fed("0.01", "columns = { 'a.in_f64' = 'x99999' }", &text), &[]).exits(0);
    assert!(outcome.took < PATIENCE, "{:?}", outcome.took);
}

#[test]
fn ticks_that_were_due_when_an_overrun_ends_the_run_are_counted() {
    let rows = (1..=10_000).map(|i| format!("{},1\n", f64::from(i) / 1e6));
    let text = rows.fold("time,a.low\n".to_owned(), |text, row| text + &row);
    shared_core(|| {
        // The first activation of `fast` keeps the core for 30 ms; that the second one is late ends the run.
        let rig = Rig::new("stop_time = 1\noverrun = 'stop'").tracer("a", "fast_burn_us = 30000");
        let rig = rig.more("[[stimulus]]\nfile = 'drive.csv'");
        std::fs::write(drive(&rig), &text).unwrap();
        let outcome = run(&rig, &[]).exits(3);
        assert_eq!(outcome.report()["end"], "overrun");
        let count = |what| outcome.count("a", "low", what);
        assert_eq!(count("activations") + count("discarded"), 10_000, "{}", outcome.clock("a", "low"));
        assert!(count("discarded") > 5_000, "{}", outcome.clock("a", "low"));
    });
}
