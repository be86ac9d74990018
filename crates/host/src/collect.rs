//! Shared memory and exit status → [`Run`]: the measurements, the end of each instance, and the problems.

use super::death::{death, given_up, lasting};
use super::facts::RunFacts;
use super::findings::{self, irregularities, stopped_by_overrun};
use super::offspring;
use super::recorder::RecordingOutcome;
use super::totals::scheduling;
use super::{Prepared, fmus, promise, releases, schedulability, stimuli, tasks};
use jiff::Timestamp;
use std::sync::atomic::Ordering::SeqCst;
use std::time::SystemTime;
use vecud_base::priority::FifoPriority;
use vecud_base::time::{Instant, Nanos};
use vecud_plan::{FmuId, OnError, OnNan, UnitId};
use vecud_record::board::{Board, Global, TaskWord};
use vecud_record::findings::FindingKind;
use vecud_report::{
    ClockResult, End, Ended, FmuResult, FmuStatus, HostResult, Kind, Problem, Run, Severity, SignalResult, Subject,
    TraceResult, judge,
};

/// Puts the run together.
pub fn collect(prepared: &Prepared, board: Board, told: &RecordingOutcome, facts: &RunFacts) -> Run {
    let plan = &prepared.plan;
    let global = |word: Global| board.global(word).load(SeqCst);
    let scheduling = scheduling(board);
    let mut clocks: Vec<ClockResult> = (0..plan.units.len())
        .map(|unit| tasks::clock(plan, board, UnitId(unit), scheduling, &facts.dropped_datagrams))
        .collect();
    let mut notes = plan.notes.clone();
    notes.extend(facts.pauses.note());
    let shared = schedulability::predict(plan, scheduling, &mut clocks, &mut notes);
    if let (times @ 1.., removed) = told.rotated {
        let times = if times == 1 { "once".to_owned() } else { format!("{times} times") };
        let gone = match removed {
            0 => String::new(),
            bytes => format!(", and {:.1} MiB before that are gone", bytes as f64 / f64::from(1 << 20)),
        };
        notes.push(format!(
            "run.log was begun anew {times} (log_limit in [host]): what it was before is run-earlier.log{gone}"
        ));
    }
    let died = if facts.run_continues { None } else { death(plan, board, facts) };
    let died_in_it = died.as_ref().filter(|died| !died.is_after_the_run);
    let fmus: Vec<FmuResult> = (0..plan.fmus.len())
        .map(|fmu| FmuResult {
            name: plan.fmus[fmu].name.clone(),
            path: plan.fmus[fmu].path.display().to_string(),
            status: match fmus::status(board, facts.phase, FmuId(fmu), died_in_it) {
                FmuStatus::Aborted if facts.run_continues => FmuStatus::Running,
                status => status,
            },
            lock: fmus::lock(plan, board, FmuId(fmu)),
            findings: findings::of_fmu(prepared, board, FmuId(fmu))
                .into_iter()
                .chain(facts.threads.findings(plan, FmuId(fmu)))
                .chain(offspring::finding(plan, &facts.left_processes, facts.left_processes_ended, Some(FmuId(fmu))))
                .collect(),
            log: told.last_lines[fmu].iter().map(str::to_owned).collect(),
            calls: fmus::calls(plan, board, FmuId(fmu)),
        })
        .collect();
    // What has failed could note that: it comes before what did not return, or ended the process.
    let failed = |(fmu, own)| fmus::failure(plan, board, FmuId(fmu), own, &told.last_lines[fmu]);
    let failures = fmus.iter().enumerate().filter_map(failed);
    let mut problems: Vec<Problem> = failures.collect();
    problems.extend(died.iter().map(|died| died.problem.clone()));
    problems.extend(given_up(plan, facts, died.as_ref()));
    problems.extend(lasting(plan, board, facts));
    for (unit, clock) in clocks.iter().enumerate() {
        let (subject, measured) =
            (tasks::subject(plan, UnitId(unit)), tasks::measured(board, UnitId(unit), clock, facts));
        problems.extend(judge(&plan.limits(UnitId(unit)), &measured, &subject));
    }
    problems.extend(
        shared.into_iter().map(|(fmu, text)| {
            Problem::warning(Subject::Fmu(fmus[fmu.0].name.clone()), Kind::SharedPriorities { text })
        }),
    );
    let overrun = stopped_by_overrun(plan, board);
    let is_overrun = overrun.is_some();
    problems.extend(overrun);
    for text in &told.broken {
        problems.push(Problem::failure(Subject::Run, Kind::FileIncomplete { text: text.clone() }));
    }
    problems.extend(told.problems.iter().cloned());
    let stimuli = stimuli::results(plan, board);
    stimuli::problems(plan, &stimuli, board, &facts.stimulus_faults, &mut problems);
    irregularities(prepared, board, &fmus, &clocks, facts, &mut problems);
    let connections = promise::connections(plan, board, &mut problems);
    let promise = promise::promise(plan, board, facts.late_samples, &mut problems);
    let severity = if facts.strict { Severity::Failure } else { Severity::Finding };
    let of_fmus =
        fmus.iter().flat_map(|fmu| fmu.findings.iter().map(|own| (Subject::Fmu(fmu.name.clone()), own.clone())));
    let of_nobody = offspring::finding(plan, &facts.left_processes, facts.left_processes_ended, None)
        .map(|own| (Subject::Run, own));
    let offences = of_fmus.chain(of_nobody);
    problems.extend(offences.map(|(subject, own)| {
        let severity = match &*own.kind {
            // That is no offence.
            "asked_for_end" => Severity::Finding,
            "not_a_number" if plan.nan == OnNan::Stop => Severity::Failure,
            _ => severity,
        };
        let kind = Kind::Offence { offence: own.kind, count: own.count, text: own.message };
        Problem { severity, subject, kind }
    }));
    if problems.iter().any(|problem| problem.severity == Severity::Failure) {
        problems.extend(facts.memory.shortage(board).map(|kind| Problem::failure(Subject::Run, kind)));
    }
    if told.is_cut || global(Global::LogCut) != 0 {
        problems.push(Problem::warning(Subject::Run, Kind::LogCut { limit_mib: plan.host.log_limit_mib }));
    }
    // A file that is not written fails the run and does not end it.
    let failures = problems.iter().filter(|problem| problem.severity == Severity::Failure).count();
    let failed = failures > told.broken.len();
    let stopped = global(Global::StopRequest) != 0;
    // What an FMU may ask for counts as the stop time, and may come before it.
    let asked = |fmu| board.fmu(FmuId(fmu)).findings().count(FindingKind::AskedForEnd) > 0;
    let asked = plan.on_error == OnError::Stop && (0..plan.fmus.len()).any(asked);
    let end = end(
        plan.stop.filter(|_| !facts.run_continues && !failed && !stopped && !is_overrun && !asked),
        prepared.begin(),
        plan.start.nanos().plus(Nanos(global(Global::Reached) as i64)),
    );
    let is_whole = prepared.options.save_state.is_none() && prepared.resumed.is_none();
    if is_whole && !facts.run_continues {
        problems.extend(releases::account(plan, board, end, &mut clocks));
    }
    problems.sort_by_key(|problem| problem.severity);
    // A runner that dies does not get to say when.
    let (began, said) = (global(Global::StartMonotonic) as i64, global(Global::Ended) as i64);
    let ended = if said > 0 { said } else { facts.runner_ended };
    let samples_dropped =
        (0..plan.units.len()).map(|unit| board.task(UnitId(unit)).get(TaskWord::SamplesDropped)).sum();
    Run {
        rig: plan.rig.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        mode: plan.mode,
        command: prepared.options.command.clone(),
        started: rfc3339(facts.started),
        start_monotonic_ns: began,
        start_time: prepared.begin().seconds(),
        end_time: end.seconds(),
        wall_seconds: if began > 0 && ended > began { Nanos(ended - began).seconds() } else { 0.0 },
        ended: if facts.run_continues { Ended::Running } else { Ended::Finished },
        end: if failed || facts.run_continues {
            End::Failure
        } else if is_overrun {
            End::Overrun
        } else if stopped {
            End::Signal
        } else {
            End::StopTime
        },
        problems,
        notes,
        pauses: facts.pauses.clone(),
        host: HostResult {
            kernel: facts.machine.kernel.clone(),
            preempt_rt: facts.machine.preempt_rt,
            scheduling,
            fifo_band_asked: plan.host.fifo_asked,
            fifo_band_used: band(&clocks),
            memory_locked: global(Global::MemoryLocked) == 1,
            memory_locked_bytes: global(Global::MemoryLockedBytes),
            memory_wanted_bytes: global(Global::MemoryWantedBytes),
            memory_over_time: facts.memory.over_time(),
            dma_latency_held: global(Global::DmaLatency) == 1,
            clock: if plan.keeps_tai() { "tai" } else { "monotonic" }.into(),
            spin_us: plan.host.spin.0 as f64 / 1e3,
            cpu_model: facts.machine.cpu_model.clone(),
            cpus_online: facts.machine.cpus_online,
            isolated_cpus: facts.machine.isolated_cpus.clone(),
            load_at_start: facts.load_at_start,
            load_at_end: facts.machine.load,
            doctor: facts.doctor.clone(),
            facts: facts.machine.facts.clone(),
            cores: facts.core_counts.clone(),
        },
        fmus,
        clocks,
        stimuli,
        repetition: facts.repetition,
        connections,
        promise,
        samples_dropped,
        log_dropped: board.log().dropped(),
        log_rotations: told.rotated.0,
        trace: TraceResult::default(),
        signals: plan.signals.iter().map(SignalResult::of).collect(),
        recordings: told.recordings.clone(),
        overview: None,
    }
}

/// Lowest and highest priority.
fn band(clocks: &[ClockResult]) -> Option<(FifoPriority, FifoPriority)> {
    let used = || clocks.iter().filter_map(|clock| clock.fifo_priority);
    Some((used().min_by_key(|priority| priority.get())?, used().max_by_key(|priority| priority.get())?))
}

/// The simulation time at which a run was over: its stop time, where it has come to that; else what it has `reached`, which of a run
/// that was taken up again is nothing before its first activation.
fn end(stop: Option<Instant>, begin: Instant, reached: Nanos) -> Instant {
    stop.unwrap_or_else(|| Instant::from_nanos(reached.max(begin.nanos())))
}

/// A point of time as RFC 3339 in UTC, to the second.
fn rfc3339(time: SystemTime) -> String {
    let second = Timestamp::try_from(time).map_or(0, Timestamp::as_second);
    Timestamp::from_second(second).unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    /// A run that was restored at 0.05 s and failed before its first activation has simulated nothing, not less.
    #[test]
    fn a_run_never_ends_before_it_begins() {
        let at = |seconds| Instant::from_f64(seconds).unwrap();
        assert_eq!(end(None, at(0.05), Nanos(0)), at(0.05));
        assert_eq!(end(None, at(0.05), Nanos(70_000_000)), at(0.07));
        assert_eq!(end(Some(at(1.0)), at(0.05), Nanos(70_000_000)), at(1.0));
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_795_132_800, "2026-11-20T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
