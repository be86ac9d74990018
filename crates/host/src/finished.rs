//! A run that is over.

use std::path::PathBuf;
use vecud_report::Run;

/// A run that came to an end, good or bad, and its report.
#[derive(Debug)]
pub struct Finished {
    /// The run, with all facts that are known.
    pub run: Run,
    /// The folder of the files.
    pub out: PathBuf,
}

impl Finished {
    /// 0 done, 1 failed, 3 a limit was exceeded.
    pub fn exit_code(&self) -> u8 {
        vecud_report::exit_code(&self.run)
    }
}
