//! Reads the recording of a run, `signals.csv`, `signals.mcap` or (with the feature `arrow`) `signals.arrows`: row after row, in the
//! order of time, however long it is. Stimuli are read in the same way, and CSV files of other tools: [`Dialect`] has the
//! differences.
//!
//! All formats give the same rows: the time, and the value of each column then, as text that reads back exactly (`NaN`,
//! `inf`, `-inf`, booleans as 0 and 1, an empty text where there is no value). A recording of a killed process is read as
//! far as it goes; half a row at its end does not count.
//!
//! Memory: of CSV one row, of MCAP one chunk, of Arrow one batch. What cannot be read says where.
//!
//! [`envelope`] keeps as much of any number of rows as can be drawn.
//!
//! Pure: it reads from the caller's input.

#![forbid(unsafe_code)]

#[cfg(feature = "arrow")]
mod arrow;
mod csv;
pub mod envelope;
mod mcap;
pub mod names;
pub mod protobuf;
mod reader;
mod row;
mod row_reader;
pub mod series;
#[cfg(test)]
mod tests;
pub mod text;

pub use self::csv::{Dialect, LastLine};
pub use self::reader::{Recording, WITHOUT_ARROW};
pub use self::row::{RecordingError, Row};
