//! The options with which `vecud simulate` and `vecud inspect` take start values.

use std::path::PathBuf;

/// Start values in place of an FMU's.
#[derive(clap::Args)]
pub struct Starts {
    /// File of start values that replace the FMU's, with a line NAME = VALUE for each. vecud inspect --save-start writes such a file
    #[arg(long, value_name = "F.toml")]
    pub start: Option<PathBuf>,
    /// Start value that replaces the FMU's and the file's: --start-value gain=2, --start-value 'map=1 2 3'. May be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    pub start_value: Vec<String>,
}
