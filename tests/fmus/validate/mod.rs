//! `vecud validate` as a user runs it: on FMUs that are sound, and on FMUs each of which has one thing wrong with it.

mod archives;
mod descriptions;
use crate::program::schema as json_schema;
mod lives;
mod output;
mod reference_fmus;
mod results;
mod sound;

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;

/// What a validation has said.
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

    /// The outcome of a check, the first word or two behind its name.
    #[track_caller]
    fn outcome(&self, check: &str) -> &str {
        let line = self.stdout.lines().find_map(|line| line.strip_prefix(check)?.strip_prefix("  "));
        let rest = line.unwrap_or_else(|| panic!("there is no check {check}:\n{}", self.stdout)).trim_start();
        ["ok", "finding", "not tried"].into_iter().find(|word| rest.starts_with(word)).unwrap_or(rest)
    }

    /// One line, among the findings or the warnings, has all of these.
    #[track_caller]
    fn says(&self, words: &[&str]) {
        let is_it = |line: &&str| words.iter().all(|word| line.contains(word));
        assert!(self.stdout.lines().any(|line| is_it(&line)), "{words:?}:\n{}", self.stdout);
    }

    /// The closing line begins its account with these words.
    #[track_caller]
    fn sums_up(&self, words: &str) {
        let last = self.stdout.lines().last().unwrap_or_default();
        assert!(last.contains(&format!(": {words}")), "{words}:\n{}", self.stdout);
    }
}

/// An FMU as a folder of its own, in which things can be changed.
struct Fmu {
    folder: TempDir,
    name: String,
}

impl Fmu {
    /// A copy of an example.
    fn like(name: &str) -> Fmu {
        let fmu = Fmu { folder: crate::program::tempdir().unwrap(), name: name.to_owned() };
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(name), &fmu.path());
        fmu
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    /// Replaces a text in a file of it.
    #[track_caller]
    fn with(self, file: &str, before: &str, after: &str) -> Fmu {
        let path = self.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(before), "{file} has no {before}");
        fs::remove_file(&path).unwrap();
        fs::write(&path, text.replacen(before, after, 1)).unwrap();
        self
    }

    /// Adds a file.
    fn and(self, file: &str, text: &str) -> Fmu {
        let path = self.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn without(self, file: &str) -> Fmu {
        let path = self.path().join(file);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap()
        } else {
            fs::remove_file(path).unwrap()
        }
        self
    }

    /// Packs it, with `above` before each name.
    fn packed(&self, above: &str) -> PathBuf {
        let file = self.folder.path().join(format!("{}.fmu", self.name));
        let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        let mut archive = zip::ZipWriter::new(fs::File::create(&file).unwrap());
        let mut open = vec![self.path()];
        while let Some(folder) = open.pop() {
            let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
            entries.sort();
            for path in entries {
                if path.is_dir() {
                    open.push(path);
                    continue;
                }
                let name = path.strip_prefix(self.path()).unwrap().to_str().unwrap();
                archive.start_file(format!("{above}{name}"), stored).unwrap();
                archive.write_all(&fs::read(&path).unwrap()).unwrap();
            }
        }
        archive.finish().unwrap();
        file
    }

    fn validate(&self, arguments: &[&str]) -> Said {
        validate(&self.path(), arguments)
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &target),
            // A link becomes a copy of its file.
            false => fs::write(&target, fs::read(&path).unwrap()).unwrap(),
        }
    }
}

fn command(fmu: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
    // One cache for all tests, so that each FMU is built once.
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    command.arg("validate").arg(fmu).args(arguments).env("VECUD_CACHE", cache).stdin(Stdio::null());
    command
}

fn validate(fmu: &Path, arguments: &[&str]) -> Said {
    let output = command(fmu, arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// What `--json` says, which is what docs/validate.schema.json says, and the exit code.
fn json(fmu: &Path) -> (i32, Value) {
    let said = validate(fmu, &["--json"]);
    let value = serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {}", said.stdout));
    json_schema::Schema::of("validate.schema.json").holds(&value);
    (said.code, value)
}
