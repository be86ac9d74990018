//! What the instances of the others do when the initialisation of one has failed: each answers for itself. What does not return
//! then is ended after `shutdown_timeout`.

use super::*;
use crate::program::PATIENCE;
use crate::program::own_core;

/// C code that never returns.
const SPIN: &str = "for (;;) { __asm__ volatile(\"\"); }";

/// `a`, whose fmi3FreeInstance begins with `code`, and `b` and `c`, of which `b` fails in `function`.
fn freed_badly(code: &str, function: i32, repeat: &[&str]) -> Outcome {
    let folder = crate::program::tempdir().unwrap();
    let free = "trace_begin(fmu, TRACE_FREE, NO_CLOCK, 0, 0, 0.0);";
    let path = changed_tracer(folder.path(), "fmu.c", &[(free, &format!("{free}\n    {code}"))]);
    let rig = Rig::new("stop_time = 0.1\nmode = 'virtual'")
        .fmu("a", path, "", "")
        .tracer("b", &format!("fail_kind = {ERROR}, fail_function = {function}"))
        .tracer("c", "");
    rig.run_with(repeat).exits(1)
}

/// In Initialization Mode, in the next one, and when it was reset.
const WAYS: [(i32, &[&str], &str); 3] = [
    (2, &[], "fmi3EnterInitializationMode"),
    (3, &[], "fmi3ExitInitializationMode"),
    (13, &["--repeat", "2"], "fmi3Reset"),
];

/// FMI 3.0, 2.3.2: Terminate belongs to those that have left Initialization Mode, FreeInstance to all.
#[test]
fn all_others_are_ended_as_their_state_demands() {
    for (function, repeat, name) in WAYS {
        let run = freed_badly("", function, repeat);
        let before = usize::from(!repeat.is_empty());
        let terminated = |fmu: &str| usize::from(function == 3 && fmu == "a") + before;
        // In a first run, FMU after FMU is made and enters Initialization Mode.
        for fmu in if function == 2 { &["a", "b"][..] } else { &["a", "b", "c"] } {
            let trace = run.trace(fmu);
            let count = |what| trace.count(what, "begin");
            assert_eq!((count("terminate"), count("free")), (terminated(fmu), 1), "{fmu} after {name}");
            assert_eq!(trace.violations(), 0, "{fmu} after {name}: {:?}", trace.summary);
        }
        if repeat.is_empty() {
            assert_eq!(run.status("a"), if function == 3 { "terminated" } else { "aborted" });
            assert_eq!((run.status("b").as_str(), run.status("c").as_str()), ("error", "aborted"));
        }
    }
}

#[test]
fn a_crash_in_free_instance_is_that_of_the_fmu_that_was_freed() {
    for (function, repeat, name) in WAYS {
        let run = freed_badly("*(volatile int *)NULL = 0;", function, repeat);
        for words in ["fmu `a` crashed (SIGSEGV): in fmi3FreeInstance", &format!("fmu `b`: {name} returned fmi3Error")]
        {
            assert!(run.stdout.contains(words), "{name}: no {words}: {}", run.stdout);
        }
    }
}

#[test]
fn a_callback_in_free_instance_is_that_of_the_fmu_that_was_freed() {
    for (function, repeat, name) in WAYS {
        let run = freed_badly("fmu->base.unlock_preemption();", function, repeat);
        for words in ["fmu `a`: 1 call of unlockPreemption without a lock", &format!("fmu `b`: {name} returned")] {
            assert!(run.stdout.contains(words), "{name}: no {words}: {}", run.stdout);
        }
        assert!(!run.stdout.contains("fmu `b`: 1 call") && !run.stdout.contains("fmu `c`"), "{name}: {}", run.stdout);
        // A lock that is not given back is not taken along to the next instance.
        let run = freed_badly("fmu->base.lock_preemption();", function, repeat);
        assert!(run.stdout.contains("fmu `a`: 1 time"), "{name}: {}", run.stdout);
        assert!(!run.stdout.contains("fmu `c`"), "{name}: {}", run.stdout);
    }
}

#[track_caller]
fn ended_in_time(run: &Outcome) {
    assert!(run.took < PATIENCE, "{:?}", run.took);
}

/// Its call did not fail alone: the end hangs, too.
#[test]
fn free_instance_that_never_returns_is_bounded() {
    own_core(|| {
        let folder = crate::program::tempdir().unwrap();
        let free = "trace_begin(fmu, TRACE_FREE, NO_CLOCK, 0, 0, 0.0);";
        let path = changed_tracer(folder.path(), "fmu.c", &[(free, &format!("{free}\n    {SPIN}"))]);
        let spinning =
            |start: &str| Rig::new("stop_time = 0.1\nshutdown_timeout = 0.3").fmu("a", path.clone(), start, "");
        for mode in ["virtual", "realtime"] {
            for (function, name) in [(2, "fmi3EnterInitializationMode"), (3, "fmi3ExitInitializationMode")] {
                let start = format!("fail_kind = {ERROR}, fail_function = {function}");
                let run = spinning(&start).run_with(&["--mode", mode]).exits(1);
                run.problem(&["fmu `a` was ended by force", "0.3 s", "shutdown_timeout", "in fmi3FreeInstance"]);
                assert_eq!(run.status("a"), "hung", "after {name}");
                ended_in_time(&run);
            }
            // The instance of another FMU is never made: that refuses the run, whatever comes after it.
            let run = spinning("").tracer("fail_instantiate_1", "").run_with(&["--mode", mode]);
            assert_eq!(run.code, 2, "{}", run.stderr);
            assert!(run.stderr.contains("fmu `fail_instantiate_1`"), "{}", run.stderr);
            ended_in_time(&run);
        }
    });
}

#[test]
fn a_destructor_that_never_returns_is_bounded_and_named() {
    own_core(|| {
        let folder = crate::program::tempdir().unwrap();
        let asleep = "static void hang_asleep(void)";
        let spin = format!("__attribute__((destructor)) static void never(void) {{ {SPIN} }}\n{asleep}");
        let path = changed_tracer(folder.path(), "failures.c", &[(asleep, &spin)]);
        for mode in ["virtual", "realtime"] {
            let start = format!("fail_kind = {ERROR}, fail_function = 2");
            let rig = Rig::new("stop_time = 0.1\nshutdown_timeout = 0.3").fmu("a", path.clone(), &start, "");
            let run = rig.run_with(&["--mode", mode]).exits(1);
            run.problem(&["fmu `a`: fmi3EnterInitializationMode returned fmi3Error"]);
            run.problem(&["did not return within 0.3 s", "shutdown_timeout", "in the destructors of its library"]);
            ended_in_time(&run);
        }
    });
}
