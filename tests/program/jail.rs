//! Programs that may less than this test: other users, limits, filters of system calls.

use super::Rig;
use super::user::{NOBODY, can_do_without_real_time, is_root};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::OnceLock;
use tempfile::TempDir;

// What filters of system calls are made of.
const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const ANY_OF: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// A folder that everybody may read: the program, the FMUs, and a cache that everybody may write to.
pub fn public() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = super::scratch::tempdir().unwrap();
        open(folder.path(), 0o755);
        fs::copy(env!("CARGO_BIN_EXE_vecud"), folder.path().join("vecud")).unwrap();
        open(&folder.path().join("vecud"), 0o755);
        for name in ["own_state", "tracer"] {
            let (from, to) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(name), folder.path().join(name));
            fs::create_dir_all(to.join("sources")).unwrap();
            for part in [".", "sources"] {
                let files = fs::read_dir(from.join(part)).unwrap().map(|entry| entry.unwrap().path());
                for path in files.filter(|path| path.is_file()) {
                    fs::copy(&path, to.join(part).join(path.file_name().unwrap())).unwrap();
                }
            }
        }
        for cache in ["cache", "nobodys_cache"] {
            fs::create_dir(folder.path().join(cache)).unwrap();
            open(&folder.path().join(cache), 0o700);
        }
        // Fails where nobody needs it: for a user who cannot become another one.
        let _ = std::os::unix::fs::chown(folder.path().join("nobodys_cache"), Some(NOBODY), Some(NOBODY));
        folder
    });
    folder.path()
}

/// One of the FMUs there.
pub fn fmu(name: &str) -> PathBuf {
    public().join(name)
}

fn open(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// `vecud run` by this user.
pub fn as_root(rig: &Rig) -> Command {
    // It may be another user's, from the run before.
    let _ = fs::remove_dir_all(rig.out());
    let mut command = rig.command_of(&public().join("vecud"));
    command.env("VECUD_CACHE", public().join("cache"));
    command
}

/// `vecud run` by somebody without any capability, who may lock `memlock` bytes.
pub fn as_nobody(rig: &Rig, memlock: u64) -> Command {
    let _ = fs::remove_dir_all(rig.out());
    open(rig.folder(), 0o1777);
    let mut command = rig.command_of(&public().join("vecud"));
    command.env("VECUD_CACHE", public().join("nobodys_cache")).env("TMPDIR", rig.folder());
    become_nobody(&mut command, Some(memlock));
    command
}

/// Runs the program as somebody without any capability and without real-time priorities, who may lock `memlock` bytes.
pub fn become_nobody(command: &mut Command, memlock: Option<u64>) {
    before(command, move || {
        limit(libc::RLIMIT_RTPRIO, 0)?;
        memlock.map_or(Ok(()), |bytes| limit(libc::RLIMIT_MEMLOCK, bytes))?;
        // SAFETY: these only set ids and are async-signal-safe.
        ok(unsafe { libc::setgroups(0, std::ptr::null()) })?;
        // SAFETY: as above.
        ok(unsafe { libc::setgid(NOBODY) })?;
        // SAFETY: as above.
        ok(unsafe { libc::setuid(NOBODY) })
    });
}

/// Takes real-time priorities away from the program, whoever this user is; where that cannot be done, `false` and a visible word.
pub fn without_real_time(test: &str, command: &mut Command) -> bool {
    if is_root() {
        without_nice(command);
    }
    can_do_without_real_time(test)
}

/// Takes CAP_IPC_LOCK away from the program and sets its limit.
pub fn with_memlock(command: &mut Command, bytes: u64) {
    const CAP_IPC_LOCK: i32 = 14;
    before(command, move || {
        limit(libc::RLIMIT_MEMLOCK, bytes)?;
        // SAFETY: takes two numbers. Root gets at exec what is in the bounding set.
        ok(unsafe { libc::prctl(libc::PR_CAPBSET_DROP, CAP_IPC_LOCK, 0, 0, 0) })
    });
}

/// Takes CAP_SYS_NICE away from the program, as containers do.
pub fn without_nice(command: &mut Command) {
    const CAP_SYS_NICE: i32 = 23;
    before(command, move || {
        limit(libc::RLIMIT_RTPRIO, 0)?;
        // SAFETY: takes two numbers.
        ok(unsafe { libc::prctl(libc::PR_CAPBSET_DROP, CAP_SYS_NICE, 0, 0, 0) })
    });
}

/// Runs it in a user namespace of its own.
pub fn in_a_user_namespace(command: &mut Command) {
    before(command, || {
        // SAFETY: takes a number.
        ok(unsafe { libc::unshare(libc::CLONE_NEWUSER) })?;
        write(c"/proc/self/uid_map", b"0 0 1")
    });
}

/// Limits the processor time of real-time threads, µs.
pub fn with_rttime(command: &mut Command, micros: u64) {
    before(command, move || limit(libc::RLIMIT_RTTIME, micros));
}

/// Moves it to a control group.
pub fn in_group(command: &mut Command, group: &Path) {
    let file = std::ffi::CString::new(group.join("cgroup.procs").to_str().unwrap()).unwrap();
    before(command, move || write(&file, b"0"));
}

/// The kernel answers EPERM to these system calls.
pub fn refusing(command: &mut Command, calls: &[libc::c_long]) {
    let program = filter(calls, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32);
    before(command, move || install(&program, 0).map(drop));
}

/// No process of it can have a second thread; they can start others.
pub fn without_threads(command: &mut Command) {
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let error = |number: i32| libc::SECCOMP_RET_ERRNO | number as u32;
    let low_word = if cfg!(target_endian = "little") { 0 } else { 4 };
    let flags = std::mem::offset_of!(libc::seccomp_data, args) as u32 + low_word;
    let program = [
        step(LOAD, 0, 0, std::mem::offset_of!(libc::seccomp_data, nr) as u32),
        // Its flags are in memory, where a filter cannot look: libraries fall back to clone without it.
        step(EQUAL, 4, 0, libc::SYS_clone3 as u32),
        step(EQUAL, 0, 2, libc::SYS_clone as u32),
        step(LOAD, 0, 0, flags),
        step(ANY_OF, 2, 0, libc::CLONE_THREAD as u32),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
        step(RETURN, 0, 0, error(libc::ENOSYS)),
        step(RETURN, 0, 0, error(libc::EAGAIN)),
    ];
    before(command, move || install(&program, 0).map(drop));
}

/// Starts it on a machine that grants SCHED_FIFO up to `limit` only, as RLIMIT_RTPRIO does to whoever has no capability.
///
/// The limit itself cannot be raised without CAP_SYS_RESOURCE, which containers of tests do not have; so this test stands
/// between the program and the kernel, and refuses what the limit would.
pub fn start_with_rtprio(rig: &Rig, command: Command, limit: u8) -> Child {
    let (rig_start, is_started) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let started = scope.spawn(move || {
            // A filter belongs to the thread that installs it and to what that one starts.
            let program = filter(&[libc::SYS_sched_setscheduler], libc::SECCOMP_RET_USER_NOTIF);
            let listener = install(&program, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER).unwrap();
            rig_start.send(listener.unwrap()).unwrap();
            rig.start(command)
        });
        let listener = is_started.recv().unwrap();
        std::thread::spawn(move || judge(&listener, limit));
        started.join().unwrap()
    })
}

/// Answers until nobody is left who could ask.
fn judge(listener: &OwnedFd, limit: u8) {
    // From linux/seccomp.h: _IOWR('!', 0, struct seccomp_notif), _IOWR('!', 1, struct seccomp_notif_resp).
    const RECEIVE: libc::c_ulong = 0xc050_2100;
    const SEND: libc::c_ulong = 0xc018_2101;
    loop {
        let mut poll = libc::pollfd { fd: listener.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one pollfd, which is ours.
        unsafe { libc::poll(&raw mut poll, 1, -1) };
        if poll.revents & libc::POLLIN == 0 {
            return;
        }
        // SAFETY: plain numbers, for which zero is a value.
        let mut asked: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the request writes one seccomp_notif, which is ours.
        if unsafe { libc::ioctl(listener.as_raw_fd(), RECEIVE, &raw mut asked) } != 0 {
            continue; // the asking thread is gone
        }
        let priority = priority_at(asked.pid, asked.data.args[2]).unwrap_or(0);
        let (error, flags) = match priority > i32::from(limit) {
            true => (-libc::EPERM, 0),
            false => (0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
        };
        let mut answer = libc::seccomp_notif_resp { id: asked.id, val: 0, error, flags };
        // SAFETY: the request reads one seccomp_notif_resp, which is ours.
        unsafe { libc::ioctl(listener.as_raw_fd(), SEND, &raw mut answer) };
    }
}

/// The `sched_param` that the caller points to.
fn priority_at(process: u32, address: u64) -> io::Result<i32> {
    use std::os::unix::fs::FileExt;
    let mut bytes = [0; 4];
    fs::File::open(format!("/proc/{process}/mem"))?.read_exact_at(&mut bytes, address)?;
    Ok(i32::from_ne_bytes(bytes))
}

/// `calls` end in `action`, all others pass.
fn filter(calls: &[libc::c_long], action: u32) -> Vec<libc::sock_filter> {
    let step = |code, jt, k| libc::sock_filter { code, jt, jf: 0, k };
    let mut program = vec![step(LOAD, 0, 0)];
    for (index, call) in calls.iter().enumerate() {
        program.push(step(EQUAL, (calls.len() - index) as u8, *call as u32));
    }
    program.push(step(RETURN, 0, libc::SECCOMP_RET_ALLOW));
    program.push(step(RETURN, 0, action));
    program
}

/// Async-signal-safe.
fn install(program: &[libc::sock_filter], flags: libc::c_ulong) -> io::Result<Option<OwnedFd>> {
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    // SAFETY: takes numbers.
    ok(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
    // SAFETY: the kernel reads the program, which lives across the call.
    let result =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) } as i32;
    match (result, flags) {
        (..0, _) => Err(io::Error::last_os_error()),
        (_, 0) => Ok(None),
        // SAFETY: a new descriptor, which nobody else owns.
        (fd, _) => Ok(Some(unsafe { std::os::fd::FromRawFd::from_raw_fd(fd) })),
    }
}

fn before(command: &mut Command, then: impl FnMut() -> io::Result<()> + Send + Sync + 'static) {
    // SAFETY: what is handed in here makes system calls and builds no more than an error code.
    unsafe { command.pre_exec(then) };
}

fn limit(resource: libc::__rlimit_resource_t, value: u64) -> io::Result<()> {
    let limit = libc::rlimit { rlim_cur: value, rlim_max: value };
    // SAFETY: reads one rlimit, which is ours.
    ok(unsafe { libc::setrlimit(resource, &raw const limit) })
}

fn write(path: &std::ffi::CStr, text: &[u8]) -> io::Result<()> {
    // SAFETY: the path ends with a NUL; the descriptor is closed with the exec.
    let fd = unsafe { libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) };
    ok(fd.min(0))?;
    // SAFETY: `text` is there for its whole length.
    let written = unsafe { libc::write(fd, text.as_ptr().cast(), text.len()) };
    ok(if written == text.len() as isize { 0 } else { -1 })
}

fn ok(result: i32) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
