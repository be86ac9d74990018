//! Texts of others as people see them: names, descriptions and messages come from FMUs and from files that anybody may have
//! written.
//!
//! Guarantees: what comes out is one line, drives no terminal and turns no direction of text. A control character (ESC, CR,
//! LF, tab, C1) or an invisible one that turns the text around it shows as its escape, `\n` or `\u{9b}`, so that two names that
//! differ look different. What programs read (JSON, recordings) holds the texts as they are.
#![forbid(unsafe_code)]

use std::fmt::{self, Write};

/// A text of somebody else's, to be written into a message or a table.
#[derive(Clone, Copy, Debug)]
pub struct Plain<'a>(pub &'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| c.is_control() || is_invisible(*c)) {
            write!(f, "{}{}", &rest[..at], c.escape_default())?;
            rest = &rest[at + c.len_utf8()..];
        }
        f.write_str(rest)
    }
}

/// The text as [`Plain`] writes it.
pub fn plain(text: &str) -> String {
    Plain(text).to_string()
}

/// The lines of a message, each of them as [`Plain`] writes it, without the white space around it.
pub fn plain_lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(|line| plain(line.trim()))
}

/// A word as a user types it on the command line of a POSIX shell, quoted if necessary.
pub fn shell_word(word: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "/._-+,:=@%".contains(c);
    match !word.is_empty() && word.chars().all(harmless) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// A whole message, which may have several lines and tabs: everything else in it is as [`Plain`] writes it.
pub fn message(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for part in text.split_inclusive(['\n', '\t']) {
        let end = part.strip_suffix(['\n', '\t']).unwrap_or(part);
        // Writing to a `String` cannot fail.
        let _ = write!(out, "{}{}", Plain(end), &part[end.len()..]);
    }
    out
}

/// Characters that turn the direction of the text around them, or end a line for some programs.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_show_as_escapes() {
        assert_eq!(plain("a\x1b[2Jb\u{202e}c\u{9b}\r\n\tä"), "a\\u{1b}[2Jb\\u{202e}c\\u{9b}\\r\\n\\tä");
        assert_eq!(plain_lines("a\n    b\x1bc\r\n").collect::<Vec<_>>(), ["a", "b\\u{1b}c"]);
        assert_eq!(message("a\n\tä\u{1b}[31m\r\u{9b}x\n"), "a\n\tä\\u{1b}[31m\\r\\u{9b}x\n");
    }

    #[test]
    fn words_of_a_shell_are_quoted_where_they_must() {
        assert_eq!(shell_word("/proc/irq/3/smp_affinity_list"), "/proc/irq/3/smp_affinity_list");
        assert_eq!(shell_word("it's; rm"), r"'it'\''s; rm'");
        assert_eq!(shell_word(""), "''");
    }
}
