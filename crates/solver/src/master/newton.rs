//! Solves an algebraic loop: finds values of its inputs that its outputs, computed from them, give back.
//!
//! Newton's method with damping: a step is taken as far as it makes the *next* step, by the same Jacobian, shorter (Deuflhard's
//! natural test, which does not depend on how equations are scaled). Steps are measured in nominal values of the variables.
//!
//! Guarantees: the last step of a solved loop was shorter than the tolerance; an unsolved loop is named by a variable; the
//! amount of work is bounded; nothing is allocated after [`Newton::new`].

use super::dense::LuMatrix;

/// The relative precision of inputs of loops between FMUs.
pub const TOLERANCE: f64 = 1e-12;
/// Steps after which there will be no solution.
const STEPS: u32 = 50;
/// Smallest fraction of a damped step.
const SHORTEST: f64 = 1.0 / 1024.0;
/// Relative noise of a difference quotient: only half of the digits count.
const NOISE: f64 = 1e-7;
/// Relative noise of derivatives that the loop supplies.
const ROUNDING: f64 = 1e-13;

/// Why a loop has no values at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopError<F> {
    /// The model refuses this point, but perhaps not another one (`fmi3Discard`).
    Discard,
    /// The model fails.
    Failed(F),
}

/// An algebraic loop: its inputs, by numbers from 0, and the values that come back for them.
pub trait Circle {
    /// Another kind of failure.
    type Failure;

    /// Sets the inputs of the loop to `u`, and reads the value that each input's connection then brings into `back`. Values that are
    /// not finite count as [`LoopError::Discard`].
    fn evaluate(&mut self, u: &[f64], back: &mut [f64]) -> Result<(), LoopError<Self::Failure>>;

    /// Sets the element (i, j) of `jacobian`, which is full of zeros, to the partial derivative of the value that comes back for
    /// input i with respect to input j, at the inputs that were set last. `false`: it is unknown, and difference quotients will do.
    fn jacobian(&mut self, _jacobian: &mut LuMatrix) -> Result<bool, LoopError<Self::Failure>> {
        Ok(false)
    }
}

/// The result of solving a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Solved {
    /// Calls of [`Circle::evaluate`].
    pub evaluations: u32,
}

/// Why a loop was not solved. A variable is the number of an input of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsolved<F> {
    /// The loop does not determine this input: it has no solution, or many.
    Singular {
        /// The input.
        variable: usize,
    },
    /// The search comes to no end; this input was farthest from where it should be.
    NoProgress {
        /// The input.
        variable: usize,
    },
    /// The loop has no values where the search is to start, or nowhere beside that.
    Discarded,
    /// Something else failed.
    Failed(F),
}

impl<F> Unsolved<F> {
    /// The input that names the loop; or the failure, if it is one of the loop's own.
    pub fn variable(self) -> Result<usize, F> {
        match self {
            Unsolved::Failed(failure) => Err(failure),
            Unsolved::Singular { variable } | Unsolved::NoProgress { variable } => Ok(variable),
            Unsolved::Discarded => Ok(0),
        }
    }
}

impl<F> From<LoopError<F>> for Unsolved<F> {
    fn from(refused: LoopError<F>) -> Unsolved<F> {
        match refused {
            LoopError::Discard => Unsolved::Discarded,
            LoopError::Failed(failure) => Unsolved::Failed(failure),
        }
    }
}

/// The memory for solving one loop again and again.
#[derive(Clone, Debug)]
pub struct Newton {
    measure: Measure,
    linear: Linear,
    tolerance: f64,
    /// The point at which the loop is evaluated, and the values that come back there.
    trial: Vec<f64>,
    back: Vec<f64>,
    /// The step under way, and the one after it.
    step: Vec<f64>,
    next: Vec<f64>,
    evaluations: u32,
}

impl Newton {
    /// For a loop whose inputs have these nominal values; one that is no positive number counts as 1. Values are found to `tolerance`,
    /// relative to themselves or, where that is larger, to their nominal value.
    pub fn new(nominals: &[f64], tolerance: f64) -> Newton {
        let n = nominals.len();
        let usable = |nominal: &f64| if nominal.is_finite() && *nominal > 0.0 { *nominal } else { 1.0 };
        Newton {
            measure: Measure { nominals: nominals.iter().map(usable).collect() },
            linear: Linear { matrix: LuMatrix::new(n), scales: vec![1.0; n], moved: vec![0.0; n] },
            tolerance,
            trial: vec![0.0; n],
            back: vec![0.0; n],
            step: vec![0.0; n],
            next: vec![0.0; n],
            evaluations: 0,
        }
    }

    /// Solves `u = back(u)`: searches from `u`, which is the solution afterwards, or where the search has ended. The loop was evaluated last near the solution, not
    /// at it: whoever wants it to have these values sets them.
    ///
    /// # Panics
    /// If there are not as many inputs as nominal values.
    pub fn solve<C: Circle>(&mut self, circle: &mut C, u: &mut [f64]) -> Result<Solved, Unsolved<C::Failure>> {
        assert_eq!(u.len(), self.trial.len(), "a nominal value for each input");
        self.evaluations = 0;
        self.trial.copy_from_slice(u);
        self.evaluate(circle)?;
        if self.back == u {
            return Ok(Solved { evaluations: self.evaluations });
        }
        for _ in 0..STEPS {
            self.evaluations += self.linear.at(circle, u, &mut self.trial, &self.back, &self.measure)?;
            self.linear.step(u, &self.back, &self.measure, &mut self.step);
            if self.go(circle, u)? {
                return Ok(Solved { evaluations: self.evaluations });
            }
        }
        Err(Unsolved::NoProgress { variable: self.measure.longest(&self.step, u) })
    }

    /// Takes the step as far as that helps. Whether `u` is the solution now; else the loop was evaluated at `u` last.
    fn go<C: Circle>(&mut self, circle: &mut C, u: &mut [f64]) -> Result<bool, Unsolved<C::Failure>> {
        let length = self.measure.length(&self.step, u);
        let mut part = if length.is_finite() { 1.0 } else { 0.0 };
        while part >= SHORTEST {
            for (input, trial) in self.trial.iter_mut().enumerate() {
                *trial = u[input] + part * self.step[input];
            }
            match self.evaluate(circle) {
                Ok(()) => {
                    self.linear.step(&self.trial, &self.back, &self.measure, &mut self.next);
                    if self.measure.length(&self.next, &self.trial) <= self.tolerance {
                        for (input, u) in u.iter_mut().enumerate() {
                            *u = self.trial[input] + self.next[input];
                        }
                        return Ok(true);
                    }
                    // Both in the same measure, or a long way away would seem nearer.
                    if self.measure.length(&self.next, u) <= (1.0 - part / 2.0) * length {
                        u.copy_from_slice(&self.trial);
                        return Ok(false);
                    }
                }
                Err(LoopError::Discard) => {}
                Err(LoopError::Failed(failure)) => return Err(Unsolved::Failed(failure)),
            }
            part /= 2.0;
        }
        Err(Unsolved::NoProgress { variable: self.measure.longest(&self.step, u) })
    }

    /// Evaluates the loop at the trial point.
    fn evaluate<C: Circle>(&mut self, circle: &mut C) -> Result<(), LoopError<C::Failure>> {
        self.evaluations += 1;
        evaluate(circle, &self.trial, &mut self.back)
    }
}

fn evaluate<C: Circle>(circle: &mut C, u: &[f64], back: &mut [f64]) -> Result<(), LoopError<C::Failure>> {
    circle.evaluate(u, back)?;
    match back.iter().all(|value| value.is_finite()) {
        true => Ok(()),
        false => Err(LoopError::Discard),
    }
}

/// The scales by which a step is large.
#[derive(Clone, Debug)]
struct Measure {
    nominals: Vec<f64>,
}

impl Measure {
    /// The change of an input, relative to itself or to its nominal value.
    fn relative(&self, input: usize, step: &[f64], at: &[f64]) -> f64 {
        let change = step[input].abs() / at[input].abs().max(self.nominals[input]);
        if change.is_finite() { change } else { f64::INFINITY }
    }

    fn length(&self, step: &[f64], at: &[f64]) -> f64 {
        (0..step.len()).map(|input| self.relative(input, step, at)).fold(0.0, f64::max)
    }

    /// The input that changes most; the first of several.
    fn longest(&self, step: &[f64], at: &[f64]) -> usize {
        let length = self.length(step, at);
        (0..step.len()).find(|&input| self.relative(input, step, at) == length).unwrap_or(0)
    }
}

/// The loop as if it were linear: I - ∂back/∂u, factored.
#[derive(Clone, Debug)]
struct Linear {
    /// The matrix in nominal values, each column divided by its scale.
    matrix: LuMatrix,
    /// The largest terms of the differences in each column: a pivot is small or not compared to that.
    scales: Vec<f64>,
    /// Values that the loop returns with one input moved.
    moved: Vec<f64>,
}

impl Linear {
    /// Computes the matrix at `u`, where `back` is the result of the last evaluation. Returns the number of evaluations.
    fn at<C: Circle>(
        &mut self,
        circle: &mut C,
        u: &[f64],
        trial: &mut [f64],
        back: &[f64],
        measure: &Measure,
    ) -> Result<u32, Unsolved<C::Failure>> {
        let n = u.len();
        for (row, column) in (0..n).flat_map(|row| (0..n).map(move |column| (row, column))) {
            self.matrix.set(row, column, 0.0);
        }
        let (evaluations, noise) = match circle.jacobian(&mut self.matrix)? {
            true => (0, ROUNDING),
            false => (self.differences(circle, u, trial, back, measure)?, NOISE),
        };
        for column in 0..n {
            let mut scale = 1.0f64;
            for row in 0..n {
                let relative = self.matrix.get(row, column) * measure.nominals[column] / measure.nominals[row];
                scale = scale.max(relative.abs());
                self.matrix.set(row, column, if row == column { 1.0 - relative } else { -relative });
            }
            for row in 0..n {
                self.matrix.set(row, column, self.matrix.get(row, column) / scale);
            }
            self.scales[column] = scale;
        }
        self.matrix.factor(noise).map_err(|singular| Unsolved::Singular { variable: singular.column })?;
        Ok(evaluations)
    }

    /// Difference quotients, forwards or, where the loop has no values there, backwards.
    fn differences<C: Circle>(
        &mut self,
        circle: &mut C,
        u: &[f64],
        trial: &mut [f64],
        back: &[f64],
        measure: &Measure,
    ) -> Result<u32, LoopError<C::Failure>> {
        let mut evaluations = 0;
        trial.copy_from_slice(u);
        for column in 0..u.len() {
            let distance = f64::EPSILON.sqrt() * u[column].abs().max(measure.nominals[column]);
            trial[column] = u[column] + distance;
            evaluations += 1;
            if let Err(refused) = evaluate(circle, trial, &mut self.moved) {
                if let LoopError::Failed(failure) = refused {
                    return Err(LoopError::Failed(failure));
                }
                trial[column] = u[column] - distance;
                evaluations += 1;
                evaluate(circle, trial, &mut self.moved)?;
            }
            // What was really added.
            let distance = trial[column] - u[column];
            for (row, (moved, back)) in self.moved.iter().zip(back).enumerate() {
                self.matrix.set(row, column, (moved - back) / distance);
            }
            trial[column] = u[column];
        }
        Ok(evaluations)
    }

    /// The step from `at`, where `back` comes back, to where it would be solved.
    fn step(&self, at: &[f64], back: &[f64], measure: &Measure, step: &mut [f64]) {
        for (input, step) in step.iter_mut().enumerate() {
            *step = (back[input] - at[input]) / measure.nominals[input];
        }
        self.matrix.solve(step);
        for (input, step) in step.iter_mut().enumerate() {
            *step *= measure.nominals[input] / self.scales[input];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A loop that is a function, and how often it was called.
    struct Function<F> {
        function: F,
        jacobian: Option<Vec<Vec<f64>>>,
        calls: u32,
    }

    impl<F: FnMut(&[f64], &mut [f64]) -> Result<(), LoopError<&'static str>>> Circle for Function<F> {
        type Failure = &'static str;

        fn evaluate(&mut self, u: &[f64], back: &mut [f64]) -> Result<(), LoopError<&'static str>> {
            self.calls += 1;
            (self.function)(u, back)
        }

        fn jacobian(&mut self, jacobian: &mut LuMatrix) -> Result<bool, LoopError<&'static str>> {
            let Some(rows) = &self.jacobian else { return Ok(false) };
            for (row, values) in rows.iter().enumerate() {
                let known = values.iter().enumerate().filter(|(_, value)| **value != 0.0);
                known.for_each(|(column, &value)| jacobian.set(row, column, value));
            }
            Ok(true)
        }
    }

    type Found = Result<Solved, Unsolved<&'static str>>;

    /// Searches from `u` with nominal values of 1.
    fn solve(
        u: &mut [f64],
        function: impl FnMut(&[f64], &mut [f64]) -> Result<(), LoopError<&'static str>>,
    ) -> (Found, u32) {
        let mut circle = Function { function, jacobian: None, calls: 0 };
        let found = Newton::new(&vec![1.0; u.len()], 1e-12).solve(&mut circle, u);
        (found, circle.calls)
    }

    /// y = u1 - u2, u2 := y.
    #[test]
    fn feedback_is_half_of_its_input() {
        for k in 0..100 {
            let u1 = (0.1 * f64::from(k)).sin();
            let mut u2 = [7.0];
            let (found, calls) = solve(&mut u2, |u, back| {
                back[0] = u1 - u[0];
                Ok(())
            });
            assert!((u2[0] - 0.5 * u1).abs() <= 1e-12, "{u2:?}");
            assert_eq!(found, Ok(Solved { evaluations: calls }));
            assert!(calls <= 5, "{calls}");
        }
    }

    #[test]
    fn a_loop_that_knows_its_derivatives_is_evaluated_twice() {
        let function = |u: &[f64], back: &mut [f64]| {
            back[0] = 1.0 - 3.0 * u[1];
            back[1] = 2.0 * u[0];
            Ok(())
        };
        let mut circle = Function { function, jacobian: Some(vec![vec![0.0, -3.0], vec![2.0, 0.0]]), calls: 0 };
        let mut newton = Newton::new(&[1.0; 2], 1e-12);
        for _once_more in 0..2 {
            let mut u = [0.0; 2];
            assert_eq!(newton.solve(&mut circle, &mut u), Ok(Solved { evaluations: 2 }));
            assert!((u[0] - 1.0 / 7.0).abs() < 1e-15 && (u[1] - 2.0 / 7.0).abs() < 1e-15, "{u:?}");
        }
    }

    /// Of known derivatives nearly all digits count: a gain of 0.999 is none of 1, and one of ten tenths is.
    #[test]
    fn known_derivatives_are_trusted() {
        let tenths: f64 = [0.1; 10].iter().sum();
        let by_gain = |gain: f64| {
            let function = move |u: &[f64], back: &mut [f64]| {
                back[0] = gain * u[0] + 1.0;
                Ok(())
            };
            let mut circle = Function { function, jacobian: Some(vec![vec![gain]]), calls: 0 };
            Newton::new(&[1.0], 1e-9).solve(&mut circle, &mut [0.0])
        };
        assert!(by_gain(0.999).is_ok());
        assert!(tenths != 1.0 && by_gain(tenths) == Err(Unsolved::Singular { variable: 0 }));
    }

    /// The result is better than the tolerance: the last step is taken on the basis of the solution before it.
    #[test]
    fn the_last_step_is_taken() {
        let mut circle = Function {
            function: |u: &[f64], back: &mut [f64]| {
                back[0] = u[0].cos();
                Ok(())
            },
            jacobian: None,
            calls: 0,
        };
        let mut u = [0.7];
        assert!(Newton::new(&[1.0], 1e-3).solve(&mut circle, &mut u).is_ok());
        assert!((u[0] - 0.739_085_133_215_160_6).abs() < 1e-5, "{u:?}");
    }

    #[test]
    fn values_far_from_their_nominal_ones_are_found_to_the_same_number_of_digits() {
        for nominal in [1e-6, 1e6, 0.0, -1.0, f64::NAN, f64::INFINITY] {
            let function = |u: &[f64], back: &mut [f64]| {
                back[0] = 1e10 * (u[0] / 1e10).cos();
                Ok(())
            };
            let mut circle = Function { function, jacobian: None, calls: 0 };
            let mut u = [0.0];
            let found = Newton::new(&[nominal], 1e-12).solve(&mut circle, &mut u);
            let error = u[0] / 7.390_851_332_151_606e9 - 1.0;
            assert!(found.is_ok() && error.abs() < 1e-12, "{nominal}: {found:?} {error}");
            // From nearby, digits that nobody wants are not searched for.
            let found = Newton::new(&[nominal], 1e-6).solve(&mut circle, &mut [7.39e9]);
            assert_eq!(found, Ok(Solved { evaluations: 3 }), "{nominal}");
        }
    }

    #[test]
    fn what_is_too_large_for_a_double_is_no_solution() {
        let function = |_: &[f64], back: &mut [f64]| {
            back.fill(1e10);
            Ok(())
        };
        let jacobian = Some(vec![vec![0.0, -0.5], vec![-0.5, 0.0]]);
        let mut circle = Function { function, jacobian, calls: 0 };
        let found = Newton::new(&[1e-300; 2], 1e-12).solve(&mut circle, &mut [0.0; 2]);
        assert_eq!(found, Err(Unsolved::NoProgress { variable: 0 }));
    }

    /// A nozzle and a pipe: their pressures and flow are of sizes that differ by ten orders of magnitude.
    #[test]
    fn a_loop_that_is_not_linear_is_solved_whatever_the_sizes() {
        let mut circle = Function {
            function: |u: &[f64], back: &mut [f64]| {
                let (pressure, flow) = (u[0], u[1]);
                back[0] = 5e5 - 1e15 * flow * flow.abs();
                back[1] = 1e-8 * pressure.max(0.0).sqrt() / 500.0f64.sqrt();
                Ok(())
            },
            jacobian: None,
            calls: 0,
        };
        let mut u = [1e5, 0.0];
        let found = Newton::new(&[1e5, 1e-6], 1e-12).solve(&mut circle, &mut u);
        assert!(found.is_ok(), "{found:?} {u:?}");
        // p = 5e5 - 1e15 · 1e-16 · p / 500
        let pressure = 5e5 / (1.0 + 0.1 / 500.0);
        assert!((u[0] / pressure - 1.0).abs() < 1e-11, "{u:?}");
        assert!((u[1] / (1e-8 * (pressure / 500.0).sqrt()) - 1.0).abs() < 1e-11, "{u:?}");
    }

    /// u + arctan(u) = 0 by steps that would grow without damping: |u| = 3 is beyond where Newton's method converges by itself.
    #[test]
    fn a_step_that_does_not_help_is_made_shorter() {
        let mut u = [3.0];
        let (found, _) = solve(&mut u, |u, back| {
            back[0] = u[0] - u[0].atan();
            Ok(())
        });
        assert!(found.is_ok() && u[0].abs() < 1e-12, "{found:?} {u:?}");
    }

    #[test]
    fn where_the_loop_has_no_values_the_search_turns_back() {
        let root = |u: &[f64], back: &mut [f64]| {
            if u[0] < 0.0 {
                return Err(LoopError::Discard);
            }
            back[0] = 0.1 * u[0] + 1e-3 - 0.5 * u[0].sqrt() + 0.02;
            Ok(())
        };
        let mut u = [1.0];
        let (found, _) = solve(&mut u, root);
        assert!(found.is_ok() && (0.9 * u[0] + 0.5 * u[0].sqrt() - 0.021).abs() < 1e-12, "{found:?} {u:?}");
        let mut u = [1.0];
        let (found, _) = solve(&mut u, |u, back| {
            back[0] = 0.121 * 0.2 - 0.5 * u[0].sqrt() + 0.1 * u[0];
            Ok(())
        });
        assert!(found.is_ok(), "not a number is no value: {found:?} {u:?}");
        assert_eq!(solve(&mut [-1.0], root).0, Err(Unsolved::Discarded));
        let not_a_number = |_: &[f64], back: &mut [f64]| {
            back[0] = f64::NAN;
            Ok(())
        };
        assert_eq!(solve(&mut [1.0], not_a_number).0, Err(Unsolved::Discarded));
        // At the end of where there are values, differences are taken backwards.
        let mut u = [1.0];
        let (found, _) = solve(&mut u, |u, back| {
            if u[0] > 1.0 {
                return Err(LoopError::Discard);
            }
            back[0] = 0.5 * u[0];
            Ok(())
        });
        assert!(found.is_ok() && u[0].abs() < 1e-12, "{found:?} {u:?}");
    }

    #[test]
    fn an_input_that_the_loop_does_not_determine_is_named() {
        // u := u, any value is a solution; the second input is determined.
        let (found, _) = solve(&mut [1.0, 2.0], |u, back| {
            back[0] = 0.5 * u[0];
            back[1] = u[1] + 0.0 * u[0];
            Ok(())
        });
        assert_eq!(found, Err(Unsolved::Singular { variable: 1 }));
        // u := u + 1, none is; with what rounding leaves of a gain of 1.
        let (found, _) = solve(&mut [0.7], |u, back| {
            back[0] = u[0] * 0.1 + u[0] * 0.2 + u[0] * 0.7 + 1.0;
            Ok(())
        });
        assert_eq!(found, Err(Unsolved::Singular { variable: 0 }));
        // Only the sum of both matters, with a gain that leaves much of rounding, too.
        let (found, _) = solve(&mut [0.3, 0.4], |u, back| {
            let sum = 0.3 * u[0] + 0.7 * u[1] - 1.0;
            (back[0], back[1]) = (u[0] + 1e8 * sum, u[1] + 3e7 * sum);
            Ok(())
        });
        assert_eq!(found, Err(Unsolved::Singular { variable: 1 }));
    }

    #[test]
    fn a_search_without_end_names_the_input_that_is_farthest() {
        // u = u² + 1 has no real solution, and its slope never vanishes where the search comes to.
        let (found, calls) = solve(&mut [0.1, 4.0], |u, back| {
            back[0] = 0.25 * u[0];
            back[1] = u[1] * u[1] + 1.0;
            Ok(())
        });
        assert_eq!(found, Err(Unsolved::NoProgress { variable: 1 }));
        assert!(calls < 500, "{calls}");
    }

    #[test]
    fn a_failure_ends_the_search() {
        let mut count = 0;
        let (found, calls) = solve(&mut [0.0], |_, back| {
            count += 1;
            back[0] = 1.0;
            if count < 2 { Ok(()) } else { Err(LoopError::Failed("no more")) }
        });
        assert_eq!((found, calls), (Err(Unsolved::Failed("no more")), 2));
    }

    #[test]
    fn a_loop_without_inputs_is_solved() {
        assert!(solve(&mut [], |_, _| Ok(())).0.is_ok());
    }

    proptest! {
        /// back = G u + g, where I - G is far from singular.
        #[test]
        fn linear_loops_are_solved_exactly(
            gains in prop::collection::vec(-0.2..0.2f64, 16), offset in prop::collection::vec(-100.0..100.0f64, 4),
            exponents in prop::collection::vec(-9..9i32, 4), start in -10.0..10.0f64,
        ) {
            let nominals: Vec<f64> = exponents.iter().map(|&exponent| 10f64.powi(exponent)).collect();
            let linear = |u: &[f64], back: &mut [f64]| {
                for row in 0..4 {
                    let sum: f64 = (0..4).map(|column| gains[4 * row + column] * u[column] / nominals[column]).sum();
                    back[row] = nominals[row] * (sum + offset[row]);
                }
                Ok(())
            };
            let mut u: Vec<f64> = nominals.iter().map(|nominal| start * nominal).collect();
            let mut circle = Function { function: linear, jacobian: None, calls: 0 };
            let found = Newton::new(&nominals, 1e-12).solve(&mut circle, &mut u);
            prop_assert!(found.is_ok(), "{:?}", found);
            let mut back = [0.0; 4];
            circle.evaluate(&u, &mut back).unwrap();
            for input in 0..4 {
                prop_assert!((u[input] - back[input]).abs() <= 1e-9 * nominals[input], "{u:?} {back:?}");
            }
        }
    }
}
