//! What cannot be set is refused before anything is sent, by name and with a reason: a wrong call would end the instance.

use super::bench::{Bench, at};
use std::sync::mpsc::channel;
use vecud::fmu::description::Values;
use vecud::supervisor::{Control, ControlError, Ticket};

/// A run with a second FMU, `y`, whose table of sizes feeds nobody and whose input `field` is fed by `x`.
fn refusals<T: Send + 'static>(ask: impl FnOnce(&Control) -> T + Send + 'static) -> T {
    let fmu = concat!(env!("CARGO_MANIFEST_DIR"), "/fmus/structural");
    let more =
        format!("[fmu.y]\npath = '{fmu}'\nstart = {{ rows = 4 }}\n[[connect]]\nfrom = 'x.values'\nto = 'y.field'\n");
    let (tell, told) = channel();
    let left = Bench::new("start = { n = 4 }", &more).until(0.01).run(move |control| tell.send(ask(control)).unwrap());
    // Nothing of it has reached an FMU.
    assert_eq!(left.passed().was_lawful().last("x.gain_seen"), "1.0");
    told.recv().unwrap()
}

fn words(result: Result<Ticket, ControlError>) -> String {
    result.err().expect("refused").to_string()
}

#[test]
fn only_tunable_parameters_and_inputs_without_a_source_can_be_set() {
    let words = refusals(|control| {
        let f64 = || Values::Float64(vec![2.0]);
        let set = |fmu: &str, name: &str, values| words(control.set(fmu, name, values));
        [
            set("zzzz", "gain", f64()),
            set("x", "gian", f64()),
            set("x", "fixed", f64()),
            set("x", "constant", f64()),
            set("x", "gain_seen", f64()),
            set("x", "fast", Values::Clock(vec![true])),
            set("x", "time", f64()),
            set("y", "field", Values::Float64(vec![0.0; 4])),
            set("x", "n", Values::UInt64(vec![3])),
            set("x", "rows", Values::UInt64(vec![3])),
        ]
    });
    assert_eq!(
        words,
        [
            "the rig has no FMU \"zzzz\"",
            "x.gian cannot be set: there is no such variable; did you mean \"gain\"?",
            "x.fixed cannot be set: it is fixed once the FMU is initialised; give it in the rig (start = { ... })",
            "x.constant cannot be set: it is a constant",
            "x.gain_seen cannot be set: it is an output",
            "x.fast cannot be set: it is a clock",
            "x.time cannot be set: it is the independent variable",
            "y.field cannot be set: it is connected: its source sets it",
            "x.n cannot be set: it is a structuralParameter: use reconfigure",
            "x.rows cannot be set: it is fixed once the FMU is initialised; give it in the rig (start = { ... })",
        ]
    );
}

#[test]
fn types_sizes_and_limits_are_checked() {
    let words = refusals(|control| {
        let set = |name: &str, values| words(control.set("x", name, values));
        [
            set("gain", Values::Float32(vec![2.0])),
            set("gain", Values::Float64(vec![])),
            set("gain", Values::Float64(vec![1000.5])),
            set("gain", Values::Float64(vec![f64::NAN])),
            set("table", Values::Float32(vec![0.0; 7])),
            set("label", Values::String(vec!["a\0b".into()])),
            set("label", Values::String(vec!["x".repeat(2000)])),
            set("blob", Values::Binary(vec![vec![0; 33]])),
        ]
    });
    assert_eq!(
        words,
        [
            "x.gain cannot be set: it is Float64, and the values are of another type",
            "x.gain cannot be set: it has 1 elements now, and the values have 0",
            "x.gain cannot be set: a value is 1000.5, above its max 1000",
            "x.gain cannot be set: a value is NaN, which is within no limits, and it has some",
            "x.table cannot be set: it has 4 elements now, and the values have 7",
            "x.label cannot be set: a string contains the character 0",
            "x.label cannot be set: a value has 2000 bytes, and 1024 are possible",
            "x.blob cannot be set: a value has 33 bytes, and 32 are possible",
        ]
    );
}

#[test]
fn what_cannot_be_done_together_is_refused() {
    let words = refusals(|control| {
        let one = || Values::UInt64(vec![1]);
        let gain = || ("gain", Values::Float64(vec![1.0]));
        [
            words(control.set_together("x", &[gain(), ("add_fast", one())], None)),
            words(control.set_together("x", &[("add_fast", one()), ("add_slow", one())], None)),
            words(control.set_together("x", &[gain(), gain()], None)),
            words(control.set_together("x", &[], None)),
            words(
                control
                    .set_together("x", &[gain()], at(9.0))
                    .and_then(|_| control.set_together("x", &[gain()], at(8.0))),
            ),
            words(control.reconfigure("x", &[gain()], None)),
        ]
    });
    assert_eq!(
        words,
        [
            "x.gain and x.add_fast belong to different clocks, so they cannot be set together: use two commands",
            "x.add_fast and x.add_slow belong to different clocks, so they cannot be set together: use two commands",
            "x.gain cannot be set: it is named twice",
            "no variable is named",
            "a command for 9 s waits already: send them in the order of their times",
            "x.gain cannot be set: it is no structuralParameter: use set",
        ]
    );
}

#[test]
fn arrays_neither_exceed_their_first_size_nor_leave_their_connections() {
    let words = refusals(|control| {
        let resize = |fmu: &str, n| words(control.reconfigure(fmu, &[("n", Values::UInt64(vec![n]))], None));
        [resize("y", 8), resize("y", 17), resize("x", 3)]
    });
    assert_eq!(
        words,
        [
            "y.n cannot be set: arrays cannot become larger than at the start of the run, when it was 7; start the run with 8 \
             (rig: start = { ... }) and make it smaller",
            "y.n cannot be set: a value is 17, above its max 16",
            "x.n cannot be set: x.values depends on it, which is connected and so keeps its size",
        ]
    );
}

#[test]
fn too_many_commands_are_refused_and_none_of_the_others_is_lost() {
    let (tell, told) = channel();
    let left = Bench::new("", "").until(0.02).run(move |control| {
        let add = || control.set("x", "add_any", Values::UInt64(vec![1]));
        let taken = std::iter::repeat_with(add).take(1000).filter(|ticket| ticket.is_ok()).count();
        tell.send((taken, words(add()))).unwrap();
    });
    let (taken, words) = told.recv().unwrap();
    assert_eq!(words, "too many commands wait for this FMU: wait until some are carried out");
    assert_eq!(taken, vecud::control::OUTSTANDING);
    assert_eq!(left.passed().was_lawful().last("x.total"), taken.to_string());
}

#[test]
fn a_run_that_was_not_prepared_for_it_or_is_over_refuses() {
    let gain = || Values::Float64(vec![2.0]);
    let (tell, told) = channel();
    Bench::new("", "")
        .uncontrolled()
        .until(0.01)
        .run(move |c| tell.send(words(c.set("x", "gain", gain()))).unwrap())
        .passed();
    let words_ = told.recv().unwrap();
    assert_eq!(words_, "nothing can be set in this run: it was not prepared for it (Options::control)");

    let (tell, told) = channel();
    Bench::new("", "").until(0.01).run(move |control| {
        let never = control.set_together("x", &[("gain", gain())], at(5.0)).unwrap();
        tell.send((control.clone(), never)).unwrap();
    });
    let (control, never) = told.recv().unwrap();
    assert_eq!(words(control.set("x", "gain", gain())), "the run is over");
    assert_eq!(never.wait(super::bench::SOON), Err(ControlError::RunEnded));
}
