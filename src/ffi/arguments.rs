//! The arguments of a call as text, for a host that is [told](super::InstanceHost::called) of each of them.

use super::types::RawReference;
use std::fmt::{Debug, Write};

/// Elements of a list that are shown; of longer ones the rest is counted.
const SHOWN: usize = 32;
/// Characters of a text, or bytes of a binary, that are shown.
const LENGTH: usize = 40;

/// `[1, 2], [0.5, true]`: value references, and the values of their variables.
pub(super) fn of_variables<T: Debug>(references: &[RawReference], values: impl ExactSizeIterator<Item = T>) -> String {
    format!("{}, {}", list(references.iter()), list(values))
}

/// Values that were to be read: without them where that has failed.
pub(super) fn of_read<T: Debug>(
    references: &[RawReference],
    values: impl ExactSizeIterator<Item = T>,
    is_read: bool,
) -> String {
    if is_read { of_variables(references, values) } else { list(references.iter()) }
}

/// `[0.5, 1.5]`: the elements of a vector; nothing where it was to be read and that has failed.
pub(super) fn of_values(values: impl ExactSizeIterator<Item: Debug>, is_there: bool) -> String {
    if is_there { list(values) } else { String::new() }
}

fn list<T: Debug>(mut items: impl ExactSizeIterator<Item = T>) -> String {
    let count = items.len();
    let mut text = "[".to_owned();
    for (number, item) in items.by_ref().take(SHOWN).enumerate() {
        let comma = if number > 0 { ", " } else { "" };
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{comma}{item:?}");
    }
    if count > SHOWN {
        let _ = write!(text, ", … ({count})");
    }
    text + "]"
}

/// The bytes of a Boolean as what they mean.
pub(super) fn booleans(bytes: &[u8]) -> impl ExactSizeIterator<Item = bool> {
    bytes.iter().map(|byte| *byte != 0)
}

/// A string as far as it is shown.
pub(super) fn string(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut shown: String = text.chars().take(LENGTH).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// A binary: its length, and its first bytes.
pub(super) struct Binary<'a>(pub &'a [u8]);

impl Debug for Binary<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("0x")?;
        self.0.iter().take(LENGTH / 2).try_for_each(|byte| write!(f, "{byte:02x}"))?;
        if self.0.len() > LENGTH / 2 { write!(f, "… ({})", self.0.len()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_is_cut() {
        assert_eq!(of_variables(&[1, 2], [0.5, f64::NAN].iter()), "[1, 2], [0.5, NaN]");
        assert_eq!(of_read(&[7], booleans(&[0, 1]), true), "[7], [false, true]");
        assert_eq!(of_read(&[7], booleans(&[0, 1]), false), "[7]");
        let many = list(0..1000);
        assert!(many.starts_with("[0, 1, ") && many.ends_with(", 31, … (1000)]"), "{many}");
        assert_eq!(
            list([string(b"a\"b"), string(&[b'x'; 50])].iter()),
            format!("[\"a\\\"b\", \"{}…\"]", "x".repeat(40))
        );
        assert_eq!(
            list([Binary(&[0, 255]), Binary(&[1; 21])].iter()),
            format!("[0x00ff, 0x{}… (21)]", "01".repeat(20))
        );
    }
}
