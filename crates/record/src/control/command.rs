//! A command as an [item](crate::items): its id is its place in the order of all commands for the instance, its time the one before which
//! it is not to be carried out. It brings variables with their values:
//!
//! ```text
//! number of variables
//! each: variable, number of elements, words of values, values
//! ```
//! A number is one word (`vecud_description::word`). A string or binary is its length in bytes, and its bytes, eight to a word.

use crate::items::{self, Item};
use crate::ring::Record;
use vecud_base::time::Instant;
use vecud_description::{Values, bytes};

const HEADER: usize = items::HEADER + 1;
const VARIABLE_HEADER: usize = 3;
const BYTES: usize = 8;

/// Words that `elements` values take; of strings and binaries, each with at most `bytes`.
pub fn payload_words(elements: usize, bytes: Option<usize>) -> usize {
    elements.saturating_mul(bytes.map_or(1, bytes::words))
}

/// Words of a command whose variables have values of these lengths.
pub fn record_words(payloads: impl Iterator<Item = usize>) -> usize {
    payloads.fold(HEADER, |sum, payload| sum.saturating_add(VARIABLE_HEADER).saturating_add(payload))
}

/// The words of a command. Each variable is a number that both sides know it by.
pub fn encode(order: u64, at: Option<Instant>, sets: &[(usize, &Values)]) -> Vec<u64> {
    let mut words = [&items::header(order, at)[..], &[sets.len() as u64]].concat();
    for (variable, values) in sets {
        let payload = bytes::elements(values).concat();
        words.extend([*variable as u64, values.len() as u64, payload.len() as u64]);
        words.extend(payload);
    }
    words
}

/// One variable of a command.
#[derive(Clone, Copy)]
pub struct CommandedVariable<'a> {
    /// The number that both sides know it by.
    pub variable: usize,
    /// Number of values.
    pub elements: usize,
    payload: Record<'a>,
}

/// The variables that a command sets.
pub fn variables(command: Item) -> impl Iterator<Item = CommandedVariable> {
    let record = command.content();
    let mut at = 1;
    (0..record.word(0)).map_while(move |_| {
        if at + VARIABLE_HEADER > record.len() {
            return None;
        }
        let [variable, elements, words] = [0, 1, 2].map(|i| record.word(at + i) as usize);
        let payload = record.part(at + VARIABLE_HEADER, words);
        at += VARIABLE_HEADER + payload.len();
        Some(CommandedVariable { variable, elements, payload })
    })
}

impl<'a> CommandedVariable<'a> {
    /// The word of a number.
    #[inline]
    pub fn word(&self, element: usize) -> u64 {
        self.payload.word(element)
    }

    /// The bytes of each string or binary, with their number.
    pub fn texts(self) -> impl Iterator<Item = (usize, impl Iterator<Item = u8> + 'a)> {
        let payload = self.payload;
        let mut at = 0;
        (0..self.elements).map(move |_| {
            let room = payload.len().saturating_sub(at + 1).saturating_mul(BYTES);
            let (first, length) = (at + 1, (payload.word(at) as usize).min(room));
            at = first + length.div_ceil(BYTES);
            (length, (0..length).map(move |i| payload.word(first + i / BYTES).to_le_bytes()[i % BYTES]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::RingPlace;
    use proptest::prelude::*;
    use std::sync::atomic::AtomicU64;

    fn through_a_ring(words: &[u64], check: impl FnOnce(Item)) {
        let mut end = 0;
        let place = RingPlace::after(&mut end, words.len() + 1, words.len());
        let memory: Vec<_> = (0..end).map(|_| AtomicU64::new(0)).collect();
        assert!(place.ring(&memory).push(words));
        check(items::peek(place.ring(&memory)).unwrap());
    }

    #[test]
    fn a_command_comes_out_as_it_went_in() {
        let at = Instant::from_f64(0.003);
        let (numbers, texts) = (Values::Int8(vec![-1, 5]), Values::String(vec!["grün und blau".into(), String::new()]));
        let words = encode(9, at, &[(4, &numbers), (2, &texts)]);
        assert!(words.len() <= record_words([payload_words(2, None), payload_words(2, Some(14))].into_iter()));
        through_a_ring(&words, |command| {
            assert_eq!((command.id(), command.time()), (9, at));
            let items: Vec<CommandedVariable> = variables(command).collect();
            assert_eq!((items[0].variable, items[0].elements, items[0].word(0)), (4, 2, u64::MAX));
            let texts: Vec<Vec<u8>> = items[1].texts().map(|(_, bytes)| bytes.collect()).collect();
            assert_eq!(texts, ["grün und blau".as_bytes(), b""]);
        });
        through_a_ring(&encode(1, None, &[]), |command| {
            assert_eq!((command.time(), variables(command).count()), (None, 0))
        });
    }

    proptest! {
        /// FMU code can write anywhere, also here.
        #[test]
        fn nonsense_is_read_without_harm(words in prop::collection::vec(prop_oneof![0u64..9, any::<u64>()], 1..40)) {
            through_a_ring(&words, |command| {
                for item in variables(command).take(50) {
                    let bytes: usize = item.texts().take(50).map(|(_, bytes)| bytes.count()).sum();
                    assert!(bytes <= 8 * words.len());
                    item.word(item.elements);
                }
            });
        }
    }
}
