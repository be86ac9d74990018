//! `vecud call` as a user runs it: every interface type and version, scripts and prompts, mistakes, and FMUs that crash and hang.

mod harms;
mod mistakes;
mod sessions;
mod states;
mod terminal;
mod versions;

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a conversation has said.
struct Said {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Said {
    #[track_caller]
    fn exits(self, code: i32) -> Said {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Standard output has these lines, in this order, whatever stands between.
    #[track_caller]
    fn shows(&self, wanted: &[&str]) {
        let mut lines = self.stdout.lines();
        for line in wanted {
            assert!(lines.any(|own| own == *line), "no line {line:?} there:\n{}", self.stdout);
        }
    }

    /// Standard error has all of these.
    #[track_caller]
    fn complains(&self, words: &[&str]) {
        assert!(words.iter().all(|word| self.stderr.contains(word)), "{words:?}:\n{}", self.stderr);
    }
}

/// An FMU of this repository.
fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(name)
}

fn command(fmu: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
    // One cache for all tests, so that each FMU is built once.
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    command.arg("call").arg(fmu).args(options).env("VECUD_CACHE", cache);
    command
}

fn end(mut command: Command, input: &[u8]) -> Said {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // One that has enough of it closes its end.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// A script, a line for each call.
fn script(fmu: &Path, options: &[&str], lines: &[&str]) -> Said {
    end(command(fmu, options), lines.join("\n").as_bytes())
}

/// What programs are told of each line, and the exit code.
fn json(fmu: &Path, options: &[&str], lines: &[&str]) -> (i32, Vec<Value>) {
    let said = script(fmu, &[options, &["--json"]].concat(), lines);
    let line = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    (said.code, said.stdout.lines().map(line).collect())
}

/// The functions that were called for a line.
fn called(line: &Value) -> Vec<&str> {
    line["calls"].as_array().unwrap().iter().map(|call| call["function"].as_str().unwrap()).collect()
}

/// What leads an instance for Model Exchange into Continuous-Time Mode.
const TO_CONTINUOUS_TIME: [&str; 5] = [
    "Instantiate",
    "EnterInitializationMode",
    "ExitInitializationMode",
    "UpdateDiscreteStates",
    "EnterContinuousTimeMode",
];
