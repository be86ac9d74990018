//! Whether a rig restarts after the end of its run, and when. Pure.

use std::time::Duration;
use vecud_plan::rig::RigDaemon;

/// A run that lasted as long was none of a row of failures.
const LONG: Duration = Duration::from_secs(60);
/// No delay is longer, unless the rig's own is.
const LONGEST: Duration = Duration::from_secs(60);
/// The exit code of a run that has failed: an invalid rig, or a limit that was exceeded, is not worth another try.
const FAILED: u8 = 1;

/// The failures of a rig in a row.
#[derive(Clone, Copy, Debug, Default)]
pub struct Failures(u32);

impl Failures {
    /// Takes the end of a run that has `lasted` this long. Returns the delay of the next one; `None`: there is none.
    pub fn after(&mut self, policy: RigDaemon, exit_code: u8, lasted: Duration) -> Option<Duration> {
        if lasted >= LONG {
            self.0 = 0;
        }
        if exit_code != FAILED || !policy.restarts || self.0 >= policy.most {
            return None;
        }
        let first = Duration::from_nanos(policy.delay.0.unsigned_abs());
        let delay = first.saturating_mul(1 << self.0.min(16)).min(LONGEST.max(first));
        self.0 += 1;
        Some(delay)
    }

    /// The number of restarts in a row.
    pub fn count(&self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vecud_base::time::Nanos;

    const SHORT: Duration = Duration::from_secs(1);

    fn policy(restarts: bool, delay: f64, most: u32) -> RigDaemon {
        RigDaemon { restarts, delay: Nanos::from_seconds(delay), most }
    }

    /// The delays after so many failures in a row, in seconds.
    fn delays(policy: RigDaemon, failures: usize) -> Vec<Option<u64>> {
        let mut all = Failures::default();
        (0..failures).map(|_| all.after(policy, 1, SHORT).map(|delay| delay.as_secs())).collect()
    }

    #[test]
    fn delays_double_up_to_a_minute_and_end_at_the_limit() {
        let some = |delays: &[u64]| delays.iter().copied().map(Some).collect::<Vec<_>>();
        assert_eq!(delays(policy(true, 5.0, 9), 6), some(&[5, 10, 20, 40, 60, 60]));
        assert_eq!(delays(policy(true, 90.0, 9), 2), some(&[90, 90]), "the rig's own");
        assert_eq!(delays(policy(true, 1.0, 2), 4), [Some(1), Some(2), None, None]);
        assert_eq!(delays(policy(false, 1.0, 2), 1), [None]);
        assert_eq!(delays(policy(true, 3600.0, u32::MAX), 40).last(), Some(&Some(3600)), "nothing overflows");
    }

    #[test]
    fn what_is_no_failure_or_comes_after_long_begins_anew() {
        let (policy, mut all) = (policy(true, 1.0, 1), Failures::default());
        for code in [0, 2, 3] {
            assert_eq!(all.after(policy, code, SHORT), None);
        }
        assert_eq!((all.after(policy, 1, SHORT), all.after(policy, 1, SHORT)), (Some(SHORT), None));
        assert_eq!(all.after(policy, 1, LONG), Some(SHORT), "it has run for long meanwhile");
    }
}
