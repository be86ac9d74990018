//! Rows that wait in memory until the simulation is over.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Rows of CSV. Copies are the same rows.
#[derive(Clone, Default)]
pub struct CsvText(Arc<Mutex<Vec<u8>>>);

impl CsvText {
    /// Takes the rows that were written so far.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for CsvText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
