//! The file of a stimulus: opened before the run, and checked for changes.

use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, ErrorKind, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vecud_base::time::Instant;
use vecud_linux::files;
use vecud_linux::rights::Rights;
use vecud_plan::rig::{At, Diagnostic, Interpolation, RigStimulus};
use vecud_plan::{StimulusInput, StimulusPlan};
use vecud_record::recording::series;
use vecud_record::stimulus::{self, Column, StimulusKind, StimulusReader, TrajectorySummary};

/// Size of the read buffer, bytes.
const BUFFER: usize = 1 << 18;

/// Open source of a stimulus: a file, or the files of a rotated recording.
#[derive(Clone, Debug)]
pub struct StimulusSource {
    /// Format of the files.
    pub kind: StimulusKind,
    /// The files in the order of time; at least one.
    files: Vec<Opened>,
}

/// An open file.
#[derive(Clone, Debug)]
struct Opened {
    /// The path at which it was found.
    path: PathBuf,
    file: Arc<File>,
    /// Version of the file when it was opened.
    was: Version,
}

/// Reads an open file independently of other readers.
pub type Reader = BufReader<Cursor>;

/// A private read position in an open file.
pub struct Cursor {
    file: Arc<File>,
    next: u64,
}

impl Read for Cursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.next)?;
        self.next += count as u64;
        Ok(count)
    }
}

/// Identifies a version of a file, so that changes are detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version {
    length: u64,
    /// Time of the last change, s and ns.
    modified: (i64, i64),
}

impl Version {
    fn of(file: &File) -> std::io::Result<Version> {
        let data = file.metadata()?;
        Ok(Version { length: data.len(), modified: (data.mtime(), data.mtime_nsec()) })
    }
}

impl StimulusSource {
    /// Opens the files that a rig names. The error refers to their place in the rig.
    pub fn open(stimulus: &RigStimulus, rights: &Rights) -> Result<StimulusSource, String> {
        let opened = found(stimulus, rights)?.into_iter().map(|path| Opened::new(path, stimulus, rights));
        let files = opened.collect::<Result<_, _>>()?;
        let kind = match (stimulus.recording, stimulus.jumps) {
            (true, _) => StimulusKind::Recording,
            (false, true) => StimulusKind::Trajectory,
            (false, false) => StimulusKind::File,
        };
        Ok(StimulusSource { kind, files })
    }

    /// Paths of the files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|opened| opened.path.as_path())
    }

    /// Contents of the header and the first rows.
    pub fn header(&self) -> Result<StimulusInput, Diagnostic> {
        let first = &self.files[0];
        stimulus::header(first.reader(), &first.path, self.kind)
    }

    /// Value of each column at the start time. An input that replays a recording starts with the start value of the
    /// recorded run: the rows are later values.
    pub fn at_start(
        &self,
        start: Instant,
        interpolation: Interpolation,
    ) -> Result<Vec<Option<At<String>>>, Diagnostic> {
        let first = &self.files[0];
        match self.kind {
            StimulusKind::Recording => Ok(Vec::new()),
            kind => stimulus::at_start(first.reader(), &first.path, kind, start.seconds(), interpolation),
        }
    }

    /// Properties of a trajectory.
    pub fn course(&self, start: Instant, column: impl Fn(&str) -> Column) -> Result<TrajectorySummary, Diagnostic> {
        let first = &self.files[0];
        stimulus::course(first.reader(), &first.path, start.seconds(), column)
    }

    /// Describes a change of the files since they were opened, if there was one.
    pub fn change(&self) -> Option<String> {
        self.files.iter().find_map(Opened::change)
    }

    /// Reads all rows from the first one on, with the columns of this stimulus.
    pub fn rows(&self, plan: &StimulusPlan) -> Result<StimulusReader<Reader>, Diagnostic> {
        let first = &self.files[0];
        let rows = StimulusReader::new(first.reader(), &first.path, self.kind, plan)?;
        let further = self.files[1..].to_vec();
        let names: Vec<PathBuf> = further.iter().map(|opened| opened.path.clone()).collect();
        Ok(rows.and(names, further.into_iter().map(|opened| Ok(opened.reader()))))
    }
}

impl Opened {
    fn new(path: PathBuf, stimulus: &RigStimulus, rights: &Rights) -> Result<Opened, String> {
        let shown = path.display();
        // A pipe may never begin, and a device never end.
        let is_dir = |path: &Path| is(rights, path, Metadata::is_dir);
        let is = rights.at(&path, |way| fs::metadata(way)).map_err(|error| match (error.kind(), stimulus.recording) {
            (ErrorKind::NotFound, true) if is_dir(&path.with_file_name("run-1")) => {
                format!("there is no {shown}: several runs (--repeat) have a folder each, such as run-1 beside it")
            }
            (ErrorKind::NotFound, true) if path.parent().is_some_and(is_dir) => {
                format!(
                    "there is no {shown}, and no signals.mcap or signals.arrows: that run has recorded no signals ([record] in its rig)"
                )
            }
            (ErrorKind::NotFound, _) if !stimulus.jumps => format!("{shown}: {error}; relative paths count from the rig file's folder"),
            _ => format!("{shown}: {error}"),
        })?;
        if is.is_dir() && stimulus.jumps {
            return Err(format!("{shown} is a folder, and no CSV file"));
        }
        if is.is_dir() {
            return Err(format!(
                "{shown} is a folder: file names a CSV file, recording the output folder of an earlier run"
            ));
        }
        if !is.is_file() {
            return Err(format!("{shown} is no ordinary file: a stimulus is read from one"));
        }
        let problem = |error: std::io::Error| format!("{shown}: {error}");
        let file = rights.at(&path, files::open).map_err(problem)?;
        let was = Version::of(&file).map_err(problem)?;
        Ok(Opened { path, file: Arc::new(file), was })
    }

    /// Makes a reader at the first byte.
    fn reader(&self) -> Reader {
        BufReader::with_capacity(BUFFER, Cursor { file: self.file.clone(), next: 0 })
    }

    fn change(&self) -> Option<String> {
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
}

/// Whether a path exists and satisfies a condition.
fn is(rights: &Rights, path: &Path, one: impl FnOnce(&Metadata) -> bool) -> bool {
    rights.at(path, |way| fs::metadata(way)).is_ok_and(|found| one(&found))
}

/// Finds the files of a source: a run may record in several formats and files, and a recording may be named directly.
fn found(stimulus: &RigStimulus, rights: &Rights) -> Result<Vec<PathBuf>, String> {
    let path = &stimulus.file.value;
    let folder = match path.parent() {
        Some(file) if stimulus.recording && is(rights, file, Metadata::is_file) => return Ok(vec![file.to_owned()]),
        Some(folder) if stimulus.recording && is(rights, folder, Metadata::is_dir) => folder,
        _ => return Ok(vec![path.clone()]),
    };
    let entries = rights.at(folder, |way| fs::read_dir(way));
    let entries = entries.map_err(|error| format!("{}: {error}", folder.display()))?;
    let names: Vec<String> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    match series::find(names.iter().map(String::as_str)) {
        Ok(found) if found.is_empty() => Ok(vec![path.clone()]),
        Ok(found) => Ok(found.into_iter().map(|name| folder.join(name)).collect()),
        Err(missing) => Err(format!(
            "{} is missing, and there are recordings before and after it: put it back, or name a single file",
            folder.join(missing).display()
        )),
    }
}
