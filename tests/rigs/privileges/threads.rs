//! Where the system has no further thread to give, a run in virtual time does without, and one in real time cannot begin.

use super::program::{Outcome, Rig, jail};
use std::fmt::Write as _;
use std::io::BufReader;
use vecud::recording::{Recording, Row};

/// With a file that, in virtual time, is longer than what is read before the run.
fn fed(mode: &str, stop: u32) -> Rig {
    let rig = Rig::new(&format!("mode = '{mode}'\nstop_time = {stop}")).tracer("a", "").more(
        "[[stimulus]]\nfile = 'drive.csv'\n[record]\nsignals = ['a.in_f64', 'a.out_f64']\nformat = ['csv', 'mcap']",
    );
    let mut drive = "time,a.in_f64\n".to_owned();
    (0..200_000).for_each(|row| writeln!(drive, "{},{}", f64::from(row) / 1e4, f64::from(row) / 8.0).unwrap());
    std::fs::write(rig.folder().join("drive.csv"), drive).unwrap();
    rig
}

/// The rows that the messages of a run are.
fn rows_of_messages(rig: &Rig) -> Vec<String> {
    let file = std::fs::File::open(rig.out().join("signals.mcap")).unwrap();
    assert!(
        file.metadata().unwrap().len() > 1 << 16,
        "so many that a thread takes part in writing them, where there is one"
    );
    let (mut rows, mut row) = (Vec::new(), Row::default());
    let mut recording = Recording::new(BufReader::new(file)).unwrap();
    while recording.read(&mut row).unwrap() {
        rows.push(row.text().to_owned());
    }
    rows
}

fn run(rig: &Rig, threads: bool) -> Outcome {
    let mut command = rig.command();
    if !threads {
        jail::without_threads(&mut command);
    }
    rig.finish(rig.start(command))
}

#[test]
fn a_run_in_virtual_time_needs_no_further_thread_as_this_user() {
    let rig = fed("virtual", 20);
    let usual = run(&rig, true).exits(0);
    let (signals, messages) = (usual.file("signals.csv"), rows_of_messages(&rig));
    let alone = run(&rig, false).exits(0);
    assert_eq!(alone.file("signals.csv"), signals);
    assert!(rows_of_messages(&rig) == messages, "whoever fills chunks writes them, too");
    let told = |outcome: &Outcome| outcome.stderr.lines().filter(|line| line.starts_with("note: ")).count();
    assert!(told(&usual) > 0, "{}", usual.stderr);
    assert_eq!(told(&alone), told(&usual), "who tells has no thread either: {}", alone.stderr);
    assert!(alone.stderr.contains("warning: there is no thread for reading stimuli"), "{}", alone.stderr);
}

#[test]
fn a_run_in_real_time_that_gets_no_thread_fails_before_its_start_and_says_why_as_this_user() {
    let rig = fed("realtime", 1);
    let failed = run(&rig, false).exits(1);
    failed.problem(&["cannot start thread `a.slow`", "EAGAIN", "ulimit -u"]);
    assert!(failed.report()["clocks"].as_array().unwrap().iter().all(|clock| clock["activations"] == 0));
    let left = std::fs::read_dir(rig.out()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(left.filter(|name| name.starts_with('.') || name.ends_with(".part")).collect::<Vec<_>>(), [""; 0]);
}
