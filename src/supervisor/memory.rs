//! The runner's memory, from outside: whether it has come to its limit.

use crate::plan::Plan;
use crate::record::board::{Board, Global};
use crate::report::Kind;
use crate::sys::memory::data_limit;
use std::sync::atomic::Ordering::SeqCst;

/// How often it is looked at, ns.
const PERIOD: i64 = 100_000_000;

/// What the runner's process has, and may have, of memory of its own (`RLIMIT_DATA`), bytes; the stacks of partitions come on top.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    runner: u32,
    looked: i64,
    most: u64,
    limit: Option<u64>,
}

impl Memory {
    /// The memory of the process that runs this plan.
    pub fn of(runner: u32, plan: &Plan) -> Memory {
        Memory { runner, looked: 0, most: 0, limit: data_limit(plan.host.memory_limit_mib) }
    }

    /// Looks, if it is time (`now`: CLOCK_MONOTONIC, ns).
    pub fn look(&mut self, now: i64) {
        if now - self.looked < PERIOD {
            return;
        }
        self.looked = now;
        let file = |name| std::fs::read_to_string(format!("/proc/{}/{name}", self.runner)).unwrap_or_default();
        let raised = allowed(&file("limits")).zip(self.limit).map_or(0, |(now, limit)| now.saturating_sub(limit));
        self.most = data(&file("status")).map_or(self.most, |now| self.most.max(now.saturating_sub(raised)));
    }

    /// What to say of a run that has failed; `None`: memory was not short.
    pub fn shortage(&self, board: Board) -> Option<Kind> {
        let limit = self.limit?;
        let refused = board.global(Global::OutOfMemory).load(SeqCst) != 0;
        // An allocation that fails is some way below the limit.
        let reached = self.most >= limit / 100 * 95;
        let kind = Kind::MemoryShort { most_mib: self.most >> 20, limit_mib: limit >> 20, refused };
        (refused || reached).then_some(kind)
    }
}

/// `VmData` of a file `status`, bytes.
fn data(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmData:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

/// The limit of that in a file `limits`, bytes. It is raised by the stacks' size when these are made.
fn allowed(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max data size"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_file_is_read() {
        assert_eq!(data("VmPeak:\t  9 kB\nVmData:\t  1024 kB\n"), Some(1 << 20));
        assert_eq!(data("VmPeak:\t  9 kB\n"), None);
        assert_eq!(
            allowed(
                "Max cpu time  unlimited\nMax data size             67108864             96468992             bytes\n"
            ),
            Some(64 << 20)
        );
        assert_eq!(allowed("Max data size             unlimited            unlimited            bytes\n"), None);
    }
}
