//! The text between FMI 3.0-alpha.5 and 3.0-alpha.6: clocks are integers and may be arrays, one callback serves all clock
//! updates, and two functions had other names. Of it there are Scheduled Execution, Co-Simulation without Event Mode, and Model
//! Exchange.

use super::table::{FunctionGroup, table};
use super::{Birth, CInterface, Functions, VersionFunctions};
use crate::Function;
use crate::callbacks;
use crate::interface::MadeFor;
use crate::types::*;
use std::ptr;
use vecud_description::{Abi, Interface};

pub(super) const DRAFT: CInterface = CInterface {
    abi: Abi::Draft,
    short: "draft of FMI 3.0",
    statuses: ["fmi3OK", "fmi3Warning", "fmi3Discard", "fmi3Error", "fmi3Fatal"],
    lists: &[Functions::LIST, DraftFunctions::LIST],
    other_names: &[
        (Function::DeserializeFMUState, "fmi3DeSerializeFMUState"),
        (Function::GetContinuousStateDerivatives, "fmi3GetDerivatives"),
    ],
    // The draft does not say that all functions must be there, as FMI 3.0 does.
    indispensable: Some(CORE),
    signs: &["fmi3DeSerializeFMUState", "fmi3GetDerivatives"],
    // The alphas before the release, or what they were to become.
    has_version: |version| version == "3.0" || version.starts_with("3.0-alpha"),
    versions: "FMI 3",
    wants_all: false,
    prefixed: false,
    resolve: |symbol| {
        // SAFETY: what is asked of `CInterface::resolve`.
        unsafe { Functions::resolve(symbol, VersionFunctions::Draft(DraftFunctions::resolve(symbol))) }
    },
};

/// What no FMU of the draft can do without, whatever its variables are.
pub(crate) const CORE: &[Function] = &[
    Function::GetVersion,
    Function::SetDebugLogging,
    Function::InstantiateScheduledExecution,
    Function::InstantiateCoSimulation,
    Function::InstantiateModelExchange,
    Function::FreeInstance,
    Function::EnterInitializationMode,
    Function::ExitInitializationMode,
    Function::Terminate,
    Function::ActivateModelPartition,
    Function::DoStep,
    Function::EnterEventMode,
    Function::EnterContinuousTimeMode,
    Function::SetTime,
];

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

impl DraftFunctions {
    /// # Safety
    /// As [`Functions::instantiate`].
    pub(super) unsafe fn instantiate(&self, birth: &Birth) -> RawInstance {
        let Birth { name, token, resources, logging_on, environment, lock, unlock, .. } = *birth;
        let hidden = RawBool::from(false);
        let log: Option<DraftLogMessage> = Some(callbacks::draft_log_message);
        // SAFETY: this function's contract. Of intermediate variables there are none.
        unsafe {
            match birth.made_for {
                MadeFor::ScheduledExecution => (self.instantiate_scheduled_execution)(
                    name,
                    token,
                    resources,
                    hidden,
                    logging_on,
                    ptr::null(),
                    0,
                    environment,
                    log,
                    Some(callbacks::draft_intermediate_update),
                    Some(lock),
                    Some(unlock),
                ),
                MadeFor::CoSimulation(own) => (self.instantiate_co_simulation)(
                    name,
                    token,
                    resources,
                    hidden,
                    logging_on,
                    own.event_mode_used.into(),
                    ptr::null(),
                    0,
                    environment,
                    log,
                    Some(callbacks::draft_step_update),
                ),
                MadeFor::ModelExchange => {
                    (self.instantiate_model_exchange)(name, token, resources, hidden, logging_on, environment, log)
                }
            }
        }
    }
}
