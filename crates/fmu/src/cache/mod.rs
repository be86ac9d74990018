//! A folder of finished results, shared by every run of `vecud` and safe against all of them ending at any time.
//!
//! Guarantees:
//! - An entry is complete or absent. It is made in a temporary sibling and renamed into place. A list of its files and their
//!   sizes, with digests of files that decide what is executed, is written last and compared at every use: an entry that has
//!   lost or changed something (by a tidy-up of old temporary files, a power failure) is made anew.
//! - What other users could have put there is not used: no folder that they may write to, by itself or one above it, and
//!   no file or link of theirs. Only root is as good as the user.
//! - Several processes may make the same entry at once: one rename wins, all of them use the winner's.
//! - Whatever goes wrong while an entry is made, its temporary folder is removed. Those of killed processes are removed
//!   by the next user of the cache, once they are a minute old and nobody holds their lock.
//! - Names of entries hold a hash of everything that they were made from, so an entry never becomes stale.
#![forbid(unsafe_code)]

mod entry;
mod error;
mod key;
mod plain_path;
mod private_folder;
#[cfg(test)]
mod tests;
mod user_cache;

pub use self::error::CacheError;
pub(crate) use self::key::CacheKey;
pub(crate) use self::plain_path::plain_path;
pub use self::user_cache::Cache;
