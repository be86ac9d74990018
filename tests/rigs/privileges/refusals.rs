//! What the kernel refuses: one line each, with what, the errno, and the command that changes it.

use crate::privileges::{independent, undisturbed};
use crate::program::{Outcome, Rig, check_threads, jail, shared_core, skipped, user};
use std::path::Path;
use std::process::Command;

fn rig() -> Rig {
    independent(7)
}

fn run(rig: &Rig, command: Command) -> Outcome {
    rig.finish(rig.start(command)).exits(0)
}

/// Problems that do not come from how busy the machine is.
fn refusals(run: &Outcome) -> Vec<String> {
    run.problems().into_iter().filter(|problem| !problem.starts_with("clock ")).collect()
}

/// Exactly this problem besides those of a busy machine, in the report, on the console and in the HTML page.
#[track_caller]
fn only(run: &Outcome, words: &[&str]) {
    let found = refusals(run);
    assert!(found.len() == 1 && words.iter().all(|word| found[0].contains(word)), "{words:?}: {found:#?}");
    assert!(run.stderr.contains(&found[0]), "on the console: {}", run.stderr);
    assert_eq!(run.stderr.matches(words[0]).count(), 1, "once: {}", run.stderr);
    assert!(run.file("report.html").contains(words[0]));
}

#[test]
fn a_limit_on_priorities_is_used_as_far_as_it_goes_and_named_as_this_user() {
    if !user::root("a_limit_on_priorities_is_used_as_far_as_it_goes_and_named_as_this_user") {
        return;
    }
    shared_core(|| {
        let rig = rig();
        let run = undisturbed(&rig, |rig| jail::start_with_rtprio(rig, jail::as_root(rig), 55));
        let words = [
            "REAL-TIME PRIORITIES ARE LIMITED",
            "the rig asks for 51 to 89",
            "cannot set SCHED_FIFO priority 89: EPERM: Operation not permitted",
            "partitions run at 46 to 55",
            "for interrupts (50)",
        ];
        only(&run, &words);
        assert!(run.stdout.contains("LIMITED PRIORITIES"), "{}", run.stdout);
        assert!(run.file("report.html").contains("limited: the rig asks for 51 to 89"));
        assert_eq!(run.report()["host"]["fifo_band_asked"], serde_json::json!([51, 89]));
        let lowest =
            run.report()["clocks"].as_array().unwrap().iter().map(|c| c["fifo_priority"].as_u64().unwrap()).min();
        assert_eq!(lowest, Some(46));

        // With ten levels down to 51 nothing of the kernel's comes between.
        let run = undisturbed(&rig, |rig| jail::start_with_rtprio(rig, jail::as_root(rig), 60));
        assert!(!run.problem(&["partitions run at 51 to 60"]).contains("interrupts"));
    });
}

#[test]
fn too_few_priorities_for_one_fmu_make_a_cooperative_run_with_that_reason_as_this_user() {
    if !user::root("too_few_priorities_for_one_fmu_make_a_cooperative_run_with_that_reason_as_this_user") {
        return;
    }
    shared_core(|| {
        let rig = rig();
        let run = rig.finish(jail::start_with_rtprio(&rig, jail::as_root(&rig), 3)).exits(0);
        only(&run, &["NO REAL-TIME PRIORITY", "EPERM", "only up to 3", "alone needs 5 priority levels", "cooperative"]);
    });
}

#[test]
fn check_shows_what_this_machine_gives_as_this_user() {
    if !user::root("check_shows_what_this_machine_gives_as_this_user") {
        return;
    }
    let rig = rig();
    let check = |mut command: Command, limit: Option<u8>| {
        // `run FILE --out DIR` becomes `check FILE`.
        let mut check = Command::new(command.get_program());
        check.arg("check").arg(rig.file());
        check.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        std::mem::swap(&mut command, &mut check);
        let child = match limit {
            Some(limit) => jail::start_with_rtprio(&rig, command, limit),
            None => rig.start(command),
        };
        rig.finish(child).exits(0).stdout
    };
    let text = check(jail::as_root(&rig), None);
    assert!(text.contains("SCHED_FIFO 80 to 89 of 51 to 89\n"), "{text}");
    let text = check(jail::as_root(&rig), Some(60));
    assert!(
        text.contains("SCHED_FIFO 51 to 60, since it ends at 60 and the rig asks for 51 to 89: cannot set"),
        "{text}"
    );
    let text = check(jail::as_root(&rig), Some(3));
    assert!(text.contains("cooperative, since SCHED_FIFO ends at 3 and fmu `"), "{text}");
}

#[test]
fn a_limit_on_memory_is_used_as_far_as_it_goes_as_this_user() {
    if !user::root("a_limit_on_memory_is_used_as_far_as_it_goes_as_this_user") {
        return;
    }
    shared_core(|| {
        let rig = rig();
        let host = |run: &Outcome| run.report()["host"].clone();
        let bytes = |run: &Outcome, name: &str| host(run)[name].as_u64().unwrap();
        for limit in [2 << 20, 6 << 20] {
            let mut command = jail::as_root(&rig);
            jail::with_memlock(&mut command, limit);
            let child = rig.start(command);
            rig.wait_until_it_runs();
            let status =
                std::fs::read_to_string(format!("/proc/{}/status", crate::program::runner_of(&child))).unwrap();
            let run = rig.finish(child).exits(0);
            let locked = status.lines().find_map(|line| line.strip_prefix("VmLck:")).unwrap().trim().to_owned();
            assert_eq!(locked, format!("{} kB", bytes(&run, "memory_locked_bytes") / 1024), "the kernel says the same");
            assert_eq!(bytes(&run, "memory_locked_bytes"), limit, "to the last page");
            assert!(bytes(&run, "memory_wanted_bytes") > limit);
            assert_eq!(host(&run)["memory_locked"], false);
            let limit = format!("RLIMIT_MEMLOCK is {} KiB: ENOMEM", limit / 1024);
            only(&run, &["MEMORY IS LOCKED IN PART", &limit, "memlock"]);
            assert!(run.file("report.html").contains("locked only in part"));
        }
        // Nothing may be locked at all, by somebody without privileges.
        let run = run(&rig, jail::as_nobody(&rig, 0));
        let line = run.problem(&["MEMORY IS NOT LOCKED", "EPERM", "- memlock unlimited"]);
        assert_eq!((bytes(&run, "memory_locked_bytes"), &host(&run)["memory_locked"]), (0, &false.into()), "{line}");
        // More than there is: everything is locked, and nothing is wrong.
        let enough = bytes(&run, "memory_wanted_bytes") * 2;
        if user::most_to_be_locked() < enough {
            return skipped(
                "a limit beyond what there is to be locked",
                &format!("this process cannot set one of {enough}"),
            );
        }
        let mut command = jail::as_root(&rig);
        jail::with_memlock(&mut command, enough);
        let run = self::run(&rig, command);
        assert_eq!(host(&run)["memory_locked"], true);
        assert_eq!(bytes(&run, "memory_locked_bytes"), bytes(&run, "memory_wanted_bytes"));
        assert!(refusals(&run).is_empty(), "{:#?}", run.problems());
    });
}

#[test]
fn root_without_the_capability_hears_of_containers_as_this_user() {
    if !user::root("root_without_the_capability_hears_of_containers_as_this_user") {
        return;
    }
    shared_core(|| {
        let rig = rig();
        let mut command = jail::as_root(&rig);
        jail::without_nice(&mut command);
        only(&run(&rig, command), &["NO REAL-TIME PRIORITY", "EPERM", "docker run --cap-add=SYS_NICE"]);
    });
}

#[test]
fn a_user_namespace_is_told_from_a_missing_capability_as_this_user() {
    if !user::root("a_user_namespace_is_told_from_a_missing_capability_as_this_user") {
        return;
    }
    shared_core(|| {
        let rig = rig();
        let mut command = jail::as_root(&rig);
        jail::in_a_user_namespace(&mut command);
        let child = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| rig.start(command)));
        let Ok(child) = child else {
            return skipped(
                "a_user_namespace_is_told_from_a_missing_capability_as_this_user",
                &"there are no user namespaces here",
            );
        };
        let run = rig.finish(child).exits(0);
        run.problem(&["NO REAL-TIME PRIORITY", "EPERM", "CAP_SYS_NICE does not count in this user namespace"]);
        // CAP_IPC_LOCK does not count there either, whatever the process has.
        assert_eq!(run.report()["host"]["memory_locked"], false);
    });
}

#[test]
fn a_control_group_without_real_time_time_is_named_with_its_file_as_this_user() {
    const TEST: &str = "a_control_group_without_real_time_time_is_named_with_its_file_as_this_user";
    if !user::root(TEST) {
        return;
    }
    shared_core(|| {
        let folder = |controller: &str| format!("/sys/fs/cgroup/{controller}/vecud-test-{}", std::process::id());
        let group = ["cpu", "cpu,cpuacct"]
            .map(folder)
            .into_iter()
            .find(|folder| std::fs::create_dir(folder).is_ok() && Path::new(folder).join("cpu.rt_runtime_us").exists());
        let Some(group) = group else { return skipped(TEST, &"no control group (version 1) with real-time time here") };
        let rig = rig();
        let mut command = jail::as_root(&rig);
        jail::in_group(&mut command, Path::new(&group));
        let run = run(&rig, command);
        std::fs::remove_dir(&group).unwrap();
        only(&run, &["NO REAL-TIME PRIORITY", "EPERM", "RT_GROUP_SCHED", &format!("tee {group}/cpu.rt_runtime_us")]);
    });
}

#[test]
fn a_filter_of_system_calls_is_named_and_outlived_as_this_user() {
    if !user::root("a_filter_of_system_calls_is_named_and_outlived_as_this_user") {
        return;
    }
    shared_core(|| {
        let rig = rig();
        let refused = |calls: &[libc::c_long]| {
            let mut command = jail::as_root(&rig);
            jail::refusing(&mut command, calls);
            run(&rig, command)
        };
        let fifo = refused(&[libc::SYS_sched_setscheduler, libc::SYS_sched_setattr]);
        only(&fifo, &["NO REAL-TIME PRIORITY", "EPERM", "a seccomp filter refuses", "sched_setscheduler"]);

        // Bound to no core, partitions of one FMU would run side by side under SCHED_FIFO.
        let unbound = refused(&[libc::SYS_sched_setaffinity]);
        only(&unbound, &["PARTITIONS ARE NOT BOUND TO THEIR CORES", "cooperative", "EPERM", "sched_setaffinity"]);
        assert_eq!(unbound.report()["host"]["scheduling"], "cooperative");

        let memory = refused(&[libc::SYS_mlockall, libc::SYS_mlock, libc::SYS_mlock2]);
        only(&memory, &["MEMORY IS NOT LOCKED", "EPERM", "seccomp"]);

        let prctl = refused(&[libc::SYS_prctl]);
        let found = refusals(&prctl);
        assert_eq!(found.iter().filter(|line| line.contains("set the timer slack")).count(), 1, "{found:#?}");
        assert!(found.iter().all(|line| line.contains("EPERM") && line.contains("allows prctl")), "{found:#?}");
        assert_eq!(prctl.report()["host"]["scheduling"], "fifo");

        // The thread that receives datagrams asks for the same.
        let socket = rig.folder().join("events");
        let text =
            "[rig]\nstop_time = 0.2\n[fmu.x]\npath = '{FMU}'\n[[trigger]]\nclock = \"x.event\"\nunix = '{SOCKET}'\n";
        let text = text.replace("{FMU}", &jail::fmu("own_state").display().to_string());
        let rig = Rig::of_text(&text.replace("{SOCKET}", &socket.display().to_string()));
        for call in [libc::SYS_prctl, libc::SYS_sched_setaffinity] {
            let mut command = jail::as_root(&rig);
            jail::refusing(&mut command, &[call]);
            run(&rig, command);
        }
    });
}

#[test]
fn on_any_core_partitions_still_run_one_at_a_time_as_this_user() {
    if !user::root("on_any_core_partitions_still_run_one_at_a_time_as_this_user") {
        return;
    }
    shared_core(|| {
        let rig = Rig::new("stop_time = 0.4")
            .fmu("a", jail::fmu("tracer"), "slow_burn_us = 300, equal_a_burn_us = 200, fast_tick_high_every = 3", "")
            .trigger("a.out_high", "a.high");
        let mut command = jail::as_root(&rig);
        jail::refusing(&mut command, &[libc::SYS_sched_setaffinity]);
        let run = run(&rig, command);
        let (seen, broken) = run.trace("a").check(crate::program::Kind::OneAtATime);
        assert!(broken.is_empty(), "{broken:#?}");
        assert!(seen.activations > 100 && seen.high_ticks > 0, "{seen:?}");
        // One thread each; on which core is the kernel's choice, and nobody counts that as wrong.
        assert!(check_threads(&run.trace("a")).iter().all(|line| !line.contains("another")));
        assert!(run.problems().iter().all(|problem| !problem.contains("on another core")), "{:#?}", run.problems());
    });
}

#[test]
fn a_limit_on_the_time_of_real_time_threads_is_named_before_it_strikes_as_this_user() {
    if !user::root("a_limit_on_the_time_of_real_time_threads_is_named_before_it_strikes_as_this_user") {
        return;
    }
    shared_core(|| {
        let rig = rig();
        let mut command = jail::as_root(&rig);
        jail::with_rttime(&mut command, 400_000);
        let run = run(&rig, command);
        if user::may_raise_limits() {
            assert!(refusals(&run).is_empty(), "lifted: {:#?}", run.problems());
        } else {
            only(
                &run,
                &["A PARTITION THAT COMPUTES FOR LONGER", "RLIMIT_RTTIME of 400000 µs: EPERM", "prlimit --rttime"],
            );
        }
    });
}
