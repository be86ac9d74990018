//! The purpose for which the machine is judged.

/// Requirements on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Name of the rig with these cores and priorities; `None`: they are vecud's defaults.
    pub rig: Option<String>,
    /// The cores, sorted.
    pub cpus: Vec<usize>,
    /// `SCHED_FIFO` priorities of partitions: lowest and highest.
    pub band: (u8, u8),
}
