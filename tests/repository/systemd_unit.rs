//! The unit in systemd/ is one that systemd accepts, and it starts the vecud that is here.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

const VECUD: &str = env!("CARGO_BIN_EXE_vecud");

fn unit() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("systemd/vecud@.service")).unwrap()
}

/// What stands after `key=`, once or more often.
fn values<'a>(unit: &'a str, key: &str) -> Vec<&'a str> {
    unit.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('=')).collect()
}

/// Asks systemd about a unit of this text; `name` is a word that its complaints would have.
fn accepted(test: &str, name: &str, text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(format!("{name}.service"));
    fs::write(&file, text).unwrap();
    let output = match Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&file).output() {
        Ok(output) => output,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: systemd-analyze: {error}");
            return;
        }
    };
    let said = String::from_utf8_lossy(&output.stderr);
    // What is wrong with other units of this machine is none of ours; unknown keys are warnings that name the file.
    assert!(output.status.success() && !said.contains(name), "{said}");
}

#[test]
fn systemd_accepts_it() {
    // Verification wants programs that exist; this one is not installed.
    accepted("systemd_accepts_it", "vecud@engine", &unit().replace("/usr/local/bin/vecud", VECUD));
}

#[test]
fn systemd_accepts_the_one_for_interrupts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("rt-config");
    let text = fs::read_to_string(root.join("systemd/vecud-irq-affinity.service")).unwrap();
    let program = root.join("irq-affinity").display().to_string();
    let text = text.replace("/usr/local/sbin/vecud-irq-affinity", &program);
    accepted("systemd_accepts_the_one_for_interrupts", "vecud-irq-affinity", &text);
}

#[test]
fn it_starts_vecud_with_options_that_exist() {
    let unit = unit();
    let [start] = values(&unit, "ExecStart")[..] else { panic!("one ExecStart") };
    let words: Vec<&str> = start.split_whitespace().collect();
    assert_eq!(words[..2], ["/usr/local/bin/vecud", "run"]);
    let help = Command::new(VECUD).args(["run", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let options: Vec<&&str> = words.iter().filter(|word| word.starts_with("--")).collect();
    assert!(!options.is_empty());
    for option in options {
        assert!(help.split_whitespace().any(|word| word == *option), "vecud run has no {option}:\n{help}");
    }
}

#[test]
fn it_does_not_take_away_what_real_time_threads_need() {
    let unit = unit();
    assert_eq!(values(&unit, "AmbientCapabilities"), ["CAP_SYS_NICE CAP_IPC_LOCK"]);
    for unlimited in ["LimitMEMLOCK", "LimitRTTIME"] {
        assert_eq!(values(&unit, unlimited), ["infinity"]);
    }
    let priority: u8 = values(&unit, "LimitRTPRIO")[0].parse().unwrap();
    assert!(priority >= vecud::rig::RigHost::default().fifo_priorities.value.1.get());
    for harmful in ["PrivateDevices", "RestrictRealtime", "CPUQuota", "CPUSchedulingPolicy", "SystemCallFilter"] {
        assert!(values(&unit, harmful).is_empty(), "{harmful}");
    }
}

/// What the service is kept from, and that what a rig needs is left: loopback, a task for each partition, files of its own.
#[test]
fn fmu_code_in_it_is_kept_to_itself() {
    let unit = unit();
    for (key, value) in [
        ("NoNewPrivileges", "yes"),
        ("ProtectKernelTunables", "yes"),
        ("ProtectProc", "invisible"),
        ("UMask", "0027"),
        ("StateDirectoryMode", "0750"),
        ("CacheDirectoryMode", "0700"),
        ("IPAddressDeny", "any"),
        ("IPAddressAllow", "localhost"),
        ("MemoryMax", "75%"),
        ("CapabilityBoundingSet", "CAP_SYS_NICE CAP_IPC_LOCK"),
    ] {
        assert_eq!(values(&unit, key), [value], "{key}");
    }
    // Rigs with thousands of clocks are run.
    assert!(values(&unit, "TasksMax")[0].parse::<u32>().unwrap() > 5000);
}
