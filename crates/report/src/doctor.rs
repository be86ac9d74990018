//! Findings of `vecud doctor` about the machine of a run; in `report.json` in this form.

use super::Distribution;
use serde::{Deserialize, Serialize};

/// State of the machine before the run, from its files alone: the run itself shows which requests were granted.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct DoctorResult {
    /// No finding is a problem.
    pub fit: bool,
    /// Problems and advice, problems first.
    pub findings: Vec<DoctorFinding>,
    /// The measurements of the last `vecud doctor` on this machine; `None`: there was none, or on no core of the run.
    #[serde(default)]
    pub probe: Option<ProbeResult>,
}

/// A finding that costs latency.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct DoctorFinding {
    /// Name of the check, in one word for programs.
    pub check: String,
    /// Number of the core, for findings about one core.
    pub cpu: Option<usize>,
    /// Can cost releases; otherwise it costs microseconds.
    pub is_problem: bool,
    /// State of the machine.
    pub found: String,
    /// Effect on latency.
    pub why: String,
}

/// Wake-up latencies of threads without any FMU on cores of the run, by the last `vecud doctor`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ProbeResult {
    /// Time of the measurement: RFC 3339, UTC.
    pub measured: String,
    /// Duration, s.
    pub seconds: f64,
    /// The cores.
    pub cpus: Vec<usize>,
    /// The `SCHED_FIFO` priority; `None`: ordinary threads.
    pub fifo_priority: Option<u8>,
    /// Wake-up latencies, ns; the values are in `histograms.hlog` under the tag `doctor.probe`.
    pub latency: Distribution,
}

impl ProbeResult {
    /// The tag of its values in the log, which no clock or lock can have.
    pub(super) const TAG: &str = "doctor.probe";
}
