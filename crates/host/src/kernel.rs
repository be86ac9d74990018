//! The kernel's trace of the cores of partitions during a run (`[trace] kernel = true`): thread switches, wake-ups,
//! interrupts and softirqs, in ring buffers in memory where the newest events replace the oldest.
//!
//! As `cyclictest --breaktrace` does, the supervisor stops the trace as soon as it finds that a limit of the rig was
//! exceeded; the events before that become `kernel-trace.txt`, and the rest of the run is not traced. In a rig without
//! limits nothing stops the trace, and it covers the end of the run. Only the kernel's own notes are on the path of an
//! activation; a separate thread reads them.
//!
//! Missing prerequisites are a warning of the report, and the run continues.

mod instance;
mod text;
mod tracing;
mod work;

pub(super) use instance::remove_stale;
pub(super) use text::NAME;
pub(super) use tracing::KernelTracer;
