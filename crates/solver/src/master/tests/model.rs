//! Groups of model slaves, which write down how they are called.

use crate::master::{
    Abilities, Classes, Dependencies, ExchangeStep, MasterAlgorithm, NoWayBack, Setup, SlaveClass, Slaves, Source,
    Stepped, Stop, UnclassifiedSlave, WayBack, classify,
};
use proptest::prelude::*;
use vecud_base::time::{Fraction, Instant};

pub fn at(seconds: f64) -> Instant {
    Instant::from_f64(seconds).unwrap()
}

/// How far a slave steps.
#[derive(Clone, Debug, PartialEq)]
pub enum Room {
    /// To the first of these instants that is later than where it is; behind them to anywhere.
    Until(Vec<Instant>),
    /// To a distance that depends on its state and its input.
    OfState,
    /// Nowhere.
    None,
}

/// What a slave does although it must not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// Reaches an instant after the end of the step (A0).
    StepsBeyond,
    /// Reaches an instant before the beginning of the step (A0).
    StepsBack,
    /// Once it was taken back, it makes half of what it is asked for (A1), every time or the first time.
    RejectsShorter { once: bool },
    /// Tells nothing of where it stops (A4).
    TellsNoLimit,
}

/// A slave as it is described.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub name: &'static str,
    pub class: SlaveClass,
    pub room: Room,
    pub lie: Option<Lie>,
    /// Whether its output depends on its input.
    pub feeds_through: bool,
    /// Its state at the beginning.
    pub state: u64,
}

pub fn model(name: &'static str, class: SlaveClass, stops: &[f64]) -> Model {
    let room = Room::Until(stops.iter().copied().map(at).collect());
    Model { name, class, room, lie: None, feeds_through: false, state: 1 }
}

impl Model {
    pub fn lying(self, lie: Lie) -> Model {
        Model { lie: Some(lie), ..self }
    }
}

/// A group as it is described: slaves in the rig's order, and which feeds which.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub algorithm: MasterAlgorithm,
    pub models: Vec<Model>,
    pub connections: Vec<(usize, usize)>,
}

impl Case {
    pub fn new(algorithm: MasterAlgorithm, models: &[Model]) -> Case {
        Case { algorithm, models: models.to_vec(), connections: Vec::new() }
    }

    pub fn names(&self) -> Vec<&'static str> {
        self.models.iter().map(|model| model.name).collect()
    }

    /// The same group with its slaves, and its connections, in another order: the slave at each place of the new one.
    pub fn permuted(&self, places: &[usize]) -> Case {
        let now = |slave: usize| places.iter().position(|&before| before == slave).unwrap();
        let models = places.iter().map(|&before| self.models[before].clone()).collect();
        let connections = self.connections.iter().rev().map(|&(from, to)| (now(from), now(to))).collect();
        Case { algorithm: self.algorithm, models, connections }
    }

    /// The same group with all slaves of this class.
    pub fn all(&self, algorithm: MasterAlgorithm, class: SlaveClass) -> Case {
        let models = self.models.iter().map(|model| Model { class, ..model.clone() }).collect();
        Case { algorithm, models, connections: self.connections.clone() }
    }

    /// What is set in line 1: Algorithm 1 over an input and an output of each slave.
    pub fn exchanges(&self) -> Vec<ExchangeStep> {
        let (input, output) = (|slave: usize| 2 * slave, |slave: usize| 2 * slave + 1);
        let names: Vec<(&str, bool)> = self.models.iter().flat_map(|m| [(m.name, false), (m.name, true)]).collect();
        let through = (0..self.models.len()).filter(|&slave| self.models[slave].feeds_through);
        let direct: Vec<(usize, usize)> = through.map(|slave| (input(slave), output(slave))).collect();
        let connections: Vec<(usize, usize)> =
            self.connections.iter().map(|&(from, to)| (output(from), input(to))).collect();
        let dependencies = Dependencies { names: &names, direct: &direct, connections: &connections };
        ExchangeStep::without_loops(&dependencies.exchanges(&dependencies.order()))
    }

    pub fn classes(&self) -> Classes {
        let abilities = |class| Abilities {
            varies_step: true,
            may_return_early: class != SlaveClass::Predictable,
            way_back: if class == SlaveClass::Rollback { Ok(WayBack::State) } else { Err(NoWayBack::State) },
            sources: if class == SlaveClass::Predictable { vec![Source::NextEventTime] } else { Vec::new() },
        };
        let candidate =
            |model: &Model| UnclassifiedSlave { name: model.name, abilities: abilities(model.class), wish: None };
        let candidates: Vec<UnclassifiedSlave> = self.models.iter().map(candidate).collect();
        let classes = classify(&candidates, self.algorithm, Fraction::SECOND).unwrap();
        let of = |slave: usize| classes.slaves()[slave].class;
        assert!((0..self.models.len()).all(|slave| of(slave) == self.models[slave].class));
        classes
    }
}

/// What makes a step of a group: the algorithms of this room, or others that are like them.
pub type Stepper = fn(&Case, &mut Group, Instant, Instant) -> Result<Stepped, Stop<String>>;

/// The algorithms of this room.
pub fn right(case: &Case, group: &mut Group, from: Instant, to: Instant) -> Result<Stepped, Stop<String>> {
    let setup = Setup::new(case.algorithm, &case.names(), &case.classes(), case.exchanges(), &case.connections);
    setup.step(group, from, to)
}

/// A slave as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub state: u64,
    pub input: u64,
    pub time: Instant,
}

/// A call of a slave.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    Exchange(usize),
    Save(usize),
    Restore(usize),
    Limit(usize),
    Step { slave: usize, to: Instant, reached: Instant },
    StoppedEarly(usize),
}

/// The slaves of a case while they run.
pub struct Group {
    case: Case,
    pub slaves: Vec<State>,
    saved: Vec<Option<State>>,
    has_lied: Vec<bool>,
    restored: Vec<bool>,
    pub calls: Vec<Call>,
    /// How many events there are still where slaves stop early.
    pub events: u32,
}

/// A number that depends on all of these.
fn mixed(numbers: &[u64]) -> u64 {
    let mut mixed = 0x9e37_79b9_7f4a_7c15;
    for number in numbers {
        mixed = (mixed ^ number).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^= mixed >> 29;
    }
    mixed
}

impl Group {
    pub fn new(case: &Case, time: Instant) -> Group {
        let n = case.models.len();
        let state = |model: &Model| State { state: model.state, input: 0, time };
        Group {
            slaves: case.models.iter().map(state).collect(),
            case: case.clone(),
            saved: vec![None; n],
            has_lied: vec![false; n],
            restored: vec![false; n],
            calls: Vec::new(),
            events: 0,
        }
    }

    /// Before another step.
    pub fn forget(&mut self) {
        self.calls.clear();
        self.saved.fill(None);
        self.restored.fill(false);
    }

    /// The slaves by name.
    pub fn by_name(&self) -> Vec<(&'static str, State)> {
        let mut named: Vec<_> = self.case.names().into_iter().zip(self.slaves.iter().cloned()).collect();
        named.sort_by_key(|(name, _)| *name);
        named
    }

    /// The calls as text.
    pub fn trace(&self) -> Vec<String> {
        let name = |slave: &usize| self.case.models[*slave].name;
        let line = |call: &Call| match call {
            Call::Exchange(connection) => {
                let (from, to) = self.case.connections[*connection];
                format!("{} := {}", name(&to), name(&from))
            }
            Call::Save(slave) => format!("save {}", name(slave)),
            Call::Restore(slave) => format!("restore {}", name(slave)),
            Call::Limit(slave) => format!("limit {}", name(slave)),
            Call::Step { slave, to, reached } if to == reached => format!("step {} to {}", name(slave), to.seconds()),
            Call::Step { slave, to, reached } => {
                format!("step {} to {}: {}", name(slave), to.seconds(), reached.seconds())
            }
            Call::StoppedEarly(slave) => format!("stopped early {}", name(slave)),
        };
        self.calls.iter().map(line).collect()
    }

    fn output(&self, slave: usize) -> u64 {
        let State { state, input, .. } = self.slaves[slave];
        if self.case.models[slave].feeds_through { mixed(&[state, input]) } else { state }
    }

    /// Where the slave stops that is there.
    fn stop(&self, slave: usize, from: Instant) -> Option<Instant> {
        let State { state, input, .. } = self.slaves[slave];
        match &self.case.models[slave].room {
            Room::Until(stops) => stops.iter().copied().find(|stop| *stop > from),
            Room::OfState => {
                let hundredths = 1 + mixed(&[state, input, 7]) % 150;
                Some(from.after(Fraction::new(hundredths, 100).unwrap()))
            }
            Room::None => Some(from),
        }
    }
}

/// Between two instants, in the middle.
fn half(from: Instant, to: Instant) -> Instant {
    let length = to.minus(from).unwrap();
    from.after(Fraction::new(length.counter(), 2 * length.resolution()).unwrap())
}

impl Slaves for Group {
    type Failure = String;

    fn exchange(&mut self, connection: usize) -> Result<(), String> {
        self.calls.push(Call::Exchange(connection));
        let (from, to) = self.case.connections[connection];
        self.slaves[to].input = self.output(from);
        Ok(())
    }

    fn solve(&mut self, _: usize) -> Result<(), String> {
        Err("there are no loops".to_owned())
    }

    fn save(&mut self, slave: usize) -> Result<(), String> {
        self.calls.push(Call::Save(slave));
        match self.case.models[slave].class {
            SlaveClass::Rollback => self.saved[slave] = Some(self.slaves[slave].clone()),
            class => return Err(format!("{} is {class}", self.case.models[slave].name)),
        }
        Ok(())
    }

    fn restore(&mut self, slave: usize) -> Result<(), String> {
        self.calls.push(Call::Restore(slave));
        self.restored[slave] = true;
        self.slaves[slave] = self.saved[slave].clone().ok_or("nothing was saved")?;
        Ok(())
    }

    fn do_step(&mut self, slave: usize, from: Instant, to: Instant) -> Result<Instant, String> {
        let model = &self.case.models[slave];
        if self.slaves[slave].time != from || to <= from {
            return Err(format!("{} is at {:?} and cannot step to {to:?}", model.name, self.slaves[slave].time));
        }
        let stop = self.stop(slave, from);
        let mut reached = stop.map_or(to, |stop| stop.min(to));
        let is_again = self.restored[slave] && !self.has_lied[slave];
        match model.lie {
            Some(Lie::StepsBeyond) => reached = to.after(Fraction::NANOSECOND),
            Some(Lie::StepsBack) => reached = at(-1.0),
            Some(Lie::RejectsShorter { once }) if is_again => {
                reached = half(from, to);
                self.has_lied[slave] = once;
            }
            _ => {}
        }
        self.calls.push(Call::Step { slave, to, reached });
        let State { state, input, .. } = self.slaves[slave];
        if reached > from {
            let length = reached.minus(from).unwrap();
            let state = mixed(&[state, input, length.counter(), length.resolution()]);
            self.slaves[slave] = State { state, input, time: reached };
        }
        Ok(reached)
    }

    fn latest(&mut self, slave: usize, _: Source, from: Instant) -> Result<Option<Instant>, String> {
        self.calls.push(Call::Limit(slave));
        match self.case.models[slave].lie {
            Some(Lie::TellsNoLimit) => Ok(None),
            _ => Ok(self.stop(slave, from)),
        }
    }

    fn stopped_early(&mut self, slave: usize, _: Instant) -> Result<bool, String> {
        self.calls.push(Call::StoppedEarly(slave));
        let was_event = self.events > 0;
        self.events = self.events.saturating_sub(1);
        Ok(was_event)
    }
}

/// Steps a case from 0 to 1, once.
pub fn once(stepper: Stepper, case: &Case) -> (Result<Stepped, Stop<String>>, Group) {
    let mut group = Group::new(case, Instant::ZERO);
    let stepped = stepper(case, &mut group, Instant::ZERO, at(1.0));
    (stepped, group)
}

/// Groups of up to six slaves that stop where their states say, with one legacy slave at most, and inputs of which each has one source.
pub fn groups() -> impl Strategy<Value = Case> {
    const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
    let names = Just(NAMES.to_vec()).prop_shuffle();
    let classes = prop::collection::vec(prop_oneof![Just(SlaveClass::Rollback), Just(SlaveClass::Predictable)], 1..7);
    let sources = prop::collection::vec(prop::option::of(0..6usize), 6);
    let (states, through) = (prop::collection::vec(any::<u64>(), 6), prop::collection::vec(any::<bool>(), 6));
    (names, classes, prop::option::of(0..6usize), states, through, sources).prop_map(
        |(names, mut classes, legacy, states, through, sources)| {
            let n = classes.len();
            if let Some(legacy) = legacy.filter(|&legacy| legacy < n) {
                classes[legacy] = SlaveClass::Legacy;
            }
            let of = |slave: usize| Model {
                name: names[slave],
                class: classes[slave],
                room: Room::OfState,
                lie: None,
                feeds_through: through[slave],
                state: states[slave],
            };
            let fed = |to: usize| sources[to].filter(|&from| from < n).map(|from| (from, to));
            let connections = (0..n).filter_map(fed).collect();
            Case { algorithm: MasterAlgorithm::Predictable, models: (0..n).map(of).collect(), connections }
        },
    )
}
