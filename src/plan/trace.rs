//! What of a run is traced.

use super::Mode;
use crate::rig::Rig;
use crate::time::Nanos;
use serde::{Deserialize, Serialize};

pub use crate::rig::TraceMode;

/// What of a run is traced.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracePlan {
    /// How much.
    pub mode: TraceMode,
    /// How far the flight recorder reaches back.
    pub seconds: Nanos,
    /// Bytes that a file may have.
    pub limit: u64,
}

impl TracePlan {
    /// By the rig. Virtual time is for speed, and has no overruns: what is not asked for is not traced there.
    pub(super) fn of(rig: &Rig) -> TracePlan {
        let default = match rig.mode {
            Mode::RealTime => TraceMode::Flight,
            Mode::Virtual => TraceMode::Off,
        };
        TracePlan { mode: rig.trace.mode.unwrap_or(default), seconds: rig.trace.seconds, limit: rig.trace.limit }
    }
}
