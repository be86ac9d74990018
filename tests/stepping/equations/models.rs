//! Each model against a solution that is known by another way.

use crate::equations::importer::{Cause, Fmu, OK, Run, folder, messages};
use std::f64::consts::PI;
use std::path::Path;
use vecud::fmu::archive::{Cache, Unpacked};
use vecud::fmu::description::{self, VariableType};

/// Its folders, with the numbers of states and event indicators.
pub const ALL: [(&str, usize, usize); 17] = [
    ("ball", 2, 1),
    ("ball_fmi1", 2, 1),
    ("clutches", 8, 54),
    ("failing", 1, 1),
    ("failing_fmi1", 1, 1),
    ("failing_fmi2", 1, 1),
    ("feedback", 0, 0),
    ("inc", 0, 0),
    ("inc_fmi1", 0, 0),
    ("linear", 12, 0),
    ("mechanics", 4, 0),
    ("pendulum", 2, 0),
    ("scale", 36, 98),
    ("scale_large", 130, 1090),
    ("spring", 2, 0),
    ("spring_fmi2", 2, 0),
    ("suspension", 4, 2),
];

#[track_caller]
fn near(value: f64, right: f64, tolerance: f64) {
    assert!((value - right).abs() <= tolerance, "{value} is not {right}, but {:e} off", value - right);
}

#[test]
fn the_program_builds_each_of_them_and_finds_their_variables() {
    let cache = Cache::at(Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
    for (name, states, indicators) in ALL {
        let unpacked = Unpacked::open(&folder(name), &cache).unwrap();
        let description = description::parse(&unpacked.model_description().unwrap()).unwrap();
        assert_eq!(description.breaches(), Vec::new(), "{name}");
        let offer = &description.interfaces[0];
        unpacked.library_of(description.abi, offer, &Default::default(), &cache).unwrap();

        let fmu = Fmu::new(name, states, indicators);
        let _run = Run::begin(&fmu, 0.0, |_, _| ());
        for variable in &fmu.description.variables {
            let (reference, elements) = (variable.value_reference.0, fmu.description.elements(variable) as usize);
            let status = match variable.variable_type {
                VariableType::Float64 => fmu.get_reals(reference, &mut vec![f64::NAN; elements]),
                VariableType::Int32 => fmu.get_integer(reference, &mut 0),
                // Parameters of `failing` and `scale`, which tests of theirs set.
                VariableType::String | VariableType::UInt64 => continue,
                // Of `suspension`; rigs record it.
                VariableType::Boolean => continue,
                other => panic!("{name} has a variable of type {other:?}"),
            };
            assert_eq!(status, OK, "{name}, {}: {:?}", variable.name, messages());
        }
        assert_eq!((fmu.number_of_states(), fmu.number_of_indicators()), ((OK, states), (OK, indicators)), "{name}");
        let mut nominals = vec![0.0; states];
        assert_eq!(fmu.get_nominals(&mut nominals), OK);
        assert!(nominals.iter().all(|nominal| *nominal > 0.0), "{name}: {nominals:?}");
    }
}

/// With a constant torque, from 1 rad at rest.
#[test]
fn the_spring_swings_as_its_solution() {
    for name in ["spring", "spring_fmi2"] {
        let fmu = Fmu::new(name, 2, 0);
        let torque = fmu.reference("torque.tau");
        let mut run = Run::begin(&fmu, 0.0, |fmu, _| assert_eq!(fmu.set_real(torque, 20.0), OK));
        let (k, w, rest) = (1.0_f64, 99.0_f64.sqrt(), 0.2);
        for tenth in 1..=30 {
            let t = f64::from(tenth) / 10.0;
            run.to(t, 1e-3);
            let right = rest + (1.0 - rest) * (-k * t).exp() * ((w * t).cos() + k / w * (w * t).sin());
            near(fmu.real("inertia1.phi"), right, 1e-9);
            near(run.x[0], right, 1e-9);
        }
    }
}

/// Bounces are located to the last bits of their times, and each one is two switches of the indicator's domain.
#[test]
fn the_ball_bounces_when_its_closed_form_says() {
    for name in ["ball", "ball_fmi1"] {
        let fmu = Fmu::new(name, 2, 1);
        let mut run = Run::begin(&fmu, 0.0, |_, _| ());
        let (g, e) = (9.81_f64, 0.7);
        let mut right = (2.0 / g).sqrt();
        let mut flight = 2.0 * right;
        for bounce in 1..=15 {
            while fmu.integer("bounces") < bounce {
                run.step(4.0, 1e-3);
            }
            near(run.time, right, 1e-12);
            flight *= e;
            right += flight;
        }
        let switches = run.events_of(Cause::State);
        assert_eq!((switches.len(), fmu.integer("switches")), (29, 29), "two for each but the last");
        for pair in switches.chunks_exact(2) {
            assert!(pair[1] - pair[0] < 1e-9, "down {} and up {}", pair[0], pair[1]);
        }
        assert_eq!(run.events.len(), 29);
    }
}

/// As soon as a flight is shorter than a step, both its ends lie in one: nobody sees the ball above the floor, and it goes on falling.
#[test]
fn the_ball_ends_below_the_floor() {
    let fmu = Fmu::new("ball", 2, 1);
    let mut run = Run::begin(&fmu, 0.0, |_, _| ());
    run.to(4.0, 1e-3);
    let fell_at = *run.events_of(Cause::State).last().unwrap();
    let all_flights = (2.0 / 9.81_f64).sqrt() * (1.0 + 2.0 * 0.7 / 0.3);
    // What is left then is a flight of at most a step, and those that would follow it.
    assert!((0.0..1e-3 / 0.3).contains(&(all_flights - fell_at)), "{fell_at}, {all_flights}");
    assert!(fmu.integer("bounces") > 15 && run.x[0] < -1.0, "{} bounces, {} m", fmu.integer("bounces"), run.x[0]);
}

#[test]
fn the_counter_counts_seconds_and_ends_itself_at_thirteen() {
    for (name, start) in [("inc", 0.0), ("inc", 1e6), ("inc_fmi1", 0.0), ("inc_fmi1", -3.5)] {
        let fmu = Fmu::new(name, 0, 0);
        let mut run = Run::begin(&fmu, start, |_, _| ());
        run.to(start + 20.0, 0.3);
        assert!(run.over);
        assert_eq!(fmu.integer("counter"), 13);
        let seconds: Vec<f64> = (1..=12).map(|second| start + f64::from(second)).collect();
        assert_eq!(run.events_of(Cause::Time), seconds);
        assert_eq!(run.events.len(), 12);
    }
}

/// RK4 of an equation of the test's own.
fn integrate<const N: usize>(
    mut y: [f64; N],
    h: f64,
    steps: usize,
    slope: impl Fn(f64, [f64; N]) -> [f64; N],
) -> [f64; N] {
    let on = |y: [f64; N], k: [f64; N], h: f64| std::array::from_fn(|i| y[i] + h * k[i]);
    for step in 0..steps {
        let t = step as f64 * h;
        let k1 = slope(t, y);
        let k2 = slope(t + 0.5 * h, on(y, k1, 0.5 * h));
        let k3 = slope(t + 0.5 * h, on(y, k2, 0.5 * h));
        let k4 = slope(t + h, on(y, k3, h));
        y = std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    y
}

/// Against the equation of the angle, which has no constraint and no choice of states.
#[test]
fn the_pendulum_changes_its_states_and_moves_as_the_angle_does() {
    let fmu = Fmu::new("pendulum", 2, 0);
    let mut run = Run::begin(&fmu, 0.0, |_, _| ());
    let mut angle = [2.5, 0.0];
    for _ in 0..100 {
        run.to(run.time + 0.1, 5e-4);
        angle = integrate(angle, 1e-4, 1000, |_, [a, w]| [w, -9.81 * a.sin()]);
        near(fmu.real("x"), angle[0].sin(), 1e-8);
        near(fmu.real("y"), -angle[0].cos(), 1e-8);
        near(fmu.real("vx"), angle[1] * angle[0].cos(), 1e-7);
    }
    let steps = run.events_of(Cause::Step).len();
    assert_eq!((fmu.integer("changes") as usize, run.events.len()), (steps, steps));
    assert!(steps >= 20, "{steps}");
    assert_eq!(run.halved, 0);
}

/// Where the chosen coordinate can get no larger, the FMU discards a step; a shorter one, and then the event, get by.
#[test]
fn a_step_of_the_pendulum_that_leads_out_of_its_circle_is_discarded() {
    let fmu = Fmu::new("pendulum", 2, 0);
    let mut run = Run::begin(&fmu, 0.0, |_, _| ());
    run.to(2.0, 0.6);
    assert!(run.halved > 0);
    assert!(messages().iter().any(|message| message.contains("there is no value at")));
}

/// The momentum is what the torque alone gives it, whatever the clutches do.
#[test]
fn the_clutches_keep_the_momentum_and_go_through_all_their_modes() {
    let fmu = Fmu::new("clutches", 8, 54);
    let mut run = Run::begin(&fmu, 0.0, |_, _| ());
    let (mut modes, mut events) = ([[false; 6]; 3], 0);
    while run.time < 10.0 {
        run.step(10.0, 2e-3);
        let t = run.time;
        near(run.x[4..].iter().sum(), 10.0 + (1.0 - (10.0 * PI * t).cos()) / PI, 1e-8);
        for (clutch, seen) in modes.iter_mut().enumerate() {
            let mode = fmu.integer(&format!("clutch{}.mode", clutch + 1)) as usize;
            seen[mode] = true;
            let slip = run.x[4 + clutch] - run.x[5 + clutch];
            let is_right = match mode {
                0 => true,
                1 => slip == 0.0,
                2 => slip > 0.0,
                3 => slip < 0.0,
                4 => (0.0..1e-6).contains(&slip),
                _ => (0.0..1e-6).contains(&-slip),
            };
            // An event is where that is about to change.
            assert!(is_right || run.events.len() > events, "clutch {clutch} in mode {mode} at {t}: {slip:e}");
        }
        events = run.events.len();
    }
    assert_eq!(modes[0], [true; 6]);
    assert_eq!(modes[1][..3], [true; 3]);
    assert_eq!(modes[2][..3], [true; 3]);
    assert_eq!(run.events_of(Cause::Time), [0.4, 0.9]);
    assert!(run.events_of(Cause::State).len() >= 40, "{}", run.events.len());
}

/// J, of the suspension on an even road, by its numbers.
fn energy_of_suspension(x: &[f64]) -> f64 {
    let [body, wheel, body_velocity, wheel_velocity] = x else { panic!("{x:?}") };
    let (deflection, pressed) = (wheel - body, (-wheel).max(0.0));
    let moving = 150.0 * body_velocity.powi(2) + 30.0 * wheel_velocity.powi(2);
    let lifted = 9.81 * (300.0 * body + 60.0 * wheel);
    moving + lifted + 8e3 * deflection.powi(2) + 50e3 * (deflection - 0.26).max(0.0).powi(2) + 95e3 * pressed.powi(2)
}

/// It rests under its weight, and without a damper what a bump has given it stays, through flights of the wheel and the bump stop.
#[test]
fn the_suspension_keeps_its_energy_when_the_wheel_leaves_the_road() {
    let fmu = Fmu::new("suspension", 4, 2);
    for name in ["softest", "damping", "wave_height", "pothole_height"] {
        fmu.set(name, 0.0);
    }
    let mut run = Run::begin(&fmu, 0.0, |_, _| ());
    near(fmu.real("deflection"), 300.0 * 9.81 / 16e3, 1e-12);
    near(fmu.real("tyre_force"), 360.0 * 9.81, 1e-9);
    let at_rest = energy_of_suspension(&run.x);
    run.to(1.0, 1e-3);
    near(energy_of_suspension(&run.x), at_rest, 1e-9);
    let bump_end = 1.0 + 1.2 / 20.0;
    run.to(bump_end, 2.5e-4);
    let given = energy_of_suspension(&run.x);
    assert!(given > at_rest + 100.0, "{given} J");
    while run.time < 4.0 {
        run.step(4.0, 2.5e-4);
        near(energy_of_suspension(&run.x), given, 1e-5);
    }
    let (flights, stops) = (fmu.integer("flights"), fmu.integer("stops"));
    assert!(flights >= 5 && stops >= 5, "{flights}, {stops}");
    assert_eq!(run.events_of(Cause::Time), [1.0, bump_end, 3.0, 3.0 + 1.2 / 20.0]);
    // Each flight and each stop has two events, but for those that are not over.
    let mut z = [0.0; 2];
    assert_eq!(fmu.get_reals(fmu.reference("z"), &mut z), OK);
    let not_over = usize::from(z[0] <= 0.0) + usize::from(z[1] > 0.0);
    assert_eq!(run.events_of(Cause::State).len(), 2 * (flights + stops) as usize - not_over);
}

type Matrix = Vec<Vec<f64>>;

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let entry = |row: usize, column: usize| (0..b.len()).map(|k| a[row][k] * b[k][column]).sum();
    (0..a.len()).map(|row| (0..b[0].len()).map(|column| entry(row, column)).collect()).collect()
}

/// exp(A t), by its series for a small part of t, squared as often as that takes.
fn exponential(a: &Matrix, t: f64) -> Matrix {
    const HALVED: u32 = 16;
    let n = a.len();
    let part: Matrix = a.iter().map(|row| row.iter().map(|a| a * t / f64::from(1 << HALVED)).collect()).collect();
    let one: Matrix = (0..n).map(|row| (0..n).map(|column| f64::from(u8::from(row == column))).collect()).collect();
    let mut sum = one.clone();
    for k in (1..=12).rev() {
        sum = product(&part, &sum);
        for (row, line) in sum.iter_mut().enumerate() {
            for (column, entry) in line.iter_mut().enumerate() {
                *entry = *entry / f64::from(k) + one[row][column];
            }
        }
    }
    for _ in 0..HALVED {
        sum = product(&sum, &sum);
    }
    sum
}

/// The sine is two states more: s' = w c, c' = -w s.
#[test]
fn the_mechanics_follow_their_matrix_exponential() {
    for own in [true, false] {
        let fmu = Fmu::new("mechanics", 4, 0);
        let (torque, w) = (fmu.reference("torque"), 4.0 * PI);
        if !own {
            fmu.set("amplitude", 0.0);
        }
        let input = move |fmu: &Fmu, t: f64| {
            if !own {
                assert_eq!(fmu.set_real(torque, 10.0 * (w * t).sin()), OK);
            }
        };
        let mut run = Run::begin(&fmu, 0.0, input);
        let (j1, j2, n, c, d, d1, d2) = (0.05, 2.0, 10.0, 1000.0, 5.0, 0.02, 0.5);
        #[rustfmt::skip]
        let a: Matrix = vec![
            vec![0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
            vec![-c / (n * n * j1), -(d1 + d / (n * n)) / j1, c / (n * j1), d / (n * j1), 10.0 / j1, 0.0],
            vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
            vec![c / (n * j2), d / (n * j2), -c / j2, -(d + d2) / j2, 0.0, 0.0],
            vec![0.0, 0.0, 0.0, 0.0, 0.0, w],
            vec![0.0, 0.0, 0.0, 0.0, -w, 0.0],
        ];
        let half = exponential(&a, 0.5);
        let mut right: Matrix = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0].map(|x| vec![x]).to_vec();
        for second in 1..=20 {
            run.to(f64::from(second) / 2.0, 5e-4);
            right = product(&half, &right);
            for (x, right) in run.x.iter().zip(&right) {
                near(*x, right[0], 1e-8);
            }
        }
        assert!(run.events.is_empty());
    }
}

/// y is connected to u2: the loop is solved by the partial derivative, which makes one step of Newton's exact.
#[test]
fn the_feedback_is_half_a_sine() {
    let fmu = Fmu::new("feedback", 0, 0);
    let _run = Run::begin(&fmu, 0.0, |_, _| ());
    let [u1, u2, y] = ["u1", "u2", "y"].map(|name| fmu.reference(name));
    for step in 0..100 {
        let t = f64::from(step) / 10.0;
        assert_eq!(fmu.set_real(u1, t.sin()), OK);
        assert_eq!(fmu.set_real(u2, 0.0), OK);
        let mut slope = [0.0];
        assert_eq!(fmu.directional(&[y], &[u2], &[1.0], &mut slope), OK);
        let solution = fmu.real("y") / (1.0 - slope[0]);
        assert_eq!(fmu.set_real(u2, solution), OK);
        near(fmu.real("y"), 0.5 * t.sin(), 1e-15);
        near(fmu.real("y"), solution, 1e-15);
    }
}

/// What `linear` says its matrices are.
pub fn linear(matrix: char, row: usize, column: usize) -> f64 {
    let (r, c) = (row as f64, column as f64);
    match (matrix, row, column) {
        ('A', 0, 11) => 0.125,
        ('A', 7, 2) => -0.3125,
        ('A', ..) if row == column => -1.0 - r / 4.0,
        ('A', ..) if column == row + 1 => 0.5 + r / 16.0,
        ('A', ..) if row == column + 1 => -0.375 - c / 32.0,
        ('B', 0, 0) => 1.5,
        ('B', 6, 1) => -1.75,
        ('C', 0, 0) => 2.0,
        ('C', 1, 5) => -3.0,
        ('C', 1, 6) => 0.5,
        ('C', 2, 11) => 1.25,
        ('D', 2, 1) => 1.125,
        _ => 0.0,
    }
}

#[test]
fn the_linear_system_has_its_matrices_in_derivatives_differences_and_dependencies() {
    let fmu = Fmu::new("linear", 12, 0);
    let run = Run::begin(&fmu, 0.0, |_, _| ());
    let references =
        |name: &str, n: usize| -> Vec<u32> { (0..n).map(|i| fmu.reference(&format!("{name}[{i}]"))).collect() };
    let [x, der, u, y] = [
        references("x", 12),
        (0..12).map(|i| fmu.reference(&format!("der(x[{i}])"))).collect(),
        references("u", 2),
        references("y", 3),
    ];
    for (matrix, unknowns, knowns) in [('A', &der, &x), ('B', &der, &u), ('C', &y, &x), ('D', &y, &u)] {
        for (column, known) in knowns.iter().enumerate() {
            let mut sensitivity = vec![f64::NAN; unknowns.len()];
            assert_eq!(fmu.directional(unknowns, &[*known], &[2.0], &mut sensitivity), OK);
            for (row, entry) in sensitivity.iter().enumerate() {
                near(*entry / 2.0, linear(matrix, row, column), 1e-12);
            }
        }
    }
    assert_eq!(fmu.integer("directional_derivatives"), 28);
    assert_eq!(fmu.integer("right_hand_sides"), 0);

    // Differences: of a linear system they are exact but for rounding.
    let slope = |x: &[f64]| {
        assert_eq!(fmu.set_states(x), OK);
        let mut slope = vec![0.0; 12];
        assert_eq!(fmu.get_derivatives(&mut slope), OK);
        slope
    };
    let before = slope(&run.x);
    for column in 0..12 {
        let mut shifted = run.x.clone();
        shifted[column] += 1.0;
        for (row, (after, before)) in slope(&shifted).iter().zip(&before).enumerate() {
            near(after - before, linear('A', row, column), 1e-12);
        }
    }
    assert_eq!(fmu.integer("right_hand_sides"), 13);

    let structure = &fmu.description.structure;
    let unknowns = structure.continuous_state_derivatives.iter().chain(&structure.outputs[..3]);
    for (row, unknown) in unknowns.enumerate() {
        let of = |matrix: char, row: usize, knowns: &[u32]| -> Vec<u32> {
            let is_there = |column: &usize| linear(matrix, row, *column) != 0.0;
            (0..knowns.len()).filter(is_there).map(|column| knowns[column]).collect()
        };
        let right = match row.checked_sub(12) {
            None => [of('A', row, &x), of('B', row, &u)].concat(),
            Some(row) => [of('C', row, &x), of('D', row, &u)].concat(),
        };
        let told = unknown.dependencies.as_ref().unwrap();
        assert_eq!(told.iter().map(|dependency| dependency.on.reference.0).collect::<Vec<_>>(), right, "row {row}");
    }
}

/// Without damping the energy stays, whatever the size.
#[test]
fn the_chain_is_of_any_size_and_keeps_its_energy() {
    for (name, size, states, indicators) in
        [("scale", None, 36, 98), ("scale", Some((8, 5)), 8, 5), ("scale_large", None, 130, 1090)]
    {
        let fmu = Fmu::new(name, states, indicators);
        if let Some((states, indicators)) = size {
            assert_eq!(fmu.resize(fmu.reference("states"), states), OK);
            assert_eq!(fmu.resize(fmu.reference("indicators"), indicators), OK);
        }
        let mut run = Run::begin(&fmu, 0.0, |_, _| ());
        near(fmu.real("energy"), 100.0, 1e-12);
        run.to(0.5, 2e-3);
        near(fmu.real("energy"), 100.0, 1e-3);
        let crossings = fmu.integer("crossings") as usize;
        assert!(crossings >= indicators.min(40), "{name}: {crossings}");
        assert!(run.events_of(Cause::State).len() > crossings / 2);
    }
}
