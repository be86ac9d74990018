//! FMU code that fails, crashes, exits, hangs: it is told, and the conversation goes on.

use super::{called, command, end, example, json, script};
use crate::program::forks::{Forks, OF_A_LIBRARY};
use crate::program::{PATIENCE, changed_tracer, copied_tracer, send, tempdir, wait_until};
use nix::sys::signal::{self, SigHandler, Signal};
use std::io::Write;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Instant;

const ERROR: u32 = 1;
const DISCARD: u32 = 2;
const FATAL: u32 = 3;
const HANG: u32 = 4;
const CRASH: u32 = 5;
const EXIT: u32 = 6;
const WARNING: u32 = 9;
const BUSY: u32 = 10;
const ABORT: u32 = 11;

/// The first activation of `fast` fails in this way; then another instance is made.
fn in_activation(kind: u32, after: &[&str]) -> (i32, Vec<serde_json::Value>) {
    let kind = format!("set fail_kind {kind}");
    let begin = [
        "Instantiate",
        &kind,
        "set fail_clock 1",
        "set fail_at 1",
        "EnterInitializationMode",
        "ExitInitializationMode",
        "activate fast 0",
    ];
    json(&example("tracer"), &["--keep-going", "--timeout", "1"], &[&begin[..], after].concat())
}

#[test]
fn what_ends_the_process_ends_the_instance_alone() {
    for (kind, words) in [
        (CRASH, "the FMU crashed (SIGSEGV) in fmi3ActivateModelPartition"),
        (ABORT, "the FMU crashed (SIGABRT) in fmi3ActivateModelPartition"),
        (EXIT, "the FMU called exit(3) in fmi3ActivateModelPartition"),
        (HANG, "the FMU has been in fmi3ActivateModelPartition for 1 s, and was ended (--timeout)"),
        (BUSY, "the FMU has been in fmi3ActivateModelPartition for 1 s, and was ended (--timeout)"),
    ] {
        let begun = Instant::now();
        let (code, lines) =
            in_activation(kind, &["get out_f64", "Instantiate", "EnterInitializationMode", "get in_f64"]);
        assert_eq!(code, 1);
        assert!(begun.elapsed() < PATIENCE, "{words}");
        let failed = &lines[6];
        assert_eq!((failed["outcome"].as_str(), failed["state"].as_str()), (Some("failed"), Some("no instance")));
        assert!(failed["message"].as_str().unwrap().starts_with(words), "{failed}");
        // The call that it was in is one of those of the line.
        let call = failed["calls"].as_array().unwrap().last().unwrap();
        let end = words.trim_start_matches("the FMU ").split(" in ").next().unwrap();
        let end = if end == "has been" { "did not return" } else { end };
        assert_eq!(
            (call["function"].as_str(), call["status"].as_str()),
            (Some("fmi3ActivateModelPartition"), Some(end))
        );
        assert!(call["arguments"].is_null() && call["nanoseconds"].is_null(), "{call}");
        let message = lines[7]["message"].as_str().unwrap();
        assert!(message.contains("there is no instance; fmi3InstantiateScheduledExecution makes one"), "{message}");
        assert_eq!(lines[9]["state"].as_str(), Some("Initialization Mode"), "the next instance is of a new process");
        assert_eq!(lines[10]["outcome"].as_str(), Some("done"));
    }
}

#[test]
fn a_stack_that_overflows_is_named_with_the_way_to_a_larger_one() {
    const CODE: &str = "__attribute__((noinline)) static int deep(int level) {
    volatile char own[200];
    own[0] = (char)level;
    return deep(level + 1) + own[0];
}";
    let folder = tempdir().unwrap();
    let fmu = copied_tracer(&folder.path().join("fmu"));
    let file = fmu.join("sources/fmu.c");
    let text = std::fs::read_to_string(&file).unwrap();
    let begin = "    trace_begin(fmu, TRACE_ACTIVATE,";
    assert!(text.contains(begin));
    std::fs::write(&file, format!("{CODE}\n{}", text.replacen(begin, &format!("    deep(0);\n{begin}"), 1))).unwrap();
    let (code, lines) =
        json(&fmu, &[], &["Instantiate", "EnterInitializationMode", "ExitInitializationMode", "activate fast 0"]);
    assert_eq!(code, 1);
    let message = lines[3]["message"].as_str().unwrap();
    assert!(message.starts_with("the FMU overflowed its stack of "), "{message}");
    let rest = " KiB (SIGSEGV; `ulimit -s` makes it larger) in fmi3ActivateModelPartition";
    assert!(message.contains(rest), "{message}");
}

/// The main thread has what `ulimit -s` says, which may be little.
#[test]
fn the_stack_is_that_of_a_partition_whatever_the_main_thread_has() {
    let folder = tempdir().unwrap();
    let begin = "    trace_begin(fmu, TRACE_ACTIVATE,";
    let takes = "    volatile char own[7 << 20];\n    for (int at = 0; at < 7 << 20; at += 512) own[at] = 1;\n";
    let fmu = changed_tracer(folder.path(), "fmu.c", &[(begin, &format!("{takes}{begin}"))]);
    let own = command(&fmu, &["--json"]);
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -s 2048; exec \"$0\" \"$@\""]).arg(own.get_program()).args(own.get_args());
    command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let lines = "Instantiate\nEnterInitializationMode\nExitInitializationMode\nactivate fast 0";
    let said = end(command, lines.as_bytes());
    assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
}

#[test]
fn a_status_says_what_is_left() {
    for (kind, state) in [(ERROR, "failed"), (DISCARD, "failed"), (FATAL, "fatal")] {
        let (code, lines) = in_activation(kind, &["activate fast 1", "Reset", "FreeInstance", "Instantiate"]);
        assert_eq!(code, 1);
        let failed = &lines[6];
        assert_eq!((failed["outcome"].as_str(), failed["state"].as_str()), (Some("failed"), Some(state)), "{failed}");
        assert_eq!(failed["log"].as_array().map(Vec::len), Some(1), "what it has logged of it");
        assert_eq!(lines[7]["outcome"].as_str(), Some("refused"));
        assert!(called(&lines[7]).is_empty());
        match kind {
            // Nothing is called any more, not even what frees it.
            FATAL => {
                assert_eq!(lines[8]["outcome"].as_str(), Some("refused"));
                assert!(called(&lines[9]).is_empty());
            }
            _ => {
                assert_eq!((called(&lines[8]), lines[8]["state"].as_str()), (vec!["fmi3Reset"], Some("Instantiated")));
                assert_eq!(called(&lines[9]), ["fmi3FreeInstance"]);
            }
        }
        assert_eq!(lines[10]["outcome"].as_str(), Some("done"), "{:?}", lines[10]);
    }
    let (code, lines) = in_activation(WARNING, &["get count_fast"]);
    assert_eq!(code, 0);
    assert_eq!(lines[6]["calls"][0]["status"].as_str(), Some("fmi3Warning"));
    assert_eq!(lines[7]["outcome"].as_str(), Some("done"));
}

/// A call before the activations: what fails is ended by the standard's rules.
#[test]
fn a_transition_that_fails_frees_the_instance() {
    let lines = [
        "Instantiate",
        "set function fmi3EnterInitializationMode",
        "set status 3",
        "EnterInitializationMode",
        "Instantiate",
    ];
    let (code, lines) = json(&example("failing"), &["--keep-going"], &lines);
    assert_eq!(code, 1, "{lines:?}");
    let message = lines[3]["message"].as_str().unwrap();
    assert!(message.ends_with("fmi3EnterInitializationMode returned fmi3Error; the instance was freed"), "{message}");
    assert_eq!(lines[4]["outcome"].as_str(), Some("done"));
}

/// Discard of Model Exchange refuses what was asked and nothing else.
#[test]
fn a_discard_leaves_the_equations_as_they_were() {
    let lines = [
        "Instantiate",
        "set function fmi3GetContinuousStateDerivatives",
        "set status 2",
        "EnterInitializationMode",
        "ExitInitializationMode",
        "UpdateDiscreteStates",
        "UpdateDiscreteStates",
        "EnterContinuousTimeMode",
        "derivatives",
        "derivatives",
    ];
    let (code, lines) = json(&example("failing"), &["--keep-going"], &lines);
    assert_eq!(code, 1, "{lines:?}");
    assert_eq!(lines[8]["calls"][0]["status"].as_str(), Some("fmi3Discard"), "{:?}", lines[8]);
    assert_eq!(
        (lines[8]["outcome"].as_str(), lines[8]["state"].as_str()),
        (Some("failed"), Some("Continuous-Time Mode"))
    );
    assert_eq!(lines[9]["outcome"].as_str(), Some("done"));
}

#[test]
fn a_script_that_meets_a_crash_ends_with_exit_code_1() {
    let lines = [
        "Instantiate",
        "set fail_kind 5",
        "set fail_clock 1",
        "set fail_at 1",
        "EnterInitializationMode",
        "ExitInitializationMode",
        "activate fast 0",
        "Instantiate",
    ];
    let said = script(&example("tracer"), &[], &lines).exits(1);
    said.complains(&["line 7: the FMU crashed (SIGSEGV) in fmi3ActivateModelPartition"]);
    assert_eq!(said.stdout.matches("fmi3InstantiateScheduledExecution").count(), 1);
}

/// What FMU code changes for all code of the process is told with the line in which it has, and is as before for the next one.
#[test]
fn what_an_fmu_changes_for_its_process_is_told_and_put_back() {
    let folder = tempdir().unwrap();
    std::fs::create_dir(folder.path().join("sources")).unwrap();
    let description = include_str!("../mutations/earlier/fmi2.xml")
        .replace("<File name=\"model.c\"/><File name=\"lib/gain.c\"/>", "<File name=\"all.c\"/>");
    std::fs::write(folder.path().join("modelDescription.xml"), description).unwrap();
    let source = include_str!("../archive/earlier/integrator2.c")
        .replace("    m->x += m->gain", "    setlocale(LC_ALL, \"C.UTF-8\"); umask(0777);\n    m->x += m->gain");
    let heads = "#define _GNU_SOURCE\n#include <locale.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/stat.h>\n\
                 #include <unistd.h>\n#include \"fmi2Functions.h\"\n#define GAIN 1.0\n\
                 __attribute__((constructor)) static void own(void) { chdir(\"/\"); setenv(\"VECUD_TEST\", \"1\", 1); }\n";
    std::fs::write(folder.path().join("sources/all.c"), heads.to_owned() + &source).unwrap();
    let lines =
        ["Instantiate", "EnterInitializationMode", "ExitInitializationMode", "DoStep 0.1", "get x", "DoStep 0.1"];
    let (code, said) = json(folder.path(), &[], &lines);
    assert_eq!(code, 0);
    let notes = |line: usize| {
        let notes = said[line]["notes"].as_array().unwrap().iter();
        notes.filter_map(|note| note.as_str()).filter(|note| note.contains("put back")).collect::<Vec<_>>()
    };
    let at_load = "when its library was loaded; that was put back";
    let [directory, environment] = notes(0)[..] else { panic!("{}", said[0]) };
    assert!(directory.starts_with("the FMU changed the working directory (chdir)") && directory.ends_with(at_load));
    assert!(environment.starts_with("the FMU changed the environment (setenv)") && environment.ends_with(at_load));
    for step in [3, 5] {
        let [locale, umask] = notes(step)[..] else { panic!("{}", said[step]) };
        assert!(locale.starts_with("the FMU changed the locale (setlocale)"), "{locale}");
        assert_eq!(umask, "the FMU changed the modes of files that are made (umask); that was put back");
    }
    assert_eq!(notes(1).len() + notes(2).len() + notes(4).len(), 0);
}

/// Whatever ends a conversation, the processes that the FMU has started end with it, and are named: its end, a crash, a call that lasts
/// too long, a signal while a line is waited for or a call lasts.
#[test]
fn processes_that_the_fmu_starts_end_with_it_and_are_named() {
    let folder = tempdir().unwrap();
    let begin = |kind: u32| {
        let set = format!("Instantiate\nset fail_kind {kind}\nset fail_clock 1\nset fail_at 1\n");
        set + "EnterInitializationMode\nExitInitializationMode\nactivate fast 0\n"
    };
    for (name, lines, signal) in [
        ("end", "Instantiate\n".to_owned(), None),
        ("crash", begin(CRASH), None),
        ("hang", begin(HANG), None),
        ("asked between lines", "Instantiate\n".to_owned(), Some(Signal::SIGTERM)),
        ("asked in a call", begin(HANG), Some(Signal::SIGHUP)),
    ] {
        let forks = Forks::in_folder(&folder.path().join(name));
        let timeout = if name == "hang" { "1" } else { "600" };
        let mut command = command(&forks.fmu, &["--timeout", timeout]);
        forks.noted(&mut command).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // `nohup` has the tests ignore it; they hand that on, and vecud leaves ignored signals ignored.
        // SAFETY: between fork and exec the closure makes one system call.
        unsafe { command.pre_exec(|| Ok(signal::signal(Signal::SIGHUP, SigHandler::SigDfl).map(drop)?)) };
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(lines.as_bytes()).unwrap();
        let input = signal.map(|signal| {
            wait_until("the FMU is loaded", || forks.started().len() == OF_A_LIBRARY);
            send(child.id() as i32, signal);
            input
        });
        let begun = Instant::now();
        let output = child.wait_with_output().unwrap();
        drop(input);
        assert!(begun.elapsed() < PATIENCE, "{name}");
        assert_eq!(output.status.code(), Some(if name == "end" { 0 } else { 1 }), "{name}: {output:?}");
        assert_eq!((forks.started().len(), forks.running()), (OF_A_LIBRARY, vec![]), "{name}");
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(said.contains("the FMU: its code has left processes behind, which were ended by force"), "{said}");
        assert!(forks.started().iter().all(|pid| said.contains(&format!(" {pid} ("))), "{said}");
    }
}
