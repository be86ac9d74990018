//! The saved state of a run that another one continues: the state of every FMU, and that of the host.
//!
//! Pure. [`Snapshot`] is the content, [`Identity`] identifies its rig, and `file` gives both a form that is distinct from every
//! other file, from one that was cut, and from one that was changed.
//!
//! Promise of a snapshot: every activation before [`Snapshot::time`] is complete; everything else that is due waits in the
//! timelines. So the run that continues does what the first one would have done.

#![forbid(unsafe_code)]

mod content;
mod file;
mod identity;

pub use content::{BetweenSteps, Kept, Snapshot};
pub use file::{MARK, Unreadable};
pub use identity::Identity;
