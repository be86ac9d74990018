//! The recorded signals.

use super::SignalId;
use crate::rig::Rule;
use serde::{Deserialize, Serialize};
use vecud_description::VariableType;
use vecud_description::bytes;

/// A recorded clock, or an element of one, in the samples of a task that may tick it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedClock {
    /// The clock's column: 1 where it has ticked.
    pub signal: SignalId,
    /// Index into [`FmuPlan::output_clocks`](super::FmuPlan::output_clocks); `None`: the clock of the task itself, which has ticked whenever the task is activated.
    pub output: Option<usize>,
}

/// A recorded column: one scalar, or one element of an array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalPlan {
    /// Column header: `fmu.variable`, with `[i]` (1-based, row-major) for an element of an array.
    pub name: String,
    /// Type of its values.
    pub variable_type: VariableType,
    /// Unit of its values, in which the FMU computes; empty: it has none.
    pub unit: String,
    /// Bytes that its values may have, of a string or binary; a longer value is not recorded. `None` for other types.
    pub capacity: Option<usize>,
    /// Value before it is first computed, as words: of a number one, of a string or binary as `vecud_description::bytes` has it. `None`: it
    /// has none, the cell stays empty.
    pub start: Option<Vec<u64>>,
    /// The rule by which samples are kept.
    pub rule: Rule,
}

impl SignalPlan {
    /// Words that a value takes among the samples.
    pub fn words(&self) -> usize {
        self.capacity.map_or(1, bytes::words)
    }

    /// Bytes of a value, given as words as in [`SignalPlan::start`], if it is longer than its room.
    pub fn too_long(&self, value: &[u64]) -> Option<u64> {
        let size = value.first().copied().filter(|size| *size != bytes::NOTHING)?;
        self.capacity.filter(|capacity| size > *capacity as u64).map(|_| size)
    }
}
