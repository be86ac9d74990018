//! The same judge over exchanges that are known to be wrong, which builds with debug assertions have.

use super::program::{Rig, real_time, real_time_on_own_core};
use super::rigs::{mixed, twenty};
use super::{Judgement, judge, run};
use std::path::Path;

fn is_noticed(wrong: &str) {
    let (rig, environment) = (twenty(1), [("VECUD_WRONG_EXCHANGE", wrong)]);
    let expected = run(&rig, "virtual", &environment).file("signals.csv");
    real_time_on_own_core("a wrong exchange", || match judge(&rig, &expected, &environment) {
        Judgement::Different(how) => println!("{wrong}: {how}"),
        Judgement::Same(_) => panic!("{wrong} was not noticed"),
        Judgement::Late(promise) => panic!("something was too late in every trial: {promise}"),
    });
}

#[test]
fn an_exchange_that_gives_the_latest_value_is_noticed() {
    is_noticed("latest");
}

#[test]
fn an_exchange_that_is_a_double_buffer_is_noticed() {
    is_noticed("double");
}

/// The run itself tells that a value was not there when it was to be seen.
#[test]
fn a_step_that_shows_at_its_begin_what_it_computes_is_noticed() {
    real_time("steps that show too early", || {
        let rig = mixed(1, |number| number % 4 < 2);
        let mut command = rig.command();
        command.args(["--mode", "realtime", "--stop-time", "1"]).env("VECUD_WRONG_STEP", "early");
        let promise = rig.finish(rig.start(command)).exits(0).report()["promise"].clone();
        assert_eq!(promise["holds"], false);
        assert!(promise["broken_by"].as_str().is_some_and(|by| by.contains("was not there yet")), "{promise}");
    });
}

/// The FMU itself refuses a step that does not begin where the one before has ended.
#[test]
fn a_host_that_leaves_out_what_was_missed_is_noticed() {
    real_time_on_own_core("a host that leaves out steps", || {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/stepper");
        let start = "start = { fail_kind = 10, fail_at = 0.05 }";
        let rig = Rig::of_text(&format!(
            "[rig]\nstop_time = 0.2\n[fmu.s]\npath = '{}'\nstep = '1/200'\n{start}\n",
            path.display()
        ));
        let step = |wrong: &str| {
            let mut command = rig.command();
            command.args(["--mode", "realtime"]).env("VECUD_WRONG_STEP", wrong);
            rig.finish(rig.start(command))
        };
        step("").exits(0);
        step("hole").exits(1).problem(&["fmi3DoStep: a step of", "and the one before has ended at"]);
    });
}
