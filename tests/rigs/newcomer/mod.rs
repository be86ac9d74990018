//! What somebody meets who is new to vecud: `vecud new`, the tutorial.

mod check_json;
mod doctor_files;
use crate::program::schema as json_schema;
mod new_fmu;
mod new_rig;
mod set;
mod setup;
mod terminal;
mod tutorial;
mod watch;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder of its own, in which `vecud` is run.
struct Desk(tempfile::TempDir);

/// How a command has ended.
struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Desk {
    fn new() -> Desk {
        Desk(crate::program::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Runs `vecud` with these arguments, separated by blanks.
    fn run(&self, arguments: &str) -> Outcome {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
        command.args(arguments.split_whitespace()).current_dir(self.0.path()).env("VECUD_CACHE", cache());
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Outcome { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Runs `vecud` with these arguments on a terminal of its own: its exit code, and what is written there but for codes. `None`, with a word: there
    /// is no `script` to make one.
    fn on_terminal(&self, test: &str, columns: usize, rows: usize, arguments: &str) -> Option<(Option<i32>, String)> {
        self.on_terminal_until(test, columns, rows, arguments, |_| false)
    }

    /// The same of a command that ends when the terminal has shown what is waited for: by a Ctrl-C there.
    fn on_terminal_until(
        &self,
        test: &str,
        columns: usize,
        rows: usize,
        arguments: &str,
        is_shown: impl Fn(&str) -> bool,
    ) -> Option<(Option<i32>, String)> {
        let program = env!("CARGO_BIN_EXE_vecud");
        let line = format!("stty cols {columns} rows {rows}; exec '{program}' {arguments}");
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(self.0.path()).env("VECUD_CACHE", cache());
        command.env("TERM", "xterm").env("NO_COLOR", "1").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: script: {error}");
                return None;
            }
        };
        let mut keyboard = child.stdin.take();
        let (mut output, mut bytes, mut chunk) = (child.stdout.take().unwrap(), Vec::new(), [0; 4096]);
        loop {
            let read = output.read(&mut chunk).unwrap();
            bytes.extend_from_slice(&chunk[..read]);
            if read == 0 {
                break;
            }
            if keyboard.is_some() && is_shown(&without_escapes(&String::from_utf8_lossy(&bytes))) {
                keyboard.take().unwrap().write_all(b"\x03").unwrap();
            }
        }
        Some((child.wait().unwrap().code(), without_escapes(&String::from_utf8(bytes).unwrap())))
    }

    /// The same, which must be done: what is on stdout.
    #[track_caller]
    fn does(&self, arguments: &str) -> String {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, Some(0), "vecud {arguments}: {}{}", outcome.stdout, outcome.stderr);
        outcome.stdout
    }

    /// The same, which must be refused in these words, and leave the folder as it is.
    #[track_caller]
    fn refuses(&self, arguments: &str, words: &str) {
        let before = self.names();
        let outcome = self.run(arguments);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "vecud {arguments}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "vecud {arguments}: {}", outcome.stderr);
        assert_eq!(self.names(), before, "vecud {arguments} leaves something behind");
    }

    /// What is in the folder.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// A terminal's output without its control sequences.
fn without_escapes(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap().to_owned();
    let rest = parts.map(|part| part.split_once(|c: char| c.is_ascii_alphabetic()).map_or("", |(_, rest)| rest));
    rest.fold(first, |text, part| text + part)
}

/// One cache for all tests, so that each FMU is built once.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

/// A file or folder of the repository.
fn repository(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name).display().to_string()
}
