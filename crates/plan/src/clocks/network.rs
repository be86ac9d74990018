//! The clocks of all FMUs before tasks are sorted, and which of them tick others.

use super::candidates::Candidate;
use std::collections::BTreeMap;

/// An output clock before tasks are sorted.
pub struct OutputCandidate {
    /// Index among the FMU's variables.
    pub variable: usize,
    /// 0 for a scalar clock, else which of its elements, from 1.
    pub element: usize,
    /// Candidates that may tick it; empty: undeclared.
    pub ticked_by: Vec<usize>,
    /// Candidates that it triggers.
    pub targets: Vec<usize>,
    /// Input clocks of FMUs that make steps which it triggers: FMU, and index among its outputs.
    pub clocks: Vec<(usize, usize)>,
    /// The candidate of an input clock that ticks between the steps of its FMU; `None`: an output clock.
    pub input: Option<Candidate>,
}

/// The clocks of all FMUs, with everything that makes them tick.
pub struct ClockNetwork {
    /// All tasks: the input clocks of Scheduled Execution in rig order, then document order, and the steps of FMUs.
    pub candidates: Vec<Candidate>,
    /// The output clocks of each FMU, in document order; where events are handled between steps, its input clocks after them.
    pub outputs: Vec<Vec<OutputCandidate>>,
    /// Per FMU: the first one of those that make their steps together with it (semantics S22); itself, if there is none before.
    pub firsts: Vec<usize>,
    /// The FMUs that make their steps together, by the first of them; not those that make them alone.
    pub groups: BTreeMap<usize, Vec<usize>>,
}

impl ClockNetwork {
    /// The FMUs that make their steps together with this one; none, if it makes them alone.
    pub fn group(&self, fmu: usize) -> &[usize] {
        self.groups.get(&self.firsts[fmu]).map_or(&[], Vec::as_slice)
    }

    /// The candidates of an FMU, also those of clocks that tick between its steps.
    pub fn of_inputs(&self, fmu: usize) -> impl Iterator<Item = &Candidate> {
        let tasks = self.candidates.iter().filter(move |candidate| candidate.fmu == fmu);
        tasks.chain(self.outputs[fmu].iter().filter_map(|output| output.input.as_ref()))
    }

    /// The candidate that makes the steps of an FMU.
    pub fn steps_of(&self, fmu: usize) -> Option<usize> {
        self.candidates.iter().position(|candidate| candidate.fmu == fmu && candidate.clock.is_none())
    }
}
