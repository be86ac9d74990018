//! The hints from the figures, near the top of the page.

use super::page::notes;
use crate::markup::escape_with_code;
use crate::{Run, hints};

/// The list; nothing when they point at nothing.
pub fn list(run: &Run) -> String {
    let hints: Vec<String> = hints(run).iter().map(|hint| escape_with_code(hint)).collect();
    notes("What the figures point at", &hints, "")
}
