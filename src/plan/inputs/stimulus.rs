//! What a plan says of stimuli: which columns of which file feed what.

use crate::fmu::description::VariableType;
use crate::plan::TaskId;
pub use crate::rig::Interpolation;
use serde::{Deserialize, Serialize};

/// A file whose rows feed inputs and tick clocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StimulusPlan {
    /// The file, for people.
    pub file: String,
    /// What inputs get between two rows.
    pub interpolation: Interpolation,
    /// Cells of a row, that of the time included.
    pub cells: usize,
    /// Columns whose values inputs get.
    pub values: Vec<FedValue>,
    /// Columns that tick clocks.
    pub ticks: Vec<FedClock>,
    /// Columns that feed nothing.
    pub left_out: usize,
    /// Rows that are read ahead at most: two seconds of them, as the first rows have it, within limits.
    pub rows: usize,
}

/// A column whose values an element of an input gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FedValue {
    /// Which cell of a row; the time is cell 0.
    pub cell: usize,
    /// Name of the column.
    pub column: String,
    /// `fmu.variable`, with the element of an array.
    pub to: String,
    /// Its type.
    pub variable_type: VariableType,
    /// Names and values of an enumeration's items.
    pub items: Vec<(String, i64)>,
}

/// A column that ticks a clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FedClock {
    /// Which cell of a row.
    pub cell: usize,
    /// Name of the column.
    pub column: String,
    /// What it ticks.
    pub task: TaskId,
}

/// An element of an input that a stimulus feeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FedElement {
    /// Index into [`crate::plan::Plan::stimuli`].
    pub stimulus: usize,
    /// Index into [`StimulusPlan::values`].
    pub value: usize,
    /// Row-major number of the element within its variable.
    pub element: usize,
}
