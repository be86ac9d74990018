//! What a run leaves behind: reports, recordings, traces.

#[path = "../program/mod.rs"]
mod program;

mod recording;
mod results;
mod trace;
