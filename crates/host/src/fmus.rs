//! Shared memory → how each instance ended: its status, the call that failed, what its preemption lock has counted, and how often it
//! was called.

use super::calls::function;
use super::death::ExitCause;
use super::findings::unusable;
use super::last_lines::LastLines;
use std::cmp::Reverse;
use std::sync::atomic::Ordering::SeqCst;
use vecud_base::plain::plain;
use vecud_base::time::Instant;
use vecud_description::Abi;
use vecud_fmi::{Function, Status};
use vecud_plan::{FmuId, Plan, UnitId};
use vecud_record::board::{Board, FmuWord, FunctionCalls, Metric, Phase, TaskWord};
use vecud_report::{CallResult, FailureKey, FmuResult, FmuStatus, Kind, LockResult, Problem, Subject};

/// The end of an instance, in a run that came to this phase.
pub fn status(board: Board, phase: Phase, fmu: FmuId, died: Option<&ExitCause>) -> FmuStatus {
    let words = board.fmu(fmu);
    let get = |word: FmuWord| words.word(word).load(SeqCst);
    if let Some(died) = died {
        // The run was over for whoever has ended: what happens after it is of one of them.
        let had_ended = phase == Phase::Done && get(FmuWord::End) == 1;
        match died.culprit == Some(fmu) {
            true => return died.status,
            false if had_ended || get(FmuWord::GivenUp) != 0 => (),
            false => return FmuStatus::Aborted,
        }
    }
    match (get(FmuWord::FailureStatus), get(FmuWord::End)) {
        // Whatever came of it after that.
        _ if get(FmuWord::GivenUp) != 0 => FmuStatus::Hung,
        (4, _) => FmuStatus::Fatal,
        (1..=3, _) => FmuStatus::Error,
        (_, 1) => FmuStatus::Terminated,
        _ => FmuStatus::Aborted,
    }
}

/// The call of an instance that failed, if one did.
pub fn failure(plan: &Plan, board: Board, fmu: FmuId, result: &FmuResult, lines: &LastLines) -> Option<Problem> {
    let words = board.fmu(fmu);
    let get = |word: FmuWord| words.word(word).load(SeqCst);
    let status = Status::from_raw(get(FmuWord::FailureStatus) as i32).filter(|status| *status != Status::Ok)?;
    let (abi, interface) = (plan.fmus[fmu.0].abi, plan.fmus[fmu.0].runs_as());
    let function = function(get(FmuWord::FailureFunction));
    let time = Instant::from_words([FmuWord::FailureTime, FmuWord::FailureTime1, FmuWord::FailureTime2].map(get));
    let place = match board.named_task(get(FmuWord::FailureTask)) {
        Some(unit) => match plan.units[unit.0].clock() {
            Some(_) => format!(" for clock {} at {} s", plain(&plan.units[unit.0].name), time.seconds()),
            None => format!(" at {} s", time.seconds()),
        },
        // Beside partitions nothing is called during a run but this; Terminate comes after it.
        None if time > plan.start && function != Some(Function::Terminate) => {
            format!(" in Reconfiguration Mode at {} s", time.seconds())
        }
        None => String::new(),
    };
    let what = match words.failed_reading() {
        Some(reading) => format!("gave {}", unusable(plan, reading, function)),
        None => format!("returned {}", status.returned(words.failed_answer(), abi)),
    };
    let asks = matches!(function, Some(Function::GetIntervalDecimal | Function::GetIntervalFraction));
    let kind = Kind::CallFailed {
        function: function.map_or("a call", |function| function.told_of(abi, interface)).to_owned(),
        outcome: what + &place,
        keys: [
            (asks && abi == Abi::Draft).then_some(FailureKey::GetIntervals),
            (status == Status::Warning).then_some(FailureKey::OnWarning),
            (function == Some(Function::DoStep) && status == Status::Discard && may_retry(plan, fmu))
                .then_some(FailureKey::RetrySteps),
            (function == Some(Function::GetFMUState) && takes_states(plan, fmu)).then_some(FailureKey::TakesStates),
            (result.log.is_empty() && plan.fmus[fmu.0].log.is_none()).then_some(FailureKey::Log),
        ]
        .into_iter()
        .flatten()
        .collect(),
        last_words: lines.last_words(5),
    };
    Some(Problem::failure(Subject::Fmu(result.name.clone()), kind))
}

/// Whether a state of an instance is taken before each of its steps.
fn takes_states(plan: &Plan, fmu: FmuId) -> bool {
    plan.units.iter().any(|unit| unit.fmu == fmu && unit.takes_states())
}

/// Whether a key of the rig has steps of an instance, whose Discard is an error, tried in parts.
fn may_retry(plan: &Plan, fmu: FmuId) -> bool {
    plan.units.iter().any(|unit| unit.fmu == fmu && unit.may_retry())
}

/// The functions of an instance that were called.
pub fn calls(plan: &Plan, board: Board, fmu: FmuId) -> Vec<CallResult> {
    let (abi, interface) = (plan.fmus[fmu.0].abi, plan.fmus[fmu.0].runs_as());
    let mut all: Vec<CallResult> = Vec::new();
    for FunctionCalls { function, calls, nanos } in board.calls_of(plan, fmu) {
        // What FMI 3.0 tells apart may be one function before, or none.
        let Some(name) = Function::from_u32(function).and_then(|own| own.name_of(abi, interface)) else { continue };
        match all.iter_mut().find(|own| own.function == name) {
            Some(own) => {
                own.calls += calls;
                own.total_ns = own.total_ns.into_iter().chain(nanos).reduce(|a, b| a + b);
            }
            None => all.push(CallResult { function: name.into(), calls, total_ns: nanos }),
        }
    }
    // Those of one order stay in that of the numbers of functions.
    all.sort_by_key(|own| Reverse((own.total_ns, own.calls)));
    all
}

/// The counts of an instance's preemption lock.
pub fn lock(plan: &Plan, board: Board, fmu: FmuId) -> LockResult {
    let words = board.fmu(fmu);
    let get = |word: FmuWord| words.word(word).load(SeqCst);
    let (mut hold, mut wait) = (words.hold().read(), words.wait().read());
    let mut lock = LockResult {
        nested: get(FmuWord::LockNested),
        leaked: get(FmuWord::LockLeaked),
        unbalanced: get(FmuWord::LockUnbalanced),
        ..LockResult::default()
    };
    for (unit, _) in plan.units.iter().enumerate().filter(|(_, unit)| unit.fmu == fmu) {
        let cells = board.task(UnitId(unit));
        lock.nested += cells.get(TaskWord::LockNested);
        lock.leaked += cells.get(TaskWord::LockLeaked);
        lock.unbalanced += cells.get(TaskWord::LockUnbalanced);
        hold.add(&cells.histogram(Metric::LockHold).read());
        wait.add(&cells.histogram(Metric::LockWait).read());
    }
    // Each outermost acquisition ends in a hold time.
    LockResult { acquisitions: hold.count(), hold: hold.into(), wait: wait.into(), ..lock }
}
