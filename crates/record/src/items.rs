//! Items on their way from one process to another: what comes from outside of a run, for a target, at a time.
//!
//! An item is a record of a [ring](crate::ring). Ticks of files, requests for ticks and commands that set variables are items:
//!
//! ```text
//! id, time (3 words, the last one 0: that of its arrival)
//! then what it brings: nothing for a tick, variables and their values for a command
//! ```
//! Both sides know an item by its id: the number of the clock that it ticks, or its place among all commands for an instance.

#![forbid(unsafe_code)]

use crate::ring::{Record, Ring};
use vecud_base::time::Instant;

/// Words before what an item brings.
pub const HEADER: usize = 4;

/// The first words of an item: its id and its time.
pub fn header(id: u64, time: Option<Instant>) -> [u64; HEADER] {
    let [a, b, c] = time.map_or([0; 3], Instant::to_words);
    [id, a, b, c]
}

/// An item that is being read.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a>(Record<'a>);

impl<'a> Item<'a> {
    /// The id by which both sides know the item.
    pub fn id(self) -> u64 {
        self.0.word(0)
    }

    /// The item's time, or for a command the time before which it is not carried out; `None`: the time of its arrival.
    pub fn time(self) -> Option<Instant> {
        (self.0.word(3) != 0).then(|| Instant::from_words([self.0.word(1), self.0.word(2), self.0.word(3)]))
    }

    /// The words that it brings.
    pub fn content(self) -> Record<'a> {
        self.0.part(HEADER, usize::MAX)
    }
}

/// Takes the oldest item out of a ring, and reads it. For the reader of the ring.
pub fn take<T>(ring: Ring, read: impl FnOnce(Item) -> Option<T>) -> Option<T> {
    let mut taken = ring.take();
    taken.next().filter(|record| !record.is_empty()).and_then(|record| read(Item(record)))
}

/// The oldest item of a ring, which stays. For the reader of the ring.
#[inline]
pub fn peek(ring: Ring) -> Option<Item> {
    ring.peek().filter(|record| !record.is_empty()).map(Item)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::RingPlace;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn items_come_out_in_order_with_their_times() {
        let mut end = 0;
        let place = RingPlace::after(&mut end, 64, 16);
        let words: Vec<_> = (0..end).map(|_| AtomicU64::new(0)).collect();
        let ring = place.ring(&words);
        let at = Instant::from_f64(0.1);
        assert!(ring.push(&header(3, at)) && ring.push(&[&header(5, None)[..], &[7, 8]].concat()) && ring.push(&[9]));
        let next = || take(ring, |item| Some((item.id(), item.time(), item.content().words().collect::<Vec<_>>())));
        assert_eq!([next(), next()], [Some((3, at, vec![])), Some((5, None, vec![7, 8]))]);
        // FMU code can write anywhere: an item that is too short is one that came now and brings nothing.
        assert_eq!([next(), next()], [Some((9, None, vec![])), None]);
    }
}
