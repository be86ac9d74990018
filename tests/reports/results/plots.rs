//! `vecud plot`, whole program, and pages that are shown in a browser.

use crate::program::Rig;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder with recordings.
struct Bench(TempDir);

impl Bench {
    fn new() -> Bench {
        let bench = Bench(crate::program::tempdir().unwrap());
        let rows = |last: usize, gain: f64| -> String {
            let row = |n: usize| format!("{},{},{}\n", n as f64 / 10.0, 800.0 + gain * n as f64, u8::from(n > 5));
            (0..=last).map(row).collect()
        };
        bench.write("a.csv", &format!("time,plant.speed,ecu.on\n{}", rows(100, 1.0)));
        bench.write("b.csv", &format!("time,plant.speed,ecu.off\n{}", rows(50, 2.0)));
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
        command.args(arguments.split_whitespace()).current_dir(self.0.path());
        for name in ["BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "SUDO_USER"] {
            command.env_remove(name);
        }
        command
    }

    fn vecud(&self, arguments: &str) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// The file that a plot makes.
    #[track_caller]
    fn plots(&self, arguments: &str, name: &str) -> String {
        let output = self.vecud(&format!("plot {arguments} -o {name}"));
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), error.as_str()), (Some(0), ""), "{arguments}");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("plot: {name}\n"));
        fs::read_to_string(self.path(name)).unwrap()
    }

    #[track_caller]
    fn refuses(&self, arguments: &str, words: &str) {
        let output = self.vecud(&format!("plot {arguments}"));
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && error.contains(words), "{arguments}: {error}");
    }
}

#[test]
fn a_plot_has_the_signals_that_are_named_in_the_stretch_that_is_named() {
    let bench = Bench::new();
    let all = bench.plots("a.csv", "all.html");
    assert_eq!(all.matches("<figure").count(), 2);
    assert!(all.contains("800 to 900") && all.contains("0 s to 10 s"), "{all}");
    let one = bench.plots("a.csv plant.* --from 2.05 --to 4", "one.html");
    assert_eq!(one.matches("<figure").count(), 1);
    // What was there when the stretch begins holds.
    assert!(one.contains("820 to 840") && one.contains("2.05 s to 4 s"), "{one}");
    let drawing = bench.plots("a.csv plant.speed --from 2.01 --to 2.02", "moment.svg");
    assert!(drawing.starts_with("<svg xmlns=") && drawing.contains("plant.speed"));
}

#[test]
fn two_recordings_lie_over_each_other() {
    let bench = Bench::new();
    let page = bench.plots("a.csv --against b.csv", "both.html");
    assert_eq!(page.matches("<figure").count(), 3, "plant.speed of both, ecu.on and ecu.off of one each");
    let speed = page.split("<figure").nth(1).unwrap();
    assert!(speed.contains("<b>800 to 900</b>") && speed.contains("<b>800 to 900</b>") && speed.contains("line s1"));
}

#[test]
fn what_cannot_be_plotted_says_why_and_replaces_nothing() {
    let bench = Bench::new();
    bench.refuses("a.csv plant.sped", "a.csv: no signal matches \"plant.sped\"; did you mean \"plant.speed\"?");
    bench.refuses("a.csv --from 20", "there is nothing to plot from 20 s on: it has rows from 0 s to 10 s");
    bench.refuses("a.csv --to -1", "there is nothing to plot up to -1 s: it begins at 0 s");
    bench.refuses("a.csv --from 3 --to 3", "--from 3 is not before --to 3");
    bench.refuses("a.csv -o plot.png", "name it .html for a page, or .svg for a drawing");
    bench.refuses("none", "there is no such folder");
    bench.write("precious.html", "mine");
    bench.refuses("a.csv -o precious.html", "would take the place of a file that is no page");
    assert_eq!(fs::read_to_string(bench.path("precious.html")).unwrap(), "mine");
    assert!(!bench.path("plot.html").exists());
}

#[test]
fn of_a_run_the_units_are_known_and_the_plot_lies_beside_its_recording() {
    let rig = Rig::of_file("examples/engine.toml");
    rig.run_with(&["--mode", "virtual", "--stop-time", "0.5"]).exits(0);
    let out = rig.out();
    let bench = Bench::new();
    let output = bench.vecud(&format!("plot {} *speed ecu.coolant", out.display()));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let page = fs::read_to_string(out.join("plot.html")).unwrap();
    assert!(page.contains("in rpm") && page.contains(" K</p>") && page.contains("<h1>engine</h1>"));
    // The report has the same signals, and their units.
    let report = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(report.contains("id=\"signals\"") && report.contains("2 variables in rpm"));
    let report: serde_json::Value = serde_json::from_slice(&fs::read(out.join("report.json")).unwrap()).unwrap();
    let signals = report["signals"].as_array().unwrap();
    assert!(
        signals.contains(&serde_json::json!({ "name": "ecu.coolant", "unit": "K", "type": "Float64" })),
        "{signals:?}"
    );
}

#[test]
fn a_file_of_messages_says_the_units_of_its_signals_itself() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(manifest.join("examples/engine.toml")).unwrap();
    let text = text.replace("../fmus", manifest.join("fmus").to_str().unwrap());
    let rig = Rig::of_text(&text.replace("format = \"csv\"", "format = \"mcap\""));
    rig.run_with(&["--mode", "virtual", "--stop-time", "0.5"]).exits(0);
    let bench = Bench::new();
    fs::copy(rig.out().join("signals.mcap"), bench.path("alone.mcap")).unwrap();
    let page = bench.plots("alone.mcap *speed ecu.coolant", "alone.html");
    assert!(page.contains("in rpm") && page.contains(" K</p>"));
}

/// The browser gets the page. Where there is none, it cannot be started or fails, that is said with the page's place, and nothing fails.
#[test]
fn a_page_is_shown_where_there_is_a_browser_and_named_where_there_is_none() {
    let bench = Bench::new();
    let script = |name: &str, text: &str| {
        bench.write(name, &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(bench.path(name), fs::Permissions::from_mode(0o755)).unwrap();
        bench.path(name)
    };
    let good = script("good", &format!("echo \"$1\" > {}", bench.path("seen").display()));
    let bad = script("bad", "exit 4");
    let page = bench.path("plot.html");
    let show = |name: &str, value: &str| {
        let output = bench.command("plot a.csv --open").env(name, value).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(page.is_file());
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(show("BROWSER", good.to_str().unwrap()), "");
    let seen = fs::read_to_string(bench.path("seen")).unwrap();
    assert_eq!(fs::canonicalize(seen.trim()).unwrap(), fs::canonicalize(&page).unwrap());
    let place = page.file_name().unwrap().to_str().unwrap();
    for (value, why) in [
        (bad.to_str().unwrap(), "failed (exit status: 4)"),
        ("/nonexistent/browser", "cannot be started"),
        ("", "no $BROWSER"),
    ] {
        let said = show("BROWSER", value);
        assert!(said.starts_with("note: not shown in a browser, ") && said.contains(why), "{said}");
        assert!(said.trim_end().ends_with(place), "{said}");
    }
    let rig = Rig::of_file("examples/engine.toml");
    let mut command = rig.command();
    command.args(["--mode", "virtual", "--stop-time", "0.1", "--open"]).env("BROWSER", &good).env_remove("SUDO_USER");
    rig.finish(rig.start(command)).exits(0);
    let seen = fs::read_to_string(bench.path("seen")).unwrap();
    assert!(seen.trim().ends_with("/report.html"), "{seen}");
}
