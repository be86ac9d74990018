//! What the figures point at, near the top of the page.

use super::{escape_with_code, notes};
use crate::{Run, hints};

/// The list; nothing when they point at nothing.
pub fn list(run: &Run) -> String {
    let hints: Vec<String> = hints(run).iter().map(|hint| escape_with_code(hint)).collect();
    notes("What the figures point at", &hints, "")
}
