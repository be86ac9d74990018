//! The progress of a run in its stimuli: the time up to which their files are read, and the rows that the run has passed.

use crate::run_state::{Ending, RunState};
use vecud_base::time::Instant;
use vecud_plan::StimulusPlan;

/// The run has come to where this stimulus cannot be read, and ends.
pub fn broken(run: &RunState, stimulus: usize) {
    run.board.stimulus(stimulus).set_broken();
    if run.ending() == Ending::No {
        run.end(Ending::Discard);
    }
}

/// Whether the run has come to where a stimulus cannot be read.
pub fn has_broken(run: &RunState) -> bool {
    (0..run.plan.stimuli.len()).any(|stimulus| run.board.stimulus(stimulus).has_broken())
}

/// Tells all stimuli that no activation before `time` happens any more.
pub fn set_floor(run: &RunState, time: Instant) {
    let seconds = time.seconds();
    (0..run.plan.stimuli.len()).for_each(|stimulus| run.board.stimulus(stimulus).set_floor(seconds));
}

/// Simulation time from which on ticks of stimuli for tasks are not known yet; `None`: all are, or there are none.
pub fn ticks_known_until(run: &RunState) -> Option<Instant> {
    let ticking = |stimulus: &usize| ticks_tasks(&run.plan.stimuli[*stimulus]);
    let untils = (0..run.plan.stimuli.len()).filter(ticking).map(|stimulus| run.board.stimulus(stimulus).until());
    untils.filter(|until| until.is_finite()).filter_map(Instant::from_f64).min()
}

/// Whether a stimulus ticks tasks.
pub fn ticks_tasks(stimulus: &StimulusPlan) -> bool {
    stimulus.ticks.iter().any(|tick| tick.target.clock.is_none())
}
