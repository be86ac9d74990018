//! Changes that FMU code makes to state which all FMUs of the process share: found, undone at once, and attributed.
//!
//! While instances are made and ended, after each call; in virtual time, after each activation of an FMU whose libraries call
//! functions that can change something; in real time from outside, on no thread of a partition, once a change has lasted for some
//! 200 ms. Where several FMUs can have made it, the finding names all of them.

use super::run_state::RunState;
use vecud_linux::surroundings::{self, Surrounding};
use vecud_plan::{FmuId, UnitId};
use vecud_record::findings::{FindingKind, Occurrence, When};

/// So far apart looks from outside are at least, ns.
const LOOK: i64 = 20_000_000;
/// Largest random extra distance of two looks, so that they are in no beat with any clock, ns.
const UNEVEN: u64 = 7_000_000;
/// A change that this many looks in a row have seen lasts: FMU code does not undo it itself.
const LASTS: u32 = 10;

/// The calling thread has come back from code of this FMU.
pub fn look(run: &RunState, fmu: FmuId, when: When) {
    surroundings::restore(|what| note(run, fmu, what, when));
}

/// The calling thread has come back from an activation of this unit's task.
#[cold]
#[inline(never)]
pub fn look_after(run: &RunState, unit: UnitId) {
    surroundings::restore(|what| {
        note_all(run, &suspects(run, unit).collect::<Vec<_>>(), what);
    });
}

/// Whether activations of this unit's task can change anything.
pub fn is_suspect(run: &RunState, unit: UnitId) -> bool {
    suspects(run, unit).next().is_some()
}

/// The FMUs of a unit's task that can change something.
fn suspects(run: &RunState, unit: UnitId) -> impl Iterator<Item = FmuId> {
    let own = run.plan.task_of(unit).units().iter().map(|unit| run.plan.units[unit.0].fmu);
    own.filter(|fmu| run.plan.fmus[fmu.0].changes_process)
}

/// Looks every now and then, from a thread that runs no FMU code. FMU code that changes something for a moment and puts it back itself, as it
/// may, is left alone.
pub struct OutsideLook {
    next: i64,
    looks: u64,
    /// Of each: how many looks in a row have seen it changed.
    seen: [u32; 3],
}

impl OutsideLook {
    /// From the start of the run on.
    pub fn new() -> OutsideLook {
        OutsideLook { next: 0, looks: 0, seen: [0; 3] }
    }

    /// Looks, if it is time; `now`: ns.
    pub fn look(&mut self, run: &RunState, now: i64) {
        if now < self.next {
            return;
        }
        self.looks += 1;
        self.next = now + LOOK + (self.looks.wrapping_mul(1_234_567) % UNEVEN) as i64;
        for (seen, (what, differs)) in self.seen.iter_mut().zip(surroundings::differences()) {
            *seen = if differs { *seen + 1 } else { 0 };
            if *seen == LASTS {
                *seen = 0;
                surroundings::put_back(what);
                note_all(run, &all(run), what);
            }
        }
    }
}

/// The run is over: no FMU code runs on any other thread.
pub fn look_at_the_end(run: &RunState) {
    surroundings::restore(|what| note_all(run, &all(run), what));
}

/// All FMUs that can change something; where none is suspected, all.
fn all(run: &RunState) -> Vec<FmuId> {
    let all: Vec<FmuId> = (0..run.plan.fmus.len()).map(FmuId).collect();
    let can: Vec<FmuId> = all.iter().copied().filter(|fmu| run.plan.fmus[fmu.0].changes_process).collect();
    if can.is_empty() { all } else { can }
}

/// One of these has changed something.
fn note_all(run: &RunState, fmus: &[FmuId], what: Surrounding) {
    let when = if fmus.len() == 1 { When::Running } else { When::Unclear };
    fmus.iter().for_each(|fmu| note(run, *fmu, what, when));
}

/// The finding that a change is.
pub fn finding(what: Surrounding) -> FindingKind {
    match what {
        Surrounding::Locale => FindingKind::ChangedLocale,
        Surrounding::Directory => FindingKind::ChangedDirectory,
        Surrounding::Umask => FindingKind::ChangedUmask,
        Surrounding::SignalMask => FindingKind::ChangedSignalMask,
        Surrounding::Environment => FindingKind::ChangedEnvironment,
    }
}

fn note(run: &RunState, fmu: FmuId, what: Surrounding, when: When) {
    run.board.fmu(fmu).findings().note(finding(what), Occurrence { value: when as u64, ..Occurrence::default() });
}
