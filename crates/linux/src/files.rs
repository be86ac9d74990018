//! Files and folders that others may have prepared.
//!
//! Guarantees: reading never blocks (a pipe under the name of a file is refused, not waited for), a new file is made
//! under its own name (a link in its place is replaced, not followed), and the safety of a folder from other users is
//! judged by its whole path.

#![forbid(unsafe_code)]

mod device;
mod folder;
mod ordinary_file;
mod stranger;

pub use self::device::open_device;
pub use self::folder::Folder;
pub use self::ordinary_file::{
    create, create_begun, create_to_append, open, open_to_append, read_at_most, read_to_string, renamed, reopen,
};
pub use self::stranger::{ROOT, UnsafeFolder, stranger, stranger_to_root};
