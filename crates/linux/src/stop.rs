//! Requests to end: a token for work that can end early in good order, and signals that request the end through it in a
//! process that wants them to.

use super::SysError;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction, signal};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};

/// Asks for the end of some work, which looks at it now and then. Clones ask for the end of the same work.
#[derive(Clone, Debug, Default)]
pub struct StopToken(Arc<AtomicU32>);

impl StopToken {
    /// Asks for the end: once for one in good order, twice for one at once. Returns how often that was done before.
    pub fn ask(&self) -> u32 {
        self.0.fetch_add(1, SeqCst)
    }

    /// Has it be asked so often at least, whoever else asks: 1 for an end in good order, 2 for one at once.
    pub fn ask_for(&self, times: u32) {
        self.0.fetch_max(times, SeqCst);
    }

    /// The number of requests.
    pub fn times(&self) -> u32 {
        self.0.load(SeqCst)
    }

    /// Whether somebody has asked.
    pub fn is_asked(&self) -> bool {
        self.times() > 0
    }
}

/// The signals by which somebody asks for the end. (SIGQUIT asks for a core as well; but it comes from a key next to the
/// one of SIGINT, and sockets, the report and the recordings would be left as they are.)
pub(super) const SIGNALS: [Signal; 4] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];

/// The signal that requests a report of the running run.
pub(super) const REPORT: Signal = Signal::SIGUSR1;

/// Whether somebody has asked for a report since it was last looked at.
static REPORT_ASKED: AtomicBool = AtomicBool::new(false);

/// From here on SIGUSR1 requests a report instead of ending the process; [`report_is_asked`] tells of it.
pub fn report_by_signal() -> Result<(), SysError> {
    extern "C" fn ask(_: libc::c_int) {
        REPORT_ASKED.store(true, SeqCst);
    }
    // SAFETY: the handler writes an atomic, which is async-signal-safe.
    unsafe { signal(REPORT, SigHandler::Handler(ask)) }
        .map(drop)
        .map_err(|errno| SysError::new(format!("handle {REPORT}"), errno as i32, ""))
}

/// Whether somebody has asked for a report since the last call.
pub fn report_is_asked() -> bool {
    REPORT_ASKED.swap(false, SeqCst)
}

/// Whether somebody has asked for another look at files since it was last looked at.
static RELOAD_ASKED: AtomicBool = AtomicBool::new(false);

/// From here on SIGHUP asks a daemon to read its files again, whatever it did before; [`reload_is_asked`] tells of it.
pub fn reload_by_signal() -> Result<(), SysError> {
    extern "C" fn ask(_: libc::c_int) {
        RELOAD_ASKED.store(true, SeqCst);
    }
    // SAFETY: the handler writes an atomic, which is async-signal-safe.
    unsafe { signal(Signal::SIGHUP, SigHandler::Handler(ask)) }
        .map(drop)
        .map_err(|errno| SysError::new("handle SIGHUP", errno as i32, ""))
}

/// Whether somebody has asked for another look at files since the last call.
pub fn reload_is_asked() -> bool {
    RELOAD_ASKED.swap(false, SeqCst)
}

/// Number of SIGINTs since they are counted.
static INTERRUPTS: AtomicU32 = AtomicU32::new(0);

/// From here on SIGINT is counted ([`interrupts`]) instead of ending the process, and wakes a thread that waits for input
/// (`EINTR`): for a prompt, where Ctrl-C gives up a line or the running work, not the program.
pub fn count_interrupts() -> Result<(), SysError> {
    extern "C" fn count(_: libc::c_int) {
        INTERRUPTS.fetch_add(1, SeqCst);
    }
    // Without SA_RESTART.
    let action = SigAction::new(SigHandler::Handler(count), SaFlags::empty(), SigSet::empty());
    // SAFETY: the handler adds to an atomic, which is async-signal-safe.
    unsafe { sigaction(Signal::SIGINT, &action) }
        .map(drop)
        .map_err(|errno| SysError::new("handle SIGINT", errno as i32, ""))
}

/// Number of SIGINTs since [`count_interrupts`].
pub fn interrupts() -> u32 {
    INTERRUPTS.load(SeqCst)
}

/// The token of these signals.
static BY_SIGNALS: OnceLock<StopToken> = OnceLock::new();

/// Number of requests to end by signals.
pub fn times_by_signals() -> u32 {
    BY_SIGNALS.get().map_or(0, StopToken::times)
}

/// Time in which a process that was asked twice must end, s.
const LAST: u32 = 5;

/// From here on SIGINT, SIGTERM, SIGHUP and SIGQUIT request the end through the returned token, the same one each time, instead
/// of ending the process. With the second one the process has five more seconds, whatever it is doing: then it ends with exit
/// code 1.
pub fn by_signals() -> Result<StopToken, SysError> {
    let stop = BY_SIGNALS.get_or_init(StopToken::default);
    handle_alarm()?;
    SIGNALS.into_iter().try_for_each(|which| listen_to(which).map(drop))?;
    Ok(stop.clone())
}

/// Ends the process when the time is over that it has since it was asked twice.
fn handle_alarm() -> Result<(), SysError> {
    extern "C" fn end(_: libc::c_int) {
        const WORDS: &[u8] =
            b"vecud: ended by force, since it did not come to its end within 5 s after it was asked twice\n";
        let mut stderr = libc::pollfd { fd: 2, events: libc::POLLOUT, revents: 0 };
        // SAFETY: poll and write are async-signal-safe; both get memory of ours and its size. Nobody may be reading, so
        // nothing is written where that would block; _exit runs no code of this process.
        unsafe {
            if libc::poll(&mut stderr, 1, 0) == 1 && stderr.revents & libc::POLLOUT != 0 {
                libc::write(2, WORDS.as_ptr().cast(), WORDS.len());
            }
            libc::_exit(1);
        }
    }
    // SAFETY: the handler calls nothing that is not async-signal-safe.
    unsafe { signal(Signal::SIGALRM, SigHandler::Handler(end)) }
        .map(drop)
        .map_err(|errno| SysError::new("handle SIGALRM", errno as i32, ""))
}

/// A signal asks from here on; returns what was done at it before.
fn listen_to(which: Signal) -> Result<SigHandler, SysError> {
    extern "C" fn ask(_: libc::c_int) {
        if BY_SIGNALS.get().is_some_and(|stop| stop.ask() == 1) {
            // SAFETY: alarm is async-signal-safe and takes a number.
            unsafe { libc::alarm(LAST) };
        }
    }
    // SAFETY: the handler looks at a value that is set once, adds to an atomic and sets an alarm, all of it async-signal-safe.
    unsafe { signal(which, SigHandler::Handler(ask)) }
        .map_err(|errno| SysError::new(format!("handle {which}"), errno as i32, ""))
}

/// From here on these signals end the process again.
pub fn end_at_signals() {
    for which in SIGNALS {
        // SAFETY: the default action runs no code of this process. It can be set for each of these, so nothing can fail.
        let _ = unsafe { signal(which, SigHandler::SigDfl) };
    }
}

/// While this is there the signals ask, as after [`by_signals`]; afterwards they do what they did before.
#[must_use]
#[derive(Debug)]
pub struct SignalsHeld {
    before: Vec<(Signal, SigHandler)>,
}

/// For work that leaves something behind if the process ends in the midst of it: while the guard exists, signals request the
/// end through the token beside it. Ignored signals (`nohup`) stay ignored.
pub fn while_held() -> Result<(StopToken, SignalsHeld), SysError> {
    let stop = BY_SIGNALS.get_or_init(StopToken::default);
    let mut held = SignalsHeld { before: Vec::new() };
    handle_alarm()?;
    for which in SIGNALS {
        let before = listen_to(which)?;
        held.before.push((which, before));
        if matches!(before, SigHandler::SigIgn) {
            // SAFETY: SIG_IGN is no code of ours.
            let _ = unsafe { signal(which, SigHandler::SigIgn) };
        }
    }
    Ok((stop.clone(), held))
}

impl Drop for SignalsHeld {
    fn drop(&mut self) {
        for (which, before) in &self.before {
            // SAFETY: what was in place before may be so again.
            let _ = unsafe { signal(*which, *before) };
        }
    }
}
