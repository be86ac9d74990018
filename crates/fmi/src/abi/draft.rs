//! The text between FMI 3.0-alpha.5 and 3.0-alpha.6: clocks are integers and may be arrays, one callback serves all clock
//! updates, and two functions had other names. vecud supports its Scheduled Execution, Co-Simulation without Event Mode, and
//! Model Exchange.

use super::birth::Birth;
use super::c_interface::CInterface;
use super::functions::{Functions, VersionFunctions};
use super::tables::DraftFunctions;
use crate::interface::MadeFor;
use crate::types::*;
use crate::{Function, callbacks};
use std::ptr;
use vecud_description::Abi;

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

/// The functions that every FMU of the draft must have, whatever its variables are.
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
