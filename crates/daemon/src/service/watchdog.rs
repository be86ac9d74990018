//! Whether all parts of the daemon go on. Pure: the caller gives the count of each part, and the time.
//!
//! Stuck and slow are two things:
//!
//! - A count that moves is somebody who goes on, however slowly.
//! - A session whose thread the kernel has wait for a disk is slow, for as long as that lasts: ending the daemon makes no disk faster,
//!   and throws away what it has not written yet. That is said, and the keep-alive goes on.
//! - A session that prepares a run, or writes the report of one, has no count: how long that takes the FMU, the compiler and the length
//!   of the run say.
//! - Any other part whose count stays for longer than the limit is stuck: it waits for something that does not come, loops for ever,
//!   was stopped, or gets no core. The last of these is no fault of the daemon, and still a case for a restart: partitions that leave no
//!   core to their supervisor are ended with the daemon.
//! - Time in which nobody has looked (the whole process was stopped) is held against nobody.

use super::super::name::RigName;
use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

/// Least time limit for a sign of life. A session gives some 50 of them in a second.
const LEAST: Duration = Duration::from_secs(3);

/// A part of the daemon that must stay alive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// The main loop.
    MainLoop,
    /// The part that answers requests.
    Requests,
    /// The session of a rig.
    Session(RigName),
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Who::MainLoop => f.write_str("the main loop"),
            Who::Requests => f.write_str("what answers requests"),
            Who::Session(rig) => write!(f, "the session of rig {rig}"),
        }
    }
}

/// A sign of life.
#[derive(Clone, Debug)]
pub struct Sign {
    /// The part that gives the sign.
    pub who: Who,
    /// Counter: another value than at the last check is a sign of life.
    pub count: u64,
    /// The kernel makes the part wait for a disk.
    pub waits_for_disk: bool,
}

/// State of a part at the last check.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    count: u64,
    /// Time without a change of the count, except waits for a disk.
    still: Duration,
    /// Time of waiting for a disk.
    waited: Duration,
    stuck_was_said: bool,
    slow_was_said: bool,
}

/// Result of a check.
#[derive(Debug, Default)]
pub struct WatchdogCheck {
    /// The keep-alive may be sent.
    pub all_go_on: bool,
    /// Changes, for the log.
    pub remarks: Vec<String>,
}

/// Judges the signs of life.
#[derive(Debug)]
pub struct ServiceWatchdog {
    /// Greatest time without a change of the count.
    limit: Duration,
    period: Duration,
    last: Option<Instant>,
    known: BTreeMap<Who, Known>,
}

impl ServiceWatchdog {
    /// For a service manager that wants a keep-alive at least this often.
    pub fn new(wanted: Duration) -> ServiceWatchdog {
        ServiceWatchdog { limit: (wanted / 2).max(LEAST), period: wanted / 8, last: None, known: BTreeMap::new() }
    }

    /// The longest time between two looks.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Looks at all parts that must go on. Parts that do not exist any more are forgotten.
    pub fn look(&mut self, now: Instant, signs: Vec<Sign>) -> WatchdogCheck {
        // This thread itself may have been stopped: nobody has had more than a turn to come around.
        let passed = self.last.map_or(Duration::ZERO, |last| now.saturating_duration_since(last));
        let passed = passed.min(2 * self.period.max(Duration::from_millis(500)));
        self.last = Some(now);
        let mut before = std::mem::take(&mut self.known);
        let mut look = WatchdogCheck { all_go_on: true, remarks: Vec::new() };
        for Sign { who, count, waits_for_disk } in signs {
            let mut known = before.remove(&who).unwrap_or(Known { count, ..Known::default() });
            if known.count != count {
                if known.stuck_was_said {
                    look.remarks.push(format!("watchdog: {who} goes on again"));
                }
                known = Known { count, ..Known::default() };
            } else if waits_for_disk {
                known.waited += passed;
            } else {
                known.still += passed;
            }
            let limit = self.limit.as_secs_f64();
            if known.waited >= self.limit && !known.slow_was_said {
                look.remarks.push(format!("watchdog: {who} waits for its disk since {limit} s: it is slow, not stuck"));
                known.slow_was_said = true;
            }
            if known.still >= self.limit {
                look.all_go_on = false;
                if !known.stuck_was_said {
                    let text = format!(
                        "watchdog: {who} has not come around for {limit} s: the service manager is not told any more that all goes on"
                    );
                    look.remarks.push(text);
                    known.stuck_was_said = true;
                }
            }
            self.known.insert(who, known);
        }
        look
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: Duration = Duration::from_secs(8);
    const LIMIT: Duration = Duration::from_secs(4);

    fn session(count: u64, waits_for_disk: bool) -> Sign {
        Sign { who: Who::Session(RigName::new("a").unwrap()), count, waits_for_disk }
    }

    /// Looks once in a second; `signs` says what there is at second k. Gives whether the keep-alive was sent in each.
    fn fed(seconds: u64, signs: impl Fn(u64) -> Vec<Sign>) -> (Vec<bool>, Vec<String>) {
        let (mut watchdog, began, mut remarks) = (ServiceWatchdog::new(WANTED), Instant::now(), Vec::new());
        assert_eq!((watchdog.limit, watchdog.period()), (LIMIT, Duration::from_secs(1)));
        let fed = (0..seconds).map(|second| {
            let mut look = watchdog.look(began + Duration::from_secs(second), signs(second));
            remarks.append(&mut look.remarks);
            look.all_go_on
        });
        (fed.collect(), remarks)
    }

    #[test]
    fn who_goes_on_is_fed_and_who_stays_is_not() {
        assert_eq!(fed(20, |second| vec![session(second / 3, false)]), (vec![true; 20], vec![]), "slow, and not stuck");
        let (fed, remarks) = fed(12, |second| vec![session(second.min(2) + second / 9, false)]);
        // It moves last at second 2, and again at second 9.
        let expected: Vec<bool> = (0..12).map(|second| !(6..9).contains(&second)).collect();
        assert_eq!(fed, expected);
        assert!(remarks[0].contains("session of rig a") && remarks[1].contains("again"), "{remarks:?}");
        assert_eq!(remarks.len(), 2);
    }

    #[test]
    fn one_of_several_is_enough() {
        let signs = |second| {
            let of = |who, count| Sign { who, count, waits_for_disk: false };
            vec![of(Who::MainLoop, second), of(Who::Requests, 7), session(second, false)]
        };
        let (fed, remarks) = fed(6, signs);
        assert_eq!(fed, [true, true, true, true, false, false]);
        assert!(remarks[0].contains("answers requests"), "{remarks:?}");
    }

    #[test]
    fn who_waits_for_a_disk_is_slow_however_long_and_said_so_once() {
        let (fed, remarks) = fed(100, |_| vec![session(5, true)]);
        assert_eq!(fed, vec![true; 100]);
        assert!(remarks.len() == 1 && remarks[0].contains("disk"), "{remarks:?}");
    }

    /// Waiting now and then does not excuse for ever.
    #[test]
    fn who_is_seen_at_a_disk_and_then_elsewhere_is_stuck_some_time() {
        let (fed, _) = fed(12, |second| vec![session(5, second % 2 == 0)]);
        assert_eq!(fed.iter().position(|fed| !fed), Some(7), "{fed:?}");
    }

    #[test]
    fn who_is_over_or_has_nothing_to_count_is_not_waited_for() {
        let (fed, _) = fed(20, |second| if second < 3 { vec![session(5, false)] } else { vec![] });
        assert_eq!(fed, vec![true; 20]);
    }

    #[test]
    fn time_in_which_nobody_looked_is_nobodys_fault() {
        let (mut watchdog, began) = (ServiceWatchdog::new(WANTED), Instant::now());
        assert!(watchdog.look(began, vec![session(5, false)]).all_go_on);
        assert!(watchdog.look(began + Duration::from_secs(3600), vec![session(5, false)]).all_go_on);
    }

    /// A service manager that wants it more often than a session comes around does not get sessions called stuck.
    #[test]
    fn a_short_watchdog_leaves_a_session_its_time() {
        assert_eq!(ServiceWatchdog::new(Duration::from_millis(100)).limit, LEAST);
    }
}
