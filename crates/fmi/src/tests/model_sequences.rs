//! Property: no sequence of calls of Model Exchange that compiles, whatever the FMU answers, leaves the state machine of its version of FMI,
//! as the stub of `model_judge` sees it.

use super::model_judge::{self as judge, NUMBERS, State};
use super::stub::Notes;
use crate::types::RawInstance;
use crate::*;
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;
use vecud_description::{Abi, ValueReference, Values, VariableType};

/// An instance in whatever state it has come to.
enum Handle {
    Instantiated(Instance<Instantiated>),
    Configuration(Instance<Configuration>),
    Initialization(Instance<Initialization>),
    Whole(Instance<Running>),
    Running { control: Option<InstanceControl>, model: Option<Model> },
    Terminated(Instance<Terminated>),
    Gone,
}
use Handle as H;

/// What to do next: with which instance, what, and a number for whatever else there is to choose.
type Step = (usize, u8, u8);

/// All that a test does with an FMU.
struct Driver {
    library: Arc<Library>,
    handles: Vec<Handle>,
    /// A state of each instance, taken while it was initialised.
    saved: Vec<Option<FmuState<Running>>>,
    abandoned: usize,
}

const X: ValueReference = ValueReference(1);

fn batch() -> Batch {
    Batch::new(VariableType::Float64, vec![(X, 1)])
}

fn set<S: Writable>(instance: &Instance<S>) {
    let _ = instance.set_values(X, VariableType::Float64, &Values::Float64(vec![1.0]));
}

fn reset<S>(instance: Instance<S>) -> Handle {
    instance.reset().map_or(H::Gone, H::Instantiated)
}

fn pattern() -> SparsityPattern {
    let provides = Provides { directional: true, ..Provides::default() };
    SparsityPattern::new(Jacobian::new(provides, &[(X, 1)], &[(X, 1)]), vec![(0, 0)])
}

/// What can be done in Event Mode.
fn handle_event(mut event: EventMode, number: u8) {
    for which in 0..number % 4 {
        match (number / 4 + which) % 7 {
            0 => drop(event.set(&batch())),
            1 => drop(event.get(&mut batch())),
            2 => drop(event.set_clocks(&InputClocks::ticking(&[1, 2]))),
            3 => drop(event.get_clocks(&mut OutputClocks::new(&[(X, 1)]))),
            4 => drop(event.get_draft_intervals(&[1], ElementIntervals::Decimal(&mut [0.0]))),
            5 => drop(pattern().read(&mut event, &mut [0.0])),
            _ => drop(event.update()),
        }
    }
}

/// What can be done in Continuous-Time Mode.
fn integrate(mut continuous: ContinuousTime, number: u8) {
    let (mut states, mut indicators) = ([0.0; NUMBERS.states], [0.0; NUMBERS.event_indicators]);
    for which in 0..number % 8 {
        match (number / 8 + which) % 10 {
            0 => drop(continuous.set_time(1.0)),
            1 => drop(continuous.set(&batch())),
            2 => drop(continuous.set_states(&states)),
            3 => drop(continuous.derivatives(&mut states)),
            4 => drop(continuous.indicators(&mut indicators)),
            5 => drop(continuous.get(&mut batch())),
            6 => drop(continuous.states(&mut states)),
            7 => drop(continuous.nominals(&mut states)),
            8 => drop(pattern().read(&mut continuous, &mut [0.0])),
            _ => drop(continuous.completed_integrator_step(number.is_multiple_of(2))),
        }
    }
}

impl Driver {
    fn step(&mut self, (index, what, number): Step) {
        let index = index.min(self.handles.len());
        if index == self.handles.len() {
            self.handles.push(H::Gone);
            self.saved.push(None);
        }
        if matches!(self.handles[index], H::Gone) {
            let ear: Arc<Notes> = Arc::default();
            let made = self.library.instantiate(&MadeFor::ModelExchange, "stub", "{token}", None, false, ear);
            self.saved[index] = None;
            self.handles[index] = made.map_or(H::Gone, |made| {
                made.declare_states(StateSupport::Serialize);
                H::Instantiated(made)
            });
            return;
        }
        let handle = std::mem::replace(&mut self.handles[index], H::Gone);
        self.handles[index] = match handle {
            H::Running { control, model } => self.running(control, model, what, number),
            other => whole(&mut self.saved[index], other, what, number),
        };
    }

    fn running(&mut self, control: Option<InstanceControl>, mut model: Option<Model>, what: u8, number: u8) -> Handle {
        match (what % 32, control) {
            (0, Some(control)) => {
                let _ = control.terminate(Vec::from_iter(model));
                H::Gone
            }
            (1, Some(control)) if number.is_multiple_of(4) && model.is_some() => {
                self.abandoned += usize::from(control.health() < Health::Freed);
                let _ = control.terminate(Vec::<Model>::new());
                H::Gone
            }
            (2, Some(control)) if number.is_multiple_of(8) => {
                drop(control);
                H::Running { control: None, model }
            }
            (3, Some(control)) if number.is_multiple_of(16) => {
                control.fail();
                H::Running { control: Some(control), model }
            }
            (4..=6, Some(control)) => control.join(Vec::from_iter(model)).map_or(H::Gone, H::Whole),
            (7 | 8, Some(control)) => {
                let one = Values::Float64(vec![1.0]);
                let _ = control.reconfiguration().set([(X, VariableType::Float64, &one)].into_iter());
                H::Running { control: Some(control), model }
            }
            (9, control) if number.is_multiple_of(16) => H::Running { control, model: None },
            (_, control) => {
                if let Some(model) = &mut model {
                    compute(model, what, number);
                }
                H::Running { control, model }
            }
        }
    }
}

/// What can be done with equations.
fn compute(model: &mut Model, what: u8, number: u8) {
    match what % 8 {
        0 if number == 0 => model.fail(),
        0 => drop(model.numbers()),
        1 => drop(model.remember()),
        2 => drop(model.go_back()),
        3 => {
            let reasons = Reasons { step_event: true, roots_found: &[1, 0, -1], time_event: number > 99 };
            let _ = model.enter_event_mode(1.0, &reasons);
        }
        4 => drop(model.enter_continuous_time_mode()),
        5 => drop(model.state_references(&mut [0; NUMBERS.states])),
        _ => {
            if let Some(event) = model.event_mode() {
                handle_event(event, number);
            }
            if let Some(continuous) = model.continuous_time() {
                integrate(continuous, number);
            }
        }
    }
}

/// A step with an instance of which nothing computes.
fn whole(saved: &mut Option<FmuState<Running>>, handle: Handle, what: u8, number: u8) -> Handle {
    match handle {
        H::Instantiated(instance) => match what % 8 {
            0 => H::Gone,
            1 if number.is_multiple_of(4) => instance.enter_configuration_mode().map_or(H::Gone, H::Configuration),
            2 => reset(instance),
            3 => go_back(instance, saved.as_ref())
                .map_or_else(|instance| instance.map_or(H::Gone, H::Instantiated), H::Whole),
            4 => {
                set(&instance);
                H::Instantiated(instance)
            }
            _ => instance.enter_initialization_mode(0.0, None, None).map_or(H::Gone, H::Initialization),
        },
        H::Configuration(instance) => match what % 4 {
            0 => H::Gone,
            1 => {
                set(&instance);
                H::Configuration(instance)
            }
            _ => instance.exit_configuration_mode().map_or(H::Gone, H::Instantiated),
        },
        H::Initialization(mut instance) => match what % 8 {
            0 => H::Gone,
            1 => reset(instance),
            2 => {
                set(&instance);
                let _ = instance.get_values(X, VariableType::Float64, 1);
                let _ = pattern().read(&mut instance, &mut [0.0]);
                H::Initialization(instance)
            }
            _ => instance.exit_initialization_mode().map_or(H::Gone, H::Whole),
        },
        H::Whole(instance) => match what % 16 {
            0 => H::Gone,
            1 => H::Terminated(instance.terminate().0),
            2 => reset(instance),
            3 => {
                let _ = instance.end();
                H::Gone
            }
            4..=6 => {
                // One from before is dropped, and freed with a later call.
                *saved = instance.get_state().ok();
                H::Whole(instance)
            }
            7..=9 => {
                go_back(instance, saved.as_ref()).map_or_else(|instance| instance.map_or(H::Gone, H::Whole), H::Whole)
            }
            _ => {
                let (control, model) = instance.into_model(NUMBERS);
                H::Running { control: Some(control), model: Some(model) }
            }
        },
        H::Terminated(instance) => match what % 4 {
            0 => H::Gone,
            1 => go_back(instance, saved.as_ref())
                .map_or_else(|instance| instance.map_or(H::Gone, H::Terminated), H::Whole),
            _ => reset(instance),
        },
        running @ H::Running { .. } => running,
        H::Gone => H::Gone,
    }
}

/// Sets a state, if there is one; `Err`: there is none, or that was the end of the instance.
fn go_back<S>(
    instance: Instance<S>,
    saved: Option<&FmuState<Running>>,
) -> Result<Instance<Running>, Option<Instance<S>>> {
    match saved {
        Some(state) => instance.set_state(state).map_err(|_| None),
        None => Err(Some(instance)),
    }
}

/// Drives the stub through these steps; gives what it has found.
fn drive(abi: Abi, steps: &[Step], random: u64, failing: u64) -> judge::Judge {
    judge::begin_at_random(abi, random, failing);
    let library = Arc::new(Library::from_functions(judge::functions()));
    let mut driver = Driver { library, handles: Vec::new(), saved: Vec::new(), abandoned: 0 };
    steps.iter().for_each(|step| driver.step(*step));
    driver.handles.clear();
    driver.saved.clear();
    judge::all_gone(driver.abandoned);
    judge::verdict()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 20 } else { 2000 }, ..ProptestConfig::default() })]
    #[test]
    fn no_sequence_of_calls_leaves_the_state_machine(
        abi in prop::sample::select(judge::ALL.to_vec()),
        steps in prop::collection::vec((0..3usize, any::<u8>(), any::<u8>()), 0..80),
        random in any::<u64>(),
        failing in prop::sample::select(vec![0u64, 100, 30, 8]),
    ) {
        let verdict = drive(abi, &steps, random, failing);
        prop_assert!(verdict.broken.is_empty(), "{:#?}", verdict.broken);
    }
}

/// The property has something to look at, and sees it.
#[test]
fn random_sequences_come_to_every_function_and_failure() {
    use Function as F;
    for abi in judge::ALL {
        let (mut counts, mut failures, mut fatals) = (HashMap::<(Function, State), u64>::new(), 0, 0);
        for seed in 0..if cfg!(miri) { 30 } else { 500u64 } {
            let mut state = seed;
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as u8
            };
            let steps: Vec<Step> = (0..120).map(|_| (usize::from(next() % 3), next(), next())).collect();
            let verdict = drive(abi, &steps, seed, [0, 100, 30, 8][seed as usize % 4]);
            assert_eq!(verdict.broken, Vec::<String>::new(), "{abi:?}, seed {seed}");
            failures += verdict.failures;
            fatals += verdict.fatals;
            verdict.counts.into_iter().for_each(|(what, count)| *counts.entry(what).or_default() += count);
        }
        println!("{abi:?}: {} calls, {failures} failures, {fatals} of them fatal", counts.values().sum::<u64>());
        if cfg!(miri) {
            continue;
        }
        assert!(failures > 200 && fatals > 20, "{abi:?}");
        let own = match abi {
            Abi::Fmi1 => {
                &[(F::UpdateDiscreteStates, State::ContinuousTime), (F::GetStateValueReferences, State::ContinuousTime)]
                    [..]
            }
            Abi::Fmi2 => {
                &[(F::SetupExperiment, State::Instantiated), (F::GetDirectionalDerivative, State::ContinuousTime)]
            }
            Abi::Fmi3 => {
                &[(F::SetClock, State::Event), (F::GetClock, State::Event), (F::EnterConfigurationMode, State::Event)]
            }
            Abi::Draft => &[(F::GetNumberOfEventIndicators, State::Event), (F::EnterConfigurationMode, State::Event)],
        };
        let modes = [
            (F::UpdateDiscreteStates, State::Event),
            (F::EnterContinuousTimeMode, State::Event),
            (F::EnterEventMode, State::ContinuousTime),
            (F::SetFMUState, State::Event),
            (F::SetFMUState, State::ContinuousTime),
            (F::SetFMUState, State::Terminated),
            (F::Terminate, State::Event),
            (F::GetDirectionalDerivative, State::Event),
        ];
        let everywhere = [
            F::SetTime,
            F::SetFloat64,
            F::SetContinuousStates,
            F::GetContinuousStateDerivatives,
            F::GetEventIndicators,
            F::GetFloat64,
            F::GetContinuousStates,
            F::GetNominalsOfContinuousStates,
            F::CompletedIntegratorStep,
            F::Terminate,
        ];
        let modes = if abi == Abi::Fmi1 { &[][..] } else { &modes };
        let all = own.iter().chain(modes).copied().chain(everywhere.map(|function| (function, State::ContinuousTime)));
        for what in all {
            assert!(counts.get(&what).is_some_and(|count| *count > 5), "{abi:?}: {what:?} {:?}", counts.get(&what));
        }
    }
}

/// What the judge says of an importer that makes these calls of one instance, past all types.
fn judged(calls: impl Fn(&Functions, RawInstance)) -> Vec<String> {
    judge::begin(Abi::Fmi3);
    let library = Arc::new(Library::from_functions(judge::functions()));
    let ear: Arc<Notes> = Arc::default();
    let made = library.instantiate(&MadeFor::ModelExchange, "stub", "{token}", None, false, ear).unwrap();
    calls(library.functions(), std::ptr::without_provenance_mut(1));
    std::mem::forget(made);
    judge::verdict().broken
}

#[test]
fn the_judge_sees_calls_that_the_standard_forbids() {
    let start = |f: &Functions, i| {
        // SAFETY: the stub follows no pointer.
        unsafe {
            (f.enter_initialization_mode)(i, 0, 0.0, 0.0, 0, 0.0);
            (f.exit_initialization_mode)(i)
        }
    };
    // SAFETY: the stub follows no pointer.
    let continuous = |f: &Functions, i| unsafe { (f.enter_continuous_time_mode)(i) };
    type Calls<'a> = &'a dyn Fn(&Functions, RawInstance);
    let wrong: [(&str, Calls); 9] = [
        ("SetTime of Fmi3, instance 0, Event: in this state", &|f, i| {
            start(f, i);
            // SAFETY: the stub follows no pointer.
            unsafe { (f.set_time)(i, 0.0) };
        }),
        ("SetContinuousStates of Fmi3, instance 0, Event: in this state", &|f, i| {
            start(f, i);
            // SAFETY: one value.
            unsafe { (f.set_continuous_states)(i, &0.0, 1) };
        }),
        ("CompletedIntegratorStep of Fmi3, instance 0, Event: in this state", &|f, i| {
            start(f, i);
            // SAFETY: both places can be written to.
            unsafe { (f.completed_integrator_step)(i, 1, &mut 0, &mut 0) };
        }),
        ("UpdateDiscreteStates of Fmi3, instance 0, ContinuousTime: in this state", &|f, i| {
            start(f, i);
            continuous(f, i);
            // SAFETY: all places can be written to.
            unsafe { (f.update_discrete_states)(i, &mut 0, &mut 0, &mut 0, &mut 0, &mut 0, &mut 0.0) };
        }),
        ("EnterContinuousTimeMode of Fmi3, instance 0, ContinuousTime: in this state", &|f, i| {
            start(f, i);
            continuous(f, i);
            continuous(f, i);
        }),
        ("EnterEventMode of Fmi3, instance 0, Event: in this state", &|f, i| {
            start(f, i);
            // SAFETY: the stub follows no pointer.
            unsafe { f.enter_event_mode(i, &Reasons::default()) };
        }),
        ("EnterConfigurationMode of Fmi3, instance 0, ContinuousTime: in this state", &|f, i| {
            start(f, i);
            continuous(f, i);
            // SAFETY: the stub follows no pointer.
            unsafe { (f.enter_configuration_mode)(i) };
        }),
        ("GetContinuousStateDerivatives of Fmi3, instance 0, Instantiated: in this state", &|f, i| {
            // SAFETY: room for one value.
            unsafe { (f.get_continuous_state_derivatives)(i, &mut 0.0, 1) };
        }),
        ("Terminate of Fmi3, instance 0, Terminated: after the end", &|f, i| {
            start(f, i);
            // SAFETY: the stub follows no pointer.
            unsafe {
                (f.terminate)(i);
                (f.terminate)(i);
            }
        }),
    ];
    for (words, calls) in wrong {
        let broken = judged(calls);
        assert!(broken.iter().any(|found| found.contains(words)), "{words}: {broken:#?}");
    }
}
