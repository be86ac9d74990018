//! Shared memory in which a run leaves its measurements, and the files that are made of them.
//!
//! The glossary of vecud's words is on the page of the crate `vecud` (`src/lib.rs`, "Words").
//!
//! The runner writes; the supervisor reads, and makes histograms of the notes of activations. The memory outlives the runner, so a
//! crash of FMU code loses nothing but the host's own time of the last activations. All of it is 64-bit atomic words: counters and
//! histograms ([`board`], [`figures`]), samples of recorded variables ([`samples`]), log lines ([`log`]), offences against the
//! standard ([`findings`]), the trace of executions ([`trace`]). [`signals`] puts samples in order and writes them down, as rows, as
//! messages and as columns; [`recording`] reads them, and recordings of other tools. [`control`] has the commands that set values in a
//! running FMU, [`stimulus`] the rows of a file that feed inputs and tick clocks. Samples, notes of the trace, and commands go through
//! rings of one kind ([`ring`]).

#![forbid(unsafe_code)]

#[cfg(feature = "arrow")]
mod arrow;
pub mod board;
mod cells;
mod chunk;
mod commands;
mod container;
mod content;
pub mod control;
pub mod csv;
mod encoding;
pub mod figures;
pub mod findings;
pub mod histogram;
pub mod items;
mod json;
pub mod log;
mod messages;
pub mod moment;
mod newest;
#[cfg(test)]
mod overwritten;
mod packing;
mod protobuf;
pub mod recording;
pub mod ring;
mod rotation;
mod sample_sink;
pub mod samples;
pub mod signals;
pub mod stimulus;
mod tail;
mod texts;
mod thinning;
pub mod trace;
pub mod unusable;
pub mod written;

pub use newest::RowWatcher;
pub use rotation::writes;
