//! Ticks that clients ask for, of clocks that nothing else ticks.

use super::client::{Daemon, tracer};
use super::program::{PATIENCE, shared_core, wait_until};
use serde_json::{Value, json};
use std::path::Path;
use std::thread;

const WATCHED: &str = "[daemon]\nwatch = ['tracer.count_*', 'tracer.time_*', 'tracer.violations']\n";

fn tick(daemon: &Daemon, clock: &str) -> f64 {
    daemon.post(&format!("/v1/rigs/a/ticks/{clock}"), "").json(200)["time"].as_f64().unwrap()
}

fn newest(daemon: &Daemon, name: &str) -> Value {
    daemon.get(&format!("/v1/rigs/a/signals?match={name}")).json(200)[0]["value"].clone()
}

/// The figures of one clock.
fn clock(daemon: &Daemon, name: &str) -> Value {
    let clocks = daemon.get("/v1/rigs/a/clocks").json(200);
    clocks.as_array().unwrap().iter().find(|clock| clock["clock"] == name).unwrap().clone()
}

#[test]
fn a_clock_ticks_when_a_client_asks_for_it() {
    shared_core(|| {
        let daemon = Daemon::new();
        daemon.put("a", &format!("{}{WATCHED}", tracer(""))).json(201);
        assert!(daemon.post("/v1/rigs/a/ticks/tracer.high", "").detail(409).contains("does not run"));
        daemon.post("/v1/rigs/a/start", "").json(200);
        let mut last = -1.0;
        for count in 1..=20 {
            let time = tick(&daemon, "tracer.high");
            assert!(time > last, "activation times increase: {time} after {last}");
            let wanted = json!({"condition": format!("tracer.count_high == {count}"), "timeout": PATIENCE.as_secs()});
            let held = daemon.post("/v1/rigs/a/waits", &wanted.to_string()).json(200);
            assert_eq!(held["time"].as_f64(), Some(time), "it is activated at the time that was answered");
            assert_eq!(newest(&daemon, "tracer.time_high").as_f64(), Some(time), "of which the FMU is told");
            last = time;
        }
        // Many at once: each is taken, and activated once, or refused, and counted.
        let statuses: Vec<u16> = thread::scope(|scope| {
            let ask = || (0..20).map(|_| daemon.post("/v1/rigs/a/ticks/tracer.high", "").status).collect::<Vec<_>>();
            let clients: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
            clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
        });
        let number = |status: u16| statuses.iter().filter(|own| **own == status).count();
        assert_eq!(number(200) + number(409), 160, "{statuses:?}");
        wait_until("all of them are activated", || newest(&daemon, "tracer.count_high") == 20 + number(200));
        let high = clock(&daemon, "high");
        assert_eq!(
            (&high["activations"], &high["overruns"], &high["coalesced"]),
            (&(20 + number(200)).into(), &number(409).into(), &0.into())
        );
        assert_eq!(newest(&daemon, "tracer.violations"), 0);
        for (clock, words) in [
            ("tracer.fast", "something else ticks it"),
            ("tracer.out_high", "there is no such input clock"),
            ("tracer.hihg", "did you mean \"tracer.high\""),
            ("high", "there is no such input clock"),
        ] {
            let detail = daemon.post(&format!("/v1/rigs/a/ticks/{clock}"), "").detail(422);
            assert!(detail.contains(words), "{clock}: {detail}");
        }
        assert_eq!(daemon.post("/v1/rigs/a/stop", "").json(200)["verdict"], "pass");
    });
}

#[test]
fn in_virtual_time_a_tick_is_at_the_instant_that_comes_next() {
    let daemon = Daemon::new();
    let rig = tracer("mode = 'virtual'\nstop_time = 1e9\n");
    daemon.put("a", &format!("{rig}{WATCHED}")).json(201);
    daemon.post("/v1/rigs/a/start", "").json(200);
    let mut last = -1.0;
    for count in 1..=10 {
        let time = tick(&daemon, "tracer.low");
        assert!(time > last);
        wait_until("it is activated", || newest(&daemon, "tracer.count_low") == count);
        assert_eq!(newest(&daemon, "tracer.time_low").as_f64(), Some(time));
        last = time;
    }
    assert_eq!(newest(&daemon, "tracer.violations"), 0);
    daemon.post("/v1/rigs/a/stop", "").json(200);
}

/// A clock of an FMU that makes steps ticks between two of them.
#[test]
fn a_clock_between_steps_ticks_on_request() {
    let daemon = Daemon::new();
    let fmu = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/step_clocks");
    for (mode, stop) in [("realtime", 1e3), ("virtual", 1e9)] {
        let rig = format!(
            "[rig]\nmode = '{mode}'\nstop_time = {stop:?}\n[fmu.s]\npath = '{}'\nstep = 0.01\n[daemon]\nwatch = ['s.*']\n",
            fmu.display()
        );
        let put = daemon.put("a", &rig);
        assert!(matches!(put.status, 200 | 201), "{}", put.body);
        daemon.post("/v1/rigs/a/start", "").json(200);
        let before = newest(&daemon, "s.n_called").as_u64().unwrap_or(0);
        tick(&daemon, "s.called");
        wait_until("it has ticked", || newest(&daemon, "s.n_called").as_u64() == Some(before + 1));
        daemon.post("/v1/rigs/a/stop", "").json(200);
    }
}
