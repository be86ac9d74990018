//! State events: where they are located, how many, and what is said of them.

use super::*;

const METHODS: [Method; 5] = [
    Method::Euler { internal_step: 0.1 },
    Method::Rk4 { internal_step: 0.1 },
    Method::Dopri5 { tolerance: 1e-6 },
    Method::Bdf { tolerance: 1e-6 },
    Method::Auto { tolerance: 1e-6 },
];

fn height(_: f64, x: &[f64], z: &mut [f64]) -> Answered {
    z[0] = x[0];
    Ok(())
}

/// Lets a ball bounce from rest at 1 m until a time, or until nothing may be worked any more, and gives the times of its bounces.
fn bounces(method: Method, restitution: f64, until: f64, bound: &mut WorkBudget) -> (Vec<f64>, Drive, bool) {
    let mut ball = with_indicators(fall, height);
    let mut drive = started(method, &mut ball, &[1.0, 0.0], 1);
    let (mut times, mut all_located) = (Vec::new(), true);
    while let Reached::Event { located } = drive.to(&mut ball, &Goal::end(0.0, until), bound).unwrap() {
        assert_eq!((ball.t, &ball.x[..]), (drive.time(), drive.states()));
        assert!(drive.states()[0] <= 0.0 && drive.roots() == [-1]);
        all_located &= located;
        times.push(drive.time());
        let speed = drive.states()[1];
        drive.states_mut().copy_from_slice(&[f64::MIN_POSITIVE, -restitution * speed]);
        let now = drive.time();
        drive.restart(&mut ball, now).unwrap();
    }
    assert_eq!((ball.t, &ball.x[..]), (drive.time(), drive.states()));
    (times, drive, all_located)
}

#[test]
fn a_ball_bounces_when_the_closed_form_says() {
    for (method, stages) in [(Method::Rk4 { internal_step: 0.01 }, 4), (Method::Dopri5 { tolerance: 1e-6 }, 6)] {
        let (times, drive, _) = bounces(method, 0.7, 2.55, &mut PLENTY.clone());
        let fall = (2.0f64 / 9.81).sqrt();
        let (mut expected, mut flight) = (fall, 2.0 * fall);
        assert_eq!(times.len(), 16);
        for time in &times {
            assert!((time - expected).abs() < 1e-12, "{method:?}: {time} instead of {expected}");
            flight *= 0.7;
            expected += flight;
        }
        // The search is over a polynomial that is the solution: the step is repeated once or twice.
        let (counts, events) = (drive.counts(), times.len() as u64);
        assert!(
            counts.right_hand_sides < stages * (counts.steps + counts.rejected + 2 * events),
            "{method:?}: {counts:?}"
        );
    }
}

#[test]
fn a_ball_bounces_as_often_however_far_apart_the_goals_are() {
    for method in &METHODS[2..] {
        for between in [0.01, 0.1, 0.37, 1.0, 2.5] {
            // With a hysteresis: at a bounce it is below the floor, and stays there for a moment. A step that would end where it has
            // come down again has missed the flight.
            let (is_above, mut bounces) = (std::cell::Cell::new(true), 0);
            let mut ball = with_indicators(fall, |_, x, z| {
                z[0] = x[0] + if is_above.get() { 1e-14 } else { -1e-14 };
                Ok(())
            });
            let mut drive = started(*method, &mut ball, &[1.0, 0.0], 1);
            for number in 1..=(2.5f64 / between).ceil() as u32 {
                let until = 2.5f64.min(between * f64::from(number));
                let goal = Goal::end(until - between, until);
                while let Reached::Event { .. } = drive.to(&mut ball, &goal, &mut PLENTY.clone()).unwrap() {
                    if is_above.get() {
                        drive.states_mut()[1] *= -0.7;
                        bounces += 1;
                    }
                    is_above.set(!is_above.get());
                    let now = drive.time();
                    drive.restart(&mut ball, now).unwrap();
                }
            }
            assert_eq!((bounces, drive.states()[0] > 0.0), (11, true), "{method:?}, {between}");
        }
    }
}

#[test]
fn the_right_side_is_as_close_in_steps_that_would_end_far_beyond() {
    // Without loss each bounce is as late as the one before, and a late one adds to the speed.
    let mut ball = with_indicators(fall, height);
    let mut drive = started(Method::Dopri5 { tolerance: 1e-6 }, &mut ball, &[1.0, 0.0], 1);
    let fallen = (2.0f64 / 9.81).sqrt();
    for bounce in 0..300 {
        drive.to(&mut ball, &Goal::end(0.0, 1e6), &mut PLENTY.clone()).unwrap();
        let (now, speed) = (drive.time(), drive.states()[1]);
        let expected = fallen * f64::from(1 + 2 * bounce);
        assert!((now - expected).abs() < 1e-8, "bounce {bounce}: {now} instead of {expected}");
        drive.states_mut().copy_from_slice(&[f64::MIN_POSITIVE, -speed]);
        drive.restart(&mut ball, now).unwrap();
    }
}

#[test]
fn bounces_without_end_are_located_as_often_as_may_be_and_the_goal_is_reached() {
    for (method, most) in [
        (Method::Rk4 { internal_step: 0.01 }, 5 * 510 + 40 * 24),
        (Method::Dopri5 { tolerance: 1e-6 }, 40 * 30),
        (Method::Bdf { tolerance: 1e-6 }, 40 * 60),
    ] {
        let mut bound = WorkBudget { events: 40, ..PLENTY };
        let (times, drive, all_located) = bounces(method, 0.7, 5.0, &mut bound);
        assert!(!all_located);
        assert_eq!(bound.events, 0);
        assert_eq!((drive.time(), times.len(), times[40]), (5.0, 41, 5.0));
        assert!(drive.counts().right_hand_sides < most, "{method:?}: {:?}", drive.counts());
    }
}

#[test]
fn work_that_is_bounded_ends_and_says_so() {
    let mut ball = with_indicators(fall, height);
    let mut drive = started(Method::Rk4 { internal_step: 0.01 }, &mut ball, &[1.0, 0.0], 1);
    let mut bound = WorkBudget { events: 9, right_hand_sides: 30 };
    let stopped = drive.to(&mut ball, &Goal::end(0.0, 5.0), &mut bound).unwrap_err();
    assert_eq!(stopped, Stopped::NoWorkLeft { t: drive.time() + 0.5 * 0.01 });
    assert!(stopped.to_string().ends_with(" s the derivatives have been computed as often as is allowed in one step"));
    assert_eq!((drive.counts().right_hand_sides, bound.right_hand_sides), (30, 0));
    assert!((drive.time() - 0.07).abs() < 1e-15);
}

#[test]
fn the_right_side_is_a_few_units_in_the_last_place_behind_the_left_one() {
    for method in METHODS {
        // Their own solutions of x' = -x cross 0.5 somewhere; the last step is one of the method from the grid.
        let level = |_: f64, x: &[f64], z: &mut [f64]| {
            z[0] = x[0] - 0.5;
            Ok(())
        };
        let mut model = with_indicators(decay, level);
        let mut drive = started(method, &mut model, &[1.0], 1);
        let reached = drive.to(&mut model, &Goal::end(0.0, 3.0), &mut PLENTY.clone()).unwrap();
        assert_eq!(reached, Reached::Event { located: true });
        let event = drive.time();
        assert!(drive.states()[0] <= 0.5);
        // Methods that choose their steps choose others for another goal.
        if matches!(method, Method::Euler { .. } | Method::Rk4 { .. }) {
            let mut left = event;
            for _ in 0..16 {
                left = left.next_down();
            }
            let before = solved(method, &mut smooth(decay), &[1.0], left);
            assert!(before.states()[0] > 0.5, "{method:?}: {} at {left}", before.states()[0]);
        }
        assert!((drive.states()[0] - 0.5).abs() < 1e-15, "{method:?}");
        assert!((event - 2f64.ln()).abs() < if method == METHODS[0] { 0.05 } else { 1e-5 }, "{method:?}: {event}");
    }
}

/// Indicators of time alone: `t - each`.
fn after(times: &[f64]) -> impl FnMut(f64, &[f64], &mut [f64]) -> Answered {
    move |t, _, z| {
        for (z, time) in z.iter_mut().zip(times) {
            *z = t - time;
        }
        Ok(())
    }
}

/// The events of indicators over a clock, each with its time and what it says of the indicators.
fn events(method: Method, x: &[f64], times: &[f64]) -> Vec<(f64, Vec<i32>)> {
    let mut model = with_indicators(clock, after(times));
    let mut drive = started(method, &mut model, x, times.len());
    let mut found = Vec::new();
    while let Reached::Event { .. } = drive.to(&mut model, &Goal::end(0.0, 1.0), &mut PLENTY.clone()).unwrap() {
        found.push((drive.time(), drive.roots().to_vec()));
        let now = drive.time();
        drive.restart(&mut model, now).unwrap();
    }
    found
}

#[test]
fn the_earliest_of_several_comes_first_and_what_is_together_comes_together() {
    for method in METHODS {
        for x in [&[0.0][..], &[]] {
            let found = events(method, x, &[0.55, 0.52, 0.55, 2.0, 0.58]);
            let roots: Vec<&[i32]> = found.iter().map(|(_, roots)| &roots[..]).collect();
            assert_eq!(roots, [[0, 1, 0, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 0, 1]], "{method:?}");
            for ((time, _), expected) in found.iter().zip([0.52, 0.55, 0.58]) {
                assert!(*time > expected && time - expected < 1e-15, "{time} for {expected}");
            }
        }
    }
}

#[test]
fn a_root_at_the_beginning_is_an_event_behind_it_and_one_at_the_end_waits_until_it_is_passed() {
    for method in METHODS {
        // z is 0 at time 0 and at the end of a step: not positive yet.
        let found = events(method, &[0.0], &[0.0, 0.5, 1.0]);
        let roots: Vec<&[i32]> = found.iter().map(|(_, roots)| &roots[..]).collect();
        assert_eq!(roots, [[1, 0, 0], [0, 1, 0]], "{method:?}");
        assert!(found[0].0 > 0.0 && found[0].0 < 1e-15);
        assert!(found[1].0 > 0.5 && found[1].0 < 0.5 + 1e-15);
    }
}

#[test]
fn an_indicator_that_falls_to_zero_at_the_end_has_changed() {
    for method in METHODS {
        let mut model = with_indicators(clock, |t, _, z| {
            z[0] = 1.0 - t;
            Ok(())
        });
        let mut drive = started(method, &mut model, &[0.0], 1);
        let reached = drive.to(&mut model, &Goal::end(0.0, 1.0), &mut PLENTY.clone()).unwrap();
        assert_eq!((reached, drive.time(), drive.roots()), (Reached::Event { located: true }, 1.0, &[-1][..]));
    }
}

#[test]
fn what_touches_zero_and_turns_back_is_no_event_and_what_passes_is() {
    for (depth, expected) in [(0.0, 0), (1e-3, 2)] {
        let z = move |t: f64, _: &[f64], z: &mut [f64]| {
            z[0] = (t - 0.5) * (t - 0.5) - depth;
            Ok(())
        };
        let mut model = with_indicators(clock, z);
        let mut drive = started(Method::Rk4 { internal_step: 0.03 }, &mut model, &[0.0], 1);
        let mut times = Vec::new();
        while let Reached::Event { .. } = drive.to(&mut model, &Goal::end(0.0, 1.0), &mut PLENTY.clone()).unwrap() {
            times.push(drive.time());
            let now = drive.time();
            drive.restart(&mut model, now).unwrap();
        }
        assert_eq!(times.len(), expected, "{times:?}");
        assert!(times.iter().zip([-1.0, 1.0]).all(|(time, side)| (time - 0.5 - side * depth.sqrt()).abs() < 1e-15));
    }
}

#[test]
fn an_indicator_that_jumps_is_located_too() {
    for method in METHODS {
        let mut model = with_indicators(clock, |_, x, z| {
            z[0] = if x[0] < 0.6180339 { 1.0 } else { 0.0 };
            Ok(())
        });
        let mut drive = started(method, &mut model, &[0.0], 1);
        drive.to(&mut model, &Goal::end(0.0, 1.0), &mut PLENTY.clone()).unwrap();
        assert!((drive.time() - 0.6180339).abs() < 1e-14, "{method:?}: {}", drive.time());
        assert!(drive.counts().indicators < 250, "{:?}", drive.counts());
    }
}

#[test]
fn inputs_that_change_an_indicator_are_an_event_where_they_are_set() {
    let limit = std::cell::Cell::new(2.0);
    let mut model = with_indicators(decay, |_, x, z| {
        z[0] = x[0] - limit.get();
        Ok(())
    });
    let mut drive = started(Method::Rk4 { internal_step: 0.1 }, &mut model, &[1.0], 1);
    drive.to(&mut model, &Goal::end(0.0, 0.5), &mut PLENTY.clone()).unwrap();
    assert_eq!(drive.after_inputs(&mut model), Ok(false));
    limit.set(0.1);
    assert_eq!(drive.after_inputs(&mut model), Ok(true));
    assert_eq!((drive.time(), drive.roots()), (0.5, &[1][..]));
    drive.restart(&mut model, 0.5).unwrap();
    assert_eq!(drive.roots(), [0]);
}

#[test]
#[should_panic(expected = "restart must come first")]
fn an_event_that_nobody_handled_stops_the_drive() {
    let mut model = with_indicators(fall, height);
    let mut drive = started(METHODS[1], &mut model, &[1.0, 0.0], 1);
    for _ in 0..2 {
        let _ = drive.to(&mut model, &Goal::end(0.0, 1.0), &mut PLENTY.clone());
    }
}

#[test]
fn close_before_each_event_the_model_was_asked_and_nothing_had_changed() {
    let thresholds = [0.9, 0.3, -0.2, -0.7];
    for method in METHODS {
        // The times at which the domains were those after the last event.
        let (remembered, unchanged) = (std::cell::Cell::new([false; 4]), std::cell::RefCell::new(Vec::new()));
        let pendulum = |_: f64, x: &[f64], dx: &mut [f64]| {
            (dx[0], dx[1]) = (x[1], -9.81 * x[0].sin() - 0.1 * x[1]);
            Ok(())
        };
        let mut model = with_indicators(pendulum, |t, x, z| {
            z.iter_mut().zip(thresholds).for_each(|(z, threshold)| *z = x[0] - threshold);
            if remembered.get().iter().zip(z).all(|(&domain, z)| domain == (*z > 0.0)) {
                unchanged.borrow_mut().push(t);
            }
            Ok(())
        });
        remembered.set([true; 4]);
        let mut drive = started(method, &mut model, &[1.0, 0.0], 4);
        let mut events = 0;
        while let Reached::Event { located: true } =
            drive.to(&mut model, &Goal::end(0.0, 5.0), &mut PLENTY.clone()).unwrap()
        {
            let now = drive.time();
            let last = unchanged.borrow().iter().copied().filter(|&t| t < now).fold(0.0, f64::max);
            assert!(now - last <= 16.0 * (now.next_up() - now), "{method:?}: {now}, {} before", now - last);
            assert!(!unchanged.borrow().contains(&now));
            remembered.set(thresholds.map(|threshold| drive.states()[0] > threshold));
            drive.restart(&mut model, now).unwrap();
            events += 1;
        }
        assert!(events >= 12, "{method:?}: {events}");
    }
}

#[test]
fn the_model_is_asked_where_the_drive_stands_before_anyone_reads_what_it_gives() {
    // FMI 2.0.5, 3.2.4 has the indicators before each complete step; a model may compute all else when it is asked for them.
    for method in METHODS {
        let asked = std::cell::Cell::new(f64::NAN);
        let derivatives = |t: f64, x: &[f64], dx: &mut [f64]| {
            asked.set(t);
            oscillation(t, x, dx)
        };
        let domains = |t: f64, x: &[f64], z: &mut [f64]| {
            asked.set(t);
            z[0] = x[0] - 0.5;
            Ok(())
        };
        let mut model = with_indicators(derivatives, domains);
        let mut drive = started(method, &mut model, &[1.0, 0.0], 1);
        let mut events = 0;
        for row in 1..=100 {
            let goal = Goal { limit: 10.0, steps: true, ..Goal::end(0.0, 0.1 * f64::from(row)) };
            while drive.time() < goal.until {
                let reached = drive.to(&mut model, &goal, &mut PLENTY.clone()).unwrap();
                assert_eq!((asked.get(), model.t), (drive.time(), drive.time()), "{method:?}, row {row}: {reached:?}");
                if let Reached::Event { .. } = reached {
                    events += 1;
                    let now = drive.time();
                    drive.restart(&mut model, now).unwrap();
                }
            }
        }
        assert_eq!(events, 3, "{method:?}");
    }
}

/// FMUs of OpenModelica compute outputs only where nothing was asked since they were told a point: what they compute for event indicators is
/// without them, and counts as all.
#[test]
fn a_model_in_the_midst_of_a_step_is_told_its_point_after_all_questions() {
    struct Late {
        told: (f64, f64),
        is_asked: bool,
    }
    impl Equations for Late {
        type Failure = &'static str;

        fn tell(&mut self, t: f64, x: &[f64]) -> Result<(), ModelError<&'static str>> {
            (self.told, self.is_asked) = ((t, x[0]), false);
            Ok(())
        }

        fn derivatives(&mut self, dx: &mut [f64]) -> Result<(), ModelError<&'static str>> {
            self.is_asked = true;
            dx[0] = 1.0;
            Ok(())
        }
    }
    impl Indicators for Late {
        fn indicators(&mut self, z: &mut [f64]) -> Result<(), ModelError<&'static str>> {
            self.is_asked = true;
            z[0] = -1.0;
            Ok(())
        }
    }
    for method in [Method::Dopri5 { tolerance: 1e-6 }, Method::Bdf { tolerance: 1e-6 }] {
        let mut model = Late { told: (0.0, 0.0), is_asked: false };
        let mut drive = started(method, &mut model, &[0.0], 1);
        let mut between = 0;
        for row in 1..=100 {
            let until = f64::from(row) * 0.01;
            let goal = Goal { limit: 1.0, ..Goal::end(0.0, until) };
            if drive.to(&mut model, &goal, &mut PLENTY.clone()).unwrap() == (Reached::Until { step_ended: false }) {
                between += 1;
                assert!(!model.is_asked && model.told == (until, drive.states()[0]), "{method:?} at {until}");
            }
        }
        assert!(between > 50, "{method:?}: {between}");
    }
}
