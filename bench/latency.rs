//! Latency, beside what the kernel gives to a program that does nothing else: `cargo bench --bench latency`.
//!
//! Whatever is compared runs in the same seconds on the same core with the same priority. Exit code 1 when a limit is
//! exceeded. Arguments pick parts (`-- start host tick engine loop load start-up`); `bench/README.md` says what each of them is.

#[path = "latency/bare.rs"]
mod bare;
#[path = "latency/closed_loop.rs"]
mod closed_loop;
#[path = "latency/engine.rs"]
mod engine;
#[path = "latency/fmu.rs"]
mod fmu;
#[path = "latency/host_time.rs"]
mod host_time;
#[path = "large.rs"]
mod large;
#[path = "library.rs"]
mod library;
#[path = "latency/load.rs"]
mod load;
#[path = "results.rs"]
mod results;
#[path = "latency/rig.rs"]
mod rig;
#[path = "latency/start.rs"]
mod start;
#[path = "latency/start_up.rs"]
mod start_up;
#[path = "latency/tick.rs"]
mod tick;

use results::{Results, asked, known};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use vecud::sys::{affinity, memory, scheduling};

/// Where things are measured.
pub struct Bench<'a> {
    /// For what is written.
    folder: &'a Path,
    /// The library of an FMU that does nothing.
    idle: PathBuf,
    /// The core: the last one that is allowed.
    cpu: usize,
    /// Another one.
    other_cpu: Option<usize>,
}

/// FIFO priority of what is measured.
const PRIORITY: u8 = 80;

type Part = fn(&Bench, &mut Results) -> Result<(), String>;

/// Each part with its name, and whether it needs real-time privileges.
const PARTS: [(&str, bool, Part); 7] = [
    ("start", true, start::measure),
    ("host", true, host_time::measure),
    ("tick", true, tick::measure),
    ("engine", true, engine::measure),
    ("loop", true, closed_loop::measure),
    ("load", false, load::measure),
    ("start-up", true, start_up::measure),
];

fn main() -> ExitCode {
    results::run(measure)
}

fn measure() -> Result<bool, String> {
    known(&PARTS.map(|(name, ..)| name))?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut cpus: Vec<usize> = affinity::allowed_cpus().map_err(|error| error.to_string())?.into_iter().collect();
    let cpu = cpus.pop().ok_or("no core is allowed")?;
    let idle = library::build(folder.path(), "idle")?;
    let bench = Bench { folder: folder.path(), idle, cpu, other_cpu: cpus.pop() };
    let refused = scheduling::probe_fifo(PRIORITY).err();
    let mut results = Results::new("latency");
    for (name, real_time, part) in PARTS.into_iter().filter(|(name, ..)| asked(name)) {
        match &refused {
            Some(error) if real_time => results.skipped(name, &error.to_string()),
            _ => {
                // What is measured without it pays for it as well.
                let _as_far_as_it_goes = if real_time { memory::lock_all() } else { Ok(()) };
                part(&bench, &mut results)?;
            }
        }
    }
    results.write()
}
