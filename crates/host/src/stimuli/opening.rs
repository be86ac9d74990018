//! Stimuli before a run: opened, and looked at.

use super::source::StimulusSource;
use crate::Error;
use std::path::Path;
use vecud_base::time::Instant;
use vecud_linux::rights::Rights;
use vecud_plan::rig::{Diagnostic, Rig, RigStimulus};
use vecud_plan::{Plan, PlanError, StimulusInput};
use vecud_record::recording::series;

/// Rows of a file that are looked at before the run.
const CHECKED: usize = 1000;

/// The one problem that a file has.
pub fn refuse(problem: Diagnostic) -> Error {
    Error::Plan(PlanError { problems: vec![problem] })
}

/// Opens the stimuli of a rig that starts at `start`, and reads their beginnings.
pub fn open(rig: &Rig, start: Instant, rights: &Rights) -> Result<Vec<(StimulusSource, StimulusInput)>, Error> {
    let open = |stimulus: &RigStimulus| {
        let refused = |message| refuse(Diagnostic::new(&rig.file, stimulus.file.place, message));
        let source = StimulusSource::open(stimulus, rights).map_err(refused)?;
        let header = source.header().map_err(refuse)?;
        let start = source.at_start(start, stimulus.interpolation).map_err(refuse)?;
        Ok((source, StimulusInput { start, ..header }))
    };
    rig.stimuli.iter().map(open).collect()
}

/// Checks the first rows of all stimuli.
pub fn check(plan: &Plan, sources: &[StimulusSource]) -> Result<(), Error> {
    for (source, own) in sources.iter().zip(&plan.stimuli) {
        let mut rows = source.rows(own).map_err(refuse)?;
        for _ in 0..CHECKED {
            if rows.read().map_err(refuse)?.is_none() {
                break;
            }
        }
    }
    Ok(())
}

/// Whether a run with these stimuli that writes to `folder` would overwrite one of them.
pub fn may_write(folder: &Path, sources: &[StimulusSource]) -> Result<(), Error> {
    let Ok(folder) = folder.canonicalize() else { return Ok(()) };
    for path in sources.iter().flat_map(StimulusSource::paths) {
        let Ok(real) = path.canonicalize() else { continue };
        let is_recorded = real.file_name().and_then(|name| name.to_str()).is_some_and(series::is_name_of_recording);
        if real.starts_with(&folder) && is_recorded {
            let message = format!("the run would overwrite {}, a stimulus of its rig", path.display());
            return Err(Error::Output(folder, std::io::Error::other(message)));
        }
    }
    Ok(())
}
