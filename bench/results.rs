//! What benchmarks find: printed line by line, and kept in `target/bench.json` for programs.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Measures: exit code 0 when that says that all limits were kept.
pub fn run(measure: impl FnOnce() -> Result<bool, String>) -> ExitCode {
    // `cargo test --benches` only wants to know whether this builds.
    if std::env::args().any(|argument| argument == "--test") {
        return ExitCode::SUCCESS;
    }
    match measure() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            println!("not measured: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Whether a part is wanted: those that the command line names, all where it names none.
#[allow(dead_code)] // not every program has parts
pub fn asked(part: &str) -> bool {
    let mut parts = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).peekable();
    parts.peek().is_none() || parts.any(|argument| argument == part)
}

/// Says so when the command line names a part that there is not.
#[allow(dead_code)] // as above
pub fn known(parts: &[&str]) -> Result<(), String> {
    let mut named = std::env::args().skip(1).filter(|argument| !argument.starts_with('-'));
    match named.find(|part| !parts.contains(&part.as_str())) {
        Some(part) => Err(format!("there is no part `{part}`: there are {}", parts.join(", "))),
        None => Ok(()),
    }
}

/// The figures of one program.
pub struct Results {
    program: &'static str,
    lines: Vec<Value>,
    kept: bool,
}

impl Results {
    /// None yet, of this program.
    pub fn new(program: &'static str) -> Results {
        Results { program, lines: Vec::new(), kept: true }
    }

    /// Keeps a figure that is printed already. `at_most`: what it must not be above.
    pub fn note(&mut self, name: &str, value: f64, unit: &str, at_most: Option<f64>) {
        let kept = at_most.is_none_or(|at_most| value <= at_most);
        self.lines.push(match at_most {
            None => json!({ "name": name, "value": value, "unit": unit }),
            Some(at_most) => json!({ "name": name, "value": value, "unit": unit, "at_most": at_most, "kept": kept }),
        });
        self.kept &= kept;
    }

    /// Something that was not as it must be, for which there is no figure.
    #[allow(dead_code)] // not every program has that
    pub fn broken(&mut self) {
        self.kept = false;
    }

    /// A figure for which there is no limit.
    #[allow(dead_code)]
    pub fn figure(&mut self, name: &str, value: f64, unit: &str) {
        println!("{name:<68} {value:10.2} {unit}");
        self.note(name, value, unit, None);
    }

    /// A figure that must not be above `at_most`.
    #[allow(dead_code)]
    pub fn limited(&mut self, name: &str, value: f64, unit: &str, at_most: f64) {
        let verdict = if value <= at_most { "" } else { "  EXCEEDED" };
        println!("{name:<68} {value:10.2} {unit}    (at most {at_most}){verdict}");
        self.note(name, value, unit, Some(at_most));
    }

    /// Something that could not be measured, and why.
    #[allow(dead_code)]
    pub fn skipped(&mut self, name: &str, why: &str) {
        println!("{name:<68} SKIPPED: {why}");
        self.lines.push(json!({ "name": name, "skipped": why }));
    }

    /// Writes them beside those of the other programs; whether all limits were kept.
    pub fn write(self) -> Result<bool, String> {
        let file = file();
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let mut all: Value = serde_json::from_str(&text).unwrap_or(json!({}));
        all[self.program] = json!({ "kernel": kernel(), "kept": self.kept, "figures": self.lines });
        let folder = file.parent().expect("a file in target");
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&file, serde_json::to_string_pretty(&all).expect("strings and numbers")))
            .map_err(|error| format!("{}: {error}", file.display()))?;
        println!("figures: {}", file.display());
        Ok(self.kept)
    }
}

fn file() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_vecud"));
    program.ancestors().nth(2).unwrap_or(program).join("bench.json")
}

fn kernel() -> String {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap_or_default();
    format!("{} {}", read("osrelease").trim(), read("version").trim())
}
