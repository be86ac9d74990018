//! Resolves a path on the command line: the folder of a run, its `report.json`, or a recording of another tool.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use vecud_host::Error;
use vecud_linux::files;
use vecud_record::recording::{RecordingError, series};
use vecud_report::ReportFile;
use vecud_report::compare::ComparedTable;

/// The folder of a run.
pub struct RunFolder {
    /// Where its files are.
    pub path: PathBuf,
    /// The `report.json` of the run.
    report: PathBuf,
}

impl RunFolder {
    /// The folder, or that of a `report.json`.
    pub fn of(path: &Path) -> Result<RunFolder, Error> {
        let wrong = |what: String| Err(Error::Report(path.to_owned(), None, what));
        match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => wrong(
                "there is no such folder; name the output folder of a run (vecud run makes vecud-out/<rig>)".to_owned(),
            ),
            Err(error) => wrong(error.to_string()),
            Ok(metadata) if metadata.is_dir() => {
                let (report, checkpoint) = (path.join("report.json"), path.join("checkpoint.json"));
                if checkpoint.is_file() && !is_of_a_finished_run(&report) {
                    return Ok(RunFolder { path: path.to_owned(), report: checkpoint });
                }
                let first = ["run-1/report.json", "run-1/checkpoint.json"].map(|name| path.join(name));
                if !report.exists() && first.iter().any(|file| file.is_file()) {
                    return wrong("this folder holds several runs; name one of them, like run-1 in it".to_owned());
                }
                Ok(RunFolder { path: path.to_owned(), report })
            }
            Ok(_) if is_json(path) => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                Ok(RunFolder { path: folder.unwrap_or(Path::new(".")).to_owned(), report: path.to_owned() })
            }
            Ok(_) => wrong("this is neither the output folder of a run nor a report.json".to_owned()),
        }
    }

    /// Where `report.json` is.
    pub fn report_path(&self) -> &Path {
        &self.report
    }

    /// The names of the files in it, as far as they are text.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        let entries = fs::read_dir(&self.path).map_err(Error::file(&self.path))?;
        let files = entries.flatten().filter(|entry| entry.path().is_file());
        Ok(files.filter_map(|entry| entry.file_name().into_string().ok()).collect())
    }

    /// The recording of the run, if there is one.
    ///
    /// # Errors
    /// A file of it is missing between others.
    pub fn signals(&self) -> Result<Option<Signals>, Error> {
        let names = self.names()?;
        let found = series::find(names.iter().map(String::as_str)).map_err(|missing| {
            let what = "is missing, and there are recordings before and after it; put it back, or name a single file";
            Error::Report(self.path.join(missing), None, what.to_owned())
        })?;
        let paths: Vec<PathBuf> = found.iter().map(|name| self.path.join(name)).collect();
        Ok((!paths.is_empty()).then_some(Signals { paths, of_run: true }))
    }

    /// Reads `report.json`, or the checkpoint. Of a run that went on when that was written it is known by the lock on its folder
    /// whether it still does.
    pub fn report(&self) -> Result<ReportFile, Error> {
        let path = || self.report.clone();
        let text = files::read_to_string(&self.report).map_err(|error| {
            let what = match error.kind() {
                io::ErrorKind::NotFound => {
                    "there is none: no run has ended in this folder, and there is no checkpoint.json of one that goes on or was \
                     cut off; name another one, or run the rig again (--against takes a signals.csv by itself, too)"
                        .to_owned()
                }
                io::ErrorKind::InvalidData => "this is no text; take another copy, or run the rig again".to_owned(),
                _ => error.to_string(),
            };
            Error::Report(path(), None, what)
        })?;
        let line = |place: Option<(usize, usize)>| place.map(|(line, _)| line as u64);
        let report =
            ReportFile::parse(&text).map_err(|error| Error::Report(path(), line(error.place), error.message))?;
        Ok(if report.is_finished() { report } else { report.judged(vecud_host::is_in_use(&self.path)) })
    }
}

/// Whether there is a report at this place, and of the whole run: one that was made while it went on is older than a checkpoint.
fn is_of_a_finished_run(report: &Path) -> bool {
    let text = files::read_to_string(report).unwrap_or_default();
    ReportFile::parse(&text).is_ok_and(|report| report.is_finished())
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

/// One side of a comparison.
pub struct ComparisonInput {
    /// As the user named it.
    pub name: String,
    /// Where a page about it goes.
    pub folder: PathBuf,
    /// What `report.json` says, if it is a run.
    pub report: Option<ReportFile>,
    /// The recorded signals.
    pub signals: Option<Signals>,
}

/// A recording.
pub struct Signals {
    /// Its files, one after the other; there is one.
    paths: Vec<PathBuf>,
    /// The recording lies in the folder of a run, and was not named by the user.
    of_run: bool,
}

impl ComparisonInput {
    /// Resolves a path.
    pub fn of(path: &Path) -> Result<ComparisonInput, Error> {
        let name = path.display().to_string();
        let is_other_file = fs::metadata(path).is_ok_and(|metadata| !metadata.is_dir()) && !is_json(path);
        if is_other_file {
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            let signals = Some(Signals { paths: vec![path.to_owned()], of_run: false });
            return Ok(ComparisonInput { name, folder, report: None, signals });
        }
        let folder = RunFolder::of(path)?;
        let report = Some(folder.report()?);
        Ok(ComparisonInput { name, report, signals: folder.signals()?, folder: folder.path })
    }
}

impl ComparisonInput {
    /// What can be plotted at this path: of a folder, the recording of the run, whether or not that has a report.
    pub fn of_recording(path: &Path) -> Result<ComparisonInput, Error> {
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_dir()) && !is_json(path) {
            return ComparisonInput::of(path);
        }
        let folder = RunFolder::of(path)?;
        let (report, signals) = (folder.report().ok(), folder.signals()?);
        Ok(ComparisonInput { name: path.display().to_string(), report, signals, folder: folder.path })
    }
}

/// A recording to read.
pub type Recording = ComparedTable<BufReader<File>>;

impl Signals {
    /// The first file.
    pub fn path(&self) -> &Path {
        &self.paths[0]
    }

    /// Whether it can be read again: it is no pipe.
    pub fn is_of_files(&self) -> bool {
        self.paths.iter().all(|path| path.is_file())
    }

    /// Opens the recording.
    pub fn open(&self) -> Result<Recording, Error> {
        let input = reader(self.path()).map_err(Error::file(self.path()))?;
        let further: Vec<PathBuf> = self.paths[1..].to_vec();
        let further = further.into_iter().map(|path| reader(&path));
        let table = if self.of_run { ComparedTable::of_run(input, further) } else { ComparedTable::of_tool(input) };
        table.map_err(|error| self.broken(error))
    }

    /// Why it cannot be read.
    pub fn broken(&self, error: RecordingError) -> Error {
        let path = self.paths[error.file as usize].clone();
        Error::Report(path, Some(error.line).filter(|line| *line > 0), error.message)
    }
}

fn reader(path: &Path) -> io::Result<BufReader<File>> {
    Ok(BufReader::with_capacity(1 << 18, files::open(path)?))
}
