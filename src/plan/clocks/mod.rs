//! What activates which input clock, and when: periods, lists of times, output clocks, datagrams, stimuli.

pub mod candidates;
pub mod causes;
pub mod clocked_clocks;
pub mod datagrams;
pub mod triggers;
pub mod waiting;

use candidates::Candidate;
use triggers::OutputCandidate;

/// The clocks of all FMUs, with everything that makes them tick.
pub struct Clocks {
    /// All input clocks, in rig order, then document order.
    pub candidates: Vec<Candidate>,
    /// The output clocks of each FMU, in document order.
    pub outputs: Vec<Vec<OutputCandidate>>,
}
