//! Compares two runs: the differences, their beginning, their size, and whether they are acceptable.
//!
//! Pure: recordings come as readers, and stream. What is compared:
//!
//! * *Signals* of two recordings ([`signals()`]): at every time at which one of them has a row, see `walk.rs`; by their
//!   values, see `value.rs`.
//! * *Clocks* of two reports: figures and their ratios, see `clocks.rs`.
//!
//! A comparison fails ([`Comparison::excesses`]) by a signal beyond its tolerance; by a recording that ends before the
//! reference does (a run that died halfway would else be equal to it); by a latency beyond the requested ratio. Signals and
//! clocks that only one side has are listed.

mod clocks;
mod comparison;
mod curve;
mod signals;
mod table;
mod terminal;
mod text;
mod value;
mod walk;

pub use clocks::{ClockComparison, ClocksComparison, ComparedMetric, FIGURES, clocks};
pub use comparison::Comparison;
pub use curve::{ComparedCurve, STEPS, curves};
pub use signals::{SamplePair, SignalComparison, SignalsComparison, signals};
pub use table::ComparedTable;
pub use terminal::comparison_summary;
pub(super) use terminal::some;
pub(super) use text::{EXACT, ratio_text, round, shown, shown_pair, tolerance_text};
pub use value::{NamedTolerance, Tolerance, Tolerances, number};
pub use walk::{ComparedTimes, Side, Span};

#[cfg(test)]
mod tests;
