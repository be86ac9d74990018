//! Groups that cannot be: told with line and column, before anything runs.

use super::{rig, run};

const TWO: &str = "[rig]\nstop_time = 1\n[fmu.a]\npath = '@legacy'\n[fmu.b]\npath = '@legacy'\n[fmu.c]\npath = '@rejecting'\n\
                   [fmu.ecu]\npath = '@engine_ecu'\n[fmu.m]\npath = '@spring'\n";

#[test]
fn what_cannot_be_a_group_is_told_with_its_place() {
    for (master, told) in [
        (
            "fmus = ['a', 'b']\nalgorithm = 'predictable'\n",
            "13:9: [master.g] cannot be: 2 of its FMUs can neither say how far they step nor go back",
        ),
        ("fmus = ['a', 'c']\nalgorithm = 'rollback'\n", "13:9: [master.g] cannot be: "),
        ("fmus = ['ecu', 'a']\n", "14:9: ecu makes no steps: its clocks are tasks of their own"),
        ("fmus = ['a', 'c']\nsolver = 'rk4'\n", "15:10: solver in [master.g] is for Model Exchange"),
        ("fmus = ['m', 'c']\nsolver = 'bdf'\n[rig.x]\n", "unknown key"),
    ] {
        let outcome = run(&rig(&format!("{TWO}[master.g]\n{master}")), "virtual");
        assert_eq!(outcome.code, 2, "{master}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(told), "{master}: {}", outcome.stderr);
    }
}

/// What is said of a group is said of it alone.
#[test]
fn keys_of_a_group_are_not_those_of_its_fmus() {
    for (keys, told) in [
        ("step = 1", "c makes its steps together with others: say step in [master.g]"),
        ("cpu = 0", "c makes its steps together with others: say cpu in [master.g]"),
        (
            "max_latency_us = 5",
            "c makes its steps together with others: say limits, the overrun policy and figures in [master.g]",
        ),
        ("class = 'predictable'", "[master.g] cannot be: "),
    ] {
        let text = format!(
            "[rig]\nstop_time = 1\n[fmu.c]\npath = '@rejecting'\n{keys}\n[master.g]\nfmus = ['c']\nalgorithm = 'predictable'\n"
        );
        let outcome = run(&rig(&text), "virtual");
        assert_eq!(outcome.code, 2, "{keys}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(told), "{keys}: {}", outcome.stderr);
    }
    for key in ["class = 'legacy'", "max_step = 1"] {
        let text = format!("[rig]\nstop_time = 1\n[fmu.c]\npath = '@rejecting'\n{key}\n");
        let outcome = run(&rig(&text), "virtual");
        assert_eq!(outcome.code, 2, "{key}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains("is for the master of its group, and it is in none"),
            "{key}: {}",
            outcome.stderr
        );
    }
}

/// Keys that an algorithm does not ask for, and ticks from one FMU to another where each stops by itself.
#[test]
fn what_an_algorithm_cannot_do_is_refused() {
    for (text, told) in [
        (
            "[fmu.c]\npath = '@rejecting'\nmax_step = '1/4'\n[master.g]\nfmus = ['c']\n",
            "max_step of c says nothing to algorithm = \"jacobi\" of [master.g]",
        ),
        (
            "[fmu.c]\npath = '@rejecting'\nclass = 'legacy'\n[master.g]\nfmus = ['c']\nalgorithm = 'gauss-seidel'\n",
            "class of c says nothing to algorithm = \"gauss-seidel\" of [master.g]",
        ),
        (
            "[fmu.a]\npath = '@step_clocks'\n[fmu.b]\npath = '@step_clocks'\n[master.g]\nfmus = ['a', 'b']\nstep = '1/50'\n\
             [[trigger]]\nclock = 'b.called'\nfrom = 'a.out'\n",
            "a.out ticks others, but with algorithm = \"jacobi\"",
        ),
    ] {
        let outcome = run(&rig(&format!("[rig]\nstop_time = 1\n{text}")), "virtual");
        assert_eq!(outcome.code, 2, "{text}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(told), "{text}: {}", outcome.stderr);
    }
}

/// A larger step than the user allows is not asked for.
#[test]
fn max_step_limits_the_group() {
    let text = "[rig]\nstop_time = 1\n[record]\nsignals = ['*.steps']\n[fmu.a]\npath = '@rejecting'\nstart = { first = 5 }\n\
                [fmu.p]\npath = '@legacy'\nstart = { first = 5 }\nmax_step = '1/4'\n\
                [master.g]\nfmus = ['a', 'p']\nstep = 1\nalgorithm = 'predictable'\n";
    let outcome = super::succeeds(text);
    assert_eq!((super::last(&outcome, "a.steps"), super::last(&outcome, "p.steps")), (4.0, 4.0));
}
