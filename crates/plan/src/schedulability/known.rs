//! The input of the analysis: the known figures of each task of a plan, their origin, and the missing ones.
//!
//! The rig's figures count first, then measured ones. A missing figure is no error: the bounds that depend on it are not known.

use crate::{Figures, HostFigures, Plan, QUEUE, Release, UnitId, UnitPlan};
use vecud_base::time::{Fraction, Nanos};

/// Wake-up latency where neither the rig (`wakeup_us`) nor a run gives it.
pub const WAKEUP: Nanos = Nanos(50_000);
/// Processor time of the host per activation where the rig does not give it (`overhead_us`): timer interrupt, two context switches, the gate before the first FMI call, and recording after the
/// last.
pub const OVERHEAD: Nanos = Nanos(5_000);
/// External events that may arrive at once: as many as may wait for their clock.
pub const MAX_BURST: u64 = QUEUE as u64;

/// The measurements of a run in real time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredRun {
    /// The bounds are for this run, not for a later one: a clock that was never activated in it did not disturb it.
    pub this_run: bool,
    /// The clocks of the run.
    pub clocks: Vec<MeasuredClock>,
}

/// The measurements of a clock in a run; times in ns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredClock {
    /// Name of the instance.
    pub fmu: String,
    /// Name of the clock.
    pub clock: String,
    /// Number of activations.
    pub activations: u64,
    /// The longest execution of the clock.
    pub execution: u64,
    /// The longest locked section of the clock.
    pub lock: u64,
    /// The worst wake-up latency of the clock.
    pub wakeup: u64,
    /// The interval of a periodic clock, s.
    pub interval_s: Option<f64>,
    /// The shortest time between two releases of a clock that is not periodic, if there were two.
    pub shortest_interval: Option<u64>,
}

/// The origin of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The rig.
    Rig,
    /// A run.
    Run,
    /// A default, or a figure that does not matter.
    Default,
}

/// The releases of a task.
#[derive(Clone, Debug, PartialEq)]
pub enum ReleasePattern {
    /// Releases are at least this interval apart.
    Every(Fraction),
    /// Releases have this interval in the long run, but up to [`MAX_BURST`] come at once.
    Bursts(Fraction),
    /// Releases at these times.
    Times(Vec<Nanos>),
    /// A release at each tick of these tasks.
    TickedBy(Vec<UnitId>),
}

/// The known figures of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownTask {
    /// Whether something in the rig can activate the task and, for the bounds of a past run, did so in that run.
    pub active: bool,
    /// The longest execution of the task, without the host's own time.
    pub execution: Option<(Nanos, Origin)>,
    /// The longest locked section of the task, never longer than the execution.
    pub section: (Nanos, Origin),
    /// The releases of the task; `None`: unknown.
    pub pattern: Option<(ReleasePattern, Origin)>,
}

impl KnownTask {
    /// Whether the analysis lacks a figure of the task.
    pub fn is_incomplete(&self) -> bool {
        self.active && (self.execution.is_none() || self.pattern.is_none())
    }
}

/// The input of the analysis.
#[derive(Clone, Debug, PartialEq)]
pub struct AnalysisInput {
    /// The known figures of each task.
    pub tasks: Vec<KnownTask>,
    /// The worst wake-up latency of each task's core.
    pub wakeup: Vec<(Nanos, Origin)>,
    /// Processor time of an activation outside of FMU code.
    pub overhead: (Nanos, Origin),
}

/// Combines the figures of the plan's rig and, if there is one, of a run.
pub fn known(plan: &Plan, measured: Option<&MeasuredRun>) -> AnalysisInput {
    let runs: Vec<Option<Seen>> = plan.units.iter().map(|task| Seen::of(plan, task, measured)).collect();
    let this_run = measured.is_some_and(|measured| measured.this_run);
    let mut tasks: Vec<KnownTask> =
        runs.iter().enumerate().map(|(task, run)| input(plan, UnitId(task), *run, this_run && run.is_none())).collect();
    inactive(plan, &mut tasks);
    causes(plan, &mut tasks, &runs);
    let HostFigures { wakeup, overhead } = plan.host.figures;
    let wakeup_of = |unit: &UnitPlan| match wakeup {
        Some(wakeup) => (wakeup, Origin::Rig),
        None => {
            let cpu = plan.tasks[unit.task.0].cpu;
            measured_wakeup(plan, &runs, cpu).map_or((WAKEUP, Origin::Default), |wakeup| (wakeup, Origin::Run))
        }
    };
    AnalysisInput {
        wakeup: plan.units.iter().map(wakeup_of).collect(),
        overhead: overhead.map_or((OVERHEAD, Origin::Default), |overhead| (overhead, Origin::Rig)),
        tasks,
    }
}

/// The figures of a clock that was activated in a run.
#[derive(Clone, Copy)]
struct Seen<'a> {
    clock: &'a MeasuredClock,
    this_run: bool,
}

impl<'a> Seen<'a> {
    fn of(plan: &Plan, task: &UnitPlan, measured: Option<&'a MeasuredRun>) -> Option<Seen<'a>> {
        let name = &plan.fmus[task.fmu.0].name;
        let own = |clock: &&MeasuredClock| clock.fmu == *name && clock.clock == task.name && clock.activations > 0;
        let measured = measured?;
        measured.clocks.iter().find(own).map(|clock| Seen { clock, this_run: measured.this_run })
    }

    /// The clock's period. Reports have doubles, of fractions that were divided out, or of the shortest decimal.
    fn interval(self) -> Option<Fraction> {
        Fraction::duration(self.clock.interval_s?).ok().filter(|interval| !interval.is_zero())
    }

    /// The releases that the run has shown: by their shortest interval.
    fn pattern(self) -> Option<(ReleasePattern, Origin)> {
        if self.this_run && self.clock.activations == 1 {
            return Some((ReleasePattern::Times(vec![Nanos(0)]), Origin::Run));
        }
        let shortest = self.clock.shortest_interval.filter(|shortest| *shortest > 0)?;
        Some((ReleasePattern::Every(fraction(Nanos(i64::try_from(shortest).ok()?))), Origin::Run))
    }
}

fn input(plan: &Plan, unit: UnitId, run: Option<Seen>, idle: bool) -> KnownTask {
    let (planned, figures) = (&plan.units[unit.0], plan.figures(unit));
    let clock = run.map(|run| run.clock);
    let nanos = |ns: u64| Nanos(i64::try_from(ns).unwrap_or(i64::MAX));
    let by_rig = |nanos: Option<Nanos>| nanos.map(|nanos| (nanos, Origin::Rig));
    // A clock may be too coarse to see that it took time at all.
    let execution =
        by_rig(figures.execution).or(clock.map(|clock| (nanos(clock.execution).max(Nanos(1)), Origin::Run)));
    let section = by_rig(figures.lock).or(clock.map(|clock| (nanos(clock.lock), Origin::Run)));
    let (section, said_by) = section.unwrap_or((Nanos(0), Origin::Default));
    let longest = execution.map_or(section, |(execution, _)| execution);
    KnownTask {
        active: planned.release != Release::Never && !idle,
        execution,
        section: (section.min(longest), said_by),
        pattern: pattern(plan, planned, figures, run),
    }
}

/// The releases of a task, as far as they do not depend on other tasks.
fn pattern(plan: &Plan, unit: &UnitPlan, figures: Figures, run: Option<Seen>) -> Option<(ReleasePattern, Origin)> {
    if let Some(least) = figures.min_interval {
        return Some((ReleasePattern::Every(fraction(least)), Origin::Rig));
    }
    match &unit.release {
        Release::Periodic { interval, .. } => Some((ReleasePattern::Every(*interval), Origin::Default)),
        Release::Asked => Some((ReleasePattern::Every(run?.interval()?), Origin::Run)),
        Release::At(times) => {
            Some((ReleasePattern::Times(times.iter().map(|time| time.nanos()).collect()), Origin::Default))
        }
        Release::Endpoint { endpoint } => {
            let interval = Fraction::from_f64(1.0 / plan.endpoints[*endpoint].max_rate).ok()?;
            Some((ReleasePattern::Bursts(interval), Origin::Default))
        }
        Release::Changing | Release::Countdown | Release::Stimulus { .. } => run?.pattern(),
        Release::Triggered { .. } | Release::Request | Release::Never => None,
    }
}

fn fraction(nanos: Nanos) -> Fraction {
    Fraction::new(nanos.0 as u64, 1_000_000_000).expect("a billion is a small denominator")
}

/// Marks tasks that only inactive ones could activate as inactive.
fn inactive(plan: &Plan, tasks: &mut [KnownTask]) {
    for (task, roots) in crate::roots(&plan.units).into_iter().enumerate() {
        let idle =
            |root: &UnitId| plan.units[root.0].release == Release::Never || !plan.units[root.0].caused_by.is_empty();
        if roots.iter().all(idle) {
            tasks[task].active = false;
        }
    }
}

/// Triggered tasks follow those that may tick them, unless there is a circle or these are unknown.
fn causes(plan: &Plan, tasks: &mut [KnownTask], runs: &[Option<Seen>]) {
    let triggered = |task: usize| matches!(plan.units[task].release, Release::Triggered { .. });
    let mut settled = false;
    loop {
        let mut changed = false;
        for task in 0..tasks.len() {
            if tasks[task].pattern.is_some() || !triggered(task) || !tasks[task].active {
                continue;
            }
            let active = plan.units[task].caused_by.iter().filter(|cause| tasks[cause.0].active);
            let known = active.clone().all(|cause| tasks[cause.0].pattern.is_some());
            if known {
                tasks[task].pattern = Some((ReleasePattern::TickedBy(active.copied().collect()), Origin::Default));
            } else if settled {
                tasks[task].pattern = runs[task].and_then(Seen::pattern);
            }
            changed |= tasks[task].pattern.is_some();
            if changed && settled {
                break;
            }
        }
        match (changed, settled) {
            (true, _) => settled = false,
            (false, false) => settled = true,
            (false, true) => return,
        }
    }
}

/// The worst wake-up of the most urgent clock that a run activated on a core: the other clocks wait for partitions as well.
fn measured_wakeup(plan: &Plan, runs: &[Option<Seen>], cpu: usize) -> Option<Nanos> {
    let tasks = plan.units.iter().map(|unit| &plan.tasks[unit.task.0]);
    let here = tasks.zip(runs).filter(|(task, _)| task.cpu == cpu);
    let activated = here.filter_map(|(task, run)| Some((task.fifo.get(), (*run)?.clock)));
    let most_urgent = activated.clone().map(|(fifo, _)| fifo).max()?;
    let worst = activated.filter(|(fifo, _)| *fifo == most_urgent).map(|(_, run)| run.wakeup).min()?;
    i64::try_from(worst).ok().map(Nanos)
}

/// The release jitter of a burst: the last of [`MAX_BURST`] releases at once comes this long before its place on the grid.
pub(super) fn burst_jitter(interval: i128) -> i128 {
    interval * i128::from(MAX_BURST - 1)
}

/// The longest response with which no event of a burst is lost.
pub(super) fn burst_deadline(interval: Fraction) -> Option<Fraction> {
    Fraction::new(interval.counter().checked_mul(MAX_BURST)?, interval.resolution()).ok()
}
