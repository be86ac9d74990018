//! Facts about the machine, for the report: a figure without its machine says nothing.

use crate::sys::affinity;
use std::fs;

/// What does not depend on the run.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Release and version of the kernel.
    pub kernel: String,
    /// It is a PREEMPT_RT one.
    pub preempt_rt: bool,
    /// Model name of the processor.
    pub cpu_model: String,
    /// Cores online.
    pub cpus_online: usize,
    /// Isolated cores.
    pub isolated_cpus: Vec<usize>,
    /// Further facts as name and value.
    pub facts: Vec<(String, String)>,
}

/// Looks at the machine.
pub fn look(cpus_in_use: &[usize]) -> Machine {
    let read = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let release = read("/proc/sys/kernel/osrelease").unwrap_or_default();
    let version = read("/proc/sys/kernel/version").unwrap_or_default();
    let preempt_rt = read("/sys/kernel/realtime").as_deref() == Some("1") || version.contains("PREEMPT_RT");
    let cpu_info = read("/proc/cpuinfo").unwrap_or_default();
    let field = |names: &[&str]| {
        let line = cpu_info.lines().find(|line| names.iter().any(|name| line.starts_with(name)));
        line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_owned())
    };
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: Option<String>| facts.extend(value.map(|value| (name.to_owned(), value)));
    if cpu_info.lines().any(|line| line.starts_with("flags") && line.contains(" hypervisor")) {
        fact("virtual machine", Some("yes: the longest latencies may be the hypervisor's".to_owned()));
    }
    fact("clock source", read("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
    for cpu in cpus_in_use {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
        fact(&format!("governor of core {cpu}"), read(&path));
    }
    let throttling = read("/proc/sys/kernel/sched_rt_runtime_us").map(|runtime| match runtime.as_str() {
        "-1" => "off".to_owned(),
        _ => {
            let period = read("/proc/sys/kernel/sched_rt_period_us").unwrap_or_else(|| "?".to_owned());
            format!("real-time threads get {runtime} of {period} µs")
        }
    });
    fact("throttling", throttling);
    fact("kernel command line", read("/proc/cmdline").map(|line| real_time_options(&line)));
    Machine {
        kernel: format!("{release} {version}"),
        preempt_rt,
        cpu_model: field(&["model name", "Model", "Hardware"]).unwrap_or_else(|| "unknown".to_owned()),
        cpus_online: affinity::online_cpus().len(),
        isolated_cpus: affinity::isolated_cpus().into_iter().collect(),
        facts,
    }
}

/// What a kernel command line says that matters for latency.
fn real_time_options(line: &str) -> String {
    const WORDS: [&str; 16] = [
        "isolcpus",
        "nohz",
        "rcu_nocb",
        "irqaffinity",
        "preempt",
        "threadirqs",
        "idle",
        "intel_idle",
        "intel_pstate",
        "amd_pstate",
        "processor.max_cstate",
        "nosmt",
        "mitigations",
        "tsc",
        "clocksource",
        "skew_tick",
    ];
    let matters = |option: &&str| {
        let name = option.split('=').next().unwrap_or_default();
        WORDS.iter().any(|word| name.starts_with(word))
    };
    let options: Vec<&str> = line.split_whitespace().filter(matters).collect();
    if options.is_empty() { "no option for real time".to_owned() } else { options.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_options_that_matter_are_shown() {
        let line = "root=/dev/sda1 isolcpus=2,3 quiet nohz_full=2,3 token=secret processor.max_cstate=1";
        assert_eq!(real_time_options(line), "isolcpus=2,3 nohz_full=2,3 processor.max_cstate=1");
        assert_eq!(real_time_options("quiet"), "no option for real time");
    }
}
