//! Shared memory → what was measured of each task.

use super::facts::RunFacts;
use super::{causes, schedulability};
use vecud_base::time::{Fraction, Nanos};
use vecud_plan::{Mode, Plan, Release, UnitId, UnitPlan};
use vecud_record::board::{Board, Metric, TaskCells, TaskWord};
use vecud_report::{
    ClockResult, DatagramCounts, Distribution, IntegrationCounts, Measured, Scheduling, StepCounts, Subject, Unreturned,
};

/// Whom problems of a task are about.
pub fn subject(plan: &Plan, unit: UnitId) -> Subject {
    let planned = &plan.units[unit.0];
    Subject::task(&plan.fmus[planned.fmu.0].name, &planned.name, planned.kind())
}

/// The measurements of a task that limits are about.
pub fn measured(board: Board, unit: UnitId, result: &ClockResult, facts: &RunFacts) -> Measured {
    let unreturned = facts.unreturned[unit.0]
        .map(|own| Unreturned { ran: facts.hangs.ran(unit, &own).max(0) as u64, running: own.running.max(0) as u64 });
    Measured {
        start_latency: result.start_latency.max(),
        execution: result.execution.max(),
        overruns: result.overruns,
        demoted: board.task(unit).get(TaskWord::Demoted) == 1,
        unreturned,
    }
}

/// The figures of one task. `dropped`: for each task that an endpoint ticks, the number of items that were lost before the runner
/// had them.
pub fn clock(
    plan: &Plan,
    board: Board,
    unit: UnitId,
    scheduling: Scheduling,
    dropped: &[(UnitId, u64)],
) -> ClockResult {
    let (planned, task, cells) = (&plan.units[unit.0], plan.task_of(unit), board.task(unit));
    let fmu = &plan.fmus[planned.fmu.0];
    let asked = [TaskWord::AskedCounter, TaskWord::AskedResolution].map(|word| cells.get(word));
    let interval = match &planned.release {
        Release::Periodic { interval, .. } => Some(*interval),
        _ => Fraction::new(asked[0], asked[1]).ok(),
    };
    let measured = |metric| match plan.mode {
        Mode::RealTime => cells.histogram(metric).read().into(),
        Mode::Virtual => Distribution::default(),
    };
    let dropped = dropped.iter().find(|(own, _)| *own == unit);
    ClockResult {
        fmu: fmu.name.clone(),
        clock: planned.name.clone(),
        kind: planned.kind(),
        interval_s: interval.map(Fraction::seconds),
        activated_by: activated_by(plan, &planned.release, interval),
        fmi_priority: planned.urgency,
        fifo_priority: (scheduling == Scheduling::Fifo).then_some(task.fifo),
        cpu: task.cpu,
        thread: task.thread.clone(),
        releases: None,
        activations: cells.get(TaskWord::Activations),
        overruns: cells.get(TaskWord::Overruns),
        skipped: cells.get(TaskWord::Skipped),
        coalesced: cells.get(TaskWord::Coalesced),
        retimed: cells.get(TaskWord::Retimed) + cells.get(TaskWord::LateEvents),
        discarded: cells.get(TaskWord::Discarded),
        datagrams: dropped.map(|&(_, dropped)| DatagramCounts {
            received: cells.get(TaskWord::Received) + dropped,
            rate_limited: cells.get(TaskWord::RateLimited),
            dropped,
        }),
        steps: planned.kind().makes_steps().then(|| steps(planned, cells)),
        max_latency: plan.limits(unit).max_latency.map(|limit| limit.0 as u64),
        schedulability: schedulability::seen(plan, cells),
        wakeup_latency: measured(Metric::Wakeup),
        start_latency: measured(Metric::Start),
        start_jitter: measured(Metric::Jitter),
        execution: measured(Metric::Execution),
        response: measured(Metric::Response),
        // The release of such a clock is the arrival of an item.
        arrival_latency: dropped.map(|_| measured(Metric::Start)),
        over_time: None,
        parts: causes::parts(board, unit),
        causes: causes::causes(plan, board, unit),
    }
}

/// The figures that only steps have.
fn steps(planned: &UnitPlan, cells: TaskCells) -> StepCounts {
    // FMU code may have written over it.
    let deviation = f64::from_bits(cells.get(TaskWord::Deviation));
    StepCounts {
        steps: cells.get(TaskWord::Steps),
        early_returns: cells.get(TaskWord::EarlyReturns),
        rejected_steps: cells.get(TaskWord::RejectedSteps),
        taken_back: cells.get(TaskWord::TakenBack),
        events: cells.get(TaskWord::Events),
        deferred: cells.get(TaskWord::Deferred),
        refused_ticks: cells.get(TaskWord::RefusedTicks),
        discarded_ticks: cells.get(TaskWord::DiscardedTicks),
        max_deviation_s: if deviation.is_finite() && deviation >= 0.0 { deviation } else { 0.0 },
        integration: planned.integration().map(|_| IntegrationCounts {
            solver_steps: cells.get(TaskWord::SolverSteps),
            rejected_solver_steps: cells.get(TaskWord::SolverRejected),
            right_hand_sides: cells.get(TaskWord::RightHandSides),
            most_right_hand_sides: cells.get(TaskWord::MostRightHandSides),
            jacobians: cells.get(TaskWord::Jacobians),
            state_events: cells.get(TaskWord::StateEvents),
        }),
    }
}

/// `interval`: of a periodic clock, when it is known.
fn activated_by(plan: &Plan, release: &Release, interval: Option<Fraction>) -> String {
    match release {
        Release::Periodic { .. } | Release::Asked => match interval.map(Fraction::seconds) {
            None => "an interval of the FMU's".to_owned(),
            Some(seconds) if seconds >= 1.0 => format!("every {seconds} s"),
            Some(seconds) if seconds >= 1e-3 => format!("every {} ms", Nanos::from_seconds(seconds).0 as f64 / 1e6),
            Some(seconds) => format!("every {} µs", Nanos::from_seconds(seconds).0 as f64 / 1e3),
        },
        Release::Triggered { fmu, output_clock } => {
            let fmu = &plan.fmus[fmu.0];
            format!("{}.{}", fmu.name, fmu.output_clocks[*output_clock].name)
        }
        Release::At(times) => format!("{} times from the rig", times.len()),
        Release::Changing => "its last interval".to_owned(),
        Release::Endpoint { endpoint } => plan.endpoints[*endpoint].source.to_string(),
        Release::Stimulus { stimulus, .. } => plan.stimuli[*stimulus].file.clone(),
        Release::Countdown => "countdown".to_owned(),
        Release::Request => "requests".to_owned(),
        Release::Never => "nothing".to_owned(),
    }
}
