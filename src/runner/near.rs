//! A histogram whose next value is expected where its last one was.

use crate::record::histogram::Recorder;
use crate::sys::prefetch::prefetch;
use std::sync::atomic::AtomicU64;

/// Records, and remembers the counter.
pub struct Near {
    recorder: Recorder<'static>,
    last: &'static AtomicU64,
}

impl Near {
    /// Of this histogram.
    pub fn new(recorder: Recorder<'static>) -> Near {
        Near { recorder, last: recorder.first() }
    }

    /// Counts a value, ns. Once in the program's text: an activation counts nine, and its code is as cold as its data.
    #[inline(never)]
    pub fn record(&mut self, nanos: i64) {
        self.last = self.recorder.record(nanos);
    }

    /// Asks for the memory that the next value will probably change.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(self.recorder.first());
        prefetch(self.last);
    }
}
