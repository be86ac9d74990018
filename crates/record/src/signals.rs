//! Samples → `signals.csv`, `signals.mcap`, `signals.arrows`: in the order of time, whatever the order of completion. Of each there can
//! be several, one after the other (module `rotation`).
//!
//! A time is written when every activation before and at it is known to be complete, so a late low-priority partition
//! still lands in its own row. Between rows a column keeps its last value; before the first it shows its start value.
//! A stream, which a program alone reads that wants every step, may have a row for each sample of its one task instead, so that an event
//! is two rows of one time.
//! Repeatable: what is written depends on activation times and values only; of several values for one cell at one time the
//! one that was completed last counts. What a rule leaves out is not written; a row with nothing in it is none.
//! A clock shows 1 where it has ticked, by whichever activation of that time, and keeps nothing: between rows it shows 0.

use super::cells::Cells;
use super::csv::CsvStream;
use super::newest::{Newest, RowWatcher};
use super::rotation::RotatedFiles;
use super::sample_sink::{Change, Sample, SampleSink};
use super::samples::SampleRing;
use super::texts::{self, Texts};
use super::thinning::Thinning;
use crate::recording::envelope::Overview;
use crate::recording::series::Files;
use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use vecud_base::time::Instant;
use vecud_description::bytes;
use vecud_description::word;
use vecud_description::{Values, VariableType};
use vecud_plan::{Format, Plan, SignalId, SignalPlan, UnitId};

/// Number of sample values with reserved memory between two checks: 2 MiB, four rings of the largest kind.
const KEPT: usize = 1 << 18;

/// A column's new value as words, in the form of [`SignalPlan::start`]; `None`: it has no value any more.
pub type Set = (SignalId, Option<Vec<u64>>);

/// Columns of a task's samples.
struct Columns {
    signals: Vec<SignalId>,
    /// For each column, whether it is recorded, and not only watched; empty: all are recorded.
    is_recorded: Vec<bool>,
    /// For each column, whether it keeps its value when a sample has none: a variable that is read only when an output
    /// clock has ticked. Other columns, elements that an array no longer has, then have no value.
    stays: Vec<bool>,
    /// For each column, the room for a string or binary, if it is one; empty: all columns are numbers.
    texts: Vec<Option<Room>>,
    /// For each column; empty: all samples are kept.
    thinning: Vec<Thinning>,
}

/// The place of a string or binary in a sample.
#[derive(Clone, Copy)]
struct Room {
    words: usize,
    is_string: bool,
}

impl Room {
    fn of(signal: &SignalPlan) -> Option<Room> {
        let is_string = signal.variable_type == VariableType::String;
        signal.capacity.map(|_| Room { words: signal.words(), is_string })
    }

    /// The number of the value that these words are.
    fn number(self, words: &[u64], texts: &Texts) -> u64 {
        match bytes::unpacked(words) {
            None => texts::NOTHING,
            // Files say that they are UTF-8; so does the standard of strings (FMI 3.0.2, 2.2.3).
            Some(bytes) if self.is_string => texts.number(String::from_utf8_lossy(&bytes).as_bytes()),
            Some(bytes) => texts.number(&bytes),
        }
    }
}

impl Columns {
    /// Puts the number of each string or binary where the sample behind `begin` has its words.
    fn fold(&self, values: &mut Vec<u64>, begin: usize, texts: &Texts) {
        if self.texts.is_empty() {
            return;
        }
        let (mut from, mut to) = (begin, begin);
        for room in &self.texts {
            let width = room.map_or(1, |room| room.words);
            let words = &values[from..from + width];
            values[to] = room.map_or(words[0], |room| room.number(words, texts));
            (from, to) = (from + width, to + 1);
        }
        values.drain(to..from);
    }

    /// Whether all of a sample is kept as it is.
    fn keep_all(&self, values: &[u64]) -> bool {
        values.len() == self.signals.len()
            && self.thinning.is_empty()
            && self.texts.is_empty()
            && self.is_recorded.is_empty()
    }

    /// Whether something of a sample is recorded, as far as rules keep it.
    fn are_recorded(&self) -> bool {
        self.is_recorded.is_empty() || self.is_recorded.contains(&true)
    }

    /// The sample's value for the column at this index; `None`: the sample leaves the column unchanged.
    fn in_place(&self, place: usize, values: &[u64]) -> Option<Option<u64>> {
        let (values, presence) = values.split_at(self.signals.len());
        let there = presence.is_empty() || presence[place / 64] >> (place % 64) & 1 == 1;
        let is_nothing = values[place] == texts::NOTHING && self.texts.get(place).is_some_and(Option::is_some);
        let comes = there || !self.stays[place];
        comes.then(|| (there && !is_nothing).then_some(values[place]))
    }

    /// Appends the kept part of a sample. Returns whether the sample counts.
    fn keep(&mut self, values: &[u64], kept: &mut Vec<Change>) -> bool {
        let before = kept.len();
        for place in 0..self.signals.len() {
            if self.is_recorded.get(place) == Some(&false) {
                continue;
            }
            let Some(value) = self.in_place(place, values) else { continue };
            if self.thinning.get_mut(place).is_none_or(|thinning| thinning.keeps(value)) {
                kept.push((self.signals[place], value));
            }
        }
        self.are_recorded() && (self.thinning.is_empty() || kept.len() > before)
    }

    /// Tells the value of a sample for each of its columns.
    fn each(&self, values: &[u64], mut tell: impl FnMut(SignalId, Option<u64>)) {
        for (place, signal) in self.signals.iter().enumerate() {
            if let Some(value) = self.in_place(place, values) {
                tell(*signal, value);
            }
        }
    }
}

/// A sample that was taken from its ring; its values lie beside those of others.
struct Taken {
    time: Instant,
    unit: UnitId,
    order: u64,
    values: Range<usize>,
}

/// A sample that is kept in part or as a whole.
struct Part {
    order: u64,
    unit: UnitId,
    /// `None`: all of its values.
    kept: Option<Range<usize>>,
    values: Range<usize>,
}

/// A sample whose time was not complete when it was taken.
struct Later {
    unit: UnitId,
    order: u64,
    values: Box<[u64]>,
}

/// Collects samples of all tasks and writes them in order.
pub struct SignalWriter<'a> {
    files: Vec<RotatedFiles<'a>>,
    /// Destination of rows beside files; `None`: there is none, or none any more.
    stream: Option<CsvStream>,
    /// Why the stream has ended early.
    stream_error: Option<io::Error>,
    /// Samples of one time are one row.
    joins: bool,
    begun: bool,
    columns: Vec<Columns>,
    /// Simulation time at which the run begins.
    start: Instant,
    /// Samples since the last look, and the values of all of them.
    taken: Vec<Taken>,
    values: Vec<u64>,
    /// Data that wait for their time to be complete.
    later: BTreeMap<Instant, Vec<Later>>,
    /// Values set by request at times that are not written yet.
    requested: BTreeMap<Instant, Vec<Change>>,
    cells: Cells,
    types: Vec<VariableType>,
    texts: Texts,
    /// For each column; `None`: a number.
    rooms: Vec<Option<Room>>,
    /// Overview of the rows for drawing, as read from the files; `None`: not requested.
    overview: Option<Overview>,
    /// The last values of columns, for observers; `None`: there is no observer.
    newest: Option<Newest>,
    /// There are columns that are only watched.
    watches: bool,
    /// Set by request at times that were written already.
    belated: Vec<Change>,
    /// The samples of one time, and the kept changes of those that are kept in part.
    parts: Vec<Part>,
    kept: Vec<Change>,
    written: Option<Instant>,
    rows: u64,
    late: u64,
    problems: Vec<String>,
}

impl<'a> SignalWriter<'a> {
    /// Begins the files of the plan in a folder.
    pub fn new(plan: &'a Plan, folder: &Path) -> Self {
        let (texts, mut problems) = (Texts::default(), Vec::new());
        let begin = |format: &Format| RotatedFiles::begin(plan, folder.to_owned(), *format, &texts, &mut problems);
        let files = plan.formats.iter().map(begin).collect();
        SignalWriter { files, problems, ..SignalWriter::nowhere(plan, texts) }.drawn(plan)
    }

    /// Writes rows of CSV to `out`, whatever files the plan has.
    pub fn to_stream(plan: &'a Plan, out: Box<dyn Write + Send>) -> Self {
        let texts = Texts::default();
        let stream = Some(CsvStream::new(out, plan, &texts));
        SignalWriter { stream, ..SignalWriter::nowhere(plan, texts) }
    }

    /// Nobody reads the stream: rows are counted, and no text is made of them.
    pub fn unread(self) -> Self {
        SignalWriter { stream: self.stream.map(CsvStream::unread), ..self }
    }

    /// Rows are a part of a larger table, and begin with these `cells`; there is no header.
    pub fn into_part(self, cells: String) -> Self {
        SignalWriter { stream: self.stream.map(|stream| stream.into_part(cells)), ..self }
    }

    /// Each sample is a row of its own. There is one task that has any.
    pub fn with_a_row_for_each_sample(self) -> Self {
        SignalWriter { joins: false, ..self }
    }

    /// Also keeps an overview that can be drawn.
    pub fn drawn(self, plan: &Plan) -> Self {
        let names: Vec<String> = plan.signals.iter().map(|signal| signal.name.clone()).collect();
        let is_clock = |place: usize| plan.signals[place].variable_type == VariableType::Clock;
        SignalWriter { overview: Some(Overview::of_report(&names, is_clock)), ..self }
    }

    /// Knows the newest values of all columns, the watched ones too, and has rows looked at.
    pub fn looked_at(self, plan: &Plan) -> Self {
        let mut newest = Newest::of(plan);
        for (place, column) in plan.columns().enumerate() {
            let start = column.start.as_deref().and_then(|words| self.word(SignalId(place), words));
            newest.start(SignalId(place), start);
        }
        SignalWriter { newest: Some(newest), ..self }
    }

    fn nowhere(plan: &'a Plan, texts: Texts) -> Self {
        let columns = plan.units.iter().map(|unit| {
            let signals: Vec<SignalId> = plan.recorded(unit).collect();
            let mut thinning: Vec<Thinning> = signals.iter().map(|id| Thinning::new(plan.column(*id))).collect();
            if thinning.iter().all(Thinning::keeps_all) {
                thinning.clear();
            }
            let mut stays = vec![false; unit.recorded().count()];
            unit.recorded_when_ticked().for_each(|(column, _)| stays[column] = true);
            // In the midst of a step only some are read.
            if plan.fmus[unit.fmu.0].records_internal_steps() {
                stays.fill(true);
            }
            stays.resize(signals.len(), true);
            let mut texts: Vec<Option<Room>> = signals.iter().map(|id| Room::of(plan.column(*id))).collect();
            if texts.iter().all(Option::is_none) {
                texts.clear();
            }
            let mut is_recorded: Vec<bool> = signals.iter().map(|id| plan.is_recorded(*id)).collect();
            if !is_recorded.contains(&false) {
                is_recorded.clear();
            }
            Columns { signals, is_recorded, stays, texts, thinning }
        });
        let mut writer = SignalWriter {
            files: Vec::new(),
            stream: None,
            stream_error: None,
            joins: true,
            begun: false,
            columns: columns.collect(),
            start: plan.start,
            taken: Vec::new(),
            values: Vec::new(),
            later: BTreeMap::new(),
            requested: BTreeMap::new(),
            cells: Cells::new(&plan.signals),
            types: plan.columns().map(|signal| signal.variable_type).collect(),
            texts: texts.clone(),
            rooms: plan.columns().map(Room::of).collect(),
            overview: None,
            newest: None,
            watches: !plan.watched.is_empty(),
            belated: Vec::new(),
            parts: Vec::new(),
            kept: Vec::new(),
            written: None,
            rows: 0,
            late: 0,
            problems: Vec::new(),
        };
        for (place, signal) in plan.signals.iter().enumerate() {
            let start = signal.start.as_deref().and_then(|words| writer.word(SignalId(place), words));
            writer.cells.start(SignalId(place), start);
        }
        writer
    }

    /// The word of a column's value that these words are: of a string or binary the number that stands for it. `None`: there is none.
    fn word(&self, signal: SignalId, words: &[u64]) -> Option<u64> {
        match self.rooms[signal.0] {
            None => words.first().copied(),
            Some(room) => Some(room.number(words, &self.texts)).filter(|number| *number != texts::NOTHING),
        }
    }

    /// Does it to all files.
    fn each(&mut self, what: impl Fn(&mut dyn SampleSink) -> io::Result<()>) {
        self.files.iter_mut().for_each(|series| series.each(&what, &mut self.problems));
        if let Some(Err(error)) = self.stream.as_mut().map(|stream| what(stream)) {
            (self.stream, self.stream_error) = (None, Some(error));
        }
    }

    /// Takes the present samples of a task from their ring. Returns whether all were valid: FMU code can write over them.
    pub fn take(&mut self, unit: UnitId, ring: SampleRing) -> bool {
        let mut whole = true;
        for sample in ring.take() {
            let sample = sample.filter(|(sample, _)| sample.time >= self.start);
            whole &= sample.is_some();
            let Some((sample, values)) = sample else { continue };
            let is_late = |written| sample.time < written || self.joins && sample.time == written;
            if self.written.is_some_and(is_late) {
                self.late += 1;
                continue;
            }
            let begin = self.values.len();
            self.values.extend(values.words());
            self.columns[unit.0].fold(&mut self.values, begin, &self.texts);
            let values = begin..self.values.len();
            self.taken.push(Taken { time: sample.time, unit, order: sample.order, values });
        }
        whole
    }

    /// Whether samples were taken that are not written yet.
    pub fn has_samples(&self) -> bool {
        !self.taken.is_empty()
    }

    /// Takes values that were set by request at `time`: before those that activations of that time have computed.
    pub fn change(&mut self, time: Instant, changes: Vec<Set>) {
        let word = |(signal, words): Set| (signal, words.and_then(|words| self.word(signal, &words)));
        let changes: Vec<Change> = changes.into_iter().map(word).collect();
        if let Some(newest) = &mut self.newest
            && self.written.is_some_and(|written| time <= written)
        {
            changes.iter().for_each(|(signal, value)| newest.set(*signal, *value, time));
        }
        // A reconfiguration is no activation; its row may have been written already, and the next one shows it.
        match self.written.is_some_and(|written| time <= written) {
            true => self.belated.extend(changes),
            false => self.requested.entry(time).or_default().extend(changes),
        }
    }

    /// A value set or read while the FMU was initialised: what the column shows before it is computed.
    pub fn start_value(&mut self, signal: SignalId, value: &[u64]) {
        let value = self.word(signal, value);
        if self.is_recorded(signal) {
            self.cells.start(signal, value);
        }
        if let Some(newest) = &mut self.newest {
            newest.start(signal, value);
        }
    }

    /// Whether a column is in the files.
    fn is_recorded(&self, signal: SignalId) -> bool {
        signal.0 < self.cells.all().len()
    }

    /// Hands over all times before `complete`.
    pub fn write_before(&mut self, complete: Instant) {
        let (mut taken, mut words) = (std::mem::take(&mut self.taken), std::mem::take(&mut self.values));
        taken.retain(|Taken { time, unit, order, values }| {
            let now = *time < complete;
            if !now {
                let values = words[values.clone()].into();
                self.later.entry(*time).or_default().push(Later { unit: *unit, order: *order, values });
            }
            now
        });
        while let Some(entry) = self.later.first_entry().filter(|entry| *entry.key() < complete) {
            let time = *entry.key();
            for Later { unit, order, values } in entry.remove() {
                let begin = words.len();
                words.extend_from_slice(&values);
                taken.push(Taken { time, unit, order, values: begin..words.len() });
            }
        }
        // In the order of virtual time; what is kept of one task depends on no other.
        taken.sort_by_key(|sample| (sample.time, sample.unit, sample.order));
        let mut samples = taken.as_slice();
        loop {
            let requested = self.requested.first_key_value().map(|(time, _)| *time).filter(|time| *time < complete);
            let time = match (samples.first().map(|sample| sample.time), requested) {
                (Some(sampled), Some(requested)) => sampled.min(requested),
                (Some(time), None) | (None, Some(time)) => time,
                (None, None) => break,
            };
            let most = if self.joins { samples.len() } else { 1 };
            let now = samples.iter().take(most).take_while(|sample| sample.time == time).count();
            self.write(time, &samples[..now], &words);
            samples = &samples[now..];
        }
        // Their room is used again, as long as it is what one look takes.
        taken.clear();
        words.clear();
        words.shrink_to(KEPT);
        (self.taken, self.values) = (taken, words);
        if self.texts.is_full() {
            self.forget_texts();
        }
    }

    /// Forgets the strings and binaries that nothing needs any more, when no samples are taken.
    fn forget_texts(&self) {
        let is_text = |signal: &SignalId| self.rooms[signal.0].is_some();
        let shown =
            self.cells.all().iter().zip(&self.rooms).filter(|(_, room)| room.is_some()).filter_map(|(value, _)| *value);
        let mut needed: HashSet<u64> = shown.collect();
        let waiting = self.requested.values().flatten().chain(&self.belated);
        needed.extend(waiting.filter(|(signal, _)| is_text(signal)).filter_map(|(_, value)| *value));
        for later in self.later.values().flatten() {
            let values = self.columns[later.unit.0].signals.iter().zip(&later.values);
            needed.extend(values.filter(|(signal, _)| is_text(signal)).map(|(_, value)| *value));
        }
        if let Some(newest) = &self.newest {
            let texts = newest.words().iter().zip(&self.rooms).filter(|(_, room)| room.is_some());
            needed.extend(texts.filter_map(|(value, _)| *value));
        }
        for columns in &self.columns {
            let thinned = columns.signals.iter().zip(&columns.thinning).filter(|(signal, _)| is_text(signal));
            needed.extend(thinned.filter_map(|(_, thinning)| thinning.last()));
        }
        self.texts.keep(&needed);
    }

    fn write(&mut self, time: Instant, samples: &[Taken], words: &[u64]) {
        self.look_at(time, samples, words);
        if self.watches && !self.has_recorded(time, samples) {
            // It makes no row of a file.
            self.requested.remove(&time);
            self.written = Some(time);
            return;
        }
        self.begin();
        self.cells.next_row();
        self.files.iter_mut().for_each(|series| series.reach(time, self.cells.all(), &mut self.problems));
        let mut requested = std::mem::take(&mut self.belated);
        requested.extend(self.requested.remove(&time).unwrap_or_default());
        requested.retain(|(signal, _)| self.is_recorded(*signal));
        if !requested.is_empty() {
            self.each(|file| file.request(time, &requested));
            self.cells.apply(Sample::Some(&requested));
        }
        let (mut parts, mut kept) = (std::mem::take(&mut self.parts), std::mem::take(&mut self.kept));
        let mut columns = std::mem::take(&mut self.columns);
        for Taken { unit, order, values, .. } in samples {
            let (own, sample, begin) = (&mut columns[unit.0], &words[values.clone()], kept.len());
            let all = own.keep_all(sample);
            if all || own.keep(sample, &mut kept) {
                let kept = Some(begin..kept.len()).filter(|_| !all);
                parts.push(Part { order: *order, unit: *unit, kept, values: values.clone() });
            }
        }
        let comes = !requested.is_empty() || !parts.is_empty();
        let sample = |part: &Part| match &part.kept {
            None => Sample::All(&columns[part.unit.0].signals, &words[part.values.clone()]),
            Some(range) => Sample::Some(&kept[range.clone()]),
        };
        for part in &parts {
            self.each(|file| file.activation(part.unit, time, sample(part)));
        }
        if parts.is_sorted_by_key(|part| (part.order, part.unit)) {
            parts.iter().for_each(|part| self.cells.apply(sample(part)));
        } else {
            let told: BTreeMap<SignalId, Option<u64>> = parts.iter().flat_map(|part| sample(part).changes()).collect();
            parts.sort_by_key(|part| (part.order, part.unit));
            parts.iter().for_each(|part| self.cells.apply(sample(part)));
            self.settle(time, told);
        }
        if comes {
            self.show(time);
        }
        parts.clear();
        kept.clear();
        (self.columns, self.parts, self.kept) = (columns, parts, kept);
        self.written = Some(time);
    }

    /// Whether something of a time is recorded, and not only watched.
    fn has_recorded(&self, time: Instant, samples: &[Taken]) -> bool {
        let requested = self.requested.get(&time).map(Vec::as_slice).unwrap_or_default();
        samples.iter().any(|sample| self.columns[sample.unit.0].are_recorded())
            || requested.iter().any(|(signal, _)| self.is_recorded(*signal))
    }

    /// Shows watchers the row of a time.
    fn look_at(&mut self, time: Instant, samples: &[Taken], words: &[u64]) {
        let Some(newest) = &mut self.newest else { return };
        newest.begin_row(time);
        for (signal, value) in self.requested.get(&time).into_iter().flatten() {
            newest.set(*signal, *value, time);
        }
        let mut tell = |taken: &Taken| {
            let sample = &words[taken.values.clone()];
            self.columns[taken.unit.0].each(sample, |signal, word| newest.set(signal, word, time));
        };
        if samples.is_sorted_by_key(|sample| (sample.order, sample.unit)) {
            samples.iter().for_each(tell);
        } else {
            let mut completed: Vec<&Taken> = samples.iter().collect();
            completed.sort_by_key(|sample| (sample.order, sample.unit));
            completed.into_iter().for_each(&mut tell);
        }
        newest.end_row();
    }

    /// Writes the present values of the columns.
    fn show(&mut self, time: Instant) {
        self.rows += 1;
        let cells = std::mem::take(&mut self.cells);
        self.each(|file| file.row(time, cells.all()));
        let value = |place: usize| word::number(cells.of(SignalId(place))?, self.types[place]);
        if let Some(overview) = &mut self.overview {
            match overview.times() {
                None => overview.row(time.seconds(), value),
                Some(_) => overview.changes(time.seconds(), cells.changed().iter().copied(), value),
            }
        }
        self.cells = cells;
    }

    /// Corrects columns whose present value is not the last one in the order of tasks.
    fn settle(&mut self, time: Instant, told: BTreeMap<SignalId, Option<u64>>) {
        let cells = &self.cells;
        let other = told.into_iter().filter(|(signal, value)| cells.of(*signal) != *value && !cells.is_clock(*signal));
        let settled: Vec<Change> = other.map(|(signal, _)| (signal, cells.of(signal))).collect();
        if !settled.is_empty() {
            self.each(|file| file.settled(time, &settled));
        }
    }

    fn begin(&mut self) {
        if !std::mem::replace(&mut self.begun, true) {
            let cells = std::mem::take(&mut self.cells);
            self.each(|file| file.begin(cells.all()));
            self.cells = cells;
        }
    }

    /// Writes the rest, and closes the files.
    pub fn finish(&mut self) {
        self.write_before(Instant::MAX);
        let mut belated = std::mem::take(&mut self.belated);
        belated.retain(|(signal, _)| self.is_recorded(*signal));
        self.cells.apply(Sample::Some(&belated));
        self.begin();
        self.each(|file| file.flush(true));
        self.files.iter_mut().for_each(|series| series.end(&mut self.problems));
        if let Some(newest) = &mut self.newest {
            newest.end();
        }
    }

    /// Has the stream begin with its header, where no row has come: there was a run all the same.
    pub fn head(&mut self) {
        if let Some(Err(error)) = self.stream.as_mut().map(CsvStream::head) {
            (self.stream, self.stream_error) = (None, Some(error));
        }
    }

    /// Makes sure that a killed process loses little.
    pub fn flush(&mut self) {
        self.each(|file| file.flush(false));
    }

    /// Why files end early, or are not there; each is told once.
    pub fn take_problems(&mut self) -> Vec<String> {
        std::mem::take(&mut self.problems)
    }

    /// Why the stream has ended early, if it has; told once.
    pub fn take_stream_error(&mut self) -> Option<io::Error> {
        self.stream_error.take()
    }

    /// The files.
    pub fn files(&self) -> Vec<Files> {
        self.files.iter().map(RotatedFiles::files).collect()
    }

    /// The overview of the rows so far; `None`: nobody wants it.
    pub fn overview(&self) -> Option<&Overview> {
        self.overview.as_ref()
    }

    /// The present value of a column, as words; `None`: it has none.
    pub fn value(&self, signal: SignalId) -> Option<Vec<u64>> {
        let value = self.cells.of(signal)?;
        Some(if self.rooms[signal.0].is_some() { bytes::packed(&self.texts.value(value)) } else { vec![value] })
    }

    /// The number of rows so far, whether or not files could be written.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Bytes that were written to files so far, to those that are removed by now as well.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(RotatedFiles::bytes).sum()
    }

    /// The last value of a column, if it has one, and its time; `None`: it had none in this run yet, or there is no observer.
    pub fn newest(&self, signal: SignalId) -> (Option<Values>, Option<Instant>) {
        let Some((word, time)) = self.newest.as_ref().map(|newest| newest.of_column(signal)) else {
            return (None, None);
        };
        let bytes = |number| self.texts.value(number).to_vec();
        let value = word.and_then(|word| match self.types[signal.0] {
            VariableType::String => Some(Values::String(vec![String::from_utf8_lossy(&bytes(word)).into_owned()])),
            VariableType::Binary => Some(Values::Binary(vec![bytes(word)])),
            number => word::values(&[word], number),
        });
        (value, time)
    }

    /// Somebody looks at the newest row, and then at each further one.
    pub fn watch(&mut self, watcher: Box<dyn RowWatcher>) {
        if let Some(newest) = &mut self.newest {
            newest.watch(watcher);
        }
    }

    /// Drops watchers that want no more rows.
    pub fn forget_unwanted(&mut self) {
        if let Some(newest) = &mut self.newest {
            newest.forget_unwanted();
        }
    }

    /// Samples that came after their row was written; a defect of the host, never of an FMU.
    pub fn late(&self) -> u64 {
        self.late
    }
}
