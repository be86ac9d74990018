//! Requests that are none, too long, too slow, or for what is not there.

use super::client::{Daemon, tracer};
use super::program::random::Random;
use std::io::Write;
use std::os::unix::net::UnixStream;

#[test]
fn what_cannot_be_read_is_a_problem_and_not_the_end() {
    let daemon = Daemon::new();
    daemon.put("a", &tracer("")).json(201);
    for (method, path, body, status) in [
        ("GET", "/nope", "", 404),
        ("GET", "/v1/rigs/..", "", 404),
        ("GET", "/v1/rigs/%2e%2e%2fetc", "", 404),
        ("GET", "/v1/rigs/a/runs/..%2f..", "", 404),
        ("GET", "/v1/rigs/a/runs/x/..%2frig.json", "", 404),
        ("PATCH", "/v1/rigs", "", 405),
        ("POST", "/v1/rigs/a/start", "{", 400),
        ("POST", "/v1/rigs/a/start", r#"{"stop": 1}"#, 400),
        ("POST", "/v1/rigs/a/start", r#"{"mode": "fast"}"#, 400),
        ("POST", "/v1/rigs/a/start", r#"{"stop_time": "1"}"#, 400),
    ] {
        assert!(!daemon.ask(method, path, body).detail(status).is_empty(), "{method} {path}");
    }
    let long = "#".repeat(5 << 20);
    assert!(daemon.put("long", &long).status == 413);
    let not_utf8 = b"PUT /v1/rigs/x HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 2\r\n\r\n\xff\xfe";
    assert!(daemon.raw(not_utf8).starts_with(b"HTTP/1.1 400"));
    assert_eq!(daemon.state("a"), "idle");
}

/// Whoever is connected and silent keeps nobody from being answered.
#[test]
fn idle_connections_keep_nobody_waiting() {
    let daemon = Daemon::new();
    let idle: Vec<UnixStream> = (0..100).map(|_| UnixStream::connect(daemon.socket()).unwrap()).collect();
    let mut slow = UnixStream::connect(daemon.socket()).unwrap();
    slow.write_all(b"GET /v1/rigs HTT").unwrap();
    for _ in 0..50 {
        assert_eq!(daemon.get("/healthz").status, 200);
    }
    drop((idle, slow));
}

/// Any bytes at all: an answer or none, and the daemon is there.
#[test]
fn bytes_that_are_no_request_harm_nobody() {
    let daemon = Daemon::new();
    let random = &mut Random(7);
    let seeds: [&[u8]; 3] = [
        b"GET /v1/rigs HTTP/1.1\r\nhost: x\r\n\r\n",
        b"PUT /v1/rigs/a HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n[rig]\n[fmu",
        b"POST /v1/rigs/a/start HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    ];
    for round in 0..300 {
        let mut bytes = seeds[round % seeds.len()].to_vec();
        for _ in 0..=random.below(8) {
            let at = random.below(bytes.len() as u64) as usize;
            match random.below(3) {
                0 => bytes[at] = random.below(256) as u8,
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, random.below(256) as u8),
            }
        }
        let mut stream = UnixStream::connect(daemon.socket()).unwrap();
        stream.write_all(&bytes).unwrap();
        drop(stream);
    }
    assert_eq!(daemon.get("/healthz").status, 200);
    assert!(!daemon.log().contains("panicked"), "{}", daemon.log());
}

/// Everything that is there says what it answers.
#[test]
fn the_api_describes_itself() {
    let daemon = Daemon::new();
    let description = daemon.get("/openapi.json").json(200);
    let paths = description["paths"].as_object().unwrap();
    for path in ["/v1/rigs", "/v1/rigs/{rig}", "/v1/rigs/{rig}/start", "/v1/rigs/{rig}/runs/{run}/{file}", "/healthz"] {
        assert!(paths.contains_key(path), "{path}");
    }
}
