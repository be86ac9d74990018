//! One run of the program in a folder of its own, and all that came of it.

use crate::program::{PATIENCE, limit_memory};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// An environment variable that every process of a run inherits.
const MARK: &str = "VECUD_MUTATION";
/// The folders in which results belong; vecud makes them, or a mutation has them made ready.
pub const RESULTS: [&str; 3] = ["out", "foreign", "cache"];
/// What is kept for as long as it is wanted, beside results.
const CACHED: [&str; 2] = ["fmu-v", "lib-v"];

/// How many times its processor time a run may take on a machine that does other things meanwhile.
const LOAD: u32 = 24;

static RUNS: AtomicU64 = AtomicU64::new(0);

/// What has come of a run.
#[derive(Debug)]
pub struct Outcome {
    pub status: ExitStatus,
    pub stderr: String,
    /// Processor time.
    pub took: Duration,
    /// What it has left behind that it should not.
    pub left: Option<String>,
}

impl Outcome {
    /// It was read, whatever came of that.
    pub fn accepted(&self) -> bool {
        self.status.code() != Some(2)
    }
}

/// Where FMUs that are good are kept, built.
pub fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

/// Runs vecud in this folder, each of its processes with `memory` bytes of address space at most. A folder `cache` in it is its cache, else [`cache`].
/// `Err`: it has taken more than `at_most` of processor time, or has not ended within [`LOAD`] times that.
pub fn run(folder: &Path, words: &[String], at_most: Duration, memory: u64) -> Result<Outcome, String> {
    let mark = format!("{}-{}", std::process::id(), RUNS.fetch_add(1, SeqCst));
    fs::create_dir(folder.join("tmp")).unwrap();
    let own_cache = folder.join("cache");
    let cache = if own_cache.is_dir() { own_cache } else { cache() };
    let mut stderr = tempfile::tempfile().unwrap();
    let before = files(folder);
    let began = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
    command.args(words).current_dir(folder).env(MARK, &mark);
    command.env("VECUD_CACHE", cache).env("TMPDIR", folder.join("tmp")).env_remove("CC").env("LC_ALL", "C");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr.try_clone().unwrap());
    let child = command.spawn().unwrap();
    // From here, and not by the child itself: a process with threads that forks copies all of its page tables.
    limit_memory(&child, memory);
    let ended = wait(child, began + at_most * LOAD);
    let mut said = Vec::new();
    stderr.rewind().unwrap();
    stderr.read_to_end(&mut said).unwrap();
    let stderr = String::from_utf8_lossy(&said).chars().take(20_000).collect();
    let Some((status, took)) = ended.filter(|(_, took)| *took <= at_most) else {
        return Err(format!("it has not ended after {at_most:?}: vecud {}: {stderr}", words.join(" ")));
    };
    let refused = status.code() == Some(2);
    let left = processes(&mark).or_else(|| misplaced(folder, &before, refused));
    Ok(Outcome { status, stderr, took, left })
}

/// Waits for the end, and says how much processor time it and its children took; `None`: there is no end before `deadline`.
fn wait(child: Child, deadline: Instant) -> Option<(ExitStatus, Duration)> {
    let process = child.id() as libc::pid_t;
    let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    let mut killed = false;
    loop {
        let flags = if killed { 0 } else { libc::WNOHANG };
        // SAFETY: a child of ours that nobody else waits for, and places for what is written. All zeros are a rusage.
        let ended = unsafe { libc::wait4(process, &mut status, flags, usage.as_mut_ptr()) };
        if killed {
            return None;
        }
        if ended == process {
            // SAFETY: it was all zeros, and has been written to.
            let usage = unsafe { usage.assume_init() };
            let took = [usage.ru_utime, usage.ru_stime]
                .map(|time| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000));
            return Some((ExitStatus::from_raw(status), took.iter().sum()));
        }
        if Instant::now() > deadline {
            nix::sys::signal::kill(nix::unistd::Pid::from_raw(process), nix::sys::signal::SIGKILL).unwrap();
            killed = true;
        } else {
            std::thread::sleep(Duration::from_micros(500));
        }
    }
}

/// Every file and folder below a folder, with what changes when it is written to.
fn files(folder: &Path) -> BTreeMap<PathBuf, (u64, i64, i64)> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
            let (path, data) = (entry.path(), entry.path().symlink_metadata().unwrap());
            let version = if data.is_dir() { (0, 0, 0) } else { (data.len(), data.mtime(), data.mtime_nsec()) };
            found.insert(path.strip_prefix(folder).unwrap().to_owned(), version);
            if data.is_dir() {
                open.push(path);
            }
        }
    }
    found
}

/// What a run has written where no result belongs, or has not finished.
fn misplaced(folder: &Path, before: &BTreeMap<PathBuf, (u64, i64, i64)>, refused: bool) -> Option<String> {
    let after = files(folder);
    let lost = before.keys().find(|path| !after.contains_key(*path) && !path.starts_with("out"));
    if let Some(lost) = lost {
        return Some(format!("{} is gone", lost.display()));
    }
    let mut new = after.iter().filter(|(path, version)| before.get(*path) != Some(version)).map(|(path, _)| path);
    let wrong = |path: &&PathBuf| {
        let mut parts = path.iter().map(|part| part.to_string_lossy());
        let (top, second) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match &*top {
            "cache" => !second.is_empty() && !CACHED.iter().any(|kept| second.starts_with(kept)),
            place if RESULTS.contains(&place) => refused || name.starts_with('.') || name.ends_with(".part"),
            _ => true,
        }
    };
    let left = new.find(wrong)?;
    Some(format!("{} is left", left.display()))
}

/// Which processes of a run there still are, once those that are ending have had their time.
fn processes(mark: &str) -> Option<String> {
    let mark = format!("{MARK}={mark}\0");
    let ours = |process: &i32| {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        environment.windows(mark.len()).any(|window| window == mark.as_bytes())
    };
    let began = Instant::now();
    loop {
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let left: Vec<i32> = numbers.filter(ours).collect();
        if left.is_empty() {
            return None;
        }
        if began.elapsed() > PATIENCE {
            for process in &left {
                let _gone_meanwhile =
                    nix::sys::signal::kill(nix::unistd::Pid::from_raw(*process), nix::sys::signal::SIGKILL);
            }
            return Some(format!("processes {left:?} are left"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The content of a file that there has to be.
pub fn content(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

/// Words of a command line.
pub fn words(all: &str) -> Vec<String> {
    all.split_whitespace().map(str::to_owned).collect()
}
