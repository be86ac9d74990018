//! Pause, resume, reset and reload of a rig.

use super::client::{Daemon, request, tracer};
use super::program::{PATIENCE, runner_of, send, shared_core, wait_until};
use nix::sys::signal::Signal::{SIGCONT, SIGSTOP};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

fn activations(daemon: &Daemon, name: &str) -> u64 {
    let clocks = daemon.get(&format!("/v1/rigs/{name}/clocks")).json(200);
    clocks.as_array().unwrap().iter().map(|clock| clock["activations"].as_u64().unwrap()).sum()
}

fn started(rig: &str) -> Daemon {
    let daemon = Daemon::new();
    daemon.put("a", &tracer(rig)).json(201);
    daemon.post("/v1/rigs/a/start", "").json(200);
    daemon
}

fn report(daemon: &Daemon, status: &Value) -> Value {
    daemon.get(&format!("/v1/rigs/a/runs/{}", status["run"].as_str().unwrap())).json(200)
}

#[test]
fn a_rig_pauses_and_goes_on() {
    shared_core(|| {
        let daemon = started("");
        assert!(daemon.post("/v1/rigs/a/resume", "").detail(409).contains("it is running"));
        assert_eq!(daemon.post("/v1/rigs/a/pause", "").json(200)["state"], "paused");
        assert!(daemon.post("/v1/rigs/a/pause", "").detail(409).contains("it is paused"));
        let before = activations(&daemon, "a");
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(activations(&daemon, "a"), before);
        assert_eq!(daemon.post("/v1/rigs/a/resume", "").json(200)["state"], "running");
        wait_until("it goes on", || activations(&daemon, "a") > before);
        let stopped = daemon.post("/v1/rigs/a/stop", "").json(200);
        assert_eq!(stopped["verdict"], "pass");
        assert_eq!(report(&daemon, &stopped)["pauses"]["number"], 1);
        assert!(daemon.post("/v1/rigs/a/pause", "").detail(409).contains("does not run"));
        assert_eq!(daemon.post("/v1/rigs/nope/pause", "").status, 404);
    });
}

#[test]
fn a_reset_ends_what_runs_and_forgets_what_has_failed() {
    shared_core(|| {
        let daemon = started("");
        daemon.post("/v1/rigs/a/pause", "").json(200);
        let reset = daemon.post("/v1/rigs/a/reset", "").json(200);
        assert_eq!((&reset["state"], &reset["verdict"]), (&"idle".into(), &"pass".into()));
        let crashes =
            format!("{}start = {{ fail_kind = 5, fail_at = 20 }}\n", tracer("mode = 'virtual'\nstop_time = 1.0"));
        daemon.put("a", &crashes).json(200);
        daemon.post("/v1/rigs/a/start", "").json(200);
        wait_until("it has failed", || daemon.state("a") == "failed");
        let reset = daemon.post("/v1/rigs/a/reset", "").json(200);
        assert_eq!((&reset["state"], &reset["verdict"]), (&"idle".into(), &"fail".into()), "what it was is still told");
        assert_eq!(daemon.post("/v1/rigs/a/reset", "").json(200)["state"], "idle", "nothing is left to be done");
    });
}

/// The run that goes on has its report; the new one is started as the former one was.
#[test]
fn a_rig_that_runs_is_made_another_one() {
    shared_core(|| {
        let daemon = Daemon::new();
        daemon.put("a", &tracer("mode = 'virtual'\nname = 'one'")).json(201);
        let one = daemon.post("/v1/rigs/a/start", r#"{"mode": "realtime"}"#).json(200);
        assert!(daemon.put("a", &tracer("name = 'two'")).detail(409).contains("?reload=true"));
        let reload = |rig: &str| daemon.ask("PUT", "/v1/rigs/a?reload=true", &tracer(rig));
        let mistake = reload("stop_tim = 1.0").json(422);
        assert_eq!((&mistake["mistakes"][0]["line"], daemon.state("a").as_str()), (&2.into(), "running"), "it goes on");
        let two = reload("mode = 'virtual'\nname = 'two'").json(200);
        assert_eq!(two["state"], "running");
        assert_ne!(two["run"], one["run"]);
        assert_eq!((&report(&daemon, &one)["rig"], &report(&daemon, &one)["end"]), (&"one".into(), &"signal".into()));
        let stopped = daemon.post("/v1/rigs/a/stop", "").json(200);
        let two = report(&daemon, &stopped);
        assert_eq!((&two["rig"], &two["mode"]), (&"two".into(), &"realtime".into()));
        assert_eq!(reload("name = 'three'").json(200)["state"], "idle", "what does not run does not begin to");
        assert_eq!(daemon.ask("PUT", "/v1/rigs/a?reload=perhaps", &tracer("")).status, 400);
    });
}

/// What is set in a pause is set before the next activation; a tick waits for its end.
#[test]
fn what_is_asked_for_in_a_pause_comes_after_it() {
    shared_core(|| {
        let daemon = started("");
        daemon.post("/v1/rigs/a/pause", "").json(200);
        let set = daemon.ask("PATCH", "/v1/rigs/a/variables", r#"{"tracer.in_f64": 7.0}"#).json(202);
        assert!(set["tracer.in_f64"]["time"].is_null(), "{set}");
        assert!(daemon.post("/v1/rigs/a/ticks/tracer.high", "").json(202)["time"].is_null());
        let ticked = || {
            let clocks = daemon.get("/v1/rigs/a/clocks").json(200);
            let high = clocks.as_array().unwrap().iter().find(|clock| clock["clock"] == "high").unwrap().clone();
            high["activations"].as_u64().unwrap()
        };
        assert_eq!(ticked(), 0);
        daemon.post("/v1/rigs/a/resume", "").json(200);
        wait_until("it ticks", || ticked() == 1);
        daemon.post("/v1/rigs/a/stop", "").json(200);
    });
}

fn teeth(daemon: &Daemon, number: u64) -> Value {
    let wanted = json!({"condition": format!("ecu.teeth == {number}"), "timeout": PATIENCE.as_secs()});
    daemon.post("/v1/rigs/a/waits", &wanted.to_string()).json(200)
}

/// One that is asked for in a pause, and one that is asked for as soon as the rig goes on, when its simulation time may still stand.
#[test]
fn a_tick_around_a_pause_is_recorded() {
    shared_core(|| {
        let daemon = Daemon::new();
        let fmu = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/engine_ecu");
        let rig = format!("[rig]\n[fmu.ecu]\npath = '{}'\n[record]\nsignals = ['ecu.*']\n", fmu.display());
        daemon.put("a", &rig).json(201);
        daemon.post("/v1/rigs/a/start", "").json(200);
        let mut last = -1.0;
        for pause in 0..5 {
            daemon.post("/v1/rigs/a/pause", "").json(200);
            assert!(daemon.post("/v1/rigs/a/ticks/ecu.crank_isr", "").json(202)["time"].is_null());
            daemon.post("/v1/rigs/a/resume", "").json(200);
            let time = daemon.post("/v1/rigs/a/ticks/ecu.crank_isr", "").json(200)["time"].as_f64().unwrap();
            let held = teeth(&daemon, 2 * pause + 2)["time"].as_f64().unwrap();
            assert!(time == held && time > last, "{time} was answered, and it was recorded at {held}, after {last}");
            last = time;
        }
        let stopped = daemon.post("/v1/rigs/a/stop", "").json(200);
        let report = report(&daemon, &stopped);
        assert_eq!(stopped["verdict"], "pass");
        assert!(!report.to_string().contains("after the row was written"), "{:#}", report["problems"]);
    });
}

/// Ticks of a pause have their places in the queue of their clock, as others have: none is taken that is lost later.
#[test]
fn as_many_ticks_wait_in_a_pause_as_outside_of_one() {
    shared_core(|| {
        let daemon = started("[daemon]\nwatch = ['tracer.count_*', 'tracer.violations']");
        let high = || {
            let clocks = daemon.get("/v1/rigs/a/clocks").json(200);
            let high = clocks.as_array().unwrap().iter().find(|clock| clock["clock"] == "high").unwrap().clone();
            ["activations", "overruns", "discarded"].map(|figure| high[figure].as_u64().unwrap())
        };
        let tick = || daemon.post("/v1/rigs/a/ticks/tracer.high", "");
        daemon.post("/v1/rigs/a/pause", "").json(200);
        (0..16).for_each(|_| assert!(tick().json(202)["time"].is_null()));
        let detail = tick().detail(409);
        assert!(detail.contains("16 of its ticks wait already; resume the rig"), "{detail}");
        assert_eq!(high(), [0, 1, 0]);
        daemon.post("/v1/rigs/a/resume", "").json(200);
        wait_until("all are activated", || high()[0] == 16);
        assert!(tick().json(200)["time"].is_number());
        let wanted =
            json!({"condition": "tracer.count_high == 17 and tracer.violations == 0", "timeout": PATIENCE.as_secs()});
        daemon.post("/v1/rigs/a/waits", &wanted.to_string()).json(200);
        assert_eq!(high(), [17, 1, 0]);
        // What waits when a run ends is counted, and not lost without a word.
        daemon.post("/v1/rigs/a/pause", "").json(200);
        (0..3).for_each(|_| assert_eq!(tick().status, 202));
        let stopped = daemon.post("/v1/rigs/a/stop", "").json(200);
        let clocks = &report(&daemon, &stopped)["clocks"];
        let high = clocks.as_array().unwrap().iter().find(|clock| clock["clock"] == "high").unwrap();
        assert_eq!((&high["activations"], &high["overruns"], &high["discarded"]), (&17.into(), &1.into(), &3.into()));
    });
}

/// Two ticks at one instant are one activation, in a pause too.
#[test]
fn in_a_pause_of_virtual_time_ticks_come_with_the_instant_after_it() {
    let daemon = started("mode = 'virtual'\n[daemon]\nwatch = ['tracer.count_*']");
    daemon.post("/v1/rigs/a/pause", "").json(200);
    (0..70).for_each(|_| assert!(daemon.post("/v1/rigs/a/ticks/tracer.low", "").json(202)["time"].is_null()));
    daemon.post("/v1/rigs/a/resume", "").json(200);
    let wanted = json!({"condition": "tracer.count_low == 1", "timeout": PATIENCE.as_secs()});
    daemon.post("/v1/rigs/a/waits", &wanted.to_string()).json(200);
    let clocks = daemon.get("/v1/rigs/a/clocks").json(200);
    let low = clocks.as_array().unwrap().iter().find(|clock| clock["clock"] == "low").unwrap();
    assert_eq!((&low["activations"], &low["coalesced"], &low["overruns"]), (&1.into(), &69.into(), &0.into()));
    assert_eq!(daemon.post("/v1/rigs/a/stop", "").json(200)["verdict"], "pass");
}

/// Whoever asks for a pause is answered in time, and what is refused does not come later.
#[test]
fn a_pause_of_a_rig_whose_runner_is_stopped_is_withdrawn() {
    shared_core(|| {
        let daemon = started("shutdown_timeout = 0.3");
        let runner = runner_of(daemon.child());
        send(runner, SIGSTOP);
        let asked = Instant::now();
        let answer = daemon.post("/v1/rigs/a/pause", "");
        let took = asked.elapsed();
        send(runner, SIGCONT);
        let detail = answer.detail(409);
        assert!(detail.contains("within 0.3 s (rig: shutdown_timeout)") && detail.contains("withdrawn"), "{detail}");
        assert!(took < PATIENCE, "{took:?}");
        let before = activations(&daemon, "a");
        wait_until("it goes on", || activations(&daemon, "a") > before + 100);
        assert_eq!(daemon.state("a"), "running");
        assert_eq!(daemon.post("/v1/rigs/a/pause", "").json(200)["state"], "paused");
        daemon.post("/v1/rigs/a/stop", "").json(200);
    });
}

/// One request waits for the runner, and has a thread; the others are refused.
#[test]
fn pauses_of_a_rig_that_does_not_come_to_rest_keep_no_other_rig_waiting() {
    shared_core(|| {
        let daemon = started("shutdown_timeout = 60");
        let runner = runner_of(daemon.child());
        daemon.put("b", &tracer("")).json(201);
        daemon.post("/v1/rigs/b/start", "").json(200);
        send(runner, SIGSTOP);
        let asked: Vec<UnixStream> = (0..17)
            .map(|_| {
                let mut stream = UnixStream::connect(daemon.socket()).unwrap();
                stream.write_all(request("POST", "/v1/rigs/a/pause", "host: vecud\r\n", "").as_bytes()).unwrap();
                stream.set_nonblocking(true).unwrap();
                stream
            })
            .collect();
        let mut conflicts = 0;
        wait_until("all but one are refused", || {
            conflicts += asked.iter().filter(|stream| has_conflict(stream)).count();
            conflicts == 16
        });
        let began = Instant::now();
        assert_eq!(daemon.post("/v1/rigs/b/pause", "").json(200)["state"], "paused");
        let took = began.elapsed();
        send(runner, SIGCONT);
        assert!(took < Duration::from_secs(30), "{took:?}");
    });
}

/// Whether it is answered now that a rig is being paused already.
fn has_conflict(mut stream: &UnixStream) -> bool {
    let mut bytes = [0; 4096];
    let length = stream.read(&mut bytes).unwrap_or(0);
    length > 0 && String::from_utf8_lossy(&bytes[..length]).contains("409")
}

/// Somebody stops it.
#[test]
fn virtual_time_needs_no_stop_time() {
    let daemon = started("mode = 'virtual'");
    assert_eq!(daemon.post("/v1/rigs/a/pause", "").json(200)["state"], "paused");
    assert_eq!(daemon.post("/v1/rigs/a/stop", "").json(200)["verdict"], "pass");
}
