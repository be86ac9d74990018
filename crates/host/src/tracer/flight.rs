//! The flight recorder: the last seconds in memory, written when something happens that the rig does not want, and at the
//! end.
//!
//! What happens is an overrun, or an activation beyond `max_latency_us` or `max_execution_us`. The file has what was before
//! it and a while after it; what happens within that while belongs to the same file. Of many incidents the first one, the [worst]
//! of each clock and the last one have a file, and the end of the run has one. The last one is in memory until the end, as it costs
//! nothing to be the last: an incident that is none of the worst is not written before.

use super::over::{Single, over_limit};
use super::picture::around;
use super::worst::{Ledger, Responses};
use super::{NAME, PIECE, create};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use vecud_plan::{Plan, UnitId};
use vecud_record::board::{Board, TaskWord};
use vecud_record::trace::chrome::ChromeWriter;
use vecud_record::trace::{Activated, TraceItem};
use vecud_record::written::Written;
use vecud_report::{Picture, TraceFile};

/// All files together may have so many times what one of them may have.
const TOGETHER: u64 = 5;
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
    /// The clocks to which it has happened.
    tasks: BTreeSet<UnitId>,
    /// The longest response of each clock meanwhile, ns.
    responses: Responses,
}

/// A file of an incident.
struct Kept {
    file: TraceFile,
    /// When the incident was.
    at: i64,
    written: Written,
}

/// The flight recorder of a run.
pub(super) struct Flight<'a> {
    plan: &'a Plan,
    board: Board<'a>,
    out: PathBuf,
    window: VecDeque<Rc<TraceItem>>,
    /// When the newest item was over.
    newest: i64,
    /// Not written yet.
    incident: Option<Incident>,
    /// The files of incidents, by their numbers.
    files: BTreeMap<u32, Kept>,
    ledger: Ledger,
    /// Files that were begun.
    number: u32,
    /// The last incident, if it has no file, with what was in memory then.
    last: Option<(Incident, Vec<Rc<TraceItem>>)>,
    /// What others have taken away.
    missed: Vec<String>,
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
            files: BTreeMap::new(),
            ledger: Ledger::new(plan.trace.worst, plan.trace.limit.saturating_mul(TOGETHER)),
            number: 0,
            last: None,
            missed: Vec::new(),
            overruns: vec![0; plan.units.len()],
            picture: None,
            lost: None,
            fileless: (0, 0),
        }
    }

    /// The next items, by their ends; it is `now` on their axis.
    pub(super) fn take(
        &mut self,
        items: Vec<TraceItem>,
        now: i64,
        problems: &mut Vec<String>,
        meanwhile: &mut dyn FnMut(),
    ) {
        let back = self.plan.trace.seconds.0;
        for item in items {
            self.newest = self.newest.max(item.at());
            if let Some((task, at, why)) = self.exceeds(&item) {
                self.happened(task, at, why);
            }
            self.measure(&item);
            self.window.push_back(Rc::new(item));
        }
        for task in (0..self.plan.units.len()).map(UnitId) {
            let cells = self.board.task(task);
            let others = cells.get(TaskWord::Overruns).saturating_sub(cells.get(TaskWord::Skipped));
            if others > std::mem::replace(&mut self.overruns[task.0], others) {
                self.happened(task, now.min(self.newest), format!("overrun of {}", self.name(task)));
            }
        }
        // At the end there is one file for both.
        let over = now == i64::MAX;
        if !over && self.incident.as_ref().is_some_and(|incident| now >= incident.at + AFTER.min(back / 4)) {
            self.end_incident(problems, meanwhile);
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

    fn happened(&mut self, task: UnitId, at: i64, why: String) {
        let nothing = || Incident { at, why: Vec::new(), tasks: BTreeSet::new(), responses: Responses::new() };
        let incident = self.incident.get_or_insert_with(nothing);
        incident.tasks.insert(task);
        match incident.why.len() {
            ..TOLD => incident.why.push(why),
            TOLD => incident.why.push("and more".to_owned()),
            _ => (),
        }
    }

    fn name(&self, task: UnitId) -> String {
        self.plan.full_name(&self.plan.units[task.0])
    }

    /// What the rig does not want, to which clock it has happened, and when it was seen.
    fn exceeds(&self, item: &TraceItem) -> Option<(UnitId, i64, String)> {
        let seconds = |ns: &i64| *ns as f64 / 1e9;
        match item {
            TraceItem::Skipped { task, time, at, .. } => {
                Some((*task, *at, format!("overrun of {} at {} s", self.name(*task), seconds(time))))
            }
            &TraceItem::Activated(Activated { task, time, release, start, end, execution, .. }) => {
                let (at, why) = over_limit(self.plan, &Single { task, time, release, start, end, execution })?;
                Some((task, at, why))
            }
            TraceItem::Ticked { .. } | TraceItem::Armed { .. } => None,
        }
    }

    /// Notes how bad it was for the clock of an item that came while something happens.
    fn measure(&mut self, item: &TraceItem) {
        let Some(incident) = &mut self.incident else { return };
        let (task, response) = match item {
            TraceItem::Activated(Activated { task, release, end, .. }) => (*task, end - release),
            TraceItem::Skipped { task, release, at, .. } => (*task, at - release),
            TraceItem::Ticked { .. } | TraceItem::Armed { .. } => return,
        };
        let longest = incident.responses.entry(task).or_insert(0);
        *longest = (*longest).max(response);
    }

    /// What happened is over: it is written if it is one of the worst, and kept in memory if it is not.
    fn end_incident(&mut self, problems: &mut Vec<String>, meanwhile: &mut dyn FnMut()) {
        let Some(mut incident) = self.incident.take() else { return };
        // Clocks to which nothing has happened have responses, too; one that does not return has none.
        let Incident { tasks, responses, .. } = &mut incident;
        responses.retain(|task, _| tasks.contains(task));
        tasks.iter().for_each(|task| {
            responses.entry(*task).or_insert(0);
        });
        if let Some((before, _)) = self.last.take() {
            self.leave_out(before.at);
        }
        match self.ledger.wants(&incident.responses) {
            true => self.write(&incident, problems, meanwhile),
            false => self.last = Some((incident, self.window.iter().cloned().collect())),
        }
    }

    /// An incident has no file, or none any more.
    fn leave_out(&mut self, at: i64) {
        let (number, first) = self.fileless;
        self.fileless = (number + 1, if number == 0 { at } else { first.min(at) });
    }

    /// The name of the next file.
    fn next_name(&mut self) -> String {
        self.number += 1;
        if self.number == 1 { NAME.to_owned() } else { format!("trace-{}.json", self.number) }
    }

    /// Writes an incident with what there is in memory, and removes the files of others in its favour.
    fn write(&mut self, incident: &Incident, problems: &mut Vec<String>, meanwhile: &mut dyn FnMut()) {
        let items: Vec<Rc<TraceItem>> = self.window.iter().cloned().collect();
        let mut file = TraceFile { why: incident.why.clone(), ..TraceFile::new(&self.next_name()) };
        if self.picture.is_none() {
            let why = incident.why.first().cloned().unwrap_or_default();
            self.picture = around(incident.at, why, items.iter().map(Rc::as_ref));
        }
        let Some(written) = self.write_items(&mut file, &items, Some(incident), problems, meanwhile) else {
            return self.leave_out(incident.at);
        };
        let gone = self.ledger.put(self.number, written.length, &incident.responses);
        self.files.insert(self.number, Kept { file, at: incident.at, written });
        for number in gone {
            let Some(kept) = self.files.remove(&number) else { continue };
            let path = self.out.join(&kept.file.name);
            // What somebody else has put there is not removed.
            match kept.written.gone_from(&path) {
                Some(missed) => self.missed.push(missed),
                None => {
                    problems.extend(fs::remove_file(&path).err().map(|error| format!("{}: {error}", kept.file.name)))
                }
            }
            self.leave_out(kept.at);
        }
    }

    /// Writes a file. What went wrong is told.
    fn write_items(
        &mut self,
        file: &mut TraceFile,
        items: &[Rc<TraceItem>],
        incident: Option<&Incident>,
        problems: &mut Vec<String>,
        meanwhile: &mut dyn FnMut(),
    ) -> Option<Written> {
        let first = self.first_with_room(items, meanwhile);
        let items = items.get(first..).unwrap_or_default();
        if let Some(reason) = self.shortened(first, items, incident) {
            problems.push(format!("{} reaches back {reason}", file.name));
        }
        let written = self.write_as(file, items, incident, meanwhile);
        written.map_err(|error| problems.push(format!("{} is not complete: {error}", file.name))).ok()
    }

    /// The first item of those for which a file has room: what happened last is what counts.
    fn first_with_room(&self, items: &[Rc<TraceItem>], meanwhile: &mut dyn FnMut()) -> usize {
        let limit = self.plan.trace.limit;
        if ((items.iter().map(|item| item.events()).sum::<usize>() * EVENT) as u64) < limit {
            return 0;
        }
        // Written to nowhere, to see how long they are.
        let Ok(mut scale) = ChromeWriter::new(self.plan, io::sink()) else { return 0 };
        let head = scale.written();
        let mut ends = vec![head];
        for piece in items.chunks(PIECE) {
            let _ = scale.write(piece.iter().map(Rc::as_ref));
            ends.push(scale.written());
            meanwhile();
        }
        let whole = scale.written() + EVENT as u64;
        ends.iter().position(|end| head + whole - end <= limit).unwrap_or(ends.len()) * PIECE
    }

    /// How far back a file of these items reaches, which so many come before, and why not farther; `None`: as far as it should.
    fn shortened(&self, first: usize, items: &[Rc<TraceItem>], incident: Option<&Incident>) -> Option<String> {
        let since = self.since(incident);
        let limit = self.plan.trace.limit >> 20;
        let why = match first {
            0 if self.lost.is_none_or(|lost| lost < since) => return None,
            0 => format!("not more than {KEPT} events are kept"),
            _ => format!("it may have {limit} MiB (rig: limit_mib in [trace])"),
        };
        let back = self.plan.trace.seconds.0;
        let begin = items.first().map_or(since + back, |item| item.at());
        Some(format!("{:.3} s instead of {} s, since {why}", (since + back - begin) as f64 / 1e9, back as f64 / 1e9))
    }

    fn write_as(
        &self,
        file: &mut TraceFile,
        items: &[Rc<TraceItem>],
        incident: Option<&Incident>,
        meanwhile: &mut dyn FnMut(),
    ) -> io::Result<Written> {
        let mut writer = create(self.plan, &self.out.join(&file.name))?;
        let mut write = || -> io::Result<()> {
            if let Some(incident) = incident {
                writer.remark(incident.at, &incident.why.join("; "))?;
            }
            for piece in items.chunks(PIECE) {
                writer.write(piece.iter().map(Rc::as_ref))?;
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

    /// The run is over: what is in memory is written.
    pub(super) fn finish(
        mut self,
        problems: &mut Vec<String>,
        lost: &mut Vec<String>,
    ) -> (Vec<TraceFile>, Option<Picture>) {
        let mut others = Vec::new();
        let last = self.last.take().map(|(incident, items)| (Some(incident), items));
        // What happened so late that it is not over has the file of the end.
        let end = (self.incident.take(), self.window.iter().cloned().collect());
        for (incident, items) in last.into_iter().chain([end]) {
            let mut file = TraceFile::new(&self.next_name());
            file.why = match &incident {
                Some(incident) => incident.why.clone(),
                None => vec!["the end of the run".to_owned()],
            };
            let written = self.write_items(&mut file, &items, incident.as_ref(), problems, &mut || ());
            others.push((file, written));
        }
        if let Some((file, _)) = others.last_mut() {
            self.tell_of_the_others(file);
        }
        let mut files = Vec::new();
        for (number, Kept { mut file, written, .. }) in std::mem::take(&mut self.files) {
            let path = self.out.join(&file.name);
            lost.extend(written.gone_from(&path));
            let places = self.ledger.places(number).map(|(task, place, response)| {
                let nth = ["the worst", "the 2nd worst", "the 3rd worst"].get(place).map(|nth| (*nth).to_owned());
                let nth = nth.unwrap_or_else(|| format!("the {}th worst", place + 1));
                format!("kept as {nth} of {}, response {} µs", self.name(task), response as f64 / 1e3)
            });
            file.why
                .extend(self.ledger.is_first(number).then(|| "kept as the first".to_owned()).into_iter().chain(places));
            files.push(file);
        }
        lost.append(&mut self.missed);
        for (file, written) in others {
            lost.extend(written.and_then(|written| written.gone_from(&self.out.join(&file.name))));
            files.push(file);
        }
        // A full disk had no room for some.
        files.retain(|file| self.out.join(&file.name).exists());
        (files, self.picture)
    }

    fn tell_of_the_others(&self, end: &mut TraceFile) {
        let (number, first) = self.fileless;
        if number > 0 {
            let (incidents, have) = if number == 1 { ("incident", "has") } else { ("incidents", "have") };
            let first = first as f64 / 1e9;
            end.why.push(format!("{number} more {incidents} {have} no file of their own, the first at {first:.3} s"));
        }
    }
}
