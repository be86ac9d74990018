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
/// Signals in, and as many out.
const SIGNALS: [usize; 3] = [0, 10, 100];

pub fn measure(bench: &Bench, results: &mut Results) -> Result<(), String> {
    for signals in SIGNALS {
        let name = format!("host-{signals}");
        let clock = Clock { interval: Some("0.001"), shift: "0", priority: 0, values: signals };
        fmu::write(bench.folder, &name, &bench.idle, &[clock], false)?;
        let mut text = format!(
            "[rig]\nstop_time = 3\n[host]\nfifo_priorities = [{PRIORITY}, {PRIORITY}]\ncpus = [{}]\n[fmu.idle]\npath = \"{name}\"\n",
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
        for (found, (percentile, at_most)) in found.iter_mut().zip([("p50", 300.0), ("p99", 1000.0)]) {
            found.sort_by(f64::total_cmp);
            let (name, value) = (format!("host time with {signals} signals in and out, {percentile}"), found[RUNS / 2]);
            match signals {
                10 => results.limited(&name, value, "ns", at_most),
                _ => results.figure(&name, value, "ns"),
            }
        }
    }
    Ok(())
}
