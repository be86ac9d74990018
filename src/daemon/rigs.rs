//! All rigs of the daemon: what is done with each of them, and what they share of the machine.

use super::definition::{Definition, Source, Start};
use super::name::RigName;
use super::rig::{Rig, mistakes};
use super::runs::Runs;
use super::status::{Mistake, Status};
use super::store::Store;
use crate::supervisor::{self, Error, EventSink, Options, Session};
use crate::sys::stop::Stop;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Why something is not done.
#[derive(Debug)]
pub enum Refusal {
    /// There is no rig of this name.
    Unknown(RigName),
    /// It cannot be done while the rig is as it is.
    State(Status, &'static str),
    /// The rig, or what it names, is wrong.
    Invalid(Vec<Mistake>),
    /// What is wanted cannot be written down.
    NotKept(io::Error),
    /// The operating system.
    System(String),
}

/// All rigs.
pub struct Rigs {
    store: Store,
    /// The folder that relative paths count from.
    folder: PathBuf,
    all: Mutex<BTreeMap<RigName, Arc<Rig>>>,
    /// Held while a rig finds out what the others leave of the machine, until it has that itself.
    taking: Arc<Mutex<()>>,
}

/// How often it is looked whether all rigs have come to their end.
const LOOK: Duration = Duration::from_millis(20);

impl Rigs {
    /// Those of which the store knows.
    pub fn load(store: Store, folder: PathBuf) -> Rigs {
        let known = store.rigs().unwrap_or_default();
        let rig = |(name, definition): (RigName, Result<Definition, String>)| {
            let runs = Runs::of(store.runs(&name));
            (name.clone(), Arc::new(Rig::new(name, folder.clone(), runs, definition)))
        };
        let all = Mutex::new(known.into_iter().map(rig).collect());
        Rigs { store, folder, all, taking: Arc::default() }
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<RigName, Arc<Rig>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All, in the order of their names.
    pub fn list(&self) -> Vec<Arc<Rig>> {
        self.all().values().cloned().collect()
    }

    /// The one of this name.
    pub fn find(&self, name: &RigName) -> Result<Arc<Rig>, Refusal> {
        self.all().get(name).cloned().ok_or_else(|| Refusal::Unknown(name.clone()))
    }

    /// Makes a rig, or makes it another one, once it is checked as by `vecud check`. Blocks for as long as that takes.
    pub fn put(&self, name: &RigName, source: Source) -> Result<(Status, bool), Refusal> {
        let known = self.all().get(name).cloned();
        if let Some(busy) = known.as_ref().map(|rig| rig.status()).filter(Status::is_busy) {
            return Err(Refusal::State(busy, "it runs: stop it first"));
        }
        let options = Rig::options(&source, name, &self.folder);
        supervisor::plan(&options, &EventSink::default()).map_err(|error| Refusal::Invalid(mistakes(&error)))?;
        let definition = Definition { source, wanted: None };
        self.store.keep(name, &definition).map_err(Refusal::NotKept)?;
        let mut all = self.all();
        let is_new = known.is_none();
        let rig = all.entry(name.clone()).or_insert_with(|| {
            let runs = Runs::of(self.store.runs(name));
            Arc::new(Rig::new(name.clone(), self.folder.clone(), runs, Ok(definition.clone())))
        });
        rig.define(definition);
        Ok((rig.status(), is_new))
    }

    /// Forgets a rig. Its runs stay on the disk.
    pub fn delete(&self, name: &RigName) -> Result<(), Refusal> {
        let mut all = self.all();
        let rig = all.get(name).ok_or_else(|| Refusal::Unknown(name.clone()))?;
        if rig.running().is_some() {
            return Err(Refusal::State(rig.status(), "it runs: stop it first"));
        }
        self.store.forget(name).map_err(Refusal::NotKept)?;
        all.remove(name);
        Ok(())
    }

    /// Starts a rig; what comes of it its status says.
    pub fn start(&self, name: &RigName, start: Start) -> Result<Arc<Rig>, Refusal> {
        let rig = self.find(name)?;
        if rig.running().is_some() {
            return Err(Refusal::State(rig.status(), "it runs already"));
        }
        let definition =
            rig.want(Some(start)).ok_or(Refusal::State(rig.status(), "what it is is not known: put it"))?;
        self.store.keep(name, &definition).map_err(Refusal::NotKept)?;
        let (others, taking) = (self.list(), self.taking.clone());
        let begin = move |options: &Options, events: &EventSink| begin_beside(&others, &taking, options, events);
        match rig.start(&definition, begin) {
            Ok(true) => Ok(rig),
            Ok(false) => Err(Refusal::State(rig.status(), "it runs already")),
            Err(error) => Err(Refusal::System(error.to_string())),
        }
    }

    /// Asks for the end of a rig's run: a second time for one at once.
    pub fn stop(&self, name: &RigName) -> Result<Arc<Rig>, Refusal> {
        let rig = self.find(name)?;
        let running = rig.running().ok_or_else(|| Refusal::State(rig.status(), "it does not run"))?;
        if let Some(definition) = rig.want(None) {
            self.store.keep(name, &definition).map_err(Refusal::NotKept)?;
        }
        running.stop.ask();
        Ok(rig)
    }

    /// Brings all rigs to their end: at once as soon as somebody asks the daemon a second time. What is wanted of them stays.
    pub fn end(&self, stop: &Stop) {
        let mut asked = 0;
        loop {
            let running: Vec<_> = self.list().iter().filter_map(|rig| rig.running()).collect();
            if running.is_empty() {
                return;
            }
            while asked < stop.times().clamp(1, 2) {
                for run in &running {
                    run.stop.ask();
                }
                asked += 1;
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// Prepares a run and starts it, on what those of the others that run leave of the machine.
fn begin_beside(
    others: &[Arc<Rig>],
    taking: &Mutex<()>,
    options: &Options,
    events: &EventSink,
) -> Result<Session, Error> {
    let _one_after_the_other = taking.lock().unwrap_or_else(PoisonError::into_inner);
    let beside = others.iter().filter_map(|rig| rig.running()?.handle).collect();
    let prepared = supervisor::plan(&Options { beside, ..options.clone() }, events)?;
    Session::start(prepared, events.clone(), |_| ())
}
