//! The notes that are possible: FMU code can overwrite them.

use vecud_record::figures::TaskFigures;
use vecud_record::ring::Ring;
use vecud_record::trace::{Note, notes};

/// Reads the present notes of a ring, which include all from before the horizon. Later ones wait: in virtual time the
/// loop would never end. An impossible note is left out.
pub(super) fn read<'r>(
    ring: &Ring<'r>,
    figures: Option<&'r TaskFigures>,
    possible: Possible,
    damaged: &'r mut u64,
) -> impl Iterator<Item = Note> + 'r {
    let notes = notes::take(ring).filter_map(move |note| {
        let note = note.filter(|note| possible.holds(note));
        *damaged += u64::from(note.is_none());
        note
    });
    notes.inspect(move |note| figures.into_iter().for_each(|figures| figures.take(note)))
}

/// Limits of plausible notes: FMU code can overwrite them.
#[derive(Clone, Copy)]
pub(super) struct Possible {
    pub(super) tasks: usize,
    pub(super) is_virtual: bool,
    /// Time of preparation, and present time, by the run's clock, ns.
    pub(super) from: i64,
    pub(super) now: i64,
}

/// Greatest plausible simulation time, ns: 146 years.
pub(super) const LONGEST: i64 = 1 << 62;
/// Greatest number of notes in virtual time.
pub(super) const NUMBERS: i64 = 1 << 53;
/// Greatest plausible change of a clock, ns; a larger one counts as damage.
pub(super) const SET: i64 = 3_600_000_000_000;

impl Possible {
    fn holds(&self, note: &Note) -> bool {
        let instants = match self.is_virtual {
            true => 0..=NUMBERS,
            false => self.from - SET..=self.now + SET,
        };
        let longest = if self.is_virtual { NUMBERS } else { self.now - self.from + 2 * SET };
        let at = |all: &[i64]| all.iter().all(|instant| instants.contains(instant));
        let short = |all: &[i64]| all.iter().all(|duration| (-longest..=longest).contains(duration));
        let time = |time: i64| (-LONGEST..=LONGEST).contains(&time);
        let stamps = |all: &[u64]| !self.is_virtual || all.iter().all(|stamp| *stamp <= NUMBERS as u64);
        match *note {
            Note::Activated { time: own, release, woken, start, end, execution, .. } => {
                time(own) && at(&[release, woken, start, end]) && short(&[execution])
            }
            Note::Locked { since, until, waited, .. } => stamps(&[since, until, waited]),
            Note::Updated { since, until } => stamps(&[since, until]),
            Note::Ticked { target, time: own, at: when, .. } | Note::Armed { target, time: own, at: when, .. } => {
                target.0 < self.tasks && time(own) && at(&[when])
            }
            Note::Skipped { time: own, release, at: when } => time(own) && at(&[release, when]),
            Note::Spent { jitter, preempted, blocked, set_get, host, machine } => {
                short(&[preempted, blocked, set_get, machine, jitter.unwrap_or(0), host.unwrap_or(0)])
            }
        }
    }
}
