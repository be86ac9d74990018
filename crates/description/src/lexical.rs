//! Words as XML Schema reads them (its lexical representations): one value each.

use super::model::ValueReference;

/// A value that one word spells.
pub(super) trait Scalar: Sized {
    /// For messages: "is not ...".
    const WHAT: &'static str;

    /// The value, if the word is one.
    fn read(word: &str) -> Option<Self>;
}

macro_rules! integers {
    ($($type:ty, $what:literal;)*) => {
        $(impl Scalar for $type {
            const WHAT: &'static str = $what;

            fn read(word: &str) -> Option<Self> {
                match word.parse() {
                    Ok(value) => Some(value),
                    Err(_) => is_negative_zero(word).then_some(0),
                }
            }
        })*
    };
}

integers! {
    i8, "an integer from -128 to 127";
    u8, "an integer from 0 to 255";
    i16, "an integer from -32768 to 32767";
    u16, "an integer from 0 to 65535";
    i32, "an integer from -2147483648 to 2147483647";
    u32, "an integer from 0 to 4294967295";
    i64, "an integer from -9223372036854775808 to 9223372036854775807";
    u64, "an integer from 0 to 18446744073709551615";
}

macro_rules! floats {
    ($($type:ident)*) => {
        $(impl Scalar for $type {
            const WHAT: &'static str = "a number";

            fn read(word: &str) -> Option<Self> {
                match word {
                    "INF" | "+INF" => Some($type::INFINITY),
                    "-INF" => Some($type::NEG_INFINITY),
                    "NaN" => Some($type::NAN),
                    _ if is_decimal(word) => word.parse().ok(),
                    _ => None,
                }
            }
        })*
    };
}

floats! { f32 f64 }

impl Scalar for bool {
    const WHAT: &'static str = "true, false, 1 or 0";

    fn read(word: &str) -> Option<bool> {
        match word {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        }
    }
}

impl Scalar for ValueReference {
    const WHAT: &'static str = "a value reference (0 to 4294967295)";

    fn read(word: &str) -> Option<ValueReference> {
        u32::read(word).map(ValueReference)
    }
}

/// `-0`, which XML Schema allows for an unsigned type and Rust does not read as one.
fn is_negative_zero(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|digit| digit == b'0'))
}

/// Whether only characters of a decimal literal occur (Rust would also read `inf` and `nan`).
pub(super) fn is_decimal(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'))
}
