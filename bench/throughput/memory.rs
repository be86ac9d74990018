//! Whether the memory of both processes stays as it is while activations go on.

use super::idle::{Idle, Recorded};
use std::time::Duration;

/// What may come and go, KiB: the allocator keeps some of what it is given back.
const SLACK: u64 = 512;

/// Resident memory of a process and of its children, KiB.
fn resident(process: u32) -> u64 {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
    let children = threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("children")).ok());
    let children: String = children.collect();
    let own = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let own = own.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let own: u64 = own.trim().trim_end_matches(" kB").parse().unwrap_or(0);
    own + children.split_whitespace().filter_map(|child| child.parse().ok()).map(resident).sum::<u64>()
}

/// Runs so many activations and compares memory after a tenth of the run with the most that it takes later.
pub fn stays(fmu: &Idle, recorded: Recorded, activations: u64) -> Result<bool, String> {
    let mut run = fmu.start(recorded, activations)?;
    let mut seen = Vec::new();
    while run.try_wait().map_err(|error| error.to_string())?.is_none() {
        seen.push(resident(run.id()));
        std::thread::sleep(Duration::from_millis(20));
    }
    let nanos = fmu.finish(run)?;
    // The last readings are of processes that end.
    let (first, later) = seen.split_at(seen.len() / 10);
    let (early, most) = (first.last().copied().unwrap_or(0), later.iter().copied().max().unwrap_or(0));
    let kept = early > 0 && most <= early + SLACK;
    println!(
        "{activations} activations, {}: {nanos:.1} ns each; memory of both processes {early} KiB after a tenth of them, at \
         most {most} KiB later",
        if recorded == Recorded::Nothing { "nothing recorded" } else { "one in 1000 recorded" }
    );
    Ok(kept)
}
