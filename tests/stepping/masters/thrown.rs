//! State events that inputs make: a switch that its input throws (`fmus/threshold`), by a file and by another switch, in a rig, in a group
//! by each algorithm, and where another event is at the same time.

use super::{Outcome, last, numbers, run, succeeds};
use crate::program::Rig;

/// 1 from 1 s to 3 s, else 0.
const PULSE: &str = "time,first.u\n0,0\n1,1\n3,0\n";

fn thrown(text: &str) -> Outcome {
    let rig: Rig = super::rig(text);
    std::fs::write(rig.folder().join("pulse.csv"), PULSE).unwrap();
    let outcome = run(&rig, "virtual");
    assert_eq!(outcome.code, 0, "{}\n{text}", outcome.stderr);
    outcome
}

/// One or three switches, each thrown by the one before. `keys` are those of the FMUs or of their group.
fn switches(names: &[&str], start: &str, fmu_keys: &str, more: &str) -> String {
    let mut text = "[rig]\nstop_time = 5\n[[stimulus]]\nfile = 'pulse.csv'\n[record]\nsignals = ['*.u', '*.on', '*.x', '*.seen']\n".to_owned();
    for name in names {
        text += &format!("[fmu.{name}]\npath = '@threshold'\nstart = {{ {start} }}\n{fmu_keys}\n");
    }
    for pair in names.windows(2) {
        text += &format!("[[connect]]\nfrom = '{}.on'\nto = '{}.u'\n", pair[0], pair[1]);
    }
    text + more
}

/// Whatever else is at 1 s and 3 s: nothing, the FMU's own time event, or the end of a step.
#[test]
fn an_input_that_jumps_throws_the_switch_beside_every_other_event() {
    for solver in ["euler", "rk4", "dopri5", "bdf"] {
        let inner = if ["euler", "rk4"].contains(&solver) { "internal_step = '1/100'\n" } else { "" };
        for next in ["1", "3", "2", "100"] {
            for step in ["1/2", "1"] {
                let keys = format!("step = '{step}'\nsolver = '{solver}'\n{inner}");
                let outcome = thrown(&switches(&["first"], &format!("next = {next}"), &keys, ""));
                let case = format!("{solver}, next = {next}, step = {step}");
                assert!((last(&outcome, "first.x") - 2.0).abs() < 1e-9, "{case}: {}", last(&outcome, "first.x"));
                assert_eq!(last(&outcome, "first.on"), 0.0, "{case}");
                // In that event the input has what it has from there on.
                let seen = match next {
                    "1" | "2" => 1.0,
                    "3" => 0.0,
                    _ => -1.0,
                };
                assert_eq!(last(&outcome, "first.seen"), seen, "{case}");
                // The row of the jump has what the switch was thrown to.
                let rows = numbers(&outcome, "first.u").into_iter().zip(numbers(&outcome, "first.on"));
                assert!(rows.clone().all(|(u, on)| u == on), "{case}: {:?}", rows.collect::<Vec<_>>());
            }
        }
    }
}

/// What a switch throws in an event is thrown in the same event: all are on for 2 s.
#[test]
fn in_a_group_a_switch_throws_the_next_one_in_the_same_event() {
    for algorithm in ["jacobi", "gauss-seidel", "rollback", "predictable"] {
        for next in ["1", "100"] {
            let master =
                format!("[master.g]\nfmus = ['first', 'second', 'third']\nstep = '1/2'\nalgorithm = '{algorithm}'\n");
            let outcome = thrown(&switches(&["first", "second", "third"], &format!("next = {next}"), "", &master));
            for name in ["first", "second", "third"] {
                let (x, on) = (last(&outcome, &format!("{name}.x")), last(&outcome, &format!("{name}.on")));
                assert!((x - 2.0).abs() < 1e-6, "{algorithm}, next = {next}: {name} was on for {x} s");
                assert_eq!(on, 0.0, "{algorithm}, next = {next}: {name}");
                let rows = numbers(&outcome, "first.u").into_iter().zip(numbers(&outcome, &format!("{name}.on")));
                assert!(
                    rows.clone().all(|(u, on)| u == on),
                    "{algorithm}, next = {next}: {name}: {:?}",
                    rows.collect::<Vec<_>>()
                );
            }
        }
    }
}

/// A switch that its own output throws back, through an FMU that is integrated as well, has no value that stays: what is said names neither
/// a call that has failed nor what nobody has returned.
#[test]
fn an_event_in_which_no_value_stays_is_told_as_what_it_is() {
    let outcome = run(
        &super::rig(
            "[rig]\nstop_time = 1\n[fmu.f]\npath = '@feedback'\nstart = { u1 = 1.0, a = 1.0, b = -2.0 }\n[fmu.t]\npath = '@threshold'\n\
             [master.g]\nfmus = ['f', 't']\nstep = '1/10'\nloops = 'newton'\n\
             [[connect]]\nfrom = 'f.y'\nto = 't.u'\n[[connect]]\nfrom = 't.on'\nto = 'f.u2'\n",
        ),
        "virtual",
    );
    let outcome = outcome.exits(1);
    outcome.problem(&[
        "fmi3UpdateDiscreteStates gave no end of an event: after 100 iterations",
        "around a circle of connections, or as an FMU that feeds it changes with each iteration, at 0 s",
    ]);
}

/// An output that jumps in an event of its FMU, at an instant of the group or within a step, is set in Event Mode of the FMU that it feeds
/// (FMI 3.0.2, 4.1.1), at the end of a step that has the left value, and not in an event of its own before; samples of one that does not jump are
/// no event.
#[test]
fn a_jump_in_an_event_is_set_in_event_mode() {
    for algorithm in ["jacobi", "gauss-seidel", "rollback", "predictable"] {
        for (start, own, entered, seen) in [
            ("every = 0.25", "", 3.0, 0.75),
            ("early = 0.25", "", 3.0, 0.75),
            ("every = 0.1", "", 9.0, 0.9),
            ("every = 0.25", "early = 0.27,", 6.0, 0.75),
        ] {
            let text = format!(
                "[rig]\nstop_time = 1\n[record]\n\
                 [fmu.a]\npath = '@events'\nstart = {{ {start}, in_group = 1 }}\n\
                 [fmu.b]\npath = '@events'\nstart = {{ {own} in_group = 1 }}\n\
                 [master.g]\nfmus = ['a', 'b']\nstep = 0.1\nalgorithm = '{algorithm}'\n\
                 [[connect]]\nfrom = 'a.last'\nto = 'b.u'\n"
            );
            let outcome = succeeds(&text);
            let case = format!("{algorithm}, {start}, {own}");
            assert!((last(&outcome, "b.u_seen") - seen).abs() < 1e-12, "{case}");
            assert_eq!(last(&outcome, "b.changes"), 0.0, "{case}");
            assert_eq!(last(&outcome, "b.entered"), entered, "{case}");
        }
        let text = format!(
            "[rig]\nstop_time = 1\n[record]\n[fmu.a]\npath = '@events'\nstart = {{ u = 2 }}\n[fmu.b]\npath = '@events'\n\
             [master.g]\nfmus = ['a', 'b']\nstep = 0.1\nalgorithm = '{algorithm}'\n[[connect]]\nfrom = 'a.sum'\nto = 'b.u'\n"
        );
        assert_eq!(last(&succeeds(&text), "b.entered"), 0.0, "{algorithm}");
    }
}

/// So it is where the output that jumps is one of Model Exchange: the velocity of a ball that bounces at 0.4515 s. The step before has what there
/// was just before it by Gauss-Seidel, and by Jacobi what there was at its begin.
#[test]
fn a_jump_of_what_is_integrated_is_set_in_event_mode() {
    for (algorithm, before) in [("jacobi", -9.81 * 0.4), ("gauss-seidel", -(2.0_f64 * 9.81).sqrt())] {
        let text = format!(
            "[rig]\nstop_time = 0.6\n[record]\n[fmu.a]\npath = '@ball'\n\
             [fmu.b]\npath = '@events'\nstart = {{ in_group = 1 }}\n\
             [master.g]\nfmus = ['a', 'b']\nstep = 0.1\nalgorithm = '{algorithm}'\n\
             [[connect]]\nfrom = 'a.v'\nto = 'b.u'\n"
        );
        let outcome = succeeds(&text);
        let rows = numbers(&outcome, "b.u");
        assert!((rows[4] - before).abs() < 1e-6, "{algorithm}: {rows:?}");
        // In that event alone, which is no change in Step Mode: there is one in each other step.
        assert_eq!(last(&outcome, "b.entered"), 1.0, "{algorithm}");
        assert_eq!(last(&outcome, "b.changes"), if algorithm == "gauss-seidel" { 6.0 } else { 4.0 }, "{algorithm}");
    }
}
