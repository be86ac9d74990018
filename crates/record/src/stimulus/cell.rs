//! Reads a cell as the words of a type ([`vecud_description::word`] and [`vecud_description::bytes`] define how types
//! are words). Text of a recording reads back.

use std::borrow::Cow;
use vecud_description::VariableType;
use vecud_description::bytes;
use vecud_plan::FedValue;

/// Reads a cell into `words`; an empty one, except for an empty string in quotes, changes nothing. The error follows
/// the name of the fed variable in messages.
pub(super) fn read(text: &str, quoted: bool, fed: &FedValue, words: &mut [Option<u64>]) -> Result<(), String> {
    let value: Cow<[u8]> = match fed.variable_type {
        VariableType::String if quoted || !text.is_empty() => Cow::Borrowed(string(text, fed)?),
        VariableType::Binary if !text.is_empty() => Cow::Owned(binary(text).ok_or_else(|| misfit(text, fed))?),
        _ if text.is_empty() => return Ok(()),
        _ => {
            words[0] = Some(word(text, fed)?);
            return Ok(());
        }
    };
    let most = fed.capacity.unwrap_or(0);
    if value.len() > most {
        let (to, size) = (&fed.to, value.len());
        return Err(format!(
            "{to} gets {most} bytes at most, and this has {size}; max_size in its [[stimulus]], and maxSize of a binary, say how many"
        ));
    }
    bytes::pack(&value, |place, word| words[place] = Some(word));
    Ok(())
}

fn string<'t>(text: &'t str, fed: &FedValue) -> Result<&'t [u8], String> {
    match text.contains('\0') {
        true => Err(format!("there is a NUL in it, with which every string of an FMU ends, and {} is one", fed.to)),
        false => Ok(text.as_bytes()),
    }
}

/// Two hexadecimal digits a byte, with or without `0x` before them.
fn binary(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text).as_bytes();
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let byte = |pair: &[u8; 2]| u8::try_from(digit(pair[0])? << 4 | digit(pair[1])?).ok();
    let (pairs, rest) = digits.as_chunks::<2>();
    pairs.iter().map(byte).collect::<Option<Vec<u8>>>().filter(|_| rest.is_empty())
}

/// The word of a cell that is not empty.
fn word(text: &str, fed: &FedValue) -> Result<u64, String> {
    let range = |low: i128, high: i128| integer(text, low, high, fed);
    match fed.variable_type {
        VariableType::Float64 => match text.parse::<f64>() {
            Ok(value) if value.is_finite() || says_infinite(text) => Ok(value.to_bits()),
            _ => Err(misfit(text, fed)),
        },
        VariableType::Float32 => match text.parse::<f32>() {
            Ok(value) if value.is_finite() || says_infinite(text) => Ok(u64::from(value.to_bits())),
            _ => Err(misfit(text, fed)),
        },
        VariableType::Int8 => range(i8::MIN.into(), i8::MAX.into()),
        VariableType::UInt8 => range(0, u8::MAX.into()),
        VariableType::Int16 => range(i16::MIN.into(), i16::MAX.into()),
        VariableType::UInt16 => range(0, u16::MAX.into()),
        VariableType::Int32 => range(i32::MIN.into(), i32::MAX.into()),
        VariableType::UInt32 => range(0, u32::MAX.into()),
        VariableType::Int64 => range(i64::MIN.into(), i64::MAX.into()),
        VariableType::UInt64 => range(0, u64::MAX.into()),
        VariableType::Boolean => boolean(text).map(u64::from).ok_or_else(|| misfit(text, fed)),
        VariableType::Enumeration => enumeration(text, fed),
        VariableType::String | VariableType::Binary | VariableType::Clock => Err(misfit(text, fed)),
    }
}

/// Whether a word of this type is a number that is none.
pub(super) fn is_nan(word: u64, variable_type: VariableType) -> bool {
    match variable_type {
        VariableType::Float64 => f64::from_bits(word).is_nan(),
        VariableType::Float32 => f32::from_bits(word as u32).is_nan(),
        _ => false,
    }
}

/// Whether a cell is a tick: whatever is neither empty nor false nor 0.
pub(super) fn is_tick(text: &str) -> bool {
    !text.is_empty() && boolean(text) != Some(false) && text.parse::<f64>() != Ok(0.0)
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ if text.eq_ignore_ascii_case("false") => Some(false),
        _ if text.eq_ignore_ascii_case("true") => Some(true),
        _ => None,
    }
}

/// NaN and infinity where they are written, not a number that is too large.
fn says_infinite(text: &str) -> bool {
    !text.contains(|c: char| c.is_ascii_digit())
}

/// Whole numbers, also as tools write them that know nothing but floats: `5.0`.
fn integer(text: &str, low: i128, high: i128, fed: &FedValue) -> Result<u64, String> {
    const EXACT: f64 = (1u64 << 53) as f64;
    let as_float = || text.parse::<f64>().ok().filter(|value| value.fract() == 0.0 && value.abs() <= EXACT);
    let value = text.parse::<i128>().ok().or_else(|| as_float().map(|value| value as i128));
    // The word of a negative number is its sign extension.
    value.filter(|value| (low..=high).contains(value)).map(|value| value as u64).ok_or_else(|| misfit(text, fed))
}

fn enumeration(text: &str, fed: &FedValue) -> Result<u64, String> {
    if let Some((_, value)) = fed.items.iter().find(|(name, _)| name == text) {
        return Ok(*value as u64);
    }
    let word = integer(text, i64::MIN.into(), i64::MAX.into(), fed)?;
    match fed.items.is_empty() || fed.items.iter().any(|(_, value)| *value == word as i64) {
        true => Ok(word),
        false => Err(misfit(text, fed)),
    }
}

fn misfit(text: &str, fed: &FedValue) -> String {
    let what = match fed.variable_type {
        VariableType::Boolean => "a Boolean (0, 1, false or true)".to_owned(),
        VariableType::Enumeration if !fed.items.is_empty() => {
            let items: Vec<String> =
                fed.items.iter().take(8).map(|(name, value)| format!("{name} ({value})")).collect();
            let more = if fed.items.len() > items.len() { ", …" } else { "" };
            format!("an item of the enumeration: {}{more}", items.join(", "))
        }
        VariableType::Binary => "a Binary (two hexadecimal digits a byte, as 0x0aff)".to_owned(),
        other => format!("of type {other:?}"),
    };
    let shown: String = text.chars().take(40).collect();
    format!("\"{shown}\" does not fit {}, which is {what}", fed.to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fed(variable_type: VariableType) -> FedValue {
        let items = vec![("off".to_owned(), -1), ("on".to_owned(), 3)];
        let items = if variable_type == VariableType::Enumeration { items } else { Vec::new() };
        let capacity = matches!(variable_type, VariableType::String | VariableType::Binary).then_some(20);
        FedValue { cell: 1, column: "c".to_owned(), to: "ecu.u".to_owned(), variable_type, items, capacity, first: 0 }
    }

    fn read_bytes(text: &str, quoted: bool, fed: &FedValue) -> Result<Option<Vec<u8>>, String> {
        let mut words = vec![None; fed.words().len()];
        read(text, quoted, fed, &mut words)?;
        let words: Vec<u64> = words.into_iter().map_while(|word| word).collect();
        Ok(bytes::unpacked(&words))
    }

    #[test]
    fn texts_are_taken_as_they_stand_and_binaries_in_hexadecimal() {
        let (string, binary) = (fed(VariableType::String), fed(VariableType::Binary));
        let of = |text: &str, quoted, fed| read_bytes(text, quoted, fed).unwrap();
        assert_eq!(of("a \"b\",\n", true, &string), Some(b"a \"b\",\n".to_vec()));
        assert_eq!([of("", true, &string), of("", false, &string)], [Some(vec![]), None]);
        assert_eq!(of("0", false, &string), Some(b"0".to_vec()));
        assert_eq!([of("0x", false, &binary), of("", true, &binary)], [Some(vec![]), None]);
        assert_eq!(
            [of("0x00fE", false, &binary), of("00fe", true, &binary)],
            [Some(vec![0, 0xfe]), Some(vec![0, 0xfe])]
        );
        for (text, fed, message) in [
            ("0x0", &binary, "does not fit ecu.u, which is a Binary (two hexadecimal digits a byte, as 0x0aff)"),
            ("0x0g", &binary, "does not fit ecu.u"),
            ("+1", &binary, "does not fit ecu.u"),
            ("a\0b", &string, "there is a NUL in it"),
            ("this is longer than 20", &string, "ecu.u gets 20 bytes at most, and this has 22"),
        ] {
            let error = read_bytes(text, false, fed).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn what_does_not_fit_its_type_is_refused_and_the_rest_is_taken() {
        use VariableType::*;
        for (variable_type, good, bad) in [
            (UInt8, vec!["0", "255", "5.0", "+7"], vec!["300", "-1", "1.5", "x", "NaN", "inf", "1e3"]),
            (Int8, vec!["-128", "127"], vec!["128", "-129", "nan"]),
            (Int64, vec!["-9223372036854775808"], vec!["9223372036854775808", "1e300"]),
            (UInt64, vec!["18446744073709551615"], vec!["18446744073709551616"]),
            (Float64, vec!["1e300", "NaN", "-inf", ".5", "-0.0"], vec!["1e999", "1,5", "x", "0x10"]),
            (Float32, vec!["1e38", "inf"], vec!["1e39", "one"]),
            (Boolean, vec!["0", "1", "true", "FALSE"], vec!["2", "yes", "NaN"]),
            (Enumeration, vec!["on", "off", "3", "-1"], vec!["0", "On", "1.5"]),
        ] {
            let fed = fed(variable_type);
            good.iter().for_each(|text| assert!(word(text, &fed).is_ok(), "{text} for {variable_type:?}"));
            for text in bad {
                let error = word(text, &fed).unwrap_err();
                assert!(error.starts_with(&format!("\"{text}\" does not fit ecu.u, which is ")), "{error}");
            }
        }
        assert_eq!(word("-2", &fed(Int16)), Ok(u64::MAX - 1));
        assert_eq!(word("on", &fed(Enumeration)), Ok(3));
    }

    #[test]
    fn a_tick_is_what_is_neither_empty_nor_false() {
        for text in ["", "0", "0.0", "false", "False", "-0"] {
            assert!(!is_tick(text), "{text}");
        }
        for text in ["1", "true", "x", "0.5", "NaN"] {
            assert!(is_tick(text), "{text}");
        }
    }

    proptest! {
        /// Strings and binaries, too.
        #[test]
        fn what_was_recorded_of_bytes_is_read(value in prop::collection::vec(any::<u8>(), 0..20)) {
            let mut shown = String::new();
            crate::recording::text::write_binary(&mut shown, &value);
            prop_assert_eq!(read_bytes(&shown, false, &fed(VariableType::Binary)), Ok(Some(value)));
        }

        /// What a recording shows reads back to the same bits.
        #[test]
        fn what_was_recorded_is_read(bits in any::<u64>(), small in any::<i32>()) {
            use vecud_description::word::text;
            let value = f64::from_bits(bits);
            prop_assume!(!value.is_nan());
            prop_assert_eq!(word(&text(bits, VariableType::Float64), &fed(VariableType::Float64)), Ok(bits));
            let single = u64::from(f32::from_bits(bits as u32).to_bits());
            prop_assume!(!f32::from_bits(bits as u32).is_nan());
            prop_assert_eq!(word(&text(single, VariableType::Float32), &fed(VariableType::Float32)), Ok(single));
            let int = i64::from(small) as u64;
            prop_assert_eq!(word(&text(int, VariableType::Int32), &fed(VariableType::Int32)), Ok(int));
            prop_assert_eq!(word(&text(bits, VariableType::UInt64), &fed(VariableType::UInt64)), Ok(bits));
        }
    }
}
