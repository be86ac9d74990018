//! `vecud simulate` as a user runs it: one FMU, CSV out, and nothing left behind.

mod bad_input;
mod equations;
mod events;
mod inputs;
mod negated;
mod options;
mod references;
use crate::simulated;
mod statuses;
mod sweeps;

use simulated::{Place, Simulated, copy, fmu, simulate};
