//! The rows of one file, of whichever format.

use super::row::{RecordingError, Row};

/// An Arrow stream begins with these bytes, and no text does.
pub(super) const ARROW: [u8; 4] = [0xFF; 4];

/// The rows of one file.
pub(super) trait RowReader {
    /// Reads the next row, as [`Recording::read`](super::Recording::read).
    fn read(&mut self, row: &mut Row) -> Result<bool, RecordingError>;

    /// The file has come to an end in the middle of something, which was left out.
    fn broke_off(&self) -> bool;

    /// The units of the columns, as many, each empty where there is none; or nothing, if files of this format do not say any.
    fn units(&self) -> &[String] {
        &[]
    }

    /// Whether files of this format say that the column at a place is a clock.
    fn is_clock(&self, _column: usize) -> bool {
        false
    }
}
