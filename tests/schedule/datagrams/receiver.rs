//! The thread that receives: where it runs, and what happens when it has to share a core with partitions.

use super::*;
use program::real_time_on_own_core;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// A rig with partitions on both of the first two cores, so that none is free for the receiver; it is on that of `a`.
fn shared(rig: &str, start: &str) -> Option<Rig> {
    let cpus = vecud::sys::affinity::allowed_cpus().unwrap();
    let [first, second] = *cpus.into_iter().collect::<Vec<_>>() else { return None };
    let start = format!("{ALONE}, {start}");
    let rig = Rig::new(rig).tracer_with("a", &start, &format!("cpu = {second}"));
    Some(rig.tracer_with("b", &format!("{ALONE}, slow_burn_us = 1"), &format!("cpu = {first}")))
}

/// Whoever sends must not have to wait for `a`. (Not before the start: children inherit it.)
fn keep_off_a() {
    let first = *vecud::sys::affinity::allowed_cpus().unwrap().first().unwrap();
    vecud::sys::affinity::pin_to(first).unwrap();
}

const NO_TWO_CORES: &str = "it is written for exactly two cores";

/// Priority, policy and cores of the thread of that name.
fn thread(process: i32, name: &str) -> (i32, i32, String) {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap().map(|task| task.unwrap().path());
    let of = |path: &PathBuf| fs::read_to_string(path.join("comm")).is_ok_and(|own| own.trim_end() == name);
    let path = tasks.into_iter().find(of).unwrap_or_else(|| panic!("no thread {name}"));
    let stat = fs::read_to_string(path.join("stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let status = fs::read_to_string(path.join("status")).unwrap();
    let cores = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim().to_owned();
    (fields[37].parse().unwrap(), fields[38].parse().unwrap(), cores)
}

#[test]
fn the_receiver_is_where_check_says() {
    real_time("the_receiver_is_where_check_says", || {
        // Served by the receiver is only the least urgent clock.
        let rig = Rig::new("stop_time = 100").tracer("a", ALONE).more(&unix("a.low", "events.sock", ""));
        let check = Command::new(env!("CARGO_BIN_EXE_vecud"))
            .arg("check")
            .arg(rig.file())
            .env("VECUD_CACHE", program::cache())
            .output()
            .unwrap();
        let text = String::from_utf8(check.stdout).unwrap();
        let child = rig.start(rig.command());
        rig.wait_until_it_runs();
        let runner = program::runner_of(&child);
        let (priority, policy, cores) = thread(runner, "vecud.receiver");
        let (own, ..) = thread(runner, "a.low");
        send(child.id() as i32, SIGINT);
        rig.finish(child).exits(0);
        assert!(text.contains(&format!("received on core {cores} at FIFO {priority}")), "{priority} {cores}: {text}");
        assert_eq!((policy, priority), (libc::SCHED_FIFO, own), "as urgent as its clock, and not more");
    });
}

/// A counter and a socket in one thread: neither waits for the other.
#[test]
fn a_counter_ticks_by_itself_and_each_count_is_activated_or_counted() {
    real_time("a_counter_ticks_by_itself_and_each_count_is_activated_or_counted", || {
        let to = address();
        let counter = "[[trigger]]\nclock = \"a.high\"\ncounter = 0.02\n";
        let rig = Rig::new("stop_time = 1.0").tracer("a", ALONE).more(counter).more(&udp("a.low", to, ""));
        let child = rig.start(rig.command());
        wait_until_recorded(&rig.out(), "a.count_high", 5.0);
        assert!(Sender::udp(to).send(b""));
        let run = rig.finish(child).exits(0);
        // From 0 on, and the one at the stop time is none any more.
        assert_eq!(accounted(&run, "a", HIGH) - run.count("a", "high", "discarded"), 50);
        assert_eq!((run.count("a", "high", "overruns"), accounted(&run, "a", LOW)), (0, 1));
        let (times, late) = (run.trace("a").activations(HIGH), run.count("a", "high", "retimed"));
        let off = times.iter().enumerate().filter(|(count, time)| (*time - 0.02 * *count as f64).abs() > 1e-6).count();
        assert!(off as u64 <= late, "{times:?}");
        assert!(run.stdout.contains("counter each 0.02 s → a.high: "), "{}", run.stdout);
    });
}

/// `high` runs for 80 ms at the receiver's own priority, on its core: what comes meanwhile is received late.
#[test]
fn the_time_of_an_event_is_that_of_its_arrival_however_late_it_is_received() {
    let test = "the_time_of_an_event_is_that_of_its_arrival_however_late_it_is_received";
    real_time_on_own_core(test, || {
        let Some(rig) = shared("stop_time = 100", "high_burn_us = 80000") else { return skipped(test, &NO_TWO_CORES) };
        let to = address();
        let rig = rig.more(&udp("a.high", to, ""));
        let child = rig.start(rig.command());
        wait_until_recorded(&rig.out(), "time", 0.0);
        keep_off_a();
        let sender = Sender::udp(to);
        let sent = [0, 8, 57].map(|wait| {
            std::thread::sleep(Duration::from_millis(wait));
            let before = monotonic_now();
            assert!(sender.send(b"x"));
            (before, monotonic_now())
        });
        wait_until_recorded(&rig.out(), "a.count_high", 3.0);
        send(child.id() as i32, SIGINT);
        let run = rig.finish(child).exits(0);
        assert_eq!(accounted(&run, "a", HIGH), 3);
        let start = run.report()["start_monotonic_ns"].as_i64().unwrap();
        let times: Vec<i64> = run.trace("a").activations(HIGH).iter().map(|time| start + (time * 1e9) as i64).collect();
        assert_eq!(times.len(), 3);
        let around = |(before, after): (i64, i64)| before - 1_000_000..after + 1_000_000;
        assert!(around(sent[0]).contains(&times[0]), "{times:?} {sent:?}");
        // The second is handed over so late that its time may have been recorded as complete (when the main thread, an ordinary
        // one, has come to it): then it gets a later one.
        let retimed = run.count("a", "high", "retimed");
        if retimed == 0 {
            assert!(around(sent[1]).contains(&times[1]) && around(sent[2]).contains(&times[2]), "{times:?} {sent:?}");
        } else {
            assert!(times[1] > sent[1].1 && times[2] > times[1], "{times:?} {sent:?}");
            run.problem(&["clock a.high", "came too late"]);
        }
        // Its latency counts from the arrival, not from when somebody got to it.
        let latency = run.clock("a", "high")["arrival_latency"]["max"].as_u64().unwrap();
        assert!(latency > 70_000_000 && run.clock("a", "high")["start_latency"]["max"] == latency, "{latency}");
    });
}

/// While `high` runs for 80 ms, three more come, and the stop time or a signal: the receiver gets to them only afterwards.
#[test]
fn what_came_before_the_end_is_not_forgotten() {
    let test = "what_came_before_the_end_is_not_forgotten";
    real_time_on_own_core(test, || {
        for signal in [None, Some(SIGINT)] {
            let stop = if signal.is_some() { 100.0 } else { 0.4 };
            let rig = shared(&format!("stop_time = {stop}"), "high_burn_us = 80000");
            let Some(rig) = rig else { return skipped(test, &NO_TWO_CORES) };
            let to = address();
            let rig = rig.more(&udp("a.high", to, ""));
            let sender = Sender::udp(to);
            let child = rig.start(rig.command());
            // In a thread of its own: it is pinned, and what is started next must not be.
            let send_all = || {
                keep_off_a();
                // Not later than that, whatever else the machine does.
                vecud::sys::scheduling::set_fifo(90).unwrap();
                rig.wait_until_it_runs();
                // The start is up to 40 ms after the files were made: 300 to 340 ms after it, then.
                std::thread::sleep(Duration::from_millis(340));
                let sent = [0, 8, 1, 1].map(|wait| {
                    std::thread::sleep(Duration::from_millis(wait));
                    assert!(sender.send(b"x"));
                    monotonic_now()
                });
                signal.into_iter().for_each(|signal| send(child.id() as i32, signal));
                sent
            };
            let sent = std::thread::scope(|scope| scope.spawn(send_all).join().unwrap());
            let run = rig.finish(child).exits(0);
            let received = accounted(&run, "a", HIGH);
            // On a busy machine some may have been sent after the end.
            let end = run.report()["start_monotonic_ns"].as_i64().unwrap() + (stop * 1e9) as i64;
            let before = sent.iter().filter(|sent| **sent + 1_000_000 < end).count() as u64;
            println!("{before} sent before the end, {received} received: {}", run.clock("a", "high")["activations"]);
            assert!(before > 0 && received >= before, "{}", run.clock("a", "high"));
            if signal.is_none() {
                assert!(run.count("a", "high", "activations") >= before, "{}", run.clock("a", "high"));
            }
        }
    });
}

#[test]
fn a_flood_on_the_core_of_partitions_leaves_them_their_time() {
    let test = "a_flood_on_the_core_of_partitions_leaves_them_their_time";
    real_time_on_own_core(test, || {
        let Some(rig) = shared("stop_time = 1.0", "high_burn_us = 100") else { return skipped(test, &NO_TWO_CORES) };
        let to = address();
        let rig = rig.more(&udp("a.high", to, "max_rate = 1000"));
        let child = rig.start(rig.command());
        rig.wait_until_it_runs();
        keep_off_a();
        let (sent, run) = ends::flood(to, &rig.folder().join("nothing"), || rig.finish(child));
        let run = run.exits(0);
        assert!(sent > 5000, "{sent} are no flood");
        accounted(&run, "a", HIGH);
        // Twice the rate, and ten thousand per second, and one batch: what one core may lose to looking at datagrams.
        let looked_at = run.count("a", "high", "received") - run.count("a", "high", "kernel_dropped");
        assert!(looked_at < 12_000 + 2_000, "{looked_at} of {sent}");
        for (clock, planned) in [("fast", 1000), ("slow", 100)] {
            assert!(run.count("a", clock, "activations") > planned / 2, "{}", run.clock("a", clock));
        }
    });
}

/// `high` is looked at first, and more comes for it than is ever looked at.
#[test]
fn a_flood_at_one_socket_holds_up_no_event_at_another() {
    real_time_on_own_core("a_flood_at_one_socket_holds_up_no_event_at_another", || {
        let to = address();
        let rig = Rig::new("stop_time = 100").tracer("a", ALONE);
        let rig = rig.more(&udp("a.high", to, "max_rate = 500")).more(&unix("a.low", "events.sock", ""));
        let path = rig.folder().join("events.sock");
        let child = rig.start(rig.command());
        rig.wait_until_it_runs();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let sender = Sender::udp(to);
                while !over.load(SeqCst) {
                    sender.send(b"flood");
                }
            });
            let _over = ends::Over(&over);
            wait_until_recorded(&rig.out(), "time", 0.15);
            let sender = Sender::unix(&path);
            for _ in 0..5 {
                assert!(sender.send(b"event"));
                std::thread::sleep(Duration::from_millis(70));
            }
            wait_until_recorded(&rig.out(), "a.count_low", 5.0);
        });
        send(child.id() as i32, SIGINT);
        let run = rig.finish(child).exits(0);
        let flood = run.clock("a", "high");
        assert!(flood["kernel_dropped"].as_u64().unwrap() > 1000, "no flood: {flood}");
        // Each has the time of its arrival: it was received before that was closed, 50 ms later.
        assert_eq!((accounted(&run, "a", LOW), run.count("a", "low", "activations")), (5, 5));
        assert_eq!(run.count("a", "low", "retimed"), 0, "{}", run.clock("a", "low"));
    });
}
