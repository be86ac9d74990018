//! Plans of small rigs. The cases by what they are about.

mod bad_input;
mod batches;
mod control;
mod draft;
mod exchange;
mod exchange_starts;
pub mod growth;
mod initialisation;
mod integration;
mod masters;
mod promise;
mod record;
mod running_rigs;
mod schedulability;
mod schedule;
mod serial;
mod small_rigs;
mod start_values;
mod steps;
mod table;

pub use small_rigs::*;

use super::{HostFacts, Plan, build};
use crate::rig;
use std::path::Path;
use vecud_description::{ModelDescription, parse};
