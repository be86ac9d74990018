//! The flight recorder: the last seconds, and what was around an incident.

use crate::program::{Outcome, Rig, own_core};
use crate::trace::json::TraceFile;

fn files(run: &Outcome) -> Vec<(String, Vec<String>)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let report = run.report();
    let files = report["trace"]["files"].as_array().unwrap().iter();
    files.map(|file| (text(&file["name"]), file["why"].as_array().unwrap().iter().map(text).collect())).collect()
}

/// `fast` (1 ms) sleeps for 6 ms in its 400th activation, that of 0.399 s, and only there.
fn late_sleeper(rig: &str, keys: &str) -> Rig {
    let start = "fast_sleep_every = 400, fast_sleep_us = 6000";
    Rig::new(&format!("stop_time = 0.79\n{rig}")).tracer_with("a", start, keys).more("[trace]\nseconds = 0.1")
}

#[test]
fn an_overrun_is_written_with_what_was_before_and_after_it() {
    own_core(|| {
        let run = late_sleeper("", "").run().exits(0);
        let files = files(&run);
        // A machine that stops brings incidents of its own, before and after it.
        let is_it = |why: &String| why.starts_with("overrun of a.fast at 0.4");
        let (name, why) = files.iter().find(|(_, why)| why.iter().any(is_it)).expect("a file that names it");
        assert_eq!(files[0].0, "trace.json");
        assert_eq!(files.last().unwrap().1, ["the end of the run"]);
        let file = TraceFile::of(&run, name);
        file.assert_nested();
        let culprit = file.of_clock("a", "fast").into_iter().find(|slice| slice.time() == 0.399).expect("the culprit");
        assert!(culprit.to - culprit.from >= 6000.0, "{culprit:?}");
        let (at, said) = &file.remarks[0];
        // The mark has what happened; the report also what the file is kept for.
        let happened: Vec<&str> = why.iter().map(String::as_str).filter(|why| !why.starts_with("kept as ")).collect();
        assert!(*at < 0.41e6 && *said == happened.join("; "), "{at} {said}");
        assert!(file.instants.iter().any(|instant| instant.name == "skipped" && instant.clock == "fast"));
        // A tenth of a second before it and a quarter of that after it; the supervisor looks every 20 ms.
        let (first, last) = (file.slices[0].from, file.slices.last().unwrap().from);
        assert!((at - 0.13e6..at - 0.08e6).contains(&first), "{first}");
        assert!(last >= at + 0.02e6, "{last}");
    });
}

#[test]
fn the_end_of_a_run_has_its_last_seconds_and_no_more() {
    own_core(|| {
        let run = Rig::new("stop_time = 0.5\noverrun = 'queue'")
            .tracer("a", "")
            .more("[trace]\nseconds = 0.1")
            .run()
            .exits(0);
        assert_eq!(files(&run), [("trace.json".to_owned(), vec!["the end of the run".to_owned()])]);
        let file = TraceFile::of(&run, "trace.json");
        let first = file.slices[0].from;
        assert!((0.38e6..0.41e6).contains(&first), "{first}");
        let (fast, last) = (file.of_clock("a", "fast"), run.trace("a").activations(1));
        assert_eq!(fast.last().unwrap().time(), *last.last().unwrap(), "up to the last one");
        assert!((90..130).contains(&fast.len()), "{}", fast.len());
    });
}

#[test]
fn exceeded_limits_are_incidents() {
    own_core(|| {
        let run = late_sleeper("overrun = 'queue'", "clock.equal_a = { max_latency_us = 4500 }").run().exits(3);
        let why = files(&run)[0].1.join("; ");
        assert!(why.contains("start latency of a.equal_a"), "{why}");
        assert!(run.file("report.html").contains("Around an incident: "));
    });
}

#[test]
fn of_what_is_too_large_the_last_is_kept() {
    let run = Rig::new("mode = 'virtual'\nstop_time = 5")
        .tracer("a", "trace_capacity = 2000")
        .more("[trace]\nmode = 'flight'\nseconds = 4\nlimit_mib = 1")
        .run()
        .exits(0);
    run.problem(&["trace.json", "reaches back", "instead of 4 s", "limit_mib", "1 MiB"]);
    let size = run.file("trace.json").len();
    assert!((3 << 18..=1 << 20).contains(&size), "{size}");
    let file = TraceFile::of(&run, "trace.json");
    let fast = file.of_clock("a", "fast");
    assert_eq!(fast.last().unwrap().time(), 4.999, "up to the end of the run");
    assert!(fast[0].time() > 1.1, "{}", fast[0].time());
}

/// What each file says that it is kept for.
fn kept_for(files: &[(String, Vec<String>)]) -> Vec<Vec<&str>> {
    files.iter().map(|(_, why)| why.iter().filter_map(|why| why.strip_prefix("kept as ")).collect()).collect()
}

#[test]
fn of_many_incidents_the_first_the_worst_and_the_last_have_files() {
    own_core(|| {
        // Of each 20 ms 6 are slept away, and a file takes 2.5 ms after an incident and what the supervisor needs to look.
        let run = Rig::new("stop_time = 1")
            .tracer("a", "fast_sleep_every = 20, fast_sleep_us = 6000")
            .more("[trace]\nmode = 'flight'\nseconds = 0.01\nworst = 1")
            .run()
            .exits(0);
        let files = files(&run);
        let kept = kept_for(&files);
        assert_eq!((files[0].0.as_str(), kept[0].contains(&"the first")), ("trace.json", true), "{files:?}");
        let worst = kept.iter().flatten().filter(|why| why.starts_with("the worst of a.fast, response ")).count();
        assert_eq!(worst, 1, "{files:?}");
        assert!(kept.iter().flatten().all(|why| !why.starts_with("the 2nd")));
        let (_, end) = files.last().unwrap();
        let [.., more] = &end[..] else { panic!("{files:?}") };
        assert!(more.contains("no file of their own, the first at "), "{files:?}");
        // What is told is there, and nothing else.
        let there = std::fs::read_dir(&run.out).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut there: Vec<String> = there.filter(|name| name.starts_with("trace")).collect();
        let mut told: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
        there.sort();
        told.sort();
        assert_eq!(there, told);
        for (name, why) in &files {
            let file = TraceFile::of(&run, name);
            file.assert_nested();
            let of_the_end = why[0] == "the end of the run";
            assert!(of_the_end || file.remarks[0].1.starts_with(&why[0]), "{name}: {:?}", file.remarks);
        }
    });
}

#[test]
fn what_is_worse_later_is_kept() {
    own_core(|| {
        // A clock that sleeps 3 ms in each 50th activation, and another one that sleeps 30 ms once, at 0.7 s.
        let run = Rig::new("stop_time = 1")
            .tracer("a", "fast_sleep_every = 50, fast_sleep_us = 3000")
            .tracer("b", "fast_sleep_every = 700, fast_sleep_us = 30000")
            .more("[trace]\nmode = 'flight'\nseconds = 0.02\nworst = 1")
            .run()
            .exits(0);
        let files = files(&run);
        let is_it = |why: &&str| why.starts_with("the worst of b.fast, response ");
        let kept = kept_for(&files);
        let (place, why) = kept
            .iter()
            .enumerate()
            .find_map(|(place, why)| Some((place, *why.iter().find(|why| is_it(why))?)))
            .expect("the worst of b.fast");
        let response: f64 = why.split("response ").nth(1).unwrap().trim_end_matches(" µs").parse().unwrap();
        assert!(response >= 29_000.0, "{files:?}");
        let file = TraceFile::of(&run, &files[place].0);
        assert!(file.of_clock("b", "fast").iter().any(|slice| slice.time() == 0.699), "{files:?}");
    });
}
