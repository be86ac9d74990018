//! Permits for work that takes much of a machine, so that a few are at it at a time.

use super::stop::StopToken;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Time between two looks for a request to end.
const LOOK: Duration = Duration::from_millis(20);

/// A limited number of permits. Clones share them; by default there is no limit.
#[derive(Clone, Debug, Default)]
pub struct Permits(Option<Arc<Places>>);

#[derive(Debug)]
struct Places {
    free: Mutex<usize>,
    freed: Condvar,
}

/// The right to be at work, until this is dropped.
#[derive(Debug)]
pub struct Permit(Option<Arc<Places>>);

impl Permits {
    /// Gives out this many permits at a time.
    pub fn of(places: usize) -> Permits {
        Permits(Some(Arc::new(Places { free: Mutex::new(places), freed: Condvar::new() })))
    }

    /// Waits for a permit; `None`: somebody has asked for the end before.
    pub fn wait(&self, stop: &StopToken) -> Option<Permit> {
        let Some(places) = &self.0 else { return Some(Permit(None)) };
        let mut free = places.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            if stop.is_asked() {
                return None;
            }
            (free, _) = places.freed.wait_timeout(free, LOOK).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Some(Permit(Some(places.clone())))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(places) = &self.0 {
            *places.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            places.freed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permit_is_one_s_at_a_time_and_nobody_waits_beyond_the_end() {
        let (permits, stop) = (Permits::of(1), StopToken::default());
        let first = permits.wait(&stop).unwrap();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| permits.clone().wait(&stop).is_none());
            std::thread::sleep(LOOK);
            assert!(!waits.is_finished());
            stop.ask();
            assert!(waits.join().unwrap());
        });
        drop(first);
        assert!(permits.wait(&StopToken::default()).is_some());
        assert!(Permits::default().wait(&stop).is_some());
    }
}
