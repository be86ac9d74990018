//! Processes started by code of others: how they are identified, found and ended.
//!
//! They are descendants of the process that started that code: with [`adopt`] their orphans become its children instead of
//! those of process 1, daemons included. A mark tells them from processes that it had started before, or has inherited from a
//! shell by `exec`: all descendants of a marked process inherit it and cannot take it off. The mark is the hard limit
//! `RLIMIT_LOCKS`, which Linux has not looked at since 2.4.25; everybody can lower it, and only a privileged process can raise
//! it.
//!
//! Several marked processes may run side by side: each [begins](begin) with a mark of its own, which identifies its descendants,
//! whoever adopts them. A descendant that has lowered its limit is identified by its ancestors, as long as they exist; an orphan
//! that has lowered it is ended with the last of the processes that may have started it, so that no process is ended too early and
//! none stays.

use super::{SysError, stop};
use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{Pid, getpgrp};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// No marked process has a higher limit: as good as none, if anybody looked.
const HIGHEST: u64 = 0x7665_6375_6400_0000;

/// A process as /proc shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// The number of the process.
    pub pid: u32,
    /// Name of the process: its program, or the thread that it was forked from.
    pub name: String,
    parent: u32,
    group: u32,
    /// The process has ended and waits for its parent.
    ended: bool,
    /// Its begin, in the kernel's ticks since boot.
    began: u64,
}

/// Value above all marks, but not above the limit of this process itself.
fn above_all_marks() -> u64 {
    getrlimit(Resource::RLIMIT_LOCKS).map_or(HIGHEST, |(_, hard)| hard.min(HIGHEST))
}

/// A marked child of this process, and its descendants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Family {
    first: u32,
    /// The begin of the first one.
    since: u64,
    mark: u64,
}

/// All families of this process that are not over.
#[derive(Debug)]
struct Families {
    /// Number of marks that were given, each below the one before.
    given: u64,
    alive: Vec<Family>,
}

static FAMILIES: Mutex<Families> = Mutex::new(Families { given: 0, alive: Vec::new() });

/// Locks the families: while the lock is held, no child's number goes to another process, and none is missing.
fn families() -> MutexGuard<'static, Families> {
    FAMILIES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Families {
    /// Whether a descendant of this process, which is not the first one of a family, is of this one. `all`: all processes; `limit`: the
    /// limit of each; `above`: what is [above all marks](above_all_marks).
    fn is_of(
        &self,
        family: &Family,
        process: &Process,
        all: &BTreeMap<u32, Process>,
        limit: &dyn Fn(u32) -> Option<u64>,
        above: u64,
    ) -> bool {
        let is_marked = |limit: u64| (above.saturating_sub(self.given)..above).contains(&limit);
        match limit(process.pid) {
            Some(limit) if limit >= above => return false,
            Some(limit) if is_marked(limit) => return limit == family.mark,
            // It has lowered its limit, or shows nobody which one it has.
            _ => (),
        }
        let known = |pid: u32| {
            let limit = limit(pid);
            self.alive.iter().find(|family| family.first == pid || Some(family.mark) == limit)
        };
        match ancestors(process, all).find_map(known) {
            Some(owner) => owner == family,
            None => !self.alive.iter().any(|other| other != family && other.since <= process.began),
        }
    }

    /// Whether a child of this process that has ended is for nobody to wait for. What this process has started itself, unmarked, is in its
    /// own group of processes or leads one; what that has left behind, as a compiler does that is ended, is neither.
    fn is_orphan(&self, child: &Process, above: u64) -> bool {
        if self.alive.iter().any(|family| family.first == child.pid) {
            return false;
        }
        let is_marked = limit_of(child.pid).is_some_and(|limit| limit < above);
        is_marked || ![child.pid, getpgrp().as_raw() as u32].contains(&child.group)
    }
}

/// The line from a process up to the child of this one that it descends from.
fn ancestors<'a>(process: &'a Process, all: &'a BTreeMap<u32, Process>) -> impl Iterator<Item = u32> {
    let own = std::process::id();
    let parent = move |pid: &u32| all.get(pid).map(|process| process.parent).filter(|pid| *pid != own);
    // A process can change its parent between two looks, but there are no more generations than processes.
    std::iter::successors(Some(process.parent).filter(|pid| *pid != own), parent).take(all.len())
}

/// Starts a process by `spawn`, which is told its mark.
pub fn begin(spawn: impl FnOnce(u64) -> io::Result<Child>) -> io::Result<(Child, Offspring)> {
    let mut families = families();
    families.given += 1;
    let mark = above_all_marks().saturating_sub(families.given);
    let child = spawn(mark)?;
    let first = child.id();
    let family = Family { first, since: read(first).map_or(0, |process| process.began), mark };
    families.alive.push(family);
    Ok((child, Offspring { family }))
}

/// Starts a program that finds `files[k]` as its descriptor `3 + k`, and that leaves SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGUSR1
/// to this process: a terminal and systemd send them to both. It wears the mark that [`begin`] gives.
pub fn spawn_with(mut command: Command, files: &[BorrowedFd], mark: u64) -> io::Result<Child> {
    const FIRST: i32 = 3;
    // Duplicates beyond the target numbers, so that moving one does not overwrite the next.
    let beyond = FIRST + files.len() as i32;
    let copies: Vec<OwnedFd> = files
        .iter()
        .map(|file| rustix::io::fcntl_dupfd_cloexec(file, beyond).map_err(io::Error::from))
        .collect::<Result<_, _>>()?;
    let numbers: Vec<i32> = copies.iter().map(|copy| copy.as_raw_fd()).collect();
    let place = move || {
        for (number, target) in numbers.iter().zip(FIRST..) {
            // SAFETY: dup2 is async-signal-safe; both are numbers, and the source is open until after the fork.
            if unsafe { libc::dup2(*number, target) } < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        // As a write beyond RLIMIT_FSIZE is to be: see `process::outlive_file_size_limit`.
        for which in stop::SIGNALS.into_iter().chain([stop::REPORT, Signal::SIGXFSZ]) {
            // SAFETY: signal is async-signal-safe, and SIG_IGN is no code of ours. It outlasts the exec.
            unsafe { libc::signal(which as libc::c_int, libc::SIG_IGN) };
        }
        wear(mark);
        Ok(())
    };
    // SAFETY: the closure makes async-signal-safe system calls and builds no more than an error code, so it may run between fork and exec.
    unsafe { command.pre_exec(place) };
    command.spawn()
}

/// Marks the calling process. Async-signal-safe, for between `fork` and `exec`.
fn wear(mark: u64) {
    let limit = libc::rlimit { rlim_cur: mark, rlim_max: mark };
    // SAFETY: setrlimit reads one rlimit, which is ours. Nothing depends on this limit, so it may fail.
    unsafe { libc::setrlimit(libc::RLIMIT_LOCKS, &raw const limit) };
}

/// From here on orphaned descendants of this process become its children.
pub fn adopt() -> Result<(), SysError> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| SysError::new("adopt orphaned processes", error.raw_os_error(), super::privilege::prctl_fix()))
}

/// Whether a thread belongs to this process or to a descendant of it.
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

/// Takes note of the end of adopted children, so that they leave the table of processes; leaves `own` alone, since other code waits
/// for it. Precondition: the process has called [`adopt`]; it calls this now and then.
pub fn reap(own: u32) {
    let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    while let Ok(WaitStatus::Exited(pid, _) | WaitStatus::Signaled(pid, ..)) = waitid(Id::All, look) {
        if pid.as_raw() as u32 == own || waitpid(pid, Some(WaitPidFlag::WNOHANG)).is_err() {
            return;
        }
    }
}

/// Takes note of the end of all adopted children, so that they leave the table of processes; leaves alone those that this process has
/// started, since other code waits for them. Precondition: the process has called [`adopt`]; it calls this now and then.
pub fn reap_orphans() {
    let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    // Without any that has ended there is no need to look at all processes of the machine.
    if !matches!(waitid(Id::All, look), Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..))) {
        return;
    }
    let (families, own, above) = (families(), std::process::id(), above_all_marks());
    let ended = all().into_values().filter(|process| process.parent == own && process.ended);
    for child in ended.filter(|child| families.is_orphan(child, above)) {
        let _a_tracer_may_keep_it = waitpid(Pid::from_raw(child.pid as i32), Some(WaitPidFlag::WNOHANG));
    }
}

/// The offspring of a marked child of this process. Until this is dropped other code waits for the child.
#[derive(Debug)]
pub struct Offspring {
    family: Family,
}

impl Drop for Offspring {
    fn drop(&mut self) {
        families().alive.retain(|family| *family != self.family);
    }
}

impl Offspring {
    /// Ends all there are, the hard way, and those that they make meanwhile, within `patience`; `found` hears of each before
    /// that. Tells whether none is left.
    pub fn end(&self, patience: Duration, mut found: impl FnMut(&Process)) -> bool {
        // Orphans are children: without any there is nobody, and no need to look at all processes of the machine.
        if !has_children() {
            return true;
        }
        let (mut known, until) = (BTreeSet::new(), Instant::now() + patience);
        loop {
            let families = families();
            let alive = self.alive(&families);
            if alive.is_empty() || Instant::now() > until {
                return alive.is_empty();
            }
            for process in alive {
                if known.insert(process.pid) {
                    found(&process);
                }
                let _may_be_gone = kill(Pid::from_raw(process.pid as i32), Signal::SIGKILL);
            }
            drop(families);
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn alive(&self, families: &Families) -> Vec<Process> {
        let (all, own, above) = (all(), std::process::id(), above_all_marks());
        let descends = |process: &Process| {
            let line = ancestors(process, &all).last().unwrap_or(process.pid);
            all.get(&line).is_some_and(|child| child.parent == own)
        };
        let is_first = |process: &Process| families.alive.iter().any(|family| family.first == process.pid);
        let others = all.values().filter(|process| !process.ended && process.began >= self.family.since);
        let ours = others.filter(|process| !is_first(process) && descends(process));
        let ours = ours.filter(|process| families.is_of(&self.family, process, &all, &limit_of, above));
        // One that has ended meanwhile says nothing of itself any more.
        ours.filter(|process| read(process.pid).is_some_and(|now| !now.ended)).cloned().collect()
    }
}

/// The mark of a process, or its limit if it has no mark; `None`: it does not show it.
fn limit_of(pid: u32) -> Option<u64> {
    hard_limit(&std::fs::read_to_string(format!("/proc/{pid}/limits")).ok()?)
}

/// All visible processes.
fn all() -> BTreeMap<u32, Process> {
    let Ok(folder) = std::fs::read_dir("/proc") else { return BTreeMap::new() };
    let numbers = folder.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter_map(read).map(|process| (process.pid, process)).collect()
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
    let number = |field: usize| fields.get(field)?.parse::<u64>().ok();
    let (parent, group) = (u32::try_from(number(1)?).ok()?, u32::try_from(number(2)?).ok()?);
    Some(Process { pid, name, parent, group, ended: matches!(*fields.first()?, "Z" | "X"), began: number(19)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_files_are_read() {
        let line = "42 (a) b (c) S 7 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4711 10 20";
        let process = Process { pid: 42, name: "a) b (c".into(), parent: 7, group: 42, ended: false, began: 4711 };
        assert_eq!(parse(42, line), Some(process));
        assert_eq!(parse(42, "42 (cut"), None);
        let limits =
            |hard: &str| format!("Max file size   1   2   bytes\nMax file locks   unlimited   {hard}   locks\n");
        assert_eq!(hard_limit(&limits("unlimited")), Some(u64::MAX));
        assert_eq!(hard_limit(&limits("8531")), Some(8531));
        assert_eq!(hard_limit(""), None);
        assert!(read(std::process::id()).is_some_and(|own| !own.ended && own.began > 0));
    }

    /// Processes by number, parent, and when they began; their limits; two families, of which the second one began later, and one that
    /// is over. Whose they are.
    #[test]
    fn a_process_is_known_by_its_mark_else_by_its_ancestors_else_by_who_may_have_started_it() {
        const ABOVE: u64 = 1000;
        let own = std::process::id();
        let (a, b) = (Family { first: 11, since: 10, mark: 999 }, Family { first: 12, since: 20, mark: 997 });
        let families = Families { given: 3, alive: vec![a, b] };
        let process = |(pid, parent, began): (u32, u32, u64)| {
            (pid, Process { pid, name: String::new(), parent, group: pid, ended: false, began })
        };
        let all = [
            (11, own, 10),
            (12, own, 20),
            (13, own, 12),
            (14, own, 25),
            (15, 12, 25),
            (16, 15, 26),
            (17, 18, 27),
            (18, own, 26),
        ];
        let all: BTreeMap<u32, Process> = all.map(process).into();
        let is_of = |family, pid, own_limit: Option<u64>| {
            let limit = |other: u32| match other {
                11 | 18 => Some(999),
                12 => Some(997),
                _ if other == pid => own_limit,
                _ => None,
            };
            families.is_of(&family, &all[&pid], &all, &limit, ABOVE)
        };
        let whose = |pid, limit| (is_of(a, pid, limit), is_of(b, pid, limit));
        assert_eq!(whose(14, Some(999)), (true, false), "it wears the mark, whoever adopted it");
        assert_eq!(whose(16, Some(997)), (false, true));
        assert_eq!(whose(14, Some(998)), (false, false), "that is the mark of a family that is over");
        assert_eq!(whose(14, Some(1000)), (false, false), "no code of others has started it");
        assert_eq!(whose(16, Some(7)), (false, true), "its ancestors are known");
        assert_eq!(whose(17, None), (true, false), "an orphan with a mark is one of them");
        assert_eq!(whose(13, Some(7)), (true, false), "there was nobody else when it began");
        assert_eq!(whose(14, Some(7)), (false, false), "either may have started it");
        let last = Families { given: 3, alive: vec![b] };
        assert!(last.is_of(&b, &all[&14], &all, &|_| Some(7), ABOVE), "the last one ends it");
    }

    #[test]
    fn children_that_somebody_waits_for_are_no_orphans() {
        let own = getpgrp().as_raw() as u32;
        let families = Families { given: 1, alive: vec![Family { first: 11, since: 0, mark: 0 }] };
        // Nobody has these numbers, so that none of them shows a limit.
        let child = |pid, group| {
            let process =
                Process { pid, name: String::new(), parent: std::process::id(), group, ended: true, began: 0 };
            families.is_orphan(&process, 0)
        };
        assert!(!child(11, 5), "a runner");
        assert!(!child(u32::MAX, own) && !child(u32::MAX, u32::MAX), "a program that this process has started");
        assert!(child(u32::MAX, 5), "one that such a program has left behind");
    }
}
