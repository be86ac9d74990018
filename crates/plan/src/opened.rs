//! The opened files of a rig.

use crate::rig::At;
use std::path::PathBuf;
use vecud_description::ModelDescription;

/// An opened FMU, at the same index as in [`Rig::fmus`](crate::rig::Rig::fmus).
#[derive(Clone, Debug)]
pub struct FmuInput<'a> {
    /// The FMU's `modelDescription.xml`.
    pub description: &'a ModelDescription,
    /// The shared library.
    pub library: PathBuf,
    /// The folder that it is unpacked in.
    pub folder: String,
    /// `resourcePath`; `None` when the FMU has none.
    pub resources: Option<String>,
    /// The path that the user named.
    pub path: PathBuf,
    /// Whether the library exports a function that returns the largest step (`fmi2GetMaxStepSize`).
    pub tells_max_step: bool,
}

/// An opened file of a stimulus, at the same index as in [`Rig::stimuli`](crate::rig::Rig::stimuli).
#[derive(Clone, Debug, PartialEq)]
pub struct StimulusInput {
    /// The file that was opened: of a recording the first one that there is.
    pub file: PathBuf,
    /// Names of the columns after the time, with their places in that file.
    pub columns: Vec<At<String>>,
    /// Rows per second of simulation time, as the first rows have it.
    pub rate: f64,
    /// For each column its cell at the start time, with its place; `None`: nothing yet.
    pub start: Vec<Option<At<String>>>,
}
