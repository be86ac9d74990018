//! Lines and columns of a text, for messages: 1-based, in characters. A place costs a binary search, or less when it is
//! asked for soon after its neighbour, and some counting, of a few hundred bytes at most, however long the text and its
//! lines are.

#![forbid(unsafe_code)]

use memchr::memchr_iter;
use std::cell::{Cell, OnceCell};

/// Bytes between two counted positions.
const STEP: usize = 256;
/// Lines to look through from the last one, before all are searched.
const NEAR: usize = 4;

/// A text and where its lines begin.
pub struct LineIndex<'a> {
    text: &'a str,
    starts: Vec<usize>,
    /// The line that was asked for last: places are mostly asked for in the order of the text.
    last: Cell<usize>,
    /// Characters before every `STEP`-th byte; counted when the first place far into a line is asked for.
    counted: OnceCell<Vec<usize>>,
}

impl<'a> LineIndex<'a> {
    /// Finds where the lines of a text begin.
    pub fn new(text: &'a str) -> LineIndex<'a> {
        let mut starts = Vec::with_capacity(text.len() / 64 + 1);
        starts.push(0);
        starts.extend(memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        LineIndex { text, starts, last: Cell::new(0), counted: OnceCell::new() }
    }

    /// The text itself.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The line of the character at this byte.
    pub fn line(&self, at: usize) -> u32 {
        let last = self.last.get();
        let near = self.starts[last..].iter().take(NEAR).position(|&start| start > at);
        let line = match near {
            Some(lines @ 1..) => last + lines,
            // Before the last one, or far behind it.
            _ => self.starts.partition_point(|&start| start <= at),
        };
        self.last.set(line - 1);
        line as u32
    }

    /// Line and column of the character at this byte. A byte-order mark has no width.
    pub fn of(&self, at: usize) -> (u32, u32) {
        let line = self.line(at);
        let start = self.starts[line as usize - 1];
        let mark = usize::from(start == 0 && at > 0 && self.text.starts_with('\u{feff}'));
        let characters = match self.text.as_bytes().get(start..at) {
            Some(bytes) if bytes.len() <= STEP => beginnings(bytes),
            _ => self.characters(at) - self.characters(start),
        };
        (line, (characters - mark) as u32 + 1)
    }

    /// Characters that begin before this byte.
    fn characters(&self, at: usize) -> usize {
        let bytes = &self.text.as_bytes()[..at.min(self.text.len())];
        let counted = self.counted.get_or_init(|| {
            let sum = |sum: &mut usize, chunk: &[u8]| Some(std::mem::replace(sum, *sum + beginnings(chunk)));
            self.text.as_bytes().chunks(STEP).scan(0, sum).collect()
        });
        match bytes.len() / STEP {
            0 => beginnings(bytes),
            // At the very end there may be a step without a chunk of its own.
            step if step == counted.len() => counted[step - 1] + beginnings(&bytes[(step - 1) * STEP..]),
            step => counted[step] + beginnings(&bytes[step * STEP..]),
        }
    }
}

/// The byte at which a part of a text begins; `None`: it is a text of its own.
pub fn offset(text: &str, part: &str) -> Option<usize> {
    let at = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    text.get(at..)?.len().ge(&part.len()).then_some(at)
}

/// The `<` of the XML tag that has this name, which is a part of the text.
pub fn tag(text: &str, name: &str) -> usize {
    // Between them there is a prefix at most.
    offset(text, name).and_then(|at| text[..at].rfind('<')).unwrap_or(0)
}

/// Bytes at which a character begins.
fn beginnings(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let places = LineIndex::new("\u{feff}a\näö\r\nx");
        assert_eq!(places.of(0), (1, 1));
        assert_eq!(places.of(3), (1, 1));
        assert_eq!(places.of(5), (2, 1));
        assert_eq!(places.of(7), (2, 2));
        assert_eq!(places.of(11), (3, 1));
        assert_eq!(places.of(12), (3, 2));
        assert_eq!(LineIndex::new("").of(0), (1, 1));
    }

    #[test]
    fn parts_are_found_by_where_they_are() {
        let text = "<ä:a/><a/>";
        assert_eq!(offset(text, &text[7..]), Some(7));
        assert_eq!(offset(text, &text[text.len()..]), Some(text.len()));
        assert_eq!(offset(&text[..4], &text[4..5]), None);
        assert_eq!(offset(&text[3..], &text[1..3]), None);
        assert_eq!(tag(text, &text[4..5]), 0);
        assert_eq!(tag(text, &text[8..9]), 7);
    }

    #[test]
    fn a_place_does_not_depend_on_the_one_before() {
        let places = LineIndex::new("a\n\nb\nc\nd\ne\nf\n");
        let lines = [(0, 1), (2, 2), (3, 3), (5, 4), (7, 5), (9, 6), (11, 7), (13, 8)];
        for (first, _) in lines {
            for (at, line) in lines {
                places.line(first);
                assert_eq!(places.of(at), (line, 1), "{at} after {first}");
            }
        }
    }

    #[test]
    fn long_lines_are_counted_like_short_ones() {
        for length in [STEP - 1, STEP, STEP + 1, 2 * STEP, 3 * STEP + 7] {
            let text = "ä".repeat(length) + "\n" + &"b".repeat(length);
            let places = LineIndex::new(&text);
            for n in [0, 1, STEP / 2, length - 1, length] {
                assert_eq!(places.of(2 * n), (1, n as u32 + 1), "{length} {n}");
                assert_eq!(places.of(2 * length + 1 + n), (2, n as u32 + 1), "{length} {n}");
            }
        }
    }
}
