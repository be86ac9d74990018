//! Notifies the service manager (systemd) that has started the daemon: requests are answered, these rigs run, files are
//! reloaded, the daemon ends, and at intervals that everything is alive.
//!
//! Guarantees:
//!
//! - Where there is no service manager nothing is sent.
//! - Nobody waits for a service manager that does not listen: what it has no room for it is not told.
//! - The keep-alive is sent by no timer: only while the main loop turns, a request is answered, and every session that watches a run
//!   looks around ([`watchdog`] says how stuck and slow are told apart).

mod manager;
mod notify;
mod pulse;
mod watchdog;

pub use manager::ServiceManager;
pub use pulse::{Pulse, Pulses};
