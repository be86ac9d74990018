//! The content of a snapshot.

use super::Identity;
use crate::schedule::Timeline;
use crate::{ConnectionId, FmuPlan, Plan};
use serde::{Deserialize, Serialize};
use vecud_base::time::Instant;

/// The instants at which a version is visible and at which it was computed, and its words.
pub type Kept = ((Instant, Instant), Vec<u64>);

/// A run that was left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The rig that it belongs to.
    pub identity: Identity,
    /// Simulation time: every activation before it is complete.
    pub time: Instant,
    /// The serialised state of each instance, in rig order.
    pub states: Vec<Vec<u8>>,
    /// Each task's releases, in merged order.
    pub timelines: Vec<Timeline>,
    /// The newest value of each connection; `None`: it has had none yet.
    pub connections: Vec<Option<Vec<u64>>>,
    /// Per connection: the versions of a delayed one, by producer, oldest first.
    pub versions: Vec<Vec<Vec<Kept>>>,
    /// Per instance: the values of its tunable sizes, [`crate::FmuPlan::sizes`]; empty when they are those of the plan.
    pub sizes: Vec<Vec<u64>>,
    /// Per instance: its pending events and ticks between steps, if it makes some.
    pub between: Vec<BetweenSteps>,
    /// The last values of the recorded columns, by name, as in [`crate::SignalPlan::start`].
    pub columns: Vec<(String, Vec<u64>)>,
}

/// Pending events and ticks between the steps of an instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BetweenSteps {
    /// Time of the event that the FMU has announced.
    pub next_event: Option<Instant>,
    /// Number of times in a row that it was announced for the time of the event under way, but for rounding.
    pub crept: u32,
    /// The FMU wants Event Mode at the communication point that it has reached.
    pub wants_event: bool,
    /// The communication point that the FMU has reached, if it is ahead of those that step together with it.
    pub ahead: Option<Instant>,
    /// The timelines of its input clocks, in the order of the description.
    pub clocks: Vec<Timeline>,
    /// Ticks from outside that wait for a communication point: the index of the clock, and the time at which the tick was raised.
    pub ticks: Vec<(usize, Instant)>,
    /// The last set values of each variable whose change is an event, by its value reference: the word of each element in
    /// the form of `runner::calls`; `None`: it was not set yet.
    pub seen: Vec<(u32, Vec<Option<u64>>)>,
    /// The source of one of its continuous inputs has jumped, and that was not handled yet.
    pub has_jump: bool,
    /// The last jumps of connections, ns: for connections to the FMU as it has seen them, for those from it as it has
    /// handed them on.
    pub jumps: Vec<(ConnectionId, i64)>,
}

impl BetweenSteps {
    /// Whether it can be that of an instance of this plan.
    fn fits(&self, fmu: &FmuPlan, snapshot: &Snapshot, plan: &Plan) -> Result<(), String> {
        let inputs: Vec<_> =
            fmu.output_clocks.iter().filter_map(|clock| Some((&clock.name, clock.input.as_ref()?))).collect();
        if self.clocks.len() != inputs.len() || self.ticks.iter().any(|(clock, _)| *clock >= fmu.output_clocks.len()) {
            return Err(format!("it has not the clocks of fmu `{}`", fmu.name));
        }
        for (timeline, (name, input)) in self.clocks.iter().zip(inputs) {
            let resumed = timeline.clone().resume(&input.release, plan.stop);
            let left = resumed.and_then(|_| timeline.could_be_left(snapshot.time, plan.units.len()));
            left.map_err(|why| format!("clock {}.{name} {why}", fmu.name))?;
        }
        Ok(())
    }
}

impl Snapshot {
    /// Whether the snapshot has as many parts as a plan of the same [`Identity`] requires. Only a forged file has not.
    pub fn fits(&self, plan: &Plan) -> Result<(), String> {
        let counts = [
            ("FMUs", self.states.len(), plan.fmus.len()),
            ("clocks", self.timelines.len(), plan.tasks.len()),
            ("lists of sizes", self.sizes.len(), plan.fmus.len()),
            ("events to come", self.between.len(), plan.fmus.len()),
            ("connections", self.connections.len(), plan.connections.len()),
            ("lists of versions", self.versions.len(), plan.connections.len()),
        ];
        if let Some((what, is, should)) = counts.iter().find(|(_, is, should)| is != should) {
            return Err(format!("it has {is} {what} instead of {should}"));
        }
        for (left, fmu) in self.sizes.iter().zip(&plan.fmus).filter(|(left, _)| !left.is_empty()) {
            let fits =
                left.len() == fmu.sizes.len() && left.iter().zip(&fmu.sizes).all(|(left, size)| *left <= size.start);
            if !fits {
                return Err(format!(
                    "arrays of fmu `{}` had got another size while that run went on, so only a run whose values can be set \
                     (in the library: Options::control) can go on from there",
                    fmu.name
                ));
            }
        }
        for (between, fmu) in self.between.iter().zip(&plan.fmus) {
            between.fits(fmu, self, plan)?;
        }
        for (timeline, task) in self.timelines.iter().zip(&plan.tasks) {
            let first = &plan.units[task.first().0];
            let resumed = timeline.clone().resume(&first.release, plan.stop);
            let left = resumed.and_then(|_| timeline.could_be_left(self.time, plan.units.len()));
            left.map_err(|why| format!("{} {why}", plan.told_name(first)))?;
        }
        Ok(())
    }
}
