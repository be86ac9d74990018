//! What the importer may call while the FMU calls `clockUpdate` or `intermediateUpdate`: reading and, in the midst of a step,
//! setting variables, reading output clocks, the intervals of countdown clocks, and in the draft those of output clocks that have ticked, each with one call into
//! buffers made before.

use super::abi::Functions;
use super::arguments;
use super::batch::{Batch, normalise};
use super::callbacks::reads_clocks;
use super::function::Function;
use super::shared::{Cause, Shared};
use super::status::{Failure, Outcome};
use super::thread::inside;
use super::types::{RawBool, RawDraftClock};
use super::values::{get_function, set_function};
use crate::fmu::description::ValueReference;
use std::sync::Arc;

/// Output clocks that are read in one call, and what was read.
#[derive(Clone, Debug)]
pub struct OutputClocks {
    references: Vec<u32>,
    active: Vec<u8>,
    /// What the draft writes.
    raw: Vec<RawDraftClock>,
}

impl OutputClocks {
    /// The output clocks to be read, each with the number of its elements: 1 for a scalar; only the draft has others.
    pub fn new(clocks: &[(ValueReference, usize)]) -> OutputClocks {
        let elements = clocks.iter().map(|(_, elements)| elements).sum();
        let references = clocks.iter().map(|(reference, _)| reference.0).collect();
        OutputClocks { references, active: vec![0; elements], raw: vec![0; elements] }
    }

    /// The clocks, and room for what one call says of them: none is active yet.
    pub(super) fn for_one_call(&mut self) -> (&[u32], &mut [u8]) {
        self.active.fill(0);
        (&self.references, &mut self.active)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.references.is_empty()
    }

    /// 1 for each element that was active when the clocks were read last, else 0.
    pub fn active(&self) -> &[u8] {
        &self.active
    }
}

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

    /// `fmi3GetClock`. The FMU resets what is read, so read each clock once.
    pub fn get_clocks(&self, clocks: &mut OutputClocks) -> Result<Outcome, Failure> {
        self.check(Function::GetClock)?;
        let OutputClocks { references, active, raw } = clocks;
        active.fill(0);
        raw.fill(0);
        let make = |(active, raw): &mut (&mut [RawBool], &mut [i32]), f: &Functions, i| {
            // SAFETY: the instance is in a callback (`check`), and for each clock there is a value of each at least.
            unsafe { f.get_clocks(i, references, active, raw) }
        };
        let shown = |(active, raw): &(&mut [RawBool], &mut [i32]), is_read| {
            let is_active = active.iter().zip(raw.iter()).map(|(active, raw)| *active != 0 || *raw != 0);
            arguments::of_read(references, is_active, is_read)
        };
        let both = (&mut active[..], &mut raw[..]);
        let outcome = self.shared.call_with(Function::GetClock, Cause::default(), both, make, shown);
        for (active, raw) in active.iter_mut().zip(raw) {
            *active |= u8::from(*raw != 0);
        }
        normalise(active);
        outcome
    }

    /// The draft's `fmi3GetIntervalDecimal`: one interval in the FMU's unit of time for each element of these clocks.
    pub fn get_draft_interval_decimal(&self, references: &[u32], intervals: &mut [f64]) -> Result<Outcome, Failure> {
        self.check(Function::GetIntervalDecimal)?;
        self.shared.call_draft(Function::GetIntervalDecimal, Cause::default(), |f, i| {
            let (intervals, n) = (intervals.as_mut_ptr(), intervals.len());
            // SAFETY: as many references as said, and room for as many values as said.
            unsafe { (f.get_interval_decimal)(i, references.as_ptr(), references.len(), intervals, n) }
        })
    }

    /// The draft's `fmi3GetIntervalFraction`: a counter and a resolution (0 when the FMU is wrong) for each element of these
    /// clocks.
    ///
    /// # Panics
    /// If there is not as much room for counters as for resolutions.
    pub fn get_draft_interval_fraction(
        &self,
        references: &[u32],
        counters: &mut [u64],
        resolutions: &mut [u64],
    ) -> Result<Outcome, Failure> {
        assert_eq!(counters.len(), resolutions.len());
        self.check(Function::GetIntervalFraction)?;
        self.shared.call_draft(Function::GetIntervalFraction, Cause::default(), |f, i| {
            let (counters, resolutions, n) = (counters.as_mut_ptr(), resolutions.as_mut_ptr(), counters.len());
            // SAFETY: as many references as said, and room for as many of each value as said.
            unsafe { (f.get_interval_fraction)(i, references.as_ptr(), references.len(), counters, resolutions, n) }
        })
    }

    /// `fmi3GetIntervalDecimal`: intervals in the FMU's unit of time, and what [`super::Qualifier::from_raw`] makes something of.
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
        self.shared.call_fmi3(Function::GetIntervalDecimal, Cause::default(), |f, i| {
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
        self.shared.call_fmi3(Function::GetIntervalFraction, Cause::default(), |f, i| {
            let (counters, resolutions) = (counters.as_mut_ptr(), resolutions.as_mut_ptr());
            let (references, qualifiers) = (references.as_ptr(), qualifiers.as_mut_ptr());
            // SAFETY: as many references as said and room for one of each value for each.
            unsafe { (f.get_interval_fraction)(i, references, n, counters, resolutions, qualifiers) }
        })
    }

    /// Reads what is enabled in the batch, in one call: variables of output clocks that were found active in this callback.
    /// For the draft, which has them read there.
    pub fn get(&self, batch: &mut Batch) -> Result<Outcome, Failure> {
        self.check(get_function(batch.variable_type()))?;
        self.shared.get_batch(batch)
    }

    /// Sets what is enabled in the batch, in one call: in an intermediate update that asks for it.
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
        Err(self.shared.refusal(function, Cause::default()))
    }
}
