//! The functions of FMI 1.0, and the structures that are handed to them.

use crate::Function;
use crate::abi::logger::Logger;
use crate::abi::table::{FunctionGroup, table};
use crate::types::*;
use std::ffi::{c_int, c_void};
use vecud_description::Interface;

/// `fmiCallbackFunctions` of Model Exchange.
#[derive(Clone, Copy)]
#[repr(C)]
#[allow(missing_docs)] // the standard's names
pub struct Fmi1ModelCallbacks {
    pub logger: Logger,
    // SAFETY (of calling them): as in C.
    pub allocate_memory: unsafe extern "C" fn(usize, usize) -> *mut c_void,
    pub free_memory: unsafe extern "C" fn(*mut c_void),
}

/// `fmiCallbackFunctions` of Co-Simulation.
#[derive(Clone, Copy)]
#[repr(C)]
#[allow(missing_docs)] // the standard's names
pub struct Fmi1SlaveCallbacks {
    pub common: Fmi1ModelCallbacks,
    // SAFETY (of calling it): as in C.
    pub step_finished: Option<unsafe extern "C" fn(RawInstance, RawStatus)>,
}

/// `fmiEventInfo`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
#[allow(missing_docs)] // the standard's names
pub struct Fmi1EventInfo {
    pub iteration_converged: RawBool,
    pub state_value_references_changed: RawBool,
    pub state_values_changed: RawBool,
    pub terminate_simulation: RawBool,
    pub upcoming_time_event: RawBool,
    pub next_event_time: f64,
}

table! {
    /// The functions of an FMU of FMI 1.0. Made [`Functions`](crate::Functions), they stand behind adapters.
    Fmi1Functions
    [ModelExchange CoSimulation] {
        GetVersion, get_version, "fmiGetVersion", () -> RawString;
        SetDebugLogging, set_debug_logging, "fmiSetDebugLogging", (
            component: RawInstance, logging_on: RawBool
        ) -> RawStatus;
        GetFloat64, get_real, "fmiGetReal", (
            component: RawInstance, references: *const RawReference, n: usize, values: *mut f64
        ) -> RawStatus;
        GetInt32, get_integer, "fmiGetInteger", (
            component: RawInstance, references: *const RawReference, n: usize, values: *mut c_int
        ) -> RawStatus;
        GetBoolean, get_boolean, "fmiGetBoolean", (
            component: RawInstance, references: *const RawReference, n: usize, values: *mut RawBool
        ) -> RawStatus;
        GetString, get_string, "fmiGetString", (
            component: RawInstance, references: *const RawReference, n: usize, values: *mut RawString
        ) -> RawStatus;
        SetFloat64, set_real, "fmiSetReal", (
            component: RawInstance, references: *const RawReference, n: usize, values: *const f64
        ) -> RawStatus;
        SetInt32, set_integer, "fmiSetInteger", (
            component: RawInstance, references: *const RawReference, n: usize, values: *const c_int
        ) -> RawStatus;
        SetBoolean, set_boolean, "fmiSetBoolean", (
            component: RawInstance, references: *const RawReference, n: usize, values: *const RawBool
        ) -> RawStatus;
        SetString, set_string, "fmiSetString", (
            component: RawInstance, references: *const RawReference, n: usize, values: *const RawString
        ) -> RawStatus;
    }
    [CoSimulation] {
        GetTypesPlatform, get_types_platform, "fmiGetTypesPlatform", () -> RawString;
        InstantiateCoSimulation, instantiate_slave, "fmiInstantiateSlave", (
            instance_name: RawString, guid: RawString, fmu_location: RawString, mime_type: RawString, timeout: f64,
            visible: RawBool, interactive: RawBool, functions: Fmi1SlaveCallbacks, logging_on: RawBool
        ) -> RawInstance;
        FreeInstance, free_slave_instance, "fmiFreeSlaveInstance", (component: RawInstance) -> ();
        EnterInitializationMode, initialize_slave, "fmiInitializeSlave", (
            component: RawInstance, start: f64, stop_time_defined: RawBool, stop: f64
        ) -> RawStatus;
        Terminate, terminate_slave, "fmiTerminateSlave", (component: RawInstance) -> RawStatus;
        Reset, reset_slave, "fmiResetSlave", (component: RawInstance) -> RawStatus;
        DoStep, do_step, "fmiDoStep", (
            component: RawInstance, current_communication_point: f64, communication_step_size: f64, new_step: RawBool
        ) -> RawStatus;
        CancelStep, cancel_step, "fmiCancelStep", (component: RawInstance) -> RawStatus;
        GetStatus, get_status, "fmiGetStatus", (component: RawInstance, kind: c_int, value: *mut RawStatus) -> RawStatus;
        GetRealStatus, get_real_status, "fmiGetRealStatus", (
            component: RawInstance, kind: c_int, value: *mut f64
        ) -> RawStatus;
        SetRealInputDerivatives, set_real_input_derivatives, "fmiSetRealInputDerivatives", (
            component: RawInstance, references: *const RawReference, n: usize, orders: *const c_int, values: *const f64
        ) -> RawStatus;
        GetOutputDerivatives, get_real_output_derivatives, "fmiGetRealOutputDerivatives", (
            component: RawInstance, references: *const RawReference, n: usize, orders: *const c_int, values: *mut f64
        ) -> RawStatus;
    }
    [ModelExchange] {
        GetTypesPlatform, get_model_types_platform, "fmiGetModelTypesPlatform", () -> RawString;
        InstantiateModelExchange, instantiate_model, "fmiInstantiateModel", (
            instance_name: RawString, guid: RawString, functions: Fmi1ModelCallbacks, logging_on: RawBool
        ) -> RawInstance;
        FreeInstance, free_model_instance, "fmiFreeModelInstance", (component: RawInstance) -> ();
        EnterInitializationMode, initialize, "fmiInitialize", (
            component: RawInstance, tolerance_controlled: RawBool, relative_tolerance: f64,
            event_info: *mut Fmi1EventInfo
        ) -> RawStatus;
        Terminate, terminate, "fmiTerminate", (component: RawInstance) -> RawStatus;
        SetTime, set_time, "fmiSetTime", (component: RawInstance, time: f64) -> RawStatus;
        SetContinuousStates, set_continuous_states, "fmiSetContinuousStates", (
            component: RawInstance, continuous_states: *const f64, n_continuous_states: usize
        ) -> RawStatus;
        CompletedIntegratorStep, completed_integrator_step, "fmiCompletedIntegratorStep", (
            component: RawInstance, call_event_update: *mut RawBool
        ) -> RawStatus;
        GetContinuousStateDerivatives, get_derivatives, "fmiGetDerivatives", (
            component: RawInstance, derivatives: *mut f64, n_continuous_states: usize
        ) -> RawStatus;
        GetEventIndicators, get_event_indicators, "fmiGetEventIndicators", (
            component: RawInstance, event_indicators: *mut f64, n_event_indicators: usize
        ) -> RawStatus;
        UpdateDiscreteStates, event_update, "fmiEventUpdate", (
            component: RawInstance, intermediate_results: RawBool, event_info: *mut Fmi1EventInfo
        ) -> RawStatus;
        GetContinuousStates, get_continuous_states, "fmiGetContinuousStates", (
            component: RawInstance, continuous_states: *mut f64, n_continuous_states: usize
        ) -> RawStatus;
        GetNominalsOfContinuousStates, get_nominal_continuous_states, "fmiGetNominalContinuousStates", (
            component: RawInstance, nominals: *mut f64, n_continuous_states: usize
        ) -> RawStatus;
        GetStateValueReferences, get_state_value_references, "fmiGetStateValueReferences", (
            component: RawInstance, references: *mut RawReference, n_continuous_states: usize
        ) -> RawStatus;
    }
}
