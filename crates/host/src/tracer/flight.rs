//! The flight recorder: keeps the last seconds in memory, and writes them after an incident and at the end.
//!
//! An incident is an overrun, or an activation beyond `max_latency_us` or `max_execution_us`. The file covers the time
//! before it and a while after it; incidents within that while belong to the same file. Of many incidents the first
//! one, the [worst] of each clock and the last one have a file, and the end of the run has one. The last one stays in
//! memory until the end, since every incident is the last one at first: one that is not among the worst is not written
//! before.

use super::file::{NAME, PIECE, create};
use super::over::{Single, over_limit};
use super::picture::around;
use super::worst::{Ledger, Responses};
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

/// Limit for all files together, as a multiple of the limit for one.
const TOGETHER: u64 = 5;
/// Number of incidents that are described for one file.
const TOLD: usize = 8;
/// Greatest number of items in memory.
const KEPT: usize = 1 << 20;
/// Approximate greatest size of an event in a file, bytes.
const EVENT: usize = 512;
/// Recording time after an incident, ns; at most a quarter of the time covered before it.
const AFTER: i64 = 500_000_000;

/// An incident with a file.
struct Incident {
    at: i64,
    why: Vec<String>,
    /// Clocks affected by the incident.
    units: BTreeSet<UnitId>,
    /// Longest response of each clock during the incident, ns.
    responses: Responses,
}

/// A file of an incident.
struct Kept {
    file: TraceFile,
    /// Time of the incident.
    at: i64,
    written: Written,
}

/// The flight recorder of a run.
pub(super) struct Flight<'a> {
    plan: &'a Plan,
    board: Board<'a>,
    out: PathBuf,
    window: VecDeque<Rc<TraceItem>>,
    /// End of the newest item.
    newest: i64,
    /// The incident that is not written yet.
    incident: Option<Incident>,
    /// Files of incidents by number.
    files: BTreeMap<u32, Kept>,
    ledger: Ledger,
    /// Number of files so far.
    number: u32,
    /// The last incident, if it has no file, with the contents of the memory at that time.
    last: Option<(Incident, Vec<Rc<TraceItem>>)>,
    /// Files that others have removed.
    missed: Vec<String>,
    /// Overruns of each task that are not skipped releases.
    overruns: Vec<u64>,
    picture: Option<Picture>,
    /// Time of the last item that was dropped too early because of [`KEPT`].
    lost: Option<i64>,
    /// Number of incidents without a file, and the time of the first one.
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

    /// Takes the next items, by their ends; `now` is the present time on their axis.
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
            if let Some((unit, at, why)) = self.exceeds(&item) {
                self.happened(unit, at, why);
            }
            self.measure(&item);
            self.window.push_back(Rc::new(item));
        }
        for unit in (0..self.plan.units.len()).map(UnitId) {
            let cells = self.board.task(unit);
            let others = cells.get(TaskWord::Overruns).saturating_sub(cells.get(TaskWord::Skipped));
            if others > std::mem::replace(&mut self.overruns[unit.0], others) {
                self.happened(unit, now.min(self.newest), format!("overrun of {}", self.name(unit)));
            }
        }
        // At the end one file covers both.
        let over = now == i64::MAX;
        if !over && self.incident.as_ref().is_some_and(|incident| now >= incident.at + AFTER.min(back / 4)) {
            self.end_incident(problems, meanwhile);
        }
        // The last seconds with activity: an FMU may take long to end.
        let since = self.since(self.incident.as_ref());
        while self.window.len() > KEPT || self.window.front().is_some_and(|item| item.at() < since) {
            let gone = self.window.pop_front();
            self.lost = gone.map(|item| item.at()).filter(|at| *at >= since).or(self.lost);
        }
    }

    /// The time before which items do not belong to the file of an incident, or of the end.
    fn since(&self, incident: Option<&Incident>) -> i64 {
        incident.map_or(self.newest, |incident| incident.at.min(self.newest)) - self.plan.trace.seconds.0
    }

    fn happened(&mut self, unit: UnitId, at: i64, why: String) {
        let nothing = || Incident { at, why: Vec::new(), units: BTreeSet::new(), responses: Responses::new() };
        let incident = self.incident.get_or_insert_with(nothing);
        incident.units.insert(unit);
        match incident.why.len() {
            ..TOLD => incident.why.push(why),
            TOLD => incident.why.push("and more".to_owned()),
            _ => (),
        }
    }

    fn name(&self, unit: UnitId) -> String {
        self.plan.full_name(&self.plan.units[unit.0])
    }

    /// Describes an item's violation of the rig's limits: the clock, the time of detection, the words.
    fn exceeds(&self, item: &TraceItem) -> Option<(UnitId, i64, String)> {
        let seconds = |ns: &i64| *ns as f64 / 1e9;
        match item {
            TraceItem::Skipped { unit, time, at, .. } => {
                Some((*unit, *at, format!("overrun of {} at {} s", self.name(*unit), seconds(time))))
            }
            &TraceItem::Activated(Activated { unit, time, release, start, end, execution, .. }) => {
                let (at, why) = over_limit(self.plan, &Single { unit, time, release, start, end, execution })?;
                Some((unit, at, why))
            }
            TraceItem::Ticked { .. } | TraceItem::Armed { .. } => None,
        }
    }

    /// Updates the longest response of an item's clock during an incident.
    fn measure(&mut self, item: &TraceItem) {
        let Some(incident) = &mut self.incident else { return };
        let (unit, response) = match item {
            TraceItem::Activated(Activated { unit, release, end, .. }) => (*unit, end - release),
            TraceItem::Skipped { unit, release, at, .. } => (*unit, at - release),
            TraceItem::Ticked { .. } | TraceItem::Armed { .. } => return,
        };
        let longest = incident.responses.entry(unit).or_insert(0);
        *longest = (*longest).max(response);
    }

    /// Ends the incident: writes it if it is one of the worst, otherwise keeps it in memory.
    fn end_incident(&mut self, problems: &mut Vec<String>, meanwhile: &mut dyn FnMut()) {
        let Some(mut incident) = self.incident.take() else { return };
        // Unaffected clocks have responses, too; a clock that does not return has none.
        let Incident { units, responses, .. } = &mut incident;
        responses.retain(|unit, _| units.contains(unit));
        units.iter().for_each(|unit| {
            responses.entry(*unit).or_insert(0);
        });
        if let Some((before, _)) = self.last.take() {
            self.leave_out(before.at);
        }
        match self.ledger.wants(&incident.responses) {
            true => self.write(&incident, problems, meanwhile),
            false => self.last = Some((incident, self.window.iter().cloned().collect())),
        }
    }

    /// Counts an incident without a file.
    fn leave_out(&mut self, at: i64) {
        let (number, first) = self.fileless;
        self.fileless = (number + 1, if number == 0 { at } else { first.min(at) });
    }

    /// Name of the next file.
    fn next_name(&mut self) -> String {
        self.number += 1;
        if self.number == 1 { NAME.to_owned() } else { format!("trace-{}.json", self.number) }
    }

    /// Writes an incident with the items in memory, and removes other files in its favour.
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
            // A file of others in that place is not removed.
            match kept.written.gone_from(&path) {
                Some(missed) => self.missed.push(missed),
                None => {
                    problems.extend(fs::remove_file(&path).err().map(|error| format!("{}: {error}", kept.file.name)))
                }
            }
            self.leave_out(kept.at);
        }
    }

    /// Writes a file. Failures become problems.
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

    /// Index of the first item that fits into a file with all later ones: the latest items matter most.
    fn first_with_room(&self, items: &[Rc<TraceItem>], meanwhile: &mut dyn FnMut()) -> usize {
        let limit = self.plan.trace.limit;
        if ((items.iter().map(|item| item.events()).sum::<usize>() * EVENT) as u64) < limit {
            return 0;
        }
        // Written to nowhere, to measure their length.
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

    /// Explains a file that covers less time than it should; `first`: number of omitted items; `None`: the file is
    /// complete.
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

    /// Writes the items in memory at the end of the run.
    pub(super) fn finish(
        mut self,
        problems: &mut Vec<String>,
        lost: &mut Vec<String>,
    ) -> (Vec<TraceFile>, Option<Picture>) {
        let mut others = Vec::new();
        let last = self.last.take().map(|(incident, items)| (Some(incident), items));
        // An incident that is not complete by then is part of the file of the end.
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
            let places = self.ledger.places(number).map(|(unit, place, response)| {
                let nth = ["the worst", "the 2nd worst", "the 3rd worst"].get(place).map(|nth| (*nth).to_owned());
                let nth = nth.unwrap_or_else(|| format!("the {}th worst", place + 1));
                format!("kept as {nth} of {}, response {} µs", self.name(unit), response as f64 / 1e3)
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
        // A full disk had no space for some.
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
