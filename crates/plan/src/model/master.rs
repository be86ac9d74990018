//! FMUs that make their steps together (semantics S24).

use super::{ConnectionId, UnitId};
use serde::{Deserialize, Serialize};
use vecud_solver::master::{Classes, ExchangeStep, MasterAlgorithm};

/// The algorithm by which the FMUs of a [group](super::GroupPlan) step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MasterPlan {
    /// NAME of `[master.NAME]`.
    pub name: String,
    /// The algorithm that decides which member steps when, and how far.
    pub algorithm: MasterAlgorithm,
    /// The slaves, by name: an FMU for Co-Simulation, or all that are integrated together.
    pub slaves: Vec<SlavePlan>,
    /// The capabilities of each, in the same order.
    pub classes: Classes,
    /// The connections inside of the group.
    pub wires: Vec<WirePlan>,
    /// The order of wires whose inputs change between events, by their places among the wires, and the algebraic loops among
    /// them: these are to be solved.
    pub exchanges: Vec<ExchangeStep>,
    /// The exchanges between integrated FMUs, whose values follow at each time; with the same loops in the same order as
    /// `exchanges`.
    pub inner: Vec<ExchangeStep>,
    /// Steps within one release, at most.
    pub max_events: u32,
}

/// A slave of a group's algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlavePlan {
    /// Name of the slave: that of its FMU, or of the first FMU that is integrated.
    pub name: String,
    /// The slave's members: one Co-Simulation FMU, or all FMUs that are integrated together.
    pub members: Vec<UnitId>,
}

/// A connection inside of a group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WirePlan {
    /// Which one.
    pub connection: ConnectionId,
    /// The steps of the FMU that it comes from.
    pub from: UnitId,
    /// The steps of the FMU that it leads to.
    pub to: UnitId,
    /// Whether the input changes in Event Mode alone.
    pub in_event_mode: bool,
    /// Whether the input may change at any time, and in Event Mode where it jumps.
    pub takes_jumps: bool,
    /// `nominal` of its input.
    pub nominal: f64,
    /// The FMU that it comes from computes products with its derivatives (`providesDirectionalDerivatives`).
    pub has_derivatives: bool,
}

impl MasterPlan {
    /// The slave that a unit belongs to, by its place.
    pub fn slave_of(&self, unit: UnitId) -> Option<usize> {
        self.slaves.iter().position(|slave| slave.members.contains(&unit))
    }

    /// The two slaves at the ends of each wire.
    pub fn ends(&self) -> Vec<(usize, usize)> {
        let slave = |unit| self.slave_of(unit).expect("a wire is between FMUs of the group");
        self.wires.iter().map(|wire| (slave(wire.from), slave(wire.to))).collect()
    }
}
