//! Offences of an FMU against the standard that do not stop it: their number, and the first occurrence of each.
//!
//! Any thread notes a finding, real-time ones included: one atomic addition, and a few stores the first time. The first
//! occurrence is complete as soon as [`FindingCells::first`] gives it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use vecud_base::time::Instant;
use vecud_description::ValueReference;
use vecud_plan::UnitId;

/// Kinds of findings. Each is counted for each instance by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(usize)]
pub enum FindingKind {
    /// An interval that no clock can have: NaN, negative, infinite, 0 where a period is wanted. Value: its bits as `f64`.
    IllegalInterval,
    /// A time of a tick (`intermediateUpdateTime`) that is no number, or before every activation under way. Value: its bits
    /// as `f64`.
    IllegalTickTime,
    /// An invalid interval qualifier. Value: the qualifier.
    IllegalQualifier,
    /// A clock update from inside `fmi3GetClock` or `fmi3GetInterval*`.
    NestedUpdate,
    /// A clock update on a thread that is not inside of a call to the instance. Value: the kernel's id of the thread.
    ForeignThread,
    /// `lockPreemption` or `unlockPreemption` on a thread that is not ours. Value: the kernel's id of the thread.
    ForeignLock,
    /// A clock update before Clock Activation Mode, or after `fmi3Terminate`.
    OutsideClockActivation,
    /// A partition returned with the preemption lock held.
    LockLeaked,
    /// `unlockPreemption` without a lock.
    LockUnbalanced,
    /// A string or binary longer than its `maxSize`, or than the room that the rig gives it. Value: its length, bytes.
    OversizedValue,
    /// An activation executed for longer than its clock's period. Value: execution time, ns.
    OutlastsPeriod,
    /// A partition ticked an output clock and returned without a clock update: the tick was only read in the update of
    /// another partition. Value: 0.
    TickReadLate,
    /// Log messages faster than they could be kept.
    LogFlood,
    /// A tick that would have closed a cycle of triggers at one instant.
    CutCycle,
    /// An instance asked for the end of the run (`terminateSimulation`). Value: 0.
    AskedForEnd,
    /// A step did not end at its communication point. Value: the time that the FMU reports, its bits as `f64`.
    OffThePoint,
    /// A read variable is NaN. Value: the number of the element, from 1 on.
    NotANumber,
    /// A read Boolean is neither 0 nor 1. Value: C's value (`i64`).
    NotABoolean,
    /// A nominal value of a continuous state that is not above 0. Value: its bits as `f64`.
    IllegalNominal,
    /// An intermediate update on a thread that makes no step of the instance. Value: the kernel's id of the thread.
    UpdateOutsideStep,
    /// More events in a step than its limit. Value: the limit.
    TooManyEvents,
    /// A step ended early although the FMU had accepted a longer one. Value: the time that it reached, s, its bits as `f64`.
    ShorterThanAccepted,
    /// The FMU announced a time event in the past. Value: its time, s, its bits as `f64`.
    PastEvent,
    /// Too many time events in a row were told for the time of the event at which they were told, but for rounding. Value: the number of
    /// events that were handled each at its time.
    CreepingTime,
    /// The FMU was asked for its state, said that all is well, and gave none.
    NoState,
    /// Threads that the FMU's code has made could run on the core of its partition alone, got no time there, and were moved.
    /// Value: their number.
    StarvedThreads,
    /// The FMU changed the locale of the process, by which numbers in texts are read and written; it was restored. Value: [`When`].
    ChangedLocale,
    /// The FMU changed the working directory; it was restored. Value: [`When`].
    ChangedDirectory,
    /// The FMU changed the mask of file modes (umask); it was restored. Value: [`When`].
    ChangedUmask,
    /// The FMU changed the signal mask of the thread that calls FMUs; it was restored. Value: [`When`].
    ChangedSignalMask,
    /// The FMU changed the environment; it was restored. Value: [`When`].
    ChangedEnvironment,
    /// Number of kinds; keep last.
    Count,
}

impl FindingKind {
    /// All kinds.
    pub const ALL: [FindingKind; FindingKind::Count as usize] = [
        FindingKind::IllegalInterval,
        FindingKind::IllegalTickTime,
        FindingKind::IllegalQualifier,
        FindingKind::NestedUpdate,
        FindingKind::ForeignThread,
        FindingKind::ForeignLock,
        FindingKind::OutsideClockActivation,
        FindingKind::LockLeaked,
        FindingKind::LockUnbalanced,
        FindingKind::OversizedValue,
        FindingKind::OutlastsPeriod,
        FindingKind::TickReadLate,
        FindingKind::LogFlood,
        FindingKind::CutCycle,
        FindingKind::AskedForEnd,
        FindingKind::OffThePoint,
        FindingKind::NotANumber,
        FindingKind::NotABoolean,
        FindingKind::IllegalNominal,
        FindingKind::UpdateOutsideStep,
        FindingKind::TooManyEvents,
        FindingKind::ShorterThanAccepted,
        FindingKind::PastEvent,
        FindingKind::CreepingTime,
        FindingKind::NoState,
        FindingKind::StarvedThreads,
        FindingKind::ChangedLocale,
        FindingKind::ChangedDirectory,
        FindingKind::ChangedUmask,
        FindingKind::ChangedSignalMask,
        FindingKind::ChangedEnvironment,
    ];
}

impl FindingKind {
    /// The thing that an FMU has changed for all code of its process, and the function for that, for people; `None`: the finding
    /// is about something else.
    pub fn changed(self) -> Option<&'static str> {
        Some(match self {
            FindingKind::ChangedLocale => {
                "the locale (setlocale), by which all code reads and writes numbers in texts,"
            }
            FindingKind::ChangedDirectory => "the working directory (chdir), in which all code opens files,",
            FindingKind::ChangedUmask => "the modes of files that are made (umask)",
            FindingKind::ChangedSignalMask => "the signals that the thread blocks which calls FMUs",
            FindingKind::ChangedEnvironment => "the environment (setenv)",
            _ => return None,
        })
    }
}

/// The time at which an FMU has changed something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum When {
    /// The FMU's library was loaded.
    Loading = 1,
    /// An instance was made.
    Instantiation = 2,
    /// The time from Initialization Mode to the start of the run.
    Initialisation = 3,
    /// The run went on.
    Running = 4,
    /// The run went on, and another FMU can have done it.
    Unclear = 5,
    /// The instance was terminated, or freed.
    Ending = 6,
}

/// The place of a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Occurrence {
    /// The unit whose activation was under way.
    pub unit: Option<UnitId>,
    /// The clock or variable that it is about.
    pub reference: Option<ValueReference>,
    /// Activation time.
    pub time: Option<Instant>,
    /// Detail of the fault, whose meaning depends on the [`FindingKind`]; 0 where the kind has none.
    pub value: u64,
}

/// Words of a finding: count, whether the rest is complete, task, reference, whether there is a time, three words of time, value.
pub(super) const WIDTH: usize = 9;

/// Words of the findings of an instance.
pub const WORDS: usize = FindingKind::Count as usize * WIDTH;

/// The findings of an instance in shared memory.
#[derive(Clone, Copy)]
pub struct FindingCells<'a> {
    words: &'a [AtomicU64],
}

impl<'a> FindingCells<'a> {
    /// The findings in [`WORDS`] words, zero at first.
    pub fn new(words: &'a [AtomicU64]) -> FindingCells<'a> {
        FindingCells { words: &words[..WORDS] }
    }

    fn of(&self, finding: FindingKind) -> &'a [AtomicU64] {
        &self.words[finding as usize * WIDTH..][..WIDTH]
    }

    /// Counts an occurrence and keeps it if it is the first one.
    pub fn note(&self, finding: FindingKind, seen: Occurrence) {
        let [count, complete, unit, reference, timed, t0, t1, t2, value] = self.of(finding) else { unreachable!() };
        if count.fetch_add(1, SeqCst) > 0 {
            return;
        }
        unit.store(seen.unit.map_or(0, |unit| unit.0 as u64 + 1), Relaxed);
        reference.store(seen.reference.map_or(0, |reference| u64::from(reference.0) + 1), Relaxed);
        timed.store(u64::from(seen.time.is_some()), Relaxed);
        for (cell, word) in [t0, t1, t2].into_iter().zip(seen.time.unwrap_or(Instant::ZERO).to_words()) {
            cell.store(word, Relaxed);
        }
        value.store(seen.value, Relaxed);
        complete.store(1, SeqCst);
    }

    /// [`FindingCells::note`] of a finding that only one thread notes: no locked instruction is needed.
    #[inline]
    pub fn note_alone(&self, finding: FindingKind, seen: impl FnOnce() -> Occurrence) {
        let count = &self.of(finding)[0];
        match count.load(Relaxed) {
            0 => self.note(finding, seen()),
            before => count.store(before + 1, Relaxed),
        }
    }

    /// The number of occurrences.
    pub fn count(&self, finding: FindingKind) -> u64 {
        self.of(finding)[0].load(SeqCst)
    }

    /// The first occurrence; `None`: there is none, or its thread died while it noted it.
    pub fn first(&self, finding: FindingKind) -> Option<Occurrence> {
        let cells = self.of(finding);
        let word = |at: usize| cells[at].load(SeqCst);
        (word(1) == 1).then(|| Occurrence {
            unit: word(2).checked_sub(1).map(|unit| UnitId(unit as usize)),
            reference: word(3).checked_sub(1).map(|reference| ValueReference(reference as u32)),
            time: (word(4) == 1).then(|| Instant::from_words([word(5), word(6), word(7)])),
            value: word(8),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_counted_and_the_first_is_kept() {
        let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        let cells = FindingCells::new(&words);
        let first = Occurrence {
            unit: Some(UnitId(3)),
            reference: Some(ValueReference(0)),
            time: Instant::from_f64(-0.5),
            value: f64::NAN.to_bits(),
        };
        assert_eq!((cells.count(FindingKind::IllegalInterval), cells.first(FindingKind::IllegalInterval)), (0, None));
        cells.note(FindingKind::IllegalInterval, first);
        cells.note(FindingKind::IllegalInterval, Occurrence::default());
        cells.note(FindingKind::LogFlood, Occurrence::default());
        assert_eq!(
            (cells.count(FindingKind::IllegalInterval), cells.first(FindingKind::IllegalInterval)),
            (2, Some(first))
        );
        assert_eq!(
            (cells.count(FindingKind::LogFlood), cells.first(FindingKind::LogFlood)),
            (1, Some(Occurrence::default()))
        );
        assert_eq!(cells.count(FindingKind::CutCycle), 0);
    }

    #[test]
    fn the_list_of_all_kinds_is_in_the_order_of_their_numbers() {
        assert!(FindingKind::ALL.iter().enumerate().all(|(number, finding)| *finding as usize == number));
    }
}
