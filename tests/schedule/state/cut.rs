//! A run that is cut in two is the run.

use super::program::clock::{DELAYED, INPUTS, NAMES, PERIOD};
use super::program::{Kind, Outcome, Rig, send, shared_core};
use super::{run, state, text, text as text_of, two};
use crate::wait_until_recorded;
use nix::sys::signal::Signal;
use std::time::Duration;

/// What a run recorded, and what it counted, per clock.
struct Recorded {
    signals: String,
    activations: Vec<u64>,
}

fn recorded(run: &Outcome) -> Recorded {
    let report = run.report();
    let clocks = report["clocks"].as_array().unwrap();
    let activations = clocks.iter().map(|clock| clock["activations"].as_u64().unwrap()).collect();
    Recorded { signals: run.file("signals.csv"), activations }
}

/// Recordings of parts of a run, joined.
fn joined(parts: &[Recorded]) -> (String, Vec<u64>) {
    let mut signals = String::new();
    let mut activations = vec![0; parts[0].activations.len()];
    for (index, part) in parts.iter().enumerate() {
        let rows = part.signals.split_once('\n').unwrap();
        signals += if index == 0 { &part.signals } else { rows.1 };
        activations.iter_mut().zip(&part.activations).for_each(|(sum, own)| *sum += own);
    }
    (signals, activations)
}

#[track_caller]
fn sound(run: &Outcome) {
    let fifo = run.report()["host"]["scheduling"] == "fifo";
    for fmu in ["a", "b"] {
        let (_, broken) = run.trace(fmu).check(if fifo { Kind::Preemptive } else { Kind::OneAtATime });
        assert!(broken.is_empty(), "{broken:#?}");
    }
}

#[test]
fn tracers_cut_anywhere_record_the_same_bytes_as_in_one_go() {
    let rig = two("");
    let whole = recorded(&run(&rig, &[]).exits(0));
    let file = state(&rig, "state");
    let mut pending = 0;
    // On the grids, between them, right behind a start and right before the stop.
    for cut in ["0.1", "0.25", "0.0837", "0.2000000001", "0.0005", "0.3999", "0.03", "0.003"] {
        let first = run(&rig, &["--stop-time", cut, "--save-state", text(&file)]).exits(0);
        sound(&first);
        let first = recorded(&first);
        let second = run(&rig, &["--restore-state", text(&file)]).exits(0);
        sound(&second);
        let report = second.report();
        assert_eq!((report["start_time"].as_f64(), report["end_time"].as_f64()), (cut.parse().ok(), Some(0.4)));
        // A deadline that was armed before the cut and is due behind it.
        let trace = second.trace("a");
        let armed = trace.events.iter().position(|event| event.is("arm", "note"));
        let due = trace.events.iter().position(|event| event.is("activate", "begin") && event.clock == DELAYED);
        pending += u32::from(due.is_some() && due < armed);
        let (signals, activations) = joined(&[first, recorded(&second)]);
        assert!(signals == whole.signals, "signals.csv differs when cut at {cut} s");
        assert_eq!(activations, whole.activations, "cut at {cut} s");
    }
    assert!(pending >= 3, "deadlines were pending at {pending} cuts");
}

/// Versions of delayed connections that are not visible yet at the cut, or that a late consumer could still want, go with the
/// state.
#[test]
fn delayed_connections_cut_anywhere_record_the_same_bytes_as_in_one_go() {
    let fmus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus");
    let mut text = "[rig]\nmode = 'virtual'\nstop_time = 0.4\n[record]\nsignals = ['*']\nclocks = true\n".to_owned();
    let periods = ["1/1000", "3/1000", "1/97", "1/50", "7/100"];
    for (i, period) in periods.iter().enumerate() {
        text += &format!(
            "[fmu.m{i}]\npath = '{}/mixer'\nstart = {{ salt = {i} }}\nclock.step = {{ interval = '{period}' }}\n",
            fmus.display()
        );
        for (input, from) in [("a", (i + 1) % 5), ("b", (i + 3) % 5), ("c", i)] {
            text += &format!("[[connect]]\nfrom = 'm{from}.x'\nto = 'm{i}.{input}'\ntiming = 'delayed'\n");
        }
    }
    let rig = Rig::of_text(&text);
    let whole = recorded(&run(&rig, &[]).exits(0));
    let file = state(&rig, "state");
    for cut in ["0.1", "0.0837", "0.2000000001", "0.0005", "0.3999", "0.07"] {
        let first = recorded(&run(&rig, &["--stop-time", cut, "--save-state", text_of(&file)]).exits(0));
        let second = run(&rig, &["--restore-state", text_of(&file)]).exits(0);
        assert_eq!(second.report()["promise"]["holds"], true);
        let (signals, activations) = joined(&[first, recorded(&second)]);
        assert!(signals == whole.signals, "signals.csv differs when cut at {cut} s");
        assert_eq!(activations, whole.activations, "cut at {cut} s");
    }
}

#[test]
fn a_state_file_can_be_taken_up_and_written_by_one_run_again_and_again() {
    let rig = two("");
    let whole = recorded(&run(&rig, &[]).exits(0));
    let file = state(&rig, "state");
    let mut parts = vec![recorded(&run(&rig, &["--stop-time", "0.05", "--save-state", text(&file)]).exits(0))];
    for stop in ["0.11", "0.17", "0.3", "0.4"] {
        let both = ["--stop-time", stop, "--restore-state", text(&file), "--save-state", text(&file)];
        parts.push(recorded(&run(&rig, &both).exits(0)));
    }
    let (signals, activations) = joined(&parts);
    assert!(signals == whole.signals && activations == whole.activations);
    // And taken up twice from the same place.
    let again = |stop| run(&rig, &["--stop-time", stop, "--restore-state", text(&file)]).exits(0).file("signals.csv");
    assert_eq!(again("0.5"), again("0.5"));
}

#[test]
fn the_engine_cut_in_the_middle_records_the_same_bytes_as_in_one_go() {
    let rig = Rig::of_file("examples/engine.toml");
    let file = state(&rig, "state");
    let whole = recorded(&run(&rig, &["--mode", "virtual"]).exits(0));
    let arguments = ["--mode", "virtual", "--stop-time", "5", "--save-state", text(&file)];
    let first = recorded(&run(&rig, &arguments).exits(0));
    let second = recorded(&run(&rig, &["--mode", "virtual", "--restore-state", text(&file)]).exits(0));
    assert!(second.signals.lines().nth(1).unwrap().starts_with("5.0,"), "its first row is that of 5 s");
    let (signals, activations) = joined(&[first, second]);
    assert!(signals == whole.signals && activations == whole.activations);
}

/// A group of FMUs that are integrated (one with a state event in the first part of the run, two in a loop that is solved) and of two that
/// stop at events of their own; what they compute goes around among them.
fn group(algorithm: &str) -> Rig {
    let fmus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus");
    let fmus = fmus.display();
    Rig::of_text(&format!(
        "[rig]\nmode = 'virtual'\nstop_time = 1\n[record]\nsignals = ['*']\n\
         [fmu.a]\npath = '{fmus}/rejecting'\nstart = {{ first = 0.037, every = 0.11 }}\n\
         [fmu.b]\npath = '{fmus}/rejecting'\nstart = {{ first = 0.05, every = 0.13 }}\n\
         [fmu.spring]\npath = '{fmus}/spring'\n[fmu.ball]\npath = '{fmus}/ball'\n\
         [fmu.f]\npath = '{fmus}/feedback'\nstart = {{ b = 0.4 }}\n[fmu.h]\npath = '{fmus}/feedback'\nstart = {{ b = 0.4 }}\n\
         [master.g]\nfmus = ['a', 'b', 'spring', 'ball', 'f', 'h']\nstep = '1/20'\nalgorithm = '{algorithm}'\n\
         loops = 'newton'\nsolver = 'rk4'\ninternal_step = '1/200'\n\
         [[connect]]\nfrom = 'spring.inertia1.phi'\nto = 'f.u1'\n\
         [[connect]]\nfrom = 'f.y'\nto = 'h.u1'\n[[connect]]\nfrom = 'h.y'\nto = 'f.u2'\n\
         [[connect]]\nfrom = 'f.y'\nto = 'a.u'\n[[connect]]\nfrom = 'a.y'\nto = 'b.u'\n\
         [[connect]]\nfrom = 'b.y'\nto = 'spring.torque.tau'\n"
    ))
}

/// By each algorithm, on the grid and beside it, before the ball bounces and after that.
#[test]
fn groups_cut_anywhere_record_the_same_bytes_as_in_one_go() {
    for algorithm in ["jacobi", "gauss-seidel", "rollback", "predictable"] {
        let rig = group(algorithm);
        let file = state(&rig, "state");
        let whole = run(&rig, &[]).exits(0);
        let last = |column: &str| whole.signals().column(column).last().unwrap().parse::<f64>().unwrap();
        assert!(last("ball.bounces") == 1.0 && last("a.events") >= 5.0 && last("b.y") != 0.0, "{algorithm}");
        let whole = recorded(&whole);
        assert_eq!(whole.signals.lines().count(), 22, "{algorithm}");
        for cut in ["0.05", "0.33", "0.5", "0.777"] {
            let first = recorded(&run(&rig, &["--stop-time", cut, "--save-state", text(&file)]).exits(0));
            let second = recorded(&run(&rig, &["--restore-state", text(&file)]).exits(0));
            let (signals, activations) = joined(&[first, second]);
            assert!(signals == whole.signals, "{algorithm}: signals.csv differs when cut at {cut} s");
            assert_eq!(activations, whole.activations, "{algorithm}: cut at {cut} s");
        }
    }
}

#[test]
fn what_is_recorded_may_differ_between_the_parts() {
    let rig = |signals: &str| {
        Rig::new("mode = 'virtual'\nstop_time = 0.4")
            .tracer("a", "count_up = true")
            .more(&format!("[record]\nsignals = {signals}"))
    };
    let first = rig("['*.count_slow']");
    let file = state(&first, "state");
    run(&first, &["--stop-time", "0.105", "--save-state", text(&file)]).exits(0);
    let second = run(&rig("['*.count_fast', '*.count_slow']"), &["--restore-state", text(&file)]);
    let signals = second.exits(0).signals();
    assert_eq!((signals.column("a.count_fast")[0], signals.column("a.count_slow")[0]), ("106", "11"));
}

#[test]
fn a_virtual_run_left_by_a_signal_goes_on_as_if_it_had_not_been() {
    let rig = Rig::new("mode = 'virtual'\nstop_time = 1e6")
        .tracer("a", "count_up = true, arm_interval = 0.0187654321")
        .tracer("b", "count_up = true, fast_tick_low_every = 3")
        .trigger("b.out_low", "a.low")
        .trigger("a.out_high", "a.high")
        .connect("a.out_f64", "b.in_f64")
        .more("[record]\nsignals = ['*.out_f64', '*.count_*', '*.activations', '*.violations']");
    let file = state(&rig, "state");
    let mut command = rig.command();
    command.args(["--save-state", text(&file)]);
    let child = rig.start(command);
    rig.wait_until_it_runs();
    std::thread::sleep(Duration::from_millis(30));
    send(child.id() as i32, Signal::SIGINT);
    let first = rig.finish(child).exits(0);
    assert_eq!(first.report()["end"], "signal");
    let left = first.stderr.split("the state at ").nth(1).and_then(|text| text.split(' ').next());
    let left: f64 = left.expect("it says when it was left").parse().unwrap();
    assert_eq!(
        first.report()["clocks"].as_array().unwrap().iter().map(|c| c["discarded"].as_u64()).max(),
        Some(Some(0))
    );
    let first = recorded(&first);
    let stop = format!("{}", left + 0.3);
    let second = recorded(&run(&rig, &["--stop-time", &stop, "--restore-state", text(&file)]).exits(0));
    let whole = recorded(&run(&rig, &["--stop-time", &stop]).exits(0));
    let (signals, activations) = joined(&[first, second]);
    assert!(signals == whole.signals, "cut at {left} s");
    assert_eq!(activations, whole.activations);
}

/// Releases of all periodic clocks: run or left out, but none twice and none forgotten.
#[track_caller]
fn grids_go_on(parts: &[Outcome], traces: &[Vec<Vec<f64>>], skipped: &[Vec<u64>], stop: f64) {
    for clock in INPUTS {
        let times: Vec<f64> = traces.iter().flat_map(|part| part[clock as usize].iter().copied()).collect();
        let name = NAMES[clock as usize];
        assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "times of {name} increase over the cut: {times:?}");
        let period = PERIOD[clock as usize];
        if period > 0 {
            let releases = (stop * 1000.0 / period as f64).ceil() as u64;
            let skipped: u64 = skipped.iter().map(|part| part[clock as usize]).sum();
            assert_eq!(times.len() as u64 + skipped, releases, "{name}");
        }
    }
    assert_eq!(parts.len(), 2);
}

fn looked_up(run: &Outcome) -> (Vec<Vec<f64>>, Vec<u64>) {
    let trace = run.trace("a");
    let times = (0..8).map(|clock| trace.activations(clock)).collect();
    let skipped = |clock: usize| if clock == 0 { 0 } else { run.count("a", NAMES[clock], "skipped") };
    (times, (0..8).map(skipped).collect())
}

#[test]
fn a_run_in_real_time_goes_on_on_its_grids() {
    shared_core(|| {
        let rig = two("");
        let file = state(&rig, "state");
        let first = run(&rig, &["--mode", "realtime", "--stop-time", "0.203", "--save-state", text(&file)]).exits(0);
        sound(&first);
        let one = looked_up(&first);
        let second = run(&rig, &["--mode", "realtime", "--restore-state", text(&file)]).exits(0);
        sound(&second);
        let two = looked_up(&second);
        // Nothing of the time before the cut is made up for, and the wall clock starts at the cut.
        assert_eq!(second.report()["start_time"].as_f64(), Some(0.203));
        assert!(second.report()["wall_seconds"].as_f64().unwrap() < 1.0);
        grids_go_on(&[first, second], &[one.0, two.0], &[one.1, two.1], 0.4);
    });
}

#[test]
fn a_run_in_real_time_that_is_left_by_a_signal_keeps_what_waits() {
    shared_core(|| {
        let rig = two("slow_burn_us = 3000");
        let file = state(&rig, "state");
        let mut command = rig.command();
        command.args(["--mode", "realtime", "--stop-time", "100", "--save-state", text(&file)]);
        let child = rig.start(command);
        wait_until_recorded(&rig.out(), "time", 0.15);
        send(child.id() as i32, Signal::SIGTERM);
        let first = rig.finish(child).exits(0);
        // A tick of the last activations may find the thread gone that it is for: it waits, instead of preempting them.
        assert_eq!((first.trace("a").violations(), first.trace("b").violations()), (0, 0));
        for clock in first.report()["clocks"].as_array().unwrap() {
            assert_eq!(clock["discarded"], 0, "{clock}");
        }
        let one = looked_up(&first);
        let last = one.0[1].last().copied().unwrap();
        let stop = (last * 1000.0).round() / 1000.0 + 0.1;
        let stop_text = format!("{stop:.3}");
        // In virtual time: the mode is no part of a state.
        let second = run(&rig, &["--stop-time", &stop_text, "--restore-state", text(&file)]).exits(0);
        sound(&second);
        let two = looked_up(&second);
        grids_go_on(&[first, second], &[one.0, two.0], &[one.1, two.1], stop_text.parse().unwrap());
    });
}

#[test]
fn fmus_are_not_told_the_stop_time_of_a_run_that_may_go_on() {
    let rig = two("");
    let file = state(&rig, "state");
    let told = |run: &Outcome| {
        let trace = run.trace("a");
        let note = trace.events.iter().find(|event| event.is("enter_init", "note")).unwrap();
        (note.n, note.time)
    };
    assert_eq!(told(&run(&rig, &["--stop-time", "0.1"]).exits(0)), (1, 0.1));
    assert_eq!(told(&run(&rig, &["--stop-time", "0.1", "--save-state", text(&file)]).exits(0)), (0, 0.0));
    assert_eq!(told(&run(&rig, &["--restore-state", text(&file)]).exits(0)), (1, 0.4));
}
