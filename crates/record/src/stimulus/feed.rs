//! Rows on their way to activations: rings in shared words, written ahead of time by the process that reads the file,
//! read by every partition thread that a column feeds.
//!
//! Protocol. The rows of a stimulus are one ring with one writer and any number of readers, which take nothing out. Each row
//! has for every column the newest value up to its time, so that a reader needs one row (or two neighbours, for a line). The
//! writer may overwrite a row once the row after it has a time at or before the *floor*: the time before which no activation
//! happens any more, which the runner tells. So the row that an activation needs stays while it runs. A reader searches by
//! time while the writer may overwrite some of the rows; it believes its result if the first valid row is still the same
//! afterwards, and else searches again (only a writer that has advanced causes this, and the writer overwrites in large
//! portions).
//!
//! Ticks are [items](crate::items), in a ring for each clock, with one writer and one reader, which takes them out. A step ends where
//! a clock ticks between steps, so ticks of such a clock must be known a step ahead, however many rows that is: a thread that reads
//! the file for them alone puts them there, apart from the rows, and words before their ring tell how far it is.
//!
//! *Until* is the time up to which everything has been put there: it is stored after the rows and ticks that it covers, so
//! a reader that loads it first sees them.
//!
//! Memory ordering: rows are published by the release store of `WRITTEN`. The writer stores `FIRST`, and after a release
//! fence overwrites; the reader reads, and after an acquire fence loads `FIRST`: whoever has read something new sees that
//! the row is not valid any more. No allocation, no lock, no system call on either side.

use super::rows::StimulusRow;
use crate::items;
use crate::ring::{Ring, RingPlace};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU64, fence};
use vecud_base::time::{Instant, StepGrid};
use vecud_plan::{StimulusPlan, UnitId};

const FIRST: usize = 0;
const WRITTEN: usize = 1;
const UNTIL: usize = 2;
const STATE: usize = 3;
const FLOOR: usize = 4;
/// Rows read, those before the start included.
const READ: usize = 5;
const STARVED: usize = 6;
/// 1 + index of the task that starved first; claimed by compare-and-swap.
const STARVED_TASK: usize = 7;
/// The place of the first starved activation's time, three words.
const STARVED_TIME: usize = 8;
/// The run has come to where the file breaks off.
const BROKE: usize = 11;
const HEADER: usize = 12;

/// Words before a ring of ticks: whether its reader has left, so that nobody takes them any more; of clocks between steps also up to
/// when they are there, and the state.
const TICKS_HEADER: usize = 3;

/// The capacities of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Words of values in a row.
    values: usize,
    /// Rings of ticks that come with the rows; the others follow.
    ticks: usize,
    /// Rings of ticks of clocks between steps.
    between_steps: usize,
    rows: usize,
}

impl Shape {
    /// The shape of a stimulus.
    pub fn of(plan: &StimulusPlan) -> Shape {
        let between_steps = plan.ticks.iter().filter(|tick| tick.target.clock.is_some()).count();
        let ticks = plan.ticks.len() - between_steps;
        Shape { values: plan.words(), ticks, between_steps, rows: plan.rows }
    }

    /// Words that a feed takes.
    pub fn words(self) -> usize {
        HEADER + self.values + self.rows * (1 + self.values) + self.rings() * self.ticks_place().1
    }

    /// The ring of a clock's ticks, among its words, and how many these are.
    fn ticks_place(self) -> (RingPlace, usize) {
        let mut end = TICKS_HEADER;
        (RingPlace::after(&mut end, (1 + items::HEADER) * self.rows, items::HEADER), end)
    }

    fn rings(self) -> usize {
        self.ticks + self.between_steps
    }
}

/// Progress of reading a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedState {
    /// More rows may follow.
    Reading,
    /// All rows are in the ring.
    Ended,
    /// Rows after [`Feed::until`] cannot be read.
    Broken,
}

impl FeedState {
    fn from_word(word: u64) -> FeedState {
        match word {
            0 => FeedState::Reading,
            1 => FeedState::Ended,
            _ => FeedState::Broken,
        }
    }

    fn when_finished(broken: bool) -> FeedState {
        if broken { FeedState::Broken } else { FeedState::Ended }
    }
}

/// The first activation that found that its row was not there yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Starved {
    /// Number of values.
    pub count: u64,
    /// The task that starved first.
    pub unit: UnitId,
    /// The activation time at which a task starved first.
    pub time: Instant,
}

/// The rings of a stimulus.
#[derive(Clone, Copy)]
pub struct Feed<'a> {
    words: &'a [AtomicU64],
    shape: Shape,
}

impl<'a> Feed<'a> {
    /// The feed in these words.
    ///
    /// # Panics
    /// If there are too few words.
    pub fn new(words: &'a [AtomicU64], shape: Shape) -> Feed<'a> {
        assert!(words.len() >= shape.words(), "a feed needs room for its rows");
        Feed { words, shape }
    }

    fn float(&self, word: usize) -> f64 {
        f64::from_bits(self.words[word].load(Acquire))
    }

    /// The words of a row: its time, then its values.
    fn row(&self, row: u64) -> &'a [AtomicU64] {
        let width = 1 + self.shape.values;
        let start = HEADER + self.shape.values + (row % self.shape.rows as u64) as usize * width;
        &self.words[start..start + width]
    }

    /// Header of a clock's ticks, and their ring.
    fn ticks(&self, tick: usize) -> (&'a [AtomicU64; TICKS_HEADER], Ring<'a>) {
        let (place, width) = self.shape.ticks_place();
        let start = HEADER + self.shape.values + self.shape.rows * (1 + self.shape.values) + tick * width;
        let words = &self.words[start..start + width];
        (words.first_chunk().expect("its header"), place.ring(words))
    }
}

/// The writer's side.
impl Feed<'_> {
    /// Before the first row of a run that starts at `begin`; nobody reads yet.
    pub fn reset(&self, begin: f64) {
        self.words[..HEADER].iter().for_each(|word| word.store(0, Relaxed));
        (0..self.shape.values).for_each(|value| self.words[HEADER + value].store(f64::INFINITY.to_bits(), Relaxed));
        for tick in 0..self.shape.rings() {
            let ([left, until, state], ring) = self.ticks(tick);
            [left, state].into_iter().for_each(|word| word.store(0, Relaxed));
            until.store(f64::NEG_INFINITY.to_bits(), Relaxed);
            ring.take().for_each(drop);
        }
        self.words[UNTIL].store(f64::NEG_INFINITY.to_bits(), Relaxed);
        self.words[FLOOR].store(begin.to_bits(), SeqCst);
    }

    /// Whether there is room for a row.
    pub fn has_room(&self) -> bool {
        let written = self.words[WRITTEN].load(Relaxed);
        (0..self.shape.ticks).all(|tick| self.has_room_for_tick(tick))
            && written.wrapping_sub(self.reclaim(written)) < self.shape.rows as u64
    }

    /// Whether there is room for a tick.
    pub fn has_room_for_tick(&self, tick: usize) -> bool {
        let ([left, ..], ring) = self.ticks(tick);
        left.load(Acquire) == 1 || ring.has_room(items::HEADER)
    }

    fn push_tick(&self, tick: usize, time: Option<Instant>) {
        if time.is_some() {
            // Without room, nobody takes them any more.
            self.ticks(tick).1.push(&items::header(tick as u64, time));
        }
    }

    /// Whether the ticks of a clock between steps are known for this time, in s, from now on, or there is no room for more.
    pub fn is_ahead(&self, tick: usize, time: f64) -> bool {
        self.ticks_known(tick).1 > self.float(FLOOR) + time || !self.has_room_for_tick(tick)
    }

    /// Takes the tick of a row for a clock between steps, for which there is room, if it counts as in [`Feed::push`]. A time that is that
    /// of a step of `grids` but for rounding counts as that.
    pub fn push_between_steps(&self, tick: usize, row: &StimulusRow, grids: &[StepGrid], begin: f64, stop: f64) {
        if row.ticks[tick] && row.time >= begin && row.time < stop {
            self.push_tick(tick, StepGrid::point(grids, row.time));
        }
        self.ticks(tick).0[1].store(row.known_until().to_bits(), SeqCst);
    }

    /// [`Feed::finish`] for the reader of a clock between steps.
    pub fn finish_between_steps(&self, tick: usize, broken: bool) {
        self.ticks(tick).0[2].store(FeedState::when_finished(broken) as u64, SeqCst);
    }

    /// Gives up rows that nobody wants any more, if it has to; the first that is still valid.
    fn reclaim(&self, written: u64) -> u64 {
        let first = self.words[FIRST].load(Relaxed);
        // FMU code can write anywhere: more rows than there is room for are no rows.
        if written.wrapping_sub(first) != self.shape.rows as u64 {
            return first;
        }
        let floor = self.float(FLOOR);
        let passed = |row: &u64| f64::from_bits(self.row(row.wrapping_add(1))[0].load(Relaxed)) <= floor;
        let rows = (0..self.shape.rows as u64 - 1).map(|row| first.wrapping_add(row));
        let given_up = rows.take_while(passed).count() as u64;
        if given_up > 0 {
            self.words[FIRST].store(first.wrapping_add(given_up), Relaxed);
            fence(Release);
        }
        first.wrapping_add(given_up)
    }

    /// Appends a row, for which there is room. `carried` has of each word of values the newest one, this row's included, where
    /// there has been one. Ticks count when they are in [`begin`, `stop`).
    pub fn push(&self, row: &StimulusRow, carried: &[Option<u64>], begin: f64, stop: f64) {
        let written = self.words[WRITTEN].load(Relaxed);
        let slot = self.row(written);
        slot[0].store(row.time.to_bits(), Relaxed);
        for (value, word) in carried.iter().enumerate() {
            let Some(word) = word else { continue };
            slot[1 + value].store(*word, Relaxed);
            let known = &self.words[HEADER + value];
            if f64::from_bits(known.load(Relaxed)) == f64::INFINITY {
                known.store(row.time.to_bits(), Relaxed);
            }
        }
        self.words[WRITTEN].store(written.wrapping_add(1), Release);
        let counts = row.time >= begin && row.time < stop;
        for tick in (0..self.shape.ticks).filter(|tick| counts && row.ticks[*tick]) {
            self.push_tick(tick, Instant::from_f64(row.time));
        }
        self.words[READ].store(self.words[READ].load(Relaxed).wrapping_add(1), Relaxed);
        self.words[UNTIL].store(row.known_until().to_bits(), SeqCst);
    }

    /// There are no more rows, or none that can be read.
    pub fn finish(&self, broken: bool) {
        self.words[STATE].store(FeedState::when_finished(broken) as u64, SeqCst);
        if !broken {
            self.words[UNTIL].store(f64::INFINITY.to_bits(), SeqCst);
        }
    }

    /// Rows that were read so far.
    pub fn rows_read(&self) -> u64 {
        self.words[READ].load(Relaxed)
    }

    /// Activations that found that their rows were not there yet.
    pub fn starved(&self) -> Option<Starved> {
        let word = |word: usize| self.words[word].load(SeqCst);
        let unit = UnitId(word(STARVED_TASK).checked_sub(1)? as usize);
        let time = Instant::from_words([word(STARVED_TIME), word(STARVED_TIME + 1), word(STARVED_TIME + 2)]);
        Some(Starved { count: word(STARVED), unit, time })
    }

    /// Whether the run has come to where the file cannot be read any more.
    pub fn has_broken(&self) -> bool {
        self.words[BROKE].load(SeqCst) == 1
    }
}

/// The side that reports the result.
impl Feed<'_> {
    /// Sets impossible words to zero, for this number of tasks, and at most `most` rows and starved activations. Returns
    /// whether all were possible.
    pub fn mend(&self, tasks: usize, most: u64) -> bool {
        let ranges = [(READ, most), (STARVED, most), (STARVED_TASK, tasks as u64), (BROKE, 1), (STATE, 2)];
        let mut fits = true;
        for (place, most) in ranges {
            if self.words[place].load(Relaxed) > most {
                self.words[place].store(0, Relaxed);
                fits = false;
            }
        }
        fits
    }
}

/// The runner's side.
impl Feed<'_> {
    /// Time up to which all rows are there, s.
    pub fn until(&self) -> f64 {
        f64::from_bits(self.words[UNTIL].load(SeqCst))
    }

    /// Progress of reading the file.
    pub fn state(&self) -> FeedState {
        FeedState::from_word(self.words[STATE].load(SeqCst))
    }

    /// For a clock between steps: progress of the reading, and the time up to which its ticks are there, s.
    pub fn ticks_known(&self, tick: usize) -> (FeedState, f64) {
        let ([_, until, state], _) = self.ticks(tick);
        match FeedState::from_word(state.load(SeqCst)) {
            FeedState::Ended => (FeedState::Ended, f64::INFINITY),
            state => (state, f64::from_bits(until.load(SeqCst))),
        }
    }

    /// No activation before this time happens any more.
    pub fn set_floor(&self, time: f64) {
        self.words[FLOOR].store(time.to_bits(), Release);
    }

    /// The run has come to where the file cannot be read.
    pub fn set_broken(&self) {
        self.words[BROKE].store(1, SeqCst);
    }

    /// An activation of `task` at `time` has found that its row was not there yet.
    pub fn starve(&self, unit: UnitId, time: Instant) {
        self.words[STARVED].fetch_add(1, Relaxed);
        if self.words[STARVED_TASK].compare_exchange(0, unit.0 as u64 + 1, AcqRel, Relaxed).is_ok() {
            let places = &self.words[STARVED_TIME..STARVED_TIME + 3];
            places.iter().zip(time.to_words()).for_each(|(place, word)| place.store(word, SeqCst));
        }
    }

    /// The newest row with a time at or before `time`, given that row `from` (the one found for an earlier time) is one; and
    /// whether the row is the one that is wanted, and not merely the oldest that is left. `None`: all rows are later.
    pub(super) fn newest(&self, time: f64, from: u64) -> Option<(u64, bool)> {
        loop {
            let first = self.words[FIRST].load(Acquire);
            let written = self.words[WRITTEN].load(Acquire);
            let due = |row: u64| row < written && self.time(row) <= time;
            let (mut low, mut high) = (first.max(from), written);
            // Mostly it is the same row as before, or the next.
            if due(low) && !due(low.wrapping_add(1)) {
                high = low.wrapping_add(1);
            }
            let begin = low;
            while low < high {
                let middle = low + (high - low) / 2;
                (low, high) = if due(middle) { (middle + 1, high) } else { (low, middle) };
            }
            fence(Acquire);
            if self.words[FIRST].load(Relaxed) == first {
                return match low == begin {
                    true if first == 0 => None,
                    true => Some((begin, false)),
                    false => Some((low - 1, true)),
                };
            }
        }
    }

    /// Time of a row.
    pub(super) fn time(&self, row: u64) -> f64 {
        f64::from_bits(self.row(row)[0].load(Relaxed))
    }

    /// A word of values as it is newest at the time of a row.
    pub(super) fn value(&self, row: u64, value: usize) -> u64 {
        self.row(row)[1 + value].load(Relaxed)
    }

    /// Whether there is such a row.
    pub(super) fn has(&self, row: u64) -> bool {
        row < self.words[WRITTEN].load(Acquire)
    }

    /// Whether there is room for no further row as long as the next event is at this time, s: the row that follows is unknown.
    pub fn is_full_at(&self, time: f64) -> bool {
        let first = self.words[FIRST].load(Acquire);
        let written = self.words[WRITTEN].load(Acquire).wrapping_sub(first);
        written >= self.shape.rows as u64 && self.time(first.wrapping_add(1)) > time
    }

    /// The time of the first row that has this word of values; infinite while there was none.
    pub(super) fn known_from(&self, value: usize) -> f64 {
        f64::from_bits(self.words[HEADER + value].load(Relaxed))
    }

    /// Takes the next tick out.
    pub fn take_tick(&self, tick: usize) -> Option<Instant> {
        items::take(self.ticks(tick).1, |tick| tick.time())
    }

    /// Nobody takes ticks of this clock any more: they are not to hold up the others.
    pub fn leave_ticks(&self, tick: usize) {
        self.ticks(tick).0[0].store(1, Release);
    }
}

#[cfg(test)]
#[path = "feed_tests.rs"]
mod tests;
