//! Runs of vecud as a user starts them, and what their reports say.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use vecud::record::histogram::Histogram;
use vecud::sys::clock::monotonic_now;

/// A rig, and where its runs go.
pub struct Rig {
    file: PathBuf,
    out: PathBuf,
}

/// A finished run.
pub struct Run {
    /// `report.json`.
    pub report: Value,
    /// From the start of the program to the start of the simulation, ns.
    pub start_up: i64,
}

impl Rig {
    /// Writes the rig file.
    pub fn new(folder: &Path, name: &str, text: &str) -> Result<Rig, String> {
        let rig = Rig { file: folder.join(format!("{name}.toml")), out: folder.join(format!("{name}-out")) };
        std::fs::write(&rig.file, text).map_err(|error| error.to_string())?;
        Ok(rig)
    }

    /// One that there is; `folder` is for its runs.
    pub fn of(folder: &Path, file: PathBuf) -> Rig {
        Rig { file, out: folder.join("out") }
    }

    /// Runs it to its stop time.
    pub fn run(&self) -> Result<Run, String> {
        self.run_with(&[])
    }

    /// Runs it for so many seconds.
    pub fn run_for(&self, seconds: f64) -> Result<Run, String> {
        self.run_with(&["--stop-time", &seconds.to_string()])
    }

    /// Computes so many seconds in virtual time.
    pub fn run_for_in_virtual_time(&self, seconds: f64) -> Result<(), String> {
        self.start(&["--mode", "virtual", "--stop-time", &seconds.to_string()]).map(|_| ())
    }

    /// A file that the last run has left.
    pub fn result(&self, name: &str) -> Result<String, String> {
        std::fs::read_to_string(self.out.join(name)).map_err(|error| format!("{name}: {error}"))
    }

    fn run_with(&self, options: &[&str]) -> Result<Run, String> {
        let began = monotonic_now();
        let report = self.start(options)?;
        if report["host"]["scheduling"] != "fifo" {
            return Err("no real-time privileges".to_owned());
        }
        let started = report["start_monotonic_ns"].as_i64().ok_or("report.json without start_monotonic_ns")?;
        Ok(Run { report, start_up: started - began })
    }

    /// Runs it to its end; gives its report.
    fn start(&self, options: &[&str]) -> Result<Value, String> {
        let _ = std::fs::remove_dir_all(&self.out);
        let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
        command.arg("run").arg(&self.file).args(options).args(["--quiet", "--out"]).arg(&self.out);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
        finish(child)?;
        serde_json::from_str(&self.result("report.json")?).map_err(|error| error.to_string())
    }
}

fn finish(child: Child) -> Result<(), String> {
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    // 3: a limit of the rig was exceeded, which is not what is measured.
    match output.status.code() {
        Some(0 | 3) => Ok(()),
        _ => Err(format!("vecud run: {}: {}", output.status, String::from_utf8_lossy(&output.stderr))),
    }
}

impl Run {
    /// What is reported of a clock.
    pub fn clock(&self, fmu: &str, clock: &str) -> Option<&Value> {
        self.report["clocks"].as_array()?.iter().find(|found| found["fmu"] == fmu && found["clock"] == clock)
    }

    /// The percentile of a metric, ns: `p50`.
    pub fn percentile(&self, fmu: &str, clock: &str, metric: &str, percentile: &str) -> Option<f64> {
        self.clock(fmu, clock)?[metric][percentile].as_f64()
    }
}

/// A percentile of a histogram, ns.
pub fn percentile(histogram: &Histogram, percent: f64) -> f64 {
    histogram.quantile(percent / 100.0) as f64
}
