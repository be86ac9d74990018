//! The rig with every name in it found: what the order of the tasks, and what each of them does, is worked out from.

use super::clocks::{Clocks, candidates, clocked_clocks, triggers};
use super::connections::links::{self, Link, Links};
use super::described::{DescribedFmu, VariableId};
use super::findings::Findings;
use super::inputs::fed_starts;
use super::inputs::start_values::{self, Starts};
use super::inputs::stimuli::{self, Stimuli};
use super::record::{self, RecordedColumns};
use super::tasks::batches::{self, Wanted};
use super::tasks::owners::Owners;
use super::{StimulusInput, Timetable, steps};
use crate::rig::{Extrapolation, Rig};
use vecud_description::Variability;

/// Nothing in it changes once it is there.
pub(super) struct Resolved<'a> {
    pub rig: &'a Rig,
    pub fmus: &'a [DescribedFmu<'a>],
    pub clocks: Clocks,
    pub stimuli: Stimuli,
    /// The start values of each FMU that can be set, but for structural parameters.
    pub starts: Vec<Starts>,
    pub links: Links,
    /// The columns of the recording.
    pub columns: RecordedColumns,
    /// What the rig wants of the variables of each FMU.
    pub wanted: Vec<Wanted>,
    pub owners: Owners,
}

impl Resolved<'_> {
    /// Whether an input, or a parameter, is set in Event Mode alone.
    pub fn is_set_in_event_mode(&self, (fmu, variable): VariableId) -> bool {
        let described = &self.fmus[fmu];
        let jumps = || described.takes_jumps_in_event_mode() && self.jumps_alone((fmu, variable));
        described.changes_in_event_mode(&described.variables()[variable]) || jumps()
    }

    /// Whether each change of an input is a jump: what feeds it is discrete, belongs to clocks, or is held from one row to the next.
    fn jumps_alone(&self, input: VariableId) -> bool {
        let feeding = self.links.feeding(input);
        let is_fed = self.stimuli.feeds(input);
        feeding.iter().all(|link| self.is_stepwise(&self.links[*link]))
            && self.stimuli.holds(input)
            && (is_fed || !feeding.is_empty())
    }

    /// Whether each change of what a connection brings is a jump.
    fn is_stepwise(&self, link: &Link) -> bool {
        let (fmu, variable) = link.source;
        let source = &self.fmus[fmu].variables()[variable];
        let is_discrete = source.variability != Variability::Continuous || !source.clocks.is_empty();
        is_discrete && link.extrapolation == Extrapolation::Hold
    }

    /// Whether each change of what a connection brings is a jump of an array whose other elements are continuous. A master sees to that itself.
    pub fn jumps_among_others(&self, link: &Link) -> bool {
        let target = &self.fmus[link.target.0];
        let is_carried = link.is_inside && target.master.is_some();
        let jumps = target.takes_jumps_in_event_mode() && !is_carried && self.is_stepwise(link);
        jumps && !self.is_set_in_event_mode(link.target)
    }

    /// Whether values of a connection come with the time at which their source has jumped last, in an event of its own.
    pub fn tells_jumps(&self, link: &Link) -> bool {
        let (source, target) = (&self.fmus[link.source.0], &self.fmus[link.target.0]);
        // A master carries them himself.
        let is_carried = link.is_inside && source.master.is_some();
        let is_told = source.handles_events() && target.takes_jumps_in_event_mode() && !is_carried;
        is_told && !self.is_set_in_event_mode(link.target)
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
        stimuli.check_parts(rig, fmus, &links, &starts, findings);
        let wanted = batches::wanted(fmus, &starts, &links, &columns, &stimuli);
        for (fmu, described) in fmus.iter().enumerate() {
            let is_fed = |variable| wanted[fmu].written.contains(&variable);
            start_values::note_resized(described, &starts[fmu], is_fed, findings);
        }
        let owners = Owners::new(fmus, &clocks.candidates);
        Resolved { rig, fmus, clocks, stimuli, starts, links, columns, wanted, owners }
    }
}
