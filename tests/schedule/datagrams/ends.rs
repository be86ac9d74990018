//! Runs end as soon as without datagrams, and leave no socket, however they end.

use super::*;
use nix::sys::signal::Signal;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

/// Ends what looks at it.
pub struct Over<'a>(pub &'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

/// Sends as fast as it can while `during` runs, and at least once.
pub fn flood<T>(to: SocketAddr, path: &Path, during: impl FnOnce() -> T) -> (u64, T) {
    let (over, sent) = (AtomicBool::new(false), AtomicU64::new(0));
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            let (one, other) = (Sender::udp(to), Sender::unix(path));
            while !over.load(SeqCst) {
                sent.fetch_add(u64::from(one.send(b"flood")), SeqCst);
                let _gone_or_full = other.send(b"flood");
            }
        });
        // Also when that panics: the scope waits for the sender.
        let _over = Over(&over);
        during()
    });
    (sent.into_inner(), result)
}

#[test]
fn a_flood_does_not_hold_up_the_stop_nor_ctrl_c() {
    shared_core(|| {
        for signal in [None, Some(Signal::SIGINT)] {
            let to = address();
            let stop = if signal.is_some() { 100.0 } else { 0.5 };
            let rig = Rig::new(&format!("stop_time = {stop}")).tracer("a", ALONE);
            let rig =
                rig.more(&udp("a.high", to, "max_rate = 500")).more(&unix("a.low", "events.sock", "max_rate = 500"));
            let path = rig.folder().join("events.sock");
            let child = rig.start(rig.command());
            rig.wait_until_it_runs();
            let (sent, run) = flood(to, &path, || {
                if let Some(signal) = signal {
                    wait_until_recorded(&rig.out(), "time", 0.25);
                    send(child.id() as i32, signal);
                }
                // Far less than the grace of seconds that a run has which does not end.
                rig.finish(child).exits(0)
            });
            assert!(sent > 1000, "{sent} are no flood");
            assert_eq!(run.report()["end"], if signal.is_some() { "signal" } else { "stop_time" });
            assert_eq!(run.status("a"), "terminated");
            let received = accounted(&run, "a", HIGH);
            assert!(received > 500 && received <= sent, "{received} of {sent}");
            assert!(accounted(&run, "a", LOW) > 16);
            assert!(run.count("a", "high", "rate_limited") > 0);
            assert!(!path.exists());
        }
    });
}

#[test]
fn the_file_of_a_socket_is_private_while_it_is_there_and_gone_after_any_end() {
    shared_core(|| {
        const CRASH: &str = "fail_kind = 5, fail_clock = 6, fail_at = 3";
        for (stop, start, signal, code) in [
            (0.3, "", None, 0),
            (100.0, "", Some(Signal::SIGINT), 0),
            (100.0, "", Some(Signal::SIGQUIT), 0),
            (100.0, CRASH, None, 1),
        ] {
            let rig = Rig::new(&format!("stop_time = {stop}"))
                .tracer("a", &format!("{ALONE}{}{start}", if start.is_empty() { "" } else { ", " }))
                .more(&unix("a.low", "events.sock", ""));
            let path = rig.folder().join("events.sock");
            let child = rig.start(rig.command());
            rig.wait_until_it_runs();
            assert_eq!(path.symlink_metadata().unwrap().permissions().mode() & 0o777, 0o600);
            wait_until_recorded(&rig.out(), "time", 0.0);
            let sender = Sender::unix(&path);
            let sent = (0..5).filter(|_| sender.send(b"x")).count() as u64;
            if let Some(signal) = signal {
                send(child.id() as i32, signal);
            }
            let run = rig.finish(child).exits(code);
            assert!(!path.exists(), "{}", run.stderr);
            if code == 1 {
                // In the third activation; what was received before is not forgotten.
                run.problem(&["a", "low"]);
                assert_eq!((run.status("a").as_str(), run.count("a", "low", "activations")), ("crashed", 2));
                assert!((3..=sent).contains(&run.count("a", "low", "received")), "{}", run.clock("a", "low"));
            }
        }
    });
}

#[test]
fn a_socket_of_a_run_that_was_killed_is_replaced() {
    shared_core(|| {
        let rig = Rig::new("stop_time = 0.3").tracer("a", ALONE).more(&unix("a.low", "events.sock", ""));
        let path = rig.folder().join("events.sock");
        let mut child = rig.start(rig.command());
        rig.wait_until_it_runs();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(path.exists(), "nobody was left to remove it");
        // The runner goes with the supervisor, in a moment.
        let gone = || UnixDatagram::unbound().unwrap().connect(&path).is_err();
        program::wait_until("nobody receives there", gone);
        rig.run().exits(0);
        assert!(!path.exists());
    });
}
