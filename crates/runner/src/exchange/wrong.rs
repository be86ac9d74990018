//! Exchanges that are wrong, for tests that must notice them (semantics S11). Only tests and builds with debug assertions have them.

use std::sync::OnceLock;

/// A wrong rule for choosing a version, for tests that have to notice it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// The newest one that there is.
    Latest,
    /// The version before: the result of two buffers that are swapped with each version.
    DoubleBuffer,
}

impl Wrong {
    /// How many versions before the newest one.
    pub fn back(self) -> u64 {
        match self {
            Wrong::Latest => 0,
            Wrong::DoubleBuffer => 1,
        }
    }

    /// The rule that the environment selects: `VECUD_WRONG_EXCHANGE`, `latest` or `double`.
    pub fn asked() -> Option<Wrong> {
        static ASKED: OnceLock<Option<Wrong>> = OnceLock::new();
        *ASKED.get_or_init(|| match std::env::var("VECUD_WRONG_EXCHANGE").as_deref() {
            Ok("latest") => Some(Wrong::Latest),
            Ok("double") => Some(Wrong::DoubleBuffer),
            _ => None,
        })
    }
}
