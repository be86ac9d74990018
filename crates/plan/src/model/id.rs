//! The numbers of a plan's FMUs, tasks, units, connections and columns.

use serde::{Deserialize, Serialize};

/// Index into [`Plan::fmus`](super::Plan::fmus).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FmuId(pub usize);

/// Index into [`Plan::tasks`](super::Plan::tasks), which the schedule releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TaskId(pub usize);

/// Index into [`Plan::units`](super::Plan::units), which compute. Figures, samples, commands and the rows of the report have
/// these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UnitId(pub usize);

/// Index into [`Plan::connections`](super::Plan::connections).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ConnectionId(pub usize);

/// Index into [`Plan::signals`](super::Plan::signals).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SignalId(pub usize);
