//! What the tests of this folder share: a folder of its own to do everything wrong in, FMUs to spoil, and the program.
//!
//! Files are named relative to that folder, so that messages can be compared as they are printed.

use crate::program::{PATIENCE, user};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use vecud::fmu::archive::{Cache, Unpacked};

pub const VECUD: &str = env!("CARGO_BIN_EXE_vecud");
/// Beyond this the program hangs.
const LONGEST: Duration = PATIENCE;

/// What triggered clocks of the tracer that nobody triggers lead to.
pub fn notes(fmu: &str) -> String {
    let note = |clock| format!("note: {fmu}.{clock} is a triggered clock that no [[trigger]] names: it never ticks\n");
    note("high") + &note("low")
}

/// The tracer's library, built once.
static TRACER: LazyLock<PathBuf> = LazyLock::new(|| {
    let cache = Cache::at(Path::new(env!("CARGO_TARGET_TMPDIR")).join("bad-input-cache"));
    Unpacked::open(&source("tracer"), &cache).unwrap().library("tracer", &cache).unwrap()
});

fn source(fmu: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(fmu)
}

/// A way to end that a run has found.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// A folder of its own, removed at the end.
pub struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Bench {
        let folder = crate::program::tempdir().unwrap();
        // Other users, as whom some tests run, must get in.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Bench { folder }
    }

    /// With the tracer as the folder `name`, its library already built.
    pub fn with_fmu(name: &str) -> Bench {
        let bench = Bench::new();
        bench.fmu(name);
        bench
    }

    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
    }

    /// Adds the tracer, its library already built.
    pub fn fmu(&self, name: &str) {
        self.write(
            Path::new(name).join("modelDescription.xml"),
            fs::read(source("tracer").join("modelDescription.xml")).unwrap(),
        );
        self.write(Path::new(name).join(library()), fs::read(&*TRACER).unwrap());
    }

    /// Adds the tracer as sources only.
    pub fn source_fmu(&self, name: &str) {
        for part in ["", "sources"] {
            for entry in fs::read_dir(source("tracer").join(part)).unwrap().map(Result::unwrap) {
                if entry.path().is_file() {
                    self.write(Path::new(name).join(part).join(entry.file_name()), fs::read(entry.path()).unwrap());
                }
            }
        }
    }

    /// Packs a folder of this bench.
    pub fn pack(&self, folder: &str, archive: impl AsRef<Path>) {
        let mut zip = zip::ZipWriter::new(fs::File::create(self.path(archive)).unwrap());
        for name in self.files(folder) {
            zip.start_file(
                name.strip_prefix(folder).unwrap().to_str().unwrap(),
                zip::write::SimpleFileOptions::default(),
            )
            .unwrap();
            zip.write_all(&fs::read(self.path(&name)).unwrap()).unwrap();
        }
        zip.finish().unwrap();
    }

    /// Replaces the first `old` in a text, which must be there.
    #[track_caller]
    pub fn edit(&self, file: &str, old: &str, new: &str) {
        let text = fs::read_to_string(self.path(file)).unwrap();
        assert!(text.contains(old), "{old:?} is not in {file}");
        self.write(file, text.replacen(old, new, 1));
    }

    /// The line of the first `text` in a file.
    #[track_caller]
    pub fn line(&self, file: &str, text: &str) -> usize {
        let content = fs::read_to_string(self.path(file)).unwrap();
        1 + content.lines().position(|line| line.contains(text)).unwrap()
    }

    /// The program in this folder, with a cache of its own.
    pub fn command(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        self.wrapped(&[], arguments)
    }

    /// The same, started by another program.
    pub fn wrapped(&self, by: &[&str], arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let mut words = by.iter().copied().chain([VECUD]);
        let mut command = Command::new(words.next().unwrap());
        command.args(words).args(arguments).current_dir(self.folder.path());
        command.env("VECUD_CACHE", self.path("cache")).env_remove("CC").env("LC_ALL", "C");
        command
    }

    /// Runs `vecud` with these arguments, separated by blanks.
    pub fn run(&self, arguments: &str) -> Outcome {
        finish(&mut self.command(arguments.split_whitespace()))
    }

    /// Exit code 2 and exactly this message on stderr, nothing on stdout, nothing left behind.
    #[track_caller]
    pub fn refuses(&self, arguments: &str, message: &str) {
        let outcome = self.refused(self.command(arguments.split_whitespace()));
        assert_eq!(outcome.stderr, format!("{message}\n"), "vecud {arguments}");
    }

    /// The same for `run` and for `check`.
    #[track_caller]
    pub fn refuses_to_plan(&self, file: &str, message: &str) {
        self.refuses(&format!("run {file}"), message);
        self.refuses(&format!("check {file}"), message);
    }

    /// The same for `inspect` as well.
    #[track_caller]
    pub fn refuses_to_open(&self, file: &str, message: &str) {
        self.refuses_to_plan(file, message);
        self.refuses(&format!("inspect {file}"), message);
        self.refuses(&format!("inspect --json {file}"), message);
    }

    /// Exit code 2, nothing on stdout, nothing left behind.
    #[track_caller]
    pub fn refused(&self, mut command: Command) -> Outcome {
        let before = self.left();
        let outcome = finish(&mut command);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{command:?}: {}", outcome.stderr);
        assert!(!outcome.stderr.contains("panicked"), "{}", outcome.stderr);
        assert_eq!(self.left(), before, "{command:?} leaves something behind");
        self.no_process();
        outcome
    }

    /// Nobody who uses our cache is running any more.
    #[track_caller]
    pub fn no_process(&self) {
        let cache = format!("VECUD_CACHE={}", self.path("cache").display());
        let of_ours = |entry: &fs::DirEntry| {
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|variable| variable == cache.as_bytes())
        };
        let left: Vec<_> = fs::read_dir("/proc").unwrap().flatten().filter(of_ours).map(|e| e.file_name()).collect();
        assert!(left.is_empty(), "processes left: {left:?}");
    }

    /// What is in this folder; of the cache only what should not stay there.
    fn left(&self) -> BTreeSet<PathBuf> {
        let mut found = self.files("");
        found.retain(|path| !path.starts_with("cache"));
        let cache = fs::read_dir(self.path("cache")).into_iter().flatten().flatten();
        let whole = |name: &str| name.starts_with("fmu-v") || name.starts_with("lib-v");
        found.extend(
            cache.map(|e| e.path()).filter(|path| !path.file_name().is_some_and(|n| whole(&n.to_string_lossy()))),
        );
        found
    }

    /// Relative paths of everything below a folder but of folders that hold something.
    pub fn files(&self, folder: &str) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let mut open = vec![self.path(folder)];
        while let Some(path) = open.pop() {
            let entries: Vec<_> = fs::read_dir(&path).into_iter().flatten().flatten().map(|e| e.path()).collect();
            if entries.is_empty() {
                found.insert(path.strip_prefix(self.folder.path()).unwrap().to_owned());
            }
            open.extend(entries);
        }
        found
    }
}

/// Where the tracer's library lies in its FMU.
pub fn library() -> String {
    format!("binaries/{}-linux/tracer.so", std::env::consts::ARCH)
}

/// Runs a command to its end.
#[track_caller]
pub fn finish(command: &mut Command) -> Outcome {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let read = |stream: &mut dyn Read| {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    std::thread::scope(|scope| {
        let stdout = scope.spawn(move || read(&mut out));
        let stderr = scope.spawn(move || read(&mut err));
        let code = wait(&mut child).code();
        Outcome { code, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
    })
}

/// Waits, but not for ever.
#[track_caller]
pub fn wait(child: &mut Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if start.elapsed() > LONGEST {
            child.kill().unwrap();
            panic!("it does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Says on the real stderr, which the test harness does not swallow, that a test proves nothing here.
pub fn skip(test: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: {why}");
}

/// The words that start a program as a user who owns nothing, or `None` where that is impossible.
pub fn as_nobody(test: &str) -> Option<&'static [&'static str]> {
    if !user::is_root() {
        return Some(&[]);
    }
    // The program itself may lie where nobody but root gets in.
    let (program, options) = user::AS_NOBODY.split_first().unwrap();
    let works = Command::new(program).args(options).args([VECUD, "--version"]).output();
    if works.is_ok_and(|output| output.status.success()) {
        return Some(user::AS_NOBODY);
    }
    skip(test, "the program cannot be started as nobody");
    None
}
