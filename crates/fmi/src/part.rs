//! What computes of an instance, apart from what ends it: the parts that are handed out, and the control that wants them back.

use super::clock_update::ClockUpdate;
use super::environment::Health;
use super::instance::{Instance, Running, Whole};
use super::shared::Shared;
use super::status::{Failure, Outcome, Status};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What computes of an instance: `Send`, so that it can move to its thread, not `Sync`, so that it stays there. As long as one
/// is out, the instance is not put together again.
pub struct Part {
    pub(super) shared: Arc<Shared>,
    only_one_thread: PhantomData<Cell<()>>,
}

impl Part {
    pub(super) fn of(shared: &Arc<Shared>) -> Part {
        shared.parts.fetch_add(1, Ordering::AcqRel);
        Part { shared: shared.clone(), only_one_thread: PhantomData }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.shared.parts.fetch_sub(1, Ordering::AcqRel);
    }
}

/// What ends an instance of which parts compute.
#[must_use = "dropping it leaves the end of the instance to the last of its parts"]
pub struct InstanceControl {
    pub(super) shared: Whole,
}

impl InstanceControl {
    pub(super) fn new(shared: Whole) -> InstanceControl {
        InstanceControl { shared }
    }

    /// What clock updates read clocks with.
    pub fn clock_update(&self) -> ClockUpdate {
        ClockUpdate::new(self.shared.clone())
    }

    /// Whether the instance may still be called.
    pub fn health(&self) -> Health {
        self.shared.health()
    }

    /// Treats the instance as if a call had returned `fmi3Error`: nothing but `fmi3FreeInstance` will be called.
    pub fn fail(&self) {
        self.shared.fail(Status::Error);
    }

    /// Ends the instance: `fmi3Terminate` if it is healthy, `fmi3FreeInstance` unless it is fatal.
    ///
    /// Wants all parts back, for a part that is here does not compute. With some of them missing nothing is called and the
    /// instance is abandoned.
    pub fn terminate(self, parts: Vec<impl Into<Part>>) -> Result<Outcome, TerminateError> {
        self.join(parts)?.end().map_err(TerminateError::Failed)
    }

    /// Puts the instance together again: nothing of it computes, since all parts are here.
    ///
    /// With some of them missing nothing is called and the instance is abandoned.
    pub fn join(self, parts: Vec<impl Into<Part>>) -> Result<Instance<Running>, TerminateError> {
        let parts: Vec<Part> = parts.into_iter().map(Into::into).collect();
        let own = parts.iter().filter(|part| Arc::ptr_eq(&part.shared, &self.shared)).count();
        let missing = self.shared.parts.load(Ordering::Acquire) - own;
        if missing > 0 {
            self.abandon();
            return Err(TerminateError::PartsMissing(missing));
        }
        drop(parts);
        Ok(Instance::new(self.shared))
    }

    /// Leaves the instance as it is, for ever: a part of it hangs. Nothing is called any more, nothing is unloaded.
    pub fn abandon(self) {
        self.shared.fail(Status::Error);
        std::mem::forget(self.shared);
    }
}

/// Why an instance was not ended properly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TerminateError {
    /// `fmi3Terminate` did not go well. The instance was freed, unless that was fatal.
    Failed(Failure),
    /// So many parts were not given back. The instance was abandoned.
    PartsMissing(usize),
}

impl fmt::Display for TerminateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TerminateError::Failed(failure) => failure.fmt(f),
            TerminateError::PartsMissing(1) => f.write_str("1 part of the instance still computes"),
            TerminateError::PartsMissing(n) => write!(f, "{n} parts of the instance still compute"),
        }
    }
}

impl std::error::Error for TerminateError {}
