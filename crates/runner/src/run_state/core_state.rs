//! The state that the threads of one core share.

use crate::core_occupancy::CoreOccupancy;
use std::sync::atomic::{AtomicI64, AtomicU64};
use vecud_plan::UnitId;

/// The state that the threads of one core share.
#[derive(Debug)]
pub struct CoreState {
    /// The units of the core, most urgent first.
    pub units: Vec<UnitId>,
    /// A bit per place: that task was given mail (ticks, a deadline, an interval), and its thread, which looks for none before,
    /// has not noticed yet.
    pub pending: Vec<AtomicU64>,
    /// Time that partitions have executed here, ns.
    pub executed: AtomicI64,
    /// When they did, of late.
    pub occupancy: CoreOccupancy,
}
