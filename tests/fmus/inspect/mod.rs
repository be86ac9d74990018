//! `vecud inspect` as a user runs it: some of the variables, how they are laid out, and sets of start values.

mod only;
mod starts;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The two descriptions of earlier versions that other tests read, too.
const FMI1: &str = include_str!("../descriptions/earlier/fmi1.xml");
const FMI2: &str = include_str!("../descriptions/earlier/fmi2.xml");

fn fmu(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(name)
}

/// What a command has left.
struct Done {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Done {
    #[track_caller]
    fn exits(self, code: i32) -> Done {
        assert_eq!(self.code, code, "stderr:\n{}\nstdout:\n{}", self.stderr, self.stdout);
        self
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// The first word of each line that belongs to a table, but for its head.
    fn names(&self) -> Vec<&str> {
        let rows = self.stdout.lines().filter(|line| line.starts_with("  "));
        rows.filter_map(|line| line.split_whitespace().next()).filter(|word| *word != "name").collect()
    }
}

/// A folder in which commands are run.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(crate::program::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// An FMU that is nothing but a description.
    fn described(&self, name: &str, xml: &str) -> PathBuf {
        std::fs::create_dir(self.path(name)).unwrap();
        self.write(&format!("{name}/modelDescription.xml"), xml);
        self.path(name)
    }

    fn run(&self, command: &str, fmu: &Path, arguments: &[&str]) -> Done {
        let mut vecud = Command::new(env!("CARGO_BIN_EXE_vecud"));
        vecud.arg(command).arg(fmu).args(arguments).current_dir(self.0.path());
        let Output { status, stdout, stderr } = vecud.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Done { code: status.code().unwrap_or(-1), stdout: text(stdout), stderr: text(stderr) }
    }

    fn inspect(&self, fmu: &Path, arguments: &[&str]) -> Done {
        self.run("inspect", fmu, arguments)
    }
}

fn inspect(fmu: &Path, arguments: &[&str]) -> Done {
    Place::new().inspect(fmu, arguments)
}
