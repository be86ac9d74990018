//! Reads the notes of partitions during a run: makes histograms of the parts of their time, and `trace.json`, a
//! timeline of the tasks.
//!
//! In mode `all` everything goes to a file [at once](stream); as a [flight recorder](flight) the last seconds stay in
//! memory. A failure of a file is a warning of the report and never ends the run. Long work returns to its caller now
//! and then, so that recordings do not wait for it.

mod file;
mod flight;
mod notes;
mod over;
mod picture;
mod stream;
mod tracing;
mod worst;

pub use over::FirstOver;
pub use tracing::Tracer;
