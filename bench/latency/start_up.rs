//! (g) How long a rig takes from the command to the start of its simulation, and how much memory it locks, by its clocks.

use super::Bench;
use super::fmu::{self, Clock};
use super::results::Results;
use super::rig::Rig;
use std::fmt::Write as _;

const RUNS: usize = 3;
/// Clocks of each FMU, and their periods, s: what a control unit has.
const INTERVALS: [&str; 10] = ["0.1", "0.1", "0.2", "0.2", "0.5", "0.5", "1", "1", "1", "1"];
/// Numbers of FMUs.
const FMUS: [usize; 4] = [1, 10, 30, 100];

pub fn measure(bench: &Bench, results: &mut Results) -> Result<(), String> {
    let clocks: Vec<Clock> = INTERVALS
        .iter()
        .enumerate()
        .map(|(number, interval)| Clock { interval: Some(interval), shift: "0", priority: number as u32, values: 5 })
        .collect();
    fmu::write(bench.folder, "many", &bench.idle, &clocks, false)?;
    for fmus in FMUS {
        let mut cpus = vec![bench.cpu];
        cpus.extend(bench.other_cpu);
        let mut text = format!("[rig]\nstop_time = 0.2\n[host]\ncpus = {cpus:?}\n");
        (0..fmus).for_each(|fmu| {
            let _ = writeln!(text, "[fmu.f{fmu}]\npath = \"many\"");
        });
        let rig = Rig::new(bench.folder, &format!("many-{fmus}"), &text)?;
        let (mut least, mut locked) = (f64::INFINITY, 0.0);
        for _ in 0..RUNS {
            let run = rig.run()?;
            least = least.min(run.start_up as f64 / 1e9);
            locked = run.report["host"]["memory_locked_bytes"].as_f64().unwrap_or(0.0);
        }
        let clocks = fmus * INTERVALS.len();
        let (time, memory) = (format!("start-up with {clocks} clocks"), locked / clocks as f64 / f64::from(1 << 20));
        match clocks {
            1000 => {
                results.limited(&time, least, "s", 1.0);
                results.limited("  locked memory per clock", memory, "MiB", 1.0);
            }
            _ => {
                results.figure(&time, least, "s");
                results.figure("  locked memory per clock", memory, "MiB");
            }
        }
    }
    Ok(())
}
