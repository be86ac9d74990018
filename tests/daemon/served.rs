//! Files of runs and errors as they are served: nobody takes them for something else.

use super::client::{Daemon, request};
use super::program::{shared_core, wait_until};
use std::path::Path;

/// The head, in small letters, and the body of an answer. `headers` end in line breaks.
fn ask(daemon: &Daemon, method: &str, path: &str, headers: &str) -> (String, String) {
    let answer = daemon.raw(request(method, path, &format!("host: vecud\r\n{headers}"), "").as_bytes());
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_ascii_lowercase(), body.to_owned())
}

/// FMU code may write what it likes into the folder of its run.
#[test]
fn files_of_runs_reach_nothing_and_every_error_is_a_problem() {
    shared_core(|| {
        let daemon = Daemon::new();
        let tracer = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/tracer");
        let rig = format!("[rig]\nmode = 'virtual'\nstop_time = 0.01\n[fmu.a]\npath = '{}'\n", tracer.display());
        daemon.put("a", &rig).json(201);
        let run = daemon.post("/v1/rigs/a/start", "").json(200)["run"].as_str().unwrap().to_owned();
        wait_until("it is over", || daemon.get("/v1/rigs/a").json(200)["state"] == "idle");
        let folder = daemon.folder.path().join("state/rigs/a/runs").join(&run);
        for (name, kind) in [
            ("evil.html", "text/html; charset=utf-8"),
            ("evil.svg", "application/octet-stream"),
            ("evil", "application/octet-stream"),
            ("evil.csv", "text/csv; charset=utf-8"),
            ("report.json", "application/json"),
        ] {
            if name.starts_with("evil") {
                std::fs::write(folder.join(name), "<script>alert(1)</script>").unwrap();
            }
            let (head, _) = ask(&daemon, "GET", &format!("/v1/rigs/a/runs/{run}/{name}"), "");
            assert!(head.starts_with("http/1.1 200"), "{head}");
            for header in [
                format!("content-type: {kind}"),
                "x-content-type-options: nosniff".to_owned(),
                "content-security-policy: default-src 'none';".to_owned(),
                "sandbox allow-scripts".to_owned(),
            ] {
                assert!(head.contains(&header), "{name}: no {header}: {head}");
            }
        }
        let csv = format!("/v1/rigs/a/runs/{run}/evil.csv");
        let (head, _) = ask(&daemon, "GET", &csv, "");
        let tag = head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
        let none = format!("/v1/rigs/a/runs/{run}/none");
        let json = "content-type: application/json\r\n";
        for (method, path, headers, status) in [
            ("GET", csv.as_str(), "range: bytes=1-2\r\n", 206),
            ("GET", &csv, "range: x=1-2\r\n", 200),
            ("GET", &csv, "range: lines=0-\r\n", 200),
            ("GET", &csv, "range: bytes=900-\r\n", 416),
            ("GET", &csv, "range: bytes=1-99999999999999999999999\r\n", 200),
            ("GET", &csv, "range: bytes=0-0,2-2\r\n", 200),
            ("GET", &csv, "range: bytes=0-1\r\nif-range: \"x\"\r\n", 200),
            ("GET", &csv, "range: bytes=0-1\r\nif-range: Thu, 01 Jan 2015 00:00:00 GMT\r\n", 200),
            ("GET", &csv, &format!("range: bytes=0-1\r\nif-range: {tag}\r\n"), 206),
            ("GET", &csv, "if-unmodified-since: Thu, 01 Jan 2015 00:00:00 GMT\r\n", 412),
            ("POST", &csv, "", 405),
            ("GET", &none, "", 404),
            ("GET", "/v1/rigs/%ff", "", 400),
            ("GET", "/v1/rigs/a/runs/%ff/x", "", 400),
            ("GET", "/nowhere", "", 404),
            ("PUT", "/v1/rigs/b", json, 400),
        ] {
            let (head, body) = ask(&daemon, method, path, headers);
            assert!(head.starts_with(&format!("http/1.1 {status}")), "{method} {path} {headers}: {head}\n{body}");
            assert!(head.contains("x-content-type-options: nosniff"), "{method} {path} {headers}: {head}");
            if status >= 400 {
                assert!(head.contains("content-type: application/problem+json"), "{method} {path} {headers}: {head}");
                let problem: serde_json::Value = serde_json::from_str(&body).unwrap();
                assert_eq!(problem["status"], status, "{method} {path} {headers}");
            }
        }
    });
}
