//! What a run leaves behind for people and programs: comparisons, formats, names as they are shown.

mod calls;
mod checkpoints;
mod comparison;
mod formats;
mod kept;
mod names_shown;
mod plots;
use crate::program;
mod trends;
