//! FMU code that does not return: somebody hears of it, the rig's `call_timeout` ends it, and the report is whole.

use crate::program::{
    Outcome, PATIENCE, Rig, changed_tracer, real_time, real_time_on_own_core, runner_of, send, shared_core, wait_until,
};
use std::path::PathBuf;
use tempfile::TempDir;

const HANG_ASLEEP: i32 = 4;

/// What FMU code can be made to do for ever.
const SLEEP: &str = "struct timespec day = {86400, 0}; for (;;) nanosleep(&day, 0);";

/// A tracer with this C code among its functions.
fn tracer_with(code: &str) -> (TempDir, PathBuf) {
    let folder = crate::program::tempdir().unwrap();
    let code = format!("#include <signal.h>\n#include <time.h>\n{code}\nstatic void hang_asleep(void)");
    let path = changed_tracer(folder.path(), "failures.c", &[("static void hang_asleep(void)", &code)]);
    (folder, path)
}

/// The report of a run that was ended within seconds, since `a` hung.
#[track_caller]
fn hung(run: &Outcome, words: &[&str]) {
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_eq!(run.status("a"), "hung", "{:#?}", run.problems());
    run.problem(words);
    assert!(run.took < PATIENCE, "{:?}", run.took);
    assert!(run.out.join("report.html").exists());
}

/// Every function outside of activations, and in virtual time activations and getters too, is under the limit.
#[test]
fn a_call_that_does_not_return_is_ended_and_named() {
    for (function, at, name) in [
        (2, 1, "fmi3EnterInitializationMode"),
        (3, 1, "fmi3ExitInitializationMode"),
        (5, 100, "fmi3Get"),
        (0, 51, "fmi3ActivateModelPartition for clock fast at 0.05 s"),
    ] {
        let start = format!("fail_kind = {HANG_ASLEEP}, fail_function = {function}, fail_clock = 1, fail_at = {at}");
        let run = Rig::new("mode = 'virtual'\nstop_time = 0.2\ncall_timeout = 0.5").tracer("a", &start).run();
        hung(&run, &["fmu `a` has been in", name, "for 0.5 s", "call_timeout"]);
        if function == 0 {
            assert_eq!(run.signals().last("a.count_fast"), 50, "what was recorded until then is there");
        }
    }
}

#[test]
fn an_instance_that_is_never_made_is_ended_and_named() {
    let run = Rig::new("mode = 'virtual'\nstop_time = 0.2\ncall_timeout = 0.5").tracer("fail_instantiate_4", "").run();
    assert_eq!((run.code, run.status("fail_instantiate_4").as_str()), (1, "hung"), "{}", run.stderr);
    run.problem(&["fmi3InstantiateScheduledExecution", "for 0.5 s", "call_timeout"]);
}

#[test]
fn a_constructor_that_does_not_return_is_ended_and_named() {
    shared_core(|| {
        let (_folder, path) =
            tracer_with(&format!("__attribute__((constructor)) static void never(void) {{ {SLEEP} }}"));
        for mode in ["virtual", "realtime"] {
            let rig = format!("mode = '{mode}'\nstop_time = 0.2\ncall_timeout = 0.5");
            let run = Rig::new(&rig).fmu("a", path.clone(), "", "").run();
            hung(&run, &["fmu `a` has been in the constructors of its library", "for 0.5 s"]);
        }
    });
}

#[test]
fn a_crash_in_a_constructor_is_that_of_the_fmu() {
    let (_folder, path) = tracer_with("__attribute__((constructor)) static void never(void) { raise(SIGSEGV); }");
    let run = Rig::new("mode = 'virtual'\nstop_time = 0.2").fmu("a", path, "", "").run().exits(1);
    run.problem(&["fmu `a` crashed (SIGSEGV)", "in the constructors of its library"]);
    assert_eq!(run.status("a"), "crashed");
}

/// What happens in destructors comes after the run: its figures are those of a whole run, which passes, and of several libraries the
/// one that is being unloaded is named.
#[test]
fn a_destructor_that_hangs_or_crashes_is_a_finding_of_a_run_that_is_whole() {
    shared_core(|| {
        for (code, how) in [
            (SLEEP, "did not return within"),
            ("raise(SIGSEGV); raise(SIGSEGV);", "crashed (SIGSEGV)"),
            ("abort();", "crashed (SIGABRT)"),
        ] {
            let (_folder, path) =
                tracer_with(&format!("__attribute__((destructor)) static void never(void) {{ {code} }}"));
            for mode in ["virtual", "realtime"] {
                let rig = format!("mode = '{mode}'\nstop_time = 0.2\nshutdown_timeout = 0.3");
                let rig = Rig::new(&rig).fmu("a", path.clone(), "", "").tracer("b", "");
                let run = rig.run().exits(0);
                run.problem(&["the run was over", "fmu `a`", how, "in the destructors of its library"]);
                assert_eq!((run.status("a").as_str(), run.status("b").as_str()), ("terminated", "terminated"));
                let report = run.report();
                assert_eq!(
                    (&report["verdict"], &report["problems"][0]["severity"]),
                    (&"pass".into(), &"finding".into())
                );
                let skipped = run.count("a", "fast", "skipped");
                assert_eq!(run.count("a", "fast", "activations") + skipped, 200, "everything is in the report");
                assert!(run.took < PATIENCE, "{:?}", run.took);
            }
        }
    });
}

/// A signal that FMU code raises stops the whole process: nothing in there can notice that.
#[test]
fn a_process_that_has_stopped_itself_is_ended_and_named() {
    shared_core(|| {
        let (_folder, path) = tracer_with("__attribute__((constructor)) static void stop(void) { raise(SIGSTOP); }");
        let run = Rig::new("mode = 'virtual'\nstop_time = 0.2\ncall_timeout = 0.5").fmu("a", path, "", "").run();
        hung(&run, &["stopped by a signal", "fmu `a` was in the constructors of its library", "call_timeout"]);
        let folder = crate::program::tempdir().unwrap();
        let change = [
            ("for (;;) nanosleep(&day, NULL);", "raise(SIGSTOP); (void)day;"),
            ("static void hang_asleep(void)", "#include <signal.h>\nstatic void hang_asleep(void)"),
        ];
        let path = changed_tracer(folder.path(), "failures.c", &change);
        let start = format!("fail_kind = {HANG_ASLEEP}, fail_clock = 1, fail_at = 51");
        for mode in ["virtual", "realtime"] {
            // In real time the activation never returns; nobody in the runner can look whether its time is over.
            let rig = format!("mode = '{mode}'\nstop_time = 0.2\ncall_timeout = 0.5");
            let run = Rig::new(&rig).fmu("a", path.clone(), &start, "").run();
            hung(&run, &["stopped by a signal", "clock a.fast was in fmi3ActivateModelPartition", "call_timeout"]);
        }
    });
}

/// A debugger may take its time, but nobody is one whom FMU code has made its tracer: the supervisor, or a child of its own.
#[test]
fn a_tracer_of_an_fmus_own_stops_no_limit() {
    const HEAD: &str = "#include <signal.h>\n#include <sys/prctl.h>\n#include <sys/ptrace.h>\n#include <unistd.h>\n";
    const BY_PARENT: &str = "ptrace(PTRACE_TRACEME, 0, 0, 0);";
    const BY_CHILD: &str = "prctl(PR_SET_PTRACER, -1L, 0, 0, 0); pid_t own = getpid(); int ends[2]; char one; (void)!pipe(ends); \
        if (fork() == 0) { ptrace(PTRACE_SEIZE, own, 0, 0); (void)!write(ends[1], \"x\", 1); for (;;) pause(); } (void)!read(ends[0], &one, 1);";
    for (code, words) in [
        (format!("{BY_PARENT} for (;;) pause();"), "in the constructors of its library"),
        (format!("{BY_PARENT} raise(SIGSTOP);"), "stopped by a signal"),
        (format!("{BY_CHILD} for (;;) pause();"), "in the constructors of its library"),
    ] {
        let (_folder, path) =
            tracer_with(&format!("{HEAD}__attribute__((constructor)) static void never(void) {{ {code} }}"));
        let run = Rig::new("mode = 'virtual'\nstop_time = 0.2\ncall_timeout = 0.5").fmu("a", path, "", "").run();
        hung(&run, &[words, "fmu `a`", "call_timeout"]);
    }
}

/// The line that tells of it, also with --quiet: nobody else says that anything is going on.
#[test]
fn who_waits_hears_of_it_every_ten_seconds() {
    let start = format!("fail_kind = {HANG_ASLEEP}, fail_function = 2");
    let rig = Rig::new("mode = 'virtual'\nstop_time = 0.2\ncall_timeout = 11").tracer("a", &start);
    let mut command = rig.command();
    command.arg("--quiet");
    let run = rig.finish(rig.start(command));
    assert_eq!(run.code, 1);
    let line = "warning: fmu `a` has been in fmi3EnterInitializationMode for 10 s; the run ends after 11 s";
    assert_eq!(run.stderr.matches(line).count(), 1, "{}", run.stderr);
}

/// A signal ends a stopped process within the rig's time, whatever the limit on calls is.
#[test]
fn a_stopped_process_ends_by_a_signal_to_its_supervisor() {
    real_time("a_stopped_process_ends_by_a_signal_to_its_supervisor", || {
        let rig = Rig::new("stop_time = 100\nshutdown_timeout = 0.3").tracer("a", "");
        let child = rig.start(rig.command());
        rig.wait_until_it_runs();
        let runner = runner_of(&child);
        send(runner, nix::sys::signal::Signal::SIGSTOP);
        let status = format!("/proc/{runner}/status");
        wait_until("it has stopped", || std::fs::read_to_string(&status).unwrap_or_default().contains("State:\tT"));
        send(child.id() as i32, nix::sys::signal::Signal::SIGINT);
        let run = rig.finish(child).exits(1);
        run.problem(&["was ended by force"]);
    });
}

/// Of several libraries also the limit on calls names the one whose destructor hangs, and so it does when that is busy.
#[test]
fn a_destructor_beyond_the_limit_on_calls_is_named() {
    let (_folder, path) =
        tracer_with("__attribute__((destructor)) static void never(void) { for (volatile int i = 0;; i++); }");
    let rig = "mode = 'virtual'\nstop_time = 0.2\ncall_timeout = 0.5\nshutdown_timeout = 30";
    let run = Rig::new(rig).tracer("b", "").fmu("a", path.clone(), "", "").run().exits(0);
    run.problem(&["fmu `a` has been in the destructors of its library", "for 0.5 s", "call_timeout"]);
    assert!(run.took < PATIENCE, "{:?}", run.took);
    assert_eq!([run.status("a"), run.status("b")], ["terminated"; 2]);
    let strict = Rig::new(rig).tracer("b", "").fmu("a", path, "", "").run_with(&["--strict"]).exits(1);
    assert_eq!(strict.report()["verdict"], "fail");
}

/// The handlers of `exit` run destructors of whatever there is, in an order that nobody has tried: the runner leaves without them. What
/// was printed is there all the same.
#[test]
fn handlers_of_exit_cannot_harm_a_run_that_is_whole() {
    let crash = "extern int __cxa_atexit(void (*)(void *), void *, void *);\n\
                 static void at_exit(void *nothing) { (void)nothing; abort(); }\n\
                 __attribute__((constructor)) static void begin(void)\n{\n    \
                     __cxa_atexit(at_exit, NULL, NULL);\n    printf(\"no end of the line\");\n}";
    let (_folder, path) = tracer_with(&format!("#include <stdio.h>\n{crash}"));
    for arguments in [&["--strict"][..], &["--repeat", "2"]] {
        let rig = Rig::new("mode = 'virtual'\nstop_time = 0.02").fmu("a", path.clone(), "", "");
        let run = rig.run_with(arguments).exits(0);
        assert!(arguments[0] == "--repeat" || run.file("run.log").contains("no end of the line"));
    }
    let wanted: [&[&str]; 4] = [
        &["simulate", "--stop-time", "0.02"],
        &["simulate", "--stop-time", "0.02", "--sweep", "fast_burn_us=0,1", "--jobs", "1"],
        &["call", "-c", "Instantiate"],
        &["call", "-c", "Instantiate", "-c", "EnterInitializationMode", "-c", "FreeInstance"],
    ];
    for words in wanted {
        let mut vecud = std::process::Command::new(env!("CARGO_BIN_EXE_vecud"));
        let done = vecud.arg(words[0]).arg(&path).args(&words[1..]).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.success() && !said.contains("SIGABRT"), "{words:?}: {said}");
    }
}

/// A destructor that crashes after everything was done is told, and nothing else comes of it.
#[test]
fn a_destructor_that_crashes_changes_no_exit_code() {
    let (_folder, path) = tracer_with("__attribute__((destructor)) static void end(void) { abort(); }");
    let wanted: [&[&str]; 3] = [
        &["simulate", "--stop-time", "0.02"],
        &["simulate", "--stop-time", "0.02", "--sweep", "fast_burn_us=0,1", "--jobs", "1"],
        &["call", "-c", "Instantiate"],
    ];
    for words in wanted {
        let mut vecud = std::process::Command::new(env!("CARGO_BIN_EXE_vecud"));
        let done = vecud.arg(words[0]).arg(&path).args(&words[1..]).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(0), "{words:?}: {said}");
        assert!(said.contains("warning: ") && said.contains("crashed (SIGABRT)"), "{words:?}: {said}");
        assert!(said.contains("in the destructors of its library"), "{words:?}: {said}");
    }
}

/// A thread of the FMU that goes on could be in the midst of code that is unloaded.
#[test]
fn a_library_whose_threads_go_on_is_not_unloaded() {
    let thread = "#include <pthread.h>\n\
                  static void *forever(void *nothing) { (void)nothing; struct timespec day = {86400, 0}; for (;;) nanosleep(&day, 0); }\n\
                  __attribute__((constructor)) static void begin(void)\n{\n    pthread_t thread;\n    \
                      pthread_create(&thread, NULL, forever, NULL);\n}\n\
                  __attribute__((destructor)) static void end(void) { abort(); }";
    let (_folder, path) = tracer_with(thread);
    shared_core(|| {
        for mode in ["virtual", "realtime"] {
            let rig = Rig::new(&format!("mode = '{mode}'\nstop_time = 0.02")).fmu("a", path.clone(), "", "");
            let run = rig.run().exits(0);
            assert!(!run.problems().iter().any(|problem| problem.contains("destructors")), "{:#?}", run.problems());
        }
    });
}

/// A limit of 0 is none, and a limit that is none is told from one.
#[test]
fn a_limit_is_a_number_of_seconds() {
    let run = Rig::new("mode = 'virtual'\nstop_time = 0.1\ncall_timeout = 0").tracer("a", "").run();
    assert_eq!(run.code, 0, "{}", run.stderr);
    let run = Rig::new("mode = 'virtual'\nstop_time = 0.1\ncall_timeout = -1").tracer("a", "").run();
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("call_timeout must be a number of seconds, 0 (no limit) to 1e6"), "{}", run.stderr);
}

/// Whoever kills the process of the FMUs, it is no defect of an FMU's nor of vecud's.
#[test]
fn a_kill_from_outside_is_nobodys_crash() {
    let rig =
        Rig::new("mode = 'virtual'\nstop_time = 1e6").tracer("a", "").more("[record]\nsignals = ['a.count_fast']");
    let child = rig.start(rig.command());
    rig.wait_until_it_runs();
    send(runner_of(&child), nix::sys::signal::Signal::SIGKILL);
    let run = rig.finish(child).exits(1);
    run.problem(&["was ended from outside by SIGKILL", "want of memory"]);
    assert_eq!(run.status("a"), "aborted");
}

/// A signal of faults that another process has sent is no fault of the code that was running meanwhile.
#[test]
fn a_fault_signal_from_outside_is_nobodys_crash() {
    use nix::sys::signal::Signal;
    for signal in [Signal::SIGSEGV, Signal::SIGABRT, Signal::SIGFPE] {
        let rig = Rig::new("mode = 'virtual'\nstop_time = 1e6").tracer("a", "").tracer("b", "");
        let rig = rig.more("[record]\nsignals = ['a.count_fast']");
        let child = rig.start(rig.command());
        rig.wait_until_it_runs();
        send(runner_of(&child), signal);
        let run = rig.finish(child).exits(1);
        run.problem(&[&format!("was ended from outside by {signal} (process {})", std::process::id())]);
        assert_eq!((run.status("a").as_str(), run.status("b").as_str()), ("aborted", "aborted"));
    }
}

/// Whoever's activation is under way meanwhile has nothing to do with it: of several FMUs the one whose code the thread runs is
/// named, also when that is in the C library (`abort`). Two that share a library cannot be told apart.
#[test]
fn a_crash_in_a_thread_of_an_fmu_is_put_on_no_activation() {
    shared_core(|| {
        for (fall, signal, mode) in [
            ("*(volatile int *)0 = 1", "SIGSEGV", "virtual"),
            ("*(volatile int *)0 = 1", "SIGSEGV", "realtime"),
            ("abort()", "SIGABRT", "virtual"),
            ("exit(7)", "exit(7)", "virtual"),
        ] {
            let code = format!(
                "#include <pthread.h>\n#include <stdlib.h>\n\
             static void *fall(void *none) {{ struct timespec soon = {{0, 50000000}}; nanosleep(&soon, 0); {fall}; return none; }}\n\
             __attribute__((constructor)) static void begin(void) {{ pthread_t thread; pthread_create(&thread, 0, fall, 0); }}"
            );
            let (_folder, path) = tracer_with(&code);
            let rig = || Rig::new(&format!("mode = '{mode}'\nstop_time = 3000.0"));
            let alone = rig().fmu("a", path.clone(), "", "").run();
            assert_eq!((alone.code, alone.status("a").as_str()), (1, "crashed"), "{}", alone.stderr);
            alone.problem(&["fmu `a`", signal, "in a thread that its code has made"]);
            let two = rig().tracer("b", "").fmu("a", path.clone(), "", "").tracer("c", "").run();
            let status = ["a", "b", "c"].map(|fmu| two.status(fmu));
            two.problem(&["fmu `a`", signal, "in a thread that its code has made"]);
            assert_eq!((two.code, status), (1, ["crashed", "aborted", "aborted"].map(str::to_owned)), "{}", two.stderr);
            let same = rig().tracer("b", "").fmu("a", path.clone(), "", "").fmu("c", path.clone(), "", "").run();
            same.problem(&["FMU code", signal, "in a thread that it has made itself", "which of `a`, `c` has made it"]);
            let status = ["a", "b", "c"].map(|fmu| same.status(fmu));
            assert_eq!((same.code, status), (1, ["aborted"; 3].map(str::to_owned)), "{}", same.stderr);
        }
    });
}

/// A thread of another program has the rig's core until long after the end of the run: nobody's code hangs.
#[test]
fn a_rig_that_gets_no_core_is_told_so_and_no_fmu_is_blamed() {
    use std::time::{Duration, Instant};
    use vecud::sys::{affinity, scheduling};
    real_time_on_own_core("a_rig_that_gets_no_core_is_told_so_and_no_fmu_is_blamed", || {
        let cpu = *affinity::allowed_cpus().unwrap().last().unwrap();
        let rig = Rig::new("stop_time = 0.4\nshutdown_timeout = 0.5").tracer_with("a", "", &format!("cpu = {cpu}"));
        let child = rig.start(rig.command());
        rig.wait_until_it_runs();
        let greedy = std::thread::spawn(move || {
            affinity::pin_to(cpu).unwrap();
            scheduling::set_fifo(99).unwrap();
            let began = Instant::now();
            while began.elapsed() < Duration::from_secs(2) {
                std::hint::spin_loop();
            }
        });
        let run = rig.finish(child).exits(1);
        greedy.join().unwrap();
        assert_eq!(run.status("a"), "aborted", "{:#?}", run.problems());
        let said = run.problem(&["a.", "got no core", "shutdown_timeout", "0.5 s"]);
        assert!(
            said.contains(&format!("had core {cpu}, on which nothing of the rig has begun since 0."))
                && !said.contains("hang"),
            "{said}"
        );
    });
}
