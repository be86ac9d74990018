//! What the instances of the others do when the initialisation of one has failed: each answers for itself.

use super::*;

/// `a`, whose fmi3FreeInstance begins with `code`, and `b` and `c`, of which `b` fails in `function`.
fn freed_badly(code: &str, function: i32, repeat: &[&str]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
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
