//! The findings of a planning: problems, each of which prevents the plan, and notes.

use crate::rig::{Diagnostic, Place, Rig, write_lines};
use std::fmt;
use std::path::Path;

/// Problems and notes so far. Problems do not stop the search for further ones.
pub(super) struct Findings<'a> {
    rig: &'a Rig,
    pub(super) problems: Vec<Diagnostic>,
    pub(super) notes: Vec<String>,
}

impl<'a> Findings<'a> {
    pub(super) fn new(rig: &'a Rig) -> Findings<'a> {
        Findings { rig, problems: Vec::new(), notes: Vec::new() }
    }

    /// Whether this path stands in the place of a rig file: an FMU that runs by itself.
    pub(super) fn is_rig(&self, path: &Path) -> bool {
        self.rig.file == path
    }

    /// A problem that the rig file has, or an option of the command line.
    pub(super) fn rig(&mut self, place: Place, message: impl Into<String>) {
        self.problems.push(Diagnostic::new(self.rig.origin(place), place, message));
    }

    /// Adds a note: an information where nothing is wrong.
    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Everything that is wrong so far, sorted; nothing, if nothing is.
    pub(super) fn refuse(&mut self) -> Result<(), PlanError> {
        let mut problems = std::mem::take(&mut self.problems);
        problems.sort();
        problems.dedup();
        if problems.is_empty() { Ok(()) } else { Err(PlanError { problems }) }
    }
}

/// Why there is no plan: everything that is wrong, each with its place. Displayed one per line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// Never empty.
    pub problems: Vec<Diagnostic>,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_lines(&self.problems, f)
    }
}

impl std::error::Error for PlanError {}
