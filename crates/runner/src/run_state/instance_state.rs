//! The state that the threads of one instance share.

use crate::cooperative::Turns;
use crate::exchange::TickQueue;
use crate::integration_buffers::BufferSwap;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, OnceLock, PoisonError};
use vecud_fmi::ClockUpdate;
use vecud_linux::preemption::PreemptionLock;
use vecud_plan::UnitId;
use vecud_plan::snapshot::BetweenSteps;

/// The state that the threads of one instance share.
pub struct InstanceState {
    /// The preemption lock of the instance.
    pub lock: PreemptionLock,
    /// The order of its partitions without real-time scheduling.
    pub turns: Turns,
    /// Reads its clocks during updates; set when it is initialised.
    pub updates: OnceLock<ClockUpdate>,
    /// No activation may start any more.
    pub failed: AtomicBool,
    /// The activation under way may never return: no thread waits for it.
    pub given_up: AtomicBool,
    /// The values of [`vecud_plan::FmuPlan::sizes`]; written while no partition is active.
    pub sizes: Box<[AtomicU64]>,
    /// How often sizes have changed.
    pub resized: AtomicU64,
    /// The task that makes its steps; `None`: it makes none.
    pub steps: Option<UnitId>,
    /// The ticks of clocks of an instance that makes steps: a queue for each of its clocks, for ticks from outside of the steps.
    pub ticks: Box<[TickQueue]>,
    /// For an instance that makes the steps of integrated FMUs: buffers for other numbers of states.
    pub buffer_swap: BufferSwap,
    /// Pending events and ticks of an instance that makes steps; used before and after the run only.
    pub(super) between: Mutex<BetweenSteps>,
}

impl InstanceState {
    /// A copy of the pending events and ticks between its steps. Not while the run goes on.
    pub fn between_steps(&self) -> BetweenSteps {
        self.between.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// This is to come between its steps. Not while the run goes on.
    pub fn expect(&self, between: BetweenSteps) {
        *self.between.lock().unwrap_or_else(PoisonError::into_inner) = between;
    }
}
