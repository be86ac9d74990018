//! Checks whether this machine is fit for real time: the state, its cost, and the remedy.
//!
//! Data flows one way, and nothing is changed on the way:
//!
//! ```text
//! Tree (/proc, /sys) ──► facts ──┐
//! trials (by trying) ────────────┼──► rules ──► findings ──► show: text, JSON, a script
//! probe (cyclictest-like) ───────┘
//! ```
//!
//! - [`Tree`] is the only way to the machine's files, below a root that is handed in: tests read made-up machines. A file
//!   that is missing, unreadable or full of nonsense is normal, and says so in a finding where it matters.
//! - [`trials`] finds limits by doing what a run does (policy, priority, locked memory, cores, sleep states), in threads
//!   that end at once. [`probe`] sleeps as partitions sleep, and measures how late it wakes.
//! - [`rules`] are pure: what is known → [`Finding`]s. [`show`] is pure, too.
//! - [`against`] compares a result with one that was saved as JSON.
//! - [`kept`] is the last measurement as text: `vecud doctor` puts it into the user's cache, reports draw it.
//! - doctor runs no command and changes nothing of the machine. `--fix` *prints* a script.

#![forbid(unsafe_code)]

pub mod against;
pub mod facts;
mod finding;
pub mod kept;
pub mod probe;
pub mod rules;
pub mod show;
mod tree;
pub mod trials;

pub use facts::MachineFacts;
pub use finding::{Action, FILES, Finding, Fix, Level, Needs};
pub use probe::Probe;
pub use tree::{Reading, Tree};
pub use trials::Trials;

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

/// All input of the rules.
#[derive(Clone, Debug)]
pub struct Case {
    /// Requirements on the machine.
    pub target: Target,
    /// Facts from the machine's files.
    pub facts: MachineFacts,
    /// Results of the trials.
    pub trials: Trials,
    /// Result of the measurement; `None`: no measurement was requested.
    pub probe: Option<Probe>,
}
