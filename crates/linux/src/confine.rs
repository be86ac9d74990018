//! Rights that a process gives away before it runs code of others, and the protection of its memory.
//!
//! Capabilities belong to threads, and a thread has those of the one that made it. Precondition of [`confine`]: there is
//! one thread. Rights that are given away do not come back, not by `exec` of a file of root's or one with capabilities
//! either.

use super::{SysError, privilege};
use nix::sys::resource::{Resource, setrlimit};
use rustix::process::DumpableBehavior;
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities};
use std::io;

/// Drops all capabilities of the calling thread but `CAP_IPC_LOCK`, without which locked memory could not grow, and sees to it
/// that no `exec` brings one back.
///
/// Threads of this process may still become `SCHED_FIFO` threads up to the priority `fifo` (0: none), as far as they could
/// before: by `RLIMIT_RTPRIO`, or where that cannot be raised so far, by `CAP_SYS_NICE`, which then stays. Whoever has no more
/// than the limit keeps it as it is, since the kernel looks at it when another process sets priorities here.
pub fn confine(fifo: u8) -> Result<(), SysError> {
    let before = capabilities(None).map_err(|error| refused("read the capabilities", error))?;
    let mut kept = before.permitted & CapabilitySet::IPC_LOCK;
    let privileged = privilege::may_set_priorities();
    let limit = u64::from(fifo);
    if (privileged || fifo == 0) && setrlimit(Resource::RLIMIT_RTPRIO, limit, limit).is_err() {
        kept |= before.permitted & CapabilitySet::SYS_NICE;
    }
    // Of what `exec` of root's programs gives. Without CAP_SETPCAP the bounding set stays, which is no matter below.
    let _only_if_allowed = (0..u64::BITS).try_for_each(|number| {
        rustix::thread::remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number))
    });
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    rustix::thread::set_capabilities(None, sets).map_err(|error| refused("drop capabilities", error))?;
    rustix::thread::set_no_new_privs(true).map_err(|error| refused("give up new privileges (no_new_privs)", error))
}

/// From here on no process of this user can read or change the memory of this one, nor trace it, without a capability for
/// that; and a crash of this one leaves no core file.
pub fn close_memory() -> Result<(), SysError> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| refused("close the process to others (PR_SET_DUMPABLE)", error))
}

fn refused(what: &str, error: impl Into<io::Error>) -> SysError {
    SysError::new(what, error.into().raw_os_error().unwrap_or(0), privilege::prctl_fix())
}
