//! Whatever happens on the simulated machine stays within the bounds, and in the worst case reaches them.

use super::program::Random;
use super::simulator::{Chance, worst_responses};
use super::{periodic, responses};
use proptest::prelude::*;
use vecud::plan::schedulability::{ArrivalPattern, Arrivals, Task};

/// Tasks on up to two cores, of instances that may have several, with locked sections, late threads, jitter, equal
/// priorities, lists of times and ticks from one to another.
pub fn system(random: &mut Random) -> Vec<Task> {
    let count = random.between(1, 6) as usize;
    let cores = random.between(1, 2) as u64;
    let instances: Vec<usize> = (0..count).map(|_| random.below(3) as usize).collect();
    let core_of: Vec<usize> = (0..3).map(|_| random.below(cores) as usize).collect();
    let mut tasks: Vec<Task> = Vec::new();
    for task in 0..count {
        let execution = random.between(1, 5);
        let interval = random.between(4, 40);
        let arrivals = match random.below(8) {
            0 => Arrivals::Own(ArrivalPattern::Times(
                (0..4)
                    .scan(0, |time, _| {
                        *time += random.between(1, 12);
                        Some(*time)
                    })
                    .collect(),
            )),
            1 | 2 if task > 0 => Arrivals::By(vec![random.below(task as u64) as usize]),
            3 => Arrivals::Own(ArrivalPattern::Grid { interval, jitter: random.between(0, 2 * interval) }),
            _ => Arrivals::Own(ArrivalPattern::Grid { interval, jitter: 0 }),
        };
        let section = if random.below(2) == 0 { random.between(0, execution) } else { 0 };
        let wake = if random.below(2) == 0 { random.between(0, 4) } else { 0 };
        let urgency = random.between(1, 6) as u32;
        tasks.push(Task {
            core: core_of[instances[task]],
            instance: instances[task],
            urgency,
            // Equal levels, and different ones that share a priority.
            level: random.between(0, 2) as usize,
            waits: true,
            turn: None,
            execution,
            section,
            wake,
            arrivals,
        });
    }
    tasks
}

/// Steps on one core, of which some take turns.
pub fn steps(random: &mut Random) -> Vec<Task> {
    let count = random.between(2, 6) as u32;
    let step = |urgency: u32| Task {
        turn: Some(random.below(3) as usize).filter(|turn| *turn < 2),
        ..periodic(urgency, random.between(8, 60), random.between(1, 6))
    };
    (1..=count).map(step).collect()
}

/// Fails where a response in one of some simulations of these tasks exceeds its bound.
fn are_bounded(tasks: &[Task], random: &mut Random) -> Result<(), TestCaseError> {
    let bounds = responses(tasks);
    for _ in 0..4 {
        let seen = worst_responses(tasks, 400, Chance::Everything, random);
        for (task, (seen, bound)) in seen.iter().zip(&bounds).enumerate() {
            let is_within = bound.is_none_or(|bound| *seen <= bound);
            prop_assert!(is_within, "task {} took {}: {:?}\n{:#?}", task, seen, bounds, tasks);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn no_response_exceeds_its_bound(seed: u64) {
        let mut random = Random(seed);
        let tasks = system(&mut random);
        are_bounded(&tasks, &mut random)?;
    }

    #[test]
    fn no_response_of_steps_that_take_turns_exceeds_its_bound(seed: u64) {
        let mut random = Random(seed);
        let tasks = steps(&mut random);
        are_bounded(&tasks, &mut random)?;
    }

    /// Periodic tasks with different priorities, punctual and without locks, that begin at once: the bound is what happens.
    #[test]
    fn the_bound_is_reached_at_the_critical_instant(seed: u64) {
        let mut random = Random(seed);
        let intervals = [2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30];
        let count = random.between(1, 5) as u32;
        let tasks: Vec<Task> = (1..=count)
            .map(|urgency| {
                let interval = intervals[random.below(intervals.len() as u64) as usize];
                periodic(urgency, interval, random.between(1, (interval / 2).max(1)))
            })
            .collect();
        // Two hyperperiods.
        let seen = worst_responses(&tasks, 480, Chance::CriticalInstant, &mut random);
        for (seen, bound) in seen.into_iter().zip(responses(&tasks)) {
            prop_assert!(bound.is_none_or(|bound| bound == seen), "{bound:?} {seen} {tasks:#?}");
        }
    }
}

/// The two properties above say nothing where there are no bounds: mostly there are.
#[test]
fn most_drawn_systems_have_bounds() {
    let mut random = Random(7);
    let (mut bounded, mut all) = (0, 0);
    for _ in 0..300 {
        let bounds = responses(&system(&mut random));
        bounded += bounds.iter().flatten().count();
        all += bounds.len();
    }
    assert!(bounded * 2 > all, "{bounded} of {all}");
}
