//! The versions of a value that a delayed connection keeps, each with the instant from which on it is visible (semantics S11).
//!
//! Guarantees:
//! * a reader at `t` gets, of each producer, the version of its latest activation among those visible at `t` (v ≤ t), and
//!   of several producers the one that became visible last; never the newest as such, however late it looks;
//! * it gets a version that was written whole, or none: never a mixture;
//! * the writer never waits; a reader repeats only when the writer has reused the slot that it was copying, so a reader of
//!   higher priority on the writer's core never repeats;
//! * a version that a reader should have had is reported: [`Read::Lost`] when it was overwritten already, and
//!   [`Versions::missed_before`] when it was not finished yet.
//!
//! Each producing task has a *lane* of its own, so that a lane has one writer at a time. A lane is a ring of *positions*,
//! numbered from 1, in which v strictly increases. A new version takes the position of the one before it when no reader can want
//! that any more: when it is visible as early, or when no consumer is released in between. The version goes into a spare slot
//! first, then the position is pointed at it and the slot that is free now becomes the spare; so a position always points at a
//! whole version.
//!
//! Memory ordering: a slot's header is a sequence lock as in `latest`: its serial number is taken away (0) before the words
//! change (release fence) and put there when they are complete; a reader looks at it before and after its copy (acquire fence).
//! Positions and the number of the newest one are sequentially consistent, so that a reader finds everything that it missed at
//! one look at the next one.
//!
//! All memory is taken by [`Versions::new`]; only the functions for a saved state allocate, too.

use super::latest::{NewWords, Words};
use std::sync::atomic::{AtomicU64, Ordering, fence};
use vecud_base::time::{Fraction, Instant};
use vecud_plan::schedule::first_from;

/// Serial number, position, visible from, activation time.
const HEADER: usize = 8;

/// Bits of a position's word that are the number of a slot; the others are the serial number of its version.
const SLOT_BITS: u32 = 16;

/// Releases that are gone through before the one that is looked for is computed.
const NEXT: usize = 4;

/// The largest number of positions of a lane.
pub const POSITIONS: usize = (1 << SLOT_BITS) - 1;

/// When a version is visible, and which activation computed it. Ordered as versions of several producers replace one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    /// Activations from this instant on see it.
    pub visible: Instant,
    /// The activation time of the one that has computed it.
    pub activation: Instant,
}

/// The shape of a lane.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneShape {
    /// Positions that it keeps, 1 to [`POSITIONS`].
    pub positions: usize,
    /// The grids of all consumers (origin and interval), if they are constant: versions that none of their instants selects
    /// are not kept. Empty: every version is.
    pub releases: Vec<(Instant, Fraction)>,
}

/// The result of a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// Nothing is visible yet.
    Nothing,
    /// The version that this reader has already.
    Same,
    /// Another one, which was handed over.
    New,
    /// The one that it should have had is no longer there, since the reader came too late: the oldest one that is there was
    /// handed over.
    Lost,
}

/// A version that was not finished when a reader looked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missed {
    /// From when on it should have been visible.
    pub visible: Instant,
    /// The lane that the version is in.
    pub lane: usize,
}

/// The memory of a reader from one look to the next.
#[derive(Clone, Debug)]
pub struct Reader {
    number: usize,
    time: Option<Instant>,
    /// Lane and serial number of the version that the reader holds.
    taken: Option<(usize, u64)>,
    /// From when on that version is visible.
    visible: Option<Instant>,
    /// Per lane: the newest position at the last look, and the serial number there.
    seen: Box<[(u64, u64)]>,
    /// Time and positions of the look before the last one.
    before: (Option<Instant>, Box<[(u64, u64)]>),
}

impl Reader {
    /// From when on the version is visible that was handed over last.
    pub fn visible(&self) -> Option<Instant> {
        self.visible
    }
}

/// A kept version, for a saved state: when it is visible, when it was computed, and its words.
pub type Kept = ((Instant, Instant), Vec<u64>);

/// The versions of one connection.
#[derive(Debug)]
pub struct Versions {
    lanes: Box<[Lane]>,
    #[cfg(any(test, debug_assertions))]
    wrong: Option<super::wrong::Wrong>,
}

/// The versions of one producer.
#[derive(Debug)]
struct Lane {
    /// Number of the newest position; 0: nothing was written yet.
    head: AtomicU64,
    /// By position modulo their number: serial number and slot.
    positions: Box<[AtomicU64]>,
    slots: Box<[AtomicU64]>,
    width: usize,
    keeps: Box<[Release]>,
    watches: Box<[Watch]>,
    // The writer's own.
    serial: AtomicU64,
    spare: AtomicU64,
    visible: Time,
}

/// A consumer's grid, and its first instant that is not before the newest version becomes visible.
#[derive(Debug)]
struct Release {
    origin: Instant,
    interval: Fraction,
    due: Time,
}

impl Release {
    /// The first instant from `visible` on, which is later than the last answer: mostly the next one or the one after it.
    #[inline]
    fn first_from(&self, visible: Instant) -> Instant {
        let mut due = self.due.get();
        for _ in 0..NEXT {
            if !due.shares_denominator(self.interval) {
                break;
            }
            due = due.after(self.interval);
            if due >= visible {
                return due;
            }
        }
        first_from(self.origin, self.interval, visible)
    }
}

/// Reports the overwriting of a position to a reader, which may be away for any length of time.
#[derive(Debug, Default)]
struct Watch {
    /// Written by the reader: the position after the newest one that it has seen.
    next: AtomicU64,
    /// Written by the writer: that position, when it was overwritten, and from when on it was visible.
    gone: AtomicU64,
    visible: Time,
}

/// An instant that one thread writes, and that others read after an atomic store has announced it.
#[derive(Debug, Default)]
struct Time([AtomicU64; 3]);

impl Time {
    fn set(&self, time: Instant) {
        self.0.iter().zip(time.to_words()).for_each(|(place, word)| place.store(word, Ordering::Relaxed));
    }

    fn get(&self) -> Instant {
        Instant::from_words([0, 1, 2].map(|i| self.0[i].load(Ordering::Relaxed)))
    }
}

/// A version in its slot.
#[derive(Clone, Copy)]
struct Found {
    stamp: Stamp,
    serial: u64,
    slot: usize,
    /// The version that was looked for is there no more; this is the oldest one.
    instead: bool,
}

/// The result of a look at a position.
enum Look {
    Is(Found),
    /// Something newer.
    Gone,
}

impl Lane {
    fn new(width: usize, shape: &LaneShape, readers: usize) -> Lane {
        let count = shape.positions.clamp(1, POSITIONS);
        let release = |&(origin, interval): &(Instant, Fraction)| {
            let due = Time::default();
            due.set(origin);
            Release { origin, interval, due }
        };
        Lane {
            head: AtomicU64::new(0),
            positions: (0..count as u64).map(AtomicU64::new).collect(),
            slots: (0..(count + 1) * (HEADER + width)).map(|_| AtomicU64::new(0)).collect(),
            width,
            keeps: shape.releases.iter().map(release).collect(),
            watches: (0..readers).map(|_| Watch::default()).collect(),
            serial: AtomicU64::new(0),
            spare: AtomicU64::new(count as u64),
            visible: Time::default(),
        }
    }

    fn slot(&self, slot: usize) -> (&[AtomicU64], &[AtomicU64]) {
        let start = slot * (HEADER + self.width);
        self.slots[start..start + HEADER + self.width].split_at(HEADER)
    }

    fn place(&self, position: u64) -> &AtomicU64 {
        &self.positions[(position % self.positions.len() as u64) as usize]
    }

    /// Whether no reader can want the newest version any more once there is one that is visible from `visible` on.
    fn supersedes(&self, visible: Instant) -> bool {
        let mut nobody = !self.keeps.is_empty();
        for release in &self.keeps {
            if release.due.get() < visible {
                nobody = false;
                release.due.set(release.first_from(visible));
            }
        }
        nobody || visible <= self.visible.get()
    }

    fn write(&self, stamp: Stamp, keep: bool, fill: impl FnOnce(NewWords)) {
        let head = self.head.load(Ordering::Relaxed);
        // Always asked: it follows the releases.
        let supersedes = self.supersedes(stamp.visible) && !keep;
        let position = if head > 0 && supersedes { head } else { head + 1 };
        let serial = self.serial.load(Ordering::Relaxed) + 1;
        let spare = self.spare.load(Ordering::Relaxed);
        let (header, words) = self.slot(spare as usize);
        header[0].store(0, Ordering::Relaxed);
        fence(Ordering::Release);
        let ([a, b, c], [d, e, f]) = (stamp.visible.to_words(), stamp.activation.to_words());
        for (place, word) in header[1..].iter().zip([position, a, b, c, d, e, f]) {
            place.store(word, Ordering::Relaxed);
        }
        fill(NewWords(words));
        header[0].store(serial, Ordering::Release);
        let place = self.place(position);
        let free = place.load(Ordering::Relaxed) & POSITIONS as u64;
        if position > head {
            self.tell(free as usize, position.saturating_sub(self.positions.len() as u64));
        }
        place.store(serial << SLOT_BITS | spare, Ordering::SeqCst);
        self.serial.store(serial, Ordering::Relaxed);
        self.spare.store(free, Ordering::Relaxed);
        self.visible.set(stamp.visible);
        self.head.store(position, Ordering::SeqCst);
    }

    /// Announces to the readers that a position is about to be overwritten; this slot holds its version.
    fn tell(&self, slot: usize, position: u64) {
        for watch in self.watches.iter().filter(|watch| watch.next.load(Ordering::Relaxed) == position && position > 0)
        {
            let (header, _) = self.slot(slot);
            watch.visible.set(Instant::from_words([2, 3, 4].map(|i| header[i].load(Ordering::Relaxed))));
            watch.gone.store(position, Ordering::Release);
        }
    }

    fn look(&self, position: u64) -> Look {
        loop {
            let word = self.place(position).load(Ordering::SeqCst);
            let (serial, slot) = (word >> SLOT_BITS, (word & POSITIONS as u64) as usize);
            let (header, _) = self.slot(slot);
            if header[0].load(Ordering::Acquire) == serial {
                let [at, a, b, c, d, e, f] = [1, 2, 3, 4, 5, 6, 7].map(|i| header[i].load(Ordering::Relaxed));
                fence(Ordering::Acquire);
                if header[0].load(Ordering::Relaxed) == serial {
                    let (visible, activation) = (Instant::from_words([a, b, c]), Instant::from_words([d, e, f]));
                    let stamp = Stamp { visible, activation };
                    return if at == position {
                        Look::Is(Found { stamp, serial, slot, instead: false })
                    } else {
                        Look::Gone
                    };
                }
            }
            std::hint::spin_loop();
        }
    }

    /// Finds the version of the latest activation among those visible at `time`; if that is overwritten, the oldest one. Sets
    /// `seen` to the newest position and the serial number there.
    fn find(&self, time: Instant, seen: &mut (u64, u64)) -> Option<Found> {
        'again: loop {
            let head = self.head.load(Ordering::SeqCst);
            let oldest = head.saturating_sub(self.positions.len() as u64);
            let mut last = None;
            *seen = (head, 0);
            for position in (oldest + 1..=head).rev() {
                // Overtaken by all positions meanwhile.
                let Look::Is(found) = self.look(position) else { continue 'again };
                if position == head {
                    seen.1 = found.serial;
                }
                if found.stamp.visible <= time {
                    return Some(found);
                }
                last = Some(found);
            }
            return last.filter(|_| oldest > 0).map(|found| Found { instead: true, ..found });
        }
    }

    /// Looks for a version that was written since a look that has `seen` this, and that should have been visible at `time`.
    /// Returns when the first of them became visible.
    fn missed(&self, time: Instant, seen: (u64, u64), reader: usize) -> Option<Instant> {
        let (position, serial) = seen;
        let late = |position: u64, serial: u64| match self.look(position) {
            Look::Is(found) => Some(found.stamp.visible).filter(|v| found.serial > serial && *v <= time),
            Look::Gone => {
                let watch = self.watches.get(reader)?;
                let told = watch.gone.load(Ordering::Acquire) == position;
                told.then(|| watch.visible.get()).filter(|visible| *visible <= time)
            }
        };
        let head = self.head.load(Ordering::SeqCst);
        let again = if position > 0 { late(position, serial) } else { None };
        // In the positions v increases: if the next one is not visible at that time, no later one is.
        again.or_else(|| if head > position { late(position + 1, serial) } else { None })
    }
}

impl Versions {
    /// Takes the memory for versions of `words` words, with one lane for each producer, for `readers` readers; there is no
    /// version yet.
    pub fn new(words: usize, lanes: &[LaneShape], readers: usize) -> Versions {
        Versions {
            lanes: lanes.iter().map(|shape| Lane::new(words, shape, readers)).collect(),
            #[cfg(any(test, debug_assertions))]
            wrong: super::wrong::Wrong::asked(),
        }
    }

    /// The reader with this number, below that of [`Versions::new`], which has not looked yet. There is one at a time.
    pub fn reader(&self, number: usize) -> Reader {
        let seen = || self.lanes.iter().map(|_| (0, 0)).collect();
        Reader { number, time: None, taken: None, visible: None, seen: seen(), before: (None, seen()) }
    }

    /// Publishes a version of a producer, whose activation times increase; `fill` writes its words. Words that it leaves out are
    /// undefined.
    pub fn write_with(&self, lane: usize, stamp: Stamp, fill: impl FnOnce(NewWords)) {
        #[cfg(any(test, debug_assertions))]
        let keep = self.wrong.is_some();
        #[cfg(not(any(test, debug_assertions)))]
        let keep = false;
        self.lanes[lane].write(stamp, keep, fill);
    }

    /// Reads the version that is visible at `time`, which increases from look to look of a reader. `take` copies the words; it
    /// may be called again, and must then copy everything again: only its last copy is right.
    pub fn read_with(&self, time: Instant, reader: &mut Reader, mut take: impl FnMut(Words)) -> Read {
        std::mem::swap(&mut reader.seen, &mut reader.before.1);
        reader.before.0 = reader.time.replace(time);
        loop {
            let mut best: Option<(usize, Found)> = None;
            let mut lost = false;
            for (index, lane) in self.lanes.iter().enumerate() {
                let found = self.find(lane, time, &mut reader.seen[index]);
                if let Some(watch) = lane.watches.get(reader.number) {
                    watch.next.store(reader.seen[index].0 + 1, Ordering::Relaxed);
                }
                let Some(found) = found else { continue };
                lost |= found.instead;
                if best.is_none_or(|(_, best)| found.stamp >= best.stamp) {
                    best = Some((index, found));
                }
            }
            let Some((index, found)) = best else { return Read::Nothing };
            if reader.taken == Some((index, found.serial)) && !lost {
                return Read::Same;
            }
            reader.taken = None;
            let (header, words) = self.lanes[index].slot(found.slot);
            take(Words(words));
            fence(Ordering::Acquire);
            if header[0].load(Ordering::Relaxed) == found.serial {
                reader.taken = Some((index, found.serial));
                reader.visible = Some(found.stamp.visible);
                return if lost { Read::Lost } else { Read::New };
            }
            std::hint::spin_loop();
        }
    }

    fn find(&self, lane: &Lane, time: Instant, seen: &mut (u64, u64)) -> Option<Found> {
        #[cfg(any(test, debug_assertions))]
        if let Some(back) = self.wrong.map(super::wrong::Wrong::back) {
            let head = lane.head.load(Ordering::SeqCst);
            let _right = lane.find(time, seen);
            let position = head.checked_sub(back).filter(|position| *position > 0)?;
            return match lane.look(position) {
                Look::Is(found) => Some(found),
                Look::Gone => None,
            };
        }
        lane.find(time, seen)
    }

    /// The earliest version that this reader should have seen at its look before the last one, and that was finished only after
    /// it. To be called after each look, so that nothing can come between the two. A version that the last look lacks as well is
    /// reported after the next one at the latest.
    pub fn missed_before(&self, reader: &Reader) -> Option<Missed> {
        self.missed_at(reader.before.0?, &reader.before.1, reader)
    }

    /// The earliest version that this reader should have seen at its last look, and that was not finished. To be called when all
    /// producers are done.
    pub fn missed(&self, reader: &Reader) -> Option<Missed> {
        self.missed_at(reader.time?, &reader.seen, reader)
    }

    fn missed_at(&self, time: Instant, seen: &[(u64, u64)], reader: &Reader) -> Option<Missed> {
        let lanes = self.lanes.iter().enumerate();
        let missed = lanes.filter_map(|(lane, versions)| {
            Some(Missed { visible: versions.missed(time, seen[lane], reader.number)?, lane })
        });
        missed.min_by_key(|missed| missed.visible)
    }

    /// All stored versions, by lane, oldest first. Allocates; no producer may write meanwhile.
    pub fn kept(&self) -> Vec<Vec<Kept>> {
        let of = |lane: &Lane| {
            let head = lane.head.load(Ordering::SeqCst);
            let positions = head.saturating_sub(lane.positions.len() as u64) + 1..=head;
            let kept = positions.filter_map(|position| match lane.look(position) {
                Look::Is(found) => {
                    let words = lane.slot(found.slot).1.iter().map(|word| word.load(Ordering::Relaxed));
                    Some(((found.stamp.visible, found.stamp.activation), words.collect()))
                }
                Look::Gone => None,
            });
            kept.collect()
        };
        self.lanes.iter().map(of).collect()
    }

    /// Restores the versions of [`Versions::kept`] into empty lanes; versions of another shape are left out.
    pub fn put_back(&self, kept: &[Vec<Kept>]) {
        for (lane, versions) in kept.iter().enumerate().take(self.lanes.len()) {
            for ((visible, activation), words) in versions {
                self.write_with(lane, Stamp { visible: *visible, activation: *activation }, |room| {
                    (0..room.len()).for_each(|i| room.set(i, words.get(i).copied().unwrap_or(0)));
                });
            }
        }
    }
}

#[cfg(test)]
#[path = "versions_tests.rs"]
mod tests;
