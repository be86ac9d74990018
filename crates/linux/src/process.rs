//! The two processes: the start of one by the other, and the things that it hands on.

pub use super::offspring::spawn_with;
use super::{SysError, offspring};
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::Pid;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A file descriptor that the parent process has left open for us, by number; to be taken once.
pub fn inherited(number: i32) -> io::Result<OwnedFd> {
    // Programs that FMU code starts do not get it.
    // SAFETY: fcntl(F_SETFD) changes a flag of an open descriptor, and otherwise fails.
    if unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is open, and nothing else in this process owns it: it was there before the process started,
    // and callers take each number once.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// A duplicate of a file descriptor that the parent process has left open for us, by number; that one stays open.
pub fn duplicate_of(number: i32) -> io::Result<OwnedFd> {
    // SAFETY: fcntl(F_DUPFD_CLOEXEC) makes a new descriptor and changes nothing about this one, if it is one at all.
    let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just made, so nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

/// Writes the output that code of others has left in the C library's streams.
pub fn flush_streams() {
    // SAFETY: a null pointer stands for all streams.
    unsafe { libc::fflush(std::ptr::null_mut()) };
}

/// All bytes that can be read from a descriptor.
pub fn read_to_end(file: OwnedFd) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::from(file).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A folder, for [`Log`]: whoever has it open needs no permission for the folders around it any more.
pub fn folder(path: &Path) -> io::Result<OwnedFd> {
    use rustix::fs::{Mode, OFlags};
    Ok(rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// From here on the output of this process is appended to this file. Precondition: the file exists, in a folder.
fn print_to(folder: BorrowedFd, path: &Path) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::APPEND | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let inside = |folder: BorrowedFd| match path.file_name() {
        Some(name) => Ok(rustix::fs::openat(folder, name, flags, Mode::empty())?),
        None => Err(io::Error::from(io::ErrorKind::InvalidInput)),
    };
    // Neither the file nor the folder that it is in is a link.
    let file = match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            inside(rustix::fs::openat(folder, parent, flags, Mode::empty())?.as_fd())?
        }
        None => inside(folder)?,
    };
    rustix::stdio::dup2_stdout(&file)?;
    rustix::stdio::dup2_stderr(&file)?;
    Ok(())
}

/// The file that this process prints to.
#[derive(Debug)]
pub struct Log(Mutex<Printed>);

#[derive(Debug)]
struct Printed {
    file: File,
    /// Number of times that the file of this name was restarted.
    number: u64,
    path: PathBuf,
}

impl Log {
    /// The file that is standard output now, which will have this name.
    pub fn of_this_process(path: PathBuf) -> io::Result<Log> {
        Ok(Log(Mutex::new(Printed { file: standard_output()?, number: 0, path })))
    }

    /// From here on the output of this process is appended to the file of this name. Precondition: the file exists in the folder.
    pub fn go_on_in(&self, folder: BorrowedFd, path: PathBuf) -> io::Result<()> {
        let mut printed = self.lock();
        print_to(folder, &path)?;
        *printed = Printed { file: standard_output()?, number: 0, path };
        Ok(())
    }

    /// If the file was restarted, for this `number` of times by now, goes on in the one that has its name now. If the one
    /// before got longer than `limit` bytes, cuts it there; returns whether it was cut.
    pub fn follow(&self, folder: BorrowedFd, number: u64, limit: u64) -> io::Result<bool> {
        let Printed { file, number: own, path } = &mut *self.lock();
        if *own == number {
            return Ok(false);
        }
        print_to(folder, path)?;
        let mut before = std::mem::replace(file, standard_output()?);
        *own = number;
        let is_cut = is_longer(&before, limit);
        if is_cut {
            cut_off(&mut before, limit);
        }
        Ok(is_cut)
    }

    /// If the file is longer than `limit` bytes, cuts it there; later output is discarded until there is a file to
    /// [follow](Log::follow). Returns whether it was cut.
    pub fn cut(&self, limit: u64) -> bool {
        let Printed { file, .. } = &mut *self.lock();
        let is_cut = is_longer(file, limit);
        if is_cut && let Ok(nowhere) = File::options().append(true).open("/dev/null") {
            let _ = rustix::stdio::dup2_stdout(&nowhere).and_then(|()| rustix::stdio::dup2_stderr(&nowhere));
            cut_off(file, limit);
            *file = nowhere;
        }
        is_cut
    }

    fn lock(&self) -> MutexGuard<'_, Printed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_longer(file: &File, limit: u64) -> bool {
    file.metadata().is_ok_and(|file| file.is_file() && file.len() > limit)
}

/// Cuts a file that is appended to, with a line that says so.
fn cut_off(file: &mut File, limit: u64) {
    let _ = file.set_len(limit).and_then(|()| writeln!(file, "\n(cut off here: log_limit)"));
}

fn standard_output() -> io::Result<File> {
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

/// A file in memory with this content, positioned at its start.
pub fn memory_file(name: &str, content: &[u8]) -> io::Result<OwnedFd> {
    use std::io::{Seek, SeekFrom};
    let mut file = File::from(rustix::fs::memfd_create(name, rustix::fs::MemfdFlags::CLOEXEC)?);
    file.write_all(content)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file.into())
}

/// The limits of a program, and of each that it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceLimits {
    /// Time on processors.
    pub processor_seconds: u64,
    /// Address space, bytes.
    pub memory: u64,
    /// Size of a file that it writes, bytes.
    pub file_size: u64,
}

/// The program that this command starts has a process group of its own, so that it can be [ended](end_together) with all that
/// it starts, and a terminal's Ctrl-C does not reach it; and it keeps within these bounds, or lower ones that this process has. A
/// process between this one and the program, which has the program's status as its own, ends the whole group as soon as the thread
/// ends that has started it, however that comes.
pub fn keep_together(command: &mut std::process::Command, bounds: Option<ResourceLimits>) {
    command.process_group(0);
    let limits = bounds.map_or([None; 3], |bounds| {
        [
            Some((libc::RLIMIT_CPU, bounds.processor_seconds)),
            Some((libc::RLIMIT_AS, bounds.memory)),
            Some((libc::RLIMIT_FSIZE, bounds.file_size)),
        ]
    });
    let parent = std::process::id() as libc::pid_t;
    let limit = move || {
        keep_watch(parent)?;
        for (resource, bound) in limits.iter().flatten() {
            let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            // SAFETY: getrlimit and setrlimit are async-signal-safe, and read or write one rlimit, which is ours.
            unsafe {
                libc::getrlimit(*resource, &raw mut limit);
                limit.rlim_max = limit.rlim_max.min(*bound);
                limit.rlim_cur = limit.rlim_cur.min(*bound);
                libc::setrlimit(*resource, &raw const limit);
            }
        }
        Ok(())
    };
    // SAFETY: the closure makes async-signal-safe system calls and allocates nothing, so it may run between fork and exec.
    unsafe { command.pre_exec(limit) };
}

/// Closes all descriptors: this process keeps no file, lock or end of a pipe from its end. Async-signal-safe.
fn close_all() {
    /// Before Linux 5.9 this number of descriptors, one by one.
    const SOME: libc::c_int = 4096;
    // SAFETY: nothing uses a descriptor later.
    unsafe {
        if libc::syscall(libc::SYS_close_range, 0, libc::c_uint::MAX, 0) != 0 {
            for descriptor in 0..SOME {
                libc::close(descriptor);
            }
        }
    }
}

/// Ends the calling process as a child has ended that has this status. Async-signal-safe.
fn end_like(status: libc::c_int) -> ! {
    // SAFETY: async-signal-safe system calls; the two structures are of this function. A core would be one of this program.
    unsafe {
        if libc::WIFSIGNALED(status) {
            let (which, none) = (libc::WTERMSIG(status), libc::rlimit { rlim_cur: 0, rlim_max: 0 });
            libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
            libc::signal(which, libc::SIG_DFL);
            libc::kill(libc::getpid(), which);
        }
        libc::_exit(if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 1 })
    }
}

/// Divides the calling process, a leader of its group that has been forked from `parent`. The new process returns; the calling one
/// waits for the end of the new one and ends like it, or ends the group with the thread that has forked it. Async-signal-safe.
fn keep_watch(parent: libc::pid_t) -> io::Result<()> {
    // SAFETY: sigset_t is plain data, which sigemptyset fills; all calls are async-signal-safe system calls, and each pointer is to
    // a variable of this function. `fork` is in a process of one thread. The watching process has nothing of this program's to drop:
    // it leaves by a signal or `_exit`.
    unsafe {
        let (mut watched, mut before) = (std::mem::zeroed::<libc::sigset_t>(), std::mem::zeroed::<libc::sigset_t>());
        libc::sigemptyset(&raw mut watched);
        libc::sigaddset(&raw mut watched, libc::SIGTERM);
        libc::sigaddset(&raw mut watched, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const watched, &raw mut before);
        let watcher = libc::getpid();
        match libc::fork() {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                // A watcher that has ended meanwhile sends nothing.
                if libc::getppid() != watcher {
                    libc::_exit(1);
                }
                libc::sigprocmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
                Ok(())
            }
            program => {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
                close_all();
                loop {
                    let mut status = 0;
                    if libc::waitpid(program, &raw mut status, libc::WNOHANG) == program {
                        end_like(status);
                    }
                    let mut which = 0;
                    if libc::getppid() != parent
                        || libc::sigwait(&raw const watched, &raw mut which) != 0
                        || which == libc::SIGTERM
                    {
                        libc::kill(0, libc::SIGKILL);
                    }
                }
            }
        }
    }
}

/// Kills a program that was [kept together](keep_together), with the whole of its process group, and waits for it.
pub fn end_together(child: &mut std::process::Child) {
    // It has not been waited for, so its number, which is its group's, belongs to nobody else.
    if let Ok(group) = i32::try_from(child.id()) {
        let _ = nix::sys::signal::killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
    let _ = child.wait();
}

/// From here on a write beyond RLIMIT_FSIZE is refused (EFBIG) like one on a full disk, instead of ending the process
/// (SIGXFSZ). Programs that are started later inherit it.
pub fn outlive_file_size_limit() -> Result<(), SysError> {
    // SAFETY: SIG_IGN is no code of ours.
    unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) }
        .map(drop)
        .map_err(|errno| SysError::new("ignore SIGXFSZ", errno as i32, ""))
}

/// The kernel's facts about a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessState {
    /// A signal (SIGSTOP, SIGTSTP) has stopped it, until SIGCONT; or a tracer that is no debugger.
    pub stopped: bool,
    /// Whether a debugger traces it: a process that is neither this one nor a descendant of it. Code of others can make
    /// this process its tracer (`PTRACE_TRACEME`), or a child of its own.
    pub traced: bool,
}

/// The state of the process with this id, by `/proc/PID/status`; a process that is gone is neither stopped nor traced.
pub fn standing(pid: u32) -> ProcessState {
    state_in(&format!("/proc/{pid}/status"))
}

/// The state of the threads of the process with this id: stopped, or traced, if one of them is.
pub fn standing_of_threads(pid: u32) -> ProcessState {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads.map(|thread| state_in(&format!("{}/status", thread.path().display()))).fold(
        ProcessState::default(),
        |all, own| ProcessState { stopped: all.stopped || own.stopped, traced: all.traced || own.traced },
    )
}

fn state_in(file: &str) -> ProcessState {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map_or("", str::trim);
    let traced = value("TracerPid:").parse().is_ok_and(|tracer| tracer != 0 && !offspring::is_of_this_process(tracer));
    let state = value("State:");
    ProcessState { stopped: state.starts_with('T') || !traced && state.starts_with('t'), traced }
}

/// The exit status of a child, if it has ended. Precondition: the calling thread has started the child. A thread of the child
/// that has made this one its tracer (`PTRACE_TRACEME`) stops at each signal:
/// [`Child::try_wait`](std::process::Child::try_wait) would take that for the child's end, and the thread would be waited for
/// after its own. This function lets it go, with that signal.
pub fn try_wait(child: &mut std::process::Child) -> io::Result<Option<ExitStatus>> {
    let leader = Pid::from_raw(child.id() as i32);
    let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    if let Ok(WaitStatus::Stopped(_, signal) | WaitStatus::PtraceEvent(_, signal, _)) = waitid(Id::Pid(leader), look) {
        // It may have been killed meanwhile, and then there is nobody to be let go.
        let _ = nix::sys::ptrace::detach(leader, signal);
        return Ok(None);
    }
    child.try_wait()
}

/// Lets go all threads of a process but its first one that have made the calling thread their tracer and have stopped or ended.
pub fn let_threads_go(pid: u32) {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return };
    let numbers = threads.filter_map(|thread| thread.ok()?.file_name().to_str()?.parse::<i32>().ok());
    for thread in numbers.filter(|thread| *thread != pid as i32).map(Pid::from_raw) {
        // Of others than tracees it says that there is no such child.
        let look = WaitPidFlag::WNOHANG | WaitPidFlag::__WALL;
        if let Ok(WaitStatus::Stopped(_, signal) | WaitStatus::PtraceEvent(_, signal, _)) = waitpid(thread, Some(look))
        {
            let _ = nix::sys::ptrace::detach(thread, signal);
        }
    }
}

/// Columns and lines of the terminal behind a descriptor, at least 20 and 5; `None` when it is none. A pseudo-terminal whose size
/// nobody has said (0) is taken for a wide one: 120 columns, 24 lines.
pub fn terminal_size(file: BorrowedFd) -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(file).ok()?;
    let known =
        |said: u16, least: usize, unknown: usize| if said == 0 { unknown } else { usize::from(said).max(least) };
    Some((known(size.ws_col, 20, 120), known(size.ws_row, 5, 24)))
}

/// Whether output to one descriptor reaches the same file as output to the other. `/dev/null`, which nobody reads, counts as
/// such.
pub fn is_same_file(one: BorrowedFd, other: BorrowedFd) -> bool {
    let file = |descriptor| rustix::fs::fstat(descriptor).ok().map(|is| (is.st_dev, is.st_ino));
    file(one).is_some_and(|one| file(other) == Some(one))
}

/// Whether output to a descriptor is discarded: it is `/dev/null`, by any name.
pub fn is_null_device(file: BorrowedFd) -> bool {
    let device = |is: rustix::fs::Stat| (rustix::fs::FileType::from_raw_mode(is.st_mode), is.st_rdev);
    let null = (rustix::fs::FileType::CharacterDevice, rustix::fs::makedev(1, 3));
    rustix::fs::fstat(file).is_ok_and(|is| device(is) == null)
}

/// The signal that ended a process, for people.
pub fn signal_name(status: ExitStatus) -> Option<String> {
    let number = status.signal()?;
    Some(Signal::try_from(number).map_or_else(|_| format!("signal {number}"), |signal| signal.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn the_null_device_is_known_by_whatever_name() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        let is_null = |path: &std::path::Path| is_null_device(File::open(path).unwrap().as_fd());
        assert!(is_null("/dev/null".as_ref()) && is_null(&link));
        assert!(!is_null("/dev/zero".as_ref()) && !is_null(folder.path()));
    }
}
