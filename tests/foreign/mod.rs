//! What the tests with other people's FMUs share: a folder with a cache of its own, `vecud` run in it, and what a run
//! leaves there.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// Says that a test was not run, where a reader of the test run sees it.
pub fn skipped(why: &str) {
    // Not by a macro: the test harness would keep its output to itself.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// A folder of its own, removed at the end.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(crate::program::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn vecud(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_vecud"))
            .args(arguments)
            .current_dir(self.0.path())
            .env("VECUD_CACHE", self.path("cache"))
            .output()
            .unwrap()
    }

    /// Runs a rig, which must end with this exit code.
    pub fn run_until(&self, code: i32, rig: &str, mode: &str) -> Run {
        fs::write(self.path("rig.toml"), rig).unwrap();
        let output = self.vecud(&["run", "rig.toml", "--quiet", "--mode", mode, "--out", mode]);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        assert_eq!(output.status.code(), Some(code), "{mode}: {stdout}\n{stderr}");
        let run = Run::read(&self.path(mode), stdout);
        assert_eq!(run.report["mode"], mode);
        run
    }

    /// Runs a rig, which must pass; what is not as it should be can only be the machine, in real time.
    pub fn run(&self, rig: &str, mode: &str) -> Run {
        let run = self.run_until(0, rig, mode);
        assert!(run.stdout.contains("\nrig passed: "), "{}", run.stdout);
        assert_eq!(run.report["verdict"], "pass", "{}", run.report);
        if mode == "virtual" {
            assert_eq!(run.report["problems"], Value::Array(vec![]), "{}", run.report);
        }
        for fmu in run.report["fmus"].as_array().unwrap() {
            assert_eq!(fmu["status"], "terminated", "{fmu}");
            assert_eq!(fmu["log"], Value::Array(vec![]), "{fmu}");
            for wrong in ["violations", "leaked", "unbalanced"] {
                assert_eq!(fmu["lock"][wrong], 0, "{fmu}");
            }
        }
        run
    }
}

/// What a run recorded.
pub struct Run {
    /// What it printed.
    pub stdout: String,
    pub report: Value,
    /// `signals.csv` as it is.
    pub signals: String,
}

impl Run {
    fn read(out: &Path, stdout: String) -> Run {
        let text = |name: &str| fs::read_to_string(out.join(name)).unwrap();
        Run { stdout, report: serde_json::from_str(&text("report.json")).unwrap(), signals: text("signals.csv") }
    }

    /// What the report counts of a clock.
    pub fn count(&self, fmu: &str, clock: &str, what: &str) -> u64 {
        let clocks = self.report["clocks"].as_array().unwrap();
        let found = clocks.iter().find(|c| c["fmu"] == fmu && c["clock"] == clock);
        found.unwrap_or_else(|| panic!("no {fmu}.{clock} in {}", self.report))[what].as_u64().unwrap()
    }

    /// Releases that a machine too busy for this rig made vecud skip: what the rig computes then depends on which.
    pub fn lost_releases(&self) -> u64 {
        self.report["clocks"].as_array().unwrap().iter().map(|clock| clock["skipped"].as_u64().unwrap()).sum()
    }

    /// A column of `signals.csv`; an empty field (nothing computed yet) is NaN.
    pub fn column(&self, name: &str) -> Vec<f64> {
        let mut lines = self.signals.lines();
        let header: Vec<&str> = lines.next().unwrap().split(',').collect();
        let at = header.iter().position(|column| *column == name);
        let at = at.unwrap_or_else(|| panic!("no {name} in {header:?}"));
        let number = |field: &str| if field.is_empty() { f64::NAN } else { field.parse().unwrap() };
        lines.map(|line| number(line.split(',').nth(at).unwrap())).collect()
    }
}
