//! What FMU code changes for all FMUs of the process: found, put back at once, and put on whose code ran.
//!
//! While instances are made and ended, after each call; in virtual time, after each activation of an FMU whose libraries call functions that can change
//! something; in real time from outside, on no thread of a partition, where the FMUs that can have done it are named.

use super::world::World;
use crate::plan::{FmuId, TaskId};
use crate::record::findings::{Finding, Occurrence, When};
use crate::sys::surroundings::{self, Looker, Surrounding};

/// How often it is looked from outside, ns.
const LOOK: i64 = 100_000_000;

/// The calling thread has come back from code of this FMU.
pub fn look(world: &World, fmu: FmuId, when: When) {
    surroundings::restore(Looker::Caller, |what| note(world, fmu, what, when));
}

/// The calling thread has come back from an activation of this task and of those that it leads.
#[cold]
#[inline(never)]
pub fn look_after(world: &World, task: TaskId) {
    surroundings::restore(Looker::Caller, |what| {
        note_all(world, &suspects(world, task).collect::<Vec<_>>(), what);
    });
}

/// Whether activations of this task can change anything.
pub fn is_suspect(world: &World, task: TaskId) -> bool {
    suspects(world, task).next().is_some()
}

/// The FMUs of a task and of those that it leads that can change something.
fn suspects(world: &World, task: TaskId) -> impl Iterator<Item = FmuId> {
    let own = world.plan.tasks.iter().enumerate();
    let own = own.filter(move |(index, other)| *index == task.0 || other.leader() == Some(task));
    own.map(|(_, other)| other.fmu).filter(|fmu| world.plan.fmus[fmu.0].changes_process)
}

/// Looks every now and then, from a thread that runs no FMU code.
pub struct Outside {
    next: i64,
}

impl Outside {
    /// From the start of the run on.
    pub fn new() -> Outside {
        Outside { next: 0 }
    }

    /// Looks, if it is time; `now`: ns.
    pub fn look(&mut self, world: &World, now: i64) {
        if now >= self.next {
            self.next = now + LOOK;
            surroundings::restore(Looker::Other, |what| note_all(world, &all(world), what));
        }
    }
}

/// The run is over: no FMU code runs on any other thread.
pub fn look_at_the_end(world: &World) {
    surroundings::restore(Looker::Caller, |what| note_all(world, &all(world), what));
}

/// All that can change something; where nobody is known to be able to, all.
fn all(world: &World) -> Vec<FmuId> {
    let all: Vec<FmuId> = (0..world.plan.fmus.len()).map(FmuId).collect();
    let can: Vec<FmuId> = all.iter().copied().filter(|fmu| world.plan.fmus[fmu.0].changes_process).collect();
    if can.is_empty() { all } else { can }
}

/// One of these has changed something.
fn note_all(world: &World, fmus: &[FmuId], what: Surrounding) {
    let when = if fmus.len() == 1 { When::Running } else { When::Unclear };
    fmus.iter().for_each(|fmu| note(world, *fmu, what, when));
}

fn note(world: &World, fmu: FmuId, what: Surrounding, when: When) {
    let finding = match what {
        Surrounding::Locale => Finding::ChangedLocale,
        Surrounding::Directory => Finding::ChangedDirectory,
        Surrounding::Umask => Finding::ChangedUmask,
        Surrounding::SignalMask => Finding::ChangedSignalMask,
        Surrounding::Environment => Finding::ChangedEnvironment,
    };
    world.board.fmu(fmu).findings().note(finding, Occurrence { value: when as u64, ..Occurrence::default() });
}
