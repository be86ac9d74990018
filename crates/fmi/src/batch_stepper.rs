//! Regular steps of instances for Co-Simulation, one after the other: the calls and marks are those of a [`Stepper`], but nothing is
//! looked up, made sure of or asked between them.
//!
//! A step is regular if it answers `fmi3OK`, neither returns early nor wants the end of the run. The first one that is not has
//! [to be settled](Stepper::settle) before anything else is called.

use super::abi::{RawStep, StepCall};
use super::environment::Environment;
use super::function::Function;
use super::shown::{CallCounts, CallProbe};
use super::step::{AfterStep, NoStep, Stepper};
use super::thread::{ThreadHost, Visited, Visits, visited_nothing};
use super::types::RawStatus;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Makes the regular steps of one instance.
pub struct BatchStepper<'a> {
    call: StepCall,
    visited: Visited,
    /// The word in which its calls are shown.
    word: &'static AtomicU64,
    calls: &'static CallCounts,
    stepper: PhantomData<&'a mut Stepper>,
}

/// A thread that makes regular steps, and nothing else.
pub struct FastPath {
    visits: Visits,
    /// The last step.
    raw: RawStep,
    /// C's answer to an irregular step, and the environment of the instance that made it.
    irregular: Option<(RawStatus, *const Environment)>,
}

/// The answer of a step that is not regular.
pub struct FastPathExit {
    raw: RawStep,
    status: RawStatus,
    /// The environment of the instance that made the step.
    environment: *const Environment,
}

/// The content of the word inside of a step.
const IN_A_STEP: u64 = Function::DoStep as u64 + 1;

impl Stepper {
    /// Whether the instance can make only regular steps.
    pub fn makes_only_regular_steps(&self) -> bool {
        !self.shared().environment.is_watched()
    }

    /// Whether the instance may be called now, and [makes only regular steps](Stepper::makes_only_regular_steps).
    #[inline]
    pub fn is_healthy(&self) -> bool {
        self.shared().is_healthy()
    }

    /// The stepper for regular steps, served by `host`; `None`: it can make none now, or the host shares the place at which it
    /// shows calls.
    pub fn batch_stepper(&mut self, host: &'static dyn ThreadHost) -> Option<BatchStepper<'_>> {
        let shown = host.shown()?;
        let CallProbe { word, tag, calls } = shown.place();
        if tag != 0 || self.event.is_some() || !self.is_healthy() {
            return None;
        }
        let shared = self.shared();
        // SAFETY: the instance is not freed.
        let call = unsafe { shared.library.functions().step_call(shared.raw()) };
        let visited = Visited { environment: &*shared.environment, host, shown, wishes: host.wishes() };
        Some(BatchStepper { call, visited, word, calls, stepper: PhantomData })
    }

    /// The result of the last step of its [`BatchStepper`], which was not regular.
    ///
    /// # Panics
    /// If it was the step of another instance.
    #[cold]
    pub fn settle(&mut self, irregular: FastPathExit) -> Result<AfterStep<'_>, NoStep<'_>> {
        let FastPathExit { raw, status, environment } = irregular;
        assert!(std::ptr::eq(environment, &*self.shared().environment), "each step is settled by whoever made it");
        // It is counted once.
        visited_nothing(Function::DoStep);
        self.end_step(RawStep { patience: self.patience(), ..raw }, |raw, functions, instance| {
            // SAFETY: the instance is alive, and its last step answered this.
            unsafe { functions.settle_step(instance, status, raw) }
        })
    }
}

impl FastPath {
    /// The calling thread, which has a host, makes regular steps from now on, until this is dropped.
    pub fn begin() -> FastPath {
        FastPath { visits: Visits::of(Function::DoStep), raw: RawStep::new(0.0, 0.0), irregular: None }
    }

    /// Makes a step from the communication point over the size, both in the FMU's unit of time, and tells which time it has reached by
    /// its own word. `None`: it was [not regular](FastPath::irregular).
    ///
    /// # Panics
    /// If a step before was not regular.
    #[inline(always)] // as `visit`
    pub fn step(&mut self, stepper: &mut BatchStepper, point: f64, size: f64) -> Option<f64> {
        assert!(self.irregular.is_none(), "what was irregular is settled first");
        let raw = &mut self.raw;
        raw.begin(point, size);
        stepper.word.store(IN_A_STEP, Relaxed);
        let count = &stepper.calls[Function::DoStep as usize];
        count.store(count.load(Relaxed).wrapping_add(1), Relaxed);
        // SAFETY: the instance was alive and healthy when its stepper was made, which is the only one to call it meanwhile. No step of
        // this thread since was irregular; and a stepper whose own was calls nothing any more.
        let status = self.visits.visit(&stepper.visited, || unsafe { stepper.call.make(raw) });
        stepper.word.store(0, Relaxed);
        if status != 0 || raw.early_return != 0 || raw.terminate_simulation != 0 {
            self.irregular = Some((status, stepper.visited.environment));
            stepper.call = StepCall::NONE;
            return None;
        }
        Some(raw.reached)
    }

    /// The answer of the last step, if it was not regular.
    #[cold]
    pub fn irregular(self) -> Option<FastPathExit> {
        self.irregular.map(|(status, environment)| FastPathExit { raw: self.raw, status, environment })
    }
}
