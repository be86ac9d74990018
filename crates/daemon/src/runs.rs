//! The runs of a rig: folders named by their start, with the files of `vecud run`.

use jiff::Timestamp;
use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use vecud_host::RunName;
use vecud_linux::files::Folder;
use vecud_report::ReportFile;

/// Files with the state of a run, the latest first.
const REPORTS: [&str; 2] = ["report.json", "checkpoint.json"];
/// A longer one is none: FMU code runs as the same user and can write there.
const LONGEST_REPORT: u64 = 64 << 20;

/// Bytes of memory that one report may take while it is read as a whole.
const ROOM: usize = 160 << 20;
/// Bytes of that memory for each of its values.
const VALUE: usize = 100;
/// Bytes of a report that are read at most for a summary.
const SUMMARY: u64 = 1 << 20;
/// Files of a run that are listed at most: FMU code can make more.
const FILES: usize = 10_000;
/// The words of `verdict`.
const VERDICTS: [&str; 3] = ["pass", "degraded", "fail"];
/// The words of `ended`.
const ENDS: [&str; 3] = ["finished", "cut off", "running"];

/// The summary of a run, as in its report, as far as it is known.
#[derive(Debug, Default)]
pub struct RunSummary {
    /// `pass`, `degraded` or `fail`.
    pub verdict: Option<&'static str>,
    /// `finished`, `cut off` or `running`.
    pub ended: Option<&'static str>,
}

impl RunSummary {
    /// Reads the summary from the beginning of a report, and keeps nothing else of it.
    fn of(report: File) -> RunSummary {
        let mut summary = RunSummary::default();
        let mut reader = serde_json::Deserializer::from_reader(BufReader::new(report.take(SUMMARY)));
        // What comes after it may be anything.
        let _rest = reader.deserialize_map(&mut summary);
        summary
    }
}

impl<'de> Visitor<'de> for &mut RunSummary {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a report")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while self.verdict.is_none() || self.ended.is_none() {
            let (field, words) = match fields.next_key::<String>()?.as_deref() {
                Some("verdict") => (&mut self.verdict, VERDICTS),
                Some("ended") => (&mut self.ended, ENDS),
                Some(_) => {
                    fields.next_value::<IgnoredAny>()?;
                    continue;
                }
                None => break,
            };
            let word: String = fields.next_value()?;
            *field = words.into_iter().find(|known| *known == word);
        }
        Ok(())
    }
}

/// The folder of runs of one rig: what in it, or on the way to it, is a link is no run, and is not followed.
#[derive(Clone, Debug)]
pub struct Runs {
    /// The folder of all rigs.
    rigs: Folder,
    /// The place of the runs in that folder.
    inside: PathBuf,
}

impl Runs {
    /// The runs in a folder in that of all rigs, which need not be there yet.
    pub fn of(rigs: Folder, inside: PathBuf) -> Runs {
        Runs { rigs, inside }
    }

    fn open(&self) -> io::Result<Folder> {
        self.rigs.beneath(&self.inside)
    }

    /// A name for a run that starts now. It comes after all others, also if the clock of the machine was set back: the order of
    /// runs decides which of them are kept.
    pub fn next(&self) -> String {
        let now = RunName::of(Timestamp::now());
        let last = self.names().unwrap_or_default().iter().filter_map(|name| RunName::parse(name)).max();
        let first = last.map_or(now, |last| now.max(last.next()));
        let mut names = std::iter::successors(Some(first), |name| Some(name.next())).map(|name| name.to_string());
        let folder = self.open();
        let is_free =
            |name: &String| folder.as_ref().map_or(true, |folder| folder.join(name).symlink_metadata().is_err());
        names.find(is_free).expect("there is no end of names")
    }

    /// The output folder of a run, as people know it.
    pub fn path(&self, run: &str) -> PathBuf {
        self.rigs.path().join(&self.inside).join(run)
    }

    /// The folder of all rigs, in which it is.
    pub fn within(&self) -> &Folder {
        &self.rigs
    }

    /// Removes the oldest runs beyond `most`. Folders with other names stay: a user who wants to keep a run for ever gives it another
    /// name.
    pub fn keep(&self, most: usize) -> io::Result<()> {
        let names: Vec<String> = self.names()?.into_iter().filter(|name| RunName::parse(name).is_some()).collect();
        let mut old = names.iter().take(names.len().saturating_sub(most)).peekable();
        if old.peek().is_none() {
            return Ok(());
        }
        let folder = self.open()?;
        old.try_for_each(|name| folder.remove_all(name))
    }

    /// The names of all runs, oldest first.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let folder = match self.open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            folder => folder?,
        };
        let mut names = Vec::new();
        for entry in fs::read_dir(folder.way())? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                names.extend(entry.file_name().into_string().ok().filter(|name| is_plain(name)));
            }
        }
        names.sort_by_cached_key(|name: &String| age(name));
        Ok(names)
    }

    /// The names of the runs before that of this name, which need not be there any more, oldest first; `None`: of all runs.
    pub fn names_before(&self, run: Option<&str>) -> io::Result<Vec<String>> {
        let mut names = self.names()?;
        if let Some(end) = run.map(age) {
            names.truncate(names.partition_point(|name| age(name) < end));
        }
        Ok(names)
    }

    /// The report of a run; `None`: there is no such run, or it has none yet.
    pub fn report(&self, run: &str) -> Option<File> {
        let folder = self.existing(run)?;
        REPORTS.iter().find_map(|name| folder.file(name).ok())
    }

    /// The summary of a run.
    pub fn summary(&self, run: &str) -> RunSummary {
        let folder = self.existing(run);
        let reports = folder.iter().flat_map(|folder| REPORTS.iter().filter_map(|name| folder.file(name).ok()));
        reports.map(RunSummary::of).find(|said| said.verdict.is_some()).unwrap_or_default()
    }

    /// A run that has its report, as far as that can be read.
    pub fn finished(&self, run: &str) -> Option<ReportFile> {
        let [report, _] = REPORTS;
        let text = self.existing(run)?.read_at_most(report, LONGEST_REPORT).ok()??;
        // Of many short values a reader makes many times their length.
        let values = text.iter().filter(|letter| **letter == b',').count();
        if text.len() + values * VALUE > ROOM {
            return None;
        }
        ReportFile::parse(str::from_utf8(&text).ok()?).ok()
    }

    /// The folders of runs that have a checkpoint and no report: whoever watched them is gone.
    pub fn cut_off(&self) -> Vec<Folder> {
        let folders = self.names().unwrap_or_default().into_iter().filter_map(|name| self.existing(&name));
        let [report, checkpoint] = REPORTS;
        folders.filter(|run| run.has_file(checkpoint) && !run.has_file(report)).collect()
    }

    /// A file of a run; `None`: there is none.
    pub fn file(&self, run: &str, name: &str) -> Option<File> {
        let folder = self.existing(run).filter(|_| is_plain(name))?;
        folder.file(name).ok()
    }

    /// The names of the files of a run, of very many [`FILES`]; `None`: there is no such run.
    pub fn files(&self, run: &str) -> Option<Vec<String>> {
        let entries = fs::read_dir(self.existing(run)?.way()).ok()?;
        let name = |entry: io::Result<fs::DirEntry>| {
            let entry = entry.ok().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))?;
            entry.file_name().into_string().ok().filter(|name| is_plain(name))
        };
        let mut names: Vec<String> = entries.filter_map(name).take(FILES).collect();
        names.sort_unstable();
        Some(names)
    }

    fn existing(&self, run: &str) -> Option<Folder> {
        if is_plain(run) { self.open().ok()?.inner(run).ok() } else { None }
    }
}

/// The place of a run among others: by its start. Folders that are called otherwise come last.
fn age(name: &str) -> (bool, Option<RunName>, String) {
    let run = RunName::parse(name);
    (run.is_none(), run, name.to_owned())
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
        let runs = Runs::of(Folder::open(folder.path()).unwrap(), "runs".into());
        assert_eq!(runs.names().unwrap(), [""; 0]);
        let starts =
            ["2026-11-25T10-00-00Z", "2026-11-25T10-00-00Z-2", "2026-11-25T10-00-00Z-10", "2026-11-25T10-00-01Z"];
        for name in starts.iter().rev() {
            fs::create_dir_all(runs.path(name)).unwrap();
        }
        assert_eq!(runs.names().unwrap(), starts);
        fs::create_dir(runs.path("mine")).unwrap();
        runs.keep(2).unwrap();
        assert_eq!(runs.names().unwrap(), [starts[2], starts[3], "mine"]);
        runs.keep(9).unwrap();
        let starts = &starts[2..];
        let first = runs.next();
        fs::create_dir(runs.path(&first)).unwrap();
        assert_ne!(runs.next(), first);
        let report = runs.path(starts[0]).join("report.json");
        fs::write(&report, r#"{"verdict": "pass", "ended": "finished", "rig": "a"}"#).unwrap();
        fs::write(folder.path().join("secret"), "").unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret"), runs.path(starts[0]).join("link")).unwrap();
        assert_eq!(runs.summary(starts[0]).verdict, Some("pass"));
        assert!(io::read_to_string(runs.report(starts[0]).unwrap()).unwrap().contains("rig"));
        assert_eq!(runs.files(starts[0]).unwrap(), ["report.json"]);
        for (run, file) in [(starts[0], "../../secret"), (starts[0], "link"), ("..", "secret"), (starts[0], ".")] {
            assert!(runs.file(run, file).is_none(), "{run}/{file}");
        }
        // Whatever its length, which may be that of no disk.
        fs::File::options().write(true).open(&report).unwrap().set_len(1 << 40).unwrap();
        assert!(runs.finished(starts[0]).is_none());
    }

    /// Whatever somebody else has written there: of a report little is read, and of that less is kept.
    #[test]
    fn of_a_report_the_beginning_is_read_and_known_words_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let runs = Runs::of(Folder::open(folder.path()).unwrap(), "runs".into());
        fs::create_dir_all(runs.path("one")).unwrap();
        let said = |report: &str| {
            fs::write(runs.path("one").join("report.json"), report).unwrap();
            let summary = runs.summary("one");
            (summary.verdict, summary.ended)
        };
        assert_eq!(
            said(r#"{"verdict": "pass", "ended": "cut off", "x": "#),
            (Some("pass"), Some("cut off")),
            "no more"
        );
        let long = "x".repeat(SUMMARY as usize);
        assert_eq!(said(&format!(r#"{{"verdict": "fail", "x": "{long}", "ended": "running"}}"#)), (Some("fail"), None));
        assert_eq!(said(&format!(r#"{{"verdict": "{}", "ended": 1}}"#, &long[..1000])), (None, None));
    }

    /// Also where the clock was set back, and where the first runs of a second are gone.
    #[test]
    fn a_new_run_comes_after_all_others_and_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let runs = Runs::of(Folder::open(folder.path()).unwrap(), "runs".into());
        fs::create_dir(folder.path().join("runs")).unwrap();
        for name in ["2190-01-01T00-00-00Z", "2190-01-01T00-00-00Z-2"] {
            fs::create_dir(runs.path(name)).unwrap();
        }
        for last in ["2190-01-01T00-00-00Z-3", "2190-01-01T00-00-00Z-4", "2190-01-01T00-00-00Z-5"] {
            assert_eq!(runs.next(), last);
            fs::create_dir(runs.path(last)).unwrap();
            runs.keep(1).unwrap();
            assert_eq!(runs.names().unwrap(), [last]);
        }
    }
}
