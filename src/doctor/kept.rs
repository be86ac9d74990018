//! What `vecud doctor` has measured last, as a file: so that reports of runs can set their latencies against it.
//!
//! It counts on the machine on which it was measured alone, with the kernel of then.

use super::facts::{Kernel, Processor};
use super::{Probe, Tree};
use crate::record::histogram::Histogram;
use hdrhistogram::Histogram as Hdr;
use serde::{Deserialize, Serialize};

/// The name of the file, in the user's cache.
pub const NAME: &str = "doctor.json";

/// See the [module](self).
#[derive(Debug, Deserialize, Serialize)]
pub struct Kept {
    /// When it was measured: RFC 3339, UTC.
    pub measured: String,
    /// For how long, s.
    pub seconds: f64,
    /// On which machine, with which kernel.
    machine: String,
    cores: Vec<KeptCore>,
}

/// One core.
#[derive(Debug, Deserialize, Serialize)]
struct KeptCore {
    cpu: usize,
    fifo_priority: Option<u8>,
    count: u64,
    min: u64,
    max: u64,
    mean: f64,
    /// Values, each with how often it came.
    values: Vec<(u64, u64)>,
}

/// What machine this is, and with which kernel.
pub fn machine(tree: &Tree) -> String {
    let (kernel, processor) = (Kernel::read(tree), Processor::read(tree));
    let id = tree.text("/etc/machine-id").unwrap_or_default();
    [id.trim(), &kernel.release, &kernel.version, processor.model.as_deref().unwrap_or_default()].join(" ")
}

impl Kept {
    /// What was measured on this machine; `None`: nothing that could be kept.
    pub fn of(probe: &Probe, tree: &Tree, measured: String) -> Option<Kept> {
        let measured_there = probe.cores.iter().filter(|core| core.latency.count() > 0);
        let cores: Vec<KeptCore> = measured_there
            .map(|core| KeptCore {
                cpu: core.cpu,
                fifo_priority: core.priority,
                count: core.latency.count(),
                min: core.latency.min(),
                max: core.latency.max(),
                mean: core.latency.mean(),
                values: core
                    .latency
                    .buckets()
                    .iter_recorded()
                    .map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
                    .collect(),
            })
            .collect();
        let is_whole = !probe.cut_short && !cores.is_empty();
        is_whole.then(|| Kept { measured, seconds: probe.seconds, machine: machine(tree), cores })
    }

    /// As the content of the file.
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("strings, numbers and lists")
    }

    /// Reads the file; `None`: it is none, or of another machine or kernel.
    pub fn read(text: &str, tree: &Tree) -> Option<Kept> {
        serde_json::from_str::<Kept>(text).ok().filter(|kept| kept.machine == machine(tree))
    }

    /// How late threads woke on these cores: which of them were measured, the lowest priority (`None`: ordinary threads), and the latencies
    /// together. `None`: none of them was, or the file is damaged.
    pub fn on(&self, cpus: &[usize]) -> Option<(Vec<usize>, Option<u8>, Histogram)> {
        let cores: Vec<&KeptCore> = self.cores.iter().filter(|core| cpus.contains(&core.cpu)).collect();
        let mut all = Histogram::default();
        for core in &cores {
            all.add(&core.latency()?);
        }
        let priority = cores.iter().map(|core| core.fifo_priority).min()?;
        Some((cores.iter().map(|core| core.cpu).collect(), priority, all))
    }
}

impl KeptCore {
    fn latency(&self) -> Option<Histogram> {
        let mut buckets: Hdr<u64> = Histogram::default().buckets().clone();
        for &(value, count) in &self.values {
            buckets.record_n(value, count.min(1 << 50)).ok()?;
        }
        Histogram::from_parts(&buckets, self.count, self.min, self.max, self.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::super::facts::Interrupts;
    use super::super::probe::CoreProbe;
    use super::*;

    fn core(cpu: usize, priority: Option<u8>, values: &[u64]) -> CoreProbe {
        CoreProbe { priority, latency: Histogram::of(values.iter().copied()), ..CoreProbe::nothing(cpu) }
    }

    /// Of several cores the values of those that a run uses, and what it says of priorities is true of all of them.
    #[test]
    fn what_is_kept_is_what_was_measured_on_this_machine() {
        let folder = tempfile::tempdir().unwrap();
        let tree = Tree::at(folder.path());
        let cores = vec![core(1, Some(89), &[5, 7_000]), core(2, None, &[9_000]), core(3, Some(89), &[1 << 50])];
        let probe = Probe { seconds: 5.0, cut_short: false, cores, interrupts: Interrupts::default() };
        let kept = Kept::of(&probe, &tree, "2026-03-01T09:30:00Z".into()).unwrap();
        let read = Kept::read(&kept.text(), &tree).unwrap();
        let (cpus, priority, latency) = read.on(&[0, 1, 2]).unwrap();
        assert_eq!((cpus, priority), (vec![1, 2], None));
        assert_eq!(latency, Histogram::of([5, 7_000, 9_000]));
        assert_eq!(read.on(&[3]).unwrap().2.max(), 1 << 50);
        assert!(read.on(&[0]).is_none() && Kept::read("{}", &tree).is_none());
        std::fs::create_dir(folder.path().join("etc")).unwrap();
        std::fs::write(folder.path().join("etc/machine-id"), "another\n").unwrap();
        assert!(Kept::read(&kept.text(), &tree).is_none(), "of another machine");
        assert!(Kept::of(&Probe { cut_short: true, ..probe }, &tree, String::new()).is_none());
    }
}
