//! Waits for conditions over signals of rigs that run.

use super::client::{Answer, Daemon, exchange, request, tracer};
use super::program::{PATIENCE, real_time, wait_until};
use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

const SIGNALS: &str =
    "[record]\nsignals = ['tracer.count_*', 'tracer.time_fast']\n[daemon]\nwatch = ['tracer.in_*', 'tracer.out_*']\n";

/// For what holds sooner or later (s).
const LONG: f64 = PATIENCE.as_secs() as f64;

fn wait(daemon: &Daemon, condition: &str, timeout: f64) -> Answer {
    daemon.post("/v1/rigs/a/waits", &json!({"condition": condition, "timeout": timeout}).to_string())
}

fn set(daemon: &Daemon, values: Value) -> f64 {
    let times = daemon.ask("PATCH", "/v1/rigs/a/variables", &values.to_string()).json(200);
    times.as_object().unwrap().values().next().unwrap()["time"].as_f64().unwrap()
}

/// Whoever waits hears of the first row that is as wanted, with its time and values.
#[test]
fn a_wait_is_over_in_the_row_in_which_its_condition_holds() {
    // Without real-time priorities a release may be left out, and counts are no times then.
    real_time("a_wait_is_over_in_the_row_in_which_its_condition_holds", || {
        let daemon = Daemon::new();
        // Late or not, each of its releases is a row at its time.
        daemon.put("a", &format!("{}{SIGNALS}", tracer("overrun = 'queue'"))).json(201);
        assert!(wait(&daemon, "tracer.count_fast > 0", 1.0).detail(409).contains("does not run"));
        daemon.post("/v1/rigs/a/start", "").json(200);
        // Each ms is a row: of those that come, the very one.
        let newest =
            daemon.get("/v1/rigs/a/signals?match=tracer.count_fast").json(200)[0]["value"].as_u64().unwrap_or(0);
        let wanted = newest + 500;
        let held = wait(&daemon, &format!("tracer.count_fast >= {wanted}"), LONG).json(200);
        let expected = (wanted - 1) as f64 / 1000.0;
        assert_eq!(held, json!({"time": expected, "values": {"tracer.count_fast": wanted}}));
        let at_once = wait(&daemon, &format!("tracer.count_fast >= {wanted}"), LONG).json(200);
        assert!(at_once["time"].as_f64() >= held["time"].as_f64(), "the newest row is as wanted: {at_once}");
        // An edge that somebody makes while somebody else waits for it, in a signal that is only watched.
        let time = thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                wait(&daemon, "rising(tracer.out_bool) and tracer.out_f64 > 2 and tracer.out_array[3] == 0", LONG)
                    .json(200)
            });
            // An edge that comes before somebody waits for it is none: then there is another one.
            let set = loop {
                thread::sleep(Duration::from_millis(300));
                assert!(!waiting.is_finished());
                let time = set(&daemon, json!({"tracer.in_bool": true, "tracer.in_f64": 2.5}));
                let began = Instant::now();
                while !waiting.is_finished() && began.elapsed() < Duration::from_secs(10) {
                    thread::sleep(Duration::from_millis(2));
                }
                if waiting.is_finished() {
                    break time;
                }
                set(&daemon, json!({"tracer.in_bool": false}));
            };
            let held = waiting.join().unwrap();
            assert_eq!(
                held["values"],
                json!({"tracer.out_bool": true, "tracer.out_f64": 2.5, "tracer.out_array[3]": 0.0})
            );
            assert_eq!(held["time"].as_f64(), Some(set), "from the activation on before which it was set");
            set
        });
        assert!(wait(&daemon, "tracer.out_bool", LONG).json(200)["time"].as_f64() >= Some(time));
        let began = Instant::now();
        assert!(
            wait(&daemon, "rising(tracer.out_bool)", 0.3).detail(408).contains("within 0.3 s"),
            "it has risen before"
        );
        assert!(began.elapsed() >= Duration::from_millis(300));
        // Whoever waits when the run ends hears of that.
        let waits = json!({"condition": "tracer.count_fast < 0", "timeout": LONG}).to_string();
        let mut waiting = UnixStream::connect(daemon.socket()).unwrap();
        waiting.set_read_timeout(Some(PATIENCE)).unwrap();
        waiting.write_all(request("POST", "/v1/rigs/a/waits", "host: vecud\r\n", &waits).as_bytes()).unwrap();
        // Whoever comes later is answered, so that the wait has begun.
        (0..20).for_each(|_| assert_eq!(daemon.get("/healthz").status, 200));
        daemon.post("/v1/rigs/a/stop", "").json(200);
        assert!(Answer::of(&exchange(waiting, &[])).detail(409).contains("has ended"));
    });
}

/// What is only watched, of a rig in virtual time that goes on until it is stopped and writes no files.
fn watched_in_virtual_time() -> String {
    let rig = tracer("mode = 'virtual'\nstop_time = 1e9\n");
    format!("{rig}[daemon]\nwatch = ['tracer.count_*', 'tracer.out_*']\n")
}

/// An edge in one row of many, in virtual time, where rows come as fast as they can.
#[test]
fn no_edge_is_missed() {
    let daemon = Daemon::new();
    daemon.put("a", &watched_in_virtual_time()).json(201);
    daemon.post("/v1/rigs/a/start", "").json(200);
    let count = || daemon.get("/v1/rigs/a/signals?match=tracer.count_slow").json(200)[0]["value"].as_u64().unwrap_or(0);
    let mut fastest = 0;
    for _ in 0..5 {
        let before = count();
        thread::sleep(Duration::from_millis(50));
        let now = count();
        fastest = fastest.max(now - before);
        // Far enough away that it is asked for in time, also where the rig becomes faster, and only once.
        let wanted = now + 10 * fastest + 1000;
        let held = wait(&daemon, &format!("rising(tracer.count_slow == {wanted})"), LONG).json(200);
        assert_eq!(held, json!({"time": (wanted - 1) as f64 / 100.0, "values": {"tracer.count_slow": wanted}}));
    }
    daemon.post("/v1/rigs/a/stop", "").json(200);
}

#[test]
fn a_wrong_condition_has_its_column_and_too_many_waits_are_refused() {
    let daemon = Daemon::new();
    daemon.put("a", &watched_in_virtual_time()).json(201);
    daemon.post("/v1/rigs/a/start", "").json(200);
    for (condition, column, words) in [
        ("tracer.count_fast >", 20, "the condition ends here"),
        ("tracer.count_fast > 1 or tracer.fast > 2", 26, "tracer.fast is neither recorded nor watched"),
        ("tracer.count_fats > 1", 1, "did you mean \"tracer.count_fast\""),
        ("tracer.out_array > 1", 1, "name an element of it, as tracer.out_array[1]"),
    ] {
        let problem = wait(&daemon, condition, 1.0).json(422);
        assert_eq!(problem["mistakes"][0]["column"], column, "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains(words), "{problem}");
    }
    assert!(wait(&daemon, "true", 0.0).detail(422).contains("timeout"));
    daemon.post("/v1/rigs/a/waits", r#"{"conditions": "true"}"#).detail(400);
    assert_eq!(wait(&daemon, "true", LONG).json(200)["values"], json!({}));
    thread::scope(|scope| {
        let waits: Vec<_> =
            (0..70).map(|_| scope.spawn(|| wait(&daemon, "tracer.count_fast < 0", 4.0).status)).collect();
        let mut statuses: Vec<u16> = waits.into_iter().map(|wait| wait.join().unwrap()).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [vec![408; 64], vec![503; 6]].concat());
    });
    wait_until("there is room again", || wait(&daemon, "true", LONG).status == 200);
    daemon.post("/v1/rigs/a/stop", "").json(200);
}

/// A row that was lost may have been the one.
#[test]
fn where_samples_were_lost_a_wait_does_not_say_that_its_condition_has_not_held() {
    use nix::sys::signal::Signal::{SIGCONT, SIGSTOP};
    real_time("where_samples_were_lost_a_wait_does_not_say_that_its_condition_has_not_held", || {
        let daemon = Daemon::new();
        daemon.put("a", &format!("{}{SIGNALS}", tracer("overrun = 'queue'"))).json(201);
        daemon.post("/v1/rigs/a/start", "").json(200);
        let clean = wait(&daemon, "tracer.count_fast < 0", 0.2).detail(408);
        assert_eq!(clean, "the condition has not held within 0.2 s");
        thread::scope(|scope| {
            let waits = scope.spawn(|| wait(&daemon, "tracer.count_fast < 0", 4.0).detail(408));
            // Two seconds: some 1000 samples of `fast` find room.
            thread::sleep(Duration::from_millis(300));
            super::program::send(daemon.pid(), SIGSTOP);
            thread::sleep(Duration::from_secs(2));
            super::program::send(daemon.pid(), SIGCONT);
            let said = waits.join().unwrap();
            assert!(said.starts_with("nobody knows whether the condition has held within 4 s: "), "{said}");
            assert!(said.ends_with(" samples had no room, and were lost"), "{said}");
        });
    });
}
