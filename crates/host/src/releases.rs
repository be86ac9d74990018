//! The number of releases of a periodic clock, from its grid alone: the sum that its counters must make (semantics S12).

use super::unbegun;
use std::sync::atomic::Ordering::SeqCst;
use vecud_base::time::{Fraction, Instant, Nanos};
use vecud_fmi::Status;
use vecud_plan::schedule::Passed;
use vecud_plan::{FmuId, Mode, Plan, Release, UnitId};
use vecud_record::board::{Board, FmuWord, Global, TaskWord};
use vecud_report::{ClockResult, Kind, Problem, Subject};

/// Half of a nanosecond: an end is known to the nearest nanosecond.
const HALF: u64 = 2_000_000_000;

/// The number of releases of a task from the start of the run up to `end`. `None`: its grid does not give it. That is so if it has no grid;
/// if its interval has changed, or steps end beside the grid as well; for a member of a group that is not the first one, which counts for
/// all; if its instance has failed, since no release counts from there on; or if there are more releases than [`Passed`] counts.
fn releases(plan: &Plan, board: Board, unit: UnitId, end: Instant) -> Option<u64> {
    let planned = &plan.units[unit.0];
    let Release::Periodic { shift, interval } = planned.release else { return None };
    let origin = plan.start.after(shift);
    let failure = |fmu: FmuId| board.fmu(fmu).word(FmuWord::FailureStatus).load(SeqCst);
    // After Fatal no instance of the same library may be called.
    let has_failed =
        |own: FmuId| failure(own) != 0 || (0..plan.fmus.len()).any(|fmu| failure(FmuId(fmu)) == Status::Fatal as u64);
    let returned_early = board.task(unit).get(TaskWord::EarlyReturns) != 0;
    let has_points = planned.makes_steps() && !plan.input_events.is_empty();
    if returned_early
        || has_points
        || planned.leaves_its_grid()
        || !plan.is_first(unit)
        || has_failed(planned.fmu)
        || unbegun::grid(board, unit) != Some((origin, interval))
    {
        return None;
    }
    let after_end = end.after(Fraction::new(1, HALF).expect("HALF is not 0"));
    let until = plan.released_until(planned).map_or(after_end, |until| until.min(after_end));
    if !Passed::counts(interval, until.nanos().minus(origin.nanos())) {
        return None;
    }
    let before = Instant::from_nanos(plan.start.nanos().minus(Nanos(1)));
    Some(Passed::on_grid(origin, interval, before, until, Some(until)).map_or(0, |passed| passed.count))
}

/// Counts releases as discarded that are in no other count since the runner died: its thread cannot. In virtual time these are all that
/// have not begun or not returned; a run has come to each instant with a complete activation, though the runner died before it could say
/// so. In real time it is an activation whose begin or end the thread had noted, and had not counted yet: at most one of each task, and a
/// greater difference stays for [`account`].
pub fn discard(plan: &Plan, board: Board) {
    let word = |unit: UnitId, word| board.task(unit).get(word);
    let units = || (0..plan.units.len()).map(UnitId);
    let counted = |unit| -> u64 {
        let words = [TaskWord::Activations, TaskWord::Skipped, TaskWord::Discarded];
        words.into_iter().fold(0, |sum, own| sum.saturating_add(word(unit, own)))
    };
    let said = plan.start.nanos().plus(Nanos(board.global(Global::Reached).load(SeqCst) as i64));
    if plan.mode == Mode::RealTime {
        let has_lost_one = |unit: &UnitId| {
            let releases = releases(plan, board, *unit, Instant::from_nanos(said));
            releases.is_some_and(|releases| counted(*unit).checked_add(1) == Some(releases))
        };
        return units().filter(has_lost_one).for_each(|unit| board.task(unit).count_shared(TaskWord::Discarded, 1));
    }
    let is_beyond = |unit: &UnitId| {
        releases(plan, board, *unit, Instant::from_nanos(said)).is_some_and(|releases| counted(*unit) > releases)
    };
    let end = units().filter(is_beyond).map(|unit| unbegun::last_time(board, unit).nanos()).fold(said, Ord::max);
    board.global(Global::Reached).store(end.minus(plan.start.nanos()).0.max(0) as u64, SeqCst);
    for unit in units() {
        if let Some(releases) = releases(plan, board, unit, Instant::from_nanos(end)) {
            board.task(unit).count_shared(TaskWord::Discarded, releases.saturating_sub(counted(unit)));
        }
    }
}

/// Notes in `clocks` how many releases each has had up to `end`, where its grid tells. Counters that do not make that sum are a warning. Of
/// a run that goes on from a saved state, or saves its own, nobody asks: releases are of two runs then.
pub fn account(plan: &Plan, board: Board, end: Instant, clocks: &mut [ClockResult]) -> Vec<Problem> {
    let is_none_counted = clocks.iter().all(|own| own.activations == 0 && own.skipped == 0 && own.discarded == 0);
    // A run that ended before it began has had none.
    if end == plan.start && is_none_counted {
        return Vec::new();
    }
    let mut wrong = Vec::new();
    for (unit, clock) in clocks.iter_mut().enumerate() {
        clock.releases = releases(plan, board, UnitId(unit), end);
        let [activations, skipped, discarded] = [clock.activations, clock.skipped, clock.discarded];
        let sum = activations.saturating_add(skipped).saturating_add(discarded);
        if let Some(releases) = clock.releases.filter(|releases| *releases != sum) {
            let subject = Subject::task(&clock.fmu, &clock.clock, clock.kind);
            wrong.push(Problem::warning(subject, Kind::Unaccounted { releases, activations, skipped, discarded }));
        }
    }
    wrong
}
