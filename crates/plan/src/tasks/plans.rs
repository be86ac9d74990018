//! Units: each candidate in its place in the order, with the variables that it sets and reads and the name of its thread; and the tasks
//! that they compute in.

use super::batches::{self, Batches};
use crate::clocks::candidates::{Candidate, InputClock};
use crate::clocks::causes;
use crate::described::{DescribedFmu, StepAbilities};
use crate::priorities::PriorityOrder;
use crate::resolved::Resolved;
use crate::rig::StepWishes;
use crate::{
    FmuId, GroupPlan, InputClockPlan, Membership, RecordedClock, StepEngine, StepPlan, StepRows, StepSize, TaskId,
    TaskPlan, TaskWork, UnitId, UnitPlan, Work, integration, steps,
};
use std::collections::HashSet;
use vecud_description::IntervalVariability;

/// All tasks and all units, most urgent first. The masters of groups are added later.
pub fn plans(resolved: &Resolved, order: &PriorityOrder) -> (Vec<TaskPlan>, Vec<UnitPlan>) {
    let Resolved { fmus, clocks, .. } = resolved;
    let candidates = || order.ranks.iter().map(|rank| &clocks.candidates[rank.candidate]);
    let names: Vec<String> = candidates().map(|candidate| candidate.name(&fmus[candidate.fmu])).collect();
    let fmu_names = candidates().map(|candidate| fmus[candidate.fmu].name());
    let threads = thread_names(fmu_names.zip(names.iter().map(String::as_str)));
    let (tasks, task_of) = tasks(resolved, order, threads);
    let mut batches = batches::of_tasks(resolved);
    let mut units: Vec<UnitPlan> = Vec::with_capacity(order.ranks.len());
    for ((rank, name), task) in order.ranks.iter().zip(names).zip(task_of) {
        let candidate = &clocks.candidates[rank.candidate];
        let Batches { set, get } = std::mem::take(&mut batches[rank.candidate]);
        units.push(UnitPlan {
            fmu: FmuId(candidate.fmu),
            task,
            name,
            work: work(resolved, candidate, &tasks[task.0], UnitId(units.len())),
            release: candidate.release.clone(),
            caused_by: order.units(&causes::of(rank.candidate, fmus, clocks)),
            urgency: candidate.priority,
            level: rank.level,
            set,
            get,
            ticks: ticks(resolved, rank.candidate),
        });
    }
    (tasks, units)
}

/// All tasks, and the task of each unit. `threads`: a name for each unit, and a task has the name of its first unit.
fn tasks(
    Resolved { fmus, clocks, .. }: &Resolved,
    order: &PriorityOrder,
    mut threads: Vec<String>,
) -> (Vec<TaskPlan>, Vec<TaskId>) {
    // The unit whose place in the order a group has.
    let first = |candidate: usize| {
        let Candidate { fmu, clock, .. } = clocks.candidates[candidate];
        let steps = clocks.steps_of(clocks.firsts[fmu]).filter(|_| clock.is_none());
        order.unit(steps.unwrap_or(candidate))
    };
    let firsts: Vec<UnitId> = order.ranks.iter().map(|rank| first(rank.candidate)).collect();
    let fmu_of = |unit: UnitId| &fmus[clocks.candidates[order.ranks[unit.0].candidate].fmu];
    let mut task_of = vec![TaskId(0); firsts.len()];
    let mut tasks = Vec::new();
    for unit in (0..firsts.len()).map(UnitId).filter(|unit| firsts[unit.0] == *unit) {
        let others = (0..firsts.len()).map(UnitId).filter(|other| firsts[other.0] == unit && *other != unit);
        let mut members: Vec<UnitId> = std::iter::once(unit).chain(others).collect();
        if fmu_of(unit).master.is_some() {
            members[1..].sort_by_key(|member| fmu_of(*member).name());
        }
        members.iter().for_each(|member| task_of[member.0] = TaskId(tasks.len()));
        let rank = &order.ranks[unit.0];
        let candidate = &clocks.candidates[rank.candidate];
        tasks.push(TaskPlan {
            work: match candidate.clock {
                Some(_) => TaskWork::Partition(unit),
                None if members.len() == 1 && fmu_of(unit).master.is_none() => TaskWork::Step(unit),
                None => TaskWork::Group(GroupPlan { members, master: None }),
            },
            fifo: rank.placed.fifo,
            cpu: rank.cpu,
            thread: std::mem::take(&mut threads[unit.0]),
            overrun: candidate.overrun,
            limits: candidate.limits,
            figures: candidate.figures,
        });
    }
    (tasks, task_of)
}

/// The work of a candidate's unit in its task.
fn work(resolved: &Resolved, candidate: &Candidate, task: &TaskPlan, unit: UnitId) -> Work {
    let Resolved { rig, fmus, clocks, .. } = resolved;
    let described = &fmus[candidate.fmu];
    let Some(own) = candidate.clock else {
        let own = described.steps();
        return Work::Step(StepPlan {
            membership: match task.work {
                _ if described.master.is_some() => Membership::Master { is_first: task.first() == unit },
                TaskWork::Group(_) => Membership::Clocks,
                TaskWork::Partition(_) | TaskWork::Step(_) => Membership::Alone,
            },
            is_variable: own.is_some() && steps::may_vary(fmus, clocks, candidate.fmu),
            step_size: described.rig.step_size.as_ref().map_or(default_step_size(own), |at| at.value),
            engine: match described.model_exchange().zip(candidate.period) {
                Some((_, step)) => StepEngine::Equations(integration::plan(described, step)),
                None if described.handles_events() => StepEngine::StepsAndEvents,
                None => StepEngine::Steps,
            },
            rows: match described.rig.wishes {
                StepWishes { rows_of_events: true, steps_per_row, .. } => StepRows::Events { steps_per_row },
                _ => StepRows::Releases,
            },
            may_return_early: own.is_some_and(|own| own.may_return_early),
            goes_back: own.is_some_and(|own| own.goes_back)
                && match described.master {
                    Some(master) => master.algorithm.takes_back(),
                    None => steps::may_be_cut_short(fmus, clocks, candidate.fmu),
                },
            retry: steps::retry(rig, described),
            internal_step: own.and_then(|own| own.internal_step),
        });
    };
    Work::Partition(input_clock(described, own))
}

/// The step sizes that the FMU is told: only an FMU whose steps may vary is told sizes that vary by rounding (FMI 3.0.2, 4.4).
fn default_step_size(own: Option<StepAbilities>) -> StepSize {
    if own.is_some_and(|own| own.varies) { StepSize::Difference } else { StepSize::Nominal }
}

/// The plan of an input clock, whatever ticks with it.
pub fn input_clock(described: &DescribedFmu, own: InputClock) -> InputClockPlan {
    let variable = &described.variables()[own.variable];
    let clock = variable.clock.as_ref();
    InputClockPlan {
        clock: variable.value_reference,
        element: own.element,
        kind: clock.map_or(IntervalVariability::Triggered, |clock| clock.interval_variability),
        write_interval: own.write_interval,
        write_shift: own.write_shift,
        supports_fraction: clock.is_some_and(|clock| clock.supports_fraction),
    }
}

/// The recorded clocks that activations of this candidate may tick.
fn ticks(resolved: &Resolved, candidate: usize) -> Vec<RecordedClock> {
    let Candidate { fmu, clock, .. } = resolved.clocks.candidates[candidate].clone();
    let column = |variable, element| resolved.columns.of_clock((fmu, variable), element);
    let own = clock.and_then(|InputClock { variable, element, .. }| column(variable, element));
    let own = own.map(|signal| RecordedClock { signal, output: None });
    let sources = resolved.clocks.tick_sources[fmu].iter().enumerate();
    let may_tick = sources.filter(|(_, clock)| clock.ticked_by.is_empty() || clock.ticked_by.contains(&candidate));
    let ticked = may_tick.filter_map(|(output, clock)| {
        column(clock.variable, clock.element).map(|signal| RecordedClock { signal, output: Some(output) })
    });
    own.into_iter().chain(ticked).collect()
}

/// Bytes of a thread's name that the kernel keeps.
const LENGTH: usize = 15;

/// `<fmu>.<clock>` for each pair, cut to 15 bytes at a character boundary. Where two would be equal, the later ones end
/// in `~2`, `~3`, …
fn thread_names<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let mut used = HashSet::new();
    let unique = |(fmu, clock): (&str, &str)| {
        let full: String = format!("{fmu}.{clock}").chars().filter(|c| !c.is_control()).collect();
        let mut name = cut(&full, LENGTH).to_owned();
        let mut number = 1;
        while !used.insert(name.clone()) {
            number += 1;
            let suffix = format!("~{number}");
            name = format!("{}{suffix}", cut(&full, LENGTH - suffix.len()));
        }
        name
    };
    pairs.into_iter().map(unique).collect()
}

fn cut(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_are_kept_and_long_ones_cut_and_kept_apart() {
        let names = thread_names([("ecu", "task"), ("ecu", "controller_10ms"), ("ecu", "controller_100ms")]);
        assert_eq!(names, ["ecu.task", "ecu.controller_", "ecu.controlle~2"]);
    }

    #[test]
    fn no_character_is_cut_in_half() {
        let names = thread_names([("motor", "Kühlwasser"), ("motor", "ääääääääää")]);
        assert_eq!(names, ["motor.Kühlwass", "motor.ääää"]);
        assert!(names.iter().all(|name| name.len() <= 15));
    }
}
