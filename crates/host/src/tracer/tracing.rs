//! The trace of one run, from its start instant to its end.

use super::flight::Flight;
use super::notes::{LONGEST, NUMBERS, Possible, SET, read};
use super::over::{FirstOver, Over};
use super::picture::Gallery;
use super::stream::TraceFiles;
use crate::hangs::Hangs;
use crate::pace::PollInterval;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::SeqCst;
use vecud_base::time::Instant;
use vecud_linux::clock::SystemClock;
use vecud_linux::cycles::Ruler;
use vecud_plan::{Mode, Plan, TraceMode, UnitId};
use vecud_record::board::{Board, Global, Scheduling, TaskWord};
use vecud_record::figures::TaskFigures;
use vecud_record::ring::Ring;
use vecud_record::trace::axis::InstantSorter;
use vecud_record::trace::{Assembler, Note, TraceItem};
use vecud_report::TraceResult;

/// Traces one run.
pub struct Tracer<'a> {
    plan: &'a Plan,
    board: Board<'a>,
    /// For each task: its notes, and in real time the figures that are made of them. Empty in virtual time if nothing is traced.
    rings: Vec<(UnitId, Ring<'a>, Option<TaskFigures<'a>>)>,
    /// Simulation time of the run's start, ns.
    begin: i64,
    ruler: Ruler,
    /// Made when the start instant is known.
    at_work: Option<AtWork<'a>>,
    out: Option<PathBuf>,
    pace: PollInterval,
    /// Reasons why a file is incomplete.
    problems: Vec<String>,
    /// Time of creation by the clock of the run, ns.
    made: i64,
    /// In virtual time: number up to which everything was noted.
    order: i64,
    /// Number of notes that FMU code has overwritten.
    damaged: u64,
    /// Finds the first activation beyond a limit.
    over: Over,
}

/// State from the start instant on.
struct AtWork<'a> {
    /// CLOCK_MONOTONIC of the start; 0 in virtual time, which looks at no clock.
    start: i64,
    assembler: Assembler,
    axis: Option<InstantSorter>,
    sink: Sink<'a>,
    gallery: Gallery,
    /// End of the last activation of each task.
    ended: Vec<i64>,
}

/// Destination of items.
enum Sink<'a> {
    All(TraceFiles<'a>),
    Flight(Flight<'a>),
}

impl<'a> Tracer<'a> {
    /// Waits for [`Tracer::open`]. `begin`: when activations begin.
    pub fn new(plan: &'a Plan, board: Board<'a>, begin: Instant) -> Self {
        let ruler = Ruler::new(SystemClock::tai_if(plan.keeps_tai()));
        let (begin, problems) = (begin.nanos().0, Vec::new());
        let units = (0..plan.units.len()).map(UnitId);
        let rings = units.filter_map(|unit| Some((unit, board.notes(unit)?, TaskFigures::of(board, unit)))).collect();
        let (made, pace) = (ruler.now(), PollInterval::new(plan));
        Tracer {
            plan,
            board,
            rings,
            begin,
            ruler,
            at_work: None,
            out: None,
            pace,
            problems,
            made,
            order: 0,
            damaged: 0,
            over: Over::new(plan),
        }
    }

    /// Sets the folder of the files.
    pub fn open(&mut self, out: &Path) {
        self.out = Some(out.to_owned());
    }

    fn begin(&mut self) {
        let Some(out) = self.out.as_deref().filter(|_| self.at_work.is_none()) else { return };
        let is_virtual = self.plan.mode == Mode::Virtual;
        let start = if is_virtual { 0 } else { self.board.global(Global::Start).load(SeqCst) as i64 };
        if self.plan.trace.mode == TraceMode::Off || (!is_virtual && !self.may_be(start)) {
            return;
        }
        let sink = match self.plan.trace.mode {
            TraceMode::Flight => Sink::Flight(Flight::new(self.plan, self.board, out)),
            _ => Sink::All(TraceFiles::new(self.plan, out, &mut self.problems)),
        };
        let fifo = self.board.global(Global::Scheduling).load(SeqCst) == Scheduling::Fifo as u64 + 1;
        self.at_work = Some(AtWork {
            start,
            assembler: Assembler::new(self.plan, fifo),
            axis: is_virtual.then(|| InstantSorter::new(self.begin)),
            sink,
            gallery: Gallery::new(self.plan),
            ended: vec![i64::MIN; self.plan.units.len()],
        });
    }

    /// Whether the run can have begun at this instant of its clock, ns.
    fn may_be(&self, start: i64) -> bool {
        start > 0 && (self.made - SET..=self.ruler.now() + SET).contains(&start)
    }

    /// Name of the structure that FMU code has overwritten, if any.
    pub fn damage(&self) -> Option<String> {
        (self.damaged > 0).then(|| "notes of who ran when, of which figures and the trace are made".to_owned())
    }

    /// The first excess over a limit that was observed by `now` (CLOCK_MONOTONIC, ns).
    pub fn first_over(&self, hangs: &Hangs, now: i64) -> Option<FirstOver> {
        self.over.look(self.plan, self.board, hangs, now)
    }

    /// Delay until the next check.
    pub fn pace(&self) -> PollInterval {
        self.pace
    }

    /// Takes all notes, and calls `meanwhile` every few milliseconds.
    pub fn look(&mut self, meanwhile: &mut dyn FnMut()) {
        self.begin();
        self.take(false, meanwhile);
    }

    /// Takes all notes. `over`: these are the last.
    fn take(&mut self, over: bool, meanwhile: &mut dyn FnMut()) {
        let is_virtual = self.plan.mode == Mode::Virtual;
        let possible = Possible { tasks: self.plan.units.len(), is_virtual, from: self.made, now: self.ruler.now() };
        let (plan, damaged, over_limits) = (self.plan, &mut self.damaged, &mut self.over);
        let Some(work) = &mut self.at_work else {
            if self.plan.trace.mode == TraceMode::Off {
                self.rings.iter().for_each(|(unit, ring, figures)| {
                    read(ring, figures.as_ref(), possible, damaged)
                        .for_each(|note| over_limits.see(plan, *unit, &note));
                });
            }
            return;
        };
        // Read before the rings: see `Assembler`.
        let order = self.board.global(Global::TraceOrder).load(SeqCst) as i64;
        self.order = self.order.max(if order < NUMBERS { order } else { 0 });
        let horizon = match (over, is_virtual) {
            (true, _) => i64::MAX,
            (false, true) => self.order,
            (false, false) => self.ruler.now() - work.start,
        };
        self.ruler.advance();
        self.pace.begin();
        let (ruler, start) = (&self.ruler, work.start);
        let clock = |stamp: u64| if is_virtual { stamp as i64 } else { ruler.instant(stamp).saturating_sub(start) };
        for &(unit, ref ring, ref figures) in &self.rings {
            self.pace.saw(ring.waiting());
            for note in read(ring, figures.as_ref(), possible, damaged) {
                over_limits.see(plan, unit, &note);
                let note = note.since(start);
                if let Note::Activated { end, .. } = note {
                    work.ended[unit.0] = end;
                }
                work.assembler.take(unit, note, &clock);
            }
        }
        let mut items = work.assembler.ready(horizon);
        if let Some(axis) = &mut work.axis {
            items = axis.place(items);
            if over {
                items.append(&mut axis.finish());
            }
        }
        let now = if is_virtual { items.last().map_or(0, TraceItem::at) } else { horizon };
        work.gallery.show(&items);
        match &mut work.sink {
            Sink::Flight(flight) => flight.take(items, now, &mut self.problems, meanwhile),
            Sink::All(stream) => stream.take(&items, &mut self.problems),
        }
    }

    /// Notes the activations under way when the process ended, on its behalf.
    fn unfinished(&mut self, gone: i64) {
        let Some(work) = &mut self.at_work else { return };
        for unit in (0..self.plan.units.len()).map(UnitId) {
            let cells = self.board.task(unit);
            if cells.get(TaskWord::Active) == 0 {
                continue;
            }
            let time = cells.time().nanos().0.clamp(-LONGEST, LONGEST);
            let (start, end) = match work.axis {
                Some(_) => (self.order, self.order + 1),
                // Not yet written if the activation had only just begun.
                None => {
                    let started = cells.get(TaskWord::StartedAt) as i64;
                    (started.clamp(work.start, gone.max(work.start)) - work.start, gone - work.start)
                }
            };
            let start = start.max(work.ended[unit.0]);
            let release = time.saturating_sub(self.begin).clamp(-LONGEST, start);
            work.assembler.unfinished(unit, time, release, start, end.max(start));
        }
    }

    /// Completes the files. `gone`: time at which the process was seen to have ended, CLOCK_MONOTONIC. Returns the part
    /// of the report, the problems, and the files that others have removed.
    pub fn finish(mut self, gone: i64) -> (TraceResult, Vec<String>, Vec<String>) {
        let mut lost = Vec::new();
        self.begin();
        // Takes the notes, then the activations without notes.
        self.look(&mut || ());
        self.unfinished(gone);
        self.take(true, &mut || ());
        let traced = self.rings.iter().filter(|_| self.plan.trace.mode != TraceMode::Off);
        let dropped = traced.map(|(_, ring, _)| ring.refused()).fold(0, u64::saturating_add);
        if dropped > 0 {
            let message = format!("the trace lacks {dropped} events that came faster than they could be kept");
            self.problems.push(message);
        }
        let mut result = TraceResult { mode: Some(self.plan.trace.mode), dropped, ..TraceResult::default() };
        let Some(work) = self.at_work else { return (result, self.problems, lost) };
        result.pictures = work.gallery.finish();
        match work.sink {
            Sink::All(stream) => result.files = stream.finish(&mut self.problems, &mut lost),
            Sink::Flight(flight) => {
                let (files, picture) = flight.finish(&mut self.problems, &mut lost);
                result.files = files;
                result.pictures.extend(picture);
            }
        }
        (result, self.problems, lost)
    }
}
