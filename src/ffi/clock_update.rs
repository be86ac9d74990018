//! What the importer may call while the FMU calls `clockUpdate`: reading output clocks and the intervals of countdown
//! clocks, each with one call into plain slices.

use super::batch::normalise;
use super::callbacks::reads_clocks;
use super::function::Function;
use super::shared::{Cause, Shared};
use super::status::{Failure, Outcome};
use super::thread::inside;
use std::sync::Arc;

/// Reads the clocks of one instance, from within its callbacks only: elsewhere its calls are refused.
///
/// `Sync`, as several partitions may be in a callback at once, one preempting the other. Keeps the library loaded.
#[derive(Clone)]
pub struct ClockUpdate {
    shared: Arc<Shared>,
}

impl ClockUpdate {
    pub(super) fn new(shared: Arc<Shared>) -> ClockUpdate {
        ClockUpdate { shared }
    }

    /// `fmi3GetClock`: 1 for each clock that is active, else 0. The FMU resets what is read, so read each clock once.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn get_clocks(&self, references: &[u32], active: &mut [u8]) -> Result<Outcome, Failure> {
        assert_eq!(references.len(), active.len());
        self.check(Function::GetClock)?;
        active.fill(0);
        let outcome = self.shared.call(Function::GetClock, Cause::default(), |f, i| {
            // SAFETY: as many references as said and a byte for each; any value of a byte is fine.
            unsafe { (f.get_clock)(i, references.as_ptr(), references.len(), active.as_mut_ptr()) }
        });
        normalise(active);
        outcome
    }

    /// `fmi3GetIntervalDecimal`: intervals in s, and what [`super::Qualifier::from_raw`] makes something of.
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
        self.shared.call(Function::GetIntervalDecimal, Cause::default(), |f, i| {
            let (intervals, qualifiers) = (intervals.as_mut_ptr(), qualifiers.as_mut_ptr());
            // SAFETY: as many references as said and room for one of each value for each.
            unsafe { (f.get_interval_decimal)(i, references.as_ptr(), references.len(), intervals, qualifiers) }
        })
    }

    /// `fmi3GetIntervalFraction`: counters, resolutions (0 when the FMU is wrong), and what
    /// [`super::Qualifier::from_raw`] makes something of.
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
        self.shared.call(Function::GetIntervalFraction, Cause::default(), |f, i| {
            let (counters, resolutions) = (counters.as_mut_ptr(), resolutions.as_mut_ptr());
            let (references, qualifiers) = (references.as_ptr(), qualifiers.as_mut_ptr());
            // SAFETY: as many references as said and room for one of each value for each.
            unsafe { (f.get_interval_fraction)(i, references, n, counters, resolutions, qualifiers) }
        })
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
        if here && !reads_clocks(inside.function) {
            return Ok(());
        }
        Err(self.shared.refusal(function, Cause::default()))
    }
}
