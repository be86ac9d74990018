//! The functions that look like this in FMI 3.0 only.

use crate::Function;
use crate::abi::table::{FunctionGroup, table};
use crate::types::*;
use vecud_description::Interface;

table! {
    /// The functions that look like this in FMI 3.0 only.
    Fmi3Functions
    [ScheduledExecution] {
        InstantiateScheduledExecution, instantiate_scheduled_execution, "fmi3InstantiateScheduledExecution", (
            instance_name: RawString, instantiation_token: RawString, resource_path: RawString, visible: RawBool,
            logging_on: RawBool, instance_environment: RawEnvironment, log_message: Option<LogMessage>,
            clock_update: Option<ClockUpdateCallback>, lock_preemption: Option<PreemptionCallback>,
            unlock_preemption: Option<PreemptionCallback>
        ) -> RawInstance;
    }
    [ModelExchange CoSimulation ScheduledExecution] {
        GetClock, get_clock, "fmi3GetClock", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *mut RawBool
        ) -> RawStatus;
        SetClock, set_clock, "fmi3SetClock", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *const RawBool
        ) -> RawStatus;
        GetIntervalDecimal, get_interval_decimal, "fmi3GetIntervalDecimal", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            intervals: *mut f64, qualifiers: *mut RawQualifier
        ) -> RawStatus;
        GetIntervalFraction, get_interval_fraction, "fmi3GetIntervalFraction", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            counters: *mut u64, resolutions: *mut u64, qualifiers: *mut RawQualifier
        ) -> RawStatus;
        GetShiftDecimal, get_shift_decimal, "fmi3GetShiftDecimal", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            shifts: *mut f64
        ) -> RawStatus;
        GetShiftFraction, get_shift_fraction, "fmi3GetShiftFraction", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            counters: *mut u64, resolutions: *mut u64
        ) -> RawStatus;
        SetIntervalDecimal, set_interval_decimal, "fmi3SetIntervalDecimal", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            intervals: *const f64
        ) -> RawStatus;
        SetIntervalFraction, set_interval_fraction, "fmi3SetIntervalFraction", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            counters: *const u64, resolutions: *const u64
        ) -> RawStatus;
        SetShiftDecimal, set_shift_decimal, "fmi3SetShiftDecimal", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            shifts: *const f64
        ) -> RawStatus;
        SetShiftFraction, set_shift_fraction, "fmi3SetShiftFraction", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            counters: *const u64, resolutions: *const u64
        ) -> RawStatus;
    }
    [ScheduledExecution] {
        ActivateModelPartition, activate_model_partition, "fmi3ActivateModelPartition", (
            instance: RawInstance, clock_reference: RawReference, activation_time: f64
        ) -> RawStatus;
    }
    [ModelExchange] {
        InstantiateModelExchange, instantiate_model_exchange, "fmi3InstantiateModelExchange", (
            instance_name: RawString, instantiation_token: RawString, resource_path: RawString, visible: RawBool,
            logging_on: RawBool, instance_environment: RawEnvironment, log_message: Option<LogMessage>
        ) -> RawInstance;
    }
    [CoSimulation] {
        InstantiateCoSimulation, instantiate_co_simulation, "fmi3InstantiateCoSimulation", (
            instance_name: RawString, instantiation_token: RawString, resource_path: RawString, visible: RawBool,
            logging_on: RawBool, event_mode_used: RawBool, early_return_allowed: RawBool,
            required_intermediate_variables: *const RawReference, n_required_intermediate_variables: usize,
            instance_environment: RawEnvironment, log_message: Option<LogMessage>,
            intermediate_update: Option<IntermediateUpdate>
        ) -> RawInstance;
    }
    [ModelExchange CoSimulation] {
        EnterEventMode, enter_event_mode, "fmi3EnterEventMode", (instance: RawInstance) -> RawStatus;
        EvaluateDiscreteStates, evaluate_discrete_states, "fmi3EvaluateDiscreteStates", (
            instance: RawInstance
        ) -> RawStatus;
    }
    [CoSimulation] {
        DoStep, do_step, "fmi3DoStep", (
            instance: RawInstance, current_communication_point: f64, communication_step_size: f64,
            no_set_fmu_state_prior_to_current_point: RawBool, event_handling_needed: *mut RawBool,
            terminate_simulation: *mut RawBool, early_return: *mut RawBool, last_successful_time: *mut f64
        ) -> RawStatus;
    }
}
