//! The flight recorder: the last seconds in memory, written when something happens that the rig does not want, and at the
//! end.
//!
//! What happens is an overrun, or an activation beyond `max_latency_us` or `max_execution_us`. The file has what was before
//! it and a while after it; what happens within that while belongs to the same file. There are at most [`FILES`], the last of
//! them kept for the end of the run.

use super::picture::around;
use super::{NAME, PIECE};
use crate::plan::{Plan, TaskId};
use crate::record::board::{Board, TaskWord};
use crate::record::trace::chrome::ChromeWriter;
use crate::record::trace::{Activated, Item};
use crate::report::{Picture, TraceFile};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Files of a run at most.
const FILES: usize = 5;
/// What is told of one file.
const TOLD: usize = 8;
/// Items in memory at most.
const KEPT: usize = 1 << 20;
/// After an incident the recorder goes on for this long, ns, or a quarter of what it reaches back, if that is less.
const AFTER: i64 = 500_000_000;

/// Something that is worth a file.
struct Incident {
    at: i64,
    why: Vec<String>,
}

/// The flight recorder of a run.
pub(super) struct Flight<'a> {
    plan: &'a Plan,
    board: Board<'a>,
    out: PathBuf,
    window: VecDeque<Item>,
    /// When the newest item was over.
    newest: i64,
    /// Not written yet.
    incident: Option<Incident>,
    files: Vec<TraceFile>,
    /// Overruns of each task that are no skipped releases.
    overruns: Vec<u64>,
    picture: Option<Picture>,
}

impl<'a> Flight<'a> {
    pub(super) fn new(plan: &'a Plan, board: Board<'a>, out: &Path) -> Self {
        Flight {
            plan,
            board,
            out: out.to_owned(),
            window: VecDeque::new(),
            newest: 0,
            incident: None,
            files: Vec::new(),
            overruns: vec![0; plan.tasks.len()],
            picture: None,
        }
    }

    /// The next items, by their ends; it is `now` on their axis.
    pub(super) fn take(&mut self, items: Vec<Item>, now: i64, problems: &mut Vec<String>) {
        let back = self.plan.trace.seconds.0;
        for item in items {
            self.newest = self.newest.max(item.at());
            if let Some((at, why)) = self.exceeds(&item) {
                self.happened(at, why);
            }
            self.window.push_back(item);
        }
        for task in (0..self.plan.tasks.len()).map(TaskId) {
            let cells = self.board.task(task);
            let others = cells.get(TaskWord::Overruns).saturating_sub(cells.get(TaskWord::Skipped));
            if others > std::mem::replace(&mut self.overruns[task.0], others) {
                self.happened(now.min(self.newest), format!("overrun of {}", self.name(task)));
            }
        }
        // At the end there is one file for both.
        let over = now == i64::MAX;
        if !over && self.incident.as_ref().is_some_and(|incident| now >= incident.at + AFTER.min(back / 4)) {
            self.write(problems);
        }
        // The last seconds in which something happened: an FMU may take its time to end.
        let since = self.incident.as_ref().map_or(self.newest, |incident| incident.at.min(self.newest)) - back;
        while self.window.len() > KEPT || self.window.front().is_some_and(|item| item.at() < since) {
            self.window.pop_front();
        }
    }

    fn happened(&mut self, at: i64, why: String) {
        match &mut self.incident {
            // The last file is for the end.
            None if self.files.len() + 1 < FILES => self.incident = Some(Incident { at, why: vec![why] }),
            None => (),
            Some(incident) if incident.why.len() < TOLD => incident.why.push(why),
            Some(incident) if incident.why.len() == TOLD => incident.why.push("and more".to_owned()),
            Some(_) => (),
        }
    }

    fn name(&self, task: TaskId) -> String {
        let planned = &self.plan.tasks[task.0];
        format!("{}.{}", self.plan.fmus[planned.fmu.0].name, planned.clock)
    }

    /// What the rig does not want, and when it was seen.
    fn exceeds(&self, item: &Item) -> Option<(i64, String)> {
        let seconds = |ns: &i64| *ns as f64 / 1e9;
        let micros = |ns: i64| ns as f64 / 1e3;
        match item {
            Item::Skipped { task, time, at, .. } => {
                Some((*at, format!("overrun of {} at {} s", self.name(*task), seconds(time))))
            }
            Item::Activated(Activated { task, time, release, start, end, execution, .. }) => {
                let limits = &self.plan.tasks[task.0].limits;
                let (late, name) = (start - release, self.name(*task));
                if limits.max_latency.is_some_and(|limit| late > limit.0) {
                    let why = format!("start latency of {name} {} µs at {} s", micros(late), seconds(time));
                    return Some((*start, why));
                }
                let longer = limits.max_execution.is_some_and(|limit| *execution > limit.0);
                longer.then(|| (*end, format!("execution of {name} {} µs at {} s", micros(*execution), seconds(time))))
            }
            Item::Ticked { .. } | Item::Armed { .. } => None,
        }
    }

    /// Writes what there is in memory.
    fn write(&mut self, problems: &mut Vec<String>) {
        let name = match self.files.len() {
            0 => NAME.to_owned(),
            files => format!("trace-{}.json", files + 1),
        };
        let incident = self.incident.take();
        let mut file = TraceFile::new(&name);
        file.why = match &incident {
            Some(incident) => incident.why.clone(),
            None => vec!["the end of the run".to_owned()],
        };
        if let Err(error) = self.write_as(&mut file, incident.as_ref()) {
            problems.push(format!("{name} is not complete: {error}"));
        }
        if let Some(incident) = incident.filter(|_| self.picture.is_none()) {
            let why = incident.why.first().cloned().unwrap_or_default();
            self.picture = around(incident.at, why, self.window.iter());
        }
        self.files.push(file);
    }

    fn write_as(&mut self, file: &mut TraceFile, incident: Option<&Incident>) -> io::Result<()> {
        let mut writer = ChromeWriter::new(self.plan, File::create(self.out.join(&file.name))?)?;
        if let Some(incident) = incident {
            writer.remark(incident.at, &incident.why.join("; "))?;
        }
        for piece in self.window.make_contiguous().chunks(PIECE) {
            if writer.written() >= self.plan.trace.limit {
                return writer.finish().and(Err(io::Error::other("it has as many MiB as limit_mib in [trace] allows")));
            }
            writer.write(piece)?;
            piece.iter().for_each(|item| file.count(item));
        }
        writer.finish()
    }

    /// The run is over.
    pub(super) fn finish(mut self, problems: &mut Vec<String>) -> (Vec<TraceFile>, Option<Picture>) {
        self.write(problems);
        (self.files, self.picture)
    }
}
