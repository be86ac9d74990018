//! FMU code that changes how its thread is scheduled is found from outside, and what vecud itself does to a thread is no
//! finding.

use crate::confinement::{run_as_nobody, tracer_with};
use crate::program::{Outcome, Rig, real_time, shared_core, skipped, user};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const CODE: &str = r#"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void set(int policy, int priority)
{
    struct sched_param parameter = {.sched_priority = priority};
    sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &parameter);
}

static void hold(void (*lock)(void), void (*unlock)(void))
{
    struct timespec now, begin;
    struct sched_param parameter;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 10);
    lock();
    sched_getparam(0, &parameter);
    for (int i = 0; i < 25; i++) usleep(10000);
    unlock();
    printf("held at %d\n", parameter.sched_priority);
    fflush(stdout);
}

static void change(void)
{
    const char *what = getenv("HOSTILE");
    cpu_set_t all;
    if (!strcmp(what, "ordinary")) set(SCHED_OTHER, 0);
    if (!strcmp(what, "low")) set(SCHED_FIFO, 52);
    if (!strcmp(what, "high")) set(SCHED_FIFO, 89);
    if (!strcmp(what, "round robin")) set(SCHED_RR, 52);
    if (!strcmp(what, "nice")) setpriority(PRIO_PROCESS, 0, 17);
    if (strcmp(what, "everywhere")) return;
    CPU_ZERO(&all);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) CPU_SET(cpu, &all);
    sched_setaffinity(0, sizeof all, &all);
}
"#;

/// The hostile FMU beside a tracer.
fn rig(fmu: &Path, stop: f64) -> Rig {
    Rig::new(&format!("stop_time = {stop}")).fmu("a", fmu.to_owned(), "", "").tracer("b", "")
}

/// Does `what` in activations of `fast` from 0.03 s on: in a run of 0.05 s only the last look can see it.
fn changed(fmu: &Path, what: &str, stop: f64, arguments: &[&str]) -> Outcome {
    let rig = rig(fmu, stop);
    let mut command = rig.command();
    command.args(arguments).env("HOSTILE", what);
    rig.finish(rig.start(command))
}

fn hostile(folder: &TempDir) -> PathBuf {
    tracer_with(folder.path(), CODE, "if (clockReference == 1 && activationTime >= 0.03) change();")
}

#[track_caller]
fn is_found(run: &Outcome, words: &[&str]) {
    assert_eq!(run.finding("a", "thread_changed"), Some(1), "{:#?}", run.problems());
    let begin = "fmu `a`: its code has changed how thread a.fast of clock a.fast is scheduled";
    let message = run.problem(&[&[begin], words].concat());
    let place = run.problems().iter().position(|problem| *problem == message).unwrap();
    assert_eq!(run.report()["problems"][place]["severity"], "finding");
    assert_eq!(run.finding("b", "thread_changed"), None);
}

/// Policy, priority and cores, as long as the run lasts and at its end; with `--strict` a failure.
#[test]
fn a_change_of_a_threads_policy_priority_or_cores_is_found() {
    real_time("a_change_of_a_threads_policy_priority_or_cores_is_found", || {
        let folder = crate::program::tempdir().unwrap();
        let fmu = hostile(&folder);
        let run = |what, stop| changed(&fmu, what, stop, &[]).exits(0);
        for stop in [0.05, 0.3] {
            is_found(&run("ordinary", stop), &["SCHED_OTHER", "on core", "now, not SCHED_FIFO 8"]);
        }
        is_found(&run("low", 0.05), &["SCHED_FIFO 52 on core"]);
        // Where the preemption lock would take it for a while.
        is_found(&run("high", 0.05), &["SCHED_FIFO 89 on core"]);
        is_found(&run("round robin", 0.05), &["scheduling policy 2 with priority 52"]);
        changed(&fmu, "ordinary", 0.05, &["--strict"]).exits(1).problem(&["has changed how thread a.fast"]);
        if vecud::sys::affinity::allowed_cpus().unwrap().len() > 1 {
            is_found(&run("everywhere", 0.05), &["SCHED_FIFO 8", "on cores 0, 1", "now, not"]);
        } else {
            skipped("a_change_of_a_threads_policy_priority_or_cores_is_found", &"in part: there is one core");
        }
    });
}

/// Without real-time priorities it is what an ordinary thread has: its nice value and its cores.
#[test]
fn a_change_without_real_time_priorities_is_found_too_as_this_user() {
    shared_core(|| {
        if !user::can_do_without_real_time("a_change_without_real_time_priorities_is_found_too_as_this_user") {
            return;
        }
        let folder = crate::program::tempdir().unwrap();
        let run = run_as_nobody(&rig(&hostile(&folder), 0.3), &[], &[("HOSTILE", "nice")]).exits(0);
        is_found(&run, &["SCHED_OTHER with the nice value 17"]);
    });
}

/// The watchdog's demotion, and the priority that the preemption lock lends its holder, at which it is looked at.
#[test]
fn what_vecud_does_to_a_thread_is_no_finding() {
    real_time("what_vecud_does_to_a_thread_is_no_finding", || {
        let rig = Rig::new("stop_time = 0.5\nshutdown_timeout = 0.3").tracer_with(
            "a",
            "slow_burn_us = 9000",
            "clock.slow = { max_execution_us = 2000 }",
        );
        let run = rig.run().exits(1);
        run.problem(&["clock a.slow", "demoted"]);
        assert_eq!(run.finding("a", "thread_changed"), None, "{:#?}", run.problems());

        // fast interrupts slow and sleeps in FMU code; slow, below it, goes on with a section of 250 ms.
        let folder = crate::program::tempdir().unwrap();
        let long = "if (clockReference == 1 && activationTime == 0.022) usleep(300000);
    if (clockReference == 4 && activationTime == 0.02) hold(fmu->base.lock_preemption, fmu->base.unlock_preemption);";
        let fmu = tracer_with(folder.path(), CODE, long);
        let rig = Rig::new("stop_time = 0.5").fmu("a", fmu, "", "");
        let run = rig.run().exits(0);
        let ceiling =
            ["fast", "high", "slow"].map(|clock| run.clock("a", clock)["fifo_priority"].as_u64()).into_iter().max();
        assert!(run.file("run.log").contains(&format!("held at {}", ceiling.flatten().unwrap())), "it was raised");
        assert_eq!(run.finding("a", "thread_changed"), None, "{:#?}", run.problems());
    });
}

/// A partition that spins until threads of its own have done their work, which may run on its core alone, would spin for ever where the kernel's
/// throttling is off, and for 6 s where it gives them 50 ms of each second. (Longer than 1 s: so long nobody looks.)
#[test]
fn threads_that_a_partition_waits_for_get_its_core() {
    const WORK: &str = "
#include <pthread.h>
#include <time.h>
static volatile int done;
static void *work(void *unused) {
    struct timespec used;
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used); while (used.tv_sec == 0 && used.tv_nsec < 300000000);
    done = 1;
    return unused;
}
static void spin(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    while (!done);
    pthread_join(thread, 0);
}";
    real_time("threads_that_a_partition_waits_for_get_its_core", || {
        let folder = crate::program::tempdir().unwrap();
        let spins = "if (clockReference == 1 && activationTime > 0.019 && !done) spin();";
        let fmu = tracer_with(folder.path(), WORK, spins);
        let run = Rig::new("stop_time = 0.05\nshutdown_timeout = 20").fmu("a", fmu, "", "").run().exits(0);
        assert_eq!(run.finding("a", "starved_threads"), Some(1), "{:#?}", run.problems());
        run.problem(&["fmu `a`: clock a.fast held core ", "1 thread of FMU code", "OMP_WAIT_POLICY"]);
        assert_eq!(run.finding("a", "thread_changed"), None);
        let execution = run.clock("a", "fast")["execution"]["max"].as_u64().unwrap();
        assert!(execution < 4_000_000_000, "{execution} ns");
    });
}
