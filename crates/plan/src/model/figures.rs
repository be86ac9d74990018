//! The rig's figures for the schedulability analysis: execution times and rates of its clocks, and of the host.

use crate::rig::RigTask;
use serde::{Deserialize, Serialize};
use vecud_base::time::Nanos;

/// The rig's figures of a clock; missing ones may have been measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// `execution_us`: the longest execution.
    pub execution: Option<Nanos>,
    /// `lock_us`: the longest locked section.
    pub lock: Option<Nanos>,
    /// `min_interval_us`: the shortest time between two activations.
    pub min_interval: Option<Nanos>,
    /// `deadline_us`: the longest response that is allowed.
    pub deadline: Option<Nanos>,
}

impl Figures {
    /// The first value of each figure counts.
    pub(crate) fn of(overrides: &[&RigTask]) -> Figures {
        let all = || overrides.iter().map(|task| &task.figures);
        Figures {
            execution: all().find_map(|own| own.execution.as_ref()).map(|at| at.value),
            lock: all().find_map(|own| own.lock.as_ref()).map(|at| at.value),
            min_interval: all().find_map(|own| own.min_interval.as_ref()).map(|at| at.value),
            deadline: all().find_map(|own| own.deadline.as_ref()).map(|at| at.value),
        }
    }
}

/// The rig's figures of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFigures {
    /// `wakeup_us`: from a release to the thread's waking up, when no partition runs.
    pub wakeup: Option<Nanos>,
    /// `overhead_us`: processor time of an activation outside of FMU code.
    pub overhead: Option<Nanos>,
}
