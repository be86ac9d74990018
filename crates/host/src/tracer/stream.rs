//! All traced events, in `trace.json` at once. When that file has half of the size that the rig allows, it becomes
//! `trace-earlier.json`, in place of the one before, and a new one begins: both are whole files, and the loss of older ones is told
//! at the end.

use super::file::{NAME, PIECE, create};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use vecud_plan::Plan;
use vecud_record::trace::TraceItem;
use vecud_record::trace::chrome::ChromeWriter;
use vecud_record::written::Written;
use vecud_report::TraceFile;

/// The name of `trace.json` after a new one has begun.
const EARLIER: &str = "trace-earlier.json";

/// The files.
pub struct TraceFiles<'a> {
    plan: &'a Plan,
    folder: PathBuf,
    /// `None`: it could not be written any more.
    writer: Option<ChromeWriter<'a, File>>,
    file: TraceFile,
    earlier: Option<(TraceFile, Written)>,
    /// Activations in files that are gone, and until when those showed the run, ns from its start.
    gone: u64,
    gone_until: i64,
    /// Losses of items that others have caused.
    lost: Vec<String>,
}

impl<'a> TraceFiles<'a> {
    /// Begins the first file. What goes wrong is told.
    pub fn new(plan: &'a Plan, folder: &Path, problems: &mut Vec<String>) -> TraceFiles<'a> {
        let writer = create(plan, &folder.join(NAME));
        let writer = writer.map_err(|error| problems.push(format!("{NAME} is not written: {error}"))).ok();
        let (folder, file) = (folder.to_owned(), TraceFile::new(NAME));
        TraceFiles { plan, folder, writer, file, earlier: None, gone: 0, gone_until: 0, lost: Vec::new() }
    }

    /// Appends items, in pieces, so that a file is not much larger than it may be.
    pub fn take(&mut self, items: &[TraceItem], problems: &mut Vec<String>) {
        for piece in items.chunks(PIECE) {
            let Some(open) = &mut self.writer else { return };
            match open.write(piece) {
                Ok(()) => piece.iter().for_each(|item| self.file.count(item)),
                Err(error) => {
                    problems.push(format!("{NAME} ends early, the run goes on: {error}"));
                    self.writer.take().into_iter().for_each(ChromeWriter::cut);
                    return;
                }
            }
            if open.written() >= self.plan.trace.limit / 2 {
                self.begin_anew(problems);
            }
        }
    }

    /// Ends the file, which is the earlier one from here on, and begins another. Where that is not possible there is no further one.
    fn begin_anew(&mut self, problems: &mut Vec<String>) {
        let Some(writer) = self.writer.take() else { return };
        let path = self.folder.join(NAME);
        let begun = writer.finish().and_then(|(file, length)| {
            let written = Written { file, length };
            match written.gone_from(&path) {
                // The one before it, if there is one, is still there.
                Some(gone) => self.lost.push(gone),
                None => {
                    fs::rename(&path, self.folder.join(EARLIER))?;
                    let file = TraceFile { name: EARLIER.to_owned(), ..self.file.clone() };
                    if let Some((before, _)) = self.earlier.replace((file, written)) {
                        self.gone += before.activations;
                        self.gone_until = before.to;
                    }
                }
            }
            // No file has this name now, whether or not there is room for another one.
            self.file = TraceFile::new(NAME);
            create(self.plan, &path)
        });
        self.writer =
            begun.map_err(|error| problems.push(format!("{NAME} cannot be begun anew, the run goes on: {error}"))).ok();
    }

    /// Ends the files, and gives those that there are. `lost`: what others have taken away.
    pub fn finish(mut self, problems: &mut Vec<String>, lost: &mut Vec<String>) -> Vec<TraceFile> {
        let began_anew = self.earlier.is_some() || !self.lost.is_empty();
        let why = match (self.writer.is_some(), began_anew) {
            (true, false) => "all of the run",
            (false, false) => "the first part of the run",
            (true, true) => "the newest part of the run",
            (false, true) => "the last part that could be written",
        };
        lost.append(&mut self.lost);
        match self.writer.map(ChromeWriter::finish) {
            Some(Ok((file, length))) => lost.extend(Written { file, length }.gone_from(&self.folder.join(NAME))),
            Some(Err(error)) => problems.push(format!("{NAME} ends early: {error}")),
            None => (),
        }
        if self.gone > 0 {
            problems.push(format!(
                "the trace lacks the first {:.3} s, of {} activations: {EARLIER} and {NAME} may have {} MiB together (rig: limit_mib in \
                 [trace])",
                self.gone_until.max(0) as f64 / 1e9,
                self.gone,
                self.plan.trace.limit >> 20
            ));
        }
        // A full disk may have had no room for it.
        let newest = Some(self.file).filter(|_| self.folder.join(NAME).exists());
        let mut files = Vec::new();
        if let Some((mut file, written)) = self.earlier {
            match written.gone_from(&self.folder.join(EARLIER)) {
                Some(gone) => lost.push(gone),
                None => {
                    file.why.push(if newest.is_some() { "what was before the newest part" } else { why }.to_owned());
                    files.push(file);
                }
            }
        }
        files.extend(newest.map(|file| TraceFile { why: vec![why.to_owned()], ..file }));
        files
    }
}
