//! Files that feed inputs.

use super::{TickTarget, UnitPlan};
use crate::rig::Interpolation;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use vecud_base::time::StepGrid;
use vecud_description::VariableType;
use vecud_description::bytes;

/// A file whose rows feed inputs and tick clocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StimulusPlan {
    /// The file, for people.
    pub file: String,
    /// The values of inputs between two rows.
    pub interpolation: Interpolation,
    /// Cells of a row, that of the time included.
    pub cells: usize,
    /// Columns that feed inputs, in ascending order of [`FedValue::first`].
    pub values: Vec<FedValue>,
    /// Columns that tick clocks: those of tasks first, then those that tick between steps.
    pub ticks: Vec<FedClock>,
    /// The grids of the steps that the stimulus feeds: a row whose time is such an instant but for rounding counts as at that
    /// instant.
    pub grids: Vec<StepGrid>,
    /// Columns that feed nothing.
    pub left_out: usize,
    /// Rows that are read ahead at most: as many as two seconds hold at the distance of the first rows, within limits.
    pub rows: usize,
}

/// A column that feeds an element of an input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FedValue {
    /// The place of the column's cell in a row; the time is cell 0.
    pub cell: usize,
    /// Name of the column.
    pub column: String,
    /// `fmu.variable`, with the element of an array.
    pub to: String,
    /// The type of the input.
    pub variable_type: VariableType,
    /// Names and values of an enumeration's items.
    pub items: Vec<(String, i64)>,
    /// Bytes that a string or binary may have; `None` for numbers.
    pub capacity: Option<usize>,
    /// The place of its first word among those of a row.
    pub first: usize,
}

impl FedValue {
    /// The column's words in a row: one for a number; for a string or binary its bytes in the form in which they are exchanged.
    pub fn words(&self) -> Range<usize> {
        self.first..self.first + self.capacity.map_or(1, bytes::words)
    }
}

impl StimulusPlan {
    /// Words that the values of a row take.
    pub fn words(&self) -> usize {
        self.values.last().map_or(0, |last| last.words().end)
    }
}

/// A column that ticks a clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FedClock {
    /// The place of the column's cell in a row; the time is cell 0.
    pub cell: usize,
    /// Name of the column.
    pub column: String,
    /// The target of its ticks.
    pub target: TickTarget,
}

impl FedClock {
    /// The time ahead of every activation up to which ticks must be known, s: one step, and one more for rounding, since a clock between
    /// steps ticks within the step that begins. `None`: the clock is a task, and needs no ticks ahead.
    pub fn ahead(&self, units: &[UnitPlan]) -> Option<f64> {
        let _between_steps = self.target.clock?;
        let step = units[self.target.unit.0].release.shortest_known()?;
        Some(2.0 * step.seconds())
    }
}
