//! A daemon in a folder of its own, and who speaks to it.

use super::program::{PATIENCE, cache, send, skipped, wait_until};
use nix::sys::signal::Signal::{SIGKILL, SIGTERM};
use serde_json::Value;
use std::ffi::OsString;
use std::fs::DirEntry;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use tempfile::TempDir;

/// What was answered.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub kind: String,
    pub body: String,
}

impl Answer {
    /// The answer in these bytes.
    pub fn of(bytes: &[u8]) -> Answer {
        let answer = String::from_utf8_lossy(bytes).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let header = |name: &str| head.lines().find_map(|line| Some(line.strip_prefix(name)?.trim().to_owned()));
        Answer { status, kind: header("content-type:").unwrap_or_default(), body: unchunked(head, body) }
    }

    /// The body, which is JSON, of an answer of this status.
    pub fn json(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        if status >= 400 {
            assert_eq!(self.kind, "application/problem+json");
        }
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// What is wrong, by an answer of this status.
    pub fn detail(self, status: u16) -> String {
        let problem = self.json(status);
        assert_eq!(problem["status"], status);
        problem["detail"].as_str().unwrap().to_owned()
    }
}

/// No clock of the run of this report has left out a release or a tick, if it had real-time priorities: without, other programs may
/// have the cores for longer than its queues last, and it must have said so.
pub fn kept_every_release(report: &Value) {
    let may_skip = report["host"]["scheduling"] == "cooperative";
    for clock in report["clocks"].as_array().unwrap() {
        let skipped = clock["skipped"].as_u64().unwrap();
        assert!(skipped == 0 || may_skip, "{clock}");
        discarded_at_the_end_alone(report, clock);
    }
}

/// Of this clock nothing is discarded but the release that was due just when the run of this report ended: all before it were
/// activated, or left out. Of a clock without an interval it is one tick at most.
pub fn discarded_at_the_end_alone(report: &Value, clock: &Value) {
    let [activations, skipped, discarded] =
        ["activations", "skipped", "discarded"].map(|what| clock[what].as_u64().unwrap());
    let due = clock["interval_s"].as_f64().map_or(0.0, |interval| report["end_time"].as_f64().unwrap() / interval);
    let released = (activations + skipped + discarded) as f64;
    // There is one at 0 as well; the times are rounded.
    assert!(discarded == 0 || discarded == 1 && released > due - 1e-6, "{released} of {due}: {clock}");
}

/// A daemon that runs; it is gone with this.
pub struct Daemon {
    pub folder: TempDir,
    /// Further options.
    options: Vec<String>,
    child: Option<Child>,
    environment: Vec<(&'static str, OsString)>,
}

impl Daemon {
    /// One of which nothing is known yet.
    pub fn new() -> Daemon {
        Daemon::with(crate::program::tempdir().unwrap(), &[])
    }

    /// One in this folder, with these further options.
    pub fn with(folder: TempDir, options: &[&str]) -> Daemon {
        Daemon::in_environment(folder, options, Vec::new())
    }

    /// The same, which finds this in its environment.
    pub fn in_environment(folder: TempDir, options: &[&str], environment: Vec<(&'static str, OsString)>) -> Daemon {
        let options = options.iter().map(|&option| option.to_owned()).collect();
        let mut daemon = Daemon { folder, options, child: None, environment };
        daemon.start();
        daemon
    }

    /// One that is started by this command.
    pub fn by(folder: TempDir, mut command: Command) -> Daemon {
        let child = Some(command.spawn().unwrap());
        Daemon { folder, options: Vec::new(), environment: Vec::new(), child }
    }

    pub fn command(folder: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
        command.arg("daemon").arg("--socket").arg(folder.join("socket")).arg("--state").arg(folder.join("state"));
        command.arg("--rigs").arg(folder).env("VECUD_CACHE", cache()).stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// Starts it, anew if it has been there before.
    pub fn start(&mut self) {
        assert!(self.child.is_none());
        let log = std::fs::File::options().create(true).append(true).open(self.folder.path().join("log")).unwrap();
        let mut command = Daemon::command(self.folder.path());
        command.args(&self.options).envs(self.environment.iter().map(|(name, value)| (name, value))).stderr(log);
        self.child = Some(command.spawn().unwrap());
        wait_until("the daemon answers", || UnixStream::connect(self.socket()).is_ok());
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    pub fn pid(&self) -> i32 {
        self.child.as_ref().unwrap().id() as i32
    }

    /// The process.
    pub fn child(&self) -> &Child {
        self.child.as_ref().unwrap()
    }

    /// What it has open. Only root may look: for others it is nothing, and `test` says so.
    pub fn open(&self, test: &str) -> Vec<String> {
        let entries = match std::fs::read_dir(format!("/proc/{}/fd", self.pid())) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                skipped(test, &"what a daemon has open, which only root may see");
                return Vec::new();
            }
            entries => entries.unwrap(),
        };
        let target = |entry: std::io::Result<DirEntry>| std::fs::read_link(entry.unwrap().path()).ok();
        entries.filter_map(target).map(|path| path.display().to_string()).collect()
    }

    /// What it has said.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// Ends it by this signal.
    pub fn end_by(&mut self, signal: nix::sys::signal::Signal) -> ExitStatus {
        send(self.pid(), signal);
        self.child.take().unwrap().wait().unwrap()
    }

    /// Ends it as systemd does.
    pub fn end(&mut self) {
        assert_eq!(self.end_by(SIGTERM).code(), Some(0), "{}", self.log());
    }

    /// Sends these bytes, and reads all that is answered.
    pub fn raw(&self, bytes: &[u8]) -> Vec<u8> {
        let stream = UnixStream::connect(self.socket()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        exchange(stream, bytes)
    }

    pub fn ask_with(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        Answer::of(&self.raw(request(method, path, &format!("host: vecud\r\n{headers}"), body).as_bytes()))
    }

    pub fn ask(&self, method: &str, path: &str, body: &str) -> Answer {
        self.ask_with(method, path, "", body)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "")
    }

    pub fn post(&self, path: &str, body: &str) -> Answer {
        self.ask("POST", path, body)
    }

    /// A rig of this text.
    pub fn put(&self, name: &str, text: &str) -> Answer {
        self.ask("PUT", &format!("/v1/rigs/{name}"), text)
    }

    /// How far a rig is.
    pub fn state(&self, name: &str) -> String {
        self.get(&format!("/v1/rigs/{name}")).json(200)["state"].as_str().unwrap().to_owned()
    }
}

/// The children of a process, their children, and so on.
pub fn descendants(process: i32) -> Vec<i32> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
    let children = threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("children")).ok());
    let children: Vec<i32> =
        children.flat_map(|own| own.split(' ').filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()).collect();
    children.iter().flat_map(|child| [vec![*child], descendants(*child)].concat()).collect()
}

/// Sends these bytes, and reads all that is answered.
pub fn exchange(mut stream: impl Read + Write, bytes: &[u8]) -> Vec<u8> {
    // The other side may have heard enough before all is sent.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}

/// A request, after whose answer the connection ends. `headers` end in line breaks.
pub fn request(method: &str, path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}")
}

/// The body of an answer that comes in pieces, as a whole.
fn unchunked(head: &str, body: &str) -> String {
    if !head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        return body.to_owned();
    }
    let (mut whole, mut rest) = (String::new(), body);
    while let Some((length, pieces)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        whole += &pieces[..length];
        rest = pieces[length..].trim_start_matches("\r\n");
        if length == 0 {
            break;
        }
    }
    whole
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.end_by(SIGKILL);
        }
    }
}

/// A rig of one tracer, for which real time is not needed.
pub fn tracer(rig: &str) -> String {
    let fmu = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/tracer");
    format!("[rig]\n{rig}\n[fmu.tracer]\npath = '{}'\n", fmu.display())
}
