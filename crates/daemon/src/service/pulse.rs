//! Signs that the daemon is alive.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// Grows while somebody goes on.
#[derive(Clone, Debug, Default)]
pub struct Pulse(Arc<AtomicU64>);

impl Pulse {
    /// Somebody goes on.
    pub fn beat(&self) {
        self.0.fetch_add(1, SeqCst);
    }

    pub(super) fn count(&self) -> u64 {
        self.0.load(SeqCst)
    }
}

/// Counters that show that the daemon is alive, beside those of the sessions.
#[derive(Clone, Debug, Default)]
pub struct Pulses {
    /// The main loop: it accepts connections, checks for a request to end, and then waits for the rigs' end.
    pub main: Pulse,
    /// Requests are answered.
    pub requests: Pulse,
}
