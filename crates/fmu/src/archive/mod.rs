//! An FMU as a set of files: `.fmu` archives and unpacked folders.
//!
//! Guarantees:
//! - An archive is unpacked into its own folder of the [`Cache`], named by the SHA-256 of its bytes, complete or not at
//!   all, and usable by several runs at once. Nothing outside of that folder is written, whatever the archive holds;
//!   whatever is refused leaves nothing behind.
//! - A folder that the user names is used where it is and never written to. Links in it are the user's own affair.
//! - A folder that another user has named is copied into the cache, with that user's rights: nothing of it is opened later.
//! - The library stays beside everything that was packed with it, so dependencies by `$ORIGIN` resolve.
#![forbid(unsafe_code)]

mod copy;
mod directory;
mod error;
mod executed;
mod layout;
mod limits;
mod names;
mod unpacked;
mod until;
mod unzip;

pub use self::copy::copied_file;
pub use self::error::{ArchiveError, EntryProblem};
pub use self::layout::{Oddity, extent};
pub use self::unpacked::Unpacked;
pub use crate::build::{BuildChoices, BuildError, Definitions};
pub use crate::cache::Cache;
