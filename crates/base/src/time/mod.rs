//! Time without rounding surprises.
//!
//! * [`Nanos`]: the wall clock and durations measured on it, whole nanoseconds.
//! * [`Fraction`]: an exact non-negative duration in seconds, as FMI's counter/resolution or a decimal gives it.
//! * [`Instant`]: an exact point of simulation time. Two instants that are equal as fractions are equal here, whether
//!   they came from a grid (`k·1/100`) or from a decimal (`0.01`); `f64` appears only in [`Instant::seconds`], rounded
//!   once (semantics S1).
//!
//! Denominators are kept up to 2^63. A sum whose exact denominator is larger (an FMU gave an interval with more than 18
//! decimals) is rounded to the attosecond, always the same way, so that runs stay repeatable.

#![forbid(unsafe_code)]

mod denominator;
mod fraction;
mod instant;
mod nanos;
mod parts;
mod rounding;
mod step_grid;
mod stride;
#[cfg(test)]
mod tests;
mod unit;

pub use fraction::{Fraction, NotAFraction};
pub use instant::{Instant, ToNanos};
pub use nanos::Nanos;
pub use parts::Subdivision;
pub use step_grid::{ROUNDING, StepGrid, is_same};
pub use stride::Stride;
pub use unit::TimeUnit;
