//! The functions that look like this in the draft only.

use crate::Function;
use crate::abi::table::{FunctionGroup, table};
use crate::types::*;
use vecud_description::Interface;

table! {
    /// The functions that look like this in the draft only.
    DraftFunctions
    [ScheduledExecution] {
        InstantiateScheduledExecution, instantiate_scheduled_execution, "fmi3InstantiateScheduledExecution", (
            instance_name: RawString, instantiation_token: RawString, resource_location: RawString,
            visible: RawBool, logging_on: RawBool, required_intermediate_variables: *const RawReference,
            n_required_intermediate_variables: usize, instance_environment: RawEnvironment,
            log_message: Option<DraftLogMessage>, intermediate_update: Option<DraftIntermediateUpdate>,
            lock_preemption: Option<PreemptionCallback>, unlock_preemption: Option<PreemptionCallback>
        ) -> RawInstance;
        ActivateModelPartition, activate_model_partition, "fmi3ActivateModelPartition", (
            instance: RawInstance, clock_reference: RawReference, clock_element_index: usize, activation_time: f64
        ) -> RawStatus;
    }
    [ScheduledExecution ModelExchange] {
        GetClock, get_clock, "fmi3GetClock", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *mut RawDraftClock, n_values: usize
        ) -> RawStatus;
        SetClock, set_clock, "fmi3SetClock", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            values: *const RawDraftClock, subactive: *const RawBool, n_values: usize
        ) -> RawStatus;
        GetIntervalDecimal, get_interval_decimal, "fmi3GetIntervalDecimal", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            intervals: *mut f64, n_values: usize
        ) -> RawStatus;
        GetIntervalFraction, get_interval_fraction, "fmi3GetIntervalFraction", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            interval_counters: *mut u64, resolutions: *mut u64, n_values: usize
        ) -> RawStatus;
        SetIntervalDecimal, set_interval_decimal, "fmi3SetIntervalDecimal", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            intervals: *const f64, n_values: usize
        ) -> RawStatus;
        SetIntervalFraction, set_interval_fraction, "fmi3SetIntervalFraction", (
            instance: RawInstance, value_references: *const RawReference, n_value_references: usize,
            interval_counters: *const u64, resolutions: *const u64, n_values: usize
        ) -> RawStatus;
    }
    [ModelExchange] {
        InstantiateModelExchange, instantiate_model_exchange, "fmi3InstantiateModelExchange", (
            instance_name: RawString, instantiation_token: RawString, resource_location: RawString,
            visible: RawBool, logging_on: RawBool, instance_environment: RawEnvironment,
            log_message: Option<DraftLogMessage>
        ) -> RawInstance;
        EnterEventMode, enter_event_mode, "fmi3EnterEventMode", (
            instance: RawInstance, step_event: RawBool, roots_found: *const i32, n_event_indicators: usize,
            time_event: RawBool
        ) -> RawStatus;
    }
    [CoSimulation] {
        InstantiateCoSimulation, instantiate_co_simulation, "fmi3InstantiateCoSimulation", (
            instance_name: RawString, instantiation_token: RawString, resource_location: RawString,
            visible: RawBool, logging_on: RawBool, event_mode_used: RawBool,
            required_intermediate_variables: *const RawReference, n_required_intermediate_variables: usize,
            instance_environment: RawEnvironment, log_message: Option<DraftLogMessage>,
            intermediate_update: Option<DraftIntermediateUpdate>
        ) -> RawInstance;
        DoStep, do_step, "fmi3DoStep", (
            instance: RawInstance, current_communication_point: f64, communication_step_size: f64,
            no_set_fmu_state_prior_to_current_point: RawBool, event_encountered: *mut RawBool,
            clocks_about_to_tick: *mut RawBool, terminate: *mut RawBool, early_return: *mut RawBool,
            last_successful_time: *mut f64
        ) -> RawStatus;
    }
}
