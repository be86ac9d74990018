//! Rig file → plan: opens what the rig names and hands each stage's result to the next.

use super::Error;
use super::progress::under_way;
use crate::fmu::archive::{Cache, Unpacked};
use crate::fmu::description::{self, ModelDescription};
use crate::places::Places;
use crate::plan::{self, FmuInput, HostFacts, Mode, Plan};
use crate::rig::{self, At, Place, Rig, RigError};
use crate::sys::affinity;
use crate::time::Instant;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Longer rigs than this are refused: it is the wrong file, or one without an end (`/dev/zero`).
const LONGEST_RIG: u64 = 64 << 20;

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
    let cache = Cache::user().map_err(Error::NoCache)?;
    let mut fmus = Vec::new();
    for fmu in &rig.fmus {
        let what = format!("opening FMU `{}`, building it if need be", fmu.name.value);
        let opened = under_way(&what, || open(&fmu.path.value, &cache));
        fmus.push(opened.map_err(|error| match fmu.path.place.line {
            0 => error,
            _ => Error::InRig(rig.file.clone(), fmu.path.place, Box::new(error)),
        })?);
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

/// An FMU's files, its description, and its library.
fn open(path: &Path, cache: &Cache) -> Result<(Unpacked, ModelDescription, PathBuf), Error> {
    let unpacked = Unpacked::open(path, cache).map_err(Error::Archive)?;
    let text = unpacked.model_description().map_err(Error::Archive)?;
    let description = description::parse(&text).map_err(|error| Error::Description(unpacked.origin.clone(), error))?;
    // Without Scheduled Execution the plan says what is offered instead; there is nothing to load.
    let library = match &description.scheduled_execution {
        Some(interface) => unpacked.library(&interface.model_identifier, cache).map_err(Error::Archive)?,
        None => PathBuf::new(),
    };
    Ok((unpacked, description, library))
}

fn read_rig(file: &Path) -> Result<Rig, Error> {
    let is_fmu = file.is_dir() || file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("fmu"));
    if is_fmu {
        return Ok(Rig::for_fmu(file));
    }
    let mut text = Vec::new();
    File::open(file)
        .and_then(|source| source.take(LONGEST_RIG + 1).read_to_end(&mut text))
        .map_err(Error::file(file))?;
    let refuse =
        |place, message: &str| Err(Error::Rig(RigError { problems: vec![rig::Problem::new(file, place, message)] }));
    if text.len() as u64 > LONGEST_RIG {
        return refuse(Place::default(), "longer than 64 MiB, which no rig needs; give a rig file (TOML) or an FMU");
    }
    if text.contains(&0) && !text.starts_with(&[0xFF, 0xFE]) && !text.starts_with(&[0xFE, 0xFF]) {
        return refuse(Place::default(), "is neither a rig (TOML text) nor an FMU (name ending in .fmu)");
    }
    match str::from_utf8(&text) {
        Ok(text) => rig::parse(text, file).map_err(Error::Rig),
        Err(error) => {
            let good = &text[..error.valid_up_to()];
            let (line, column) = str::from_utf8(good).map_or((1, 1), |good| Places::new(good).of(good.len()));
            let message = "is not UTF-8, the encoding of rigs (TOML text); convert the file (iconv -f LATIN1 -t UTF-8, \
                           or -f UTF-16), or give an .fmu file";
            refuse(Place { line, column }, message)
        }
    }
}

fn host_facts() -> Result<HostFacts, Error> {
    let allowed = affinity::allowed_cpus().map_err(|error| Error::System(error.to_string()))?;
    let isolated = affinity::isolated_cpus();
    Ok(HostFacts { allowed_cpus: allowed.into_iter().collect(), isolated_cpus: isolated.into_iter().collect() })
}
