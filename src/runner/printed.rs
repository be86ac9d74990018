//! What FMU code prints: appended to the run's log, up to a limit, by a housekeeping thread of the process whose standard output it
//! is. The rest goes nowhere, and the run goes on; whatever was printed before a crash is in the file.

use super::job::Job;
use crate::record::board::{Board, Global};
use crate::sys::process::Log;
use crate::sys::{SysError, affinity, thread};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

/// How often the log's size is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Starts the thread, which lives as long as the process.
pub fn limit(job: &Job, board: Board<'static>, log: Arc<Log>) -> Result<(), SysError> {
    let limit = job.plan.host.log_limit_mib << 20;
    let partitions: Vec<usize> = job.plan.tasks.iter().map(|task| task.cpu).collect();
    let body = move || {
        let _partitions_go_first = affinity::keep_off(&partitions);
        loop {
            std::thread::sleep(LOOK);
            if log.cut(limit) {
                board.global(Global::LogCut).store(1, SeqCst);
            }
        }
    };
    thread::spawn("vecud.log", 64 * 1024, body).map(drop)
}
