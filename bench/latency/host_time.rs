//! (b) What the host itself takes for an activation: everything from the thread's first instruction after its sleep to its next
//! sleep, without the model partition, with the setters and getters of an FMU that does nothing.
//!
//! vecud measures it in every run (`parts.host` in `report.json`), with everything on that a run has by default: all
//! histograms, the lists of the worst, the trace's flight recorder.

use super::fmu::{self, Clock};
use super::results::Results;
use super::rig::Rig;
use super::{Bench, PRIORITY};
use std::fmt::Write as _;

const RUNS: usize = 5;
/// p50 and p99 with ten signals, ns.
const LIMITS: [f64; 2] = [300.0, 1000.0];

struct Case {
    /// In, and as many out.
    signals: usize,
    /// Period in µs, and as in the XML.
    micros: usize,
    interval: &'static str,
    /// Of a run. A list of the ten worst takes in a hundredth of the activations of a short one, which costs several times as
    /// much: so long that this is past.
    seconds: usize,
    limited: bool,
}

const CASES: [Case; 4] = [
    Case { signals: 0, micros: 250, interval: "0.00025", seconds: 3, limited: false },
    Case { signals: 10, micros: 250, interval: "0.00025", seconds: 12, limited: true },
    Case { signals: 10, micros: 1000, interval: "0.001", seconds: 12, limited: true },
    Case { signals: 100, micros: 250, interval: "0.00025", seconds: 3, limited: false },
];

pub fn measure(bench: &Bench, results: &mut Results) -> Result<(), String> {
    for Case { signals, micros, interval, seconds, limited } in CASES {
        let name = format!("host-{signals}-{micros}");
        let clock = Clock { interval: Some(interval), shift: "0", priority: 0, values: signals };
        fmu::write(bench.folder, &name, &bench.idle, &[clock], false)?;
        let mut text = format!(
            "[rig]\nstop_time = {seconds}\n[host]\nfifo_priorities = [{PRIORITY}, {PRIORITY}]\ncpus = [{}]\n[fmu.idle]\n\
             path = \"{name}\"\n",
            bench.cpu
        );
        for value in 0..signals {
            let _ = writeln!(text, "[[connect]]\nfrom = \"idle.y0_{value}\"\nto = \"idle.u0_{value}\"");
        }
        let rig = Rig::new(bench.folder, &name, &text)?;
        let mut found = [const { Vec::new() }; 2];
        for _ in 0..RUNS {
            let run = rig.run()?;
            let host = &run.clock("idle", "c0").ok_or("no clock in report.json")?["parts"]["host"];
            for (found, percentile) in found.iter_mut().zip(["p50", "p99"]) {
                found.push(host[percentile].as_f64().ok_or("no host time in report.json")?);
            }
        }
        for (index, percentile) in ["p50", "p99"].into_iter().enumerate() {
            let name = format!("host time at {micros} µs with {signals} signals in and out, {percentile}");
            found[index].sort_by(f64::total_cmp);
            let value = found[index][RUNS / 2];
            match limited {
                true => results.limited(&name, value, "ns", LIMITS[index]),
                false => results.figure(&name, value, "ns"),
            }
        }
    }
    Ok(())
}
