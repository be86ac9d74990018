//! The modes and events of Model Exchange, as each C interface has them. (Event Mode is that of Co-Simulation in FMI 3.0, too.)
//!
//! FMI 2.0 and 3.0 differ in types. The draft is told why there is an event. FMI 1.0 has no modes: an event is one call
//! (`fmiEventUpdate`), and the first one, at the start, is answered by `fmiInitialize`.

use super::functions::{Functions, VersionFunctions};
use super::update::RawUpdate;
use super::{fmi1, fmi2};
use crate::reasons::Reasons;
use crate::types::*;
use std::ptr;

impl Functions {
    /// Whether Event Mode and Continuous-Time Mode are entered by calls.
    pub(crate) fn has_modes(&self) -> bool {
        !matches!(self.own, VersionFunctions::Fmi1(_))
    }

    /// Whether an instance says how many states and event indicators it has.
    pub(crate) fn tells_numbers(&self) -> bool {
        matches!(self.own, VersionFunctions::Fmi3(_) | VersionFunctions::Draft(_))
    }

    /// Whether an instance says which variables its states are.
    pub(crate) fn has_state_references(&self) -> bool {
        matches!(self.own, VersionFunctions::Fmi1(_))
    }

    /// `fmi3EnterEventMode`; of Co-Simulation, which has it from FMI 3.0 on, too.
    ///
    /// # Safety
    /// The instance is alive and in the mode that Event Mode alternates with.
    pub(crate) unsafe fn enter_event_mode(&self, i: RawInstance, reasons: &Reasons) -> RawStatus {
        // SAFETY: this function's contract; as many roots as said, alive until the call returns, and null for none.
        unsafe {
            match &self.own {
                VersionFunctions::Fmi3(own) => (own.enter_event_mode)(i),
                VersionFunctions::Draft(own) => {
                    let Reasons { step_event, roots_found, time_event } = *reasons;
                    let roots = if roots_found.is_empty() { ptr::null() } else { roots_found.as_ptr() };
                    let n = roots_found.len();
                    (own.enter_event_mode)(i, step_event.into(), roots, n, time_event.into())
                }
                VersionFunctions::Fmi2(_) => fmi2::Component::behind(i).enter_event_mode(),
                VersionFunctions::Fmi1(_) => NOT_CALLED,
            }
        }
    }

    /// `fmi3UpdateDiscreteStates`.
    ///
    /// # Safety
    /// The instance is alive and in Event Mode.
    pub(crate) unsafe fn update(&self, i: RawInstance, update: &mut RawUpdate) -> RawStatus {
        let RawUpdate {
            needs_update,
            terminate_simulation,
            nominals_changed,
            values_changed,
            next_event_time_defined,
            next_event_time,
        } = update;
        // SAFETY: this function's contract; each place can be written to.
        unsafe {
            (self.update_discrete_states)(
                i,
                needs_update,
                terminate_simulation,
                nominals_changed,
                values_changed,
                next_event_time_defined,
                next_event_time,
            )
        }
    }

    /// The answer of `fmiInitialize` of FMI 1.0 about the first event, once; `None`: a call is needed for that.
    ///
    /// # Safety
    /// The instance is alive, and nobody else calls it.
    pub(crate) unsafe fn take_initial_update(&self, i: RawInstance) -> Option<RawUpdate> {
        if !matches!(self.own, VersionFunctions::Fmi1(_)) {
            return None;
        }
        // SAFETY: this function's contract.
        unsafe { fmi1::Component::behind(i) }.kept.take().map(RawUpdate::from)
    }

    /// `fmiGetStateValueReferences`: room for one reference for each state.
    ///
    /// # Safety
    /// The instance is alive and initialised.
    pub(crate) unsafe fn get_state_references(&self, i: RawInstance, references: &mut [RawReference]) -> RawStatus {
        match &self.own {
            // SAFETY: this function's contract.
            VersionFunctions::Fmi1(_) => unsafe { fmi1::Component::behind(i).get_state_references(references) },
            VersionFunctions::Fmi2(_) | VersionFunctions::Fmi3(_) | VersionFunctions::Draft(_) => NOT_CALLED,
        }
    }
}
