//! Patterns for signals: `*` is any text, `?` one character; everything else is itself (`[` too, arrays have them).

use std::str::Chars;

/// Whether the whole text fits the pattern. Linear in text × pattern, whatever the pattern; a text that differs from the first
/// character on costs next to nothing.
pub fn matches(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // Where to go on when a character does not fit: behind the last `*`, which then covers one character more.
    let mut retry: Option<(Chars, Chars)> = None;
    while let Some(c) = text.clone().next() {
        let mut behind = pattern.clone();
        match behind.next() {
            Some('*') => {
                retry = Some((behind.clone(), text.clone()));
                pattern = behind;
            }
            Some(wanted) if wanted == '?' || wanted == c => {
                text.next();
                pattern = behind;
            }
            _ => match &mut retry {
                Some((behind, covered)) => {
                    covered.next();
                    (pattern, text) = (behind.clone(), covered.clone());
                }
                None => return false,
            },
        }
    }
    pattern.all(|c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("ecu.*", "ecu.speed", true),
            ("ecu.*", "plant.speed", false),
            ("*.speed", "ecu.engine.speed", true),
            ("ecu.x?", "ecu.x1", true),
            ("ecu.x?", "ecu.x", false),
            ("ecu.x[1]", "ecu.x[1]", true),
            ("*a*b*c", "xxaxxbxxbc", true),
            ("*a*b*c", "xxaxxbxxbcd", false),
            ("ü?", "üß", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    /// The definition, slow.
    fn by_definition(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|i| by_definition(rest, &text[i..])),
            Some((&c, rest)) => {
                text.split_first().is_some_and(|(&t, tail)| (c == '?' || c == t) && by_definition(rest, tail))
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(pattern in "[ab*?]{0,6}", text in "[ab]{0,8}") {
            let (p, t): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
            prop_assert_eq!(matches(&pattern, &text), by_definition(&p, &t));
        }
    }
}
