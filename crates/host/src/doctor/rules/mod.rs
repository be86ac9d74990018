//! Derives findings from the case. Pure: the same case gives the same findings, in this order.
//!
//! | module | looks at |
//! |---|---|
//! | `kernel` | PREEMPT_RT, the command line, virtual machine, clock source |
//! | `grants` | FIFO priorities, locked memory, sleep states, cores and timer slack, as tried |
//! | `time` | what takes time away from real-time threads: throttling, fair server, control groups |
//! | `cores` | isolation, SMT, governor, idle states |
//! | `interrupts` | devices' interrupts and those between cores |
//! | `threads` | who else runs in the rig's band |
//! | `settings` | switches of `/proc/sys`, huge pages, swap |
//! | `probe` | how late the probe woke |

#![forbid(unsafe_code)]

mod cores;
mod findings;
mod grants;
mod interrupts;
mod kernel;
mod lists;
mod probe;
pub mod settings;
mod threads;
mod time;

pub use findings::{findings, of_facts};
pub(super) use lists::named;
pub(super) use probe::verdict;
