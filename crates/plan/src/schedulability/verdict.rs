//! The verdict of the analysis: the worst response of each clock, missed deadlines, and their causes.

use super::known::{AnalysisInput, KnownTask, Origin, ReleasePattern, burst_deadline, burst_jitter, known};
use super::system::{Stage, fixed_point};
use super::{
    ArrivalPattern, Arrivals, CommonUnit, Demand, Load, MeasuredRun, ResponseBound, ResponseResult, Task, blocks, load,
};
use crate::{Plan, UnitId};
use std::collections::BTreeSet;
use vecud_base::time::{Fraction, Nanos};

/// The basis of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The rig's figures alone.
    Rig,
    /// Measured ones alone.
    Run,
    /// Some of each.
    Both,
}

/// The parts of a worst response; their sum is the response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worst {
    /// The time from the release to the end.
    pub response: Nanos,
    /// Origin of the figures.
    pub basis: Basis,
    /// Time to wake up.
    pub wakeup: Nanos,
    /// Number and time of the clock's own activations: this one, and those before it that delay it.
    pub own: (u64, Nanos),
    /// Time from the begin of the busy period to its release, which the response does not include.
    pub before: Nanos,
    /// Less urgent clocks and their time: locked sections, an activation of one that shares the priority, and of each that takes turns.
    pub blocking: Vec<(UnitId, Nanos)>,
    /// More urgent clocks, with the number and the time of their activations.
    pub interference: Vec<(UnitId, u64, Nanos)>,
}

/// The result of a clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResponseTime {
    /// Nothing activates the clock.
    Idle,
    /// A figure that the bound depends on is missing.
    Unknown,
    /// The worst response.
    Bounded(Worst),
    /// There is no bound: the clock and more urgent work need more than the core has.
    Overloaded,
    /// No bound was found: see [`ResponseResult::NotFound`].
    NotFound,
}

/// The verdict on a clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockVerdict {
    /// The longest response that is allowed.
    pub deadline: Option<Nanos>,
    /// The worst response of the clock, or why there is none.
    pub result: ResponseTime,
    /// The part of the worst response that comes from a FIFO priority shared with less urgent levels of its FMU; `None`: none is
    /// shared, or the part is unknown.
    pub shared: Option<Nanos>,
}

impl ClockVerdict {
    /// The time by which the clock may miss its deadline; `None`: it does not, or that is unknown.
    pub fn late(&self) -> Option<Nanos> {
        match (&self.result, self.deadline) {
            (ResponseTime::Bounded(worst), Some(deadline)) if worst.response > deadline => {
                Some(worst.response.minus(deadline))
            }
            _ => None,
        }
    }

    /// The worst response of the clock, if it has one.
    pub fn worst(&self) -> Option<&Worst> {
        match &self.result {
            ResponseTime::Bounded(worst) => Some(worst),
            _ => None,
        }
    }
}

/// The load of a core.
#[derive(Clone, Debug, PartialEq)]
pub struct CoreLoad {
    /// The number of the core.
    pub cpu: usize,
    /// The load of the clocks with known figures.
    pub load: Load,
    /// The shares of clocks with known figures that are activated again and again, in the order of the plan.
    pub shares: Vec<(UnitId, f64)>,
}

/// The analysis of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// The input of the analysis.
    pub known: AnalysisInput,
    /// The verdict on each task.
    pub clocks: Vec<ClockVerdict>,
    /// The cores that have partitions, in the order of their numbers.
    pub cores: Vec<CoreLoad>,
}

impl Analysis {
    /// The clocks that lack a figure.
    pub fn incomplete(&self) -> impl Iterator<Item = UnitId> {
        self.known.tasks.iter().enumerate().filter(|(_, input)| input.is_incomplete()).map(|(task, _)| UnitId(task))
    }

    /// Whether no clock is known to miss its deadline.
    pub fn is_schedulable(&self) -> bool {
        self.clocks.iter().all(|clock| {
            clock.late().is_none() && !matches!(clock.result, ResponseTime::Overloaded | ResponseTime::NotFound)
        }) && self.cores.iter().all(|core| core.load.against_one.is_le())
    }
}

/// Analyses a plan; measurements of a run replace missing figures of the rig.
pub fn analyse(plan: &Plan, measured: Option<&MeasuredRun>) -> Analysis {
    let known = known(plan, measured);
    let system = System::of(plan, &known);
    let stage = fixed_point(&system.tasks);
    let result = |task: usize| match system.place[task] {
        _ if !known.tasks[task].active => ResponseTime::Idle,
        None => ResponseTime::Unknown,
        Some(_) if system.unknown[task] => ResponseTime::Unknown,
        Some(place) => match stage.outcome(place) {
            ResponseResult::Overloaded => ResponseTime::Overloaded,
            ResponseResult::NotFound => ResponseTime::NotFound,
            ResponseResult::Bounded(bound) => ResponseTime::Bounded(system.worst(place, &bound, &stage, &known)),
        },
    };
    let alone = system.alone();
    let alone = (alone != system.tasks).then(|| fixed_point(&alone));
    // Where a clock has no bound because of that, the part is unknown.
    let shared = |task: usize| match (system.place[task], &alone) {
        (Some(place), Some(alone)) if system.tasks[place].waits && !system.unknown[task] => {
            match (stage.outcome(place), alone.outcome(place)) {
                (ResponseResult::Bounded(bound), ResponseResult::Bounded(alone)) => {
                    Some(system.unit.to_nanos(bound.response).minus(system.unit.to_nanos(alone.response)))
                }
                _ => None,
            }
        }
        _ => None,
    };
    let clock = |task: usize| ClockVerdict {
        deadline: deadline(plan, &known, task),
        result: result(task),
        shared: shared(task),
    };
    let clocks = (0..plan.units.len()).map(clock).collect();
    let cpus = BTreeSet::from_iter(plan.cores());
    let cores = cpus.into_iter().map(|cpu| system.load_of(cpu, &stage)).collect();
    Analysis { clocks, cores, known }
}

/// The rig's deadline, else the interval, for a triggered clock the shortest of its causes.
fn deadline(plan: &Plan, known: &AnalysisInput, task: usize) -> Option<Nanos> {
    let given = plan.figures(UnitId(task)).deadline;
    given.or_else(|| {
        let interval = interval(&known.tasks, task, true)?;
        Some(Nanos(
            i64::try_from(i128::from(interval.counter()) * 1_000_000_000 / i128::from(interval.resolution())).ok()?,
        ))
    })
}

/// The shortest interval between the releases of a task. `burst`: of a source of bursts, the time in which a burst has to be done.
pub(super) fn interval(tasks: &[KnownTask], task: usize, burst: bool) -> Option<Fraction> {
    match &tasks[task].pattern.as_ref()?.0 {
        ReleasePattern::Every(interval) => Some(*interval),
        ReleasePattern::Bursts(interval) if burst => burst_deadline(*interval),
        ReleasePattern::Bursts(interval) => Some(*interval),
        ReleasePattern::Times(times) => {
            let shortest = times.windows(2).map(|pair| pair[1].minus(pair[0]).0).min()?;
            Fraction::new(shortest.max(1) as u64, 1_000_000_000).ok()
        }
        ReleasePattern::TickedBy(causes) => causes.iter().filter_map(|cause| interval(tasks, cause.0, burst)).min(),
    }
}

/// The active tasks whose figures are all known.
struct System {
    tasks: Vec<Task>,
    unit: CommonUnit,
    /// The place of each task of the plan among `tasks`.
    place: Vec<Option<usize>>,
    /// The inverse of `place`.
    task: Vec<usize>,
    /// For each task of the plan, whether a figure that its bound depends on is missing.
    unknown: Vec<bool>,
    /// The turn of each task of the plan.
    turns: Vec<Option<usize>>,
}

impl System {
    fn of(plan: &Plan, known: &AnalysisInput) -> System {
        let is_known = |task: &usize| known.tasks[*task].active && !known.tasks[*task].is_incomplete();
        let task: Vec<usize> = (0..plan.units.len()).filter(is_known).collect();
        let mut place = vec![None; plan.units.len()];
        task.iter().enumerate().for_each(|(at, &task)| place[task] = Some(at));
        let intervals = known.tasks.iter().filter_map(|input| match &input.pattern {
            Some((ReleasePattern::Every(interval) | ReleasePattern::Bursts(interval), _)) => Some(*interval),
            _ => None,
        });
        let unit = CommonUnit::of(intervals);
        let (unknown, turns) = (unknown(plan, known), plan.turns());
        let mut system = System { tasks: Vec::new(), unit, place, task, unknown, turns };
        system.tasks = system.task.iter().map(|&task| system.in_numbers(plan, known, task)).collect();
        // All levels that share a priority, except the least urgent one, wait for others of these.
        for shared in plan.shared() {
            let level = |unit: &UnitId| plan.units[unit.0].level;
            let last = shared.last().map(level);
            for unit in shared.iter().filter(|unit| Some(level(unit)) != last) {
                if let Some(place) = system.place[unit.0] {
                    system.tasks[place].waits = true;
                }
            }
        }
        system
    }

    fn in_numbers(&self, plan: &Plan, known: &AnalysisInput, task: usize) -> Task {
        let (planned, input, unit) = (&plan.units[task], &known.tasks[task], self.unit);
        let overhead = known.overhead.0;
        let execution = input.execution.map_or(Nanos(0), |(execution, _)| execution);
        // A wait is a switch to the other task and back.
        let section = if input.section.0 > Nanos(0) { input.section.0.plus(overhead) } else { Nanos(0) };
        let arrivals = match input.pattern.as_ref().map(|(pattern, _)| pattern) {
            Some(ReleasePattern::Every(interval)) => {
                Arrivals::Own(ArrivalPattern::Grid { interval: unit.of_interval(*interval), jitter: 0 })
            }
            Some(ReleasePattern::Bursts(interval)) => {
                let interval = unit.of_interval(*interval);
                Arrivals::Own(ArrivalPattern::Grid { interval, jitter: burst_jitter(interval) })
            }
            // The host, too, releases at whole nanoseconds.
            Some(ReleasePattern::Times(times)) => {
                Arrivals::Own(ArrivalPattern::Times(times.iter().map(|time| unit.of_nanos(*time)).collect()))
            }
            Some(ReleasePattern::TickedBy(causes)) => {
                Arrivals::By(causes.iter().filter_map(|cause| self.place[cause.0]).collect())
            }
            None => Arrivals::By(Vec::new()),
        };
        Task {
            core: plan.task_of(UnitId(task)).cpu,
            instance: planned.fmu.0,
            urgency: plan.task_of(UnitId(task)).fifo.get().into(),
            level: planned.level,
            waits: false,
            turn: self.turns[task],
            execution: unit.of_nanos(execution.plus(overhead).plus(planned.polls(plan))),
            section: unit.of_nanos(section),
            wake: unit.of_nanos(known.wakeup[task].0),
            arrivals,
        }
    }

    /// The tasks as if each level had a priority of its own.
    fn alone(&self) -> Vec<Task> {
        self.tasks.iter().map(|task| Task { waits: false, ..task.clone() }).collect()
    }

    fn worst(&self, place: usize, bound: &ResponseBound, stage: &Stage, known: &AnalysisInput) -> Worst {
        let nanos = |units: i128| self.unit.to_nanos(units);
        let blocking = blocks(&self.tasks, place);
        let before: Vec<usize> = stage.before(place).collect();
        let interference = before.iter().filter_map(|&other| {
            let count = stage.demand(other)?.most(bound.window);
            let time = nanos(count * self.tasks[other].execution);
            (count > 0).then(|| (UnitId(self.task[other]), count as u64, time))
        });
        let matter: Vec<usize> =
            before.iter().copied().chain(blocking.iter().map(|block| block.by)).chain([place]).collect();
        let wakeup = stage.demand(place).map_or(0, |demand| demand.wake);
        Worst {
            response: nanos(bound.response),
            basis: self.basis(&matter, known),
            wakeup: nanos(wakeup),
            own: (bound.activations as u64, nanos(bound.activations * self.tasks[place].execution)),
            before: nanos(bound.released + wakeup),
            interference: interference.collect(),
            blocking: blocking.iter().map(|block| (UnitId(self.task[block.by]), nanos(block.span))).collect(),
        }
    }

    /// The origin of the figures of the tasks at these places.
    fn basis(&self, places: &[usize], known: &AnalysisInput) -> Basis {
        let mut said = BTreeSet::from([known.overhead.1]);
        let mut open: Vec<usize> = places.to_vec();
        let mut seen: BTreeSet<usize> = open.iter().copied().collect();
        while let Some(place) = open.pop() {
            let task = self.task[place];
            let input = &known.tasks[task];
            said.extend(input.execution.map(|(_, source)| source));
            said.extend(input.pattern.as_ref().map(|(_, source)| *source));
            said.extend([input.section.1, known.wakeup[task].1]);
            if let Arrivals::By(causes) = &self.tasks[place].arrivals {
                open.extend(causes.iter().filter(|cause| seen.insert(**cause)));
            }
        }
        match (said.contains(&Origin::Rig), said.contains(&Origin::Run)) {
            (true, true) => Basis::Both,
            (false, true) => Basis::Run,
            _ => Basis::Rig,
        }
    }

    fn load_of(&self, cpu: usize, stage: &Stage) -> CoreLoad {
        let here = (0..self.tasks.len()).filter(|&place| self.tasks[place].core == cpu);
        // Delays do not change the rate in the long run.
        let demand =
            |place: usize| Demand { execution: self.tasks[place].execution, wake: 0, streams: stage.roots(place) };
        let demands: Vec<(UnitId, Demand)> = here.map(|place| (UnitId(self.task[place]), demand(place))).collect();
        let shares =
            demands.iter().map(|(task, demand)| (*task, load([demand]).share)).filter(|(_, share)| *share > 0.0);
        CoreLoad { cpu, load: load(demands.iter().map(|(_, demand)| demand)), shares: shares.collect() }
    }
}

/// For each task, whether a figure that its bound depends on is missing.
fn unknown(plan: &Plan, known: &AnalysisInput) -> Vec<bool> {
    let tasks = &plan.units;
    let cpu = |task: usize| plan.task_of(UnitId(task)).cpu;
    let fifo = |task: usize| plan.task_of(UnitId(task)).fifo.get();
    // A task that takes turns with tasks of another core waits for work there, which the analysis does not include.
    let turns = plan.turns();
    let spans_cores: Vec<bool> = (0..plan.serials.len()).map(|turn| plan.is_over_cores(turn)).collect();
    let missing = |task: usize| {
        let is_over_cores = turns[task].is_some_and(|turn| spans_cores[turn]);
        known.tasks[task].is_incomplete() || (known.tasks[task].active && is_over_cores)
    };
    let ceiling = |task: usize| {
        let takes_turns = |other: usize| turns[task].is_some() && turns[other] == turns[task];
        let is_met = |other: &usize| tasks[*other].fmu == tasks[task].fmu || takes_turns(*other);
        (0..tasks.len()).filter(is_met).map(fifo).max()
    };
    let causes = |task: usize| match &known.tasks[task].pattern {
        Some((ReleasePattern::TickedBy(causes), _)) => causes.as_slice(),
        _ => &[],
    };
    let incomplete: Vec<(usize, Option<u8>)> =
        (0..tasks.len()).filter(|&task| missing(task)).map(|task| (task, ceiling(task))).collect();
    // A task that is incomplete disturbs all that are no more urgent, and blocks up to the ceiling of its instance and of its turn.
    let disturbed = |task: usize| {
        incomplete.iter().any(|&(other, ceiling)| {
            let reach = ceiling.max(Some(fifo(other)));
            cpu(other) == cpu(task) && reach >= Some(fifo(task))
        })
    };
    let mut unknown: Vec<bool> = (0..tasks.len()).map(|task| missing(task) || disturbed(task)).collect();
    loop {
        // Tasks that unknown ones activate come at unknown times, and disturb others as well.
        let vague: Vec<usize> = (0..tasks.len())
            .filter(|&task| known.tasks[task].active && causes(task).iter().any(|cause| unknown[cause.0]))
            .collect();
        let affected = |task: usize, &other: &usize| cpu(other) == cpu(task) && fifo(other) >= fifo(task);
        let more: Vec<usize> = (0..tasks.len())
            .filter(|&task| !unknown[task] && vague.iter().any(|other| affected(task, other)))
            .collect();
        if more.is_empty() {
            return unknown;
        }
        more.into_iter().for_each(|task| unknown[task] = true);
    }
}
