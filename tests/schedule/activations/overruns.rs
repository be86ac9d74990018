//! What happens to releases that find their clock busy (semantics S12), as the rig says: `skip`, `queue` or `stop`.

use crate::program::clock::{FAST, LOW};
use crate::program::{Outcome, Rig, shared_core};
use std::path::Path;

/// `fast` (1 ms) sleeps for `sleep_us` in its 50th, 100th, ... activation.
fn sleeper(rig: &str, sleep_us: u32, keys: &str) -> Rig {
    let start = format!("fast_sleep_every = 50, fast_sleep_us = {sleep_us}");
    Rig::new(&format!("stop_time = 0.2\n{rig}")).tracer_with("a", &start, keys)
}

fn milliseconds(run: &Outcome) -> Vec<u64> {
    let times = run.trace("a").activations(FAST);
    assert!(times.iter().all(|time| *time == (time * 1000.0).round() / 1000.0), "off the grid: {times:?}");
    times.iter().map(|time| (time * 1000.0).round() as u64).collect()
}

#[test]
fn queued_releases_run_later_at_their_own_times() {
    shared_core(|| {
        let run = sleeper("overrun = 'queue'", 8_000, "").run().exits(0);
        assert_eq!(milliseconds(&run), (0..200).collect::<Vec<_>>(), "nothing is left out");
        for never in ["skipped", "discarded"] {
            assert_eq!(run.count("a", "fast", never), 0, "{never}");
        }
        // What waited is an overrun, too: three sleeps of 8 ms hold up seven releases each, and more until it has caught up.
        assert!(run.count("a", "fast", "overruns") >= 3 * 7, "{}", run.clock("a", "fast"));
        // Their latency counts from when they should have run.
        let late = run.clock("a", "fast")["start_latency"]["max"].as_u64().unwrap();
        assert!(late >= 6_500_000, "{late}");
        assert_eq!(run.clock("a", "fast")["start_latency"]["count"], 200);
    });
}

#[test]
fn sixteen_releases_are_queued_and_no_more() {
    shared_core(|| {
        let run = sleeper("", 40_000, "clock.fast = { overrun = 'queue' }").run().exits(0);
        let (activations, skipped) = (run.count("a", "fast", "activations"), run.count("a", "fast", "skipped"));
        assert_eq!(activations + skipped, 200, "{}", run.clock("a", "fast"));
        assert!(run.count("a", "fast", "overruns") >= skipped + 2 * 16, "{}", run.clock("a", "fast"));
        assert!(skipped >= 20, "{skipped}");
        let times = milliseconds(&run);
        // The 50th is that of 49 ms: the 16 after it wait, then there is a gap.
        assert_eq!(times[..66], (0..66).collect::<Vec<_>>());
        assert!(times[66] >= 49 + 40, "{}", times[66]);
        // No coordinated omission.
        for metric in ["wakeup_latency", "start_latency", "response"] {
            assert_eq!(run.clock("a", "fast")[metric]["count"], 200, "{metric}");
        }
        run.problem(&["clock a.fast", "overruns"]);
    });
}

#[test]
fn the_first_overrun_stops_the_run_in_an_orderly_way() {
    shared_core(|| {
        let run = sleeper("overrun = 'stop'", 5_000, "").tracer("b", "").run().exits(3);
        let report = run.report();
        assert_eq!((report["end"].as_str(), report["verdict"].as_str()), (Some("overrun"), Some("fail")));
        // Which of them is the first depends on whether the sleeper delays the others.
        let problem = run.problem(&["ends the run (rig: overrun = \"stop\")", " was ", " late, which"]);
        let late = problem.split(" was ").last().and_then(|words| words.split_once(" late, which")).unwrap().0;
        let (number, unit) = late.split_once(' ').unwrap();
        assert!(number.parse::<f64>().unwrap() > 0.0 && ["ns", "µs", "ms"].contains(&unit), "{problem}");
        if problem.contains("clock a.fast") {
            assert!(
                problem.contains("what was due at 0.05 s found the activation before it still running"),
                "{problem}"
            );
        }
        let end = report["end_time"].as_f64().unwrap();
        assert!((0.04..0.15).contains(&end), "{end}");
        for fmu in ["a", "b"] {
            assert_eq!(run.status(fmu), "terminated");
            assert_eq!((run.trace(fmu).count("terminate", "end"), run.trace(fmu).violations()), (1, 0));
        }
        let times = milliseconds(&run);
        assert!(times.len() == 50 && run.count("a", "fast", "activations") == 50, "{times:?}");
    });
}

#[test]
fn only_clocks_whose_rig_says_stop_end_the_run() {
    shared_core(|| {
        // Only slow, which has time, would end it; of the others some are late.
        let run = sleeper("", 5_000, "clock.slow = { overrun = 'stop' }").run().exits(0);
        assert!(run.count("a", "fast", "overruns") > 0);
        assert_eq!(run.report()["end"], "stop_time");
    });
}

#[test]
fn in_virtual_time_nothing_overruns() {
    for policy in ["skip", "queue", "stop"] {
        let run = sleeper(&format!("overrun = '{policy}'"), 2_000, "").run_virtual().exits(0);
        assert_eq!(milliseconds(&run).len(), 200);
        assert_eq!(run.count("a", "fast", "overruns"), 0);
    }
}

/// Ticks are queued whatever the rig says; with `stop` the first that finds the queue full ends the run.
#[test]
fn a_full_queue_of_ticks_stops_the_run() {
    shared_core(|| {
        let rig = |policy: &str| {
            Rig::new("stop_time = 0.3\nshutdown_timeout = 5")
                .tracer("a", "fast_tick_low_every = 1, equal_a_tick_low_every = 0")
                .tracer_with(
                    "b",
                    "low_burn_us = 25000, equal_a_tick_low_every = 0",
                    &format!("clock.low = {{ overrun = '{policy}' }}"),
                )
                .trigger("a.out_low", "b.low")
        };
        let run = rig("stop").run().exits(3);
        run.problem(&["clock b.low", "found 16 ticks waiting", "overrun = \"stop\""]);
        assert_eq!((run.count("b", "low", "overruns"), run.status("b").as_str()), (1, "terminated"));
        let late = run.trace("b").activations(LOW).len();
        assert!(late < 6, "{late} of 25 ms each");
        let run = rig("queue").run().exits(0);
        assert!(run.count("b", "low", "overruns") > 1, "{}", run.clock("b", "low"));
    });
}

/// Of a changing clock only the next release is known, and nothing can be left out without losing all that follow.
#[test]
fn the_release_of_a_changing_clock_is_late_and_never_left_out() {
    shared_core(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/clock_kinds");
        let rig = |policy: &str| {
            let start = "changing_interval = 0.005, changing_burn_us = 7000, changing_burn_from = 10";
            let keys = format!("clock.changing = {{ overrun = '{policy}' }}");
            Rig::new("stop_time = 0.15\nshutdown_timeout = 5").fmu("k", path.clone(), start, &keys)
        };
        let expected: Vec<f64> = (1..30).map(|k| f64::from(k * 5) / 1000.0).collect();
        for policy in ["skip", "queue"] {
            let run = rig(policy).run().exits(0);
            assert_eq!(run.trace("k").activations(7), expected, "{policy}");
            let (overruns, skipped) = (run.count("k", "changing", "overruns"), run.count("k", "changing", "skipped"));
            assert!(skipped == 0 && overruns >= 19, "{policy}: {overruns}");
            assert_eq!(run.trace("k").violations(), 0);
        }
        let run = rig("stop").run().exits(3);
        run.problem(&["clock k.changing", "what was due at 0.055 s found the activation before it still running"]);
        assert_eq!(run.trace("k").activations(7), expected[..10]);
    });
}
