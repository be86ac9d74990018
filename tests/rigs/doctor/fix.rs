//! The script of `--fix`: a shell takes it, and what it writes is what the rules want.

use crate::doctor::machine::{Machine, good, refusal};
use std::process::Command;
use vecud::doctor::{Level, Needs, show};

/// All that is wrong and that a value in a file changes.
fn bad() -> Machine {
    let mut machine = good();
    for (path, text) in [
        ("/proc/sys/kernel/sched_rt_runtime_us", "950000"),
        ("/proc/sys/kernel/timer_migration", "1"),
        ("/proc/sys/kernel/numa_balancing", "1"),
        ("/proc/sys/kernel/nmi_watchdog", "1"),
        ("/proc/sys/vm/compact_unevictable_allowed", "1"),
        ("/proc/sys/vm/compaction_proactiveness", "20"),
        ("/proc/sys/vm/stat_interval", "1"),
        ("/proc/swaps", "Filename Type\n/swapfile file\n"),
        ("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never"),
        ("/sys/kernel/debug/sched/fair_server/cpu2/runtime", "50000000"),
        ("/sys/kernel/debug/sched/fair_server/cpu3/runtime", "50000000"),
        ("/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "schedutil"),
        ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet"),
        ("/sys/fs/cgroup/user.slice/cpu.max", "50000 100000"),
        ("/proc/irq/30/effective_affinity_list", "3"),
    ] {
        machine.put(path, text);
    }
    machine.trials.sleep_refused = refusal("cannot hold /dev/cpu_dma_latency: EACCES");
    machine
}

#[test]
fn what_it_writes_is_what_the_rules_want() {
    let machine = bad();
    let checks = |machine: &Machine| machine.bad().iter().map(|finding| finding.check).collect::<Vec<_>>();
    assert_eq!(checks(&machine).len(), 16, "{:?}", checks(&machine));
    let case = machine.case();
    let script = show::script(&case, &machine.findings());
    assert!(!script.lines().any(|line| line.starts_with("try ")), "only values, so that it can run here:\n{script}");
    // On the made-up machine, where nobody asks for root.
    let root = machine.root().display().to_string();
    let here = script.replace("put -1 /", &format!("put -1 {root}/"));
    let here = here.lines().map(|line| match line.strip_prefix("put ").and_then(|rest| rest.split_once(" /")) {
        Some((value, path)) if !path.starts_with(&root[1..]) => format!("put {value} {root}/{path}"),
        _ => line.replace("\"$(id -u)\"", "0"),
    });
    let here = here.collect::<Vec<_>>().join("\n");
    // Or it would change the machine that runs the test.
    assert!(here.lines().filter(|line| line.starts_with("put ")).all(|line| line.contains(&root)), "{here}");
    let output = Command::new("sh").arg("-c").arg(&here).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("refused"), "{said}\n{here}");
    assert_eq!(machine.get("/proc/irq/30/smp_affinity_list"), "0-1\n");
    // What kernels answer to what was written there.
    machine.put("/proc/irq/30/effective_affinity_list", "1");
    machine.put("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]");
    machine.put("/sys/fs/cgroup/user.slice/cpu.max", "max 100000");
    assert_eq!(checks(&machine), [""; 0]);
}

#[test]
fn shells_take_it_whatever_the_machine_holds() {
    let mut machine = bad();
    machine.target.rig = Some("it's a\nrig; $(touch x) `id`".to_owned());
    machine.thread(77, "x\nrm -rf \"$HOME\" '; exit 7", true, 80, 1, "0-3");
    machine.put("/proc/self/cgroup", "0::/it's a $(group)\n");
    machine.put("/sys/fs/cgroup/it's a $(group)/cpu.max", "1 2\n");
    machine.put("/proc/cmdline", "isolcpus=$(reboot)';exit nohz=\n");
    machine.trials.memory_refused = refusal("cannot: '$(exit 9)'\nexit 9");
    let script = show::script(&machine.case(), &machine.findings());
    let folder = crate::program::tempdir().unwrap();
    let file = folder.path().join("fix.sh");
    std::fs::write(&file, &script).unwrap();
    for shell in ["sh", "bash", "dash", "busybox"] {
        let mut command = Command::new(shell);
        if shell == "busybox" {
            command.arg("sh");
        }
        match command.arg("-n").arg(&file).output() {
            Ok(output) => {
                assert!(output.status.success(), "{shell}: {}\n{script}", String::from_utf8_lossy(&output.stderr))
            }
            Err(error) => assert_ne!(shell, "sh", "{error}"),
        }
    }
    if let Ok(output) = Command::new("shellcheck").arg(&file).output() {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    // Every line is the head's, a comment, or one of the head's functions on quoted words.
    let body = script.split_once("\nfi\n\n#").unwrap().1;
    for line in body.lines().skip(1).filter(|line| !line.is_empty()) {
        let known = ["# ", "put ", "try ", "later ", "exit \"$failed\""];
        assert!(known.iter().any(|known| line.starts_with(known)), "{line}");
    }
    assert!(body.contains(r"'/sys/fs/cgroup/it'\''s a $(group)/cpu.max'"), "{body}");
}

#[test]
fn it_says_what_takes_more_than_a_command() {
    let mut machine = good();
    machine.put("/proc/sys/kernel/version", "#1 SMP\n");
    machine.remove("/sys/kernel/realtime");
    machine.put("/sys/devices/system/cpu/isolated", "");
    (machine.trials.fifo, machine.trials.fifo_refused) = (None, refusal("EPERM"));
    machine.put("/proc/cpuinfo", "flags : hypervisor\n");
    let findings = machine.findings();
    let script = show::script(&machine.case(), &findings);
    for finding in findings.iter().filter(|finding| finding.level != Level::Ok) {
        let fix = finding.fix.as_ref().unwrap();
        let word = match fix.needs {
            Needs::Reboot => "later '(a reboot)",
            Needs::Login => "later '(a new login)",
            Needs::Host => "later '(outside of this system)",
            other => panic!("{other:?}"),
        };
        assert!(script.contains(word), "{word}\n{script}");
        assert!(fix.file.is_none_or(|file| script.contains(&format!("# lasting: {file}\n"))), "{script}");
    }
}
