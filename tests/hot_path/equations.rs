//! What is evaluated at each point of Model Exchange, and each event, in the C interface that stands behind nothing and in the two
//! that stand behind adapters.

use super::{Host, allocations};
use std::ffi::c_int;
use std::ptr;
use std::sync::Arc;
use vecud::ffi::types::*;
use vecud::ffi::{
    Attempt, Batch, Fmi1EventInfo, Fmi1Functions, Fmi1ModelCallbacks, Fmi2Callbacks, Fmi2EventInfo, Fmi2Functions,
    Fmi3Functions, Functions, Jacobian, Library, MadeFor, Model, Numbers, Provides, Reasons, SparsityPattern,
    StateSupport, VersionFunctions,
};
use vecud::fmu::description::{Abi, ValueReference, VariableType};

const NUMBERS: Numbers = Numbers { states: 2, event_indicators: 2 };

extern "C" fn plain(_: RawInstance) -> RawStatus {
    0
}
extern "C" fn enter(_: RawInstance, _: u8, _: f64, _: f64, _: u8, _: f64) -> RawStatus {
    0
}
extern "C" fn free(_: RawInstance) {}
extern "C" fn set_time(_: RawInstance, _: f64) -> RawStatus {
    0
}
extern "C" fn set_vector(_: RawInstance, _: *const f64, _: usize) -> RawStatus {
    0
}
extern "C" fn get_vector(_: RawInstance, _: *mut f64, _: usize) -> RawStatus {
    0
}
/// `fmi3Discard`.
extern "C" fn discard(_: RawInstance, _: *mut f64, _: usize) -> RawStatus {
    2
}
extern "C" fn set(_: RawInstance, _: *const u32, _: usize, _: *const f64) -> RawStatus {
    0
}
extern "C" fn get(_: RawInstance, _: *const u32, _: usize, _: *mut f64) -> RawStatus {
    0
}
// SAFETY (of calling it): there is a place for a pointer.
unsafe extern "C" fn get_state(_: RawInstance, state: *mut RawState) -> RawStatus {
    // SAFETY: this function's contract.
    unsafe { *state = ptr::dangling_mut() };
    0
}
extern "C" fn set_state(_: RawInstance, _: RawState) -> RawStatus {
    0
}
// SAFETY (of calling it): there is a pointer to read.
unsafe extern "C" fn free_state(_: RawInstance, _: *mut RawState) -> RawStatus {
    0
}

fn fmi3() -> Functions {
    extern "C" fn instantiate(
        _: RawString,
        _: RawString,
        _: RawString,
        _: RawBool,
        _: RawBool,
        _: RawEnvironment,
        _: Option<LogMessage>,
    ) -> RawInstance {
        ptr::dangling_mut()
    }
    extern "C" fn set(_: RawInstance, _: *const u32, _: usize, _: *const f64, _: usize) -> RawStatus {
        0
    }
    extern "C" fn get(_: RawInstance, _: *const u32, _: usize, _: *mut f64, _: usize) -> RawStatus {
        0
    }
    extern "C" fn update(
        _: RawInstance,
        _: *mut u8,
        _: *mut u8,
        _: *mut u8,
        _: *mut u8,
        _: *mut u8,
        _: *mut f64,
    ) -> RawStatus {
        0
    }
    extern "C" fn completed(_: RawInstance, _: u8, _: *mut u8, _: *mut u8) -> RawStatus {
        0
    }
    extern "C" fn directional(
        _: RawInstance,
        _: *const u32,
        _: usize,
        _: *const u32,
        _: usize,
        _: *const f64,
        _: usize,
        _: *mut f64,
        _: usize,
    ) -> RawStatus {
        0
    }
    Functions {
        enter_initialization_mode: enter,
        exit_initialization_mode: plain,
        free_instance: free,
        terminate: plain,
        set_float64: set,
        get_float64: get,
        get_fmu_state: get_state,
        set_fmu_state: set_state,
        free_fmu_state: free_state,
        get_directional_derivative: directional,
        update_discrete_states: update,
        enter_continuous_time_mode: plain,
        completed_integrator_step: completed,
        set_time,
        set_continuous_states: set_vector,
        get_continuous_state_derivatives: get_vector,
        get_event_indicators: discard,
        get_continuous_states: get_vector,
        get_nominals_of_continuous_states: get_vector,
        ..Functions::refusing(VersionFunctions::Fmi3(Fmi3Functions {
            instantiate_model_exchange: instantiate,
            enter_event_mode: plain,
            ..Fmi3Functions::refusing()
        }))
    }
}

fn fmi2() -> Functions {
    extern "C" fn instantiate(
        _: RawString,
        _: c_int,
        _: RawString,
        _: RawString,
        _: *const Fmi2Callbacks,
        _: c_int,
        _: c_int,
    ) -> RawInstance {
        ptr::dangling_mut()
    }
    extern "C" fn set_up(_: RawInstance, _: c_int, _: f64, _: f64, _: c_int, _: f64) -> RawStatus {
        0
    }
    extern "C" fn update(_: RawInstance, _: *mut Fmi2EventInfo) -> RawStatus {
        0
    }
    extern "C" fn completed(_: RawInstance, _: c_int, _: *mut c_int, _: *mut c_int) -> RawStatus {
        0
    }
    extern "C" fn directional(
        _: RawInstance,
        _: *const u32,
        _: usize,
        _: *const u32,
        _: usize,
        _: *const f64,
        _: *mut f64,
    ) -> RawStatus {
        0
    }
    Fmi2Functions {
        instantiate,
        setup_experiment: set_up,
        enter_initialization_mode: plain,
        exit_initialization_mode: plain,
        free_instance: free,
        terminate: plain,
        set_real: set,
        get_real: get,
        get_fmu_state: get_state,
        set_fmu_state: set_state,
        free_fmu_state: free_state,
        get_directional_derivative: directional,
        enter_event_mode: plain,
        new_discrete_states: update,
        enter_continuous_time_mode: plain,
        completed_integrator_step: completed,
        set_time,
        set_continuous_states: set_vector,
        get_derivatives: get_vector,
        get_event_indicators: discard,
        get_continuous_states: get_vector,
        get_nominals_of_continuous_states: get_vector,
        ..Fmi2Functions::refusing()
    }
    .into()
}

fn fmi1() -> Functions {
    extern "C" fn instantiate(_: RawString, _: RawString, _: Fmi1ModelCallbacks, _: RawBool) -> RawInstance {
        ptr::dangling_mut()
    }
    extern "C" fn initialize(_: RawInstance, _: u8, _: f64, _: *mut Fmi1EventInfo) -> RawStatus {
        0
    }
    extern "C" fn update(_: RawInstance, _: u8, _: *mut Fmi1EventInfo) -> RawStatus {
        0
    }
    extern "C" fn completed(_: RawInstance, _: *mut u8) -> RawStatus {
        0
    }
    Fmi1Functions {
        instantiate_model: instantiate,
        initialize,
        free_model_instance: free,
        terminate: plain,
        set_real: set,
        get_real: get,
        event_update: update,
        completed_integrator_step: completed,
        set_time,
        set_continuous_states: set_vector,
        get_derivatives: get_vector,
        get_event_indicators: discard,
        get_continuous_states: get_vector,
        get_nominal_continuous_states: get_vector,
        ..Fmi1Functions::refusing()
    }
    .into()
}

/// An integrator step with all that may belong to one, and an event.
fn step(model: &mut Model, time: f64, values: &mut Batch, pattern: &mut SparsityPattern, with_states: bool) {
    let (mut states, mut indicators, mut jacobian) = ([0.0; 2], [0.0; 2], [0.0; 2]);
    let mut continuous = model.continuous_time().unwrap();
    let done = |attempt| assert!(matches!(attempt, Ok(Attempt::Done(_))));
    done(continuous.set_time(time));
    done(continuous.set(values));
    done(continuous.set_states(&states));
    done(continuous.derivatives(&mut states));
    assert!(matches!(continuous.indicators(&mut indicators), Ok(Attempt::Discarded(_))));
    done(continuous.get(values));
    continuous.completed_integrator_step(true).unwrap();
    if with_states {
        pattern.read(&mut continuous, &mut jacobian).unwrap();
        model.remember().unwrap();
        model.go_back().unwrap().unwrap();
    }
    let reasons = Reasons { step_event: true, roots_found: &[1, 0], time_event: false };
    model.enter_event_mode(time, &reasons).unwrap();
    let mut event = model.event_mode().unwrap();
    event.set(values).unwrap();
    event.get(values).unwrap();
    event.update().unwrap();
    model.enter_continuous_time_mode().unwrap();
    let mut continuous = model.continuous_time().unwrap();
    continuous.states(&mut states).unwrap();
    continuous.nominals(&mut states).unwrap();
}

#[test]
fn equations_and_events_allocate_nothing() {
    for functions in [fmi3(), fmi2(), fmi1()] {
        let abi = functions.abi();
        let library = Arc::new(Library::from_functions(functions));
        let made = library.instantiate(&MadeFor::ModelExchange, "i", "t", None, false, Arc::new(Host)).unwrap();
        made.declare_states(StateSupport::GetAndSet);
        let instance = made.enter_initialization_mode(0.0, None, None).unwrap();
        let (control, mut model) = instance.exit_initialization_mode().unwrap().into_model(NUMBERS);
        model.enter_continuous_time_mode().unwrap();
        let mut values = Batch::new(VariableType::Float64, vec![(ValueReference(1), 1), (ValueReference(2), 1)]);
        let both = [1, 2].map(|reference| (ValueReference(reference), 1));
        let provides = Provides { directional: true, ..Provides::default() };
        let mut pattern = SparsityPattern::new(Jacobian::new(provides, &both, &both), vec![(0, 0), (1, 1)]);
        let with_states = abi != Abi::Fmi1;
        // The FMU takes the memory of a state once.
        step(&mut model, 0.0, &mut values, &mut pattern, with_states);
        let started = std::time::Instant::now();
        let steps = 100_000u32;
        let count = allocations(|| {
            for number in 1..=steps {
                step(&mut model, f64::from(number), &mut values, &mut pattern, with_states);
            }
        });
        assert_eq!(count, 0, "{abi:?}");
        println!("{abi:?}: {} ns per step with an event", started.elapsed().as_nanos() / u128::from(steps));
        control.terminate(vec![model]).unwrap();
    }
}
