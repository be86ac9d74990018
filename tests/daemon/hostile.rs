//! Whatever is sent: the daemon answers others, keeps nothing of it, and its rigs know nothing of it.

use super::client::{Answer, Daemon, exchange, kept_every_release, request, tracer};
use super::program::random::Random;
use super::program::{PATIENCE, limit_descriptors, shared_core, wait_until};
use super::tcp::{AUTHORIZATION, connect, over_tcp};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Requests that are none of what there is, or almost.
const REQUESTS: usize = 3000;
/// They end after this long, however many there were; and there were some.
const LONGEST: Duration = PATIENCE;

/// Requests of all kinds. None of them names the rig that runs.
fn seeds() -> Vec<Vec<u8>> {
    let text = |text: &str| text.replace('\n', "\r\n").into_bytes();
    let with = |line: &str, head: &str, body: &str| {
        let length = body.len();
        text(&format!("{line} HTTP/1.1\nhost: localhost\n{}{head}", AUTHORIZATION.replace("\r\n", "\n")))
            .into_iter()
            .chain(format!("content-length: {length}\r\n\r\n{body}").into_bytes())
            .collect::<Vec<u8>>()
    };
    vec![
        with("GET /v1/rigs", "", ""),
        with("GET /v1/rigs/a/runs/x/../report.json", "range: bytes=0-0\n", ""),
        with("GET /v1/rigs/a/signals?match=*&match=%2a", "", ""),
        with("HEAD /openapi.json", "", ""),
        with("PUT /v1/rigs/a", "expect: 100-continue\n", "[rig]\nmode = \"virtual\"\n[fmu.x]\npath = \"x\"\n"),
        with("PUT /v1/rigs/a?reload=true", "content-type: application/json\n", r#"{"path": "../../etc/passwd"}"#),
        with("POST /v1/rigs/a/start", "content-type: application/json\n", r#"{"mode": "virtual", "stop_time": 1e308}"#),
        with("PATCH /v1/rigs/a/variables", "", r#"{"x.gain": [1, "NaN", {"": null}]}"#),
        with("POST /v1/rigs/a/waits", "", r#"{"condition": "((((x.y > 1)))) and not rising(x.z)", "timeout": -1}"#),
        with("POST /v1/rigs/a/stop", "connection: upgrade\nupgrade: h2c\n", ""),
        with("DELETE /v1/rigs/a", "", ""),
        text("POST /v1/rigs/a/start HTTP/1.1\nhost: localhost\ntransfer-encoding: chunked\n\n2;x=y\n{}\n0\nx: y\n\n"),
        text("GET / HTTP/1.0\n\nGET /healthz HTTP/1.1\nhost: localhost\n\n"),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
    ]
}

fn mutated(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..random.below(10) {
        let at = random.below(bytes.len() as u64) as usize;
        match random.below(6) {
            0 => bytes[at] = random.below(256) as u8,
            1 => bytes[at] ^= 1 << random.below(8),
            2 => drop(bytes.remove(at)),
            3 => bytes.insert(at, random.below(256) as u8),
            4 => bytes.truncate(at.max(1)),
            _ => {
                let to = at + random.below((bytes.len() - at).min(40) as u64 + 1) as usize;
                let piece = bytes[at..to].to_vec();
                bytes.splice(at..at, piece);
            }
        }
        if bytes.is_empty() {
            bytes.push(b'\n');
        }
    }
    bytes
}

/// Sends it, and hears a part of what is answered, if anything is.
fn send(mut stream: impl Read + Write, bytes: &[u8], hears: bool) {
    let _ = stream.write_all(bytes);
    if hears {
        let _ = stream.read(&mut [0; 64]);
    }
}

/// What a daemon has open, besides the files of runs, which come as there is something for them.
fn open(daemon: &Daemon) -> Vec<String> {
    let mut targets = daemon.open("thousands_of_requests_that_are_none_harm_nobody");
    targets.retain(|target| !target.contains("/runs/"));
    targets.sort();
    targets
}

#[test]
fn thousands_of_requests_that_are_none_harm_nobody() {
    shared_core(|| {
        let (daemon, port) = over_tcp(&[]);
        daemon.put("untouched", &tracer("overrun = 'queue'")).json(201);
        daemon.post("/v1/rigs/untouched/start", "").json(200);
        let descriptors = || open(&daemon);
        assert_eq!(daemon.get("/healthz").status, 200);
        let before = descriptors();
        let (random, seeds, began) = (&mut Random(26), seeds(), Instant::now());
        // It takes as long as so many requests do.
        let mut sent = 0;
        while sent < REQUESTS && began.elapsed() < LONGEST {
            let bytes = mutated(&seeds[random.below(seeds.len() as u64) as usize], random);
            // Who says that there is no more gets an answer to what there was.
            let hears = random.below(4) > 0;
            if random.below(2) == 0 {
                let stream = UnixStream::connect(daemon.socket()).unwrap();
                stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
                send(&stream, &bytes, hears);
                stream.shutdown(Shutdown::Write).unwrap();
            } else {
                let stream = connect(port);
                stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
                send(&stream, &bytes, hears);
            }
            sent += 1;
        }
        assert!(sent >= REQUESTS / 10, "only {sent} requests in {LONGEST:?}");
        assert_eq!(daemon.get("/healthz").status, 200);
        let is_back = || descriptors().len() <= before.len();
        let left = || format!("only these are open: {before:?}, and not {:?}", descriptors());
        wait_until(&left(), is_back);
        assert!(!daemon.log().contains("panicked"), "{}", daemon.log());
        let stopped = daemon.post("/v1/rigs/untouched/stop", "").json(200);
        assert_eq!(stopped["verdict"], "pass");
        let report = daemon.get(&format!("/v1/rigs/untouched/runs/{}", stopped["run"].as_str().unwrap())).json(200);
        kept_every_release(&report);
    });
}

/// Several requests that come at once are answered one after the other.
#[test]
fn requests_in_one_piece_are_answered_in_their_order() {
    let daemon = Daemon::new();
    let one = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\nGET /nope HTTP/1.1\r\nhost: x\r\n\r\n";
    let last = "GET /v1/rigs HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let answer = daemon.raw([one, last].concat().as_bytes());
    let answer = String::from_utf8(answer).unwrap();
    let statuses: Vec<&str> = answer.split("HTTP/1.1 ").skip(1).map(|answer| &answer[..3]).collect();
    assert_eq!(statuses, ["200", "404", "200"]);
}

/// Heads that are too long, or have too many lines, are refused by what reads them, without a body.
#[test]
fn heads_without_end_are_refused() {
    let daemon = Daemon::new();
    let long = format!("GET /v1/rigs HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(1 << 20));
    let many = format!("GET /v1/rigs HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(1000));
    let path = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(100_000));
    for (head, statuses) in [(long, [431, 431]), (many, [431, 431]), (path, [414, 431])] {
        let answer = Answer::of(&daemon.raw(head.as_bytes()));
        assert!(statuses.contains(&answer.status), "{}", answer.status);
    }
}

/// A body that is longer than what is read: also when nobody says so before.
#[test]
fn bodies_without_end_are_refused_and_are_problems() {
    let daemon = Daemon::new();
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, "x".repeat(1 << 20));
    let head = "PUT /v1/rigs/a HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
    let whole = format!("{head}{}0\r\n\r\n", chunk.repeat(6));
    assert!(Answer::of(&daemon.raw(whole.as_bytes())).detail(413).contains("bytes"));
    let endless = format!("{head}{}", chunk.repeat(40));
    assert!(Answer::of(&daemon.raw(endless.as_bytes())).detail(413).contains("bytes"));
}

/// A head that comes letter by letter, or never, has so much time and no more, also the second one of a connection.
#[test]
fn heads_that_do_not_come_end_their_connection() {
    let daemon = Daemon::new();
    let first = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";
    let began = Instant::now();
    std::thread::scope(|scope| {
        for start in ["", "GET /hea", first] {
            let daemon = &daemon;
            scope.spawn(move || {
                let mut stream = UnixStream::connect(daemon.socket()).unwrap();
                stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
                stream.write_all(start.as_bytes()).unwrap();
                // A letter now and then does not prolong it.
                let is_there = |stream: &mut UnixStream| match stream.read(&mut [0; 1000]) {
                    Ok(0) => false,
                    Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
                    Ok(_) => true,
                };
                while is_there(&mut stream) && began.elapsed() < PATIENCE {
                    if start == "GET /hea" {
                        let _ = stream.write_all(b"x");
                    }
                }
                let took = began.elapsed();
                assert!(took > Duration::from_secs(8) && took < Duration::from_secs(60), "{start:?}: {took:?}");
            });
        }
    });
}

/// A body that comes letter by letter has so much time and no more.
#[test]
fn bodies_that_do_not_come_are_a_problem() {
    let daemon = Daemon::new();
    let began = Instant::now();
    let head = "PUT /v1/rigs/a HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 1000\r\n\r\n";
    let answer = exchange(Letters { stream: UnixStream::connect(daemon.socket()).unwrap() }, head.as_bytes());
    assert!(Answer::of(&answer).detail(408).contains("within"));
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
}

/// A stream that sends a letter for every half second that it waits for an answer.
struct Letters {
    stream: UnixStream,
}

impl Write for Letters {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.stream.flush()
    }
}

impl Read for Letters {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.stream.set_read_timeout(Some(Duration::from_millis(500)))?;
        loop {
            match self.stream.read(into) {
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => drop(self.stream.write(b"x")),
                read => return read,
            }
        }
    }
}

/// For as long as that lasts, and however often it is tried: a log that fills the disk is worth less than a line.
#[test]
fn connections_that_cannot_be_accepted_are_told_once_a_minute() {
    shared_core(|| {
        let daemon = Daemon::new();
        assert_eq!(daemon.get("/healthz").status, 200);
        let own = std::fs::read_dir(format!("/proc/{}/fd", daemon.pid())).map_or(24, Iterator::count) as u64;
        limit_descriptors(daemon.child(), own + 4);
        let held: Vec<UnixStream> = (0..32).map(|_| UnixStream::connect(daemon.socket()).unwrap()).collect();
        wait_until("it is told", || daemon.log().contains("Too many open files"));
        std::thread::sleep(Duration::from_millis(700));
        assert_eq!(daemon.log().matches("Too many open files").count(), 1, "{}", daemon.log());
        drop(held);
        let healthz = request("GET", "/healthz", "host: vecud\r\n", "");
        wait_until("it answers again", || daemon.raw(healthz.as_bytes()).starts_with(b"HTTP/1.1 200"));
    });
}
