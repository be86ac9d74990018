//! The calls of one activation: set, compute, get, publish (semantics S10). The same code in real and in virtual time. A
//! [`Setting`] sets and computes, a [`Getting`] gets.

mod batches;
mod meter;
mod recorded;
mod seen;
mod set_compute_get;
mod shared_outputs;

pub use self::meter::Meter;
pub use self::recorded::Recorded;
pub use self::set_compute_get::{Calls, FastStepResult, Getting, Setting};
pub use self::shared_outputs::SharedOutputs;
