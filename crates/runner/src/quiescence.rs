//! An instance at rest: no partition of it is active, preempted ones included, and none begins.
//!
//! The standard requires that for Reconfiguration Mode, and for getting or setting the state of an FMU. Releases that come
//! meanwhile wait at the gate and are late, or missed, as if a partition of the instance had taken that long. An instance that
//! takes turns holds its turn meanwhile.

use super::run_state::RunState;
use vecud_linux::thread::current_tid;
use vecud_plan::FmuId;
use vecud_record::board::Scheduling;

impl RunState {
    /// Waits until the instance is at rest, and keeps it so while `body` runs. Called from a thread that is no partition's;
    /// in virtual time between two activations.
    ///
    /// A partition that does not return keeps the caller waiting.
    pub fn at_rest<T>(&self, fmu: FmuId, body: impl FnOnce() -> T) -> T {
        let instance = &self.instances[fmu.0];
        let in_turn = || {
            let _turn = instance.steps.and_then(|unit| self.serial(unit)).map(|serial| serial.take(|| ()));
            body()
        };
        match self.scheduling {
            Scheduling::Virtual => in_turn(),
            Scheduling::Fifo => {
                let rest = instance.lock.quiesce(current_tid());
                let result = in_turn();
                drop(rest);
                result
            }
            Scheduling::Cooperative => {
                instance.turns.pause();
                let result = in_turn();
                instance.turns.resume();
                result
            }
        }
    }
}
