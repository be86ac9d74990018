//! All rigs of the daemon: operations on them, and their shares of the machine.

use super::cores;
use super::definition::{Definition, RigSource, Start};
use super::events::Streams;
use super::log::DaemonLog;
use super::name::RigName;
use super::orphans::Orphans;
use super::restart::Failures;
use super::rig::{ManagedRig, exit_code, mistakes};
use super::status::{Mistake, RigStatus};
use super::store::Store;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use vecud_host::{Error, EventSink, Finished, LineWeight, MemoryBudget, Options, OtherRigs, Session};
use vecud_linux::files::Folder;
use vecud_linux::permits::{Permit, Permits};
use vecud_linux::rights::Rights;
use vecud_linux::stop::StopToken;
use vecud_linux::{affinity, heap, process};
use vecud_plan::rig::{Diagnostic, Place, RigError};
use vecud_plan::{Plan, RunningRig};

/// Reason for refusing a request.
#[derive(Debug)]
pub enum RequestError {
    /// There is no rig of this name.
    Unknown(RigName),
    /// The state of the rig does not allow the request.
    State(Box<RigStatus>, &'static str),
    /// The rig, or a file that it names, is invalid.
    Invalid(Vec<Mistake>),
    /// The wanted state cannot be stored.
    NotKept(io::Error),
    /// The daemon has no room for a further rig.
    Full(String),
    /// An error of the operating system.
    System(String),
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestError::Unknown(name) => write!(f, "there is no rig {name}; GET /v1/rigs lists them"),
            RequestError::State(status, why) if status.restart_at.is_some() => {
                write!(f, "rig {} has failed and waits for its restart: {why}", status.name)
            }
            RequestError::State(status, why) => write!(f, "rig {} is {}: {why}", status.name, status.state.word()),
            RequestError::Invalid(mistakes) => match mistakes.as_slice() {
                [one] => f.write_str(&one.message),
                several => write!(f, "there are {} mistakes", several.len()),
            },
            RequestError::NotKept(error) => {
                write!(f, "what is wanted cannot be written to the state folder, and is not done: {error}")
            }
            RequestError::Full(detail) | RequestError::System(detail) => f.write_str(detail),
        }
    }
}

/// All rigs.
pub struct Rigs {
    store: Store,
    /// The folder that relative paths count from.
    folder: PathBuf,
    log: DaemonLog,
    orphans: Orphans,
    /// Never held while somebody waits for the disk: whoever asks for anything needs it.
    all: Mutex<BTreeMap<RigName, Arc<ManagedRig>>>,
    /// The cores that this process may use, whichever its threads leave to partitions.
    cpus: BTreeSet<usize>,
    /// Held while the list of rigs, and their wanted state, is written.
    changing: Mutex<()>,
    /// Held while a rig takes what the others leave of the machine. Nothing slow is done meanwhile, such as planning.
    taking: Mutex<()>,
    /// Libraries that are built at a time.
    builds: Permits,
    /// Held while a long rig is read and planned, which takes some hundred times its length of memory.
    long: Permits,
    /// Room for what the FMUs of one rig make of its text, however short that is.
    room: MemoryBudget,
    /// Asks for the end of all checks.
    checks: StopToken,
    /// Held while the threads of this process are moved to other cores.
    moving: Mutex<()>,
    /// The daemon ends.
    ends: AtomicBool,
    /// Streams of events.
    pub streams: Streams,
}

/// Libraries that are built at a time, for all rigs.
const BUILDS: usize = 2;
/// The longest text of a rig.
const LONGEST: u64 = 512 << 10;
/// Longer texts are read and planned one rig at a time.
const SHORT: u64 = 64 << 10;

/// Rigs that there are at most, and bytes of all their texts.
const MOST: usize = 1000;
const TEXTS: usize = 32 << 20;
/// Bytes of memory for the descriptions of a rig, and for its plan.
const ROOM: usize = 64 << 20;

/// Time between two looks whether all rigs have come to their end.
const LOOK: Duration = Duration::from_millis(20);

impl Rigs {
    /// The rigs of the store. None of them runs yet.
    pub fn load(store: Store, folder: PathBuf, log: DaemonLog) -> Result<Rigs, Error> {
        let system = |error: &dyn std::fmt::Display| Error::System(error.to_string());
        let cpus = affinity::allowed_cpus().map_err(|error| system(&error))?;
        let known = store.rigs().map_err(|error| system(&format!("the state folder cannot be read: {error}")))?;
        let rig = |(name, definition): (RigName, Result<Definition, String>)| {
            if let Err(why) = &definition {
                log.warn_of(&name, &format!("what it is is not known any more, and it does not run: {why}"));
            }
            let runs = store.runs(&name);
            (name.clone(), Arc::new(ManagedRig::new(name, folder.clone(), runs, log.clone(), definition)))
        };
        let all = Mutex::new(known.into_iter().map(rig).collect());
        Ok(Rigs {
            store,
            folder,
            log,
            orphans: Orphans::adopt(),
            all,
            cpus,
            changing: Mutex::default(),
            taking: Mutex::default(),
            builds: Permits::of(BUILDS),
            long: Permits::of(1),
            room: MemoryBudget { bytes: ROOM, permits: Permits::of(1) },
            checks: StopToken::default(),
            moving: Mutex::default(),
            ends: AtomicBool::new(false),
            streams: Streams::default(),
        })
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<RigName, Arc<ManagedRig>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All rigs, in the order of their names.
    pub fn list(&self) -> Vec<Arc<ManagedRig>> {
        self.all().values().cloned().collect()
    }

    /// The one of this name.
    pub fn find(&self, name: &RigName) -> Result<Arc<ManagedRig>, RequestError> {
        self.all().get(name).cloned().ok_or_else(|| RequestError::Unknown(name.clone()))
    }

    /// Makes a rig, or makes it another one, once it is checked as by `vecud check`. One that runs is refused unless it `reloads`: then
    /// its run comes to its end, and another one begins. Blocks for as long as the check takes.
    pub fn put(
        &self,
        name: &RigName,
        source: RigSource,
        rights: Rights,
        reloads: bool,
    ) -> Result<(Arc<ManagedRig>, bool), RequestError> {
        let known = self.all().get(name).cloned();
        let busy = known.as_ref().filter(|rig| rig.running().is_some());
        if let Some(busy) = busy.filter(|_| !reloads) {
            let way_out = "it runs, or is about to: stop it first, or put it with ?reload=true";
            return Err(RequestError::State(Box::new(busy.status()), way_out));
        }
        let definition = Definition { source, wanted: None, rights };
        self.check(ManagedRig::options(&definition, name, &self.folder)).map_err(|error| {
            match self.checks.is_asked() {
                true => RequestError::System("the daemon ends".to_owned()),
                false => RequestError::Invalid(mistakes(&error)),
            }
        })?;
        let wanted = busy.and_then(|rig| rig.wanted());
        let definition = Definition { wanted, ..definition };
        let _one_after_the_other = self.changing();
        self.fits(name, &definition)?;
        self.store.keep(name, &definition).map_err(RequestError::NotKept)?;
        let is_new = known.is_none();
        // Made before it is put among all: its runs are looked for on the disk.
        let made = known.unwrap_or_else(|| {
            let runs = self.store.runs(name);
            Arc::new(ManagedRig::new(name.clone(), self.folder.clone(), runs, self.log.clone(), Ok(definition.clone())))
        });
        let rig = self.all().entry(name.clone()).or_insert(made).clone();
        rig.define(definition);
        let _runs_no_more = reloads && rig.reload();
        Ok((rig, is_new))
    }

    /// Whether there is room for a rig beside the others, all of whose texts stay in memory.
    fn fits(&self, name: &RigName, definition: &Definition) -> Result<(), RequestError> {
        let others = self.list();
        let others = || others.iter().filter(|rig| rig.name() != name);
        let count = others().count() + 1;
        let length = others().map(|rig| rig.text_length()).sum::<usize>() + definition.source.text_length();
        match count > MOST || length > TEXTS {
            true => Err(RequestError::Full(format!(
                "there would be {count} rigs with texts of {} KiB, and a daemon has {MOST} rigs with {} KiB: delete some, or put them as files",
                length >> 10,
                TEXTS >> 10
            ))),
            false => Ok(()),
        }
    }

    /// Checks a rig as `vecud check` does. Blocks for as long as that takes, or until the daemon ends.
    fn check(&self, mut options: Options) -> Result<(), Error> {
        (options.cpus, options.stop, options.builds, options.room) =
            (Some(self.cpus.clone()), self.checks.clone(), self.builds.clone(), Some(self.room.clone()));
        let _permit = self.permit(&options)?;
        let checked = vecud_host::plan(&options, &EventSink::default()).map(drop);
        heap::give_back();
        checked
    }

    /// Waits until a rig may be read whose text is long; held until it is planned.
    fn permit(&self, options: &Options) -> Result<Option<Permit>, Error> {
        let found = || {
            options
                .rights
                .at(&options.file, |way| fs::metadata(way))
                .map_or(0, |found| if found.is_file() { found.len() } else { 0 })
        };
        let is_fmu = options.file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("fmu"));
        let length = match &options.text {
            Some(text) => text.len() as u64,
            None if is_fmu => 0,
            None => found(),
        };
        if length > LONGEST {
            let message = format!("is longer than {} KiB, the most that a daemon reads of a rig", LONGEST >> 10);
            let problem = Diagnostic::new(&options.file, Place::default(), message);
            return Err(Error::Rig(RigError { problems: vec![problem] }));
        }
        match length > SHORT {
            true => self.long.wait(&options.stop).map(Some).ok_or(Error::Interrupted),
            false => Ok(None),
        }
    }

    /// Forgets a rig. Its runs stay on the disk.
    pub fn delete(&self, name: &RigName) -> Result<(), RequestError> {
        let _one_after_the_other = self.changing();
        let rig = self.find(name)?;
        if rig.running().is_some() {
            return Err(RequestError::State(Box::new(rig.status()), "it runs, or is about to: stop it first"));
        }
        self.store.forget(name).map_err(RequestError::NotKept)?;
        self.all().remove(name);
        Ok(())
    }

    /// Starts a rig; its status has the result.
    pub fn start(self: &Arc<Rigs>, name: &RigName, start: Start) -> Result<Arc<ManagedRig>, RequestError> {
        let _one_after_the_other = self.changing();
        let rig = self.find(name)?;
        if rig.running().is_some() {
            return Err(RequestError::State(Box::new(rig.status()), "it runs already"));
        }
        let definition = rig
            .want(Some(start))
            .ok_or(RequestError::State(Box::new(rig.status()), "what it is is not known: put it"))?;
        self.store.keep(name, &definition).map_err(RequestError::NotKept)?;
        let options =
            rig.begin(&definition).ok_or_else(|| RequestError::State(Box::new(rig.status()), "it runs already"))?;
        let (all, own) = (self.clone(), rig.clone());
        let work = move || {
            let ran = catch_unwind(AssertUnwindSafe(|| all.run(&own, definition, options)));
            if ran.is_err() {
                // A mistake of ours ends this run, and no other one; what it was is on standard error.
                own.over(Err(&Error::System("vecud has a mistake: the run ended in a panic".to_owned())), None);
            }
            all.settle();
        };
        let thread = thread::Builder::new().name("vecud.rig".to_owned()).spawn(work);
        match thread {
            Ok(_) => Ok(rig),
            Err(error) => {
                let error = format!("a thread for rig {name}: {error}");
                rig.over(Err(&Error::System(error.clone())), None);
                Err(RequestError::System(error))
            }
        }
    }

    /// The runs of a rig, from the preparation of the first one to the report of the last: after a failure it restarts if its rig says
    /// so.
    fn run(&self, rig: &Arc<ManagedRig>, mut definition: Definition, mut options: Options) {
        let mut failures = Failures::default();
        loop {
            let began = Instant::now();
            let outcome = rig.run(&options, |options, events| self.start_beside(rig, options, events));
            heap::give_back();
            let (outcome, stops) = (outcome.as_deref(), || self.ends.load(SeqCst) || options.stop.is_asked());
            let handle = rig.running().and_then(|running| running.handle);
            if let Some(handle) = &handle
                && let Err(error) = rig.runs.keep(handle.plan().report.keep_runs + 1)
            {
                self.log.warn_of(rig.name(), &format!("a run that is older than those that are kept stays: {error}"));
            }
            let policy = handle.map(|handle| handle.daemon()).unwrap_or_default();
            if let Some(next) = self.begin_reloaded(rig, outcome) {
                (definition, options) = next;
                failures = Failures::default();
                continue;
            }
            let delay = failures.after(policy, exit_code(outcome), began.elapsed()).filter(|_| !stops());
            let Some(delay) = delay else {
                self.is_over(rig);
                rig.over(outcome, None);
                if failures.count() > 0 && exit_code(outcome) == 1 && !stops() {
                    rig.say(
                        LineWeight::Error,
                        &format!("it has failed after {} restarts in a row, and stays as it is", failures.count()),
                    );
                }
                return;
            };
            rig.over(outcome, Some(delay));
            let (delay_s, count) = (delay.as_secs_f64(), failures.count());
            rig.say(
                LineWeight::Warning,
                &format!("it has failed: restart {count} of {} comes in {delay_s} s", policy.most),
            );
            let failed = Instant::now();
            while failed.elapsed() < delay && !stops() {
                thread::sleep(LOOK);
            }
            if let Some(next) = self.begin_reloaded(rig, outcome) {
                (definition, options) = next;
                failures = Failures::default();
                continue;
            }
            if stops() {
                self.is_over(rig);
                return rig.give_up();
            }
            options = rig.begin_again(&definition, failures.count());
        }
    }

    /// The definition with which a rig runs on when its run is over, if it has another one now and is to go on.
    fn begin_reloaded(
        &self,
        rig: &Arc<ManagedRig>,
        outcome: Result<&[Finished], &Error>,
    ) -> Option<(Definition, Options)> {
        if self.ends.load(SeqCst) || !rig.running()?.reloads() {
            return None;
        }
        rig.over(outcome, Some(Duration::ZERO));
        rig.begin_reloaded()
    }

    /// The rig is no longer wanted, since its run is over; whoever ends the daemon wants it as much as before.
    fn is_over(&self, rig: &ManagedRig) {
        if !self.ends.load(SeqCst) {
            let _one_after_the_other = self.changing();
            self.is_wanted_no_more(rig, "that its run is over");
        }
    }

    /// Marks the rig as no longer wanted. `what`: the consequence, for a warning if the store cannot be written. Precondition:
    /// the caller holds `changing`.
    fn is_wanted_no_more(&self, rig: &ManagedRig, what: &str) {
        if let Some(definition) = rig.want(None)
            && let Err(error) = self.store.keep(rig.name(), &definition)
        {
            let text =
                format!("{what} cannot be written to the state folder, so the next daemon will start it: {error}");
            rig.say(LineWeight::Warning, &text);
        }
    }

    /// The share of the machine of rigs that run, or are about to.
    fn running(&self) -> Vec<RunningRig> {
        self.list().iter().filter_map(|rig| rig.running()?.share).collect()
    }

    /// Prepares a run and starts it, beside the shares of the other rigs that run. Nobody waits for that.
    fn start_beside(&self, rig: &ManagedRig, options: &Options, events: &EventSink) -> Result<Session, Error> {
        let _permit = self.permit(options)?;
        let (cpus, builds, room) = (Some(self.cpus.clone()), self.builds.clone(), Some(self.room.clone()));
        let options = self.orphans.with(Options { cpus, builds, room, claims_cores: true, ..options.clone() });
        let mut others = Others { rigs: self, own: rig, beside: Vec::new(), turn: None };
        let prepared = vecud_host::open(&options, events)?.plan(&options, &mut others)?;
        let session = Session::start(prepared, events.clone(), |_| ())?;
        rig.has_started(&session);
        self.settle();
        Ok(session)
    }

    /// Moves the threads of this process off the cores of rigs that run, and back to those of rigs that do not any more.
    fn settle(&self) {
        let _one_after_the_other = self.moving.lock().unwrap_or_else(PoisonError::into_inner);
        cores::settle(&self.cpus, &self.running());
    }

    /// Starts the wanted rigs, as after a start of the daemon; before that, runs that were cut off get a report.
    pub fn resume(self: &Arc<Rigs>) {
        let mut rigs = self.list();
        // Nobody waits for the report of another one.
        rigs.sort_by_cached_key(|rig| !rig.runs.cut_off().is_empty());
        for rig in rigs {
            if self.ends.load(SeqCst) {
                return;
            }
            for folder in rig.runs.cut_off() {
                if let Err(said) = rebuild(&folder) {
                    let text =
                        format!("{}: of this run, which was cut off, there is no report: {said}", folder.display());
                    self.log.warn_of(rig.name(), &text);
                }
            }
            let Some(wanted) = rig.wanted() else { continue };
            if let Err(refusal) = self.start(rig.name(), wanted) {
                self.log.warn_of(rig.name(), &format!("what is wanted of it is not done: {refusal}"));
            }
        }
    }

    /// Asks for the end of a rig's run, in good order, or `now` by force. Whatever becomes of the disk, a rig can be stopped: nothing is
    /// waited for, and [`Rigs::is_stopped`] writes it down.
    pub fn stop(&self, name: &RigName, now: bool) -> Result<Arc<ManagedRig>, RequestError> {
        let rig = self.find(name)?;
        if rig.running().is_none() {
            return Err(RequestError::State(Box::new(rig.status()), "it does not run"));
        }
        rig.stop(now);
        Ok(rig)
    }

    /// Writes down that a rig is not to run any more, once somebody has asked for the end of its run.
    pub fn is_stopped(&self, rig: &Arc<ManagedRig>) {
        let _one_after_the_other = self.changing();
        // Meanwhile somebody may have started it anew, or deleted it.
        let is_over = rig.running().is_none_or(|run| run.stop.is_asked());
        if is_over && self.find(rig.name()).is_ok_and(|own| Arc::ptr_eq(&own, rig)) {
            self.is_wanted_no_more(rig, "that it is to stop");
        }
    }

    /// Has a rig be idle, whatever it is doing: the run that goes on comes to its end. `true`: one does, and [`Rigs::is_stopped`] writes
    /// that down.
    pub fn reset(&self, name: &RigName) -> Result<(Arc<ManagedRig>, bool), RequestError> {
        let rig = self.find(name)?;
        let runs = rig.running().is_some();
        rig.stop(false);
        Ok((rig, runs))
    }

    /// Reads the files of rigs again, and reports their errors. A running rig whose file has changed restarts, once the file is checked;
    /// else its run goes on. A rig that could not begin before, and could now, is idle again. Blocks for as long as the checks take.
    pub fn reload(&self) {
        for rig in self.list() {
            let Some(definition) = rig.definition().filter(|own| matches!(own.source, RigSource::Path(_))) else {
                continue;
            };
            if rig.has_changed() {
                match self.put(rig.name(), definition.source, definition.rights, true) {
                    Ok(_) => self.log.of(rig.name(), "its file has changed: it runs anew"),
                    Err(refusal) => self.tell_mistakes(&rig, refusal),
                }
            } else if rig.running().is_none() {
                let options = ManagedRig::options(&definition, rig.name(), &self.folder);
                match self.check(options) {
                    Ok(_) if rig.status().could_not_begin() => rig.define(definition),
                    Ok(_) => (),
                    Err(_) if self.checks.is_asked() => return,
                    Err(error) => self.tell_mistakes(&rig, RequestError::Invalid(mistakes(&error))),
                }
            }
        }
    }

    /// Says why the file of a rig is not taken over, each mistake by itself.
    fn tell_mistakes(&self, rig: &ManagedRig, refusal: RequestError) {
        match refusal {
            RequestError::Invalid(mistakes) => {
                mistakes.iter().for_each(|own| self.log.warn_of(rig.name(), &own.to_string()))
            }
            refusal => self.log.warn_of(rig.name(), &format!("its file is not taken over: {refusal}")),
        }
    }

    /// No further check comes to its end; for those who wait for one, before the rigs end.
    pub fn end_checks(&self) {
        self.checks.ask();
    }

    /// Ends all rigs: at once as soon as the daemon is asked a second time. Their wanted state stays. `waits` is called again
    /// and again meanwhile.
    pub fn end(&self, stop: &StopToken, waits: impl Fn()) {
        self.ends.store(true, SeqCst);
        loop {
            let running: Vec<_> = self.list().iter().filter_map(|rig| rig.running()).collect();
            if running.is_empty() {
                return;
            }
            for run in &running {
                run.stop.ask_for(stop.times().clamp(1, 2));
            }
            waits();
            thread::sleep(LOOK);
        }
    }
}

/// The rigs beside one that is being planned.
struct Others<'a> {
    rigs: &'a Rigs,
    own: &'a ManagedRig,
    /// The other rigs that the plan knows of.
    beside: Vec<RunningRig>,
    /// Held while no other rig may take anything before it.
    turn: Option<MutexGuard<'a, ()>>,
}

impl<'a> Others<'a> {
    fn turn(&mut self) -> MutexGuard<'a, ()> {
        self.turn.take().unwrap_or_else(|| self.rigs.taking.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn now(&self) -> Vec<RunningRig> {
        let mut running = self.rigs.running();
        running.retain(|rig| rig.name != self.own.name().as_str());
        running
    }
}

impl OtherRigs for Others<'_> {
    /// A start that has lost the machine to others time and again makes them wait, once.
    fn running(&mut self, is_last: bool) -> Vec<RunningRig> {
        self.turn = is_last.then(|| self.turn());
        self.beside = self.now();
        self.beside.clone()
    }

    fn take(&mut self, plan: &Plan) -> bool {
        let _one_after_the_other = self.turn();
        let own = RunningRig::of(self.own.name().as_str(), plan);
        // On other cores nothing is another one by them.
        let is_late = self.now().iter().any(|other| own.meets(other) && !self.beside.contains(other));
        if !is_late {
            self.own.takes(own);
        }
        !is_late
    }
}

/// Writes the report of a run that was cut off, in a process of its own that ends with this one: the process reads the remains of
/// recordings.
fn rebuild(folder: &Folder) -> Result<(), String> {
    let mut report = Command::new("/proc/self/exe");
    // The folder is there, whatever has its name.
    report.args(["report", "."]).current_dir(folder.way()).stdin(Stdio::null());
    process::keep_together(&mut report, None);
    match report.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Err(error.to_string()),
    }
}
