//! Whether the run has kept the promise of virtual time (semantics S15), and values that delayed connections did not get in time.

use std::sync::atomic::Ordering::SeqCst;
use vecud_base::time::Instant;
use vecud_plan::promise::Promise;
use vecud_plan::{ConnectionId, FmuId, Mode, OnError, Plan, Timing, UnitId, timing};
use vecud_record::board::promise::Break;
use vecud_record::board::{Board, FmuWord, TaskWord};
use vecud_report::{ConnectionResult, Kind, Problem, PromiseResult, Subject};

/// The results of all connections; the bad ones go to `problems`.
pub fn connections(plan: &Plan, board: Board, problems: &mut Vec<Problem>) -> Vec<ConnectionResult> {
    let mut all = Vec::new();
    for (index, (connection, delay)) in plan.connections.iter().zip(timing::words(plan)).enumerate() {
        let id = ConnectionId(index);
        let (mut missed, mut overwritten) = (0, 0);
        for (place, consumer) in connection.delay.iter().flat_map(|delay| delay.consumers.iter().enumerate()) {
            let cells = board.reading(id, place);
            let ((late, visible, producer), (lost, time)) = (cells.all_missed(), cells.all_lost());
            let consumer = timing::told_name(plan, *consumer);
            let subject = || Subject::Connection(connection.arrow());
            if late > 0 {
                let (producer, visible_s) = (producer_name(plan, id, producer), visible.seconds());
                let kind = Kind::Missed { count: late, consumer: consumer.clone(), producer, visible_s };
                problems.push(Problem::warning(subject(), kind));
            }
            if lost > 0 {
                let kind = Kind::Overwritten { count: lost, consumer, first_s: time.seconds() };
                problems.push(Problem::warning(subject(), kind));
            }
            missed += late;
            overwritten += lost;
        }
        all.push(ConnectionResult {
            from: connection.from.clone(),
            to: connection.to.clone(),
            timing: match connection.timing {
                Timing::Immediate => "immediate".to_owned(),
                Timing::Delayed => "delayed".to_owned(),
            },
            delay,
            missed,
            overwritten,
        });
    }
    all
}

fn producer_name(plan: &Plan, connection: ConnectionId, producer: usize) -> String {
    let producers = plan.connections[connection.0].delay.iter().flat_map(|delay| &delay.producers);
    producers.into_iter().nth(producer).map_or_else(String::new, |producer| timing::told_name(plan, producer.unit))
}

/// The time from which on something covered may be missing, and the reason. In real time a failure affects activations that
/// other partitions of the instance have begun at earlier times and not finished, or, where it ends the run, those of all
/// instances (semantics S13).
fn failed(plan: &Plan, board: Board, fmu: FmuId, promise: &Promise) -> Option<(Instant, String)> {
    let words = board.fmu(fmu);
    let get = |word: FmuWord| words.word(word).load(SeqCst);
    let by = board.named_task(get(FmuWord::FailureTask)).filter(|_| plan.mode == Mode::RealTime)?;
    if get(FmuWord::FailureStatus) == 0 {
        return None;
    }
    let met = |unit: &UnitId| plan.units[unit.0].fmu == fmu || plan.on_error == OnError::Stop;
    let others = (0..plan.units.len()).map(UnitId).filter(|unit| *unit != by && promise.covers(*unit) && met(unit));
    // Whatever a task has begun before its last activation is whole.
    let begun = |unit: UnitId| match board.task(unit).get(TaskWord::Activations) {
        0 => plan.start,
        _ => board.task(unit).time(),
    };
    let what = format!("the failure of {}, which met others before they were done", timing::told_name(plan, by));
    Some((others.map(begun).min()?, what))
}

/// Whether the columns that the promise covers have the bytes that virtual time would record.
pub fn promise(plan: &Plan, board: Board, late_samples: u64, problems: &mut Vec<Problem>) -> PromiseResult {
    let promise = Promise::of(plan);
    // From when on, why, and whether an overrun is why.
    let mut breaks: Vec<(Instant, String, bool)> = Vec::new();
    let mut dropped = late_samples;
    for unit in (0..plan.units.len()).map(UnitId).filter(|unit| promise.covers(*unit)) {
        let name = timing::told_name(plan, unit);
        dropped += board.task(unit).get(TaskWord::SamplesDropped);
        // In virtual time a queue that is full is so in every run.
        match board.first_break(unit).filter(|_| plan.mode == Mode::RealTime) {
            Some((Break::Overrun, time)) => breaks.push((time, format!("an overrun of {name}"), true)),
            Some((Break::Retimed, time)) => breaks.push((time, format!("a tick of {name} that came too late"), false)),
            None => (),
        }
    }
    let failures = (0..plan.fmus.len()).filter_map(|fmu| failed(plan, board, FmuId(fmu), &promise));
    breaks.extend(failures.map(|(time, what)| (time, what, false)));
    for (index, stimulus) in plan.stimuli.iter().enumerate() {
        if let Some(starved) = board.stimulus(index).starved().filter(|starved| promise.covers(starved.unit)) {
            let name = timing::told_name(plan, starved.unit);
            let what = format!("{name}, for which {} was not read yet", stimulus.file);
            breaks.push((starved.time, what, false));
        }
    }
    for (index, connection) in plan.connections.iter().enumerate() {
        let consumers = connection.delay.iter().flat_map(|delay| delay.consumers.iter().enumerate());
        for (place, consumer) in consumers.filter(|(_, consumer)| promise.covers(**consumer)) {
            let cells = board.reading(ConnectionId(index), place);
            let ((late, visible, producer), (lost, time)) = (cells.all_missed(), cells.all_lost());
            let consumer = timing::told_name(plan, *consumer);
            if late > 0 {
                let producer = producer_name(plan, ConnectionId(index), producer);
                let what = format!("{producer}, whose value for {} was not there yet for {consumer}", connection.to);
                breaks.push((visible, what, false));
            }
            if lost > 0 {
                let what = format!("{consumer}, too late for the value of {}", connection.from);
                breaks.push((time, what, false));
            }
        }
    }
    let first = breaks.into_iter().min_by_key(|(time, ..)| *time);
    let covered = promise.covered();
    let (until, broken_by, by_overrun) = match first {
        Some((time, what, by_overrun)) => (Some(time.seconds()), Some(what), by_overrun),
        None if dropped > 0 => (None, Some("samples that could not be recorded".to_owned()), false),
        None => (None, None, false),
    };
    if let Some(cause) = broken_by.clone().filter(|_| covered > 0) {
        let kind = Kind::MayDiffer { columns: covered, from_s: until, cause, by_overrun };
        problems.push(Problem::warning(Subject::Run, kind));
    }
    PromiseResult { holds: broken_by.is_none(), covered, columns: plan.signals.len(), until_s: until, broken_by }
}
