//! What processes leave that are killed in the middle.

use super::program::{Rig, runner_of, send, shared_core};
use super::{BOTH, messages, rows, two};
use nix::sys::signal::Signal::SIGKILL;
use std::time::{Duration, Instant};

/// Kills a process of a run in its middle, and gives the simulation time that it had come to by then, and for how
/// long the supervisor was on a core, and waited for one (s).
fn kill_in_the_middle(rig: &Rig, runner: bool) -> (f64, [f64; 2]) {
    let mut child = rig.start(rig.command());
    rig.wait_until_it_runs();
    // The start lies before this, so the run has come further than that.
    let seen = Instant::now();
    let of_runner = runner_of(&child);
    // Two seconds: the last of them may be missing, and the other one has to be there.
    std::thread::sleep(Duration::from_secs(2));
    let elapsed = seen.elapsed().as_secs_f64();
    let cores = std::fs::read_to_string(format!("/proc/{}/schedstat", child.id())).unwrap_or_default();
    let mut cores = cores.split_whitespace().map(|word| word.parse().map_or(f64::NAN, |nanos: f64| nanos / 1e9));
    let cores = [(); 2].map(|()| cores.next().unwrap_or(f64::NAN));
    send(if runner { of_runner } else { child.id() as i32 }, SIGKILL);
    let status = child.wait().unwrap();
    assert_eq!(status.code(), runner.then_some(1));
    (elapsed, cores)
}

/// Both files have the same rows, at least up to a second before `elapsed`.
fn check(rig: &Rig, (elapsed, [on, waited]): (f64, [f64; 2])) {
    let file = rig.out().join("signals.mcap");
    let times: Vec<f64> = messages(&file).iter().map(|message| message.2 as f64 / 1e9).collect();
    assert!(times.is_sorted() && times.first().is_none_or(|first| *first == 0.0));
    let reached = times.last().copied().unwrap_or(f64::NEG_INFINITY);
    let had = format!("the supervisor was on a core for {on} s and waited for one for {waited} s");
    assert!(reached > elapsed - 1.0, "killed after {elapsed} s, recorded up to {reached} s; {had}");
    let (mcap, csv) = (rows(&file), rows(&rig.out().join("signals.csv")));
    assert!(csv.1.last().unwrap().0 > elapsed - 1.0);
    assert!(mcap.0 == csv.0 && mcap.1.iter().zip(&csv.1).all(|(a, b)| a == b));
    let text = std::fs::read_to_string(rig.out().join("signals.csv")).unwrap();
    assert!(text.ends_with('\n'), "half a row");
    // And they can be compared; one of them may have come further.
    let mut report = std::process::Command::new(env!("CARGO_BIN_EXE_vecud"));
    report.current_dir(rig.out()).args(["report", "signals.mcap", "--against", "signals.csv"]);
    let output = report.output().unwrap();
    let (text, code) = (String::from_utf8(output.stdout).unwrap(), output.status.code());
    assert!(matches!(code, Some(0 | 3)) && text.contains(" signals equal at "), "{code:?}: {text}");
}

#[test]
fn a_supervisor_that_is_killed_has_recorded_all_but_the_last_second() {
    shared_core(|| {
        let rig = two("stop_time = 10", BOTH);
        let killed = kill_in_the_middle(&rig, false);
        check(&rig, killed);
        let file = rig.out().join("signals.mcap");
        if let Some((read, count)) = super::foxglove::reads_binary(&file, "a_supervisor_that_is_killed") {
            assert_eq!((read.len(), count), (messages(&file).len(), serde_json::Value::Null));
        }
    });
}

#[test]
fn of_a_runner_that_is_killed_everything_is_recorded() {
    shared_core(|| {
        let rig = two("stop_time = 10", BOTH);
        let killed = kill_in_the_middle(&rig, true);
        check(&rig, killed);
        // The supervisor has ended it regularly.
        let bytes = std::fs::read(rig.out().join("signals.mcap")).unwrap();
        assert!(mcap::Summary::read(&bytes).unwrap().is_some());
    });
}

#[test]
fn at_whatever_instant_it_is_killed_the_file_is_whole() {
    // As much to write as there can be: virtual time, all columns.
    let rig = two("stop_time = 1000\nmode = 'virtual'", "[record]\nformat = 'mcap'\n");
    let file = rig.out().join("signals.mcap");
    let mut most = 0;
    for round in 0..20 {
        let _ = std::fs::remove_file(&file);
        let mut child = rig.start(rig.command());
        let long = || std::fs::metadata(&file).map(|file| file.len());
        super::program::wait_until("there is so much of a file", || long().is_ok_and(|long| long > 10_000 * round));
        std::thread::sleep(Duration::from_micros(370 * round));
        send(child.id() as i32, SIGKILL);
        child.wait().unwrap();
        let messages = messages(&file);
        assert!(messages.is_sorted_by_key(|message| message.2), "round {round}");
        most = most.max(messages.len());
    }
    assert!(most > 1000, "{most} messages at most");
}

#[test]
fn a_trace_that_is_written_meanwhile_does_not_hold_up_the_recording() {
    shared_core(|| {
        // Seven seconds, since the trace has to take longer than a look at the recording: an overrun at 4 s, and a trace of all that was before it: it takes long to write, in pieces, and between any two of them
        // what has come meanwhile is recorded.
        let late = "count_up = true, fast_sleep_every = 4000, fast_sleep_us = 5000";
        let rig = Rig::new("stop_time = 7").tracer("a", late);
        let rig = ["b", "c", "d", "e", "f"].into_iter().fold(rig, |rig, fmu| rig.tracer(fmu, ""));
        let rig = rig.more("[record]\nsignals = ['?.count_*']\n[trace]\nmode = 'flight'\nseconds = 10\n");
        let child = rig.start(rig.command());
        rig.wait_until_it_runs();
        let length = |name: &str| std::fs::metadata(rig.out().join(name)).map_or(0, |file| file.len());
        let traced = || length("trace.json") + (2..99).map(|n| length(&format!("trace-{n}.json"))).sum::<u64>();
        let began = Instant::now();
        let (mut recorded, mut traced_then, mut most) = (0, 0, 0);
        while began.elapsed() < Duration::from_secs(6) {
            std::thread::sleep(Duration::from_millis(5));
            let now = (length("signals.csv"), traced());
            if now.0 != recorded {
                (recorded, traced_then) = now;
            }
            most = most.max(now.1 - traced_then);
        }
        let outcome = rig.finish(child).exits(0);
        let traces = outcome.report()["trace"]["files"].as_array().unwrap().clone();
        let (_of_the_end, of_incidents) = traces.split_last().unwrap();
        let largest = of_incidents.iter().max_by_key(|trace| trace["activations"].as_u64()).unwrap();
        assert!(largest["activations"].as_u64() > Some(10_000), "other overruns came first: {largest}");
        let bytes = length(largest["name"].as_str().unwrap());
        assert!(most < bytes / 4, "{most} of {bytes} bytes of a trace were written and nothing was recorded");
    });
}
