//! Rigs: what they are, and what they do.

use super::client::{Daemon, kept_every_release, tracer};
use super::program::{PATIENCE, copied_tracer, runner_of, send, shared_core, wait_until};
use nix::sys::signal::Signal::SIGKILL;
use std::process::Command;
use std::time::Instant;

/// From nothing to a report.
#[test]
fn a_rig_is_put_started_looked_at_stopped_and_has_a_report() {
    shared_core(|| {
        let daemon = Daemon::new();
        assert_eq!(daemon.get("/v1/rigs").json(200), serde_json::json!([]));
        let put = daemon.put("a", &tracer("")).json(201);
        assert_eq!((&put["name"], &put["state"], &put["verdict"]), (&"a".into(), &"idle".into(), &().into()));
        assert_eq!(daemon.put("a", &tracer("name = 'other'")).json(200)["state"], "idle");
        let running = daemon.post("/v1/rigs/a/start", "").json(200);
        assert_eq!(running["state"], "running");
        let activations = || {
            let clocks = daemon.get("/v1/rigs/a/clocks").json(200);
            clocks.as_array().unwrap().iter().map(|clock| clock["activations"].as_u64().unwrap()).max().unwrap()
        };
        let before = activations();
        wait_until("clocks go on", || activations() > before);
        let run = running["run"].as_str().unwrap();
        let stopped = daemon.post("/v1/rigs/a/stop", "").json(200);
        assert_eq!(
            (&stopped["state"], &stopped["verdict"], &stopped["exit_code"]),
            (&"idle".into(), &"pass".into(), &0.into())
        );
        assert_eq!(stopped["run"], run);
        let runs = daemon.get("/v1/rigs/a/runs").json(200);
        assert_eq!(
            (runs[0]["run"].as_str(), &runs[0]["verdict"], &runs[0]["ended"]),
            (Some(run), &"pass".into(), &"finished".into())
        );
        let report = daemon.get(&format!("/v1/rigs/a/runs/{run}")).json(200);
        assert_eq!((&report["rig"], &report["end"]), (&"other".into(), &"signal".into()));
        let page = daemon.get(&format!("/v1/rigs/a/runs/{run}/report.html"));
        assert!(
            page.status == 200 && page.kind.starts_with("text/html") && page.body.contains("<title"),
            "{}",
            page.kind
        );
        let part = daemon.ask_with("GET", &format!("/v1/rigs/a/runs/{run}/report.json"), "range: bytes=0-0\r\n", "");
        assert_eq!((part.status, part.body.as_str()), (206, "{"));
        assert_eq!(daemon.ask("DELETE", "/v1/rigs/a", "").status, 204);
        assert!(daemon.get("/v1/rigs/a").detail(404).contains("no rig a"));
        assert!(daemon.folder.path().join("state/rigs/a/runs").join(run).join("report.json").is_file(), "runs stay");
    });
}

/// Whoever asks for the end of a run while it comes to its end waits for that end; by force it ends for whoever says so.
#[test]
fn several_may_stop_a_rig_at_once_and_force_is_asked_for_by_name() {
    shared_core(|| {
        let daemon = Daemon::new();
        daemon.put("a", &tracer("")).json(201);
        daemon.post("/v1/rigs/a/start", "").json(200);
        std::thread::scope(|threads| {
            let stops = || (daemon.post("/v1/rigs/a/stop", ""), daemon.state("a"));
            let all: Vec<_> = (0..4).map(|_| threads.spawn(stops)).collect();
            for (answer, state) in all.into_iter().map(|own| own.join().unwrap()) {
                // Who came when it was over already is told so.
                assert!([200, 409].contains(&answer.status) && state == "idle", "{answer:?}");
            }
        });
        let status = daemon.get("/v1/rigs/a").json(200);
        assert_eq!((&status["verdict"], &status["exit_code"]), (&"pass".into(), &0.into()), "{status}");
        assert_eq!(status["last_run"], status["run"]);
        assert_eq!(daemon.post("/v1/rigs/a/stop?now=perhaps", "").status, 400);
        let trace = daemon.folder.path().join("hangs.trace.csv");
        let hangs = format!(
            "{}start = {{ fail_kind = 4, fail_at = 20, trace_file = '{}' }}\n",
            tracer("call_timeout = 60\nshutdown_timeout = 60"),
            trace.display()
        );
        daemon.put("hangs", &hangs).json(201);
        daemon.post("/v1/rigs/hangs/start", "").json(200);
        wait_until("one of its activations does not return", || trace.exists());
        let began = Instant::now();
        let stopped = daemon.post("/v1/rigs/hangs/stop?now=true", "").json(200);
        assert_eq!((&stopped["state"], &stopped["exit_code"]), (&"failed".into(), &1.into()));
        assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    });
}

/// What is wanted of a rig is one thing, whoever asks at the same time: nobody is told of files that somebody else writes.
#[test]
fn many_ask_for_starts_and_stops_of_one_rig_at_once() {
    let mut daemon = Daemon::new();
    daemon.put("a", &tracer("mode = 'virtual'\nstop_time = 0.01")).json(201);
    std::thread::scope(|threads| {
        for own in 0..6 {
            let daemon = &daemon;
            threads.spawn(move || {
                for turn in 0..20 {
                    let answer = match (own + turn) % 4 {
                        0 => daemon.post("/v1/rigs/a/start", ""),
                        1 => daemon.post("/v1/rigs/a/stop", ""),
                        2 => daemon.post("/v1/rigs/a/reset", ""),
                        _ => daemon.put("a", &tracer("mode = 'virtual'\nstop_time = 0.01")),
                    };
                    assert!([200, 409].contains(&answer.status), "{answer:?}");
                }
            });
        }
    });
    assert!(!daemon.log().contains("cannot be written"), "{}", daemon.log());
    daemon.post("/v1/rigs/a/reset", "").json(200);
    daemon.end();
    daemon.start();
    assert_eq!(daemon.state("a"), "idle", "nobody wants it to run");
    daemon.post("/v1/rigs/a/start", "").json(200);
}

/// What a start says goes before the rig's own words, and a run that ends by itself has its verdict.
#[test]
fn a_start_says_how_and_a_run_ends_by_itself() {
    let daemon = Daemon::new();
    daemon.put("a", &tracer("stop_time = 1000.0")).json(201);
    assert!(daemon.post("/v1/rigs/a/start?mode=virtual", "").detail(400).contains("has no query"));
    assert!(daemon.post("/v1/rigs/a/start", r#"{"stop_time": 1e300}"#).detail(422).contains("1e300"));
    daemon.post("/v1/rigs/a/start", r#"{"mode": "virtual", "stop_time": 0.5}"#).json(200);
    wait_until("the run is over", || daemon.state("a") == "idle");
    let status = daemon.get("/v1/rigs/a").json(200);
    assert_eq!((&status["verdict"], &status["exit_code"]), (&"pass".into(), &0.into()));
    let run = status["run"].as_str().unwrap();
    let report = daemon.get(&format!("/v1/rigs/a/runs/{run}")).json(200);
    assert_eq!((&report["mode"], report["end_time"].as_f64()), (&"virtual".into(), Some(0.5)));
}

/// A rig of one of these says so, and the other one goes on.
#[test]
fn a_rig_that_fails_is_failed_and_another_one_goes_on() {
    shared_core(|| {
        let daemon = Daemon::new();
        daemon.put("good", &tracer("")).json(201);
        daemon.post("/v1/rigs/good/start", "").json(200);
        let bad = format!("{}start = {{ fail_kind = 5, fail_at = 20 }}\n", tracer("mode = 'virtual'\nstop_time = 1.0"));
        daemon.put("bad", &bad).json(201);
        daemon.post("/v1/rigs/bad/start", "").json(200);
        wait_until("it has failed", || daemon.state("bad") == "failed");
        let status = daemon.get("/v1/rigs/bad").json(200);
        assert_eq!((&status["verdict"], &status["exit_code"]), (&"fail".into(), &1.into()));
        assert_eq!(daemon.state("good"), "running");
        daemon.post("/v1/rigs/good/stop", "").json(200);
    });
}

/// A rig whose FMU crashes, with these keys of [daemon].
fn crashing(keys: &str) -> String {
    format!("{}start = {{ fail_kind = 5, fail_at = 20 }}\n[daemon]\n{keys}\n", tracer(""))
}

/// As often as it says, and each run has its report; the other one keeps every release.
#[test]
fn a_rig_that_fails_starts_anew_by_its_policy() {
    shared_core(|| {
        let daemon = Daemon::new();
        daemon.put("good", &format!("{}[daemon]\nrestart = 'on-failure'\n", tracer("overrun = 'queue'"))).json(201);
        daemon.post("/v1/rigs/good/start", "").json(200);
        daemon.put("bad", &crashing("restart = 'on-failure'\nrestart_delay = 0.1\nmax_restarts = 2")).json(201);
        daemon.post("/v1/rigs/bad/start", "").json(200);
        wait_until("it has failed for good", || {
            let status = daemon.get("/v1/rigs/bad").json(200);
            status["state"] == "failed" && status["restart_at"].is_null()
        });
        // Why is said by its status, and has been said to whoever listens, each time.
        let status = daemon.get("/v1/rigs/bad").json(200);
        assert_eq!((&status["restarts"], &status["exit_code"]), (&2.into(), &1.into()));
        let why = status["problems"][0]["message"].as_str().unwrap();
        assert!(why.contains("SIGSEGV"), "{why}");
        let said = daemon.log().lines().filter(|line| line.starts_with("rig bad: ") && line.ends_with(why)).count();
        assert_eq!(said, 3, "{}", daemon.log());
        assert!(daemon.log().contains("it has failed after 2 restarts in a row"), "{}", daemon.log());
        let runs = daemon.get("/v1/rigs/bad/runs").json(200);
        let runs = runs.as_array().unwrap();
        assert_eq!(runs.len(), 3, "the first one, and twice more: {runs:?}");
        assert!(runs.iter().all(|run| run["verdict"] == "fail" && run["ended"] == "finished"), "{runs:?}");
        let good = daemon.post("/v1/rigs/good/stop", "").json(200);
        let report = daemon.get(&format!("/v1/rigs/good/runs/{}", good["run"].as_str().unwrap())).json(200);
        kept_every_release(&report);
    });
}

/// An activation that does not return, and exceeds a limit by that, ends its run; the rig goes on by its policy, and the other one keeps
/// every release.
#[test]
fn a_rig_that_hangs_starts_anew_by_its_policy() {
    shared_core(|| {
        let daemon = Daemon::new();
        daemon.put("good", &tracer("overrun = 'queue'")).json(201);
        daemon.post("/v1/rigs/good/start", "").json(200);
        let hangs = format!(
            "{}start = {{ fail_kind = 10, fail_at = 20 }}\nclock.fast = {{ max_execution_us = 2000 }}\n[daemon]\n{}",
            tracer("shutdown_timeout = 0.5"),
            "restart = 'on-failure'\nrestart_delay = 0.1\nmax_restarts = 1\n"
        );
        daemon.put("hangs", &hangs).json(201);
        daemon.post("/v1/rigs/hangs/start", "").json(200);
        wait_until("it has failed for good", || {
            let status = daemon.get("/v1/rigs/hangs").json(200);
            status["state"] == "failed" && status["restart_at"].is_null()
        });
        let status = daemon.get("/v1/rigs/hangs").json(200);
        assert_eq!((&status["restarts"], &status["exit_code"]), (&1.into(), &1.into()), "{status}");
        assert!(status["problems"].to_string().contains("did not return"), "{status}");
        assert_eq!(daemon.get("/v1/rigs/hangs/runs").json(200).as_array().unwrap().len(), 2);
        let good = daemon.post("/v1/rigs/good/stop", "").json(200);
        let report = daemon.get(&format!("/v1/rigs/good/runs/{}", good["run"].as_str().unwrap())).json(200);
        kept_every_release(&report);
    });
}

/// Whatever ends a runner, its run has a report, and the rig goes on by its policy; the other one keeps every release.
#[test]
fn a_runner_that_is_killed_is_a_run_that_has_failed() {
    shared_core(|| {
        let daemon = Daemon::new();
        let restarts = format!("{}[daemon]\nrestart = 'on-failure'\nrestart_delay = 0.1\n", tracer(""));
        daemon.put("killed", &restarts).json(201);
        let first = daemon.post("/v1/rigs/killed/start", "").json(200)["run"].clone();
        let runner = runner_of(daemon.child());
        daemon.put("good", &tracer("overrun = 'queue'")).json(201);
        daemon.post("/v1/rigs/good/start", "").json(200);
        send(runner, SIGKILL);
        wait_until("it runs again", || {
            let status = daemon.get("/v1/rigs/killed").json(200);
            status["state"] == "running" && status["run"] != first && status["restarts"] == 1
        });
        let report = daemon.get(&format!("/v1/rigs/killed/runs/{}", first.as_str().unwrap())).json(200);
        assert_eq!((&report["verdict"], &report["end"]), (&"fail".into(), &"failure".into()));
        assert!(report["problems"].to_string().contains("SIGKILL"), "{}", report["problems"]);
        daemon.post("/v1/rigs/killed/stop", "").json(200);
        let good = daemon.post("/v1/rigs/good/stop", "").json(200);
        let report = daemon.get(&format!("/v1/rigs/good/runs/{}", good["run"].as_str().unwrap())).json(200);
        kept_every_release(&report);
    });
}

/// Who stops it, or the daemon, while it waits for that: it does not.
#[test]
fn a_restart_that_is_awaited_is_given_up_at_a_stop() {
    shared_core(|| {
        let mut daemon = Daemon::new();
        daemon.put("bad", &crashing("restart = 'on-failure'\nrestart_delay = 3600")).json(201);
        daemon.post("/v1/rigs/bad/start", "").json(200);
        let waits = || !daemon.get("/v1/rigs/bad").json(200)["restart_at"].is_null();
        wait_until("it waits", waits);
        assert!(daemon.put("bad", &tracer("")).detail(409).contains("about to"));
        let stopped = daemon.post("/v1/rigs/bad/stop", "").json(200);
        assert_eq!((&stopped["state"], &stopped["restart_at"]), (&"failed".into(), &().into()));
        daemon.post("/v1/rigs/bad/start", "").json(200);
        wait_until("it waits again", || !daemon.get("/v1/rigs/bad").json(200)["restart_at"].is_null());
        daemon.end();
        daemon.start();
        wait_until("what is wanted runs again", || daemon.get("/v1/rigs/bad").json(200)["run"].is_string());
        assert_eq!(daemon.get("/v1/rigs/bad/runs").json(200).as_array().map(|runs| runs.len() >= 2), Some(true));
    });
}

/// Nothing of the rig is changed while it runs, and what does not run is not stopped.
#[test]
fn what_cannot_be_done_in_a_state_is_refused_and_changes_nothing() {
    shared_core(|| {
        let daemon = Daemon::new();
        daemon.put("a", &tracer("")).json(201);
        for path in ["stop", "clocks"] {
            let method = if path == "clocks" { "GET" } else { "POST" };
            assert!(daemon.ask(method, &format!("/v1/rigs/a/{path}"), "").detail(409).contains("does not run"));
        }
        daemon.post("/v1/rigs/a/start", "").json(200);
        assert!(daemon.post("/v1/rigs/a/start", "").detail(409).contains("runs already"));
        assert!(daemon.put("a", &tracer("")).detail(409).contains("stop it first"));
        assert!(daemon.ask("DELETE", "/v1/rigs/a", "").detail(409).contains("stop it first"));
        assert_eq!(daemon.state("a"), "running");
        daemon.post("/v1/rigs/a/stop", "").json(200);
    });
}

/// Each mistake has its place; the rig is what it was.
#[test]
fn a_rig_with_a_mistake_is_refused_with_line_and_column() {
    let daemon = Daemon::new();
    daemon.put("a", &tracer("")).json(201);
    let problem = daemon.put("a", &tracer("stop_tim = 1.0")).json(422);
    let mistake = &problem["mistakes"][0];
    assert_eq!((&mistake["line"], &mistake["column"]), (&2.into(), &1.into()));
    assert!(mistake["message"].as_str().unwrap().contains("did you mean"), "{mistake}");
    assert!(daemon.put("b", "[rig").json(422)["mistakes"][0]["line"] == 1);
    assert!(daemon.get("/v1/rigs/b").status == 404);
    let path = daemon.ask_with("PUT", "/v1/rigs/c", "content-type: application/json\r\n", r#"{"path": "nope.toml"}"#);
    assert!(path.detail(422).contains("nope.toml"));
    daemon.post("/v1/rigs/a/start", r#"{"mode": "virtual", "stop_time": 0.1}"#).json(200);
    wait_until("the run is over", || daemon.state("a") == "idle");
}

/// Whatever keeps a run from its first activation, in real time and in virtual time: whoever has asked for it is told why, by `vecud ctl` with
/// an exit code, and it is in the status.
#[test]
fn a_start_that_comes_to_no_activation_is_refused_and_says_why() {
    shared_core(|| {
        let daemon = Daemon::new();
        let instantiate = "fmi3UnlockPreemptionCallback unlockPreemption)\n{\n";
        for (name, before, inside, words) in [
            ("missing", "__asm__(\".hidden fmi3ActivateModelPartition\");\n", "", "fmi3ActivateModelPartition"),
            ("null", "", "return NULL;\n", "NULL"),
            ("crash", "", "__builtin_trap();\n", "SIGILL"),
        ] {
            let fmu = copied_tracer(&daemon.folder.path().join(name));
            let source = fmu.join("sources/fmu.c");
            let text = std::fs::read_to_string(&source).unwrap();
            assert!(text.contains(instantiate));
            let text = text.replacen(instantiate, &format!("{instantiate}{inside}"), 1);
            std::fs::write(&source, format!("{before}{text}")).unwrap();
            for mode in ["realtime", "virtual"] {
                let rig = format!("[rig]\nmode = '{mode}'\n[fmu.a]\npath = '{}'\n", fmu.display());
                daemon.put(name, &rig);
                let refused = daemon.post(&format!("/v1/rigs/{name}/start"), "").json(422);
                let why = refused["mistakes"][0]["message"].as_str().unwrap_or_default().to_owned();
                assert!(why.contains(words), "{name}, {mode}: {refused}");
                let status = daemon.get(&format!("/v1/rigs/{name}")).json(200);
                assert_eq!((&status["state"], &status["problems"][0]["message"]), (&"failed".into(), &why.into()));
            }
            let mut ctl = Command::new(env!("CARGO_BIN_EXE_vecud"));
            let ctl = ctl.arg("ctl").arg("--socket").arg(daemon.socket()).args(["start", name]).output().unwrap();
            let said = String::from_utf8_lossy(&ctl.stderr);
            assert!(!ctl.status.success() && said.contains(words), "{name}: {:?}: {said}", ctl.status);
            // Another rig that comes to none in place of one that runs.
            daemon.put("steady", &tracer("")).json(if name == "missing" { 201 } else { 200 });
            daemon.post("/v1/rigs/steady/start", "").json(200);
            let text = format!("[fmu.a]\npath = '{}'\n", fmu.display());
            let refused = daemon.ask("PUT", "/v1/rigs/steady?reload=true", &text).json(422);
            assert!(refused["mistakes"][0]["message"].as_str().unwrap().contains(words), "{name}: {refused}");
        }
    });
}
