//! FMU code that takes much stack, and more than there is.

use super::*;
use crate::program::{cache, copied_tracer, has_real_time, skipped, tempdir};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A tracer whose every activation calls `large(BYTES)`, a frame of so many bytes that it writes from end to end, or `deep(0)`, which
/// never returns.
fn tracer_that(folder: &Path, call: &str) -> PathBuf {
    const CODE: &str = "
#include <alloca.h>
#include <stddef.h>
static volatile int sum;
__attribute__((noinline)) static void large(size_t bytes) {
    volatile char *own = alloca(bytes);
    for (size_t at = 0; at < bytes; at += 512) own[at] = 1;
    sum += own[bytes / 2];
}
__attribute__((noinline)) static int deep(int level) {
    volatile char own[200];
    own[0] = (char)level;
    return deep(level + 1) + own[0];
}";
    let fmu = copied_tracer(&folder.join("fmu"));
    let file = fmu.join("sources/fmu.c");
    let text = std::fs::read_to_string(&file).unwrap();
    let begin = "    trace_begin(fmu, TRACE_ACTIVATE,";
    assert!(text.contains(begin));
    let unused = "(void)large; (void)deep;";
    let text = text.replacen(begin, &format!("    {unused} {call};\n{begin}"), 1);
    std::fs::write(&file, format!("{CODE}\n{text}\n")).unwrap();
    fmu
}

/// What works in a program that calls the FMU in a loop works in partitions: 7 MiB are less than an ordinary thread has.
#[test]
fn partitions_have_the_stack_of_an_ordinary_thread() {
    let folder = tempdir().unwrap();
    let fmu = tracer_that(folder.path(), "large(activationTime < 0.02 ? 400u << 10 : 7u << 20)");
    let rig = || Rig::new("stop_time = 0.05").fmu("a", fmu.clone(), "", "");
    shared_core(|| drop(rig().run().exits(0)));
    rig().run_virtual().exits(0);
}

/// The main thread has what `ulimit -s` says, which may be little.
#[test]
fn virtual_time_has_the_stack_of_real_time_whatever_the_main_thread_has() {
    let folder = tempdir().unwrap();
    let fmu = tracer_that(folder.path(), "large(7u << 20)");
    let rig = Rig::new("stop_time = 0.05").fmu("a", fmu, "", "");
    let run = |mode: &str| {
        let own = rig.command();
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -s 2048; exec \"$0\" \"$@\""]).arg(own.get_program()).args(own.get_args());
        command.env("VECUD_CACHE", cache()).stdin(Stdio::null()).args(["--mode", mode]);
        rig.finish(rig.start(command)).exits(0);
    };
    shared_core(|| run("realtime"));
    run("virtual");
}

#[test]
fn a_stack_that_overflows_is_named_with_the_way_to_a_larger_one() {
    for (call, needs) in [("deep(0)", None), ("large(20u << 20)", Some("32768"))] {
        let folder = tempdir().unwrap();
        let fmu = tracer_that(folder.path(), call);
        let rig = |host: &str| Rig::new(&format!("stop_time = 0.05\n{host}")).fmu("a", fmu.clone(), "", "");
        let check = |run: Outcome, way: &str| {
            let run = run.exits(1);
            assert_eq!(run.status("a"), "crashed");
            run.problem(&["fmu `a` overflowed its stack of ", " KiB (SIGSEGV; ", way, "fmi3ActivateModelPartition"]);
        };
        let way = "stack_kib in [host] of the rig makes it larger";
        shared_core(|| check(rig("").run(), way));
        check(rig("").run_virtual(), way);
        if let Some(kib) = needs {
            let rig = rig(&format!("[host]\nstack_kib = {kib}"));
            shared_core(|| drop(rig.run().exits(0)));
            rig.run_virtual().exits(0);
        }
    }
}

/// Partitions that keep to `stack_kib` take no page fault once they are under way, those that go beyond it take one for each page, once.
#[test]
fn what_is_ready_of_a_stack_takes_no_page_fault() {
    let test = "what_is_ready_of_a_stack_takes_no_page_fault";
    if !has_real_time(test) {
        return;
    }
    let folder = tempdir().unwrap();
    let fmu = tracer_that(folder.path(), "large(activationTime < 0.02 ? 1024 : 900u << 10)");
    for (kib, faults) in [(1024, 0..1), (128, 150..400)] {
        let rig = Rig::new(&format!("stop_time = 0.05\n[host]\nstack_kib = {kib}")).fmu("a", fmu.clone(), "", "");
        shared_core(|| {
            let run = rig.run().exits(0);
            if run.report()["host"]["memory_locked"] != true {
                return skipped(test, &"memory cannot be locked here");
            }
            let thread = &run.clock("a", "fast")["causes"]["thread"];
            let later = thread["later"]["minor_faults"].as_u64().unwrap();
            assert!(faults.contains(&later), "{kib} KiB: {thread}");
        });
    }
}

/// Locked memory is read in: deep stacks of many threads would take hundreds of MiB, of which nobody uses much.
#[test]
fn what_is_not_ready_of_stacks_takes_no_memory() {
    let test = "what_is_not_ready_of_stacks_takes_no_memory";
    if !has_real_time(test) {
        return;
    }
    shared_core(|| {
        let [small, usual] = ["[host]\nstack_kib = 64", ""].map(|host| {
            let rig = Rig::new(&format!("stop_time = 100\n{host}"));
            let rig = ["a", "b", "c"].into_iter().fold(rig, |rig, name| rig.tracer(name, ""));
            let child = rig.start(rig.command());
            rig.wait_until_it_runs();
            let status = std::fs::read_to_string(format!("/proc/{}/status", runner_of(&child))).unwrap();
            send(child.id() as i32, Signal::SIGINT);
            let run = rig.finish(child).exits(0);
            let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
            let kib: i64 = resident.split_whitespace().next().unwrap().parse().unwrap();
            let threads = run.report()["clocks"].as_array().unwrap().len() as i64;
            assert!(threads >= 21, "{threads}");
            (kib, threads)
        });
        // 960 KiB are ready beyond the 64. What is read in as a whole does not differ.
        let each = (usual.0 - small.0) / small.1;
        assert!((800..1100).contains(&each), "{each} KiB each: {small:?}, {usual:?}");
    });
}
