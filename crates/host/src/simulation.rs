//! One FMU by itself in virtual time, as a simulator: rows go to the caller as they are computed, and nothing else is left behind,
//! no folder and no report.
//!
//! The FMU runs in a runner's process as in every session, so whatever it does, the rows up to then are written and the end is
//! explained. What makes a session slow to start and to end is left out: files, figures, looks at the machine.

mod inputs;
mod run;
mod sweep;
mod text;
mod wanted;

pub use run::{RowSink, Simulated, rounds, simulate};
pub use sweep::{SweepAxis, Swept, sweep};
pub use text::CsvText;
pub use wanted::{Beginning, SimulationOptions, prepare};
