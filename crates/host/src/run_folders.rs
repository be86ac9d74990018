//! The folder `runs` in an output folder: each earlier run in a folder of its own, named by its start (UTC).
//!
//! Guarantees: a file that is moved there is in one of both places at any time; the next start moves the files that a killed
//! start has not moved ([`RunFolders::unfinished`]). In `runs`, only folders with names from here count as runs, and only
//! those are removed: a user who wants to keep one for ever gives it another name.

use super::Error;
use super::files::{OutputFolder, trusted};
use super::run_name::RunName;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use vecud_linux::files::Folder;

/// The folder of earlier runs, in the output folder.
const RUNS: &str = "runs";
/// The prefix of a folder's name while files are moved into it.
const MOVING: &str = ".moving-";

/// The folder `runs` of an output folder, whether or not it exists.
#[derive(Debug)]
pub(super) struct RunFolders {
    /// The output folder.
    folder: Folder,
    /// The runs in it, oldest first.
    runs: Vec<RunName>,
    /// The run whose files a killed start began to move.
    unfinished: Option<RunName>,
}

impl RunFolders {
    /// A folder `runs` without a run.
    pub(super) fn none(folder: &Folder) -> RunFolders {
        RunFolders { folder: folder.clone(), runs: Vec::new(), unfinished: None }
    }

    /// Reads the folder.
    ///
    /// # Errors
    /// No run can be moved there: `runs` is a link, no folder, on another file system, or somebody else could change what is
    /// in it.
    pub(super) fn of(folder: &Folder) -> Result<RunFolders, Error> {
        let mut folders = RunFolders::none(folder);
        let path = folders.path();
        let refuse = |error: io::Error| Err(Error::Output(path.clone(), error));
        let runs = match folder.inner(RUNS) {
            Ok(runs) => runs,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(folders),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return refuse(io::Error::other("is no folder, and earlier runs are kept in one of this name"));
            }
            Err(error) => return refuse(error),
        };
        let device = |folder: &Folder| folder.way().metadata().map(|found| found.dev()).ok();
        if device(folder) != device(&runs) {
            let what = "is on another file system, and earlier runs are moved there by their names alone";
            return refuse(io::Error::other(what));
        }
        trusted(&path)?;
        for entry in fs::read_dir(runs.way()).map_err(Error::file(&path))? {
            let entry = entry.map_err(Error::file(&path))?;
            let name = entry.file_name();
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let Some(name) = name.to_str() else { continue };
            folders.runs.extend(RunName::parse(name));
            folders.unfinished = folders.unfinished.max(name.strip_prefix(MOVING).and_then(RunName::parse));
        }
        folders.runs.sort_unstable();
        Ok(folders)
    }

    /// The path of the folder.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join(RUNS)
    }

    /// Makes the folder in the output folder, which removes it again if there is no run.
    pub(super) fn make(&self, output: &mut OutputFolder) -> Result<(), Error> {
        output.make(&self.folder, RUNS)?;
        let may = self.folder.inner(RUNS).and_then(|runs| runs.may_be_written());
        may.map_err(|error| Error::Output(self.path(), error))
    }

    /// The folder of a run whose files a killed start has moved only in part.
    pub(super) fn unfinished(&self) -> Option<Folder> {
        self.inner(&moving(self.unfinished?)).ok()
    }

    /// The oldest runs beyond the newest `keep` ones.
    pub(super) fn beyond(&self, keep: usize) -> impl Iterator<Item = Folder> {
        let oldest = self.runs.iter().take(self.runs.len().saturating_sub(keep));
        oldest.filter_map(|name| self.inner(&name.to_string()).ok())
    }

    /// Removes the folder of an old run if it is empty.
    pub(super) fn remove_empty(&self, run: &Folder) {
        if let (Ok(runs), Some(name)) = (self.folder.inner(RUNS), run.path().file_name()) {
            let _others_have_put_something_there = runs.remove_empty(name);
        }
    }

    /// Makes a folder for moving the files of a run with this name, or opens the unfinished one.
    pub(super) fn begin(&mut self, name: RunName) -> Result<Folder, Error> {
        let name = moving(*self.unfinished.get_or_insert(name));
        let path = Path::new(RUNS).join(&name);
        self.folder.make_beneath(&path, &mut |_, _| ()).map_err(Error::file(&self.path().join(name)))
    }

    /// Gives the folder its name when all files are moved. Returns its path; `None`: nothing was begun.
    pub(super) fn finish(&mut self) -> Result<Option<PathBuf>, Error> {
        let Some(mut name) = self.unfinished else { return Ok(None) };
        // After all others: the first runs of the same second may be gone by now, and a clock may have been set back.
        if let Some(last) = self.runs.last() {
            name = name.max(last.next());
        }
        let runs = self.folder.inner(RUNS).map_err(Error::file(&self.path()))?;
        let from = runs.join(moving(self.unfinished.unwrap_or(name)));
        loop {
            let to = runs.join(name.to_string());
            if to.symlink_metadata().is_ok() {
                name = name.next();
                continue;
            }
            let path = self.path().join(name.to_string());
            fs::rename(&from, &to).map_err(Error::file(&path))?;
            self.unfinished = None;
            self.runs.push(name);
            self.runs.sort_unstable();
            return Ok(Some(path));
        }
    }

    fn inner(&self, name: &str) -> io::Result<Folder> {
        self.folder.inner(RUNS)?.inner(name)
    }
}

/// The name of a folder while files are moved into it.
fn moving(name: RunName) -> String {
    format!("{MOVING}{name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;
    use proptest::prelude::*;

    fn at(second: i64) -> RunName {
        RunName::of(Timestamp::from_second(second).unwrap())
    }

    #[test]
    fn a_run_is_named_by_its_start_and_no_other_name_is_one() {
        let name = at(1_795_132_807);
        assert_eq!(
            (name.to_string(), name.next().to_string()),
            ("2026-11-20T00-00-07Z".into(), "2026-11-20T00-00-07Z-2".into())
        );
        assert_eq!(at(-9), at(0), "clocks that were never set");
        for theirs in [
            "",
            "incident",
            "2026-11-20",
            "2026-11-20T00:00:07Z",
            "2026-11-20T00-00-07Z-1",
            "2026-11-20T00-00-07Z-02",
            "2026-11-20T00-00-07Z-",
            "2026-11-20T00-00-07Z-mine",
            "2026-11-20T00-00-07Z keep",
            "2026-13-20T00-00-07Z",
            "2026-1-20T00-00-07Z",
            ".moving-2026-11-20T00-00-07Z",
        ] {
            assert_eq!(RunName::parse(theirs), None, "{theirs}");
        }
    }

    proptest! {
        /// Whatever the starts, however many in one second, with a clock that is set back, and killed in between: the newest are kept, in
        /// their order, and what is no run stays.
        #[test]
        fn the_newest_runs_are_kept_in_their_order(
            starts in proptest::collection::vec(0i64..4, 0..25),
            keep in 1usize..6,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let runs = folder.path().join("runs");
            fs::create_dir_all(runs.join("mine")).unwrap();
            fs::write(runs.join(at(1).to_string()), "a file").unwrap();
            let mut expected: Vec<String> = Vec::new();
            for (run, start) in starts.into_iter().enumerate() {
                let held = Folder::open(folder.path()).unwrap();
                let moving = RunFolders::of(&held).unwrap().begin(at(start)).unwrap();
                fs::write(moving.join("run"), run.to_string()).unwrap();
                // The start was killed here, and this is another one.
                let mut folders = RunFolders::of(&held).unwrap();
                let unfinished = folders.unfinished().unwrap();
                prop_assert_eq!(unfinished.path(), moving.path());
                folders.finish().unwrap().unwrap();
                folders.beyond(keep).for_each(|old| fs::remove_dir_all(old.path()).unwrap());
                expected.push(run.to_string());
                expected.drain(..expected.len().saturating_sub(keep));
                let there = RunFolders::of(&held).unwrap();
                prop_assert!(there.unfinished().is_none());
                let content = |run: Folder| fs::read_to_string(run.join("run")).unwrap();
                let order: Vec<String> = there.beyond(0).map(content).collect();
                prop_assert_eq!(&order, &expected);
            }
            prop_assert!(runs.join("mine").is_dir() && runs.join(at(1).to_string()).is_file());
        }
    }

    #[test]
    fn no_run_is_kept_behind_a_link_or_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |what: &str| {
            let error = RunFolders::of(&Folder::open(folder.path()).unwrap()).unwrap_err().to_string();
            assert!(error.contains("/runs: ") && error.contains(what), "{error}");
        };
        fs::write(folder.path().join("runs"), "mine").unwrap();
        refused("is no folder");
        fs::remove_file(folder.path().join("runs")).unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("runs")).unwrap();
        refused("is a link");
    }
}
