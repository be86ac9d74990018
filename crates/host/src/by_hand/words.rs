//! The words of a line, and the values that they write.

use super::functions;
use vecud_description::{Variable, VariableType};
use vecud_plan::rig::{self, RigValue};
use vecud_runner::by_hand::IntervalValue;

/// An error says what is wrong with a line. An empty one: how the line is written is to be said.
pub type Result<T> = std::result::Result<T, String>;

/// The words of a line: text in quotes or brackets is one word.
pub struct LineWords {
    /// The words in their order.
    pub list: Vec<String>,
}

impl LineWords {
    /// Splits a text.
    pub fn of(text: &str) -> LineWords {
        let (mut list, mut word, mut depth, mut quote) = (Vec::new(), String::new(), 0_usize, None);
        let mut is_word = false;
        for c in text.chars() {
            match (quote, c) {
                (Some(open), _) if c == open => quote = None,
                (Some(_), _) => word.push(c),
                (None, '"' | '\'') if depth == 0 => (quote, is_word) = (Some(c), true),
                (None, _) if depth == 0 && (c.is_whitespace() || c == ';') => {
                    if std::mem::take(&mut is_word) {
                        list.push(std::mem::take(&mut word));
                    }
                }
                (None, _) => {
                    match c {
                        '[' | '(' => depth += 1,
                        ']' | ')' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    is_word = true;
                    word.push(c);
                }
            }
        }
        if is_word {
            list.push(word);
        }
        // As in C: SetTime(0.5), DoStep(0, 0.1)
        for word in &mut list {
            if word.len() > 1 && word.ends_with(',') {
                word.pop();
            }
        }
        LineWords { list }
    }

    /// All words, if there are so many.
    pub fn exactly<const N: usize>(&self) -> Result<[&str; N]> {
        let words: Vec<&str> = self.list.iter().map(String::as_str).collect();
        words.try_into().map_err(|_| String::new())
    }
}

/// Splits a list at commas outside brackets.
pub fn listed(text: &str) -> Vec<&str> {
    let (mut list, mut depth, mut begin) = (Vec::new(), 0_i32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                list.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    list.push(text[begin..].trim());
    list
}

/// Splits `KEY=VALUE` into the number of the key, in any style, and the value.
pub fn option<'w>(word: &'w str, keys: &[&str]) -> Result<(usize, &'w str)> {
    let Some((key, value)) = word.split_once('=') else {
        return Err(format!("{word} is none of {}=...", keys.join("=..., ")));
    };
    let bare = functions::bare(key);
    let place = keys.iter().position(|own| functions::bare(own) == bare);
    place
        .map(|place| (place, value))
        .ok_or_else(|| format!("there is no {key}{}", rig::suggestion(key, keys.iter().copied())))
}

/// Parses a value for a variable. Bytes need no quotes; a text has no quotes or is enclosed in two.
pub fn written(variable: &Variable, value: &str) -> Result<RigValue> {
    let (name, is_scalar) = (&variable.name, variable.dimensions.is_empty());
    let is_plain = !value.contains(['"', '\'', '[', '\\']);
    match variable.variable_type {
        VariableType::Binary if is_scalar && is_plain => Ok(rig::value_by_hand(&format!("\"{value}\""))),
        VariableType::String if is_scalar => match rig::value_by_hand(value) {
            RigValue::String(text) if text == value && value.contains('"') => {
                let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
                Err(format!("{name} is one text, and this is none with quotes within: write \"{escaped}\""))
            }
            value => Ok(value),
        },
        _ => Ok(rig::value_by_hand(value)),
    }
}

/// Parses a Boolean as the rig, the XML and C write it.
pub fn boolean(word: &str) -> Result<bool> {
    match word.to_lowercase().as_str() {
        "true" | "1" | "on" | "fmi3true" | "fmi2true" => Ok(true),
        "false" | "0" | "off" | "fmi3false" | "fmi2false" => Ok(false),
        _ => Err(format!("{word} is neither true nor false")),
    }
}

/// Parses a number or a fraction such as 1/300.
pub fn number(word: &str) -> Result<f64> {
    let plain = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let value = match word.split_once('/') {
        Some((counter, resolution)) => {
            plain(counter).zip(plain(resolution)).map(|(counter, resolution)| counter / resolution)
        }
        None => plain(word),
    };
    value.filter(|value| value.is_finite()).ok_or_else(|| format!("{word} is no number"))
}

/// Parses a list of numbers, of which there is at least one.
pub fn numbers(text: &str) -> Result<Vec<f64>> {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']')).filter(|word| !word.is_empty());
    let list = words.map(number).collect::<Result<Vec<f64>>>()?;
    if list.is_empty() { Err(String::new()) } else { Ok(list) }
}

/// Parses an interval or a shift.
pub fn length(word: &str, is_fraction: bool) -> Result<IntervalValue> {
    let wrong = || format!("{word} is no interval: write a number, or COUNTER/RESOLUTION");
    match word.split_once('/') {
        Some((counter, resolution)) => Ok(IntervalValue::Fraction {
            counter: counter.trim().parse().map_err(|_| wrong())?,
            resolution: resolution.trim().parse().map_err(|_| wrong())?,
        }),
        None if is_fraction => Err(wrong()),
        None => Ok(IntervalValue::Decimal(number(word)?)),
    }
}
