//! Over TCP: with a token, under a name of this machine, and for no page of another site.

use super::client::{Answer, Daemon, exchange, request, tracer};
use super::program::{PATIENCE, user, wait_until};
use std::ffi::OsString;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

pub const TOKEN: &str = "0123456789abcdef0123456789abcdef";
pub const AUTHORIZATION: &str = "authorization: Bearer 0123456789abcdef0123456789abcdef\r\n";

/// A daemon that listens at a free port, too, and that port.
pub fn over_tcp(options: &[&str]) -> (Daemon, u16) {
    over_tcp_in(crate::program::tempdir().unwrap(), options, Vec::new())
}

/// The same in a folder, with these variables in its environment.
pub fn over_tcp_in(folder: TempDir, options: &[&str], environment: Vec<(&'static str, OsString)>) -> (Daemon, u16) {
    let file = token_file(folder.path(), TOKEN, 0o600);
    let options = [&["--listen", "127.0.0.1:0", "--token-file", &file], options].concat();
    let daemon = Daemon::in_environment(folder, &options, environment);
    wait_until("it listens", || port(&daemon).is_some());
    let port = port(&daemon).unwrap();
    (daemon, port)
}

/// The port at which a daemon listens.
pub fn port(daemon: &Daemon) -> Option<u16> {
    daemon.log().split("listening on http://127.0.0.1:").nth(1)?.lines().next()?.parse().ok()
}

fn token_file(folder: &Path, token: &str, mode: u32) -> String {
    let file = folder.join("token");
    std::fs::write(&file, format!("{token}\n")).unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
    file.display().to_string()
}

pub fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn ask(port: u16, method: &str, path: &str, headers: &str, body: &str) -> Answer {
    Answer::of(&exchange(connect(port), request(method, path, headers, body).as_bytes()))
}

pub const LOCAL: &str = "host: localhost\r\n";

/// Of what needs it; whoever shows another one is told so.
#[test]
fn everything_but_health_needs_the_token() {
    let (daemon, port) = over_tcp(&[]);
    assert_eq!(ask(port, "GET", "/healthz", LOCAL, "").status, 200);
    for (method, path) in [
        ("GET", "/v1/rigs"),
        ("HEAD", "/v1/rigs"),
        ("PUT", "/v1/rigs/a"),
        ("GET", "/openapi.json"),
        ("GET", "/nothing"),
        ("POST", "/healthz/"),
        ("GET", "/healthz/../v1/rigs"),
        ("GET", "//healthz"),
        ("OPTIONS", "*"),
    ] {
        assert_eq!(ask(port, method, path, LOCAL, "").status, 401, "{method} {path}");
    }
    let answer = exchange(connect(port), request("GET", "/v1/rigs", LOCAL, "").as_bytes());
    let head = String::from_utf8_lossy(&answer).to_ascii_lowercase();
    assert!(head.contains("www-authenticate: bearer") && !head.contains("access-control"), "{head}");
    assert!(Answer::of(&answer).detail(401).contains("--token-file"));
    for wrong in [
        "authorization: Bearer 0123456789abcdef0123456789abcdee\r\n",
        "authorization: Bearer 0123456789abcdef\r\n",
        "authorization: Bearer\r\n",
        "authorization: Basic 0123456789abcdef0123456789abcdef\r\n",
        "authorization: \r\n",
        "authorization: Bearer \u{ff}\r\n",
    ] {
        assert!(ask(port, "GET", "/v1/rigs", &[LOCAL, wrong].concat(), "").detail(401).contains("does not"), "{wrong}");
    }
    let twice = [LOCAL, AUTHORIZATION, AUTHORIZATION].concat();
    assert_eq!(ask(port, "GET", "/v1/rigs", &twice, "").status, 401);
    let shown = [LOCAL, AUTHORIZATION].concat();
    ask(port, "PUT", "/v1/rigs/a", &shown, &tracer("")).json(201);
    assert_eq!(ask(port, "GET", "/v1/rigs/a", &shown, "").json(200)["state"], "idle");
    assert_eq!(daemon.state("a"), "idle", "over the socket none is needed");
    assert!(!daemon.log().contains(TOKEN), "{}", daemon.log());
}

#[test]
fn reading_may_be_free() {
    let (_daemon, port) = over_tcp(&["--anonymous-read"]);
    ask(port, "GET", "/v1/rigs", LOCAL, "").json(200);
    assert_eq!(ask(port, "HEAD", "/v1/rigs", LOCAL, "").status, 200);
    for (method, path) in [
        ("PUT", "/v1/rigs/a"),
        ("DELETE", "/v1/rigs/a"),
        ("POST", "/v1/rigs/a/start"),
        ("PATCH", "/v1/rigs/a/variables"),
        ("get", "/v1/rigs"),
    ] {
        assert_eq!(ask(port, method, path, LOCAL, "").status, 401, "{method} {path}");
    }
    let wrong = [LOCAL, "authorization: Bearer nonsense\r\n"].concat();
    assert_eq!(ask(port, "GET", "/v1/rigs", &wrong, "").status, 401);
}

/// A name that somebody else made to stand for an address of this machine (DNS rebinding) opens nothing.
#[test]
fn requests_name_this_machine_and_pages_of_others_ask_nothing() {
    let (daemon, port) = over_tcp(&["--anonymous-read", "--host", "rig3.lab"]);
    let get = |headers: &str| ask(port, "GET", "/v1/rigs", headers, "");
    for ours in ["localhost", &format!("localhost:{port}"), "127.0.0.1", "[::1]:80", "RIG3.lab"] {
        assert_eq!(get(&format!("host: {ours}\r\n")).status, 200, "{ours}");
    }
    for other in ["evil.example", "192.0.2.1", "localhost.evil.example", "rig4.lab"] {
        assert!(get(&format!("host: {other}\r\n")).detail(421).contains(other));
        assert_eq!(ask(port, "GET", "/healthz", &format!("host: {other}\r\n"), "").status, 421);
    }
    assert_eq!(get("").status, 400);
    assert_eq!(get("host: localhost\r\nhost: evil.example\r\n").status, 400);
    let absolute = ask(port, "GET", "http://evil.example/v1/rigs", LOCAL, "");
    assert_eq!(absolute.status, 421);
    for (origin, status) in [
        ("http://localhost", 200),
        ("http://evil.example", 403),
        ("http://localhost:1", 403),
        ("null", 403),
        ("", 403),
        ("\u{ff}", 403),
    ] {
        let headers = format!("{LOCAL}{AUTHORIZATION}origin: {origin}\r\n");
        assert_eq!(ask(port, "GET", "/v1/rigs", &headers, "").status, status, "{origin}");
    }
    assert_eq!(daemon.get("/v1/rigs").status, 200, "over the socket nobody asks for that");
}

/// What is refused before anything listens: the exit code is 2, and the way out is told.
#[test]
fn a_token_that_is_none_and_an_address_for_others_are_refused_as_this_user() {
    let folder = crate::program::tempdir().unwrap();
    let refused = |options: &[&str], words: &str| {
        let output = Daemon::command(folder.path()).args(options).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(words), "{options:?}: {said}");
        assert!(!folder.path().join("socket").exists());
    };
    let at = |file: &str, words: &str| refused(&["--listen", "127.0.0.1:0", "--token-file", file], words);
    refused(&["--listen", "127.0.0.1:0"], "--token-file");
    refused(&["--token-file", "token"], "--listen");
    refused(&["--anonymous-read"], "--listen");
    refused(&["--listen", "localhost", "--token-file", "token"], "ADDRESS");
    for mode in [0o640, 0o604, 0o660, 0o622] {
        let file = token_file(folder.path(), TOKEN, mode);
        at(&file, &format!("chmod 600 {file}"));
    }
    at(&token_file(folder.path(), "0123456789abcde", 0o600), "15 characters");
    at(&token_file(folder.path(), "0123456789 abcdef0123456789", 0o600), "blanks");
    at(&folder.path().join("none").display().to_string(), "none: ");
    at(&folder.path().display().to_string(), "no file");
    let file = token_file(folder.path(), TOKEN, 0o600);
    if user::is_root() {
        std::os::unix::fs::chown(&file, Some(user::NOBODY), None).unwrap();
        at(&file, "belong");
        std::os::unix::fs::chown(&file, Some(0), None).unwrap();
    }
    refused(&["--listen", "0.0.0.0:0", "--token-file", &file], "--allow-remote");
    refused(&["--listen", "[::]:0", "--token-file", &file], "--allow-remote");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    refused(&["--listen", &taken, "--token-file", &file], "another address");
}

/// Whoever keeps as many connections as there can be, over TCP, keeps nobody from the socket; and those that are silent make way.
#[test]
fn silent_connections_make_way_for_others() {
    let (daemon, port) = over_tcp(&[]);
    let silent: Vec<TcpStream> = (0..300).map(|_| connect(port)).collect();
    for _ in 0..20 {
        assert_eq!(ask(port, "GET", "/healthz", LOCAL, "").status, 200);
        assert_eq!(daemon.get("/healthz").status, 200);
    }
    drop(silent);
}
