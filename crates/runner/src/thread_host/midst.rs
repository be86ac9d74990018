//! The exchange of the host with an FMU in the midst of its steps, through the buffers of `intermediate`.

use super::intermediate::{Curves, IntermediateWork};
use super::partition_host::PartitionHost;
use crate::slopes::{CarriedDerivatives, taylor};
use vecud_base::time::Instant;
use vecud_fmi::{Batch, Failure, Intermediate};

impl PartitionHost {
    /// Takes over the curves of the batch's inputs from `time` on. Returns whether this FMU asks for them in the midst of its
    /// steps.
    pub fn follow_curves(&self, time: Instant, batch: &Batch, slopes: &CarriedDerivatives) -> bool {
        let mut midst = self.midst.borrow_mut();
        let Some(IntermediateWork { time_unit, curves: Some(curves), .. }) = &mut *midst else { return false };
        curves.since = Some(time_unit.value(time));
        for (own, (element, derivatives)) in curves.elements.iter_mut().zip(slopes.elements()) {
            *own = (f64::from_bits(batch.word(element)), derivatives);
        }
        true
    }

    /// [`vecud_fmi::ThreadHost::intermediate_update`].
    pub(super) fn in_midst(&self, update: &Intermediate) {
        if let Err(failure) = self.exchange_in_midst(update) {
            self.fail(&failure);
        }
    }

    /// All gets come first, then all sets.
    fn exchange_in_midst(&self, update: &Intermediate) -> Result<(), Failure> {
        let mut midst = self.midst.borrow_mut();
        let Some(IntermediateWork { time_unit, curves, rows }) = &mut *midst else { return Ok(()) };
        let Some(updates) = self.run.instances[self.fmu.0].updates.get() else { return Ok(()) };
        if let Some(rows) = rows.as_mut().filter(|_| update.get_allowed && update.step_finished)
            && let Some(time) = rows.instant(*time_unit, update.time)
        {
            for batch in &mut rows.batches {
                let _warning_is_counted = updates.get(batch)?;
                self.run.look_for_nan(self.fmu, Some(rows.unit), batch, || time);
            }
            rows.append(self.run, time);
        }
        if let Some(curves) = curves.as_mut().filter(|_| update.set_requested)
            && let Some(since) = curves.since
        {
            let Curves { batch, elements, .. } = curves;
            for (element, (value, derivatives)) in elements.iter().enumerate() {
                let (value, _) = taylor(*value, *derivatives, update.time - since);
                batch.set_word(element, value.to_bits());
            }
            let _warning_is_counted = updates.set(batch)?;
        }
        Ok(())
    }
}
