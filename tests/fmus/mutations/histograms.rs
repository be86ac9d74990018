//! `histograms.hlog`: its lines, and the histograms in them.

use std::fs;
use std::ops::Range;
use std::path::Path;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};

use crate::mutations::chance::Chance;
use crate::mutations::runs::Runs;
use crate::mutations::trial::words;
use crate::mutations::{Kind, LONGEST, campaign, nothing_more, text, try_one};

/// A histogram as a line has it, whatever its header says and its counts are.
fn forged(chance: &mut Chance) -> String {
    let digits = 1 + chance.below(5) as u8;
    let mut histogram =
        Histogram::<u64>::new_with_bounds(1, *chance.pick(&[2, 1000, 3_600_000_000_000]), digits).unwrap();
    for _ in 0..chance.below(20) {
        // Counts are written as signed numbers; what they sum up to may be anything.
        histogram.saturating_record_n(chance.bits() >> chance.below(64), chance.bits() >> (6 + chance.below(58)));
    }
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(&histogram, &mut bytes).unwrap();
    let numbers = [0, 1, 0x7FFF_FFFF, u64::from(u32::MAX), 1 << 40, i64::MAX as u64, 1 << 63, u64::MAX];
    for _ in 0..chance.below(3) {
        // Length of the counts, offset, digits; lowest and highest value, ratio.
        match chance.below(8) {
            field @ 0..=2 => {
                bytes[4 + 4 * field..8 + 4 * field].copy_from_slice(&(*chance.pick(&numbers) as u32).to_be_bytes())
            }
            field @ 3..=5 => bytes[8 * field - 8..8 * field].copy_from_slice(&chance.pick(&numbers).to_be_bytes()),
            6 => bytes.extend(std::iter::repeat_n(*chance.pick(&[0, 1, 0x7F, 0x80, 0xFF]), chance.below(100_000))),
            _ => {
                chance.damage(&mut bytes);
                break;
            }
        }
    }
    let length = if chance.below(4) == 0 { Some(*chance.pick(&numbers) as u32) } else { None };
    packed(&bytes, length)
}

/// As a line has the bytes of a histogram, compressed, and of this length as it says.
fn packed(bytes: &[u8], length: Option<u32>) -> String {
    let packed = zlib(bytes);
    let mut whole = 0x1c84_9314_u32.to_be_bytes().to_vec();
    whole.extend(length.unwrap_or(packed.len() as u32).to_be_bytes());
    whole.extend(packed);
    base64(&whole)
}

/// As zlib packs what it does not compress.
fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut packed = vec![0x78, 0x01];
    let parts: Vec<&[u8]> = bytes.chunks(60_000).collect();
    for (place, part) in parts.iter().enumerate() {
        packed.push(u8::from(place + 1 == parts.len()));
        packed.extend((part.len() as u16).to_le_bytes());
        packed.extend((!(part.len() as u16)).to_le_bytes());
        packed.extend(*part);
    }
    let (mut low, mut high) = (1u32, 0u32);
    for byte in bytes {
        low = (low + u32::from(*byte)) % 65_521;
        high = (high + low) % 65_521;
    }
    packed.extend((high << 16 | low).to_be_bytes());
    packed
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for part in bytes.chunks(3) {
        let word = part.iter().enumerate().fold(0, |word, (place, byte)| word | usize::from(*byte) << (16 - 8 * place));
        (0..=part.len()).for_each(|digit| text.push(char::from(DIGITS[word >> (18 - 6 * digit) & 63])));
        text += &"="[..usize::from(part.len() < 3)].repeat(3 - part.len());
    }
    text
}

/// Puts a histogram into a line, if it is one that has one.
fn put(text: &mut String, line: Range<usize>, histogram: &str) {
    if let Some(comma) = text[line.clone()].rfind(',') {
        text.replace_range(line.start + comma + 1..line.end, &format!("{histogram}\n"));
    }
}

fn mutate(text: &mut String, chance: &mut Chance) {
    for _ in 0..=chance.below(3) {
        match chance.below(8) {
            0 => text::replace(text, &text::words(text), chance),
            1 => text::rearrange(text, &text::lines(text), chance),
            2 => text::damage(text, chance),
            3 => text::replace(text, &text::quoted(text, ','), chance),
            _ => {
                let lines = text::lines(text);
                let Some(line) = lines.get(chance.below(lines.len().max(1))).cloned() else { return };
                put(text, line, &forged(chance));
            }
        }
    }
}

/// A run with this log.
fn lay(runs: &Runs, log: &str, folder: &Path) -> Vec<String> {
    let own = folder.join("foreign");
    fs::create_dir(&own).unwrap();
    fs::write(own.join("report.json"), runs.file("realtime", "report.json")).unwrap();
    fs::write(own.join("histograms.hlog"), log).unwrap();
    words("report foreign")
}

#[test]
fn histograms_are_drawn_or_refused() {
    let runs = Runs::new();
    campaign(&Kind {
        test: "histograms_are_drawn_or_refused",
        usually: 200,
        culprit: "histograms.hlog",
        lay: &|chance, folder| {
            let mut log = runs.text("realtime", "histograms.hlog");
            mutate(&mut log, chance);
            lay(&runs, &log, folder)
        },
        look: &nothing_more,
    });
}

/// A few bytes that state a histogram of gigabytes are refused by a program that may have 256 MiB.
#[test]
fn a_histogram_that_states_four_gigabytes_is_refused() {
    let runs = Runs::new();
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(&Histogram::<u64>::new(2).unwrap(), &mut bytes).unwrap();
    bytes[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
    let mut log = runs.text("realtime", "histograms.hlog");
    let first = text::lines(&log).into_iter().find(|line| log[line.clone()].starts_with("Tag=")).unwrap();
    put(&mut log, first, &packed(&bytes, None));
    let outcome = try_one(
        &Kind {
            test: "a_histogram_that_states_four_gigabytes_is_refused",
            usually: 1,
            culprit: "histograms.hlog",
            lay: &|_, folder| lay(&runs, &log, folder),
            look: &nothing_more,
        },
        0,
        LONGEST,
        1 << 28,
    );
    let outcome = outcome.unwrap();
    assert!(!outcome.accepted(), "{outcome:?}");
}
