//! Partition threads do not touch the allocator once they are under way (design S17).
//!
//! Proven on the real program: it runs with a preloaded library (`count.c`) that notes every call of the allocator by
//! thread and time. FMU code counts as well; that of the rig's FMUs allocates nothing either.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

/// Connections of many kinds, ticks, countdowns, locks, log messages and a recording, in two FMUs.
const RIG: &str = r#"
    [rig]
    name = "allocation"
    stop_time = 0.6
    [fmu.a]
    path = "FMUS/tracer"
    start = { trace_file = "", fast_tick_high_every = 3, log_every = 4, count_up = true }
    [fmu.b]
    path = "FMUS/tracer"
    start = { trace_file = "" }
    [[trigger]]
    clock = "a.high"
    from = "a.out_high"
    [[trigger]]
    clock = "b.high"
    from = "a.out_high"
    [[trigger]]
    clock = "a.low"
    from = "b.out_low"
    [[connect]]
    from = "a.out_f64"
    to = "b.in_f64"
    [[connect]]
    from = "a.out_array"
    to = "b.in_array"
    [[connect]]
    from = "a.out_bool"
    to = "b.in_bool"
    [[connect]]
    from = "a.out_i8"
    to = "b.in_i8"
    [[connect]]
    from = "a.out_enum"
    to = "b.in_enum"
    [record]
    signals = ["*"]
"#;

/// From here on every clock of the rig has been activated twice, s.
const SETTLED: f64 = 0.05;

#[test]
fn partition_threads_do_not_allocate() {
    let skip = |why: &str| {
        // Not by a macro: the test harness would keep its output to itself.
        let _ = writeln!(std::io::stderr(), "SKIPPED: partition_threads_do_not_allocate: {why}");
    };
    if !cfg!(target_env = "gnu") {
        return skip("the counter is written for glibc");
    }
    let folder = tempfile::tempdir().unwrap();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let counter = folder.path().join("count.so");
    let compiled = Command::new("cc")
        .args(["-O1", "-shared", "-fPIC", "-o"])
        .args([&counter, &here.join("tests/no_allocation/count.c")])
        .output();
    match compiled {
        Err(error) => return skip(&format!("there is no C compiler: {error}")),
        Ok(output) => assert!(output.status.success(), "{}", words(&output)),
    }
    let rig = folder.path().join("rig.toml");
    std::fs::write(&rig, RIG.replace("FMUS", here.join("fmus").to_str().unwrap())).unwrap();
    let (out, notes) = (folder.path().join("out"), folder.path().join("notes"));
    let output = Command::new(env!("CARGO_BIN_EXE_vecud"))
        .args(["run", "--quiet", "--out"])
        .args([&out, &rig])
        .env("LD_PRELOAD", &counter)
        .env("VECUD_ALLOCATIONS", &notes)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(out.join("report.json")).unwrap()).unwrap();
    if report["host"]["scheduling"] != "fifo" {
        return skip(
            "no real-time priorities here (needs root or CAP_SYS_NICE); the cooperative mode promises nothing",
        );
    }

    let start = report["start_monotonic_ns"].as_i64().unwrap();
    let window = start + (SETTLED * 1e9) as i64..start + (report["end_time"].as_f64().unwrap() * 1e9) as i64;
    let calls: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some() && path.file_stem().is_some_and(|stem| stem == "notes"))
        .flat_map(|path| std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    assert!(!calls.iter().any(|call| call.starts_with("FULL")), "the counter has room for more calls than a run makes");
    for clock in report["clocks"].as_array().unwrap() {
        let (thread, activations) = (clock["thread"].as_str().unwrap(), clock["activations"].as_u64().unwrap());
        let own: Vec<(i64, &str)> = calls
            .iter()
            .filter_map(|call| call.strip_prefix(thread)?.strip_prefix(' ')?.split_once(' '))
            .map(|(at, what)| (at.parse().unwrap(), what))
            .collect();
        // They do allocate while they are set up: the counter counts.
        assert!(own.iter().any(|(at, _)| *at < start), "{thread}: nothing was counted before the start");
        let late: Vec<_> = own.iter().filter(|(at, _)| window.contains(at)).collect();
        assert!(late.is_empty(), "{thread}: {} calls of the allocator, such as {:?}", late.len(), late[0]);
        if thread != "b.low" {
            assert!(activations > 10, "{thread}: {activations} activations prove nothing");
        }
    }
}

fn words(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
