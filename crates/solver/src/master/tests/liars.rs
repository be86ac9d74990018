//! Slaves that contradict what is assumed of them: A0, A1 and A4 are told with the one that does.

use super::model::{Call, Case, Group, Lie, Model, Stepper, at, groups, model, once, right};
use crate::master::MasterAlgorithm::{self, Predictable, Rollback};
use crate::master::{Assumption, SlaveClass, Stepped, Stop, Violation};
use proptest::prelude::*;
use vecud_base::time::Instant;

/// A group with a slave that lies, and how its step ends: stopped by a violation, or made in spite of it.
struct Lies {
    name: &'static str,
    case: Case,
    violation: Violation,
    to: Option<f64>,
}

fn lies(
    name: &'static str,
    algorithm: MasterAlgorithm,
    models: &[Model],
    violation: Violation,
    to: Option<f64>,
) -> Lies {
    Lies { name, case: Case::new(algorithm, models), violation, to }
}

fn violation(assumption: Assumption, slave: usize, asked: f64, reached: Instant) -> Violation {
    Violation { assumption, slave, from: Instant::ZERO, asked: at(asked), reached }
}

fn all() -> Vec<Lies> {
    use Assumption::{A0, A1, A4};
    let rollback = |name, stops: &[f64]| model(name, SlaveClass::Rollback, stops);
    let predictable = |name, stops: &[f64]| model(name, SlaveClass::Predictable, stops);
    let legacy = |name, stops: &[f64]| model(name, SlaveClass::Legacy, stops);
    let (always, once) = (Lie::RejectsShorter { once: false }, Lie::RejectsShorter { once: true });
    let beyond = at(1.000_000_001);
    vec![
        lies(
            "Algorithm 2: beyond the end",
            Rollback,
            &[rollback("b", &[]).lying(Lie::StepsBeyond), rollback("a", &[0.5])],
            violation(A0, 0, 1.0, beyond),
            None,
        ),
        lies(
            "Algorithm 2: before the beginning",
            Rollback,
            &[rollback("b", &[]), rollback("a", &[]).lying(Lie::StepsBack)],
            violation(A0, 1, 1.0, at(-1.0)),
            None,
        ),
        lies(
            "Algorithm 2: less than it has accepted",
            Rollback,
            &[rollback("c", &[]), rollback("b", &[]).lying(once), rollback("a", &[0.5])],
            violation(A1, 1, 0.5, at(0.25)),
            None,
        ),
        lies(
            "Algorithm 3: beyond the end, predictable",
            Predictable,
            &[predictable("b", &[]).lying(Lie::StepsBeyond), rollback("a", &[])],
            violation(A0, 0, 1.0, beyond),
            None,
        ),
        lies(
            "Algorithm 3: beyond the end, legacy",
            Predictable,
            &[legacy("b", &[]).lying(Lie::StepsBeyond), rollback("a", &[])],
            violation(A0, 0, 1.0, beyond),
            None,
        ),
        lies(
            "Algorithm 3: before the beginning, rollback",
            Predictable,
            &[legacy("b", &[]), rollback("a", &[]).lying(Lie::StepsBack)],
            violation(A0, 1, 1.0, at(-1.0)),
            None,
        ),
        lies(
            "Algorithm 3: less than it has accepted once; all go there",
            Predictable,
            &[legacy("c", &[]), rollback("b", &[]).lying(once), rollback("a", &[0.5])],
            violation(A1, 1, 0.5, at(0.25)),
            Some(0.25),
        ),
        lies(
            "Algorithm 3: two make less than they have accepted; the first is told",
            Predictable,
            &[rollback("c", &[]).lying(once), rollback("b", &[]).lying(once), rollback("a", &[0.5])],
            violation(A1, 1, 0.5, at(0.25)),
            Some(0.25),
        ),
        lies(
            "Algorithm 3: less than it has accepted, while legacy is farther already",
            Predictable,
            &[legacy("c", &[0.5]), rollback("b", &[]).lying(once), rollback("a", &[])],
            violation(A1, 1, 0.5, at(0.25)),
            None,
        ),
        lies(
            "Algorithm 3: less than it has accepted, again and again",
            Predictable,
            &[rollback("b", &[]).lying(always), rollback("a", &[0.5])],
            violation(A1, 0, 1.0 / 524_288.0, at(1.0 / 1_048_576.0)),
            None,
        ),
        lies(
            "Algorithm 3: less than it has told",
            Predictable,
            &[predictable("c", &[0.25]).lying(Lie::TellsNoLimit), predictable("b", &[]), rollback("a", &[0.5])],
            violation(A4, 0, 0.5, at(0.25)),
            None,
        ),
    ]
}

/// What is not told as it should be.
pub fn check(stepper: Stepper) -> Result<(), String> {
    for Lies { name, case, violation, to } in all() {
        let (stepped, group) = once(stepper, &case);
        let is_told = match (&stepped, to) {
            (Err(Stop::Violated(told)), None) => *told == violation,
            (Ok(Stepped { to: end, violation: told, .. }), Some(to)) => {
                *end == at(to) && *told == Some(violation) && group.slaves.iter().all(|slave| slave.time == at(to))
            }
            _ => false,
        };
        if !is_told {
            return Err(format!("{name}: {stepped:?}"));
        }
    }
    Ok(())
}

#[test]
fn every_violation_is_told_with_its_slave() {
    check(right).unwrap();
}

#[test]
fn the_end_of_a_step_is_strictly_earlier_each_time() {
    let models = [
        model("b", SlaveClass::Rollback, &[]).lying(Lie::RejectsShorter { once: false }),
        model("a", SlaveClass::Rollback, &[0.5]),
    ];
    let (_, group) = once(right, &Case::new(Predictable, &models));
    let ends = ends(&group, 1);
    assert_eq!(ends.len(), 20);
    assert!(ends.is_sorted_by(|a, b| a > b), "{ends:?}");
}

proptest! {
    /// Whatever the slaves do: the end of the step comes earlier each time, there are not many of them, and either all are there in the
    /// end or somebody is named who has lied.
    #[test]
    fn any_liars_are_survived_or_named(
        case in groups(), lies in prop::collection::vec(prop::option::weighted(0.3, lie()), 6), rollback in any::<bool>(),
    ) {
        let mut case = if rollback { case.all(Rollback, SlaveClass::Rollback) } else { case };
        case.models.iter_mut().zip(lies).for_each(|(model, lie)| model.lie = lie);
        let (stepped, group) = once(right, &case);
        match stepped {
            Ok(Stepped { to, violation, .. }) => {
                prop_assert!(group.slaves.iter().all(|slave| slave.time == to));
                prop_assert!(violation.is_none_or(|violation| case.models[violation.slave].lie.is_some()));
            }
            Err(Stop::Violated(violation)) => prop_assert!(case.models[violation.slave].lie.is_some(), "{violation:?}"),
            Err(other) => prop_assert!(false, "{other:?}"),
        }
        for slave in 0..case.models.len() {
            let ends = ends(&group, slave);
            prop_assert!(ends.len() <= 20 && ends.is_sorted_by(|a, b| a > b), "{ends:?}");
        }
    }
}

fn lie() -> impl Strategy<Value = Lie> {
    prop_oneof![
        Just(Lie::StepsBeyond),
        Just(Lie::StepsBack),
        any::<bool>().prop_map(|once| Lie::RejectsShorter { once }),
        Just(Lie::TellsNoLimit),
    ]
}

/// The ends that a slave was asked to step to, one after another.
fn ends(group: &Group, of: usize) -> Vec<Instant> {
    let end = |call: &Call| match call {
        Call::Step { slave, to, .. } if *slave == of => Some(*to),
        _ => None,
    };
    group.calls.iter().filter_map(end).collect()
}

/// Whoever fails is said to by the slave itself, and nobody is called afterwards.
#[test]
fn a_failure_ends_the_step() {
    let case =
        Case::new(Predictable, &[model("b", SlaveClass::Predictable, &[]), model("a", SlaveClass::Rollback, &[])]);
    let mut group = Group::new(&case, at(0.5));
    let stepped = right(&case, &mut group, at(0.0), at(1.0));
    assert!(matches!(&stepped, Err(Stop::Failed(failure)) if failure.starts_with("a is at")), "{stepped:?}");
    assert_eq!(group.trace(), ["limit b", "save a"]);
}
