//! FMI 2.0 with its patch releases. One library has Model Exchange and Co-Simulation under the same names.

use super::adapter::*;
use super::birth::Birth;
use super::c_interface::CInterface;
use super::functions::{Functions, VersionFunctions};
use super::logger::vecud_log_fmi2;
use super::tables::{Fmi2Callbacks, Fmi2EventInfo, Fmi2Functions, RawInt};
use crate::Function;
use crate::types::*;
use std::ffi::c_int;
use vecud_description::{Abi, Interface};

pub(super) const FMI2: CInterface = CInterface {
    abi: Abi::Fmi2,
    short: "FMI 2.0",
    statuses: ["fmi2OK", "fmi2Warning", "fmi2Discard", "fmi2Error", "fmi2Fatal"],
    lists: &[Fmi2Functions::LIST],
    other_names: &[
        (Function::InstantiateModelExchange, "fmi2Instantiate"),
        (Function::GetInt64, "fmi2GetInteger"),
        (Function::SetInt64, "fmi2SetInteger"),
    ],
    // Many FMUs leave out what their capability flags exclude, though all functions should be there.
    indispensable: Some(&[
        Function::GetTypesPlatform,
        Function::GetVersion,
        Function::InstantiateCoSimulation,
        Function::FreeInstance,
        Function::SetupExperiment,
        Function::EnterInitializationMode,
        Function::ExitInitializationMode,
        Function::Terminate,
        Function::DoStep,
        Function::EnterEventMode,
        Function::UpdateDiscreteStates,
        Function::EnterContinuousTimeMode,
        Function::CompletedIntegratorStep,
        Function::SetTime,
    ]),
    signs: &["fmi2GetVersion", "fmi2Instantiate"],
    // Patch releases have no number of their own here (FMI 2.0.5, 2.1.4).
    has_version: |version| version == "2.0",
    versions: "2.0",
    wants_all: false,
    prefixed: false,
    resolve: |symbol| {
        // SAFETY: what is asked of `CInterface::resolve`.
        unsafe { Fmi2Functions::resolve(symbol) }.into()
    },
};

pub(super) type Component = super::adapter::Component<Fmi2Functions, Callbacks>;

/// The callbacks of an instance, to which the FMU has a pointer. (A box would claim to be the only way to its content.)
pub(super) struct Callbacks(*mut Fmi2Callbacks);

impl Drop for Callbacks {
    fn drop(&mut self) {
        // SAFETY: it came out of a box, and the instance that could look there is gone, or was never made.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

impl Fmi2Functions {
    /// # Safety
    /// As [`Functions::instantiate`].
    pub(super) unsafe fn instantiate(&self, birth: &Birth) -> RawInstance {
        let fmu_type = match birth.made_for.interface() {
            Interface::ModelExchange => 0,
            Interface::CoSimulation => 1,
            Interface::ScheduledExecution => return std::ptr::null_mut(),
        };
        let callbacks = Callbacks(Box::into_raw(Box::new(Fmi2Callbacks {
            logger: vecud_log_fmi2,
            allocate_memory: allocate,
            free_memory: free,
            step_finished: None,
            component_environment: birth.environment,
        })));
        // SAFETY: this function's contract; the callbacks live until the instance is freed.
        let raw = unsafe {
            let (name, token, resources) = (birth.name, birth.token, birth.resources);
            (self.instantiate)(name, fmu_type, token, resources, callbacks.0, 0, birth.logging_on.into())
        };
        Component::hand_out(*self, raw, birth, callbacks)
    }
}

impl From<Fmi2Functions> for Functions {
    fn from(own: Fmi2Functions) -> Functions {
        Functions {
            get_version: own.get_version,
            set_debug_logging,
            free_instance,
            enter_initialization_mode,
            exit_initialization_mode,
            terminate,
            reset,
            get_float64,
            set_float64,
            get_int32,
            set_int32,
            get_int64,
            set_int64,
            get_boolean,
            set_boolean,
            get_string,
            set_string,
            get_fmu_state,
            set_fmu_state,
            free_fmu_state,
            serialized_fmu_state_size,
            serialize_fmu_state,
            deserialize_fmu_state,
            get_directional_derivative,
            update_discrete_states,
            enter_continuous_time_mode,
            completed_integrator_step,
            set_time,
            set_continuous_states,
            get_continuous_state_derivatives,
            get_event_indicators,
            get_continuous_states,
            get_nominals_of_continuous_states,
            get_output_derivatives,
            ..nothing(VersionFunctions::Fmi2(own))
        }
    }
}

value_adapters!(Component);
model_adapters!(Component, get_nominals_of_continuous_states);

adapter!(get_boolean(c: Component, r: *const RawReference, n: usize, v: *mut RawBool, n_values: usize) {
    let convert = |value: RawInt| RawBool::from(value != 0);
    let get = |r, n, v: *mut RawInt| {
        // SAFETY: the function's contract that calls this one; the FMU writes as many values as there are references.
        let raw = unsafe { (c.functions.get_boolean)(c.raw, r, n, v) };
        if !has_failed(raw) {
            // SAFETY: as above.
            unsafe { look_at_booleans(c.environment, r, n, v.cast_const()) };
        }
        raw
    };
    // SAFETY: this function's contract.
    unsafe { get_converted(r, n, v, n_values, convert, get) }
});
adapter!(set_boolean(c: Component, r: *const RawReference, n: usize, v: *const RawBool, n_values: usize) {
    let convert = |value| Some(RawInt::from(value != 0));
    // SAFETY: as above; it reads as many.
    unsafe { set_converted(r, n, v, n_values, convert, |r, n, v| (c.functions.set_boolean)(c.raw, r, n, v)) }
});
adapter!(set_debug_logging(c: Component, on: RawBool, n: usize, categories: *const RawString) {
    // SAFETY: this function's contract.
    status(unsafe { (c.functions.set_debug_logging)(c.raw, on.into(), n, categories) })
});
adapter!(exit_initialization_mode(c: Component) {
    // SAFETY: this function's contract.
    status(unsafe { (c.functions.exit_initialization_mode)(c.raw) })
});
adapter!(terminate(c: Component) {
    // SAFETY: this function's contract.
    status(unsafe { (c.functions.terminate)(c.raw) })
});
adapter!(reset(c: Component) {
    // SAFETY: this function's contract.
    status(unsafe { (c.functions.reset)(c.raw) })
});
adapter!(get_fmu_state(c: Component, state: *mut RawState) {
    // SAFETY: this function's contract.
    status(unsafe { (c.functions.get_fmu_state)(c.raw, state) })
});
adapter!(set_fmu_state(c: Component, state: RawState) {
    // SAFETY: this function's contract.
    status(unsafe { (c.functions.set_fmu_state)(c.raw, state) })
});
adapter!(free_fmu_state(c: Component, state: *mut RawState) {
    // SAFETY: this function's contract.
    status(unsafe { (c.functions.free_fmu_state)(c.raw, state) })
});
adapter!(serialized_fmu_state_size(c: Component, state: RawState, size: *mut usize) {
    // SAFETY: this function's contract.
    status(unsafe { (c.functions.serialized_fmu_state_size)(c.raw, state, size) })
});
adapter!(serialize_fmu_state(c: Component, state: RawState, bytes: *mut u8, size: usize) {
    // SAFETY: this function's contract; a byte is a byte.
    status(unsafe { (c.functions.serialize_fmu_state)(c.raw, state, bytes.cast(), size) })
});
adapter!(deserialize_fmu_state(c: Component, bytes: *const u8, size: usize, state: *mut RawState) {
    // SAFETY: as above.
    status(unsafe { (c.functions.deserialize_fmu_state)(c.raw, bytes.cast(), size, state) })
});
adapter!(enter_initialization_mode(
    c: Component, has_tolerance: RawBool, tolerance: f64, start: f64, has_stop: RawBool, stop: f64
) {
    let functions = &c.functions;
    let set_up = call_beside(c.environment.cast(), Function::SetupExperiment, || {
        // SAFETY: this function's contract: the instance is alive and in state Instantiated.
        unsafe { (functions.setup_experiment)(c.raw, has_tolerance.into(), tolerance, start, has_stop.into(), stop) }
    });
    if has_failed(set_up) {
        return set_up;
    }
    // SAFETY: as above.
    worse(set_up, status(unsafe { (functions.enter_initialization_mode)(c.raw) }))
});

adapter!(get_directional_derivative(
    c: Component, unknowns: *const RawReference, n_unknowns: usize, knowns: *const RawReference, n_knowns: usize,
    seed: *const f64, n_seed: usize, sensitivity: *mut f64, n_sensitivity: usize
) {
    if n_seed != n_knowns || n_sensitivity != n_unknowns {
        return NOT_CALLED;
    }
    // SAFETY: this function's contract; a seed for each known, and room for each unknown.
    status(unsafe {
        (c.functions.get_directional_derivative)(c.raw, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity)
    })
});
adapter!(update_discrete_states(
    c: Component, needs_update: *mut RawBool, terminate: *mut RawBool, nominals_changed: *mut RawBool,
    values_changed: *mut RawBool, next_defined: *mut RawBool, next: *mut f64
) {
    let mut info = Fmi2EventInfo::default();
    // SAFETY: this function's contract: the instance is in Event Mode.
    let raw = unsafe { (c.functions.new_discrete_states)(c.raw, &mut info) };
    // SAFETY: this function's contract: each place can be written to.
    unsafe {
        *needs_update = (info.new_discrete_states_needed != 0).into();
        *terminate = (info.terminate_simulation != 0).into();
        *nominals_changed = (info.nominals_of_continuous_states_changed != 0).into();
        *values_changed = (info.values_of_continuous_states_changed != 0).into();
        *next_defined = (info.next_event_time_defined != 0).into();
        *next = info.next_event_time;
    }
    status(raw)
});
adapter!(enter_continuous_time_mode(c: Component) {
    // SAFETY: this function's contract.
    status(unsafe { (c.functions.enter_continuous_time_mode)(c.raw) })
});
adapter!(completed_integrator_step(
    c: Component, no_set_before: RawBool, enter_event_mode: *mut RawBool, terminate: *mut RawBool
) {
    let (mut event, mut end): (RawInt, RawInt) = (0, 0);
    // SAFETY: this function's contract: the instance is in Continuous-Time Mode.
    let raw = unsafe { (c.functions.completed_integrator_step)(c.raw, no_set_before.into(), &mut event, &mut end) };
    // SAFETY: this function's contract: each place can be written to.
    unsafe { (*enter_event_mode, *terminate) = ((event != 0).into(), (end != 0).into()) };
    status(raw)
});

impl Component {
    /// `fmi2EnterEventMode`. Co-Simulation has no Event Mode.
    ///
    /// # Safety
    /// The instance is alive and, of Model Exchange, in Continuous-Time Mode.
    pub(super) unsafe fn enter_event_mode(&self) -> RawStatus {
        match self.interface {
            // SAFETY: this function's contract.
            Interface::ModelExchange => status(unsafe { (self.functions.enter_event_mode)(self.raw) }),
            _ => NOT_CALLED,
        }
    }
}

/// # Safety
/// As `Functions::free_instance` demands; the instance is one of FMI 2.0.
unsafe extern "C" fn free_instance(instance: RawInstance) {
    // SAFETY: this function's contract: nobody uses the instance any more. The callbacks live until the FMU has let go.
    unsafe {
        let component = Component::take_back(instance);
        (component.functions.free_instance)(component.raw);
    }
}
