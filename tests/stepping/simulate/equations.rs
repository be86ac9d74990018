//! FMUs for Model Exchange: what they tell of themselves is integrated, with their events, in all versions of FMI alike.

use super::{Place, Simulated, copy, fmu, simulate};

/// When a ball that is dropped from 1 m bounces, with g = 9.81 m/s² and 0.7 of its speed left after each bounce.
fn bounces(count: usize) -> Vec<f64> {
    let (g, e) = (9.81_f64, 0.7);
    let first = (2.0 / g).sqrt();
    let rising = std::iter::successors(Some(g * first * e), |v| Some(v * e));
    let mut times = vec![first];
    for v in rising.take(count - 1) {
        times.push(times[times.len() - 1] + 2.0 * v / g);
    }
    times
}

/// The times of the rows from before those at which this column has changed.
fn changes(simulated: &Simulated, name: &str) -> Vec<f64> {
    let (times, values) = (simulated.column("time"), simulated.column(name));
    let pairs = times.windows(2).zip(values.windows(2));
    pairs
        .filter(|(_, values)| values[0] != values[1])
        .map(|(times, _)| {
            assert_eq!(times[0], times[1], "an event has two rows of its time");
            times[0]
        })
        .collect()
}

/// The ball of the thesis on FMI 1.0 in Simulink: its indicator changes its domain twice a bounce, within 1e-14 m of the ground. Each
/// bounce is where the closed form has it, by either kind of method, and in the version of that time.
#[test]
fn a_ball_bounces_when_its_closed_form_says() {
    for name in ["ball", "ball_draft", "ball_fmi1"] {
        for solver in ["rk4", "dopri5"] {
            let simulated = simulate(fmu(name), &["--solver", solver, "--stop-time", "2.4"]).exits(0);
            let seen = changes(&simulated, "bounces");
            let expected = bounces(seen.len());
            assert!(seen.len() >= 7, "{name}, {solver}: {seen:?}");
            let off = seen.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-9, "{name}, {solver}: {off}");
            let (bounced, switched) = (simulated.column("bounces"), simulated.column("switches"));
            let last = seen.len() as f64;
            assert_eq!(bounced.last(), Some(&last));
            assert!(switched.last().is_some_and(|switches| (2.0 * last - 1.0..=2.0 * last).contains(switches)));
        }
    }
}

/// Each reason for an event that the draft of FMI 3.0 tells the FMU, which refuses any other than the right one: state events with the
/// direction of each indicator, a step event, time events, both at once, and none of them where an input changes.
#[test]
fn an_fmu_of_the_draft_is_told_why_there_is_an_event() {
    for solver in ["rk4", "dopri5", "bdf"] {
        let place = Place::new().with("in.csv", "time,d\n0,0\n0.72,1\n");
        let arguments = ["--solver", solver, "--input-file", "in.csv"];
        let simulated = place.simulate(fmu("reasons_draft"), &arguments).exits(0);
        for (kind, times) in [
            ("time", &[0.4, 0.9][..]),
            ("rising", &[0.3, 0.9]),
            ("falling", &[0.55]),
            ("both", &[0.9]),
            ("none", &[0.72]),
        ] {
            let seen = changes(&simulated, &format!("{kind}_events"));
            assert_eq!(seen.len(), times.len(), "{kind}, {solver}: {seen:?}");
            assert!(seen.iter().zip(times).all(|(a, b)| (a - b).abs() < 1e-12), "{kind}, {solver}: {seen:?}");
        }
        assert_eq!(simulated.column("step_events").last(), Some(&1.0), "{solver}");
        assert!(simulated.column("last_step").last().is_some_and(|at| (0.65..0.9).contains(at)), "{solver}");
    }
}

/// Clocks tick between the steps of the integrator, at their instants, and what is integrated goes on from what they have made of it: between
/// two samples a plant is where its closed form says. A column of a triggered clock ticks it, with the value of the row.
#[test]
fn clocks_of_a_plant_tick_at_their_instants() {
    let place = Place::new().with("in.csv", "time,called,message\n0,0,0\n0.0333,1,0.25\n0.0334,0,0\n");
    for solver in [
        &["rk4", "--fixed-step-size", "0.001"][..],
        &["dopri5", "--tolerance", "1e-12"],
        &["bdf", "--tolerance", "1e-12"],
    ] {
        let arguments =
            [&["--interface-type", "me", "--stop-time", "0.1", "--input-file", "in.csv", "--solver"], solver].concat();
        let simulated = place.simulate(fmu("sampled"), &arguments).exits(0);
        let (mut x, mut v, mut before, mut worst) = (0.0, 0.0, 0.0, 0.0_f64);
        let columns = ["time", "x", "v", "n_sample", "n_called", "n_later"].map(|name| simulated.column(name));
        let [times, xs, vs, samples, calls, laters] = &columns;
        let mut seen = [0.0; 3];
        for row in 0..times.len() {
            x = v + (x - v) * (-(times[row] - before) / 0.1_f64).exp();
            before = times[row];
            let now = [samples[row], calls[row], laters[row]];
            if now[0] > seen[0] {
                v += 0.2 * (1.0 - x);
            }
            x += 0.25 * ((now[1] - seen[1]) - (now[2] - seen[2]));
            seen = now;
            worst = worst.max((xs[row] - x).abs()).max((vs[row] - v).abs());
        }
        assert!(worst < 1e-9, "{worst}, {solver:?}");
        assert_eq!(seen, [7.0, 1.0, 1.0], "{solver:?}");
        let last = |name: &str| *simulated.column(name).last().unwrap();
        assert_eq!((last("last_called"), last("last_message")), (0.0333, 0.25), "{solver:?}");
        assert!((last("last_later") - 0.0376).abs() < 1e-15, "{solver:?}");
        let counts = ["n_fixed", "n_tuned", "n_changing", "n_out", "n_crossed"].map(last);
        // No clock ticks at the stop time itself.
        assert_eq!(counts, [5.0, 4.0, 11.0, 7.0, 0.0], "{solver:?}");
    }
}

/// A model without states: a counter with a time event each second, which asks for the end of the run when it comes to 13.
#[test]
fn a_discrete_model_is_led_from_time_event_to_time_event() {
    for name in ["inc", "inc_fmi1"] {
        let simulated = simulate(fmu(name), &["--interface-type", "me"]).exits(0);
        assert!(simulated.stderr.contains("asked for the end of the run"), "{}", simulated.stderr);
        let expected: Vec<f64> = (1..=12).map(f64::from).collect();
        assert_eq!(changes(&simulated, "counter"), expected, "{name}");
        assert_eq!(simulated.column("counter").last(), Some(&13.0), "{name}");
    }
}

/// How much smaller the error of a spring at 3 s gets with steps of half the size, as a power of two.
fn measured_order(name: &str, solver: &str, step: f64) -> f64 {
    let error = |step: f64| {
        let fixed = step.to_string();
        let end = ["--stop-time", "3", "--output-interval", "1"];
        let run = |arguments: &[&str]| simulate(fmu(name), &[&end[..], arguments].concat()).exits(0);
        let exact = run(&["--solver", "dopri5", "--tolerance", "1e-13"]);
        let own = run(&["--solver", solver, "--fixed-step-size", &fixed]);
        let last = |run: &Simulated| run.column("inertia1.phi").last().copied().unwrap();
        (last(&own) - last(&exact)).abs()
    };
    (error(step) / error(step / 2.0)).log2()
}

#[test]
fn methods_have_their_order_through_the_program() {
    assert!((measured_order("spring", "euler", 0.00025) - 1.0).abs() < 0.1);
    assert!((measured_order("spring", "rk4", 0.02) - 4.0).abs() < 0.1);
    assert!((measured_order("spring_fmi2", "rk4", 0.02) - 4.0).abs() < 0.1);
}

/// The same model computes the same bits, whatever version of FMI its functions are of.
#[test]
fn versions_agree_to_the_last_bit() {
    for arguments in [&["--solver", "rk4"][..], &["--solver", "dopri5"]] {
        let text = |name: &str| simulate(fmu(name), arguments).exits(0).stdout;
        assert_eq!(text("spring"), text("spring_fmi2"));
    }
}

/// A pendulum whose states are sometimes (x, vx) and sometimes (y, vy): it asks for an event when an integrator step is completed, and
/// its states are read anew then. It stays on its circle, and its energy is that of the start.
#[test]
fn states_are_read_anew_where_a_step_event_has_changed_them() {
    let simulated = simulate(fmu("pendulum"), &["--solver", "dopri5", "--tolerance", "1e-9"]).exits(0);
    assert!(simulated.column("changes").last().is_some_and(|changes| *changes >= 20.0));
    let columns = ["x", "y", "vx", "vy"].map(|name| simulated.column(name));
    let [x, y, vx, vy] = columns.each_ref().map(|column| column.iter());
    for (row, (((x, y), vx), vy)) in x.zip(y).zip(vx).zip(vy).enumerate() {
        assert!((x * x + y * y - 1.0).abs() < 1e-9, "row {row}");
        assert!((x * vx + y * vy).abs() < 1e-6, "row {row}");
    }
}

/// Equations follow their inputs at once: the row of a time has what is computed of the inputs that are set at that time.
#[test]
fn outputs_of_a_row_belong_to_its_inputs() {
    let place = Place::new().with("in.csv", "time,u1,u2\n0,1,0\n1,3,1\n");
    let arguments = ["--input-file", "in.csv", "--stop-time", "1", "--output-interval", "0.25"];
    let columns = ["--output-variable", "u1", "--output-variable", "u2", "--output-variable", "y"];
    let simulated = place.simulate(fmu("feedback"), &[&arguments[..], &columns].concat()).exits(0);
    let [u1, u2, y] = ["u1", "u2", "y"].map(|name| simulated.column(name));
    assert_eq!(u1[..4], [1.0, 1.5, 2.0, 2.5]);
    for row in 0..4 {
        assert_eq!(y[row], u1[row] - u2[row], "row {row}");
    }
}

/// A system of twelve states whose Jacobian has four colours, and that counts what it is asked. Where it computes directional derivatives,
/// the method for stiff equations takes as many as there are colours for a Jacobian; else as many right-hand sides more. Where the
/// description tells of no dependencies, it takes one for each state.
#[test]
fn a_jacobian_takes_as_few_calls_as_it_can() {
    let description = std::fs::read_to_string(fmu("linear").join("modelDescription.xml")).unwrap();
    let without = |what: &str| {
        assert!(description.contains(what), "{what}");
        description.replace(what, "")
    };
    let provided = " providesDirectionalDerivatives=\"true\"";
    let mut dense = without(provided);
    let structure = dense.find("<ContinuousStateDerivative").unwrap();
    for _ in 0..12 {
        let begin = structure + dense[structure..].find(" dependencies=\"").unwrap();
        let end = begin + dense[begin..].find("/>").unwrap();
        dense.replace_range(begin..end, "");
    }
    let counted = |description: &str| {
        let place = Place::new();
        copy(&fmu("linear"), &place.path("linear"));
        copy(&fmu("common"), &place.path("common"));
        std::fs::write(place.path("linear/modelDescription.xml"), description).unwrap();
        let columns = ["y[0]", "directional_derivatives", "right_hand_sides"];
        let columns = columns.map(|name| ["--output-variable", name]).concat();
        let arguments = [&["--solver", "bdf", "--tolerance", "1e-8"][..], &columns].concat();
        let simulated = place.simulate("linear", &arguments).exits(0);
        [0, 1, 2].map(|column| *simulated.column(columns[2 * column + 1]).last().unwrap())
    };
    let [y, directional, right_hand_sides] = counted(&description);
    let [by_differences, none, more] = counted(&without(provided));
    let [by_all_differences, _, most] = counted(&dense);
    assert_eq!((directional % 4.0, none), (0.0, 0.0));
    assert!(directional > 0.0);
    let jacobians = directional / 4.0;
    assert_eq!(more, right_hand_sides + 4.0 * jacobians);
    assert_eq!(most, right_hand_sides + 12.0 * jacobians);
    assert!((y - by_differences).abs() < 1e-8 && (y - by_all_differences).abs() < 1e-8);
}

/// What integrates is said, and not taken for something else.
#[test]
fn options_of_the_integration_that_do_not_fit_are_named() {
    for (name, arguments, words) in [
        (
            "spring",
            &["--solver", "runge"][..],
            "must be one of euler, rk4, dopri5, bdf, auto, or cvode, which is taken for bdf",
        ),
        (
            "spring",
            &["--solver", "dopri5", "--fixed-step-size", "0.001"],
            "is for solvers with a fixed step (euler, rk4)",
        ),
        ("spring", &["--fixed-step-size", "0.001"], "is for solvers with a fixed step (euler, rk4)"),
        (
            "spring",
            &["--solver", "rk4", "--fixed-step-size", "0.5", "--output-interval", "0.1"],
            "is longer than its step",
        ),
        (
            "spring",
            &["--tolerance", "1e300"],
            "--tolerance 1e300: the tolerance of spring, 1e300, is not from 1e-15 to below 1",
        ),
        ("spring", &["--tolerance", "1e-300"], "--tolerance 1e-300: the tolerance of spring, 1e-300, is not from"),
        (
            "scale",
            &["--solver", "bdf", "--start-value", "states=60000"],
            "--solver bdf: scale has 60000 continuous states, and matrices for stiff equations are made for 2000 at most",
        ),
        ("spring", &["--event-mode-used", "true"], "--event-mode-used is for FMUs that run with Co-Simulation"),
        ("spring", &["--retry-steps", "true"], "--retry-steps is for FMUs that run with Co-Simulation"),
        ("stepper", &["--solver", "rk4"], "--solver is for FMUs that run with Model Exchange"),
        ("tracer", &["--tolerance", "1e-3"], "is for FMUs that run with Co-Simulation or Model Exchange"),
    ] {
        let refused = simulate(fmu(name), arguments).exits(2);
        assert!(refused.stderr.contains(words), "{arguments:?}: {}", refused.stderr);
        assert!(!refused.stderr.contains("internal_step"), "a key of rigs: {}", refused.stderr);
        assert_eq!(refused.stdout, "", "{arguments:?}");
    }
}

/// What the FMU has said of it stands there already, or in the file for that; there is no run.log.
#[test]
fn warnings_are_told_without_files_that_are_not_there() {
    let arguments = ["--start-value", "function=fmi3SetTime", "--start-value", "status=1", "--solver", "rk4"];
    let simulated = simulate(fmu("failing"), &arguments).exits(0);
    assert!(simulated.stderr.contains("1 call returned fmi3Warning, as it has logged\n"), "{}", simulated.stderr);
    assert!(!simulated.stderr.contains("run.log"), "{}", simulated.stderr);
}

/// Numbers of states and indicators that are not those of the description are an error before anything is computed.
#[test]
fn an_fmu_that_has_other_numbers_than_it_describes_is_refused() {
    let indicator = "    <EventIndicator valueReference=\"3\" dependencies=\"1\"/>\n";
    let state = "    <ContinuousStateDerivative valueReference=\"2\" dependencies=\"4 6\"/>\n";
    for (without, words) in [
        (indicator, "fmi3GetNumberOfEventIndicators says 1, and by its modelDescription.xml it has 0"),
        (state, "fmi3GetNumberOfContinuousStates says 1, and by its modelDescription.xml it has 0"),
    ] {
        let place = Place::new();
        copy(&fmu("failing"), &place.path("failing"));
        let file = place.path("failing/modelDescription.xml");
        let description = std::fs::read_to_string(&file).unwrap();
        assert!(description.contains(without), "{without}");
        std::fs::write(&file, description.replace(without, "")).unwrap();
        let refused = place.simulate("failing", &[]).exits(2);
        assert!(refused.stderr.contains("failing") && refused.stderr.contains(words), "{}", refused.stderr);
        assert_eq!(refused.stderr.matches(words).count(), 1, "{}", refused.stderr);
        assert!(refused.rows().is_empty(), "{}", refused.stdout);
    }
}

/// What `failing` with gain 0 integrates of an input that begins at 0 and is on lines between these points: x' = u, but where x comes to 1
/// it falls to 0.
fn integral(points: &[(f64, f64)], time: f64) -> f64 {
    let mut area = 0.0;
    for pair in points.windows(2) {
        let [(begin, from), (end, to)] = [pair[0], pair[1]];
        let until = time.clamp(begin, end);
        let there = from + (to - from) * (until - begin) / (end - begin);
        area += 0.5 * (from + there) * (until - begin);
    }
    area
}

/// Inputs of a file are on their lines within the steps of a solver, and the rows of the file end these: a quadrature of second order is
/// exact, also where rows are off the grid of the recorded ones, which has no more rows for that. A state event is where the closed
/// form has it.
#[test]
fn inputs_are_on_their_lines_within_steps() {
    let points = [(0.0, 0.0), (0.37, 1.0), (0.61, 0.25), (0.7, 0.25), (1.9, 0.75), (3.0, 0.5)];
    let rows: String = points.iter().map(|(time, u)| format!("{time},{u}\n")).collect();
    let place = Place::new().with("in.csv", &format!("time,u\n{rows}"));
    let columns = ["u", "x", "falls"].map(|name| ["--output-variable", name]).concat();
    // The events that the FMU asks for have bdf begin anew every ten steps.
    for (solver, tolerance, bound) in [("rk4", "", 1e-12), ("dopri5", "1e-10", 1e-12), ("bdf", "1e-6", 1e-4)] {
        let own = ["--input-file", "in.csv", "--start-value", "gain=0", "--output-interval", "0.5", "--solver", solver];
        let tolerance: &[&str] = if tolerance.is_empty() { &[] } else { &["--tolerance", tolerance] };
        let simulated = place.simulate(fmu("failing"), &[&own[..], tolerance, &columns].concat()).exits(0);
        let [times, u, x, falls] = ["time", "u", "x", "falls"].map(|name| simulated.column(name));
        for row in 0..times.len() {
            let off = x[row] + falls[row] - integral(&points, times[row]);
            assert!(off.abs() < bound, "{solver}, {} s: {off}", times[row]);
        }
        // Every row has the input as it is on its line then.
        let expected = |time: f64| {
            let after = points.iter().position(|(end, _)| *end >= time).unwrap().max(1);
            let [(begin, from), (end, to)] = [points[after - 1], points[after]];
            from + (to - from) * (time - begin) / (end - begin)
        };
        let off = times.iter().zip(&u).map(|(time, u)| (u - expected(*time)).abs()).fold(0.0, f64::max);
        assert!(off < 1e-12, "{solver}: {off}");
        // A row of the file has none here, unless an event falls on it, which has two.
        let rows_at = |at: f64| times.iter().filter(|time| **time == at).count();
        assert!([0.37, 0.61, 0.7, 1.9].iter().all(|at| rows_at(*at) != 1), "{solver}");
        let fall = times.iter().zip(&falls).find(|(_, falls)| **falls == 1.0).unwrap().0;
        assert!((integral(&points, *fall) - 1.0).abs() < bound, "{solver}: {fall}");
    }
}

/// More rows than are read ahead: a step waits for the row at which its line ends.
#[test]
fn lines_are_followed_through_a_long_file() {
    let u = |row: u32| f64::from(row % 7);
    let rows: String = (0..=20_000).map(|row| format!("{:?},{}\n", f64::from(row) * 1e-5, u(row))).collect();
    let place = Place::new().with("in.csv", &format!("time,u\n{rows}"));
    let own = ["--input-file=in.csv", "--stop-time=0.2", "--output-interval=0.05", "--start-value=gain=0"];
    let simulated = place.simulate(fmu("failing"), &[&own[..], &["--solver=rk4"]].concat()).exits(0);
    let area: f64 = (0..20_000).map(|row| 0.5e-5 * (u(row) + u(row + 1))).sum();
    assert!((simulated.column("x").last().unwrap() - area).abs() < 1e-10);
}

/// However far apart rows are, all events are located: here more than a hundred between two of them.
#[test]
fn rows_do_not_bound_the_number_of_events() {
    let events = |interval: &str| {
        let more = ["--solver", "rk4", "--output-interval", interval, "--fixed-step-size", "0.01", "--stop-time", "2"];
        let simulated = simulate(fmu("ball"), &more).exits(0);
        assert_eq!(simulated.stderr, "", "{interval}");
        *simulated.column("switches").last().unwrap()
    };
    let scale = |interval: &str| {
        let simulated = simulate(fmu("scale"), &["--output-interval", interval, "--stop-time", "40"]).exits(0);
        assert_eq!(simulated.stderr, "", "{interval}");
        simulated.rows().len()
    };
    assert_eq!(events("2"), events("0.5"));
    // Each event has two rows beside those at 0, 1, ... s.
    assert_eq!(scale("40") - 2, scale("1") - 41);
    assert!(scale("40") > 2 + 2 * 100);
}

/// What switches to and fro within a band so narrow that nobody wants all of its rows is bounded and told, as in a run; the state stays
/// within a row of its band. Where the band is wider, or rows are as close, all switches have their rows and nothing is told.
#[test]
fn switches_within_a_narrow_band_are_bounded_and_told() {
    let run = |band: &str, interval: &str, stop: &str| {
        let band = format!("band={band}");
        let own = ["--start-value", &band, "--output-interval", interval, "--stop-time", stop];
        simulate(fmu("relay"), &own).exits(0)
    };
    let told = "fmu `relay`: had more than 100 events within a billionth of a second";
    for band in ["1e-9", "1e-10", "1e-11", "1e-12", "1e-15"] {
        let simulated = run(band, "0.25", "1");
        assert!(simulated.stderr.contains(told), "{band}: {}", simulated.stderr);
        // A hundred in each row, and what is found at its end.
        assert!(simulated.column("switches").last().is_some_and(|switches| *switches < 500.0), "{band}");
        assert!(simulated.column("x").iter().all(|x| x.abs() < 0.26), "{band}");
    }
    for (band, interval, stop) in [("1e-3", "0.25", "1"), ("1e-9", "1e-7", "1e-6"), ("1e-10", "1e-8", "1e-7")] {
        let simulated = run(band, interval, stop);
        assert_eq!(simulated.stderr, "", "{band}");
        let most = band.parse::<f64>().unwrap() * (0.5 + 1e-6);
        assert!(simulated.column("x").iter().all(|x| x.abs() <= most), "{band}");
    }
}

/// More events than may be located in a step: what is left comes at its end, and is told.
#[test]
fn events_without_end_are_bounded_and_told() {
    let place = Place::new();
    let rig = format!(
        "[rig]\nmode = \"virtual\"\nstop_time = 3\n[fmu.ball]\npath = {:?}\nstep = 0.5\nsolver = \"rk4\"\ninternal_step = 0.01\n\
         max_events = 2\n",
        fmu("ball")
    );
    let place = place.with("rig.toml", &rig);
    let run = place.command_of("run", &place.path("rig.toml"), &["--out", "out"]).output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned() + &String::from_utf8_lossy(&run.stdout);
    assert_eq!(run.status.code(), Some(0), "{said}");
    assert!(said.contains("had more than 2 events in"), "{said}");
}

/// Rows of an FMU whose states nobody lists stay as they are, and who simulates it hears why.
#[test]
fn derivatives_that_are_not_listed_are_told() {
    let place = Place::new();
    copy(&fmu("spring_fmi2"), &place.path("spring"));
    let file = place.path("spring/modelDescription.xml");
    let description = std::fs::read_to_string(&file).unwrap();
    let (before, rest) = description.split_once("<Derivatives>").unwrap();
    let after = rest.split_once("</Derivatives>").unwrap().1;
    std::fs::write(&file, format!("{before}<Derivatives/>{after}")).unwrap();
    let simulated = place.simulate("spring", &[]).exits(0);
    assert!(simulated.stderr.contains("nothing of spring is integrated: \"der(x[1])\""), "{}", simulated.stderr);
    assert!(!simulate(fmu("spring_fmi2"), &[]).exits(0).stderr.contains("is integrated"));
}
