//! Threads with a stack of their own size, a name, and no signals.

use super::{SysError, memory, stack};
use nix::sys::signal::SigSet;
use std::cell::Cell;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The kernel keeps 15 bytes of a thread's name.
pub const NAME_BYTES: usize = 15;

/// The calling thread's id, asked of the kernel once per thread.
pub fn current_tid() -> u32 {
    thread_local!(static TID: Cell<u32> = const { Cell::new(0) });
    TID.with(|tid| {
        if tid.get() == 0 {
            tid.set(rustix::thread::gettid().as_raw_nonzero().get() as u32);
        }
        tid.get()
    })
}

/// Whether the kernel has a thread of this process wait for a disk right now, or for something else that no signal interrupts.
/// False where that cannot be told.
pub fn waits_for_disk(tid: u32) -> bool {
    is_in_state(tid, 'D')
}

/// Whether a thread of this process wants a core and gets none while this looks: others of its priority, or of a higher one, have it.
/// False where that cannot be told.
pub fn is_kept_from_running(tid: u32, look: Duration) -> bool {
    let Ok(before) = cpu_time(tid) else { return false };
    std::thread::sleep(look);
    cpu_time(tid).is_ok_and(|after| after == before) && is_in_state(tid, 'R')
}

fn is_in_state(tid: u32, state: char) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{tid}/stat")).unwrap_or_default();
    // The name in parentheses may have any characters.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(state))
}

/// Threads of [`spawn`] that go on, by the kernel's numbers.
static OWN: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// One thread of this program.
struct Own(u32);

impl Own {
    fn begin() -> Own {
        let own = Own(current_tid());
        OWN.lock().unwrap_or_else(PoisonError::into_inner).push(own.0);
        own
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        OWN.lock().unwrap_or_else(PoisonError::into_inner).retain(|tid| *tid != self.0);
    }
}

/// Threads of this process that neither are its first one nor come from [`spawn`]: others' code has made them. `None`: the kernel does not tell.
pub fn of_others() -> Option<Vec<u32>> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    let all = tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok());
    let own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    Some(all.filter(|tid| *tid != std::process::id() && !own.contains(tid)).collect())
}

/// Whether there are such threads. Where that cannot be told there are.
pub fn others_go_on() -> bool {
    /// The kernel has a thread for a moment after its end.
    const LOOKS: u32 = 20;
    (0..LOOKS).all(|look| {
        if look > 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        of_others().is_none_or(|others| !others.is_empty())
    })
}

/// Whether a thread of this process wants to run.
pub fn wants_to_run(tid: u32) -> bool {
    is_in_state(tid, 'R')
}

/// Starts a thread that runs FMU code, with a [stack] of which `ready` bytes are prepared before `body` begins; `body`
/// gets their range.
pub fn spawn_deep<T: Send + 'static>(
    name: &str,
    ready: usize,
    body: impl FnOnce(Range<usize>) -> T + Send + 'static,
) -> Result<JoinHandle<T>, SysError> {
    /// Held while a thread is made: it begins when mappings are made in the usual way again.
    static MAKING: Mutex<()> = Mutex::new(());
    let body = move || {
        drop(MAKING.lock());
        body(stack::prepare(ready))
    };
    let _making = MAKING.lock();
    memory::mapping_lazily(|| spawn(name, stack::size(ready), body))
}

/// Runs `body` on a thread of [`spawn_deep`] in place of the calling one, which waits: signals for the process come to the new one, as to
/// the only one that there was. Where the system refuses a thread, the calling one runs it, with the stack that it has.
pub fn in_place<T: Send + 'static>(name: &str, ready: usize, body: impl FnOnce() -> T + Send + 'static) -> T {
    let take = |body: &Mutex<Option<_>>| body.lock().unwrap_or_else(PoisonError::into_inner).take().expect("once");
    let body = Arc::new(Mutex::new(Some(body)));
    let theirs = Arc::clone(&body);
    match spawn_deep(name, ready, move |_| take(&theirs)()) {
        Ok(thread) => {
            // Faults come to the thread that has them.
            let _come_here_else = SigSet::all().thread_block();
            thread.join().unwrap_or_else(|panic| resume_unwind(panic))
        }
        Err(_) => take(&body)(),
    }
}

/// Starts a thread with `stack_bytes` of stack and at most [`NAME_BYTES`] bytes of `name` as its name.
pub fn spawn<T: Send + 'static>(
    name: &str,
    stack_bytes: usize,
    body: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, SysError> {
    let body = move || {
        super::crash::claim_thread();
        let _while_it_goes_on = Own::begin();
        body()
    };
    // Thread-local variables lie in the stack as well: libraries have few of them, but a user can have made room for more (GLIBC_TUNABLES).
    // SAFETY: sysconf takes a number and touches no memory.
    let taken = usize::try_from(unsafe { libc::sysconf(libc::_SC_THREAD_STACK_MIN) }).unwrap_or(0);
    let thread = std::thread::Builder::new().name(short_name(name).to_owned()).stack_size(stack_bytes + taken);
    thread.spawn(body).map_err(|error| {
        SysError::new(
            format!("start thread `{name}` with a stack of {stack_bytes} bytes"),
            error.raw_os_error().unwrap_or(0),
            match error.raw_os_error() {
                // What limits threads says EAGAIN.
                Some(libc::EPERM) => "a seccomp filter forbids it, of FMU code or of the container",
                _ => "check `ulimit -u` and, with locked memory, `ulimit -l`",
            },
        )
    })
}

/// The answer of `question`, which runs on a thread of its own that ends at once: its changes to itself are gone.
pub fn apart<T: Send + 'static>(question: impl FnOnce() -> T + Send + 'static) -> Result<T, SysError> {
    let thread = spawn("vecud.probe", 64 * 1024, question)?;
    thread.join().map_err(|_| SysError::new("ask on a thread of its own", 0, ""))
}

/// Names the calling thread; longer names are cut to [`NAME_BYTES`] bytes, between characters.
pub fn set_name(name: &str) -> Result<(), SysError> {
    let mut bytes: Vec<u8> = short_name(name).bytes().filter(|b| *b != 0).collect();
    bytes.push(0);
    let name = std::ffi::CStr::from_bytes_with_nul(&bytes).expect("one NUL, at the end");
    rustix::thread::set_name(name).map_err(|e| SysError::new("name the thread", e.raw_os_error(), ""))
}

/// `name`, cut to the length that the kernel keeps, never inside a character.
pub fn short_name(name: &str) -> &str {
    let mut end = name.len().min(NAME_BYTES);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

/// Blocks every signal in the calling thread, so that none ever runs a handler on a partition's time.
///
/// Signals of faults stay deliverable: [`crash`](super::crash) handles them.
pub fn block_signals() -> Result<(), SysError> {
    use nix::sys::signal::{SigmaskHow, Signal};
    let mut all = SigSet::all();
    for fault in [Signal::SIGSEGV, Signal::SIGBUS, Signal::SIGFPE, Signal::SIGILL, Signal::SIGABRT, Signal::SIGSYS] {
        all.remove(fault);
    }
    all.thread_swap_mask(SigmaskHow::SIG_BLOCK).map(drop).map_err(|e| SysError::new("block signals", e as i32, ""))
}

/// Sets the calling thread's timer slack to 1 ns, so that its sleeps end on time. Before it becomes `SCHED_FIFO`.
pub fn minimize_timer_slack() -> Result<(), SysError> {
    // SAFETY: PR_SET_TIMERSLACK takes a number, touches no memory of ours and concerns the calling thread only.
    let result = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };
    if result == 0 { Ok(()) } else { Err(SysError::last("set the timer slack to 1 ns", super::privilege::prctl_fix())) }
}

/// The kernel's counters for the calling thread since its begin: page faults and context switches.
pub fn usage() -> nix::sys::resource::Usage {
    use nix::sys::resource::{UsageWho, getrusage};
    getrusage(UsageWho::RUSAGE_THREAD).expect("it takes no argument that could be wrong")
}

/// Processor time that a thread of this process has used, ns.
pub fn cpu_time(tid: u32) -> Result<i64, SysError> {
    // The kernel's number for "time that this thread was scheduled" (CPUCLOCK_PERTHREAD | CPUCLOCK_SCHED).
    let clock = (!(tid as i32) << 3) | 0b110;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel checks the clock's number and writes one timespec, which is ours.
    if unsafe { libc::clock_gettime(clock, &mut time) } == 0 {
        Ok(time.tv_sec * 1_000_000_000 + time.tv_nsec)
    } else {
        Err(SysError::last(format!("read the processor time of thread {tid}"), ""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_between_characters() {
        assert_eq!(short_name("ecu.task_10ms"), "ecu.task_10ms");
        assert_eq!(short_name("a_long_name.of_a_clock"), "a_long_name.of_");
        assert_eq!(short_name("vierzehn_byte_ä"), "vierzehn_byte_");
    }

    #[test]
    fn a_thread_gets_its_name_stack_slack_and_mask() {
        let thread = spawn("tests.of_threads_x", 256 * 1024, || {
            set_name("renamed.with_too_many_bytes").unwrap();
            minimize_timer_slack().unwrap();
            block_signals().unwrap();
            let tid = current_tid();
            assert_eq!(tid, current_tid());
            let status = std::fs::read_to_string(format!("/proc/self/task/{tid}/status")).unwrap();
            // SAFETY: PR_GET_TIMERSLACK takes and changes nothing.
            let slack = unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) };
            (status, slack)
        })
        .unwrap();
        let (status, slack) = thread.join().unwrap();
        assert!(status.contains("Name:\trenamed.with_to\n"), "{status}");
        let blocked = status.lines().find_map(|l| l.strip_prefix("SigBlk:\t"));
        assert!(blocked.unwrap().starts_with("fffff"), "{status}");
        assert_eq!(slack, 1);
    }
}
