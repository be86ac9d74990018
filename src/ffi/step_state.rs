//! The state of an instance at a communication point, to which a step can be taken back (FMI 3.0, 2.3.2). One per instance, in
//! memory of the FMU that is used again.

use super::function::Function;
use super::shared::Cause;
use super::state::{StatePointer, StateSupport};
use super::status::{Failure, Outcome};
use super::step::Stepper;
use std::ptr;

/// The state that a step can be taken back to.
pub(super) struct StepState {
    raw: StatePointer,
}

impl Stepper {
    /// `fmi3GetFMUState`: remembers the present state instead of that from before. The first time, for which the FMU takes
    /// memory, is before the run.
    pub fn remember(&mut self) -> Result<Outcome, Failure> {
        let (function, cause) = (Function::GetFMUState, Cause::default());
        self.shared().offers(StateSupport::GetAndSet, function)?;
        let mut raw = self.state.as_ref().map_or(ptr::null_mut(), |state| state.raw.0);
        // SAFETY: the instance is alive and this is what calls it alone; the pointer is NULL or a state of its own.
        let outcome = self.shared().call(function, cause, |f, i| unsafe { (f.get_fmu_state)(i, &mut raw) })?;
        if self.state.as_ref().is_none_or(|state| state.raw.0 != raw) {
            let before = self.state.replace(StepState { raw: StatePointer(raw) });
            self.shared().own_state(function, raw, before.map(|state| state.raw.0))?;
        }
        Ok(outcome)
    }

    /// `fmi3SetFMUState`: as it was when the state was remembered. `None`: none was.
    pub fn go_back(&mut self) -> Option<Result<Outcome, Failure>> {
        let raw = self.state.as_ref()?.raw.0;
        // SAFETY: as above, and the state is its own and not freed: that waits for the end of the instance.
        let call = |f: &super::Functions, i| unsafe { (f.set_fmu_state)(i, raw) };
        Some(self.shared().call(Function::SetFMUState, Cause::default(), call))
    }
}
