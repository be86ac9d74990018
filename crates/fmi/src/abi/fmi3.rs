//! FMI 3.0, 3.0.1 and 3.0.2: what it has beside the functions that the draft shares ([`super::functions`]).

use super::table::{FunctionGroup, table};
use super::{Birth, CInterface, Functions, VersionFunctions};
use crate::Function;
use crate::callbacks;
use crate::interface::MadeFor;
use crate::types::*;
use std::ptr;
use vecud_description::{Abi, Interface};

pub(super) const FMI3: CInterface = CInterface {
    abi: Abi::Fmi3,
    short: "FMI 3.0",
    statuses: ["fmi3OK", "fmi3Warning", "fmi3Discard", "fmi3Error", "fmi3Fatal"],
    lists: &[Functions::LIST, Fmi3Functions::LIST],
    other_names: &[],
    // FMI 3.0.2, 2.6: all functions of an interface type must be there.
    indispensable: None,
    signs: &["fmi3DeserializeFMUState", "fmi3GetShiftDecimal", "fmi3GetContinuousStateDerivatives"],
    // 3.0, its patch releases, and later minor versions, which only add what may be ignored (FMI 3.0.2, 2.6).
    has_version: |version| version.starts_with("3.") && !version.starts_with("3.0-alpha"),
    versions: "FMI 3",
    wants_all: true,
    prefixed: false,
    resolve: |symbol| {
        // SAFETY: what is asked of `CInterface::resolve`.
        unsafe { Functions::resolve(symbol, VersionFunctions::Fmi3(Fmi3Functions::resolve(symbol))) }
    },
};

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

impl Fmi3Functions {
    /// # Safety
    /// As [`Functions::instantiate`].
    pub(super) unsafe fn instantiate(&self, birth: &Birth) -> RawInstance {
        let Birth { name, token, resources, logging_on, environment, lock, unlock, .. } = *birth;
        let hidden = RawBool::from(false);
        let log: Option<LogMessage> = Some(callbacks::log_message);
        // SAFETY: this function's contract; the list of variables lives until the call returns.
        unsafe {
            match birth.made_for {
                MadeFor::ScheduledExecution => (self.instantiate_scheduled_execution)(
                    name,
                    token,
                    resources,
                    hidden,
                    logging_on,
                    environment,
                    log,
                    Some(callbacks::clock_update),
                    Some(lock),
                    Some(unlock),
                ),
                MadeFor::CoSimulation(own) => {
                    let variables = own.intermediate_variables();
                    let first = if variables.is_empty() { ptr::null() } else { variables.as_ptr() };
                    (self.instantiate_co_simulation)(
                        name,
                        token,
                        resources,
                        hidden,
                        logging_on,
                        own.event_mode_used.into(),
                        own.early_return_allowed.into(),
                        first,
                        variables.len(),
                        environment,
                        log,
                        own.intermediate_update.then_some(callbacks::intermediate_update),
                    )
                }
                MadeFor::ModelExchange => {
                    (self.instantiate_model_exchange)(name, token, resources, hidden, logging_on, environment, log)
                }
            }
        }
    }
}
