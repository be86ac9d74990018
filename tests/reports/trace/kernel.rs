//! The kernel's own trace: that it stops on a limit with what led to it, and leaves nothing behind in the kernel.

use crate::program::{Outcome, Rig, own_core, send, skipped, user, wait_until};
use nix::sys::signal::Signal::{SIGINT, SIGKILL};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Where instances are; mounted where root may do that.
fn instances() -> Option<PathBuf> {
    let tracing = Path::new("/sys/kernel/tracing");
    if !tracing.join("instances").exists() {
        let mount = std::process::Command::new("mount").args(["-t", "tracefs", "tracefs"]).arg(tracing).output();
        let _not_for_everybody = mount;
    }
    let instances = tracing.join("instances");
    let probe = instances.join(format!("vecud-test-{}", std::process::id()));
    std::fs::create_dir(&probe).ok()?;
    std::fs::remove_dir(&probe).unwrap();
    Some(instances)
}

/// Runs a test that needs tracefs, or says visibly that it is not there.
fn traced(name: &str, test: impl Fn(&Path) + Sync) {
    own_core(|| match instances() {
        Some(instances) => test(&instances),
        None => skipped(name, &"tracefs is not mounted at /sys/kernel/tracing, or not for this user"),
    });
}

fn is_traced(instances: &Path, process: u32) -> bool {
    instances.join(format!("vecud-{process}")).exists()
}

/// The report of a run whose process left no instance.
fn finished(rig: &Rig, child: Child, instances: &Path) -> Outcome {
    let process = child.id();
    let run = rig.finish(child);
    assert!(!is_traced(instances, process), "the instance is removed with the run; stderr:\n{}", run.stderr);
    run
}

fn started(rig: &Rig, instances: &Path) -> Child {
    let child = rig.start(rig.command());
    wait_until("the kernel traces", || is_traced(instances, child.id()));
    child
}

fn trace(run: &Outcome) -> Value {
    run.report()["trace"]["kernel"].clone()
}

fn number(value: &Value, name: &str) -> i64 {
    value[name].as_i64().unwrap_or_else(|| panic!("{name}: {value}"))
}

/// `fast` (1 ms) sleeps for 40 ms in its 400th activation, that of 0.399 s, and only there; `equal_a` of the same FMU begins late then,
/// later than whatever a busy machine does.
fn late(keys: &str) -> Rig {
    Rig::new("stop_time = 0.6\noverrun = 'queue'")
        .tracer_with("a", "fast_sleep_every = 400, fast_sleep_us = 40000", keys)
        .more("[trace]\nseconds = 0.15\nkernel = true")
}

#[test]
fn what_led_to_an_exceeded_limit_is_kept_with_its_instant_as_this_user() {
    traced("what_led_to_an_exceeded_limit_is_kept_with_its_instant_as_this_user", |instances| {
        let rig = late("clock.equal_a = { max_latency_us = 25000 }");
        let run = finished(&rig, started(&rig, instances), instances).exits(3);
        let trace = trace(&run);
        assert_eq!(trace["file"], "kernel-trace.txt", "{trace}");
        let [at, from, to, stopped] =
            ["incident", "from", "to", "stopped"].map(|n| number(&trace, &format!("{n}_monotonic_ns")));
        assert!(from < at && at <= to && to <= stopped, "{trace}");
        assert!(at - from <= 160_000_000, "no more than `seconds` before it: {trace}");
        // By the clock of the run's own figures: the sleep begins at 0.399 s.
        let since_start = at - run.report()["start_monotonic_ns"].as_i64().unwrap();
        assert!((424_000_000..600_000_000).contains(&since_start), "{since_start}");
        assert!(trace["why"].as_str().unwrap().starts_with("start latency of a.equal_a "), "{trace}");
        assert!(stopped - at < 1_000_000_000, "as soon as the supervisor has seen it: {trace}");
        let text = run.file("kernel-trace.txt");
        assert!(text.contains("# vecud: ") && text.contains(trace["why"].as_str().unwrap()), "{}", &text[..400]);
        assert!(
            text.contains(": sched_switch: ") && text.contains("next_comm=a.fast"),
            "the thread that slept is in it"
        );
        assert!(text.contains("tracing_mark_write: vecud: "), "the mark of the incident");
        assert!(run.file("report.html").contains("kernel-trace.txt"));
        // What ran is told of those of the worst activations that are in it.
        let worst = run.clock("a", "fast")["causes"]["worst_responses"].as_array().unwrap().clone();
        let slept =
            worst.iter().find(|moment| moment["time_s"] == 0.399).expect("the one that slept is among the worst");
        let ran = slept["kernel"].as_array().unwrap_or_else(|| panic!("{slept}"));
        let sum: i64 = ran.iter().map(|work| number(work, "ns")).sum();
        assert!(sum >= 39_000_000 && sum <= number(slept, "response") + 2_000, "{slept}");
    });
}

#[test]
fn nothing_is_kept_without_an_exceeded_limit_as_this_user() {
    traced("nothing_is_kept_without_an_exceeded_limit_as_this_user", |instances| {
        let rig = late("clock.fast = { max_overruns = 1000000 }");
        let run = finished(&rig, started(&rig, instances), instances).exits(0);
        let trace = trace(&run);
        assert!(trace["file"].is_null() && trace["why"] == "no limit was exceeded, so nothing is kept", "{trace}");
        assert!(!run.out.join("kernel-trace.txt").exists());
    });
}

#[test]
fn in_a_rig_without_limits_the_end_is_kept_as_this_user() {
    traced("in_a_rig_without_limits_the_end_is_kept_as_this_user", |instances| {
        let rig = late("");
        let run = finished(&rig, started(&rig, instances), instances).exits(0);
        let report = run.report();
        let notes = report["notes"].to_string();
        assert!(notes.contains("nothing stops the kernel's trace"), "{notes}");
        let [from, to] = ["from", "to"].map(|n| number(&report["trace"]["kernel"], &format!("{n}_monotonic_ns")));
        assert!((50_000_000..160_000_000).contains(&(to - from)), "its last 0.15 s: {}", report["trace"]["kernel"]);
        let cores = report["host"]["cores"].as_array().unwrap();
        let counted: Vec<&str> =
            cores[0]["interrupts"].as_array().unwrap().iter().map(|served| served["name"].as_str().unwrap()).collect();
        assert!(!counted.is_empty(), "the timer has come: {report}");
    });
}

#[test]
fn an_interrupted_run_leaves_no_instance_and_a_killed_one_leaves_it_to_the_next_as_this_user() {
    traced("an_interrupted_run_leaves_no_instance_and_a_killed_one_leaves_it_to_the_next_as_this_user", |instances| {
        let forever =
            || Rig::new("").tracer_with("a", "", "clock.slow = { max_overruns = 9 }").more("[trace]\nkernel = true");
        let rig = forever();
        let child = started(&rig, instances);
        rig.wait_until_it_runs();
        send(child.id() as i32, SIGINT);
        finished(&rig, child, instances).exits(0);

        let rig = forever();
        let child = started(&rig, instances);
        rig.wait_until_it_runs();
        let killed = child.id();
        send(killed as i32, SIGKILL);
        let _killed = rig.finish(child);
        // The kernel has stopped it and given its buffers back by itself.
        let left = instances.join(format!("vecud-{killed}"));
        assert_eq!(std::fs::read_to_string(left.join("tracing_on")).unwrap().trim(), "0");
        let kib: u64 = std::fs::read_to_string(left.join("buffer_total_size_kb")).unwrap().trim().parse().unwrap();
        assert!(kib < 1024, "{kib} KiB");
        let run = Rig::new("stop_time = 0.02").tracer("a", "").run().exits(0);
        assert!(run.stderr.contains(&format!("vecud-{killed}, a trace of the kernel")), "{}", run.stderr);
        assert!(!left.exists());
    });
}

/// The command in a view of the machine that has no tracefs; as it is, where that cannot be made and there is none anyway.
fn without_tracefs(command: Command) -> Command {
    if !user::is_root() {
        return command;
    }
    let cover = "mount -t tmpfs none /sys/kernel/tracing && { [ ! -d /sys/kernel/debug/tracing ] || mount -t tmpfs none \
                 /sys/kernel/debug; } && exec \"$@\"";
    let mut covered = Command::new("unshare");
    covered.args(["--mount", "--propagation", "private", "sh", "-c", cover, "sh"]);
    covered.arg(command.get_program()).args(command.get_args());
    covered.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    covered.stdin(Stdio::null());
    covered
}

#[test]
fn without_tracefs_the_run_goes_on_and_says_what_is_missing_as_this_user() {
    let rig = Rig::new("stop_time = 0.05")
        .tracer_with("a", "", "clock.fast = { max_overruns = 1000 }")
        .more("[trace]\nkernel = true");
    own_core(|| {
        let child = rig.start(without_tracefs(rig.command()));
        let run = rig.finish(child).exits(0);
        let warning = run.problem(&["the kernel is not traced ([trace] kernel = true)"]);
        if user::is_root() {
            assert!(warning.contains("tracefs is not mounted") && warning.contains("mount -t tracefs"), "{warning}");
        }
        let trace = trace(&run);
        assert!(trace["file"].is_null() && trace["why"].as_str().unwrap().starts_with("not traced: "), "{trace}");
        assert!(run.stderr.contains("the kernel is not traced"), "{}", run.stderr);
    });
}
