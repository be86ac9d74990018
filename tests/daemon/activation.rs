//! Sockets that a service manager has opened: here the test is the service manager.

use super::client::Daemon;
use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A daemon that finds this as its descriptor 3, and these options; what it says goes to `log` in its folder.
fn command(folder: &Path, socket: OwnedFd, options: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "exec 3<&0 </dev/null; export LISTEN_PID=$$; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_vecud")]);
    command.args(["daemon", "--state"]).arg(folder.join("state")).arg("--rigs").arg(folder).args(options);
    command.env("LISTEN_FDS", "1").env("LISTEN_FDNAMES", "vecud.socket");
    command.stdin(socket).stdout(Stdio::null()).stderr(File::create(folder.join("log")).unwrap());
    command
}

fn folder() -> TempDir {
    crate::program::tempdir().unwrap()
}

#[test]
fn a_socket_that_was_handed_over_is_used_as_it_is_and_stays() {
    let folder = folder();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    let number = path.metadata().unwrap().ino();
    // Who has come before the daemon is answered as soon as it is there.
    let mut early = UnixStream::connect(&path).unwrap();
    early.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let command = command(folder.path(), listener.into(), &[]);
    let mut daemon = Daemon::by(folder, command);
    let mut answer = String::new();
    early.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(daemon.get("/healthz").status, 200);
    daemon.end();
    let left = path.metadata().unwrap();
    assert_eq!((left.ino(), left.permissions().mode() & 0o777), (number, 0o640), "nothing of it is changed");
    assert!(!daemon.folder.path().join("socket.lock").exists());
    assert!(daemon.log().contains(&format!("listening on {}", path.display())), "{}", daemon.log());
}

/// What such a daemon says, which comes to nothing.
fn refused(socket: OwnedFd, options: &[&str], words: &str) {
    let folder = folder();
    let Output { status, .. } = command(folder.path(), socket, options).output().unwrap();
    let said = fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(status.code() == Some(2) && said.contains(words), "{said}");
}

#[test]
fn what_is_no_such_socket_or_comes_with_another_one_is_refused() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let listener = UnixListener::bind(path("a")).unwrap();
    refused(listener.into(), &["--socket", "/tmp/other"], "leave --socket out");
    assert!(!Path::new("/tmp/other").exists());
    refused(TcpListener::bind("127.0.0.1:0").unwrap().into(), &[], "no unix socket");
    refused(UnixDatagram::bind(path("b")).unwrap().into(), &[], "takes no connections");
    let (one, _other) = UnixStream::pair().unwrap();
    refused(one.into(), &[], "has no name");
    refused(File::open("/dev/null").unwrap().into(), &[], "of no use");
}
