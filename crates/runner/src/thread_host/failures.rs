//! Failures and offences of FMU code, noted in the name of the activation under way.

use super::partition_host::PartitionHost;
use crate::activation_error::ActivationError;
use crate::run_state::RunState;
use vecud_base::time::Instant;
use vecud_description::ValueReference;
use vecud_fmi::{Failure, Function, Outcome, Status};
use vecud_plan::UnitId;
use vecud_record::board::{FailedCall, FmuWord, TaskWord};
use vecud_record::findings::{FindingKind, Occurrence};
use vecud_record::unusable::Unusable;

impl PartitionHost {
    /// Notes that a call failed; a refused one is the consequence of another and adds nothing.
    pub fn fail(&self, failure: &Failure) {
        if !failure.refused {
            let failed = as_noted(failure);
            // Before the run, the clock that was asked for something.
            let asked = || {
                let mut units = self.run.plan.units.iter();
                units
                    .position(|unit| unit.fmu == self.fmu && failure.clock.is_some() && unit.clock() == failure.clock)
                    .map(UnitId)
            };
            let unit = self.unit().or_else(asked);
            let time = self.evaluated_at(failure).unwrap_or_else(|| self.time());
            self.run.board.fmu(self.fmu).fail(failed, unit, time, None);
        }
        self.run.instance_failed(self.fmu);
    }

    /// Where an FMU that is integrated was asked, which may be anywhere in a step.
    fn evaluated_at(&self, failure: &Failure) -> Option<Instant> {
        let plan = &self.run.plan.fmus[self.fmu.0];
        plan.model_exchange().and(failure.time).and_then(|time| plan.time_unit.instant(time))
    }

    /// Notes that a call succeeded, but returned a value that the host cannot use, for `unit` at `time`: an interval that no
    /// clock can have, or a derivative that is not finite.
    pub fn fail_reading(&self, function: Function, unit: UnitId, time: Instant, reading: Unusable) -> ActivationError {
        let failed = FailedCall { status: Status::Error as u64, function: function as u64, answer: None };
        self.run.board.fmu(self.fmu).fail(failed, Some(unit), time, Some(reading));
        self.run.instance_failed(self.fmu);
        ActivationError::Reading
    }

    /// Notes a violation of the standard, in the name of the activation under way.
    pub(super) fn note(&self, finding: FindingKind, reference: Option<ValueReference>, value: u64) {
        let seen = Occurrence { unit: self.unit(), reference, time: Some(self.time()), value };
        self.run.board.fmu(self.fmu).findings().note(finding, seen);
    }

    pub(super) fn count(&self, task_word: TaskWord, fmu_word: FmuWord) {
        match self.unit() {
            Some(unit) => self.run.board.task(unit).count(task_word, 1),
            None => self.run.board.fmu(self.fmu).count(fmu_word, 1),
        }
    }
}

impl ActivationError {
    /// Has `host` note a call that failed.
    pub fn note(&self, host: &PartitionHost) {
        if let ActivationError::Call(failure) = self {
            host.fail(failure);
        }
    }
}

/// Whether an instance whose steps may have to be undone has given its state before the first release of `unit`. An instance that
/// is still healthy without a state is not asked again, which is a finding; any other failure is noted, and the instance is
/// refused from then on.
pub fn gives_state(run: &RunState, unit: UnitId, given: Result<Outcome, Failure>, is_healthy: bool) -> bool {
    let board = run.board.fmu(run.plan.units[unit.0].fmu);
    match given {
        Ok(_) => return true,
        Err(_) if is_healthy => {
            board.findings().note(FindingKind::NoState, Occurrence { unit: Some(unit), ..Occurrence::default() });
        }
        Err(failure) if failure.refused => (),
        Err(failure) => board.fail(as_noted(&failure), Some(unit), run.begin, None),
    }
    false
}

/// A call that has failed, as the board has it.
pub fn as_noted(failure: &Failure) -> FailedCall {
    FailedCall { status: failure.status as u64, function: failure.function as u64, answer: failure.answer }
}
