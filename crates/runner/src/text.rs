//! Strings and binaries among the recorded values of a task.

use super::run_state::RunState;
use vecud_base::time::Instant;
use vecud_fmi::Batch;
use vecud_plan::{BatchItem, SignalId, UnitId};
use vecud_record::findings::{FindingKind, Occurrence};
use vecud_record::samples::NewRecord;

/// A string or binary that an activation has set or read.
pub struct Text<'a> {
    /// The unit of the activation.
    pub unit: UnitId,
    /// The time of the sample.
    pub time: Instant,
    /// Its variable.
    pub variable: &'a BatchItem,
    /// The column of the element.
    pub signal: SignalId,
}

impl Text<'_> {
    /// Puts the element of `values` into a sample; `None`: the array has no such element. A value that is longer than its room is
    /// left out, and noted.
    pub fn put(&self, run: &RunState, values: &Batch, element: Option<usize>, record: &mut NewRecord) {
        let capacity = run.plan.column(self.signal).capacity.unwrap_or(0);
        let value = element.map_or(Ok(None), |element| values.bytes(element).map(Some));
        record.put_bytes(capacity, value.ok().flatten());
        let size = value.map_or_else(|size| size, |value| value.map_or(0, <[u8]>::len));
        if size > capacity && run.plan.publishes(self.variable, size) {
            let (unit, reference) = (Some(self.unit), Some(self.variable.reference));
            let seen = Occurrence { unit, reference, time: Some(self.time), value: size as u64 };
            let fmu = run.plan.units[self.unit.0].fmu;
            run.board.fmu(fmu).findings().note(FindingKind::OversizedValue, seen);
        }
    }
}
