//! Rows of events: from before and from after each, both with its time.

use super::{Place, fmu, simulate};

/// Time events every 15 ms and state events every 25 ms, off the grid of 10 ms and on it, and one at the stop time.
#[test]
fn each_event_has_a_row_from_before_and_one_from_after_it() {
    let arguments = ["--stop-time=0.05", "--start-value=every=0.015", "--start-value=early=0.025"];
    let simulated = simulate(fmu("events"), &arguments).exits(0);
    let rows: Vec<(f64, f64)> = simulated.column("time").into_iter().zip(simulated.column("entered")).collect();
    let expected = [
        (0.0, 0.0),
        (0.01, 0.0),
        (0.015, 0.0),
        (0.015, 1.0),
        (0.02, 1.0),
        (0.025, 1.0),
        (0.025, 2.0),
        (0.03, 2.0),
        (0.03, 3.0),
        (0.04, 3.0),
        (0.045, 3.0),
        (0.045, 4.0),
        (0.05, 4.0),
        (0.05, 5.0),
    ];
    assert_eq!(rows, expected);
    assert_eq!(simulated.column("updates")[0], 1.0, "the first row comes after the first Event Mode");
}

/// An input that jumps has what it jumps to in the event that this is, and beside every other event at the same time.
#[test]
fn an_input_that_jumps_throws_a_switch() {
    let place = Place::new().with("pulse.csv", "time,u\n0,0\n1,0\n1,1\n3,1\n3,0\n");
    for solver in ["euler", "rk4", "dopri5", "bdf", "auto"] {
        for next in ["next=1", "next=3", "next=100"] {
            let more = ["--start-value", next, "--output-interval", "0.5", "--solver", solver];
            let simulated = place.simulate(fmu("threshold"), &[&["-i", "pulse.csv"][..], &more].concat()).exits(0);
            let last = |name: &str| *simulated.column(name).last().unwrap();
            let case = format!("{solver}, {next}: {}", simulated.stdout);
            assert!((last("x") - 2.0).abs() < 1e-9 && last("on") == 0.0, "{case}");
            assert_eq!(
                last("seen"),
                if next == "next=1" {
                    1.0
                } else if next == "next=3" {
                    0.0
                } else {
                    -1.0
                },
                "{case}"
            );
            let rows: Vec<(f64, f64)> = simulated.column("time").into_iter().zip(simulated.column("on")).collect();
            let jump = |time: f64| rows.iter().filter(|row| row.0 == time).map(|row| row.1).collect::<Vec<_>>();
            assert_eq!((jump(1.0), jump(3.0)), (vec![0.0, 1.0], vec![1.0, 0.0]), "{case}");
        }
    }
}

/// Without Event Mode events are the FMU's affair.
#[test]
fn event_mode_can_be_left_unused() {
    let with = simulate(fmu("events"), &["--start-value=every=0.3"]).exits(0);
    assert_eq!(with.column("time_events").last(), Some(&3.0));
    let log = simulate(fmu("stepper"), &["--event-mode-used", "false", "--stop-time=0.1"]).exits(0);
    assert_eq!(log.rows().len(), 11);
}

/// Rows of events come beside those that a row for several steps leaves out.
#[test]
fn rows_of_events_are_never_left_out() {
    let arguments = ["--fixed-step-size=0.01", "--output-interval=0.1", "--stop-time=0.3", "--start-value=every=0.125"];
    let simulated = simulate(fmu("events"), &arguments).exits(0);
    assert_eq!(simulated.column("time"), [0.0, 0.1, 0.125, 0.125, 0.2, 0.25, 0.25, 0.3]);
}

/// After `terminateSimulation` no further mode is entered, also at the begin and at the stop time.
#[test]
fn an_end_that_is_asked_for_in_event_mode_is_the_end() {
    for (ends, time) in [("ends=1", 0.0), ("ends=3", 0.04), ("ends=6", 0.1)] {
        let arguments = ["--stop-time=0.1", "--start-value=every=0.02", "--start-value", ends];
        let simulated = simulate(fmu("events"), &arguments).exits(0);
        assert_eq!(simulated.column("time").last(), Some(&time), "{}", simulated.stdout);
        assert_eq!(simulated.column("updates").last(), Some(&ends[5..].parse().unwrap()));
    }
}
