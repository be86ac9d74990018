//! Clocks that are set and read, many in one call, from buffers made before. Only the draft has arrays of clocks, and its values are
//! integers.

use super::abi::Functions;
use super::arguments;
use super::batch::normalise;
use super::function::Function;
use super::shared::{CallContext, SharedInstance};
use super::status::{Failure, Outcome};
use super::types::{RawBool, RawDraftClock};
use vecud_description::ValueReference;

/// Output clocks that are read in one call, and their values.
#[derive(Clone, Debug)]
pub struct OutputClocks {
    references: Vec<u32>,
    active: Vec<u8>,
    /// Room for the draft's values.
    raw: Vec<RawDraftClock>,
}

impl OutputClocks {
    /// Output clocks for reading, each with its number of elements: 1 for a scalar; only the draft has arrays.
    pub fn new(clocks: &[(ValueReference, usize)]) -> OutputClocks {
        let elements = clocks.iter().map(|(_, elements)| elements).sum();
        let references = clocks.iter().map(|(reference, _)| reference.0).collect();
        OutputClocks { references, active: vec![0; elements], raw: vec![0; elements] }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.references.is_empty()
    }

    /// For each element 1 if it was active at the last reading of the clocks, else 0.
    pub fn active(&self) -> &[u8] {
        &self.active
    }
}

/// Input clocks that are set in one call.
#[derive(Clone, Debug, Default)]
pub struct InputClocks {
    references: Vec<u32>,
    active: Vec<u8>,
    /// The values in the draft's form.
    raw: Vec<RawDraftClock>,
}

impl InputClocks {
    /// No clocks yet, with room for these numbers of clocks and elements.
    pub fn with_capacity(clocks: usize, elements: usize) -> InputClocks {
        InputClocks {
            references: Vec::with_capacity(clocks),
            active: Vec::with_capacity(elements),
            raw: Vec::with_capacity(elements),
        }
    }

    /// Scalar clocks, all of which tick.
    pub fn ticking(clocks: &[u32]) -> InputClocks {
        let mut all = InputClocks::with_capacity(clocks.len(), clocks.len());
        clocks.iter().for_each(|clock| all.push(ValueReference(*clock), [true]));
        all
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.references.is_empty()
    }

    /// Removes all clocks.
    pub fn clear(&mut self) {
        self.references.clear();
        self.active.clear();
        self.raw.clear();
    }

    /// Adds a clock, and for each of its elements whether it ticks; a scalar has one.
    pub fn push(&mut self, clock: ValueReference, elements: impl IntoIterator<Item = bool>) {
        self.references.push(clock.0);
        for ticks in elements {
            self.active.push(ticks.into());
            self.raw.push(ticks.into());
        }
    }
}

impl SharedInstance {
    /// Calls `fmi3GetClock` for all clocks.
    #[inline]
    pub(super) fn get_clocks(&self, clocks: &mut OutputClocks, cause: CallContext) -> Result<Outcome, Failure> {
        let OutputClocks { references, active, raw } = clocks;
        active.fill(0);
        raw.fill(0);
        let make = |(active, raw): &mut (&mut [RawBool], &mut [i32]), f: &Functions, i| {
            // SAFETY: whoever calls has seen to it that the instance is in a state in which clocks are read, and for each clock there is a
            // value of each at least.
            unsafe { f.get_clocks(i, references, active, raw) }
        };
        let shown = |(active, raw): &(&mut [RawBool], &mut [i32]), is_read| {
            let is_active = active.iter().zip(raw.iter()).map(|(active, raw)| *active != 0 || *raw != 0);
            arguments::of_read(self.named(references), is_active, is_read)
        };
        let both = (&mut active[..], &mut raw[..]);
        let outcome = self.call_with(Function::GetClock, cause, both, make, shown);
        for (active, raw) in active.iter_mut().zip(raw) {
            *active |= u8::from(*raw != 0);
        }
        normalise(active);
        outcome
    }

    /// Calls `fmi3SetClock` for all clocks.
    pub(super) fn set_clocks(&self, clocks: &InputClocks, cause: CallContext) -> Result<Outcome, Failure> {
        let InputClocks { references, active, raw } = clocks;
        let make = |(): &mut (), f: &Functions, i| {
            // SAFETY: whoever calls has seen to it that the instance is in Event Mode; as many references and values as said.
            unsafe { f.set_clocks(i, references, active, raw) }
        };
        let shown = |_: &(), _| arguments::of_variables(self.named(references), arguments::booleans(active));
        self.call_with(Function::SetClock, cause, (), make, shown)
    }
}
