//! Counts of the runs of a rig since the daemon began.

use vecud_host::{Error, Finished};
use vecud_report::{Severity, passed};

/// The results of a rig's runs since the daemon began.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Runs that did what they should.
    pub passed: u64,
    /// Runs that failed or exceeded a limit, or could not begin.
    pub failed: u64,
    /// Runs that began since the one before had failed.
    pub restarts: u64,
    /// The last run that is over; `None`: there was none.
    pub last: Option<LastRun>,
}

/// Result of the last run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastRun {
    /// The run succeeded.
    pub is_passed: bool,
    /// Exit code, as of `vecud run`.
    pub exit_code: u8,
    /// Number of problems of each [severity](SEVERITIES) in its report; for a run that could not begin, of the rig's
    /// mistakes.
    pub problems: [u64; 4],
    /// Page faults in the threads of its clocks after their first activation, as far as they were counted: without and
    /// with access to a disk.
    pub page_faults: [u64; 2],
}

/// All severities, with their words.
pub const SEVERITIES: [(Severity, &str); 4] = [
    (Severity::Failure, "failure"),
    (Severity::Limit, "limit"),
    (Severity::Finding, "finding"),
    (Severity::Warning, "warning"),
];

impl Tally {
    /// A run is over. One that somebody has given up before it began counts as none.
    pub fn count(&mut self, outcome: Result<&[Finished], &Error>, exit_code: u8) {
        let mut last = LastRun { exit_code, ..LastRun::default() };
        match outcome {
            Err(Error::Interrupted) => return,
            Err(error) => last.problems[0] = error.told().len() as u64,
            Ok(finished) => {
                last.is_passed = finished.iter().all(|one| passed(&one.run));
                for run in finished.iter().map(|one| &one.run) {
                    for (place, (severity, _)) in SEVERITIES.iter().enumerate() {
                        let own = run.problems.iter().filter(|problem| problem.severity == *severity);
                        last.problems[place] += own.count() as u64;
                    }
                    for counts in run.clocks.iter().filter_map(|clock| clock.causes.thread.as_ref()) {
                        last.page_faults[0] += counts.later.minor_faults;
                        last.page_faults[1] += counts.later.major_faults;
                    }
                }
            }
        }
        *(if last.is_passed { &mut self.passed } else { &mut self.failed }) += 1;
        self.last = Some(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use vecud_report::{Problem, sample};

    #[test]
    fn runs_are_counted_by_their_verdict_and_the_last_one_is_kept() {
        let mut tally = Tally::default();
        let mut run = sample(1);
        run.problems.clear();
        let finished = |run| [Finished { run, out: PathBuf::new() }];
        tally.count(Ok(&finished(run.clone())), 0);
        assert_eq!((tally.passed, tally.failed, tally.last.unwrap().problems), (1, 0, [0; 4]));
        let told = |severity| Problem::other(severity, "it was late");
        run.problems = vec![told(Severity::Limit), told(Severity::Warning), told(Severity::Warning)];
        tally.count(Ok(&finished(run)), 3);
        let last = tally.last.unwrap();
        assert_eq!((tally.passed, tally.failed, last.is_passed, last.exit_code), (1, 1, false, 3));
        assert_eq!(last.problems, [0, 1, 0, 2]);
        tally.count(Err(&Error::System("no memory".to_owned())), 2);
        assert_eq!((tally.failed, tally.last.unwrap().problems), (2, [1, 0, 0, 0]));
        tally.count(Err(&Error::Interrupted), 2);
        assert_eq!((tally.passed, tally.failed), (1, 2));
    }
}
