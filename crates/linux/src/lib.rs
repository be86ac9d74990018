//! The host's interface to Linux: scheduling, memory, sleep, time stamps and the preemption lock.
//!
//! The glossary of vecud's words is on the page of the crate `vecud` (`src/lib.rs`, "Words").
//!
//! This crate and `vecud-fmi` are the only places with unsafe code; every block argues why it holds. It knows nothing of
//! rigs, plans or FMUs: priorities are plain numbers of `SCHED_FIFO` (1 to 99, larger is higher), levels are plain
//! indices (0 is the highest), instants are nanoseconds of `CLOCK_MONOTONIC`.
//!
//! - [`preemption`]: the lock between the partitions of one instance, on [`pi`], the priority-inheriting word.
//! - [`scheduling`], [`affinity`], [`memory`], [`latency`], [`thread`]: what makes a thread a real-time thread.
//! - `privilege`: why any of that was refused, and the command that changes it; [`resident`]: memory that may be locked
//!   in part only.
//! - [`wake`]: the one sleep of a partition thread; [`cycles`]: time stamps; [`float_control`]: MXCSR and friends.
//! - [`core_claims`]: which processes have which cores.
//! - [`prefetch`]: asking for memory ahead of its use.
//! - [`heap`]: memory that nobody uses.
//! - [`shared_memory`]: the pages that runner and supervisor both map.
//! - [`process`], [`datagram`]: what one process hands to the other, terminals; sockets for external events.
//! - [`stop`]: how somebody asks for the end, by a signal too.
//! - [`confine`]: what is given away before code of others runs.
//! - [`rights`]: the user with whose rights a file is read that another user names.
//! - [`offspring`]: processes that code of others has started; [`surroundings`]: what it changes for all code of a process.
//! - [`crash`]: the last words of a process whose foreign code crashes.
//! - [`files`]: opens and makes files that others may have prepared.

pub mod affinity;
pub mod clock;
pub mod confine;
pub mod core_claims;
pub mod crash;
pub mod cycles;
pub mod datagram;
pub mod error;
pub mod files;
pub mod float_control;
pub mod heap;
pub mod latency;
pub mod memory;
pub mod offspring;
pub mod permits;
pub mod pi;
pub mod preemption;
pub mod prefetch;
mod privilege;
pub mod process;
pub mod resident;
pub mod rights;
pub mod scheduling;
pub mod shared_memory;
pub mod stack;
pub mod stop;
pub mod surroundings;
pub mod thread;
pub mod wake;
pub mod zeroed;

pub use error::SysError;
