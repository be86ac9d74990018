//! Which values are set and read, and where they go.

use super::{ConnectionId, Extrapolation, FedElement, Length, SignalId, TaskId, Timing};
use crate::connections::conversion::Conversion;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use vecud_description::{ValueReference, Values, VariableType};

/// Variables of one type that travel in one FMI call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// Their common type.
    pub variable_type: VariableType,
    /// In call order.
    pub items: Vec<BatchItem>,
    /// Given when the only item's size may change while the instance runs: the length of each of its dimensions.
    pub resizable: Option<Vec<Length>>,
    /// The variables, which are set, may be so in Event Mode alone: the host enters it where one of them has changed. Such that
    /// are read are so in Event Mode too.
    pub in_event_mode: bool,
    /// The output clocks to which alone the variables belong, by their places in [`FmuPlan::output_clocks`](super::FmuPlan::output_clocks): these
    /// variables are read after an activation in which one of them has ticked, and after no other; in Event Mode they are also
    /// set only then. Empty: after every activation.
    pub ticked: Vec<usize>,
}

/// One variable of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchItem {
    /// The variable's value reference.
    pub reference: ValueReference,
    /// The variable's name.
    pub name: String,
    /// Number of elements; 1 for a scalar.
    pub elements: usize,
    /// Bytes that an element may have, for strings and binaries; else 0.
    pub capacity: usize,
    /// For a variable that is set: where its elements come from. For one that is read: where they go.
    pub connections: Vec<ConnectionId>,
    /// For a variable that is set: the elements that stimuli feed.
    pub stimuli: Vec<FedElement>,
    /// For an array that is set of which connections feed parts: what the other elements keep, and what those start with
    /// whose source has no value yet. All its elements.
    pub start: Option<Values>,
    /// Recorded as these columns (one per element).
    pub signals: Vec<SignalId>,
}

/// A variable, or some of its elements, feeding as many elements of an input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConnectionPlan {
    /// `fmu.variable` of the producer, with the elements if not all are meant.
    pub from: String,
    /// `fmu.variable` of the consumer.
    pub to: String,
    /// When it becomes visible.
    pub timing: Timing,
    /// Both FMUs make their steps together, or are one that does: the value is there as soon as it is read, in the one order that
    /// there is.
    pub is_inside: bool,
    /// What a delayed connection needs; `None` for an immediate one.
    pub delay: Option<DelayPlan>,
    /// Type of the producer's variable.
    pub from_type: VariableType,
    /// Type of the consumer's variable; values travel as such.
    pub variable_type: VariableType,
    /// What happens to each element on its way.
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
    /// What the input gets between two values. What is not held travels with its [derivatives](Extrapolation::orders).
    pub extrapolation: Extrapolation,
    /// Each value comes with the time at which its source has jumped last, in an event of its own.
    pub tells_jumps: bool,
    /// Each change is a jump of an array, of which other elements are continuous.
    pub jumps_among_others: bool,
}

/// The tasks at the ends of a delayed connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelayPlan {
    /// The tasks that publish.
    pub producers: Vec<ProducerPlan>,
    /// The tasks that read.
    pub consumers: Vec<TaskId>,
    /// All consumers are periodic and stay on their grids, so that only versions are kept which an instant of these
    /// selects.
    pub by_release: bool,
    /// What is read in Event Mode goes with a tick, and is visible at its very time; else a nanosecond later (semantics S20).
    pub with_tick: bool,
}

/// A producer of a delayed connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProducerPlan {
    /// The task that publishes.
    pub task: TaskId,
    /// How many of its versions are kept.
    pub versions: usize,
}
