//! The output directory: made when a run really begins, cleared of an earlier run's files, filled at the end.

use super::Error;
use crate::report::{self, Run};
use rustix::fs::{Access, AtFlags, CWD, FallocateFlags, FlockOperation};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// An output directory that exists.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    /// Directories that were made for it, outermost first.
    made: Vec<PathBuf>,
    /// Locked as long as it is open: two runs in one folder would write over each other.
    _lock: Option<File>,
}

/// Holds space for the report, which is most wanted when a recording has filled the disk.
const RESERVE: &str = ".reserve.part";
/// Ends the name of a file that is being written.
const PARTIAL: &str = ".part";

impl Output {
    /// Makes the directory if need be.
    pub fn create(path: &Path) -> Result<Output, Error> {
        let missing: Vec<PathBuf> = path
            .ancestors()
            .filter(|p| !p.as_os_str().is_empty())
            .take_while(|p| !p.exists())
            .map(Path::to_owned)
            .collect();
        let made = missing.into_iter().rev().collect();
        let mut output = Output { path: path.to_owned(), made, _lock: None };
        if let Err(error) = fs::create_dir_all(path).and_then(|()| may_write(path)) {
            output.undo();
            return Err(Error::Output(path.to_owned(), error));
        }
        match lock(path) {
            Ok(locked) => output._lock = Some(locked),
            Err(error) => {
                output.undo();
                return Err(error);
            }
        }
        Ok(output)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes what an earlier run has left, so that nothing of it is taken for this run's; `log` is this run's.
    pub fn clear(&self, log: &Path) -> Result<(), Error> {
        for entry in fs::read_dir(&self.path).map_err(Error::file(&self.path))? {
            let entry = entry.map_err(Error::file(&self.path))?;
            if is_ours(&entry.file_name().to_string_lossy()) && entry.path() != log {
                fs::remove_file(entry.path()).map_err(|error| Error::Output(entry.path(), error))?;
            }
        }
        Ok(())
    }

    /// Removes what earlier runs have left of the runs 2, 3 and so on, whose folders `name` gives, so that after fewer runs
    /// theirs are not taken for this command's.
    pub fn clear_further(folder: &Path, name: impl Fn(u32) -> String) -> Result<(), Error> {
        for number in 2.. {
            let path = folder.join(name(number));
            // Only a folder with a report is known to be one of ours; of others nothing is removed.
            if !path.join("report.json").is_file() {
                break;
            }
            let log = path.join("run.log");
            let output = Output::create(&path)?;
            output.clear(&log)?;
            match fs::remove_file(&log) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::Output(log, error)),
                _ => {}
            }
            // Fails when somebody else has put something there; then it stays.
            let _ = fs::remove_dir(&path);
        }
        Ok(())
    }

    /// Takes the space that the report of this many tasks will need, if there is so much.
    pub fn reserve(&self, tasks: usize) {
        let path = self.path.join(RESERVE);
        let size = (256 << 10) + (96 << 10) * tasks.min(1000) as u64;
        let taken =
            File::create(&path).and_then(|file| Ok(rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, size)?));
        if taken.is_err() {
            let _ = fs::remove_file(&path);
        }
    }

    /// Takes back what [`Output::create`] has made, since there is no run.
    pub fn undo(self) {
        for directory in self.made.iter().rev() {
            // Fails when somebody else has put something there meanwhile; then it stays.
            let _ = fs::remove_dir(directory);
        }
    }

    /// Writes all files of the report; those that fail are named together.
    pub fn write(&self, run: &Run) -> Result<(), String> {
        let _ = fs::remove_file(self.path.join(RESERVE));
        let mut files = vec![
            ("report.json".to_owned(), report::json(run)),
            ("report.html".to_owned(), report::html(run)),
            ("histograms.hlog".to_owned(), report::hlog(run)),
        ];
        files.extend(report::hgrms(run));
        let failures: Vec<String> = files
            .iter()
            .filter_map(|(name, content)| {
                let path = self.path.join(name);
                write_whole(&path, content.as_bytes()).err().map(|error| format!("{name}: {error}"))
            })
            .collect();
        match failures.as_slice() {
            [] => Ok(()),
            [one] => Err(format!("{}: cannot write {one}", self.path.display())),
            [first, ..] => Err(format!(
                "{}: cannot write {} of {} files (the first is {first})",
                self.path.display(),
                failures.len(),
                files.len()
            )),
        }
    }
}

/// Keeps other runs out of a folder as long as what is returned is open.
pub(super) fn lock(path: &Path) -> Result<File, Error> {
    let folder = File::open(path).map_err(|error| Error::Output(path.to_owned(), error))?;
    match rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(Error::OutputInUse(path.to_owned())),
        // A file system without locks is used without.
        _ => Ok(folder),
    }
}

/// Whether a file of this name is from a run. The folder may be anybody's, with files of their own in it.
fn is_ours(name: &str) -> bool {
    const FILES: [&str; 5] = ["report.json", "report.html", "histograms.hlog", "signals.csv", "trace.json"];
    // Of runs that were killed.
    if name == RESERVE || (name.starts_with(".run-") && name.ends_with(".log")) {
        return true;
    }
    let name = name.strip_suffix(PARTIAL).unwrap_or(name);
    let number = name.strip_prefix("trace-").and_then(|rest| rest.strip_suffix(".json"));
    let further = number.is_some_and(|number| matches!(number.as_bytes(), [b'2'..=b'9']));
    FILES.contains(&name) || further || report::is_hgrm(name)
}

/// Whether files can be made in a folder; found out before anything is started.
pub(super) fn may_write(folder: &Path) -> io::Result<()> {
    let may = Access::WRITE_OK | Access::EXEC_OK;
    Ok(rustix::fs::accessat(CWD, folder, may, AtFlags::EACCESS)?)
}

/// Writes a file that is there as a whole or not at all.
pub(super) fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(PARTIAL);
    let result = fs::write(&partial, content).and_then(|()| fs::rename(&partial, path));
    if result.is_err() {
        let _ = fs::remove_file(&partial);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_runs_are_cleared() {
        let ours = [
            "signals.csv",
            "report.json.part",
            "ecu.task_1ms.start_jitter.hgrm",
            ".reserve.part",
            ".run-12.log",
            "trace-2.json",
        ];
        assert!(ours.into_iter().all(is_ours));
        let theirs = ["film.mkv.part", "mine.hgrm", "old.signals.csv", ".run-me", "run.log", "trace-me.json"];
        assert!(!theirs.into_iter().any(is_ours));
    }
}
