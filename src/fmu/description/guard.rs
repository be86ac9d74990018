//! Refuses texts that are cheap to write and dear to parse, before the XML parser sees them.
//!
//! The parser compares every attribute of an element with every other one and hands namespace declarations down to
//! every descendant, so both counts are limited here. One pass over the bytes for each, nothing allocated.

use memchr::{memchr, memmem};

/// Attributes of one element; FMI knows about thirty.
const ATTRIBUTES_LIMIT: usize = 1000;
/// Bytes that so many attributes need at least: `a=""` each.
const LONG: usize = 4 * ATTRIBUTES_LIMIT;
/// Namespace declarations of the whole text.
const NAMESPACES_LIMIT: usize = 10_000;

/// `Err` with the place and the reason if the text would be dear to parse.
pub(super) fn check(text: &str) -> Result<(), (usize, String)> {
    if let Some(at) = memmem::find_iter(text.as_bytes(), "xmlns").nth(NAMESPACES_LIMIT) {
        return Err((at, format!("has more than {NAMESPACES_LIMIT} namespace declarations")));
    }
    let mut next = find_byte(text, 0, b'<');
    while let Some(open) = next {
        let at = match &text[open..] {
            rest if rest.starts_with("<!--") => find(text, open + 4, "-->").unwrap_or(text.len()),
            rest if rest.starts_with("<![CDATA[") => find(text, open, "]]>").unwrap_or(text.len()),
            rest if rest.starts_with("<?") => find(text, open, "?>").unwrap_or(text.len()),
            _ => {
                next = find_byte(text, open + 1, b'<');
                // The parser stops at a `<` inside a tag, so that the tag ends before.
                if next.unwrap_or(text.len()) - open <= LONG {
                    continue;
                }
                tag(text, open)?
            }
        };
        next = find_byte(text, at, b'<');
    }
    Ok(())
}

/// Where the XML declaration, comments and processing instructions end.
pub(super) fn after_prolog(text: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let rest = rest.strip_prefix('\u{feff}').unwrap_or(rest).trim_ascii_start();
        at = text.len() - rest.len();
        let end = match rest {
            _ if rest.starts_with("<!--") => find(text, at + 4, "-->").map(|end| end + 3),
            _ if rest.starts_with("<?") => find(text, at, "?>").map(|end| end + 2),
            _ => None,
        };
        match end {
            Some(end) => at = end,
            None => return at,
        }
    }
}

fn find(text: &str, from: usize, what: &str) -> Option<usize> {
    text.get(from..)?.find(what).map(|at| from + at)
}

fn find_byte(text: &str, from: usize, what: u8) -> Option<usize> {
    memchr(what, text.as_bytes().get(from..)?).map(|at| from + at)
}

/// The end of the tag that opens at `open`.
fn tag(text: &str, open: usize) -> Result<usize, (usize, String)> {
    let bytes = text.as_bytes();
    let (mut at, mut attributes) = (open + 1, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'>' => return Ok(at + 1),
            b'"' | b'\'' => {
                attributes += 1;
                if attributes > ATTRIBUTES_LIMIT {
                    return Err((open, format!("an element has more than {ATTRIBUTES_LIMIT} attributes")));
                }
                at = memchr(byte, &bytes[at + 1..]).map_or(bytes.len(), |n| at + n + 2);
            }
            _ => at += 1,
        }
    }
    Ok(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_attribute_is_too_short_to_be_counted() {
        assert_eq!(check(&format!("<a><b{}/></a>", "c=''".repeat(ATTRIBUTES_LIMIT))), Ok(()));
        assert_eq!(check(&format!("<a><b{}/></a>", "c=''".repeat(ATTRIBUTES_LIMIT + 1))).unwrap_err().0, 3);
    }

    #[test]
    fn ordinary_texts_pass_and_dear_ones_do_not() {
        let attributes = |n: usize| (0..n).map(|i| format!(" a{i}='>'")).collect::<String>();
        assert_eq!(check(&format!("<?x <<?><!-- <<<\" --><a><![CDATA[<'<]]><b{}/></a>", attributes(1000))), Ok(()));
        assert_eq!(check(&format!("<a>\n<b{}/></a>", attributes(1001))).unwrap_err().0, 4);
        assert!(check(&"<a xmlns:b='c'>".repeat(10_001)).is_err());
        for cut in ["<", "<!--", "<![CDATA[", "<?", "<a b='", "<a b=\"c"] {
            assert_eq!(check(cut), Ok(()), "{cut}: left to the parser");
        }
    }

    #[test]
    fn the_prolog_may_hold_comments_and_instructions() {
        let text = "\u{feff}<?xml?>\n<!-- <!DOCTYPE --> <?p?><!DOCTYPE a>";
        assert_eq!(Some(after_prolog(text)), text.find("<!DOCTYPE a>"));
        assert_eq!(after_prolog("<a/>"), 0);
        assert_eq!(after_prolog("<!-- "), 0);
    }
}
