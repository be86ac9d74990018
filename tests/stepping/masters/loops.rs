//! Algebraic loops: found and told with their variables, or solved.

use super::{Outcome, numbers, rig, run, succeeds};

/// The model Feedback of the thesis: y = u1 - u2 with y connected to u2, and u1 a line.
fn feedback(more: &str, keys: &str) -> String {
    format!(
        "[rig]\nstop_time = 1\n[record]\nsignals = ['f.*', 'spring.*']\n[fmu.f]\npath = '@feedback'\n{more}\
         [fmu.spring]\npath = '@spring'\n\
         [master.g]\nfmus = ['f', 'spring']\nstep = '1/10'\ninternal_step = '1/100'\n{keys}\
         [[connect]]\nfrom = 'f.y'\nto = 'f.u2'\n[[connect]]\nfrom = 'spring.inertia1.phi'\nto = 'f.u1'\n"
    )
}

/// The model by itself as the thesis has it: u1 is the sine of the time, row by row.
fn of_a_sine(keys: &str) -> Outcome {
    let rig = rig(&format!(
        "[rig]\nstop_time = 10\n[record]\nsignals = ['f.u1', 'f.y']\n[fmu.f]\npath = '@feedback'\n\
         [master.g]\nfmus = ['f']\nstep = '1/100'\n{keys}[[stimulus]]\nfile = 'sine.csv'\n\
         [[connect]]\nfrom = 'f.y'\nto = 'f.u2'\n"
    ));
    let row = |number: u32| {
        let time = f64::from(number) / 100.0;
        format!("{time},{}\n", time.sin())
    };
    let rows: String = (0..1000).map(row).collect();
    std::fs::write(rig.folder().join("sine.csv"), format!("time,f.u1\n{rows}")).unwrap();
    let outcome = run(&rig, "virtual");
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    outcome
}

/// y = u1 - y with u1 = sin t is half a sine, and not the zero that a Dymola FMU gave in the thesis; nor what the start value of u2 makes
/// of it, as it stays where nobody solves the loop.
#[test]
fn the_feedback_of_the_thesis_is_half_a_sine() {
    let solved = of_a_sine("loops = 'newton'\n");
    let [times, u1, y] = ["time", "f.u1", "f.y"].map(|column| numbers(&solved, column));
    assert_eq!(times.len(), 1001);
    for ((time, u1), y) in times.iter().zip(&u1).zip(&y) {
        assert!((y - 0.5 * u1).abs() < 1e-12, "at {time}: y is {y}, u1 is {u1}");
        // At the stop time nobody gets an input any more.
        assert!(*time == 10.0 || (y - 0.5 * time.sin()).abs() < 1e-12, "at {time}: y is {y}");
    }
    let told = "[master.g] has an algebraic loop, which is solved at each point in time: f.u2 → f.y → f.u2";
    assert!(solved.stderr.contains(told), "{}", solved.stderr);

    let unsolved = of_a_sine("");
    let told = "[master.g] has an algebraic loop: f.u2 → f.y → f.u2; an input of it has what was computed last, unless loops = \"newton\"";
    assert!(unsolved.stderr.contains(told), "{}", unsolved.stderr);
    let off = times.iter().zip(numbers(&unsolved, "f.y")).map(|(time, y)| (y - 0.5 * time.sin()).abs());
    assert!(off.fold(0.0, f64::max) > 0.4);
}

/// y = u1 - y, so that y = u1 / 2, at each row.
#[test]
fn a_loop_is_solved_at_each_point_in_time() {
    let outcome = succeeds(&feedback("", "loops = 'newton'\n"));
    let (u1, y) = (numbers(&outcome, "spring.inertia1.phi"), numbers(&outcome, "f.y"));
    assert_eq!(u1.len(), 11);
    for (u1, y) in u1.iter().zip(&y) {
        assert!((y - 0.5 * u1).abs() < 1e-12, "{u1} {y}");
    }
    assert!(u1.iter().any(|u1| u1.abs() > 0.1));
    assert!(
        outcome.stderr.contains("algebraic loop, which is solved at each point in time: f.u2 → f.y → f.u2"),
        "{}",
        outcome.stderr
    );
}

/// Where FMUs tell their derivatives these are asked for, and two evaluations find a linear loop: without differences.
#[test]
fn derivatives_of_the_fmus_are_used() {
    let text = feedback("", "loops = 'newton'\n");
    let outcome = succeeds(&text);
    let report = outcome.report();
    let calls = report["fmus"][0]["calls"].as_array().unwrap().clone();
    let count = |function: &str| {
        let own = calls.iter().find(|call| call["function"] == function);
        own.map_or(0, |call| call["calls"].as_u64().unwrap_or_else(|| panic!("{call}")))
    };
    let (derivatives, reads) = (count("fmi3GetDirectionalDerivative"), count("fmi3GetFloat64"));
    assert!(derivatives > 100, "{derivatives}: {calls:?}");
    assert!(reads <= 4 * derivatives, "{reads} reads for {derivatives} derivatives");
}

/// In each algorithm, rows have the loop solved: y of one is what the other gets of it.
#[test]
fn rows_have_the_loop_solved_by_every_algorithm() {
    for algorithm in ["jacobi", "gauss-seidel", "rollback", "predictable"] {
        let text = format!(
            "[rig]\nstop_time = 0.06\n[record]\nsignals = ['f.*', 'h.*']\n[fmu.s]\npath = '@spring'\n\
             [fmu.f]\npath = '@feedback'\nstart = {{ b = 0.4 }}\n[fmu.h]\npath = '@feedback'\nstart = {{ b = 0.4 }}\n\
             [master.g]\nfmus = ['s', 'f', 'h']\nstep = '1/100'\nalgorithm = '{algorithm}'\nloops = 'newton'\n\
             [[connect]]\nfrom = 's.inertia1.phi'\nto = 'f.u1'\n[[connect]]\nfrom = 'f.y'\nto = 'h.u1'\n\
             [[connect]]\nfrom = 'h.y'\nto = 'f.u2'\n"
        );
        let outcome = succeeds(&text);
        let (given, got) = (numbers(&outcome, "h.y"), numbers(&outcome, "f.u2"));
        assert!(given.len() == 7 && given[0] != 0.0, "{algorithm}: {given:?}");
        for (given, got) in given.iter().zip(&got) {
            assert!((given - got).abs() < 1e-12, "{algorithm}: {given} {got}");
        }
    }
}

/// One that is not to be solved is told with its variables, and how to have it solved.
#[test]
fn a_loop_that_is_not_solved_is_told() {
    let outcome = succeeds(&feedback("", ""));
    let told = "[master.g] has an algebraic loop: f.u2 → f.y → f.u2; an input of it has what was computed last, unless loops = \"newton\"";
    assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
}

/// y = u1 + y has no solution unless u1 is 0: that is named by a connection of the loop.
#[test]
fn a_loop_without_a_solution_is_named() {
    let text = feedback("start = { b = 1 }\n", "loops = 'newton'\n");
    let outcome = run(&rig(&text), "virtual");
    assert_ne!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("no solution of the algebraic loop through f.y → f.u2"), "{}", outcome.stdout);
}

/// The FMU outside starts with what the loop has been solved to: y = u1 / 2, with u1 = 1 from the spring.
#[test]
fn a_loop_is_solved_in_the_initialisation_too() {
    let more = "[fmu.o]\npath = '@feedback'\nstep = '1/10'\n[[connect]]\nfrom = 'f.y'\nto = 'o.u1'\n";
    let record = |text: String| text.replace("'f.*'", "'f.*', 'o.u1'");
    let solved = succeeds(&record(feedback(more, "loops = 'newton'\n")));
    assert_eq!(numbers(&solved, "o.u1")[0], 0.5);
    assert!(
        solved.stderr.contains("algebraic loop initially, which is solved: f.u2, f.y depend on each other"),
        "{}",
        solved.stderr
    );
    let kept = succeeds(&record(feedback(more, "")));
    assert_eq!(numbers(&kept, "o.u1")[0], 1.0);
}
