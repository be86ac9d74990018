//! What the daemon says, line by line, to whoever writes it down.

use super::name::RigName;
use std::fmt;
use std::sync::Arc;

/// A line that the daemon says.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// The rig that it is about; `None`: the daemon itself.
    pub rig: Option<&'a RigName>,
    /// What is said.
    pub text: &'a str,
}

/// Who writes down what is said.
#[derive(Clone)]
pub struct Log(Arc<dyn Fn(Line) + Send + Sync>);

impl Log {
    /// `write` is called by any thread, also while rigs run: it must not wait for anybody.
    pub fn new(write: impl Fn(Line) + Send + Sync + 'static) -> Log {
        Log(Arc::new(write))
    }

    /// Says something about a rig.
    pub(super) fn of(&self, rig: &RigName, text: &str) {
        (self.0)(Line { rig: Some(rig), text });
    }

    /// Says something about the daemon itself.
    pub(super) fn say(&self, text: &str) {
        (self.0)(Line { rig: None, text });
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}
