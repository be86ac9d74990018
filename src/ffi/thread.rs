//! What FMU code finds out about the thread it runs on: who serves it, and inside which call it is.
//!
//! `lockPreemption` and `unlockPreemption` have no argument, so the thread is all that identifies them. The thread-locals
//! are constant-initialised and have no destructor: reading them allocates nothing, registers nothing, and still works
//! while a thread ends.

use super::environment::Environment;
use super::function::Function;
use super::status::Status;
use crate::sys::float_control;
use std::cell::Cell;
use std::ptr;

/// What FMU code running on a thread may ask of it. One for each partition's thread, and one for the main thread.
///
/// Called on that thread only, on the hot path: no allocation, no lock without priority inheritance.
pub trait ThreadHost {
    /// The FMU that is being called on this thread says that its clocks changed. In the draft it says when, too:
    /// `intermediateUpdateTime`, unchecked.
    fn clock_update(&self, time: Option<f64>);
    /// The FMU must not be preempted by its own partitions from here.
    fn lock_preemption(&self);
    /// It may be again.
    fn unlock_preemption(&self);
    /// C is about to be entered.
    fn calling(&self, function: Function);
    /// C has returned this (functions without a status: [`Status::Ok`]; NULL instead of an instance: [`Status::Error`]).
    fn returned(&self, function: Function, status: Status);
}

/// The call that a thread is inside of.
#[derive(Clone, Copy)]
pub(super) struct Inside {
    /// Whose; null when outside. Compared, never dereferenced.
    pub(super) environment: *const Environment,
    /// What.
    pub(super) function: Function,
}

const OUTSIDE: Inside = Inside { environment: ptr::null(), function: Function::GetVersion };

thread_local! {
    static HOST: Cell<Option<&'static dyn ThreadHost>> = const { Cell::new(None) };
    static INSIDE: Cell<Inside> = const { Cell::new(OUTSIDE) };
}

/// Says who serves FMU code on the calling thread from now on; returns who did before.
pub fn set_thread_host(host: Option<&'static dyn ThreadHost>) -> Option<&'static dyn ThreadHost> {
    HOST.replace(host)
}

/// Who serves FMU code on the calling thread.
#[inline]
pub fn thread_host() -> Option<&'static dyn ThreadHost> {
    HOST.get()
}

#[inline]
pub(super) fn inside() -> Inside {
    INSIDE.get()
}

/// The function of FMU code that the calling thread is inside of, if any: the innermost one.
pub fn current_function() -> Option<Function> {
    let inside = INSIDE.get();
    (!inside.environment.is_null()).then_some(inside.function)
}

/// One call into FMU code, from just before to just after. Calls nest, since callbacks may call back.
pub(super) struct Visit {
    outer: Inside,
    function: Function,
    host: Option<&'static dyn ThreadHost>,
}

impl Visit {
    #[inline]
    pub(super) fn begin(environment: *const Environment, function: Function) -> Visit {
        let host = thread_host();
        if let Some(host) = host {
            host.calling(function);
        }
        let outer = INSIDE.replace(Inside { environment, function });
        float_control::establish_defaults();
        Visit { outer, function, host }
    }

    #[inline]
    pub(super) fn end(self, status: Status) {
        // Whatever the callee left behind is not for our own code. (FMU code around this call, which is in a callback
        // then, gets its own control word back when the callback returns.)
        float_control::establish_defaults();
        INSIDE.set(self.outer);
        if let Some(host) = self.host {
            host.returned(self.function, status);
        }
    }
}
