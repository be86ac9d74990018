//! Stimuli: rows of a CSV file, or of an earlier recording, that feed inputs and tick clocks (semantics S15).
//!
//! Pure. [`StimulusReader`] reads a file row by row, whatever its length, and refuses unfit values with file, line and column.
//! [`Feed`] holds rows, in shared memory, for activations to come: the process that reads the file puts them there ahead of time,
//! and tells up to which time all of them are there. [`Follower`] gives the values for an activation at some time.
//!
//! The values for an activation at `t` depend on `t` and the file alone: for each column the newest value with a time at or
//! before `t`, or the line from that row to the next. Before the first value there is none. So real time and virtual time
//! give the same, however late an activation is.
//!
//! Times are compared as `f64`, as FMI has them and as recordings show them: an activation at 1/300 s finds the row that
//! an activation at 1/300 s has recorded.

#![forbid(unsafe_code)]

mod cell;
mod feed;
mod follow;
mod rows;

pub use feed::{Feed, FeedState, Shape, Starved};
pub use follow::{Follower, LinearSegment, RowLookup, is_known_for};
pub use rows::{Column, Nan, StimulusKind, StimulusReader, StimulusRow, TrajectorySummary, at_start, course, header};
