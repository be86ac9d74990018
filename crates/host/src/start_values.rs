//! Start values for the only FMU of a rig, from a file and from the command line: `vecud simulate` and `vecud inspect` take them alike.

use super::Error;
use super::prepare::utf8;
use std::path::Path;
use vecud_linux::files;
use vecud_plan::rig::{self, Diagnostic, Place, Rig, RigError};

/// Longer files than this are refused: it is the wrong one.
const LONGEST: u64 = 64 << 20;

/// Gives the FMU of a rig the start values of a file; those of the command line, `NAME=VALUE`, replace them.
pub fn give_start_values(rig: &mut Rig, file: Option<&Path>, settings: &[String]) -> Result<(), Error> {
    if let Some(file) = file {
        let text = text_of(file)?;
        rig::start_of_only_fmu(rig, &text, file).map_err(Error::Rig)?;
    }
    rig::set_of_only_fmu(rig, "--start-value", settings).map_err(Error::Rig)
}

fn text_of(file: &Path) -> Result<String, Error> {
    let refuse = |place, message: &str| {
        let message = format!("{message}; give a file of start values (TOML), as vecud inspect --save-start writes it");
        Error::Rig(RigError { problems: vec![Diagnostic::new(file, place, message)] })
    };
    let Some(text) = files::read_at_most(file, LONGEST).map_err(Error::file(file))? else {
        return Err(refuse(Place::default(), "longer than 64 MiB, which no set of start values is"));
    };
    utf8(text).map_err(|place| refuse(place, "is not UTF-8, the encoding of TOML text"))
}
