//! The sleep until an instant of `CLOCK_TAI`: `clock_nanosleep`, which a signal to the thread ends early.
//!
//! A signal between the last look at the word and the system call must not be lost. The kernel reads the instant to sleep
//! until when the call begins, and the handler of the signal sets it to 0: a call that begins after the signal returns at
//! once, one that had begun returns with `EINTR`.
//!
//! The waker checks for a sleeper before it sends the signal. A signal that arrives late, when the deadline has just
//! passed, runs an empty handler and, since the handler asks for it (`SA_RESTART`), system calls of FMU code continue.

use crate::SysError;
use crate::clock::SystemClock;
use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering, compiler_fence, fence};

/// The kernel's id of the thread that sleeps; 0: nobody does.
#[derive(Debug, Default)]
pub struct Sleeper(AtomicU32);

/// The id of this process, asked of the kernel once.
static PROCESS: AtomicI32 = AtomicI32::new(0);

thread_local! {
    /// The instant that this thread sleeps until.
    static REQUEST: UnsafeCell<libc::timespec> = const { UnsafeCell::new(libc::timespec { tv_sec: 0, tv_nsec: 0 }) };
}

/// The signal. The first ones after SIGRTMIN are those that libraries take for themselves.
fn number() -> c_int {
    libc::SIGRTMIN() + 7
}

/// Installs the handler, and lets the signal through to the calling thread.
pub fn prepare() -> Result<(), SysError> {
    PROCESS.store(rustix::process::getpid().as_raw_nonzero().get(), Ordering::Relaxed);
    // SAFETY: an all-zero sigaction is a valid one (default action, empty mask); what matters is set below.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = on_signal as *const () as usize;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: the handler is async-signal-safe (it writes to a constant-initialised thread-local); the old action, which
    // may be the same, is not wanted.
    if unsafe { libc::sigaction(number(), &action, std::ptr::null_mut()) } != 0 {
        return Err(SysError::last("install a handler for the signal that ends sleeps", ""));
    }
    // SAFETY: a zeroed set is a valid place for sigemptyset, which writes it; the other two read it and change nothing but
    // the mask of the calling thread.
    let error = unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, number());
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut())
    };
    if error == 0 { Ok(()) } else { Err(SysError::new("let the signal through that ends sleeps", error, "")) }
}

extern "C" fn on_signal(_: c_int) {
    // SAFETY: the thread that this handler has interrupted is the only other one that touches its own request, by volatile
    // accesses and the kernel's copy; a half-written instant is overwritten here as a whole, and a request that is written
    // after this was preceded by a look at the word that the signal's sender had changed.
    REQUEST.with(|request| unsafe { write(request.get(), 0, 0) });
}

/// # Safety
/// `request` is that of the calling thread.
unsafe fn write(request: *mut libc::timespec, seconds: i64, nanos: i64) {
    // SAFETY: says the caller.
    unsafe {
        (&raw mut (*request).tv_sec).write_volatile(seconds);
        (&raw mut (*request).tv_nsec).write_volatile(nanos);
    }
}

impl Sleeper {
    /// Nobody sleeps.
    pub const fn new() -> Sleeper {
        Sleeper(AtomicU32::new(0))
    }

    /// Ends the sleep; `false`: nobody sleeps. The word was changed before.
    pub fn signal(&self) -> bool {
        // With the fence of the sleeper: it sees the changed word, or this sees that it sleeps.
        fence(Ordering::SeqCst);
        let sleeper = self.0.load(Ordering::Relaxed);
        if sleeper == 0 {
            return false;
        }
        // SAFETY: takes numbers. A thread that has left meanwhile is no error that matters.
        unsafe { libc::syscall(libc::SYS_tgkill, PROCESS.load(Ordering::Relaxed), sleeper, number()) };
        true
    }

    /// Sleeps until `deadline` of `CLOCK_TAI`, or until the word `has_changed`; returns whether it has. `before` runs when
    /// everything is ready but the system call, for tests.
    pub fn sleep_until(&self, deadline: i64, has_changed: impl Fn() -> bool, before: impl Fn()) -> bool {
        let deadline = deadline.max(0);
        let tid = crate::thread::current_tid();
        let request = REQUEST.with(UnsafeCell::get);
        self.0.store(tid, Ordering::Relaxed);
        let is_woken = loop {
            // SAFETY: of this thread.
            unsafe { write(request, deadline / 1_000_000_000, deadline % 1_000_000_000) };
            // The request is written before anybody can send a signal that concerns it, and that is before the look.
            compiler_fence(Ordering::SeqCst);
            fence(Ordering::SeqCst);
            if has_changed() {
                break true;
            }
            before();
            // SAFETY: the request lives as long as the thread; nothing is written back in an absolute sleep.
            unsafe { libc::clock_nanosleep(libc::CLOCK_TAI, libc::TIMER_ABSTIME, request, std::ptr::null_mut()) };
            if has_changed() {
                break true;
            }
            // A signal for a sleep that was over already ends this one early.
            if SystemClock::Tai.now() >= deadline {
                break false;
            }
        };
        self.0.store(0, Ordering::Relaxed);
        is_woken
    }
}
