//! NaNs that are read from an FMU: counted, reported with the variable and the time of the first one, and the end of the run
//! where the rig asks for that. The values are recorded and published unchanged. Initialization Mode is left out: many FMUs have
//! no values before their first step.

use super::run_state::{Ending, RunState};
use vecud_base::time::Instant;
use vecud_fmi::Batch;
use vecud_plan::{FmuId, OnNan, UnitId};
use vecud_record::findings::{FindingKind, Occurrence};

impl RunState {
    /// `unit` has read values of `fmu` that are valid at `time`: each variable among them that is no number is noted.
    #[inline]
    pub fn look_for_nan(&self, fmu: FmuId, unit: Option<UnitId>, values: &Batch, time: impl FnOnce() -> Instant) {
        if values.has_nan() {
            self.note_nan(fmu, unit, values, time());
        }
    }

    #[cold]
    fn note_nan(&self, fmu: FmuId, unit: Option<UnitId>, values: &Batch, time: Instant) {
        let findings = self.board.fmu(fmu).findings();
        for (reference, element) in values.with_nan() {
            let value = element as u64 + 1;
            findings.note(
                FindingKind::NotANumber,
                Occurrence { unit, reference: Some(reference), time: Some(time), value },
            );
        }
        if self.plan.nan == OnNan::Stop {
            self.end(Ending::Discard);
        }
    }
}
