//! A master step, an event iteration and the solution of an algebraic loop allocate nothing: they run in real-time threads.

use super::allocations;
use std::convert::Infallible;
use vecud::master::{
    Abilities, Circle, EventDecision, ExchangeStep, Iteration, LoopError, MasterAlgorithm, Newton, NoWayBack, Setup,
    Slaves, Source, Stop, UnclassifiedSlave, Update, WayBack, classify,
};
use vecud::time::{Fraction, Instant};

/// u0 := 1 - u1, u1 := u0³, whose derivatives nobody knows; and its solution, by a Newton of its own.
struct Loop;

impl Circle for Loop {
    type Failure = Infallible;

    fn evaluate(&mut self, u: &[f64], back: &mut [f64]) -> Result<(), LoopError<Infallible>> {
        back.copy_from_slice(&[1.0 - u[1], u[0] * u[0] * u[0]]);
        Ok(())
    }
}

/// The first slave stops at each quarter, the second tells that it stops at each third, and the third stops at each fifth.
struct Three {
    time: [Instant; 3],
    saved: [Instant; 3],
    newton: Newton,
    u: [f64; 2],
}

/// The next multiple of this part of a second.
fn next(time: Instant, part: u64) -> Instant {
    let step = Fraction::new(1, part).unwrap();
    let passed = (time.seconds() * part as f64).floor() as u64;
    let instant = Instant::ZERO.after_many(step, passed + 1);
    if instant > time { instant } else { Instant::ZERO.after_many(step, passed + 2) }
}

impl Slaves for Three {
    type Failure = Infallible;

    fn exchange(&mut self, _: usize) -> Result<(), Infallible> {
        Ok(())
    }

    fn solve(&mut self, _: usize) -> Result<(), Infallible> {
        self.u = [3.0, -1.0];
        self.newton.solve(&mut Loop, &mut self.u).expect("it has a solution");
        Ok(())
    }

    fn save(&mut self, slave: usize) -> Result<(), Infallible> {
        self.saved[slave] = self.time[slave];
        Ok(())
    }

    fn restore(&mut self, slave: usize) -> Result<(), Infallible> {
        self.time[slave] = self.saved[slave];
        Ok(())
    }

    fn do_step(&mut self, slave: usize, from: Instant, to: Instant) -> Result<Instant, Infallible> {
        self.time[slave] = to.min(next(from, [4, 3, 5][slave]));
        Ok(self.time[slave])
    }

    fn latest(&mut self, _: usize, _: Source, from: Instant) -> Result<Option<Instant>, Infallible> {
        Ok(Some(next(from, 3)))
    }

    fn stopped_early(&mut self, _: usize, _: Instant) -> Result<bool, Infallible> {
        Ok(false)
    }
}

#[test]
fn steps_with_rejections_and_loops_allocate_nothing() {
    let saves = |name| UnclassifiedSlave {
        name,
        abilities: Abilities {
            varies_step: true,
            may_return_early: true,
            way_back: Ok(WayBack::State),
            sources: Vec::new(),
        },
        wish: None,
    };
    let known = Abilities { may_return_early: false, sources: vec![Source::NextEventTime], ..saves("").abilities };
    let plain = Abilities { way_back: Err(NoWayBack::State), ..saves("").abilities };
    let [a, mut b, mut c] = ["a", "b", "c"].map(saves);
    (b.abilities, c.abilities) = (known, plain);
    let names = ["a", "b", "c"];
    for (algorithm, candidates) in [
        (MasterAlgorithm::Jacobi, [a.clone(), b.clone(), c.clone()]),
        (MasterAlgorithm::GaussSeidel, [a.clone(), b.clone(), c.clone()]),
        (MasterAlgorithm::Rollback, names.map(saves)),
        (MasterAlgorithm::Predictable, [a, b, c]),
    ] {
        let classes = classify(&candidates, algorithm, Fraction::SECOND).unwrap();
        let exchanges = vec![ExchangeStep::Connection(0), ExchangeStep::Loop(vec![1, 2])];
        let setup = Setup::new(algorithm, &names, &classes, exchanges, &[(0, 1), (1, 2), (2, 1)]);
        let newton = Newton::new(&[1.0, 1.0], 1e-10);
        let mut three = Three { time: [Instant::ZERO; 3], saved: [Instant::ZERO; 3], newton, u: [0.0; 2] };
        let (mut time, end) = (Instant::ZERO, Instant::ZERO.after(Fraction::SECOND));
        let (mut ends, mut steps, mut rejections) = ([0.0; 16], 0, 0);
        let count = allocations(|| {
            while time < end {
                let stepped = setup.step(&mut three, time, end);
                let stepped = stepped.unwrap_or_else(|_: Stop<Infallible>| panic!("nobody is stuck"));
                time = stepped.to;
                (ends[steps], rejections) = (time.seconds(), rejections + stepped.rejections);
                steps += 1;
            }
        });
        assert_eq!(count, 0, "{algorithm:?}");
        assert_eq!(three.time, [end; 3]);
        match algorithm {
            MasterAlgorithm::Jacobi | MasterAlgorithm::GaussSeidel => assert_eq!((steps, rejections), (1, 3 + 2 + 4)),
            _ => assert_eq!(ends[..8], [0.2, 0.25, 1.0 / 3.0, 0.4, 0.5, 0.6, 2.0 / 3.0, 0.75]),
        }
        if algorithm != MasterAlgorithm::GaussSeidel {
            assert!((three.u[0] + three.u[0].powi(3) - 1.0).abs() < 1e-9, "{:?}", three.u);
        }
    }
}

#[test]
fn an_event_iteration_allocates_nothing() {
    let count = allocations(|| {
        let mut iteration = Iteration::new(3);
        iteration.note(0, Update { needs_update: true, ..Update::default() });
        assert_eq!(iteration.verdict(), EventDecision::Again);
        iteration.ticked(1);
        assert_eq!(iteration.verdict(), EventDecision::Again);
        assert_eq!(iteration.verdict(), EventDecision::Leave);
    });
    assert_eq!(count, 0);
}
