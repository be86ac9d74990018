//! What the report says of stimuli.

use crate::plan::Plan;
use crate::record::board::Board;
use crate::report::{Severity, StimulusResult};
use crate::rig::Problem;
use crate::stimulus::State;

/// What is wrong with a file, as far as the reading has come.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Why it cannot be read any further, or has ended early.
    pub problem: Option<Problem>,
    /// What somebody has done to it meanwhile.
    pub change: Option<String>,
}

/// What came of each file.
pub fn results(plan: &Plan, board: Board) -> Vec<StimulusResult> {
    let result = |(stimulus, own): (usize, &crate::plan::StimulusPlan)| {
        let feed = board.stimulus(stimulus);
        let starved = feed.starved();
        let clock = |task: crate::plan::TaskId| {
            let task = plan.tasks.get(task.0)?;
            Some(plan.full_name(task))
        };
        StimulusResult {
            file: own.file.clone(),
            interpolation: own.interpolation,
            columns: own.values.len() + own.ticks.len(),
            columns_left_out: own.left_out,
            rows: feed.rows_read(),
            starved: starved.map_or(0, |starved| starved.count),
            first_starved: starved.and_then(|starved| Some((clock(starved.task)?, starved.time.seconds()))),
        }
    };
    plan.stimuli.iter().enumerate().map(result).collect()
}

/// What went wrong with them.
pub fn problems(results: &[StimulusResult], board: Board, faults: &[Fault], problem: &mut dyn FnMut(Severity, String)) {
    for (stimulus, (own, fault)) in results.iter().zip(faults).enumerate() {
        let Fault { problem: broken, change } = fault;
        if let Some(error) = broken {
            let feed = board.stimulus(stimulus);
            match feed.state() {
                State::Ended => problem(Severity::Warning, error.to_string()),
                _ if feed.has_broken() => {
                    problem(Severity::Failure, format!("{error}; the run ended where it would have needed that row"))
                }
                _ => problem(Severity::Warning, format!("{error}; the run was over before it needed that row")),
            }
        }
        if let Some(change) = change {
            problem(Severity::Warning, change.clone());
        }
        if let Some((clock, time)) = &own.first_starved {
            let (count, s) = (own.starved, if own.starved == 1 { "" } else { "s" });
            problem(
                Severity::Warning,
                format!(
                    "stimulus {}: {count} activation{s} came before the file was read that far and got older values, first \
                     clock {clock} at {time} s: this run need not repeat; a faster disk or a shorter file helps",
                    own.file
                ),
            );
        }
    }
}
