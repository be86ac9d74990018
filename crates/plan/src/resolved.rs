//! The rig with all its names resolved: the source for the order of the tasks, and the work of each task.

use super::clocks::candidates::Candidate;
use super::clocks::{ClockNetwork, candidates, clocked_clocks, triggers};
use super::connections::links::{self, Link, Links};
use super::described::{DescribedFmu, VariableId};
use super::findings::Findings;
use super::inputs::fed_starts;
use super::inputs::start_values::{self, Starts};
use super::inputs::stimuli::{self, Stimuli};
use super::needed_variables::{NeededVariables, needed_variables};
use super::owners::{Owners, gets, sets};
use super::record::{self, RecordedColumns};
use super::timetable::Timetable;
use super::{StimulusInput, steps};
use crate::rig::{Extrapolation, Rig};
use vecud_description::{Variability, Variable};

/// The resolved rig. It does not change.
pub(super) struct Resolved<'a> {
    pub rig: &'a Rig,
    pub fmus: &'a [DescribedFmu<'a>],
    pub clocks: ClockNetwork,
    pub stimuli: Stimuli,
    /// The start values of each FMU that can be set, but for structural parameters.
    pub starts: Vec<Starts>,
    pub links: Links,
    /// The columns of the recording.
    pub columns: RecordedColumns,
    /// The variables of each FMU that the rig needs.
    pub needed: Vec<NeededVariables>,
    pub owners: Owners,
}

impl Resolved<'_> {
    /// Whether an input, or a parameter, is set in Event Mode alone.
    pub fn is_set_in_event_mode(&self, (fmu, variable): VariableId) -> bool {
        let described = &self.fmus[fmu];
        let jumps = || described.takes_jumps_in_event_mode() && self.jumps_alone((fmu, variable));
        described.changes_in_event_mode(&described.variables()[variable]) || jumps()
    }

    /// Whether each change of an input is a jump: its source is discrete, belongs to clocks, or is held from one row to the next.
    fn jumps_alone(&self, input: VariableId) -> bool {
        let feeding = self.links.feeding(input);
        let is_fed = self.stimuli.feeds(input);
        feeding.iter().all(|link| self.is_stepwise(&self.links[*link]))
            && self.stimuli.holds(input)
            && (is_fed || !feeding.is_empty())
    }

    /// Whether each change of a connection's values is a jump.
    pub fn is_stepwise(&self, link: &Link) -> bool {
        let (fmu, variable) = link.source;
        let source = &self.fmus[fmu].variables()[variable];
        let is_discrete = source.variability != Variability::Continuous || !source.clocks.is_empty();
        is_discrete && link.extrapolation == Extrapolation::Hold
    }

    /// Candidates that set a (connected) input, ascending.
    pub fn setting(&self, variable: VariableId) -> Vec<usize> {
        self.owning(variable, sets)
    }

    /// Candidates that read a (wanted) variable, ascending.
    pub fn getting(&self, variable: VariableId) -> Vec<usize> {
        self.owning(variable, gets)
    }

    fn owning(
        &self,
        (fmu, variable): VariableId,
        owns: fn(&DescribedFmu, &Candidate, &Variable) -> bool,
    ) -> Vec<usize> {
        let described = &self.fmus[fmu];
        let v = &described.variables()[variable];
        let is_one = |&candidate: &usize| owns(described, &self.clocks.candidates[candidate], v);
        match self.owners.near(described, fmu, v) {
            Some(near) => near.into_iter().filter(is_one).collect(),
            None => self.owners.of_fmu(fmu).iter().copied().filter(is_one).collect(),
        }
    }
}

impl<'a> Resolved<'a> {
    pub fn new(
        rig: &'a Rig,
        fmus: &'a [DescribedFmu],
        opened: &[StimulusInput],
        times: &Timetable,
        findings: &mut Findings,
    ) -> Resolved<'a> {
        let mut candidates = candidates::of_input_clocks(rig, fmus, findings);
        candidates.extend(steps::candidates(rig, fmus, times, findings));
        candidates.extend(candidates::in_steps(rig, fmus, findings));
        let stimuli = stimuli::resolve(rig, opened, fmus, &candidates, findings);
        let mut clocks = triggers::connect(rig, fmus, stimuli.ticking(candidates), times, findings);
        steps::join(rig, fmus, &mut clocks, findings);
        findings.notes.extend(clocked_clocks::notes(fmus, &clocks, times));
        let mut starts: Vec<Starts> = fmus.iter().map(|fmu| start_values::resolve(fmu, findings)).collect();
        fed_starts::add(&stimuli, opened, fmus, &mut starts, findings);
        let links = links::resolve(rig, fmus, &clocks, &starts, findings);
        let columns = record::columns(rig, fmus, &starts, findings);
        stimuli.check_parts(rig, fmus, |input| !links.feeding(input).is_empty(), &starts, findings);
        let needed = needed_variables(fmus, &starts, &links, &columns, &stimuli);
        for (fmu, described) in fmus.iter().enumerate() {
            let is_fed = |variable| needed[fmu].written.contains(&variable);
            start_values::note_resized(described, &starts[fmu], is_fed, findings);
        }
        let owners = Owners::new(fmus, &clocks.candidates);
        Resolved { rig, fmus, clocks, stimuli, starts, links, columns, needed, owners }
    }
}
