//! The output that FMU code prints: appended to the run's log by this process, whose standard output it is. A housekeeping
//! thread, which looks periodically, follows the supervisor when that begins the log anew, and cuts output that comes too fast;
//! output from before a crash is in the file.

use super::job::Job;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use vecud_base::time::{Instant, Nanos};
use vecud_linux::process::Log;
use vecud_linux::wake::monotonic_now;
use vecud_linux::{SysError, affinity, thread};
use vecud_plan::schedule::QuietPoint;
use vecud_record::board::{Board, Global};

/// How often the log's size is looked at.
const LOOK: Nanos = Nanos(100_000_000);

/// Starts the thread, which lives as long as the process. `folder`: where the log is; `None`: it is not followed.
pub fn limit(job: &Job, board: Board<'static>, log: Arc<Log>, folder: Option<OwnedFd>) -> Result<(), SysError> {
    let limit = job.plan.host.log_file_limit();
    let partitions = job.plan.cores();
    let (quiet_point, begin) = (QuietPoint::of(&job.plan), job.begin.nanos());
    let body = move || {
        let _partitions_go_first = affinity::keep_off(&partitions);
        loop {
            std::thread::sleep(pause(quiet_point, begin, board));
            let number = board.global(Global::LogNumber).load(SeqCst);
            let followed = folder.as_ref().and_then(|folder| log.follow(folder.as_fd(), number, limit).ok());
            // An output that is not followed never begins anew.
            if followed.is_some() {
                board.global(Global::LogFollowed).store(number, SeqCst);
            }
            if followed == Some(true) || log.cut(limit) {
                board.global(Global::LogCut).store(1, SeqCst);
            }
        }
    };
    thread::spawn("vecud.log", 64 * 1024, body).map(drop)
}

/// How long to pause from now on. `begin`: the simulation time at which the run starts.
fn pause(quiet_point: Option<QuietPoint>, begin: Nanos, board: Board) -> Duration {
    let start = board.global(Global::StartMonotonic).load(SeqCst) as i64;
    let since = monotonic_now().saturating_sub(start);
    let pause = match quiet_point {
        // A start that FMU code has written over leads to a look at another instant, and to nothing else.
        Some(quiet_point) if start > 0 && since >= 0 => {
            quiet_point.pause(Instant::from_nanos(begin.plus(Nanos(since))), LOOK)
        }
        _ => LOOK,
    };
    Duration::from_nanos(pause.0 as u64)
}
