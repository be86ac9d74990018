//! Reads stimulus files ahead of the run, row by row, in a thread of this process, so that neither a file's length nor
//! a slow disk affects a partition.

use super::shared::SharedRig;
use super::stimuli::{Fault, Reader, StimulusSource};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use vecud_base::time::StepGrid;
use vecud_plan::{Mode, Plan, StimulusPlan};
use vecud_record::stimulus::{Feed, StimulusReader, StimulusRow};

/// Number of rows to read from one file before the next file has its turn.
const TURN: usize = 1024;
/// Distance ahead of the run for ticks of clocks between steps, in addition to the needs of the next steps, s.
const AHEAD: f64 = 2.0;

/// A file that is being read.
struct Reading {
    stimulus: usize,
    part: Extract,
    /// Rows from this time on are ignored, s.
    stop: f64,
    source: StimulusSource,
    rows: Option<StimulusReader<Reader>>,
    fault: Fault,
}

/// The part of a file that one reading extracts.
enum Extract {
    /// Values, and the ticks of tasks.
    Rows {
        /// Newest value of each word.
        carried: Vec<Option<u64>>,
    },
    /// The ticks of one clock between steps.
    Ticks {
        tick: usize,
        /// [`StimulusPlan::grids`].
        grids: Vec<StepGrid>,
        /// Distance ahead of the run, s.
        ahead: f64,
    },
}

impl Extract {
    /// All readings of a file, each at its own pace.
    fn all_of(stimulus: &StimulusPlan, plan: &Plan) -> impl Iterator<Item = Extract> {
        let rows = Extract::Rows { carried: vec![None; stimulus.words()] };
        let ticks = stimulus.ticks.iter().enumerate().filter_map(|(tick, own)| {
            let ahead = AHEAD + 2.0 * own.ahead(&plan.units)?;
            Some(Extract::Ticks { tick, grids: stimulus.grids.clone(), ahead })
        });
        std::iter::once(rows).chain(ticks)
    }

    /// Whether another row should be read.
    fn wants_more(&self, feed: Feed) -> bool {
        match self {
            Extract::Rows { .. } => feed.has_room(),
            Extract::Ticks { tick, ahead, .. } => !feed.is_ahead(*tick, *ahead),
        }
    }

    /// Hands over a row, for which the feed has room.
    fn push(&mut self, feed: Feed, row: &StimulusRow, begin: f64, stop: f64) {
        match self {
            Extract::Rows { carried } => {
                row.values.iter().zip(carried.iter_mut()).for_each(|(new, old)| *old = new.or(*old));
                feed.push(row, carried, begin, stop);
            }
            Extract::Ticks { tick, grids, .. } => feed.push_between_steps(*tick, row, grids, begin, stop),
        }
    }

    fn finish(&self, feed: Feed, broken: bool) {
        match self {
            Extract::Rows { .. } => feed.finish(broken),
            Extract::Ticks { tick, .. } => feed.finish_between_steps(*tick, broken),
        }
    }
}

impl Reading {
    /// Begins to read `part` of a file.
    fn begin(shared: &SharedRig, stimulus: usize, part: Extract) -> Reading {
        let (prepared, feed) = (&shared.prepared, shared.board().stimulus(stimulus));
        let (plan, source) = (&shared.plan().stimuli[stimulus], &prepared.stimuli[stimulus]);
        let stop = shared.plan().stop.map_or(f64::INFINITY, |stop| stop.seconds());
        let (read, stop) = match part {
            Extract::Rows { .. } => (source.rows(plan), stop),
            Extract::Ticks { .. } => {
                // An unreadable value is no fault of a tick.
                let rows = source.rows(&StimulusPlan { values: Vec::new(), ..plan.clone() });
                // Steps go beyond the stop time of a run that may be resumed, and end where a clock ticks.
                (rows, if prepared.options.save_state.is_some() { f64::INFINITY } else { stop })
            }
        };
        let (rows, problem) = match read {
            Ok(rows) => (Some(rows), None),
            Err(problem) => {
                part.finish(feed, true);
                (None, Some(problem))
            }
        };
        Reading {
            stimulus,
            part,
            stop,
            source: source.clone(),
            rows,
            fault: Fault { problem, nan: None, change: None },
        }
    }

    /// Ends the reading: ignores the rest of the file and collects its faults.
    fn end(&mut self) {
        if let Some(rows) = self.rows.take() {
            self.fault.nan = rows.nan();
            self.fault.change = self.source.change();
        }
    }
}

/// Reads all files of a run, ahead of it.
pub struct Feeder {
    shared: Arc<SharedRig>,
    /// Start of the run, s.
    begin: f64,
    /// The readings: the thread works on them while there is one.
    readings: Arc<Mutex<Vec<Reading>>>,
    leave: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Feeder {
    /// Opens all files, and reads as far ahead as there is room, or to their ends. Called before the run begins.
    pub fn new(shared: &Arc<SharedRig>) -> Feeder {
        let (prepared, plan) = (&shared.prepared, shared.plan());
        let mut readings = Vec::new();
        let begin = prepared.begin().seconds();
        for (stimulus, own) in plan.stimuli.iter().enumerate().take(prepared.stimuli.len()) {
            shared.board().stimulus(stimulus).reset(begin);
            readings.extend(Extract::all_of(own, plan).map(|part| Reading::begin(shared, stimulus, part)));
        }
        while turn(shared, &mut readings, begin) {}
        let readings = Arc::new(Mutex::new(readings));
        Feeder { shared: shared.clone(), begin, readings, leave: Arc::default(), thread: None }
    }

    /// Continues to read during the run, in a thread of its own. Without a thread the watcher of the run calls
    /// [`Feeder::read`].
    pub fn start(&mut self) -> std::io::Result<()> {
        if lock(&self.readings).iter().all(|reading| reading.rows.is_none()) {
            return Ok(());
        }
        let pause = Duration::from_millis(if self.shared.plan().mode == Mode::Virtual { 1 } else { 5 });
        let (shared, leave, begin) = (self.shared.clone(), self.leave.clone(), self.begin);
        let readings = self.readings.clone();
        let body = move || {
            let mut readings = lock(&readings);
            while !leave.load(SeqCst) && readings.iter().any(|reading| reading.rows.is_some()) {
                if !turn(&shared, &mut readings, begin) {
                    std::thread::sleep(pause);
                }
            }
        };
        self.thread = Some(std::thread::Builder::new().name("vecud.stimulus".to_owned()).spawn(body)?);
        Ok(())
    }

    /// Reads as far as there is room, unless a thread does it.
    pub fn read(&self) {
        if self.thread.is_none() {
            while turn(&self.shared, &mut lock(&self.readings), self.begin) {}
        }
    }

    /// Stops reading. Returns the faults of each file in the part that was read.
    pub fn finish(&mut self) -> Vec<Fault> {
        self.leave.store(true, SeqCst);
        let _that_it_has_panicked = self.thread.take().map(JoinHandle::join);
        let mut readings = lock(&self.readings);
        readings.iter_mut().for_each(Reading::end);
        let mut faults: Vec<Fault> = vec![Fault::default(); self.shared.prepared.stimuli.len()];
        for Reading { stimulus, fault, .. } in readings.iter() {
            let own = &mut faults[*stimulus];
            own.problem = own.problem.take().or(fault.problem.clone());
            own.nan = own.nan.take().or(fault.nan.clone());
            own.change = own.change.take().or(fault.change.clone());
        }
        faults
    }
}

fn lock(readings: &Mutex<Vec<Reading>>) -> MutexGuard<'_, Vec<Reading>> {
    readings.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Feeder {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Reads a few rows of each file, as far as there is room. Returns whether there was anything to do.
fn turn(shared: &SharedRig, readings: &mut [Reading], begin: f64) -> bool {
    let mut busy = false;
    for reading in readings {
        let feed = shared.board().stimulus(reading.stimulus);
        for _ in 0..TURN {
            let Reading { rows: Some(rows), part, stop, fault, .. } = reading else { break };
            if !part.wants_more(feed) {
                break;
            }
            busy = true;
            let broken = match rows.read() {
                Ok(Some(row)) => {
                    part.push(feed, row, begin, *stop);
                    // The first row that is not before the stop ends the last line; later rows are ignored.
                    if row.time < *stop || row.may_jump && row.time == *stop {
                        continue;
                    }
                    false
                }
                Ok(None) => {
                    fault.problem = rows.broken_off();
                    false
                }
                Err(error) => {
                    fault.problem = Some(error);
                    true
                }
            };
            part.finish(feed, broken);
            reading.end();
        }
    }
    busy
}
