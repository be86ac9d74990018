//! The files of a recording in one format: one, or one after the other (`signals-000001.csv` and so on).
//!
//! A file ends before the first time that no longer belongs to it: because it has enough simulation time, or because it is
//! large enough. Each file is closed as the last one would be, and the next one begins with the values of all columns: each
//! can be read alone, and all of them after each other have the rows that one file would have. If only a number of files is
//! kept, the oldest one is removed when the next one exists.
//!
//! A file that cannot be written any more ends; where a time says when the next one begins, that is tried.

#[cfg(feature = "arrow")]
use super::arrow::Arrow;
use super::csv::Csv;
use super::messages::Messages;
use super::sample_sink::SampleSink;
use super::texts::Texts;
use crate::recording::series::{self, Files};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use vecud_base::time::{Instant, Nanos};
use vecud_linux::files;
use vecud_plan::{Format, Plan};

/// Whether this program writes files of a format: `"arrow"` is a feature of it.
pub fn writes(format: Format) -> bool {
    format != Format::Arrow || cfg!(feature = "arrow")
}

/// The files of one format.
pub(super) struct RotatedFiles<'a> {
    plan: &'a Plan,
    folder: PathBuf,
    format: Format,
    texts: Texts,
    /// Number of the current file, counted from 1; `None`: the recording is not rotated.
    number: Option<u32>,
    /// The current file; `None`: it has failed.
    sink: Option<Box<dyn SampleSink>>,
    /// The first time of the next file, as simulation time.
    until: Option<Nanos>,
    /// The next file could not be made, and the user was told.
    is_told: bool,
    removed: u32,
    /// Bytes of completed files.
    ended: u64,
}

impl<'a> RotatedFiles<'a> {
    /// Begins the first file. What goes wrong is told.
    pub(super) fn begin(
        plan: &'a Plan,
        folder: PathBuf,
        format: Format,
        texts: &Texts,
        problems: &mut Vec<String>,
    ) -> RotatedFiles<'a> {
        let texts = texts.clone();
        let number = plan.rotation.is_wanted().then_some(1);
        let until = plan.rotation.every.map(|every| plan.start.nanos().plus(every));
        let (sink, is_told, removed, ended) = Default::default();
        let mut series = RotatedFiles { plan, folder, format, texts, number, sink, until, is_told, removed, ended };
        match series.create(number) {
            Ok(sink) => series.sink = Some(sink),
            Err(error) => problems.push(format!("{} is not written: {error}", series.name(number))),
        }
        series
    }

    fn name(&self, number: Option<u32>) -> String {
        series::name(number, self.format.extension())
    }

    fn create(&self, number: Option<u32>) -> io::Result<Box<dyn SampleSink>> {
        self.create_at(&self.folder.join(self.name(number)))
    }

    fn create_at(&self, path: &Path) -> io::Result<Box<dyn SampleSink>> {
        Ok(match self.format {
            Format::Csv => Box::new(Csv::create(path, self.plan, &self.texts)?),
            Format::Mcap(encoding) => Box::new(Messages::create(path, self.plan, encoding, &self.texts)?),
            #[cfg(feature = "arrow")]
            Format::Arrow => Box::new(Arrow::create(path, self.plan, &self.texts)?),
            #[cfg(not(feature = "arrow"))]
            Format::Arrow => return Err(io::Error::other(crate::recording::WITHOUT_ARROW)),
        })
    }

    /// Begins a file that others come before. It has its name when it can be read with them, even if this program is killed now.
    fn create_whole(&self, number: u32, values: &[Option<u64>]) -> io::Result<Box<dyn SampleSink>> {
        let name = self.name(Some(number));
        let partial = self.folder.join(format!("{name}.next"));
        let made = self.create_at(&partial).and_then(|mut sink| {
            sink.begin(values)?;
            sink.flush(true)?;
            Ok(sink)
        });
        files::renamed(&partial, &self.folder.join(name), made)
    }

    /// Does it to the file that is written. If it fails, that file is not written any more.
    pub(super) fn each(&mut self, what: impl Fn(&mut dyn SampleSink) -> io::Result<()>, problems: &mut Vec<String>) {
        let Some(sink) = &mut self.sink else { return };
        let Err(error) = what(sink.as_mut()) else { return };
        let reached = match sink.reached() {
            Some(time) => format!("ends at {} s", time.seconds()),
            None => "ends before its first values".to_owned(),
        };
        let goes_on = match self.until {
            Some(until) => {
                format!("the run goes on, and its recording at {} s if that is possible then", until.seconds())
            }
            None => "the run goes on".to_owned(),
        };
        self.ended += sink.written();
        self.sink = None;
        problems.push(format!("{} {reached}, {goes_on}: {error}", self.name(self.number)));
    }

    /// Goes on in the next file, if `time`, which comes next, does not belong to this one any more. `values` are those before it.
    pub(super) fn reach(&mut self, time: Instant, values: &[Option<u64>], problems: &mut Vec<String>) {
        let Some(number) = self.number else { return };
        let is_late = self.until.is_some_and(|until| time.nanos() >= until);
        let mut is_large = || {
            let sink = self.sink.as_mut().zip(self.plan.rotation.max_size);
            sink.is_some_and(|(sink, most)| sink.has(most))
        };
        if !is_late && !is_large() {
            return;
        }
        if let Some(every) = self.plan.rotation.every.filter(|_| is_late) {
            let start = self.plan.start.nanos();
            let passed = time.nanos().minus(start).0 / every.0;
            self.until = Some(start.plus(Nanos(every.0.saturating_mul(passed + 1))));
        }
        let Some(next) = number.checked_add(1) else { return };
        // All of this one is there before the next one is: whoever is killed in between has left no gap.
        if !self.is_told {
            self.each(|sink| sink.flush(true), problems);
        }
        let begun = self.create_whole(next, values);
        match begun {
            Ok(sink) => {
                self.end(problems);
                (self.number, self.sink, self.is_told) = (Some(next), Some(sink), false);
                self.remove_old(next, problems);
            }
            // The one that is written goes on as long as it can: nothing is lost.
            Err(error) if !self.is_told => {
                self.is_told = true;
                problems.push(format!("{} cannot be begun: {error}", self.name(Some(next))));
            }
            Err(_) => {}
        }
    }

    fn remove_old(&mut self, newest: u32, problems: &mut Vec<String>) {
        let old = self.plan.rotation.keep.and_then(|keep| newest.checked_sub(keep)).filter(|old| *old > 0);
        let Some(old) = old else { return };
        let name = self.name(Some(old));
        match fs::remove_file(self.folder.join(&name)) {
            Ok(()) => self.removed += 1,
            // Somebody has taken it away, as people do with what is complete.
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.removed += 1,
            Err(error) => problems.push(format!("{name} is older than what is kept and cannot be removed: {error}")),
        }
    }

    /// Closes the file that is written.
    pub(super) fn end(&mut self, problems: &mut Vec<String>) {
        self.each(|sink| sink.flush(true), problems);
        let Some(sink) = self.sink.take() else { return };
        self.ended += sink.written();
        let name = self.name(self.number);
        match sink.close() {
            Ok(written) => problems.extend(written.and_then(|written| written.gone_from(&self.folder.join(name)))),
            Err(error) => problems.push(format!("{name} is whole but has no index: {error}")),
        }
    }

    /// Bytes that were written to its files.
    pub(super) fn bytes(&self) -> u64 {
        self.ended + self.sink.as_ref().map_or(0, |sink| sink.written())
    }

    /// The files of the recording so far.
    pub(super) fn files(&self) -> Files {
        let first = self.number.map(|_| self.removed + 1);
        Files { first: self.name(first), last: self.name(self.number), removed: self.removed }
    }
}
