//! Offences of an FMU against the standard.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Something that an instance did against the standard; in `report.json` as it is here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingResult {
    /// Which offence, in one word for programs.
    pub kind: Cow<'static, str>,
    /// Number of occurrences.
    pub count: u64,
    /// One sentence about the first occurrence.
    pub message: String,
}
