//! One step of Co-Simulation, as each C interface has it: `fmi3DoStep`, `fmi2DoStep`, `fmiDoStep`.
//!
//! FMI 3.0 says all in one call. Before, an FMU that stops short answers Discard and says on demand how far it came; and a
//! step may be pending: it is computed elsewhere, and whoever asked waits for it.

use super::{DraftFunctions, Fmi1Functions, Fmi2Functions, Fmi3Functions, Functions, Own, adapter};
use crate::ffi::Function;
use crate::ffi::environment::Environment;
use crate::ffi::thread::visit;
use crate::ffi::types::*;
use std::ffi::c_int;
use std::time::{Duration, Instant};

/// A step that an FMU is to make, and what it says of it.
#[derive(Clone, Copy, Debug)]
pub struct RawStep {
    /// `currentCommunicationPoint`.
    pub point: f64,
    /// `communicationStepSize`.
    pub size: f64,
    /// `noSetFMUStatePriorToCurrentPoint`.
    pub no_set_state_before: RawBool,
    /// How long is waited for a step that is pending.
    pub patience: Duration,
    /// `eventHandlingNeeded`.
    pub event_handling_needed: RawBool,
    /// `terminateSimulation`; FMI 2.0: `fmi2Terminated`.
    pub terminate_simulation: RawBool,
    /// `earlyReturn`.
    pub early_return: RawBool,
    /// `lastSuccessfulTime`.
    pub reached: f64,
}

/// `fmi2Discard`, `fmiDiscard`.
const DISCARD: RawStatus = 2;
/// `fmi2Pending`, `fmiPending`: only of a step.
const PENDING: RawStatus = 5;
/// `fmi2DoStepStatus`, `fmiDoStepStatus`.
const DO_STEP_STATUS: c_int = 0;
/// `fmi2LastSuccessfulTime`, `fmiLastSuccessfulTime`.
const LAST_SUCCESSFUL_TIME: c_int = 2;
/// `fmi2Terminated`.
const TERMINATED: c_int = 3;
/// How often a step that is pending is looked at.
const LOOK: Duration = Duration::from_micros(50);

impl RawStep {
    /// Steps from a communication point over a size.
    #[inline]
    pub fn new(point: f64, size: f64) -> RawStep {
        RawStep {
            point,
            size,
            no_set_state_before: 1,
            patience: Duration::MAX,
            event_handling_needed: 0,
            terminate_simulation: 0,
            early_return: 0,
            // Of an FMU that has no word for it, or does not say.
            reached: point + size,
        }
    }

    /// The next step, from a communication point over a size, made as patiently.
    #[inline]
    pub fn begin(&mut self, point: f64, size: f64) {
        (self.point, self.size, self.reached) = (point, size, point + size);
        (self.event_handling_needed, self.terminate_simulation, self.early_return) = (0, 0, 0);
    }
}

impl Functions {
    /// Makes a step.
    ///
    /// # Safety
    /// The instance is alive and in Step Mode.
    #[inline(always)] // as `visit`
    pub(in crate::ffi) unsafe fn do_step(&self, i: RawInstance, step: &mut RawStep) -> RawStatus {
        // SAFETY: this function's contract.
        unsafe {
            match &self.own {
                Own::Fmi3(own) => own.step(i, step),
                Own::Fmi2(_) => adapter::Component::<Fmi2Functions, super::fmi2::Callbacks>::behind(i).step(step),
                Own::Fmi1(_) => adapter::Component::<Fmi1Functions>::behind(i).step(step),
                Own::Draft(own) => own.step(i, step),
            }
        }
    }
}

impl Functions {
    /// `fmi3EnterEventMode` of an instance for Co-Simulation, which came with FMI 3.0.
    ///
    /// # Safety
    /// The instance is alive and in Step Mode.
    pub(in crate::ffi) unsafe fn enter_event_mode(&self, i: RawInstance) -> RawStatus {
        match &self.own {
            // SAFETY: this function's contract.
            Own::Fmi3(own) => unsafe { (own.enter_event_mode)(i) },
            Own::Fmi2(_) | Own::Fmi1(_) | Own::Draft(_) => NOT_CALLED,
        }
    }
}

impl Fmi3Functions {
    /// # Safety
    /// As [`Functions::do_step`].
    #[inline(always)]
    unsafe fn step(&self, i: RawInstance, step: &mut RawStep) -> RawStatus {
        // SAFETY: the contract of `Functions::do_step`; each place can be written to.
        unsafe {
            (self.do_step)(
                i,
                step.point,
                step.size,
                step.no_set_state_before,
                &mut step.event_handling_needed,
                &mut step.terminate_simulation,
                &mut step.early_return,
                &mut step.reached,
            )
        }
    }
}

impl DraftFunctions {
    /// What is announced beside the end of the step, an event and clocks that are about to tick, is for Event Mode.
    ///
    /// # Safety
    /// As [`Functions::do_step`].
    unsafe fn step(&self, i: RawInstance, step: &mut RawStep) -> RawStatus {
        let mut clocks_about_to_tick = 0;
        // SAFETY: the contract of `Functions::do_step`; each place can be written to.
        unsafe {
            (self.do_step)(
                i,
                step.point,
                step.size,
                step.no_set_state_before,
                &mut step.event_handling_needed,
                &mut clocks_about_to_tick,
                &mut step.terminate_simulation,
                &mut step.early_return,
                &mut step.reached,
            )
        }
    }
}

/// What a step came to that has answered `raw`: one that is pending is waited for, and Discard when it was given up. `look` asks for
/// `fmi2DoStepStatus` and answers what that call did, `cancel` gives the step up.
fn came_to(
    raw: RawStatus,
    environment: *const Environment,
    patience: Duration,
    look: impl Fn(&mut RawStatus) -> RawStatus,
    cancel: impl FnOnce() -> RawStatus,
) -> RawStatus {
    if raw != PENDING {
        return adapter::status(raw);
    }
    let begun = Instant::now();
    loop {
        let mut now = PENDING;
        let answer = adapter::status(visit(environment, Function::GetStatus, || look(&mut now)));
        if answer > 1 {
            return answer;
        }
        if now != PENDING {
            return adapter::status(now);
        }
        if begun.elapsed() >= patience {
            return adapter::status(visit(environment, Function::CancelStep, cancel)).max(DISCARD);
        }
        std::thread::sleep(LOOK);
    }
}

impl adapter::Component<Fmi2Functions, super::fmi2::Callbacks> {
    /// # Safety
    /// As [`Functions::do_step`].
    #[inline(always)]
    unsafe fn step(&self, step: &mut RawStep) -> RawStatus {
        let no_set = step.no_set_state_before.into();
        // SAFETY: the contract of `Functions::do_step`.
        let raw = unsafe { (self.functions.do_step)(self.raw, step.point, step.size, no_set) };
        // SAFETY: as above.
        if raw <= 1 { adapter::status(raw) } else { unsafe { self.not_done(raw, step) } }
    }

    /// What a step came to that was not simply done.
    ///
    /// # Safety
    /// The instance is alive, and its last step answered `raw`.
    #[cold]
    unsafe fn not_done(&self, raw: RawStatus, step: &mut RawStep) -> RawStatus {
        let environment = self.environment.cast();
        let raw = came_to(
            raw,
            environment,
            step.patience,
            // SAFETY: the instance is alive, and a step of it is pending; the place can be written to.
            |status| unsafe { (self.functions.get_status)(self.raw, DO_STEP_STATUS, status) },
            // SAFETY: as above.
            || unsafe { (self.functions.cancel_step)(self.raw) },
        );
        if raw != DISCARD {
            return raw;
        }
        let (mut reached, mut terminated) = (step.point, 0);
        // SAFETY: the instance is alive; the last step was discarded, after which both may be asked for (FMI 2.0.5, 4.2.3).
        let (last, end) = unsafe {
            (
                visit(environment, Function::GetRealStatus, || {
                    (self.functions.get_real_status)(self.raw, LAST_SUCCESSFUL_TIME, &mut reached)
                }),
                visit(environment, Function::GetBooleanStatus, || {
                    (self.functions.get_boolean_status)(self.raw, TERMINATED, &mut terminated)
                }),
            )
        };
        step.reached = if (0..=1).contains(&last) { reached } else { step.point };
        step.early_return = 1;
        if (0..=1).contains(&end) && terminated != 0 {
            step.terminate_simulation = 1;
            return 0;
        }
        DISCARD
    }
}

impl adapter::Component<Fmi1Functions> {
    /// # Safety
    /// As [`Functions::do_step`].
    #[inline(always)]
    unsafe fn step(&self, step: &mut RawStep) -> RawStatus {
        // SAFETY: the contract of `Functions::do_step`. `newStep`: the step before was accepted.
        let raw = unsafe { (self.functions.do_step)(self.raw, step.point, step.size, 1) };
        // SAFETY: as above.
        if raw <= 1 { adapter::status(raw) } else { unsafe { self.not_done(raw, step) } }
    }

    /// What a step came to that was not simply done.
    ///
    /// # Safety
    /// The instance is alive, and its last step answered `raw`.
    #[cold]
    unsafe fn not_done(&self, raw: RawStatus, step: &mut RawStep) -> RawStatus {
        let environment = self.environment.cast();
        let raw = came_to(
            raw,
            environment,
            step.patience,
            // SAFETY: the instance is alive, and a step of it is pending; the place can be written to.
            |status| unsafe { (self.functions.get_status)(self.raw, DO_STEP_STATUS, status) },
            // SAFETY: as above.
            || unsafe { (self.functions.cancel_step)(self.raw) },
        );
        if raw == DISCARD {
            let mut reached = step.point;
            let last = visit(environment, Function::GetRealStatus, || {
                // SAFETY: the instance is alive, and its last step was discarded.
                unsafe { (self.functions.get_real_status)(self.raw, LAST_SUCCESSFUL_TIME, &mut reached) }
            });
            step.reached = if (0..=1).contains(&last) { reached } else { step.point };
            step.early_return = 1;
        }
        raw
    }
}
