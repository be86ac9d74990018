//! Serves FMU code on the runner's threads: the preemption lock, and the [`routing`] of its ticks (semantics S4, S7, S9).
//!
//! One [`PartitionHost`] per partition thread; in virtual time, and while FMUs are initialised and ended, one per instance on the
//! only thread.

mod blocked;
mod callbacks;
mod clock_buffers;
mod failures;
mod intermediate;
mod locking;
mod midst;
mod on_ticks;
mod partition_host;
mod routing;
mod tracing;
mod tunables;

pub use self::failures::{as_noted, gives_state};
pub use self::partition_host::{Dispatch, Event, PartitionHost};
pub use self::tracing::virtual_flow;
