//! A memorable activation, as words: the parts of its time, and the other work at that time.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use vecud_base::time::Instant;
use vecud_plan::UnitId;

/// The parts of one activation's response, ns: together they last from its release to its last get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResponseBreakdown {
    /// Release → the thread's first instruction after its sleep, or after the activation before.
    pub wakeup: i64,
    /// The time from the thread's first instruction to the first FMI call: what has come for it, and the gate of the
    /// preemption lock.
    pub gate: i64,
    /// Time in the model partition, without the following parts.
    pub executing: i64,
    /// Other partitions of the rig ran on that core instead.
    pub preempted: i64,
    /// Waiting for the preemption lock, whoever ran meanwhile.
    pub blocked: i64,
    /// Time in `fmi3Set…` and `fmi3Get…`, and in handing values on.
    pub set_get: i64,
}

impl ResponseBreakdown {
    /// Time from the release to the last get.
    pub fn response(&self) -> i64 {
        let parts = [self.gate, self.executing, self.preempted, self.blocked, self.set_get];
        parts.into_iter().fold(self.wakeup, i64::wrapping_add)
    }

    fn to_words(self) -> [u64; 6] {
        [self.wakeup, self.gate, self.executing, self.preempted, self.blocked, self.set_get].map(|part| part as u64)
    }

    fn from_words(words: [u64; 6]) -> ResponseBreakdown {
        let [wakeup, gate, executing, preempted, blocked, set_get] = words.map(|word| word as i64);
        ResponseBreakdown { wakeup, gate, executing, preempted, blocked, set_get }
    }
}

/// Another clock of the rig that was at work on the same core meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Other {
    /// The unit that was at work.
    pub unit: UnitId,
    /// Time between the release and the end in which its activation was under way, ns. Of one that had not ended by then, so
    /// was itself interrupted or lent its time: that before the wake-up.
    pub overlap: i64,
    /// The activation of the other task had not ended.
    pub under_way: bool,
}

/// Most others that a moment names, those with the longest overlaps.
pub const OTHERS: usize = 6;

/// An activation worth remembering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotableActivation {
    /// Activation time.
    pub time: Instant,
    /// The release of the activation, CLOCK_MONOTONIC in ns.
    pub release: i64,
    /// Parts of its time.
    pub parts: ResponseBreakdown,
    /// Part of the wake-up in which partitions of the rig that are at least as urgent had the core, ns.
    pub rig: i64,
    /// The number of waits at the gate of the preemption lock.
    pub gate_waits: u32,
    /// The activation before it had not ended at its release.
    pub follows: bool,
    /// The activation is the first one of its clock.
    pub first: bool,
    /// Thread that had the preemption lock when it waited for it last; 0: it did not wait.
    pub blocker: u32,
    /// Other tasks at work, the longest first.
    pub others: [Option<Other>; OTHERS],
    /// Number of further ones.
    pub more_others: u32,
}

/// The release; the words from there to the flags are durations: the parts of the response, and the part of the wake-up in which
/// the rig had the core.
const RELEASE: usize = 4;
const RIG: usize = 11;
const FLAGS: usize = 12;
const BLOCKER: usize = 13;
const MORE: usize = 14;
const FIRST_OTHER: usize = 15;
/// Words of a moment.
pub const WORDS: usize = FIRST_OTHER + 2 * OTHERS;

const FOLLOWS: u64 = 1 << 32;
const IS_FIRST: u64 = 1 << 33;
const UNDER_WAY: u64 = 1 << 63;

/// The place of a moment. One writer; a reader never sees a moment that is half written.
#[derive(Clone, Copy)]
pub struct MomentCells<'a> {
    words: &'a [AtomicU64],
}

impl<'a> MomentCells<'a> {
    /// The place in these [`WORDS`].
    pub fn new(words: &'a [AtomicU64]) -> MomentCells<'a> {
        MomentCells { words: &words[..WORDS] }
    }

    /// Puts a moment there.
    pub fn write(&self, moment: &NotableActivation) {
        self.words[0].store(0, SeqCst);
        let set = |word: usize, value: u64| self.words[word].store(value, Relaxed);
        moment.time.to_words().into_iter().enumerate().for_each(|(i, value)| set(1 + i, value));
        set(RELEASE, moment.release as u64);
        moment.parts.to_words().into_iter().enumerate().for_each(|(i, value)| set(5 + i, value));
        set(RIG, moment.rig as u64);
        let flag = |is: bool, flag: u64| if is { flag } else { 0 };
        set(FLAGS, u64::from(moment.gate_waits) | flag(moment.follows, FOLLOWS) | flag(moment.first, IS_FIRST));
        set(BLOCKER, u64::from(moment.blocker));
        set(MORE, u64::from(moment.more_others));
        for (i, other) in moment.others.iter().enumerate() {
            set(FIRST_OTHER + 2 * i, other.map_or(0, |other| other.unit.0 as u64 + 1));
            set(FIRST_OTHER + 2 * i + 1, other.map_or(0, |o| o.overlap as u64 | flag(o.under_way, UNDER_WAY)));
        }
        self.words[0].store(1, SeqCst);
    }

    /// Takes away a moment that none can be: its release is further than `longest` from the clock's zero (CLOCK_TAI counts from
    /// 1970), or parts of its response that long together, ns. Whether it was one that can be.
    pub fn mend(&self, longest: u64) -> bool {
        let get = |word: usize| self.words[word].load(Relaxed);
        let fits = match get(0) {
            0 => true,
            1 => {
                let within = |word: usize, most: u64| (get(word) as i64).unsigned_abs() <= most;
                within(RELEASE, longest) && (RELEASE + 1..FLAGS).all(|word| within(word, longest / FLAGS as u64))
            }
            _ => false,
        };
        if !fits {
            self.words[0].store(0, Relaxed);
        }
        fits
    }

    /// The moment that is there, if there is one. `units`: how many there are; FMU code can write anywhere, so what is read
    /// names no other ones.
    pub fn read(&self, units: usize) -> Option<NotableActivation> {
        let get = |word: usize| self.words[word].load(Relaxed);
        if self.words[0].load(SeqCst) != 1 {
            return None;
        }
        let flags = get(FLAGS);
        let other = |i: usize| {
            let unit = get(FIRST_OTHER + 2 * i).checked_sub(1).filter(|unit| *unit < units as u64)?;
            let overlap = get(FIRST_OTHER + 2 * i + 1);
            let under_way = overlap & UNDER_WAY != 0;
            Some(Other { unit: UnitId(unit as usize), overlap: (overlap & !UNDER_WAY) as i64, under_way })
        };
        Some(NotableActivation {
            time: Instant::from_words([1, 2, 3].map(get)),
            release: get(RELEASE) as i64,
            parts: ResponseBreakdown::from_words([5, 6, 7, 8, 9, 10].map(get)),
            rig: get(RIG) as i64,
            gate_waits: flags as u32,
            follows: flags & FOLLOWS != 0,
            first: flags & IS_FIRST != 0,
            blocker: get(BLOCKER) as u32,
            others: std::array::from_fn(other),
            more_others: get(MORE) as u32,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment() -> NotableActivation {
        let mut others = [None; OTHERS];
        others[0] = Some(Other { unit: UnitId(0), overlap: 77, under_way: true });
        others[1] = Some(Other { unit: UnitId(4), overlap: 5, under_way: false });
        NotableActivation {
            time: Instant::from_f64(1.25).unwrap(),
            release: 99,
            parts: ResponseBreakdown { wakeup: 1, gate: 2, executing: 3, preempted: 4, blocked: 5, set_get: 6 },
            rig: 1,
            gate_waits: 3,
            follows: true,
            first: false,
            blocker: 1234,
            others,
            more_others: 2,
        }
    }

    #[test]
    fn what_was_written_reads_back() {
        let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        let cells = MomentCells::new(&words);
        assert_eq!(cells.read(5), None);
        cells.write(&moment());
        assert_eq!(cells.read(5), Some(moment()));
        let first = NotableActivation { first: true, follows: false, ..moment() };
        cells.write(&first);
        assert_eq!(cells.read(5), Some(first));
        assert_eq!(first.parts.response(), 21);
    }

    /// CLOCK_TAI is at some 1.8e18 ns.
    #[test]
    fn a_release_may_be_half_a_century_from_the_clocks_zero_and_a_response_not() {
        let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        let cells = MomentCells::new(&words);
        let tai = NotableActivation { release: 1_800_000_000_000_000_000, ..moment() };
        cells.write(&tai);
        assert!(cells.mend(1 << 62));
        assert_eq!(cells.read(5), Some(tai));
        cells.write(&NotableActivation { parts: ResponseBreakdown { gate: tai.release, ..tai.parts }, ..tai });
        assert!(!cells.mend(1 << 62));
        assert_eq!(cells.read(5), None);
    }

    #[test]
    fn a_task_that_is_not_there_is_left_out() {
        let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        MomentCells::new(&words).write(&moment());
        let read = MomentCells::new(&words).read(4).unwrap();
        assert_eq!((read.others[0].map(|other| other.unit), read.others[1]), (Some(UnitId(0)), None));
    }
}
