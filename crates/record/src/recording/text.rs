//! Strings and binaries as recordings show them: strings in quotes (RFC 4180), so that an empty one is told from none; binaries as
//! `0x` and two hexadecimal digits a byte, so that no reader takes one for a number.

/// Appends a string in quotes; quotes inside are doubled.
pub fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('"') {
        out.push_str(before);
        out.push_str("\"\"");
        rest = after;
    }
    out.push_str(rest);
    out.push('"');
}

/// Appends a binary.
pub fn write_binary(out: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.push_str("0x");
    for byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

/// Appends a string of these bytes, in which U+FFFD stands for invalid UTF-8, or a binary.
pub fn write_bytes(out: &mut String, bytes: &[u8], is_string: bool) {
    match is_string {
        true => write_string(out, &String::from_utf8_lossy(bytes)),
        false => write_binary(out, bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Recording, Row};
    use proptest::prelude::*;

    #[test]
    fn an_empty_text_is_something() {
        let mut out = String::new();
        write_bytes(&mut out, b"", true);
        write_bytes(&mut out, b"", false);
        write_bytes(&mut out, b"a\"b,\n\xff", true);
        write_bytes(&mut out, b"\x00\xfe", false);
        assert_eq!(out, "\"\"0x\"a\"\"b,\n\u{FFFD}\"0x00fe");
    }

    proptest! {
        /// Separators, quotes, line ends and blanks are part of a string.
        #[test]
        fn a_string_is_read_as_it_was_written(text in "[ a\"',;\r\n\t\u{e9}0-9]{0,20}") {
            let mut file = "time,a.x,a.y\n0.0,".to_owned();
            write_string(&mut file, &text);
            file += ",1\n";
            let mut recording = Recording::new(file.as_bytes()).unwrap();
            let mut row = Row::default();
            prop_assert!(recording.read(&mut row).unwrap());
            prop_assert_eq!((row.cell(1), row.cell(2)), (text.as_str(), "1"));
            prop_assert!(!recording.read(&mut row).unwrap() && !recording.broke_off());
        }
    }
}
