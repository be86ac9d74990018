//! The parts of an instance that compute, apart from the control that ends it.

use super::shared::SharedInstance;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A part of an instance that computes: `Send`, so that it can move to its thread, not `Sync`, so that it stays there. As long
/// as one is out, the instance is not put together again.
pub struct ComputeHandle {
    pub(super) shared: Arc<SharedInstance>,
    only_one_thread: PhantomData<Cell<()>>,
}

impl ComputeHandle {
    pub(super) fn of(shared: &Arc<SharedInstance>) -> ComputeHandle {
        shared.parts.fetch_add(1, Ordering::AcqRel);
        ComputeHandle { shared: shared.clone(), only_one_thread: PhantomData }
    }
}

impl Drop for ComputeHandle {
    fn drop(&mut self) {
        self.shared.parts.fetch_sub(1, Ordering::AcqRel);
    }
}
