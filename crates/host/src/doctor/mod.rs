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
mod case;
pub mod facts;
mod finding;
pub mod kept;
pub mod probe;
pub mod rules;
pub mod show;
mod target;
mod tree;
pub mod trials;

pub use case::Case;
pub use facts::MachineFacts;
pub use finding::{Action, FILES, Finding, Fix, Level, Needs};
pub use probe::Probe;
pub use target::Target;
pub use tree::{Reading, Tree};
pub use trials::Trials;
