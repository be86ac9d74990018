//! Which class a slave has, why, and which groups are refused.

use crate::master::{
    Abilities, ClassReason, MasterAlgorithm, NoWayBack, SlaveClass, Source, UnclassifiedSlave, Unfit, WayBack, classify,
};
use vecud_base::time::Fraction;

/// Handles steps of any size, and is neither known nor taken back.
const PLAIN: Abilities =
    Abilities { varies_step: true, may_return_early: true, way_back: Err(NoWayBack::State), sources: Vec::new() };

fn saves() -> Abilities {
    Abilities { way_back: Ok(WayBack::State), ..PLAIN }
}

fn never_early(source: Source) -> Abilities {
    Abilities { may_return_early: false, sources: vec![source], ..PLAIN }
}

fn constant(step: Fraction) -> Abilities {
    Abilities {
        varies_step: false,
        may_return_early: false,
        way_back: Err(NoWayBack::State),
        sources: vec![Source::ConstantStep(step)],
    }
}

fn candidate(name: &str, abilities: Abilities) -> UnclassifiedSlave<'_> {
    UnclassifiedSlave { name, abilities, wish: None }
}

/// The classes of slaves in a group under Algorithm 3 whose step is 1 ms.
fn classes(candidates: &[UnclassifiedSlave]) -> Result<Vec<(SlaveClass, ClassReason)>, Unfit> {
    let classes = classify(candidates, MasterAlgorithm::Predictable, Fraction::MILLISECOND)?;
    Ok(classes.slaves().iter().map(|slave| (slave.class, slave.why)).collect())
}

fn class(abilities: Abilities) -> (SlaveClass, ClassReason) {
    // Beside one that makes steps shorter.
    classes(&[candidate("it", abilities), candidate("other", saves())]).unwrap()[0]
}

#[test]
fn a_known_largest_step_makes_predictable_who_never_returns_early() {
    let half = Source::InternalStep(Fraction::new(1, 2000).unwrap());
    for source in [Source::NextEventTime, Source::ClockTick, half, Source::Unlimited] {
        let never = never_early(source);
        assert_eq!(class(never.clone()), (SlaveClass::Predictable, ClassReason::Known(source)));
        let early = Abilities { may_return_early: true, ..never };
        assert_eq!(class(early.clone()), (SlaveClass::Legacy, ClassReason::MayReturnEarly(source, NoWayBack::State)));
        let early = Abilities { way_back: Ok(WayBack::State), ..early };
        assert_eq!(class(early), (SlaveClass::Rollback, ClassReason::GoesBack(WayBack::State)));
    }
    for promise in [Source::GetMaxStepSize, Source::Rig(Fraction::MILLISECOND)] {
        let early = Abilities { sources: vec![Source::NextEventTime, promise], ..PLAIN };
        assert_eq!(class(early), (SlaveClass::Predictable, ClassReason::Known(promise)));
    }
}

#[test]
fn who_can_be_taken_back_and_is_not_known_is_rollback() {
    for way_back in [WayBack::State, WayBack::RejectedStep, WayBack::ContinuousStates] {
        let abilities = Abilities { way_back: Ok(way_back), ..PLAIN };
        assert_eq!(class(abilities.clone()), (SlaveClass::Rollback, ClassReason::GoesBack(way_back)));
        let abilities = Abilities { varies_step: false, ..abilities };
        assert_eq!(class(abilities).0, SlaveClass::Legacy, "who cannot vary its step cannot make a shorter one");
    }
    assert_eq!(class(PLAIN), (SlaveClass::Legacy, ClassReason::NothingKnown(NoWayBack::State)));
}

#[test]
fn the_step_of_the_group_is_enough_where_nobody_shortens_it() {
    let (own, long) = (constant(Fraction::MILLISECOND), Fraction::new(1, 2).unwrap());
    let quiet = |source| candidate("quiet", never_early(source));
    let two = |third: UnclassifiedSlave| classes(&[candidate("a", own.clone()), candidate("b", own.clone()), third]);
    for source in [Source::Unlimited, Source::Rig(long), Source::InternalStep(Fraction::MILLISECOND)] {
        let found = two(quiet(source)).unwrap();
        assert_eq!(found[..2], [(SlaveClass::Predictable, ClassReason::StepOfGroup); 2], "{source}");
    }
    // It could say how far it steps, and is never stopped there.
    let quiet_rollback = Abilities { way_back: Ok(WayBack::State), ..never_early(Source::NextEventTime) };
    let quiet_rollback = UnclassifiedSlave { wish: Some(SlaveClass::Rollback), ..candidate("quiet", quiet_rollback) };
    assert_eq!(two(quiet_rollback).unwrap()[..2], [(SlaveClass::Predictable, ClassReason::StepOfGroup); 2]);
    let loud = [
        quiet(Source::NextEventTime),
        quiet(Source::ClockTick),
        quiet(Source::Rig(Fraction::MICROSECOND)),
        candidate("early", saves()),
        candidate("early", PLAIN),
    ];
    for third in loud {
        let Err(Unfit::Legacy(these)) = two(third.clone()) else { panic!("{third:?}") };
        assert_eq!(
            these[..2],
            [("a".to_owned(), ClassReason::OneStepSize), ("b".to_owned(), ClassReason::OneStepSize)]
        );
    }
    let Err(Unfit::Legacy(these)) = classes(&[candidate("b", constant(long)), candidate("a", constant(long))]) else {
        panic!("another step than the group's")
    };
    assert_eq!(these, [("a".to_owned(), ClassReason::OtherStepSize), ("b".to_owned(), ClassReason::OtherStepSize)]);
}

#[test]
fn one_legacy_is_allowed_and_two_are_refused_with_why() {
    let known = candidate("known", never_early(Source::NextEventTime));
    let one = [candidate("plant", PLAIN), candidate("saves", saves()), known];
    assert_eq!(classes(&one).unwrap().iter().filter(|(class, _)| *class == SlaveClass::Legacy).count(), 1);
    let told = Abilities { sources: vec![Source::NextEventTime], ..PLAIN };
    let refused = classes(&[one[0].clone(), one[1].clone(), candidate("engine", told)]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "2 of its FMUs can neither say how far they step nor go back, and one at most may be so: engine: its largest step would \
         be known from nextEventTime, but it may return earlier (mightReturnEarlyFromDoStep), and its state cannot be saved \
         (canGetAndSetFMUState is not true); plant: nothing tells how far it can step, and its state cannot be saved \
         (canGetAndSetFMUState is not true); say how far one can step (max_step), take one out of the group, or use algorithm = \
         \"jacobi\""
    );
}

#[test]
fn algorithm_2_takes_everybody_back_or_is_refused() {
    let both = Abilities { way_back: Ok(WayBack::State), ..never_early(Source::NextEventTime) };
    let classes =
        |candidates: &[UnclassifiedSlave]| classify(candidates, MasterAlgorithm::Rollback, Fraction::MILLISECOND);
    let found = classes(&[candidate("a", both.clone()), candidate("b", saves())]).unwrap();
    assert!(found.slaves().iter().all(|slave| slave.class == SlaveClass::Rollback));
    let alone = classes(&[candidate("it", constant(Fraction::MILLISECOND))]);
    assert_eq!(alone, Err(Unfit::CannotGoBack(vec![("it".to_owned(), ClassReason::OneStepSize)])));
    let known = candidate("known", never_early(Source::NextEventTime));
    let constant = candidate("constant", constant(Fraction::MILLISECOND));
    let Err(Unfit::CannotGoBack(these)) =
        classes(&[known.clone(), candidate("a", both), constant, candidate("b", PLAIN)])
    else {
        panic!("not all can be taken back")
    };
    assert_eq!(
        these,
        [
            ("b".to_owned(), ClassReason::NothingKnown(NoWayBack::State)),
            ("constant".to_owned(), ClassReason::OneStepSize),
            ("known".to_owned(), ClassReason::Known(Source::NextEventTime))
        ]
    );
}

#[test]
fn without_a_way_back_nobody_is_refused() {
    for algorithm in [MasterAlgorithm::Jacobi, MasterAlgorithm::GaussSeidel] {
        let two = [candidate("a", PLAIN), candidate("b", PLAIN)];
        assert!(classify(&two, algorithm, Fraction::MILLISECOND).is_ok());
    }
}

#[test]
fn the_user_decides_as_far_as_it_is_possible() {
    let wished = |abilities: Abilities, wish: SlaveClass| {
        let it = UnclassifiedSlave { name: "it", abilities, wish: Some(wish) };
        classes(&[it, candidate("other", saves())]).map(|classes| classes[0])
    };
    let both = Abilities { way_back: Ok(WayBack::State), ..never_early(Source::NextEventTime) };
    for wish in [SlaveClass::Legacy, SlaveClass::Rollback, SlaveClass::Predictable] {
        assert_eq!(wished(both.clone(), wish), Ok((wish, ClassReason::Wished)));
    }
    let early = Abilities { sources: vec![Source::NextEventTime], ..PLAIN };
    assert_eq!(
        wished(early, SlaveClass::Predictable),
        Ok((SlaveClass::Predictable, ClassReason::Wished)),
        "the user vouches for it"
    );
    assert_eq!(wished(PLAIN, SlaveClass::Legacy), Ok((SlaveClass::Legacy, ClassReason::Wished)));
    for (abilities, wish, why) in [
        (
            PLAIN,
            SlaveClass::Rollback,
            "it cannot be rollback: its state cannot be saved (canGetAndSetFMUState is not true)",
        ),
        (
            PLAIN,
            SlaveClass::Predictable,
            "it cannot be predictable: nothing tells how far it can step; say so with max_step",
        ),
        (
            constant(Fraction::MILLISECOND),
            SlaveClass::Predictable,
            "it cannot be predictable: it has one step size (canHandleVariableCommunicationStepSize is not true)",
        ),
    ] {
        let refused = wished(abilities, wish).unwrap_err().to_string();
        assert_eq!(refused, format!("{why}; leave class out, or make it \"legacy\""));
    }
}

/// Every slave has one class, and the three together are all slaves (constraints (b) and (c) of the slides), whatever they can do.
#[test]
fn every_slave_has_a_class() {
    let step = Fraction::MILLISECOND;
    let sources = [Source::NextEventTime, Source::Unlimited, Source::Rig(step), Source::ConstantStep(step)];
    let flags = [false, true];
    for (varies_step, may_return_early, goes_back) in
        flags.into_iter().flat_map(|a| flags.into_iter().flat_map(move |b| flags.map(|c| (a, b, c))))
    {
        for some in 0..16usize {
            let sources = sources.iter().enumerate().filter(|(bit, _)| some >> bit & 1 == 1).map(|(_, s)| *s).collect();
            let way_back = if goes_back { Ok(WayBack::State) } else { Err(NoWayBack::State) };
            let abilities = Abilities { varies_step, may_return_early, way_back, sources };
            let (class, why) = class(abilities.clone());
            let fits = match why {
                ClassReason::Known(_) | ClassReason::StepOfGroup => class == SlaveClass::Predictable,
                ClassReason::GoesBack(_) => class == SlaveClass::Rollback,
                ClassReason::Wished => false,
                _ => class == SlaveClass::Legacy,
            };
            assert!(fits, "{abilities:?}: {class}, {why}");
            assert!(varies_step || class == SlaveClass::Legacy, "{abilities:?}: {class}, {why}");
        }
    }
}
