//! The present instant of a run in virtual time.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Release;
use vecud_base::time::{Instant, Nanos, ToNanos};
use vecud_plan::schedule::Agenda;

/// The present instant, as others see it.
#[derive(Default)]
pub(super) struct Moment {
    /// [`Agenda::instant`].
    pub(super) instant: u64,
    /// As FMUs get it.
    pub(super) seconds: f64,
    /// Nanoseconds since the start of the run.
    pub(super) since_start: u64,
    nanos: ToNanos,
}

impl Moment {
    /// Tells others, if the agenda has come to another instant, that nothing before it happens any more.
    #[inline(always)] // in the one loop there is
    pub(super) fn follow(&mut self, agenda: &Agenda, begin: Nanos, complete: &AtomicU64) {
        if self.instant != agenda.instant() {
            self.instant = agenda.instant();
            // Borrowed instead of moved: parts that were written a moment ago are slow to copy as a whole.
            self.come_to(&agenda.due().time, begin, complete);
        }
    }

    #[inline(always)] // in the two loops there are
    pub(super) fn come_to(&mut self, time: &Instant, begin: Nanos, complete: &AtomicU64) {
        self.seconds = time.seconds();
        // Whatever the two are, the difference is right: no time is before the start.
        self.since_start = (self.nanos.of(time).0 as u64).wrapping_sub(begin.0 as u64);
        // One nanosecond less, since nanoseconds are rounded.
        complete.store(self.since_start.saturating_sub(1), Release);
    }
}
