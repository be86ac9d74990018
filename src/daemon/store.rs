//! The state folder: what is known of each rig, and its runs.
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
use crate::files::{read_at_most, stranger_to_root};
use crate::supervisor::{Error, lock, write_lasting};
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The file of a rig in its folder.
const RIG: &str = "rig.json";
/// A longer one is none: the text of a rig has a few MiB at most.
const LONGEST: u64 = 64 << 20;

/// A state folder that is this process's alone.
#[derive(Debug)]
pub struct Store {
    rigs: PathBuf,
    /// Held as long as it is open.
    _lock: File,
}

impl Store {
    /// Makes the folder, if need be.
    pub fn open(folder: &Path) -> Result<Store, Error> {
        let rigs = folder.join("rigs");
        let refuse = |why: &dyn fmt::Display| {
            Error::System(format!(
                "{}: this state folder cannot be used: {why}; choose another one with --state DIR",
                folder.display()
            ))
        };
        fs::create_dir_all(&rigs).map_err(|error| refuse(&error))?;
        if let Some(stranger) = stranger_to_root(&rigs) {
            return Err(refuse(&format!("{stranger}, who could have root run and write what he likes")));
        }
        let lock = lock(folder).map_err(|error| match error {
            Error::OutputInUse(_) => Error::System(format!(
                "{}: another daemon uses this state folder; end it, or choose another one with --state DIR",
                folder.display()
            )),
            error => error,
        })?;
        Ok(Store { rigs, _lock: lock })
    }

    /// What is known of each rig, or why it cannot be read.
    pub fn rigs(&self) -> io::Result<Vec<(RigName, Result<Definition, String>)>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.rigs)? {
            let name = entry?.file_name();
            let Some(name) = name.to_str().and_then(RigName::new) else { continue };
            let path = self.folder(&name).join(RIG);
            let told = |what: &dyn std::fmt::Display| format!("{}: {what}; put the rig anew", path.display());
            match read_at_most(&path, LONGEST) {
                Ok(None) => {
                    all.push((name, Err(told(&format!("has more than {} MiB, which no rig has", LONGEST >> 20)))))
                }
                Ok(Some(text)) => all.push((name, serde_json::from_slice(&text).map_err(|error| told(&error)))),
                // It was deleted, and its runs are there.
                Err(error) if error.kind() == io::ErrorKind::NotFound => (),
                Err(error) => all.push((name, Err(told(&error)))),
            }
        }
        Ok(all)
    }

    /// Writes down what a rig is, and what is wanted of it. For one at a time.
    pub fn keep(&self, name: &RigName, definition: &Definition) -> io::Result<()> {
        let folder = self.folder(name);
        fs::create_dir_all(&folder)?;
        if folder.symlink_metadata()?.is_symlink() {
            return Err(io::Error::other(format!("{} is a link, which is not followed", folder.display())));
        }
        let text = serde_json::to_vec_pretty(definition)?;
        write_lasting(&folder.join(RIG), &text)
    }

    /// Forgets what a rig is. Its runs stay.
    pub fn forget(&self, name: &RigName) -> io::Result<()> {
        let folder = self.folder(name);
        match fs::remove_file(folder.join(RIG)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => (),
        }
        // Fails where there are runs.
        let _ = fs::remove_dir(folder.join("runs"));
        let _ = fs::remove_dir(folder);
        Ok(())
    }

    /// Where the runs of a rig are.
    pub fn runs(&self, name: &RigName) -> PathBuf {
        self.folder(name).join("runs")
    }

    fn folder(&self, name: &RigName) -> PathBuf {
        self.rigs.join(name.as_str())
    }
}
