//! What happens to rigs, as server-sent events, and figures that begin anew.

use super::client::{Daemon, tracer};
use super::program::{PATIENCE, shared_core, wait_until};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::thread;

/// A stream of events that is being read.
struct Stream(BufReader<UnixStream>);

impl Stream {
    fn of(daemon: &Daemon, path: &str) -> Stream {
        let mut stream = UnixStream::connect(daemon.socket()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: vecud\r\n\r\n").as_bytes()).unwrap();
        let mut stream = Stream(BufReader::new(stream));
        let head: Vec<String> = std::iter::from_fn(|| stream.line().filter(|line| !line.is_empty())).collect();
        assert_eq!(head[0], "HTTP/1.1 200 OK");
        assert!(head.contains(&"content-type: text/event-stream".to_owned()), "{head:?}");
        stream
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let length = self.0.read_line(&mut line).unwrap();
        (length > 0).then(|| line.trim_end().to_owned())
    }

    /// The next event; `None`: the stream has ended.
    fn next(&mut self) -> Option<(String, Value)> {
        loop {
            let line = self.line()?;
            let Some(name) = line.strip_prefix("event: ") else { continue };
            let name = name.to_owned();
            let data = self.line()?;
            return Some((name, serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap()));
        }
    }

    /// The data of the next event of this name.
    fn next_of(&mut self, wanted: &str) -> Value {
        loop {
            let (name, data) = self.next().expect("the stream goes on");
            if name == wanted {
                return data;
            }
        }
    }
}

/// A stream of a rig ends with it, and its place is free again.
#[test]
fn a_stream_ends_when_its_rig_is_deleted() {
    let daemon = Daemon::new();
    daemon.put("a", &tracer("")).json(201);
    let mut events = Stream::of(&daemon, "/v1/rigs/a/events");
    assert_eq!(events.next_of("state")["state"], "idle");
    assert_eq!(daemon.ask("DELETE", "/v1/rigs/a", "").status, 204);
    assert!(std::iter::from_fn(|| events.next()).all(|(name, _)| name == "state"), "up to its end");
}

/// What went wrong in a run comes to whoever listens, before it is over.
#[test]
fn whoever_listens_hears_why_a_run_has_failed() {
    shared_core(|| {
        let daemon = Daemon::new();
        daemon.put("bad", &format!("{}start = {{ fail_kind = 5, fail_at = 20 }}\n", tracer(""))).json(201);
        let mut events = Stream::of(&daemon, "/v1/rigs/bad/events");
        daemon.ask("POST", "/v1/rigs/bad/start", "");
        let why = loop {
            let problem = events.next_of("problem");
            if problem["severity"] == "error" {
                break problem["message"].as_str().unwrap().to_owned();
            }
        };
        assert!(why.contains("SIGSEGV"), "{why}");
        while events.next_of("state")["state"] != "failed" {}
        assert_eq!(daemon.get("/v1/rigs/bad").json(200)["problems"][0]["message"], why);
    });
}

#[test]
fn whoever_listens_hears_of_states_problems_figures_and_signals() {
    shared_core(|| {
        let mut daemon = Daemon::new();
        daemon.put("a", &format!("{}[daemon]\nwatch = ['tracer.count_*']\n", tracer(""))).json(201);
        let mut events = Stream::of(&daemon, "/v1/rigs/a/events?match=tracer.count_fast");
        assert_eq!(events.next_of("state")["state"], "idle", "as it is when the stream begins");
        daemon.post("/v1/rigs/a/start", "").json(200);
        while events.next_of("state")["state"] != "running" {}
        // More than a second: figures come once in each.
        let first = events.next_of("figures");
        let second = events.next_of("figures");
        let between = second["elapsed"].as_f64().unwrap() - first["elapsed"].as_f64().unwrap();
        assert!((0.5..5.0).contains(&between), "one a second: {between}");
        assert_eq!(second["clocks"].as_array().unwrap().len(), 7);
        let signals = events.next_of("signals");
        assert_eq!((&signals[0]["name"], signals.as_array().unwrap().len()), (&"tracer.count_fast".into(), 1));
        assert!(daemon.get("/v1/rigs/a/events?match=tracer.nothing").detail(422).contains("tracer.nothing"));
        assert!(daemon.get("/v1/rigs/b/events").detail(404).contains("no rig b"));
        // There are so many at a time, and a place is free again when one is closed.
        let others: Vec<Stream> = (0..31).map(|_| Stream::of(&daemon, "/v1/rigs/a/events")).collect();
        assert!(daemon.get("/v1/rigs/a/events").detail(503).contains("32 streams"));
        drop(others);
        wait_until("there is room again", || {
            let mut stream = UnixStream::connect(daemon.socket()).unwrap();
            stream.write_all(b"GET /v1/rigs/a/events HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
            Stream(BufReader::new(stream)).line().unwrap().ends_with("200 OK")
        });
        let run = daemon.post("/v1/rigs/a/stop", "").json(200)["run"].clone();
        assert_eq!(events.next_of("state")["state"], "stopping");
        assert_eq!(events.next_of("state")["run"], run);
        // An FMU that crashes is said to.
        let bad = format!("{}start = {{ fail_kind = 5, fail_at = 20 }}\n", tracer("mode = 'virtual'\nstop_time = 1.0"));
        daemon.put("bad", &bad).json(201);
        let mut of_bad = Stream::of(&daemon, "/v1/rigs/bad/events");
        daemon.post("/v1/rigs/bad/start", "").json(200);
        while of_bad.next_of("state")["state"] != "failed" {}
        // All streams end with the daemon, which waits for none.
        let reader = thread::spawn(move || while events.next().is_some() {});
        daemon.end();
        reader.join().unwrap();
    });
}

#[test]
fn figures_of_clocks_begin_anew_and_the_report_keeps_everything() {
    shared_core(|| {
        let daemon = Daemon::new();
        daemon.put("a", &tracer("")).json(201);
        daemon.post("/v1/rigs/a/clocks/reset", "").detail(409);
        daemon.post("/v1/rigs/a/start", "").json(200);
        let fast = || {
            let clocks = daemon.get("/v1/rigs/a/clocks").json(200);
            clocks.as_array().unwrap().iter().find(|clock| clock["clock"] == "fast").unwrap().clone()
        };
        let activations = |clock: &Value| clock["activations"].as_u64().unwrap();
        // A second and a half, which nobody needs to ask for them once more: they are fewer then.
        wait_until("it has run for a while", || activations(&fast()) > 1500);
        let before = fast();
        assert_eq!(daemon.post("/v1/rigs/a/clocks/reset", "").status, 204);
        let after = fast();
        assert!(activations(&after) < activations(&before), "{after}");
        let count = |clock: &Value| clock["response"]["count"].as_u64().unwrap();
        assert!(count(&before) > 1000 && count(&after) < count(&before), "{after}");
        wait_until("it goes on to measure", || count(&fast()) > count(&after));
        let longest = |clock: &Value| clock["response"]["max"].as_u64().unwrap();
        assert!(longest(&after) <= longest(&before).max(longest(&fast())), "{after}");
        let stopped = daemon.post("/v1/rigs/a/stop", "").json(200);
        let report = daemon.get(&format!("/v1/rigs/a/runs/{}", stopped["run"].as_str().unwrap())).json(200);
        let all = report["clocks"].as_array().unwrap().iter().find(|clock| clock["clock"] == "fast").unwrap();
        assert!(activations(all) > activations(&before), "{all}");
    });
}
