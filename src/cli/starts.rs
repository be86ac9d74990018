//! The options with which `vecud simulate` and `vecud inspect` take start values.

use std::path::PathBuf;

/// Start values in place of an FMU's.
#[derive(clap::Args)]
pub struct Starts {
    /// A file of start values in place of the FMU's, as vecud inspect --save-start writes it: a line NAME = VALUE for each
    #[arg(long, value_name = "F.toml")]
    pub start: Option<PathBuf>,
    /// A start value in place of the FMU's, and of the file's: --start-value gain=2, --start-value 'map=1 2 3'; may be given several
    /// times
    #[arg(long, value_name = "NAME=VALUE")]
    pub start_value: Vec<String>,
}
