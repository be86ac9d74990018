//! Intervals and shifts of clocks.

use super::function::Function;
use super::shared::{CallContext, SharedInstance};
use super::status::{Failure, Outcome};
use vecud_description::ValueReference;

/// An interval or a shift, as an FMU gives or takes it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // the standard's names
pub enum Interval {
    /// The interval in the unit of time of the FMU.
    Decimal(f64),
    /// `counter / resolution` of that unit; `resolution` may be 0 when the FMU is wrong.
    Fraction { counter: u64, resolution: u64 },
}

/// `fmi3IntervalQualifier`: what an interval that was read is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Qualifier {
    /// There is none yet; the value read means nothing.
    NotYetKnown = 0,
    /// The interval is the same as before.
    Unchanged = 1,
    /// New since it was last read.
    Changed = 2,
}

impl Qualifier {
    /// A qualifier as C hands it over; `None` when it is none of the three.
    pub fn from_raw(raw: i32) -> Option<Qualifier> {
        match raw {
            0 => Some(Qualifier::NotYetKnown),
            1 => Some(Qualifier::Unchanged),
            2 => Some(Qualifier::Changed),
            _ => None,
        }
    }
}

/// Room for the intervals of clocks of the draft, one for each element.
#[derive(Debug)]
#[allow(missing_docs)] // the standard's names
pub enum ElementIntervals<'a> {
    /// Intervals in the unit of time of the FMU.
    Decimal(&'a mut [f64]),
    /// Intervals as fractions of that unit; there are as many counters as resolutions, which may be 0 if the FMU is wrong.
    Fraction { counters: &'a mut [u64], resolutions: &'a mut [u64] },
}

impl ElementIntervals<'_> {
    pub(super) fn function(&self) -> Function {
        Function::get_interval(matches!(self, ElementIntervals::Fraction { .. }))
    }
}

impl SharedInstance {
    /// Reads one interval; the result is for [`Qualifier::from_raw`].
    pub(super) fn get_interval(
        &self,
        reference: ValueReference,
        fraction: bool,
        cause: CallContext,
    ) -> Result<(Interval, i32), Failure> {
        let (mut decimal, mut counter, mut resolution, mut qualifier) = (0.0, 0, 0, 0);
        self.call_fmi3(Function::get_interval(fraction), cause, |f, i| {
            // SAFETY: one reference, and room for one of each value.
            unsafe {
                if fraction {
                    let get = f.get_interval_fraction;
                    get(i, &reference.0, 1, &mut counter, &mut resolution, &mut qualifier)
                } else {
                    (f.get_interval_decimal)(i, &reference.0, 1, &mut decimal, &mut qualifier)
                }
            }
        })?;
        let interval = if fraction { Interval::Fraction { counter, resolution } } else { Interval::Decimal(decimal) };
        Ok((interval, qualifier))
    }

    pub(super) fn set_interval(
        &self,
        reference: ValueReference,
        interval: Interval,
        cause: CallContext,
    ) -> Result<Outcome, Failure> {
        match interval {
            Interval::Decimal(seconds) => self.call_fmi3(Function::SetIntervalDecimal, cause, |f, i| {
                // SAFETY: one reference, one value.
                unsafe { (f.set_interval_decimal)(i, &reference.0, 1, &seconds) }
            }),
            Interval::Fraction { counter, resolution } => {
                self.call_fmi3(Function::SetIntervalFraction, cause, |f, i| {
                    // SAFETY: one reference, one of each value.
                    unsafe { (f.set_interval_fraction)(i, &reference.0, 1, &counter, &resolution) }
                })
            }
        }
    }

    pub(super) fn get_shift(
        &self,
        reference: ValueReference,
        fraction: bool,
        cause: CallContext,
    ) -> Result<Interval, Failure> {
        let (mut decimal, mut counter, mut resolution) = (0.0, 0, 0);
        self.call_fmi3(Function::get_shift(fraction), cause, |f, i| {
            // SAFETY: one reference, and room for one of each value.
            unsafe {
                if fraction {
                    (f.get_shift_fraction)(i, &reference.0, 1, &mut counter, &mut resolution)
                } else {
                    (f.get_shift_decimal)(i, &reference.0, 1, &mut decimal)
                }
            }
        })?;
        Ok(if fraction { Interval::Fraction { counter, resolution } } else { Interval::Decimal(decimal) })
    }

    pub(super) fn set_shift(
        &self,
        reference: ValueReference,
        shift: Interval,
        cause: CallContext,
    ) -> Result<Outcome, Failure> {
        match shift {
            Interval::Decimal(seconds) => self.call_fmi3(Function::SetShiftDecimal, cause, |f, i| {
                // SAFETY: one reference, one value.
                unsafe { (f.set_shift_decimal)(i, &reference.0, 1, &seconds) }
            }),
            Interval::Fraction { counter, resolution } => {
                self.call_fmi3(Function::SetShiftFraction, cause, |f, i| {
                    // SAFETY: one reference, one of each value.
                    unsafe { (f.set_shift_fraction)(i, &reference.0, 1, &counter, &resolution) }
                })
            }
        }
    }

    /// The draft's request for the intervals of all elements of these clocks.
    ///
    /// # Panics
    /// If there is not as much room for counters as for resolutions.
    pub(super) fn get_draft_intervals(
        &self,
        references: &[u32],
        into: ElementIntervals,
        cause: CallContext,
    ) -> Result<Outcome, Failure> {
        let function = into.function();
        match into {
            ElementIntervals::Decimal(intervals) => self.call_draft(function, cause, |f, i| {
                let (intervals, n) = (intervals.as_mut_ptr(), intervals.len());
                // SAFETY: as many references as said, and room for as many values as said.
                unsafe { (f.get_interval_decimal)(i, references.as_ptr(), references.len(), intervals, n) }
            }),
            ElementIntervals::Fraction { counters, resolutions } => {
                assert_eq!(counters.len(), resolutions.len());
                self.call_draft(function, cause, |f, i| {
                    let (counters, resolutions, n) = (counters.as_mut_ptr(), resolutions.as_mut_ptr(), counters.len());
                    // SAFETY: as many references as said, and room for as many of each value as said.
                    unsafe {
                        (f.get_interval_fraction)(i, references.as_ptr(), references.len(), counters, resolutions, n)
                    }
                })
            }
        }
    }

    /// Tells one clock of the draft the intervals of all its elements, which are of the form of the first.
    pub(super) fn set_draft_intervals(
        &self,
        reference: ValueReference,
        intervals: &[Interval],
    ) -> Result<Outcome, Failure> {
        let cause = CallContext { clock: Some(reference), time: None };
        let decimal = |interval: &Interval| match interval {
            Interval::Decimal(seconds) => Some(*seconds),
            Interval::Fraction { .. } => None,
        };
        let fraction = |interval: &Interval| match interval {
            Interval::Fraction { counter, resolution } => Some((*counter, *resolution)),
            Interval::Decimal(_) => None,
        };
        if let Some(seconds) = intervals.iter().map(decimal).collect::<Option<Vec<f64>>>() {
            return self.call_draft(Function::SetIntervalDecimal, cause, |f, i| {
                // SAFETY: one reference, and as many values as said.
                unsafe { (f.set_interval_decimal)(i, &reference.0, 1, seconds.as_ptr(), seconds.len()) }
            });
        }
        let parts = intervals.iter().map(fraction).collect::<Option<Vec<(u64, u64)>>>();
        let Some(parts) = parts else { return Err(self.refusal(Function::SetIntervalFraction, cause)) };
        let (counters, resolutions): (Vec<u64>, Vec<u64>) = parts.into_iter().unzip();
        self.call_draft(Function::SetIntervalFraction, cause, |f, i| {
            let (counters, resolutions, n) = (counters.as_ptr(), resolutions.as_ptr(), counters.len());
            // SAFETY: one reference, and as many of each value as said.
            unsafe { (f.set_interval_fraction)(i, &reference.0, 1, counters, resolutions, n) }
        })
    }
}
