//! The agreement between the receiver of external events and the thread that reports up to which time a run is complete.
//!
//! Rows of a recording are written once nothing earlier can happen any more. Events from outside could always happen earlier, so
//! a time is *closed* before it is reported as complete. Guarantee: when [`Horizon::close`] returns `true`, every event with a
//! time before that has been handed over, and every later one gets a time that is not before it.
//!
//! Memory ordering: each side writes its own word, then reads the other's, both sequentially consistent. So one of the two sees
//! the other: the receiver the closed time, or the closer the event under way.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};

/// See the [module](self). Times are nanoseconds of simulation time; one receiver, one closer.
#[derive(Debug)]
pub struct Horizon {
    closed: AtomicI64,
    on_the_way: AtomicBool,
}

impl Horizon {
    /// Nothing is closed.
    pub fn new() -> Horizon {
        Horizon { closed: AtomicI64::new(i64::MIN), on_the_way: AtomicBool::new(false) }
    }

    /// Closes the times before `time`. `false`: an event under way may be before it, and the caller has to try again.
    pub fn close(&self, time: i64) -> bool {
        self.closed.fetch_max(time, SeqCst);
        !self.on_the_way.load(SeqCst)
    }

    /// The receiver is about to give an event a time, which must not be before the one that this returns, and to hand it
    /// over; [`Horizon::leave`] when it has.
    pub fn enter(&self) -> i64 {
        self.on_the_way.store(true, SeqCst);
        self.closed.load(SeqCst)
    }

    /// The event was handed over.
    pub fn leave(&self) {
        self.on_the_way.store(false, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn a_closed_time_stays_closed() {
        let horizon = Horizon::new();
        assert_eq!(horizon.enter(), i64::MIN);
        assert!(!horizon.close(5), "the one that entered before may be earlier");
        horizon.leave();
        assert!(horizon.close(3));
        assert_eq!(horizon.enter(), 5);
    }

    /// Whatever is handed over after a successful close is not before the closed time.
    #[test]
    fn nothing_slips_in_before_a_time_that_is_complete() {
        let horizon = Horizon::new();
        let complete = AtomicI64::new(i64::MIN);
        let (done, broken) = (AtomicBool::new(false), AtomicU64::new(0));
        let rounds = if cfg!(miri) { 200 } else { 300_000 };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for time in 0..rounds {
                    if horizon.close(time) {
                        complete.store(time, SeqCst);
                    }
                }
                done.store(true, SeqCst);
            });
            while !done.load(SeqCst) {
                // As early as it may be; handing over is the look at what was said to be complete.
                let time = horizon.enter();
                if complete.load(SeqCst) > time {
                    broken.fetch_add(1, SeqCst);
                }
                horizon.leave();
            }
        });
        assert_eq!(broken.into_inner(), 0);
    }
}
