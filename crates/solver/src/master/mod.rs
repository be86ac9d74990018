//! Master algorithms: they step a group of FMUs, which they know only by numbers.
//!
//! The algorithms are those of D. Broman's slides on a formal model of FMI and on master algorithms (2014; more in Broman et al.,
//! EMSOFT 2013), with their names and the numbers of their lines:
//!
//! | symbol | here |
//! |---|---|
//! | C, c | the slaves of a group: FMUs, or several that are integrated as one |
//! | U, Y, D, P | inputs, outputs, on which inputs an output depends, which output feeds an input: [`Dependencies`] |
//! | set, get | [`Slaves::exchange`]: `u := P(u)` |
//! | doStep(s, h) = (s', h') | [`Slaves::do_step`]: h' < h is a *rejection*, the step has ended earlier |
//! | r := m, m := r | [`Slaves::save`], [`Slaves::restore`] |
//! | getMaxStepSize(s) | the earliest of a slave's [`Source`]s |
//! | C_P, C_R, C_L | [`SlaveClass`]: predictable, rollback, legacy |
//! | A0 | 0 ≤ h' ≤ h |
//! | A1 | a step that is shorter than an accepted one is accepted |
//! | A4 | a predictable slave accepts every step up to its largest |
//!
//! Guarantees: the result depends on the names of the slaves, never on their order in the rig. Times are exact: ends of steps are
//! instants, which are compared and never added up, so that all slaves of a step end at the same one. What contradicts A0, A1
//! or A4 is told with the slave that does. A step allocates nothing; whether its slaves do is theirs.
//!
//! The steps to make and run a group:
//!
//! 1. [`Dependencies::order`] puts variables in order (Algorithm 1); [`Dependencies::exchanges`] makes connections of that, with
//!    algebraic loops among them, which [`ExchangeStep::without_loops`] cuts or [`Newton`] solves.
//! 2. [`classify`] gives each slave its [`SlaveClass`] and says why, or refuses the group.
//! 3. [`Setup::new`] with both; [`Setup::step`] with an implementation of [`Slaves`], until the end of the release is reached.
//! 4. Between steps, [`Iteration`] says when Event Mode is left.
//!
//! Two tanks, one of which sees at 0.37 that it is full:
//!
//! ```
//! use std::convert::Infallible;
//! use vecud_solver::master::*;
//! use vecud_base::time::{Fraction, Instant};
//!
//! struct Tanks {
//!     time: [Instant; 2],
//!     saved: [Instant; 2],
//!     is_full: Instant,
//! }
//!
//! impl Slaves for Tanks {
//!     type Failure = Infallible;
//!
//!     fn exchange(&mut self, _connection: usize) -> Result<(), Infallible> {
//!         Ok(())
//!     }
//!     fn solve(&mut self, _circle: usize) -> Result<(), Infallible> {
//!         unreachable!("there is no loop")
//!     }
//!     fn save(&mut self, slave: usize) -> Result<(), Infallible> {
//!         self.saved[slave] = self.time[slave];
//!         Ok(())
//!     }
//!     fn restore(&mut self, slave: usize) -> Result<(), Infallible> {
//!         self.time[slave] = self.saved[slave];
//!         Ok(())
//!     }
//!     fn do_step(&mut self, slave: usize, _from: Instant, to: Instant) -> Result<Instant, Infallible> {
//!         self.time[slave] = if slave == 1 { to.min(self.is_full) } else { to };
//!         Ok(self.time[slave])
//!     }
//!     fn latest(&mut self, _slave: usize, _source: Source, _from: Instant) -> Result<Option<Instant>, Infallible> {
//!         unreachable!("none of them is predictable")
//!     }
//!     fn stopped_early(&mut self, _slave: usize, _at: Instant) -> Result<bool, Infallible> {
//!         unreachable!("both are taken back")
//!     }
//! }
//!
//! let (algorithm, step) = (MasterAlgorithm::Predictable, Fraction::SECOND);
//! let saves = Abilities { varies_step: true, may_return_early: true, way_back: Ok(WayBack::State), sources: vec![] };
//! let tank = |name| UnclassifiedSlave { name, abilities: saves.clone(), wish: None };
//! let classes = classify(&[tank("upper"), tank("lower")], algorithm, step)?;
//!
//! // The upper one's outflow (0) feeds the lower one's inflow (1).
//! let variables = Dependencies { names: &["upper.out", "lower.in"], direct: &[], connections: &[(0, 1)] };
//! let exchanges = ExchangeStep::without_loops(&variables.exchanges(&variables.order()));
//! let setup = Setup::new(algorithm, &["upper", "lower"], &classes, exchanges, &[(0, 1)]);
//!
//! let is_full = Instant::from_f64(0.37).unwrap();
//! let mut tanks = Tanks { time: [Instant::ZERO; 2], saved: [Instant::ZERO; 2], is_full };
//! let stepped = setup.step(&mut tanks, Instant::ZERO, Instant::ZERO.after(step)).unwrap();
//! assert_eq!((stepped.to, tanks.time), (is_full, [is_full; 2]));
//! assert_eq!(stepped.shortened, Some(Shortened { slave: 1, cause: EarlyEnd::Rejected }));
//! # Ok::<(), Unfit>(())
//! ```

#![forbid(unsafe_code)]

mod algorithm;
mod classes;
mod dense;
mod events;
mod newton;
mod order;
mod source;
mod step;

pub use algorithm::MasterAlgorithm;
pub use classes::{
    Abilities, ClassReason, Classes, Classified, Lack, NoWayBack, SlaveClass, UnclassifiedSlave, Unfit, WayBack,
    classify,
};
pub use dense::{LuMatrix, Singular};
pub use events::{EventDecision, Iteration, Update};
pub use newton::{Circle, LoopError, Newton, Solved, TOLERANCE, Unsolved};
pub use order::{Block, Dependencies, ExchangeStep};
pub use source::{Limit, Source};
pub use step::{Assumption, EarlyEnd, Setup, Shortened, Slaves, Stepped, Stop, Violation};

#[cfg(test)]
mod tests;
