//! Variables of the draft's output clocks: the callback that finds such a clock active reads its variables, and the values are
//! kept here for connections and the recording.

use crate::ports::{self, Outgoing};
use crate::run_state::RunState;
use crate::text::Text;
use crate::values::{self, Output};
use vecud_base::time::Instant;
use vecud_fmi::Batch;
use vecud_plan::{FmuId, SignalId, UnitId};
use vecud_record::samples::NewRecord;

/// Buffers of one thread for one instance, and the values that its callbacks have read since its activation began.
pub struct OnTicks {
    /// One for each batch of variables that share their clocks and their type.
    pub(super) all: Vec<TickBuffers>,
}

/// Buffers for one batch of variables.
pub(super) struct TickBuffers {
    /// The output clocks of the variables, by their indices in the plan.
    pub(super) clocks: Vec<usize>,
    pub(super) values: Batch,
    /// Connections whose values travel in bundles.
    pub(super) bundles: Outgoing,
    /// The other connections.
    pub(super) single: Vec<Output>,
    /// The recorded elements of `values`: the element, the number of its variable, and its column.
    recorded: Vec<(usize, usize, SignalId)>,
    /// Whether the values were read in the present activation.
    pub(super) fresh: bool,
}

impl OnTicks {
    /// Buffers for the callbacks of `fmu`.
    pub(super) fn new(run: &RunState, fmu: FmuId) -> OnTicks {
        let buffers = |on_tick: &vecud_plan::OnTick| {
            let (values, outputs) = values::get(&run.plan, &on_tick.batch);
            let (bundles, single) = ports::outgoing(run, &on_tick.batch, &values, outputs);
            let items = on_tick.batch.items.iter().enumerate();
            let recorded = items.flat_map(|(item, variable)| {
                values.elements(item).zip(&variable.signals).map(move |(element, signal)| (element, item, *signal))
            });
            let (clocks, recorded) = (on_tick.clocks.clone(), recorded.collect());
            TickBuffers { clocks, values, bundles, single, recorded, fresh: false }
        };
        OnTicks { all: run.plan.fmus[fmu.0].on_ticks().iter().map(buffers).collect() }
    }

    /// Marks all values as old: another activation begins.
    pub(super) fn forget(&mut self) {
        self.all.iter_mut().for_each(|on_tick| on_tick.fresh = false);
    }

    /// Puts the recorded values into a sample of `unit`.
    pub fn put(&self, run: &RunState, unit: UnitId, time: Instant, record: &mut NewRecord) {
        let fmu = &run.plan.fmus[run.plan.units[unit.0].fmu.0];
        for (planned, on_tick) in fmu.on_ticks().iter().zip(&self.all) {
            for &(element, item, signal) in &on_tick.recorded {
                match run.plan.column(signal).capacity {
                    None => record.put_in(1, [on_tick.values.word(element)]),
                    // The recording has a value of an earlier activation already.
                    Some(capacity) if !on_tick.fresh => record.put_bytes(capacity, None),
                    Some(_) => {
                        let text = Text { unit, time, variable: &planned.batch.items[item], signal };
                        text.put(run, &on_tick.values, Some(element), record);
                    }
                }
            }
        }
    }

    /// A bit for each recorded value that was not read, among the 64 values with the numbers of this `word`. `first`: the number of the
    /// first value here.
    pub fn absent(&self, first: usize, word: usize) -> u64 {
        let mut bits = 0;
        let mut column = first;
        for on_tick in &self.all {
            let own = column..column + on_tick.recorded.len();
            column = own.end;
            if !on_tick.fresh {
                let here = own.start.max(word * 64)..own.end.min(word * 64 + 64);
                here.for_each(|column| bits |= 1 << (column % 64));
            }
        }
        bits
    }
}
