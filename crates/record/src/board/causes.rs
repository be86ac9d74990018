//! The parts of a task's response times: histograms of the parts that no other histogram has, the worst activations,
//! the overruns, and the kernel's counters for its thread. In real time only.

use crate::histogram::{self, HistogramWriter};
use crate::moment::{self, MomentCells, NotableActivation};
use crate::ring::LINE;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use vecud_base::time::{Instant, Nanos};
use vecud_plan::{Mode, Plan};

/// The number of activations in a list of the worst.
pub const WORST: usize = 10;
/// The number of overruns that are kept from the beginning, and as many from the end.
pub const OVERRUNS: usize = 8;

/// A part of the response that has a histogram of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum ResponsePart {
    /// Other partitions of the rig ran on that core, between the first FMI call and the last get.
    Preempted,
    /// Waiting for the preemption lock, all of an activation together.
    Blocked,
    /// Time in `fmi3Set…` and `fmi3Get…`.
    SetGet,
    /// Time from the first instruction after a sleep to the next sleep, without FMU code, waits and other partitions.
    Host,
    /// The wake-up without the time in which partitions of the rig that are at least as urgent had the core.
    WakeupMachine,
    /// Number of the parts; keep last.
    Count,
}

/// Order of the worst activations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum WorstBy {
    /// Release → last get done.
    Response,
    /// Release → first instruction after the sleep, without the rig's part of that time.
    Wakeup,
    /// Number of the values; keep last.
    Count,
}

/// The time at which the kernel's counters for a thread are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum CounterReading {
    /// Before the first activation.
    Begin,
    /// After it, if that was at the start: later the thread makes no call but its sleeps.
    First,
    /// The thread has left its loop.
    End,
    /// Number of the values; keep last.
    Count,
}

/// The kernel's counters for a thread, from its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Page faults that needed no disk.
    pub minor_faults: u64,
    /// Page faults that did.
    pub major_faults: u64,
    /// The number of times that the thread gave its core away: it slept, or waited for a lock.
    pub voluntary: u64,
    /// The number of times that the thread's core was taken away.
    pub involuntary: u64,
}

/// An activation that was still running when the next one was due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverrunActivation {
    /// The activation that was still under way.
    pub predecessor: NotableActivation,
    /// The interval of its clock then.
    pub period: Nanos,
    /// The first release that found it running.
    pub release: Instant,
    /// Number of these releases.
    pub releases: u64,
    /// Delay of the first release when it was seen, ns.
    pub late: i64,
}

const COUNTED: usize = 5;
const OVERRAN: usize = moment::WORDS + 6;
const USAGE: usize = ResponsePart::Count as usize * histogram::WORDS;
const LISTS: usize = USAGE + CounterReading::Count as usize * COUNTED;
const ROWS: usize = LISTS + WorstBy::Count as usize * WORST * moment::WORDS;
const OVERRUN_WORDS: usize = ROWS + 1;
pub(crate) const WORDS: usize = (OVERRUN_WORDS + 2 * OVERRUNS * OVERRAN).next_multiple_of(LINE);

/// The begin of the tasks' words; `None`: there are none.
pub(super) fn region(plan: &Plan, next: &mut usize) -> Option<usize> {
    (plan.mode == Mode::RealTime).then(|| {
        let start = next.next_multiple_of(LINE);
        *next = start + plan.units.len() * WORDS;
        start
    })
}

/// The words of a task.
#[derive(Clone, Copy)]
pub struct CauseCells<'a> {
    pub(super) words: &'a [AtomicU64],
}

impl<'a> CauseCells<'a> {
    #[cfg(test)]
    pub(crate) fn new(words: &'a [AtomicU64]) -> CauseCells<'a> {
        CauseCells { words }
    }

    /// The histogram of a part.
    pub fn histogram(&self, part: ResponsePart) -> HistogramWriter<'a> {
        HistogramWriter::new(&self.words[part as usize * histogram::WORDS..])
    }

    /// A place of a list of the worst, in no order.
    pub fn worst(&self, by: WorstBy, place: usize) -> MomentCells<'a> {
        MomentCells::new(&self.words[LISTS + (by as usize * WORST + place) * moment::WORDS..])
    }

    /// Notes the kernel's counters.
    pub fn set_counted(&self, when: CounterReading, counted: Counted) {
        let at = USAGE + when as usize * COUNTED;
        let Counted { minor_faults, major_faults, voluntary, involuntary } = counted;
        for (i, value) in [minor_faults, major_faults, voluntary, involuntary].into_iter().enumerate() {
            self.words[at + 1 + i].store(value, Relaxed);
        }
        self.words[at].store(1, SeqCst);
    }

    /// The kernel's counters at that time, if they were read.
    pub fn counted(&self, when: CounterReading) -> Option<Counted> {
        let at = USAGE + when as usize * COUNTED;
        let get = |i: usize| self.words[at + i].load(Relaxed);
        (self.words[at].load(SeqCst) == 1).then(|| Counted {
            minor_faults: get(1),
            major_faults: get(2),
            voluntary: get(3),
            involuntary: get(4),
        })
    }

    /// Notes an overrun: the first ones are kept, and the last ones.
    pub fn overran(&self, overran: &OverrunActivation) {
        let number = self.words[ROWS].load(Relaxed) as usize;
        let words = self.row(if number < OVERRUNS { number } else { OVERRUNS + number % OVERRUNS });
        MomentCells::new(words).write(&overran.predecessor);
        let [a, b, c] = overran.release.to_words();
        let rest = [a, b, c, overran.period.0 as u64, overran.releases, overran.late as u64];
        words[moment::WORDS..].iter().zip(rest).for_each(|(word, value)| word.store(value, Relaxed));
        self.words[ROWS].store(number as u64 + 1, SeqCst);
    }

    /// The overruns that were kept, in their order, and how many there were.
    pub fn overruns(&self, units: usize) -> (Vec<OverrunActivation>, u64) {
        let number = self.words[ROWS].load(SeqCst);
        let last = |place: usize| OVERRUNS + place % OVERRUNS;
        let first = (0..OVERRUNS).take(number as usize);
        let late = (number as usize).saturating_sub(OVERRUNS).min(OVERRUNS);
        let places = first.chain((number as usize - late..number as usize).map(last));
        let row = |place: usize| {
            let words = self.row(place);
            let get = |i: usize| words[moment::WORDS + i].load(Relaxed);
            Some(OverrunActivation {
                predecessor: MomentCells::new(words).read(units)?,
                release: Instant::from_words([0, 1, 2].map(get)),
                period: Nanos(get(3) as i64),
                releases: get(4),
                late: get(5) as i64,
            })
        };
        (places.filter_map(row).collect(), number)
    }

    /// Takes away what cannot be: more overruns than `most`, anything longer than `longest`, ns. Whether all could be.
    pub(crate) fn mend(&self, most: u64, longest: u64) -> bool {
        let mut fits = self.words[ROWS].load(Relaxed) <= most;
        if !fits {
            self.words[ROWS].store(0, Relaxed);
        }
        let lists = self.words[LISTS..ROWS].chunks(moment::WORDS);
        let rows = self.words[OVERRUN_WORDS..OVERRUN_WORDS + 2 * OVERRUNS * OVERRAN].chunks(OVERRAN);
        for words in lists.chain(rows) {
            fits &= MomentCells::new(words).mend(longest);
        }
        fits
    }

    fn row(&self, place: usize) -> &'a [AtomicU64] {
        let start = OVERRUN_WORDS + place * OVERRAN;
        &self.words[start..start + OVERRAN]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moment::ResponseBreakdown;

    fn overran(number: u64) -> OverrunActivation {
        OverrunActivation {
            predecessor: NotableActivation {
                time: Instant::ZERO,
                release: number as i64,
                parts: ResponseBreakdown::default(),
                rig: 0,
                gate_waits: 0,
                follows: false,
                first: false,
                blocker: 0,
                others: [None; moment::OTHERS],
                more_others: 0,
            },
            period: Nanos(1_000_000),
            release: Instant::from_f64(number as f64).unwrap(),
            releases: 2,
            late: 7,
        }
    }

    #[test]
    fn the_first_and_the_last_overruns_are_kept_in_their_order() {
        let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        let cells = CauseCells { words: &words };
        let kept = || cells.overruns(1).0.iter().map(|row| row.predecessor.release).collect::<Vec<_>>();
        assert_eq!((kept(), cells.overruns(1).1), (vec![], 0));
        for number in 0..11 {
            cells.overran(&overran(number));
        }
        assert_eq!(kept(), (0..11).collect::<Vec<_>>());
        for number in 11..100 {
            cells.overran(&overran(number));
        }
        assert_eq!((kept(), cells.overruns(1).1), ((0..8).chain(92..100).collect(), 100));
        assert_eq!(cells.overruns(1).0[3], overran(3));
    }

    #[test]
    fn what_the_kernel_has_counted_is_there_when_it_was_asked() {
        let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        let cells = CauseCells { words: &words };
        let counted = Counted { minor_faults: 1, major_faults: 2, voluntary: 3, involuntary: 4 };
        cells.set_counted(CounterReading::First, counted);
        assert_eq!(CounterReading::Begin as usize, 0);
        assert_eq!(
            [CounterReading::Begin, CounterReading::First, CounterReading::End].map(|when| cells.counted(when)),
            [None, Some(counted), None]
        );
    }
}
