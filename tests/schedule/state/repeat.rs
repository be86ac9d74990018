//! `--repeat`: Terminate, Reset, and again, with the library loaded and the instances kept (requirements, row 37).

use super::program::{Outcome, Rig, Schema, changed_tracer, problem_texts, send, shared_core, wait_until};
use super::{left, run, state, text, two};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::path::Path;

fn report(outcome: &Outcome, number: u32) -> Value {
    let report = serde_json::from_str(&outcome.file(&format!("run-{number}/report.json"))).unwrap();
    Schema::of("report.schema.json").holds(&report);
    report
}

fn runs(outcome: &Outcome) -> usize {
    (1..).take_while(|number| outcome.out.join(format!("run-{number}/report.json")).exists()).count()
}

#[track_caller]
fn problem(outcome: &Outcome, number: u32, words: &[&str]) {
    let found = problem_texts(&report(outcome, number));
    assert!(found.iter().any(|p| words.iter().all(|word| p.contains(word))), "no problem has {words:?}: {found:#?}");
}

#[test]
fn three_runs_in_one_process_leave_identical_traces() {
    let rig = two("");
    let once = run(&rig, &[]).exits(0).file("signals.csv");
    let all = run(&rig, &["--repeat", "3"]).exits(0);
    assert_eq!(runs(&all), 3);
    for number in 1..=3 {
        assert!(all.file(&format!("run-{number}/signals.csv")) == once, "run {number} differs");
        let (one, other) = (report(&all, 1), report(&all, number));
        for same in ["clocks", "problems", "end", "end_time", "verdict"] {
            assert_eq!(one[same], other[same], "{same} of run {number}");
        }
        assert_eq!(other["fmus"][0]["status"], "terminated");
        assert!(all.out.join(format!("run-{number}/report.html")).exists());
        assert!(all.stdout.contains(&format!("run {number} of 3\n")), "{}", all.stdout);
    }
    for fmu in ["a", "b"] {
        let trace = all.trace(fmu);
        let calls: Vec<&str> = trace
            .events
            .iter()
            .filter(|event| event.phase == "begin")
            .map(|event| event.what.as_str())
            .filter(|what| ["instantiate", "exit_init", "terminate", "reset", "free"].contains(what))
            .collect();
        let expected =
            ["instantiate", "exit_init", "terminate", "reset", "exit_init", "terminate", "reset", "exit_init"];
        assert_eq!(calls, [&expected[..], &["terminate", "free"]].concat(), "{fmu}");
        assert_eq!(trace.violations(), 0, "{:?}", trace.summary);
        // The same events each time, from the start values on.
        let events = |number: usize| {
            let runs = trace.events.split(|event| event.is("reset", "end") || event.is("instantiate", "end"));
            let run = runs.skip(1).nth(number).unwrap();
            let till = run.iter().position(|event| event.is("terminate", "end")).unwrap();
            let of = |e: &super::program::Event| {
                (e.what.clone(), e.phase.clone(), e.clock, e.vr, e.n, e.hash, e.time.to_bits(), e.status)
            };
            run[..till].iter().map(of).collect::<Vec<_>>()
        };
        assert!(events(0).len() > 1000);
        assert!(events(0) == events(1) && events(1) == events(2));
    }
}

#[test]
fn runs_in_real_time_each_have_their_own_counts() {
    shared_core(|| {
        let rig = two("");
        let all = run(&rig, &["--mode", "realtime", "--stop-time", "0.1", "--repeat", "3"]).exits(0);
        assert_eq!(runs(&all), 3);
        for number in 1..=3 {
            let report = report(&all, number);
            assert_eq!(report["verdict"], "pass");
            let clocks = report["clocks"].as_array().unwrap();
            let fast = clocks.iter().find(|clock| clock["fmu"] == "a" && clock["clock"] == "fast").unwrap();
            let count = |what: &str| fast[what].as_u64().unwrap();
            assert_eq!(count("activations") + count("skipped"), 100, "run {number}: {fast}");
            assert!(fast["execution"]["count"].as_u64() <= Some(100), "histograms begin anew: {fast}");
            assert!((0.09..1.0).contains(&report["wall_seconds"].as_f64().unwrap()));
            let rows = all.file(&format!("run-{number}/signals.csv"));
            assert!(rows.lines().nth(1).unwrap().starts_with("0.0,"), "{rows}");
        }
        assert_eq!(all.trace("a").violations(), 0, "{:?}", all.trace("a").summary);
    });
}

#[test]
fn what_fmus_say_and_print_goes_to_the_log_of_its_run() {
    let folder = crate::program::tempdir().unwrap();
    let changes = [
        ("#include <errno.h>", "#include <errno.h>\n#include <stdio.h>"),
        (
            "    burn(fmu, activation, set->burn_us * INT64_C(500));\n    if",
            "    if (activation->clock == SLOW) printf(\"printed\\n\"), fflush(stdout);\n    if",
        ),
    ];
    let path = changed_tracer(folder.path(), "partitions.c", &changes);
    let rig = Rig::new("mode = 'virtual'\nstop_time = 0.1").fmu("a", path, "log_every = 2", "log = true");
    let all = run(&rig, &["--repeat", "3"]).exits(0);
    for number in 1..=3 {
        let log = all.file(&format!("run-{number}/run.log"));
        let lines = |what: &str| log.lines().filter(|line| line.contains(what)).count();
        assert_eq!((lines("printed"), lines("a: [logEvents] Partition slow")), (10, 5), "run {number}:\n{log}");
    }
}

#[test]
fn a_run_that_fails_is_the_last_one_unless_the_rig_says_continue() {
    let rig = |on_error: &str, kind: i32| {
        Rig::new(&format!("mode = 'virtual'\nstop_time = 0.2\non_error = '{on_error}'"))
            .tracer("a", &format!("fail_kind = {kind}, fail_clock = 1, fail_at = 51"))
            .tracer("b", "")
    };
    let all = run(&rig("stop", 1), &["--repeat", "3"]).exits(1);
    assert_eq!(runs(&all), 1);
    assert!(all.stderr.contains("no further run of 3, since run 1 has failed"), "{}", all.stderr);
    // After an error fmi3Reset makes the instance as new; Terminate is not called.
    for kind in [1, 2] {
        let all = run(&rig("continue", kind), &["--repeat", "3"]).exits(1);
        assert_eq!(runs(&all), 3);
        for number in 1..=3 {
            problem(&all, number, &["fmu `a`: fmi3ActivateModelPartition returned", "clock fast at 0.05 s"]);
            assert_eq!(report(&all, number)["fmus"][1]["status"], "terminated");
        }
        let trace = all.trace("a");
        let count = |what| trace.count(what, "begin");
        assert_eq!((count("reset"), count("terminate"), count("free"), trace.violations()), (2, 0, 1, 0));
    }
    // After fmi3Fatal nothing may be called on it.
    let all = run(&rig("continue", 3), &["--repeat", "3"]).exits(1);
    assert_eq!((runs(&all), report(&all, 1)["fmus"][0]["status"].as_str()), (1, Some("fatal")));
}

#[test]
fn a_reset_that_fails_fails_the_run_that_it_begins() {
    for (kind, status) in [(1, "fmi3Error"), (3, "fmi3Fatal")] {
        let rig = two(&format!("fail_kind = {kind}, fail_function = 13"));
        let all = run(&rig, &["--repeat", "3"]).exits(1);
        assert_eq!(runs(&all), 2);
        assert_eq!(report(&all, 1)["verdict"], "pass");
        problem(&all, 2, &["fmu `a`: fmi3Reset returned", status]);
    }
}

#[test]
fn the_exit_code_is_that_of_the_worst_run() {
    let keys = "clock.fast = { max_overruns = 0, max_latency_us = 1 }";
    shared_core(|| {
        let rig = Rig::new("stop_time = 0.05").tracer_with("a", "", keys);
        let all = run(&rig, &["--repeat", "2"]).exits(3);
        assert_eq!(runs(&all), 2, "a limit ends no sequence");
    });
}

#[test]
fn a_crash_in_a_later_run_leaves_the_reports_of_all() {
    let folder = crate::program::tempdir().unwrap();
    let changes = [(
        "    if (status < fmi3Discard) restart(fmu);\n    return",
        "    if (status < fmi3Discard) restart(fmu);\n    static int resets;\n    if (++resets == 2) *(volatile int *)NULL = 0;\n    return",
    )];
    let path = changed_tracer(folder.path(), "fmu.c", &changes);
    let rig = Rig::new("mode = 'virtual'\nstop_time = 0.1").fmu("a", path, "", "");
    let all = run(&rig, &["--repeat", "4"]).exits(1);
    assert_eq!(runs(&all), 3);
    assert_eq!(
        (report(&all, 2)["verdict"].as_str(), report(&all, 3)["verdict"].as_str()),
        (Some("pass"), Some("fail"))
    );
    problem(&all, 3, &["fmu `a` crashed", "in fmi3Reset"]);
}

#[test]
fn a_signal_ends_the_sequence() {
    shared_core(|| {
        let rig = two("");
        let mut command = rig.command();
        command.args(["--mode", "realtime", "--repeat", "1000"]);
        let child = rig.start(command);
        wait_until("the second run begins", || rig.out().join("run-2/signals.csv").exists());
        send(child.id() as i32, Signal::SIGINT);
        let all = rig.finish(child).exits(0);
        let runs = runs(&all);
        assert!((2..20).contains(&runs), "{runs}");
        assert_eq!(report(&all, 1)["end"], "stop_time");
        assert_eq!(all.trace("a").violations(), 0);
    });
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let rig = two("");
    let file = state(&rig, "state");
    for option in ["--save-state", "--restore-state"] {
        let outcome = run(&rig, &["--repeat", "2", option, text(&file)]).exits(2);
        assert!(outcome.stderr.contains("cannot be used with"), "{}", outcome.stderr);
    }
    for count in ["0", "many"] {
        let outcome = run(&rig, &["--repeat", count]).exits(2);
        assert!(outcome.stderr.contains("--repeat"), "{}", outcome.stderr);
    }
    assert!(left(&rig).is_empty(), "{:?}", left(&rig));
}

#[test]
fn of_fewer_runs_than_before_no_older_one_is_left_and_files_of_others_stay() {
    let rig = two("").more("[report]\nkeep_runs = 0");
    let all = run(&rig, &["--stop-time", "0.02", "--repeat", "4"]).exits(0);
    assert_eq!(runs(&all), 4);
    std::fs::write(all.out.join("run-4/notes.txt"), "mine").unwrap();
    let all = run(&rig, &["--stop-time", "0.02", "--repeat", "2"]).exits(0);
    assert_eq!(runs(&all), 2);
    let mut names: Vec<_> = std::fs::read_dir(&all.out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["run-1", "run-2", "run-4"]);
    let left: Vec<_> = std::fs::read_dir(all.out.join("run-4")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["notes.txt"]);
}

#[test]
fn a_folder_of_several_runs_belongs_to_one_command() {
    let rig = two("");
    std::fs::create_dir(rig.out()).unwrap();
    // As another command holds it that is at its second run.
    let folder = std::fs::File::open(rig.out()).unwrap();
    rustix::fs::flock(&folder, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let refused = run(&rig, &["--repeat", "2"]).exits(2);
    assert!(refused.stderr.contains(rig.out().to_str().unwrap()), "{}", refused.stderr);
    assert_eq!(std::fs::read_dir(rig.out()).unwrap().count(), 0, "nothing is left behind");
}

/// Files below a folder, sorted, without those of histograms.
fn files(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(path) = folders.pop() {
        for entry in std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() && !entry.is_symlink() {
                folders.push(entry.clone());
            }
            let name = entry.strip_prefix(folder).unwrap().display().to_string();
            all.extend((!name.ends_with(".hgrm")).then_some(name));
        }
    }
    all.sort();
    all
}

const OF_A_RUN: [&str; 6] = ["histograms.hlog", "junit.xml", "report.html", "report.json", "run.log", "signals.csv"];

#[test]
fn one_run_and_several_leave_nothing_of_each_other_in_their_folder() {
    let rig = two("").more("[report]\nkeep_runs = 0");
    let single: Vec<String> = OF_A_RUN.map(str::to_owned).to_vec();
    let several = |n: u32| {
        let folder = |i| OF_A_RUN.map(|name| format!("run-{i}/{name}")).into_iter().chain([format!("run-{i}")]);
        let mut all: Vec<String> = (1..=n).flat_map(folder).collect();
        all.sort();
        all
    };
    let note = |what: &str, run: &Outcome| {
        let words = format!("note: what an earlier command has left in {}{what} is removed\n", run.out.display());
        assert!(run.stderr.contains(&words), "no {words}: {}", run.stderr);
    };
    let run_ = |arguments: &[&str]| run(&rig, arguments).exits(0);
    let first = run_(&["--repeat", "3"]);
    assert_eq!(files(&first.out), several(3));
    assert!(!first.stderr.contains("earlier"), "{}", first.stderr);
    let next = run_(&[]);
    assert_eq!(files(&next.out), single);
    assert!(next.stderr.contains(" and 2 more folders is removed"), "{}", next.stderr);
    let next = run_(&["--repeat", "2"]);
    note("", &next);
    assert_eq!(files(&next.out), several(2));
    let next = run_(&["--repeat", "1"]);
    note("/run-2", &next);
    assert_eq!(files(&next.out), several(1));
}

#[test]
fn what_others_have_put_there_stays() {
    let rig = two("");
    let out = run(&rig, &["--repeat", "3"]).exits(0).out;
    let elsewhere = rig.folder().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::rename(out.join("run-3"), elsewhere.join("run")).unwrap();
    let theirs =
        ["mine", "run-1/mine", "run-2/signals.csv.bak", "run-4/report.json", "run-4/run.log", "run-05/report.json"];
    for name in theirs {
        std::fs::create_dir_all(out.join(name).parent().unwrap()).unwrap();
        std::fs::write(out.join(name), "{}").unwrap();
    }
    std::os::unix::fs::symlink(elsewhere.join("run"), out.join("run-7")).unwrap();
    // A single run that somebody has sent to a folder of such a name is a result like any other.
    run(&rig, &[]).exits(0);
    let single_run = out.join("run-9");
    std::fs::create_dir(&single_run).unwrap();
    for name in OF_A_RUN {
        std::fs::rename(out.join(name), single_run.join(name)).unwrap();
    }
    let kept = files(&elsewhere);
    for arguments in [&[][..], &["--repeat", "1"], &[]] {
        run(&rig, arguments).exits(0);
        assert!(theirs.into_iter().all(|name| std::fs::read_to_string(out.join(name)).unwrap() == "{}"));
        assert!(out.join("run-7").is_symlink());
        assert_eq!((files(&elsewhere), files(&single_run)), (kept.clone(), OF_A_RUN.map(str::to_owned).to_vec()));
        let single = arguments.is_empty();
        assert_eq!((out.join("report.json").exists(), out.join("run-1/report.json").exists()), (single, !single));
        assert!(!out.join("run-2/report.json").exists());
    }
}

#[test]
fn a_further_run_that_has_no_folder_is_a_failure_and_nothing_more_is_said() {
    let rig = two("");
    std::fs::create_dir(rig.out()).unwrap();
    std::fs::write(rig.out().join("run-2"), "mine").unwrap();
    let all = run(&rig, &["--repeat", "3"]).exits(1);
    assert_eq!(runs(&all), 1);
    problem(&all, 1, &["there is no further run", "run-2", "the output folder cannot be used"]);
    assert!(!all.stderr.contains("run.log"), "{}", all.stderr);
    assert_eq!(all.file("run-2"), "mine");
}
