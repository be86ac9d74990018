//! Builds source FMUs: sources, their build description, and the system's compiler → a shared library.
//!
//! `sources/buildDescription.xml` describes the build. FMI 2.0 and 1.0 have no such file: there the build follows from a list in
//! the model description, or from the names of the files.
//!
//! Guarantees:
//! - The library is kept in the cache under a hash of everything that it was made from: sources, build description, our
//!   FMI headers and macros of the FMU's dialect, the compilers' identities, options. Nothing is built twice, and nothing
//!   stale is used.
//! - Compilers run without a shell, in an empty folder within a temporary one of the cache. The FMU's own folder is only read.
//! - Unless the user trusts the FMU, none of its options starts a program or names a file, compilers are locked into a jail
//!   with no files of the user's but the FMU's, and their time and memory are limited.
//! - Compilers end with the one that started them, and when somebody asks for the end.
//! - Exactly one build configuration is used, as a whole.
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
