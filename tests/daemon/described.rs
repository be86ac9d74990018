//! The API is what it says of itself: whatever a program that has read `/openapi.json` asks, it gets an answer that is described there,
//! and none that is the daemon's own mistake.

use super::client::tracer;
use super::program::skipped;
use super::tcp::{AUTHORIZATION, over_tcp};
use std::path::Path;
use std::process::{Command, Output};

/// What schemathesis (from PyPI) finds, in so many seconds, with these names where a path has some; `None`: it is not there.
fn schemathesis(test: &str, names: &Path, port: u16, seconds: u32, arguments: &[&str]) -> Option<Output> {
    let program = std::env::var_os("VECUD_SCHEMATHESIS").unwrap_or_else(|| "schemathesis".into());
    let mut command = Command::new(&program);
    // It leaves what it has learnt where it runs.
    command.current_dir(names.parent().unwrap());
    command.arg("--config-file").arg(names).args([
        "run",
        &format!("http://127.0.0.1:{port}/openapi.json"),
        "--no-color",
        "--seed",
        "1",
    ]);
    command.args(["-H", AUTHORIZATION.trim_end(), "--phases", "examples,coverage,fuzzing", "--continue-on-failure"]);
    // What has the form of a rig, a value or a condition may be wrong all the same, and what is left out is none that is wrong.
    let none_of = "positive_data_acceptance,negative_data_rejection";
    command.args(["--exclude-checks", none_of, "--warnings", "off", "--request-timeout", "30"]);
    command.args(["--max-time", &seconds.to_string(), "--generation-database", "none"]).args(arguments);
    match command.output() {
        Ok(output) => Some(output),
        Err(error) => {
            skipped(test, &format!("schemathesis (VECUD_SCHEMATHESIS, or in PATH): {error}"));
            None
        }
    }
}

/// Asks, for so many seconds, a daemon with a rig that runs as long as nobody stops it.
fn every_answer_is_described(test: &str, seconds: u32, arguments: &[&str]) {
    let folder = crate::program::tempdir().unwrap();
    let file = folder.path().join("schemathesis.toml");
    std::fs::write(&file, "[parameters]\nrig = 'a'\nclock = 'tracer.high'\n").unwrap();
    let (daemon, port) = over_tcp(&[]);
    let rig = format!("{}[record]\nsignals = ['*']\nmax_size = '1MiB'\nkeep = 2\n", tracer("mode = 'virtual'"));
    daemon.put("a", &rig).json(201);
    daemon.post("/v1/rigs/a/start", "").json(200);
    let arguments = [&["-n", "30"], arguments].concat();
    let Some(output) = schemathesis(test, &file, port, seconds, &arguments) else { return };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(daemon.get("/healthz").status, 200);
    assert!(!daemon.log().contains("panicked"), "{}", daemon.log());
}

/// Everything but the streams of events, which do not end.
#[test]
fn every_answer_is_described_and_none_is_a_mistake_of_ours() {
    let arguments = ["--exclude-path", "/v1/rigs/{rig}/events", "--exclude-method", "DELETE"];
    every_answer_is_described("every_answer_is_described_and_none_is_a_mistake_of_ours", 40, &arguments);
}

/// After the first of them there is no rig.
#[test]
fn every_answer_to_a_deletion_is_described() {
    let arguments = ["--include-path", "/v1/rigs/{rig}", "--include-method", "DELETE"];
    every_answer_is_described("every_answer_to_a_deletion_is_described", 10, &arguments);
}
