//! A file is read while it is needed: its length is nobody's memory.

use super::program::{Rig, runner_of};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Duration;

/// Bytes of the file.
const SIZE: usize = 200 << 20;
/// Rows per second.
const RATE: u32 = 10_000;

/// What a process has needed at most so far, KiB.
fn most(pid: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// A rig that is fed with a column `speed` and a column `pedal`.
fn rig(stimulus: &str) -> Rig {
    let fmu = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/engine_ecu");
    Rig::of_text(&format!(
        "[rig]\nmode = 'virtual'\nstop_time = 1\n[fmu.ecu]\npath = '{}'\n[record]\nsignals = ['ecu.faults']\n\
             [[stimulus]]\n{stimulus}\n",
        fmu.display()
    ))
}

#[test]
fn a_file_of_200_megabytes_is_read_in_little_memory() {
    let rig = rig("file = 'drive.csv'\ncolumns = { 'ecu.speed' = 'speed', 'ecu.pedal' = 'pedal' }");
    let mut file = BufWriter::with_capacity(1 << 20, File::create(rig.folder().join("drive.csv")).unwrap());
    let (mut written, mut row, mut line) = (0, 0u32, "time,speed,pedal,filler\n".to_owned());
    let filler = "x".repeat(350);
    while written < SIZE {
        file.write_all(line.as_bytes()).unwrap();
        written += line.len();
        line.clear();
        writeln!(line, "{}.{:04},{},0.25,{filler}", row / RATE, row % RATE, 800 + row % 100).unwrap();
        row += 1;
    }
    drop(file);
    stays_small(&rig, row);
}

#[test]
fn a_recording_in_mcap_of_100_megabytes_is_read_in_little_memory() {
    let rig = rig("recording = 'earlier'\ncolumns = { 'ecu.speed' = 'x.speed', 'ecu.pedal' = 'x.pedal' }");
    std::fs::create_dir(rig.folder().join("earlier")).unwrap();
    let file = BufWriter::with_capacity(1 << 20, File::create(rig.folder().join("earlier/signals.mcap")).unwrap());
    let mut writer = mcap::WriteOptions::new().compression(None).create(file).unwrap();
    let lists = [("names", "[\"x.speed\",\"x.pedal\",\"x.filler\"]"), ("start", "[]")];
    let metadata = lists.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    writer.write_metadata(&mcap::records::Metadata { name: "signals".to_owned(), metadata }).unwrap();
    let channel_id = writer.add_channel(0, "/x/clock", "json", &Default::default()).unwrap();
    let (mut written, mut row, mut text) = (0, 0u32, String::new());
    let filler = "x".repeat(350);
    while written < SIZE / 2 {
        text.clear();
        let (time, speed) = (format!("{}.{:04}", row / RATE, row % RATE), 800 + row % 100);
        write!(text, "{{\"time\":{time},\"speed\":{speed},\"pedal\":0.25,\"filler\":\"{filler}\"}}").unwrap();
        row += 1;
        let log_time = u64::from(row - 1) * 100_000;
        let header = mcap::records::MessageHeader { channel_id, sequence: row, log_time, publish_time: log_time };
        writer.write_to_known_channel(&header, text.as_bytes()).unwrap();
        written += text.len();
    }
    writer.finish().unwrap();
    drop(writer);
    stays_small(&rig, row + 1);
}

/// Runs a rig up to the last whole second of a file with so many lines.
fn stays_small(rig: &Rig, row: u32) {
    let seconds = row / RATE;
    let mut command = rig.command();
    command.args(["--stop-time", &seconds.to_string(), "--quiet"]);
    let child = rig.start(command);
    rig.wait_until_it_runs();
    let (supervisor, runner) = (child.id().to_string(), runner_of(&child).to_string());
    let watcher = std::thread::spawn(move || {
        let (mut early, mut late) = (None, [0; 2]);
        while let (Some(one), Some(two)) = (most(&supervisor), most(&runner)) {
            early.get_or_insert([one, two]);
            late = [one, two];
            std::thread::sleep(Duration::from_millis(20));
        }
        (early.expect("it was seen"), late)
    });
    let run = rig.finish(child).exits(0);
    let (early, late) = watcher.join().unwrap();
    eprintln!("KiB of supervisor and runner: {early:?}, at the end {late:?}; {} rows, {:?}", row - 1, run.took);
    assert_eq!(
        run.report()["stimuli"][0]["rows"],
        row - 1 - (row - 1) % RATE + u32::from(!(row - 1).is_multiple_of(RATE))
    );
    for (early, late) in early.into_iter().zip(late) {
        assert!(late < early + 8 * 1024, "{early} KiB grew to {late} KiB");
        assert!(late < 100 * 1024, "{late} KiB");
    }
}
