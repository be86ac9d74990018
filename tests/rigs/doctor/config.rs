//! `rt-config/` and `systemd/`: what a fix names is there, and with what it holds the rules find nothing.

use crate::doctor::machine::{Machine, good};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use vecud::doctor::{FILES, rules::settings::SWITCHES};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(file(name)).unwrap()
}

/// `key = value` lines; a leading `-` of a key belongs to sysctl.
fn values(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', '[']));
    let pair = |line: &str| line.split_once('=').map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()));
    lines.filter_map(|line| pair(line.trim_start_matches('-'))).collect()
}

/// The part of an INI file under `[name]`.
fn section<'a>(text: &'a str, name: &str) -> &'a str {
    let begin = text.find(&format!("\n[{name}]\n")).unwrap_or_else(|| panic!("no [{name}]")) + 1;
    let rest = &text[begin..];
    rest[1..].find("\n[").map_or(rest, |end| &rest[..end + 1])
}

fn checks(machine: &Machine) -> Vec<&'static str> {
    machine.bad().iter().map(|finding| finding.check).collect()
}

#[test]
fn every_file_that_a_fix_names_exists() {
    for name in FILES {
        assert!(file(name).is_file(), "{name}");
    }
}

/// A machine as kernels are by default becomes one without findings.
#[test]
fn sysctl_values_satisfy_the_rules() {
    let machine = good();
    for switch in SWITCHES {
        machine.put(&format!("/proc/sys/{}", switch.key), "1");
    }
    machine.put("/proc/sys/kernel/sched_rt_runtime_us", "950000");
    machine.put("/proc/swaps", "Filename Type\n/swapfile file\n");
    assert_eq!(checks(&machine).len(), SWITCHES.len() + 2);
    let set = values(&read("rt-config/sysctl.d/99-vecud.conf"));
    for (key, value) in &set {
        machine.put(&format!("/proc/sys/{}", key.replace('.', "/")), value);
    }
    assert_eq!(checks(&machine), [""; 0]);
    for switch in SWITCHES {
        assert_eq!(set.get(&switch.key.replace('/', ".")), Some(&switch.good.to_string()), "{}", switch.key);
    }
    let tuned = values(section(&read("rt-config/tuned/vecud/tuned.conf"), "sysctl"));
    assert_eq!(tuned, set, "tuned and sysctl");
}

#[test]
fn the_tuned_profile_satisfies_the_rules() {
    let text = read("rt-config/tuned/vecud/tuned.conf");
    let machine = good();
    let huge_pages = "/sys/kernel/mm/transparent_hugepage/enabled";
    machine.put(huge_pages, "[always] madvise never");
    for cpu in 0..4 {
        machine.put(&format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"), "ondemand");
        machine.put(&format!("/sys/kernel/debug/sched/fair_server/cpu{cpu}/runtime"), "50000000");
    }
    assert_eq!(checks(&machine), ["fair_server", "governor", "huge_pages"]);
    let (cpu, vm, sysfs) = (section(&text, "cpu"), section(&text, "vm"), section(&text, "sysfs"));
    let server = &values(sysfs)["/sys/kernel/debug/sched/fair_server/cpu*/runtime"];
    for number in 0..4 {
        machine.put(&format!("/sys/devices/system/cpu/cpu{number}/cpufreq/scaling_governor"), &values(cpu)["governor"]);
        machine.put(&format!("/sys/kernel/debug/sched/fair_server/cpu{number}/runtime"), server);
    }
    let mode = &values(vm)["transparent_hugepages"];
    machine.put(huge_pages, &"always madvise never".replace(mode.as_str(), &format!("[{mode}]")));
    assert_eq!(checks(&machine), [""; 0]);
}

/// Installed for the cores of rigs, and read by a shell as `update-grub` does.
#[test]
fn the_command_line_satisfies_the_rules() {
    let root = installed(&["--cores", "2-3", "grub"]);
    let line = format!(
        "set -u; GRUB_CMDLINE_LINUX=quiet; . '{}'; echo \"$GRUB_CMDLINE_LINUX\"",
        root.path().join("etc/default/grub.d/vecud.cfg").display()
    );
    let output = Command::new("sh").arg("-c").arg(line).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let line = String::from_utf8(output.stdout).unwrap();
    assert!(line.starts_with("quiet ") && line.contains("isolcpus=managed_irq,domain,2-3 "), "{line}");
    let machine = good();
    machine.put("/proc/cmdline", "quiet");
    assert_eq!(checks(&machine), ["command_line"]);
    machine.put("/proc/cmdline", &line);
    assert_eq!(checks(&machine), [""; 0]);
}

#[test]
fn limits_and_devices_are_those_that_a_run_needs() {
    let limits = read("rt-config/limits.d/vecud.conf");
    let limit = |item: &str| {
        let line = limits.lines().find(|line| line.starts_with("@vecud") && line.contains(item)).unwrap();
        line.split_whitespace().next_back().unwrap().to_owned()
    };
    let unit = values(&read("systemd/vecud@.service"));
    assert!(limit("rtprio").parse::<u8>().unwrap() >= 89);
    assert_eq!(limit("rtprio"), unit["LimitRTPRIO"]);
    assert_eq!((limit("memlock").as_str(), unit["LimitMEMLOCK"].as_str()), ("unlimited", "infinity"));
    let rule = read("rt-config/udev/99-vecud.rules");
    assert!(rule.contains("KERNEL==\"cpu_dma_latency\"") && rule.contains("GROUP=\"vecud\", MODE=\"0660\""), "{rule}");
    assert_eq!((unit["Group"].as_str(), unit["DeviceAllow"].as_str()), ("vecud", "/dev/cpu_dma_latency rw"));
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn install(root: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.arg(file("rt-config/install")).arg("--root").arg(root).args(arguments);
    command.output().unwrap()
}

fn installed(arguments: &[&str]) -> tempfile::TempDir {
    let root = crate::program::tempdir().unwrap();
    let output = install(root.path(), arguments);
    assert!(output.status.success(), "{}", said(&output));
    root
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() { found.extend(files_below(&entry)) } else { found.push(entry) }
    }
    found
}

#[test]
fn what_is_installed_is_taken_away_again_and_nothing_else() {
    let root = crate::program::tempdir().unwrap();
    let others = root.path().join("etc/sysctl.d/10-mine.conf");
    fs::create_dir_all(others.parent().unwrap()).unwrap();
    fs::write(&others, "vm.swappiness = 1\n").unwrap();
    let output = install(root.path(), &["--dry-run", "--cores", "2-3"]);
    assert!(output.status.success() && said(&output).contains("would install"), "{}", said(&output));
    assert_eq!(files_below(root.path()), [others.as_path()]);
    let output = install(root.path(), &["--cores", "2-3"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(files_below(root.path()).len(), 1 + 7, "{}", said(&output));
    let service = fs::read_to_string(root.path().join("etc/systemd/system/vecud-irq-affinity.service")).unwrap();
    assert!(service.contains("\nExecStart=/usr/local/sbin/vecud-irq-affinity 2-3\n"), "{service}");
    let output = install(root.path(), &["--uninstall"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(files_below(root.path()), [others]);
}

#[test]
fn a_wrong_list_of_cores_installs_nothing() {
    let root = crate::program::tempdir().unwrap();
    for bad in [&["--cores", "2;reboot"][..], &["--cores", "-1"], &["--cores", "2-"], &["grub"], &[], &["nothing"]] {
        let output = install(root.path(), bad);
        assert_eq!(output.status.code(), Some(2), "{bad:?}: {}", said(&output));
        assert_eq!(files_below(root.path()), [""; 0].map(PathBuf::from), "{bad:?}");
    }
}

/// The script on a made-up machine: paths are replaced, nothing else.
#[test]
fn interrupts_go_to_all_other_cores() {
    let machine = good();
    machine.put("/proc/irq/default_smp_affinity", "f");
    let root = machine.root().display().to_string();
    let script = read("rt-config/irq-affinity");
    let script = script.replace("/proc/", &format!("{root}/proc/")).replace("/sys/", &format!("{root}/sys/"));
    let run = |cores: &[&str]| Command::new("sh").args(["-c", &script, "irq-affinity"]).args(cores).output().unwrap();
    let output = run(&[]);
    assert!(output.status.success() && said(&output).contains("2 interrupts go to 0,1"), "{}", said(&output));
    assert_eq!(machine.get("/proc/irq/30/smp_affinity_list"), "0,1\n");
    assert_eq!(machine.get("/proc/irq/default_smp_affinity"), "3\n");
    assert!(said(&run(&["0,2-3"])).contains("go to 1"));
    assert_eq!(run(&["0-3"]).status.code(), Some(2));
    assert_eq!(run(&["2;x"]).status.code(), Some(2));
    machine.put("/sys/devices/system/cpu/isolated", "");
    let output = run(&[]);
    assert!(output.status.success() && said(&output).contains("nothing to do"), "{}", said(&output));
}
