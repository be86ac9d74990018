//! What an integration does between its construction and its end allocates nothing, events and refusals among it.

use super::allocations;
use vecud::solver::{Drive, Equations, Goal, Indicators, Method, ModelError, Reached, WorkBudget};

/// A ball that bounces, and that refuses every hundredth answer.
struct Ball {
    x: [f64; 2],
    asked: u64,
}

impl Equations for Ball {
    type Failure = &'static str;

    fn tell(&mut self, _: f64, x: &[f64]) -> Result<(), ModelError<&'static str>> {
        self.x.copy_from_slice(x);
        Ok(())
    }

    fn derivatives(&mut self, dx: &mut [f64]) -> Result<(), ModelError<&'static str>> {
        self.asked += 1;
        dx.copy_from_slice(&[self.x[1], -9.81 - 0.1 * self.x[1]]);
        if self.asked.is_multiple_of(100) { Err(ModelError::Discard("now and then")) } else { Ok(()) }
    }
}

impl Indicators for Ball {
    fn indicators(&mut self, z: &mut [f64]) -> Result<(), ModelError<&'static str>> {
        z[0] = self.x[0];
        Ok(())
    }
}

#[test]
fn nothing_is_allocated_under_way() {
    let (internal_step, tolerance) = (1e-3, 1e-6);
    for method in [
        Method::Euler { internal_step },
        Method::Rk4 { internal_step },
        Method::Dopri5 { tolerance },
        Method::Bdf { tolerance },
        Method::Auto { tolerance },
    ] {
        let mut ball = Ball { x: [0.0; 2], asked: 0 };
        let mut drive = Drive::new(method, 2, 1);
        let count = allocations(|| {
            drive.states_mut().copy_from_slice(&[1.0, 0.0]);
            drive.set_nominals(&[1.0, 0.0]);
            drive.restart(&mut ball, 0.0).unwrap();
            let mut bound = WorkBudget { events: 1000, right_hand_sides: 1_000_000 };
            while let Reached::Event { .. } = drive.to(&mut ball, &Goal::end(0.0, 2.0), &mut bound).unwrap() {
                let (now, speed) = (drive.time(), drive.states()[1]);
                drive.states_mut().copy_from_slice(&[f64::MIN_POSITIVE, -0.7 * speed]);
                drive.restart(&mut ball, now).unwrap();
            }
        });
        assert_eq!(count, 0, "{method:?}");
        let counts = drive.counts();
        assert!(counts.events >= 4 && counts.discarded > 0 && drive.time() == 2.0, "{counts:?}");
    }
}
