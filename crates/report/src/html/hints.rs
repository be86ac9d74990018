//! What the figures point at, near the top of the page.

use super::escape_with_code;
use crate::{Run, hints};

/// The list; nothing when they point at nothing.
pub fn list(run: &Run) -> String {
    let hints = hints(run);
    if hints.is_empty() {
        return String::new();
    }
    let items: String = hints.iter().map(|hint| format!("<li>{}</li>\n", escape_with_code(hint))).collect();
    format!("<section class=\"notes\">\n<h3>What the figures point at</h3>\n<ul>\n{items}</ul>\n</section>\n")
}
