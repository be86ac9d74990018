//! Partition threads, and the one that receives datagrams, do not touch the allocator once they are under way (S17).
//!
//! Proven on the real program: it runs with a preloaded library (`count.c`) that notes every call of the allocator by
//! thread and time. FMU code counts as well; that of the rig's FMUs allocates nothing either.

use std::io::Write;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Two runs at once on one core would starve each other's clocks.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// From here on every clock of the rig has been activated twice, s.
const SETTLED: f64 = 0.05;

/// Stop time of both rigs: at half the rate that they ask for, each clock is still activated often enough, s.
const STOP: f64 = 1.5;

#[test]
fn partition_threads_do_not_allocate() {
    let folder = tempfile::tempdir().unwrap();
    let test = "partition_threads_do_not_allocate";
    let Some(counter) = counter(folder.path(), test) else { return };
    let rows = |row: i32| format!("{row},{row},{},{}", row % 3 / 2, row % 20 / 19);
    let rig = rig(folder.path(), include_str!("clocks.toml"), "g.in_f64,g.in_f32,g.high,g.low", rows);
    let over = AtomicBool::new(false);
    let output = std::thread::scope(|scope| {
        // Datagrams from outside: for b.low, all the time, now and then faster than is allowed.
        scope.spawn(|| {
            let sender = UnixDatagram::unbound().unwrap();
            sender.set_nonblocking(true).unwrap();
            let events = folder.path().join("events.sock");
            while !over.load(SeqCst) {
                (0..20).for_each(|_| drop(sender.send_to(b"x", &events)));
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let output = run(&counter, folder.path(), &rig);
        over.store(true, SeqCst);
        output
    });
    let report = report(folder.path(), &output);
    for kind in ["Float64", "String", "Binary", "Clock"] {
        let columns = report["signals"].as_array().unwrap();
        assert!(columns.iter().any(|column| column["type"] == kind), "{kind} is recorded");
    }
    let clocks = report["clocks"].as_array().unwrap();
    let longer_than_its_interval = clocks.iter().find(|clock| clock["thread"] == "f.tunable_asked").unwrap();
    assert!(longer_than_its_interval["overruns"].as_u64().unwrap() > 0, "releases queue");
    no_thread_allocated(test, folder.path(), &report);
}

#[test]
fn threads_that_step_and_integrate_do_not_allocate() {
    let folder = tempfile::tempdir().unwrap();
    let test = "threads_that_step_and_integrate_do_not_allocate";
    let Some(counter) = counter(folder.path(), test) else { return };
    let rows = |row: i32| format!("{},{},{row}", row % 3 / 2, row % 20 / 19);
    let rig = rig(folder.path(), include_str!("steps.toml"), "b.high,b.low,z.torque", rows);
    let output = run(&counter, folder.path(), &rig);
    no_thread_allocated(test, folder.path(), &report(folder.path(), &output));
}

/// The library that counts; `None` where there is nothing to prove, or nothing to prove it with, which is told.
fn counter(folder: &Path, test: &str) -> Option<PathBuf> {
    let skip = |why: &str| {
        skipped(test, why);
        None
    };
    if !cfg!(target_env = "gnu") {
        return skip("the counter is written for glibc");
    }
    let counter = folder.join("count.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/no_allocation/count.c");
    match Command::new("cc").args(["-O1", "-shared", "-fPIC", "-o"]).args([&counter, &source]).output() {
        Err(error) => skip(&format!("there is no C compiler: {error}")),
        Ok(output) => {
            assert!(output.status.success(), "{}", words(&output));
            Some(counter)
        }
    }
}

fn skipped(test: &str, why: &str) {
    // Not by a macro: the test harness would keep its output to itself.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: {why}");
}

/// The rig of `text` in the folder, and a file with these columns that drives it, a row each 1/1500 s.
fn rig(folder: &Path, text: &str, columns: &str, row: impl Fn(i32) -> String) -> PathBuf {
    let fmus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus");
    let text = text.replace("FMUS", fmus.to_str().unwrap()).replace("STOP", &STOP.to_string());
    let rows = (0..(STOP * 1500.0) as i32).map(|at| format!("{},{}\n", f64::from(at) / 1500.0, row(at)));
    std::fs::write(folder.join("drive.csv"), format!("time,{columns}\n") + &rows.collect::<String>()).unwrap();
    let path = folder.join("rig.toml");
    std::fs::write(&path, text).unwrap();
    path
}

/// Asserts that no thread of a clock, nor the one that receives, touched the allocator in the run of this report.
fn no_thread_allocated(test: &str, folder: &Path, report: &serde_json::Value) {
    if report["host"]["scheduling"] != "fifo" {
        let why = "no real-time priorities here (needs root or CAP_SYS_NICE); the cooperative mode promises nothing";
        return skipped(test, why);
    }
    let start = report["start_monotonic_ns"].as_i64().unwrap();
    let window = start + (SETTLED * 1e9) as i64..start + (report["end_time"].as_f64().unwrap() * 1e9) as i64;
    let calls: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some() && path.file_stem().is_some_and(|stem| stem == "notes"))
        .flat_map(|path| std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    assert!(!calls.iter().any(|call| call.starts_with("FULL")), "the counter has room for more calls than a run makes");
    let clocks = report["clocks"].as_array().unwrap().iter();
    let partitions = clocks.clone().map(|clock| (clock["thread"].as_str().unwrap(), &clock["activations"]));
    let received = clocks.filter_map(|clock| Some(("vecud.receiver", clock.get("received")?)));
    for (thread, times) in partitions.chain(received.filter(|(_, received)| received.is_u64())) {
        let own: Vec<(i64, &str)> = calls
            .iter()
            .filter_map(|call| call.strip_prefix(thread)?.strip_prefix(' ')?.split_once(' '))
            .map(|(at, what)| (at.parse().unwrap(), what))
            .collect();
        // They do allocate while they are set up: the counter counts.
        assert!(own.iter().any(|(at, _)| *at < start), "{thread}: nothing was counted before the start");
        let late: Vec<_> = own.iter().filter(|(at, _)| window.contains(at)).collect();
        assert!(late.is_empty(), "{thread}: {} calls of the allocator, such as {:?}", late.len(), late[0]);
        assert!(times.as_u64().unwrap() > 10, "{thread}: being activated or receiving {times} times proves nothing");
    }
}

/// Runs the rig with the counter in its process, whose notes go into the folder.
fn run(counter: &Path, folder: &Path, rig: &Path) -> Output {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    Command::new(env!("CARGO_BIN_EXE_vecud"))
        .args(["run", "--quiet", "--out"])
        .args([&folder.join("out"), rig])
        .env("LD_PRELOAD", counter)
        .env("VECUD_ALLOCATIONS", folder.join("notes"))
        .output()
        .unwrap()
}

fn report(folder: &Path, output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", words(output));
    serde_json::from_slice(&std::fs::read(folder.join("out/report.json")).unwrap()).unwrap()
}

fn words(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
