//! Equations of Model Exchange, by tables filled by hand: in which order each C interface is called, what is made of what it says, and
//! what follows on each status.

use super::model_judge::{self as judge, Event, NUMBERS, answer, begin, calls, say};
use super::stub::Notes;
use crate::types::RawStatus;
use crate::*;
use Function as F;
use std::sync::Arc;
use vecud_description::{Abi, ValueReference, Values, VariableType};

const X: ValueReference = ValueReference(1);
const REASONS: Reasons = Reasons { step_event: true, roots_found: &[0, 1, -1], time_event: false };

fn instance() -> Instance<Instantiated> {
    let library = Arc::new(Library::from_functions(judge::functions()));
    let notes: Arc<Notes> = Arc::default();
    let instance = library.instantiate(&MadeFor::ModelExchange, "i", "{token}", None, false, notes).unwrap();
    instance.declare_states(StateSupport::Serialize);
    instance
}

fn initialised() -> Instance<Running> {
    let instance = instance().enter_initialization_mode(0.5, None, None).unwrap();
    instance.exit_initialization_mode().unwrap()
}

/// Equations in Event Mode, at 0.5, or in Continuous-Time Mode, of a stub that notes what is called from now on.
fn model(abi: Abi, in_event_mode: bool) -> (InstanceControl, Model) {
    begin(abi);
    let (control, mut model) = initialised().into_model(NUMBERS);
    model.is_in_initial_event_mode(0.5);
    if !in_event_mode {
        model.event_mode().unwrap().update().unwrap();
        model.enter_continuous_time_mode().unwrap();
        let _ = model.continuous_time().unwrap().set_time(0.5).unwrap();
    }
    calls();
    (control, model)
}

fn batch() -> Batch {
    Batch::new(VariableType::Float64, vec![(X, 1)])
}

#[test]
fn each_version_is_called_in_its_order() {
    for abi in judge::ALL {
        begin(abi);
        let (control, mut model) = initialised().into_model(NUMBERS);
        assert!(model.continuous_time().is_none(), "what was initialised is in Event Mode");
        model.is_in_initial_event_mode(0.5);
        let start = match abi {
            Abi::Fmi1 => "SetTime(0.5) EnterInitializationMode",
            Abi::Fmi2 => "SetupExperiment EnterInitializationMode ExitInitializationMode",
            Abi::Fmi3 | Abi::Draft => "EnterInitializationMode ExitInitializationMode",
        };
        assert_eq!(calls(), start);
        let iterates = |model: &mut Model, is_first: bool| {
            let mut event = model.event_mode().unwrap();
            event.set(&batch()).unwrap();
            event.get(&mut batch()).unwrap();
            event.update().unwrap();
            assert_eq!(model.enter_continuous_time_mode(), Ok(Outcome::Ok));
            assert_eq!(model.enter_continuous_time_mode(), Ok(Outcome::Ok), "it is there");
            assert!(model.event_mode().is_none());
            assert_eq!(
                calls(),
                match (abi, is_first) {
                    // `fmiInitialize` has said it.
                    (Abi::Fmi1, true) => "SetFloat64[0.0] GetFloat64",
                    (Abi::Fmi1, false) => "SetFloat64[0.0] GetFloat64 UpdateDiscreteStates(0)",
                    _ => "SetFloat64[0.0] GetFloat64 UpdateDiscreteStates EnterContinuousTimeMode",
                }
            );
        };
        iterates(&mut model, true);
        let mut continuous = model.continuous_time().unwrap();
        let (mut x, mut z, mut outputs) = ([0.0; 2], [0.0; 3], batch());
        let done = Ok(Attempt::Done(Outcome::Ok));
        assert_eq!(continuous.states(&mut x), Ok(Outcome::Ok));
        assert_eq!(continuous.nominals(&mut x), Ok(Outcome::Ok));
        assert_eq!(continuous.set_time(0.75), done);
        assert_eq!(continuous.set(&batch()), done);
        assert_eq!(continuous.set_states(&x), done);
        assert_eq!(continuous.derivatives(&mut x), done);
        assert_eq!(continuous.indicators(&mut z), done);
        assert_eq!(continuous.get(&mut outputs), done);
        let completed = continuous.completed_integrator_step(true).unwrap();
        assert_eq!(completed, Completed { outcome: Outcome::Ok, enter_event_mode: false, terminate_simulation: false });
        assert_eq!((x, z, f64::from_bits(outputs.word(0))), ([1.0, 2.0], [1.0, 2.0, 3.0], 1.0));
        let told = if abi == Abi::Fmi1 { "" } else { "(1)" };
        assert_eq!(
            calls(),
            format!(
                "GetContinuousStates(2) GetNominalsOfContinuousStates(2) SetTime(0.75) SetFloat64[0.0] \
                 SetContinuousStates[1.0, 2.0] GetContinuousStateDerivatives(2) GetEventIndicators(3) GetFloat64 \
                 CompletedIntegratorStep{told}"
            )
        );
        assert_eq!(model.enter_event_mode(0.75, &REASONS), Ok(Outcome::Ok));
        assert_eq!(model.enter_event_mode(0.75, &REASONS), Ok(Outcome::Ok), "it is there");
        assert!(model.continuous_time().is_none());
        let entered = match abi {
            Abi::Fmi1 => "",
            Abi::Fmi2 | Abi::Fmi3 => "EnterEventMode",
            // Only there it is told why.
            Abi::Draft => "EnterEventMode(1,[0, 1, -1],0)",
        };
        assert_eq!(calls(), entered);
        iterates(&mut model, false);
        assert_eq!(control.terminate(vec![model]), Ok(Outcome::Ok));
        assert_eq!(calls(), "Terminate FreeInstance");
        assert_eq!(judge::verdict().broken, Vec::<String>::new());
    }
}

#[test]
fn what_an_fmu_says_of_an_event_is_the_same_in_each_version() {
    let says = Event {
        needs_update: true,
        terminate: true,
        nominals_changed: true,
        values_changed: true,
        next_time: Some(2.5),
    };
    let none = DiscreteUpdate {
        outcome: Outcome::Ok,
        needs_update: false,
        terminate_simulation: false,
        nominals_of_continuous_states_changed: false,
        values_of_continuous_states_changed: false,
        next_event_time: None,
    };
    for abi in judge::ALL {
        let (_control, mut model) = model(abi, true);
        let mut event = model.event_mode().unwrap();
        // Before anything else, what FMI 1.0 has said at the start: nothing.
        assert_eq!(event.update(), Ok(none));
        for says in [
            Event { needs_update: true, ..Event::default() },
            Event { terminate: true, ..Event::default() },
            Event { values_changed: true, ..Event::default() },
            Event { next_time: Some(0.75), ..Event::default() },
            says,
        ] {
            say(says);
            let update = DiscreteUpdate {
                outcome: Outcome::Ok,
                needs_update: says.needs_update,
                terminate_simulation: says.terminate,
                nominals_of_continuous_states_changed: says.nominals_changed,
                values_of_continuous_states_changed: says.values_changed,
                next_event_time: says.next_time,
            };
            assert_eq!(event.update(), Ok(update), "{abi:?}");
        }
        // Other variables as states have other values, too.
        say(Event { nominals_changed: true, ..Event::default() });
        let update = event.update().unwrap();
        assert!(update.nominals_of_continuous_states_changed);
        assert_eq!(update.values_of_continuous_states_changed, abi == Abi::Fmi1);
        model.enter_continuous_time_mode().unwrap();
        say(says);
        let completed = model.continuous_time().unwrap().completed_integrator_step(false).unwrap();
        assert!(completed.enter_event_mode);
        assert_eq!(completed.terminate_simulation, abi != Abi::Fmi1, "FMI 1.0 says that of events alone");
    }
}

/// FMI 1.0, `fmiInitialize`: what it says is the answer to the first update after each initialisation.
#[test]
fn the_first_update_of_fmi1_is_what_its_initialisation_has_said() {
    begin(Abi::Fmi1);
    say(Event { needs_update: true, next_time: Some(0.75), ..Event::default() });
    let (_control, mut model) = initialised().into_model(NUMBERS);
    let mut event = model.event_mode().unwrap();
    say(Event::default());
    calls();
    let first = event.update().unwrap();
    assert_eq!((first.needs_update, first.next_event_time, calls().as_str()), (true, Some(0.75), ""));
    let second = event.update().unwrap();
    assert_eq!((second.needs_update, second.next_event_time), (false, None));
    assert_eq!(calls(), "UpdateDiscreteStates(0)");
    // What has failed has said nothing.
    begin(Abi::Fmi1);
    let (control, mut model) = initialised().into_model(NUMBERS);
    control.fail();
    assert!(model.event_mode().unwrap().update().unwrap_err().refused);
    assert!(model.enter_continuous_time_mode().unwrap_err().refused, "nor does it change its mode");
}

/// What became of a call, whatever it returns.
#[derive(Debug, PartialEq)]
enum Came {
    Well(Outcome),
    Discarded(Failure),
    Failed(Failure),
}

fn plain(result: Result<Outcome, Failure>) -> Came {
    result.map_or_else(Came::Failed, Came::Well)
}

fn attempted(result: Result<Attempt, Failure>) -> Came {
    match result {
        Ok(Attempt::Done(outcome)) => Came::Well(outcome),
        Ok(Attempt::Discarded(failure)) => Came::Discarded(failure),
        Err(failure) => Came::Failed(failure),
    }
}

fn differentiated(at: &mut impl Differentiable) -> Came {
    let provides = Provides { directional: true, ..Provides::default() };
    let jacobian = Jacobian::new(provides, &[(X, 1)], &[(X, 1)]);
    match at.directional_derivative(&jacobian, &[1.0], &mut [0.0]) {
        Ok(outcome) => Came::Well(outcome),
        Err(DerivativeError::Failed(failure)) => Came::Failed(failure),
        Err(other) => panic!("{other}"),
    }
}

/// A function of Model Exchange: whether it is for Event Mode, which C interfaces have it, whether a Discard is a value, the call.
type Row = (Function, bool, &'static [Abi], bool, fn(&mut Model) -> Came);

const EVERY: &[Abi] = &[Abi::Fmi1, Abi::Fmi2, Abi::Fmi3, Abi::Draft];
const WITH_MODES: &[Abi] = &[Abi::Fmi2, Abi::Fmi3, Abi::Draft];
const WITH_NUMBERS: &[Abi] = &[Abi::Fmi3, Abi::Draft];

const FUNCTIONS: &[Row] = &[
    (F::SetFloat64, true, EVERY, false, |model| plain(model.event_mode().unwrap().set(&batch()))),
    (F::GetFloat64, true, EVERY, false, |model| plain(model.event_mode().unwrap().get(&mut batch()))),
    (F::SetClock, true, WITH_NUMBERS, false, |model| {
        plain(model.event_mode().unwrap().set_clocks(&InputClocks::ticking(&[1])))
    }),
    (F::GetClock, true, WITH_NUMBERS, false, |model| {
        plain(model.event_mode().unwrap().get_clocks(&mut OutputClocks::new(&[(X, 1)])))
    }),
    (F::GetIntervalDecimal, true, &[Abi::Draft], false, |model| {
        let mut intervals = [0.0];
        plain(model.event_mode().unwrap().get_draft_intervals(&[1], ElementIntervals::Decimal(&mut intervals)))
    }),
    (F::UpdateDiscreteStates, true, EVERY, false, |model| {
        // Twice: the first one of FMI 1.0 is no call.
        let mut event = model.event_mode().unwrap();
        plain(event.update().and_then(|_| event.update()).map(|update| update.outcome))
    }),
    (F::GetDirectionalDerivative, true, WITH_MODES, false, |model| differentiated(&mut model.event_mode().unwrap())),
    (F::EnterContinuousTimeMode, true, WITH_MODES, false, |model| plain(model.enter_continuous_time_mode())),
    (F::GetFMUState, true, WITH_MODES, false, |model| plain(model.remember())),
    (F::GetNumberOfContinuousStates, true, WITH_NUMBERS, false, |model| numbers(model)),
    (F::GetNumberOfEventIndicators, false, WITH_NUMBERS, false, |model| numbers(model)),
    (F::GetStateValueReferences, false, &[Abi::Fmi1], false, |model| plain(model.state_references(&mut [0; 2]))),
    (F::EnterEventMode, false, WITH_MODES, false, |model| plain(model.enter_event_mode(0.5, &REASONS))),
    (F::SetFMUState, false, WITH_MODES, false, |model| {
        model.remember().unwrap();
        plain(model.go_back().unwrap())
    }),
    (F::GetDirectionalDerivative, false, WITH_MODES, false, |model| {
        differentiated(&mut model.continuous_time().unwrap())
    }),
    (F::SetTime, false, EVERY, true, |model| attempted(model.continuous_time().unwrap().set_time(0.5))),
    (F::SetFloat64, false, EVERY, true, |model| attempted(model.continuous_time().unwrap().set(&batch()))),
    (F::SetContinuousStates, false, EVERY, true, |model| {
        attempted(model.continuous_time().unwrap().set_states(&[0.0; 2]))
    }),
    (F::GetContinuousStateDerivatives, false, EVERY, true, |model| {
        attempted(model.continuous_time().unwrap().derivatives(&mut [0.0; 2]))
    }),
    (F::GetEventIndicators, false, EVERY, true, |model| {
        attempted(model.continuous_time().unwrap().indicators(&mut [0.0; 3]))
    }),
    (F::GetFloat64, false, EVERY, true, |model| attempted(model.continuous_time().unwrap().get(&mut batch()))),
    (F::GetContinuousStates, false, EVERY, false, |model| {
        plain(model.continuous_time().unwrap().states(&mut [0.0; 2]))
    }),
    (F::GetNominalsOfContinuousStates, false, EVERY, false, |model| {
        plain(model.continuous_time().unwrap().nominals(&mut [0.0; 2]))
    }),
    (F::CompletedIntegratorStep, false, EVERY, false, |model| {
        plain(model.continuous_time().unwrap().completed_integrator_step(true).map(|completed| completed.outcome))
    }),
];

fn numbers(model: &mut Model) -> Came {
    match model.numbers() {
        Ok(numbers) => {
            assert_eq!(numbers, NUMBERS);
            Came::Well(Outcome::Ok)
        }
        Err(failure) => Came::Failed(failure),
    }
}

/// FMI 3.0, 2.2.3, in each version: after Discard the instance is as it was, after Error nothing of it is called, after Fatal nothing of
/// the FMU.
#[test]
fn every_status_of_every_function_in_every_mode() {
    for (function, in_event_mode, abis, is_attempt, act) in FUNCTIONS {
        let (function, in_event_mode) = (*function, *in_event_mode);
        for &abi in *abis {
            for raw in [0, 1, 2, 3, 4, 5, 77, -1, RawStatus::MIN] {
                let what = format!("{function:?} of {abi:?} returns {raw}");
                let (control, mut model) = model(abi, in_event_mode);
                answer(function, raw);
                let came = act(&mut model);
                let states =
                    [F::GetFMUState, F::SetFMUState, F::GetNumberOfContinuousStates, F::GetNumberOfEventIndicators];
                let time = if states[..2].contains(&function) { None } else { Some(0.5) };
                let status = Status::from_raw(raw).unwrap_or(Status::Error);
                // An adapter's own answer is not believed to be the FMU's.
                let told = if raw == RawStatus::MIN && abi.is_earlier() { raw + 1 } else { raw };
                let strange = Status::from_raw(raw).is_none().then_some(told);
                let failure = Failure { function, status, clock: None, time, answer: strange, refused: false };
                let health = match raw {
                    0..=2 => Health::Healthy,
                    4 => Health::Fatal,
                    _ => Health::Failed,
                };
                let expected = match raw {
                    0 => Came::Well(Outcome::Ok),
                    1 if states[2..].contains(&function) => Came::Well(Outcome::Ok),
                    1 => Came::Well(Outcome::Warning),
                    2 if *is_attempt => Came::Discarded(failure),
                    _ => Came::Failed(failure),
                };
                assert_eq!((came, model.health()), (expected, health), "{what}");
                assert!(calls().contains(&format!("{function:?}")), "{what}: it was called");
                let changes = matches!(function, F::EnterEventMode | F::EnterContinuousTimeMode);
                let is_entered = changes && (0..=1).contains(&raw);
                assert_eq!(model.event_mode().is_some(), in_event_mode != is_entered, "{what}: its mode");
                // Whatever follows.
                answer(function, 0);
                if health != Health::Healthy {
                    let Came::Failed(again) = act_again(&mut model, *act, function) else {
                        panic!("{what}: called again")
                    };
                    assert!(again.refused, "{what}: {again}");
                    assert_eq!(calls(), "", "{what}");
                }
                drop(model);
                let _ = control.terminate(Vec::<Model>::new());
                let end = calls();
                match health {
                    Health::Healthy => {
                        assert!(end.starts_with("Terminate") && end.ends_with("FreeInstance"), "{what}: {end}")
                    }
                    Health::Failed => {
                        assert!(!end.contains("Terminate") && end.ends_with("FreeInstance"), "{what}: {end}")
                    }
                    _ => assert_eq!(end, "", "{what}"),
                }
                assert_eq!(judge::verdict().broken, Vec::<String>::new(), "{what}");
            }
        }
    }
}

/// The call once more; of going back, which first remembers, the latter alone.
fn act_again(model: &mut Model, act: fn(&mut Model) -> Came, function: Function) -> Came {
    match function {
        F::SetFMUState => plain(model.go_back().unwrap()),
        _ => act(model),
    }
}

#[test]
fn a_state_leads_back_to_its_own_mode() {
    for abi in WITH_MODES.iter().copied() {
        let (control, mut model) = model(abi, true);
        model.remember().unwrap();
        model.enter_continuous_time_mode().unwrap();
        assert_eq!(model.go_back(), Some(Ok(Outcome::Ok)));
        assert!(model.event_mode().is_some(), "{abi:?}");
        model.enter_continuous_time_mode().unwrap();
        model.remember().unwrap();
        model.enter_event_mode(0.5, &REASONS).unwrap();
        assert_eq!(model.go_back(), Some(Ok(Outcome::Ok)));
        assert!(model.continuous_time().is_some(), "{abi:?}: one state, used again");
        // So do those of whole instances.
        let instance = control.join(vec![model]).unwrap();
        let continuous = instance.get_state().unwrap();
        let (control, mut model) = instance.into_model(NUMBERS);
        assert!(model.continuous_time().is_some());
        model.enter_event_mode(0.5, &REASONS).unwrap();
        let instance = control.join(vec![model]).unwrap();
        let event = instance.get_state().unwrap();
        // Bytes would not say in which mode it was.
        calls();
        assert!(instance.serialize_state(&event).unwrap_err().refused);
        assert_eq!((calls().as_str(), instance.health()), ("", Health::Healthy));
        let (control, mut model) = instance.set_state(&continuous).unwrap().into_model(NUMBERS);
        assert!(model.continuous_time().is_some());
        let instance = control.join(vec![model]).unwrap();
        let instance = instance.set_state(&event).unwrap().reset().unwrap();
        let anew = instance.get_state().unwrap();
        assert!(!instance.serialize_state(&anew).unwrap_err().refused, "an instance that was reset is in no mode");
        let (control, mut model) = instance.set_state(&event).unwrap().into_model(NUMBERS);
        assert!(model.event_mode().is_some());
        control.terminate(vec![model]).unwrap();
        assert_eq!(judge::verdict().broken, Vec::<String>::new());
    }
    let (_control, mut fmi1) = model(Abi::Fmi1, false);
    assert!(fmi1.remember().unwrap_err().refused && fmi1.go_back().is_none());
}

#[test]
fn an_fmu_without_states_and_indicators_need_not_have_their_functions() {
    for abi in judge::ALL {
        let (_control, mut model) = model(abi, false);
        let mut continuous = model.continuous_time().unwrap();
        let done = Ok(Attempt::Done(Outcome::Ok));
        assert_eq!((continuous.set_states(&[]), continuous.derivatives(&mut [])), (done, done));
        assert_eq!(continuous.indicators(&mut []), done);
        assert_eq!((continuous.states(&mut []), continuous.nominals(&mut [])), (Ok(Outcome::Ok), Ok(Outcome::Ok)));
        assert_eq!(calls(), "");
    }
}

#[test]
fn numbers_are_those_of_the_instance_or_of_the_description() {
    for abi in judge::ALL {
        begin(abi);
        let described = Numbers { states: 7, event_indicators: 8 };
        let (_control, mut model) = initialised().into_model(described);
        calls();
        let numbers = model.numbers().unwrap();
        let called = "GetNumberOfContinuousStates GetNumberOfEventIndicators".to_owned();
        let asks = WITH_NUMBERS.contains(&abi);
        assert_eq!((numbers, calls()), if asks { (NUMBERS, called) } else { (described, String::new()) });
        let mut references = [0; 2];
        let told = model.state_references(&mut references);
        match abi {
            Abi::Fmi1 => assert_eq!((told, references), (Ok(Outcome::Ok), [7, 8])),
            _ => assert!(told.unwrap_err().refused && calls().is_empty()),
        }
        assert_eq!(model.health(), Health::Healthy);
    }
}

/// What only FMI 3.0 has, and its draft, is refused without harm; and what only one of both has, in the other.
#[test]
fn clocks_of_other_versions_are_not_called() {
    for abi in judge::ALL {
        let (_control, mut model) = model(abi, true);
        let mut event = model.event_mode().unwrap();
        if abi != Abi::Draft {
            let mut intervals = [0.0];
            let asked = event.get_draft_intervals(&[1], ElementIntervals::Decimal(&mut intervals));
            assert!(asked.unwrap_err().refused);
        }
        if abi != Abi::Fmi3 {
            assert!(event.get_interval(X, true).unwrap_err().refused);
        }
        assert_eq!((calls().as_str(), event.shared().health()), ("", Health::Healthy));
        if WITH_NUMBERS.contains(&abi) {
            continue;
        }
        assert!(event.set_clocks(&InputClocks::ticking(&[1])).unwrap_err().refused);
        assert!(event.get_clocks(&mut OutputClocks::new(&[(X, 1)])).unwrap_err().refused);
        assert_eq!((calls().as_str(), model.health()), ("", Health::Healthy));
    }
}

/// Values of all elements, of clocks that tick alone, and of output clocks read as any integer but 0.
#[test]
fn clocks_of_the_draft_are_set_whole_and_none_is_subactive() {
    let (control, mut model) = model(Abi::Draft, true);
    let mut event = model.event_mode().unwrap();
    let mut clocks = InputClocks::with_capacity(2, 4);
    assert!(clocks.is_empty());
    clocks.push(ValueReference(5), [false, true, true]);
    clocks.push(X, [true]);
    event.set_clocks(&clocks).unwrap();
    assert_eq!(calls(), "SetClock([5, 1],[0, 1, 1, 1])");
    clocks.clear();
    clocks.push(X, [true]);
    event.set_clocks(&clocks).unwrap();
    assert_eq!(calls(), "SetClock([1],[1])");
    let mut outputs = OutputClocks::new(&[(X, 1), (ValueReference(5), 3)]);
    event.get_clocks(&mut outputs).unwrap();
    assert_eq!(outputs.active(), [0, 1, 1, 1]);
    let (mut decimals, mut counters, mut resolutions) = ([0.0; 3], [0; 3], [0; 3]);
    event.get_draft_intervals(&[5], ElementIntervals::Decimal(&mut decimals)).unwrap();
    let fraction = ElementIntervals::Fraction { counters: &mut counters, resolutions: &mut resolutions };
    event.get_draft_intervals(&[5], fraction).unwrap();
    assert_eq!((decimals, counters, resolutions), ([1.0, 2.0, 3.0], [1, 2, 3], [1000; 3]));
    assert_eq!(calls(), "GetClock GetIntervalDecimal(1) GetIntervalFraction(1)");
    control.terminate(vec![model]).unwrap();
    assert_eq!(judge::verdict().broken, Vec::<String>::new());
}

/// Two columns without a common row are had by one call, as often as one likes.
#[test]
fn a_jacobian_is_read_by_colours_in_both_modes() {
    let provides = Provides { directional: true, ..Provides::default() };
    let variables = [1, 2, 3].map(|reference| (ValueReference(reference), 1));
    let jacobian = Jacobian::new(provides, &variables, &variables);
    let mut pattern = SparsityPattern::new(jacobian, vec![(0, 0), (1, 1), (1, 2)]);
    assert_eq!(pattern.calls(), 2);
    for abi in WITH_MODES.iter().copied() {
        for in_event_mode in [true, false] {
            let (_control, mut model) = model(abi, in_event_mode);
            let mut values = [0.0; 3];
            let read = match in_event_mode {
                true => pattern.read(&mut model.event_mode().unwrap(), &mut values),
                false => pattern.read(&mut model.continuous_time().unwrap(), &mut values),
            };
            assert_eq!((read, values), (Ok(Outcome::Ok), [1.0, 2.0, 2.0]));
            assert_eq!(calls(), "GetDirectionalDerivative[1.0, 1.0, 0.0] GetDirectionalDerivative[0.0, 0.0, 1.0]");
        }
    }
    // FMI 1.0 has no such function, nor has FMI 2.0 arrays.
    let (_control, mut fmi1) = model(Abi::Fmi1, false);
    let refused = pattern.read(&mut fmi1.continuous_time().unwrap(), &mut [0.0; 3]).unwrap_err();
    assert!(matches!(refused, DerivativeError::Failed(Failure { refused: true, .. })), "{refused}");
    let (_control, mut fmi2) = model(Abi::Fmi2, false);
    let array = Jacobian::new(provides, &[(X, 2)], &[(X, 1)]);
    let refused = fmi2.continuous_time().unwrap().directional_derivative(&array, &[1.0], &mut [0.0; 2]).unwrap_err();
    assert!(matches!(refused, DerivativeError::Failed(Failure { refused: true, .. })), "{refused}");
    assert_eq!((calls().as_str(), fmi2.health()), ("", Health::Healthy));
}

#[test]
#[should_panic(expected = "a place is outside of the matrix")]
fn a_place_outside_of_the_matrix_is_no_place() {
    let _ = SparsityPattern::new(Jacobian::new(Provides::default(), &[(X, 1)], &[(X, 1)]), vec![(1, 0)]);
}

/// FMI 3.0.2, 3.2: Reconfiguration Mode is entered from Event Mode, and left also after a value that was discarded.
#[test]
fn structural_parameters_change_in_event_mode() {
    let (control, mut model) = model(Abi::Fmi3, false);
    let one = Values::Float64(vec![1.0]);
    let set = || control.reconfiguration().set([(X, VariableType::Float64, &one)].into_iter());
    // From Continuous-Time Mode it is entered for that.
    assert_eq!(set(), Ok(Outcome::Ok));
    assert!(control.reconfiguration().numbers().unwrap().is_some());
    assert_eq!(model.numbers(), control.reconfiguration().numbers().map(Option::unwrap));
    let asked = "GetNumberOfContinuousStates GetNumberOfEventIndicators";
    let changed = "EnterConfigurationMode SetFloat64[1.0] ExitConfigurationMode";
    assert_eq!(calls(), format!("EnterEventMode {changed} {asked} {asked} {asked}"));
    answer(F::SetFloat64, 2);
    assert_eq!(set().unwrap_err().status, Status::Discard);
    assert_eq!((calls().as_str(), model.health()), (changed, Health::Healthy));
    assert!(model.event_mode().is_some());
    // In a mode that it cannot be got out of nothing is allowed.
    answer(F::ExitConfigurationMode, 2);
    assert!(set().is_err());
    assert_eq!(model.health(), Health::Failed);
}

/// Before FMI 3.0 there is no such mode, and Event Mode is not entered for it.
#[test]
fn structural_parameters_are_those_of_fmi_3() {
    let (control, model) = model(Abi::Fmi2, false);
    let one = Values::Float64(vec![1.0]);
    let set = control.reconfiguration().set([(X, VariableType::Float64, &one)].into_iter());
    assert!(set.unwrap_err().refused);
    assert_eq!((calls().as_str(), model.health()), ("", Health::Healthy));
    assert_eq!(control.reconfiguration().numbers(), Ok(None));
}

#[test]
#[should_panic(expected = "steps are those of Co-Simulation")]
fn equations_make_no_steps() {
    begin(Abi::Fmi3);
    let _ = initialised().into_stepper();
}

#[test]
fn equations_go_from_thread_to_thread() {
    fn send<T: Send>() {}
    send::<Model>();
}

/// What a host that watches calls is told of them.
#[test]
fn calls_are_told_with_their_values() {
    #[derive(Default)]
    struct Watching(std::sync::Mutex<Vec<String>>);
    impl InstanceHost for Watching {
        fn log(&self, _: Status, _: Option<&[u8]>, _: &[u8]) {}
        fn foreign_call(&self, _: ForeignCall) {}
        fn watches_calls(&self) -> bool {
            true
        }
        fn called(&self, call: &ReturnedCall, arguments: &dyn Fn() -> String) {
            self.0.lock().unwrap().push(format!("{:?} {:?} {}", call.function, call.time, arguments()));
        }
    }
    begin(Abi::Fmi2);
    let host = Arc::new(Watching::default());
    let library = Arc::new(Library::from_functions(judge::functions()));
    let instance = library.instantiate(&MadeFor::ModelExchange, "i", "", None, false, host.clone()).unwrap();
    let instance = instance.enter_initialization_mode(0.0, None, None).unwrap().exit_initialization_mode().unwrap();
    let (_control, mut model) = instance.into_model(NUMBERS);
    model.enter_continuous_time_mode().unwrap();
    host.0.lock().unwrap().clear();
    let mut continuous = model.continuous_time().unwrap();
    let _ = continuous.set_time(0.25).unwrap();
    let _ = continuous.set_states(&[0.5, 1.5]).unwrap();
    let _ = continuous.derivatives(&mut [0.0; 2]).unwrap();
    answer(F::GetEventIndicators, 2);
    let _ = continuous.indicators(&mut [0.0; 3]).unwrap();
    let told = host.0.lock().unwrap().join("\n");
    assert_eq!(
        told,
        "SetTime Some(0.25) \n\
         SetContinuousStates Some(0.25) [0.5, 1.5]\n\
         GetContinuousStateDerivatives Some(0.25) [1.0, 2.0]\n\
         GetEventIndicators Some(0.25) "
    );
}
