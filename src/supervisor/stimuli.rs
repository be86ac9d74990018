//! Files of stimuli: opened and looked at before anything runs, then read ahead of the run, row by row, by a thread of this
//! process, so that neither a file's length nor a slow disk reaches a partition.
//!
//! A file stays open from the plan to the end of the run, so whoever removes it meanwhile changes nothing.

mod result;
mod source;

pub use result::{Fault, problems, results};
pub use source::Source;

use super::shared::Shared;
use super::{Error, Prepared};
use crate::plan::{Mode, Plan, PlanError, StimulusInput};
use crate::recording::series;
use crate::rig::{Problem, Rig, RigStimulus};
use crate::stimulus::Rows;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Rows of a file that are looked at before the run.
const CHECKED: usize = 1000;
/// Rows of one file that are read before another one has its turn.
const TURN: usize = 1024;
/// The one problem that a file has.
pub fn refuse(problem: Problem) -> Error {
    Error::Plan(PlanError { problems: vec![problem] })
}

/// Opens the stimuli of a rig, and reads what their beginnings say.
pub fn open(rig: &Rig) -> Result<Vec<(Source, StimulusInput)>, Error> {
    let open = |stimulus: &RigStimulus| {
        let refused = |message| refuse(Problem::new(&rig.file, stimulus.file.place, message));
        let source = Source::open(stimulus).map_err(refused)?;
        let header = source.header().map_err(refuse)?;
        Ok((source, header))
    };
    rig.stimuli.iter().map(open).collect()
}

/// Looks at the first rows of all of them.
pub fn check(plan: &Plan, sources: &[Source]) -> Result<(), Error> {
    for (stimulus, source) in sources.iter().enumerate() {
        let mut rows = source.rows(plan, stimulus).map_err(refuse)?;
        for _ in 0..CHECKED {
            if rows.read().map_err(refuse)?.is_none() {
                break;
            }
        }
    }
    Ok(())
}

/// Whether a run that writes to `folder` would overwrite what it reads.
pub fn may_write(folder: &Path, prepared: &Prepared) -> Result<(), Error> {
    let Ok(folder) = folder.canonicalize() else { return Ok(()) };
    for path in prepared.stimuli.iter().flat_map(Source::paths) {
        let Ok(real) = path.canonicalize() else { continue };
        let is_recorded = real.file_name().and_then(|name| name.to_str()).is_some_and(series::is_one);
        if real.starts_with(&folder) && is_recorded {
            let message = format!("the run would overwrite {}, a stimulus of its rig", path.display());
            return Err(Error::Output(folder, std::io::Error::other(message)));
        }
    }
    Ok(())
}

/// A file while it is read.
struct Reading {
    source: Source,
    rows: Option<Rows<BufReader<File>>>,
    /// The newest value of each column.
    carried: Vec<Option<u64>>,
    fault: Fault,
}

impl Reading {
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
    shared: Arc<Shared>,
    /// Start of the run, s.
    begin: f64,
    stop: f64,
    /// What is read, in the hands of the thread while there is one.
    readings: Arc<Mutex<Vec<Reading>>>,
    leave: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Feeder {
    /// Begins all files, and reads as far ahead as there is room, or to their ends. The run has not begun.
    pub fn new(shared: &Arc<Shared>) -> Feeder {
        let (prepared, plan) = (&shared.prepared, shared.plan());
        let mut readings = Vec::new();
        let begin = prepared.begin().seconds();
        let stop = plan.stop.map_or(f64::INFINITY, |stop| stop.seconds());
        for (stimulus, source) in prepared.stimuli.iter().enumerate() {
            let feed = shared.board().stimulus(stimulus);
            feed.reset(begin);
            let (rows, problem) = match source.rows(plan, stimulus) {
                Ok(rows) => (Some(rows), None),
                Err(problem) => {
                    feed.finish(true);
                    (None, Some(problem))
                }
            };
            let (carried, fault) =
                (vec![None; plan.stimuli[stimulus].values.len()], Fault { problem, nan: None, change: None });
            readings.push(Reading { source: source.clone(), rows, carried, fault });
        }
        while turn(shared, &mut readings, begin, stop) {}
        let readings = Arc::new(Mutex::new(readings));
        Feeder { shared: shared.clone(), begin, stop, readings, leave: Arc::default(), thread: None }
    }

    /// Goes on reading as the run goes on, in a thread of its own. If there can be none, whoever watches the run
    /// [reads](Feeder::read).
    pub fn start(&mut self) -> std::io::Result<()> {
        if lock(&self.readings).iter().all(|reading| reading.rows.is_none()) {
            return Ok(());
        }
        let pause = Duration::from_millis(if self.shared.plan().mode == Mode::Virtual { 1 } else { 5 });
        let (shared, leave, begin, stop) = (self.shared.clone(), self.leave.clone(), self.begin, self.stop);
        let readings = self.readings.clone();
        let body = move || {
            let mut readings = lock(&readings);
            while !leave.load(SeqCst) && readings.iter().any(|reading| reading.rows.is_some()) {
                if !turn(&shared, &mut readings, begin, stop) {
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
            while turn(&self.shared, &mut lock(&self.readings), self.begin, self.stop) {}
        }
    }

    /// Stops reading. Of each file what is wrong with it, as far as the reading has come.
    pub fn finish(&mut self) -> Vec<Fault> {
        self.leave.store(true, SeqCst);
        let _that_it_has_panicked = self.thread.take().map(JoinHandle::join);
        let mut readings = lock(&self.readings);
        readings.iter_mut().for_each(Reading::end);
        readings.iter().map(|reading| reading.fault.clone()).collect()
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
fn turn(shared: &Shared, readings: &mut [Reading], begin: f64, stop: f64) -> bool {
    let mut busy = false;
    for (stimulus, reading) in readings.iter_mut().enumerate() {
        let feed = shared.board().stimulus(stimulus);
        for _ in 0..TURN {
            let Reading { rows: Some(rows), carried, fault, .. } = reading else { break };
            if !feed.has_room() {
                break;
            }
            busy = true;
            let broken = match rows.read() {
                Ok(Some(row)) => {
                    row.values.iter().zip(carried.iter_mut()).for_each(|(new, old)| *old = new.or(*old));
                    feed.push(row, carried, begin, stop);
                    // The first row that is not before the stop ends the last line; what comes after it is nobody's.
                    if row.time < stop || row.may_jump && row.time == stop {
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
            feed.finish(broken);
            reading.end();
        }
    }
    busy
}
