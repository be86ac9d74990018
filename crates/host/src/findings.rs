//! Messages about irregularities: offences of FMUs against the standard, and irregularities of the run.

use super::facts::RunFacts;
use super::{Prepared, tasks};
use std::sync::atomic::Ordering::SeqCst;
use vecud_base::plain::plain;
use vecud_base::time::Instant;
use vecud_fmi::{Function, Status};
use vecud_plan::{EndpointPlan, FmuId, OnNan, OnWarning, Plan, Release, UnitId, UnitPlan};
use vecud_record::board::{Board, FmuWord, Global, TaskWord};
use vecud_record::findings::{FindingKind, Occurrence, When};
use vecud_record::unusable::Unusable;
use vecud_report::format::some;
use vecud_report::{ClockResult, FindingResult, FmuResult, Kind, Problem, Severity, Subject};

/// Offences of an instance against the standard, each kind once.
pub fn of_fmu(prepared: &Prepared, board: Board, fmu: FmuId) -> Vec<FindingResult> {
    let cells = board.fmu(fmu).findings();
    let shared = prepared.shared.iter().filter(|(own, _)| *own == fmu).map(|(_, finding)| finding.clone());
    let seen =
        FindingKind::ALL.into_iter().map(|finding| (finding, cells.count(finding))).filter(|(_, count)| *count > 0);
    let seen = seen.map(|(finding, count)| {
        let what = offence(prepared, fmu, finding, count, cells.first(finding).unwrap_or_default());
        let message = format!("fmu `{}`: {what}", prepared.plan.fmus[fmu.0].name);
        FindingResult { kind: kind(finding).into(), count, message }
    });
    shared.chain(seen).collect()
}

/// Name of a kind in report.json.
fn kind(finding: FindingKind) -> &'static str {
    match finding {
        FindingKind::IllegalInterval => "illegal_interval",
        FindingKind::IllegalTickTime => "illegal_tick_time",
        FindingKind::IllegalQualifier => "illegal_qualifier",
        FindingKind::NestedUpdate => "nested_update",
        FindingKind::ForeignThread => "foreign_thread",
        FindingKind::ForeignLock => "foreign_lock",
        FindingKind::OutsideClockActivation => "outside_clock_activation",
        FindingKind::LockLeaked => "lock_leaked",
        FindingKind::LockUnbalanced => "lock_unbalanced",
        FindingKind::OversizedValue => "oversized_value",
        FindingKind::OutlastsPeriod => "outlasts_period",
        FindingKind::TickReadLate => "tick_read_late",
        FindingKind::LogFlood => "log_flood",
        FindingKind::CutCycle => "cut_cycle",
        FindingKind::AskedForEnd => "asked_for_end",
        FindingKind::OffThePoint => "off_the_point",
        FindingKind::NotANumber => "not_a_number",
        FindingKind::NotABoolean => "not_a_boolean",
        FindingKind::IllegalNominal => "illegal_nominal",
        FindingKind::UpdateOutsideStep => "update_outside_step",
        FindingKind::TooManyEvents => "too_many_events",
        FindingKind::ShorterThanAccepted => "shorter_than_accepted",
        FindingKind::PastEvent => "past_event",
        FindingKind::CreepingTime => "creeping_time",
        FindingKind::NoState => "no_state",
        FindingKind::StarvedThreads => "starved_threads",
        FindingKind::ChangedLocale => "changed_locale",
        FindingKind::ChangedDirectory => "changed_directory",
        FindingKind::ChangedUmask => "changed_umask",
        FindingKind::ChangedSignalMask => "changed_signal_mask",
        FindingKind::ChangedEnvironment => "changed_environment",
        FindingKind::Count => "count",
    }
}

/// Message about an offence: the deed, its count, and its first place.
fn offence(prepared: &Prepared, fmu: FmuId, finding: FindingKind, count: u64, first: Occurrence) -> String {
    let name = first.reference.and_then(|reference| {
        let variables = &prepared.descriptions[fmu.0].variables;
        variables.iter().find(|v| v.value_reference == reference).map(|v| plain(&v.name))
    });
    let name = name.unwrap_or_else(|| "a variable".to_owned());
    let seconds = f64::from_bits(first.value);
    let value = first.value;
    let what = match finding {
        FindingKind::IllegalInterval => {
            format!("ignored {} that no clock can have: {seconds} s for clock {name}", some(count, "interval"))
        }
        FindingKind::IllegalTickTime => format!(
            "corrected {} of a tick (intermediateUpdateTime) that it cannot have: {seconds} s",
            some(count, "time")
        ),
        FindingKind::IllegalQualifier => format!(
            "ignored {} with a qualifier that does not exist: {} for clock {name}",
            some(count, "interval"),
            value as i32
        ),
        FindingKind::NestedUpdate => {
            format!("refused {} from inside fmi3GetClock or fmi3GetInterval*", some(count, "clock update"))
        }
        FindingKind::ForeignThread => format!(
            "refused {} from a thread that is inside no call to it (thread {value}); clock updates belong into \
             fmi3ActivateModelPartition",
            some(count, "clock update")
        ),
        FindingKind::ForeignLock => format!(
            "{} of lockPreemption or unlockPreemption had no effect: on a thread that vecud has not made (thread {value}), which \
             it cannot keep from anything",
            some(count, "call")
        ),
        FindingKind::OutsideClockActivation => {
            format!("refused {} before Clock Activation Mode or after fmi3Terminate", some(count, "clock update"))
        }
        FindingKind::LockLeaked => {
            format!("{} a partition returned with the preemption lock held; it was released", some(count, "time"))
        }
        FindingKind::LockUnbalanced => format!("{} of unlockPreemption without a lock", some(count, "call")),
        FindingKind::OversizedValue => format!(
            "{} longer than there is room for (maxSize, max_size or text_size), which nobody was given: {value} bytes of {name}",
            some(count, "value")
        ),
        FindingKind::OutlastsPeriod => format!(
            "{} executed for longer than {} for {:.3} ms",
            some(count, "activation"),
            match first.reference {
                Some(_) => format!("the period of the clock: {name}"),
                None => "its step:".to_owned(),
            },
            value as f64 / 1e6
        ),
        FindingKind::TickReadLate => format!(
            "{} of {name} surfaced in a partition that its clocks attribute does not name: a partition ticked it without a \
             clock update, or the attribute is wrong",
            some(count, "tick")
        ),
        FindingKind::LogFlood => format!("{} came too fast to be kept", some(count, "log message")),
        FindingKind::CutCycle => format!(
            "{} of {name} would have closed a cycle of triggers at one instant; it was cut there",
            some(count, "tick")
        ),
        FindingKind::AskedForEnd => "asked for the end of the run (terminateSimulation)".to_owned(),
        FindingKind::OffThePoint => format!(
            "{} reached another time than it was to go to: {seconds} by what the FMU says (lastSuccessfulTime)",
            some(count, "step")
        ),
        FindingKind::NotANumber => {
            let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
            let variables = &prepared.descriptions[fmu.0].variables;
            let is_array =
                variables.iter().any(|v| Some(v.value_reference) == first.reference && !v.dimensions.is_empty());
            let element = if is_array { format!("element {value} of ") } else { String::new() };
            format!("gave NaN {times}: for {element}{name}")
        }
        FindingKind::NotABoolean => {
            let what = some(count, "value");
            format!("gave {what} for Booleans neither 0 nor 1, taken for true: {} for {name}", value as i64)
        }
        FindingKind::IllegalNominal => {
            let function = Function::GetNominalsOfContinuousStates.name_in(prepared.plan.fmus[fmu.0].abi);
            let what = some(count, "nominal value");
            format!("gave {what} of continuous states that are not above 0, taken for 1: {seconds} ({function})")
        }
        FindingKind::UpdateOutsideStep => format!(
            "refused {} from a thread (thread {value}) that makes no step of it",
            some(count, "intermediate update")
        ),
        FindingKind::TooManyEvents if prepared.plan.units.iter().any(UnitPlan::shows_events) => format!(
            "had more than {value} events within a billionth of a second (or of the time), or a millionth of the interval of rows: what \
             came after those was handled at the next row"
        ),
        FindingKind::TooManyEvents => format!(
            "had more than {value} events in {}: what came after those was handled at the end of the step (max_events)",
            some(count, "step")
        ),
        FindingKind::ShorterThanAccepted => format!(
            "ended {} earlier than one that it had accepted: at {seconds} s; its group went on from there (A1: a step that is shorter \
             than an accepted one is accepted)",
            some(count, "step")
        ),
        FindingKind::PastEvent => {
            let were = if count == 1 { "was" } else { "were" };
            format!(
                "told {} that {were} over by then: {seconds} (nextEventTime); what is over is handled at the next communication point",
                some(count, "time event")
            )
        }
        FindingKind::NoState => {
            "gave no state when it was asked for it, and said that all is well, though its description says that it can: its steps are \
             not undone, and one that it discards is an error"
                .to_owned()
        }
        FindingKind::StarvedThreads => {
            let (plan, own) = (&prepared.plan, &prepared.plan.fmus[fmu.0].name);
            let unit = first.unit.map(|unit| &plan.units[unit.0]);
            let (held_by, cpu) =
                unit.map_or(("a partition".to_owned(), 0), |unit| (plain(&plan.told_name(unit)), plan.tasks[unit.task.0].cpu));
            format!(
                "{held_by} held core {cpu} for more than 1 s, and {} of FMU code that could run there alone got nothing of it: the watchdog has \
                 moved them to cores without partitions. Threads that a partition makes stay on its core: let it sleep while it waits for \
                 them, or make none, such as by env = {{ OMP_WAIT_POLICY = \"passive\" }} or OMP_NUM_THREADS = \"1\" in [fmu.{own}]",
                some(value, "thread")
            )
        }
        FindingKind::CreepingTime => {
            let is_simulated = prepared.plan.units.iter().any(UnitPlan::shows_events);
            format!(
                "told {} more after {value} in a row that time has hardly gone on for (nextEventTime): each of them was handled at \
                 {}",
                some(count, "time event"),
                if is_simulated { "the next row" } else { "the end of its step" }
            )
        }
        FindingKind::ChangedLocale
        | FindingKind::ChangedDirectory
        | FindingKind::ChangedUmask
        | FindingKind::ChangedSignalMask
        | FindingKind::ChangedEnvironment => {
            changed(prepared, fmu, finding.changed().expect("it is such a change"), count, value)
        }
        FindingKind::Count => String::new(),
    };
    let ends = finding == FindingKind::NotANumber && prepared.plan.nan == OnNan::Stop;
    let end = if ends { "; that ended the run (rig: nan = \"stop\")" } else { "" };
    what + &place(prepared, first, count) + end
}

/// Message about a change that an FMU made for all FMUs of the process.
fn changed(prepared: &Prepared, fmu: FmuId, what: &str, count: u64, when: u64) -> String {
    let first = if count == 1 { "" } else { "first " };
    /// No FMU can be identified as the author of the change.
    const UNCLEAR: u64 = When::Unclear as u64;
    let told = match when {
        1 => "when its library was loaded",
        2 => "when it was instantiated",
        3 => "when it was initialised",
        6 => "when it was ended",
        _ => "while the run went on",
    };
    let fmus = &prepared.plan.fmus;
    let is_known = fmus.iter().any(|other| other.changes_process);
    let other = |index: usize| index != fmu.0 && (!is_known || fmus[index].changes_process);
    let others: Vec<String> =
        (0..fmus.len()).filter(|index| other(*index)).map(|index| format!("`{}`", fmus[index].name)).collect();
    let by = match when == UNCLEAR && !others.is_empty() {
        true => format!(", unless that was another one that can ({})", others.join(", ")),
        false => String::new(),
    };
    format!("changed {what} {}, {first}{told}{by}; that was put back", some(count, "time"))
}

/// `, first in clock ecu.fast at 0.25 s`
fn place(prepared: &Prepared, first: Occurrence, count: u64) -> String {
    let mut place = String::new();
    if let Some(unit) = first.unit.and_then(|unit| prepared.plan.units.get(unit.0)) {
        let what = if unit.clock().is_some() { "clock " } else { "" };
        place += &format!(" in {what}{}", plain(&unit.name));
    }
    if let Some(time) = first.time {
        place += &format!(" at {} s", time.seconds());
    }
    match (place.is_empty(), count) {
        (true, _) => place,
        (false, 1) => format!(",{place}"),
        (false, _) => format!(", first{place}"),
    }
}

/// Adds irregularities of a successful run that are no offences against the standard.
pub fn irregularities(
    prepared: &Prepared,
    board: Board,
    fmus: &[FmuResult],
    clocks: &[ClockResult],
    facts: &RunFacts,
    problems: &mut Vec<Problem>,
) {
    let plan = &prepared.plan;
    let mut counted = |number: u64, subject: &Subject, kind: Kind| {
        if number > 0 {
            problems.push(Problem::warning(subject.clone(), kind));
        }
    };
    for (index, clock) in clocks.iter().enumerate() {
        let (own, release) = (&tasks::subject(plan, UnitId(index)), &plan.units[index].release);
        counted(clock.overruns, own, Kind::Overruns { count: clock.overruns, queues: queues(release) });
        counted(clock.retimed, own, Kind::Retimed { count: clock.retimed });
        let endpoint = plan.endpoints.iter().find(|endpoint| endpoint.target.unit == UnitId(index));
        if let (Some(datagrams), Some(EndpointPlan { source, max_rate, .. })) = (&clock.datagrams, endpoint) {
            let (address, max_rate) = (source.to_string(), *max_rate);
            let (limited, dropped) = (datagrams.rate_limited, datagrams.dropped);
            counted(limited, own, Kind::RateLimited { count: limited, address: address.clone(), max_rate });
            counted(dropped, own, Kind::KernelDropped { count: dropped, address });
        }
        let elsewhere = board.task(UnitId(index)).get(TaskWord::WrongCore);
        counted(elsewhere, own, Kind::OtherCore { count: elsewhere, planned: clock.cpu });
        let refused = board.task(UnitId(index)).get(TaskWord::RaiseRefused);
        counted(refused, own, Kind::LockUnprotected { count: refused });
    }
    for (index, fmu) in fmus.iter().enumerate().filter(|(index, _)| plan.fmus[*index].on_warning != OnWarning::Ignore) {
        let own = plan.units.iter().enumerate().filter(|(_, unit)| unit.fmu == FmuId(index));
        let of_tasks: u64 = own.map(|(unit, _)| board.task(UnitId(unit)).get(TaskWord::Warnings)).sum();
        let warnings = of_tasks + board.fmu(FmuId(index)).word(FmuWord::Warnings).load(SeqCst);
        let status = Status::Warning.name_in(plan.fmus[index].abi).to_owned();
        let in_run_log = facts.has_run_log;
        counted(warnings, &Subject::Fmu(fmu.name.clone()), Kind::Warnings { count: warnings, status, in_run_log });
    }
    let [foreign, panicked] = [Global::ForeignCalls, Global::Panicked].map(|word| board.global(word).load(SeqCst));
    let unlogged = board.log().dropped();
    let dropped: u64 = (0..plan.units.len()).map(|unit| board.task(UnitId(unit)).get(TaskWord::SamplesDropped)).sum();
    counted(foreign, &Subject::Run, Kind::ForeignCalls { count: foreign });
    counted(panicked, &Subject::Run, Kind::Panicked);
    counted(unlogged, &Subject::Run, Kind::LogDropped { count: unlogged });
    counted(dropped, &Subject::Run, Kind::SamplesDropped { count: dropped });
    counted(facts.late_samples, &Subject::Run, Kind::SamplesLate { count: facts.late_samples });
}

/// Whether the clock's ticks wait in a queue, so that only a full one is an overrun (semantics S9, S12).
fn queues(release: &Release) -> bool {
    !matches!(release, Release::Periodic { .. } | Release::Asked | Release::Changing)
}

/// Message about a value that a clock cannot have, with the reason.
pub fn unusable(plan: &Plan, reading: Unusable, function: Option<Function>) -> String {
    let is_shift = matches!(function, Some(Function::GetShiftDecimal | Function::GetShiftFraction));
    let what = if is_shift { "the shift" } else { "the interval" };
    let zero = "is not above 0, so the clock would tick twice at one time";
    match reading {
        Unusable::Element(number) => match function {
            Some(Function::GetEventIndicators) => {
                format!("NaN for event indicator {}, however small the step was made,", number + 1)
            }
            Some(Function::SetContinuousStates) => {
                let state = number + 1;
                format!(
                    "derivatives that lead to no finite state {state}, however small the step was made (solver, step),"
                )
            }
            _ => format!("no finite derivative of state {}, however small the step was made,", number + 1),
        },
        Unusable::NoStep => {
            "derivatives with which no step is short enough for the tolerance: they have no bounds, or the \
                             tolerance is below what can be computed,"
                .to_owned()
        }
        Unusable::Loop(connection) => {
            let connection = usize::try_from(connection).ok().and_then(|number| plan.connections.get(number));
            let name = connection.map_or_else(String::new, |own| format!(" through {} → {}", own.from, own.to));
            format!("no solution of the algebraic loop{name} (loops = \"newton\"),")
        }
        Unusable::Assumption(number, seconds) => {
            let what = match number {
                0 => "a step ends between its beginning and the end that was asked for (A0)",
                1 => "a step that is shorter than an accepted one is accepted (A1)",
                _ => "what says how far it steps accepts every step up to that (A4)",
            };
            format!("a step to {seconds} s, which its master cannot go on from: {what},")
        }
        Unusable::TooManyEvents(most) => {
            format!("more than {most} steps within one of its group, whose end was not reached therefore (max_events),")
        }
        Unusable::MaxStep(size) => {
            format!("{size} as its largest step, which has to be above 0 for any step to be made,")
        }
        Unusable::Number(said, described) => {
            format!("{said}, and by its modelDescription.xml and its structural parameters there are {described},")
        }
        Unusable::Restless(iterations, by_others) => {
            let why = match by_others {
                0 => "it still asks for another one",
                _ => {
                    "what its inputs get from others still changes: around a circle of connections, or as an FMU that \
                     feeds it changes with each iteration"
                }
            };
            format!("no end of an event: after {iterations} iterations {why},")
        }
        Unusable::Qualifier(0) => {
            "the qualifier fmi3IntervalNotYetKnown, which only a countdown clock can have,".to_owned()
        }
        Unusable::Qualifier(raw) => format!("the interval qualifier {raw}, which does not exist,"),
        Unusable::Fraction(counter, resolution) => {
            let why = match (counter, resolution) {
                (_, 0) => "has the resolution 0",
                (0, _) => zero,
                _ => "is shorter than there can be or has a resolution above 2^63",
            };
            format!("{what} {counter}/{resolution} s, which {why},")
        }
        Unusable::Decimal(seconds) => {
            let why = match seconds {
                _ if !seconds.is_finite() => "is not finite",
                _ if seconds < 0.0 => "is negative",
                0.0 => zero,
                _ if seconds < 1.0 => "is shorter than there can be",
                _ => "is longer than can be kept exactly",
            };
            format!("{what} {seconds} s, which {why},")
        }
    }
}

/// The overrun that ended the run, as the rig demands.
pub fn stopped_by_overrun(plan: &Plan, board: Board) -> Option<Problem> {
    let global = |word: Global| board.global(word).load(SeqCst);
    let unit = board.named_task(global(Global::OverrunTask))?;
    let time = [Global::OverrunTime, Global::OverrunTime1, Global::OverrunTime2].map(global);
    let kind = Kind::StoppedByOverrun {
        due_s: Instant::from_words(time).seconds(),
        late: global(Global::OverrunLate),
        queues: queues(&plan.units[unit.0].release),
    };
    Some(Problem { severity: Severity::Limit, subject: tasks::subject(plan, unit), kind })
}
