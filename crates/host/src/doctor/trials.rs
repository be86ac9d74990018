//! The rights of this user, found by trying as a run does: capabilities, limits, namespaces, control groups and filters
//! all have a say, and only the kernel knows the sum.

use super::Target;
use vecud_linux::latency::CpuDmaLatency;
use vecud_linux::{SysError, affinity, memory, scheduling, thread};

/// The refusals; `None`: the attempt succeeded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trials {
    /// The highest `SCHED_FIFO` priority of all that is granted.
    pub fifo: Option<u8>,
    /// Refused at the top of the band.
    pub fifo_refused: Option<TrialFailure>,
    /// The refusal to lock all memory.
    pub memory_refused: Option<TrialFailure>,
    /// `/dev/cpu_dma_latency` held at 0.
    pub sleep_refused: Option<TrialFailure>,
    /// A timer slack of 1 ns.
    pub slack_refused: Option<TrialFailure>,
    /// Threads pinned to each core; those that were refused.
    pub pins_refused: Vec<(usize, TrialFailure)>,
}

/// The words of the part of vecud that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialFailure {
    /// What, and the error.
    pub cause: String,
    /// The way out.
    pub fix: String,
    /// There is no such thing here.
    pub missing: bool,
}

impl From<SysError> for TrialFailure {
    fn from(error: SysError) -> TrialFailure {
        TrialFailure { cause: error.cause(), fix: error.fix.to_string(), missing: error.errno == libc::ENOENT }
    }
}

/// Settings that a run keeps, held as long as this lives.
#[derive(Debug)]
pub struct MachineHold {
    _sleep_states: Option<CpuDmaLatency>,
}

/// Tries. From here on this process's memory is locked, if that is granted.
pub fn all(target: &Target) -> (Trials, MachineHold) {
    let (top, refused) = scheduling::highest_fifo(target.band.1);
    let fifo = if refused.is_none() { scheduling::highest_fifo(*scheduling::fifo_range().end()).0 } else { top };
    let pin = |cpu: &usize| Some((*cpu, affinity::probe_pin(*cpu).err()?.into()));
    let slack = thread::apart(thread::minimize_timer_slack).and_then(|result| result);
    let (sleep_states, sleep_refused) = match CpuDmaLatency::hold() {
        Ok(held) => (Some(held), None),
        Err(error) => (None, Some(error.into())),
    };
    let trials = Trials {
        fifo,
        fifo_refused: refused.map(TrialFailure::from),
        memory_refused: memory::lock_all().err().map(TrialFailure::from),
        sleep_refused,
        slack_refused: slack.err().map(TrialFailure::from),
        pins_refused: target.cpus.iter().filter_map(pin).collect(),
    };
    (trials, MachineHold { _sleep_states: sleep_states })
}
