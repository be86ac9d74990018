//! FMUs for Model Exchange in one group are integrated as one system.

use super::program::send;
use super::{last, numbers, rig, succeeds};
use nix::sys::signal::Signal;
use std::time::Duration;

/// A spring and damper between an inertia and a wall, as one FMU or cut in two: the inertia, and what pulls at it.
fn whole(solver: &str) -> String {
    format!(
        "[rig]\nstop_time = 3\n[record]\nsignals = ['whole.inertia1.*', 'inertia.inertia1.*']\n\
         [fmu.whole]\npath = '@spring'\nstep = '1/10'\n{solver}\
         [fmu.inertia]\npath = '@spring'\nstart = {{ \"spring1.c\" = 0, \"damper1.d\" = 0 }}\n\
         [fmu.pull]\npath = '@feedback'\nstart = {{ a = -100, b = -2 }}\n\
         [master.cut]\nfmus = ['inertia', 'pull']\nstep = '1/10'\n{solver}\
         [[connect]]\nfrom = 'inertia.inertia1.phi'\nto = 'pull.u1'\n\
         [[connect]]\nfrom = 'inertia.inertia1.w'\nto = 'pull.u2'\n\
         [[connect]]\nfrom = 'pull.y'\nto = 'inertia.torque.tau'\n"
    )
}

fn deviation(solver: &str) -> f64 {
    let outcome = succeeds(&whole(solver));
    let mut deviation: f64 = 0.0;
    for variable in ["phi", "w"] {
        let [one, two] = ["whole", "inertia"].map(|fmu| numbers(&outcome, &format!("{fmu}.inertia1.{variable}")));
        assert_eq!((one.len(), two.len()), (31, 31));
        one.iter().zip(&two).for_each(|(a, b)| deviation = deviation.max((a - b).abs()));
    }
    assert!(last(&outcome, "whole.inertia1.phi").abs() > 1e-4, "it has moved");
    deviation
}

/// With a fixed step the two halves compute what the whole does, but for rounding: values follow within a step of the solver.
#[test]
fn a_model_that_is_cut_in_two_computes_what_it_does_as_a_whole() {
    let fixed = deviation("solver = 'rk4'\ninternal_step = '1/1000'\n");
    assert!(fixed < 1e-12, "{fixed}");
}

/// With adaptive steps, explicit ones and stiff ones, within the tolerance.
#[test]
fn so_it_does_with_adaptive_steps() {
    for solver in ["dopri5", "bdf"] {
        let adaptive = deviation(&format!("solver = '{solver}'\ntolerance = 1e-9\n"));
        assert!(adaptive < 1e-6, "{solver}: {adaptive}");
    }
}

/// Coulomb clutches slide and get stuck within steps, beside an FMU for Co-Simulation that is taken back: what is integrated stays where it has
/// found an event, since by other internal steps it would find it elsewhere.
#[test]
fn what_is_integrated_stays_where_its_events_are() {
    for (algorithm, step) in [("rollback", "1/50"), ("rollback", "1/10"), ("predictable", "1/20")] {
        let text = format!(
            "[rig]\nstop_time = 2\n[record]\nsignals = ['c.J1.phi', 'c.changes', '*.y']\n[fmu.c]\npath = '@clutches'\n[fmu.i]\npath = '@integrator'\n\
             [master.g]\nfmus = ['c', 'i']\nstep = '{step}'\nalgorithm = '{algorithm}'\n\
             [[connect]]\nfrom = 'c.J1.phi'\nto = 'i.u'\nunits = 'as_is'\n"
        );
        let outcome = succeeds(&text);
        assert!(last(&outcome, "c.changes") > 2.0, "{algorithm} {step}");
        assert!(!outcome.stdout.contains("finding"), "{}", outcome.stdout);
    }
}

/// What is integrated beside what makes its steps itself: each gets what the other has at the beginning of a step, and an event of the
/// integrated one in the midst of it (a ball that bounces) stops the others where all are taken back.
#[test]
fn an_event_of_what_is_integrated_stops_all() {
    let text = |algorithm: &str| {
        format!(
            "[rig]\nstop_time = 1\n[record]\nsignals = ['ball.bounces', 'ball.h', 'sum.*']\n\
             [fmu.ball]\npath = '@ball'\n[fmu.sum]\npath = '@rejecting'\nstart = {{ first = 5, every = 10 }}\n\
             [master.g]\nfmus = ['ball', 'sum']\nstep = 1\nalgorithm = '{algorithm}'\nsolver = 'rk4'\ninternal_step = '1/1000'\n\
             [[connect]]\nfrom = 'ball.h'\nto = 'sum.u'\n"
        )
    };
    let outcome = succeeds(&text("rollback"));
    assert_eq!(last(&outcome, "ball.bounces"), 1.0);
    // It falls 1 m in sqrt(2 / 9.81) s: what sum holds from there on is 0, which the ball has then.
    let fall = (2.0_f64 / 9.81).sqrt();
    let sum = last(&outcome, "sum.y");
    assert!((sum - fall).abs() < 1e-6, "{sum} {fall}");
    assert!(last(&outcome, "sum.steps") >= 2.0);
    let outcome = succeeds(&text("jacobi"));
    assert_eq!((last(&outcome, "sum.steps"), last(&outcome, "sum.y")), (1.0, 1.0));
}

/// Who is integrated for longer than anybody waits ends in the midst of its step when the run is to end, whatever its group does then: that
/// is no fault of any FMU's.
#[test]
fn the_end_of_a_run_may_come_within_a_long_step() {
    for algorithm in ["jacobi", "gauss-seidel", "rollback", "predictable"] {
        let text = format!(
            "[rig]\nmode = 'virtual'\nshutdown_timeout = 0.5\nstop_time = 1e6\n[record]\n[fmu.i]\npath = '@integrator'\n[fmu.spring]\npath = '@spring'\n\
             [master.g]\nfmus = ['i', 'spring']\nstep = 200\nalgorithm = '{algorithm}'\nsolver = 'rk4'\ninternal_step = '1/20000'\n\
             [[connect]]\nfrom = 'spring.inertia1.phi'\nto = 'i.u'\nunits = 'as_is'\n"
        );
        let rig = rig(&text);
        let child = rig.start(rig.command());
        rig.wait_until_it_runs();
        std::thread::sleep(Duration::from_millis(100));
        send(child.id().cast_signed(), Signal::SIGINT);
        let outcome = rig.finish(child).exits(0);
        assert_eq!(outcome.problems(), Vec::<String>::new(), "{algorithm}");
        let rows = outcome.signals();
        assert!(
            ["i.y", "spring.inertia1.phi"].iter().all(|column| rows.column(column).iter().all(|cell| !cell.is_empty()))
        );
    }
}
