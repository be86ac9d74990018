//! The data behind `fmi3InstanceEnvironment`: the importer's side of one instance.

use super::function::Function;
use super::status::{Failure, Status};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use vecud_description::ValueReference;

/// The requests of one instance to its importer, from any thread, real-time ones included.
///
/// Lives until the FMU's [`super::Library`] is dropped (longer after `fmi3Fatal`), since FMU code may call late.
pub trait InstanceHost: Send + Sync {
    /// The FMU logs. What is lent dies with the call; neither slice is necessarily UTF-8. An unknown status comes as
    /// [`Status::Error`].
    fn log(&self, status: Status, category: Option<&[u8]>, message: &[u8]);
    /// The FMU called back where it may not; the call had no effect.
    fn foreign_call(&self, what: ForeignCall);
    /// The FMU gave a value of a Boolean that is neither of the two that there are (in C, as a number): it was taken for true.
    fn no_boolean(&self, _reference: ValueReference, _value: i64) {}
    /// Whether each call is [told of](InstanceHost::called). Asked once.
    fn watches_calls(&self) -> bool {
        false
    }
    /// A function was called and has returned; `arguments`: as text, its arguments beside the clock and the time of the call, and its
    /// results, where they are of use.
    fn called(&self, _call: &ReturnedCall, _arguments: &dyn Fn() -> String) {}
    /// The instance is about to be freed, from which it may not return; this call was the first to fail.
    fn is_freed_after(&self, _failure: &Failure) {}
}

/// A call that has returned.
#[derive(Clone, Copy, Debug)]
pub struct ReturnedCall {
    /// The function.
    pub function: Function,
    /// The clock that it was made for, if it was.
    pub clock: Option<ValueReference>,
    /// The time that it was made for, if it was, as the FMU is told it.
    pub time: Option<f64>,
    /// Returned status, as a number in C.
    pub status: i32,
    /// Duration, ns.
    pub nanos: u64,
}

/// A callback that an FMU made where it may not. `clockUpdate` is also the draft's `intermediateUpdate` with ticked clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ForeignCall {
    /// `clockUpdate` on a thread that is not inside a call to this instance.
    ClockUpdateOutsideCall,
    /// `clockUpdate` inside `fmi3GetClock` or `fmi3GetInterval*`, which would never end.
    ClockUpdateInsideGetClock,
    /// `clockUpdate` before Clock Activation Mode, or after its end.
    ClockUpdateOutsideClockActivation,
    /// `clockUpdate` on a thread without a [`super::ThreadHost`].
    ClockUpdateWithoutThreadHost,
    /// `intermediateUpdate` where no step of the instance is made on this thread.
    IntermediateUpdateOutsideStep,
    /// `lockPreemption` or `unlockPreemption` on such a thread.
    LockOnForeignThread,
}

/// Whether an instance may be called. Gets worse only, but for a failed instance that is given a former state, or reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Health {
    /// The instance may be called.
    Healthy = 0,
    /// A call returned Discard or Error (or the importer said so): only `fmi3FreeInstance`, `fmi3Reset` and
    /// `fmi3SetFMUState` are left.
    Failed = 1,
    /// This or another instance of the FMU answered Fatal: nothing may be called.
    Fatal = 2,
    /// `fmi3FreeInstance` was called.
    Freed = 3,
}

/// Each call is told of.
const WATCHED: u8 = 0x80;

/// The importer's side of one instance; its address is the `fmi3InstanceEnvironment`.
pub(super) struct Environment {
    host: Arc<dyn InstanceHost>,
    /// [`Health`], and [`WATCHED`] if that is so: one word tells a call that it is an ordinary one.
    health: AtomicU8,
    watched: u8,
    /// `fmi3ExitInitializationMode` succeeded and `fmi3Terminate` was not called yet.
    clock_activation: AtomicBool,
    /// 1 + the function that an adapter has called beside the one that it is for, and that has failed; 0: there is none.
    blamed: AtomicU32,
}

impl Environment {
    pub(super) fn new(host: Arc<dyn InstanceHost>) -> Environment {
        let watched = if host.watches_calls() { WATCHED } else { 0 };
        let health = AtomicU8::new(Health::Healthy as u8 | watched);
        Environment { host, health, watched, clock_activation: AtomicBool::new(false), blamed: AtomicU32::new(0) }
    }

    pub(super) fn host(&self) -> &dyn InstanceHost {
        &*self.host
    }

    #[inline]
    pub(super) fn health(&self) -> Health {
        match self.health.load(Ordering::Acquire) & !WATCHED {
            0 => Health::Healthy,
            1 => Health::Failed,
            2 => Health::Fatal,
            _ => Health::Freed,
        }
    }

    /// Whether each call is reported.
    pub(super) fn is_watched(&self) -> bool {
        self.watched != 0
    }

    /// Whether the instance may be called, and calls are not reported.
    #[inline]
    pub(super) fn is_healthy(&self) -> bool {
        self.health.load(Ordering::Acquire) == Health::Healthy as u8
    }

    pub(super) fn worsen(&self, to: Health) {
        self.health.fetch_max(to as u8 | self.watched, Ordering::AcqRel);
    }

    /// A former state was set, or the instance was reset: it may be called again, unless it was fatal.
    pub(super) fn recover(&self) {
        let (failed, healthy) = (Health::Failed as u8 | self.watched, Health::Healthy as u8 | self.watched);
        let _other_than_failed_stays =
            self.health.compare_exchange(failed, healthy, Ordering::AcqRel, Ordering::Acquire);
    }

    /// The failure of the call that goes on is one of this function, which was called beside it.
    #[cold]
    pub(super) fn blame(&self, function: Function) {
        self.blamed.store(function as u32 + 1, Ordering::Relaxed);
    }

    /// The function that is to be blamed in place of the one that was called; told once.
    pub(super) fn take_blamed(&self) -> Option<Function> {
        Function::from_u32(self.blamed.swap(0, Ordering::Relaxed).checked_sub(1)?)
    }

    #[inline]
    pub(super) fn in_clock_activation(&self) -> bool {
        self.clock_activation.load(Ordering::Acquire)
    }

    pub(super) fn set_clock_activation(&self, on: bool) {
        self.clock_activation.store(on, Ordering::Release);
    }
}
