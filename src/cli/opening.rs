//! The options with which `vecud run`, `simulate`, `call` and `validate` open FMUs.

use std::path::PathBuf;

/// How FMUs are opened.
#[derive(clap::Args)]
pub struct Opening {
    /// Load this library before the libraries of all FMUs, for all code of their process: a file, or a name that the linker looks up. May be
    /// given several times
    #[arg(long, value_name = "LIBRARY")]
    pub preload: Vec<PathBuf>,
    /// Accept errors in model descriptions if the rest still has a meaning, with a warning for each error
    #[arg(long)]
    pub lenient: bool,
}
