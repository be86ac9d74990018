//! FMI 3.0, 3.0.1 and 3.0.2: what it has beside the functions that the draft shares ([`super::functions`]).

use super::birth::Birth;
use super::c_interface::CInterface;
use super::functions::{Functions, VersionFunctions};
use super::tables::Fmi3Functions;
use crate::callbacks;
use crate::interface::MadeFor;
use crate::types::*;
use std::ptr;
use vecud_description::Abi;

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
