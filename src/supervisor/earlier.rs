//! What earlier commands have left in an output folder, which the next one replaces, so that nothing of it is taken for its
//! own: files of a single run in the folder itself, those of several (`--repeat`) in its `run-1`, `run-2` and so on.
//!
//! The folder may be anybody's. Files are removed by the names that runs give them, and outside of the folder that the next
//! run fills anyway, only where the report says that it is one of several; folders only when they are empty then.

use super::Error;
use super::files::{ROOM, lock};
use crate::files;
use crate::report;
use crate::runner::Job;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::fs;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// No report is longer.
const LONGEST_REPORT: u64 = 256 << 20;

/// What is removed before a run begins.
#[derive(Debug)]
pub struct Earlier {
    folder: PathBuf,
    /// Inner folders with their files; the one of the next run first.
    found: Vec<(PathBuf, Vec<PathBuf>)>,
}

impl Earlier {
    /// Looks into `folder`, which is the command's; its (first) run goes to `out`, the same or a folder in it. Files that
    /// this run has made there already are in `keep`.
    pub fn find(folder: &Path, out: &Path, keep: &[PathBuf]) -> Result<Earlier, Error> {
        let mut found = vec![(out.to_owned(), files(out, false)?)];
        found[0].1.retain(|file| !keep.contains(file));
        // Before anything is removed: what stands in the way of a file of the next run.
        let is_folder = |path: &Path| path.symlink_metadata().is_ok_and(|data| data.is_dir());
        if let Some(folder) = found[0].1.iter().chain([&out.join("run.log")]).find(|path| is_folder(path)) {
            return Err(Error::Output(folder.clone(), rustix::io::Errno::ISDIR.into()));
        }
        let inner = names(folder)?.into_iter().filter(|name| is_of_several(name)).map(|name| folder.join(name));
        for path in std::iter::once(folder.to_owned()).chain(inner) {
            // What a link leads to may be anywhere.
            if path != out
                && (if path == folder { is_of_a_run(&path) } else { is_folder(&path) && is_one_of_several(&path) })
            {
                let mut files = files(&path, true)?;
                files.retain(|file| !is_folder(file));
                found.push((path, files));
            }
        }
        Ok(Earlier { folder: folder.to_owned(), found })
    }

    /// The bytes that it takes on the disk.
    pub fn size(&self) -> u64 {
        let data = self.found.iter().flat_map(|(_, files)| files).filter_map(|file| file.symlink_metadata().ok());
        data.filter(|data| data.nlink() == 1).map(|data| data.blocks() * 512).sum()
    }

    /// Says what is removed beside files that the next run replaces, if anything.
    pub fn note(&self) -> Option<String> {
        let (_, others) = self.found.split_first()?;
        let more = match others.len() {
            0 => return None,
            1 => String::new(),
            2 => " and 1 more folder".to_owned(),
            n => format!(" and {} more folders", n - 1),
        };
        Some(format!("note: what an earlier command has left in {}{more} is removed", others[0].0.display()))
    }

    /// Removes it. The caller has locked the command's folder and that of its run.
    pub fn remove(self) -> Result<(), Error> {
        for (index, (path, files)) in self.found.into_iter().enumerate() {
            let inner = index > 0 && path != self.folder;
            let _lock = inner.then(|| lock(&path)).transpose()?;
            for file in files {
                match fs::remove_file(&file) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::Output(file, error)),
                    _ => {}
                }
            }
            if inner {
                // Fails when somebody else has put something there; then it stays.
                let _ = fs::remove_dir(&path);
            }
        }
        Ok(())
    }
}

/// The files of runs in a folder.
fn files(folder: &Path, with_log: bool) -> Result<Vec<PathBuf>, Error> {
    let ours = |name: &String| is_ours(name) || (with_log && name == "run.log");
    Ok(names(folder)?.into_iter().filter(ours).map(|name| folder.join(name)).collect())
}

/// What is in a folder; names that are no text are not ours.
fn names(folder: &Path) -> Result<Vec<String>, Error> {
    let entries = fs::read_dir(folder).map_err(Error::file(folder))?;
    let name = |entry: io::Result<fs::DirEntry>| entry.map(|entry| entry.file_name().into_string().ok()).transpose();
    entries.filter_map(name).collect::<io::Result<_>>().map_err(Error::file(folder))
}

/// Whether a file of this name is from a run.
fn is_ours(name: &str) -> bool {
    const FILES: [&str; 9] = [
        "report.json",
        "report.html",
        "histograms.hlog",
        "junit.xml",
        "cyclictest.json",
        "signals.csv",
        "signals.mcap",
        "trace.json",
        "comparison.html",
    ];
    // Of runs that were killed.
    let process = name.strip_prefix(".run-").and_then(|name| name.strip_suffix(".log"));
    if ROOM.contains(&name) || process.is_some_and(|process| process.parse::<u32>().is_ok()) {
        return true;
    }
    let name = name.strip_suffix(super::files::PARTIAL).unwrap_or(name);
    let number = name.strip_prefix("trace-").and_then(|rest| rest.strip_suffix(".json"));
    let further = number.is_some_and(|number| matches!(number.as_bytes(), [b'2'..=b'9']));
    FILES.contains(&name) || further || report::is_hgrm(name)
}

/// Whether a folder of this name is one of several runs.
fn is_of_several(name: &str) -> bool {
    let number = name.strip_prefix("run-").and_then(|number| number.parse().ok());
    number.is_some_and(|number: u32| number > 0 && Job::folder_of(number) == name)
}

/// What tells a report of ours from others of its name.
#[derive(Deserialize)]
struct Report {
    #[serde(rename = "rig")]
    _rig: IgnoredAny,
    #[serde(rename = "verdict")]
    _verdict: IgnoredAny,
    #[serde(rename = "start_monotonic_ns")]
    _start: IgnoredAny,
    #[serde(rename = "samples_dropped")]
    _dropped: IgnoredAny,
    #[serde(rename = "clocks")]
    _clocks: IgnoredAny,
    repetition: Option<u32>,
}

fn is_file(folder: &Path, name: &str) -> bool {
    folder.join(name).symlink_metadata().is_ok_and(|data| data.is_file())
}

fn report_in(folder: &Path) -> Option<Report> {
    let file = is_file(folder, "report.json").then(|| files::open(&folder.join("report.json")).ok()).flatten()?;
    serde_json::from_reader(BufReader::new(file).take(LONGEST_REPORT)).ok()
}

/// Whether a run has written here: its report says so, or the room that it was to have and that only a killed run leaves.
fn is_of_a_run(folder: &Path) -> bool {
    ROOM.into_iter().any(|name| is_file(folder, name)) || report_in(folder).is_some()
}

/// Whether a run of several has. A single run's folder may have such a name as well, and is somebody's result.
fn is_one_of_several(folder: &Path) -> bool {
    report_in(folder).is_some_and(|report| report.repetition.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_runs_are_cleared() {
        let ours = [
            "signals.csv",
            "signals.mcap",
            "trace-2.json",
            "report.json.part",
            "comparison.html",
            "ecu.task_1ms.start_jitter.hgrm",
            ".reserve.part",
            ".run-12.log",
        ];
        assert!(ours.into_iter().all(is_ours));
        let theirs =
            ["film.mkv.part", "mine.hgrm", "old.signals.csv", ".run-me", ".run-me.log", "run.log", "trace-me.json"];
        assert!(!theirs.into_iter().any(is_ours));
        assert!(is_of_several("run-1") && is_of_several("run-20"));
        assert!(
            !["run-0", "run-01", "run-", "run-+1", "run-1a", "Run-1", "run-99999999999"].into_iter().any(is_of_several)
        );
    }

    #[test]
    fn a_report_of_another_program_is_none_of_ours() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("report.json"), "{ \"rig\": \"x\", \"verdict\": \"pass\" }").unwrap();
        assert!(!is_of_a_run(folder.path()));
        let mut run = report::sample(1);
        fs::write(folder.path().join("report.json"), report::json(&run)).unwrap();
        assert!(is_of_a_run(folder.path()) && !is_one_of_several(folder.path()));
        run.repetition = Some(2);
        fs::write(folder.path().join("report.json"), report::json(&run)).unwrap();
        assert!(is_one_of_several(folder.path()));
    }
}
