//! Text that is cut off where its room ends.

/// At most `width` characters of a text; an ellipsis stands for the rest.
pub(super) fn cut(text: &str, width: usize) -> String {
    match text.chars().count() <= width {
        true => text.to_owned(),
        false if width == 0 => String::new(),
        false => text.chars().take(width - 1).chain(['…']).collect(),
    }
}
