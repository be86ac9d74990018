//! The trace that a run leaves of who ran when.

use super::UnitPlan;
use crate::rig::{Mode, Rig, RigTrace, TraceMode};
use serde::{Deserialize, Serialize};
use vecud_base::time::Nanos;

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
    pub(crate) fn note(rig: &Rig, tasks: &[UnitPlan]) -> Option<&'static str> {
        match (rig.trace.kernel, rig.mode) {
            (false, _) => None,
            (true, Mode::Virtual) => Some("[trace] kernel = true: the kernel is traced in real time only"),
            (true, Mode::RealTime) if tasks.iter().any(UnitPlan::has_limit) => None,
            (true, Mode::RealTime) => Some(
                "[trace] kernel = true: no clock has a limit (max_latency_us, max_execution_us, max_overruns, overrun = \"stop\"), so \
                 nothing stops the kernel's trace, and the end of the run is kept",
            ),
        }
    }
}
