//! Scheduling policy and priority of threads, set and read back.
//!
//! Partition threads run under `SCHED_FIFO` with `SCHED_RESET_ON_FORK`, so that a thread that FMU code creates does not
//! inherit the priority. The flag cannot be set through thread-priority (nor through pthreads portably), so setting goes
//! by `sched_setscheduler`; the range of priorities and the reading back of the own policy come from thread-priority.

use super::SysError;
use super::thread::current_tid;
use thread_priority::{RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy};

/// A scheduling policy as read back from the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// `SCHED_OTHER`, the ordinary one.
    Other,
    /// `SCHED_FIFO`.
    Fifo,
    /// Any other, by its number.
    Else(i32),
}

/// The kernel's facts about a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadScheduling {
    /// The policy.
    pub policy: Policy,
    /// The static priority; 0 outside the real-time policies.
    pub priority: u8,
    /// The nice value; 0 in the real-time policies.
    pub nice: i8,
    /// Whether children fall back to `SCHED_OTHER`.
    pub reset_on_fork: bool,
}

/// The priorities that `SCHED_FIFO` has here: 1 to 99 on Linux.
pub fn fifo_range() -> std::ops::RangeInclusive<u8> {
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let bound = |value: Result<i32, _>, otherwise| value.map_or(otherwise, |v: i32| v as u8);
    bound(ThreadPriority::min_value_for_policy(policy), 1)..=bound(ThreadPriority::max_value_for_policy(policy), 99)
}

/// Gives the thread `tid` (0: the calling one) the policy `SCHED_FIFO | SCHED_RESET_ON_FORK`. The error is the number
/// alone, so that a real-time thread may ask without allocating.
pub(super) fn set_fifo_errno(tid: u32, priority: u8) -> Result<(), i32> {
    set_scheduler(tid, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, i32::from(priority))
}

/// Gives the thread `tid` (0: the calling one) the policy `SCHED_OTHER`; never allocates.
pub(super) fn set_other_errno(tid: u32) -> Result<(), i32> {
    match set_scheduler(tid, libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK, 0) {
        // Clearing or keeping the flag is not the point of a demotion; one of the two is always permitted.
        Err(libc::EPERM) => set_scheduler(tid, libc::SCHED_OTHER, 0),
        result => result,
    }
}

fn set_scheduler(tid: u32, policy: i32, priority: i32) -> Result<(), i32> {
    let parameter = libc::sched_param { sched_priority: priority };
    // SAFETY: sched_setscheduler reads one sched_param, which lives across the call, and writes no memory of ours. The
    // raw system call, since musl's wrapper refuses to work on single threads.
    let result = unsafe { libc::syscall(libc::SYS_sched_setscheduler, tid, policy, &parameter) };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL)) }
}

/// Makes the calling thread a `SCHED_FIFO` thread (with `SCHED_RESET_ON_FORK`) and reads back that it is.
pub fn set_fifo(priority: u8) -> Result<(), SysError> {
    set_fifo_of(0, priority)
}

/// Makes the thread `tid` of this process a `SCHED_FIFO` thread and reads back that it is.
pub fn set_fifo_of(tid: u32, priority: u8) -> Result<(), SysError> {
    let what = || format!("set SCHED_FIFO priority {priority}");
    if !fifo_range().contains(&priority) {
        return Err(SysError::new(what(), libc::EINVAL, "priorities are 1 to 99"));
    }
    set_fifo_errno(tid, priority)
        .map_err(|errno| SysError::new(what(), errno, super::privilege::fifo_fix(priority)))?;
    let now = scheduling_of(tid)?;
    if (now.policy, now.priority) == (Policy::Fifo, priority) {
        Ok(())
    } else {
        let what = format!("keep SCHED_FIFO priority {priority}: reads back as {now:?}");
        Err(SysError::new(what, 0, "another program changes this one's scheduling"))
    }
}

/// Demotes the thread `tid` (0: the calling one) to `SCHED_OTHER`.
pub fn demote(tid: u32) -> Result<(), SysError> {
    set_other_errno(tid).map_err(|errno| SysError::new(format!("demote thread {tid} to SCHED_OTHER"), errno, ""))
}

/// Policy and priority of the calling thread.
pub fn scheduling() -> Result<ThreadScheduling, SysError> {
    scheduling_of(0)
}

/// Policy and priority of the thread `tid` (0: the calling one).
pub fn scheduling_of(tid: u32) -> Result<ThreadScheduling, SysError> {
    let tid = if tid == 0 { current_tid() } else { tid };
    let what = || format!("read the scheduling policy of thread {tid}");
    let mut parameter = libc::sched_param { sched_priority: 0 };
    // SAFETY: sched_getscheduler takes a number and touches no memory.
    let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, tid) };
    // SAFETY: sched_getparam writes one sched_param, which is ours and lives across the call.
    let result = unsafe { libc::syscall(libc::SYS_sched_getparam, tid, &mut parameter) };
    if policy < 0 || result < 0 {
        return Err(SysError::last(what(), ""));
    }
    // SAFETY: getpriority takes numbers and touches no memory. The raw system call gives 20 minus the nice value.
    let nice = unsafe { libc::syscall(libc::SYS_getpriority, libc::PRIO_PROCESS, tid) };
    if nice < 0 {
        return Err(SysError::last(what(), ""));
    }
    let policy = policy as i32;
    Ok(ThreadScheduling {
        policy: match policy & !libc::SCHED_RESET_ON_FORK {
            libc::SCHED_OTHER => Policy::Other,
            libc::SCHED_FIFO => Policy::Fifo,
            other => Policy::Else(other),
        },
        priority: parameter.sched_priority as u8,
        nice: if parameter.sched_priority == 0 { (20 - nice) as i8 } else { 0 },
        reset_on_fork: policy & libc::SCHED_RESET_ON_FORK != 0,
    })
}

/// Whether a thread of this process can become a `SCHED_FIFO` thread of that priority, found out by doing it in a
/// thread that ends at once: capabilities, limits and cgroups all have a say, and only the kernel knows the sum.
pub fn probe_fifo(priority: u8) -> Result<(), SysError> {
    super::thread::apart(move || set_fifo(priority))?
}

/// The highest `SCHED_FIFO` priority up to `wanted` that a thread of this process gets, found by trying; with the error of
/// the attempt at `wanted` where that was refused. `None`: not even the lowest one.
pub fn highest_fifo(wanted: u8) -> (Option<u8>, Option<SysError>) {
    match probe_fifo(wanted) {
        Ok(()) => (Some(wanted), None),
        Err(error) => {
            let granted = super::thread::apart(move || highest(wanted, |priority| set_fifo_errno(0, priority).is_ok()));
            (granted.ok().flatten(), Some(error))
        }
    }
}

/// The largest number below `refused` that is `granted`, given that all below a granted one are: at most seven questions.
fn highest(refused: u8, mut granted: impl FnMut(u8) -> bool) -> Option<u8> {
    let (mut low, mut high) = (0, refused.max(1));
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if granted(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low > 0).then_some(low)
}

/// Makes sure, as far as that is possible, that the kernel does not end this process because a real-time thread has
/// computed for long without sleeping (`RLIMIT_RTTIME`): takes the limit away, or raises it as far as it goes.
pub fn lift_time_limit() -> Result<(), SysError> {
    use nix::sys::resource::{RLIM_INFINITY, Resource::RLIMIT_RTTIME, getrlimit, setrlimit};
    let limits = || getrlimit(RLIMIT_RTTIME).map_err(|e| SysError::new("read RLIMIT_RTTIME", e as i32, ""));
    let (soft, hard) = limits()?;
    if soft == RLIM_INFINITY {
        return Ok(());
    }
    // Beyond the hard limit only with CAP_SYS_RESOURCE, up to it always.
    let lifted = setrlimit(RLIMIT_RTTIME, RLIM_INFINITY, RLIM_INFINITY);
    let _as_far_as_it_goes = lifted.or_else(|_| setrlimit(RLIMIT_RTTIME, hard, hard));
    match (lifted, limits()?) {
        (Err(errno), (left, _)) if left != RLIM_INFINITY => Err(SysError::new(
            format!("take away the limit RLIMIT_RTTIME of {left} µs"),
            errno as i32,
            "`sudo prlimit --rttime=unlimited --pid $$` in the shell that starts vecud, or LimitRTTIME=infinity in the \
             systemd unit",
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_thread_becomes_fifo_and_is_demoted_again_as_this_user() {
        if let Err(error) = probe_fifo(5) {
            // Not by a macro: the test harness would keep its output to itself.
            let test = "a_thread_becomes_fifo_and_is_demoted_again_as_this_user";
            let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: {error}");
            return;
        }
        std::thread::spawn(|| {
            set_fifo(5).unwrap();
            let expected = ThreadScheduling { policy: Policy::Fifo, priority: 5, nice: 0, reset_on_fork: true };
            assert_eq!(scheduling().unwrap(), expected);
            let child = std::thread::spawn(|| scheduling().unwrap()).join().unwrap();
            assert_eq!(child.policy, Policy::Other);
            let tid = current_tid();
            std::thread::spawn(move || demote(tid).unwrap()).join().unwrap();
            assert_eq!(scheduling().unwrap().policy, Policy::Other);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn impossible_priorities_are_refused_before_the_kernel_is_asked() {
        assert_eq!(fifo_range(), 1..=99);
        let error = set_fifo(100).unwrap_err();
        assert!(error.to_string().contains("1 to 99"), "{error}");
        assert_eq!(set_fifo(0).unwrap_err().errno, libc::EINVAL);
    }

    #[test]
    fn the_highest_granted_priority_is_found_in_seven_questions() {
        for refused in 1..=99u8 {
            for limit in 0..refused {
                let mut questions = 0;
                let found = highest(refused, |priority| {
                    questions += 1;
                    priority <= limit
                });
                assert_eq!(found, (limit > 0).then_some(limit), "below {refused}");
                assert!(questions <= 7, "{questions} questions below {refused}");
            }
        }
    }
}
