//! (c) From a tick to the start of the partition that it triggers, beside a bare futex wake between two threads of the same
//! cores and priorities.

use super::bare::{Bare, Place};
use super::fmu::{self, Clock};
use super::results::Results;
use super::rig::{Rig, percentile};
use super::{Bench, PRIORITY, library};

const RUNS: usize = 5;

pub fn measure(bench: &Bench, results: &mut Results) -> Result<(), String> {
    let library = library::build(bench.folder, "tick")?;
    let periodic = Clock { interval: Some("0.001"), shift: "0", priority: 1, values: 0 };
    let triggered = |priority| Clock { interval: None, shift: "0", priority, values: 0 };
    fmu::write(bench.folder, "one", &library, &[periodic, triggered(0)], true)?;
    let periodic = Clock { interval: Some("0.001"), shift: "0", priority: 1, values: 0 };
    fmu::write(bench.folder, "source", &library, &[periodic], true)?;
    fmu::write(bench.folder, "target", &bench.idle, &[triggered(0)], false)?;
    let band = format!("[host]\nfifo_priorities = [{}, {PRIORITY}]\n", PRIORITY - 1);
    let same = format!(
        "[rig]\nstop_time = 3\n{band}cpus = [{}]\n[fmu.one]\npath = \"one\"\n[[trigger]]\nclock = \"one.c1\"\n\
         from = \"one.tick\"\n",
        bench.cpu
    );
    compare(bench, "on the same core", &same, ("one", "c1"), bench.cpu, results)?;
    let Some(other) = bench.other_cpu else {
        results.skipped("tick to triggered start on another core", "there is one core only");
        return Ok(());
    };
    let apart = format!(
        "[rig]\nstop_time = 3\n{band}[fmu.source]\npath = \"source\"\ncpu = {}\n[fmu.target]\npath = \"target\"\ncpu = {other}\n\
         [[trigger]]\nclock = \"target.c0\"\nfrom = \"source.tick\"\n",
        bench.cpu
    );
    compare(bench, "on another core", &apart, ("target", "c0"), other, results)
}

fn compare(
    bench: &Bench,
    place: &str,
    text: &str,
    (fmu, clock): (&str, &str),
    to: usize,
    results: &mut Results,
) -> Result<(), String> {
    let rig = Rig::new(bench.folder, &format!("tick-{fmu}"), text)?;
    let (mut ratios, mut ours, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let from = Place { cpu: bench.cpu, priority: PRIORITY - 1 };
        let bare = Bare::wake(from, Place { cpu: to, priority: PRIORITY }, 1_000_000, 500_000)?;
        let run = rig.run();
        let bare = percentile(&bare.finish()?, 50.0);
        let own = run?.percentile(fmu, clock, "start_latency", "p50").ok_or("no start latency")?;
        ratios.push(own / bare);
        ours.push(own);
        theirs.push(bare);
    }
    let middle = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    results.limited(&format!("tick to triggered start {place}, p50, in bare futex wakes"), middle(ratios), "", 1.10);
    results.figure("  the same in µs", middle(ours) / 1e3, "µs");
    results.figure("  bare futex wake", middle(theirs) / 1e3, "µs");
    Ok(())
}
