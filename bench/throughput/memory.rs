//! Whether the memory of both processes stays as it is while activations go on.

use super::idle::{Idle, Recorded};
use std::time::Duration;

/// What may come and go, KiB: the allocator keeps some of what it is given back.
const SLACK: u64 = 512;

/// Resident memory of a process and of its children, KiB.
fn resident(process: u32) -> u64 {
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    let own = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let own = own.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let own: u64 = own.trim().trim_end_matches(" kB").parse().unwrap_or(0);
    own + children.split_whitespace().filter_map(|child| child.parse().ok()).map(resident).sum::<u64>()
}

/// Runs so many activations, recorded now and then, and compares memory after a tenth of the run with the most that it
/// takes later.
pub fn stays(fmu: &Idle, activations: u64) -> Result<bool, String> {
    let mut run = fmu.start(Recorded::Some(1000), activations)?;
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
        "{activations} activations, one in 1000 recorded: {nanos:.1} ns each; memory of both processes {early} KiB after a \
         tenth of them, at most {most} KiB later"
    );
    Ok(kept)
}
