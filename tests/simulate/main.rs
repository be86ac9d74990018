//! `vecud simulate` as a user runs it: one FMU, CSV out, and nothing left behind.

mod bad_input;
mod events;
mod inputs;
mod options;
mod references;
mod sweeps;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

fn fmu(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(name)
}

/// What a simulation has left.
struct Simulated {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Simulated {
    #[track_caller]
    fn exits(self, code: i32) -> Simulated {
        assert_eq!(self.code, code, "stderr:\n{}\nstdout:\n{}", self.stderr, self.stdout);
        self
    }

    fn header(&self) -> &str {
        self.stdout.lines().next().unwrap_or_default()
    }

    /// The cells of each row behind the header.
    fn rows(&self) -> Vec<Vec<&str>> {
        self.stdout.lines().skip(1).map(|line| line.split(',').collect()).collect()
    }

    /// A column as numbers.
    #[track_caller]
    fn column(&self, name: &str) -> Vec<f64> {
        let place = self.header().split(',').position(|column| column == name).unwrap_or_else(|| panic!("no {name}"));
        self.rows().iter().map(|row| row[place].parse().unwrap()).collect()
    }
}

/// A folder to simulate in, which is empty again afterwards but for what was put or asked for.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(TempDir::new().unwrap())
    }

    /// Writes a file.
    fn with(self, name: &str, text: &str) -> Place {
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn names(&self) -> Vec<String> {
        let entries = self.0.path().read_dir().unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn command(&self, fmu: &Path, arguments: &[&str]) -> Command {
        self.command_of("simulate", fmu, arguments)
    }

    fn command_of(&self, command: &str, fmu: &Path, arguments: &[&str]) -> Command {
        let mut vecud = Command::new(env!("CARGO_BIN_EXE_vecud"));
        vecud.arg(command).arg(fmu).args(arguments).current_dir(self.0.path());
        vecud
    }

    fn simulate(&self, fmu: impl AsRef<OsStr>, arguments: &[&str]) -> Simulated {
        let Output { status, stdout, stderr } = self.command(Path::new(fmu.as_ref()), arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Simulated { code: status.code().unwrap_or(-1), stdout: text(stdout), stderr: text(stderr) }
    }
}

fn simulate(fmu: impl AsRef<OsStr>, arguments: &[&str]) -> Simulated {
    let place = Place::new();
    let simulated = place.simulate(fmu, arguments);
    assert_eq!(place.names(), [""; 0], "nothing is left behind");
    simulated
}
