//! Partition threads, and the one that receives datagrams, do not touch the allocator once they are under way (S17).
//!
//! Proven on the real program: it runs with a preloaded library (`count.c`) that notes every call of the allocator by
//! thread and time. FMU code counts as well; that of the rig's FMUs allocates nothing either.

use std::io::Write;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

/// Connections of many kinds (strings and binaries, from some time on too long ones; units; parts of arrays), ticks,
/// countdowns, changing intervals, values and ticks from a file, releases that queue, locks, log messages and a recording of all types and of clocks, in five FMUs of the released
/// dialect; steps that partitions feed, and events in the midst of steps; equations that are integrated, with state and step events and inputs on lines; a group that goes back, with an algebraic loop; unions, delays and array clocks in one of the draft.
const RIG: &str = r#"
    [rig]
    name = "allocation"
    stop_time = 0.6
    overrun = "queue"
    [fmu.a]
    path = "FMUS/tracer"
    start = { trace_file = "", fast_tick_high_every = 3, log_every = 4, count_up = true }
    [fmu.b]
    path = "FMUS/tracer"
    start = { trace_file = "" }
    [fmu.c]
    path = "FMUS/all_types"
    start = { moving = true, long_from = 300 }
    [fmu.d]
    path = "FMUS/all_types"
    [fmu.e]
    path = "FMUS/draft_clocks"
    start = { late_every = 2, delay = 0.025 }
    [[trigger]]
    clock = "e.outside"
    from = "e.out_each[2]"
    [[connect]]
    from = "e.payload"
    to = "e.in_urgent"
    timing = "delayed"
    [fmu.f]
    path = "FMUS/clock_kinds"
    start = { changing_interval = 0.0031415926, changing_step = 0.0002, changing_cycle = 7, changing_fraction_counter = 4, arm_every = 2, tick_every = 2, changing_burn_us = 300, changing_fraction_burn_us = 5000 }
    [[trigger]]
    clock = "f.triggered"
    from = "f.out"
    [[trigger]]
    clock = "a.high"
    from = "a.out_high"
    [[trigger]]
    clock = "b.high"
    from = "a.out_high"
    [[trigger]]
    clock = "a.low"
    from = "b.out_low"
    [[trigger]]
    clock = "b.low"
    unix = "events.sock"
    [[connect]]
    from = "a.out_f64"
    to = "b.in_f64"
    [[connect]]
    from = "a.out_array"
    to = "b.in_array"
    timing = "delayed"
    [[connect]]
    from = "a.out_bool"
    to = "b.in_bool"
    [[connect]]
    from = "a.out_i8"
    to = "b.in_i8"
    [[connect]]
    from = "a.out_enum"
    to = "b.in_enum"
    [[connect]]
    from = "a.out_i32"
    to = "b.in_i64"
    timing = "delayed"
    [[connect]]
    from = "f.count_changing"
    to = "b.in_u64"
    timing = "delayed"
    [[connect]]
    from = "f.time_triggered"
    to = "a.in_f64"
    timing = "delayed"
    [[connect]]
    from = "c.String_out"
    to = "d.String_in"
    [[connect]]
    from = "c.Binary_out"
    to = "d.Binary_in"
    [[connect]]
    from = "c.text"
    to = "d.text_in"
    timing = "delayed"
    [[connect]]
    from = "c.blob"
    to = "d.blob_in"
    [[connect]]
    from = "c.matrix_out[:,2]"
    to = "d.matrix_in[2,1:2]"
    [[connect]]
    from = "c.bar"
    to = "d.pa_in"
    [fmu.g]
    path = "FMUS/tracer"
    start = { trace_file = "" }
    [fmu.s]
    path = "FMUS/stepper"
    step = "1/500"
    [fmu.v]
    path = "FMUS/events"
    step = "1/200"
    start = { every = 0.0031, early = 0.0123, iterations = 2 }
    [[connect]]
    from = "b.out_f64"
    to = "s.a"
    [[connect]]
    from = "s.x"
    to = "v.u"
    [[connect]]
    from = "s.n"
    to = "v.d"
    [[connect]]
    from = "v.sum"
    to = "s.b"
    [fmu.p]
    path = "FMUS/parabola"
    step = "1/200"
    [fmu.m]
    path = "FMUS/internal_steps"
    step = "1/100"
    internal_steps = true
    [fmu.l]
    path = "FMUS/follower"
    step = "1/200"
    [[connect]]
    from = "p.y"
    to = "m.u"
    extrapolation = "linear"
    [[connect]]
    from = "p.z"
    to = "l.v"
    extrapolation = "linear"
    [fmu.ball]
    path = "FMUS/ball"
    step = "1/250"
    [fmu.pendulum]
    path = "FMUS/pendulum"
    step = "1/200"
    internal_step = "1/2000"
    solver = "euler"
    [fmu.w]
    path = "FMUS/mechanics"
    step = "1/500"
    [[connect]]
    from = "s.x"
    to = "w.torque"
    [fmu.stops]
    path = "FMUS/rejecting"
    [fmu.tells]
    path = "FMUS/predicting"
    start = { first = 0.0012, every = 0.007, u = 1 }
    [fmu.stays]
    path = "FMUS/legacy"
    start = { first = 0.0051, every = 0.009 }
    [fmu.inertia]
    path = "FMUS/spring"
    start = { "spring1.c" = 0, "damper1.d" = 0 }
    [fmu.pull]
    path = "FMUS/feedback"
    start = { a = -100, b = -0.5 }
    [master.group]
    fmus = ["stops", "tells", "stays", "inertia", "pull"]
    step = "1/100"
    algorithm = "predictable"
    loops = "newton"
    [[connect]]
    from = "inertia.inertia1.phi"
    to = "pull.u1"
    [[connect]]
    from = "pull.y"
    to = "pull.u2"
    [[connect]]
    from = "pull.y"
    to = "inertia.torque.tau"
    [[connect]]
    from = "inertia.inertia1.w"
    to = "stops.u"
    [[connect]]
    from = "tells.y"
    to = "stays.u"
    [fmu.z]
    path = "FMUS/mechanics"
    step = "1/100"
    internal_step = "1/1000"
    [[stimulus]]
    file = "drive.csv"
    interpolation = "linear"
    [record]
    signals = ["stops.*", "tells.y", "pull.*", "ball.h", "ball.bounces", "pendulum.x", "w.phi1", "z.phi1", "s.*", "v.*", "m.*", "l.*", "a.*", "b.*", "c.*", "d.matrix_in", "d.*length", "d.String_in", "d.Binary_in", "f.count_changing", "f.out", "f.triggered", "e.*"]
    text_size = 600
    clocks = true
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
    let rows = (0..1000)
        .map(|row| format!("{},{row},{row},{},{},{row}\n", f64::from(row) / 1500.0, row % 3 / 2, row % 20 / 19));
    let drive = "time,g.in_f64,g.in_f32,g.high,g.low,z.torque\n".to_owned() + &rows.collect::<String>();
    std::fs::write(folder.path().join("drive.csv"), drive).unwrap();
    let (out, notes) = (folder.path().join("out"), folder.path().join("notes"));
    let over = AtomicBool::new(false);
    let events = folder.path().join("events.sock");
    let output = std::thread::scope(|scope| {
        // Datagrams from outside: for b.low, all the time, now and then faster than is allowed.
        scope.spawn(|| {
            let sender = UnixDatagram::unbound().unwrap();
            sender.set_nonblocking(true).unwrap();
            while !over.load(SeqCst) {
                (0..20).for_each(|_| drop(sender.send_to(b"x", &events)));
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let output = run(&counter, &out, &rig, &notes);
        over.store(true, SeqCst);
        output
    });
    assert!(output.status.success(), "{}", words(&output));
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(out.join("report.json")).unwrap()).unwrap();
    if report["host"]["scheduling"] != "fifo" {
        return skip(
            "no real-time priorities here (needs root or CAP_SYS_NICE); the cooperative mode promises nothing",
        );
    }

    let columns = report["signals"].as_array().unwrap();
    for kind in ["Float64", "String", "Binary", "Clock"] {
        assert!(columns.iter().any(|column| column["type"] == kind), "{kind} is recorded");
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

fn run(counter: &Path, out: &Path, rig: &Path, notes: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vecud"))
        .args(["run", "--quiet", "--out"])
        .args([out, rig])
        .env("LD_PRELOAD", counter)
        .env("VECUD_ALLOCATIONS", notes)
        .output()
        .unwrap()
}

fn words(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
