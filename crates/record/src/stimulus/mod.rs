//! Stimuli: rows of a CSV file, or of an earlier recording, that feed inputs and tick clocks (semantics S15).
//!
//! Pure. [`StimulusReader`] reads a file row by row, whatever its length, and refuses what does not fit with file, line and column.
//! [`Feed`] is where rows wait, in shared memory, for activations to come: the process that reads the file puts them there
//! ahead of time, and tells up to which time all of them are there. [`Follower`] says what an activation at some time gets.
//!
//! What an activation at `t` gets depends on `t` and the file alone: of each column the newest value with a time at or
//! before `t`, or the line from that row to the next. Nothing before the first value. So real time and virtual time get the
//! same, whoever is late.
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
