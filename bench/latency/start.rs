//! (a) From the release to the first FMI call, beside a bare thread that sleeps until absolute instants half a period away.

use super::bare::{Bare, Place};
use super::fmu::{self, Clock};
use super::results::Results;
use super::rig::{Rig, percentile};
use super::{Bench, PRIORITY};
use std::process::Command;

const RUNS: usize = 5;
/// Seconds of each half of a run.
const SECONDS: f64 = 3.0;
/// Periods: in µs, in s as in the XML, and half of that.
const PERIODS: [(i64, &str, &str); 2] = [(250, "0.00025", "0.000125"), (1000, "0.001", "0.0005")];
/// How long is polled, µs.
const SPIN: u32 = 30;
const PERCENTILES: [(&str, f64); 3] = [("p50", 50.0), ("p90", 90.0), ("p99", 99.0)];

pub fn measure(bench: &Bench, results: &mut Results) -> Result<(), String> {
    for (micros, interval, half) in PERIODS {
        let mut ratios = [const { Vec::new() }; 3];
        let mut ours = [const { Vec::new() }; 3];
        for _ in 0..RUNS {
            let mut products = [1.0; 3];
            // Each half of a run has the phases the other way round: the kernel's own tick is on the grid of one of them.
            for (shift, phase) in [("0", micros * 500), (half, 0)] {
                let name = format!("start-{micros}-{shift}");
                let rig = rig(bench, &name, interval, shift, "")?;
                let place = Place { cpu: bench.cpu, priority: PRIORITY };
                let bare = Bare::sleeper(place, micros * 1000, phase)?;
                let run = rig.run();
                let bare = bare.finish()?;
                let run = run?;
                for (index, (name, percent)) in PERCENTILES.into_iter().enumerate() {
                    let own = run.percentile("idle", "c0", "start_latency", name).ok_or("no start latency")?;
                    products[index] *= own / percentile(&bare, percent);
                    ours[index].push(own);
                }
            }
            for (ratios, product) in ratios.iter_mut().zip(products) {
                ratios.push(f64::sqrt(product));
            }
        }
        for (index, (name, at_most)) in [("p50", 1.05), ("p90", 1.10)].into_iter().enumerate() {
            let label = format!("start latency at {micros} µs, {name}, in those of a bare thread");
            results.limited(&label, median(&mut ratios[index]), "", at_most);
            results.figure(&format!("  the same in µs, {name}"), median(&mut ours[index]) / 1e3, "µs");
        }
        polled(bench, micros, interval, results)?;
        cyclictest(bench, micros, results);
    }
    Ok(())
}

/// With `spin_us`, beside a bare thread that polls for as long. Both keep a quarter of a period away from the kernel's own
/// tick, which would interrupt who polls.
fn polled(bench: &Bench, micros: i64, interval: &'static str, results: &mut Results) -> Result<(), String> {
    let (mut ours, mut theirs) = ([const { Vec::new() }; 3], Vec::new());
    let quarter = micros / 4;
    for run in 0..RUNS {
        let host = format!("spin_us = {SPIN}\nphase_us = {quarter}\n");
        let rig = rig(bench, &format!("spin-{micros}-{run}"), interval, "0", &host)?;
        let place = Place { cpu: bench.cpu, priority: PRIORITY };
        let bare = Bare::poller(place, micros * 1000, (quarter + micros / 2) * 1000, i64::from(SPIN) * 1000)?;
        let run = rig.run();
        let bare = bare.finish()?;
        let run = run?;
        for (index, (name, _)) in PERCENTILES.into_iter().enumerate() {
            ours[index].push(run.percentile("idle", "c0", "start_latency", name).ok_or("no start latency")? / 1e3);
        }
        theirs.push(percentile(&bare, 99.0) / 1e3);
    }
    let name = |percentile| format!("start latency at {micros} µs with spin_us = {SPIN}, {percentile}");
    let [p50, p90, p99] = ours.each_mut().map(|values| median(values));
    results.figure(&name("p50"), p50, "µs");
    results.figure(&name("p90"), p90, "µs");
    results.limited(&name("p99"), p99, "µs", 0.2);
    results.figure("  p99 of a bare thread that polls for as long", median(&mut theirs), "µs");
    Ok(())
}

fn rig(bench: &Bench, name: &str, interval: &'static str, shift: &'static str, host: &str) -> Result<Rig, String> {
    let clock = Clock { interval: Some(interval), shift, priority: 0, values: 0 };
    fmu::write(bench.folder, name, &bench.idle, &[clock], false)?;
    let text = format!(
        "[rig]\nstop_time = {SECONDS}\n[host]\nfifo_priorities = [{PRIORITY}, {PRIORITY}]\ncpus = [{}]\n{host}\
         [fmu.idle]\npath = \"{name}\"\n",
        bench.cpu
    );
    Rig::new(bench.folder, name, &text)
}

/// What cyclictest says on the same core, right afterwards: its phase is its own, so this is for orientation.
fn cyclictest(bench: &Bench, micros: i64, results: &mut Results) {
    let name = format!("cyclictest at {micros} µs, p50");
    let mut command = Command::new("cyclictest");
    command.args(["--mlockall", "--quiet", "--threads=1", "--histogram=1000", "--duration=3"]);
    command.args([
        format!("--priority={PRIORITY}"),
        format!("--interval={micros}"),
        format!("--affinity={}", bench.cpu),
    ]);
    let output = match command.output() {
        Ok(output) if output.status.success() => output,
        Ok(output) => return results.skipped(&name, String::from_utf8_lossy(&output.stderr).trim()),
        Err(error) => return results.skipped(&name, &format!("cyclictest (package rt-tests): {error}")),
    };
    // Lines of the histogram: the latency in µs, and how many.
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let buckets: Vec<(f64, u64)> = lines
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
        })
        .collect();
    let all: u64 = buckets.iter().map(|bucket| bucket.1).sum();
    let mut seen = 0;
    let half = buckets.iter().find(|bucket| {
        seen += bucket.1;
        2 * seen >= all
    });
    match half {
        Some((latency, _)) if all > 0 => results.figure(&name, *latency, "µs"),
        _ => results.skipped(&name, "its histogram is empty"),
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
