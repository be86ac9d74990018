//! What FMU code prints: appended to the run's log, by the process whose standard output it is. A housekeeping thread follows the
//! supervisor when that begins the log anew, and cuts what comes faster than that; whatever was printed before a crash is in the file.

use super::job::Job;
use crate::record::board::{Board, Global};
use crate::sys::process::Log;
use crate::sys::{SysError, affinity, thread};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

/// How often the log's size is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Starts the thread, which lives as long as the process. `folder`: where the log is; `None`: it is not followed.
pub fn limit(job: &Job, board: Board<'static>, log: Arc<Log>, folder: Option<OwnedFd>) -> Result<(), SysError> {
    let limit = job.plan.host.log_file_limit();
    let partitions: Vec<usize> = job.plan.tasks.iter().map(|task| task.cpu).collect();
    let body = move || {
        let _partitions_go_first = affinity::keep_off(&partitions);
        loop {
            std::thread::sleep(LOOK);
            let number = board.global(Global::LogNumber).load(SeqCst);
            let followed = folder.as_ref().and_then(|folder| log.follow(folder.as_fd(), number, limit).ok());
            // Who is not followed begins nothing anew.
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
