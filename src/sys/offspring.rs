//! Processes that the code of others has started: how they are known, found and ended.
//!
//! They are descendants of the process that started that code: with [`adopt`] their orphans become its children instead of
//! those of process 1, daemons included. What it had started before, or has inherited from a shell by `exec`, is told apart by
//! a mark that all descendants of a marked process inherit and cannot take off: the hard limit `RLIMIT_LOCKS`, which Linux has
//! not looked at since 2.4.25, can be lowered by everybody and raised with a privilege only.

use super::SysError;
use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::Pid;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// The highest limit that a marked process may have: as good as none, if anybody looked.
const HIGHEST: u64 = 0x7665_6375_6400_0000;

/// A process as /proc shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// The number of the process.
    pub pid: u32,
    /// What it is called: its program, or the thread that it was forked from.
    pub name: String,
    parent: u32,
    /// The process has ended and waits for its parent.
    ended: bool,
    /// When it began, in the kernel's ticks since boot.
    began: u64,
}

/// The mark that processes get which this one starts from now on with it: a limit.
pub fn mark() -> u64 {
    getrlimit(Resource::RLIMIT_LOCKS).map_or(HIGHEST, |(_, hard)| hard.min(HIGHEST))
}

/// Marks the calling process. Async-signal-safe, for between `fork` and `exec`.
pub(super) fn wear(mark: u64) {
    let limit = libc::rlimit { rlim_cur: mark, rlim_max: mark };
    // SAFETY: setrlimit reads one rlimit, which is ours. Nothing depends on this limit, so it may fail.
    unsafe { libc::setrlimit(libc::RLIMIT_LOCKS, &raw const limit) };
}

/// From here on orphaned descendants of this process become its children.
pub fn adopt() -> Result<(), SysError> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| SysError::new("adopt orphaned processes", error.raw_os_error(), super::privilege::prctl_fix()))
}

/// Whether a thread is of this process or of a descendant of it.
pub(super) fn is_of_this_process(tid: u32) -> bool {
    // Parents change while they are looked at, but there are no more generations than numbers of processes.
    const MOST: usize = 1 << 22;
    if Path::new(&format!("/proc/self/task/{tid}")).exists() {
        return true;
    }
    let line = std::iter::successors(Some(tid), |pid| read(*pid).map(|process| process.parent));
    line.take(MOST).any(|pid| pid == std::process::id())
}

/// Whether this child of this process has ended without this process being told: while another process traces one that has
/// ended, its parent is not.
pub fn is_kept_by_a_tracer(child: u32) -> bool {
    read(child).is_some_and(|process| process.ended)
}

/// Whether this process has a child, alive or not yet taken note of.
fn has_children() -> bool {
    let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT | WaitPidFlag::__WALL;
    waitid(Id::All, look) != Err(Errno::ECHILD)
}

/// Takes note of the end of adopted children, so that they leave the table of processes; leaves `own` alone, for whom somebody else
/// waits. For the process that has called [`adopt`] to do now and then.
pub fn reap(own: u32) {
    let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    while let Ok(WaitStatus::Exited(pid, _) | WaitStatus::Signaled(pid, ..)) = waitid(Id::All, look) {
        if pid.as_raw() as u32 == own || waitpid(pid, Some(WaitPidFlag::WNOHANG)).is_err() {
            return;
        }
    }
}

/// Marked descendants of this process that did not begin before its child `first`, which is none of them.
#[derive(Clone, Copy, Debug)]
pub struct Offspring {
    first: u32,
    since: u64,
    mark: u64,
}

impl Offspring {
    /// The offspring of the child `first`, which wears the `mark`.
    pub fn of(first: u32, mark: u64) -> Offspring {
        Offspring { first, since: read(first).map_or(0, |process| process.began), mark }
    }

    /// Ends all there are, the hard way, and those that they make meanwhile, within `patience`; `found` hears of each before
    /// that. Tells whether none is left.
    pub fn end(&self, patience: Duration, mut found: impl FnMut(&Process)) -> bool {
        // Orphans are children: without any there is nobody, and no need to look at all processes of the machine.
        if !has_children() {
            return true;
        }
        let (mut known, until) = (BTreeSet::new(), Instant::now() + patience);
        loop {
            let alive: Vec<Process> = self.alive().into_iter().filter(|process| !process.ended).collect();
            if alive.is_empty() || Instant::now() > until {
                return alive.is_empty();
            }
            for process in alive {
                if known.insert(process.pid) {
                    found(&process);
                }
                let _may_be_gone = kill(Pid::from_raw(process.pid as i32), Signal::SIGKILL);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn alive(&self) -> Vec<Process> {
        let Ok(folder) = std::fs::read_dir("/proc") else { return Vec::new() };
        let numbers = folder.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
        let all: BTreeMap<u32, Process> = numbers.filter_map(read).map(|process| (process.pid, process)).collect();
        let is_ours = |process: &&Process| {
            let mut parent = process.parent;
            // A process can change its parent between two looks, but there are no more generations than processes.
            for _ in 0..=all.len() {
                match all.get(&parent) {
                    _ if parent == std::process::id() => return true,
                    Some(next) => parent = next.parent,
                    None => return false,
                }
            }
            false
        };
        let others = all.values().filter(|process| process.pid != self.first && process.began >= self.since);
        others.filter(is_ours).filter(|process| self.is_marked(process.pid)).cloned().collect()
    }

    fn is_marked(&self, pid: u32) -> bool {
        // One whose limits cannot be read is a descendant all the same.
        let Ok(limits) = std::fs::read_to_string(format!("/proc/{pid}/limits")) else { return true };
        hard_limit(&limits).is_none_or(|limit| limit <= self.mark)
    }
}

/// `RLIMIT_LOCKS` in a file `limits`; `None` where it has no such line.
fn hard_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max file locks"))?;
    let hard = line.split_whitespace().nth(1)?;
    Some(hard.parse().unwrap_or(u64::MAX))
}

fn read(pid: u32) -> Option<Process> {
    parse(pid, &std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The line of /proc/PID/stat: `pid (name) state parent ... began ...`; a name may have parentheses and spaces.
fn parse(pid: u32, stat: &str) -> Option<Process> {
    let (begin, rest) = stat.rsplit_once(')')?;
    let name = begin.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let (state, parent, began) = (fields.first()?, fields.get(1)?.parse().ok()?, fields.get(19)?.parse().ok()?);
    Some(Process { pid, name, parent, ended: matches!(*state, "Z" | "X"), began })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_files_are_read() {
        let line = "42 (a) b (c) S 7 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4711 10 20";
        let process = Process { pid: 42, name: "a) b (c".into(), parent: 7, ended: false, began: 4711 };
        assert_eq!(parse(42, line), Some(process));
        assert_eq!(parse(42, "42 (cut"), None);
        let limits =
            |hard: &str| format!("Max file size   1   2   bytes\nMax file locks   unlimited   {hard}   locks\n");
        assert_eq!(hard_limit(&limits("unlimited")), Some(u64::MAX));
        assert_eq!(hard_limit(&limits("8531")), Some(8531));
        assert_eq!(hard_limit(""), None);
        assert!(read(std::process::id()).is_some_and(|own| !own.ended && own.began > 0));
    }
}
