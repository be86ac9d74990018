//! What may be wrong in texts of either kind.

use std::ops::Range;

use crate::mutations::chance::Chance;

/// Numbers at the edges, and what is nearly a number.
pub const NUMBERS: [&str; 30] = [
    "0",
    "-0",
    "-1",
    "1",
    "255",
    "256",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999999999",
    "1e308",
    "1e309",
    "-1e308",
    "4.9e-324",
    "1e-400",
    "NaN",
    "INF",
    "-INF",
    "inf",
    "nan",
    "1/3",
    "0x10",
    "1_000",
    "1e-9",
];

/// Words that are not what they seem.
pub const WORDS: [&str; 16] = [
    "",
    " ",
    "a\u{202e}b",
    "\u{feff}",
    "..",
    "/",
    "../../../etc/passwd",
    "true",
    "TRUE",
    "plant.speed",
    "a.b.c.d[1,2,3]",
    "\u{1F600}",
    "tunable",
    "triggered",
    "*",
    "a'b",
];

/// The places of what lies between two `quote`s in one line.
pub fn quoted(text: &str, quote: char) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let marks: Vec<usize> = line.match_indices(quote).map(|(at, _)| start + at).collect();
        all.extend(marks.chunks_exact(2).map(|pair| pair[0] + 1..pair[1]));
        start += line.len();
    }
    all
}

/// The places of words of letters, digits and `_`.
pub fn words(text: &str) -> Vec<Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut all = Vec::new();
    let mut begin = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (is_word(c), begin) {
            (true, None) => begin = Some(at),
            (false, Some(start)) => {
                all.push(start..at);
                begin = None;
            }
            _ => {}
        }
    }
    all
}

/// The places of whole lines.
pub fn lines(text: &str) -> Vec<Range<usize>> {
    let mut end = 0;
    let line = |line: &str| {
        end += line.len();
        end - line.len()..end
    };
    text.split_inclusive('\n').map(line).collect()
}

/// Puts something odd into one of these places, or what is in another one.
pub fn replace(text: &mut String, places: &[Range<usize>], chance: &mut Chance) {
    if places.is_empty() {
        return;
    }
    let place = chance.pick(places).clone();
    let new = match chance.below(8) {
        0..=2 => (*chance.pick(&NUMBERS)).to_owned(),
        3 => (*chance.pick(&WORDS)).to_owned(),
        4 => chance.pick(&["x", "9", "ä", "[", "a.", " "]).repeat([300, 5000, 100_000][chance.below(3)]),
        5 => format!("{}{}", &text[place.clone()], chance.below(100)),
        _ => text[chance.pick(places).clone()].to_owned(),
    };
    text.replace_range(place, &new);
}

/// Doubles, removes, moves or multiplies one of these places.
pub fn rearrange(text: &mut String, places: &[Range<usize>], chance: &mut Chance) {
    if places.is_empty() {
        return;
    }
    let place = chance.pick(places).clone();
    let part = text[place.clone()].to_owned();
    match chance.below(6) {
        0 | 1 => text.replace_range(place, ""),
        2 => text.insert_str(place.end, &part),
        3 => text.insert_str(chance.pick(places).start, &part),
        4 => text.insert_str(place.end, &part.repeat(1 + chance.below(2000) * 100 / (part.len() + 1))),
        _ => {
            let other = text[chance.pick(places).clone()].to_owned();
            text.replace_range(place, &other);
        }
    }
}

/// Bytes at random, as far as they are text.
pub fn damage(text: &mut String, chance: &mut Chance) {
    let mut bytes = std::mem::take(text).into_bytes();
    chance.damage(&mut bytes);
    *text = String::from_utf8_lossy(&bytes).into_owned();
}
