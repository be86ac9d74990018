//! `lockPreemption` and `unlockPreemption`: callbacks without any argument.
//!
//! On a thread of ours the thread knows its instance. A thread that FMU code has made does not, and its call has no effect;
//! but each instance is given a pair of functions of its own (there are as many as [`INSTANCES`]), so that even then it is
//! known whose fault it was.

use super::callbacks::{count_foreign_call, enter_host_without_floats};
use super::environment::{Environment, ForeignCall};
use super::thread::thread_host;
use super::types::PreemptionCallback;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Instances of a process that get a pair of their own; later ones share the last pair, which belongs to nobody.
const INSTANCES: usize = 64;

/// The environment that each pair of callbacks belongs to. It stays here for ever: who knows when a thread of the FMU calls
/// for the last time.
static OWNERS: [OnceLock<Arc<Environment>>; INSTANCES] = [const { OnceLock::new() }; INSTANCES];
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// `fmi3LockPreemptionCallback` and `fmi3UnlockPreemptionCallback` for a new instance.
pub(super) fn callbacks_of(environment: &Arc<Environment>) -> (PreemptionCallback, PreemptionCallback) {
    let number = NEXT.fetch_add(1, Ordering::Relaxed).min(INSTANCES);
    if let Some(owner) = OWNERS.get(number) {
        let _nobody_had_it = owner.set(Arc::clone(environment));
    }
    PAIRS[number]
}

/// # Safety
/// None: it has no argument and serves any thread. The type of the callback asks for `unsafe`.
unsafe extern "C" fn lock<const PAIR: usize>() {
    enter_host_without_floats(|| match thread_host() {
        Some(thread) => thread.lock_preemption(),
        None => blame(PAIR),
    });
}

/// # Safety
/// As [`lock`].
unsafe extern "C" fn unlock<const PAIR: usize>() {
    enter_host_without_floats(|| match thread_host() {
        Some(thread) => thread.unlock_preemption(),
        None => blame(PAIR),
    });
}

#[cold]
fn blame(pair: usize) {
    match OWNERS.get(pair).and_then(OnceLock::get) {
        Some(owner) => owner.host().foreign_call(ForeignCall::LockOnForeignThread),
        None => count_foreign_call(),
    }
}

macro_rules! pairs {
    ($($number:literal)*) => { [$((lock::<$number>, unlock::<$number>),)*] };
}
static PAIRS: [(PreemptionCallback, PreemptionCallback); INSTANCES + 1] = pairs! {
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42
    43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
};
