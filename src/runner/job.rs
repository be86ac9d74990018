//! What the supervisor asks of the runner.

use crate::plan::Plan;
use crate::time::Instant;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

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
    /// The output folder, as bytes.
    pub folder: Vec<u8>,
    /// Each run has a folder of its own in that, [`Job::folder_of`].
    pub has_folders: bool,
    /// Whether the state is saved at the end.
    pub save_state: bool,
}

impl Job {
    /// The folder of a run, in that of all of them; counted from 1.
    pub fn folder_of(run: u32) -> String {
        format!("run-{run}")
    }

    /// The log of a run, in the output folder.
    pub fn log_of(&self, run: u32) -> PathBuf {
        let folder = if self.has_folders { Job::folder_of(run) } else { String::new() };
        Path::new(&folder).join("run.log")
    }
}
