//! The data that FMU code's calls find about their thread: the host that serves it, and the call that it is in.
//!
//! `lockPreemption` and `unlockPreemption` have no argument, so the thread is all that identifies them. The thread-local
//! is constant-initialised and has no destructor: reading it allocates nothing, registers nothing, and still works while a
//! thread ends. It is looked up once per call.

use super::environment::Environment;
use super::function::Function;
use super::shown::{CallIndicator, FunctionCode};
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use vecud_linux::float_control;

/// The FMU's description of a point in the midst of a step (`fmi3IntermediateUpdateCallback`; FMI 3.0.2, 4.2.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intermediate {
    /// `intermediateUpdateTime`, in the FMU's unit of time; unchecked.
    pub time: f64,
    /// `intermediateVariableSetRequested`: inputs that were registered are to be set.
    pub set_requested: bool,
    /// `intermediateVariableGetAllowed`: variables that were registered may be read, before any is set.
    pub get_allowed: bool,
    /// `intermediateStepFinished`: what is read is valid; else it may be taken back.
    pub step_finished: bool,
}

/// The wishes of a host in the midst of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InStep {
    /// Values are set or read there.
    pub exchanges: bool,
    /// The step is to return early, where it can.
    pub returns_early: bool,
}

/// Words that are all 0 as long as a host wants nothing in the midst of steps.
pub type Wishes = [&'static AtomicU64; 2];

/// The requests of FMU code to the thread that it runs on. One for each partition's thread, and one for the main thread.
///
/// Called on that thread only, on the hot path: no allocation, no lock without priority inheritance.
pub trait ThreadHost {
    /// The FMU that is being called on this thread says that its clocks changed. In the draft it says when, too:
    /// `intermediateUpdateTime`, unchecked.
    fn clock_update(&self, time: Option<f64>);
    /// The FMU must not be preempted by its own partitions from here.
    fn lock_preemption(&self);
    /// The section that [`lock_preemption`](ThreadHost::lock_preemption) began is over: the thread may be preempted again.
    fn unlock_preemption(&self);
    /// The host's wishes in the midst of the step that is made on this thread. Does no floating-point arithmetic.
    fn in_step(&self) -> InStep {
        InStep { exchanges: false, returns_early: false }
    }
    /// The word that shows without a call whether the host wants nothing [in a step](ThreadHost::in_step); `None`: it must be
    /// called.
    fn wishes(&'static self) -> Option<&'static Wishes> {
        None
    }
    /// The FMU whose step is made on this thread has come to a point in the midst of it. Only called if the host
    /// [exchanges](InStep::exchanges) values there.
    fn intermediate_update(&self, _update: &Intermediate) {}
    /// C has returned `fmi3Warning` from this.
    fn warned(&self, function: Function);
    /// The place that shows the function that this thread is in, if there is one.
    fn shown(&'static self) -> Option<&'static CallIndicator> {
        None
    }
}

/// The call that a thread is inside of.
#[derive(Clone, Copy)]
pub(super) struct OngoingCall {
    /// The environment of the instance whose code runs; null when outside. Compared, never dereferenced.
    pub(super) environment: *const Environment,
    /// What.
    pub(super) called: FunctionCode,
}

const OUTSIDE: OngoingCall = OngoingCall { environment: ptr::null(), called: FunctionCode::NOTHING };

struct Thread {
    host: Cell<Option<&'static dyn ThreadHost>>,
    /// The host's.
    shown: Cell<Option<&'static CallIndicator>>,
    /// The host's.
    wishes: Cell<Option<&'static Wishes>>,
    inside: Cell<OngoingCall>,
}

thread_local! {
    static THREAD: Thread = const {
        Thread { host: Cell::new(None), shown: Cell::new(None), wishes: Cell::new(None), inside: Cell::new(OUTSIDE) }
    };
}

/// State of the calling thread. A pointer, since a reference may not leave the closure, and the compiler does not
/// inline closures that do more than this.
#[inline(always)]
fn own() -> *const Thread {
    THREAD.with(ptr::from_ref)
}

/// Sets the host that serves FMU code on the calling thread from now on; returns the one before. Precondition: the thread is
/// in no call. From here on the thread has the default control words of floating point whenever it is not in FMU code.
#[inline(always)] // the host's type is known here
pub fn set_thread_host(host: Option<&'static dyn ThreadHost>) -> Option<&'static dyn ThreadHost> {
    float_control::establish_defaults();
    replace_thread_host(host)
}

/// [`set_thread_host`] on a thread that has one.
#[inline(always)] // the host's type is known here
pub fn change_thread_host(host: &'static dyn ThreadHost) {
    debug_assert_eq!(float_control::default_fp_control(), None);
    replace_thread_host(Some(host));
}

#[inline(always)]
fn replace_thread_host(host: Option<&'static dyn ThreadHost>) -> Option<&'static dyn ThreadHost> {
    let (shown, wishes) = (host.and_then(ThreadHost::shown), host.and_then(ThreadHost::wishes));
    // SAFETY: as in `visit`.
    let thread = unsafe { &*own() };
    thread.shown.set(shown);
    thread.wishes.set(wishes);
    thread.host.replace(host)
}

/// The host that serves FMU code on the calling thread.
#[inline]
pub fn thread_host() -> Option<&'static dyn ThreadHost> {
    THREAD.with(|thread| thread.host.get())
}

/// Undoes the count of the last visit on this thread: the FMU has no such function.
#[cold]
pub(super) fn visited_nothing(function: Function) {
    if let Some(shown) = THREAD.with(|thread| thread.shown.get()) {
        shown.take_back(function);
    }
}

#[inline]
pub(super) fn inside() -> OngoingCall {
    THREAD.with(|thread| thread.inside.get())
}

/// Whether the thread is in a step of the instance with this environment, and its host is seen to want nothing in the midst of
/// it.
#[inline]
pub(super) fn is_in_calm_step(environment: *const Environment) -> bool {
    // SAFETY: as in `visit`.
    let thread = unsafe { &*own() };
    let inside = thread.inside.get();
    inside.called == FunctionCode::function(Function::DoStep)
        && ptr::eq(inside.environment, environment)
        && thread.wishes.get().is_some_and(|wishes| wishes.iter().all(|word| word.load(Relaxed) == 0))
}

/// One call into FMU code, from just before to just after. Calls nest, since callbacks may call back.
#[inline(always)] // what `c` captures is kept in registers then
pub(super) fn visit<T>(environment: *const Environment, function: Function, c: impl FnOnce() -> T) -> T {
    // SAFETY: the thread-local of the calling thread, which has no destructor and which nothing can hold an exclusive
    // reference to: it lives as long as the thread, so until this returns.
    let thread = unsafe { &*own() };
    let (outer, shown) = (thread.inside.get(), thread.shown.get());
    thread.inside.set(OngoingCall { environment, called: FunctionCode::function(function) });
    if let Some(shown) = shown {
        shown.enter(function);
    }
    debug_assert_eq!(float_control::default_fp_control(), None);
    let result = c();
    // Whatever the callee left behind is not for our own code. (FMU code around this call, which is in a callback then,
    // gets its own control word back when the callback returns.)
    float_control::establish_defaults();
    thread.inside.set(outer);
    if let Some(shown) = shown {
        shown.show(outer.called);
    }
    result
}

/// Calls of one function on one thread, one after the other, with nothing else of FMU code in between: what [`visit`] looks up before each
/// and restores after it is looked up before the first and restored after the last.
pub(super) struct Visits {
    thread: *const Thread,
    called: FunctionCode,
}

/// The instance whose code a visit runs, and the host that serves it.
#[derive(Clone, Copy)]
pub(super) struct Visited {
    pub(super) environment: *const Environment,
    /// Serves it.
    pub(super) host: &'static dyn ThreadHost,
    /// The host's.
    pub(super) shown: &'static CallIndicator,
    /// The host's.
    pub(super) wishes: Option<&'static Wishes>,
}

impl Visits {
    /// The calling thread, which has a host, will visit this function.
    pub(super) fn of(function: Function) -> Visits {
        debug_assert!(inside().environment.is_null() && thread_host().is_some());
        debug_assert_eq!(float_control::default_fp_control(), None);
        Visits { thread: own(), called: FunctionCode::function(function) }
    }

    /// One call. The caller shows it, if it is shown.
    #[inline(always)] // as `visit`
    pub(super) fn visit<T>(&self, visited: &Visited, c: impl FnOnce() -> T) -> T {
        // SAFETY: as in `visit`; this is on the thread that it was made on, since a pointer is not `Send`.
        let thread = unsafe { &*self.thread };
        thread.host.set(Some(visited.host));
        thread.shown.set(Some(visited.shown));
        thread.wishes.set(visited.wishes);
        thread.inside.set(OngoingCall { environment: visited.environment, called: self.called });
        let result = c();
        float_control::establish_defaults();
        result
    }
}

impl Drop for Visits {
    fn drop(&mut self) {
        // SAFETY: as in `visit`.
        unsafe { &*self.thread }.inside.set(OUTSIDE);
    }
}
