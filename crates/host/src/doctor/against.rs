//! Two measurements side by side: is the machine better than it was, worse, or can nobody tell?
//!
//! Wake-ups of one moment resemble each other, so the latencies of two probes differ even if nothing has changed. Each probe is
//! therefore cut into consecutive parts, each with a median, a 99th percentile and a maximum. There is a difference if chance would
//! give the ranks of one probe's parts less than once in a hundred times (Mann and Whitney's test, of both sides), and the middle
//! ones are further apart than a twentieth.

use super::probe::ProbePart;
use super::{Finding, Level, Probe};
use serde::Deserialize;
use std::collections::BTreeSet;

/// With fewer parts on a side no difference could be told from chance.
const FEWEST: usize = 5;
/// Standard deviations of a normal distribution beyond which one value of a hundred lies.
const CHANCE: f64 = 2.576;
/// Differences below this part of the value change nothing for a rig.
const SMALLEST: f64 = 0.05;

/// The compared part of an answer of `vecud doctor --json`.
#[derive(Clone, Debug, Deserialize)]
pub struct SavedAnswer {
    /// The machine.
    pub machine: SavedMachine,
    /// The saved probe.
    pub probe: Option<SavedProbe>,
    findings: Vec<SavedFinding>,
}

/// The machine that was looked at.
#[derive(Clone, Debug, Deserialize)]
pub struct SavedMachine {
    /// Release of its kernel.
    pub kernel: String,
    /// The machine's processor.
    pub cpu_model: Option<String>,
}

/// A saved probe.
#[derive(Clone, Debug, Deserialize)]
pub struct SavedProbe {
    /// Duration of the probe, s.
    pub seconds: f64,
    cores: Vec<SavedCore>,
}

#[derive(Clone, Debug, Deserialize)]
struct SavedCore {
    cpu: usize,
    fifo_priority: Option<u8>,
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
    max_ns: Option<u64>,
    #[serde(default)]
    parts: Vec<ProbePart>,
}

#[derive(Clone, Debug, Deserialize)]
struct SavedFinding {
    check: String,
    cpu: Option<usize>,
    level: String,
    found: String,
}

/// The difference of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Wake-ups are less late.
    Better,
    /// Wake-ups are later.
    Worse,
    /// No more than chance gives.
    NoDifference,
    /// A probe has too few parts, or was of another priority.
    Unknown,
}

impl Change {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Change::Better => "better",
            Change::Worse => "worse",
            Change::NoDifference => "no difference",
            Change::Unknown => "not comparable",
        }
    }
}

/// A figure of the probe then and now, ns.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// `p50`, `p99` or `max`.
    pub name: &'static str,
    /// The figure of the saved probe.
    pub then: u64,
    /// The figure of this probe.
    pub now: u64,
    /// The difference.
    pub change: Change,
}

/// A core that both probes have measured.
#[derive(Clone, Debug)]
pub struct ComparedCore {
    /// Number of the core.
    pub cpu: usize,
    /// Median, 99th percentile and maximum.
    pub figures: [Figure; 3],
}

/// The differences from a saved answer.
#[derive(Clone, Debug)]
pub struct Changes {
    /// The file that has it.
    pub file: String,
    /// The saved answer.
    pub saved: SavedAnswer,
    /// Cores that both have measured.
    pub cores: Vec<ComparedCore>,
    /// Problems and advice of then that are no more.
    pub gone: Vec<String>,
    /// Problems and advice that are new.
    pub new: Vec<String>,
}

/// Sets a probe and the findings beside it against a saved answer from `file`.
pub fn compare(file: String, saved: SavedAnswer, probe: Option<&Probe>, findings: &[Finding]) -> Changes {
    let measured = probe.iter().flat_map(|probe| &probe.cores).filter(|core| core.latency.count() > 0);
    let cores = measured.filter_map(|core| {
        let before = saved.probe.as_ref()?.cores.iter().find(|before| before.cpu == core.cpu)?;
        let is_comparable = before.fifo_priority.is_some() == core.priority.is_some();
        let figure = |name, then, now, of: fn(&ProbePart) -> u64| {
            let [old, new] = [&before.parts, &core.parts].map(|parts| parts.iter().map(of).collect::<Vec<u64>>());
            Some(Figure {
                name,
                then: then?,
                now,
                change: if is_comparable { change(&old, &new) } else { Change::Unknown },
            })
        };
        let latency = &core.latency;
        let figures = [
            figure("p50", before.p50_ns, latency.quantile(0.5), |part| part.p50_ns)?,
            figure("p99", before.p99_ns, latency.quantile(0.99), |part| part.p99_ns)?,
            figure("max", before.max_ns, latency.max(), |part| part.max_ns)?,
        ];
        Some(ComparedCore { cpu: core.cpu, figures })
    });
    let cores = cores.collect();
    let ok = Level::Ok.word();
    let old: BTreeSet<_> =
        saved.findings.iter().filter(|own| own.level != ok).map(|own| (own.check.as_str(), own.cpu)).collect();
    let new: BTreeSet<_> =
        findings.iter().filter(|own| own.level != Level::Ok).map(|own| (own.check, own.cpu)).collect();
    let told = |cpu: Option<usize>, found: &str| match cpu {
        Some(cpu) => format!("core {cpu}: {found}"),
        None => found.to_owned(),
    };
    // Without a probe nothing is known of what only a probe finds.
    let is_known = |own: &&SavedFinding| probe.is_some() || !own.check.starts_with("probe");
    let gone = saved.findings.iter().filter(|own| own.level != ok && !new.contains(&(own.check.as_str(), own.cpu)));
    let gone = gone.filter(is_known);
    let gone = gone.map(|own| told(own.cpu, &own.found)).collect();
    let came = findings.iter().filter(|own| own.level != Level::Ok && !old.contains(&(own.check, own.cpu)));
    let came = came.map(|own| told(own.cpu, &own.found)).collect();
    Changes { file, cores, gone, new: came, saved }
}

/// Compares a figure by the values of the probes' parts.
fn change(then: &[u64], now: &[u64]) -> Change {
    if then.len() < FEWEST || now.len() < FEWEST {
        return Change::Unknown;
    }
    let middle = |values: &[u64]| {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) as f64 / 2.0
    };
    let (before, after) = (middle(then), middle(now));
    if (after - before).abs() <= SMALLEST * before.min(after) {
        return Change::NoDifference;
    }
    match later(then, now) {
        z if z > CHANCE => Change::Worse,
        z if z < -CHANCE => Change::Better,
        _ => Change::NoDifference,
    }
}

/// The excess of values of `now` above values of `then`, compared with chance, in standard deviations: Mann and Whitney's U, with the
/// correction for equal values.
fn later(then: &[u64], now: &[u64]) -> f64 {
    let (n, m) = (then.len() as f64, now.len() as f64);
    let above = |old: &u64| {
        now.iter().map(|new| [0.0, 0.5, 1.0][1 + (*new > *old) as usize - (*new < *old) as usize]).sum::<f64>()
    };
    let u: f64 = then.iter().map(above).sum();
    let mut all = [then, now].concat();
    all.sort_unstable();
    let ties: f64 = all.chunk_by(|a, b| a == b).map(|equal| (equal.len() as f64).powi(3) - equal.len() as f64).sum();
    let all = n + m;
    let deviation = (n * m / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)))).sqrt();
    if deviation > 0.0 { (u - n * m / 2.0) / deviation } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_lie_apart_differ_and_parts_among_each_other_do_not() {
        let then: Vec<u64> = (0..10).map(|part| 3000 + 40 * part).collect();
        let moved = |by: u64| then.iter().map(|value| value + by).collect::<Vec<u64>>();
        assert_eq!(change(&then, &moved(900)), Change::Worse);
        assert_eq!(change(&moved(900), &then), Change::Better);
        assert_eq!(change(&then, &moved(100)), Change::NoDifference, "below a twentieth");
        assert_eq!(change(&[3000; 10], &[3001; 10]), Change::NoDifference, "certain, and of no use");
        let wild = [3000, 9000, 3100, 3050, 8000, 3020, 7000, 3040, 3010, 3060];
        assert_eq!(change(&then, &wild), Change::NoDifference);
        assert_eq!(change(&then[..4], &moved(900)), Change::Unknown);
        assert_eq!(change(&then[..5], &moved(900)[..5]), Change::Worse, "five parts on each side are enough");
    }

    /// Of probes that differ by chance alone, one of a hundred is told to differ; more would be cried wolf.
    #[test]
    fn chance_is_taken_for_a_difference_once_in_a_hundred_times() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 44
        };
        let mut parts = || (0..10).map(|_| random()).collect::<Vec<u64>>();
        let differ = (0..10_000).filter(|_| change(&parts(), &parts()) != Change::NoDifference).count();
        assert!((30..=140).contains(&differ), "{differ} of 10,000");
    }
}
