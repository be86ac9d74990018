//! Made-up machines: a folder with `/proc` and `/sys`, and what trying and measuring would have given.

use std::fs;
use std::path::Path;
use tempfile::TempDir;
use vecud::doctor::probe::ProbePart;
use vecud::doctor::probe::{CoreProbe, Probe};
use vecud::doctor::trials::{TrialFailure, Trials};
use vecud::doctor::{Case, Finding, Level, MachineFacts, Target, Tree, rules};
use vecud::record::histogram::Histogram;

/// The cores of rigs; 0 and 1 are for everything else.
pub const CPUS: [usize; 2] = [2, 3];

/// One machine.
pub struct Machine {
    folder: TempDir,
    pub target: Target,
    pub trials: Trials,
    pub probe: Probe,
    /// What changes between the beginning of the probe and its end.
    pub later: Vec<(String, String)>,
}

const FILES: &[(&str, &str)] = &[
    ("/proc/sys/kernel/osrelease", "6.18.3-rt-amd64\n"),
    ("/proc/sys/kernel/version", "#1 SMP PREEMPT_RT Debian 6.18.3-1\n"),
    ("/sys/kernel/realtime", "1\n"),
    ("/proc/cmdline", "root=/dev/sda1 isolcpus=managed_irq,domain,2-3 irqaffinity=0-1 rcu_nocbs=2-3 quiet\n"),
    ("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Made-up 9000\nflags\t\t: fpu tsc\n"),
    ("/sys/devices/system/cpu/online", "0-3\n"),
    ("/sys/devices/system/cpu/isolated", "2-3\n"),
    ("/sys/devices/system/cpu/nohz_full", "(null)\n"),
    ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
    ("/sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm \n"),
    ("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n"),
    ("/sys/kernel/debug/sched/fair_server/cpu2/runtime", "0\n"),
    ("/sys/kernel/debug/sched/fair_server/cpu2/period", "1000000000\n"),
    ("/sys/kernel/debug/sched/fair_server/cpu3/runtime", "0\n"),
    ("/sys/kernel/debug/sched/fair_server/cpu3/period", "1000000000\n"),
    ("/proc/sys/kernel/sched_rt_runtime_us", "-1\n"),
    ("/proc/sys/kernel/sched_rt_period_us", "1000000\n"),
    ("/proc/sys/kernel/timer_migration", "0\n"),
    ("/proc/sys/kernel/numa_balancing", "0\n"),
    ("/proc/sys/kernel/nmi_watchdog", "0\n"),
    ("/proc/sys/vm/compact_unevictable_allowed", "0\n"),
    ("/proc/sys/vm/compaction_proactiveness", "0\n"),
    ("/proc/sys/vm/stat_interval", "10\n"),
    ("/proc/sys/vm/swappiness", "60\n"),
    ("/proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"),
    ("/proc/self/cgroup", "0::/user.slice/session-1.scope\n"),
    ("/sys/fs/cgroup/user.slice/cpu.max", "max 100000\n"),
    ("/proc/irq/24/effective_affinity_list", "0\n"),
    ("/proc/irq/24/smp_affinity_list", "0-1\n"),
    ("/proc/irq/30/effective_affinity_list", "1\n"),
    ("/proc/irq/30/smp_affinity_list", "0-1\n"),
];

pub const INTERRUPTS: &str = "\
           CPU0       CPU1       CPU2       CPU3
 24:         10          0          0          0  IO-APIC   5-edge      rtc0
 30:          0       2000          0          0  PCI-MSIX-0000:00:02.0   1-edge      eth0-rx
LOC:    1000000    1000000       5000       5000   Local timer interrupts
CAL:       5000       5000        100        100   Function call interrupts
TLB:       5000       5000        100        100   TLB shootdowns
ERR:          0
";

/// A machine on which there is nothing to find.
pub fn good() -> Machine {
    let core = |cpu| CoreProbe {
        cpu,
        priority: Some(89),
        latency: Histogram::of((0..5000).map(|i| 2_000 + i % 7 * 100)),
        parts: (0..10).map(|part| ProbePart { p50_ns: 2_300 + part, p99_ns: 2_600, max_ns: 2_600 }).collect(),
        faults: 0,
        preempted: 0,
        refused: None,
    };
    let machine = Machine {
        folder: crate::program::tempdir().unwrap(),
        target: Target { rig: None, cpus: CPUS.to_vec(), band: (51, 89) },
        trials: Trials { fifo: Some(99), ..Trials::default() },
        probe: Probe { seconds: 5.0, cut_short: false, cores: CPUS.map(core).to_vec(), interrupts: Default::default() },
        later: Vec::new(),
    };
    for (path, text) in FILES {
        machine.put(path, text);
    }
    machine.put("/proc/interrupts", INTERRUPTS);
    for cpu in 0..4 {
        let of = |name: &str| format!("/sys/devices/system/cpu/cpu{cpu}/{name}");
        machine.put(&of("cpufreq/scaling_governor"), "performance\n");
        machine.put(&of("topology/thread_siblings_list"), &format!("{cpu}\n"));
        for (state, name, latency) in [(0, "POLL", 0), (1, "C1", 2), (2, "C6", 133)] {
            machine.put(&of(&format!("cpuidle/state{state}/name")), name);
            machine.put(&of(&format!("cpuidle/state{state}/latency")), &latency.to_string());
            machine.put(&of(&format!("cpuidle/state{state}/disable")), "0");
        }
    }
    machine.thread(31, "migration/2", true, 99, 1, "2");
    machine.thread(50, "irq/30-eth0-rx", true, 50, 1, "0-1");
    machine.thread(1234, "bash", false, 0, 0, "0-3");
    machine
}

impl Machine {
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    pub fn tree(&self) -> Tree {
        Tree::at(self.root())
    }

    /// A file with this text; its folders come with it.
    pub fn put(&self, path: &str, text: &str) {
        let file = self.tree().path(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// Takes a file or a folder away.
    pub fn remove(&self, path: &str) {
        let path = self.tree().path(path);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
    }

    pub fn get(&self, path: &str) -> String {
        fs::read_to_string(self.tree().path(path)).unwrap()
    }

    /// A process of one thread, in the kernel's words.
    pub fn thread(&self, tid: u32, name: &str, kernel: bool, priority: u8, policy: u32, cpus: &str) {
        let mut fields = vec!["0".to_owned(); 50];
        fields[0] = "S".to_owned();
        fields[6] = if kernel { "2129984".to_owned() } else { "4194304".to_owned() };
        (fields[37], fields[38]) = (priority.to_string(), policy.to_string());
        let folder = format!("/proc/{tid}/task/{tid}");
        self.put(&format!("{folder}/stat"), &format!("{tid} ({name}) {}\n", fields.join(" ")));
        self.put(&format!("{folder}/status"), &format!("Name:\t{name}\nCpus_allowed_list:\t{cpus}\n"));
    }

    pub fn case(&self) -> Case {
        let facts = MachineFacts::read(&self.tree(), &self.target.cpus);
        for (path, text) in &self.later {
            self.put(path, text);
        }
        let interrupts = vecud::doctor::facts::Interrupts::read(&self.tree());
        let probe = Some(Probe { interrupts, ..self.probe.clone() });
        Case { target: self.target.clone(), facts, trials: self.trials.clone(), probe }
    }

    pub fn findings(&self) -> Vec<Finding> {
        rules::findings(&self.case())
    }

    /// What is not as it should be.
    pub fn bad(&self) -> Vec<Finding> {
        self.findings().into_iter().filter(|finding| finding.level != Level::Ok).collect()
    }
}

pub fn refusal(cause: &str) -> Option<TrialFailure> {
    Some(TrialFailure { cause: cause.to_owned(), fix: "ask for it".to_owned(), missing: false })
}
