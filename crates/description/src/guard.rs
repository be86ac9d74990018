//! Refuses XML texts that are cheap to write and dear to parse, before the XML parser sees them.
//!
//! The parser compares every attribute of an element with every other one. It hands the namespaces of an element down to
//! every element inside that declares some itself, comparing each with each, and looks through all that apply for every
//! name. So this check limits the number of attributes, adds up the cost of namespaces, and limits that by the length of
//! the text. It passes once over the bytes, and allocates only for elements that declare namespaces.
#![forbid(unsafe_code)]

use memchr::{memchr, memmem};

/// Attributes of one element; FMI knows about thirty.
const ATTRIBUTES_LIMIT: usize = 1000;
/// The least number of bytes of this many attributes: `a=""` each.
const LONG: usize = 4 * ATTRIBUTES_LIMIT;
/// Namespace declarations of a text that cost little wherever they are.
const FEW_NAMESPACES: usize = 50;
/// The number of comparisons of namespaces for any text, some tenth of a second, ...
const FREE_COMPARISONS: u64 = 100_000_000;
/// ... and further ones for each of its bytes: ten namespaces that apply everywhere need a tenth of that.
const COMPARISONS_PER_BYTE: u64 = 4;

/// `Err` with the place and the reason if the text would be dear to parse.
pub fn check(text: &str) -> Result<(), (usize, String)> {
    let many = memmem::find_iter(text.as_bytes(), "xmlns").nth(FEW_NAMESPACES).is_some();
    let mut scopes = many.then(|| Scopes::new(text.len()));
    let mut next = find_byte(text, 0, b'<');
    while let Some(open) = next {
        let at = match &text[open..] {
            rest if rest.starts_with("<!--") => find(text, open + 4, "-->").unwrap_or(text.len()),
            rest if rest.starts_with("<![CDATA[") => find(text, open, "]]>").unwrap_or(text.len()),
            rest if rest.starts_with("<?") => find(text, open, "?>").unwrap_or(text.len()),
            _ => {
                next = find_byte(text, open + 1, b'<');
                // The parser stops at a `<` inside a tag, so that the tag ends before.
                if scopes.is_none() && next.unwrap_or(text.len()) - open <= LONG {
                    continue;
                }
                let tag = tag(text, open)?;
                if let Some(scopes) = &mut scopes {
                    scopes.enter(&tag).map_err(|message| (open, message))?;
                }
                tag.end
            }
        };
        next = find_byte(text, at, b'<');
    }
    Ok(())
}

/// The namespaces that apply at the present place of the text, and their cost for the parser so far.
struct Scopes {
    depth: usize,
    /// Elements that are open and declare namespaces: their depths, and how many they declare.
    open: Vec<(usize, u64)>,
    applying: u64,
    /// Length of the longest prefix: two of equal length are compared byte by byte.
    longest: u64,
    cost: u64,
    budget: u64,
}

impl Scopes {
    fn new(length: usize) -> Scopes {
        let budget = FREE_COMPARISONS + COMPARISONS_PER_BYTE * length as u64;
        Scopes { depth: 0, open: Vec::new(), applying: 0, longest: 0, cost: 0, budget }
    }

    fn enter(&mut self, tag: &Tag) -> Result<(), String> {
        if tag.kind == TagKind::Close {
            if let Some((_, declared)) = self.open.pop_if(|(depth, _)| *depth == self.depth) {
                self.applying -= declared;
            }
            self.depth = self.depth.saturating_sub(1);
            return Ok(());
        }
        self.longest = self.longest.max(tag.longest_prefix);
        let applying = self.applying + tag.declarations;
        let handed_down = if tag.declarations > 0 { applying.saturating_mul(applying) } else { 0 };
        let comparisons = handed_down + applying.saturating_mul(1 + tag.prefixed);
        self.cost = self.cost.saturating_add(comparisons.saturating_mul(1 + self.longest / 64));
        if self.cost > self.budget {
            return Err(format!(
                "has too many namespace declarations inside of each other: here {applying} apply at once"
            ));
        }
        if tag.kind == TagKind::Open {
            self.depth += 1;
            if tag.declarations > 0 {
                self.open.push((self.depth, tag.declarations));
                self.applying = applying;
            }
        }
        Ok(())
    }
}

/// The end of the XML declaration, comments and processing instructions.
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum TagKind {
    Open,
    Close,
    /// `<a/>`
    Whole,
}

/// A tag, as far as it matters here.
struct Tag {
    kind: TagKind,
    end: usize,
    /// Namespaces that it declares.
    declarations: u64,
    /// Attributes whose names have a prefix.
    prefixed: u64,
    /// Bytes of the longest prefix that it declares.
    longest_prefix: u64,
}

/// The tag that opens at `open`.
fn tag(text: &str, open: usize) -> Result<Tag, (usize, String)> {
    let bytes = text.as_bytes();
    let kind = if bytes.get(open + 1) == Some(&b'/') { TagKind::Close } else { TagKind::Open };
    let mut tag = Tag { kind, end: bytes.len(), declarations: 0, prefixed: 0, longest_prefix: 0 };
    let (mut at, mut before, mut attributes) = (open + 1, open + 1, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'>' => {
                if bytes[at - 1] == b'/' {
                    tag.kind = TagKind::Whole;
                }
                tag.end = at + 1;
                break;
            }
            b'"' | b'\'' => {
                attributes += 1;
                if attributes > ATTRIBUTES_LIMIT {
                    return Err((open, format!("an element has more than {ATTRIBUTES_LIMIT} attributes")));
                }
                let name = text[before..at].trim_ascii_end().trim_end_matches('=').split_ascii_whitespace().next_back();
                if let Some((prefix, _)) = name.and_then(|name| name.split_once(':')) {
                    tag.prefixed += u64::from(prefix != "xmlns");
                }
                if let Some(prefix) = name.and_then(|name| name.strip_prefix("xmlns")) {
                    tag.declarations += u64::from(prefix.is_empty() || prefix.starts_with(':'));
                    tag.longest_prefix = tag.longest_prefix.max(prefix.len() as u64);
                }
                at = memchr(byte, &bytes[at + 1..]).map_or(bytes.len(), |n| at + n + 2);
                before = at;
            }
            _ => at += 1,
        }
    }
    Ok(tag)
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
        assert_eq!(check(&format!("<r>{}</r>", "<a xmlns:b='c'/>".repeat(100_000))), Ok(()));
        assert_eq!(check(&format!("<r>{}</r>", "<a xmlns:b='c'></a>".repeat(100_000))), Ok(()));
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
