//! The result of an update of discrete states, for any C interface.

use crate::types::RawBool;

/// The answer of an FMU to an iteration of an event.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RawUpdate {
    /// `discreteStatesNeedUpdate`.
    pub(crate) needs_update: RawBool,
    /// `terminateSimulation`.
    pub(crate) terminate_simulation: RawBool,
    /// `nominalsOfContinuousStatesChanged`.
    pub(crate) nominals_changed: RawBool,
    /// `valuesOfContinuousStatesChanged`.
    pub(crate) values_changed: RawBool,
    /// `nextEventTimeDefined`.
    pub(crate) next_event_time_defined: RawBool,
    /// `nextEventTime`.
    pub(crate) next_event_time: f64,
}
