//! The order that the supervisor gives to the runner.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use vecud_base::time::Instant;
use vecud_plan::{Plan, StartValue};

/// A plan, and how it is to be run.
#[derive(Debug, Serialize, Deserialize)]
pub struct Job {
    /// The plan.
    pub plan: Plan,
    /// The process that gives the order: it alone may be the runner's parent.
    pub supervisor: u32,
    /// Where activations begin: the plan's start, or the time of the state that the run goes on from.
    pub begin: Instant,
    /// How often it is run.
    pub runs: u32,
    /// Each run has a folder of its own in the output folder, [`Job::folder_of`].
    pub has_folders: bool,
    /// Whether the state is saved at the end.
    pub save_state: bool,
    /// In virtual time each task has a thread of its own; its FMUs make steps and have nothing to do with each other.
    pub side_by_side: bool,
    /// For each run the start values of the only FMU that differ from the plan's; empty: all runs are the same. Such runs have
    /// instances of their own, of the libraries that were loaded once.
    pub variants: Vec<Vec<StartValue>>,
}

impl Job {
    /// Gives the plan the start values of a run, counted from 1.
    pub fn vary(&mut self, run: u32) {
        let Some(variant) = self.variants.get(run as usize - 1) else { return };
        let starts = &mut self.plan.fmus[0].start_values;
        for start in variant {
            starts.retain(|own| own.reference != start.reference);
            starts.push(start.clone());
        }
    }

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
