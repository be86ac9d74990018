//! Builds source FMUs: sources, their build description, and the system's compiler → a shared library.
//!
//! How to build them is in `sources/buildDescription.xml`. FMI 2.0 and 1.0 have no such file: there it follows from a list in the
//! model description, or from the names of the files.
//!
//! Guarantees:
//! - The library is kept in the cache under a hash of everything that it was made from: sources, build description, our
//!   FMI headers and macros of the FMU's dialect, the compilers' identities, options. Nothing is built twice, and nothing
//!   stale is used.
//! - Compilers run without a shell, in an empty folder within a temporary one of the cache. The FMU's own folder is only read.
//! - Unless the user trusts the FMU, no option of its starts a program or names a file, compilers are locked into a jail in
//!   which there are no files of the user's but the FMU's, and what they take of time and memory is bounded.
//! - Compilers end with the one that started them, and when somebody asks for the end.
//! - Exactly one build configuration is used, and all of it.
#![forbid(unsafe_code)]

mod choices;
mod compiler;
mod description;
mod dialect;
mod error;
mod inputs;
mod jail;
mod language;
mod library;
mod listed;
mod options;
mod sources;

pub use self::choices::{BuildChoices, Definitions};
pub use self::error::{BuildError, Withheld};
pub use self::library::build;
