//! FMI 2.0 with its patch releases. One library has Model Exchange and Co-Simulation under the same names.

use super::adapter::*;
use super::logger::{Logger, vecud_log_fmi2};
use super::table::{FunctionGroup, table};
use super::{Birth, CInterface, Functions, VersionFunctions};
use crate::Function;
use crate::types::*;
use std::ffi::{c_char, c_int, c_void};
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

/// `fmi2Boolean`.
type RawInt = c_int;

/// `fmi2CallbackFunctions`.
#[derive(Clone, Copy)]
#[repr(C)]
#[allow(missing_docs)] // the standard's names
pub struct Fmi2Callbacks {
    pub logger: Logger,
    // SAFETY (of calling them): as in C.
    pub allocate_memory: unsafe extern "C" fn(usize, usize) -> *mut c_void,
    pub free_memory: unsafe extern "C" fn(*mut c_void),
    pub step_finished: Option<unsafe extern "C" fn(RawEnvironment, RawStatus)>,
    pub component_environment: RawEnvironment,
}

/// `fmi2EventInfo`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
#[allow(missing_docs)] // the standard's names
pub struct Fmi2EventInfo {
    pub new_discrete_states_needed: c_int,
    pub terminate_simulation: c_int,
    pub nominals_of_continuous_states_changed: c_int,
    pub values_of_continuous_states_changed: c_int,
    pub next_event_time_defined: c_int,
    pub next_event_time: f64,
}

table! {
    /// The functions of an FMU of FMI 2.0. Made [`Functions`], they stand behind adapters.
    Fmi2Functions
    [ModelExchange CoSimulation] {
        GetTypesPlatform, get_types_platform, "fmi2GetTypesPlatform", () -> RawString;
        GetVersion, get_version, "fmi2GetVersion", () -> RawString;
        SetDebugLogging, set_debug_logging, "fmi2SetDebugLogging", (
            component: RawInstance, logging_on: RawInt, n_categories: usize, categories: *const RawString
        ) -> RawStatus;
        FreeInstance, free_instance, "fmi2FreeInstance", (component: RawInstance) -> ();
        SetupExperiment, setup_experiment, "fmi2SetupExperiment", (
            component: RawInstance, tolerance_defined: RawInt, tolerance: f64, start_time: f64,
            stop_time_defined: RawInt, stop_time: f64
        ) -> RawStatus;
        EnterInitializationMode, enter_initialization_mode, "fmi2EnterInitializationMode", (
            component: RawInstance
        ) -> RawStatus;
        ExitInitializationMode, exit_initialization_mode, "fmi2ExitInitializationMode", (
            component: RawInstance
        ) -> RawStatus;
        Terminate, terminate, "fmi2Terminate", (component: RawInstance) -> RawStatus;
        Reset, reset, "fmi2Reset", (component: RawInstance) -> RawStatus;
        GetFloat64, get_real, "fmi2GetReal", (
            component: RawInstance, references: *const RawReference, n: usize, values: *mut f64
        ) -> RawStatus;
        GetInt32, get_integer, "fmi2GetInteger", (
            component: RawInstance, references: *const RawReference, n: usize, values: *mut c_int
        ) -> RawStatus;
        GetBoolean, get_boolean, "fmi2GetBoolean", (
            component: RawInstance, references: *const RawReference, n: usize, values: *mut RawInt
        ) -> RawStatus;
        GetString, get_string, "fmi2GetString", (
            component: RawInstance, references: *const RawReference, n: usize, values: *mut RawString
        ) -> RawStatus;
        SetFloat64, set_real, "fmi2SetReal", (
            component: RawInstance, references: *const RawReference, n: usize, values: *const f64
        ) -> RawStatus;
        SetInt32, set_integer, "fmi2SetInteger", (
            component: RawInstance, references: *const RawReference, n: usize, values: *const c_int
        ) -> RawStatus;
        SetBoolean, set_boolean, "fmi2SetBoolean", (
            component: RawInstance, references: *const RawReference, n: usize, values: *const RawInt
        ) -> RawStatus;
        SetString, set_string, "fmi2SetString", (
            component: RawInstance, references: *const RawReference, n: usize, values: *const RawString
        ) -> RawStatus;
        GetFMUState, get_fmu_state, "fmi2GetFMUstate", (component: RawInstance, state: *mut RawState) -> RawStatus;
        SetFMUState, set_fmu_state, "fmi2SetFMUstate", (component: RawInstance, state: RawState) -> RawStatus;
        FreeFMUState, free_fmu_state, "fmi2FreeFMUstate", (component: RawInstance, state: *mut RawState) -> RawStatus;
        SerializedFMUStateSize, serialized_fmu_state_size, "fmi2SerializedFMUstateSize", (
            component: RawInstance, state: RawState, size: *mut usize
        ) -> RawStatus;
        SerializeFMUState, serialize_fmu_state, "fmi2SerializeFMUstate", (
            component: RawInstance, state: RawState, serialized_state: *mut c_char, size: usize
        ) -> RawStatus;
        DeserializeFMUState, deserialize_fmu_state, "fmi2DeSerializeFMUstate", (
            component: RawInstance, serialized_state: *const c_char, size: usize, state: *mut RawState
        ) -> RawStatus;
        GetDirectionalDerivative, get_directional_derivative, "fmi2GetDirectionalDerivative", (
            component: RawInstance, unknowns: *const RawReference, n_unknowns: usize, knowns: *const RawReference,
            n_knowns: usize, seed: *const f64, sensitivity: *mut f64
        ) -> RawStatus;
    }
    [ModelExchange] {
        EnterEventMode, enter_event_mode, "fmi2EnterEventMode", (component: RawInstance) -> RawStatus;
        UpdateDiscreteStates, new_discrete_states, "fmi2NewDiscreteStates", (
            component: RawInstance, event_info: *mut Fmi2EventInfo
        ) -> RawStatus;
        EnterContinuousTimeMode, enter_continuous_time_mode, "fmi2EnterContinuousTimeMode", (
            component: RawInstance
        ) -> RawStatus;
        CompletedIntegratorStep, completed_integrator_step, "fmi2CompletedIntegratorStep", (
            component: RawInstance, no_set_fmu_state_prior_to_current_point: RawInt, enter_event_mode: *mut RawInt,
            terminate_simulation: *mut RawInt
        ) -> RawStatus;
        SetTime, set_time, "fmi2SetTime", (component: RawInstance, time: f64) -> RawStatus;
        SetContinuousStates, set_continuous_states, "fmi2SetContinuousStates", (
            component: RawInstance, continuous_states: *const f64, n_continuous_states: usize
        ) -> RawStatus;
        GetContinuousStateDerivatives, get_derivatives, "fmi2GetDerivatives", (
            component: RawInstance, derivatives: *mut f64, n_continuous_states: usize
        ) -> RawStatus;
        GetEventIndicators, get_event_indicators, "fmi2GetEventIndicators", (
            component: RawInstance, event_indicators: *mut f64, n_event_indicators: usize
        ) -> RawStatus;
        GetContinuousStates, get_continuous_states, "fmi2GetContinuousStates", (
            component: RawInstance, continuous_states: *mut f64, n_continuous_states: usize
        ) -> RawStatus;
        GetNominalsOfContinuousStates, get_nominals_of_continuous_states, "fmi2GetNominalsOfContinuousStates", (
            component: RawInstance, nominals: *mut f64, n_continuous_states: usize
        ) -> RawStatus;
    }
    [CoSimulation] {
        InstantiateCoSimulation, instantiate, "fmi2Instantiate", (
            instance_name: RawString, fmu_type: c_int, guid: RawString, resource_location: RawString,
            functions: *const Fmi2Callbacks, visible: RawInt, logging_on: RawInt
        ) -> RawInstance;
        DoStep, do_step, "fmi2DoStep", (
            component: RawInstance, current_communication_point: f64, communication_step_size: f64,
            no_set_fmu_state_prior_to_current_point: RawInt
        ) -> RawStatus;
        CancelStep, cancel_step, "fmi2CancelStep", (component: RawInstance) -> RawStatus;
        GetStatus, get_status, "fmi2GetStatus", (
            component: RawInstance, kind: c_int, value: *mut RawStatus
        ) -> RawStatus;
        GetRealStatus, get_real_status, "fmi2GetRealStatus", (
            component: RawInstance, kind: c_int, value: *mut f64
        ) -> RawStatus;
        GetBooleanStatus, get_boolean_status, "fmi2GetBooleanStatus", (
            component: RawInstance, kind: c_int, value: *mut RawInt
        ) -> RawStatus;
        SetRealInputDerivatives, set_real_input_derivatives, "fmi2SetRealInputDerivatives", (
            component: RawInstance, references: *const RawReference, n: usize, orders: *const c_int, values: *const f64
        ) -> RawStatus;
        GetOutputDerivatives, get_real_output_derivatives, "fmi2GetRealOutputDerivatives", (
            component: RawInstance, references: *const RawReference, n: usize, orders: *const c_int, values: *mut f64
        ) -> RawStatus;
    }
    // No interface type has to have it: it is beside the standard (Broman et al., EMSOFT 2013), and few FMUs export it.
    [] {
        GetMaxStepSize, get_max_step_size, "fmi2GetMaxStepSize", (
            component: RawInstance, max_step_size: *mut f64
        ) -> RawStatus;
    }
}

pub(super) type Component = super::adapter::Component<Fmi2Functions, Callbacks>;

/// The callbacks of an instance, to which the FMU has a pointer. (A box would be the only way to what is in it.)
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
