//! What becomes of the trace when the run does not end as it should, or there is more of it than there is room for.

use crate::program::{Rig, send, shared_core, wait_until};
use crate::trace::json::TraceFile;
use nix::sys::signal::Signal::SIGKILL;

#[test]
fn a_killed_run_leaves_a_trace_that_lacks_only_its_last_bracket() {
    shared_core(|| {
        let rig = Rig::new("").tracer("a", "").more("[trace]\nmode = 'all'");
        let child = rig.start(rig.command());
        let file = rig.out().join("trace.json");
        wait_until("there is a trace", || std::fs::metadata(&file).is_ok_and(|meta| meta.len() > 100_000));
        send(child.id() as i32, SIGKILL);
        let _killed = rig.finish(child);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.trim_end().ends_with(']'), "it was not finished");
        // As the format allows, and its readers do.
        let file = TraceFile::parse(&format!("{text}]"));
        assert!(file.of_clock("a", "fast").len() > 50);
        file.assert_nested();
    });
}

#[test]
fn an_activation_that_crashes_is_in_the_trace() {
    shared_core(|| {
        let run = Rig::new("stop_time = 1").tracer("a", "fail_kind = 5, fail_clock = 4, fail_at = 11").run().exits(1);
        let file = TraceFile::of(&run, "trace.json");
        let slow = file.of_clock("a", "slow");
        assert_eq!((slow.len(), slow[10].time()), (11, 0.1));
        assert_eq!(slow.iter().filter(|slice| slice.args["unfinished"] == true).count(), 1);
        assert_eq!(slow[10].args["unfinished"], true);
    });
}

#[test]
fn what_finds_its_ring_full_is_counted() {
    shared_core(|| {
        // A hundred thousand locks in one activation of `slow`, whose ring has room for some thousand.
        let run = Rig::new("stop_time = 0.03\noverrun = 'queue'")
            .tracer("a", "cost_rounds = 20000")
            .more("[trace]\nmode = 'all'")
            .run()
            .exits(0);
        let dropped = run.report()["trace"]["dropped"].as_u64().unwrap();
        assert!(dropped > 50_000, "{dropped}");
        run.problem(&["the trace lacks", "events"]);
        TraceFile::of(&run, "trace.json").assert_nested();
    });
}

#[test]
fn of_a_trace_that_gets_too_large_the_newest_part_is_kept() {
    let run = Rig::new("mode = 'virtual'\nstop_time = 5")
        .tracer("a", "trace_capacity = 2000")
        .more("[trace]\nmode = 'all'\nlimit_mib = 1")
        .run()
        .exits(0);
    run.problem(&["the trace lacks the first", "limit_mib", "1 MiB"]);
    let names = ["trace-earlier.json", "trace.json"];
    let size: usize = names.map(|name| run.file(name).len()).iter().sum();
    assert!((1 << 19..5 << 18).contains(&size), "{size}");
    // Both are whole, and the one goes on where the other ends.
    let times = names.map(|name| {
        let file = TraceFile::of(&run, name);
        file.assert_nested();
        file.of_clock("a", "fast").iter().map(|slice| slice.time()).collect::<Vec<_>>()
    });
    let all = times.concat();
    let first = 5000 - all.len();
    assert!(first > 1000 && all.iter().copied().eq((first..5000).map(|ms| ms as f64 / 1e3)), "{first}");
    assert_eq!(run.report()["verdict"], "pass");
    let files = run.report()["trace"]["files"].clone();
    assert_eq!(files[1]["why"], serde_json::json!(["the newest part of the run"]));
    assert_eq!(files[0]["name"], "trace-earlier.json");
    let page = run.file("report.html");
    assert!(page.contains("<a href=\"trace-earlier.json\">"));
}

/// A file that others have taken away costs itself alone: what comes after it is there, and nothing else is said to be missing.
#[test]
fn a_trace_that_was_taken_away_before_it_is_begun_anew_is_the_only_one_that_is_missed() {
    shared_core(|| {
        // Six of them, so that there is enough of it within a second to begin it anew.
        let rig =
            ["a", "b", "c", "d", "e", "f"].into_iter().fold(Rig::new("stop_time = 1"), |rig, fmu| rig.tracer(fmu, ""));
        let rig = rig.more("[trace]\nmode = 'all'\nlimit_mib = 1");
        let child = rig.start(rig.command());
        let file = rig.out().join("trace.json");
        wait_until("there is a trace", || std::fs::metadata(&file).is_ok_and(|file| file.len() > 1000));
        std::fs::remove_file(&file).unwrap();
        let run = rig.finish(child).exits(1);
        run.problem(&["trace.json was removed while the run went on"]);
        assert!(
            !run.problems().iter().any(|problem| problem.starts_with("trace-earlier.json")),
            "{:?}",
            run.problems()
        );
        let files = run.report()["trace"]["files"].as_array().unwrap().clone();
        assert_eq!(files.last().unwrap()["why"], serde_json::json!(["the newest part of the run"]));
        let names: Vec<&str> = files.iter().map(|file| file["name"].as_str().unwrap()).collect();
        assert_eq!(names.last(), Some(&"trace.json"));
        // Those that the report names are there, and those that are there it names.
        assert_eq!(names.contains(&"trace-earlier.json"), run.out.join("trace-earlier.json").exists());
        names.iter().for_each(|name| TraceFile::of(&run, name).assert_nested());
    });
}

#[test]
fn nothing_is_traced_where_the_rig_says_so() {
    shared_core(|| {
        let run = Rig::new("stop_time = 0.05").tracer("a", "").more("[trace]\nmode = 'off'").run().exits(0);
        assert!(!run.out.join("trace.json").exists());
        assert!(!run.file("report.html").contains("Who ran when"));
    });
}

#[test]
fn each_of_several_runs_has_its_own_trace() {
    let rig = Rig::new("mode = 'virtual'\nstop_time = 0.1").tracer("a", "").more("[trace]\nmode = 'all'");
    let run = rig.run_with(&["--repeat", "2"]).exits(0);
    let [first, second] = ["run-1/trace.json", "run-2/trace.json"].map(|name| run.file(name));
    assert_eq!(TraceFile::parse(&first).of_clock("a", "fast").len(), 100);
    assert_eq!(first, second, "to the byte, in virtual time");
}
