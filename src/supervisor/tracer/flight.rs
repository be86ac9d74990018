//! The flight recorder: the last seconds in memory, written when something happens that the rig does not want, and at the
//! end.
//!
//! What happens is an overrun, or an activation beyond `max_latency_us` or `max_execution_us`. The file has what was before
//! it and a while after it; what happens within that while belongs to the same file. There are at most [`FILES`], the last of
//! them kept for the end of the run.

use super::picture::around;
use super::{NAME, PIECE, create};
use crate::plan::{Plan, TaskId};
use crate::record::board::{Board, TaskWord};
use crate::record::trace::chrome::ChromeWriter;
use crate::record::trace::{Activated, Item};
use crate::record::written::Written;
use crate::report::{Kind, Measured, Picture, TraceFile, exceeded};
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

/// Files of a run at most.
const FILES: usize = 5;
/// What is told of one file.
const TOLD: usize = 8;
/// Items in memory at most.
const KEPT: usize = 1 << 20;
/// Bytes of an event of a file at most, roughly.
const EVENT: usize = 512;
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
    /// Trace files that are complete, with what was written to each.
    written: Vec<(PathBuf, Written)>,
    /// Overruns of each task that are no skipped releases.
    overruns: Vec<u64>,
    picture: Option<Picture>,
    /// The last item that [`KEPT`] has pushed out before its time was over.
    lost: Option<i64>,
    /// Incidents for which there was no file left, and when the first one was.
    fileless: (u64, i64),
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
            written: Vec::new(),
            overruns: vec![0; plan.tasks.len()],
            picture: None,
            lost: None,
            fileless: (0, 0),
        }
    }

    /// The next items, by their ends; it is `now` on their axis.
    pub(super) fn take(&mut self, items: Vec<Item>, now: i64, problems: &mut Vec<String>, meanwhile: &mut dyn FnMut()) {
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
            self.write(problems, meanwhile);
        }
        // The last seconds in which something happened: an FMU may take its time to end.
        let since = self.since(self.incident.as_ref());
        while self.window.len() > KEPT || self.window.front().is_some_and(|item| item.at() < since) {
            let gone = self.window.pop_front();
            self.lost = gone.map(|item| item.at()).filter(|at| *at >= since).or(self.lost);
        }
    }

    /// What was over before that does not belong to the file of an incident, or of the end.
    fn since(&self, incident: Option<&Incident>) -> i64 {
        incident.map_or(self.newest, |incident| incident.at.min(self.newest)) - self.plan.trace.seconds.0
    }

    fn happened(&mut self, at: i64, why: String) {
        match &mut self.incident {
            // The last file is for the end.
            None if self.files.len() + 1 < FILES => self.incident = Some(Incident { at, why: vec![why] }),
            None => {
                let (number, first) = self.fileless;
                self.fileless = (number + 1, if number == 0 { at } else { first });
            }
            Some(incident) if incident.why.len() < TOLD => incident.why.push(why),
            Some(incident) if incident.why.len() == TOLD => incident.why.push("and more".to_owned()),
            Some(_) => (),
        }
    }

    fn name(&self, task: TaskId) -> String {
        self.plan.full_name(&self.plan.tasks[task.0])
    }

    /// What the rig does not want, and when it was seen.
    fn exceeds(&self, item: &Item) -> Option<(i64, String)> {
        let seconds = |ns: &i64| *ns as f64 / 1e9;
        match item {
            Item::Skipped { task, time, at, .. } => {
                Some((*at, format!("overrun of {} at {} s", self.name(*task), seconds(time))))
            }
            Item::Activated(Activated { task, time, release, start, end, execution, .. }) => {
                let (late, execution) = ((start - release).max(0) as u64, (*execution).max(0) as u64);
                let measured = Measured { start_latency: late, execution, ..Measured::default() };
                let (at, what, nanos) = match exceeded(&self.plan.tasks[task.0].limits, &measured).next()? {
                    Kind::LatencyLimit { reached, .. } => (*start, "start latency", reached),
                    _ => (*end, "execution", execution),
                };
                let name = self.name(*task);
                Some((at, format!("{what} of {name} {} µs at {} s", nanos as f64 / 1e3, seconds(time))))
            }
            Item::Ticked { .. } | Item::Armed { .. } => None,
        }
    }

    /// Writes what there is in memory.
    fn write(&mut self, problems: &mut Vec<String>, meanwhile: &mut dyn FnMut()) {
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
        if incident.is_none() && self.fileless.0 > 0 {
            let (number, first) = self.fileless;
            let (incidents, have) = if number == 1 { ("incident", "has") } else { ("incidents", "have") };
            let first = first as f64 / 1e9;
            file.why.push(format!("{number} more {incidents} {have} no file of their own, the first at {first:.3} s"));
        }
        let first = self.first_with_room(meanwhile);
        if let Some(reason) = self.shortened(first, incident.as_ref()) {
            problems.push(format!("{name} reaches back {reason}"));
        }
        match self.write_as(&mut file, first, incident.as_ref(), meanwhile) {
            Ok(written) => self.written.push((self.out.join(&name), written)),
            Err(error) => problems.push(format!("{name} is not complete: {error}")),
        }
        if let Some(incident) = incident.filter(|_| self.picture.is_none()) {
            let why = incident.why.first().cloned().unwrap_or_default();
            self.picture = around(incident.at, why, self.window.iter());
        }
        self.files.push(file);
    }

    /// The first item of those for which a file has room: what happened last is what counts.
    fn first_with_room(&mut self, meanwhile: &mut dyn FnMut()) -> usize {
        let limit = self.plan.trace.limit;
        let items = self.window.make_contiguous();
        if ((items.iter().map(Item::events).sum::<usize>() * EVENT) as u64) < limit {
            return 0;
        }
        // Written to nowhere, to see how long they are.
        let Ok(mut scale) = ChromeWriter::new(self.plan, io::sink()) else { return 0 };
        let head = scale.written();
        let mut ends = vec![head];
        for piece in items.chunks(PIECE) {
            let _ = scale.write(piece);
            ends.push(scale.written());
            meanwhile();
        }
        let whole = scale.written() + EVENT as u64;
        ends.iter().position(|end| head + whole - end <= limit).unwrap_or(ends.len()) * PIECE
    }

    /// How far back a file reaches that begins with this item, and why not farther; `None`: as far as it should.
    fn shortened(&self, first: usize, incident: Option<&Incident>) -> Option<String> {
        let since = self.since(incident);
        let limit = self.plan.trace.limit >> 20;
        let why = match first {
            0 if self.lost.is_none_or(|lost| lost < since) => return None,
            0 => format!("not more than {KEPT} events are kept"),
            _ => format!("it may have {limit} MiB (rig: limit_mib in [trace])"),
        };
        let back = self.plan.trace.seconds.0;
        let begin = self.window.get(first).map_or(since + back, Item::at);
        Some(format!("{:.3} s instead of {} s, since {why}", (since + back - begin) as f64 / 1e9, back as f64 / 1e9))
    }

    fn write_as(
        &mut self,
        file: &mut TraceFile,
        first: usize,
        incident: Option<&Incident>,
        meanwhile: &mut dyn FnMut(),
    ) -> io::Result<Written> {
        let mut writer = create(self.plan, &self.out.join(&file.name))?;
        let items = self.window.make_contiguous().get(first..).unwrap_or_default();
        let mut write = || -> io::Result<()> {
            if let Some(incident) = incident {
                writer.remark(incident.at, &incident.why.join("; "))?;
            }
            for piece in items.chunks(PIECE) {
                writer.write(piece)?;
                piece.iter().for_each(|item| file.count(item));
                meanwhile();
            }
            Ok(())
        };
        match write() {
            Ok(()) => writer.finish().map(|(file, length)| Written { file, length }),
            Err(error) => {
                writer.cut();
                Err(error)
            }
        }
    }

    /// The run is over.
    pub(super) fn finish(
        mut self,
        problems: &mut Vec<String>,
        lost: &mut Vec<String>,
    ) -> (Vec<TraceFile>, Option<Picture>) {
        self.write(problems, &mut || ());
        lost.extend(self.written.iter().filter_map(|(path, written)| written.gone_from(path)));
        // A full disk had no room for the others.
        self.files.retain(|file| self.out.join(&file.name).exists());
        (self.files, self.picture)
    }
}
