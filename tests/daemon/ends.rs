//! However a session of the daemon ends: each release of a periodic clock up to there is an activation, skipped or discarded
//! (semantics S12).

use super::client::{Daemon, tracer};
use super::program::random::seeds;
use super::program::{Random, behaviour, runner_of, send, shared_core, unaccounted, wait_until};
use nix::sys::signal::Signal::{SIGCONT, SIGKILL, SIGSTOP};
use serde_json::Value;
use std::sync::Mutex;
use std::thread::sleep;
use std::time::Duration;

/// What happens to a session.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// It is stopped.
    Stop,
    /// It is stopped, and nothing is waited for.
    Now,
    /// It is stopped in a pause.
    InPause,
    /// It is stopped after a pause.
    AfterPause,
    /// It is reset.
    Reset,
    /// Its runner gets no time, is told to stop, and goes on.
    Kept,
    /// Its runner is killed.
    Killed,
}

/// A random rig whose session ends in a random way.
fn ends_at_random(daemon: &Daemon, seed: u64) -> Vec<String> {
    let mut random = Random(seed);
    let ways = [Way::Stop, Way::Now, Way::InPause, Way::AfterPause, Way::Reset, Way::Kept, Way::Killed];
    let way = random.of(&ways);
    let mode = if random.one_in(3) { "virtual" } else { "realtime" };
    let overrun = random.of(&["skip", "queue"]);
    let start = behaviour(&mut random, 60, 0);
    let rig = tracer(&format!("mode = '{mode}'\nshutdown_timeout = 0.3"));
    let rig = format!("{rig}start = {{ {start} }}\nclock.fast = {{ overrun = '{overrun}' }}\n");
    assert!(daemon.put("a", &rig).status < 300);
    daemon.post("/v1/rigs/a/start", "").json(200);
    wait_until("it runs", || daemon.state("a") == "running");
    let mut pass = || sleep(Duration::from_millis(random.below(60)));
    let post = |what: &str| daemon.post(&format!("/v1/rigs/a/{what}"), "");
    let runner = runner_of(daemon.child());
    pass();
    match way {
        Way::Stop => _ = post("stop"),
        Way::Now => _ = post("stop?now=true"),
        Way::Reset => _ = post("reset"),
        Way::Killed => send(runner, SIGKILL),
        Way::InPause => {
            post("pause");
            pass();
            post("stop");
        }
        Way::AfterPause => {
            post("pause");
            pass();
            post("resume");
            pass();
            post("stop");
        }
        Way::Kept => {
            send(runner, SIGSTOP);
            std::thread::scope(|scope| {
                scope.spawn(|| post("stop"));
                pass();
                send(runner, SIGCONT);
            });
        }
    }
    wait_until("it is over", || ["idle", "failed"].contains(&daemon.state("a").as_str()));
    let runs = daemon.get("/v1/rigs/a/runs").json(200);
    let report = report(daemon, &runs);
    let problems = report["problems"].to_string();
    let bug = problems.contains("a bug in vecud").then(String::new);
    let wrong = unaccounted(&report, "tracer").into_iter().chain(bug);
    wrong.map(|words| format!("seed {seed}, {way:?}, {mode}: {words}; problems: {problems}")).collect()
}

/// The newest of these runs.
fn report(daemon: &Daemon, runs: &Value) -> Value {
    let run = runs.as_array().unwrap().last().unwrap();
    daemon.get(&format!("/v1/rigs/a/runs/{}", run["run"].as_str().unwrap())).json(200)
}

/// `VECUD_SEED=1..1001` makes a thousand of them.
#[test]
fn however_a_session_ends_the_sum_of_each_clock_closes() {
    let wrong = Mutex::new(Vec::new());
    shared_core(|| {
        let daemon = Daemon::new();
        wrong.lock().unwrap().extend(seeds(8).into_iter().flat_map(|seed| ends_at_random(&daemon, seed)));
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
