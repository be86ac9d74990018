//! Many requests, and many who ask nothing: everybody has an answer, and rigs that run know nothing of it.

use super::client::{Daemon, kept_every_release, tracer};
use super::program::{PATIENCE, shared_core, wait_until};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Instant;

/// Connections that ask.
const ASKING: usize = 8;
/// Requests of each of them, so many in one piece.
const REQUESTS: usize = 2500;
const AT_ONCE: usize = 50;
/// Connections that ask nothing.
const IDLE: usize = 100;

/// Asks so often, and counts the answers that are as they should be.
fn ask(daemon: &Daemon) -> usize {
    let mut stream = UnixStream::connect(daemon.socket()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap());
    let piece = "GET /v1/rigs/a HTTP/1.1\r\nhost: vecud\r\n\r\n".repeat(AT_ONCE);
    let mut good = 0;
    for _ in 0..REQUESTS / AT_ONCE {
        stream.write_all(piece.as_bytes()).unwrap();
        for _ in 0..AT_ONCE {
            let (mut line, mut length, mut status) = (String::new(), 0, String::new());
            loop {
                line.clear();
                answers.read_line(&mut line).unwrap();
                let lower = line.to_ascii_lowercase();
                match lower.strip_prefix("content-length:") {
                    Some(number) => length = number.trim().parse().unwrap(),
                    None if status.is_empty() => status = lower,
                    None if lower.trim().is_empty() => break,
                    None => (),
                }
            }
            let mut body = vec![0; length];
            answers.read_exact(&mut body).unwrap();
            good += usize::from(status.starts_with("http/1.1 200") && body.starts_with(b"{\"name\":\"a\""));
        }
    }
    good
}

#[test]
fn twenty_thousand_requests_cost_a_rig_no_release() {
    shared_core(|| {
        let daemon = Daemon::new();
        daemon.put("a", &tracer("overrun = 'queue'")).json(201);
        daemon.post("/v1/rigs/a/start", "").json(200);
        let idle: Vec<_> = (0..IDLE).map(|_| UnixStream::connect(daemon.socket()).unwrap()).collect();
        // It takes as long as so many requests do.
        let began = Instant::now();
        let good: usize = std::thread::scope(|scope| {
            let asking: Vec<_> = (0..ASKING).map(|_| scope.spawn(|| ask(&daemon))).collect();
            asking.into_iter().map(|asking| asking.join().unwrap()).sum()
        });
        let rate = good as f64 / began.elapsed().as_secs_f64();
        assert_eq!(good, ASKING * REQUESTS);
        println!("{rate:.0} requests a second, beside {IDLE} idle connections");
        drop(idle);
        let stopped = daemon.post("/v1/rigs/a/stop", "").json(200);
        let report = daemon.get(&format!("/v1/rigs/a/runs/{}", stopped["run"].as_str().unwrap())).json(200);
        kept_every_release(&report);
        let descriptors = || daemon.open("twenty_thousand_requests_cost_a_rig_no_release").len();
        wait_until("connections are closed", || descriptors() < IDLE / 2);
    });
}
