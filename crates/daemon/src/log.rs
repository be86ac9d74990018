//! Log lines of the daemon, and their destination.

use super::name::RigName;
use std::fmt;
use std::sync::Arc;
use vecud_host::LineWeight;

/// A log line of the daemon.
#[derive(Clone, Copy, Debug)]
pub struct DaemonLine<'a> {
    /// The rig that the line is about; `None`: the daemon itself.
    pub rig: Option<&'a RigName>,
    /// The running or last run of that rig; `None`: there was none, or the line is about none.
    pub run: Option<&'a str>,
    /// Importance of the line.
    pub weight: LineWeight,
    /// Text of the line.
    pub text: &'a str,
}

/// Destination of log lines.
#[derive(Clone)]
pub struct DaemonLog(Arc<dyn Fn(DaemonLine) + Send + Sync>);

impl DaemonLog {
    /// A log that calls `write` on any thread, also while rigs run. Precondition: `write` does not block.
    pub fn new(write: impl Fn(DaemonLine) + Send + Sync + 'static) -> DaemonLog {
        DaemonLog(Arc::new(write))
    }

    /// Writes a line.
    pub fn line(&self, line: DaemonLine) {
        (self.0)(line);
    }

    /// Writes a note about a rig.
    pub(super) fn of(&self, rig: &RigName, text: &str) {
        self.line(DaemonLine { rig: Some(rig), run: None, weight: LineWeight::Note, text });
    }

    /// Writes a warning about a rig.
    pub(super) fn warn_of(&self, rig: &RigName, text: &str) {
        self.line(DaemonLine { rig: Some(rig), run: None, weight: LineWeight::Warning, text });
    }

    /// Writes a note about the daemon itself.
    pub fn say(&self, text: &str) {
        self.line(DaemonLine { rig: None, run: None, weight: LineWeight::Note, text });
    }

    /// Writes a warning about the daemon itself.
    pub(super) fn warn(&self, text: &str) {
        self.line(DaemonLine { rig: None, run: None, weight: LineWeight::Warning, text });
    }
}

impl fmt::Debug for DaemonLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DaemonLog")
    }
}
