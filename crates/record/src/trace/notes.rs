//! The ring of a task's notes: one producer, the thread of its task; one consumer, the supervisor.

use super::note::{Note, WIDTH};
use crate::ring::{Ring, RingPlace};
use std::sync::atomic::Ordering::Relaxed;
use vecud_plan::{Mode, Plan, Release, TraceMode, UnitPlan};

/// Notes of a ring at most: half a mebibyte.
const MOST: usize = 8192;
/// The least number of notes.
const LEAST: usize = 256;
/// The notes of all rings together, where the least are not more: memory that is locked is not for the asking.
const TOGETHER: usize = 1 << 17;
/// Notes of an activation and seconds for which there is room, and how many notes of a clock without a period.
type Room = (f64, f64, usize);
/// An activation makes about six notes when everything is traced, and the writer of files may take its time.
const TRACED: Room = (6.0, 2.0, MOST / 2);
/// The room of a task that is not traced: it makes two notes in real time even so, and they need not wait for long.
const UNTRACED: Room = (2.0, 0.25, 2 * LEAST);

/// The ring of a task's notes, which moves `next` behind it; `None`: it makes none.
pub fn place(plan: &Plan, unit: &UnitPlan, next: &mut usize) -> Option<RingPlace> {
    let notes = notes(plan, unit);
    (notes > 0).then(|| RingPlace::after(next, notes * WIDTH, 2 * WIDTH))
}

/// The number of notes of [`WIDTH`] words in the ring of a task; fewer where all tasks together would have too many, but never
/// fewer than 256.
fn notes(plan: &Plan, unit: &UnitPlan) -> usize {
    let (each, seconds, other) = match (plan.trace.mode, plan.mode) {
        (TraceMode::Off, Mode::Virtual) => return 0,
        (TraceMode::Off, Mode::RealTime) => UNTRACED,
        _ => TRACED,
    };
    let wanted = match &unit.release {
        Release::Periodic { interval, .. } => (seconds * each / interval.seconds()).min(1e9) as usize,
        Release::Never => LEAST,
        _ => other,
    };
    // A power of two, rounded down where rooms are shared.
    let shared = (TOGETHER / plan.units.len().max(1)).max(LEAST).next_power_of_two();
    wanted.clamp(LEAST, MOST.min(shared)).next_power_of_two()
}

/// Appends notes that belong together, two at most, as one record. `false`: there was no room, which counts as one that is lost. For
/// the producer.
#[inline(always)] // as `RunState::trace_in`
pub fn push<const COUNT: usize>(ring: &Ring, notes: [&Note; COUNT]) -> bool {
    let notes = notes.map(|note| note.to_words());
    ring.push_with(notes.iter().map(|(_, length)| length).sum(), |mut places| {
        for (words, length) in notes {
            let (own, rest) = places.split_at(length);
            own.iter().zip(words).for_each(|(place, word)| place.store(word, Relaxed));
            places = rest;
        }
    })
}

/// Takes the notes that are there now. For the consumer. `None`: one cannot be read, so FMU code has written over it.
pub fn take<'a>(ring: &Ring<'a>) -> impl Iterator<Item = Option<Note>> + use<'a> {
    ring.take().flat_map(|record| {
        let mut rest = Some(record);
        std::iter::from_fn(move || {
            let record = rest.take()?;
            let note = Note::from_words(std::array::from_fn(|place| record.word(place)));
            let length = note.map_or(record.len(), |note| note.to_words().1);
            rest = Some(record.part(length, record.len())).filter(|rest| !rest.is_empty());
            Some(note.filter(|_| length <= record.len()))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    /// What belongs together is there together or not at all.
    #[test]
    fn notes_come_out_in_order_and_what_does_not_fit_is_counted() {
        let skip = |k: i64| Note::Skipped { time: k, release: 2 * k, at: 3 * k };
        let mut end = 0;
        let place = RingPlace::after(&mut end, 100, 2 * WIDTH);
        let words: Vec<AtomicU64> = (0..end).map(|_| AtomicU64::new(0)).collect();
        let ring = place.ring(&words);
        for round in 1..5 {
            let pairs = (0..).take_while(|k| push(&ring, [&skip(2 * k), &skip(2 * k + 1)])).count() as i64;
            let notes: Vec<Option<Note>> = take(&ring).collect();
            assert_eq!(notes, (0..2 * pairs).map(|k| Some(skip(k))).collect::<Vec<_>>());
            assert_eq!((pairs > 10, ring.refused()), (true, round));
        }
    }
}
