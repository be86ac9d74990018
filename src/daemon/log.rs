//! What the daemon says, line by line, to whoever writes it down.

use super::name::RigName;
use std::fmt;
use std::sync::Arc;

/// A line that the daemon says.
#[derive(Clone, Copy, Debug)]
pub struct DaemonLine<'a> {
    /// The rig that it is about; `None`: the daemon itself.
    pub rig: Option<&'a RigName>,
    /// What is said.
    pub text: &'a str,
}

/// Who writes down what is said.
#[derive(Clone)]
pub struct DaemonLog(Arc<dyn Fn(DaemonLine) + Send + Sync>);

impl DaemonLog {
    /// `write` is called by any thread, also while rigs run: it must not wait for anybody.
    pub fn new(write: impl Fn(DaemonLine) + Send + Sync + 'static) -> DaemonLog {
        DaemonLog(Arc::new(write))
    }

    /// Says something about a rig.
    pub(super) fn of(&self, rig: &RigName, text: &str) {
        (self.0)(DaemonLine { rig: Some(rig), text });
    }

    /// Says something about the daemon itself.
    pub(super) fn say(&self, text: &str) {
        (self.0)(DaemonLine { rig: None, text });
    }
}

impl fmt::Debug for DaemonLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DaemonLog")
    }
}
