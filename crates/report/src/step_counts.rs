//! The counters of an FMU's steps, and these figures in words.

use super::format::{count, duration, plural};
use serde::{Deserialize, Serialize};

/// A smaller distance from the communication point is rounding, s.
pub(super) const ROUNDING: f64 = 1e-9;

/// The figures that only steps have; in `report.json` as they are here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepCounts {
    /// Steps that were made.
    pub steps: u64,
    /// Steps that stopped short of their communication point.
    pub early_returns: u64,
    /// Steps that the FMU discarded.
    pub rejected_steps: u64,
    /// Steps that were taken back to their begin, since this or another FMU of the group has stopped earlier. Reports of earlier versions
    /// have none.
    #[serde(default)]
    pub taken_back: u64,
    /// Number of entries into Event Mode, without the initial one.
    pub events: u64,
    /// Ticks from outside of the steps that were handled at the next communication point.
    pub deferred: u64,
    /// Ticks from outside of the steps that found 16 waiting; they are among the overruns. Reports of earlier versions have none.
    #[serde(default)]
    pub refused_ticks: u64,
    /// Ticks from outside of the steps, and datagrams for them, from before the start or too late for a communication point; they are
    /// among the discarded. Reports of earlier versions have none.
    #[serde(default)]
    pub discarded_ticks: u64,
    /// The furthest that a step without early return was away from its communication point by the FMU's word
    /// (`lastSuccessfulTime`), s.
    pub max_deviation_s: f64,
    /// The integration by vecud; `None`: the FMU makes its steps itself. Reports of earlier versions have none.
    #[serde(default)]
    pub integration: Option<IntegrationCounts>,
}

/// The figures of the integration of FMUs for Model Exchange; if several are integrated together, the figures of all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IntegrationCounts {
    /// Steps of the solver.
    pub solver_steps: u64,
    /// Number of steps of the solver that were made smaller, for their error or because the FMU has discarded them.
    pub rejected_solver_steps: u64,
    /// Number of evaluations of derivatives.
    pub right_hand_sides: u64,
    /// The most evaluations of derivatives in one release: they bound its execution.
    pub most_right_hand_sides: u64,
    /// Jacobian matrices that were computed.
    pub jacobians: u64,
    /// State events that were located.
    pub state_events: u64,
}

impl StepCounts {
    /// `1,000 steps, 3 early returns, 2 rejected, 4 taken back, 12 events, 4 ticks deferred, up to 300 µs off the communication point`
    pub(super) fn words(&self) -> String {
        let mut text = plural(self.steps, "step");
        for (number, words) in [
            (self.early_returns, plural(self.early_returns, "early return")),
            (self.rejected_steps, format!("{} rejected", count(self.rejected_steps))),
            (self.taken_back, format!("{} taken back", count(self.taken_back))),
            (self.events, plural(self.events, "event")),
            (self.deferred, format!("{} deferred", plural(self.deferred, "tick"))),
            (self.refused_ticks, format!("{} lost since 16 waited already", plural(self.refused_ticks, "tick"))),
            (self.discarded_ticks, format!("{} discarded", plural(self.discarded_ticks, "tick"))),
        ] {
            text += &if number > 0 { format!(", {words}") } else { String::new() };
        }
        if self.max_deviation_s > ROUNDING {
            text += &format!(", up to {} off the communication point", duration((self.max_deviation_s * 1e9) as u64));
        }
        if let Some(own) = &self.integration {
            text += &format!(", {}", own.words());
        }
        text
    }
}

impl IntegrationCounts {
    /// `integrated in 4,000 steps (3 rejected) with 16,004 right-hand sides, 9 in a release at most, 2 state events, 4 Jacobians`
    fn words(&self) -> String {
        let mut text = format!("integrated in {}", plural(self.solver_steps, "step"));
        if self.rejected_solver_steps > 0 {
            text += &format!(" ({} rejected)", count(self.rejected_solver_steps));
        }
        let (all, most) = (plural(self.right_hand_sides, "right-hand side"), count(self.most_right_hand_sides));
        text += &format!(" with {all}, {most} in a release at most");
        if self.state_events > 0 {
            text += &format!(", {}", plural(self.state_events, "state event"));
        }
        if self.jacobians > 0 {
            text += &format!(", {}", plural(self.jacobians, "Jacobian"));
        }
        text
    }
}
