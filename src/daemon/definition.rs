//! What a rig is, and what is wanted of it: all that is known of it when the daemon starts anew.

use crate::plan::Mode;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use utoipa::ToSchema;

/// Where a rig's text is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Here.
    Text(String),
    /// In this rig file, `.fmu` file, or folder of an FMU.
    Path(PathBuf),
}

/// How a rig is started. What is left out is as the rig says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Who drives time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<StartMode>,
    /// Simulation time at which the run ends, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_time: Option<f64>,
}

/// Who drives time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum StartMode {
    /// The wall clock.
    Realtime,
    /// Nobody: as fast as possible.
    Virtual,
}

impl From<StartMode> for Mode {
    fn from(mode: StartMode) -> Mode {
        match mode {
            StartMode::Realtime => Mode::RealTime,
            StartMode::Virtual => Mode::Virtual,
        }
    }
}

/// A rig, and what is wanted of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// The rig.
    pub source: Source,
    /// How it is to run; `None`: it is not to.
    pub wanted: Option<Start>,
}
