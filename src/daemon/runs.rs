//! The runs of a rig: folders named by their start, with what `vecud run` leaves behind.

use crate::supervisor::RunName;
use jiff::Timestamp;
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Files in which a run says what it was, the last word first.
const REPORTS: [&str; 2] = ["report.json", "checkpoint.json"];

/// The folder of runs of one rig.
#[derive(Clone, Debug)]
pub struct Runs(PathBuf);

impl Runs {
    /// The runs in a folder, which need not be there yet.
    pub fn of(folder: PathBuf) -> Runs {
        Runs(folder)
    }

    /// A name for a run that starts now, which no other one has.
    pub fn next(&self) -> String {
        let first = RunName::of(Timestamp::now());
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
    pub fn report(&self, run: &str) -> Option<Value> {
        let folder = self.existing(run)?;
        let texts = REPORTS.iter().filter_map(|name| fs::read(folder.join(name)).ok());
        texts.into_iter().find_map(|text| serde_json::from_slice(&text).ok())
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
        fs::write(runs.folder(starts[0]).join("report.json"), "{\"verdict\": \"pass\"}").unwrap();
        fs::write(folder.path().join("secret"), "").unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret"), runs.folder(starts[0]).join("link")).unwrap();
        assert_eq!(runs.report(starts[0]).unwrap()["verdict"], "pass");
        assert_eq!(runs.files(starts[0]).unwrap(), ["report.json"]);
        for (run, file) in [(starts[0], "../../secret"), (starts[0], "link"), ("..", "secret"), (starts[0], ".")] {
            assert_eq!(runs.file(run, file), None, "{run}/{file}");
        }
    }
}
