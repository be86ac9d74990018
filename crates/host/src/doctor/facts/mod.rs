//! Facts from the machine's files, read once through a [`Tree`](super::Tree) and without a judgement.
//!
//! The supervisor takes the facts of a report from here, too ([`KernelFacts`], [`Core`], [`Processor`], [`Settings`]).

mod cores;
mod groups;
mod interrupts;
mod kernel;
mod machine;
mod settings;
mod threads;
mod traces;

pub use cores::{Core, CoreFacts, IdleState};
pub use groups::{CgroupLimits, Quota};
pub use interrupts::{Interrupt, Interrupts};
pub use kernel::{KernelFacts, Processor};
pub use machine::MachineFacts;
pub use settings::{FairServer, Settings};
pub use threads::{RealTimePolicy, Thread, real_time_threads};
pub use traces::{SESSIONS, TRACEFS, instance_name, left_traces};
