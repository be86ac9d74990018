//! What the machine's files say, read once through a [`Tree`] and judged by nobody yet.
//!
//! The supervisor takes the facts of a report from here, too ([`KernelFacts`], [`Core`], [`Processor`], [`Settings`]).

mod cores;
mod groups;
mod interrupts;
mod kernel;
mod settings;
mod threads;
mod traces;

pub use cores::{Core, CoreFacts, IdleState};
pub use groups::{CgroupLimits, Quota};
pub use interrupts::{Interrupt, Interrupts};
pub use kernel::{KernelFacts, Processor};
pub use settings::{FairServer, Settings};
pub use threads::{RealTimePolicy, Thread, real_time_threads};
pub use traces::{SESSIONS, TRACEFS, instance_name, left_traces};

use super::Tree;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct MachineFacts {
    /// Release, version, command line.
    pub kernel: KernelFacts,
    /// Processor and what is below it.
    pub processor: Processor,
    /// All cores, and more of those in use.
    pub cores: CoreFacts,
    /// Switches of the kernel.
    pub settings: Settings,
    /// Control groups of this process.
    pub groups: CgroupLimits,
    /// Devices' interrupts, and what each core has had.
    pub interrupts: Interrupts,
    /// Threads of other processes with a real-time policy.
    pub threads: Vec<Thread>,
    /// Folders of the kernel's tracing that runs have left which were killed.
    pub left_traces: Vec<String>,
}

impl MachineFacts {
    /// Reads what concerns these cores.
    pub fn read(tree: &Tree, cpus: &[usize]) -> MachineFacts {
        MachineFacts {
            kernel: KernelFacts::read(tree),
            processor: Processor::read(tree),
            cores: CoreFacts::read(tree, cpus),
            settings: Settings::read(tree, cpus),
            groups: CgroupLimits::read(tree),
            interrupts: Interrupts::read(tree),
            threads: real_time_threads(tree, std::process::id()),
            left_traces: left_traces(tree),
        }
    }
}
