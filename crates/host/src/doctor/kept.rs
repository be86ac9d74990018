//! The last measurement of `vecud doctor`, as a file: reports of runs compare their latencies with it.
//!
//! A measurement is valid only on the same machine with the same kernel. Each core keeps its own last measurement, so
//! that one for another rig removes nothing; a short look at a core does not replace a measurement.

use super::facts::{KernelFacts, Processor};
use super::{Probe, Tree};
use hdrhistogram::Histogram as Hdr;
use serde::{Deserialize, Serialize};
use vecud_record::histogram::Histogram;

/// Name of the file, in the user's cache.
pub const NAME: &str = "doctor.json";

/// See the [module](self).
#[derive(Debug, Deserialize, Serialize)]
pub struct ProbeArchive {
    /// Machine and kernel of the measurement.
    machine: String,
    cores: Vec<KeptCore>,
}

/// Shorter measurements do not replace longer ones, s.
const GLANCE: f64 = 1.0;

/// Wake-up latencies of some cores.
#[derive(Debug)]
pub struct WakeupLatencies {
    /// Time of the oldest measurement among them: RFC 3339, UTC.
    pub measured: String,
    /// Duration of the shortest measurement among them, s.
    pub seconds: f64,
    /// The measured cores.
    pub cpus: Vec<usize>,
    /// The lowest priority; `None`: ordinary threads.
    pub fifo_priority: Option<u8>,
    /// Latencies of all these cores together.
    pub latency: Histogram,
}

/// One core.
#[derive(Debug, Deserialize, Serialize)]
struct KeptCore {
    cpu: usize,
    /// Time of the measurement: RFC 3339, UTC.
    measured: String,
    /// Duration, s.
    seconds: f64,
    fifo_priority: Option<u8>,
    count: u64,
    min: u64,
    max: u64,
    mean: f64,
    /// Values with their counts.
    values: Vec<(u64, u64)>,
}

/// Identifies the machine and its kernel.
pub fn machine(tree: &Tree) -> String {
    let (kernel, processor) = (KernelFacts::read(tree), Processor::read(tree));
    let id = tree.text("/etc/machine-id").unwrap_or_default();
    [id.trim(), &kernel.release, &kernel.version, processor.model.as_deref().unwrap_or_default()].join(" ")
}

impl ProbeArchive {
    /// Packs the measurement of this machine; `None`: no core was measured.
    pub fn of(probe: &Probe, tree: &Tree, measured: &str) -> Option<ProbeArchive> {
        let measured_there = probe.cores.iter().filter(|core| core.latency.count() > 0);
        let cores: Vec<KeptCore> = measured_there
            .map(|core| KeptCore {
                cpu: core.cpu,
                measured: measured.to_owned(),
                seconds: probe.seconds,
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
        is_whole.then(|| ProbeArchive { machine: machine(tree), cores })
    }

    /// Adds from an `earlier` measurement of the same machine the cores that this one lacks or measured only briefly.
    pub fn after(mut self, earlier: ProbeArchive) -> ProbeArchive {
        for core in earlier.cores {
            match self.cores.iter_mut().find(|own| own.cpu == core.cpu) {
                None => self.cores.push(core),
                Some(own) if own.seconds < GLANCE && own.seconds < core.seconds => *own = core,
                Some(_) => (),
            }
        }
        self.cores.sort_unstable_by_key(|core| core.cpu);
        self
    }

    /// Content of the file.
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("strings, numbers and lists")
    }

    /// Reads the file; `None`: it is damaged, or of another machine or kernel.
    pub fn read(text: &str, tree: &Tree) -> Option<ProbeArchive> {
        serde_json::from_str::<ProbeArchive>(text).ok().filter(|kept| kept.machine == machine(tree))
    }

    /// Wake-up latencies of these cores. `None`: no core was measured, or the file is damaged.
    pub fn on(&self, cpus: &[usize]) -> Option<WakeupLatencies> {
        let cores: Vec<&KeptCore> = self.cores.iter().filter(|core| cpus.contains(&core.cpu)).collect();
        let mut latency = Histogram::default();
        for core in &cores {
            latency.add(&core.latency()?);
        }
        Some(WakeupLatencies {
            measured: cores.iter().map(|core| &core.measured).min()?.clone(),
            seconds: cores.iter().map(|core| core.seconds).reduce(f64::min)?,
            cpus: cores.iter().map(|core| core.cpu).collect(),
            fifo_priority: cores.iter().map(|core| core.fifo_priority).min()?,
            latency,
        })
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
        let kept = ProbeArchive::of(&probe, &tree, "2026-03-01T09:30:00Z").unwrap();
        let read = ProbeArchive::read(&kept.text(), &tree).unwrap();
        let found = read.on(&[0, 1, 2]).unwrap();
        assert_eq!((found.cpus, found.fifo_priority), (vec![1, 2], None));
        assert_eq!((found.measured.as_str(), found.seconds), ("2026-03-01T09:30:00Z", 5.0));
        assert_eq!(found.latency, Histogram::of([5, 7_000, 9_000]));
        assert_eq!(read.on(&[3]).unwrap().latency.max(), 1 << 50);
        assert!(read.on(&[0]).is_none() && ProbeArchive::read("{}", &tree).is_none());
        std::fs::create_dir(folder.path().join("etc")).unwrap();
        std::fs::write(folder.path().join("etc/machine-id"), "another\n").unwrap();
        assert!(ProbeArchive::read(&kept.text(), &tree).is_none(), "of another machine");
        assert!(ProbeArchive::of(&Probe { cut_short: true, ..probe }, &tree, "").is_none());
    }

    /// Cores of another rig stay, a new measurement takes the place of the old one, and a glance does not.
    #[test]
    fn each_core_keeps_its_last_measurement() {
        let folder = tempfile::tempdir().unwrap();
        let tree = Tree::at(folder.path());
        let kept = |seconds: f64, cpus: &[usize], measured: &str, late: u64| {
            let cores = cpus.iter().map(|cpu| core(*cpu, None, &[late])).collect();
            let probe = Probe { seconds, cut_short: false, cores, interrupts: Interrupts::default() };
            ProbeArchive::of(&probe, &tree, measured).unwrap()
        };
        let all = kept(0.5, &[3], "2026-01-01T00:00:00Z", 10);
        let all = kept(5.0, &[1, 2], "2026-01-02T00:00:00Z", 20).after(all);
        let all = kept(2.0, &[2], "2026-01-03T00:00:00Z", 30).after(all);
        let all = kept(0.2, &[1, 4], "2026-01-04T00:00:00Z", 40).after(all);
        let of = |cpu: usize| all.on(&[cpu]).map(|found| (found.seconds, found.latency.max()));
        assert_eq!([1, 2, 3, 4].map(of), [Some((5.0, 20)), Some((2.0, 30)), Some((0.5, 10)), Some((0.2, 40))]);
        let found = all.on(&[2, 1]).unwrap();
        assert_eq!((found.measured.as_str(), found.seconds), ("2026-01-02T00:00:00Z", 2.0));
    }
}
