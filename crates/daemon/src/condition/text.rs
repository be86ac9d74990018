//! The text of a condition → its words, each with its column.

use super::error::ConditionError;

/// A word of a condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Lexeme {
    /// A name of a signal, or a word of the language.
    Name(String),
    /// A name in quotes, which is that of a signal.
    Quoted(String),
    /// A whole number.
    Whole(i128),
    /// Another number.
    Float(f64),
    /// `<`, `<=`, `>`, `>=`, `==`, `!=`, `(` or `)`.
    Sign(&'static str),
}

/// Signs, those first that begin with others.
const SIGNS: [&str; 8] = ["<=", ">=", "==", "!=", "<", ">", "(", ")"];

/// The words, each with its column, counted in characters from 1.
pub fn words(text: &str) -> Result<Vec<(usize, Lexeme)>, ConditionError> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let column = 1 + text[..text.len() - rest.len()].chars().count();
        let error = |message: String| Err(ConditionError { column, message });
        let length = if c.is_whitespace() {
            c.len_utf8()
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            words.push((column, Lexeme::Sign(sign)));
            sign.len()
        } else if c == '"' {
            let Some(end) = rest[1..].find('"') else { return error("this quote is not closed".to_owned()) };
            words.push((column, Lexeme::Quoted(rest[1..1 + end].to_owned())));
            end + 2
        } else if c.is_ascii_digit() || matches!(c, '+' | '-' | '.') {
            let length = number_length(rest);
            let Some(number) = number(&rest[..length]) else {
                return error(format!("{} is no number", &rest[..length.max(c.len_utf8())]));
            };
            words.push((column, number));
            length
        } else if c.is_alphabetic() || c == '_' {
            let length = name_length(rest);
            words.push((column, Lexeme::Name(rest[..length].to_owned())));
            length
        } else {
            let meant = match c {
                '=' => ": == compares",
                '&' => ": and is written as a word",
                '|' => ": or is written as a word",
                '!' => ": not is written as a word",
                _ => "",
            };
            return error(format!("\"{c}\" has no meaning here{meant}"));
        };
        rest = &rest[length..];
    }
    Ok(words)
}

/// The length of the name at the begin of a text: parts with dots between them, and at last perhaps indices in brackets.
fn name_length(text: &str) -> usize {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    // Names of FMUs may have hyphens in them; there is nothing that subtracts.
    while text[end..].starts_with('-') && text[end + 1..].starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        end += 1 + text[end + 1..].find(|c| !is_part(c)).unwrap_or(text.len() - end - 1);
    }
    while text[end..].starts_with('[') {
        let Some(close) = text[end..].find(']') else { break };
        let is_index = |c: char| c.is_ascii_digit() || c == ',';
        if !text[end + 1..end + close].chars().all(is_index) {
            break;
        }
        end += close + 1;
        end += text[end..].find(|c| !is_part(c)).unwrap_or(text.len() - end);
    }
    end
}

/// The length of the number at the begin of a text, if there is one.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_sign = |at: usize| matches!(bytes.get(at), Some(b'+' | b'-'));
    let mut end = usize::from(is_sign(0));
    let mut has_exponent = false;
    while let Some(byte) = bytes.get(end) {
        match byte {
            b'0'..=b'9' | b'.' => end += 1,
            b'e' | b'E' if !has_exponent => {
                has_exponent = true;
                end += 1 + usize::from(is_sign(end + 1));
            }
            byte if byte.is_ascii_alphanumeric() || *byte == b'_' => end += 1,
            _ => break,
        }
    }
    end
}

fn number(text: &str) -> Option<Lexeme> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    if let Ok(whole) = digits.parse() {
        return Some(Lexeme::Whole(whole));
    }
    let is_plain = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
    let float: f64 = digits.bytes().all(is_plain).then(|| digits.parse().ok()).flatten()?;
    float.is_finite().then_some(Lexeme::Float(float))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Lexeme> {
        words(text).unwrap().into_iter().map(|(_, word)| word).collect()
    }

    #[test]
    fn names_numbers_and_signs_stand_side_by_side() {
        let name = |text: &str| Lexeme::Name(text.to_owned());
        assert_eq!(of("ecu.v[2]>=-1.5e3"), [name("ecu.v[2]"), Lexeme::Sign(">="), Lexeme::Float(-1500.0)]);
        assert_eq!(
            of("(a_1.b[2,3].c!=7)"),
            [Lexeme::Sign("("), name("a_1.b[2,3].c"), Lexeme::Sign("!="), Lexeme::Whole(7), Lexeme::Sign(")")]
        );
        assert_eq!(
            of("\"ecu.der(x)\" < left-ecu.x"),
            [Lexeme::Quoted("ecu.der(x)".to_owned()), Lexeme::Sign("<"), name("left-ecu.x")]
        );
        assert_eq!(
            of("18446744073709551615 .5 +2"),
            [Lexeme::Whole(u64::MAX.into()), Lexeme::Float(0.5), Lexeme::Whole(2)]
        );
        let columns: Vec<usize> = words("ö.x  > 1").unwrap().iter().map(|(column, _)| *column).collect();
        assert_eq!(columns, [1, 6, 8], "counted in characters");
    }

    #[test]
    fn what_is_no_word_has_its_column() {
        for (text, column, message) in [
            ("a.b = 1", 5, "\"=\" has no meaning here: == compares"),
            ("a.b && c.d", 5, "\"&\" has no meaning here: and is written as a word"),
            ("a.b > 1x", 7, "1x is no number"),
            ("a.b > 1e999", 7, "1e999 is no number"),
            ("a.b > -", 7, "- is no number"),
            ("a.b > \"c.d", 7, "this quote is not closed"),
            ("a.b[x] > 1", 4, "\"[\" has no meaning here"),
        ] {
            assert_eq!(words(text), Err(ConditionError { column, message: message.to_owned() }), "{text}");
        }
    }
}
