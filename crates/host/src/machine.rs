//! Facts about the machine, for the report: a figure without its machine says nothing.

use crate::doctor::facts::{CoreFacts, KernelFacts, Processor, Settings, TRACEFS};
use crate::doctor::kept::{self, ProbeArchive};
use crate::doctor::{Case, Level, MachineFacts, Target, Tree, Trials, rules};
use vecud_fmu::archive::Cache;
use vecud_linux::files;
use vecud_plan::Plan;
use vecud_report::{DoctorFinding, DoctorResult, Fact, ProbeResult};

/// Facts that do not depend on the run.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Release and version of the kernel.
    pub kernel: String,
    /// The kernel is a PREEMPT_RT one.
    pub preempt_rt: bool,
    /// Model name of the processor.
    pub cpu_model: String,
    /// Cores online.
    pub cpus_online: usize,
    /// Isolated cores.
    pub isolated_cpus: Vec<usize>,
    /// The load of now ([`load`]).
    pub load: Option<[f64; 3]>,
    /// Further facts.
    pub facts: Vec<Fact>,
}

impl Machine {
    /// Nobody has looked.
    pub fn unseen() -> Machine {
        Machine {
            kernel: String::new(),
            preempt_rt: false,
            cpu_model: String::new(),
            cpus_online: 0,
            isolated_cpus: Vec::new(),
            load: None,
            facts: Vec::new(),
        }
    }
}

/// Looks at the machine, with the eyes of `vecud doctor`.
pub fn look(cpus_in_use: &[usize]) -> Machine {
    let tree = Tree::of_this_machine();
    let (kernel, processor) = (KernelFacts::read(&tree), Processor::read(&tree));
    let (cores, settings) = (CoreFacts::read(&tree, cpus_in_use), Settings::read(&tree, cpus_in_use));
    let mut facts = Vec::new();
    let mut fact =
        |name: &str, value: Option<String>| facts.extend(value.map(|value| Fact { name: name.to_owned(), value }));
    if processor.virtual_machine.is_some() {
        fact("virtual machine", Some("yes: the longest latencies may be the hypervisor's".to_owned()));
    }
    fact("clock source", settings.clock_source.clone());
    for core in &cores.used {
        fact(&format!("governor of core {}", core.number), core.governor.clone());
    }
    let throttling = settings.values.get("kernel/sched_rt_runtime_us").map(|runtime| match runtime.as_str() {
        "-1" => "off".to_owned(),
        _ => {
            let period = settings.values.get("kernel/sched_rt_period_us").map_or("?", String::as_str);
            format!("real-time threads get {runtime} of {period} µs")
        }
    });
    fact("throttling", throttling);
    fact("hardware latencies", hwlat(&tree));
    let options = kernel.real_time_options();
    let options = if options.is_empty() { "no option for real time".to_owned() } else { options.join(" ") };
    fact("kernel command line", Some(options).filter(|_| !kernel.command_line.is_empty()));
    Machine {
        kernel: format!("{} {}", kernel.release, kernel.version),
        preempt_rt: kernel.preempt_rt,
        cpu_model: processor.model.unwrap_or_else(|| "unknown".to_owned()),
        cpus_online: cores.online.len(),
        isolated_cpus: cores.isolated().into_iter().collect(),
        load: load(&tree),
        facts,
    }
}

/// The result of the kernel's detector of hardware latencies, if somebody runs it: vecud does not, since it takes the cores
/// that it examines.
fn hwlat(tree: &Tree) -> Option<String> {
    let place =
        TRACEFS.into_iter().find(|place| tree.text(&format!("{place}/current_tracer")).as_deref() == Some("hwlat"))?;
    let longest = tree.number(&format!("{place}/tracing_max_latency"))?;
    Some(format!("up to {longest} µs, by the kernel's hwlat tracer, which runs now and itself takes cores"))
}

/// The verdict of doctor on the machine for this plan, by its files alone, and the last measurements there: some hundredths of a second,
/// before anything of the run is started.
pub fn examine(plan: &Plan) -> DoctorResult {
    let tree = Tree::of_this_machine();
    let mut cpus = plan.cores();
    cpus.sort_unstable();
    cpus.dedup();
    let (low, high) = plan.host.fifo_asked;
    let target = Target { rig: Some(plan.rig.clone()), cpus: cpus.clone(), band: (low.get(), high.get()) };
    // What was refused the run says itself.
    let trials = Trials { fifo: plan.host.cooperative.is_none().then_some(high.get()), ..Trials::default() };
    let case = Case { facts: MachineFacts::read(&tree, &cpus), target, trials, probe: None };
    let told = rules::of_facts(&case).into_iter().filter(|finding| finding.level != Level::Ok);
    let findings: Vec<DoctorFinding> = told
        .map(|finding| DoctorFinding {
            check: finding.check.to_owned(),
            cpu: finding.cpu,
            is_problem: finding.level == Level::Problem,
            found: finding.found,
            why: finding.why,
        })
        .collect();
    let fit = !findings.iter().any(|finding| finding.is_problem);
    DoctorResult { fit, findings, probe: last_probe(&tree, &cpus) }
}

/// The last measurements of `vecud doctor` on these cores of this machine.
fn last_probe(tree: &Tree, cpus: &[usize]) -> Option<ProbeResult> {
    let file = Cache::user().ok()?.folder().join(kept::NAME);
    let kept = ProbeArchive::read(&files::read_to_string(&file).ok()?, tree)?;
    let kept::WakeupLatencies { measured, seconds, cpus, fifo_priority, latency } = kept.on(cpus)?;
    Some(ProbeResult { measured, seconds, cpus, fifo_priority, latency: latency.into() })
}

/// The number of threads that want a core, as means of 1, 5 and 15 minutes; `None`: the kernel does not say.
pub fn load(tree: &Tree) -> Option<[f64; 3]> {
    let text = tree.text("/proc/loadavg")?;
    let mut figures = text.split_whitespace().map_while(|word| word.parse().ok()).filter(|load: &f64| load.is_finite());
    Some([figures.next()?, figures.next()?, figures.next()?])
}

/// The load of this machine.
pub fn load_now() -> Option<[f64; 3]> {
    load(&Tree::of_this_machine())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hardware_latencies_are_told_while_the_kernel_looks_for_them() {
        let folder = tempfile::tempdir().unwrap();
        let tree = Tree::at(folder.path());
        let tracing = folder.path().join("sys/kernel/tracing");
        std::fs::create_dir_all(&tracing).unwrap();
        std::fs::write(tracing.join("tracing_max_latency"), "17\n").unwrap();
        std::fs::write(tracing.join("current_tracer"), "nop\n").unwrap();
        assert_eq!(hwlat(&tree), None);
        std::fs::write(tracing.join("current_tracer"), "hwlat\n").unwrap();
        assert!(hwlat(&tree).unwrap().starts_with("up to 17 µs, "));
    }

    /// What `/proc/loadavg` says is three figures or nothing.
    #[test]
    fn the_load_has_three_figures() {
        let folder = tempfile::tempdir().unwrap();
        let tree = Tree::at(folder.path());
        assert_eq!(load(&tree), None);
        std::fs::create_dir(folder.path().join("proc")).unwrap();
        for (text, expected) in [
            ("0.20 0.18 1.12 1/80 11206\n", Some([0.2, 0.18, 1.12])),
            ("0.20 0.18 1/80 11206", None),
            ("nan 0.18 1.12 1/80", None),
            ("", None),
        ] {
            std::fs::write(folder.path().join("proc/loadavg"), text).unwrap();
            assert_eq!(load(&tree), expected, "{text:?}");
        }
    }
}
