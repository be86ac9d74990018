//! Which values are set and read in one call, and where they come from and go.

use super::{ConnectionId, Length, SignalId};
use serde::{Deserialize, Serialize};
use vecud_description::{ValueReference, Values, VariableType};

/// Variables of one type that travel in one FMI call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchPlan {
    /// Their common type.
    pub variable_type: VariableType,
    /// The variables in call order.
    pub items: Vec<BatchItem>,
    /// The length of each dimension of the only item; `None`: its size does not change while the instance runs.
    pub resizable: Option<Vec<Length>>,
    /// The variables may be set in Event Mode alone, and the host enters it if one of them has changed; variables that are read are read
    /// in Event Mode too.
    pub in_event_mode: bool,
    /// The output clocks to which alone the variables belong, by their indices in
    /// [`FmuPlan::output_clocks`](super::FmuPlan::output_clocks): the host reads these variables only after an activation in which one of
    /// the clocks has ticked; in Event Mode it also sets them only then. Empty: after every activation.
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
    /// For an array that is set and that connections feed in parts: values of all its elements. They count for elements without a
    /// connection, and for elements whose source has no value yet.
    pub start: Option<Values>,
    /// Recorded as these columns (one per element).
    pub signals: Vec<SignalId>,
}

/// An element of an input that a stimulus feeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FedElement {
    /// Index into [`crate::Plan::stimuli`].
    pub stimulus: usize,
    /// Index into [`StimulusPlan::values`](super::StimulusPlan::values).
    pub value: usize,
    /// Row-major number of the element within its variable.
    pub element: usize,
}
