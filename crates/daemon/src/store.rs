//! The state folder: the definition of each rig, and its runs.
//!
//! ```text
//! STATE                       locked by the one daemon that uses it
//! STATE/rigs/NAME/rig.json    what the rig is, and what is wanted of it (Definition)
//! STATE/rigs/NAME/runs/RUN    the output folder of a run, named by its start
//! ```
//!
//! Guarantees: `rig.json` is there as a whole, the former one or the new one, whatever ends the daemon or the machine. What cannot be read stays
//! where it is, and concerns its own rig alone.

use super::definition::Definition;
use super::name::RigName;
use super::runs::Runs;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use vecud_host::{Error, lock, write_lasting};
use vecud_linux::files::{Folder, stranger_to_root};

/// The file of a rig in its folder.
const RIG: &str = "rig.json";
/// The folder of its runs beside that.
const RUNS: &str = "runs";
/// A longer one is none: the text of a rig has a few MiB at most.
const LONGEST: u64 = 64 << 20;

/// A state folder that is this process's alone. It is held open, and nothing in it that is a link is followed.
#[derive(Debug)]
pub struct Store {
    rigs: Folder,
    /// Held as long as it is open.
    _lock: File,
}

impl Store {
    /// Makes the folder, if need be.
    pub fn open(folder: &Path) -> Result<Store, Error> {
        let refuse = |why: &dyn fmt::Display| {
            Error::System(format!(
                "{}: this state folder cannot be used: {why}; choose another one with --state DIR",
                folder.display()
            ))
        };
        let held = Folder::make_all(folder, &mut |_, _| ()).map_err(|error| refuse(&error))?;
        let rigs = held.make_beneath(Path::new("rigs"), &mut |_, _| ());
        let rigs = rigs.map_err(|error| refuse(&format!("rigs: {error}")))?;
        for folder in [&held, &rigs] {
            folder.may_be_written().map_err(|error| refuse(&format!("{}: {error}", folder.path().display())))?;
        }
        if let Some(stranger) = stranger_to_root(rigs.path()) {
            return Err(refuse(&format!("{stranger}, who could have root run and write what he likes")));
        }
        let lock = lock(&held.way()).map_err(|error| match error {
            Error::OutputInUse(_) => Error::System(format!(
                "{}: another daemon uses this state folder; end it, or choose another one with --state DIR",
                folder.display()
            )),
            Error::Output(_, error) => refuse(&error),
            error => error,
        })?;
        Ok(Store { rigs, _lock: lock })
    }

    /// Definition of each rig, or the reason why it cannot be read.
    pub fn rigs(&self) -> io::Result<Vec<(RigName, Result<Definition, String>)>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(self.rigs.way())? {
            let name = entry?.file_name();
            let Some(name) = name.to_str().and_then(RigName::new) else { continue };
            let path = self.rigs.path().join(name.as_str()).join(RIG);
            let told = |what: &dyn std::fmt::Display| format!("{}: {what}; put the rig anew", path.display());
            match self.rigs.inner(name.as_str()).and_then(|folder| folder.read_at_most(RIG, LONGEST)) {
                Ok(None) => {
                    all.push((name, Err(told(&format!("has more than {} MiB, which no rig has", LONGEST >> 20)))))
                }
                Ok(Some(text)) => all.push((name, Definition::of_text(&text).map_err(|error| told(&error)))),
                // It was deleted, and its runs are there.
                Err(error) if error.kind() == io::ErrorKind::NotFound => (),
                Err(error) => all.push((name, Err(told(&error)))),
            }
        }
        Ok(all)
    }

    /// Writes the definition of a rig, and its wanted state. Precondition: one caller at a time.
    pub fn keep(&self, name: &RigName, definition: &Definition) -> io::Result<()> {
        let folder = self.rigs.make_beneath(Path::new(name.as_str()), &mut |_, _| ()).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", self.rigs.path().join(name.as_str()).display()))
        })?;
        write_lasting(&folder.join(RIG), &definition.text()?)
    }

    /// Forgets the definition of a rig. Its runs stay.
    pub fn forget(&self, name: &RigName) -> io::Result<()> {
        let folder = match self.rigs.inner(name.as_str()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            folder => folder?,
        };
        match fs::remove_file(folder.join(RIG)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => (),
        }
        // Fails where there are runs.
        let _ = folder.remove_empty(RUNS);
        let _ = self.rigs.remove_empty(name.as_str());
        Ok(())
    }

    /// The runs of a rig.
    pub fn runs(&self, name: &RigName) -> Runs {
        Runs::of(self.rigs.clone(), Path::new(name.as_str()).join(RUNS))
    }
}
