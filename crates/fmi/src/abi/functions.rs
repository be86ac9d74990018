//! The table that every call goes through, whatever the FMU speaks. Its functions have the signatures of FMI 3.0, which the
//! draft shares; FMI 2.0 and 1.0 fill it with adapters ([`super::fmi2`], [`super::fmi1`]).

use super::table::{FunctionGroup, table};
use super::tables::{DraftFunctions, Fmi1Functions, Fmi2Functions, Fmi3Functions};
use crate::Function;
use crate::types::*;
use std::ffi::c_int;
use vecud_description::Interface;

/// Functions that only one C interface has, or that have other arguments there.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant)] // one per FMU, looked up without another indirection
pub enum VersionFunctions {
    /// FMI 1.0, behind adapters.
    Fmi1(Fmi1Functions),
    /// FMI 2.0, behind adapters.
    Fmi2(Fmi2Functions),
    /// FMI 3.0.
    Fmi3(Fmi3Functions),
    /// The text before 3.0-alpha.6.
    Draft(DraftFunctions),
}

table! {
    /// The functions of an FMU.
    Functions {
        /// The functions that have these arguments in one C interface only.
        own: VersionFunctions
    }
    [ModelExchange CoSimulation ScheduledExecution] {
        GetVersion, get_version, "fmi3GetVersion", () -> RawString;
        SetDebugLogging, set_debug_logging, "fmi3SetDebugLogging", (
            instance: RawInstance, logging_on: RawBool, n_categories: usize, categories: *const RawString
        ) -> RawStatus;
        FreeInstance, free_instance, "fmi3FreeInstance", (instance: RawInstance) -> ();
        EnterInitializationMode, enter_initialization_mode, "fmi3EnterInitializationMode", (
            instance: RawInstance, tolerance_defined: RawBool, tolerance: f64, start_time: f64,
            stop_time_defined: RawBool, stop_time: f64
        ) -> RawStatus;
        ExitInitializationMode, exit_initialization_mode, "fmi3ExitInitializationMode", (
            instance: RawInstance
        ) -> RawStatus;
        Terminate, terminate, "fmi3Terminate", (instance: RawInstance) -> RawStatus;
        Reset, reset, "fmi3Reset", (instance: RawInstance) -> RawStatus;
        GetFloat32, get_float32, "fmi3GetFloat32", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *mut f32, n_values: usize
        ) -> RawStatus;
        GetFloat64, get_float64, "fmi3GetFloat64", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *mut f64, n_values: usize
        ) -> RawStatus;
        GetInt8, get_int8, "fmi3GetInt8", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *mut i8, n_values: usize
        ) -> RawStatus;
        GetUInt8, get_uint8, "fmi3GetUInt8", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *mut u8, n_values: usize
        ) -> RawStatus;
        GetInt16, get_int16, "fmi3GetInt16", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *mut i16, n_values: usize
        ) -> RawStatus;
        GetUInt16, get_uint16, "fmi3GetUInt16", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *mut u16, n_values: usize
        ) -> RawStatus;
        GetInt32, get_int32, "fmi3GetInt32", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *mut i32, n_values: usize
        ) -> RawStatus;
        GetUInt32, get_uint32, "fmi3GetUInt32", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *mut u32, n_values: usize
        ) -> RawStatus;
        GetInt64, get_int64, "fmi3GetInt64", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *mut i64, n_values: usize
        ) -> RawStatus;
        GetUInt64, get_uint64, "fmi3GetUInt64", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *mut u64, n_values: usize
        ) -> RawStatus;
        GetBoolean, get_boolean, "fmi3GetBoolean", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *mut RawBool, n_values: usize
        ) -> RawStatus;
        GetString, get_string, "fmi3GetString", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *mut RawString, n_values: usize
        ) -> RawStatus;
        GetBinary, get_binary, "fmi3GetBinary", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            value_sizes: *mut usize, values: *mut RawBinary, n_values: usize
        ) -> RawStatus;
        SetFloat32, set_float32, "fmi3SetFloat32", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *const f32, n_values: usize
        ) -> RawStatus;
        SetFloat64, set_float64, "fmi3SetFloat64", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *const f64, n_values: usize
        ) -> RawStatus;
        SetInt8, set_int8, "fmi3SetInt8", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *const i8, n_values: usize
        ) -> RawStatus;
        SetUInt8, set_uint8, "fmi3SetUInt8", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *const u8, n_values: usize
        ) -> RawStatus;
        SetInt16, set_int16, "fmi3SetInt16", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *const i16, n_values: usize
        ) -> RawStatus;
        SetUInt16, set_uint16, "fmi3SetUInt16", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *const u16, n_values: usize
        ) -> RawStatus;
        SetInt32, set_int32, "fmi3SetInt32", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *const i32, n_values: usize
        ) -> RawStatus;
        SetUInt32, set_uint32, "fmi3SetUInt32", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *const u32, n_values: usize
        ) -> RawStatus;
        SetInt64, set_int64, "fmi3SetInt64", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *const i64, n_values: usize
        ) -> RawStatus;
        SetUInt64, set_uint64, "fmi3SetUInt64", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *const u64, n_values: usize
        ) -> RawStatus;
        SetBoolean, set_boolean, "fmi3SetBoolean", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *const RawBool, n_values: usize
        ) -> RawStatus;
        SetString, set_string, "fmi3SetString", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *const RawString, n_values: usize
        ) -> RawStatus;
        SetBinary, set_binary, "fmi3SetBinary", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            value_sizes: *const usize, values: *const RawBinary, n_values: usize
        ) -> RawStatus;
        GetNumberOfVariableDependencies, get_number_of_variable_dependencies, "fmi3GetNumberOfVariableDependencies", (
            instance: RawInstance, value_reference: RawReference, n_dependencies: *mut usize
        ) -> RawStatus;
        GetVariableDependencies, get_variable_dependencies, "fmi3GetVariableDependencies", (
            instance: RawInstance, dependent: RawReference, element_indices_of_dependent: *mut usize,
            independents: *mut RawReference, element_indices_of_independents: *mut usize,
            dependency_kinds: *mut c_int, n_dependencies: usize
        ) -> RawStatus;
        GetFMUState, get_fmu_state, "fmi3GetFMUState", (
            instance: RawInstance, fmu_state: *mut RawState
        ) -> RawStatus;
        SetFMUState, set_fmu_state, "fmi3SetFMUState", (instance: RawInstance, fmu_state: RawState) -> RawStatus;
        FreeFMUState, free_fmu_state, "fmi3FreeFMUState", (
            instance: RawInstance, fmu_state: *mut RawState
        ) -> RawStatus;
        SerializedFMUStateSize, serialized_fmu_state_size, "fmi3SerializedFMUStateSize", (
            instance: RawInstance, fmu_state: RawState, size: *mut usize
        ) -> RawStatus;
        SerializeFMUState, serialize_fmu_state, "fmi3SerializeFMUState", (
            instance: RawInstance, fmu_state: RawState, serialized_state: *mut u8, size: usize
        ) -> RawStatus;
        DeserializeFMUState, deserialize_fmu_state, "fmi3DeserializeFMUState", (
            instance: RawInstance, serialized_state: *const u8, size: usize, fmu_state: *mut RawState
        ) -> RawStatus;
        GetDirectionalDerivative, get_directional_derivative, "fmi3GetDirectionalDerivative", (
            instance: RawInstance, unknowns: *const RawReference, n_unknowns: usize, knowns: *const RawReference,
            n_knowns: usize, seed: *const f64, n_seed: usize, sensitivity: *mut f64, n_sensitivity: usize
        ) -> RawStatus;
        GetAdjointDerivative, get_adjoint_derivative, "fmi3GetAdjointDerivative", (
            instance: RawInstance, unknowns: *const RawReference, n_unknowns: usize, knowns: *const RawReference,
            n_knowns: usize, seed: *const f64, n_seed: usize, sensitivity: *mut f64, n_sensitivity: usize
        ) -> RawStatus;
        EnterConfigurationMode, enter_configuration_mode, "fmi3EnterConfigurationMode", (
            instance: RawInstance
        ) -> RawStatus;
        ExitConfigurationMode, exit_configuration_mode, "fmi3ExitConfigurationMode", (
            instance: RawInstance
        ) -> RawStatus;
    }
    [ModelExchange CoSimulation] {
        UpdateDiscreteStates, update_discrete_states, "fmi3UpdateDiscreteStates", (
            instance: RawInstance, discrete_states_need_update: *mut RawBool, terminate_simulation: *mut RawBool,
            nominals_of_continuous_states_changed: *mut RawBool, values_of_continuous_states_changed: *mut RawBool,
            next_event_time_defined: *mut RawBool, next_event_time: *mut f64
        ) -> RawStatus;
    }
    [ModelExchange] {
        EnterContinuousTimeMode, enter_continuous_time_mode, "fmi3EnterContinuousTimeMode", (
            instance: RawInstance
        ) -> RawStatus;
        CompletedIntegratorStep, completed_integrator_step, "fmi3CompletedIntegratorStep", (
            instance: RawInstance, no_set_fmu_state_prior_to_current_point: RawBool,
            enter_event_mode: *mut RawBool, terminate_simulation: *mut RawBool
        ) -> RawStatus;
        SetTime, set_time, "fmi3SetTime", (instance: RawInstance, time: f64) -> RawStatus;
        SetContinuousStates, set_continuous_states, "fmi3SetContinuousStates", (
            instance: RawInstance, continuous_states: *const f64, n_continuous_states: usize
        ) -> RawStatus;
        GetContinuousStateDerivatives, get_continuous_state_derivatives, "fmi3GetContinuousStateDerivatives", (
            instance: RawInstance, derivatives: *mut f64, n_continuous_states: usize
        ) -> RawStatus;
        GetEventIndicators, get_event_indicators, "fmi3GetEventIndicators", (
            instance: RawInstance, event_indicators: *mut f64, n_event_indicators: usize
        ) -> RawStatus;
        GetContinuousStates, get_continuous_states, "fmi3GetContinuousStates", (
            instance: RawInstance, continuous_states: *mut f64, n_continuous_states: usize
        ) -> RawStatus;
        GetNominalsOfContinuousStates, get_nominals_of_continuous_states, "fmi3GetNominalsOfContinuousStates", (
            instance: RawInstance, nominals: *mut f64, n_continuous_states: usize
        ) -> RawStatus;
        GetNumberOfEventIndicators, get_number_of_event_indicators, "fmi3GetNumberOfEventIndicators", (
            instance: RawInstance, n_event_indicators: *mut usize
        ) -> RawStatus;
        GetNumberOfContinuousStates, get_number_of_continuous_states, "fmi3GetNumberOfContinuousStates", (
            instance: RawInstance, n_continuous_states: *mut usize
        ) -> RawStatus;
    }
    [CoSimulation] {
        EnterStepMode, enter_step_mode, "fmi3EnterStepMode", (instance: RawInstance) -> RawStatus;
        GetOutputDerivatives, get_output_derivatives, "fmi3GetOutputDerivatives", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            orders: *const i32, values: *mut f64, n_values: usize
        ) -> RawStatus;
    }
}
