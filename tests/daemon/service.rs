//! What a service manager is told: here the test is the service manager.

use super::client::{Daemon, tracer};
use super::program::{runner_now, send, shared_core, skipped, wait_until};
use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::signal::Signal::SIGHUP;
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use std::io::{ErrorKind, Write};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A service manager, and the daemon that it has started.
struct Service {
    daemon: Daemon,
    socket: UnixDatagram,
    /// What was told and not looked at yet.
    told: Vec<String>,
}

impl Service {
    /// One whose watchdog wants to hear from the daemon within `watchdog`.
    fn start(watchdog: Option<Duration>) -> Service {
        Service::start_in(crate::program::tempdir().unwrap(), watchdog)
    }

    fn start_in(folder: TempDir, watchdog: Option<Duration>) -> Service {
        let path = folder.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let mut environment = vec![("NOTIFY_SOCKET", path.into_os_string())];
        environment.extend(watchdog.map(|limit| ("WATCHDOG_USEC", limit.as_micros().to_string().into())));
        Service { daemon: Daemon::in_environment(folder, &[], environment), socket, told: Vec::new() }
    }

    /// What was told since the last call.
    fn told(&mut self) -> Vec<String> {
        let mut buffer = [0; 4096];
        loop {
            match self.socket.recv(&mut buffer) {
                Ok(length) => self.told.extend(String::from_utf8_lossy(&buffer[..length]).lines().map(str::to_owned)),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return std::mem::take(&mut self.told);
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Waits until this line was told; gives all those before it.
    fn wait_for(&mut self, line: &str) -> Vec<String> {
        let mut before = Vec::new();
        wait_until(&format!("{line} is told"), || {
            before.extend(self.told());
            before.iter().any(|told| told == line)
        });
        let at = before.iter().position(|told| told == line).unwrap();
        self.told = before.split_off(at);
        self.told.remove(0);
        before
    }

    /// Whether a keep-alive comes within this time.
    fn is_fed_within(&mut self, time: Duration) -> bool {
        drop(self.told());
        let began = Instant::now();
        while began.elapsed() < time {
            if self.told().iter().any(|line| line == "WATCHDOG=1") {
                return true;
            }
        }
        false
    }

    /// The threads of this name.
    fn threads(&self, name: &str) -> Vec<Pid> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.daemon.pid())).unwrap();
        let tasks = tasks.map(|task| task.unwrap().path());
        let named = tasks.filter(|task| std::fs::read_to_string(task.join("comm")).is_ok_and(|own| own.trim() == name));
        named.map(|task| Pid::from_raw(task.file_name().unwrap().to_str().unwrap().parse().unwrap())).collect()
    }
}

#[test]
fn it_is_told_that_the_daemon_is_ready_what_runs_and_that_it_ends() {
    shared_core(|| {
        let mut service = Service::start(None);
        // One of them comes first.
        let before = service.wait_for("READY=1");
        if before != ["STATUS=none of 0 rigs runs"] {
            assert!(before.is_empty(), "{before:?}");
            service.wait_for("STATUS=none of 0 rigs runs");
        }
        service.daemon.put("a", &tracer("")).json(201);
        service.daemon.post("/v1/rigs/a/start", "").json(200);
        service.wait_for("STATUS=1 of 1 rigs run: a");
        let runner = runner_now(service.daemon.child()).unwrap();
        let environment = std::fs::read_to_string(format!("/proc/{runner}/environ")).unwrap();
        assert!(!environment.contains("NOTIFY_SOCKET"), "FMU code is no service");
        service.daemon.end();
        service.wait_for("STOPPING=1");
        assert!(!service.told().iter().any(|line| line == "WATCHDOG=1"), "nobody has asked for that");
    });
}

/// Who does not listen keeps nobody from running.
#[test]
fn a_service_manager_that_is_gone_is_no_obstacle() {
    let folder = crate::program::tempdir().unwrap();
    let nobody = folder.path().join("nobody").into_os_string();
    let mut daemon = Daemon::in_environment(folder, &[], vec![("NOTIFY_SOCKET", nobody)]);
    assert_eq!(daemon.get("/healthz").status, 200);
    daemon.end();
    assert_eq!(daemon.log().matches("cannot be told").count(), 1, "{}", daemon.log());
}

#[test]
fn a_hangup_has_files_of_rigs_looked_at_anew_and_ends_nothing() {
    shared_core(|| {
        let mut service = Service::start(None);
        service.wait_for("READY=1");
        let folder = service.daemon.folder.path().to_owned();
        let file = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        for name in ["a", "b"] {
            file(&format!("{name}.toml"), &tracer(""));
            let path = format!("{{\"path\": \"{name}.toml\"}}");
            let json = "content-type: application/json\r\n";
            service.daemon.ask_with("PUT", &format!("/v1/rigs/{name}"), json, &path).json(201);
        }
        service.daemon.post("/v1/rigs/a/start", "").json(200);
        file("a.toml", "[rig");
        file("b.toml", &tracer("stop_tim = 1.0"));
        send(service.daemon.pid(), SIGHUP);
        service.wait_for("RELOADING=1");
        let between = service.wait_for("READY=1");
        let time = between.iter().find_map(|line| line.strip_prefix("MONOTONIC_USEC=")).unwrap();
        assert!(time.parse::<u64>().is_ok_and(|time| time > 0), "{between:?}");
        let log = service.daemon.log();
        assert!(log.contains("rig b:") && log.contains("did you mean") && log.contains("a.toml:1:5"), "{log}");
        assert_eq!(service.daemon.state("a"), "running", "it goes on as it is");
        // What could not begin, and could now, is as good as new.
        assert!(service.daemon.post("/v1/rigs/b/start", "").status == 422);
        assert_eq!(service.daemon.state("b"), "failed");
        file("b.toml", &tracer(""));
        send(service.daemon.pid(), SIGHUP);
        wait_until("the rig is as good as new", || service.daemon.state("b") == "idle");
        // What runs runs anew as what its file has become.
        let run = || service.daemon.get("/v1/rigs/a").json(200)["run"].clone();
        let before = run();
        file("a.toml", &tracer("name = 'another'"));
        send(service.daemon.pid(), SIGHUP);
        wait_until("it runs anew", || run() != before && service.daemon.state("a") == "running");
        // One that is gone leaves what runs alone, and is told.
        std::fs::remove_file(service.daemon.folder.path().join("a.toml")).unwrap();
        let before = run();
        send(service.daemon.pid(), SIGHUP);
        wait_until("it is told", || {
            service.daemon.log().contains("rig a: warning: ") && service.daemon.log().contains("No such file")
        });
        assert_eq!((service.daemon.state("a"), run()), ("running".to_owned(), before));
        let stopped = service.daemon.post("/v1/rigs/a/stop", "").json(200);
        let path = format!("/v1/rigs/a/runs/{}", stopped["run"].as_str().unwrap());
        assert_eq!(service.daemon.get(&path).json(200)["rig"], "another");
        service.daemon.end();
    });
}

/// A watchdog that is short, so that tests are; whoever does not come around for 3 s is stuck.
const WATCHDOG: Duration = Duration::from_secs(2);
/// For so long it would have been fed many times.
const UNFED: Duration = Duration::from_secs(3);

/// Threads of the daemon that are held until this is dropped.
struct Held(Vec<Pid>);

impl Held {
    /// `None`: nobody but root may do that.
    fn hold(threads: Vec<Pid>) -> Option<Held> {
        let seized = threads.iter().map(|thread| ptrace::seize(*thread, ptrace::Options::empty()));
        let seized: Vec<_> = seized.collect();
        if seized.contains(&Err(Errno::EPERM)) {
            return None;
        }
        // Those that wait for what blocks go away when there is nothing for a while.
        let is_there = |seized: &nix::Result<()>| *seized != Err(Errno::ESRCH);
        let held = Held(threads.into_iter().zip(&seized).filter(|(_, own)| is_there(own)).map(|(id, _)| id).collect());
        assert!(!held.0.is_empty());
        for thread in &held.0 {
            ptrace::interrupt(*thread).unwrap();
            waitpid(*thread, Some(WaitPidFlag::__WALL)).unwrap();
        }
        Some(held)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // One that is gone is not held.
        for thread in &self.0 {
            let _ = ptrace::detach(*thread, None);
        }
    }
}

/// Each of those that have to go on, held: the known-wrong variants. The others go on all the while.
#[test]
fn it_is_fed_only_while_everybody_goes_on_as_this_user() {
    shared_core(|| {
        let mut service = Service::start(Some(WATCHDOG));
        service.daemon.put("a", &tracer("")).json(201);
        service.daemon.put("b", &tracer("")).json(201);
        for rig in ["a", "b"] {
            service.daemon.post(&format!("/v1/rigs/{rig}/start"), "").json(200);
        }
        let sessions = service.threads("vecud.session");
        assert_eq!(sessions.len(), 2);
        let main = vec![Pid::from_raw(service.daemon.pid())];
        let requests = service.threads("vecud.http");
        let session = vec![sessions[1]];
        for (who, threads) in
            [("the session of rig", session), ("the main loop", main), ("what answers requests", requests)]
        {
            assert!(service.is_fed_within(WATCHDOG), "all go on");
            let Some(held) = Held::hold(threads) else {
                return skipped(
                    "it_is_fed_only_while_everybody_goes_on_as_this_user",
                    &"threads of a daemon, which only root may hold",
                );
            };
            let missed = format!("watchdog: {who}");
            wait_until(&format!("{who} is missed"), || service.daemon.log().contains(&missed));
            assert!(!service.is_fed_within(UNFED), "{who} is held: {}", service.daemon.log());
            drop(held);
            wait_until(&format!("{who} goes on"), || service.is_fed_within(WATCHDOG));
        }
        // From here on nobody reads what is told, for many keep-alives.
        std::thread::sleep(UNFED);
        service.daemon.end();
    });
}

/// A file system in a file; it is frozen and thawed as its disk would stall and go on.
struct Disk(PathBuf);

impl Disk {
    /// `None`: this may not be done here.
    fn mount(folder: &Path) -> Option<Disk> {
        let (image, to) = (folder.join("image"), folder.join("disk"));
        std::fs::File::create(&image).unwrap().set_len(64 << 20).unwrap();
        std::fs::create_dir(&to).unwrap();
        let run = |program: &str, arguments: &[&str]| {
            Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
        };
        let (image, path) = (image.to_str().unwrap(), to.to_str().unwrap());
        let is_there = run("mkfs.ext4", &["-q", image]) && run("mount", &["-o", "loop", image, path]);
        let disk = is_there.then_some(Disk(to))?;
        (disk.freeze(true) && disk.freeze(false)).then_some(disk)
    }

    fn freeze(&self, is_frozen: bool) -> bool {
        let option = if is_frozen { "--freeze" } else { "--unfreeze" };
        Command::new("fsfreeze").arg(option).arg(&self.0).output().is_ok_and(|output| output.status.success())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.freeze(false);
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// A session that cannot write what it records is slow, not stuck.
#[test]
fn who_waits_for_a_slow_disk_is_not_mistaken_for_who_is_stuck_as_this_user() {
    let folder = crate::program::tempdir().unwrap();
    let Some(disk) = Disk::mount(folder.path()) else {
        return skipped(
            "who_waits_for_a_slow_disk_is_not_mistaken_for_who_is_stuck_as_this_user",
            &"no file system may be mounted and frozen here",
        );
    };
    shared_core(|| {
        let folder = crate::program::tempdir().unwrap();
        std::os::unix::fs::symlink(&disk.0, folder.path().join("state")).unwrap();
        let mut service = Service::start_in(folder, Some(WATCHDOG));
        let rig = format!("{}[record]\nsignals = ['*']\n[report]\ncheckpoint = 1\n", tracer(""));
        service.daemon.put("a", &rig).json(201);
        service.daemon.put("b", &tracer("")).json(201);
        service.daemon.post("/v1/rigs/a/start", "").json(200);
        assert!(service.is_fed_within(WATCHDOG));
        assert!(disk.freeze(true));
        // Requests that wait for it keep no others waiting.
        let ask = |request: &str| {
            let mut stream = UnixStream::connect(service.daemon.socket()).unwrap();
            stream.write_all(format!("{request} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n").as_bytes()).unwrap();
            stream
        };
        let waiting = ["DELETE /v1/rigs/b", "POST /v1/rigs/b/start"].map(ask);
        let session = service.threads("vecud.session")[0];
        let stat = || std::fs::read_to_string(format!("/proc/{}/task/{session}/stat", service.daemon.pid())).unwrap();
        let waits = |stat: String| stat.contains(") D ");
        wait_until("the session waits for its disk", || waits(stat()));
        // Four times as long as who is stuck may be.
        std::thread::sleep(4 * UNFED);
        assert!(waits(stat()), "all that time");
        assert!(service.is_fed_within(WATCHDOG), "{}", service.daemon.log());
        assert!(service.daemon.log().contains("slow, not stuck"), "{}", service.daemon.log());
        assert_eq!(service.daemon.state("a"), "running");
        assert!(disk.freeze(false));
        drop(waiting);
        service.daemon.post("/v1/rigs/a/stop", "").json(200);
        service.daemon.end();
    });
}
