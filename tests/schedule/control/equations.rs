//! Numbers of continuous states and event indicators that change while the run goes on (FMI 3.0.2, 2.2.10 and 3.2), by a chain of masses
//! as long as its structural parameters say (`fmus/scale`).

use super::bench::{Bench, Left, SOON, at};
use super::program::{real_time, wait_until};
use crate::wait_until_recorded;
use vecud::fmu::description::Values;
use vecud::supervisor::ControlError;

const KEYS: &str = "step = '1/100'\ninternal_step = '1/1000'\nsolver = 'rk4'";

fn numbers(states: u64, indicators: u64) -> [(&'static str, Values); 2] {
    [("states", Values::UInt64(vec![states])), ("indicators", Values::UInt64(vec![indicators]))]
}

/// The states of an FMU in a row, as many as there are.
fn states(left: &Left, fmu: &str, row: &[String]) -> Vec<f64> {
    let start = format!("{fmu}.x[");
    let own = left.header.iter().zip(row).filter(|(name, value)| name.starts_with(&start) && !value.is_empty());
    own.map(|(_, value)| value.parse().unwrap()).collect()
}

/// 10 ms of the chain by the method of Runge and Kutta in steps of 1 ms, computed here.
fn ten_milliseconds(mut x: Vec<f64>) -> Vec<f64> {
    let n = x.len() / 2;
    let derivatives = |x: &[f64]| -> Vec<f64> {
        let place = |mass: usize| if mass == 0 || mass > n { 0.0 } else { x[mass - 1] };
        let force = |mass: usize| 100.0 * (place(mass - 1) - 2.0 * place(mass) + place(mass + 1));
        x[n..].iter().copied().chain((1..=n).map(force)).collect()
    };
    let moved = |x: &[f64], by: f64, k: &[f64]| -> Vec<f64> { x.iter().zip(k).map(|(x, k)| x + by * k).collect() };
    for _ in 0..10 {
        let h = 1e-3;
        let k1 = derivatives(&x);
        let k2 = derivatives(&moved(&x, h / 2.0, &k1));
        let k3 = derivatives(&moved(&x, h / 2.0, &k2));
        let k4 = derivatives(&moved(&x, h, &k3));
        for i in 0..x.len() {
            x[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    x
}

/// How far the chain is from where its row at `begin` leads, in all rows up to `end`, which have so many states.
fn off(left: &Left, fmu: &str, (begin, end): (f64, f64), count: usize) -> f64 {
    let rows = left.rows.iter().filter(|row| (begin..end).contains(&row[0].parse::<f64>().unwrap()));
    let rows: Vec<Vec<f64>> = rows.map(|row| states(left, fmu, row)).collect();
    assert!(rows.len() as f64 > (end - begin) * 100.0 - 2.0, "{} rows", rows.len());
    let mut expected = rows[0].clone();
    let mut most = 0.0_f64;
    for row in &rows {
        assert_eq!(row.len(), count);
        most = row.iter().zip(&expected).map(|(own, expected)| (own - expected).abs()).fold(most, f64::max);
        expected = ten_milliseconds(expected);
    }
    most
}

/// Cut to 4 of 18 masses while it swings, and grown again: from each change on it moves as a chain of that length does from there.
#[test]
fn a_chain_that_is_cut_moves_as_one_of_that_length() {
    for (solver, most) in [("rk4", 1e-12), ("auto", 1e-6), ("bdf", 1e-5)] {
        let keys = match solver {
            "rk4" => KEYS.to_owned(),
            _ => format!("step = '1/100'\nsolver = '{solver}'\ntolerance = 1e-9"),
        };
        let left = Bench::of("scale", &format!("{keys}\nstart = {{ indicators = 7 }}"), "").until(0.6);
        let left = left.run(|control| {
            control.reconfigure("x", &numbers(36, 0), at(0.1)).unwrap();
            control.reconfigure("x", &numbers(8, 0), at(0.195)).unwrap();
            control.reconfigure("x", &numbers(24, 0), at(0.4)).unwrap();
        });
        let left = left.passed();
        assert_eq!(left.changes("x.resized"), [(0.0, "0"), (0.1, "1"), (0.2, "2"), (0.4, "3")]);
        assert_eq!(left.changes("x.states"), [(0.0, "36"), (0.2, "8"), (0.4, "24")]);
        // Of the four that are left nobody has moved in that instant.
        let row = |time: f64| left.rows.iter().find(|row| row[0].parse::<f64>().unwrap() == time).unwrap();
        let (before, after) = (states(&left, "x", row(0.19)), states(&left, "x", row(0.2)));
        let before = ten_milliseconds(before);
        let kept: Vec<f64> = before[..4].iter().chain(&before[18..22]).copied().collect();
        let jump = after.iter().zip(&kept).map(|(after, kept)| (after - kept).abs()).fold(0.0, f64::max);
        assert!(jump <= most, "{solver}: {jump:e}");
        for (between, count) in [((0.1, 0.195), 36), ((0.2, 0.395), 8), ((0.4, 0.605), 24)] {
            let off = off(&left, "x", between, count);
            println!("{solver} {between:?}: {off:e}");
            assert!(off <= most, "{solver} {between:?}: {off:e}");
        }
    }
}

/// Before its first step it has the numbers that it could have been started with, to the last bit, and counts events as that one does.
#[test]
fn a_change_at_the_begin_is_as_a_start_with_these_numbers() {
    let columns = |left: &Left| {
        let own = |name: &String| {
            ["x.x[", "x.z[", "x.crossings", "x.energy", "time"].iter().any(|start| name.starts_with(start))
        };
        let keep: Vec<usize> = (0..left.header.len()).filter(|column| own(&left.header[*column])).collect();
        left.rows
            .iter()
            .map(|row| {
                keep.iter().map(|column| row[*column].clone()).filter(|cell| !cell.is_empty()).collect::<Vec<_>>()
            })
            .collect::<Vec<_>>()
    };
    let started = Bench::of("scale", &format!("{KEYS}\nstart = {{ states = 8, indicators = 5 }}"), "").until(0.5);
    let started = started.run(|_| ()).passed();
    assert!(started.last("x.crossings").parse::<u64>().unwrap() > 3, "{}", started.last("x.crossings"));
    let changed = Bench::of("scale", KEYS, "").until(0.5).run(|control| {
        control.reconfigure("x", &numbers(8, 5), at(0.0)).unwrap();
    });
    let changed = changed.passed();
    assert_eq!(changed.last("x.resized"), "1");
    assert_eq!(columns(&started), columns(&changed));
}

/// One that another one's task integrates together with that one, and one in a group with an FMU for Co-Simulation: it is as if it were
/// alone, and the other one notices nothing.
#[test]
fn a_member_of_a_group_is_cut_as_one_that_is_alone() {
    let cut = |bench: Bench| {
        bench.until(0.4).run(|control| {
            control.reconfigure("x", &numbers(8, 0), at(0.2)).unwrap();
        })
    };
    let start = "start = { indicators = 0 }";
    let alone = cut(Bench::of("scale", &format!("{KEYS}\n{start}"), "")).passed();
    let chain = concat!(env!("CARGO_MANIFEST_DIR"), "/fmus/scale");
    let other = concat!(env!("CARGO_MANIFEST_DIR"), "/fmus/rejecting");
    for (path, algorithm, keys) in [
        (chain, "jacobi", "start = { indicators = 0, states = 10 }"),
        (other, "jacobi", "start = { first = 5, u = 1 }"),
        (other, "rollback", "start = { first = 0.237, every = 0.5, u = 1 }"),
    ] {
        let group = format!(
            "[fmu.a]\npath = '{path}'\n{keys}\n[master.g]\nfmus = ['a', 'x']\nalgorithm = '{algorithm}'\nstep = '1/100'\n\
             solver = 'rk4'\ninternal_step = '1/1000'\n"
        );
        let left = cut(Bench::of("scale", start, &group)).passed();
        assert_eq!(left.changes("x.resized"), [(0.0, "0"), (0.2, "1")], "{path}");
        assert_eq!(left.changes("x.states"), [(0.0, "36"), (0.2, "8")], "{path}");
        // Where all are stopped at an event between two steps, those of the solver are others.
        let most = if algorithm == "rollback" { 1e-9 } else { 0.0 };
        for (own, expected) in left.rows.iter().zip(&alone.rows) {
            let (own, expected) = (states(&left, "x", own), states(&alone, "x", expected));
            assert_eq!(own.len(), expected.len(), "{path}");
            assert!(
                own.iter().zip(&expected).all(|(own, expected)| (own - expected).abs() <= most),
                "{path} {algorithm}"
            );
        }
        match path == chain {
            true => assert!(off(&left, "a", (0.0, 0.4), 10) <= 1e-12),
            false => assert!((left.last("a.y").parse::<f64>().unwrap() - 0.4).abs() < 1e-12, "{}", left.last("a.y")),
        }
    }
}

/// There are no chains with an odd number of states: the instance says then that it has one less than it should. What is larger than at
/// the start is refused before the FMU hears of it.
#[test]
fn numbers_that_cannot_be_are_told() {
    let (sent, tickets) = std::sync::mpsc::channel();
    let left = Bench::of("scale", KEYS, "").until(0.3).run(move |control| {
        sent.send(control.reconfigure("x", &numbers(38, 5), at(0.1))).unwrap();
        sent.send(control.reconfigure("x", &numbers(9, 5), at(0.1))).unwrap();
    });
    let refused = tickets.recv().unwrap().err().unwrap().to_string();
    assert!(refused.contains("arrays cannot become larger than at the start of the run, when it was 36"), "{refused}");
    let odd = tickets.recv().unwrap().unwrap().wait(SOON);
    assert!(matches!(odd, Err(ControlError::Failed { .. })), "{odd:?}");
    assert_eq!(left.run.exit_code(), 1);
    let problems = format!("{:?}", left.run.run.problems);
    let told = "fmi3GetNumberOfContinuousStates";
    assert!(problems.contains(told) && problems.contains("there are 9"), "{problems}");
    let last = left.rows.last().unwrap();
    assert_eq!((last[0].as_str(), states(&left, "x", last).len()), ("0.1", 36), "all up to then is kept");
}

/// An FMU that answers Error has failed, with what it has computed before.
#[test]
fn a_change_that_the_fmu_refuses_is_an_error() {
    let bench = Bench::of("scale", KEYS, "").until(0.3).with_changes_of(
        "scale",
        &[("sources/equations.c", "    CALLED(INSTANTIATED | EVENT_MODE);", "    CALLED(INSTANTIATED);")],
    );
    let left = bench.run(|control| {
        control.reconfigure("x", &numbers(8, 5), at(0.1)).unwrap();
    });
    assert_eq!(left.run.exit_code(), 1);
    let problems = format!("{:?}", left.run.run.problems);
    assert!(problems.contains("fmi3EnterConfigurationMode"), "{problems}");
    let last = left.rows.last().unwrap();
    assert_eq!((last[0].as_str(), states(&left, "x", last).len()), ("0.1", 36));
}

/// A run that is taken up again has the numbers that the FMU had when its state was saved.
#[test]
fn a_saved_state_has_its_numbers() {
    let keys = format!("{KEYS}\nstart = {{ indicators = 0 }}");
    let whole = Bench::of("scale", &keys, "").until(0.4).run(|control| {
        control.reconfigure("x", &numbers(8, 0), at(0.1)).unwrap();
    });
    let whole = whole.passed();
    let first = Bench::of("scale", &keys, "").until(0.2);
    let saved = first.folder.path().join("saved");
    let first = first.with(|options| options.save_state = Some(saved.clone()));
    first
        .run(|control| {
            control.reconfigure("x", &numbers(8, 0), at(0.1)).unwrap();
        })
        .passed();
    let second = Bench::of("scale", &keys, "").until(0.4).with(|options| options.restore_state = Some(saved.clone()));
    let second = second.run(|_| ()).passed();
    assert_eq!((second.last("x.states"), second.last("x.resized")), ("8", "1"));
    let row = |left: &Left| states(left, "x", left.rows.last().unwrap());
    assert_eq!(row(&second), row(&whole));
}

/// In real time while its task waits for its next release.
#[test]
fn a_chain_is_cut_in_real_time() {
    real_time("a_chain_is_cut_in_real_time", || {
        let bench = Bench::of("scale", &format!("{KEYS}\nstart = {{ indicators = 0 }}"), "").in_real_time();
        let running = bench.start(|_| ());
        wait_until("the run begins", || bench.is_recording());
        let mut last = 0;
        for round in 0..20_u64 {
            last = 4 + 2 * (round % 9);
            running.control.reconfigure("x", &numbers(last, 0), None).unwrap().wait(SOON).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(round % 7));
        }
        wait_until_recorded(&bench.folder.path().join("out"), "x.resized", 20.0);
        running.control.end();
        let left = running.finish().passed();
        assert_eq!((left.last("x.resized"), left.last("x.states")), ("20", last.to_string().as_str()));
        assert_eq!(states(&left, "x", left.rows.last().unwrap()).len() as u64, last);
    });
}

/// A tunable parameter is set in Event Mode, which is entered for it: the FMU refuses it elsewhere (FMI 3.0.2, 3.2.1; FMI 2.0.5, 3.2.1). What is
/// integrated goes on from there with it.
#[test]
fn a_tunable_parameter_is_an_event_at_its_time() {
    for fmu in ["failing", "failing_fmi2"] {
        for solver in ["rk4", "auto", "bdf"] {
            let keys = match solver {
                "rk4" => KEYS.to_owned(),
                _ => format!("step = '1/100'\nsolver = '{solver}'\ntolerance = 1e-9"),
            };
            let left = Bench::of(fmu, &keys, "").until(0.6).run(|control| {
                control.set_together("x", &[("gain", Values::Float64(vec![0.5]))], at(0.2)).unwrap();
            });
            let left = left.passed();
            for (time, x) in [(0.1, 0.1), (0.2, 0.2), (0.21, 0.205), (0.59, 0.395)] {
                let row = left.rows.iter().find(|row| row[0].parse::<f64>().unwrap() == time).unwrap();
                let column = left.header.iter().position(|name| name == "x.x").unwrap();
                let own: f64 = row[column].parse().unwrap();
                assert!((own - x).abs() < 1e-9, "{fmu} {solver}: {own} instead of {x} at {time}");
            }
        }
    }
}
