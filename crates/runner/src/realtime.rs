//! Real time: one thread per task (semantics S6, S12, S17, S18).
//!
//! A partition thread sleeps until the next release of its timeline, or until a tick wakes it; runs the activation inside the
//! preemption gate; records; skips missed releases. A thread that polls enters the gate before its release, and leaves it again
//! without an activation if there is mail. From its second activation on it allocates nothing, faults no page, logs nothing, and
//! makes one system call per uncontended periodic activation: the sleep.

mod awake;
mod jitter;
mod mail;
mod next_release;
mod overruns;
mod partition_thread;
mod task_context;

pub use self::mail::take_mail;
pub use self::partition_thread::{PartitionThread, SetUp};
