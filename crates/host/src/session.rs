//! One rig that runs, in a thread that owns it: any number of sessions live side by side in a process. A session has no terminal,
//! installs no signal handler, and changes nothing of the thread that starts it.

use super::finished::Finished;
use super::questions::{NewestValue, Question};
use super::shared::{Looks, SharedRig};
use super::shown::ShownVariable;
use super::totals::Totals;
use super::watch::supervise;
use super::{Control, Error, EventSink, PauseError, Prepared, SessionState};
use crossbeam::channel::{Receiver, RecvTimeoutError, bounded};
use std::fmt;
use std::ops::Deref;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use vecud_plan::rig::RigDaemon;
use vecud_plan::{Plan, SignalId};
use vecud_record::RowWatcher;
use vecud_report::{ClockResult, Live};

/// An error means that there was no run and nothing is left behind.
type Outcome = Result<Vec<Finished>, Error>;

/// What a session does from its beginning to its end; told whether it has a thread of its own.
type Work = Box<dyn FnOnce(bool) -> Outcome + Send>;

/// What may be asked of a session, for as many threads as want it. Stays when the session is over.
#[derive(Clone)]
pub struct SessionHandle {
    shared: Arc<SharedRig>,
    control: Control,
}

impl SessionHandle {
    /// What sets values while it runs.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// Asks for the end: once for one in good order, twice for one at once.
    pub fn stop(&self) {
        self.shared.prepared.options.stop.ask();
    }

    /// Asks for a report of the run as it is, which goes on. It is in the output folder a moment later, and a message says so;
    /// before there are partitions that are activated, it waits for them.
    pub fn report(&self) {
        self.shared.want_report(true);
    }

    /// Lets come to its end what was released, and releases nothing more (semantics S26). Waits until that is so.
    pub fn pause(&self) -> Result<(), PauseError> {
        self.shared.pause()
    }

    /// A run that pauses goes on where its simulation time stands. Waits until it does.
    pub fn resume(&self) -> Result<(), PauseError> {
        self.shared.resume()
    }

    /// How far it is.
    pub fn state(&self) -> SessionState {
        self.shared.state()
    }

    /// The figures of its clocks as they are now.
    pub fn snapshot(&self) -> Live {
        self.shared.live()
    }

    /// Has [`SessionHandle::clocks`] begin anew. The report of the run keeps everything.
    pub fn reset_clocks(&self) {
        self.shared.begin_anew();
    }

    /// What its clocks have measured so far, as `report.json` will have it, or since [`SessionHandle::reset_clocks`].
    pub fn clocks(&self) -> Vec<ClockResult> {
        self.shared.clocks()
    }

    /// What the run has counted so far, for whoever asks often.
    pub fn totals(&self) -> Totals {
        self.shared.totals()
    }

    /// The plan of the rig that runs.
    pub fn plan(&self) -> &Plan {
        self.shared.plan()
    }

    /// What the rig wants of a daemon beside running it.
    pub fn daemon(&self) -> RigDaemon {
        self.shared.prepared.daemon
    }

    /// The variables that are recorded, and those that are only watched: their newest values are known, if the rig is prepared for
    /// that ([`Options::control`](super::Options::control)).
    pub fn shown(&self) -> &[ShownVariable] {
        self.shared.shown()
    }

    /// Asks for the newest values of these columns; a moment later the session's thread has the `answer`. It is dropped where nobody
    /// gives it any more, since the session is over.
    pub fn newest(&self, columns: Vec<SignalId>, answer: impl FnOnce(Vec<NewestValue>) + Send + 'static) {
        self.shared.questions.ask(Question::Newest(columns, Box::new(answer)));
    }

    /// Has somebody look at the newest row of samples, if there is one, and at each further one. It is dropped when it wants no more, and
    /// with the run.
    pub fn watch_rows(&self, watcher: Box<dyn RowWatcher>) {
        self.shared.questions.ask(Question::Rows(watcher));
    }

    /// How its thread gets on while it watches a run; `None`: it prepares one, or writes the report of one, which takes as long as
    /// it takes.
    pub fn looks(&self) -> Option<Looks> {
        self.shared.looks()
    }

    /// The process that holds its FMUs, when there is one.
    pub fn runner(&self) -> Option<u32> {
        self.shared.runner()
    }
}

impl fmt::Debug for SessionHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionHandle").field("rig", &self.plan().rig).field("state", &self.state()).finish()
    }
}

/// A rig that runs, once or as often as its options say. Dropping it does not end it.
pub struct Session {
    handle: SessionHandle,
    /// `None`: the system had no further thread to give.
    thread: Option<JoinHandle<Outcome>>,
    /// Empty when somebody does it.
    work: Arc<Mutex<Option<Work>>>,
    /// Disconnected when the session is over.
    over: Receiver<()>,
}

impl Deref for Session {
    type Target = SessionHandle;

    fn deref(&self) -> &SessionHandle {
        &self.handle
    }
}

impl Session {
    /// Starts a rig. `begin` gets what sets values while it runs: before anything is started, so what is sent then is set
    /// before the first activation. The rig must be prepared for that ([`Options::control`](super::Options::control)), or
    /// nothing can be set. Of several runs the one that comes to it sets a value.
    ///
    /// The runner is there when this returns, and ends with the session's thread, whatever becomes of that. Where the system
    /// has no further thread to give, all of it happens in [`Session::wait`].
    pub fn start(prepared: Prepared, events: EventSink, begin: impl FnOnce(&Control)) -> Result<Session, Error> {
        let shared = Arc::new(SharedRig::create(prepared)?);
        let control = Control::new(shared.clone());
        begin(&control);
        let (started, over) = bounded::<()>(1);
        let work: Work = {
            let (shared, control) = (shared.clone(), control.clone());
            Box::new(move |has_thread| {
                let tell = || {
                    let _nobody_waits = started.send(());
                };
                let result = supervise(&shared, &control, &events, has_thread, &tell);
                shared.prepared.claims.release();
                control.close();
                shared.questions.close();
                result
            })
        };
        let work = Arc::new(Mutex::new(Some(work)));
        let theirs = work.clone();
        let thread = thread::Builder::new().name("vecud.session".to_owned()).spawn(move || take(&theirs)(true)).ok();
        let session = Session { handle: SessionHandle { shared, control }, thread, work, over };
        match session.thread.is_some() && session.over.recv().is_err() {
            true => Err(session.wait().expect_err("nothing has run without a runner")),
            false => Ok(session),
        }
    }

    /// What others may ask of it.
    pub fn handle(&self) -> SessionHandle {
        self.handle.clone()
    }

    /// Waits for its end. An error means that there was no run and nothing is left behind.
    pub fn wait(self) -> Outcome {
        match self.thread {
            Some(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            None => take(&self.work)(false),
        }
    }

    /// Waits for its end, and calls `meanwhile` every so often: in the midst between two releases, as its own thread looks around.
    pub fn wait_with(self, every: Duration, mut meanwhile: impl FnMut(&Session)) -> Outcome {
        let is_over = || self.over.recv_timeout(self.shared.on_to_a_lull(every)) != Err(RecvTimeoutError::Timeout);
        while self.thread.is_some() && !is_over() {
            meanwhile(&self);
        }
        self.wait()
    }
}

fn take(work: &Mutex<Option<Work>>) -> Work {
    work.lock().unwrap_or_else(PoisonError::into_inner).take().expect("it is done once")
}
