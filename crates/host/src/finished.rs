//! A run that is over.

use std::path::PathBuf;
use vecud_report::Run;

/// A run that came to an end, good or bad, and its report.
#[derive(Debug)]
pub struct Finished {
    /// Everything that is known of it.
    pub run: Run,
    /// Where the files are.
    pub out: PathBuf,
}

impl Finished {
    /// 0 done, 1 failed, 3 a limit was exceeded.
    pub fn exit_code(&self) -> u8 {
        vecud_report::exit_code(&self.run)
    }
}
