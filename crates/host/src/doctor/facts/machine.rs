//! All facts of a machine.

use super::cores::CoreFacts;
use super::groups::CgroupLimits;
use super::interrupts::Interrupts;
use super::kernel::{KernelFacts, Processor};
use super::settings::Settings;
use super::threads::{Thread, real_time_threads};
use super::traces::left_traces;
use crate::doctor::Tree;

/// See the [module](super).
#[derive(Clone, Debug, Default)]
pub struct MachineFacts {
    /// Release, version, command line.
    pub kernel: KernelFacts,
    /// The processor and its hypervisor, if there is one.
    pub processor: Processor,
    /// All cores, and further facts about those in use.
    pub cores: CoreFacts,
    /// Switches of the kernel.
    pub settings: Settings,
    /// Control groups of this process.
    pub groups: CgroupLimits,
    /// Interrupts of devices, and the interrupts of each core.
    pub interrupts: Interrupts,
    /// Threads of other processes with a real-time policy.
    pub threads: Vec<Thread>,
    /// Folders of the kernel's tracing that runs have left which were killed.
    pub left_traces: Vec<String>,
}

impl MachineFacts {
    /// Reads the facts that concern these cores.
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
