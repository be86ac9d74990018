//! The FMU's part of a task's release: set, compute, get (semantics S10). One variant of [`Unit`] for each kind of [`Work`](vecud_plan::Work); the
//! code that carries values sees only [`Setting`](super::calls::Setting) and [`Getting`](super::calls::Getting).
//!
//! The unit decides the time that is handed to the FMU, and the one from which on its results are valid: for a model partition
//! both are its activation time; a step begins at its release, and its results are valid at its end.

mod compute_unit;
mod events;
mod fast_path;
mod figures;
mod partition;
mod step;
mod stepping;
mod substeps;

pub use self::compute_unit::{Ready, Unit, join};
pub use self::fast_path::FastPathSteps;
pub use self::step::StepUnit;
