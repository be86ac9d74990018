//! One rig of the daemon: its definition, its state, and the thread of its runs.

use super::definition::{Definition, RigSource, Start};
use super::events::MESSAGES;
use super::log::{DaemonLine, DaemonLog};
use super::name::RigName;
use super::runs::Runs;
use super::status::{Mistake, RigState, RigStatus, Verdict};
use super::tally::Tally;
use super::waits::WAITS;
use jiff::Timestamp;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::sync::{Semaphore, broadcast, watch};
use vecud_base::time::Instant;
use vecud_host::{Error, EventSink, Finished, LineWeight, Options, Session, SessionEvent, SessionHandle, SessionState};
use vecud_linux::stop::StopToken;
use vecud_plan::RunningRig;
use vecud_report::Severity;

/// A run that goes on.
#[derive(Clone)]
pub struct ActiveRun {
    /// Asks for its end.
    pub stop: StopToken,
    /// `None`: it is being prepared.
    pub handle: Option<SessionHandle>,
    /// The rig's share of the machine; `None`: unknown so far.
    pub share: Option<RunningRig>,
    /// Whether another run begins when it is over, since the rig has another definition now.
    reloads: bool,
}

impl ActiveRun {
    /// Whether another one begins when it is over, since the rig was made another one.
    pub fn reloads(&self) -> bool {
        self.reloads
    }

    fn new() -> ActiveRun {
        ActiveRun { stop: StopToken::default(), handle: None, share: None, reloads: false }
    }
}

/// A rig.
pub struct ManagedRig {
    name: RigName,
    /// The folder that relative paths count from.
    folder: PathBuf,
    /// The rig's runs.
    pub runs: Runs,
    log: DaemonLog,
    definition: Mutex<Option<Definition>>,
    status: watch::Sender<RigStatus>,
    /// Neither this nor the status is held while somebody waits for the disk: whoever looks at the rig needs them.
    running: Mutex<Option<ActiveRun>>,
    /// The rig's file at the start of the last run.
    file: Mutex<Option<FileState>>,
    tally: Mutex<Tally>,
    /// Permits of waits for conditions.
    waits: Arc<Semaphore>,
    /// Messages about it, for streams of events.
    messages: broadcast::Sender<(LineWeight, Arc<str>)>,
}

/// Greatest number of reported mistakes of a rig: an answer stays in memory until its reader takes it, and readers may
/// not.
const MISTAKES: usize = 100;

/// Identifies a version of a file.
type FileState = (SystemTime, u64, u64);

/// Somebody else holds it only while a value is copied or replaced.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ManagedRig {
    /// A rig; `Err`: the reason why its files cannot be read.
    pub fn new(
        name: RigName,
        folder: PathBuf,
        runs: Runs,
        log: DaemonLog,
        definition: Result<Definition, String>,
    ) -> ManagedRig {
        let mut status = RigStatus::new(name.clone());
        if let Err(message) = &definition {
            status.enter(RigState::Failed);
            status.problems.push(Mistake::said(message.clone()));
        }
        status.run = runs.names().ok().and_then(|names| names.last().cloned());
        if definition.is_ok()
            && let Some(last) = status.run.as_ref().and_then(|run| runs.finished(run))
        {
            status.leave(last.run());
        }
        let (definition, status) = (Mutex::new(definition.ok()), watch::Sender::new(status));
        ManagedRig {
            name,
            folder,
            runs,
            log,
            definition,
            status,
            running: Mutex::default(),
            file: Mutex::default(),
            tally: Mutex::default(),
            waits: Arc::new(Semaphore::new(WAITS)),
            messages: broadcast::Sender::new(MESSAGES),
        }
    }

    /// The name of the rig.
    pub fn name(&self) -> &RigName {
        &self.name
    }

    /// Present status of the rig.
    pub fn status(&self) -> RigStatus {
        self.status.borrow().clone()
    }

    /// Counts of its runs since the daemon began.
    pub fn tally(&self) -> Tally {
        *lock(&self.tally)
    }

    /// Tells of each change of the status.
    pub fn changes(&self) -> watch::Receiver<RigStatus> {
        self.status.subscribe()
    }

    /// The run that goes on, if one does.
    pub fn running(&self) -> Option<ActiveRun> {
        lock(&self.running).clone()
    }

    /// Bytes of the rig's text, which stays in memory.
    pub fn text_length(&self) -> usize {
        lock(&self.definition).as_ref().map_or(0, |own| own.source.text_length())
    }

    /// Permits of waits for conditions: each wait has one as long as it lasts.
    pub fn waits(&self) -> Arc<Semaphore> {
        self.waits.clone()
    }

    /// All messages about the rig from now on.
    pub fn messages(&self) -> broadcast::Receiver<(LineWeight, Arc<str>)> {
        self.messages.subscribe()
    }

    /// From the next start on the rig has this definition.
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

    /// Settings of the rig's runs, if it is to run.
    pub fn wanted(&self) -> Option<Start> {
        lock(&self.definition).as_ref()?.wanted.clone()
    }

    /// Sets whether the rig is to run, and how.
    pub fn want(&self, wanted: Option<Start>) -> Option<Definition> {
        let mut definition = lock(&self.definition);
        let own = definition.as_mut()?;
        own.wanted = wanted;
        Some(own.clone())
    }

    /// The rig's text, and the file that its places are told in; or the file itself.
    pub fn options(definition: &Definition, name: &RigName, folder: &Path) -> Options {
        let (file, text) = match &definition.source {
            RigSource::Text(text) => (folder.join(format!("{name}.toml")), Some(text.clone())),
            RigSource::Path(path) => (folder.join(path), None),
        };
        let rights = definition.rights.clone();
        Options { file, text, rights, control: true, endless: true, ..Options::default() }
    }

    fn file_state(&self, definition: &Definition) -> Option<FileState> {
        let RigSource::Path(path) = &definition.source else { return None };
        let found = definition.rights.at(&self.folder.join(path), |way| fs::metadata(way)).ok()?;
        Some((found.modified().ok()?, found.len(), found.ino()))
    }

    /// Definition and wanted state, if they are known.
    pub fn definition(&self) -> Option<Definition> {
        lock(&self.definition).clone()
    }

    /// Whether the rig runs, and its file has changed or vanished since the start.
    pub fn has_changed(&self) -> bool {
        let now = self.definition().and_then(|own| self.file_state(&own));
        self.running().is_some() && now != *lock(&self.file)
    }

    /// A run begins, whose options these are; `None`: one goes on, or is to.
    pub fn begin(&self, definition: &Definition) -> Option<Options> {
        let stop = {
            let mut running = lock(&self.running);
            if running.is_some() {
                return None;
            }
            running.insert(ActiveRun::new()).stop.clone()
        };
        Some(self.options_of(definition, stop, 0))
    }

    /// Begins another run after one that has failed.
    pub fn begin_again(&self, definition: &Definition, restarts: u32) -> Options {
        let stop = {
            let mut running = lock(&self.running);
            // Whoever has asked for its end, or for another one after it, has asked.
            let own = running.get_or_insert_with(ActiveRun::new);
            (own.handle, own.share) = (None, None);
            own.stop.clone()
        };
        lock(&self.tally).restarts += 1;
        self.options_of(definition, stop, restarts)
    }

    /// Asks for the end of the run that goes on, after which another one begins. `false`: none goes on, or it ends anyway.
    pub fn reload(&self) -> bool {
        let mut running = lock(&self.running);
        let Some(running) = running.as_mut().filter(|running| !running.stop.is_asked()) else { return false };
        running.reloads = true;
        running.stop.ask();
        true
    }

    /// Asks for the end of the run that goes on, and no other one begins; with `now` for one at once, by force. Asked again it is the same
    /// end.
    pub fn stop(&self, now: bool) {
        if let Some(running) = &mut *lock(&self.running) {
            running.reloads = false;
            running.stop.ask_for(if now { 2 } else { 1 });
        }
    }

    /// The run is over. The rig that another one begins of, and the options of that; `None`: none does for now.
    pub fn begin_reloaded(&self) -> Option<(Definition, Options)> {
        let (definition, stop) = {
            let mut running = lock(&self.running);
            let own = running.as_mut().filter(|running| running.reloads)?;
            // By whoever makes it another one from here on it is asked for its end again.
            let definition = lock(&self.definition).clone()?;
            *own = ActiveRun::new();
            (definition, own.stop.clone())
        };
        let options = self.options_of(&definition, stop, 0);
        Some((definition, options))
    }

    /// Options of a run after this number of restarts in a row.
    fn options_of(&self, definition: &Definition, stop: StopToken, restarts: u32) -> Options {
        let (start, run) = (definition.wanted.clone().unwrap_or_default(), self.runs.next());
        let (out, within) = (Some(self.runs.path(&run)), Some(self.runs.within().clone()));
        let file = self.file_state(definition);
        *lock(&self.file) = file;
        self.status.send_modify(|status| {
            status.enter(RigState::Preparing);
            (status.run, status.restart_at, status.restarts) = (Some(run), None, restarts);
            status.has_begun = false;
            status.problems.clear();
        });
        Options {
            mode: start.mode.map(Into::into),
            stop_time: start.stop_time.and_then(Instant::from_f64),
            out,
            within,
            command: vec!["vecud".to_owned(), "daemon".to_owned()],
            stop,
            ..ManagedRig::options(definition, &self.name, &self.folder)
        }
    }

    /// The run that has [begun](ManagedRig::begin), once `start` has started its session, up to its report.
    pub fn run(
        self: &Arc<ManagedRig>,
        options: &Options,
        start: impl FnOnce(&Options, &EventSink) -> Result<Session, Error>,
    ) -> Result<Vec<Finished>, Error> {
        let own = self.clone();
        let events = EventSink::new(move |event| own.hear(event));
        // A preparation that somebody has ended has no mistake of its own.
        let ended = |error| match error {
            _ if options.stop.is_asked() => Error::Interrupted,
            // Runs have folders in the daemon's own: nobody who starts one chooses another.
            Error::Output(..) => Error::System(format!(
                "{error}; let the daemon's user write there, and see to it that there is room, or give the daemon another folder for \
                 its state (vecud daemon --state DIR)"
            )),
            _ => error,
        };
        start(options, &events).map_err(ended)?.wait()
    }

    /// The run has this of the machine, from now on to its end.
    pub fn takes(&self, share: RunningRig) {
        if let Some(running) = &mut *lock(&self.running) {
            running.share = Some(share);
        }
    }

    /// The session of the run has started.
    pub fn has_started(&self, session: &Session) {
        if let Some(running) = &mut *lock(&self.running) {
            running.handle = Some(session.handle());
        }
    }

    fn hear(&self, event: SessionEvent) {
        match event {
            SessionEvent::State(SessionState::Starting) => self.enter(RigState::Preparing),
            SessionEvent::State(SessionState::Running) => self.enter(RigState::Running),
            SessionEvent::State(SessionState::Paused) => self.enter(RigState::Paused),
            SessionEvent::State(SessionState::Stopping | SessionState::Over) => self.enter(RigState::Stopping),
            SessionEvent::Message(weight, line) => self.say(weight, &line),
            SessionEvent::Begun(_) | SessionEvent::Over | SessionEvent::Figures(_) => (),
        }
    }

    /// Says something about the run that goes on, or was the last one.
    pub fn say(&self, weight: LineWeight, text: &str) {
        let text = weight.of_itself(text);
        let run = self.status.borrow().run.clone();
        self.log.line(DaemonLine { rig: Some(&self.name), run: run.as_deref(), weight, text });
        let _nobody_listens = self.messages.send((weight, text.into()));
    }

    fn enter(&self, state: RigState) {
        self.status.send_if_modified(|status| {
            let is_new = status.state != state;
            status.enter(state);
            is_new
        });
    }

    /// A run that has [begun](ManagedRig::begin) is over, whether it came to activations or not: what went wrong is said, and then everybody may
    /// know. `restart`: after how long another one begins.
    pub fn over(&self, outcome: Result<&[Finished], &Error>, restart: Option<Duration>) {
        lock(&self.tally).count(outcome, exit_code(outcome));
        match outcome {
            Err(error) => self.say(LineWeight::Error, &error.to_string()),
            Ok(finished) => {
                for problem in finished.iter().flat_map(|one| &one.run.problems) {
                    let is_failure = problem.severity == Severity::Failure;
                    self.say(if is_failure { LineWeight::Error } else { LineWeight::Warning }, &problem.message());
                }
            }
        }
        let last = outcome.is_err().then(|| self.runs.names().ok()?.pop()).flatten();
        // Held until the status says so: whoever reads that may start it.
        let mut running = lock(&self.running);
        if restart.is_none() {
            *running = None;
        }
        self.status.send_modify(|status| {
            status.restart_at = restart.map(|delay| Timestamp::now().saturating_add(delay).unwrap_or(Timestamp::MAX));
            match outcome {
                // One of the daemon is never repeated.
                Ok(finished) => finished.iter().for_each(|one| status.leave(&one.run)),
                Err(error) => {
                    status.run = last;
                    if matches!(error, Error::Interrupted) {
                        return status.enter(RigState::Idle);
                    }
                    (status.exit_code, status.verdict, status.last_run) =
                        (Some(exit_code(outcome)), Some(Verdict::Fail), None);
                    status.problems = mistakes(error);
                    status.enter(RigState::Failed);
                }
            }
        });
    }

    /// Clears the failure of the last run.
    pub fn forget_failure(&self) {
        self.status.send_if_modified(|status| {
            let has_failed = status.state == RigState::Failed;
            if has_failed {
                status.problems.clear();
                status.enter(RigState::Idle);
            }
            has_failed
        });
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

/// The first mistakes of a rig, each with its place, and how many more there are.
pub fn mistakes(error: &Error) -> Vec<Mistake> {
    let mut told = error.told();
    let more = told.len().saturating_sub(MISTAKES);
    told.truncate(MISTAKES);
    let mut mistakes: Vec<Mistake> = told.into_iter().map(Mistake::from).collect();
    mistakes.iter_mut().for_each(Mistake::shorten);
    if more > 0 {
        mistakes.push(Mistake::said(format!("there are {more} more mistakes")));
    }
    mistakes
}
