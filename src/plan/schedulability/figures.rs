//! Where figures come from: the rig, or what a run has measured.

use crate::rig::RigClock;
use crate::time::Nanos;
use serde::{Deserialize, Serialize};

/// What the rig says of a clock; what it leaves out may have been measured.
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
    /// What is said first counts.
    pub(in crate::plan) fn of(overrides: &[&RigClock]) -> Figures {
        let all = || overrides.iter().map(|clock| &clock.figures);
        Figures {
            execution: all().find_map(|own| own.execution.as_ref()).map(|at| at.value),
            lock: all().find_map(|own| own.lock.as_ref()).map(|at| at.value),
            min_interval: all().find_map(|own| own.min_interval.as_ref()).map(|at| at.value),
            deadline: all().find_map(|own| own.deadline.as_ref()).map(|at| at.value),
        }
    }
}

/// What the rig says of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFigures {
    /// `wakeup_us`: from a release to the thread's waking up, when no partition runs.
    pub wakeup: Option<Nanos>,
    /// `overhead_us`: processor time of an activation outside of FMU code.
    pub overhead: Option<Nanos>,
}

/// What a run in real time has measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The bounds that are wanted are those of this run, not of a later one: what was never activated in it did not disturb
    /// it.
    pub this_run: bool,
    /// The clocks of the run.
    pub clocks: Vec<MeasuredClock>,
}

/// What a run has measured of a clock; times in ns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredClock {
    /// Name of the instance.
    pub fmu: String,
    /// Name of the clock.
    pub clock: String,
    /// How often it was activated.
    pub activations: u64,
    /// The longest execution of the clock.
    pub execution: u64,
    /// The longest locked section of the clock.
    pub lock: u64,
    /// The worst wake-up latency of the clock.
    pub wakeup: u64,
    /// The interval of a periodic clock, s.
    pub interval_s: Option<f64>,
    /// The shortest time between two releases of a clock that is not periodic, if there were two.
    pub shortest_interval: Option<u64>,
}
