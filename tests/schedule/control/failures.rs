//! An FMU that refuses what it is given: S13, and the sender hears of it.

use super::bench::{Bench, SOON, at};
use super::program::shared_core;
use std::sync::mpsc::channel;
use vecud::fmu::description::Values;
use vecud::supervisor::{ControlError, Ticket};

fn trap(kind: i32) -> Values {
    Values::Int32(vec![kind])
}

fn failed(ticket: &Ticket) -> String {
    match ticket.wait(SOON) {
        Err(error @ ControlError::Failed { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_set_that_the_fmu_refuses_ends_the_instance_and_what_waits_is_told() {
    for (kind, status) in [(2, "fmi3Discard"), (3, "fmi3Error"), (4, "fmi3Fatal")] {
        let (tell, told) = channel();
        let left = Bench::new("", "").until(0.02).run(move |control| {
            let gain = ("gain", Values::Float64(vec![2.0]));
            let ticket = control.set_together("x", &[("trap", trap(kind))], at(0.0042)).unwrap();
            let later = control.set_together("x", &[gain], at(0.006)).unwrap();
            tell.send((control.clone(), ticket, later)).unwrap();
        });
        let (control, ticket, later) = told.recv().unwrap();
        assert_eq!(failed(&ticket), format!("fmu `x`: fmi3SetInt32 returned {status} at 0.005 s"));
        assert!(matches!(later.wait(SOON), Err(ControlError::RunEnded | ControlError::InstanceFailed(_))));
        assert!(control.set("x", "gain", Values::Float64(vec![1.0])).is_err());
        let problem = &left.run.run.problems[0].message();
        let all = ["fmi3SetInt32", status, "0.005", "fast"].iter().all(|word| problem.contains(word));
        assert!(all && left.run.exit_code() == 1, "{problem}");
        // The activation that it was meant for did not take place.
        assert_eq!(left.last("time"), "0.004");
    }
}

#[test]
fn a_warning_is_what_the_rig_makes_of_it() {
    let (tell, told) = channel();
    let left = Bench::new("", "").until(0.01).run(move |control| {
        tell.send(control.set("x", "trap", trap(1)).unwrap()).unwrap();
    });
    assert_eq!(told.recv().unwrap().wait(SOON).unwrap().time.seconds(), 0.0);
    left.passed();
    let (tell, told) = channel();
    let left = Bench::new("on_warning = 'error'", "").until(0.01).run(move |control| {
        tell.send(control.set("x", "trap", trap(1)).unwrap()).unwrap();
    });
    assert!(failed(&told.recv().unwrap()).contains("fmi3Warning"));
    assert_eq!(left.run.exit_code(), 1);
}

#[test]
fn a_refused_reconfiguration_ends_the_instance() {
    for (kind, status) in [(2, "fmi3Discard"), (3, "fmi3Error")] {
        let (tell, told) = channel();
        let left = Bench::new("", "").until(0.02).run(move |control| {
            control.set("x", "trap_enter", trap(kind)).unwrap();
            tell.send(control.reconfigure("x", &[("n", Values::UInt64(vec![1]))], at(0.0071)).unwrap()).unwrap();
        });
        let words = failed(&told.recv().unwrap());
        assert_eq!(words, format!("fmu `x`: fmi3EnterConfigurationMode returned {status} at 0.008 s"));
        let problem = &left.run.run.problems[0].message();
        let all = ["fmi3EnterConfigurationMode", status, "0.008"].iter().all(|word| problem.contains(word));
        assert!(all && left.run.exit_code() == 1, "{problem}");
        assert_eq!(left.last("time"), "0.007");
    }
}

#[test]
fn an_fmu_that_hangs_or_crashes_while_it_is_reconfigured_is_named() {
    shared_core(|| {
        for (kind, words) in
            [(5, ["hangs", "fmi3EnterConfigurationMode"]), (6, ["SIGABRT", "fmi3EnterConfigurationMode"])]
        {
            let bench = Bench::new("", "[rig]\nshutdown_timeout = 0.3").in_real_time().until(0.3);
            let left = bench.run(move |control| {
                control.set("x", "trap_enter", trap(kind)).unwrap();
                control.reconfigure("x", &[("n", Values::UInt64(vec![1]))], at(0.05)).unwrap();
            });
            let problem = &left.run.run.problems[0].message();
            assert!(words.iter().all(|word| problem.contains(word)) && left.run.exit_code() == 1, "{problem}");
        }
    });
}
