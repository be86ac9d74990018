//! One running rig, in a thread that owns it: any number of sessions can run in a process. A session has no terminal,
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

/// The work of a session from beginning to end; the argument tells whether it has a thread of its own.
type Work = Box<dyn FnOnce(bool) -> Outcome + Send>;

/// Handle for requests to a session, from any number of threads. Remains valid when the session is over.
#[derive(Clone)]
pub struct SessionHandle {
    shared: Arc<SharedRig>,
    control: Control,
}

impl SessionHandle {
    /// Access for setting values during the run.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// Requests the end: the first time in good order, the second time at once.
    pub fn stop(&self) {
        self.shared.prepared.options.stop.ask();
    }

    /// Requests a report of the run, which continues. It appears in the output folder a moment later, with a message;
    /// before the first activation, it waits for that.
    pub fn report(&self) {
        self.shared.want_report(true);
    }

    /// Completes all released activations and releases no others (semantics S26). Waits until that is done.
    pub fn pause(&self) -> Result<(), PauseError> {
        self.shared.pause()
    }

    /// Continues a paused run where its simulation time stands. Waits until it does.
    pub fn resume(&self) -> Result<(), PauseError> {
        self.shared.resume()
    }

    /// Present state of the session.
    pub fn state(&self) -> SessionState {
        self.shared.state()
    }

    /// Present figures of the clocks.
    pub fn snapshot(&self) -> Live {
        self.shared.live()
    }

    /// Resets the figures of [`SessionHandle::clocks`]. The report of the run keeps everything.
    pub fn reset_clocks(&self) {
        self.shared.begin_anew();
    }

    /// Figures of the clocks so far, as in `report.json`, or since [`SessionHandle::reset_clocks`].
    pub fn clocks(&self) -> Vec<ClockResult> {
        self.shared.clocks()
    }

    /// Counters of the run so far, cheap enough to be read often.
    pub fn totals(&self) -> Totals {
        self.shared.totals()
    }

    /// The plan of the rig that runs.
    pub fn plan(&self) -> &Plan {
        self.shared.plan()
    }

    /// Settings of the rig for a daemon.
    pub fn daemon(&self) -> RigDaemon {
        self.shared.prepared.daemon
    }

    /// Recorded and watched variables: their newest values are available if the rig is prepared for that
    /// ([`Options::control`](super::Options::control)).
    pub fn shown(&self) -> &[ShownVariable] {
        self.shared.shown()
    }

    /// Requests the newest values of these columns; the session's thread calls `answer` a moment later. It is dropped
    /// if the session is over.
    pub fn newest(&self, columns: Vec<SignalId>, answer: impl FnOnce(Vec<NewestValue>) + Send + 'static) {
        self.shared.questions.ask(Question::Newest(columns, Box::new(answer)));
    }

    /// Shows the newest row of samples, if there is one, and each further one to a watcher. It is dropped when it wants
    /// no more rows, and with the run.
    pub fn watch_rows(&self, watcher: Box<dyn RowWatcher>) {
        self.shared.questions.ask(Question::Rows(watcher));
    }

    /// Activity of the session's thread while it watches a run; `None`: it prepares a run or writes a report, which may
    /// take any time.
    pub fn looks(&self) -> Option<Looks> {
        self.shared.looks()
    }

    /// The process that holds the FMUs, if there is one.
    pub fn runner(&self) -> Option<u32> {
        self.shared.runner()
    }
}

impl fmt::Debug for SessionHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionHandle").field("rig", &self.plan().rig).field("state", &self.state()).finish()
    }
}

/// A running rig, with one run or several. Dropping the session does not end it.
pub struct Session {
    handle: SessionHandle,
    /// `None`: the system could not start another thread.
    thread: Option<JoinHandle<Outcome>>,
    /// Empty once the work was taken.
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
    /// Starts a rig. `begin` receives the access for setting values, before anything is started: values set by it hold
    /// before the first activation. Precondition for setting: the rig was prepared for it
    /// ([`Options::control`](super::Options::control)). With several runs, a value goes to the run that is active then.
    ///
    /// The runner exists when this returns, and ends with the session's thread in every case. Where the system cannot
    /// start another thread, all work is done in [`Session::wait`].
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

    /// Makes a handle for other threads.
    pub fn handle(&self) -> SessionHandle {
        self.handle.clone()
    }

    /// Waits for the end. An error means that there was no run and nothing is left behind.
    pub fn wait(self) -> Outcome {
        match self.thread {
            Some(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            None => take(&self.work)(false),
        }
    }

    /// Waits for the end, and calls `meanwhile` at intervals: midway between two releases, like the session's own
    /// checks.
    pub fn wait_with(self, every: Duration, mut meanwhile: impl FnMut(&Session)) -> Outcome {
        let is_over = || self.over.recv_timeout(self.shared.until_quiet(every)) != Err(RecvTimeoutError::Timeout);
        while self.thread.is_some() && !is_over() {
            meanwhile(&self);
        }
        self.wait()
    }
}

fn take(work: &Mutex<Option<Work>>) -> Work {
    work.lock().unwrap_or_else(PoisonError::into_inner).take().expect("it is done once")
}
