//! Why the rest of an activation, of an initialisation or of a reconfiguration is left out: the instance has failed (semantics
//! S13).

use vecud_fmi::{Failure, Outcome};
use vecud_plan::OnWarning;

/// The error that made an instance fail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ActivationError {
    /// A call failed, or was refused since one had failed before.
    Call(Failure),
    /// A call returned a warning, and the rig calls that an error. The host has noted it.
    Warning,
    /// Another instance that computes together with this one has failed, which is noted.
    Other,
    /// A call has returned a value that the host cannot use. The host has noted it.
    Reading,
}

impl From<Failure> for ActivationError {
    fn from(failure: Failure) -> ActivationError {
        ActivationError::Call(failure)
    }
}

impl ActivationError {
    /// Whether to go on after a call that went well, by the rig's word on warnings.
    #[inline]
    pub fn unless_allowed(outcome: Outcome, on_warning: OnWarning) -> Result<(), ActivationError> {
        if outcome == Outcome::Warning && on_warning == OnWarning::Error {
            Err(ActivationError::Warning)
        } else {
            Ok(())
        }
    }
}
