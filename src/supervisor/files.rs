//! The output directory: made when a run really begins, cleared of an earlier run's files, filled at the end.

use super::Error;
use crate::report::{self, Run};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// An output directory that exists.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    /// Directories that were made for it, outermost first.
    made: Vec<PathBuf>,
}

impl Output {
    /// Makes the directory if need be.
    pub fn create(path: &Path) -> Result<Output, Error> {
        let missing: Vec<PathBuf> = path
            .ancestors()
            .filter(|p| !p.as_os_str().is_empty())
            .take_while(|p| !p.exists())
            .map(Path::to_owned)
            .collect();
        fs::create_dir_all(path).map_err(Error::file(path))?;
        Ok(Output { path: path.to_owned(), made: missing.into_iter().rev().collect() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes what an earlier run has left, so that nothing of it is taken for this run's.
    pub fn clear(&self) -> Result<(), Error> {
        const OURS: [&str; 5] = ["report.json", "report.html", "histograms.hlog", "signals.csv", "trace.json"];
        for entry in fs::read_dir(&self.path).map_err(Error::file(&self.path))? {
            let entry = entry.map_err(Error::file(&self.path))?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if OURS.contains(&&*name) || name.ends_with(".hgrm") {
                fs::remove_file(entry.path()).map_err(Error::file(&entry.path()))?;
            }
        }
        Ok(())
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
                write_whole(&path, content.as_bytes()).err().map(|error| format!("{}: {error}", path.display()))
            })
            .collect();
        if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
    }
}

/// Writes a file that is there as a whole or not at all.
fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".part");
    let result = fs::write(&partial, content).and_then(|()| fs::rename(&partial, path));
    if result.is_err() {
        let _ = fs::remove_file(&partial);
    }
    result
}
