//! Results of stimuli for the report.

use std::sync::atomic::Ordering::SeqCst;
use vecud_base::time::Nanos;
use vecud_plan::rig;
use vecud_plan::{OnNan, Plan};
use vecud_record::board::{Board, Global};
use vecud_record::stimulus::{FeedState, Nan};
use vecud_report::{Broken, Kind, Problem, Severity, StimulusResult, Subject};

/// Faults of a file in the part that was read.
#[derive(Clone, Debug, Default)]
pub struct Fault {
    /// Reason why reading stopped early.
    pub problem: Option<rig::Diagnostic>,
    /// Cells that give a variable NaN.
    pub nan: Option<Nan>,
    /// Change by others during the run.
    pub change: Option<String>,
}

/// Result of each file.
pub fn results(plan: &Plan, board: Board) -> Vec<StimulusResult> {
    let result = |(stimulus, own): (usize, &vecud_plan::StimulusPlan)| {
        let feed = board.stimulus(stimulus);
        let starved = feed.starved();
        let clock = |unit: vecud_plan::UnitId| {
            let unit = plan.units.get(unit.0)?;
            Some(plan.full_name(unit))
        };
        StimulusResult {
            file: own.file.clone(),
            interpolation: own.interpolation,
            columns: own.values.len() + own.ticks.len(),
            columns_left_out: own.left_out,
            rows: feed.rows_read(),
            starved: starved.map_or(0, |starved| starved.count),
            first_starved: starved.and_then(|starved| Some((clock(starved.unit)?, starved.time.seconds()))),
        }
    };
    plan.stimuli.iter().enumerate().map(result).collect()
}

/// Adds the problems of stimuli.
pub fn problems(plan: &Plan, results: &[StimulusResult], board: Board, faults: &[Fault], problems: &mut Vec<Problem>) {
    let since_start = Nanos(board.global(Global::Reached).load(SeqCst) as i64);
    let reached = plan.start.nanos().plus(since_start).seconds();
    // The faults that ended the run. Several stimuli can share a file, and report the same fault.
    let ended: Vec<String> = (0..faults.len())
        .filter(|stimulus| board.stimulus(*stimulus).has_broken())
        .filter_map(|stimulus| faults[stimulus].problem.as_ref().map(ToString::to_string))
        .collect();
    for (stimulus, (own, fault)) in results.iter().zip(faults).enumerate() {
        let subject = Subject::Stimulus(own.file.clone());
        if let Some(error) = &fault.problem {
            let feed = board.stimulus(stimulus);
            let words = error.to_string();
            let (severity, effect) = match feed.state() {
                FeedState::Ended => (Severity::Warning, Broken::Ended),
                _ if feed.has_broken() => (Severity::Failure, Broken::EndedTheRun),
                _ => (Severity::Warning, Broken::NotNeeded),
            };
            if severity == Severity::Failure || !ended.contains(&words) {
                let kind = Kind::StimulusBroken { words, effect };
                problems.push(Problem { severity, subject: subject.clone(), kind });
            }
        }
        // Files are read ahead: values after the end of the run were not used.
        if let Some(nan) = fault.nan.as_ref().filter(|nan| nan.from <= reached) {
            let severity = if plan.nan == OnNan::Stop { Severity::Failure } else { Severity::Warning };
            let kind = Kind::StimulusNan { words: nan.first.to_string(), count: nan.count };
            problems.push(Problem { severity, subject: subject.clone(), kind });
        }
        if let Some(text) = fault.change.clone() {
            problems.push(Problem::warning(subject.clone(), Kind::StimulusChanged { text }));
        }
        if let Some((clock, first_s)) = own.first_starved.clone() {
            problems.push(Problem::warning(subject, Kind::Starved { count: own.starved, clock, first_s }));
        }
    }
}
