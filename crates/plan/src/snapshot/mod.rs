//! A run that was left, to be taken up again: the state of every FMU, and what the host knows beside it.
//!
//! Pure. [`Snapshot`] is the content, [`Identity`] says which rig it belongs to, and `file` gives both a form that is told
//! from every other file, from one that was cut, and from one that was changed.
//!
//! What a snapshot promises: every activation before [`Snapshot::time`] is complete; everything else that is due waits in
//! the timelines. So the run that takes it up does what the one that was left would have done.

#![forbid(unsafe_code)]

mod content;
mod file;
mod identity;

pub use content::{BetweenSteps, Kept, Snapshot};
pub use file::{MARK, Unreadable};
pub use identity::Identity;
