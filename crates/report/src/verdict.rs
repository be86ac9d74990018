//! The verdict on a run: whether it succeeded, and its exit code.

use crate::{End, Ended, Run, Severity};

/// Whether the run succeeded: it neither failed nor exceeded a limit of the rig.
pub fn passed(run: &Run) -> bool {
    exit_code(run) == 0
}

/// The exit code of a run: 0 success, 1 failure, 3 an exceeded limit.
pub fn exit_code(run: &Run) -> u8 {
    let has = |severity| run.problems.iter().any(|problem| problem.severity == severity);
    let failed = run.end == End::Failure || run.ended != Ended::Finished;
    match (has(Severity::Failure) || failed, has(Severity::Limit)) {
        (true, _) => 1,
        (false, true) => 3,
        (false, false) => 0,
    }
}
