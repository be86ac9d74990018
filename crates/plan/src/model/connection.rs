//! Connections: the values that they carry, and when these are visible.

use super::UnitId;
use super::conversion::Conversion;
use crate::rig::{Extrapolation, Timing};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use vecud_description::VariableType;

/// A variable, or some of its elements, feeding as many elements of an input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConnectionPlan {
    /// `fmu.variable` of the producer, with the elements if not all are meant.
    pub from: String,
    /// `fmu.variable` of the consumer.
    pub to: String,
    /// The instant at which a value becomes visible.
    pub timing: Timing,
    /// Whether both FMUs step together, or are one FMU that does: the consumer gets a value as soon as it is read, in the order
    /// of the group.
    pub is_inside: bool,
    /// Producers and versions of a delayed connection; `None`: an immediate one.
    pub delay: Option<DelayPlan>,
    /// Type of the producer's variable.
    pub from_type: VariableType,
    /// Type of the consumer's variable; values travel as such.
    pub variable_type: VariableType,
    /// The conversion of each element on its way.
    pub conversion: Conversion,
    /// The units between which it converts, as written; `None`: it does not.
    pub units: Option<(String, String)>,
    /// Number of elements; 1 for a scalar.
    pub elements: usize,
    /// The producer's elements, by row-major number from 0.
    pub from_elements: Vec<Range<usize>>,
    /// The consumer's elements, in the same order.
    pub to_elements: Vec<Range<usize>>,
    /// Bytes that an element may have, for strings and binaries; else 0. Longer values are not passed on.
    pub capacity: usize,
    /// The course of the input between two values. All but held values travel with their [derivatives](Extrapolation::orders).
    pub extrapolation: Extrapolation,
    /// Each value comes with the time at which its source has jumped last, in an event of its own.
    pub tells_jumps: bool,
    /// Whether a change is a jump of an array with other, continuous elements.
    pub jumps_among_others: bool,
}

/// The tasks at the ends of a delayed connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelayPlan {
    /// The tasks that publish.
    pub producers: Vec<ProducerPlan>,
    /// The tasks that read.
    pub consumers: Vec<UnitId>,
    /// Whether all consumers are periodic and stay on their grids: only versions are kept that an instant of these
    /// grids selects.
    pub by_release: bool,
    /// Values of Event Mode go with a tick, and are visible at its very time; else a nanosecond later (semantics S20).
    pub with_tick: bool,
}

/// A producer of a delayed connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProducerPlan {
    /// The unit that publishes.
    pub unit: UnitId,
    /// Number of versions that are kept.
    pub versions: usize,
}
