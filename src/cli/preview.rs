//! Rigs and FMUs that are looked at and not run.

use super::diagnostics::say;
use super::interruption::interruptible;
use super::terminal;
use std::path::Path;
use vecud_description::ModelDescription;
use vecud_fmu::archive::{Cache, Unpacked};
use vecud_host::{Error, Options, Prepared};
use vecud_linux::stop::StopToken;

/// The plan of a rig that is not run, or not yet.
pub fn plan(options: Options) -> Result<Prepared, Error> {
    interruptible(|stop| terminal::showing("", |events| vecud_host::plan(&Options { stop, ..options }, &events)))
}

/// An FMU that is opened but not built, and its description.
pub fn described(file: &Path, stop: StopToken) -> Result<(Unpacked, ModelDescription), Error> {
    let cache = Cache::user().map_err(Error::NoCache)?;
    cache.note().into_iter().for_each(|note| say(&format!("note: {note}")));
    let unpacked = Unpacked::open(file, &cache.until(stop)).map_err(Error::Archive)?;
    let text = unpacked.model_description().map_err(Error::Archive)?;
    let description =
        vecud_description::parse(&text).map_err(|error| Error::Description(unpacked.origin.clone(), error))?;
    for warning in &description.warnings {
        say(&format!("note: {}/{warning}", unpacked.origin.display()));
    }
    Ok((unpacked, description))
}
