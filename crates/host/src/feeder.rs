//! Files of stimuli while a run goes on: read ahead of it, row by row, by a thread of this process, so that neither a file's length nor a
//! slow disk reaches a partition.

use super::shared::SharedRig;
use super::stimuli::{Fault, Reader, StimulusSource};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use vecud_plan::{Mode, Plan, StimulusPlan};
use vecud_record::stimulus::{Feed, StimulusReader, StimulusRow};

/// Rows of one file that are read before another one has its turn.
const TURN: usize = 1024;
/// So far ticks of clocks between steps are read ahead, beside what the next steps need, s.
const AHEAD: f64 = 2.0;

/// A file while it is read.
struct Reading {
    stimulus: usize,
    part: Extract,
    /// What is at this time and later is nobody's, s.
    stop: f64,
    source: StimulusSource,
    rows: Option<StimulusReader<Reader>>,
    fault: Fault,
}

/// What is read of a file.
enum Extract {
    /// Values, and the ticks of tasks.
    Rows {
        /// Of each word of values the newest one.
        carried: Vec<Option<u64>>,
    },
    /// The ticks of one clock between steps.
    Ticks {
        tick: usize,
        /// So far ahead of the run, s.
        ahead: f64,
    },
}

impl Extract {
    /// All that is read of a file, each at a pace of its own.
    fn all_of(stimulus: &StimulusPlan, plan: &Plan) -> impl Iterator<Item = Extract> {
        let rows = Extract::Rows { carried: vec![None; stimulus.words()] };
        let ticks = stimulus.ticks.iter().enumerate().filter_map(|(tick, own)| {
            let ahead = AHEAD + 2.0 * own.ahead(&plan.units)?;
            Some(Extract::Ticks { tick, ahead })
        });
        std::iter::once(rows).chain(ticks)
    }

    /// Whether another row is to be read.
    fn wants_more(&self, feed: Feed) -> bool {
        match self {
            Extract::Rows { .. } => feed.has_room(),
            Extract::Ticks { tick, ahead } => !feed.is_ahead(*tick, *ahead),
        }
    }

    /// Hands on what a row says, for which there is room.
    fn push(&mut self, feed: Feed, row: &StimulusRow, begin: f64, stop: f64) {
        match self {
            Extract::Rows { carried } => {
                row.values.iter().zip(carried.iter_mut()).for_each(|(new, old)| *old = new.or(*old));
                feed.push(row, carried, begin, stop);
            }
            Extract::Ticks { tick, .. } => feed.push_between_steps(*tick, row, begin, stop),
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
                // A value that cannot be read is no fault of a tick.
                let rows = source.rows(&StimulusPlan { values: Vec::new(), ..plan.clone() });
                // Steps go beyond the stop time of a run that may be taken up again, and end where a clock ticks.
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

    /// What is in the file from here on is nobody's.
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
    /// What is read, in the hands of the thread while there is one.
    readings: Arc<Mutex<Vec<Reading>>>,
    leave: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Feeder {
    /// Begins all files, and reads as far ahead as there is room, or to their ends. The run has not begun.
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

    /// Goes on reading as the run goes on, in a thread of its own. If there can be none, whoever watches the run
    /// [reads](Feeder::read).
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

    /// Reads what there is room for, unless a thread does.
    pub fn read(&self) {
        if self.thread.is_none() {
            while turn(&self.shared, &mut lock(&self.readings), self.begin) {}
        }
    }

    /// Stops reading. Of each file what is wrong with it, as far as the reading has come.
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

/// Reads a few rows of each file, as far as there is room. Whether there was anything to do.
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
                    // The first row that is not before the stop ends the last line; what comes after it is nobody's.
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
