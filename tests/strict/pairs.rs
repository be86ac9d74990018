//! Two strict FMUs that feed each other: with steps of their own, and in groups by each algorithm.

use crate::fmu::{CS1, CS2, CS3, ME1, ME2, ME3, PLAIN3, Ran, Strict, Way, Wrong, rig};
use crate::program::real_time;

const PAIRS: [[Strict; 2]; 8] =
    [[ME3, ME3], [CS3, CS3], [ME3, CS3], [PLAIN3, CS3], [ME2, CS2], [ME1, CS1], [CS1, CS2], [ME2, ME1]];

/// How two are joined; none: each has a step of its own.
const JOINED: [&str; 5] = ["", "jacobi", "gauss-seidel", "rollback", "predictable"];

/// Whether a group by this algorithm can be: FMUs of FMI 1.0 for Model Exchange cannot be taken back.
fn can_be(pair: [Strict; 2], joined: &str) -> bool {
    joined != "rollback" || !pair.contains(&ME1)
}

fn run(way: Way, [a, b]: [Strict; 2], joined: &str, start: [&str; 2]) -> Ran {
    let steps = if joined.is_empty() { "step = '1/100'" } else { "" };
    let mut tables = a.table("a", start[0], steps) + &b.table("b", start[1], steps);
    for (from, to) in [("a.y", "b.u"), ("b.y", "a.u")] {
        tables += &format!("[[connect]]\nfrom = '{from}'\nto = '{to}'\n");
    }
    if !joined.is_empty() {
        tables += &format!("[master.pair]\nfmus = ['a', 'b']\nstep = '1/100'\nalgorithm = '{joined}'\n");
    }
    rig(way, &format!("{a:?} and {b:?}, {joined:?}, {start:?}"), &format!("{tables}[record]\nsignals = ['*']\n"))
}

/// x' = 2 x + 1 of both. With values that are held over 10 ms that is 1.02 x + 0.01 from step to step; integrated as one system (exp(2 t) - 1) / 2.
#[test]
fn two_that_feed_each_other_compute_the_same_in_all_versions() {
    let mut wrong = Wrong::default();
    for pair in PAIRS {
        for joined in JOINED.into_iter().filter(|joined| *joined != "gauss-seidel" && can_be(pair, joined)) {
            let ran = run(Way::Virtual, pair, joined, ["d = 1.0"; 2]);
            let are_one = !joined.is_empty() && pair.iter().all(|fmu| fmu.equations);
            let x = if are_one { f64::exp_m1(0.2) / 2.0 } else { (1.02_f64.powi(10) - 1.0) / 2.0 };
            wrong.look(&ran, |found| {
                for name in ["a.y", "b.y"] {
                    // The error of rk4 with a step of 10 ms is far below.
                    found.same(name, ran.at(0.1, name), 2.0 * x);
                }
            });
        }
    }
    wrong.none();
}

/// One has time events between the grid's instants, the other one state events.
#[test]
fn events_of_two_that_feed_each_other_are_handled_by_calls_in_their_places() {
    let mut wrong = Wrong::default();
    for pair in PAIRS {
        for joined in JOINED.into_iter().filter(|joined| can_be(pair, joined)) {
            let ran = run(Way::Virtual, pair, joined, ["d = 1.0, every = 0.025", "d = 1.0, rise = 0.03"]);
            wrong.look(&ran, |found| found.same("a.n", ran.at(0.09, "a.n"), 3.0));
        }
    }
    wrong.none();
}

/// One step of the group ends within, where the first FMU discards it or returns early: the other one is taken back.
#[test]
fn a_step_that_ends_early_takes_the_other_one_back_to_its_state() {
    let mut wrong = Wrong::default();
    for pair in [[CS3, CS3], [CS2, CS2], [CS1, CS1], [CS2, CS3], [CS1, CS2], [CS2, ME2]] {
        let ran = run(Way::Virtual, pair, "rollback", ["d = 1.0, demand = 4, when = 0.055", "d = 1.0"]);
        wrong.look(&ran, |found| {
            // A step of 10 ms of the ten is made in two of 5 ms.
            let x = (1.02_f64.powi(9) * 1.01_f64.powi(2) - 1.0) / 2.0;
            let are_held = pair.iter().all(|fmu| !fmu.equations);
            if are_held {
                found.same("a.y", ran.at(0.1, "a.y"), 2.0 * x);
                found.same("b.y", ran.at(0.1, "b.y"), 2.0 * x);
            }
        });
    }
    wrong.none();
}

#[test]
fn one_that_asks_for_the_end_ends_the_other_one_in_good_order() {
    let mut wrong = Wrong::default();
    for pair in PAIRS.into_iter().filter(|pair| pair[0] != CS1) {
        for joined in JOINED.into_iter().filter(|joined| can_be(pair, joined)) {
            let ran = run(Way::Virtual, pair, joined, ["d = 1.0, every = 0.02, demand = 1, when = 0.05", "d = 1.0"]);
            wrong.look(&ran, |_| ());
        }
    }
    wrong.none();
}

#[test]
fn pairs_in_real_time_are_made_of_calls_in_their_places() {
    real_time("pairs_in_real_time_are_made_of_calls_in_their_places", || {
        let mut wrong = Wrong::default();
        for (pair, joined) in [([ME3, CS3], ""), ([CS3, CS3], "rollback"), ([ME2, CS2], "jacobi"), ([ME1, CS1], "")] {
            let ran = run(Way::RealTime, pair, joined, ["d = 1.0, every = 0.025", "d = 1.0, rise = 0.03"]);
            wrong.look(&ran, |found| found.same("a.n", ran.at(0.09, "a.n"), 3.0));
        }
        wrong.none();
    });
}
