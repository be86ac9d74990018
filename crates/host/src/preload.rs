//! Libraries that are loaded before an FMU's, for all code of the process: those that the user names, and Python's where an FMU calls it and
//! does not say where it is.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use vecud_fmu::python;

/// Functions of Python that libraries call without naming the library that has them, by file: each is examined once.
pub type Calls = HashMap<PathBuf, Vec<String>>;

/// Libraries that are loaded before an FMU's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preload {
    /// Files, or names that the linker looks for.
    pub files: Vec<PathBuf>,
    /// A note on anything that the user did not ask for.
    pub note: Option<String>,
}

impl Preload {
    /// Finds the libraries to be loaded before that of FMU `name`; the user has named these. `known`: what is known of libraries so far.
    ///
    /// # Errors
    /// Which line helps.
    pub fn of(name: &str, library: &Path, wanted: Vec<PathBuf>, known: &mut Calls) -> Result<Preload, String> {
        // A name without a folder is the linker's to look for.
        if let Some(file) = wanted.iter().find(|file| file.components().count() > 1 && !file.is_file()) {
            return Err(format!(
                "{} is to be loaded before the library of {name} (preload), and is no file",
                file.display()
            ));
        }
        let names_python = wanted.iter().any(|file| python::is_library(file));
        let calls = match names_python {
            true => &[][..],
            false => known.entry(library.to_owned()).or_insert_with(|| python::calls(library)),
        };
        let Some(first) = calls.first() else { return Ok(Preload { files: wanted, note: None }) };
        let what = format!("the library of {name} calls Python ({first}) and does not say which");
        let line =
            |file: &str| format!("preload = [\"{file}\"] in [fmu.{name}] of a rig, or `vecud run --preload {file}`");
        match python::libraries(calls).as_slice() {
            [one] => {
                let note = format!("{what}: {} is loaded first; preload in its table names another one", one.display());
                Ok(Preload { files: wanted.into_iter().chain([one.clone()]).collect(), note: Some(note) })
            }
            [] => Err(format!(
                "{what}, and none is found that has all that it calls: install the library of Python (Debian: libpython3.11), or name it: {}",
                line("libpython3.11.so.1.0")
            )),
            several => {
                let lines: Vec<String> = several.iter().map(|file| line(&file.display().to_string())).collect();
                Err(format!(
                    "{what}, and more than one could be meant; choose one by its line:\n  {}",
                    lines.join("\n  ")
                ))
            }
        }
    }
}
