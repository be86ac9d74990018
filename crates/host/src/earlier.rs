//! Makes way for the next run in an output folder, so that files of earlier commands are not taken for its own: files
//! of a single run are in the folder itself, those of several (`--repeat`) in its `run-1`, `run-2` and so on. They move
//! into a folder of `runs` ([`RunFolders`]), or are removed where the rig says so (`keep_runs = 0`).
//!
//! The folder may belong to anybody. Files are moved and removed only by the names that runs give them, and outside the
//! folder of the next run only if the report marks it as one of several; folders are removed only when they are empty.

use super::Error;
use super::files::{CHECKPOINT, OutputFolder, ROOM, lock_held};
use super::kernel;
use super::run_folders::RunFolders;
use super::run_log;
use super::run_name::RunName;
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::fs;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use vecud_linux::files::Folder;
use vecud_record::recording::series;
use vecud_runner::Job;

/// Limit for the size of a report.
const LONGEST_REPORT: u64 = 256 << 20;

/// The files to move or remove before a run begins.
#[derive(Debug)]
pub struct PreviousRuns {
    folder: Folder,
    /// Folders with their files, that of the next run first.
    found: Vec<(Folder, Vec<PathBuf>)>,
    /// Folder of earlier runs with the number of runs to keep; 0: none is moved there, and existing ones stay.
    kept: RunFolders,
    keep: usize,
}

impl PreviousRuns {
    /// Searches `folder`, the command's; its (first) run writes to `out`, the same or a folder in it. `own` lists files
    /// that this run has made there already, `keep` is the number of runs to keep.
    pub fn find(folder: &Folder, out: &Folder, own: &[PathBuf], keep: usize) -> Result<PreviousRuns, Error> {
        let mut found = vec![(out.clone(), files(out)?)];
        found[0].1.retain(|file| !own.contains(file));
        // Files of the next run that are blocked by a folder are found before anything is moved.
        let is_folder = |path: &Path| path.symlink_metadata().is_ok_and(|data| data.is_dir());
        if let Some(stands) = found[0].1.iter().find(|path| is_folder(path)) {
            return Err(Error::Output(out.shown(stands), rustix::io::Errno::ISDIR.into()));
        }
        // A link may lead anywhere.
        let inner = names(folder)?.into_iter().filter(|name| is_of_several(name));
        let inner = inner.filter_map(|name| folder.inner(name).ok()).filter(is_one_of_several);
        let itself = std::iter::once(folder.clone()).filter(is_of_a_run);
        for other in itself.chain(inner).filter(|other| other.path() != out.path()) {
            let mut files = files(&other)?;
            files.retain(|file| !is_folder(file));
            found.push((other, files));
        }
        let kept = match RunFolders::of(folder) {
            // The place of earlier runs may be occupied: it is not needed.
            Err(_) if keep == 0 => RunFolders::none(folder),
            kept => kept?,
        };
        Ok(PreviousRuns { folder: folder.clone(), found, kept, keep })
    }

    /// Bytes that become free on the disk.
    pub fn size(&self) -> u64 {
        let found = self.found.iter().flat_map(|(_, files)| files.iter().cloned());
        let removed = found.filter(|file| self.keep == 0 || is_worthless(file));
        let old = self.too_old().into_iter().flat_map(|run| files_of_run(&run)).flat_map(|(_, files)| files);
        let data = removed.chain(old).filter_map(|file| file.symlink_metadata().ok());
        data.filter(|data| data.nlink() == 1).map(|data| data.blocks() * 512).sum()
    }

    /// Makes the folder for earlier runs, if it is needed: a failure shows before anything is started.
    pub fn make_room(&self, output: &mut OutputFolder) -> Result<(), Error> {
        if !self.is_kept() {
            return Ok(());
        }
        self.kept.make(output)
    }

    /// Moves the files, or removes them if no run is kept. Returns notes for the user. Precondition: the caller has
    /// locked the command's folder and that of its run.
    pub fn make_way(mut self) -> Result<Vec<String>, Error> {
        let mut notes = Vec::new();
        for run in self.too_old() {
            match remove_run(&run) {
                Ok(()) => self.kept.remove_empty(&run),
                Err(error) => notes.push(format!(
                    "note: {}: this run is older than those that are kept, and stays: {error}",
                    run.path().display()
                )),
            }
        }
        // Files that an earlier start has begun to move are moved whatever this rig says.
        let is_kept = self.is_kept() || self.kept.unfinished().is_some();
        let target = is_kept.then(|| self.target()).transpose()?;
        for (place, files) in &self.found {
            let is_inner = ![self.found[0].0.path(), self.folder.path()].contains(&place.path());
            let _lock = is_inner.then(|| lock_held(place)).transpose()?;
            for file in files {
                match &target {
                    Some(target) if !is_worthless(file) => move_into(target, self.inside(place), place, file)?,
                    _ => remove(place, file)?,
                }
            }
            if is_inner {
                // Fails when others have put something there; then the folder stays.
                let _ = self.folder.remove_empty(self.inside(place));
            }
        }
        let kept = self.kept.finish()?;
        notes.extend(self.note(kept.as_deref()));
        Ok(notes)
    }

    /// Path of a found folder relative to the command's folder; empty: the same.
    fn inside<'f>(&self, found: &'f Folder) -> &'f Path {
        found.path().strip_prefix(self.folder.path()).unwrap_or(Path::new(""))
    }

    /// Whether there are files to move.
    fn is_kept(&self) -> bool {
        self.keep > 0 && self.found.iter().flat_map(|(_, files)| files).any(|file| !is_worthless(file))
    }

    /// Earlier runs in excess when this one is added.
    fn too_old(&self) -> Vec<Folder> {
        match self.keep {
            0 => Vec::new(),
            keep => self.kept.beyond(keep - usize::from(self.is_kept())).collect(),
        }
    }

    /// Destination of the files: the folder of an earlier start that was killed while moving them, if there is one.
    fn target(&mut self) -> Result<Folder, Error> {
        let name = RunName::of(self.started());
        if let Some(unfinished) = self.kept.unfinished() {
            let to = |place, file: &PathBuf| Some(unfinished.join(self.inside(place)).join(file.file_name()?));
            let mut files =
                self.found.iter().flat_map(|(place, files)| files.iter().filter_map(move |file| to(place, file)));
            let is_there = files.any(|file| file.symlink_metadata().is_ok());
            if is_there {
                // These are of yet another run.
                self.kept.finish()?;
            }
        }
        self.kept.begin(name)
    }

    /// Start of the run, from its report; otherwise the time of its oldest file.
    fn started(&self) -> Timestamp {
        let told = self.found.iter().filter_map(|(path, _)| report_in(path)?.started.parse::<Timestamp>().ok());
        let data = self.found.iter().flat_map(|(_, files)| files).filter_map(|file| file.symlink_metadata().ok());
        let made = data.filter_map(|data| data.created().or_else(|_| data.modified()).ok()?.try_into().ok());
        told.min().or_else(|| made.min()).unwrap_or_else(Timestamp::now)
    }

    /// Notes that files of earlier runs outside the next run's folder were moved or removed, if any.
    fn note(&self, kept: Option<&Path>) -> Option<String> {
        let (_, others) = self.found.split_first()?;
        let more = match others.len() {
            0 => return None,
            1 => String::new(),
            2 => " and 1 more folder".to_owned(),
            n => format!(" and {} more folders", n - 1),
        };
        let what = match kept {
            Some(kept) => format!("kept in {}", kept.display()),
            None => "removed".to_owned(),
        };
        Some(format!("note: what an earlier command has left in {}{more} is {what}", others[0].0.path().display()))
    }
}

/// Moves a file of `place` to the folder `inside` in `target`; empty: to `target` itself.
fn move_into(target: &Folder, inside: &Path, place: &Folder, file: &Path) -> Result<(), Error> {
    let refuse = |error| Error::Output(place.shown(file), error);
    let parent = target.make_beneath(inside, &mut |_, _| ()).map_err(Error::file(&target.path().join(inside)))?;
    match fs::rename(file, parent.join(file.file_name().unwrap_or_default())) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(refuse(error)),
        _ => Ok(()),
    }
}

fn remove(place: &Folder, file: &Path) -> Result<(), Error> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::Output(place.shown(file), error)),
        _ => Ok(()),
    }
}

/// The folders of a kept run with their files, innermost first.
fn files_of_run(run: &Folder) -> Vec<(Folder, Vec<PathBuf>)> {
    let inner = names(run).unwrap_or_default().into_iter().filter(|name| is_of_several(name));
    let all = inner.filter_map(|name| run.inner(name).ok()).chain([run.clone()]);
    all.map(|folder| (files(&folder).unwrap_or_default(), folder)).map(|(files, folder)| (folder, files)).collect()
}

/// Removes the files of a kept run and its inner folders. Files of others stay.
fn remove_run(run: &Folder) -> Result<(), Error> {
    for (folder, files) in files_of_run(run) {
        files.iter().try_for_each(|file| remove(&folder, file))?;
        if folder.path() != run.path() {
            let _ = run.remove_empty(folder.path().file_name().unwrap_or_default());
        }
    }
    Ok(())
}

/// Whether removing a file of a run loses nothing: reserved space, or the log of a start without output.
fn is_worthless(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    ROOM.contains(&name)
        || (is_first_log(name) && file.symlink_metadata().is_ok_and(|data| data.is_file() && data.len() == 0))
}

/// Files of runs in a folder.
fn files(folder: &Folder) -> Result<Vec<PathBuf>, Error> {
    Ok(names(folder)?.into_iter().filter(|name| is_ours(name)).map(|name| folder.join(name)).collect())
}

/// Names of the entries of a folder, except those that are not UTF-8 (never ours).
fn names(folder: &Folder) -> Result<Vec<String>, Error> {
    let entries = fs::read_dir(folder.way()).map_err(Error::file(folder.path()))?;
    let name = |entry: io::Result<fs::DirEntry>| entry.map(|entry| entry.file_name().into_string().ok()).transpose();
    entries.filter_map(name).collect::<io::Result<_>>().map_err(Error::file(folder.path()))
}

/// Whether a file of this name is from a run.
fn is_ours(name: &str) -> bool {
    const FILES: [&str; 12] = [
        CHECKPOINT,
        "report.json",
        "report.html",
        "histograms.hlog",
        "junit.xml",
        "cyclictest.json",
        "trace.json",
        "trace-earlier.json",
        "comparison.html",
        kernel::NAME,
        run_log::NAME,
        run_log::EARLIER,
    ];
    if ROOM.contains(&name) || is_first_log(name) {
        return true;
    }
    let name = name.strip_suffix(super::files::PARTIAL).map_or(name, without_process);
    // A further file of a recording, before it can be read.
    let name = name.strip_suffix(".next").filter(|name| series::is_name_of_recording(name)).unwrap_or(name);
    let number = name.strip_prefix("trace-").and_then(|rest| rest.strip_suffix(".json")).and_then(|n| n.parse().ok());
    let further = number.is_some_and(|number: u32| number > 1 && name == format!("trace-{number}.json"));
    FILES.contains(&name) || further || series::is_name_of_recording(name) || vecud_report::is_hgrm(name)
}

/// Name of a file without the process id that follows its last point while that process writes it.
fn without_process(name: &str) -> &str {
    name.rsplit_once('.').filter(|(_, process)| process.parse::<u32>().is_ok()).map_or(name, |(name, _)| name)
}

/// Whether the name is of the log that holds FMU output before a run: left by a killed start.
fn is_first_log(name: &str) -> bool {
    let process = name.strip_prefix(".run-").and_then(|name| name.strip_suffix(".log"));
    process.is_some_and(|process| process.parse::<u32>().is_ok())
}

/// Whether a folder of this name is one of several runs.
fn is_of_several(name: &str) -> bool {
    let number = name.strip_prefix("run-").and_then(|number| number.parse().ok());
    number.is_some_and(|number: u32| number > 0 && Job::folder_of(number) == name)
}

/// The fields that distinguish our reports from others of the same name.
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
    started: String,
    repetition: Option<u32>,
}

fn is_file(folder: &Folder, name: &str) -> bool {
    folder.join(name).symlink_metadata().is_ok_and(|data| data.is_file())
}

fn report_in(folder: &Folder) -> Option<Report> {
    let read = |name: &str| {
        let file = folder.file(name).ok()?;
        serde_json::from_reader(BufReader::new(file).take(LONGEST_REPORT)).ok()
    };
    // A killed run has only a checkpoint.
    read("report.json").or_else(|| read(CHECKPOINT))
}

/// Whether a run has written to this folder: proved by its report, or by reserved space, which only a killed run
/// leaves.
fn is_of_a_run(folder: &Folder) -> bool {
    ROOM.into_iter().any(|name| is_file(folder, name)) || report_in(folder).is_some()
}

/// Whether the folder belongs to one of several runs. A single run's folder may have such a name as well, and is a
/// user's result.
fn is_one_of_several(folder: &Folder) -> bool {
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
            "signals-000012.csv",
            "signals-000012.mcap.part",
            "signals-000012.mcap.next.part",
            "signals-000012.csv.next",
            "trace-2.json",
            "trace-earlier.json",
            "trace-17.json",
            "report.json.part",
            "comparison.html",
            "kernel-trace.txt",
            "ecu.task_1ms.start_jitter.hgrm",
            ".reserve.part",
            ".run-12.log",
            "run.log",
            "run-earlier.log",
            "run.log.part",
            "checkpoint.json",
            "checkpoint.json.part",
            "report.json.4711.part",
        ];
        assert!(ours.into_iter().all(is_ours));
        let theirs = [
            "film.mkv.part",
            "report.json.mine.part",
            "report.json.4711",
            "mine.hgrm",
            "old.signals.csv",
            "signals-12.csv",
            "mine.csv.next",
            ".run-me",
            ".run-me.log",
            "run.log.1",
            "trace-me.json",
            "trace-1.json",
            "trace-02.json",
        ];
        assert!(!theirs.into_iter().any(is_ours));
        assert!(is_of_several("run-1") && is_of_several("run-20"));
        assert!(
            !["run-0", "run-01", "run-", "run-+1", "run-1a", "Run-1", "run-99999999999"].into_iter().any(is_of_several)
        );
    }

    #[test]
    fn a_report_of_another_program_is_none_of_ours() {
        let folder = tempfile::tempdir().unwrap();
        let held = Folder::open(folder.path()).unwrap();
        fs::write(folder.path().join("report.json"), "{ \"rig\": \"x\", \"verdict\": \"pass\" }").unwrap();
        assert!(!is_of_a_run(&held));
        let mut run = vecud_report::sample(1);
        fs::write(folder.path().join("report.json"), vecud_report::json(&run)).unwrap();
        assert!(is_of_a_run(&held) && !is_one_of_several(&held));
        run.repetition = Some(2);
        fs::write(folder.path().join("report.json"), vecud_report::json(&run)).unwrap();
        assert!(is_one_of_several(&held));
    }
}
