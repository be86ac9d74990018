//! What `vecud doctor` says of the machine of a run; in `report.json` as it is here.

use super::Distribution;
use serde::{Deserialize, Serialize};

/// The machine as doctor's rules saw it before the run, by looking alone: what was granted, the run itself shows.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct DoctorResult {
    /// No finding is a problem.
    pub fit: bool,
    /// Problems and advice, problems first.
    pub findings: Vec<DoctorFinding>,
    /// What the last `vecud doctor` on this machine measured; `None`: there was none, or on no core of the run.
    #[serde(default)]
    pub probe: Option<ProbeResult>,
}

/// Something that costs latency.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct DoctorFinding {
    /// What was looked at, in one word for programs.
    pub check: String,
    /// The core that it is about, where it is about one.
    pub cpu: Option<usize>,
    /// It can cost releases; else microseconds.
    pub is_problem: bool,
    /// What was found.
    pub found: String,
    /// What it does to latency.
    pub why: String,
}

/// How late threads without any FMU woke on cores of the run, when `vecud doctor` looked last.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ProbeResult {
    /// When: RFC 3339, UTC.
    pub measured: String,
    /// For how long, s.
    pub seconds: f64,
    /// The cores.
    pub cpus: Vec<usize>,
    /// The `SCHED_FIFO` priority; `None`: ordinary threads.
    pub fifo_priority: Option<u8>,
    /// How late they woke, ns; its values are in `histograms.hlog` under the tag `doctor.probe`.
    pub latency: Distribution,
}

impl ProbeResult {
    /// The tag of its values in the log, which no clock or lock can have.
    pub(super) const TAG: &str = "doctor.probe";
}
