//! Rows of events: from before and from after each, both with its time.

use super::{Place, Simulated, fmu, simulate};

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

/// How often a function was called, by `--show-stats`.
fn calls(simulated: &Simulated, function: &str) -> u64 {
    let line = simulated.stderr.lines().find(|line| line.split_whitespace().next() == Some(function));
    line.map_or(0, |line| line.split_whitespace().nth(1).unwrap().parse().unwrap())
}

/// Time events by which time hardly goes on are handled one by one up to a number of them, and what is told then at the next row: the
/// simulation has an end, and a finding. So of each version, and of steps.
#[test]
fn time_events_by_which_time_hardly_goes_on_have_an_end() {
    for creep in ["--start-value=creep=1", "--start-value=creep=40"] {
        for version in ["punctual", "punctual_fmi2", "punctual_fmi1", "events"] {
            let interval = ["--stop-time=1", "--output-interval=0.05", "--start-value=every=0.11", creep];
            let more = if version == "events" { "--start-value=exact=1" } else { "--solver=dopri5" };
            let simulated = simulate(fmu(version), &[&interval[..], &[more]].concat()).exits(0);
            // That one, and one of each row from 0.15 on; at the stop time, too.
            let told = format!(
                "fmu `{version}`: told 19 time events more after 1000 in a row that time has hardly gone on for"
            );
            assert!(simulated.stderr.contains(&told), "{version}: {}", simulated.stderr);
            assert!(simulated.stderr.contains("at 0.11000000000"), "{version}: {}", simulated.stderr);
            assert_eq!(simulated.column("time").last(), Some(&1.0), "{version}");
            let events = simulated.column(if version == "events" { "time_events" } else { "events" });
            assert_eq!(events.last(), Some(&1019.0), "{version}");
        }
    }
}

/// Time events that are close to each other, and no closer than times can be told apart, come at their times, as many as there are.
#[test]
fn time_events_as_fast_as_their_rows_come_at_their_times() {
    let interval = ["--stop-time=4.0005e-6", "--output-interval=1e-8", "--start-value=every=1e-9"];
    let simulated = simulate(fmu("punctual"), &interval).exits(0);
    let last = |column: &str| *simulated.column(column).last().unwrap();
    assert_eq!(["events", "idle"].map(last), [4000.0, 0.0]);
    assert!(!simulated.stderr.contains("hardly gone on"), "{}", simulated.stderr);
}

/// A state event up to four units in the last place before a time event is at that time: there is one Event Mode, after a complete integrator step.
/// One that comes behind it is an event of its own, since nothing of the FMU is asked beyond its time event.
#[test]
fn a_state_event_just_before_a_time_event_is_at_that_time() {
    for (version, enter) in [
        ("punctual", "fmi3EnterEventMode"),
        ("punctual_fmi2", "fmi2EnterEventMode"),
        ("punctual_fmi1", "fmiEventUpdate"),
    ] {
        for solver in ["euler", "rk4", "dopri5", "bdf", "auto"] {
            // The indicator is positive from the next time on.
            // How far the search for it goes does not depend on the solver.
            let from_to: &[i64] = if solver == "dopri5" { &[-5, -4, -3, -2, -1, 0, 1, 2, 3, 4] } else { &[-4, 0] };
            for (event, ulps) in
                [0.15_f64, 0.1].into_iter().flat_map(|event| from_to.iter().map(move |ulps| (event, *ulps)))
            {
                let root = f64::from_bits(event.to_bits().wrapping_add_signed(ulps));
                let (every, root) = (format!("--start-value=every={event}"), format!("--start-value=root={root}"));
                let arguments =
                    ["--stop-time=0.199", "--output-interval=0.1", "--solver", solver, "--show-stats", &every, &root];
                let simulated = simulate(fmu(version), &arguments).exits(0);
                let last = |column: &str| *simulated.column(column).last().unwrap();
                let case = format!("{version}, {solver}, {event}, {ulps}: {}", simulated.stdout);
                let all = ["events", "crossings", "late", "idle", "incomplete"].map(last);
                assert_eq!(all, [1.0, 1.0, 0.0, 0.0, 0.0], "{case}");
                assert_eq!(calls(&simulated, enter), if ulps < 0 { 1 } else { 2 }, "{case}");
            }
        }
    }
}

/// FMUs for Model Exchange of each version: after `nextEventTime` that is now, Event Mode is left and entered again without a step between.
#[test]
fn an_event_at_the_same_time_follows_without_a_step() {
    for (version, enter, leave) in [
        ("punctual", "fmi3EnterEventMode", "fmi3EnterContinuousTimeMode"),
        ("punctual_fmi2", "fmi2EnterEventMode", "fmi2EnterContinuousTimeMode"),
        ("punctual_fmi1", "fmiEventUpdate", "fmiEventUpdate"),
    ] {
        for solver in ["euler", "rk4", "dopri5", "bdf", "auto"] {
            let arguments = ["--stop-time=0.2", "--start-value=again=1", "--solver", solver, "--show-stats"];
            let simulated = simulate(fmu(version), &arguments).exits(0);
            let last = |column: &str| *simulated.column(column).last().unwrap();
            assert_eq!(["events", "late", "idle", "incomplete"].map(last), [2.0, 0.0, 0.0, 0.0], "{version}, {solver}");
            assert_eq!(
                (calls(&simulated, enter), calls(&simulated, leave)),
                if enter == leave { (4, 4) } else { (4, 5) },
                "{version}, {solver}"
            );
            assert!(!simulated.stderr.contains("over by then"), "{}", simulated.stderr);
        }
    }
}

/// Times of events are products, k · 0.1, and so beside instants of the grid and rows of a file by a unit in the last place; in both directions,
/// as the file has them. Each of them is one point in time: no event is early, late or for nothing, the integrator step is complete before it,
/// and its row has what it has made. So with every solver, in every version.
#[test]
fn an_event_beside_an_instant_or_a_row_is_at_that_point() {
    let rows: String = (0..=20).map(|k| format!("{},{k}\n", f64::from(k) / 10.0)).collect();
    let place = Place::new().with("in.csv", &format!("time,u\n{rows}"));
    for version in ["punctual", "punctual_fmi2", "punctual_fmi1"] {
        for solver in ["euler", "rk4", "dopri5", "bdf", "auto"] {
            for (interval, file) in [("0.1", None), ("0.01", None), ("0.25", Some("in.csv")), ("0.1", Some("in.csv"))] {
                let case = format!("{version}, {solver}, {interval}, {file:?}");
                let stop = if file.is_some() { "2" } else { "10" };
                let mut arguments = vec!["--interface-type", "me", "--stop-time", stop, "--output-interval", interval];
                arguments.extend(["--solver", solver]);
                file.iter().for_each(|file| arguments.extend(["--input-file", file]));
                let simulated = place.simulate(fmu(version), &arguments).exits(0);
                let last = |column: &str| *simulated.column(column).last().unwrap();
                let all = 10.0 * stop.parse::<f64>().unwrap();
                assert_eq!(["events", "late", "idle", "incomplete"].map(last), [all, 0.0, 0.0, 0.0], "{case}");
                let (times, events) = (simulated.column("time"), simulated.column("events"));
                let about = |wanted: f64| {
                    (0..times.len()).filter(|row| (times[*row] - wanted).abs() < 1e-9).collect::<Vec<_>>()
                };
                let rows: Vec<f64> = about(0.3).iter().map(|row| events[*row]).collect();
                assert_eq!(rows, [2.0, 3.0], "{case}");
                if file.is_some() {
                    assert_eq!(last("seen"), 20.0, "{case}");
                }
            }
        }
    }
}

/// The same of Co-Simulation, where the FMU refuses a step beyond its next event.
#[test]
fn an_event_of_steps_beside_an_instant_is_at_that_instant() {
    for interval in ["0.1", "0.05", "0.2"] {
        let arguments =
            ["--stop-time=10", "--start-value=every=0.1", "--start-value=exact=1", "--output-interval", interval];
        let simulated = simulate(fmu("events"), &arguments).exits(0);
        let last = |column: &str| *simulated.column(column).last().unwrap();
        assert_eq!(["time_events", "idle"].map(last), [100.0, 0.0], "{interval}");
    }
}

/// A row may come between an instant of the grid and the event that is handled there, since rounding alone is between these two: the FMU, which
/// was told the time of the event, stands there, and is told neither that time again nor an earlier one.
#[test]
fn a_row_between_an_instant_and_its_event_is_at_the_event() {
    for (every, row) in [("0.1", "0.30000000000000004"), ("0.30000000005", "0.30000000003")] {
        let place = Place::new().with("in.csv", &format!("time,u\n0,0\n{row},0\n{row},5\n1,5\n"));
        let every = format!("--start-value=every={every}");
        let arguments =
            ["--stop-time=0.5", "--output-interval=0.1", "--input-file=in.csv", "--start-value=exact=1", &every];
        let simulated = place.simulate(fmu("events"), &arguments).exits(0);
        assert_eq!(simulated.column("u_seen").last(), Some(&5.0), "{row}");
        assert_eq!(simulated.column("changes").last(), Some(&0.0), "{row}");
    }
}
