//! What [`Latest`] promises, with real threads; and a wrong exchange, to show that these tests can see a mixture.

use super::*;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use vecud_description::bytes;

#[test]
fn nothing_before_the_first_write_then_the_newest() {
    let value = Latest::new(2);
    assert_eq!(value.read(|_, _| panic!("nothing to take")), 0);
    for round in 1..10 {
        value.write(|i| round * 10 + i as u64);
        let mut got = [0; 2];
        assert_eq!(value.read(|i, word| got[i] = word), round);
        assert_eq!(got, [round * 10, round * 10 + 1]);
    }
}

#[test]
fn words_that_a_version_leaves_out_are_not_those_of_the_version_before() {
    let value = Latest::new(2);
    for round in 1..=4 {
        value.write(|_| round);
    }
    value.write_with(|words| words.set(0, 5));
    value.read_with(|words| assert_eq!((words.get(0), words.get(1)), (5, 1), "the slot's own older version"));
}

#[test]
fn any_number_of_doubles_is_copied_and_no_word_beside_them() {
    for count in 0..=2 * ROW + 3 {
        let value = Latest::new(count + 3);
        let doubles: Vec<f64> = (0..count).map(|i| 0.5 - i as f64).collect();
        value.write_with(|words| words.copy_from(2, &doubles));
        let mut words = vec![];
        value.read(|_, word| words.push(word));
        let bits = doubles.iter().map(|double| double.to_bits());
        assert_eq!(words, [0, 0].into_iter().chain(bits).chain([0]).collect::<Vec<_>>());
        let mut got = vec![f64::NAN; count];
        value.read_with(|words| words.copy_to(2, &mut got));
        assert_eq!(got, doubles);
    }
}

#[test]
fn all_of_a_few_doubles_are_copied() {
    for count in 0..=FEW {
        let value = Latest::new(count);
        let doubles: Vec<f64> = (0..count).map(|i| 0.5 - i as f64).collect();
        value.write_with(|words| words.copy_few_from(&doubles));
        let mut words = vec![];
        value.read(|_, word| words.push(word));
        assert_eq!(words, doubles.iter().map(|double| double.to_bits()).collect::<Vec<_>>());
        let mut got = vec![f64::NAN; count];
        value.read_with(|words| words.copy_few_to(&mut got));
        assert_eq!(got, doubles);
    }
}

/// More than a few, or more of the ones than of the others, are not copied in part.
#[test]
fn what_does_not_match_is_not_copied_as_a_few() {
    for (words, doubles) in [(2, 1), (1, 2), (FEW + 1, FEW + 1), (FEW + 1, FEW), (0, 1)] {
        let value = Latest::new(words);
        value.write(|_| 7);
        let mut got = vec![0.5; doubles];
        let copy = || value.try_read(1, |words| words.copy_few_to(&mut got));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(copy)).is_err(), "{words} {doubles}");
        assert_eq!(got, vec![0.5; doubles]);
        let write = || value.write_with(|words| words.copy_few_from(&vec![1.5; doubles]));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(write)).is_err(), "{words} {doubles}");
        assert_eq!(value.read(|_, word| assert_eq!(word, 7)), 1, "no new version");
    }
}

#[test]
#[should_panic(expected = "out of range")]
fn doubles_do_not_get_into_the_next_slot() {
    Latest::new(2).write_with(|words| words.copy_from(1, &[1.0, 2.0]));
}

#[test]
fn a_copy_that_the_writer_has_overtaken_does_not_count() {
    let value = Latest::new(1);
    let overtake = || (0..SLOTS).for_each(|_| value.write(|_| 7));
    value.write(|_| 7);
    assert!(value.try_read(1, |words| assert_eq!(words.get(0), 7)));
    overtake();
    assert!(!value.try_read(1, |_| panic!("the slot holds another one")));
    assert!(!value.try_read(value.version(), |_| overtake()));
}

/// Reads for a test; the model checker is slow.
const READS: u64 = if cfg!(miri) { 50 } else { 1_000_000 };

/// Lets `write` write round after round on one thread, `read` read on this one from the first round on.
fn race(write: impl Fn(u64) + Sync, reads: u64, mut read: impl FnMut()) {
    let (begun, stop) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            (1..).take_while(|_| !stop.load(Ordering::Relaxed)).for_each(|round| {
                write(round);
                begun.store(true, Ordering::Relaxed);
            });
        });
        // A failed assertion must end the writer as well.
        struct Stop<'a>(&'a AtomicBool);
        impl Drop for Stop<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let _stop = Stop(&stop);
        while !begun.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        (0..reads).for_each(|_| read());
    });
}

#[test]
fn an_array_is_never_torn_in_a_million_reads() {
    let value = Latest::new(64);
    let mut last = 0;
    race(
        |round| value.write(|_| round),
        READS,
        || {
            let mut got = [0; 64];
            let version = value.read(|i, word| got[i] = word);
            assert!(got.iter().all(|word| *word == got[0]), "torn: {got:?}");
            assert!(version == got[0] && version >= last, "version {version} after {last}");
            last = version;
        },
    );
}

#[test]
fn doubles_are_never_torn_in_a_million_reads() {
    let value = Latest::new(20);
    let mut last = 0.0;
    race(
        |round| value.write_with(|words| words.copy_from(0, &[round as f64; 20])),
        READS,
        || {
            let (mut got, version) = ([0.0; 20], value.version());
            if version > 0 && value.try_read(version, |words| words.copy_to(0, &mut got)) {
                assert!(got.iter().all(|double| *double == got[0]), "torn: {got:?}");
                assert!(got[0] == version as f64 && got[0] >= last, "version {version} after {last}");
                last = got[0];
            }
        },
    );
    assert!(last > 0.0);
}

/// Strings of one letter whose number of letters follows from the letter, in two elements.
#[test]
fn strings_are_never_torn_in_a_million_reads() {
    const CAPACITY: usize = 128;
    let room = bytes::words(CAPACITY);
    let value = Latest::new(2 * room);
    let length = |letter: u8| usize::from(letter) * 5 % (CAPACITY + 1);
    let write = |round: u64| {
        let letter = (round % 251) as u8;
        value.write_with(|words| {
            for element in 0..2 {
                let text = [letter; CAPACITY];
                bytes::pack(&text[..length(letter)], |i, word| words.set(element * room + i, word));
            }
        });
    };
    race(write, READS, || {
        let mut got = [[0; CAPACITY]; 2];
        let mut lengths = [0; 2];
        let version = value.read_with(|words| {
            for element in 0..2 {
                lengths[element] = bytes::unpack(|i| words.get(element * room + i), &mut got[element]);
            }
        });
        if version > 0 {
            let letter = (version % 251) as u8;
            assert_eq!(lengths, [length(letter); 2], "version {version}");
            assert!(got.iter().all(|text| text[..length(letter)].iter().all(|byte| *byte == letter)));
        }
    });
}

/// A double buffer without a second look: what [`Latest`] is not (semantics S11 calls it wrong).
struct DoubleBuffer {
    published: AtomicU64,
    slots: [[AtomicU64; 64]; 2],
}

#[test]
#[cfg_attr(miri, ignore = "the model checker does not run threads at the same time")]
fn a_double_buffer_is_seen_to_tear() {
    let cell = |_| AtomicU64::new(0);
    let value =
        DoubleBuffer { published: AtomicU64::new(0), slots: [std::array::from_fn(cell), std::array::from_fn(cell)] };
    let began = Instant::now();
    let mut torn = 0;
    let write = |round: u64| {
        for word in &value.slots[round as usize % 2] {
            word.store(round, Ordering::Relaxed);
        }
        value.published.store(round, Ordering::Release);
    };
    while torn == 0 && began.elapsed() < Duration::from_secs(20) {
        race(write, READS, || {
            let slot = &value.slots[value.published.load(Ordering::Acquire) as usize % 2];
            let got: [u64; 64] = std::array::from_fn(|i| slot[i].load(Ordering::Relaxed));
            torn += u32::from(got.iter().any(|word| *word != got[0]));
        });
    }
    assert!(torn > 0, "no mixture in {:?}: the tests above prove nothing", began.elapsed());
}
