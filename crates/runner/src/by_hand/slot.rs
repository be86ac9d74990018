//! A state that was taken, as it is kept under its name, and the mode of one that was made bytes.

use vecud_fmi::{Configuration, FmuState, Initialization, Instantiated, Running};

/// A state that was taken, by the mode to which it leads back.
pub(super) enum SavedState {
    Instantiated(FmuState<Instantiated>),
    Configuration(FmuState<Configuration>),
    Initialization(FmuState<Initialization>),
    /// The bool: in Event Mode. Of Co-Simulation only the importer keeps that.
    Running(FmuState<Running>, bool),
}

/// A state that was taken or made of bytes, and the time of it.
pub(super) struct Slot {
    pub(super) saved: SavedState,
    pub(super) time: f64,
}

/// To which mode serialised bytes lead back.
#[derive(Clone, Copy)]
pub(super) enum StateMode {
    Instantiated,
    Configuration,
    Initialization,
    Running(bool),
}
