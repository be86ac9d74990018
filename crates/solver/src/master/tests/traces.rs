//! The calls of a step, as literal lists, beside the lines of the slides. Slaves stand in the rig against their names' order.

use super::model::{Call, Case, Group, Lie, Model, Room, Stepper, at, model, once, right};
use crate::master::MasterAlgorithm::{GaussSeidel, Jacobi, Predictable, Rollback};
use crate::master::{
    Abilities, EarlyEnd, ExchangeStep, NoWayBack, Setup, Shortened, SlaveClass, Slaves, Source, Stepped, Stop,
    UnclassifiedSlave, classify,
};
use vecud_base::time::{Fraction, Instant};

/// A case with its calls and the end of its step.
struct Trace {
    name: &'static str,
    case: Case,
    to: f64,
    calls: &'static [&'static str],
}

fn rollback(name: &'static str, stops: &[f64]) -> Model {
    model(name, SlaveClass::Rollback, stops)
}

fn predictable(name: &'static str, stops: &[f64]) -> Model {
    model(name, SlaveClass::Predictable, stops)
}

fn legacy(name: &'static str, stops: &[f64]) -> Model {
    model(name, SlaveClass::Legacy, stops)
}

fn connected(case: Case, connections: &[(usize, usize)]) -> Case {
    Case { connections: connections.to_vec(), ..case }
}

fn traces() -> Vec<Trace> {
    vec![
        Trace {
            name: "Algorithm 2: all accept",
            case: connected(Case::new(Rollback, &[rollback("b", &[]), rollback("a", &[])]), &[(1, 0), (0, 1)]),
            to: 1.0,
            calls: &[
                "b := a", // 1
                "a := b",
                "save a", // 2
                "save b",
                "step a to 1", // 4
                "step b to 1",
            ],
        },
        Trace {
            name: "Algorithm 2: one rejects at 0.37 h, and all step 0.37 h",
            case: connected(
                Case::new(Rollback, &[rollback("c", &[]), rollback("b", &[0.37]), rollback("a", &[])]),
                &[(0, 1), (2, 0)],
            ),
            to: 0.37,
            calls: &[
                "c := a", // 1
                "b := c",
                "save a", // 2
                "save b",
                "save c",
                "step a to 1", // 4
                "step b to 1: 0.37",
                "step c to 1",
                "restore a", // 6
                "step a to 0.37",
                "restore b",
                "step b to 0.37",
                "restore c",
                "step c to 0.37",
            ],
        },
        Trace {
            name: "Algorithm 2: the smallest of several counts, whoever is last",
            case: Case::new(Rollback, &[rollback("c", &[0.8]), rollback("b", &[0.25]), rollback("a", &[0.5])]),
            to: 0.25,
            calls: &[
                "save a",
                "save b",
                "save c",
                "step a to 1: 0.5",
                "step b to 1: 0.25",
                "step c to 1: 0.8",
                "restore a",
                "step a to 0.25",
                "restore b",
                "step b to 0.25",
                "restore c",
                "step c to 0.25",
            ],
        },
        Trace {
            name: "Algorithm 2: who stays where he is keeps all there, and nobody makes a step without length",
            case: Case::new(Rollback, &[rollback("b", &[]), Model { room: Room::None, ..rollback("a", &[]) }]),
            to: 0.0,
            calls: &["save a", "save b", "step a to 1: 0", "step b to 1", "restore a", "restore b"],
        },
        Trace {
            name: "Algorithm 3: one rejects at 0.37 h, and all step 0.37 h; legacy after agreement, predictable last, each once",
            case: connected(
                Case::new(
                    Predictable,
                    &[
                        predictable("e", &[]),
                        legacy("d", &[]),
                        rollback("c", &[]),
                        rollback("b", &[0.37]),
                        rollback("a", &[]),
                    ],
                ),
                &[(0, 4), (3, 1)],
            ),
            to: 0.37,
            calls: &[
                "d := b", // 1
                "a := e",
                "limit e", // 2
                "save a",  // 3
                "save b",
                "save c",
                "step a to 1", // 5
                "step b to 1: 0.37",
                "step c to 1",
                "restore a", // 6, 4
                "restore b",
                "restore c",
                "step a to 0.37", // 5
                "step b to 0.37",
                "step c to 0.37",
                "step d to 0.37", // 7
                "step e to 0.37", // 8
            ],
        },
        Trace {
            name: "Algorithm 3: what is known in advance makes nobody go back",
            case: Case::new(
                Predictable,
                &[predictable("d", &[0.37]), predictable("c", &[0.5]), rollback("b", &[0.9]), legacy("a", &[0.8])],
            ),
            to: 0.37,
            calls: &[
                "limit c", // 2
                "limit d",
                "save b",         // 3
                "step b to 0.37", // 5
                "step a to 0.37", // 7
                "step c to 0.37", // 8
                "step d to 0.37",
            ],
        },
        Trace {
            name: "Algorithm 3: legacy shortens; only the rollback ones go back, and it is not asked again",
            case: Case::new(
                Predictable,
                &[predictable("d", &[]), rollback("c", &[0.75]), rollback("b", &[]), legacy("a", &[0.25])],
            ),
            to: 0.25,
            calls: &[
                "limit d", // 2
                "save b",  // 3
                "save c",
                "step b to 1", // 5
                "step c to 1: 0.75",
                "restore b", // 6, 4
                "restore c",
                "step b to 0.75", // 5
                "step c to 0.75",
                "step a to 0.75: 0.25", // 7
                "restore b",            // 4
                "restore c",
                "step b to 0.25", // 5
                "step c to 0.25",
                "step d to 0.25", // 8
            ],
        },
        Trace {
            name: "Algorithm 3: legacy alone among predictable ones",
            case: Case::new(Predictable, &[predictable("a", &[]), legacy("b", &[0.5]), predictable("c", &[0.75])]),
            to: 0.5,
            calls: &["limit a", "limit c", "step b to 0.75: 0.5", "step a to 0.5", "step c to 0.5"],
        },
        Trace {
            name: "Algorithm 3: who knows that it cannot step keeps all there",
            case: Case::new(
                Predictable,
                &[Model { room: Room::None, ..predictable("c", &[]) }, rollback("b", &[]), legacy("a", &[])],
            ),
            to: 0.0,
            calls: &["limit c", "save b"],
        },
        Trace {
            name: "Algorithm 3: a legacy slave that stays where it is keeps all there",
            case: Case::new(
                Predictable,
                &[predictable("c", &[]), rollback("b", &[]), Model { room: Room::None, ..legacy("a", &[]) }],
            ),
            to: 0.0,
            calls: &["limit c", "save b", "step b to 1", "step a to 1: 0", "restore b"],
        },
        Trace {
            name: "Jacobi: nobody gets what others have computed in the same step; who stops goes on",
            case: connected(Case::new(Jacobi, &[legacy("b", &[0.5]), legacy("a", &[])]), &[(1, 0), (0, 1)]),
            to: 1.0,
            calls: &["b := a", "a := b", "step a to 1", "step b to 1: 0.5", "stopped early b", "step b to 1"],
        },
        Trace {
            name: "Gauss-Seidel: who feeds comes before who is fed, and then by name; circles begin with the first name",
            case: connected(
                Case::new(
                    GaussSeidel,
                    &[legacy("e", &[]), legacy("d", &[]), legacy("c", &[0.5]), legacy("b", &[]), legacy("a", &[])],
                ),
                // c feeds b, a and d feed each other, d feeds e.
                &[(2, 3), (4, 1), (1, 4), (1, 0)],
            ),
            to: 1.0,
            calls: &[
                "a := d",
                "step a to 1",
                "step c to 1: 0.5",
                "stopped early c",
                "step c to 1",
                "b := c",
                "step b to 1",
                "d := a",
                "step d to 1",
                "e := d",
                "step e to 1",
            ],
        },
    ]
}

/// What is not as it should be.
pub fn check(stepper: Stepper) -> Result<(), String> {
    for Trace { name, case, to, calls } in traces() {
        let (stepped, group) = once(stepper, &case);
        match stepped {
            Ok(Stepped { to: end, violation: None, .. }) if end == at(to) => {}
            other => return Err(format!("{name}: {other:?}")),
        }
        if group.trace() != calls {
            return Err(format!("{name}: {:#?}", group.trace()));
        }
        if let Some(elsewhere) = group.slaves.iter().find(|slave| slave.time != at(to)) {
            return Err(format!("{name}: {elsewhere:?}"));
        }
    }
    Ok(())
}

#[test]
fn steps_are_those_of_the_slides() {
    check(right).unwrap();
}

#[test]
fn who_has_shortened_a_step_is_told_with_the_counts() {
    let (stepped, _) = once(
        right,
        &Case::new(
            Predictable,
            &[predictable("d", &[]), rollback("c", &[0.75]), rollback("b", &[]), legacy("a", &[0.25])],
        ),
    );
    let by_legacy = Shortened { slave: 3, cause: EarlyEnd::Rejected };
    let expected = Stepped { to: at(0.25), rejections: 2, restores: 4, shortened: Some(by_legacy), violation: None };
    assert_eq!(stepped, Ok(expected));
    let (stepped, _) = once(
        right,
        &Case::new(Predictable, &[predictable("d", &[0.37]), predictable("c", &[0.37]), rollback("b", &[0.37])]),
    );
    let by_event = Shortened { slave: 1, cause: EarlyEnd::Limit(Source::NextEventTime) };
    let expected = Stepped { to: at(0.37), rejections: 0, restores: 0, shortened: Some(by_event), violation: None };
    assert_eq!(stepped, Ok(expected), "the first by name of two");
    let (stepped, _) = once(right, &Case::new(Rollback, &[rollback("b", &[0.5]), rollback("a", &[0.5])]));
    assert_eq!(stepped.unwrap().shortened, Some(Shortened { slave: 1, cause: EarlyEnd::Rejected }));
    let (stepped, _) = once(right, &Case::new(Rollback, &[rollback("a", &[])]));
    assert_eq!(stepped.unwrap().shortened, None);
}

/// 1/3 and 0.1 + 0.2 are no doubles: two slaves that stop there stop at the same instant.
#[test]
fn ends_of_steps_are_compared_exactly() {
    let third = Instant::ZERO.after(Fraction::new(1, 3).unwrap());
    let sum = at(0.1).after(Fraction::parse("0.2").unwrap());
    for (stop, same) in [(third, Instant::ZERO.after_many(Fraction::new(1, 9).unwrap(), 3)), (sum, at(0.3))] {
        let [a, b] = [stop, same].map(|stop| Room::Until(vec![stop]));
        let models = [Model { room: a, ..rollback("a", &[]) }, Model { room: b, ..rollback("b", &[]) }];
        let (stepped, group) = once(right, &Case::new(Rollback, &models));
        let stepped = stepped.unwrap();
        assert_eq!((stepped.to, stepped.rejections, stepped.restores), (stop, 2, 2));
        assert!(group.slaves.iter().all(|slave| slave.time == same));
    }
}

#[test]
fn who_is_asked_to_go_on_and_does_not_is_named() {
    for algorithm in [Jacobi, GaussSeidel] {
        let stands = Model { room: Room::None, ..legacy("b", &[]) };
        let case = Case::new(algorithm, &[stands, legacy("a", &[])]);
        let (stepped, group) = once(right, &case);
        assert_eq!(stepped, Err(Stop::Stuck { slave: 0, at: at(0.0) }));
        let steps =
            |group: &Group| group.calls.iter().filter(|call| matches!(call, Call::Step { slave: 0, .. })).count();
        assert_eq!(steps(&group), 2);
        // With an event each time it is not stuck.
        let mut group = Group::new(&case, at(0.0));
        group.events = 3;
        assert_eq!(right(&case, &mut group, at(0.0), at(1.0)), Err(Stop::Stuck { slave: 0, at: at(0.0) }));
        assert_eq!(steps(&group), 3 + 2);
    }
}

#[test]
fn who_stops_early_goes_on_from_there() {
    for algorithm in [Jacobi, GaussSeidel] {
        let case = Case::new(algorithm, &[legacy("a", &[0.25, 0.5])]);
        let (stepped, group) = once(right, &case);
        let expected = Stepped { to: at(1.0), rejections: 2, restores: 0, shortened: None, violation: None };
        assert_eq!(stepped, Ok(expected));
        let all = ["step a to 1: 0.25", "stopped early a", "step a to 1: 0.5", "stopped early a", "step a to 1"];
        assert_eq!(group.trace(), all);
    }
}

#[test]
fn who_steps_out_of_bounds_is_named_under_jacobi_too() {
    for lie in [Lie::StepsBeyond, Lie::StepsBack] {
        let (stepped, _) = once(right, &Case::new(Jacobi, &[legacy("b", &[]).lying(lie), legacy("a", &[])]));
        assert!(matches!(stepped, Err(Stop::Violated(violation)) if violation.slave == 0), "{stepped:?}");
    }
}

/// Two loops among connections, and a slave whose largest step is known from the rig and from what it tells.
#[test]
fn loops_are_solved_by_number_and_only_what_is_told_is_asked_for() {
    struct Told(Vec<String>);

    impl Slaves for Told {
        type Failure = ();

        fn exchange(&mut self, connection: usize) -> Result<(), ()> {
            self.0.push(format!("exchange {connection}"));
            Ok(())
        }
        fn solve(&mut self, circle: usize) -> Result<(), ()> {
            self.0.push(format!("solve {circle}"));
            Ok(())
        }
        fn save(&mut self, _: usize) -> Result<(), ()> {
            Err(())
        }
        fn restore(&mut self, _: usize) -> Result<(), ()> {
            Err(())
        }
        fn do_step(&mut self, slave: usize, _: Instant, to: Instant) -> Result<Instant, ()> {
            self.0.push(format!("step {slave} to {}", to.seconds()));
            Ok(to)
        }
        fn latest(&mut self, slave: usize, source: Source, _: Instant) -> Result<Option<Instant>, ()> {
            self.0.push(format!("{slave} by {source}"));
            Ok(Some(at(0.75)))
        }
        fn stopped_early(&mut self, _: usize, _: Instant) -> Result<bool, ()> {
            Err(())
        }
    }

    let half = Source::Rig(Fraction::new(1, 2).unwrap());
    let sources = vec![Source::Unlimited, half, Source::ClockTick, Source::InternalStep(Fraction::SECOND)];
    let abilities = Abilities { varies_step: true, may_return_early: false, way_back: Err(NoWayBack::State), sources };
    let candidate = UnclassifiedSlave { name: "it", abilities, wish: None };
    let classes = classify(&[candidate], Predictable, Fraction::SECOND).unwrap();
    let exchanges = vec![
        ExchangeStep::Loop(vec![0]),
        ExchangeStep::Connection(3),
        ExchangeStep::Loop(vec![1, 2]),
        ExchangeStep::Connection(4),
    ];
    let setup = Setup::new(Predictable, &["it"], &classes, exchanges, &[(0, 0); 5]);
    let mut told = Told(Vec::new());
    let stepped = setup.step(&mut told, at(0.0), at(1.0)).unwrap();
    assert_eq!(stepped.shortened, Some(Shortened { slave: 0, cause: EarlyEnd::Limit(half) }));
    let calls = ["solve 0", "exchange 3", "solve 1", "exchange 4", "0 by the next tick of its clocks", "step 0 to 0.5"];
    assert_eq!(told.0, calls);
}
