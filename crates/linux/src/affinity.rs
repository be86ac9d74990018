//! The cores of the machine, the cores set apart for real time, and the core of a thread.
//!
//! Pinning is core_affinity's. Listing is not: its list is the affinity mask of the calling thread, which leaves out
//! isolated cores exactly when they matter.

use super::SysError;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::collections::BTreeSet;

/// Binds the calling thread to one core and reads back that it is. One that has no other core anyway needs no permission.
pub fn pin_to(cpu: usize) -> Result<(), SysError> {
    let refused =
        |errno| SysError::new(format!("pin a thread to core {cpu}"), errno, super::privilege::affinity_fix(cpu, errno));
    if cpu >= CpuSet::count() {
        return Err(refused(libc::EINVAL));
    }
    let pinned = core_affinity::set_for_current(core_affinity::CoreId { id: cpu });
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    let now = allowed_cpus()?;
    match now == BTreeSet::from([cpu]) {
        true => Ok(()),
        false if !pinned => Err(refused(errno)),
        false => {
            let what = format!("keep a thread on core {cpu}: reads back as {now:?}");
            Err(SysError::new(what, 0, super::privilege::affinity_fix(cpu, libc::EINVAL)))
        }
    }
}

/// Whether threads of this process can be pinned to that core, found by doing it on a thread that ends at once.
pub fn probe_pin(cpu: usize) -> Result<(), SysError> {
    super::thread::apart(move || pin_to(cpu))?
}

/// Keeps the calling thread off these cores, as far as it may run on others.
pub fn keep_off(cpus: &[usize]) -> Result<(), SysError> {
    keep_thread_off(0, cpus)
}

/// Keeps all threads that this process has by now off these cores, as far as they can be found and may be asked.
pub fn keep_process_off(cpus: &[usize]) {
    for tid in threads() {
        let _one_that_has_ended = keep_thread_off(tid, cpus);
    }
}

/// Has all threads of this process run on these cores, as far as they can be found and may be asked. Threads begin where the one is that
/// starts them, so that it is looked until there is none that has begun elsewhere meanwhile.
pub fn keep_process_on(cpus: &BTreeSet<usize>) {
    const LOOKS: usize = 10;
    for _ in 0..LOOKS {
        let elsewhere = threads().filter(|tid| allowed_cpus_of(*tid).is_ok_and(|own| own != *cpus));
        let moved = elsewhere.filter(|tid| keep_thread_on(*tid, cpus.iter().copied()).is_ok());
        if moved.count() == 0 {
            return;
        }
    }
}

/// The threads of this process.
fn threads() -> impl Iterator<Item = u32> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    threads.filter_map(|thread| thread.ok()?.file_name().to_str()?.parse().ok())
}

fn keep_thread_off(tid: u32, cpus: &[usize]) -> Result<(), SysError> {
    let error = |e: nix::Error| SysError::new(format!("keep a thread off cores {cpus:?}"), e as i32, "");
    let others: Vec<usize> = allowed_cpus_of(tid)?.into_iter().filter(|cpu| !cpus.contains(cpu)).collect();
    if others.is_empty() {
        return Ok(());
    }
    keep_thread_on(tid, others).map_err(error)
}

fn keep_thread_on(tid: u32, cpus: impl IntoIterator<Item = usize>) -> nix::Result<()> {
    let mut set = CpuSet::new();
    cpus.into_iter().try_for_each(|cpu| set.set(cpu))?;
    sched_setaffinity(Pid::from_raw(tid as i32), &set)
}

/// Has a thread run on these cores alone.
pub fn move_to(tid: u32, cpus: &[usize]) -> Result<(), SysError> {
    let error = |e: nix::Error| SysError::new(format!("move a thread to cores {cpus:?}"), e as i32, "");
    keep_thread_on(tid, cpus.iter().copied()).map_err(error)
}

/// The cores that the calling thread may run on.
pub fn allowed_cpus() -> Result<BTreeSet<usize>, SysError> {
    allowed_cpus_of(0)
}

/// The cores that the thread `tid` (0: the calling one) may run on.
pub fn allowed_cpus_of(tid: u32) -> Result<BTreeSet<usize>, SysError> {
    let set = sched_getaffinity(Pid::from_raw(tid as i32))
        .map_err(|e| SysError::new("read the affinity mask", e as i32, ""))?;
    Ok((0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap_or(false)).collect())
}

/// The kernel's list of cores that exist and are switched on.
pub const ONLINE: &str = "/sys/devices/system/cpu/online";
/// The kernel's list of cores that `isolcpus=` keeps ordinary threads away from.
pub const ISOLATED_AT_BOOT: &str = "/sys/devices/system/cpu/isolated";
/// The kernel's list of cores that an isolated partition of the control group cpuset keeps ordinary threads away from.
pub const ISOLATED_BY_GROUP: &str = "/sys/fs/cgroup/cpuset.cpus.isolated";

/// The cores that exist and are switched on.
pub fn online_cpus() -> BTreeSet<usize> {
    read_list(ONLINE)
}

/// The cores that the kernel keeps ordinary threads away from: by `isolcpus=` or by an isolated cpuset partition.
pub fn isolated_cpus() -> BTreeSet<usize> {
    let mut cpus = read_list(ISOLATED_AT_BOOT);
    cpus.extend(read_list(ISOLATED_BY_GROUP));
    cpus
}

/// The core that the calling thread runs on, without a system call.
#[inline]
pub fn current_cpu() -> usize {
    rustix::thread::sched_getcpu()
}

fn read_list(path: &str) -> BTreeSet<usize> {
    std::fs::read_to_string(path).map_or_else(|_| BTreeSet::new(), |list| parse_list(&list))
}

/// No kernel has more cores than this.
const MOST_CPUS: usize = 1 << 16;

/// The kernel's notation: `0-3,8`. What is no number of a core is left out.
pub fn parse_list(list: &str) -> BTreeSet<usize> {
    list.trim()
        .split(',')
        .filter_map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(first.trim().parse::<usize>().ok()?..=last.trim().parse::<usize>().ok()?.min(MOST_CPUS))
        })
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_lists_are_read() {
        assert_eq!(parse_list("0-2,5\n"), BTreeSet::from([0, 1, 2, 5]));
        assert_eq!(parse_list("\n"), BTreeSet::new());
        assert_eq!(parse_list("3"), BTreeSet::from([3]));
        // What no kernel writes must not fill memory.
        assert_eq!(parse_list("7-99999999999999").len(), MOST_CPUS - 6);
        assert_eq!(parse_list("70000-99999999999999,x,-,5-,18446744073709551616"), BTreeSet::new());
        assert!(!online_cpus().is_empty());
    }

    #[test]
    fn a_thread_is_pinned_and_runs_there() {
        let last = *allowed_cpus().unwrap().last().unwrap();
        std::thread::spawn(move || {
            pin_to(last).unwrap();
            assert_eq!(current_cpu(), last);
        })
        .join()
        .unwrap();
        assert!(pin_to(100_000).unwrap_err().to_string().contains("core 100000"));
    }
}
