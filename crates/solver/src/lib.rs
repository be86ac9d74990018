//! Integration of Model Exchange FMUs; in [`master`], the algorithms that step a group of FMUs.
//!
//! The glossary of vecud's words is on the page of the crate `vecud` (`src/lib.rs`, "Words").
//!
//! The crate integrates the equations of Model Exchange FMUs: derivatives of their states, and indicators whose change of sign is an
//! event.
//!
//! Guaranteed, whatever the method:
//! - The model is the caller's, behind [`Equations`] and [`Indicators`]; nothing here knows of FMUs, clocks or files.
//! - [`Drive::to`] never comes beyond [`Goal::until`], and whenever it returns without an error, the last point that the model was
//!   told ([`Equations::tell`]) is the one at which the drive stands: outputs that are read then belong to [`Drive::time`].
//! - An event is located on its right side: at the returned time an indicator *has* changed its domain (z > 0 or z ≤ 0), and a few
//!   units in the last place of time before it, none had.
//! - What is between the ends of an internal step is not looked at: an indicator that changes its domain and changes back within one
//!   has done nothing. [`Goal::limit`] and internal steps bound how much that may hide.
//! - What the model refuses ([`ModelError::Discard`], or a number that is none) is tried again with a smaller step.
//! - Nothing is allocated after [`Drive::new`], and [`WorkBudget`] limits the work of a call.
//! - The same calls give the same bits.
//!
//! # How a run calls it
//!
//! ```
//! use vecud_solver::{Drive, Equations, Goal, Indicators, Method, ModelError, Reached, WorkBudget};
//!
//! /// A ball that falls from a height of one metre.
//! struct Ball { x: [f64; 2] }
//! impl Equations for Ball {
//!     type Failure = String;
//!     fn tell(&mut self, _: f64, x: &[f64]) -> Result<(), ModelError<String>> {
//!         self.x.copy_from_slice(x);
//!         Ok(())
//!     }
//!     fn derivatives(&mut self, dx: &mut [f64]) -> Result<(), ModelError<String>> {
//!         dx.copy_from_slice(&[self.x[1], -9.81]);
//!         Ok(())
//!     }
//! }
//! impl Indicators for Ball {
//!     fn indicators(&mut self, z: &mut [f64]) -> Result<(), ModelError<String>> {
//!         z[0] = self.x[0];
//!         Ok(())
//!     }
//! }
//!
//! let mut ball = Ball { x: [1.0, 0.0] };
//! // Once, before the run: two states, one indicator.
//! let mut drive = Drive::new(Method::Rk4 { internal_step: 0.01 }, 2, 1);
//! // After Event Mode has been left, also for the first time: states and nominals as the model has them now.
//! drive.states_mut().copy_from_slice(&ball.x);
//! drive.set_nominals(&[1.0, 1.0]);
//! drive.restart(&mut ball, 0.0).unwrap();
//! // For each communication step: to its end, with what may be worked in it.
//! let goal = Goal::end(0.0, 1.0);
//! let mut bound = WorkBudget { events: 100, right_hand_sides: 1_000_000 };
//! let mut bounces = 0;
//! loop {
//!     match drive.to(&mut ball, &goal, &mut bound).unwrap() {
//!         Reached::Until { .. } => break,
//!         Reached::Step => unreachable!("not asked for"),
//!         Reached::Event { .. } => {
//!             // Event Mode: here the ball turns round. Then restart, and on to the same goal.
//!             bounces += 1;
//!             let speed = drive.states()[1];
//!             drive.states_mut().copy_from_slice(&[f64::MIN_POSITIVE, -0.7 * speed]);
//!             let now = drive.time();
//!             drive.restart(&mut ball, now).unwrap();
//!         }
//!     }
//! }
//! assert_eq!((drive.time(), bounces), (1.0, 1));
//! ```
//!
//! `CompletedIntegratorStep` is the caller's: an internal step is complete at [`Reached::Step`] (which comes only where
//! [`Goal::steps`] asks for it), at [`Reached::Event`], and at [`Reached::Until`] with `step_ended`. The model has been told that point
//! just before. If the answer is an event, it is handled as any other: Event Mode, then [`Drive::restart`]. If not, the next
//! [`Drive::to`] goes on; nothing goes back over a point that was returned.
//!
//! At a communication point the caller may set inputs. Then the model answers otherwise, and the drive must hear of it:
//! [`Drive::after_inputs`] tells whether that alone is an event.

#![forbid(unsafe_code)]

mod adaptive;
mod asked;
mod bdf;
mod dense;
mod dopri5;
mod drive;
mod equations;
mod fixed;
mod jacobian;
mod locate;
pub mod master;
mod method;
mod roots;
mod stopped;
mod structure;
#[cfg(test)]
mod tests;
mod weights;
mod work;

pub use dense::{Factors, SquareMatrix};
pub use drive::{Drive, Goal, Pace, Reached};
pub use equations::{Equations, Indicators, ModelError};
pub use method::Method;
pub use stopped::{Answer, Stopped};
pub use structure::Structure;
pub use work::{WorkBudget, WorkCounts};
