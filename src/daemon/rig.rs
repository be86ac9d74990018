//! One rig of the daemon: what it is, how far it is, and the thread that its runs have while they go on.

use super::definition::{Definition, Source, Start};
use super::events::MESSAGES;
use super::log::DaemonLog;
use super::name::RigName;
use super::runs::Runs;
use super::status::{Mistake, RigState, Status, Verdict};
use super::waits::WAITS;
use crate::report::passed;
use crate::supervisor::{Error, Event, EventSink, Finished, Options, Session, SessionHandle, State};
use crate::sys::stop::Stop;
use crate::time::Instant;
use jiff::Timestamp;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, broadcast, watch};

/// A run that goes on.
#[derive(Clone)]
pub struct Running {
    /// Asks for its end.
    pub stop: Stop,
    /// `None`: it is being prepared.
    pub handle: Option<SessionHandle>,
}

/// A rig.
pub struct Rig {
    name: RigName,
    /// The folder that relative paths count from.
    folder: PathBuf,
    /// Its runs.
    pub runs: Runs,
    log: DaemonLog,
    definition: Mutex<Option<Definition>>,
    status: watch::Sender<Status>,
    running: Mutex<Option<Running>>,
    /// Permits of waits for conditions.
    waits: Arc<Semaphore>,
    /// What is said of it, for streams of events.
    messages: broadcast::Sender<Arc<str>>,
}

/// Somebody else holds it only while a value is copied or replaced.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Rig {
    /// A rig; `Err`: why what is known of it cannot be read.
    pub fn new(
        name: RigName,
        folder: PathBuf,
        runs: Runs,
        log: DaemonLog,
        definition: Result<Definition, String>,
    ) -> Rig {
        let mut status = Status::new(name.clone());
        if let Err(message) = &definition {
            status.enter(RigState::Failed);
            status.problems.push(Mistake { file: None, line: None, column: None, message: message.clone() });
        }
        status.run = runs.names().ok().and_then(|names| names.last().cloned());
        let (definition, status) = (Mutex::new(definition.ok()), watch::Sender::new(status));
        Rig {
            name,
            folder,
            runs,
            log,
            definition,
            status,
            running: Mutex::default(),
            waits: Arc::new(Semaphore::new(WAITS)),
            messages: broadcast::Sender::new(MESSAGES),
        }
    }

    /// The name of the rig.
    pub fn name(&self) -> &RigName {
        &self.name
    }

    /// How far it is.
    pub fn status(&self) -> Status {
        self.status.borrow().clone()
    }

    /// Tells of each change of that.
    pub fn changes(&self) -> watch::Receiver<Status> {
        self.status.subscribe()
    }

    /// The run that goes on, if one does.
    pub fn running(&self) -> Option<Running> {
        lock(&self.running).clone()
    }

    /// Permits of waits for conditions: each wait has one as long as it lasts.
    pub fn waits(&self) -> Arc<Semaphore> {
        self.waits.clone()
    }

    /// Everything that is said of it from now on.
    pub fn messages(&self) -> broadcast::Receiver<Arc<str>> {
        self.messages.subscribe()
    }

    fn say(&self, text: &str) {
        self.log.of(&self.name, text);
        let _nobody_listens = self.messages.send(text.into());
    }

    /// From the next start on the rig is this one.
    pub fn define(&self, definition: Definition) {
        *lock(&self.definition) = Some(definition);
        self.status.send_if_modified(|status| {
            let is_new = !status.is_busy() && (status.state == RigState::Failed || !status.problems.is_empty());
            if is_new {
                status.enter(RigState::Idle);
                status.problems.clear();
            }
            is_new
        });
    }

    /// How it is to run, if it is to.
    pub fn wanted(&self) -> Option<Start> {
        lock(&self.definition).as_ref()?.wanted.clone()
    }

    /// What is wanted of it is this.
    pub fn want(&self, wanted: Option<Start>) -> Option<Definition> {
        let mut definition = lock(&self.definition);
        let own = definition.as_mut()?;
        own.wanted = wanted;
        Some(own.clone())
    }

    /// The rig's text, and the file that its places are told in; or the file itself.
    pub fn options(source: &Source, name: &RigName, folder: &Path) -> Options {
        match source {
            Source::Text(text) => {
                Options { file: folder.join(format!("{name}.toml")), text: Some(text.clone()), ..Options::default() }
            }
            Source::Path(path) => Options { file: folder.join(path), ..Options::default() },
        }
    }

    /// A run begins, whose options these are; `None`: one goes on, or is to.
    pub fn begin(&self, definition: &Definition) -> Option<Options> {
        let mut running = lock(&self.running);
        if running.is_some() {
            return None;
        }
        let stop = Stop::default();
        *running = Some(Running { stop: stop.clone(), handle: None });
        Some(self.options_of(definition, stop))
    }

    /// Another run begins after one that has failed.
    pub fn begin_again(&self, definition: &Definition, restarts: u32) -> Options {
        let mut running = lock(&self.running);
        let stop = running.take().map_or_else(Stop::default, |running| running.stop);
        *running = Some(Running { stop: stop.clone(), handle: None });
        self.status.send_modify(|status| (status.restart_at, status.restarts) = (None, restarts));
        self.options_of(definition, stop)
    }

    fn options_of(&self, definition: &Definition, stop: Stop) -> Options {
        let (start, run) = (definition.wanted.clone().unwrap_or_default(), self.runs.next());
        let out = Some(self.runs.folder(&run));
        self.status.send_modify(|status| {
            status.enter(RigState::Preparing);
            status.run = Some(run);
            status.problems.clear();
        });
        Options {
            mode: start.mode.map(Into::into),
            stop_time: start.stop_time.and_then(Instant::from_f64),
            out,
            control: true,
            command: vec!["vecud".to_owned(), "daemon".to_owned()],
            stop,
            ..Rig::options(&definition.source, &self.name, &self.folder)
        }
    }

    /// The run that has [begun](Rig::begin), once `start` has started its session, up to its report.
    pub fn run(
        self: &Arc<Rig>,
        options: &Options,
        start: impl FnOnce(&Options, &EventSink) -> Result<Session, Error>,
    ) -> Result<Vec<Finished>, Error> {
        let own = self.clone();
        let events = EventSink::new(move |event| own.hear(event));
        start(options, &events)?.wait()
    }

    /// The session of the run has started.
    pub fn has_started(&self, session: &Session) {
        if let Some(running) = &mut *lock(&self.running) {
            running.handle = Some(session.handle());
        }
    }

    fn hear(&self, event: Event) {
        match event {
            Event::State(State::Starting) => self.enter(RigState::Preparing),
            Event::State(State::Running) => self.enter(RigState::Running),
            Event::State(State::Stopping | State::Over) => self.enter(RigState::Stopping),
            Event::Message(line) => self.say(&line),
            Event::Begun(_) | Event::Over | Event::Figures(_) => (),
        }
    }

    fn enter(&self, state: RigState) {
        self.status.send_if_modified(|status| {
            let is_new = status.state != state;
            status.enter(state);
            is_new
        });
    }

    /// A run that has [begun](Rig::begin) is over, whether it came to activations or not. `restart`: after how long another one begins.
    pub fn over(&self, outcome: Result<&[Finished], &Error>, restart: Option<Duration>) {
        // Held until the status says so: whoever reads that may start it.
        let mut running = lock(&self.running);
        if restart.is_none() {
            *running = None;
        }
        self.status.send_modify(|status| {
            status.restart_at = restart.map(|delay| Timestamp::now().saturating_add(delay).unwrap_or(Timestamp::MAX));
            status.restarts = if restart.is_some() { status.restarts } else { 0 };
            match outcome {
                Ok(finished) => {
                    let pass = finished.iter().all(|one| passed(&one.run));
                    let code = exit_code(outcome);
                    (status.exit_code, status.verdict) =
                        (Some(code), Some(if pass { Verdict::Pass } else { Verdict::Fail }));
                    status.enter(if code == 1 { RigState::Failed } else { RigState::Idle });
                }
                Err(error) => {
                    status.run = self.runs.names().ok().and_then(|names| names.last().cloned());
                    if matches!(error, Error::Interrupted) {
                        return status.enter(RigState::Idle);
                    }
                    (status.exit_code, status.verdict) = (Some(exit_code(outcome)), Some(Verdict::Fail));
                    status.problems = mistakes(error);
                    status.enter(RigState::Failed);
                }
            }
        });
        drop(running);
        if let Err(error) = outcome {
            self.say(&error.to_string());
        }
    }

    /// No further run begins, although one was to.
    pub fn give_up(&self) {
        let mut running = lock(&self.running);
        *running = None;
        self.status.send_modify(|status| (status.restart_at, status.restarts) = (None, 0));
    }
}

/// The exit code of a run, as of `vecud run`.
pub fn exit_code(outcome: Result<&[Finished], &Error>) -> u8 {
    outcome.map_or(2, |finished| finished.last().map_or(1, Finished::exit_code))
}

/// What is wrong with a rig, each mistake with its place.
pub fn mistakes(error: &Error) -> Vec<Mistake> {
    error.told().into_iter().map(Mistake::from).collect()
}
