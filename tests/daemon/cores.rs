//! Rigs of one daemon beside each other: on cores of their own, or with FIFO priorities of their own on a core that they share.

use super::client::{Daemon, discarded_at_the_end_alone, tracer};
use super::program::{real_time, skipped, wait_until};
use serde_json::Value;
use std::collections::BTreeSet;
use vecud::sys::affinity::{allowed_cpus, allowed_cpus_of};

/// A rig of one tracer, in real time until it is stopped, with these keys in [host]. A release that is late waits.
fn rig(host: &str) -> String {
    format!("{}[host]\n{host}\n", tracer("overrun = 'queue'"))
}

/// The cores that there are, or a visible word that there are fewer than this test needs.
fn cores(needed: usize, test: &str) -> Option<Vec<usize>> {
    let cpus: Vec<usize> = allowed_cpus().unwrap().into_iter().collect();
    if cpus.len() < needed {
        skipped(test, &format!("it needs {needed} cores"));
        return None;
    }
    Some(cpus)
}

/// Puts a rig and starts it.
fn start(daemon: &Daemon, name: &str, text: &str) {
    daemon.put(name, text).json(201);
    assert_eq!(daemon.post(&format!("/v1/rigs/{name}/start"), "").json(200)["state"], "running");
}

/// Waits until its fastest clock has been activated so often more.
fn wait_for_activations(daemon: &Daemon, name: &str, more: u64) {
    let now = || {
        let clocks = daemon.get(&format!("/v1/rigs/{name}/clocks")).json(200);
        clocks.as_array().unwrap().iter().map(|clock| clock["activations"].as_u64().unwrap()).max().unwrap()
    };
    let before = now();
    wait_until("its clocks tick", || now() >= before + more);
}

/// Stops a rig and gives its report.
fn stop(daemon: &Daemon, name: &str) -> Value {
    let run = daemon.post(&format!("/v1/rigs/{name}/stop"), "").json(200)["run"].as_str().unwrap().to_owned();
    daemon.get(&format!("/v1/rigs/{name}/runs/{run}")).json(200)
}

/// Cores and FIFO priorities of the clocks in a report, which must have kept every release.
fn kept(report: &Value) -> (BTreeSet<u64>, BTreeSet<u64>) {
    assert_eq!((&report["verdict"], &report["host"]["scheduling"]), (&"pass".into(), &"fifo".into()));
    let clocks = report["clocks"].as_array().unwrap();
    for clock in clocks {
        assert_eq!(clock["skipped"], 0, "{clock}");
        discarded_at_the_end_alone(report, clock);
    }
    let all = |key: &str| clocks.iter().map(|clock| clock[key].as_u64().unwrap()).collect();
    (all("cpu"), all("fifo_priority"))
}

#[test]
fn two_rigs_take_two_cores_and_keep_every_release() {
    const NAME: &str = "two_rigs_take_two_cores_and_keep_every_release";
    real_time(NAME, || {
        let Some(cpus) = cores(2, NAME) else { return };
        let daemon = Daemon::new();
        start(&daemon, "a", &rig(""));
        start(&daemon, "b", &rig(""));
        wait_for_activations(&daemon, "b", 500);
        let [a, b] = ["a", "b"].map(|name| kept(&stop(&daemon, name)));
        assert!(a.0.len() == 1 && b.0.len() == 1 && a.0 != b.0, "{a:?} {b:?} of {cpus:?}");
        assert_eq!(a.1, b.1, "each has the whole band");
    });
}

#[test]
fn two_rigs_on_one_core_have_priorities_of_their_own_and_keep_every_release() {
    real_time("two_rigs_on_one_core_have_priorities_of_their_own_and_keep_every_release", || {
        let cpu = *allowed_cpus().unwrap().last().unwrap();
        let daemon = Daemon::new();
        let on_it = rig(&format!("cpus = [{cpu}]"));
        start(&daemon, "a", &on_it);
        let before = daemon.get("/v1/rigs/a/clocks").json(200);
        start(&daemon, "b", &on_it);
        wait_for_activations(&daemon, "b", 500);
        let after = daemon.get("/v1/rigs/a/clocks").json(200);
        for (before, after) in before.as_array().unwrap().iter().zip(after.as_array().unwrap()) {
            assert_eq!(before["fifo_priority"], after["fifo_priority"]);
        }
        let reports = ["a", "b"].map(|name| stop(&daemon, name));
        let [a, b] = reports.each_ref().map(kept);
        assert_eq!((&a.0, &b.0), (&BTreeSet::from([cpu as u64]), &a.0));
        assert!(a.1.is_disjoint(&b.1) && a.1.first() > b.1.last(), "{a:?} {b:?}");
        let shared = format!("core {cpu} is shared with rig `a`");
        assert!(reports[1].to_string().contains(&shared) && !reports[0].to_string().contains("is shared with"));
    });
}

/// Each is planned while the others are, and takes what they leave.
#[test]
fn rigs_that_start_at_once_on_one_core_have_priorities_of_their_own_and_an_exclusive_one_has_it_alone() {
    real_time(
        "rigs_that_start_at_once_on_one_core_have_priorities_of_their_own_and_an_exclusive_one_has_it_alone",
        || {
            let cpu = *allowed_cpus().unwrap().last().unwrap();
            let daemon = Daemon::new();
            let at_once = |names: [&str; 4], host: &str| -> Vec<u16> {
                names
                    .iter()
                    .for_each(|name| drop(daemon.put(name, &rig(&format!("cpus = [{cpu}]\n{host}"))).json(201)));
                let start = |name| daemon.post(&format!("/v1/rigs/{name}/start"), "").status;
                std::thread::scope(|scope| {
                    let starts = names.map(|name| scope.spawn(move || start(name)));
                    starts.into_iter().map(|start| start.join().unwrap()).collect()
                })
            };
            let names = ["a", "b", "c", "d"];
            assert_eq!(at_once(names, "fifo_priorities = [40, 89]"), [200; 4]);
            let priorities = names.map(|name| {
                let report = stop(&daemon, name);
                let clocks = report["clocks"].as_array().unwrap().iter();
                clocks.map(|clock| clock["fifo_priority"].as_u64().unwrap()).collect::<BTreeSet<u64>>()
            });
            let all: BTreeSet<u64> = priorities.iter().flatten().copied().collect();
            assert_eq!(all.len(), priorities.iter().map(BTreeSet::len).sum::<usize>(), "{priorities:?}");
            let mut statuses = at_once(["e", "f", "g", "h"], "exclusive = true");
            statuses.sort_unstable();
            assert_eq!(statuses, [200, 422, 422, 422]);
        },
    );
}

#[test]
fn a_rig_for_which_no_priority_is_left_is_refused_and_told_who_has_them() {
    real_time("a_rig_for_which_no_priority_is_left_is_refused_and_told_who_has_them", || {
        let cpu = *allowed_cpus().unwrap().last().unwrap();
        let on_it = |low, high| rig(&format!("cpus = [{cpu}]\nfifo_priorities = [{low}, {high}]"));
        let daemon = Daemon::new();
        start(&daemon, "a", &on_it(84, 89));
        start(&daemon, "b", &on_it(78, 83));
        daemon.put("c", &on_it(78, 89)).json(201);
        let refused = daemon.post("/v1/rigs/c/start", "").json(422);
        let message = refused["mistakes"][0]["message"].as_str().unwrap();
        let words =
            format!("no priority is left on core {cpu}: of fifo_priorities = [78, 89] all are held by rigs `a`, `b`;");
        assert!(message.starts_with(&words), "{message}");
        assert_eq!(refused["mistakes"][0]["line"], 7);
        assert_eq!(["a", "b", "c"].map(|name| daemon.state(name)), ["running", "running", "failed"]);
        let b = kept(&stop(&daemon, "b"));
        assert_eq!(daemon.post("/v1/rigs/c/start", "").json(200)["state"], "running", "what it had is free");
        wait_for_activations(&daemon, "c", 50);
        assert_eq!(kept(&stop(&daemon, "c")), b);
        kept(&stop(&daemon, "a"));
    });
}

#[test]
fn an_exclusive_rig_is_alone_on_its_core_whoever_came_first() {
    real_time("an_exclusive_rig_is_alone_on_its_core_whoever_came_first", || {
        let cpu = *allowed_cpus().unwrap().last().unwrap();
        let daemon = Daemon::new();
        let refused = |name: &str, words: &str| {
            let refused = daemon.post(&format!("/v1/rigs/{name}/start"), "").json(422);
            let message = refused["mistakes"][0]["message"].as_str().unwrap();
            assert!(message.contains(words), "{message}");
        };
        daemon.put("shares", &rig(&format!("cpus = [{cpu}]"))).json(201);
        start(&daemon, "alone", &rig(&format!("cpus = [{cpu}]\nexclusive = true")));
        refused("shares", &format!("core {cpu} is that of rig `alone` alone"));
        stop(&daemon, "alone");
        daemon.post("/v1/rigs/shares/start", "").json(200);
        refused("alone", &format!("exclusive: rig `shares` runs on core {cpu} already"));
        assert_eq!(daemon.state("shares"), "running");
        stop(&daemon, "shares");
        daemon.post("/v1/rigs/alone/start", "").json(200);
    });
}

/// The cores that each thread of the daemon's process may run on, without saying so twice.
fn cores_of_threads(daemon: &Daemon) -> BTreeSet<BTreeSet<usize>> {
    let threads = std::fs::read_dir(format!("/proc/{}/task", daemon.pid())).unwrap();
    let tids = threads.map(|thread| thread.unwrap().file_name().to_str().unwrap().parse::<u32>().unwrap());
    // One may end meanwhile.
    tids.filter_map(|tid| allowed_cpus_of(tid).ok()).collect()
}

#[test]
fn the_daemons_threads_leave_the_cores_of_partitions_and_come_back() {
    const NAME: &str = "the_daemons_threads_leave_the_cores_of_partitions_and_come_back";
    real_time(NAME, || {
        let Some(cpus) = cores(2, NAME) else { return };
        let daemon = Daemon::new();
        let are_on = |what: &str, cpus: &[usize]| {
            let wanted = BTreeSet::from([cpus.iter().copied().collect::<BTreeSet<usize>>()]);
            wait_until(what, || cores_of_threads(&daemon) == wanted);
        };
        let last = cpus.len() - 1;
        are_on("they may run everywhere", &cpus);
        start(&daemon, "a", &rig(&format!("cpus = [{}]", cpus[last])));
        are_on("they leave the core", &cpus[..last]);
        let each = |cpus: &[usize]| {
            let fmus = cpus.iter().map(|cpu| {
                tracer("").replace("tracer]", &format!("t{cpu}]")).replace("[rig]\n", "") + &format!("cpu = {cpu}\n")
            });
            fmus.collect::<String>()
        };
        start(&daemon, "all", &each(&cpus[..last]));
        are_on("no core is left", &cpus);
        for _ in 0..3 {
            assert_eq!(daemon.get("/healthz").status, 200);
        }
        stop(&daemon, "a");
        are_on("they go to the one that is free again", &cpus[last..]);
        daemon.post("/v1/rigs/a/start", r#"{"mode": "virtual", "stop_time": 1e6}"#).json(200);
        are_on("virtual time has no core", &cpus[last..]);
        stop(&daemon, "all");
        are_on("they may run everywhere again", &cpus);
        start(&daemon, "alone", &rig(&format!("cpus = [{}]\nexclusive = true", cpus[last])));
        start(&daemon, "others", &each(&cpus[..last]));
        are_on("that of an exclusive rig is the last one they go to", &cpus[..last]);
    });
}
