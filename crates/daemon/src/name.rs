//! Names of rigs: a name is one part of a path, of a URL and of a metric's label alike.

use serde::Serialize;
use std::fmt;
use utoipa::ToSchema;

/// A rig's name: up to 64 letters, digits, `_`, `-` and `.`, with a letter, a digit or `_` first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[schema(pattern = "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$")]
pub struct RigName(String);

impl RigName {
    const LONGEST: usize = 64;

    /// The name, if it is one.
    pub fn new(text: &str) -> Option<RigName> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let begins = text.bytes().next().is_some_and(is_plain);
        let goes_on = text.bytes().all(|byte| is_plain(byte) || byte == b'-' || byte == b'.');
        (begins && goes_on && text.len() <= RigName::LONGEST).then(|| RigName(text.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RigName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_nowhere() {
        for good in ["engine", "7", "_", "a.b-c_d", &"x".repeat(64)] {
            assert_eq!(RigName::new(good).unwrap().as_str(), good);
        }
        for bad in ["", ".", "..", ".part", "-x", "a/b", "a b", "ä", "a\0", "a\n", &"x".repeat(65)] {
            assert_eq!(RigName::new(bad), None, "{bad:?}");
        }
    }
}
