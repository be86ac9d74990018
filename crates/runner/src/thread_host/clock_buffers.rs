//! The buffers for the output clocks and countdown clocks of one instance, on one thread.

use crate::delays::Delays;
use crate::run_state::RunState;
use vecud_fmi::OutputClocks;
use vecud_plan::{FmuId, UnitId};

/// Buffers for one clock update.
pub(super) struct Clocks {
    pub(super) outputs: OutputClocks,
    /// In the draft.
    pub(super) delays: Option<Delays>,
    pub(super) decimal: Countdowns,
    pub(super) fraction: Countdowns,
    pub(super) intervals: Vec<f64>,
    pub(super) counters: Vec<u64>,
    pub(super) resolutions: Vec<u64>,
}

#[derive(Default)]
pub(super) struct Countdowns {
    pub(super) units: Vec<UnitId>,
    pub(super) references: Vec<u32>,
    pub(super) qualifiers: Vec<i32>,
}

impl Clocks {
    /// Buffers for the output clocks and countdown clocks of `fmu`.
    pub(super) fn new(run: &RunState, fmu: FmuId) -> Clocks {
        let plan = &run.plan.fmus[fmu.0];
        let countdowns = |fraction: bool| {
            let partitions = plan.countdowns().iter().filter_map(|&id| Some((id, run.plan.units[id.0].partition()?)));
            let wanted = partitions.filter(|(_, partition)| partition.supports_fraction == fraction);
            let (units, references): (Vec<UnitId>, Vec<u32>) =
                wanted.map(|(id, partition)| (id, partition.clock.0)).unzip();
            Countdowns { qualifiers: vec![0; units.len()], units, references }
        };
        let (decimal, fraction) = (countdowns(false), countdowns(true));
        let elements = plan.output_clocks.chunk_by(|a, b| a.reference == b.reference);
        let outputs: Vec<_> = elements.map(|clock| (clock[0].reference, clock.len())).collect();
        Clocks {
            outputs: OutputClocks::new(&outputs),
            delays: Delays::of(plan),
            intervals: vec![0.0; decimal.units.len()],
            counters: vec![0; fraction.units.len()],
            resolutions: vec![0; fraction.units.len()],
            decimal,
            fraction,
        }
    }

    /// Whether there is any.
    pub(super) fn are_there(&self) -> bool {
        !self.outputs.is_empty() || !self.decimal.units.is_empty() || !self.fraction.units.is_empty()
    }
}
