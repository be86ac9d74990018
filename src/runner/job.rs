//! What the supervisor asks of the runner.

use crate::plan::Plan;
use crate::time::Instant;
use serde::{Deserialize, Serialize};

/// A plan, and what is to be made of it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Job {
    /// The plan.
    pub plan: Plan,
    /// The process that asks: nobody else is the runner's parent.
    pub supervisor: u32,
    /// Where activations begin: the plan's start, or the time of the state that the run goes on from.
    pub begin: Instant,
    /// How often it is run.
    pub runs: u32,
    /// With several runs: the folder (as bytes) in which each has one of its own, [`Job::folder_of`].
    pub folder: Vec<u8>,
    /// Whether the state is saved at the end.
    pub save_state: bool,
}

impl Job {
    /// The folder of a run, in that of all of them; counted from 1.
    pub fn folder_of(run: u32) -> String {
        format!("run-{run}")
    }
}
