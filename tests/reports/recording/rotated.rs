//! Recordings that go on in further files: together they have the rows of one file, each can be read alone, and the oldest go.

use super::program::{Rig, send, wait_until};
use super::{BOTH, rows, two};
use nix::sys::signal::Signal::SIGKILL;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

const VIRTUAL: &str = "stop_time = 0.3\nmode = 'virtual'";

/// The files of a rotated recording, in the order of their numbers.
pub(super) fn files(out: &Path, extension: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path());
    let is_one = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("signals-") && name.ends_with(extension)
    };
    let mut files: Vec<PathBuf> = all.filter(is_one).collect();
    files.sort();
    files
}

fn names(files: &[PathBuf]) -> Vec<&str> {
    files.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect()
}

/// Columns and rows of files after each other; the columns of all are the same.
pub(super) fn joined(files: &[PathBuf]) -> (Vec<String>, Vec<(f64, Vec<String>)>) {
    let mut all = rows(&files[0]);
    for file in &files[1..] {
        let (names, more) = rows(file);
        assert_eq!(names, all.0, "{}", file.display());
        all.1.extend(more);
    }
    all
}

fn vecud(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vecud")).current_dir(folder).args(arguments).output().unwrap()
}

#[test]
fn all_files_together_have_the_rows_of_one() {
    let whole = two(VIRTUAL, BOTH).run().exits(0);
    let rotated = two(VIRTUAL, &format!("{BOTH}rotate = '50ms'\n")).run().exits(0);
    let expected = rows(&whole.out.join("signals.csv"));
    for extension in ["csv", "mcap"] {
        let files = files(&rotated.out, extension);
        let numbers = (1..=6).map(|number| format!("signals-{number:06}.{extension}")).collect::<Vec<_>>();
        assert_eq!(names(&files), numbers);
        assert!(joined(&files) == expected, "{extension}");
        for (place, file) in files.iter().enumerate() {
            let (first, last) = (place as f64 / 20.0, (place + 1) as f64 / 20.0);
            let times: Vec<f64> = rows(file).1.iter().map(|(time, _)| *time).collect();
            assert!(times[0] == first && times.iter().all(|time| *time < last), "{}: {times:?}", file.display());
        }
    }
    // Files of messages are whole ones.
    for file in files(&rotated.out, "mcap") {
        assert!(mcap::Summary::read(&fs::read(&file).unwrap()).unwrap().is_some(), "{}", file.display());
    }
    let there = ["csv", "mcap"].map(|extension| {
        serde_json::json!({
            "first": format!("signals-000001.{extension}"), "last": format!("signals-000006.{extension}"), "removed": 0,
        })
    });
    assert_eq!(rotated.report()["recordings"].as_array().unwrap(), &there);
    // What reads recordings takes the folder.
    let one = whole.out.join("signals.csv");
    let compared = vecud(&rotated.out, &["report", ".", "--against", one.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&compared.stdout).into_owned();
    assert!(compared.status.code() == Some(0) && text.contains(" signals equal at "), "{text}");
    for (name, folder) in [("whole.svg", &whole.out), ("rotated.svg", &rotated.out)] {
        let arguments = ["plot", ".", "a.out_f64", "-o", name];
        assert_eq!(vecud(folder, &arguments).status.code(), Some(0));
    }
    // Drawn alike: only the names of the recordings may differ, and both are called `.`.
    let drawn = |folder: &Path, name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(drawn(&whole.out, "whole.svg"), drawn(&rotated.out, "rotated.svg"));
}

#[test]
fn a_file_ends_when_it_has_its_size_and_the_oldest_go() {
    let record = "[record]\nsignals = ['?.count_*', '?.out_f64']\n";
    let rig = "stop_time = 10\nmode = 'virtual'";
    let whole = two(rig, record).run().exits(0);
    let expected = rows(&whole.out.join("signals.csv"));
    let rotated = two(rig, &format!("{record}max_size = '64KiB'\n")).run().exits(0);
    let all = files(&rotated.out, "csv");
    assert!(all.len() > 4 && joined(&all) == expected);
    for file in &all[..all.len() - 1] {
        let text = fs::read_to_string(file).unwrap();
        let last = text.lines().next_back().unwrap().len() + 1;
        assert!(text.len() >= 1 << 16 && text.len() - last < 1 << 16, "{} of {}", text.len(), file.display());
    }
    let rotated = two(rig, &format!("{record}max_size = '64KiB'\nkeep = 2\n")).run().exits(0);
    let kept = files(&rotated.out, "csv");
    assert_eq!(names(&kept), names(&all[all.len() - 2..]));
    let rest = joined(&kept).1;
    assert!(rest[..] == expected.1[expected.1.len() - rest.len()..]);
    let recordings = &rotated.report()["recordings"];
    assert_eq!(recordings[0]["removed"], all.len() - 2);
    assert_eq!(recordings[0]["first"], names(&kept)[0]);
    let page = rotated.file("report.html");
    let (first, last) = (names(&kept)[0], names(&kept)[1]);
    assert!(page.contains(&format!("<a href=\"{first}\">")) && page.contains(&format!("<a href=\"{last}\">")));
    assert!(page.contains(&format!("the {} before were removed", all.len() - 2)));
}

/// A time without samples is no file: the next one begins where there is something again.
#[test]
fn where_nothing_is_recorded_there_is_no_file() {
    let record = "[record]\nsignals = ['a.count_slow']\nrotate = '3ms'\n";
    let run = Rig::new("stop_time = 0.05\nmode = 'virtual'").tracer("a", "count_up = true").more(record).run().exits(0);
    let files = files(&run.out, "csv");
    let times: Vec<Vec<f64>> = files.iter().map(|file| rows(file).1.iter().map(|(time, _)| *time).collect()).collect();
    assert_eq!(times, [[0.0], [0.01], [0.02], [0.03], [0.04]]);
}

#[test]
fn whenever_the_supervisor_is_killed_what_is_there_is_read() {
    let rig = |record: &str| two("stop_time = 1000\nmode = 'virtual'", record);
    let rotated = rig("[record]\nformat = ['csv', 'mcap']\nsignals = ['?.count_*']\nrotate = '100ms'\nkeep = 50\n");
    let mut most = 0;
    for round in 0..12 {
        // Nothing of the round before counts.
        let _there_is_none_at_first = std::fs::remove_dir_all(rotated.out());
        let mut child = rotated.start(rotated.command());
        // However fast the machine is, there are more files in each round.
        let number = 1 + round;
        wait_until("there are files", || rotated.out().join(format!("signals-{number:06}.csv")).exists());
        std::thread::sleep(Duration::from_millis(41 * (round % 4)));
        send(child.id() as i32, SIGKILL);
        child.wait().unwrap();
        // Of a CSV file that was begun there is at least its header, and of one of messages that others come before its columns.
        let kept = files(&rotated.out(), "csv");
        assert!(kept.len() as u64 >= number, "round {round}: {} files", kept.len());
        let csv = joined(&kept).1;
        if let [first, further @ ..] = &files(&rotated.out(), "mcap")[..] {
            assert!(further.is_empty() || rows(first).0 == rows(further.last().unwrap()).0);
        }
        assert!(csv.is_sorted_by(|a, b| a.0 < b.0), "round {round}");
        let plotted = vecud(&rotated.out(), &["plot", ".", "-o", "plot.html"]);
        let words = String::from_utf8_lossy(&plotted.stderr).into_owned();
        assert!(plotted.status.code() == Some(0) || csv.is_empty() && words.contains("it has no rows"), "{words}");
        most = most.max(csv.len());
    }
    assert!(most > 1000, "{most} rows at most");
}

#[test]
fn the_files_of_a_run_leave_with_it() {
    let rotate = |keys: &str| {
        let rig = Rig::new("stop_time = 0.05\nmode = 'virtual'").tracer("a", "count_up = true");
        rig.more(&format!("[report]\n{keys}\n[record]\nsignals = ['a.count_*']\nrotate = '10ms'\n"))
    };
    let rig = rotate("keep_runs = 1");
    rig.run().exits(0);
    let before = files(&rig.out(), "csv");
    assert_eq!(before.len(), 5);
    let again = rig.run_with(&["--stop-time", "0.02"]).exits(0);
    assert_eq!(names(&files(&again.out, "csv")), ["signals-000001.csv", "signals-000002.csv"]);
    let kept = fs::read_dir(rig.out().join("runs")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(names(&files(&kept, "csv")), names(&before));
    let rig = rotate("keep_runs = 0");
    rig.run().exits(0);
    let again = rig.run_with(&["--stop-time", "0.02"]).exits(0);
    assert_eq!(files(&again.out, "csv").len(), 2);
    // Each of several runs has its own.
    let several = rig.run_with(&["--repeat", "2"]).exits(0);
    for run in ["run-1", "run-2"] {
        assert_eq!(names(&files(&several.out.join(run), "csv")), names(&before), "{run}");
    }
}

#[test]
fn a_file_that_is_missing_between_others_is_named() {
    let record = "[record]\nsignals = ['a.count_*']\nrotate = '10ms'\n";
    let run = Rig::new("stop_time = 0.05\nmode = 'virtual'").tracer("a", "count_up = true").more(record).run().exits(0);
    fs::remove_file(run.out.join("signals-000003.csv")).unwrap();
    let plotted = vecud(&run.out, &["plot", "."]);
    let words = String::from_utf8_lossy(&plotted.stderr).into_owned();
    assert!(
        plotted.status.code() == Some(2) && words.contains("signals-000003.csv") && words.contains("is missing"),
        "{words}"
    );
    // The report comes nevertheless, and says so.
    let report = vecud(&run.out, &["report", "."]);
    let words = String::from_utf8_lossy(&report.stderr).into_owned();
    assert!(report.status.code() == Some(0) && words.contains("not drawn: "), "{words}");
    // Those before it were moved away, as people do.
    for name in ["signals-000001.csv", "signals-000002.csv"] {
        fs::remove_file(run.out.join(name)).unwrap();
    }
    assert_eq!(vecud(&run.out, &["plot", "."]).status.code(), Some(0));
    // A file of another recording is none of this one.
    fs::write(run.out.join("signals-000005.csv"), "time,b.x\n0.04,1\n").unwrap();
    let plotted = vecud(&run.out, &["plot", "."]);
    let words = String::from_utf8_lossy(&plotted.stdout).into_owned() + &String::from_utf8_lossy(&plotted.stderr);
    let drawn = fs::read_to_string(run.out.join("plot.html")).unwrap();
    assert!(drawn.contains("has other columns than the file before it"), "{words}");
    assert!(drawn.contains("signals-000005.csv"));
}
