//! What is too late is told: which clock, and from which time on the numbers may be others.

use super::program::{Rig, real_time_on_own_core};
use super::{difference, run};
use std::path::Path;

/// A producer of 20 ms that takes 30 ms each time, and a consumer on another core.
fn late() -> Rig {
    let mixer = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/mixer");
    let mixer = mixer.display();
    Rig::of_text(&format!(
        "[rig]\nstop_time = 0.5\n[record]\nsignals = ['*']\n\
         [fmu.slow]\npath = '{mixer}'\ncpu = 0\nstart = {{ burn_us = 30000 }}\nclock.step = {{ interval = '1/50' }}\n\
         [fmu.fast]\npath = '{mixer}'\ncpu = 1\nclock.step = {{ interval = '1/100' }}\n\
         [[connect]]\nfrom = 'slow.x'\nto = 'fast.a'\ntiming = 'delayed'\n"
    ))
}

#[test]
fn an_overrun_and_a_value_that_was_not_there_are_told_with_clock_and_time() {
    real_time_on_own_core("values that come too late", || {
        let rig = late();
        let expected = run(&rig, "virtual", &[]);
        assert_eq!(expected.report()["promise"]["holds"], true);
        assert_eq!(expected.problems(), Vec::<String>::new());
        let outcome = run(&rig, "realtime", &[]);
        let report = outcome.report();
        let promise = &report["promise"];
        assert_eq!((&promise["holds"], &promise["until_s"]), (&false.into(), &0.02.into()), "{promise}");
        assert_eq!(difference(&expected.file("signals.csv"), &outcome.file("signals.csv"), Some(0.02)), None);
        let connection = &report["connections"][0];
        assert_eq!((&connection["from"], &connection["timing"]), (&"slow.x".into(), &"delayed".into()));
        assert!(connection["missed"].as_u64().unwrap() >= 5, "{connection}");
        assert_eq!(connection["overwritten"], 0);
        outcome.problem(&[
            "slow.x → fast.a",
            "not there yet when clock fast.step was to see it",
            "of clock slow.step",
            "visible at 0.02 s",
        ]);
        outcome.problem(&["may differ from virtual time from 0.02 s on", "slow.step"]);
    });
}

#[test]
fn the_summary_of_a_run_without_delays_says_what_is_not_promised() {
    let rig =
        Rig::new("mode = 'virtual'\nstop_time = 0.1").tracer("a", "").tracer("b", "").connect("a.out_f64", "b.in_f64");
    let report = rig.run().exits(0).report();
    assert_eq!(
        (&report["connections"][0]["timing"], &report["connections"][0]["missed"]),
        (&"immediate".into(), &0.into())
    );
    let promise = &report["promise"];
    assert!(promise["covered"].as_u64() < promise["columns"].as_u64(), "{promise}");
}

/// An activation in whose midst another partition of the instance fails is never recorded, and in virtual time it is.
#[test]
fn a_failure_that_meets_another_partition_before_it_is_done_breaks_the_promise() {
    real_time_on_own_core("a failure in the midst of another partition", || {
        let start = "slow_burn_us = 5000, slow_tick_high_every = 0, slow_lock_every = 0, fast_lock_every = 0, \
                     fail_kind = 1, fail_clock = 1, fail_at = 23";
        let rig = Rig::new("stop_time = 0.05\non_error = 'continue'").tracer("a", start);
        let of = |mode: &str| {
            let mut command = rig.command();
            command.args(["--mode", mode]);
            rig.finish(rig.start(command))
        };
        let expected = of("virtual").file("signals.csv");
        let outcome = of("realtime");
        let promise = outcome.report()["promise"].clone();
        assert!(promise["covered"].as_u64() > Some(0), "{promise}");
        let recorded = outcome.file("signals.csv");
        assert!(difference(&expected, &recorded, None).is_some(), "{promise}");
        assert_eq!(promise["holds"], false, "{promise}");
        assert!(promise["until_s"].as_f64() <= Some(0.02), "{promise}");
        assert_eq!(difference(&expected, &recorded, promise["until_s"].as_f64()), None, "{promise}");
    });
}
