//! The example of a virtual ECU with clocks between its steps: the transmission decides on its 20 ms, engages when its countdown is
//! over, and the dashboard is told in that very instant (semantics S22); the loop through the engine closes.

use super::numbers;
use super::program::{Outcome, Rig};

/// One row of the recording.
struct Row {
    /// ns
    time: i64,
    decides: bool,
    engages: bool,
    ticks: bool,
    is_told: bool,
    /// What the transmission has got of the pedal.
    pedal: f64,
    wanted: u64,
    gear: u64,
    shown: u64,
    /// When the dashboard was told, ns.
    told_at: i64,
}

fn run() -> Outcome {
    let rig = Rig::of_file("examples/cs_vecu.toml");
    let mut command = rig.command();
    command.args(["--mode", "virtual"]);
    rig.finish(rig.start(command)).exits(0)
}

fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

/// Empty cells, of what has never ticked yet, are 0.
fn cells(outcome: &Outcome, column: &str) -> Vec<f64> {
    outcome.signals().column(column).iter().map(|cell| cell.parse().unwrap_or(0.0)).collect()
}

fn rows(outcome: &Outcome) -> Vec<Row> {
    let [decides, engages, ticks, pedal, wanted, gear] =
        ["control", "engage", "gear_changed", "pedal", "wanted_gear", "gear"]
            .map(|name| cells(outcome, &format!("transmission.{name}")));
    let [is_told, shown, told_at] =
        ["gear_message", "gear_shown", "gear_changed_at"].map(|name| cells(outcome, &format!("dashboard.{name}")));
    let times = outcome.signals().times();
    let row = |k: usize| Row {
        time: nanoseconds(times[k]),
        decides: decides[k] == 1.0,
        engages: engages[k] == 1.0,
        ticks: ticks[k] == 1.0,
        is_told: is_told[k] == 1.0,
        pedal: pedal[k],
        wanted: wanted[k] as u64,
        gear: gear[k] as u64,
        shown: shown[k] as u64,
        told_at: nanoseconds(told_at[k]),
    };
    (0..times.len()).map(row).collect()
}

const MS: i64 = 1_000_000;

/// How long the clutch fills after a decision with this pedal, as fmus/transmission has it (ns).
fn fill_time(pedal: f64) -> i64 {
    (71.0 - 28.0 * pedal).round() as i64 * MS
}

#[test]
fn gears_are_decided_for_on_the_clock_engaged_by_the_countdown_and_told_in_that_instant() {
    let outcome = run();
    let rows = rows(&outcome);

    let deciding: Vec<i64> = rows.iter().filter(|row| row.decides).map(|row| row.time).collect();
    assert_eq!(deciding, (0..500).map(|k| 20 * k * MS).collect::<Vec<_>>());

    // A decision falls on its clock, and sees the pedal as it was until then: what is visible now is set afterwards.
    let decisions = rows.windows(2).filter(|pair| pair[0].wanted != pair[1].wanted);
    let due: Vec<(i64, u64)> = decisions
        .map(|pair| {
            assert!(pair[1].decides, "decided at {} ns", pair[1].time);
            (pair[1].time + fill_time(pair[0].pedal), pair[1].wanted)
        })
        .collect();
    assert_eq!(due.iter().map(|(_, gear)| *gear).collect::<Vec<_>>(), [1, 2, 3, 2, 1]);

    let engaged = rows.iter().filter(|row| row.engages).map(|row| (row.time, row.gear));
    assert_eq!(engaged.collect::<Vec<_>>(), due);
    assert!(rows.iter().all(|row| row.ticks == row.engages && row.is_told == row.ticks));
    let told = rows.iter().filter(|row| row.is_told).map(|row| (row.told_at, row.shown));
    assert_eq!(told.collect::<Vec<_>>(), due);

    // Each instant beside the grid of 5 ms is a release of its own, and there are some.
    let beside = due.iter().filter(|(time, _)| time % (5 * MS) != 0).count() as u64;
    assert!(beside > 0);
    assert_eq!(outcome.count("transmission", "step", "activations"), 2000 + beside);
    assert_eq!(outcome.count("dashboard", "gear_message", "activations"), due.len() as u64);
}

/// The car pulls away, the engine is slower in the higher gear, and idles when the car stands.
#[test]
fn the_loop_through_engine_transmission_and_car_closes() {
    let outcome = run();
    let times = outcome.signals().times();
    let at = |column: &str, time: f64| {
        let row = times.iter().rposition(|own| *own <= time).unwrap();
        numbers(&outcome, column)[row]
    };
    let is_second: Vec<bool> = cells(&outcome, "transmission.gear").iter().map(|gear| *gear == 2.0).collect();
    let shift = times[is_second.iter().position(|is_second| *is_second).unwrap()];
    assert!(at("plant.speed", shift) - at("plant.speed", shift + 0.4) > 200.0, "the second gear at {shift} s");
    assert!(at("plant.load", shift + 0.1) > at("plant.load", shift) + 10.0, "the second gear at {shift} s");
    let fastest = numbers(&outcome, "transmission.vehicle_speed").into_iter().fold(0.0, f64::max);
    assert!((25.0..35.0).contains(&fastest), "{fastest} km/h");
    assert_eq!(at("transmission.vehicle_speed", 10.0), 0.0);
    assert!((at("plant.speed", 9.99) - 850.0).abs() < 40.0);
}
