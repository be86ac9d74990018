//! A file of a stimulus: opened before the run, and looked after.

use crate::files;
use crate::plan::Plan;
use crate::rig::{Problem, RigStimulus};
use crate::stimulus::{Kind, Rows};
use std::fs::{self, File};
use std::io::{BufReader, ErrorKind, Seek};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes that are read at once.
const BUFFER: usize = 1 << 18;

/// An open file.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where it was found.
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
    file: Arc<File>,
    /// When it was opened.
    was: Version,
}

/// What tells a file that somebody has written to from one that nobody has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version {
    length: u64,
    /// s, ns
    modified: (i64, i64),
}

impl Version {
    fn of(file: &File) -> std::io::Result<Version> {
        let data = file.metadata()?;
        Ok(Version { length: data.len(), modified: (data.mtime(), data.mtime_nsec()) })
    }
}

impl Source {
    /// Opens what a rig names. The error is for the place where it does.
    pub fn open(stimulus: &RigStimulus) -> Result<Source, String> {
        let path = &found(stimulus);
        let shown = path.display();
        // A pipe may never begin, and a device never end.
        let is = fs::metadata(path).map_err(|error| match (error.kind(), stimulus.recording) {
            (ErrorKind::NotFound, true) if path.with_file_name("run-1").is_dir() => {
                format!("there is no {shown}: several runs (--repeat) have a folder each, such as run-1 beside it")
            }
            (ErrorKind::NotFound, true) if path.parent().is_some_and(Path::is_dir) => {
                format!(
                    "there is no {shown}, and no signals.mcap: that run has recorded no signals ([record] in its rig)"
                )
            }
            (ErrorKind::NotFound, _) => format!("{shown}: {error}; relative paths count from the rig file's folder"),
            _ => format!("{shown}: {error}"),
        })?;
        if is.is_dir() {
            return Err(format!(
                "{shown} is a folder: file names a CSV file, recording the output folder of an earlier run"
            ));
        }
        if !is.is_file() {
            return Err(format!("{shown} is no ordinary file: a stimulus is read from one"));
        }
        let problem = |error: std::io::Error| format!("{shown}: {error}");
        let file = files::open(path).map_err(problem)?;
        let was = Version::of(&file).map_err(problem)?;
        let kind = if stimulus.recording { Kind::Recording } else { Kind::File };
        Ok(Source { path: path.clone(), kind, file: Arc::new(file), was })
    }

    /// From its first byte on. One reader at a time.
    pub fn reader(&self) -> Result<BufReader<File>, Problem> {
        let problem = |error: std::io::Error| Problem::new(&self.path, Default::default(), error.to_string());
        let mut file = self.file.try_clone().map_err(problem)?;
        file.rewind().map_err(problem)?;
        Ok(BufReader::with_capacity(BUFFER, file))
    }

    /// What has become of it since it was opened, where that is another file.
    pub fn change(&self) -> Option<String> {
        let now = Version::of(&self.file).ok().filter(|now| *now != self.was)?;
        let (path, lengths) = (self.path.display(), (self.was.length, now.length));
        let sizes = match lengths.0 == lengths.1 {
            true => format!("it has {} bytes as before", lengths.1),
            false => format!("it had {} bytes and has {} bytes now", lengths.0, lengths.1),
        };
        Some(format!(
            "stimulus {path} was changed while it was read ({sizes}): inputs may have got what stands in neither version"
        ))
    }

    /// The rows of the file, from the first one on.
    pub fn rows(&self, plan: &Plan, stimulus: usize) -> Result<Rows<BufReader<File>>, Problem> {
        Rows::new(self.reader()?, &self.path, self.kind, &plan.stimuli[stimulus])
    }
}

/// Where the file is: a run records in one format, or in both, and a recording may be named itself.
fn found(stimulus: &RigStimulus) -> PathBuf {
    let path = &stimulus.file.value;
    match path.parent() {
        _ if !stimulus.recording => path.clone(),
        Some(file) if file.is_file() => file.to_owned(),
        _ if path.exists() => path.clone(),
        _ => Some(path.with_extension("mcap")).filter(|other| other.exists()).unwrap_or_else(|| path.clone()),
    }
}
