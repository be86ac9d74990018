//! One instance behind all its handles: the pointer, the rules for calls, its end.

use super::abi::{DraftFunctions, Fmi3Functions, Functions};
use super::arguments::References;
use super::environment::{Environment, Health, ReturnedCall};
use super::function::Function;
use super::library::Library;
use super::state_pointer::{StatePointer, StateSupport, States};
use super::status::{Failure, Outcome, Status};
use super::thread::{thread_host, visit, visited_nothing};
use super::types::{NOT_CALLED, RawInstance, RawReference, RawState, RawStatus};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;
use vecud_description::{Interface, ValueReference};
use vecud_linux::prefetch::prefetch;

/// The caller on whose behalf a call is made, so that a failure can name it.
#[derive(Clone, Copy, Default)]
pub(super) struct CallContext {
    pub(super) clock: Option<ValueReference>,
    pub(super) time: Option<f64>,
}

impl Failure {
    /// A failure of a call that did not know what it was made for.
    #[cold]
    pub(super) fn of(self, CallContext { clock, time }: CallContext) -> Failure {
        Failure { clock, time, ..self }
    }
}

/// An `fmi3Instance`. Rust never looks behind the pointer.
struct Handle(RawInstance);

// SAFETY: the pointer is only handed back to the FMU. Which threads may do that when is decided by the handles: `Instance`,
// `Partition` and what they lend are `Send` but not `Sync`, and FMI demands no thread affinity, so moving them is fine.
unsafe impl Send for Handle {}
// SAFETY: a `Handle` is shared by the partitions of one instance, each of which calls C from its own thread. Scheduled
// Execution is defined for that: partitions preempt each other in the midst of calls. It wants them on one core by priority,
// not in parallel; that is the contract of `Instance::into_parts`, and no Rust memory depends on it.
unsafe impl Sync for Handle {}

/// The data that all handles of an instance share. Dropping the last handle ends the instance.
pub(super) struct SharedInstance {
    handle: Handle,
    pub(super) environment: Arc<Environment>,
    pub(super) library: Arc<Library>,
    /// The interface type as which it was made.
    pub(super) interface: Interface,
    /// Parts handed out and not dropped.
    pub(super) parts: AtomicUsize,
    /// Copies of its state that were not freed.
    pub(super) states: Mutex<States>,
    /// The functions of states that the FMU offers.
    pub(super) support: OnceLock<StateSupport>,
    /// For Model Exchange: whether it is in Event Mode, or, as long as it is initialised, in Continuous-Time Mode.
    in_event_mode: AtomicBool,
    /// The first call after which nothing but its end may follow.
    failure: OnceLock<Failure>,
}

impl SharedInstance {
    pub(super) fn new(
        raw: RawInstance,
        environment: Arc<Environment>,
        library: Arc<Library>,
        interface: Interface,
    ) -> SharedInstance {
        SharedInstance {
            handle: Handle(raw),
            environment,
            library,
            interface,
            parts: AtomicUsize::new(0),
            states: Mutex::default(),
            support: OnceLock::new(),
            in_event_mode: AtomicBool::new(false),
            failure: OnceLock::new(),
        }
    }

    /// C's pointer to the instance.
    pub(super) fn raw(&self) -> RawInstance {
        self.handle.0
    }

    /// Whether an instance for Model Exchange is in Event Mode.
    #[inline]
    pub(super) fn is_in_event_mode(&self) -> bool {
        self.in_event_mode.load(Ordering::Acquire)
    }

    pub(super) fn set_in_event_mode(&self, is: bool) {
        self.in_event_mode.store(is, Ordering::Release);
    }

    /// Asks for the memory that every call looks at.
    #[inline]
    pub(super) fn prefetch(&self) {
        prefetch(&*self.environment);
        self.library.prefetch();
    }

    /// Whether the instance may be called.
    #[inline]
    pub(super) fn health(&self) -> Health {
        match self.environment.health() {
            Health::Freed => Health::Freed,
            _ if self.library.is_fatal() => Health::Fatal,
            health => health,
        }
    }

    /// [`SharedInstance::health`] is [`Health::Healthy`], and nobody is told of calls: what is asked before every one.
    #[inline]
    pub(super) fn is_healthy(&self) -> bool {
        self.environment.is_healthy() & !self.library.is_fatal()
    }

    /// Calls a function that returns a status, unless the instance is beyond being called, and draws the consequences.
    #[inline(always)] // as `visit`
    pub(super) fn call(
        &self,
        function: Function,
        cause: CallContext,
        c: impl FnOnce(&Functions, RawInstance) -> RawStatus,
    ) -> Result<Outcome, Failure> {
        self.call_with(function, cause, (), |(), functions, instance| c(functions, instance), |(), _| String::new())
    }

    /// [`SharedInstance::call`] with data that the function reads or writes. `arguments`: its arguments, and, after a call that went well
    /// (`true`), its results; asked for only by a host that wants to hear of it.
    #[inline(always)] // as `visit`
    pub(super) fn call_with<S>(
        &self,
        function: Function,
        cause: CallContext,
        mut state: S,
        c: impl FnOnce(&mut S, &Functions, RawInstance) -> RawStatus,
        arguments: impl Fn(&S, bool) -> String,
    ) -> Result<Outcome, Failure> {
        if !self.is_healthy() {
            return self.call_watched(function, cause, state, c, arguments);
        }
        self.enter(function, cause, |functions, instance| c(&mut state, functions, instance))
    }

    /// [`SharedInstance::call`] for an instance that may not be called any more, or whose host is told of each call.
    #[cold]
    fn call_watched<S>(
        &self,
        function: Function,
        cause: CallContext,
        state: S,
        c: impl FnOnce(&mut S, &Functions, RawInstance) -> RawStatus,
        arguments: impl Fn(&S, bool) -> String,
    ) -> Result<Outcome, Failure> {
        if self.health() != Health::Healthy {
            return Err(self.refused(function, cause.clock, cause.time));
        }
        self.call_and_tell(function, cause, state, c, arguments)
    }

    /// Value references as arguments of a call that the host is told of.
    pub(super) fn named<'a>(&self, list: &'a [RawReference]) -> References<'a> {
        References { list, may_be_negated: self.library.functions().may_be_negated() }
    }

    /// Calls a function, and tells the host of it.
    #[cold]
    fn call_and_tell<S>(
        &self,
        function: Function,
        cause: CallContext,
        mut state: S,
        c: impl FnOnce(&mut S, &Functions, RawInstance) -> RawStatus,
        arguments: impl Fn(&S, bool) -> String,
    ) -> Result<Outcome, Failure> {
        let (mut status, mut nanos) = (0, 0);
        let outcome = self.enter(function, cause, |functions, instance| {
            let begun = Instant::now();
            status = c(&mut state, functions, instance);
            nanos = begun.elapsed().as_nanos() as u64;
            status
        });
        if status != NOT_CALLED {
            // An adapter may have called another one before it.
            let function = outcome.as_ref().err().map_or(function, |failure| failure.function);
            let call = ReturnedCall { function, clock: cause.clock, time: cause.time, status, nanos };
            self.environment.host().called(&call, &|| arguments(&state, outcome.is_ok()));
        }
        outcome
    }

    /// [`SharedInstance::call`] for the functions that are allowed after Discard and Error too: setting a state, and resetting.
    pub(super) fn call_even_failed(
        &self,
        function: Function,
        cause: CallContext,
        c: impl FnOnce(&Functions, RawInstance) -> RawStatus,
    ) -> Result<Outcome, Failure> {
        if self.health() > Health::Failed {
            return Err(self.refusal(function, cause));
        }
        if self.environment.is_watched() {
            let c = |(): &mut (), functions: &Functions, instance| c(functions, instance);
            return self.call_and_tell(function, cause, (), c, |(), _| String::new());
        }
        self.enter(function, cause, c)
    }

    #[inline(always)] // as `visit`
    fn enter(
        &self,
        function: Function,
        cause: CallContext,
        c: impl FnOnce(&Functions, RawInstance) -> RawStatus,
    ) -> Result<Outcome, Failure> {
        let raw = visit(&*self.environment, function, || c(self.library.functions(), self.handle.0));
        if raw == Status::Ok as RawStatus {
            return Ok(Outcome::Ok);
        }
        self.outcome(raw, function, cause.clock, cause.time)
    }

    /// The result of a call that has not returned `fmi3OK`. With the parts of its [`CallContext`]: the whole would be written to
    /// memory before every call.
    #[cold]
    fn outcome(
        &self,
        raw: RawStatus,
        function: Function,
        clock: Option<ValueReference>,
        time: Option<f64>,
    ) -> Result<Outcome, Failure> {
        if raw == NOT_CALLED && self.library.functions().adapts() {
            visited_nothing(function);
            return Err(Failure { function, status: Status::Discard, clock, time, answer: None, refused: true });
        }
        let known = Status::from_raw(raw);
        let status = known.unwrap_or(Status::Error);
        if status > Status::Warning {
            let function = self.environment.take_blamed().unwrap_or(function);
            let answer = known.is_none().then_some(raw);
            let failure = Failure { function, status, clock, time, answer, refused: false };
            // What an FMU logs is no part of what it computes, and some return whatever is in a register.
            let is_harmless = function == Function::SetDebugLogging && status != Status::Fatal;
            if status.ends(self.interface) && !is_harmless {
                self.remember(failure);
                self.fail(status);
            }
            return Err(failure);
        }
        if let Some(host) = thread_host() {
            host.warned(function);
        }
        Ok(Outcome::Warning)
    }

    /// [`SharedInstance::call`] of a function that only FMI 3.0 has, or has like this; elsewhere it is refused.
    #[inline]
    pub(super) fn call_fmi3(
        &self,
        function: Function,
        cause: CallContext,
        c: impl FnOnce(&Fmi3Functions, RawInstance) -> RawStatus,
    ) -> Result<Outcome, Failure> {
        match self.library.functions().fmi3() {
            Some(own) => self.call(function, cause, |_, instance| c(own, instance)),
            None => Err(self.refusal(function, cause)),
        }
    }

    /// [`SharedInstance::call`] of a function that only the draft has, or has like this; elsewhere it is refused.
    #[inline]
    pub(super) fn call_draft(
        &self,
        function: Function,
        cause: CallContext,
        c: impl FnOnce(&DraftFunctions, RawInstance) -> RawStatus,
    ) -> Result<Outcome, Failure> {
        match self.library.functions().draft() {
            Some(own) => self.call(function, cause, |_, instance| c(own, instance)),
            None => Err(self.refusal(function, cause)),
        }
    }

    /// Failure that replaces a refused call.
    pub(super) fn refusal(&self, function: Function, cause: CallContext) -> Failure {
        self.refused(function, cause.clock, cause.time)
    }

    /// [`SharedInstance::refusal`] with the parts of the cause, as [`SharedInstance::outcome`].
    #[cold]
    fn refused(&self, function: Function, clock: Option<ValueReference>, time: Option<f64>) -> Failure {
        let status = if self.health() == Health::Fatal { Status::Fatal } else { Status::Error };
        Failure { function, status, clock, time, answer: None, refused: true }
    }

    /// Remembers a failure after which only the end of the instance may follow.
    pub(super) fn remember(&self, failure: Failure) {
        let _only_the_first = self.failure.set(failure);
    }

    /// No more calls but, unless fatal, `fmi3FreeInstance`.
    #[cold]
    pub(super) fn fail(&self, status: Status) {
        if status == Status::Fatal {
            self.library.set_fatal();
            self.environment.worsen(Health::Fatal);
        } else {
            self.environment.worsen(Health::Failed);
        }
    }

    /// Keeps a state of the instance until its end; `before`: one that the FMU has given up for it.
    pub(super) fn own_state(&self, function: Function, raw: RawState, before: Option<RawState>) -> Result<(), Failure> {
        if raw.is_null() {
            // It has said that all is well, and goes on; whoever needs the state does not.
            return Err(Failure::new(function, Status::Error, false));
        }
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        states.live.retain(|state| Some(state.0) != before);
        states.live.push(StatePointer(raw));
        Ok(())
    }

    /// Frees the states whose handles are gone; at the end of the instance those of the others too, which are of no use
    /// any more. Precondition: no call is under way, and the instance is not fatal.
    pub(super) fn free_states(&self, all: bool) -> Result<Outcome, Failure> {
        let mut states = std::mem::take(&mut *self.states.lock().unwrap_or_else(PoisonError::into_inner));
        let live = std::mem::take(&mut states.live);
        if all {
            states.dropped.extend(live);
        } else {
            self.states.lock().unwrap_or_else(PoisonError::into_inner).live = live;
        }
        let mut result = Ok(Outcome::Ok);
        for mut state in states.dropped {
            let free = |f: &Functions, i| {
                // SAFETY: the instance is alive, no partition is active, and the state is one of its own that was not
                // freed: it has left both lists.
                unsafe { (f.free_fmu_state)(i, &mut state.0) }
            };
            let freed = self.call_even_failed(Function::FreeFMUState, CallContext::default(), free);
            result = result.and(freed);
        }
        result
    }

    /// Refuses a function that the description does not offer.
    pub(super) fn offers(&self, support: StateSupport, function: Function) -> Result<(), Failure> {
        if *self.support.get_or_init(StateSupport::default) >= support {
            return Ok(());
        }
        Err(Failure::new(function, Status::Discard, true))
    }

    /// Terminates the instance if it is healthy and initialised. Precondition: no call is under way.
    pub(super) fn terminate(&self) -> Result<Outcome, Failure> {
        let initialised = self.environment.in_clock_activation();
        self.environment.set_clock_activation(false);
        if self.health() != Health::Healthy || !initialised {
            return Ok(Outcome::Ok);
        }
        // SAFETY: the instance is alive, healthy, initialised, and nothing else is calling it.
        self.call(Function::Terminate, CallContext::default(), |f, i| unsafe { (f.terminate)(i) })
    }

    /// Ends the instance as far as it may be: Terminate if healthy and initialised, FreeInstance unless fatal.
    /// Precondition: no call is under way.
    pub(super) fn finish(&self) -> Result<Outcome, Failure> {
        let mut result = self.terminate();
        if self.health() < Health::Fatal {
            result = result.and(self.free_states(true));
        }
        if self.health() < Health::Fatal {
            if let Some(failure) = self.failure.get() {
                self.environment.host().is_freed_after(failure);
            }
            self.environment.worsen(Health::Freed);
            visit(&*self.environment, Function::FreeInstance, || {
                // SAFETY: the instance is alive, not fatal, nothing else is calling it, and nothing will: it counts as
                // freed from the line above on, so this happens once.
                unsafe { (self.library.functions().free_instance)(self.handle.0) }
            });
        }
        result
    }
}

impl Drop for SharedInstance {
    fn drop(&mut self) {
        // No handle is left, so no call is under way (calls borrow handles). What Terminate says here nobody asked for;
        // the log has it.
        let _ = self.finish();
    }
}
