//! The facts about a machine, with the target and the probe.

use super::facts::MachineFacts;
use super::probe::Probe;
use super::target::Target;
use super::trials::Trials;

/// All input of the rules.
#[derive(Clone, Debug)]
pub struct Case {
    /// Requirements on the machine.
    pub target: Target,
    /// Facts from the machine's files.
    pub facts: MachineFacts,
    /// Results of the trials.
    pub trials: Trials,
    /// Result of the measurement; `None`: no measurement was requested.
    pub probe: Option<Probe>,
}
