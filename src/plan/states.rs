//! Which FMUs can be saved and restored.

use super::findings::{Findings, Unit};
use super::{FmuInput, PlanError};
use crate::rig::Rig;

/// Finds the FMUs whose state cannot be serialised, for a run that wants `option` (FS-04).
pub fn check_states(rig: &Rig, fmus: &[FmuInput], option: &str) -> Result<(), PlanError> {
    let mut findings = Findings::new(rig);
    for (rig, input) in rig.fmus.iter().zip(fmus) {
        let offers = input.description.scheduled_execution().is_some_and(|i| i.can_serialize_fmu_state);
        if !offers {
            let name = Unit::new(rig, input).name();
            let message = format!(
                "fmu `{name}` cannot save its state: its modelDescription.xml does not say canSerializeFMUState=\"true\"; \
                 leave {option} out, or export the FMU with this capability"
            );
            findings.rig(rig.path.place, message);
        }
    }
    match findings.problems.is_empty() {
        true => Ok(()),
        false => Err(PlanError { problems: findings.problems }),
    }
}
