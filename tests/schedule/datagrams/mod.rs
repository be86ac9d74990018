//! External events: each datagram is one activation, and what is not activated is counted (row
//! 19: "inject 100 events, 100 activations with increasing time").

use crate::{program, wait_until_recorded};

mod bad_input;
mod between_steps;
mod ends;
mod receiver;

use nix::sys::signal::Signal::SIGINT;
use program::clock::{HIGH, LOW, NAMES};
use program::{Kind, Outcome, Rig, jail, real_time, send, shared_core, skipped, user};
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use vecud::sys::wake::monotonic_now;

/// Partitions of which nobody else ticks `high` and `low`.
const ALONE: &str = "slow_tick_high_every = 0, equal_a_tick_low_every = 0";

/// A port of loopback that was free a moment ago.
fn address() -> SocketAddr {
    UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn udp(clock: &str, address: SocketAddr, more: &str) -> String {
    format!("[[trigger]]\nclock = \"{clock}\"\nudp = \"{address}\"\n{more}\n")
}

fn unix(clock: &str, path: &str, more: &str) -> String {
    format!("[[trigger]]\nclock = \"{clock}\"\nunix = \"{path}\"\n{more}\n")
}

/// Sends to one socket of a rig.
enum Sender {
    Udp(UdpSocket, SocketAddr),
    Unix(UnixDatagram, PathBuf),
}

impl Sender {
    fn udp(to: SocketAddr) -> Sender {
        Sender::Udp(UdpSocket::bind("127.0.0.1:0").unwrap(), to)
    }

    fn unix(to: &Path) -> Sender {
        let socket = UnixDatagram::unbound().unwrap();
        // A full queue must not hold up a test whose run is over.
        socket.set_nonblocking(true).unwrap();
        Sender::Unix(socket, to.to_owned())
    }

    /// Whether it was sent, which it always is to an UDP socket, and to a unix socket when its queue has room.
    fn send(&self, content: &[u8]) -> bool {
        match self {
            Sender::Udp(socket, to) => socket.send_to(content, to).unwrap() == content.len(),
            Sender::Unix(socket, to) => socket.send_to(content, to).is_ok(),
        }
    }
}

/// Every datagram that has come is activated or counted as something else.
#[track_caller]
fn accounted(run: &Outcome, fmu: &str, clock: u32) -> u64 {
    let name = NAMES[clock as usize];
    let count = |what| run.count(fmu, name, what);
    let fates = ["activations", "overruns", "discarded", "rate_limited", "kernel_dropped"].map(count);
    assert_eq!(fates.iter().sum::<u64>(), count("received"), "{fates:?}: {}", run.clock(fmu, name));
    assert_eq!(run.clock(fmu, name)["arrival_latency"]["count"], count("activations"));
    let times = run.trace(fmu).activations(clock);
    assert_eq!(times.len() as u64, count("activations"));
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "activation times increase strictly: {times:?}");
    let stop = run.report()["end_time"].as_f64().unwrap();
    assert!(times.iter().all(|time| (0.0..stop).contains(time)), "{times:?}");
    let rows = run.signals().times();
    assert!(rows.windows(2).all(|pair| pair[0] < pair[1]), "rows are ordered by time");
    let late = run.problems().into_iter().find(|problem| problem.contains("after the row"));
    assert_eq!(late, None);
    count("received")
}

/// A hundred datagrams to each of two sockets, a hundred activations of each clock at the times of their arrival.
#[track_caller]
fn a_hundred_of_each(rig: &Rig, command: Command, to: SocketAddr, path: &Path, kind: Kind, scheduling: &str) {
    let child = rig.start(command);
    wait_until_recorded(&rig.out(), "time", 0.0);
    let (one, other) = (Sender::udp(to), Sender::unix(path));
    let mut sent = Vec::new();
    for _ in 0..100 {
        let before = monotonic_now();
        assert!(one.send(b"key on"));
        // Its queue may have no room while the receiver, without privileges, waits for its turn.
        while !other.send(b"") {
            std::thread::sleep(Duration::from_millis(1));
        }
        sent.push((before, monotonic_now()));
        std::thread::sleep(Duration::from_millis(3));
    }
    for (column, least) in [("a.count_high", 100.0), ("a.count_low", 100.0), ("a.activations", 1001.0)] {
        wait_until_recorded(&rig.out(), column, least);
    }
    send(child.id() as i32, SIGINT);
    let run = rig.finish(child).exits(0);
    assert_eq!(run.report()["host"]["scheduling"], scheduling);
    let start = run.report()["start_monotonic_ns"].as_i64().unwrap();
    for clock in [HIGH, LOW] {
        assert_eq!(accounted(&run, "a", clock), 100);
        let times = run.trace("a").activations(clock);
        assert_eq!(times.len(), 100, "{}", run.clock("a", NAMES[clock as usize]));
        let differs = |(time, (before, after)): &(&f64, &(i64, i64))| {
            // The two clocks of the kernel are read one after the other.
            const BETWEEN: i64 = 1_000_000;
            let arrival = start + (**time * 1e9) as i64;
            !(before - BETWEEN..after + BETWEEN).contains(&arrival)
        };
        let others: Vec<_> = times.iter().zip(&sent).filter(differs).collect();
        // Received after 50 ms, on a machine that is busy; counted then.
        assert!(others.len() as u64 <= run.count("a", NAMES[clock as usize], "retimed"), "{others:?}");
    }
    let (seen, broken) = run.trace("a").check(kind);
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(seen.activations > 1000, "{seen:?}");
    for line in [format!("udp {to} → a.high: 100 datagrams, 100 activations"), "→ a.low: 100 datagrams".to_owned()]
    {
        assert!(run.stdout.contains(&line), "{}", run.stdout);
    }
    for file in ["a.high.arrival_latency.hgrm", "a.low.arrival_latency.hgrm"] {
        assert!(run.file(file).contains("Total count    =          100]"), "{file}");
    }
    assert!(!run.out.join("a.fast.arrival_latency.hgrm").exists());
    assert!(run.file("report.html").contains("Arrival latency"));
    assert!(run.clock("a", "fast")["received"].is_null() && run.clock("a", "fast")["arrival_latency"].is_null());
    assert!(!path.exists(), "the socket's file is gone");
}

#[test]
fn a_hundred_datagrams_are_a_hundred_activations_at_the_times_of_their_arrival() {
    let test = "a_hundred_datagrams_are_a_hundred_activations_at_the_times_of_their_arrival";
    real_time(test, || {
        let to = address();
        let rig = Rig::new("stop_time = 100").tracer("a", ALONE);
        let rig = rig.more(&udp("a.high", to, "")).more(&unix("a.low", "events.sock", ""));
        let path = rig.folder().join("events.sock");
        a_hundred_of_each(&rig, rig.command(), to, &path, Kind::Preemptive, "fifo");
    });
}

#[test]
fn without_privileges_too_a_hundred_datagrams_are_a_hundred_activations_as_this_user() {
    shared_core(|| {
        let test = "without_privileges_too_a_hundred_datagrams_are_a_hundred_activations_as_this_user";
        if !user::can_do_without_real_time(test) {
            return;
        }
        // Nobody must be able to read the FMU and to write beside the rig.
        let folder = crate::program::tempdir().unwrap();
        let open = |path: &Path| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o1777)).unwrap();
        open(folder.path());
        let to = address();
        let rig = Rig::new("stop_time = 100").fmu("a", program::changed_tracer(folder.path(), "fmu.c", &[]), ALONE, "");
        let rig = rig.more(&udp("a.high", to, "")).more(&unix("a.low", "events.sock", ""));
        open(rig.folder());
        let program = rig.folder().join("vecud");
        std::fs::copy(env!("CARGO_BIN_EXE_vecud"), &program).unwrap();
        let mut command = rig.command_of(&program);
        command.env("VECUD_CACHE", rig.folder().join("cache")).env("TMPDIR", rig.folder());
        if user::is_root() {
            jail::become_nobody(&mut command, None);
        }
        let path = rig.folder().join("events.sock");
        a_hundred_of_each(&rig, command, to, &path, Kind::OneAtATime, "cooperative");
    });
}

#[test]
fn a_flood_is_cut_to_the_rate_and_the_rest_is_counted() {
    shared_core(|| {
        let to = address();
        let rig = Rig::new("stop_time = 1.0").tracer("a", ALONE).more(&udp("a.high", to, "max_rate = 100"));
        let child = rig.start(rig.command());
        wait_until_recorded(&rig.out(), "time", 0.0);
        let sender = Sender::udp(to);
        let began = monotonic_now();
        const SENT: u64 = 10_000;
        assert!((0..SENT).all(|_| sender.send(b"x")));
        let span = (monotonic_now() - began) as f64 / 1e9;
        let run = rig.finish(child).exits(0);
        assert_eq!(accounted(&run, "a", HIGH), SENT);
        let count = |what| run.count("a", "high", what);
        // A burst of 16, and the rate as long as it lasted.
        let accepted = count("activations") + count("overruns");
        assert!((1..=17 + (100.0 * span) as u64).contains(&accepted), "{accepted} in {span} s");
        let (limited, dropped) = (count("rate_limited"), count("kernel_dropped"));
        assert!(limited > 0, "{}", run.clock("a", "high"));
        run.problem(&["clock a.high", &format!("{limited} datagram"), &format!("udp {to}"), "max_rate"]);
        if dropped > 0 {
            run.problem(&["clock a.high", &format!("{dropped} datagram"), "dropped by the kernel"]);
        }
        // Nobody else suffers: the grid of the other clocks is complete but for what they say themselves.
        let broken = run.check_counts("a", 1000);
        assert!(broken.is_empty(), "{broken:#?}");
    });
}

#[test]
fn what_is_in_a_datagram_and_how_long_it_is_does_not_matter() {
    shared_core(|| {
        let to = address();
        let rig = Rig::new("stop_time = 100").tracer("a", ALONE);
        let rig = rig.more(&udp("a.high", to, "")).more(&unix("a.low", "events.sock", ""));
        let child = rig.start(rig.command());
        wait_until_recorded(&rig.out(), "time", 0.0);
        let (one, other) = (Sender::udp(to), Sender::unix(&rig.folder().join("events.sock")));
        for length in [0, 1, 1500, 65_507] {
            assert!(one.send(&vec![0xFF; length]), "{length}");
            std::thread::sleep(Duration::from_millis(20));
        }
        for length in [0, 1, 65_536, 150_000] {
            assert!(other.send(&vec![0xFF; length]), "{length}");
            std::thread::sleep(Duration::from_millis(20));
        }
        ["a.count_high", "a.count_low"].iter().for_each(|count| wait_until_recorded(&rig.out(), count, 4.0));
        send(child.id() as i32, SIGINT);
        let run = rig.finish(child).exits(0);
        for clock in [HIGH, LOW] {
            assert_eq!(accounted(&run, "a", clock), 4);
            assert_eq!(run.count("a", NAMES[clock as usize], "activations"), 4);
        }
    });
}

#[test]
fn what_comes_before_the_start_is_discarded() {
    shared_core(|| {
        let rig = Rig::new("stop_time = 0.5").tracer("a", ALONE).more(&unix("a.low", "events.sock", ""));
        let path = rig.folder().join("events.sock");
        let child = rig.start(rig.command());
        program::wait_until("there is a socket", || path.exists());
        let sender = Sender::unix(&path);
        let sent: Vec<(i64, i64)> = (0..5)
            .map(|_| {
                let before = monotonic_now();
                assert!(sender.send(b"x"));
                (before, monotonic_now())
            })
            .collect();
        let run = rig.finish(child).exits(0);
        assert_eq!(accounted(&run, "a", LOW), 5);
        let start = run.report()["start_monotonic_ns"].as_i64().unwrap();
        let early = sent.iter().filter(|(_, after)| *after + 1_000_000 < start).count() as u64;
        assert!(early > 0, "the start is tens of milliseconds after the socket is there");
        assert!(run.count("a", "low", "discarded") >= early, "{}", run.clock("a", "low"));
    });
}

/// Two instances under load, events for two of their clocks at random times and in bursts: every rule of the trace holds.
#[test]
fn events_at_random_times_break_no_rule() {
    real_time("events_at_random_times_break_no_rule", || {
        let mut total = 0;
        for seed in 1..=10_u64 {
            let mut state = seed;
            let mut random = |below: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) % below
            };
            let to = address();
            let load = "slow_burn_us = 500, slow_lock_us = 700, equal_a_burn_us = 60, equal_b_burn_us = 150, \
                    low_burn_us = 250, low_lock_us = 100, high_burn_us = 30, arm_every = 1";
            let rate = [100, 1000, 20_000][random(3) as usize];
            let rig = Rig::new("stop_time = 0.4")
                .tracer("a", &format!("{ALONE}, {load}"))
                .tracer("b", &format!("{ALONE}, {load}"))
                .more(&udp("a.high", to, &format!("max_rate = {rate}")))
                .more(&unix("b.low", "events.sock", &format!("max_rate = {rate}")));
            let child = rig.start(rig.command());
            rig.wait_until_it_runs();
            let (one, other) = (Sender::udp(to), Sender::unix(&rig.folder().join("events.sock")));
            let mut sent = [0, 0];
            for _ in 0..60 {
                for _ in 0..=random(4) * random(8) {
                    sent[0] += u64::from(one.send(b"x"));
                }
                for _ in 0..random(5) {
                    sent[1] += u64::from(other.send(b"x"));
                }
                std::thread::sleep(Duration::from_micros(random(6000)));
            }
            let run = rig.finish(child).exits(0);
            // What was sent after the end has not come.
            assert!(
                accounted(&run, "a", HIGH) <= sent[0] && accounted(&run, "b", LOW) <= sent[1],
                "seed {seed}: {sent:?}"
            );
            for fmu in ["a", "b"] {
                let (seen, broken) = run.trace(fmu).check(Kind::Preemptive);
                assert!(broken.is_empty(), "seed {seed}: {broken:#?}");
                assert!(seen.preemptions > 10, "{seen:?}");
                let broken = run.check_counts(fmu, 400);
                assert!(broken.is_empty(), "seed {seed}: {broken:#?}");
                assert_eq!(run.signals().last(&format!("{fmu}.violations")), 0);
            }
            total += run.count("a", "high", "activations") + run.count("b", "low", "activations");
        }
        println!("{total} events were activated");
        assert!(total > 500, "{total}");
    });
}

#[test]
fn virtual_time_receives_nothing_and_makes_no_socket() {
    let path = "events.sock";
    let rig = Rig::new("stop_time = 0.1").tracer("a", ALONE).more(&unix("a.low", path, ""));
    // It would be in the way of a socket.
    std::fs::write(rig.folder().join(path), "precious").unwrap();
    let run = rig.run_virtual().exits(0);
    assert!(run.stderr.contains("which virtual time does not receive: it never ticks"), "{}", run.stderr);
    assert_eq!(run.count("a", "low", "activations"), 0);
    assert!(run.clock("a", "low")["received"].is_null());
    assert_eq!(std::fs::read_to_string(rig.folder().join(path)).unwrap(), "precious");
}
