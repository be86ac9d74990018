//! Intervals and shifts of clocks.

use super::function::Function;
use super::shared::{Cause, Shared};
use super::status::{Failure, Outcome, Status};
use crate::fmu::description::ValueReference;

/// An interval or a shift, as an FMU gives or takes it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // the standard's names
pub enum Interval {
    /// Seconds.
    Decimal(f64),
    /// `counter / resolution` seconds; `resolution` may be 0 when the FMU is wrong.
    Fraction { counter: u64, resolution: u64 },
}

/// `fmi3IntervalQualifier`: what an interval that was read is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Qualifier {
    /// There is none yet; the value read means nothing.
    NotYetKnown = 0,
    /// As before.
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

impl Shared {
    /// Reads one interval. An unknown qualifier is an error of the FMU.
    pub(super) fn get_interval(
        &self,
        reference: ValueReference,
        fraction: bool,
        cause: Cause,
    ) -> Result<(Interval, Qualifier), Failure> {
        let (mut decimal, mut counter, mut resolution, mut qualifier) = (0.0, 0, 0, 0);
        let function = if fraction { Function::GetIntervalFraction } else { Function::GetIntervalDecimal };
        self.call(function, cause, |f, i| {
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
        let qualifier = Qualifier::from_raw(qualifier).ok_or_else(|| {
            self.fail(Status::Error);
            Failure { function, status: Status::Error, clock: cause.clock, time: cause.time, refused: false }
        })?;
        Ok((interval, qualifier))
    }

    pub(super) fn set_interval(
        &self,
        reference: ValueReference,
        interval: Interval,
        cause: Cause,
    ) -> Result<Outcome, Failure> {
        match interval {
            Interval::Decimal(seconds) => self.call(Function::SetIntervalDecimal, cause, |f, i| {
                // SAFETY: one reference, one value.
                unsafe { (f.set_interval_decimal)(i, &reference.0, 1, &seconds) }
            }),
            Interval::Fraction { counter, resolution } => self.call(Function::SetIntervalFraction, cause, |f, i| {
                // SAFETY: one reference, one of each value.
                unsafe { (f.set_interval_fraction)(i, &reference.0, 1, &counter, &resolution) }
            }),
        }
    }

    pub(super) fn get_shift(&self, reference: ValueReference, fraction: bool) -> Result<Interval, Failure> {
        let (mut decimal, mut counter, mut resolution) = (0.0, 0, 0);
        let function = if fraction { Function::GetShiftFraction } else { Function::GetShiftDecimal };
        self.call(function, Cause::default(), |f, i| {
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

    pub(super) fn set_shift(&self, reference: ValueReference, shift: Interval) -> Result<Outcome, Failure> {
        match shift {
            Interval::Decimal(seconds) => self.call(Function::SetShiftDecimal, Cause::default(), |f, i| {
                // SAFETY: one reference, one value.
                unsafe { (f.set_shift_decimal)(i, &reference.0, 1, &seconds) }
            }),
            Interval::Fraction { counter, resolution } => {
                self.call(Function::SetShiftFraction, Cause::default(), |f, i| {
                    // SAFETY: one reference, one of each value.
                    unsafe { (f.set_shift_fraction)(i, &reference.0, 1, &counter, &resolution) }
                })
            }
        }
    }
}
