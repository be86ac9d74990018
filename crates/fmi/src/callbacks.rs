//! The functions that C calls. All of them enter through [`enter_host`].
//!
//! No panic gets across into C: one is caught, noted in [`host_panicked`], and the callback returns as if nothing were.
//! Callbacks may come on any thread, nested, and on behalf of an FMU that passes nonsense: NULL is survived everywhere.
//! What cannot be attributed to an instance is counted in [`foreign_calls`].

use super::environment::{Environment, ForeignCall};
use super::function::Function;
use super::shown::FunctionCode;
use super::status::Status;
use super::thread::{Intermediate, inside, is_in_calm_step, thread_host};
use super::types::{RawBool, RawEnvironment, RawStatus, RawString};
use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use vecud_linux::float_control;

/// Callbacks that no instance can be found for.
static FOREIGN_CALLS: AtomicU64 = AtomicU64::new(0);
/// A host panicked inside a callback.
static HOST_PANICKED: AtomicBool = AtomicBool::new(false);

/// The number of callbacks of this process that belong to no known instance: log messages and clock updates without the
/// instance environment; `lockPreemption` and `unlockPreemption` on a thread of the FMU's own, when there are very many
/// instances.
pub fn foreign_calls() -> u64 {
    FOREIGN_CALLS.load(Ordering::Relaxed)
}

/// Whether a host panicked inside a callback. The state of such a host is not to be relied on; end the run.
pub fn host_panicked() -> bool {
    HOST_PANICKED.load(Ordering::Relaxed)
}

pub(super) fn count_foreign_call() {
    FOREIGN_CALLS.fetch_add(1, Ordering::Relaxed);
}

/// The one way from C into Rust: nothing unwinds out of it, and Rust code runs under the default floating-point control
/// word; the FMU gets its own word back.
#[inline]
fn enter_host(work: impl FnOnce()) {
    let control = float_control::default_fp_control();
    // AssertUnwindSafe: hosts that panicked are marked as not to be relied on.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(work)) {
        HOST_PANICKED.store(true, Ordering::Relaxed);
        // Dropping a payload runs foreign code that may panic in turn.
        std::mem::forget(payload);
    }
    float_control::restore(control);
}

/// [`enter_host`] for work without floating-point arithmetic, which does not need the control word: the lock's callbacks
/// are called by the thousand, and reading the word is a fifth of their cost.
#[inline]
pub(super) fn enter_host_without_floats(work: impl FnOnce()) {
    // AssertUnwindSafe: as in `enter_host`.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(work)) {
        HOST_PANICKED.store(true, Ordering::Relaxed);
        std::mem::forget(payload);
    }
}

/// The environment that C hands back.
///
/// # Safety
/// `raw` is null or what was given as `fmi3InstanceEnvironment` to an instance of a library that is still loaded.
unsafe fn environment<'a>(raw: RawEnvironment) -> Option<&'a Environment> {
    // SAFETY: by contract null or the address of an `Environment` that its `Library` keeps until it is unloaded; only
    // shared references to it exist.
    unsafe { raw.cast::<Environment>().as_ref() }
}

/// The bytes of a C string, if there is one.
///
/// # Safety
/// `raw` is null or points to a NUL-terminated string that stays unchanged for `'a`.
unsafe fn bytes<'a>(raw: RawString) -> Option<&'a [u8]> {
    // SAFETY: not null; the rest is this function's contract.
    (!raw.is_null()).then(|| unsafe { CStr::from_ptr(raw) }.to_bytes())
}

/// `fmi3LogMessageCallback`
///
/// # Safety
/// By FMU code only: `raw` is what its instance was given, both texts are null or C strings that outlive the call.
pub(super) unsafe extern "C" fn log_message(
    raw: RawEnvironment,
    status: RawStatus,
    category: RawString,
    message: RawString,
) {
    enter_host(|| {
        // SAFETY: called by FMU code, which by the standard hands back the environment it was given, and runs only
        // while its library is loaded.
        let Some(environment) = (unsafe { environment(raw) }) else { return count_foreign_call() };
        // SAFETY: by the standard C strings that live until this callback returns; hosts only borrow them.
        let (category, message) = unsafe { (bytes(category), bytes(message)) };
        environment.host().log(Status::from_raw(status).unwrap_or(Status::Error), category, message.unwrap_or(b""));
    });
}

/// The draft's `fmi3CallbackLogMessage`. The environment says which instance it is; the name is not looked at.
///
/// # Safety
/// As [`log_message`].
pub(super) unsafe extern "C" fn draft_log_message(
    raw: RawEnvironment,
    _instance_name: RawString,
    status: RawStatus,
    category: RawString,
    message: RawString,
) {
    // SAFETY: the same contract.
    unsafe { log_message(raw, status, category, message) }
}

/// `fmi3ClockUpdateCallback`
///
/// # Safety
/// By FMU code only: `raw` is what its instance was given.
pub(super) unsafe extern "C" fn clock_update(raw: RawEnvironment) {
    enter_host(|| {
        // SAFETY: as in `log_message`.
        match unsafe { environment(raw) } {
            Some(environment) => update_clocks(environment, None),
            None => count_foreign_call(),
        }
    });
}

/// The draft's `fmi3CallbackIntermediateUpdate` in Scheduled Execution, where it is there for ticked clocks; setting and getting
/// intermediate variables, and returning early, are [Co-Simulation's](draft_step_update).
///
/// # Safety
/// By FMU code only: `raw` is what its instance was given, the last two pointers are null or can be written to.
#[allow(clippy::too_many_arguments)] // the draft's
pub(super) unsafe extern "C" fn draft_intermediate_update(
    raw: RawEnvironment,
    time: f64,
    clocks_ticked: RawBool,
    _intermediate_variable_set_requested: RawBool,
    _intermediate_variable_get_allowed: RawBool,
    _intermediate_step_finished: RawBool,
    _can_return_early: RawBool,
    early_return_requested: *mut RawBool,
    early_return_time: *mut f64,
) {
    if !early_return_requested.is_null() {
        // SAFETY: not null, so by the standard a place for a boolean. 0 is fmi3False: nobody wants it to return early.
        unsafe { early_return_requested.write_unaligned(0) };
    }
    if !early_return_time.is_null() {
        // SAFETY: as above, for a float.
        unsafe { early_return_time.write_unaligned(0.0) };
    }
    if clocks_ticked == 0 {
        return;
    }
    enter_host(|| {
        // SAFETY: as in `log_message`.
        match unsafe { environment(raw) } {
            Some(environment) => update_clocks(environment, Some(time)),
            None => count_foreign_call(),
        }
    });
}

/// `fmi3IntermediateUpdateCallback`
///
/// # Safety
/// By FMU code only: `raw` is what its instance was given, the last two pointers are null or can be written to.
#[allow(clippy::too_many_arguments)] // the standard's
pub(super) unsafe extern "C" fn intermediate_update(
    raw: RawEnvironment,
    time: f64,
    set_requested: RawBool,
    get_allowed: RawBool,
    step_finished: RawBool,
    can_return_early: RawBool,
    early_return_requested: *mut RawBool,
    early_return_time: *mut f64,
) {
    // Steps call back often, and mostly there is nothing to do.
    if is_in_calm_step(raw.cast()) {
        if !early_return_requested.is_null() {
            // SAFETY: not null, so by the standard a place for a boolean.
            unsafe { early_return_requested.write_unaligned(0) };
        }
        return;
    }
    // SAFETY: this function's contract.
    unsafe {
        update_in_midst(
            raw,
            time,
            set_requested,
            get_allowed,
            step_finished,
            can_return_early,
            early_return_requested,
            early_return_time,
        );
    }
}

/// [`intermediate_update`] where somebody may want something.
///
/// # Safety
/// As [`intermediate_update`].
#[inline(never)] // mostly nobody does
#[expect(clippy::too_many_arguments, reason = "the standard's")]
unsafe fn update_in_midst(
    raw: RawEnvironment,
    time: f64,
    set_requested: RawBool,
    get_allowed: RawBool,
    step_finished: RawBool,
    can_return_early: RawBool,
    early_return_requested: *mut RawBool,
    early_return_time: *mut f64,
) {
    let mut returns = false;
    enter_host_without_floats(|| {
        // SAFETY: as in `log_message`.
        let Some(environment) = (unsafe { environment(raw) }) else { return count_foreign_call() };
        let inside = inside();
        let in_step =
            std::ptr::eq(inside.environment, environment) && inside.called == FunctionCode::function(Function::DoStep);
        match thread_host().filter(|_| in_step) {
            Some(thread) => {
                let mut wanted = thread.in_step();
                if wanted.exchanges {
                    let update = Intermediate {
                        time,
                        set_requested: set_requested != 0,
                        get_allowed: get_allowed != 0,
                        step_finished: step_finished != 0,
                    };
                    enter_host(|| thread.intermediate_update(&update));
                    wanted = thread.in_step();
                }
                returns = wanted.returns_early;
            }
            None => environment.host().foreign_call(ForeignCall::IntermediateUpdateOutsideStep),
        }
    });
    let returns = returns && can_return_early != 0 && !early_return_time.is_null();
    if returns {
        // SAFETY: not null, so by the standard a place for a float.
        unsafe { early_return_time.write_unaligned(time) };
    }
    if !early_return_requested.is_null() {
        // SAFETY: not null, so by the standard a place for a boolean.
        unsafe { early_return_requested.write_unaligned(returns.into()) };
    }
}

/// The draft's `fmi3CallbackIntermediateUpdate` in Co-Simulation. Clocks tick in Event Mode, and there alone they can be read.
///
/// # Safety
/// As [`intermediate_update`].
#[allow(clippy::too_many_arguments)] // the draft's
pub(super) unsafe extern "C" fn draft_step_update(
    raw: RawEnvironment,
    time: f64,
    _clocks_ticked: RawBool,
    set_requested: RawBool,
    get_allowed: RawBool,
    step_finished: RawBool,
    can_return_early: RawBool,
    early_return_requested: *mut RawBool,
    early_return_time: *mut f64,
) {
    // SAFETY: this function's contract.
    unsafe {
        intermediate_update(
            raw,
            time,
            set_requested,
            get_allowed,
            step_finished,
            can_return_early,
            early_return_requested,
            early_return_time,
        );
    }
}

/// Hands a clock update to the host of this thread, unless it may not come from here.
fn update_clocks(environment: &Environment, time: Option<f64>) {
    let inside = inside();
    let refused = if !std::ptr::eq(inside.environment, environment) {
        ForeignCall::ClockUpdateOutsideCall
    } else if reads_clocks(inside.called) {
        ForeignCall::ClockUpdateInsideGetClock
    } else if !environment.in_clock_activation() {
        ForeignCall::ClockUpdateOutsideClockActivation
    } else if let Some(thread) = thread_host() {
        return thread.clock_update(time);
    } else {
        ForeignCall::ClockUpdateWithoutThreadHost
    };
    environment.host().foreign_call(refused);
}

/// The functions that a clock update calls, so that a clock update from inside them would have no end.
pub(super) fn reads_clocks(called: FunctionCode) -> bool {
    let reading = [Function::GetClock, Function::GetIntervalDecimal, Function::GetIntervalFraction];
    reading.into_iter().any(|function| called == FunctionCode::function(function))
}
