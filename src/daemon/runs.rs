//! The runs of a rig: folders named by their start, with what `vecud run` leaves behind.

use crate::files::read_at_most;
use crate::report::ReportFile;
use crate::supervisor::RunName;
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Files in which a run says what it was, the last word first.
const REPORTS: [&str; 2] = ["report.json", "checkpoint.json"];
/// A longer one is none: FMU code runs as the same user and can write there.
const LONGEST_REPORT: u64 = 64 << 20;

/// What a run says of itself in short, as its report.
#[derive(Debug, Deserialize)]
pub struct RunSummary {
    /// `pass` or `fail`.
    pub verdict: String,
    /// `finished`, `cut off` or `running`.
    pub ended: String,
}

/// The folder of runs of one rig.
#[derive(Clone, Debug)]
pub struct Runs(PathBuf);

impl Runs {
    /// The runs in a folder, which need not be there yet.
    pub fn of(folder: PathBuf) -> Runs {
        Runs(folder)
    }

    /// A name for a run that starts now. None that is there comes after it, also where the clock of the machine was set back: the
    /// order of runs decides which of them are kept.
    pub fn next(&self) -> String {
        let now = RunName::of(Timestamp::now());
        let last = self.names().unwrap_or_default().iter().filter_map(|name| RunName::parse(name)).max();
        let first = last.map_or(now, |last| now.max(last.next()));
        let mut names = std::iter::successors(Some(first), |name| Some(name.next())).map(|name| name.to_string());
        names.find(|name| self.0.join(name).symlink_metadata().is_err()).expect("there is no end of names")
    }

    /// The output folder of a run.
    pub fn folder(&self, run: &str) -> PathBuf {
        self.0.join(run)
    }

    /// Removes the oldest runs, so that there are at most so many. Folders that are called otherwise than runs stay: whoever wants to keep
    /// one for ever gives it another name.
    pub fn keep(&self, most: usize) -> io::Result<()> {
        let names: Vec<String> = self.names()?.into_iter().filter(|name| RunName::parse(name).is_some()).collect();
        names.iter().take(names.len().saturating_sub(most)).try_for_each(|name| fs::remove_dir_all(self.folder(name)))
    }

    /// The names of all runs, oldest first.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let folder = match fs::read_dir(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            folder => folder?,
        };
        let mut names = Vec::new();
        for entry in folder {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                names.extend(entry.file_name().into_string().ok().filter(|name| is_plain(name)));
            }
        }
        // Folders that are called otherwise come last.
        names.sort_by_cached_key(|name: &String| {
            let run = RunName::parse(name);
            (run.is_none(), run, name.clone())
        });
        Ok(names)
    }

    /// What a run says of itself; `None`: there is no such run, or it has said nothing yet.
    pub fn report(&self, run: &str) -> Option<Box<RawValue>> {
        self.said(run)
    }

    /// What a run says of itself in short.
    pub fn summary(&self, run: &str) -> Option<RunSummary> {
        self.said(run)
    }

    fn said<T: DeserializeOwned>(&self, run: &str) -> Option<T> {
        let folder = self.existing(run)?;
        let texts = REPORTS.iter().filter_map(|name| read_at_most(&folder.join(name), LONGEST_REPORT).ok()?);
        texts.into_iter().find_map(|text| serde_json::from_slice(&text).ok())
    }

    /// A run that has its report, as far as that can be read.
    pub fn finished(&self, run: &str) -> Option<ReportFile> {
        let [report, _] = REPORTS;
        let text = read_at_most(&self.existing(run)?.join(report), LONGEST_REPORT).ok()??;
        ReportFile::parse(str::from_utf8(&text).ok()?).ok()
    }

    /// The folders of runs that have a checkpoint and no report: whoever watched them is gone.
    pub fn cut_off(&self) -> Vec<PathBuf> {
        let folders = self.names().unwrap_or_default().into_iter().map(|name| self.folder(&name));
        let [report, checkpoint] = REPORTS;
        folders.filter(|run| run.join(checkpoint).is_file() && !run.join(report).is_file()).collect()
    }

    /// A file of a run; `None`: there is none.
    pub fn file(&self, run: &str, name: &str) -> Option<PathBuf> {
        let path = self.existing(run)?.join(name);
        let is_there = is_plain(name) && path.symlink_metadata().is_ok_and(|found| found.is_file());
        is_there.then_some(path)
    }

    /// The names of the files of a run; `None`: there is no such run.
    pub fn files(&self, run: &str) -> Option<Vec<String>> {
        let entries = fs::read_dir(self.existing(run)?).ok()?;
        let name = |entry: io::Result<fs::DirEntry>| {
            let entry = entry.ok().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))?;
            entry.file_name().into_string().ok().filter(|name| is_plain(name))
        };
        let mut names: Vec<String> = entries.filter_map(name).collect();
        names.sort_unstable();
        Some(names)
    }

    fn existing(&self, run: &str) -> Option<PathBuf> {
        let path = self.0.join(run);
        (is_plain(run) && path.symlink_metadata().is_ok_and(|found| found.is_dir())).then_some(path)
    }
}

/// Whether a name leads to something in the folder itself that is there for all.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !Path::new(name).is_absolute() && !name.contains(['/', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_have_the_order_of_their_starts_and_no_name_leads_out_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let runs = Runs::of(folder.path().join("runs"));
        assert_eq!(runs.names().unwrap(), [""; 0]);
        let starts =
            ["2026-11-25T10-00-00Z", "2026-11-25T10-00-00Z-2", "2026-11-25T10-00-00Z-10", "2026-11-25T10-00-01Z"];
        for name in starts.iter().rev() {
            fs::create_dir_all(runs.folder(name)).unwrap();
        }
        assert_eq!(runs.names().unwrap(), starts);
        fs::create_dir(runs.folder("mine")).unwrap();
        runs.keep(2).unwrap();
        assert_eq!(runs.names().unwrap(), [starts[2], starts[3], "mine"]);
        runs.keep(9).unwrap();
        let starts = &starts[2..];
        let first = runs.next();
        fs::create_dir(runs.folder(&first)).unwrap();
        assert_ne!(runs.next(), first);
        let report = runs.folder(starts[0]).join("report.json");
        fs::write(&report, r#"{"verdict": "pass", "ended": "finished", "rig": "a"}"#).unwrap();
        fs::write(folder.path().join("secret"), "").unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret"), runs.folder(starts[0]).join("link")).unwrap();
        assert_eq!(runs.summary(starts[0]).unwrap().verdict, "pass");
        assert!(runs.report(starts[0]).unwrap().get().contains("rig"));
        assert_eq!(runs.files(starts[0]).unwrap(), ["report.json"]);
        for (run, file) in [(starts[0], "../../secret"), (starts[0], "link"), ("..", "secret"), (starts[0], ".")] {
            assert_eq!(runs.file(run, file), None, "{run}/{file}");
        }
        // Whatever its length, which may be that of no disk.
        fs::File::options().write(true).open(&report).unwrap().set_len(1 << 40).unwrap();
        assert!(runs.report(starts[0]).is_none() && runs.finished(starts[0]).is_none());
    }

    /// Also where the clock was set back, and where the first runs of a second are gone.
    #[test]
    fn a_new_run_comes_after_all_others_and_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let runs = Runs::of(folder.path().to_owned());
        for name in ["2190-01-01T00-00-00Z", "2190-01-01T00-00-00Z-2"] {
            fs::create_dir(runs.folder(name)).unwrap();
        }
        for last in ["2190-01-01T00-00-00Z-3", "2190-01-01T00-00-00Z-4", "2190-01-01T00-00-00Z-5"] {
            assert_eq!(runs.next(), last);
            fs::create_dir(runs.folder(last)).unwrap();
            runs.keep(1).unwrap();
            assert_eq!(runs.names().unwrap(), [last]);
        }
    }
}
