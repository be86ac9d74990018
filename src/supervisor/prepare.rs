//! Rig file → plan: opens what the rig names and hands each stage's result to the next.

use super::Error;
use crate::fmu::archive::{Cache, Unpacked};
use crate::fmu::description::{self, ModelDescription};
use crate::plan::{self, FmuInput, HostFacts, Mode, Plan};
use crate::rig::{self, At, Rig};
use crate::sys::affinity;
use crate::time::Instant;
use std::fs;
use std::path::{Path, PathBuf};

/// What the command line says.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// A rig file, an `.fmu` file, or the folder of an FMU.
    pub file: PathBuf,
    /// Overrides the rig's mode.
    pub mode: Option<Mode>,
    /// Overrides the rig's stop time.
    pub stop_time: Option<Instant>,
    /// Output directory; default `vecud-out/<rig>`.
    pub out: Option<PathBuf>,
    /// No table on the terminal.
    pub quiet: bool,
    /// The program to start as the runner; default: this one.
    pub runner: Option<PathBuf>,
}

/// A plan and what it was made from.
#[derive(Debug)]
pub struct Prepared {
    /// The plan.
    pub plan: Plan,
    /// Descriptions of the FMUs, in rig order: log messages name variables.
    pub descriptions: Vec<ModelDescription>,
}

/// Reads the rig, opens its FMUs, and makes the plan.
pub fn plan(options: &Options) -> Result<Prepared, Error> {
    let mut rig = read_rig(&options.file)?;
    if let Some(mode) = options.mode {
        rig.mode = mode;
    }
    if let Some(stop) = options.stop_time {
        rig.stop_time = Some(At::unplaced(stop));
    }
    let cache = Cache::user().map_err(|error| Error::System(format!("no cache folder: {error}; set VECUD_CACHE")))?;
    let mut fmus = Vec::new();
    for fmu in &rig.fmus {
        let path = &fmu.path.value;
        let unpacked = Unpacked::open(path, &cache).map_err(Error::Archive)?;
        let text = unpacked.model_description().map_err(Error::Archive)?;
        let description =
            description::parse(&text).map_err(|error| Error::Description(unpacked.origin.clone(), error))?;
        // Without Scheduled Execution the plan says what is offered instead; there is nothing to load.
        let library = match &description.scheduled_execution {
            Some(interface) => unpacked.library(&interface.model_identifier, &cache).map_err(Error::Archive)?,
            None => PathBuf::new(),
        };
        fmus.push((unpacked, description, library));
    }
    let inputs: Vec<FmuInput> = fmus
        .iter()
        .map(|(unpacked, description, library)| FmuInput {
            description,
            library: library.clone(),
            resources: unpacked.resources(),
            path: unpacked.origin.clone(),
        })
        .collect();
    let plan = plan::build(&rig, &inputs, &host_facts()?).map_err(Error::Plan)?;
    drop(inputs);
    let descriptions = fmus.into_iter().map(|(_, description, _)| description).collect();
    Ok(Prepared { plan, descriptions })
}

fn read_rig(file: &Path) -> Result<Rig, Error> {
    let is_fmu = file.is_dir() || file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("fmu"));
    if is_fmu {
        return Ok(Rig::for_fmu(file));
    }
    let text = fs::read(file).map_err(Error::file(file))?;
    let text = String::from_utf8(text).map_err(|_| {
        Error::System(format!("{}: is neither a rig (TOML text) nor an FMU (name ending in .fmu)", file.display()))
    })?;
    rig::parse(&text, file).map_err(Error::Rig)
}

fn host_facts() -> Result<HostFacts, Error> {
    let allowed = affinity::allowed_cpus().map_err(|error| Error::System(error.to_string()))?;
    let isolated = affinity::isolated_cpus();
    Ok(HostFacts { allowed_cpus: allowed.into_iter().collect(), isolated_cpus: isolated.into_iter().collect() })
}
