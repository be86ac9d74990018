//! What holds on any way: no time beyond the goal, none twice without an event, and the model has been told where the drive stands.

use super::*;
use proptest::prelude::*;

/// How a run calls the drive.
#[derive(Clone, Debug)]
struct Way {
    method: Method,
    /// How far beyond each goal steps may end.
    ahead: f64,
    /// The lengths of communication steps.
    lengths: Vec<f64>,
    steps: bool,
    /// How many events may be located in each.
    events: u32,
    /// Thresholds of an oscillation, each with an indicator.
    thresholds: Vec<f64>,
    /// Every how many answers one is refused.
    refuses: u32,
}

fn methods() -> impl Strategy<Value = Method> {
    prop_oneof![
        (0.005..0.7f64).prop_map(|internal_step| Method::Euler { internal_step }),
        (0.005..0.7f64).prop_map(|internal_step| Method::Rk4 { internal_step }),
        (1..9i32).prop_map(|digits| Method::Dopri5 { tolerance: 10f64.powi(-digits) }),
        (1..7i32).prop_map(|digits| Method::Bdf { tolerance: 10f64.powi(-digits) }),
        (1..9i32).prop_map(|digits| Method::Auto { tolerance: 10f64.powi(-digits) }),
    ]
}

fn ways() -> impl Strategy<Value = Way> {
    (
        methods(),
        prop_oneof![Just(0.0), 0.0..2.0f64, Just(f64::INFINITY)],
        prop::collection::vec(0.01..0.9f64, 1..8),
        any::<bool>(),
        prop_oneof![0..3u32, Just(1000)],
        prop::collection::vec(-1.2..1.2f64, 0..5),
        prop_oneof![Just(u32::MAX), 3..50u32],
    )
        .prop_map(|(method, ahead, lengths, steps, events, thresholds, refuses)| Way {
            method,
            ahead,
            lengths,
            steps,
            events,
            thresholds,
            refuses,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn any_way_keeps_to_its_goals(way in ways()) {
        let mut asked = 0u32;
        let f = |_: f64, x: &[f64], dx: &mut [f64]| {
            asked += 1;
            (dx[0], dx[1]) = (x[1], -x[0]);
            if asked.is_multiple_of(way.refuses) { Err(ModelError::Discard("now and then")) } else { Ok(()) }
        };
        let z = |_: f64, x: &[f64], z: &mut [f64]| {
            z.iter_mut().zip(&way.thresholds).for_each(|(z, threshold)| *z = x[0] - threshold);
            Ok(())
        };
        let mut model = with_indicators(f, z);
        let mut drive = started(way.method, &mut model, &[0.0, 1.0], way.thresholds.len());
        let mut point = 0.0;
        for length in &way.lengths {
            let goal = Goal { steps: way.steps, limit: point + length + way.ahead, ..Goal::end(point, point + length) };
            let mut bound = WorkBudget { events: way.events, right_hand_sides: 100_000 };
            loop {
                let before = drive.time();
                let positive: Vec<bool> = way.thresholds.iter().map(|threshold| drive.states()[0] - threshold > 0.0).collect();
                let reached = match drive.to(&mut model, &goal, &mut bound) {
                    // The first answer after an event may be one of those that are refused, ten times.
                    Err(Stopped::Refused { .. }) if way.refuses < 50 => return Ok(()),
                    other => other.unwrap(),
                };
                prop_assert!(drive.time() <= goal.until && drive.time() >= before);
                prop_assert_eq!(model.t.to_bits(), drive.time().to_bits());
                prop_assert_eq!(&model.x[..], drive.states());
                match reached {
                    Reached::Until { .. } => {
                        prop_assert_eq!(drive.time().to_bits(), goal.until.to_bits());
                        break;
                    }
                    Reached::Step => prop_assert!(way.steps && drive.time() > before && drive.time() < goal.until),
                    Reached::Event { located } => {
                        prop_assert!(drive.time() > before);
                        prop_assert!(located || drive.time() == goal.until);
                        prop_assert!(drive.roots().iter().any(|&root| root != 0));
                        let now: Vec<bool> = way.thresholds.iter().map(|threshold| drive.states()[0] - threshold > 0.0).collect();
                        if !way.steps && way.events > 3 {
                            for ((&root, &before), &now) in drive.roots().iter().zip(&positive).zip(&now) {
                                prop_assert_eq!(root, i32::from(now) - i32::from(before));
                            }
                        }
                        let time = drive.time();
                        drive.restart(&mut model, time).unwrap();
                    }
                }
            }
            point = goal.until;
        }
    }
}
