//! An FMU that another tool exports: the package beside this file (`fmite_fmu`) is written for fmite, which makes the C
//! functions, the model description and the archive of it. vecud runs two instances in both modes.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use crate::tools::foreign::{Folder, Run, skipped};

/// Activations of each partition in the two seconds of the rig.
const FAST: usize = 100;
const SLOW: usize = 20;

fn cargo(arguments: &[&str]) -> io::Result<Output> {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fmus/tools/fmite_fmu");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fmite");
    Command::new(cargo).args(arguments).current_dir(package).env("CARGO_TARGET_DIR", target).output()
}

/// Builds the FMU, or says why that cannot be done here: its dependencies come from the network.
fn sampler(test: &str) -> Option<PathBuf> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let skip = |why: &str| {
        skipped(&format!("{test}: the dependencies of tests/fmus/tools/fmite_fmu cannot be fetched: {why}"));
        None
    };
    match cargo(&["fetch", "--locked"]) {
        Err(error) => return skip(&format!("cargo: {error}")),
        Ok(output) if !output.status.success() => {
            let words = String::from_utf8_lossy(&output.stderr);
            assert!(!words.contains("--locked"), "its lock file is out of date: {words}");
            return skip(words.lines().next().unwrap_or_default().trim());
        }
        Ok(_) => {}
    }
    let built = cargo(&["build", "--locked", "--offline"]).unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fmite/debug");
    let fmu = out.join(format!("{test}.fmu"));
    let packed = Command::new(out.join("sampler")).arg(out.join("libsampler.so")).arg(&fmu).output().unwrap();
    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    Some(fmu)
}

/// `a` has start values of the rig, `b` is fed by `a`.
fn rig(fmu: &Path) -> String {
    format!(
        "[rig]\n\
         stop_time = 2.0\n\
         [fmu.a]\n\
         path = {fmu:?}\n\
         start = {{ increment = 3, sample = 8.0, gate = true }}\n\
         [fmu.b]\n\
         path = {fmu:?}\n\
         [[connect]]\n\
         from = \"a.mean\"\n\
         to = \"b.sample\"\n\
         [[connect]]\n\
         from = \"a.history\"\n\
         to = \"b.profile\"\n\
         [[connect]]\n\
         from = \"a.odd\"\n\
         to = \"b.gate\"\n\
         [record]\n\
         signals = [\"*\"]\n"
    )
}

/// The values of every row, worked out here.
struct Expected {
    mean: f64,
    history: [f64; 3],
    passed: f64,
}

impl Expected {
    fn activate(&mut self, sample: f64, gate: bool) {
        self.mean += (sample - self.mean) / 2.0;
        self.history = [self.history[1], self.history[2], sample];
        self.passed += f64::from(u8::from(gate));
    }
}

/// Everything that no timing can change: what `a` alone computes.
fn check_producer(run: &Run) {
    let column = |name: &str| run.column(&format!("a.{name}"));
    let mut expected = Expected { mean: 0.0, history: [0.0; 3], passed: 0.0 };
    assert_eq!(run.column("time").len(), FAST);
    for row in 0..FAST {
        expected.activate(8.0, true);
        let n = (row + 1) as f64;
        assert_eq!(run.column("time")[row], row as f64 / 50.0);
        assert_eq!(column("count")[row], 3.0 * n, "row {row}");
        assert_eq!(column("mean")[row], expected.mean, "row {row}");
        for (i, value) in expected.history.iter().enumerate() {
            assert_eq!(column(&format!("history[{}]", i + 1))[row], *value, "row {row}");
        }
        assert_eq!(column("odd")[row], n % 2.0, "row {row}");
        assert_eq!(column("passed")[row], n, "row {row}");
        let slow = row / 5;
        assert_eq!(column("activations")[row], (slow + 1) as f64, "row {row}");
        assert_eq!(column("phase")[row], if slow % 2 == 0 { 2.0 } else { 1.0 }, "row {row}");
        assert_eq!(column("seen_at")[row], slow as f64 / 10.0, "row {row}");
    }
}

/// What `b` computes of what it was given.
fn check_consumer(run: &Run) {
    let b = |name: &str| run.column(&format!("b.{name}"));
    let mut expected = Expected { mean: 0.0, history: [0.0; 3], passed: 0.0 };
    for row in 0..FAST {
        expected.activate(b("sample")[row], b("gate")[row] == 1.0);
        assert_eq!(b("mean")[row], expected.mean, "row {row}");
        assert_eq!(b("history[3]")[row], expected.history[2], "row {row}");
        let profile: f64 = (1..=3).map(|i| b(&format!("profile[{i}]"))[row]).sum();
        assert_eq!(b("profile_sum")[row], profile, "row {row}");
        assert_eq!(b("passed")[row], expected.passed, "row {row}");
    }
}

/// Partitions that are released together start in the plan's order: `b` is given what `a` computed at the same instant,
/// and a slow partition sees what the fast one did.
fn check_order(run: &Run) {
    let a = |name: &str| run.column(&format!("a.{name}"));
    let b = |name: &str| run.column(&format!("b.{name}"));
    for row in 0..FAST {
        assert_eq!(b("sample")[row], a("mean")[row], "row {row}");
        assert_eq!(b("gate")[row], a("odd")[row], "row {row}");
        assert_eq!(b("profile[1]")[row], a("history[1]")[row], "row {row}");
        assert_eq!(b("profile_sum")[row], 8.0 * (row + 1).min(3) as f64, "row {row}");
        assert_eq!(a("seen")[row], a("count")[row / 5 * 5], "row {row}");
        assert_eq!(b("seen")[row], (row / 5 * 5 + 1) as f64, "row {row}");
    }
}

fn check_counts(run: &Run) {
    for fmu in ["a", "b"] {
        for (clock, releases) in [("fast", FAST), ("slow", SLOW)] {
            let [activations, skipped] = ["activations", "skipped"].map(|what| run.count(fmu, clock, what));
            assert_eq!(activations + skipped, releases as u64, "{fmu}.{clock}");
        }
    }
    // fmite takes the preemption lock in every call.
    for fmu in run.report["fmus"].as_array().unwrap() {
        assert!(fmu["lock"]["acquisitions"].as_u64().unwrap() >= (FAST + SLOW) as u64, "{fmu}");
    }
}

#[test]
fn in_virtual_time() {
    let Some(fmu) = sampler("in_virtual_time") else { return };
    let run = Folder::new().run(&rig(&fmu), "virtual");
    assert_eq!(run.lost_releases(), 0);
    check_counts(&run);
    check_producer(&run);
    check_consumer(&run);
    check_order(&run);
}

#[test]
fn in_real_time() {
    let Some(fmu) = sampler("in_real_time") else { return };
    let run = Folder::new().run(&rig(&fmu), "realtime");
    check_counts(&run);
    let lost = run.lost_releases();
    if lost > 0 {
        skipped(&format!("values of in_real_time: this machine was too busy for {lost} of the releases"));
        return;
    }
    check_producer(&run);
    check_consumer(&run);
    match run.report["host"]["scheduling"] == "fifo" {
        true => check_order(&run),
        false => skipped("order of in_real_time: no real-time privileges, so no order among FMUs"),
    }
}

/// `passed` counts in a byte and overflows at the 256th activation: the model panics, and fmite answers `fmi3Fatal`.
#[test]
fn a_model_that_panics() {
    let Some(fmu) = sampler("a_model_that_panics") else { return };
    let run = Folder::new().run_until(1, &rig(&fmu).replace("stop_time = 2.0", "stop_time = 10.0"), "virtual");
    assert_eq!(run.report["verdict"], "fail");
    assert_eq!(run.report["end_time"], 5.1);
    assert_eq!(run.column("a.passed").last(), Some(&255.0));
    let [a, b] = [0, 1].map(|i| &run.report["fmus"][i]);
    assert_eq!([&a["status"], &b["status"]], ["fatal", "aborted"]);
    let words = "fmi3ActivateModelPartition panicked: attempt to add with overflow";
    assert!(a["log"][0].as_str().unwrap().contains(words), "{a}");
    let own_line = |line: &str| line.starts_with("    ") && line.contains(words);
    assert!(run.stdout.lines().any(own_line), "{}", run.stdout);
    let problem = run.report["problems"][0]["text"].as_str().unwrap();
    assert!(problem.starts_with("fmu `a`: fmi3ActivateModelPartition returned fmi3Fatal"), "{problem}");
}

#[test]
fn what_is_inside() {
    let Some(fmu) = sampler("what_is_inside") else { return };
    let output = Folder::new().vecud(&["inspect", "--json", fmu.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.stderr, b"");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = json.to_string();
    for word in ["fmite", "\"fast\"", "\"profile\"", "Enumeration"] {
        assert!(text.contains(word), "{word} is not in {text}");
    }
}
