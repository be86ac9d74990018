//! The options with which `vecud run`, `simulate`, `call` and `validate` open FMUs.

use std::path::PathBuf;

/// How FMUs are opened.
#[derive(clap::Args)]
pub struct Opening {
    /// A library that is loaded before those of all FMUs, for all code of their process: a file, or a name that the linker looks for; may
    /// be given several times
    #[arg(long, value_name = "LIBRARY")]
    pub preload: Vec<PathBuf>,
    /// Overlooks errors in model descriptions that leave a meaning to the rest, with a warning for each
    #[arg(long)]
    pub lenient: bool,
}
