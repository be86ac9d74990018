//! A log line, and its form in a slot of the log's ring.

use std::sync::atomic::{AtomicU64, Ordering};

/// Words of the text in a slot: category and message, one after the other.
const TEXT_WORDS: usize = 92;
/// Words of a line in a slot: one with source, flags, status and lengths, one with the time, and the text.
pub(super) const BODY: usize = 2 + TEXT_WORDS;

/// Bytes of the text in a slot.
pub(super) const TEXT: usize = TEXT_WORDS * 8;

/// Bytes of category and message that a slot can hold.
pub const LONGEST: usize = TEXT;

/// The category of lines about calls of the FMU's functions.
pub const CALL: &[u8] = b"call";

/// A log line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRecord {
    /// Index of the FMU; `None`: the host itself.
    pub fmu: Option<usize>,
    /// FMI status (0 OK to 4 Fatal); for host lines 0 is information and 3 an error.
    pub status: u8,
    /// CLOCK_MONOTONIC, ns.
    pub at: i64,
    /// Category of the line; empty if there was none.
    pub category: String,
    /// Text of the message.
    pub message: String,
    /// The message was truncated.
    pub cut: bool,
}

/// The speaker of a line, and how severe the line is.
#[derive(Clone, Copy)]
pub(super) struct Speaker {
    pub(super) fmu: Option<usize>,
    pub(super) status: u8,
    pub(super) at: i64,
}

/// The content of a slot: a line, or a part of a line that needs several slots.
pub(super) struct Piece {
    pub(super) fmu: Option<usize>,
    pub(super) status: u8,
    pub(super) at: i64,
    pub(super) category: Vec<u8>,
    pub(super) message: Vec<u8>,
    pub(super) cut: bool,
    /// Whether the next slot has another part of the line.
    pub(super) goes_on: bool,
}

impl Piece {
    pub(super) fn line(self) -> LogRecord {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let Piece { fmu, status, at, cut, .. } = self;
        LogRecord { fmu, status, at, category: text(&self.category), message: text(&self.message), cut }
    }
}

/// Writes a slot. Precondition: the text fits.
///
/// The first word has, from the top: 1 + the index of the FMU, or 0 for the host (32 bits), `cut` and `goes_on` (1 each), the status (6),
/// the length of the category (12) and of the message (12).
pub(super) fn write(body: &[AtomicU64], speaker: Speaker, [category, message]: [&[u8]; 2], cut: bool, goes_on: bool) {
    let Speaker { fmu, status, at } = speaker;
    let source = fmu.map_or(0, |fmu| fmu as u64 + 1);
    let about = source << 32 | u64::from(cut) << 31 | u64::from(goes_on) << 30 | u64::from(status) << 24;
    body[0].store(about | (category.len() as u64) << 12 | message.len() as u64, Ordering::Relaxed);
    body[1].store(at as u64, Ordering::Relaxed);
    let mut bytes = category.iter().chain(message).copied();
    for word in &body[2..2 + (category.len() + message.len()).div_ceil(8)] {
        word.store(u64::from_le_bytes(std::array::from_fn(|_| bytes.next().unwrap_or(0))), Ordering::Relaxed);
    }
}

/// Reads a slot of any content: FMU code may have written over it.
pub(super) fn read(body: &[AtomicU64]) -> Piece {
    let about = body[0].load(Ordering::Relaxed);
    let category = ((about >> 12 & 0xfff) as usize).min(TEXT);
    let message = ((about & 0xfff) as usize).min(TEXT - category);
    let words = &body[2..2 + (category + message).div_ceil(8)];
    let text: Vec<u8> = words.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect();
    Piece {
        fmu: (about >> 32).checked_sub(1).map(|fmu| fmu as usize),
        status: (about >> 24 & 0x3f) as u8,
        at: body[1].load(Ordering::Relaxed) as i64,
        category: text[..category].to_vec(),
        message: text[category..category + message].to_vec(),
        cut: about >> 31 & 1 == 1,
        goes_on: about >> 30 & 1 == 1,
    }
}

/// The part of a category that fits into a slot.
pub(super) fn fitting(category: &[u8]) -> &[u8] {
    &category[..category.len().min(TEXT / 4)]
}
