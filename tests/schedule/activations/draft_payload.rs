//! Variables of an output clock of the draft dialect are read while that clock is active: in the callback, after
//! fmi3GetClock and before anything that the clock triggers begins. The FMU notices every other time.

use crate::program::{Outcome, Rig, real_time};
use std::path::Path;

const BASE: u32 = 1;
const URGENT: u32 = 2;

fn rig(start: &str) -> Rig {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/draft_clocks");
    Rig::new("stop_time = 0.1").fmu("d", path, start, "").connect("d.payload", "d.in_urgent")
}

/// What a column shows at 0, 10, 20 ms and so on, where base is activated.
fn at_base(run: &Outcome, column: &str) -> Vec<String> {
    let signals = run.signals();
    let on_grid = |time: &f64| (*time * 1000.0).round() % 10.0 == 0.0;
    let rows = signals.times().into_iter().zip(signals.column(column)).filter(|(time, _)| on_grid(time));
    rows.map(|(_, value)| value.to_owned()).collect()
}

#[test]
fn a_variable_of_an_output_clock_is_read_in_the_callback_in_which_that_clock_is_active() {
    let check = |run: &Outcome| {
        let trace = run.trace("d");
        assert_eq!(trace.count("violation", "note"), 0, "read at another time");
        // In the callback of base, between the reading of the clock and the end of the callback.
        let (mut inside, mut reads) = (false, 0);
        for event in &trace.events {
            match (event.what.as_str(), event.phase.as_str()) {
                ("get_clock", "begin") => inside = true,
                ("update", "end") => inside = false,
                ("get", "begin") if [25, 26].contains(&event.vr) => {
                    assert!(inside, "{event:?}");
                    reads += 1;
                }
                _ => (),
            }
        }
        assert_eq!(reads, 10 + 10, "at each tick of out and of out_each[2], and of no other element");
        let counted: Vec<String> = (1..=10).map(|n| n.to_string()).collect();
        assert_eq!(at_base(run, "d.payload"), counted, "what base had for its callback only");
    };
    check(&rig("").run_virtual().exits(0));
    real_time("a_variable_of_an_output_clock_is_read_in_the_callback", || {
        check(&rig("").run().exits(0));
    });
}

#[test]
fn who_is_triggered_has_the_value_even_inside_of_the_callback() {
    let check = |run: &Outcome| {
        let trace = run.trace("d");
        assert_eq!(trace.activations(URGENT).len(), 10);
        let counted: Vec<String> = (1..=10).map(|n| n.to_string()).collect();
        assert_eq!(at_base(run, "d.got_urgent"), counted);
    };
    check(&rig("").run_virtual().exits(0));
    real_time("who_is_triggered_has_the_value_even_inside_of_the_callback", || {
        let run = rig("").run().exits(0);
        check(&run);
        // The partition of urgent was in the midst of the callback.
        let trace = run.trace("d");
        let place = |what: &str, phase: &str, clock: u32| {
            trace.events.iter().position(|e| e.is(what, phase) && e.clock == clock).unwrap()
        };
        assert!(
            (place("update", "begin", BASE)..place("update", "end", BASE))
                .contains(&place("activate", "begin", URGENT))
        );
    });
}

#[test]
fn without_a_tick_nothing_is_read_and_the_column_keeps_its_value() {
    let run = rig("out_every = 3").run_virtual().exits(0);
    assert_eq!(run.trace("d").count("violation", "note"), 0);
    assert_eq!(at_base(&run, "d.payload"), ["", "", "3", "3", "3", "6", "6", "6", "9", "9"]);
    let reads = run.trace("d").events.iter().filter(|e| e.is("get", "begin") && e.vr == 25).count();
    assert_eq!(reads, 3);
}

#[test]
fn a_variable_that_nobody_wants_is_not_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/draft_clocks");
    let rig = Rig::new("stop_time = 0.1").fmu("d", path, "", "").more("[record]\nsignals = ['d.out_base']");
    let trace = rig.run_virtual().exits(0).trace("d");
    assert_eq!(trace.events.iter().filter(|e| e.is("get", "begin") && [25, 26].contains(&e.vr)).count(), 0);
}

#[test]
fn an_error_in_the_callback_is_one_of_the_instance() {
    let run = rig("misbehave = 9").run_virtual().exits(1);
    assert_eq!(run.status("d"), "error");
    run.problem(&["fmi3GetUInt64", "fmi3Error", "clock base"]);
    assert_eq!(run.trace("d").activations(URGENT), [0.0; 0], "what it ticked is not activated");
}
