//! The functions of FMI 2.0, and the structures that are handed to them.

use crate::Function;
use crate::abi::logger::Logger;
use crate::abi::table::{FunctionGroup, table};
use crate::types::*;
use std::ffi::{c_char, c_int, c_void};
use vecud_description::Interface;

/// `fmi2Boolean`.
pub(in crate::abi) type RawInt = c_int;

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
    /// The functions of an FMU of FMI 2.0. Made [`Functions`](crate::Functions), they stand behind adapters.
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
