//! Reading ends, whatever is in the shared memory: without a panic, and without more data than there is room for.

use super::board::causes::{self, CauseCells};
use super::findings::{self, FindingCells, FindingKind};
use super::histogram::{self, HistogramCursor, HistogramWriter};
use super::log::{self, LogRing};
use super::moment::{self, MomentCells};
use super::samples::SampleRing;
use super::trace::{Note, notes};
use crate::control::{CommandOutcome, CommandPlace, CommandReply};
use crate::ring::RingPlace;
use proptest::prelude::*;
use std::sync::atomic::AtomicU64;
use vecud_base::time::Instant;

/// A word as stray writes leave it, or as it was before.
fn word() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        0..20u64,
        Just((-1.0f64).to_bits()),
        Just(u64::MAX),
        (i64::MAX as u64 - 1)..=(i64::MAX as u64 + 1),
        any::<u64>(),
    ]
}

/// This number of words, from a seed: SplitMix64 is far faster than a strategy for each word.
fn memory(words: usize) -> impl Strategy<Value = Vec<AtomicU64>> {
    any::<u64>().prop_map(move |mut seed| {
        let mut random = || {
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb)
        };
        let all = [0, 1, 7, (-1.0f64).to_bits(), u64::MAX, i64::MAX as u64, 1 << 63];
        let word = |chosen: u64, other: u64| all.get(chosen as usize % 9).copied().unwrap_or(other);
        (0..words).map(|_| AtomicU64::new(word(random() >> 32, random()))).collect()
    })
}

/// Words up to the end of a place.
fn words_of<T>(after: impl FnOnce(&mut usize) -> T) -> usize {
    let mut end = 0;
    after(&mut end);
    end
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn samples(words in memory(words_of(|next| RingPlace::after(next, 16, 7)))) {
        let ring = SampleRing { ring: RingPlace::after(&mut 0, 16, 7).ring(&words), length: 7 };
        prop_assert!(ring.ring.waiting().0 <= 16);
        prop_assert!(ring.take().count() <= 16);
        prop_assert!(ring.push(1, Instant::ZERO, |record| record.put_all([1, 2, 3])) && ring.take().count() == 1, "it goes on");
    }

    #[test]
    fn notes_of_a_task(words in memory(words_of(|next| RingPlace::after(next, 16, 16)))) {
        let ring = RingPlace::after(&mut 0, 16, 16).ring(&words);
        prop_assert!(ring.waiting().0 <= 16);
        prop_assert!(notes::take(&ring).count() <= 32);
        let note = Note::Updated { since: 1, until: 2 };
        prop_assert!(notes::push(&ring, [&note]) && notes::take(&ring).eq([Some(note)]), "it goes on");
    }

    #[test]
    fn histograms(words in memory(histogram::WORDS)) {
        let histogram = HistogramWriter::new(&words);
        let read = histogram.read();
        let _ = (read.mean(), read.quantile(0.5), read.quantile(1.0), histogram.longest_since(&mut HistogramCursor::default(), 0));
        prop_assert!(!histogram.is_possible(1 << 40), "nothing like it comes of recording");
        histogram.clear();
        [5, 0, i64::MAX, 70_000].into_iter().for_each(|value| histogram.count(value));
        prop_assert!(histogram.is_possible(4) && !histogram.is_possible(3));
    }

    #[test]
    fn commands(words in memory(words_of(|next| CommandPlace::after(next, 40)))) {
        let ring = CommandPlace::after(&mut 0, 40).ring(&words);
        let _ = (ring.take_outcome(), ring.commands.push(&[1, 2, 3]));
        if let Some(command) = ring.next() {
            let record = command.content();
            prop_assert!(record.len() <= 36);
            let _ = (0..record.len()).fold(0, |all, word| all ^ record.word(word));
            ring.finish(CommandReply { verdict: CommandOutcome::Applied, time: Instant::ZERO });
        }
    }

    #[test]
    fn findings_and_moments(words in memory(findings::WORDS), other in memory(moment::WORDS)) {
        for finding in FindingKind::ALL {
            let _ = FindingCells::new(&words).first(finding).map(|first| first.time.map(|time| (time.seconds(), time.nanos())));
        }
        let cells = MomentCells::new(&other);
        if let Some(moment) = cells.read(3) {
            let _ = (moment.parts.response(), moment.time.seconds());
        }
        cells.mend(1 << 50);
        prop_assert!(cells.mend(1 << 50), "what cannot be is gone");
    }

    #[test]
    fn times(words in proptest::array::uniform3(word()), other in proptest::array::uniform3(word())) {
        let [time, other] = [words, other].map(Instant::from_words);
        let _ = (time.seconds(), time.nanos(), time.cmp(&other), time.minus(other));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn log_lines(words in memory(log::WORDS)) {
        let ring = LogRing::new(&words);
        ring.mend();
        prop_assert!(std::iter::from_fn(|| ring.pop(true)).count() <= log::SLOTS);
        prop_assert!(ring.push(None, 0, 0, b"", b"x") && ring.pop(false).is_some(), "it goes on");
    }

    #[test]
    fn overruns(words in memory(causes::WORDS)) {
        let cells = CauseCells::new(&words);
        prop_assert!(cells.overruns(3).0.len() <= 2 * causes::OVERRUNS);
        cells.mend(100, 1 << 60);
        prop_assert!(cells.mend(100, 1 << 60), "what cannot be is gone");
        prop_assert!(cells.overruns(3).1 <= 100);
    }
}
