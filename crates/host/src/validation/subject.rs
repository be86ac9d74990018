//! The FMU that is validated, and how that is wanted.

use crate::{EventSink, Options, SessionEvent};
use std::path::PathBuf;
use std::time::Duration;
use vecud_description::ModelDescription;
use vecud_fmu::archive::{Cache, Unpacked};
use vecud_linux::stop::StopToken;
use vecud_report::compare::NamedTolerance;

/// Path of the description in an FMU.
pub(super) const DESCRIPTION: &str = "modelDescription.xml";

/// Settings of a validation.
#[derive(Clone, Debug)]
pub struct Examination {
    /// The `.fmu` file, or the folder of an FMU.
    pub file: PathBuf,
    /// Time limit for a life, and for each call in it.
    pub timeout: Duration,
    /// Tolerance of results against those that the FMU carries; `None`: the tolerance of simulations against their
    /// reference.
    pub tolerance: Option<NamedTolerance>,
    /// Request for the end.
    pub stop: StopToken,
    /// Whether this process adopts orphans: processes that FMU code leaves behind are ended.
    pub adopts: bool,
    /// Libraries to load before the FMU's library.
    pub preload: Vec<PathBuf>,
    /// Errors of the description that leave the rest meaningful are findings, and the FMU is tried all the same.
    pub lenient: bool,
}

/// An FMU whose description was read.
pub(super) struct ExaminedFmu<'a> {
    pub(super) wanted: &'a Examination,
    pub(super) unpacked: Unpacked,
    pub(super) cache: Cache,
    pub(super) description: ModelDescription,
    pub(super) events: &'a EventSink,
}

impl ExaminedFmu<'_> {
    /// Options for simulations of the FMU.
    pub(super) fn options(&self) -> Options {
        let Examination { timeout, stop, adopts, preload, lenient, .. } = self.wanted;
        Options {
            stop: stop.clone(),
            preload: preload.clone(),
            lenient: *lenient,
            at_most: Some(*timeout),
            adopts: *adopts,
            ..Options::default()
        }
    }

    /// Reports long work while it is done.
    pub(super) fn meanwhile<T>(&self, what: String, work: impl FnOnce() -> T) -> T {
        self.events.tell(SessionEvent::Begun(what));
        let done = work();
        self.events.tell(SessionEvent::Over);
        done
    }
}
