//! One step of Co-Simulation, for each C interface: `fmi3DoStep`, `fmi2DoStep`, `fmiDoStep`.
//!
//! FMI 3.0 returns all answers in one call. In earlier versions, an FMU that stops short answers Discard and tells on
//! demand how far it came; and a step may be pending: the FMU computes it elsewhere, and the caller waits for it.

use super::functions::{Functions, VersionFunctions};
use super::{adapter, fmi1, fmi2};
use crate::Function;
use crate::environment::Environment;
use crate::thread::visit;
use crate::types::*;
use std::ffi::c_int;
use std::time::{Duration, Instant};

/// A step that an FMU is to make, and its answers.
#[derive(Clone, Copy, Debug)]
pub struct RawStep {
    /// `currentCommunicationPoint`.
    pub point: f64,
    /// `communicationStepSize`.
    pub size: f64,
    /// `noSetFMUStatePriorToCurrentPoint`.
    pub no_set_state_before: RawBool,
    /// `newStep` of FMI 1.0: the step before was accepted.
    pub new_step: RawBool,
    /// The longest wait for a pending step.
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

type Fmi2Component = fmi2::Component;
type Fmi1Component = fmi1::Component;

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
/// Time between two looks at a pending step.
const LOOK: Duration = Duration::from_micros(50);

impl RawStep {
    /// Steps from a communication point over a size.
    #[inline]
    pub fn new(point: f64, size: f64) -> RawStep {
        RawStep {
            point,
            size,
            no_set_state_before: 1,
            new_step: 1,
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

/// The call that makes a step of an instance, with nothing left to be looked up.
#[derive(Clone, Copy)]
pub(crate) enum StepCall {
    Fmi3(RawInstance, Fmi3Step),
    Fmi2(RawInstance, Fmi2Step),
    Rarer(RarerStepCall),
}

/// [`StepCall`] of interfaces that few FMUs have; apart, so that the others need no table of jumps.
#[derive(Clone, Copy)]
pub(crate) enum RarerStepCall {
    Fmi1(RawInstance, Fmi1Step),
    Draft(RawInstance, DraftStep),
    /// Calls nothing, and says so.
    None,
}

type Fmi3Step = unsafe extern "C" fn(
    RawInstance,
    f64,
    f64,
    RawBool,
    *mut RawBool,
    *mut RawBool,
    *mut RawBool,
    *mut f64,
) -> RawStatus;
type Fmi2Step = unsafe extern "C" fn(RawInstance, f64, f64, c_int) -> RawStatus;
type Fmi1Step = unsafe extern "C" fn(RawInstance, f64, f64, RawBool) -> RawStatus;
type DraftStep = unsafe extern "C" fn(
    RawInstance,
    f64,
    f64,
    RawBool,
    *mut RawBool,
    *mut RawBool,
    *mut RawBool,
    *mut RawBool,
    *mut f64,
) -> RawStatus;

impl StepCall {
    /// Calls nothing, and says so.
    pub(crate) const NONE: StepCall = StepCall::Rarer(RarerStepCall::None);

    /// Makes a step, and returns C's answer: `fmi3OK`, or one that [`Functions::settle_step`] explains.
    ///
    /// # Safety
    /// The instance is alive and in Step Mode.
    #[inline(always)] // as `visit`
    pub(crate) unsafe fn make(&self, step: &mut RawStep) -> RawStatus {
        let (point, size, no_set) = (step.point, step.size, step.no_set_state_before);
        let (event, terminate) = (&raw mut step.event_handling_needed, &raw mut step.terminate_simulation);
        let (early, reached) = (&raw mut step.early_return, &raw mut step.reached);
        // SAFETY: this function's contract; each place can be written to.
        unsafe {
            match *self {
                StepCall::Fmi3(i, call) => call(i, point, size, no_set, event, terminate, early, reached),
                StepCall::Fmi2(i, call) => call(i, point, size, no_set.into()),
                StepCall::Rarer(ref call) => call.make(step),
            }
        }
    }
}

impl RarerStepCall {
    /// # Safety
    /// As [`StepCall::make`].
    #[inline(never)] // it is rare
    unsafe fn make(&self, step: &mut RawStep) -> RawStatus {
        let (point, size, no_set) = (step.point, step.size, step.no_set_state_before);
        let (event, terminate) = (&raw mut step.event_handling_needed, &raw mut step.terminate_simulation);
        let (early, reached) = (&raw mut step.early_return, &raw mut step.reached);
        // SAFETY: this function's contract; each place can be written to.
        unsafe {
            match *self {
                RarerStepCall::Fmi1(i, call) => call(i, point, size, step.new_step),
                // What is announced beside the end of the step, an event and clocks that are about to tick, is for Event Mode.
                RarerStepCall::Draft(i, call) => call(i, point, size, no_set, event, &mut 0, terminate, early, reached),
                RarerStepCall::None => NOT_CALLED,
            }
        }
    }
}

impl Functions {
    /// The function that makes a step of this instance.
    ///
    /// # Safety
    /// The instance is alive.
    #[inline(always)] // as `visit`
    pub(crate) unsafe fn step_call(&self, i: RawInstance) -> StepCall {
        // SAFETY: this function's contract.
        unsafe {
            match &self.own {
                VersionFunctions::Fmi3(own) => StepCall::Fmi3(i, own.do_step),
                VersionFunctions::Fmi2(_) => {
                    let own = Fmi2Component::behind(i);
                    StepCall::Fmi2(own.raw, own.functions.do_step)
                }
                VersionFunctions::Fmi1(_) => {
                    let own = Fmi1Component::behind(i);
                    StepCall::Rarer(RarerStepCall::Fmi1(own.raw, own.functions.do_step))
                }
                VersionFunctions::Draft(own) => StepCall::Rarer(RarerStepCall::Draft(i, own.do_step)),
            }
        }
    }

    /// Makes a step.
    ///
    /// # Safety
    /// The instance is alive and in Step Mode.
    #[inline(always)] // as `visit`
    pub(crate) unsafe fn do_step(&self, i: RawInstance, step: &mut RawStep) -> RawStatus {
        // SAFETY: this function's contract.
        unsafe {
            let raw = self.step_call(i).make(step);
            if raw == 0 { raw } else { self.settle_step(i, raw, step) }
        }
    }

    /// The result of a step that C has answered with `raw`, and the answers of the FMU.
    ///
    /// # Safety
    /// The instance is alive, and its last step answered `raw`.
    #[cold]
    pub(crate) unsafe fn settle_step(&self, i: RawInstance, raw: RawStatus, step: &mut RawStep) -> RawStatus {
        // SAFETY: this function's contract.
        unsafe {
            match &self.own {
                VersionFunctions::Fmi3(_) | VersionFunctions::Draft(_) => raw,
                VersionFunctions::Fmi2(_) | VersionFunctions::Fmi1(_) if raw <= 1 => adapter::status(raw),
                VersionFunctions::Fmi2(_) => Fmi2Component::behind(i).not_done(raw, step),
                VersionFunctions::Fmi1(_) => Fmi1Component::behind(i).not_done(raw, step),
            }
        }
    }
}

impl Functions {
    /// Whether a step can be made in place of the one before.
    pub(crate) fn rejects_steps(&self) -> bool {
        matches!(self.own, VersionFunctions::Fmi1(_))
    }
}

/// The result of a step that has answered `raw`: a pending one is waited for, and is Discard if it was given up. `look` asks for
/// `fmi2DoStepStatus` and returns the status of that call, `cancel` gives the step up.
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
        let answer = adapter::call_beside(environment, Function::GetStatus, || look(&mut now));
        if adapter::has_failed(answer) {
            return answer;
        }
        if now != PENDING {
            return adapter::status(now);
        }
        if begun.elapsed() >= patience {
            return adapter::worse(DISCARD, adapter::status(visit(environment, Function::CancelStep, cancel)));
        }
        std::thread::sleep(LOOK);
    }
}

impl Fmi2Component {
    /// The result of a step that was not simply done.
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

impl Fmi1Component {
    /// The result of a step that was not simply done.
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
