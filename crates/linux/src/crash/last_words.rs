//! The handlers that note the last words, and the labels of threads.

use super::code;
use crate::{SysError, stack};
use std::cell::Cell;
use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// The destination of the last words.
#[derive(Clone, Copy, Debug)]
pub struct LastWords {
    /// The signal; 0 while there was none.
    pub signal: &'static AtomicU64,
    /// Label of the thread it came on.
    pub label: &'static AtomicU64,
    /// Set to 1 when it came, or `exit` was called, on a thread that this program has not made.
    pub foreign: &'static AtomicU64,
    /// 1 + the other process that sent it (of another PID namespace: 0); 0 when it was a fault, or raised by this one.
    pub sender: &'static AtomicU64,
    /// [Label](code::note) of the library whose code was running; 0: not known.
    pub code: &'static AtomicU64,
    /// The stack that has overflown, KiB; 0: none has.
    pub stack: &'static AtomicU64,
    /// Set to 1 when the thread's last error was that there was no memory (`ENOMEM`).
    pub out_of_memory: &'static AtomicU64,
    /// Set to 1 when `exit` or `quick_exit` was called without [`expect_exit`].
    pub exit: &'static AtomicU64,
}

/// The signals of faults.
pub const FAULTS: [c_int; 6] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT, libc::SIGSYS];

static WORDS: OnceLock<LastWords> = OnceLock::new();
static EXIT_IS_EXPECTED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static LABEL: Cell<u64> = const { Cell::new(0) };
    static IS_OURS: Cell<bool> = const { Cell::new(false) };
}

/// Says that the calling thread is one of this program's.
pub(crate) fn claim_thread() {
    IS_OURS.set(true);
}

/// Labels the calling thread; 0: no label.
#[inline]
pub fn label_thread(label: u64) {
    LABEL.with(|own| own.set(label));
}

/// From here on calls of `exit` are known to be this program's.
pub fn expect_exit() {
    EXIT_IS_EXPECTED.store(true, SeqCst);
}

/// Installs the handlers, once per process, on its main thread; later calls change nothing.
pub fn install(words: LastWords) -> Result<(), SysError> {
    if WORDS.set(words).is_err() {
        return Ok(());
    }
    claim_thread();
    stack::watch_main();
    // SAFETY: an all-zero sigaction is a valid one (default action, empty mask); each field that matters is set below.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = on_fault as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESETHAND | libc::SA_NODEFER;
    for signal in FAULTS {
        // SAFETY: the handler is async-signal-safe (it stores to atomics, reads a constant-initialised thread-local and makes
        // system calls), and the old action is not wanted.
        if unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) } != 0 {
            return Err(SysError::last(format!("install a handler for signal {signal}"), ""));
        }
    }
    // SAFETY: the hook takes nothing and returns nothing, as both want, and lives as long as the program.
    unsafe {
        libc::atexit(on_exit);
        at_quick_exit(on_exit);
    }
    Ok(())
}

// SAFETY: the declaration is C11's, and a hook that takes and returns nothing is what it wants.
unsafe extern "C" {
    /// C11's. What it is given is called by `quick_exit`, which calls nothing that `atexit` has got. (`_exit` calls nothing.)
    fn at_quick_exit(hook: extern "C" fn()) -> c_int;
}

/// Asks a child process that has [installed](install) handlers for the code that its main thread is in, or the one [in
/// its place](crate::thread::in_place). The answer is in its last words, soon; a process that blocks the signal gives
/// none, and one that has a handler of its own for it may end.
pub fn ask_where_it_is(process: u32) {
    if let Some(process) = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw) {
        // One that is gone has nothing to say.
        let _ = rustix::process::kill_process(process, rustix::process::Signal::SYS);
    }
}

extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // The thread's, as the code that faults has left it: nothing was called yet.
    let error = std::io::Error::last_os_error().raw_os_error();
    if let Some(words) = WORDS.get() {
        // SAFETY: the kernel hands a valid siginfo to a handler that was installed with SA_SIGINFO.
        let (code, sender, address) = unsafe { ((*info).si_code, (*info).si_pid(), (*info).si_addr().addr()) };
        let sent = code <= 0; // SI_USER, SI_TKILL, SI_QUEUE and their kind; faults have positive codes
        // SAFETY: the kernel hands a valid context to such a handler as well.
        let (instruction, pointer) = unsafe { place(&*context.cast()) };
        // SAFETY: getppid is async-signal-safe and has no arguments.
        if sent && signal == libc::SIGSYS && sender == unsafe { libc::getppid() } {
            words.code.store(code::label_of(instruction, pointer.max(stack::lowest())), SeqCst);
            return;
        }
        if words.signal.compare_exchange(0, signal as u64, SeqCst, SeqCst).is_ok() {
            words.out_of_memory.store(u64::from(error == Some(libc::ENOMEM)), SeqCst);
            let overflown = if sent { None } else { stack::overflown(address, pointer) };
            words.stack.store(overflown.map_or(0, |bytes| bytes as u64 / 1024), SeqCst);
            words.label.store(LABEL.get(), SeqCst);
            words.foreign.store(u64::from(!IS_OURS.get()), SeqCst);
            // SAFETY: getpid is async-signal-safe and has no arguments. What FMU code raises itself was sent by this process.
            let foreign = sent && sender != unsafe { libc::getpid() };
            words.sender.store(if foreign { sender as u64 + 1 } else { 0 }, SeqCst);
            words.code.store(code::label_of(instruction, pointer.max(stack::lowest())), SeqCst);
        }
    }
    // The default action is back (SA_RESETHAND). A fault repeats itself on return; one that was sent does not.
    // SAFETY: raise is async-signal-safe.
    unsafe { libc::raise(signal) };
}

/// The instruction that a thread was at, and its stack; 0: this machine is not known.
fn place(context: &libc::ucontext_t) -> (usize, usize) {
    let _machine = &context.uc_mcontext;
    #[cfg(target_arch = "x86_64")]
    return (_machine.gregs[libc::REG_RIP as usize] as usize, _machine.gregs[libc::REG_RSP as usize] as usize);
    #[cfg(target_arch = "aarch64")]
    return (_machine.pc as usize, _machine.sp as usize);
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    (0, 0)
}

extern "C" fn on_exit() {
    if EXIT_IS_EXPECTED.load(SeqCst) {
        return;
    }
    if let Some(words) = WORDS.get() {
        words.label.store(LABEL.get(), SeqCst);
        words.foreign.store(u64::from(!IS_OURS.get()), SeqCst);
        let here = 0u8;
        words.code.store(code::label_of(0, std::ptr::from_ref(&here) as usize), SeqCst);
        words.exit.store(1, SeqCst);
    }
}

/// Ends the process at once: no destructor of ours or of anybody's runs, so a thread that hangs cannot hold it up.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: _exit takes a number and does not return.
    unsafe { libc::_exit(code) }
}

/// Asks the kernel to end this process, the hard way, when the thread that started it ends. Where `parent`, the process of
/// that thread, is gone already, this one ends here.
pub fn follow_parent(parent: u32) -> Result<(), SysError> {
    let signal = libc::SIGKILL as libc::c_ulong;
    // SAFETY: PR_SET_PDEATHSIG takes a number and touches no memory of ours.
    let asked = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, signal, 0, 0, 0) };
    let error = (asked != 0).then(|| SysError::last("follow the parent process", crate::privilege::prctl_fix()));
    // Whoever is gone before the kernel was asked will not end again. A child without parent has another one.
    if std::os::unix::process::parent_id() != parent {
        exit_now(1);
    }
    error.map_or(Ok(()), Err)
}
