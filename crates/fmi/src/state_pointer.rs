//! C's pointers to the states of an instance, which lie in memory of the FMU.

use super::types::RawState;

/// The functions of states that the FMU's description offers: others are refused without a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum StateSupport {
    /// No function of states.
    #[default]
    None,
    /// `canGetAndSetFMUState`.
    GetAndSet,
    /// `canSerializeFMUState`.
    Serialize,
}

/// An `fmi3FMUState`. Rust never looks behind the pointer.
pub(super) struct StatePointer(pub(super) RawState);

// SAFETY: the pointer is only handed back to the FMU, in calls of its instance, and those are made by one thread at a
// time: by the one that has the `Instance`. FMI demands no thread affinity.
unsafe impl Send for StatePointer {}
// SAFETY: as above; nothing is read through a shared pointer.
unsafe impl Sync for StatePointer {}

/// The states of an instance that were not freed yet.
#[derive(Default)]
pub(super) struct States {
    pub(super) live: Vec<StatePointer>,
    /// The states whose handles were dropped.
    pub(super) dropped: Vec<StatePointer>,
}
