//! A file is read while it is needed: its length is nobody's memory.

use super::program::Rig;
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

#[test]
fn a_file_of_200_megabytes_is_read_in_little_memory() {
    let fmu = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/engine_ecu");
    let rig = Rig::of_text(&format!(
        "[rig]\nmode = 'virtual'\nstop_time = 1\n[fmu.ecu]\npath = '{}'\n[record]\nsignals = ['ecu.faults']\n\
             [[stimulus]]\nfile = 'drive.csv'\ncolumns = {{ 'ecu.speed' = 'speed', 'ecu.pedal' = 'pedal' }}\n",
        fmu.display()
    ));
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
    let seconds = row / RATE;
    let mut command = rig.command();
    command.args(["--stop-time", &seconds.to_string(), "--quiet"]);
    let child = rig.start(command);
    rig.wait_until_it_runs();
    let supervisor = child.id().to_string();
    let runner = std::fs::read_to_string(format!("/proc/{supervisor}/task/{supervisor}/children")).unwrap();
    let watcher = std::thread::spawn(move || {
        let (mut early, mut late) = (None, [0; 2]);
        while let (Some(one), Some(two)) = (most(&supervisor), most(runner.trim())) {
            early.get_or_insert([one, two]);
            late = [one, two];
            std::thread::sleep(Duration::from_millis(20));
        }
        (early.expect("it was seen"), late)
    });
    let run = rig.finish(child, Duration::from_secs(200)).exits(0);
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
