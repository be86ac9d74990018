//! Known-wrong ways to compute a worst response, each with systems in which the simulated machine exceeds it. A simulator that
//! found none would prove nothing.

use super::program::Random;
use super::properties::system;
use super::simulator::{Chance, worst_responses};
use super::{periodic, responses};
use vecud::plan::schedulability::{ArrivalPattern, Arrivals, ResponseResult, Task, solve};

/// In how many drawn systems the machine exceeds what a wrong analysis says of one of its tasks.
fn exceeded(wrong: impl Fn(&[Task]) -> Vec<Option<i128>>) -> usize {
    let mut random = Random(1);
    let mut exceeded = 0;
    for _ in 0..250 {
        let tasks = system(&mut random);
        let bounds = wrong(&tasks);
        let seen: Vec<Vec<i128>> =
            (0..4).map(|_| worst_responses(&tasks, 300, Chance::Everything, &mut random)).collect();
        let beyond = |task: usize| bounds[task].is_some_and(|bound| seen.iter().any(|seen| seen[task] > bound));
        exceeded += usize::from((0..tasks.len()).any(beyond));
    }
    exceeded
}

fn changed(change: impl Fn(&mut Task)) -> impl Fn(&[Task]) -> Vec<Option<i128>> {
    move |tasks| {
        let mut tasks = tasks.to_vec();
        tasks.iter_mut().for_each(&change);
        responses(&tasks)
    }
}

/// Each task for itself, with the others as this one sees them.
fn one_by_one(see: impl Fn(&mut Vec<Task>, usize)) -> impl Fn(&[Task]) -> Vec<Option<i128>> {
    move |tasks| {
        let of = |task: usize| {
            let mut seen = tasks.to_vec();
            see(&mut seen, task);
            responses(&seen)[task]
        };
        (0..tasks.len()).map(of).collect()
    }
}

#[test]
fn the_right_one_is_never_exceeded() {
    assert_eq!(exceeded(responses), 0);
}

#[test]
fn without_blocking() {
    assert!(exceeded(changed(|task| task.section = 0)) > 5);
}

#[test]
fn without_the_jitter_of_late_threads() {
    assert!(exceeded(changed(|task| task.wake = 0)) > 5);
}

#[test]
fn without_the_jitter_of_what_is_ticked() {
    let punctual = |tasks: &mut Vec<Task>, _| {
        for task in 0..tasks.len() {
            while let Arrivals::By(causes) = &tasks[task].arrivals {
                tasks[task].arrivals = tasks[causes[0]].arrivals.clone();
            }
        }
    };
    assert!(exceeded(one_by_one(punctual)) > 0);
}

/// "More urgent" instead of "as urgent or more": equal ones do not hold each other up.
#[test]
fn without_the_equal_ones() {
    let alone = |tasks: &mut Vec<Task>, own: usize| {
        tasks.iter_mut().for_each(|task| task.urgency *= 2);
        tasks[own].urgency += 1;
    };
    assert!(exceeded(one_by_one(alone)) > 5);
}

/// "Ceiling above" instead of "ceiling at or above": a section that gets just the own priority does not block.
#[test]
fn without_sections_whose_ceiling_is_the_own_priority() {
    let ignored = |tasks: &mut Vec<Task>, own: usize| {
        let urgency = tasks[own].urgency;
        for instance in 0..3 {
            let ceiling = tasks.iter().filter(|task| task.instance == instance).map(|task| task.urgency).max();
            if ceiling == Some(urgency) {
                tasks
                    .iter_mut()
                    .filter(|task| task.instance == instance && task.urgency < urgency)
                    .for_each(|task| task.section = 0);
            }
        }
    };
    assert!(exceeded(one_by_one(ignored)) > 0);
}

/// Only the most of all sections instead of one of each instance, which is right for ceilings but not for inheritance.
#[test]
fn without_all_sections_but_the_longest() {
    let one = |tasks: &mut Vec<Task>, own: usize| {
        let blocks = vecud::plan::schedulability::blocks(tasks, own);
        let longest = blocks.iter().max_by_key(|block| block.span).map(|block| block.by);
        blocks.iter().filter(|block| Some(block.by) != longest).for_each(|block| tasks[block.by].section = 0);
    };
    // Rare: two nested sections of other instances, of which both are inherited.
    let mut low = [Task { section: 4, ..periodic(1, 16, 4) }, Task { section: 4, ..periodic(2, 16, 4) }];
    (low[0].instance, low[1].instance) = (4, 5);
    let tasks = [low[0].clone(), low[1].clone(), periodic(3, 16, 1), periodic(4, 16, 1), periodic(5, 16, 1)];
    assert_eq!((responses(&tasks)[2], one_by_one(one)(&tasks)[2]), (Some(11), Some(7)));
    let mut random = Random(3);
    let seen = (0..3_000).map(|_| worst_responses(&tasks, 160, Chance::Everything, &mut random)[2]).max().unwrap();
    assert!((8..=11).contains(&seen), "{seen}");
}

/// Only the longest of those that take turns: a turn is handed on to one that waits, so that several may have it one after the other.
#[test]
fn without_all_that_take_turns_but_the_longest() {
    let one = |tasks: &mut Vec<Task>, own: usize| {
        let blocks = vecud::plan::schedulability::blocks(tasks, own);
        let longest = blocks.iter().max_by_key(|block| block.span).map(|block| block.by);
        let others: Vec<usize> = blocks.iter().map(|block| block.by).filter(|by| Some(*by) != longest).collect();
        others.into_iter().for_each(|by| tasks[by].turn = None);
    };
    let mut tasks = [periodic(1, 90, 8), periodic(2, 90, 8), periodic(3, 60, 6), periodic(4, 9, 1)];
    [0, 1, 3].into_iter().for_each(|task| tasks[task].turn = Some(0));
    let bounds = (responses(&tasks)[2], one_by_one(one)(&tasks)[2]);
    let mut random = Random(3);
    let seen = (0..3_000).map(|_| worst_responses(&tasks, 360, Chance::Everything, &mut random)[2]).max().unwrap();
    assert!(bounds.1.unwrap() < seen && seen <= bounds.0.unwrap(), "{bounds:?} {seen}");
}

/// Where an activation ends after the next was due, a later one can be worse than the first.
#[test]
fn with_nothing_but_the_first_activation() {
    let first = |tasks: &[Task]| -> Vec<Option<i128>> {
        let of = |task: usize| {
            let mut tasks = tasks.to_vec();
            // It comes once, and the others as ever.
            let bounded = matches!(solve(&tasks)[task], ResponseResult::Bounded(_));
            tasks[task].arrivals = Arrivals::Own(ArrivalPattern::Times(vec![0]));
            bounded.then(|| responses(&tasks)[task]).flatten()
        };
        (0..tasks.len()).map(of).collect()
    };
    assert_eq!(first(&[periodic(2, 70, 26), periodic(1, 100, 62)])[1], Some(114), "and not 118");
    assert!(exceeded(first) > 5);
}
