//! The example of a plant for Model Exchange in a closed loop: the wheel leaves the road within steps (semantics S25), and a ride is
//! smoother with the control unit than with a damper that stays as it is.

use super::program::{Outcome, Rig};
use super::{numbers, run};
use std::path::Path;

/// The example as it is.
fn controlled() -> Outcome {
    run(&Rig::of_file("examples/suspension.toml"), "virtual").exits(0)
}

/// The example without its last connection, with a damper of this many N s/m.
fn with_fixed(damping: f64) -> Outcome {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("examples/suspension.toml")).unwrap();
    let (before, rest) = text.split_at(text.rfind("[[connect]]").unwrap());
    let (connection, after) = rest.split_at(rest.find("[record]").unwrap());
    assert!(connection.contains("to = \"plant.damping\""), "{connection}");
    let start = format!("[fmu.plant]\nstart = {{ damping = {damping:?} }}");
    let text = format!("{before}{after}").replace("[fmu.plant]", &start);
    let text = text.replace("../fmus", root.join("fmus").to_str().unwrap());
    run(&Rig::of_text(&text), "virtual").exits(0)
}

/// The root of the mean square, from a time on.
fn roughness(outcome: &Outcome, from: f64) -> f64 {
    let (times, values) = (numbers(outcome, "time"), numbers(outcome, "plant.body_acceleration"));
    let late: Vec<f64> = times.iter().zip(values).filter(|(time, _)| **time >= from).map(|(_, value)| value).collect();
    (late.iter().map(|value| value * value).sum::<f64>() / late.len() as f64).sqrt()
}

#[test]
fn the_wheel_leaves_the_road_and_comes_back_within_steps() {
    let outcome = controlled();
    let last = |column: &str| *numbers(&outcome, column).last().unwrap();
    let (flights, stops) = (last("plant.flights"), last("plant.stops"));
    assert!(flights >= 2.0 && stops >= 1.0, "{flights}, {stops}");
    assert_eq!(last("plant.airborne"), 0.0);

    // The road begins and ceases to touch the wheel, as the bump stop does the body: two events each. Four times a bump begins or ends.
    let state_events = 2 * (flights + stops) as u64;
    assert_eq!(outcome.clock("plant", "step")["integration"]["state_events"], state_events);
    assert_eq!(outcome.count("plant", "step", "events"), state_events + 4);

    let (forces, airborne) = (numbers(&outcome, "plant.tyre_force"), numbers(&outcome, "plant.airborne"));
    assert!(
        forces.iter().zip(&airborne).all(|(force, airborne)| (*force == 0.0) == (*airborne == 1.0) && *force >= 0.0)
    );
    for from in [1.0, 3.0] {
        let rows = numbers(&outcome, "time").into_iter().zip(&airborne);
        let in_air = rows.filter(|(time, airborne)| (from..from + 1.0).contains(time) && **airborne == 1.0).count();
        assert!(in_air >= 20, "{in_air} ms in the air after {from} s");
    }
}

/// Over all, and where there are waves alone.
#[test]
fn the_ride_is_smoother_than_with_any_fixed_damping() {
    let controlled = controlled();
    for damping in [600.0, 1000.0, 1500.0, 2000.0] {
        let fixed = with_fixed(damping);
        assert!(numbers(&fixed, "plant.damping").iter().all(|own| *own == damping));
        for (from, share) in [(0.0, 0.9), (4.5, 0.75)] {
            let (own, other) = (roughness(&controlled, from), roughness(&fixed, from));
            assert!(own < share * other, "{own} m/s2 against {other} with {damping} N s/m, from {from} s");
        }
    }
}
