//! The blocking term: waits for less urgent tasks.
//!
//! A locked section that has begun ends before any other partition of its instance runs, and meanwhile its thread has the
//! priority of the most urgent one that waits for it (priority inheritance: L. Sha, R. Rajkumar, J. Lehoczky, "Priority
//! inheritance protocols", IEEE Transactions on Computers 39 (1990)). So a section of a less urgent task delays every task up to
//! the highest priority of its instance, its *ceiling*. Within a busy period of the delayed task no less urgent task begins a
//! section, and an instance has one lock: each instance delays once, by its longest such section. With inheritance, unlike with
//! the ceiling protocol, several instances of the core may each delay once.
//!
//! Levels of one instance that share a priority do not interrupt each other: a less urgent one that has begun ends first, with
//! its whole execution, and with any section that it waits for. Only one can have begun, and none begins while a more urgent one
//! is due, so this happens once within a busy period.
//!
//! Tasks that take turns wait for each other's whole activations, with the same inheritance: the ceiling of a turn is the most
//! urgent of its tasks. The kernel hands a turn on to the most urgent task that waits, so several less urgent tasks that
//! waited for it before the busy period began may have it one after the other, each once: none of them waits for it again. So
//! each delays once, with its whole execution. Turns over cores have no bound here: see [`super::verdict`].

use super::Task;
use std::collections::HashMap;

/// A delay by a less urgent task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocking {
    /// The index of the task that is waited for.
    pub by: usize,
    /// Length of the blocking.
    pub span: i128,
}

/// The delays of the task of this index: by the longest section of each instance, by the longest execution of tasks that share
/// its priority, and by the execution of each that takes turns with one that is as urgent or more.
pub fn blocks(tasks: &[Task], own: usize) -> Vec<Blocking> {
    let me = &tasks[own];
    let ceilings = highest(tasks.iter().map(|task| (task.instance, task.urgency)));
    let mut found: Vec<Blocking> = Vec::new();
    let mut longest_of: HashMap<usize, usize> = HashMap::new();
    for (by, task) in tasks.iter().enumerate() {
        let lower = task.core == me.core && task.goes_after(me) && task.section > 0;
        if !lower || ceilings[&task.instance] < me.urgency {
            continue;
        }
        let block = Blocking { by, span: task.section };
        match longest_of.get(&task.instance).map(|place| &mut found[*place]) {
            Some(longest) if longest.span < block.span => *longest = block,
            Some(_) => {}
            None => {
                longest_of.insert(task.instance, found.len());
                found.push(block);
            }
        }
    }
    let begun = |task: &(usize, &Task)| task.1.shares_with(me) && task.1.goes_after(me) && me.waits;
    let longest = tasks.iter().enumerate().filter(begun).max_by_key(|(_, task)| task.execution);
    found.extend(longest.map(|(by, task)| Blocking { by, span: task.execution }));
    let ceilings = highest(tasks.iter().filter_map(|task| Some((task.turn?, task.urgency))));
    let in_turns = |task: &Task| task.core == me.core && task.turn.is_some_and(|turn| ceilings[&turn] >= me.urgency);
    let delaying = tasks.iter().enumerate().filter(|(_, task)| task.goes_after(me) && in_turns(task));
    found.extend(delaying.map(|(by, task)| Blocking { by, span: task.execution }));
    found
}

/// The highest urgency of each instance, or of each turn.
fn highest(urgencies: impl Iterator<Item = (usize, u32)>) -> HashMap<usize, u32> {
    let mut highest = HashMap::new();
    for (of, urgency) in urgencies {
        let known = highest.entry(of).or_insert(urgency);
        *known = urgency.max(*known);
    }
    highest
}

#[cfg(test)]
mod tests {
    use super::super::{ArrivalPattern, Arrivals};
    use super::*;
    use crate::tests::growth::grows_with_the_size;
    use std::hint::black_box;

    fn task(instance: usize, urgency: u32, section: i128) -> Task {
        let arrivals = Arrivals::Own(ArrivalPattern::Grid { interval: 100, jitter: 0 });
        let (level, turn, execution) = (0, None, 10);
        Task { core: 0, instance, urgency, level, waits: true, turn, execution, section, wake: 0, arrivals }
    }

    fn of(tasks: &[Task], own: usize) -> Vec<(usize, i128)> {
        blocks(tasks, own).into_iter().map(|block| (block.by, block.span)).collect()
    }

    #[test]
    fn the_longest_section_of_each_instance_whose_ceiling_is_high_enough() {
        let tasks =
            [task(0, 9, 1), task(1, 8, 2), task(2, 7, 3), task(0, 5, 4), task(0, 4, 6), task(1, 3, 5), task(2, 2, 7)];
        assert_eq!(of(&tasks, 0), [(4, 6)], "only its own instance reaches it");
        assert_eq!(of(&tasks, 1), [(4, 6), (5, 5)]);
        assert_eq!(of(&tasks, 2), [(4, 6), (5, 5), (6, 7)], "one in between waits for each instance once");
        assert_eq!(of(&tasks, 5), [(6, 7)]);
        assert_eq!(of(&tasks, 6), []);
    }

    #[test]
    fn of_those_that_share_a_priority_the_longest_is_waited_for_besides_sections() {
        let mut tasks = [task(0, 9, 1), task(0, 9, 2), task(0, 9, 0), task(0, 5, 4), task(1, 9, 3)];
        tasks[1].level = 1;
        tasks[2] = Task { level: 2, execution: 30, ..tasks[2].clone() };
        assert_eq!(of(&tasks, 0), [(3, 4), (2, 30)]);
        assert_eq!(of(&tasks, 1), [(3, 4), (2, 30)]);
        assert_eq!(of(&tasks, 2), [(3, 4)], "nobody of its priority is less urgent");
        assert_eq!(of(&tasks, 4), [(3, 4)], "those of another instance count as going before it");
        tasks[0].waits = false;
        assert_eq!(of(&tasks, 0), [(3, 4)]);
    }

    #[test]
    fn of_those_that_take_turns_each_less_urgent_one_is_waited_for_with_all_that_it_executes() {
        let mut tasks = [task(0, 9, 0), task(1, 8, 0), task(2, 7, 0), task(3, 6, 0), task(4, 5, 0)];
        for (at, execution) in [(1, 10), (3, 20), (4, 30)] {
            tasks[at] = Task { turn: Some(0), execution, ..tasks[at].clone() };
        }
        assert_eq!(of(&tasks, 0), [], "nobody as urgent takes turns");
        assert_eq!(of(&tasks, 1), [(3, 20), (4, 30)]);
        assert_eq!(of(&tasks, 2), [(3, 20), (4, 30)], "one in between waits though it takes no turns");
        assert_eq!((of(&tasks, 3), of(&tasks, 4)), (vec![(4, 30)], vec![]));
        tasks[3].turn = Some(1);
        assert_eq!(of(&tasks, 2), [(4, 30)], "in its own turn nobody is as urgent");
    }

    #[test]
    fn the_delays_of_a_task_take_time_by_the_number_of_tasks() {
        let tasks = |size: usize| {
            let of = |place: usize| Task { turn: Some(place), ..task(place, 8, 1) };
            (0..size).map(of).chain([task(size, 9, 1)]).collect::<Vec<_>>()
        };
        grows_with_the_size(300, tasks, |tasks| drop(black_box(blocks(tasks, tasks.len() - 1))));
    }

    #[test]
    fn equal_ones_and_other_cores_do_not_block() {
        let mut tasks = [task(0, 9, 1), task(0, 9, 3), task(0, 5, 2)];
        assert_eq!(of(&tasks, 0), [(2, 2)]);
        tasks[2].core = 1;
        assert_eq!(of(&tasks, 0), []);
    }
}
