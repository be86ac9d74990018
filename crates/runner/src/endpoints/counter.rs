//! A counter: it counts by itself, from the start of the run on, and each count is an item.
//!
//! The k-th count, from 0, comes `k` times its time after the start instant, however late it is noticed: what was missed is made up for. In
//! a pause it counts on.

use super::endpoint::{Endpoint, Look, Opened, Opener};
use super::intake::Intake;
use std::os::fd::BorrowedFd;
use std::time::Duration;
use vecud_base::time::Nanos;
use vecud_plan::OpenEndpoint;

struct Counter {
    each: Nanos,
    /// How often it has counted.
    count: i64,
}

impl OpenEndpoint<Nanos, Opened> for Opener<'_> {
    fn open(self, each: &Nanos) -> Opened {
        Ok(Box::new(Counter { each: *each, count: 0 }))
    }
}

impl Counter {
    /// Counts once if it has come to that at `now`, for a run that began at `start`; else how long it is until then.
    fn count(&mut self, start: Nanos, now: Nanos) -> Result<Nanos, Duration> {
        let next = start.plus(Nanos(self.each.0.saturating_mul(self.count)));
        if next > now {
            return Err(Duration::from_nanos(next.minus(now).0 as u64));
        }
        self.count += 1;
        Ok(next)
    }
}

impl Endpoint for Counter {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn take(&mut self, look: &Look, intake: &mut Intake) -> Option<Duration> {
        let start = Some(look.run.start()).filter(|start| start.0 != 0)?; // else the run never starts
        loop {
            match self.count(start, look.end.unwrap_or(Nanos(look.run.now()))) {
                Ok(at) => intake.take(look.run, at),
                Err(pause) => return Some(pause),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_at_its_times_and_makes_up_for_what_it_missed() {
        let mut counter = Counter { each: Nanos(10), count: 0 };
        let mut count = |now| counter.count(Nanos(1000), Nanos(now));
        assert_eq!(count(990), Err(Duration::from_nanos(10)), "before the start");
        assert_eq!(count(1000), Ok(Nanos(1000)));
        assert_eq!(count(1003), Err(Duration::from_nanos(7)));
        assert_eq!([count(1025), count(1025)], [Ok(Nanos(1010)), Ok(Nanos(1020))]);
        assert_eq!(count(1025), Err(Duration::from_nanos(5)));
    }
}
