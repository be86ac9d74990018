//! The batches of values that a task sets, with their sources, and that it gets, with their destinations.

use super::seen::LastSet;
use crate::lines::{Lines, OnLines};
use crate::ports::{Incoming, Outgoing};
use crate::run_state::RunState;
use crate::slopes::{CarriedDerivatives, Moved};
use crate::thread_host::PartitionHost;
use crate::values::{Input, Output, Publishing};
use vecud_fmi::Batch;
use vecud_plan::{BatchItem, BatchPlan, ConnectionId, FedElement, Interpolation, Plan, UnitId};
use vecud_record::findings::{FindingKind, Occurrence};

/// A batch of inputs and their sources.
pub(super) struct Inputs {
    pub(super) bundles: Incoming,
    pub(super) single: Vec<Input>,
    /// The derivatives of the inputs, where they travel with them.
    pub(super) slopes: Option<CarriedDerivatives>,
    /// The inputs and derivatives where a part of a step begins; `None`: there are no derivatives, or the FMU asks for its
    /// inputs.
    pub(super) moved: Option<Moved>,
    /// The lines of a file that inputs are on; `None`: there are none.
    pub(super) lines: Option<Lines>,
    /// For inputs that are set in Event Mode alone; `None`: the batch may be set in each mode.
    pub(super) discrete: Option<Discrete>,
    /// A source has jumped since [`Calls::take_jump`](super::Calls::take_jump).
    pub(super) has_jumped: bool,
    /// Elements of continuous arrays of which each change is a jump, each with its item, and their values at the last look;
    /// `None`: there are none.
    pub(super) jumping: Option<(LastSet, Vec<(usize, usize)>)>,
}

impl OnLines for Inputs {
    fn lines(&mut self) -> Option<&mut Lines> {
        self.lines.as_mut()
    }
}

/// Inputs that are set in Event Mode alone.
pub(super) struct Discrete {
    /// The values that were set last.
    pub(super) seen: LastSet,
    /// A value has changed since it was set.
    pub(super) has_changed: bool,
    /// The clocks of which one has to tick, by their places; empty: it is set when it has changed.
    pub(super) ticked: Vec<usize>,
}

/// A batch of outputs and their destinations.
pub(super) struct Outputs {
    pub(super) bundles: Outgoing,
    pub(super) single: Vec<Output>,
    /// The derivatives of the outputs, where they travel with them.
    pub(super) slopes: Option<CarriedDerivatives>,
    /// The output clocks of which one has to have ticked in the activation; empty: it is read after every one. The clock
    /// counts as active until the activation that has ticked it ends.
    pub(super) ticked: Vec<usize>,
    /// The batch is read in Event Mode too.
    pub(super) in_event_mode: bool,
    /// The values of the last read, where events can change them; `None`: no event hands any of them on.
    pub(super) seen: Option<LastSet>,
}

impl Outputs {
    /// Publishes the outputs that were read.
    #[inline]
    pub(super) fn publish(&self, run: &RunState, host: &PartitionHost, now: Publishing, values: &Batch) {
        self.bundles.publish(values);
        for output in &self.single {
            let has_jumped = |element| self.seen.as_ref().is_some_and(|seen| seen.is_changed(element));
            if let Some(size) = output.publish(run, Some(now), values, self.slopes.as_ref(), has_jumped) {
                let (unit, reference) = (Some(now.unit), Some(output.reference));
                let seen = Occurrence { unit, reference, time: Some(now.time), value: size as u64 };
                run.board.fmu(host.fmu()).findings().note(FindingKind::OversizedValue, seen);
            }
        }
    }
}

/// Elements of a batch that `unit` sets of which each change is a jump, each with its item, while others of its array are continuous.
pub(super) fn jumping(plan: &Plan, unit: UnitId, planned: &BatchPlan, values: &Batch) -> Vec<(usize, usize)> {
    let own = &plan.units[unit.0];
    if planned.in_event_mode || !own.handles_events() || own.integration().is_some() {
        return Vec::new();
    }
    let connected = |connection: &ConnectionId| {
        let connection = Some(&plan.connections[connection.0]).filter(|own| own.jumps_among_others);
        connection.into_iter().flat_map(|own| own.to_elements.iter().cloned().flatten())
    };
    let is_held = |fed: &&FedElement| plan.stimuli[fed.stimulus].interpolation == Interpolation::Hold;
    let of_item = |(item, variable): (usize, &BatchItem)| {
        let held = variable.stimuli.iter().filter(is_held).map(|fed| fed.element);
        let own = variable.connections.iter().flat_map(connected).chain(held);
        let first = values.elements(item).start;
        own.map(|element| (item, first + element)).collect::<Vec<_>>()
    };
    planned.items.iter().enumerate().flat_map(of_item).collect()
}
