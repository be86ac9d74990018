//! The measurements of a run from which worst responses are computed: its own, and those of later runs.

use super::{ClockResult, ReportFile};
use vecud_plan::Mode;
use vecud_plan::schedulability::{MeasuredClock, MeasuredRun};

/// The measurements of a run that has just ended, for its own bounds.
pub fn measured(clocks: &[ClockResult]) -> MeasuredRun {
    MeasuredRun { this_run: true, clocks: clocks.iter().map(measured_of).collect() }
}

fn measured_of(clock: &ClockResult) -> MeasuredClock {
    MeasuredClock {
        fmu: clock.fmu.clone(),
        clock: clock.clock.clone(),
        activations: clock.activations,
        execution: clock.execution.figures.max,
        lock: clock.schedulability.longest_lock,
        wakeup: clock.wakeup_machine().figures.max,
        interval_s: clock.interval_s,
        shortest_interval: clock.schedulability.shortest_interval,
    }
}

impl ReportFile {
    /// Name of the rig.
    pub fn rig(&self) -> &str {
        &self.run.rig
    }

    /// Whether the wall clock drove time.
    pub fn is_of_real_time(&self) -> bool {
        self.run.mode == Mode::RealTime
    }

    /// The measurements of an earlier run, for the bounds of later ones.
    pub fn measured(&self) -> MeasuredRun {
        MeasuredRun { this_run: false, clocks: self.run.clocks.iter().map(measured_of).collect() }
    }
}
