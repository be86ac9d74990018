//! Calls that the importer may make while the FMU calls `clockUpdate` or `intermediateUpdate`: reading and, in the midst of a step,
//! setting variables, reading output clocks, the intervals of countdown clocks, and in the draft those of output clocks that have ticked,
//! each with one call into buffers made before.

use super::batch::Batch;
use super::callbacks::reads_clocks;
use super::clocks::OutputClocks;
use super::function::Function;
use super::interval::ElementIntervals;
use super::shared::{CallContext, SharedInstance};
use super::status::{Failure, Outcome};
use super::thread::inside;
use super::values::{get_function, set_function};
use std::sync::Arc;

/// Reads the clocks of one instance, from within its callbacks only: elsewhere its calls are refused.
///
/// `Sync`, as several partitions may be in a callback at once, one preempting the other. Keeps the library loaded.
#[derive(Clone)]
pub struct ClockUpdate {
    shared: Arc<SharedInstance>,
}

impl ClockUpdate {
    pub(super) fn new(shared: Arc<SharedInstance>) -> ClockUpdate {
        ClockUpdate { shared }
    }

    /// `fmi3GetClock`. The FMU resets what is read, so read each clock once.
    pub fn get_clocks(&self, clocks: &mut OutputClocks) -> Result<Outcome, Failure> {
        self.check(Function::GetClock)?;
        self.shared.get_clocks(clocks, CallContext::default())
    }

    /// Calls the draft's `fmi3GetIntervalDecimal` or `fmi3GetIntervalFraction`, as there is room in `into`, for all elements of
    /// these clocks.
    pub fn get_draft_intervals(&self, references: &[u32], into: ElementIntervals) -> Result<Outcome, Failure> {
        self.check(into.function())?;
        self.shared.get_draft_intervals(references, into, CallContext::default())
    }

    /// `fmi3GetIntervalDecimal`: intervals in the FMU's unit of time, and qualifiers for [`super::Qualifier::from_raw`].
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn get_interval_decimal(
        &self,
        references: &[u32],
        intervals: &mut [f64],
        qualifiers: &mut [i32],
    ) -> Result<Outcome, Failure> {
        assert_eq!((references.len(), references.len()), (intervals.len(), qualifiers.len()));
        self.check(Function::GetIntervalDecimal)?;
        qualifiers.fill(0);
        self.shared.call_fmi3(Function::GetIntervalDecimal, CallContext::default(), |f, i| {
            let (intervals, qualifiers) = (intervals.as_mut_ptr(), qualifiers.as_mut_ptr());
            // SAFETY: as many references as said and room for one of each value for each.
            unsafe { (f.get_interval_decimal)(i, references.as_ptr(), references.len(), intervals, qualifiers) }
        })
    }

    /// `fmi3GetIntervalFraction`: counters, resolutions (0 if the FMU is wrong), and qualifiers for
    /// [`super::Qualifier::from_raw`].
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn get_interval_fraction(
        &self,
        references: &[u32],
        counters: &mut [u64],
        resolutions: &mut [u64],
        qualifiers: &mut [i32],
    ) -> Result<Outcome, Failure> {
        let n = references.len();
        assert_eq!((n, n, n), (counters.len(), resolutions.len(), qualifiers.len()));
        self.check(Function::GetIntervalFraction)?;
        qualifiers.fill(0);
        self.shared.call_fmi3(Function::GetIntervalFraction, CallContext::default(), |f, i| {
            let (counters, resolutions) = (counters.as_mut_ptr(), resolutions.as_mut_ptr());
            let (references, qualifiers) = (references.as_ptr(), qualifiers.as_mut_ptr());
            // SAFETY: as many references as said and room for one of each value for each.
            unsafe { (f.get_interval_fraction)(i, references, n, counters, resolutions, qualifiers) }
        })
    }

    /// Reads the enabled items of the batch, in one call: variables of output clocks that were found active in this
    /// callback. For the draft, which has them read there.
    pub fn get(&self, batch: &mut Batch) -> Result<Outcome, Failure> {
        self.check(get_function(batch.variable_type()))?;
        self.shared.get_batch(batch)
    }

    /// Sets the enabled items of the batch, in one call. Precondition: the FMU's intermediate update asks for it.
    pub fn set(&self, batch: &Batch) -> Result<Outcome, Failure> {
        self.check(set_function(batch.variable_type()))?;
        self.shared.set_batch(batch)
    }

    /// Treats the instance as if a call had returned `fmi3Error`: nothing but `fmi3FreeInstance` will be called.
    pub fn fail(&self) {
        self.shared.fail(super::Status::Error);
    }

    /// Refuses calls from outside the instance (it may be gone, or another thread may be ending it), and from a callback
    /// inside the reading of clocks.
    #[inline]
    fn check(&self, function: Function) -> Result<(), Failure> {
        let inside = inside();
        let environment = &*self.shared.environment;
        let here = std::ptr::eq(inside.environment, environment) && environment.in_clock_activation();
        if here && !reads_clocks(inside.called) {
            return Ok(());
        }
        Err(self.shared.refusal(function, CallContext::default()))
    }
}
