//! Random groups: both algorithms give the same, in whatever order the slaves stand in the rig, and keep to the slides' rules.

use super::model::{Call, Case, Group, State, Stepper, at, groups, right};
use crate::master::{MasterAlgorithm, SlaveClass};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use vecud_base::time::Instant;

/// Steps of a case, one after another.
const STEPS: usize = 4;

/// The ends of some steps and the slaves after each of them, by name, and the calls as text.
struct Run {
    steps: Vec<(Instant, Vec<(&'static str, State)>)>,
    trace: Vec<String>,
}

fn run(stepper: Stepper, case: &Case) -> Result<Run, String> {
    let mut group = Group::new(case, Instant::ZERO);
    let (mut time, mut run) = (Instant::ZERO, Run { steps: Vec::new(), trace: Vec::new() });
    for _ in 0..STEPS {
        group.forget();
        let stepped = stepper(case, &mut group, time, time.after(vecud_base::time::Fraction::SECOND));
        let stepped = stepped.map_err(|stop| format!("{stop:?}"))?;
        if let Some(violation) = stepped.violation {
            return Err(format!("{violation:?} of nobody"));
        }
        keeps_the_rules(case, &group, time, stepped.to)?;
        time = stepped.to;
        run.steps.push((time, group.by_name()));
        run.trace.extend(group.trace());
    }
    Ok(run)
}

/// The rules that the slides give for every step, whoever stops where.
fn keeps_the_rules(case: &Case, group: &Group, from: Instant, end: Instant) -> Result<(), String> {
    let complain = |what: &str| Err(format!("{what}: {:#?}", group.trace()));
    if group.slaves.iter().any(|slave| slave.time != end) {
        return complain("not all are at the end of the step");
    }
    let class = |slave: usize| case.models[slave].class;
    let asked_all = case.algorithm == MasterAlgorithm::Rollback;
    let place = |wanted: &dyn Fn(&Call) -> bool| group.calls.iter().position(wanted);
    let places = |wanted: SlaveClass| -> Vec<usize> {
        let is_one = |call: &Call| matches!(call, Call::Step { slave, .. } if class(*slave) == wanted);
        (0..group.calls.len()).filter(|&place| is_one(&group.calls[place])).collect()
    };
    let first_step = place(&|call| matches!(call, Call::Step { .. })).unwrap_or(group.calls.len());
    for (slave, _) in case.models.iter().enumerate().filter(|(_, model)| model.class == SlaveClass::Rollback) {
        let saves = group.calls.iter().filter(|call| **call == Call::Save(slave)).count();
        if saves != 1 || place(&|call| *call == Call::Save(slave)) > Some(first_step) {
            return complain("a rollback slave is saved once, before the first step");
        }
    }
    let restored = |call: &Call| matches!(call, Call::Restore(slave) if class(*slave) != SlaveClass::Rollback);
    if group.calls.iter().any(restored) {
        return complain("only rollback slaves are taken back");
    }
    if asked_all || end == from {
        return Ok(());
    }
    let (rollback, predictable) = (places(SlaveClass::Rollback), places(SlaveClass::Predictable));
    let number = |class: SlaveClass| case.models.iter().filter(|model| model.class == class).count();
    if predictable.len() != number(SlaveClass::Predictable) {
        return complain("a predictable slave steps once");
    }
    let others = rollback.iter().chain(&places(SlaveClass::Legacy)).copied().max();
    if predictable.first().is_some_and(|first| Some(*first) < others) {
        return complain("predictable slaves step last");
    }
    let legacy = places(SlaveClass::Legacy);
    if legacy.len() != number(SlaveClass::Legacy) {
        return complain("a legacy slave steps once");
    }
    if let Some(&legacy) = legacy.first() {
        // The last steps of all rollback slaves before it went where it was asked to go, with nobody in between who stopped.
        let Call::Step { to: asked, .. } = group.calls[legacy] else { unreachable!("it is a step") };
        let before = group.calls[..legacy].iter().rev();
        let agreed = before.take(number(SlaveClass::Rollback)).all(
            |call| matches!(call, Call::Step { slave, to, reached } if class(*slave) == SlaveClass::Rollback && (*to, *reached) == (asked, asked)),
        );
        if !agreed {
            return complain("a legacy slave steps when all rollback ones have agreed");
        }
    }
    Ok(())
}

/// What a random group does otherwise than it should.
fn check_one(stepper: Stepper, case: &Case, places: &[usize]) -> Result<(), String> {
    let mixed = run(stepper, case)?;
    let two = run(stepper, &case.all(MasterAlgorithm::Rollback, SlaveClass::Rollback))?;
    let three = run(stepper, &case.all(MasterAlgorithm::Predictable, SlaveClass::Rollback))?;
    if mixed.steps != two.steps || two.steps != three.steps {
        return Err(format!("classes make a difference:\n{:?}\n{:?}\n{:?}", mixed.steps, two.steps, three.steps));
    }
    let places: Vec<usize> = places.iter().copied().filter(|&place| place < case.models.len()).collect();
    let permuted = run(stepper, &case.permuted(&places))?;
    if mixed.steps != permuted.steps || mixed.trace != permuted.trace {
        return Err(format!("the rig's order makes a difference:\n{:#?}\n{:#?}", mixed.trace, permuted.trace));
    }
    Ok(())
}

/// As many groups as find what is wrong, always the same ones.
pub fn check(stepper: Stepper) -> Result<(), String> {
    let mut runner = TestRunner::deterministic();
    let wanted = (groups(), Just((0..6usize).collect::<Vec<_>>()).prop_shuffle());
    for _ in 0..100 {
        let (case, places) = wanted.new_tree(&mut runner).map_err(|reason| reason.to_string())?.current();
        check_one(stepper, &case, &places)?;
    }
    Ok(())
}

proptest! {
    #[test]
    fn classes_and_the_order_in_the_rig_make_no_difference(
        case in groups(), places in Just((0..6usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        check_one(right, &case, &places).map_err(TestCaseError::fail)?;
    }

    /// Jacobi and Gauss-Seidel: the same whatever the order in the rig.
    #[test]
    fn without_a_way_back_the_order_in_the_rig_makes_no_difference_either(
        case in groups(), places in Just((0..6usize).collect::<Vec<_>>()).prop_shuffle(), seidel in any::<bool>(),
    ) {
        let algorithm = if seidel { MasterAlgorithm::GaussSeidel } else { MasterAlgorithm::Jacobi };
        let case = case.all(algorithm, SlaveClass::Legacy);
        let places: Vec<usize> = places.into_iter().filter(|&place| place < case.models.len()).collect();
        let once = |case: &Case| {
            let mut group = Group::new(case, Instant::ZERO);
            let stepped = right(case, &mut group, Instant::ZERO, at(1.0)).unwrap();
            (stepped.to, stepped.rejections, group.by_name(), group.trace())
        };
        prop_assert_eq!(once(&case), once(&case.permuted(&places)));
    }
}

/// The random groups are worth their name: there are steps that are shortened by each class, repeated, and not shortened.
#[test]
fn random_groups_stop_in_all_ways() {
    let mut runner = TestRunner::deterministic();
    let (mut whole, mut repeated, mut by) = (0, 0, [0; 3]);
    for _ in 0..300 {
        let case = groups().new_tree(&mut runner).unwrap().current();
        let mut group = Group::new(&case, Instant::ZERO);
        let stepped = right(&case, &mut group, Instant::ZERO, at(1.0)).unwrap();
        repeated += usize::from(stepped.restores > 0);
        match stepped.shortened {
            None => whole += 1,
            Some(shortened) => by[case.models[shortened.slave].class as usize] += 1,
        }
    }
    assert!(whole > 10 && repeated > 50 && by.iter().all(|&count| count > 20), "{whole} {repeated} {by:?}");
}
