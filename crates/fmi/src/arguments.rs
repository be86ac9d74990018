//! The arguments of a call as text, for a host that is [told](super::InstanceHost::called) of each call.

use super::types::RawReference;
use std::fmt::{Debug, Write};
use vecud_description::ValueReference;

/// Elements of a list that are shown; of longer ones the rest is counted.
const SHOWN: usize = 32;
/// Characters of a text, or bytes of a binary, that are shown.
const LENGTH: usize = 40;

/// Value references of a call.
#[derive(Clone, Copy)]
pub(super) struct References<'a> {
    pub(super) list: &'a [RawReference],
    /// Some may be those of negated aliases, which the FMU does not know: it has the variable with the opposite value.
    pub(super) may_be_negated: bool,
}

impl References<'_> {
    fn is_negated(self, place: usize) -> bool {
        self.may_be_negated && self.list.get(place).is_some_and(|own| ValueReference(*own).is_negated())
    }

    fn text(self) -> String {
        let of_fmu = |own: &RawReference| if self.may_be_negated { ValueReference(*own).of_fmu().0 } else { *own };
        list(self.list.iter().map(of_fmu))
    }
}

/// `[1, 2], [0.5, true]`: value references, and the values of their variables, as the FMU has them.
pub(super) fn of_variables<T: Debug>(references: References, values: impl ExactSizeIterator<Item = T>) -> String {
    let values =
        values.enumerate().map(|(place, value)| ShownValue { value, is_negated: references.is_negated(place) });
    format!("{}, {}", references.text(), list(values))
}

/// Values that were to be read: without them where that has failed.
pub(super) fn of_read<T: Debug>(
    references: References,
    values: impl ExactSizeIterator<Item = T>,
    is_read: bool,
) -> String {
    if is_read { of_variables(references, values) } else { references.text() }
}

/// A value, which may be that of a negated alias: a number or a Boolean.
struct ShownValue<T> {
    value: T,
    is_negated: bool,
}

impl<T: Debug> Debug for ShownValue<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.is_negated {
            return self.value.fmt(f);
        }
        // The text of a number is exact.
        let text = format!("{:?}", self.value);
        if let Ok(number) = text.parse::<i32>() {
            write!(f, "{}", number.wrapping_neg())
        } else if let Ok(number) = text.parse::<f64>() {
            write!(f, "{:?}", 0.0 - number)
        } else {
            write!(f, "{}", if text == "true" { "false" } else { "true" })
        }
    }
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

/// The bytes of Booleans as their values.
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
        let of = |list| References { list, may_be_negated: false };
        assert_eq!(of_variables(of(&[1, 2]), [0.5, f64::NAN].iter()), "[1, 2], [0.5, NaN]");
        assert_eq!(of_read(of(&[7]), booleans(&[0, 1]), true), "[7], [false, true]");
        assert_eq!(of_read(of(&[7]), booleans(&[0, 1]), false), "[7]");
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

    /// The mark of a negated alias is that of FMI 1.0: elsewhere a reference may have this bit.
    #[test]
    fn negated_aliases_are_shown_as_the_fmu_knows_them() {
        let negated = ValueReference(1).negated().unwrap().0;
        let list = [2, negated, negated];
        let of = |may_be_negated| References { list: &list, may_be_negated };
        for (values, told) in
            [([3.0, 0.1, 0.0], "[3.0, -0.1, 0.0]"), ([1.0, -1e300, f64::INFINITY], "[1.0, 1e300, -inf]")]
        {
            assert_eq!(of_variables(of(true), values.iter()), format!("[2, 1, 1], {told}"));
            assert_eq!(of_variables(of(false), values.iter()), format!("[2, 2147483649, 2147483649], {values:?}"));
        }
        assert_eq!(of_variables(of(true), [-7, 7, i32::MIN].iter()), "[2, 1, 1], [-7, -7, -2147483648]");
        assert_eq!(of_read(of(true), booleans(&[1, 1, 0]), true), "[2, 1, 1], [true, false, true]");
        assert_eq!(of_read(of(true), booleans(&[1, 1, 0]), false), "[2, 1, 1]");
    }
}
