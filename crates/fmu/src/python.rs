//! Libraries of FMUs that call Python and do not say which library has it: tools that pack a Python class into an FMU leave that to
//! the loading program, as Python's own extensions do.
//!
//! The one that is meant is that of the interpreter which `python3` is on this machine, or in the virtual environment that is active; where
//! that has none of its own, the only one that there is. Files are read, and nothing runs.

#![forbid(unsafe_code)]

use super::binary::Exports;
use super::linking;
use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The begin of the names of its symbols.
const SYMBOLS: [&str; 2] = ["Py", "_Py"];
/// The begin of the names of its library.
const LIBRARY: &str = "libpython3.";
/// The interpreter.
const PROGRAM: &str = "python3";

/// Whether a file is called as Python's library is.
pub fn is_library(file: &Path) -> bool {
    file.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with(LIBRARY))
}

/// The symbols of Python that an FMU's library, or one that the FMU brings beside it, uses and that no library of its needs has;
/// none if Python is loaded with this program.
pub fn calls(library: &Path) -> Vec<String> {
    let preloaded = env::var_os("LD_PRELOAD").unwrap_or_default();
    if preloaded.to_string_lossy().split([':', ' ']).any(|file| is_library(Path::new(file))) {
        return Vec::new();
    }
    // Which libraries an FMU brings beside its own is known without asking what it needs.
    let is_alone = library.parent().and_then(|folder| fs::read_dir(folder).ok()).is_none_or(|files| files.count() < 2);
    let undefined = |file: &Path| linking::undefined(file).into_iter().filter(|name| is_of_python(name));
    if linking::names_needed(library).iter().any(|name| is_library_of_python(name)) {
        return Vec::new();
    }
    let mut names: Vec<String> = undefined(library).collect();
    if names.is_empty() && is_alone {
        return names;
    }
    let needed = linking::needed(library);
    let brought = needed.iter().filter(|file| file.parent() == library.parent());
    names.extend(brought.flat_map(|file| undefined(file)));
    if !names.is_empty() {
        for exports in needed.iter().filter_map(|file| Exports::of(file).ok()) {
            names.retain(|name| !exports.has(name));
        }
    }
    names
}

/// Whether a library says by this name which library of Python it needs, be it there or not.
fn is_library_of_python(name: &str) -> bool {
    name.starts_with("libpython")
}

/// Whether a symbol is called as those of Python are: `PyList_New`, `_Py_NoneStruct`.
fn is_of_python(symbol: &str) -> bool {
    let rest = SYMBOLS.iter().find_map(|begin| symbol.strip_prefix(begin));
    rest.and_then(|rest| rest.chars().next()).is_some_and(|next| next == '_' || next.is_ascii_uppercase())
}

/// Libraries that have all of these symbols: the intended one, or all candidates.
pub fn libraries(symbols: &[String]) -> Vec<PathBuf> {
    let has_all =
        |path: &PathBuf| Exports::of(path).is_ok_and(|exports| symbols.iter().all(|symbol| exports.has(symbol)));
    let own = of_program().into_iter().find(has_all);
    let others = || distinct(linking::files_named(|name| name.starts_with(LIBRARY) && name.contains(".so")));
    own.map_or_else(|| others().into_iter().filter(has_all).collect(), |own| vec![own])
}

/// The possible places of the interpreter's library.
fn of_program() -> Vec<PathBuf> {
    let Some(program) = program() else { return Vec::new() };
    let version = program.file_name().and_then(OsStr::to_str).and_then(|name| name.strip_prefix("python"));
    let (Some(version), Some(prefix)) = (version, program.parent().and_then(Path::parent)) else { return Vec::new() };
    let folders = ["lib".to_owned(), "lib64".to_owned(), format!("lib/{}-linux-gnu", env::consts::ARCH)];
    let names = [format!("libpython{version}.so.1.0"), format!("libpython{version}.so")];
    let places = folders.iter().flat_map(|folder| names.iter().map(move |name| prefix.join(folder).join(name)));
    places.filter(|path| path.is_file()).collect()
}

/// The file of the interpreter, behind all links: `python3.11`.
fn program() -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    let named = env::split_paths(&folders).map(|folder| folder.join(PROGRAM)).find(|path| path.is_file())?;
    // A virtual environment may have a copy of its own, and says whose.
    let home = named.parent()?.parent().and_then(|folder| fs::read_to_string(folder.join("pyvenv.cfg")).ok());
    let home = home.as_deref().and_then(|text| {
        let lines = text.lines().filter_map(|line| line.split_once('='));
        lines.into_iter().find(|(key, _)| key.trim() == "home").map(|(_, folder)| PathBuf::from(folder.trim()))
    });
    let base = home.map(|home| home.join(PROGRAM)).filter(|path| path.is_file());
    base.unwrap_or(named).canonicalize().ok()
}

/// Each file once, by the name that it has behind all links.
fn distinct(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let files: BTreeSet<PathBuf> = files.into_iter().filter_map(|file| file.canonicalize().ok()).collect();
    files.into_iter().collect()
}
