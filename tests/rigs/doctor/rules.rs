//! Each rule: a good machine gives no finding, and one fact that is bad gives its finding with its way out.

use crate::doctor::machine::{INTERRUPTS, Machine, good, refusal};
use vecud::doctor::{Action, Finding, Level};
use vecud::record::histogram::Histogram;

#[test]
fn a_good_machine_has_nothing_to_change() {
    let findings = good().findings();
    assert_eq!(good().bad(), []);
    assert!(findings.len() > 20, "{}", findings.len());
    assert!(
        findings.iter().all(|finding| finding.why.is_empty() && finding.fix.is_none() && !finding.found.is_empty())
    );
}

/// All that a fix says.
fn fix(finding: &Finding) -> String {
    let Some(fix) = &finding.fix else { return String::new() };
    let mut words: Vec<String> = fix.now.iter().map(Action::command).collect();
    words.extend([fix.words.clone(), fix.file.unwrap_or_default().to_owned(), fix.needs.word().to_owned()]);
    words.join("\n")
}

/// What is wrong with a machine: checks and levels.
fn levels(machine: &Machine) -> Vec<(&'static str, Level)> {
    machine.bad().into_iter().map(|finding| (finding.check, finding.level)).collect()
}

/// A change of the good machine, and the one finding that it must give: check, level, words in what was found, in the fix.
type Row = (fn(&mut Machine), &'static str, Level, &'static [&'static str], &'static [&'static str]);

fn expect(rows: &[Row]) {
    for (index, (change, check, level, found, ways)) in rows.iter().enumerate() {
        let mut machine = good();
        change(&mut machine);
        let bad = machine.bad();
        let [finding] = &bad[..] else { panic!("row {index}, {check}: {bad:#?}") };
        assert_eq!((finding.check, finding.level), (*check, *level), "row {index}: {finding:#?}");
        assert!(finding.why.len() > 20, "{finding:#?}");
        for word in *found {
            assert!(finding.found.contains(word), "row {index}: no `{word}` in {finding:#?}");
        }
        let fix = fix(finding);
        for word in *ways {
            assert!(fix.contains(word), "row {index}: no `{word}` in {fix}");
        }
    }
}

use Level::{Advice, Problem};

#[test]
fn the_kernel() {
    expect(&[
        (
            |m| {
                m.put("/proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian\n");
                m.remove("/sys/kernel/realtime");
                m.put("/sys/kernel/debug/sched/preempt", "none (voluntary) full\n");
            },
            "kernel",
            Problem,
            &["no PREEMPT_RT kernel", "preempt=voluntary"],
            &["linux-image-rt-", "echo full > /sys/kernel/debug/sched/preempt", "rt-config/grub.d/vecud.cfg", "reboot"],
        ),
        (
            |m| {
                m.put("/proc/sys/kernel/version", "#1 SMP\n");
                m.remove("/sys/kernel/realtime");
            },
            "kernel",
            Problem,
            &["6.18.3"],
            &["linux-image-rt-", "reboot"],
        ),
        (
            |m| m.put("/proc/cmdline", "root=/dev/sda1 secret=xyz isolcpus=2-3\n"),
            "command_line",
            Advice,
            &["isolcpus=2-3", "rcu_nocbs= does not cover cores 2-3"],
            &["rt-config/grub.d/vecud.cfg", "install --cores 2-3 grub", "reboot"],
        ),
        (
            |m| m.put("/proc/cmdline", "rcu_nocbs=2\n"),
            "command_line",
            Advice,
            &["rcu_nocbs= does not cover"],
            &["rt-config/grub.d/vecud.cfg"],
        ),
        (
            |m| m.put("/proc/cpuinfo", "model name\t: Made-up\nflags\t\t: fpu hypervisor tsc\n"),
            "virtual_machine",
            Advice,
            &["virtual machine"],
            &["host"],
        ),
        (
            |m| m.put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n"),
            "clock_source",
            Advice,
            &["hpet"],
            &["echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"],
        ),
        (
            |m| {
                m.put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "refined-jiffies\n");
                m.put("/sys/devices/system/clocksource/clocksource0/available_clocksource", "refined-jiffies\n");
            },
            "clock_source",
            Problem,
            &["jiffies"],
            &["tsc=reliable"],
        ),
    ]);
}

#[test]
fn what_is_not_granted() {
    expect(&[
        (
            |m| (m.trials.fifo, m.trials.fifo_refused) = (None, refusal("cannot set SCHED_FIFO priority 89: EPERM")),
            "fifo",
            Problem,
            &["no SCHED_FIFO", "EPERM"],
            &["ask for it", "rt-config/limits.d/vecud.conf", "login"],
        ),
        (
            |m| (m.trials.fifo, m.trials.fifo_refused) = (Some(40), refusal("EPERM")),
            "fifo",
            Problem,
            &["up to 40, of 51 to 89"],
            &["rt-config/limits.d/vecud.conf"],
        ),
        (
            |m| (m.trials.fifo, m.trials.fifo_refused) = (Some(60), refusal("EPERM")),
            "fifo",
            Advice,
            &["up to 60, of 51 to 89"],
            &["rt-config/limits.d/vecud.conf"],
        ),
        (
            |m| m.trials.memory_refused = refusal("cannot lock all memory: ENOMEM"),
            "memory",
            Problem,
            &["ENOMEM"],
            &["ask for it", "rt-config/limits.d/vecud.conf"],
        ),
        (
            |m| m.trials.pins_refused.extend(refusal("cannot pin a thread to core 3: EINVAL").map(|why| (3, why))),
            "affinity",
            Problem,
            &["core 3"],
            &["ask for it"],
        ),
        (
            |m| m.trials.slack_refused = refusal("cannot set the timer slack: EPERM"),
            "timer_slack",
            Advice,
            &["EPERM"],
            &["ask for it"],
        ),
    ]);
}

/// Refused: what it is for matters. With deep sleep states there are two things to say, the refusal and the states.
#[test]
fn sleep_states_matter_where_nothing_keeps_them_off() {
    let mut machine = good();
    machine.trials.sleep_refused = refusal("cannot hold /dev/cpu_dma_latency: EACCES");
    let bad = machine.bad();
    assert_eq!(bad.iter().map(|finding| finding.check).collect::<Vec<_>>(), ["dma_latency", "idle_states"]);
    assert!(fix(&bad[0]).contains("rt-config/udev/99-vecud.rules") && bad[0].why.contains("133 µs"), "{bad:#?}");
    assert!(fix(&bad[1]).contains("echo 1 > /sys/devices/system/cpu/cpu2/cpuidle/state2/disable"), "{bad:#?}");
    assert!(bad[1].found.contains("C6 (133 µs to leave)"), "{bad:#?}");
    // Without deep ones the device is not needed.
    for cpu in [2, 3] {
        machine.put(&format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle/state2/disable"), "1");
    }
    assert_eq!(machine.bad(), []);
}

#[test]
fn what_takes_time_away() {
    expect(&[
        (
            |m| m.put("/proc/sys/kernel/sched_rt_runtime_us", "950000\n"),
            "rt_throttling",
            Advice,
            &["950000 of 1000000 µs"],
            &["echo -1 > /proc/sys/kernel/sched_rt_runtime_us", "rt-config/sysctl.d/99-vecud.conf"],
        ),
        (
            |m| m.put("/sys/kernel/debug/sched/fair_server/cpu3/runtime", "50000000\n"),
            "fair_server",
            Advice,
            &["core 3", "50 ms of 1 s"],
            &["echo 0 > /sys/kernel/debug/sched/fair_server/cpu3/runtime", "rt-config/tuned/vecud/tuned.conf"],
        ),
        (
            |m| m.remove("/sys/kernel/debug"),
            "fair_server",
            Advice,
            &["debugfs is not mounted"],
            &["mount -t debugfs", "echo 0 > /sys/kernel/debug/sched/fair_server/cpu2/runtime"],
        ),
        (
            |m| m.put("/sys/fs/cgroup/user.slice/cpu.max", "50000 100000\n"),
            "cpu_quota",
            Advice,
            &["50000 of 100000 µs", "/sys/fs/cgroup/user.slice/cpu.max"],
            &["echo max > /sys/fs/cgroup/user.slice/cpu.max", "CPUQuota=", "systemd/vecud@.service"],
        ),
        (
            |m| {
                m.put("/proc/self/cgroup", "1:cpu,cpuacct:/a\n");
                m.put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.rt_runtime_us", "0\n");
                m.put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.rt_period_us", "1000000\n");
            },
            "rt_group",
            Problem,
            &["0 of 1000000 µs"],
            &["echo 500000 > /sys/fs/cgroup/cpu,cpuacct/a/cpu.rt_runtime_us"],
        ),
        (
            |m| {
                m.put("/proc/self/cgroup", "1:cpu:/a\n");
                m.put("/sys/fs/cgroup/cpu/a/cpu.rt_runtime_us", "100000\n");
                m.put("/sys/fs/cgroup/cpu/a/cpu.rt_period_us", "1000000\n");
            },
            "rt_group",
            Advice,
            &["100000 of 1000000 µs"],
            &["cpu.rt_runtime_us"],
        ),
    ]);
    // Before Linux 6.12 there is no fair server, whatever debugfs says.
    let machine = good();
    machine.put("/proc/sys/kernel/osrelease", "6.1.0-rt\n");
    machine.remove("/sys/kernel/debug");
    assert_eq!(machine.bad(), []);
    // A kernel with debugfs and without fair server.
    let machine = good();
    machine.remove("/sys/kernel/debug/sched/fair_server");
    assert_eq!(machine.bad(), []);
}

#[test]
fn without_fifo_a_quota_stops_partitions() {
    let mut machine = good();
    machine.put("/sys/fs/cgroup/user.slice/cpu.max", "50000 100000\n");
    (machine.trials.fifo, machine.trials.fifo_refused) = (None, refusal("EPERM"));
    assert_eq!(levels(&machine), [("fifo", Problem), ("cpu_quota", Problem)]);
}

#[test]
fn the_cores() {
    expect(&[
        (
            |m| m.put("/sys/devices/system/cpu/isolated", "2\n"),
            "isolation",
            Advice,
            &["core 3 is not isolated", "2 by isolcpus="],
            &["rt-config/grub.d/vecud.cfg", "install --cores 2-3 grub"],
        ),
        (
            |m| {
                m.put("/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "1-2\n");
            },
            "smt",
            Advice,
            &["share their units with core 1"],
            &["echo 0 > /sys/devices/system/cpu/cpu1/online", "nosmt"],
        ),
        (
            |m| m.put("/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "powersave\n"),
            "governor",
            Advice,
            &["powersave", "core 3"],
            &[
                "echo performance > /sys/devices/system/cpu/cpu3/cpufreq/scaling_governor",
                "rt-config/tuned/vecud/tuned.conf",
            ],
        ),
    ]);
    // Isolated by a cpuset partition is isolated, too.
    let machine = good();
    machine.put("/sys/devices/system/cpu/isolated", "\n");
    machine.put("/sys/fs/cgroup/cpuset.cpus.isolated", "2-3\n");
    assert_eq!(machine.bad(), []);
    // A sibling that is isolated and not in use does nothing.
    let mut machine = good();
    machine.target.cpus = vec![2];
    machine.probe.cores.truncate(1);
    machine.put("/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "2-3\n");
    assert_eq!(machine.bad(), []);
}

#[test]
fn interrupts() {
    expect(&[
        (
            |m| m.put("/proc/irq/30/effective_affinity_list", "2\n"),
            "irq_affinity",
            Advice,
            &["1 interrupt goes to cores 2-3", "none came", "30 eth0-rx"],
            &["echo 0-1 > /proc/irq/30/smp_affinity_list", "rt-config/irq-affinity"],
        ),
        (
            |m| {
                let later = INTERRUPTS.replace("2000          0          0  PCI", "2000          0         17  PCI");
                m.later.push(("/proc/interrupts".to_owned(), later));
            },
            "irq_affinity",
            Advice,
            &["1 of them came during the probe", "eth0-rx (17×)"],
            &["/proc/irq/30/smp_affinity_list"],
        ),
        (
            |m| {
                let later =
                    INTERRUPTS.replace("TLB:       5000       5000        100", "TLB:       5000       5000       900");
                m.later.push(("/proc/interrupts".to_owned(), later));
            },
            "ipi",
            Advice,
            &["160 TLB shootdowns per second"],
            &[],
        ),
    ]);
    // Without PREEMPT_RT what came may have kept the core for milliseconds.
    let mut machine = good();
    machine.remove("/sys/kernel/realtime");
    machine.put("/proc/sys/kernel/version", "#1 SMP\n");
    machine.put("/proc/irq/30/effective_affinity_list", "2\n");
    assert_eq!(levels(&machine), [("kernel", Problem), ("irq_affinity", Advice)]);
    let later = INTERRUPTS.replace("2000          0          0  PCI", "2000          1          0  PCI");
    machine.later.push(("/proc/interrupts".to_owned(), later));
    assert_eq!(levels(&machine), [("kernel", Problem), ("irq_affinity", Problem)]);
}

#[test]
fn other_real_time_threads() {
    expect(&[
        (
            |m| m.thread(77, "irq/31-can0", true, 80, 1, "0-3"),
            "band",
            Advice,
            &["the kernel's irq/31-can0 (FIFO 80, 77)"],
            &["chrt -f -p 50 77", "fifo_priorities"],
        ),
        (|m| m.thread(78, "jackd", false, 60, 2, "3"), "band", Problem, &["jackd (RR 60, 78)"], &["chrt -r -p 50 78"]),
        (
            |m| m.thread(79, "other", false, 95, 1, "0-3"),
            "above_band",
            Problem,
            &["other (FIFO 95, 79)"],
            &["taskset -pc 0-1 79"],
        ),
        (|m| m.thread(80, "dl", false, 0, 6, "0-3"), "above_band", Problem, &["dl (DEADLINE, 80)"], &["taskset"]),
    ]);
    // Elsewhere, or below the band, nobody is in the way; nor is this process itself.
    let machine = good();
    machine.thread(77, "irq/31-can0", true, 80, 1, "0-1");
    machine.thread(78, "low", false, 50, 1, "0-3");
    machine.thread(std::process::id(), "own", false, 89, 1, "0-3");
    assert_eq!(machine.bad(), []);
}

#[test]
fn traces_of_the_kernel_that_killed_runs_have_left() {
    expect(&[(
        |m| m.put("/sys/kernel/tracing/instances/vecud-77/tracing_on", "0"),
        "left_traces",
        Advice,
        &["/sys/kernel/tracing/instances/vecud-77"],
        &["rmdir /sys/kernel/tracing/instances/vecud-77"],
    )]);
    let machine = good();
    machine.thread(77, "vecud", false, 0, 0, "0-3");
    machine.put("/sys/kernel/tracing/instances/vecud-77/tracing_on", "0");
    assert_eq!(machine.bad(), [], "that one is in use");
}

#[test]
fn switches() {
    expect(&[
        (
            |m| m.put("/proc/sys/vm/compact_unevictable_allowed", "1\n"),
            "compact_unevictable_allowed",
            Advice,
            &["vm.compact_unevictable_allowed = 1"],
            &["echo 0 > /proc/sys/vm/compact_unevictable_allowed", "rt-config/sysctl.d/99-vecud.conf"],
        ),
        (
            |m| m.put("/proc/sys/vm/compaction_proactiveness", "20\n"),
            "compaction_proactiveness",
            Advice,
            &[],
            &["sysctl.d"],
        ),
        (|m| m.put("/proc/sys/vm/stat_interval", "1\n"), "stat_interval", Advice, &[], &["echo 10 >"]),
        (|m| m.put("/proc/sys/kernel/numa_balancing", "1\n"), "numa_balancing", Advice, &[], &["echo 0 >"]),
        (|m| m.put("/proc/sys/kernel/nmi_watchdog", "1\n"), "nmi_watchdog", Advice, &[], &["echo 0 >"]),
        (|m| m.put("/proc/sys/kernel/timer_migration", "1\n"), "timer_migration", Advice, &[], &["echo 0 >"]),
        (
            |m| m.put("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n"),
            "huge_pages",
            Advice,
            &["always"],
            &["echo never > /sys/kernel/mm/transparent_hugepage/enabled", "rt-config/tuned/vecud/tuned.conf"],
        ),
        (
            |m| m.put("/proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 8 4 -2\n"),
            "swap",
            Advice,
            &["/dev/sda2", "vm.swappiness = 60"],
            &["echo 10 > /proc/sys/vm/swappiness"],
        ),
    ]);
    let mut machine = good();
    machine.put("/proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 8 4 -2\n");
    machine.trials.memory_refused = refusal("ENOMEM");
    assert_eq!(levels(&machine), [("memory", Problem), ("swap", Problem)]);
}

#[test]
fn the_probe() {
    expect(&[
        (
            |m| m.probe.cores[1].latency = Histogram::of([5_000, 5_000, 100_000]),
            "probe",
            Advice,
            &["FIFO 89", "100 µs late at most"],
            &[],
        ),
        (
            |m| m.probe.cores[0].latency = Histogram::of([5_000, 1_000_000]),
            "probe",
            Problem,
            &["1.00 ms late at most"],
            &[],
        ),
        (
            |m| (m.probe.cores[0].refused, m.probe.cores[0].latency) = (Some("no core".into()), Histogram::default()),
            "probe",
            Problem,
            &["no core"],
            &[],
        ),
        (|m| m.probe.cores[0].faults = 3, "probe_faults", Advice, &["3 page faults"], &["locked"]),
        (|m| m.probe.cores[0].preempted = 1, "probe_preempted", Advice, &["1 time"], &[]),
    ]);
    let mut machine = good();
    machine.probe.cores[0].latency = Histogram::of([99_999]);
    // An ordinary thread is preempted as a matter of course.
    (machine.probe.cores[1].priority, machine.probe.cores[1].preempted) = (None, 4);
    assert_eq!(machine.bad(), []);
}
