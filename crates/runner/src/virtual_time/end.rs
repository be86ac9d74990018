//! The end of a run in virtual time, and the releases that are left then.

use crate::run_state::{Ending, RunState};
use crate::state;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use vecud_plan::schedule::{Agenda, Timeline};
use vecud_record::board::Global;

/// The timelines at the end, with the activations that are left to be done.
pub(super) fn left(run: &RunState, mut timelines: Vec<Timeline>) -> Vec<Timeline> {
    let early = run.ending() == Ending::Discard;
    if let Some(stop) = run.plan.stop.filter(|_| !early) {
        run.board.global(Global::Reached).store(run.since_start(stop), Relaxed);
    }
    // After a regular end only deadlines after the stop wait, and nothing is lost with them.
    if early && !run.saves {
        state::discard(run, &mut timelines);
    }
    timelines
}

/// Whether no end is requested. A run whose state is saved is not left in the midst of an instant, so that each has one row in
/// the recording.
#[inline(always)] // in the one loop there is
pub(super) fn goes_on(run: &RunState, agenda: &mut Agenda, stop_request: &AtomicU64) -> bool {
    let mut within = || {
        let now = agenda.due().time;
        run.saves && agenda.instant() > 0 && agenda.peek() == Some(now)
    };
    let ends = run.ending() == Ending::Discard || (stop_request.load(Relaxed) != 0 && !within());
    if ends {
        run.end(Ending::Discard);
    }
    !ends
}
