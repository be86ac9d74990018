//! The clocks of all FMUs before tasks are sorted, and their triggers.

use super::candidates::Candidate;
use std::collections::BTreeMap;

/// A source of ticks before tasks are sorted: an output clock, or an input clock that ticks between the steps of its FMU.
pub struct TickSource {
    /// Index among the FMU's variables.
    pub variable: usize,
    /// 0 for a scalar clock, else the number of its element, from 1.
    pub element: usize,
    /// Candidates whose activations may tick the source; empty: undeclared.
    pub ticked_by: Vec<usize>,
    /// Candidates that the source triggers.
    pub targets: Vec<usize>,
    /// Input clocks between steps that the source triggers: their FMUs, and their indices among the sources of these.
    pub step_targets: Vec<(usize, usize)>,
    /// The candidate of an input clock that ticks between the steps of its FMU; `None`: an output clock.
    pub step_clock: Option<Candidate>,
}

/// The clocks of all FMUs, with everything that makes them tick.
pub struct ClockNetwork {
    /// All tasks: the input clocks of Scheduled Execution in rig order, then document order, and the steps of FMUs.
    pub candidates: Vec<Candidate>,
    /// By FMU: its output clocks in document order; where events are handled between steps, its input clocks after them.
    pub tick_sources: Vec<Vec<TickSource>>,
    /// By FMU: the first FMU of those that step together with it (semantics S22); the FMU itself if it is the first, or alone.
    pub firsts: Vec<usize>,
    /// The FMUs that step together, by the first of them; without those that step alone.
    pub groups: BTreeMap<usize, Vec<usize>>,
}

impl ClockNetwork {
    /// The FMUs that step together with an FMU, itself included; none if it steps alone.
    pub fn group(&self, fmu: usize) -> &[usize] {
        self.groups.get(&self.firsts[fmu]).map_or(&[], Vec::as_slice)
    }

    /// The candidates of an FMU, those of clocks that tick between its steps included.
    pub fn of_inputs(&self, fmu: usize) -> impl Iterator<Item = &Candidate> {
        let tasks = self.candidates.iter().filter(move |candidate| candidate.fmu == fmu);
        tasks.chain(self.tick_sources[fmu].iter().filter_map(|source| source.step_clock.as_ref()))
    }

    /// The candidate that makes the steps of an FMU.
    pub fn steps_of(&self, fmu: usize) -> Option<usize> {
        self.candidates.iter().position(|candidate| candidate.fmu == fmu && candidate.clock.is_none())
    }
}
