//! `vecud report`, whole program: a report rebuilt is the report, and two runs side by side.

use crate::program::{Rig, shared_core};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Finished runs of the engine example, each in a folder of its own name.
struct Runs(TempDir);

/// What came of it.
struct Result {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Runs {
    fn new() -> Runs {
        Runs(crate::program::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs the example with this idle speed.
    fn run(self, name: &str, idle_speed: &str, arguments: &[&str]) -> Runs {
        self.run_of(name, &[("idle_speed = 850.0", &format!("idle_speed = {idle_speed}"))], arguments)
    }

    /// Runs the example with such changes of its text.
    fn run_of(self, name: &str, changes: &[(&str, &str)], arguments: &[&str]) -> Runs {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(manifest.join("examples/engine.toml")).unwrap();
        let text = changes.iter().fold(text, |text, (from, to)| text.replace(from, to));
        let file = self.path("engine.toml");
        fs::write(&file, text.replace("../fmus", manifest.join("fmus").to_str().unwrap())).unwrap();
        let rig = Rig::of_file(file.to_str().unwrap());
        let mut command = rig.command();
        command.args(["--stop-time", "1"]).args(arguments);
        drop(rig.finish(rig.start(command)).exits(0));
        self.keep(&rig, name)
    }

    /// Copies what a run has left.
    fn keep(self, rig: &Rig, name: &str) -> Runs {
        fs::create_dir(self.path(name)).unwrap();
        for entry in fs::read_dir(rig.out()).unwrap().flatten() {
            fs::copy(entry.path(), self.path(name).join(entry.file_name())).unwrap();
        }
        self
    }

    fn report(&self, arguments: &str) -> Result {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
        let command = command.arg("report").args(arguments.split_whitespace()).current_dir(self.0.path());
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Result { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    #[track_caller]
    fn says(&self, arguments: &str, code: i32, words: &[&str]) -> String {
        let result = self.report(arguments);
        assert_eq!((result.code, result.stderr.as_str()), (Some(code), ""), "{arguments}: {}", result.stdout);
        for word in words {
            assert!(result.stdout.contains(word), "{arguments}: {word:?} is not in\n{}", result.stdout);
        }
        result.stdout
    }

    /// Nothing is compared and nothing said but why.
    #[track_caller]
    fn refuses(&self, arguments: &str, words: &[&str]) {
        let result = self.report(arguments);
        assert_eq!((result.code, result.stdout.as_str()), (Some(2), ""), "{arguments}: {}", result.stderr);
        for word in words {
            assert!(result.stderr.contains(word), "{arguments}: {word:?} is not in\n{}", result.stderr);
        }
    }

    fn file(&self, name: &str, text: &str) -> &Runs {
        fs::write(self.path(name), text).unwrap();
        self
    }
}

/// A page without the figures of who ran when, which are drawn from the trace and not from what a report is rebuilt of.
fn without_trace(page: &Path) -> String {
    let page = fs::read_to_string(page).unwrap();
    let Some(begin) = page.find("<h2>Who ran when</h2>") else { return page };
    let end = begin + page[begin..].find("</section>").unwrap();
    let figures = page[begin..end].find("<figure").map_or(end, |figure| begin + figure);
    format!("{}{}", &page[..figures], &page[end..])
}

#[test]
fn a_rebuilt_report_is_the_report() {
    shared_core(|| {
        let runs = Runs::new().run("virtual", "850.0", &["--mode", "virtual"]).run("real", "850.0", &[]);
        for name in ["virtual", "real"] {
            let page = runs.path(name).join("report.html");
            let before = without_trace(&page);
            fs::remove_file(&page).unwrap();
            runs.says(name, 0, &["clock ", "engine passed: 1 s simulated", &format!("report: {name}/report.html\n")]);
            assert!(fs::read_to_string(&page).unwrap() == before, "{name}: another page");
            let elsewhere = format!("{name}/report.json --out {name}.html");
            runs.says(&elsewhere, 0, &[&format!("report: {name}.html\n")]);
            let elsewhere = fs::read_to_string(runs.path(&format!("{name}.html"))).unwrap();
            assert!(elsewhere == before, "{name}: another page");
        }
        // Real time against virtual time: there is a verdict, and no latency.
        let words = ["no latencies: in virtual time nothing is late", "run:       real: real time, 0 s to 1 s, passed"];
        runs.says("real --against virtual --tolerance *=inf", 0, &words);
        let page = fs::read_to_string(runs.path("real/comparison.html")).unwrap();
        assert!(page.contains("no latencies to compare") && page.contains("virtual time"));
        // Latencies against themselves, and against less than themselves.
        runs.says("real --against real --ratio 1", 0, &["wake-up latency", "nothing is beyond what is allowed"]);
        runs.says("real --against real --ratio 0.5", 3, &["; the limit is 0.5 times\n"]);
    });
}

#[test]
fn two_runs_in_virtual_time_are_equal_and_another_start_value_shows() {
    let runs = Runs::new().run("one", "850.0", &["--mode", "virtual"]).run("two", "850.0", &["--mode", "virtual"]).run(
        "other",
        "860.0",
        &["--mode", "virtual"],
    );
    runs.says("one --against two", 0, &["37 signals equal at ", "comparison: one/comparison.html\n"]);
    runs.says("one/report.json --against two/signals.csv --out page.html", 0, &["37 signals equal at "]);
    assert!(fs::read_to_string(runs.path("page.html")).unwrap().contains("<h2>Equal signals</h2>"));

    let first = "beyond: ecu.idle_speed: 860.0 against 850.0 at 0 s, the first of ";
    let text = runs.says("other --against one", 3, &[first, " of 37 signals different at "]);
    let idle =
        text.lines().find(|line| line.starts_with("ecu.idle_speed ")).map(|line| line.split_whitespace().collect());
    let idle: Vec<&str> = idle.unwrap_or_else(|| panic!("{text}"));
    assert_eq!(idle[3..], ["0", "s", "10", "0", "s", "1.16", "%", "0", "s"], "{text}");
    runs.says("other --against one --tolerance *=inf", 0, &["nothing is beyond what is allowed"]);
    runs.says("other --against one --tolerance *=inf --tolerance ecu.idle_speed=10", 0, &[]);
    runs.says("other --against one --tolerance *=inf --tolerance ecu.idle_speed=1%", 3, &[first]);
    let page = fs::read_to_string(runs.path("other/comparison.html")).unwrap();
    assert!(page.contains("<h2>Beyond tolerance</h2>") && page.contains("Where they part"));
}

#[test]
fn a_recording_of_another_tool() {
    let runs = Runs::new().run("one", "850.0", &["--mode", "virtual"]);
    let own = fs::read_to_string(runs.path("one/signals.csv")).unwrap();
    let header: Vec<&str> = own.lines().next().unwrap().split(',').collect();
    let (speed, teeth) =
        (header.iter().position(|n| *n == "plant.speed"), header.iter().position(|n| *n == "ecu.teeth"));
    let (speed, teeth) = (speed.unwrap(), teeth.unwrap());
    // Other order, other line ends, a column that we do not have, times and values with fewer digits.
    let foreign = |change: &dyn Fn(f64, f64) -> f64| {
        let mut text = "Time [s];ecu.teeth;own;plant.speed\r\n".to_owned();
        for line in own.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let (time, value): (f64, f64) = (cells[0].parse().unwrap(), cells[speed].parse().unwrap());
            text += &format!("{time:.9};{};x;{:.6}\r\n", cells[teeth], change(time, value));
        }
        text
    };
    fs::write(runs.path("same.csv"), foreign(&|_, value| value)).unwrap();
    runs.says(
        "one --against same.csv --abs 1e-6",
        0,
        &["1 of 2 signals different at ", "only in the reference: own\n"],
    );
    runs.says("one --against same.csv --rel 1e-6", 0, &["a recording without a report"]);
    runs.says("one --against same.csv", 3, &["(exact)"]);
    fs::write(runs.path("other.csv"), foreign(&|time, value| value + if time >= 0.5 { 2.0 } else { 0.0 })).unwrap();
    let words = ["beyond: plant.speed: ", " at 0.5 s, the first of ", "(tolerance 0.1)"];
    runs.says("one --against other.csv --abs 0.1", 3, &words);
    runs.says("one --against other.csv --abs 0.1 --until 0.5", 0, &[]);
    // The foreign one as the run: the page lies beside it.
    runs.says("other.csv --against one --abs 3", 0, &["comparison: comparison.html\n"]);
    assert!(runs.path("comparison.html").is_file());
    // What ends early is not equal; its last row, cut off by a kill, is left out.
    let half: String = own.lines().take(500).map(|line| format!("{line}\n")).collect();
    let last = half.trim_end().rfind(',').unwrap();
    fs::write(runs.path("half.csv"), &half[..last]).unwrap();
    runs.says("half.csv --against one", 3, &["beyond: the recording ends at ", "; the reference goes on until 1 s ("]);
    runs.says("one --against half.csv", 0, &["note: not compared: ", "note: the last row of half.csv breaks off"]);
    // Also in the middle of its last number, which is none, then. Another tool need not end its last line.
    runs.file("whole.csv", "time,a.x\n0,1\n1,200\n").file("cut.csv", "time,a.x\n0,1\n1,20");
    runs.says("whole.csv --against cut.csv", 0, &["note: the last row of cut.csv breaks off and was left out"]);
    runs.file("windows.csv", "time,a.x\r\n0,1\r\n1,20").file("tool.csv", "t;a.x\n0;1\n1;20");
    for other in ["windows.csv", "tool.csv"] {
        runs.says(&format!("whole.csv --against {other}"), 3, &["beyond: a.x: 200 against 20 at 1 s"]);
    }
}

const IN_MCAP: (&str, &str) = ("format = \"csv\"", "format = \"mcap\"");

#[test]
fn a_run_recorded_in_mcap_equals_the_same_run_recorded_in_csv() {
    let mut runs =
        Runs::new().run("csv", "850.0", &["--mode", "virtual"]).run_of("mcap", &[IN_MCAP], &["--mode", "virtual"]);
    assert!(!runs.path("mcap/signals.csv").exists() && runs.path("mcap/signals.mcap").is_file());
    // All types of variables with their extremes, ticks at the time of what has ticked, and columns of several clocks.
    for format in ["csv", "mcap"] {
        let extremes = "count_up = true, fast_tick_high_every = 7, in_f64 = -0.0, in_f32 = 1e-40, \
                        in_i64 = -9223372036854775808";
        let rig = Rig::new("mode = 'virtual'\nstop_time = 0.3")
            .tracer("a", "count_up = true, fast_tick_high_every = 7, slow_tick_low_every = 3")
            .tracer("b", extremes)
            .trigger("a.out_high", "a.high")
            .trigger("a.out_high", "b.high")
            .connect("a.out_f64", "b.in_f64")
            .more(&format!("[record]\nformat = '{format}'"));
        drop(rig.run().exits(0));
        runs = runs.keep(&rig, &format!("all-{format}"));
    }
    for (a, b, signals) in
        [("mcap", "csv", "37"), ("csv", "mcap", "37"), ("all-mcap", "all-csv", ""), ("all-csv", "all-mcap", "")]
    {
        runs.says(&format!("{a} --against {b}"), 0, &[&format!("{signals} signals equal at ")]);
    }
    // Files by themselves, and the folder against a file.
    runs.says("mcap/signals.mcap --against csv/signals.csv", 0, &["37 signals equal at "]);
    runs.says("csv --against mcap/signals.mcap", 0, &["37 signals equal at "]);
}

#[test]
fn a_difference_between_formats_shows_in_table_page_and_exit_code() {
    let runs = Runs::new().run("one", "850.0", &["--mode", "virtual"]);
    let changes = [IN_MCAP, ("idle_speed = 850.0", "idle_speed = 860.0")];
    let runs = runs.run_of("other", &changes, &["--mode", "virtual"]);
    let first = "beyond: ecu.idle_speed: 860.0 against 850.0 at 0 s, the first of ";
    runs.says("other --against one", 3, &[first, " of 37 signals different at "]);
    // The page has curves: both files were read twice.
    let page = fs::read_to_string(runs.path("other/comparison.html")).unwrap();
    assert!(page.contains("<h2>Beyond tolerance</h2>") && page.contains("Where they part"));
}

#[test]
fn of_a_recording_in_mcap_that_breaks_off_all_that_is_whole_is_compared_and_a_damaged_one_is_refused() {
    // In real time there is a chunk for each quarter of a second.
    let runs = shared_core(|| Runs::new().run_of("one", &[IN_MCAP], &[]));
    let bytes = fs::read(runs.path("one/signals.mcap")).unwrap();
    let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
    let chunks = &summary.chunk_indexes;
    let last = chunks.last().unwrap();
    assert!(chunks.len() > 1, "{} chunks", chunks.len());
    // In the middle of its last chunk.
    let half = (last.chunk_start_offset + last.chunk_length / 2) as usize;
    fs::write(runs.path("half.mcap"), &bytes[..half]).unwrap();
    let text =
        runs.says("half.mcap --against one", 3, &["note: the last row of half.mcap breaks off and was left out"]);
    assert!(text.contains("beyond: the recording ends at ") && text.contains(" signals equal at "), "{text}");
    runs.says("one --against half.mcap", 0, &["note: not compared: "]);
    let at = (chunks[0].chunk_start_offset + chunks[0].chunk_length / 2) as usize;
    let mut damaged = bytes.clone();
    damaged[at] ^= 1;
    fs::write(runs.path("damaged.mcap"), damaged).unwrap();
    for arguments in ["one --against damaged.mcap", "damaged.mcap --against one"] {
        let result = runs.report(arguments);
        let place = format!(
            "damaged.mcap: is damaged at byte {}: the chunk from log_time 0 on has another checksum",
            chunks[0].chunk_start_offset
        );
        assert!(result.code == Some(2) && result.stderr.contains(&place), "{:?}: {}", result.code, result.stderr);
    }
}

#[test]
fn what_was_never_compared_is_not_equal() {
    let runs = Runs::new();
    runs.file("whole.csv", "time,a\n0,1\n1,2\n2,3\n").file("half.csv", "time,a\n0.5,1\n1.5,2\n");
    runs.file("later.csv", "time,a\n5,1\n6,2\n").file("none.csv", "time,a\n");
    runs.says("whole.csv --against half.csv", 3, &["at 3 times from 0.5 s to 1.5 s"]);
    let never = "there is nothing to compare with ";
    runs.refuses(
        "whole.csv --against half.csv --common-times",
        &[never, "from 0 s to 2 s", "from 0.5 s to 1.5 s", "--common-times"],
    );
    runs.refuses("later.csv --against whole.csv", &[never, "5 s to 6 s", "0 s to 2 s"]);
    runs.refuses("whole.csv --against whole.csv --until 0", &[never, "--until 0"]);
    runs.refuses("whole.csv --against none.csv", &[never, "no rows"]);
    runs.refuses("none.csv --against none.csv", &[never]);
    runs.says("none.csv --against whole.csv", 3, &["the recording has no rows"]);
}

#[test]
fn a_page_takes_the_place_of_nothing_that_it_is_made_of() {
    let runs = Runs::new().run("one", "850.0", &["--mode", "virtual"]);
    runs.file("a.csv", "time,a\n0,1\n").file("b.csv", "time,a\n0,1\n");
    std::os::unix::fs::symlink("b.csv", runs.path("link.csv")).unwrap();
    let kept = ["a.csv", "b.csv", "one/signals.csv", "one/report.json", "one/histograms.hlog"];
    let before = kept.map(|name| fs::read(runs.path(name)).unwrap());
    for arguments in [
        "a.csv --against b.csv --out a.csv",
        "a.csv --against b.csv --out ./b.csv",
        "a.csv --against b.csv --out link.csv",
        "a.csv --against one --out one/signals.csv",
        "one --against one --out one/report.json",
        "one --out one/report.json",
        "one --out one/histograms.hlog",
        "one --out one/signals.csv",
    ] {
        runs.refuses(arguments, &["--out"]);
    }
    assert!(kept.map(|name| fs::read(runs.path(name)).unwrap()) == before);
}

#[test]
fn a_device_is_written_to_and_not_replaced() {
    let runs = Runs::new();
    runs.file("a.csv", "time,a\n0,1\n");
    std::os::unix::fs::symlink("/dev/null", runs.path("page")).unwrap();
    runs.says("a.csv --against a.csv --out page", 0, &["comparison: page\n"]);
    assert!(fs::symlink_metadata(runs.path("page")).unwrap().is_symlink(), "the page has taken its place");
    runs.refuses("a.csv --against a.csv --out .", &["this is a folder", "--out"]);
}

#[test]
fn a_summary_that_cannot_be_written_is_an_error() {
    let runs = Runs::new().run("one", "850.0", &["--mode", "virtual"]);
    for arguments in [&["one"][..], &["one", "--against", "one"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command.arg("report").args(arguments).current_dir(runs.0.path()).stdout(full).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && stderr.contains("standard output"), "{arguments:?}: {stderr}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    let runs = Runs::new().run("one", "850.0", &["--mode", "virtual"]);
    runs.refuses("one --against one --abs -1", &["'-1' for '--abs", "must be a finite number, 0 or more"]);
    runs.refuses("one --against one --ratio -1", &["must be a finite number above 0"]);
    runs.refuses("one --against one --tolerance *=1,2", &["two absolute"]);
    runs.refuses("one --against one --tolerance *=1%,1,2%", &["two relative"]);
    // The file that has it, not the one beside it.
    let report = fs::read_to_string(runs.path("one/report.json")).unwrap();
    runs.file("one/report.json", &report.replace("\"mode\": \"virtual\"", "\"mode\": \"warp\""));
    runs.refuses("one", &["one/report.json:4: the mode \"warp\" is not known"]);
}
