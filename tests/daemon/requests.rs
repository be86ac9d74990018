//! Requests that are none, too long, too slow, or for what is not there.

use super::client::{Daemon, tracer};
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

/// Everything that is there says what it answers.
#[test]
fn the_api_describes_itself() {
    let daemon = Daemon::new();
    let description = daemon.get("/openapi.json").json(200);
    let paths = description["paths"].as_object().unwrap();
    for path in ["/v1/rigs", "/v1/rigs/{rig}", "/v1/rigs/{rig}/start", "/v1/rigs/{rig}/runs/{run}/{file}", "/healthz"] {
        assert!(paths.contains_key(path), "{path}");
    }
    for (path, method, name) in [("/v1/rigs/{rig}", "put", "reload"), ("/v1/rigs/{rig}/stop", "post", "now")] {
        let parameters = paths[path][method]["parameters"].as_array().unwrap();
        let place = parameters.iter().find(|own| own["name"] == name).map(|own| &own["in"]);
        assert_eq!(place, Some(&"query".into()), "{parameters:?}");
    }
    let schemas = description["components"]["schemas"].as_object().unwrap();
    let operations = paths.values().flat_map(|path| path.as_object().unwrap().values()).filter(|of| of.is_object());
    let answers = operations.flat_map(|operation| operation["responses"].as_object().unwrap());
    let mut problems = 0;
    for (_, answer) in answers.filter(|(status, _)| status.as_str() >= "400") {
        assert_ne!(answer["description"], "", "{answer}");
        let named = answer["content"]["application/problem+json"]["schema"]["$ref"].as_str().unwrap();
        assert!(schemas.contains_key(named.strip_prefix("#/components/schemas/").unwrap()), "{named}");
        problems += 1;
    }
    assert!(problems > 50, "{problems}");
}
