//! Keys of a rig that say how a run goes on or ends: `trigger_time`, and the limits of clocks. (`on_error` is in
//! tests/rigs/failures, `overrun` in tests/schedule/activations/overruns.rs.)

use crate::program::clock::{FAST, LOW};
use crate::program::{Outcome, Rig, own_core, shared_core};

/// Every 4th activation of a.fast (1 ms) triggers b.low.
fn triggered(rig: &str) -> Rig {
    Rig::new(&format!("stop_time = 0.2\n{rig}"))
        .tracer("a", "fast_tick_low_every = 4, equal_a_tick_low_every = 0")
        .tracer("b", "equal_a_tick_low_every = 0")
        .trigger("a.out_low", "b.low")
}

/// Times of the activations that tick, and of those that are ticked.
fn times(run: &Outcome) -> (Vec<f64>, Vec<f64>) {
    let fast = run.trace("a").activations(FAST);
    (fast.into_iter().skip(3).step_by(4).collect(), run.trace("b").activations(LOW))
}

#[test]
fn a_triggered_activation_has_the_time_of_its_source() {
    own_core(|| {
        for rig in ["", "trigger_time = 'source'"] {
            for run in [triggered(rig).run().exits(0), triggered(rig).run_virtual().exits(0)] {
                let (source, low) = times(&run);
                assert_eq!(low, source);
                assert!(low.len() > 20);
            }
        }
    });
}

#[test]
fn with_trigger_time_now_it_has_that_of_the_wall_clock() {
    own_core(|| {
        let run = triggered("trigger_time = 'now'").run().exits(0);
        let (source, low) = times(&run);
        assert!(low.len() > 20 && low.len() + 1 >= source.len(), "{} of {}", low.len(), source.len());
        assert!(low.iter().zip(&source).all(|(low, source)| low > source), "{low:?}");
        assert!(low.windows(2).all(|pair| pair[0] < pair[1]));
        // No wall clock is on the grid of milliseconds.
        let on_grid = low.iter().filter(|time| **time == (**time * 1000.0).round() / 1000.0).count();
        assert!(on_grid < 3, "{low:?}");
        // Virtual time has no wall clock: execution takes no time.
        let (source, low) = times(&triggered("trigger_time = 'now'").run_virtual().exits(0));
        assert_eq!(low, source);
    });
}

#[test]
fn limits_that_are_kept_say_nothing() {
    shared_core(|| {
        let limits = "clock.fast = { max_latency_us = 20000000, max_overruns = 1000000, max_execution_us = 20000000 }";
        let rig = || Rig::new("stop_time = 0.1").tracer_with("a", "", limits);
        for run in [rig().run().exits(0), rig().run_virtual().exits(0)] {
            assert_eq!(run.report()["verdict"], "pass");
            assert!(!run.problems().iter().any(|problem| problem.contains("max_")), "{:?}", run.problems());
        }
    });
}

#[test]
fn in_virtual_time_no_limit_is_exceeded() {
    let limits = "clock.fast = { max_latency_us = 0.001, max_overruns = 0, max_execution_us = 0.001 }";
    let run = Rig::new("stop_time = 0.1").tracer_with("a", "fast_burn_us = 2000", limits).run_virtual().exits(0);
    assert_eq!((run.report()["verdict"].as_str(), run.count("a", "fast", "overruns")), (Some("pass"), 0));
}
