//! What is recorded.

use super::{Mode, Plan, Rule, SignalId, TaskPlan, TraceMode};
use crate::rig::{Rig, RigTrace};
use serde::{Deserialize, Serialize};
use vecud_base::time::Nanos;
use vecud_description::VariableType;
use vecud_description::bytes;

/// A recorded clock, or an element of one, in the samples of a task that may tick it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedClock {
    /// Its column: 1 where it has ticked.
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

impl Plan {
    /// The column of this number, recorded or watched.
    pub fn column(&self, signal: SignalId) -> &SignalPlan {
        self.signals.get(signal.0).unwrap_or_else(|| &self.watched[signal.0 - self.signals.len()])
    }

    /// All columns in the order of their numbers: those that are recorded, then those that are watched.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = &SignalPlan> + use<'_> {
        (0..self.signals.len() + self.watched.len()).map(|place| self.column(SignalId(place)))
    }

    /// Whether a column is recorded, and not only watched.
    pub fn is_recorded(&self, signal: SignalId) -> bool {
        signal.0 < self.signals.len()
    }
}

impl SignalPlan {
    /// Words that a value takes among the samples.
    pub fn words(&self) -> usize {
        self.capacity.map_or(1, bytes::words)
    }

    /// Bytes of a value, given as words as [`SignalPlan::start`] has them, if it is longer than the room there is for it.
    pub fn too_long(&self, value: &[u64]) -> Option<u64> {
        let size = value.first().copied().filter(|size| *size != bytes::NOTHING)?;
        self.capacity.filter(|capacity| size > *capacity as u64).map(|_| size)
    }
}

/// How much of who ran when is kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracePlan {
    /// How much.
    pub mode: TraceMode,
    /// How far the flight recorder reaches back.
    pub seconds: Nanos,
    /// So many incidents of each clock have a file.
    pub worst: usize,
    /// Bytes that a file may have.
    pub limit: u64,
    /// The kernel traces the cores of partitions as well; in real time only.
    pub kernel: bool,
}

impl TracePlan {
    /// The trace that the rig asks for. Virtual time is for speed, and has no overruns: what is not asked for is not traced
    /// there.
    pub(crate) fn of(rig: &Rig) -> TracePlan {
        let default = match rig.mode {
            Mode::RealTime => TraceMode::Flight,
            Mode::Virtual => TraceMode::Off,
        };
        let mode = rig.trace.mode.unwrap_or(default);
        let RigTrace { seconds, worst, limit, kernel, .. } = rig.trace;
        TracePlan { mode, seconds, worst, limit, kernel: kernel && rig.mode == Mode::RealTime }
    }

    /// What is to be known of the kernel's trace that the rig asks for.
    pub(crate) fn note(rig: &Rig, tasks: &[TaskPlan]) -> Option<&'static str> {
        match (rig.trace.kernel, rig.mode) {
            (false, _) => None,
            (true, Mode::Virtual) => Some("[trace] kernel = true: the kernel is traced in real time only"),
            (true, Mode::RealTime) if tasks.iter().any(TaskPlan::has_limit) => None,
            (true, Mode::RealTime) => Some(
                "[trace] kernel = true: no clock has a limit (max_latency_us, max_execution_us, max_overruns, overrun = \"stop\"), so \
                 nothing stops the kernel's trace, and the end of the run is kept",
            ),
        }
    }
}
