//! The state of an instance at one point in time, to which what computes of it can be taken back (FMI 3.0, 2.3.2). One per instance,
//! in memory of the FMU that is used again.

use super::abi::Functions;
use super::function::Function;
use super::part::ComputeHandle;
use super::shared::CallContext;
use super::state_pointer::{StatePointer, StateSupport};
use super::status::{Failure, Outcome};
use std::ptr;

/// The state that an instance can be taken back to, if one was remembered.
#[derive(Default)]
pub(super) struct StepState {
    raw: Option<StatePointer>,
    /// The state is one of Event Mode in Model Exchange.
    in_event_mode: bool,
}

impl StepState {
    /// Remembers the present state instead of the former one, by `fmi3GetFMUState`. Precondition: `part` computes for the instance,
    /// and is always the same part.
    pub(super) fn remember(&mut self, part: &mut ComputeHandle) -> Result<Outcome, Failure> {
        let (function, shared) = (Function::GetFMUState, &part.shared);
        shared.offers(StateSupport::GetAndSet, function)?;
        let before = self.raw.as_ref().map(|state| state.0);
        let mut raw = before.unwrap_or(ptr::null_mut());
        // SAFETY: the instance is alive and `part` is what calls it alone; the pointer is NULL or a state of its own.
        let call = |f: &Functions, i| unsafe { (f.get_fmu_state)(i, &mut raw) };
        let outcome = shared.call(function, CallContext::default(), call)?;
        self.in_event_mode = shared.is_in_event_mode();
        if before != Some(raw) {
            self.raw = Some(StatePointer(raw));
            shared.own_state(function, raw, before)?;
        }
        Ok(outcome)
    }

    /// `fmi3SetFMUState` of the same instance: as it was when the state was remembered. `None`: none was.
    pub(super) fn go_back(&self, part: &mut ComputeHandle) -> Option<Result<Outcome, Failure>> {
        let raw = self.raw.as_ref()?.0;
        // SAFETY: as above, and the state is its own and not freed: that waits for the end of the instance.
        let call = |f: &Functions, i| unsafe { (f.set_fmu_state)(i, raw) };
        let went_back = part.shared.call(Function::SetFMUState, CallContext::default(), call);
        Some(went_back.inspect(|_| part.shared.set_in_event_mode(self.in_event_mode)))
    }
}
