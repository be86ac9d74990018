//! The rig with every name in it found: what the order of the tasks, and what each of them does, is worked out from.

use super::clocks::{Clocks, candidates, clocked_clocks, triggers};
use super::connections::links::{self, Links};
use super::described::DescribedFmu;
use super::findings::Findings;
use super::inputs::start_values::{self, Starts};
use super::inputs::stimuli::{self, Stimuli};
use super::record::{self, RecordedColumns};
use super::tasks::batches::{self, Wanted};
use super::tasks::owners::Owners;
use super::{StimulusInput, Timetable, steps};
use crate::rig::Rig;

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

impl<'a> Resolved<'a> {
    pub fn new(
        rig: &'a Rig,
        fmus: &'a [DescribedFmu],
        stimuli: &[StimulusInput],
        times: &Timetable,
        findings: &mut Findings,
    ) -> Resolved<'a> {
        let mut candidates = candidates::of_input_clocks(rig, fmus, findings);
        candidates.extend(steps::candidates(rig, fmus, times, findings));
        candidates.extend(candidates::in_steps(rig, fmus, findings));
        let stimuli = stimuli::resolve(rig, stimuli, fmus, &candidates, findings);
        let mut clocks = triggers::connect(rig, fmus, stimuli.ticking(candidates), times, findings);
        steps::join(rig, fmus, &mut clocks, findings);
        findings.notes.extend(clocked_clocks::notes(fmus, &clocks, times));
        let starts: Vec<Starts> = fmus.iter().map(|fmu| start_values::resolve(fmu, findings)).collect();
        let links = links::resolve(rig, fmus, &clocks, &starts, findings);
        let columns = record::columns(rig, fmus, &starts, findings);
        stimuli.check_parts(rig, fmus, &links, &starts, findings);
        let wanted = batches::wanted(fmus, &links, &columns, &stimuli);
        let owners = Owners::new(fmus, &clocks.candidates);
        Resolved { rig, fmus, clocks, stimuli, starts, links, columns, wanted, owners }
    }
}
