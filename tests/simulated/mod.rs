//! `vecud simulate` as a user runs it, and what it has left.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// An FMU of `fmus/`.
pub fn fmu(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(name)
}

/// What a simulation has left.
pub struct Simulated {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Simulated {
    #[track_caller]
    pub fn exits(self, code: i32) -> Simulated {
        assert_eq!(self.code, code, "stderr:\n{}\nstdout:\n{}", self.stderr, self.stdout);
        // Every release has become something (semantics S12).
        assert!(!self.stderr.contains("a bug in vecud"), "{}", self.stderr);
        self
    }

    pub fn header(&self) -> &str {
        self.stdout.lines().next().unwrap_or_default()
    }

    /// The cells of each row behind the header.
    pub fn rows(&self) -> Vec<Vec<&str>> {
        self.stdout.lines().skip(1).map(|line| line.split(',').collect()).collect()
    }

    /// A column as numbers.
    #[track_caller]
    pub fn column(&self, name: &str) -> Vec<f64> {
        let place = self.header().split(',').position(|column| column == name).unwrap_or_else(|| panic!("no {name}"));
        self.rows().iter().map(|row| row[place].parse().unwrap()).collect()
    }
}

/// A folder to simulate in, which is empty again afterwards but for what was put or asked for.
pub struct Place(TempDir);

impl Place {
    pub fn new() -> Place {
        Place(crate::program::tempdir().unwrap())
    }

    /// Writes a file.
    pub fn with(self, name: &str, text: &str) -> Place {
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn names(&self) -> Vec<String> {
        let entries = self.0.path().read_dir().unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn command(&self, fmu: &Path, arguments: &[&str]) -> Command {
        self.command_of("simulate", fmu, arguments)
    }

    pub fn command_of(&self, command: &str, fmu: &Path, arguments: &[&str]) -> Command {
        crate::program::take_signals();
        let mut vecud = Command::new(env!("CARGO_BIN_EXE_vecud"));
        vecud.arg(command).arg(fmu).args(arguments).current_dir(self.0.path());
        vecud
    }

    pub fn simulate(&self, fmu: impl AsRef<OsStr>, arguments: &[&str]) -> Simulated {
        let Output { status, stdout, stderr } = self.command(Path::new(fmu.as_ref()), arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Simulated { code: status.code().unwrap_or(-1), stdout: text(stdout), stderr: text(stderr) }
    }
}

/// Simulates in a folder in which nothing may be left.
pub fn simulate(fmu: impl AsRef<OsStr>, arguments: &[&str]) -> Simulated {
    let place = Place::new();
    let simulated = place.simulate(fmu, arguments);
    assert_eq!(place.names(), [""; 0], "nothing is left behind");
    simulated
}

/// Copies a folder with all that is in it.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in from.read_dir().unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}
