//! The trace that a run leaves of its activations.

use super::TaskPlan;
use crate::rig::{Mode, Rig, RigTrace, TraceMode};
use serde::{Deserialize, Serialize};
use vecud_base::time::Nanos;

/// The extent of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracePlan {
    /// The amount of tracing.
    pub mode: TraceMode,
    /// The time that the flight recorder reaches back.
    pub seconds: Nanos,
    /// The number of incidents of each clock with a file of their own.
    pub worst: usize,
    /// Bytes that a file may have.
    pub limit: u64,
    /// The kernel traces the cores of partitions as well; in real time only.
    pub kernel: bool,
}

impl TracePlan {
    /// The trace of the rig. Virtual time is for speed, and has no overruns: by default nothing is traced there.
    pub(crate) fn of(rig: &Rig) -> TracePlan {
        let default = match rig.mode {
            Mode::RealTime => TraceMode::Flight,
            Mode::Virtual => TraceMode::Off,
        };
        let mode = rig.trace.mode.unwrap_or(default);
        let RigTrace { seconds, worst, limit, kernel, .. } = rig.trace;
        TracePlan { mode, seconds, worst, limit, kernel: kernel && rig.mode == Mode::RealTime }
    }

    /// The note about the kernel's trace, if the rig asks for one.
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
