//! The units in systemd/ are such that systemd accepts them, and they start the vecud that is here.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

const VECUD: &str = env!("CARGO_BIN_EXE_vecud");

/// The services: one rig, and the daemon.
const SERVICES: [&str; 2] = ["vecud@.service", "vecud.service"];

fn unit(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("systemd").join(name)).unwrap()
}

/// What stands after `key=`, once or more often.
fn values<'a>(unit: &'a str, key: &str) -> Vec<&'a str> {
    unit.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('=')).collect()
}

/// Asks systemd about units of these names and texts.
fn accepted(test: &str, units: &[(&str, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    let files = units.iter().map(|(name, text)| {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        file
    });
    let files: Vec<_> = files.collect();
    let output = match Command::new("systemd-analyze").args(["verify", "--man=no"]).args(&files).output() {
        Ok(output) => output,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: systemd-analyze: {error}");
            return;
        }
    };
    let said = String::from_utf8_lossy(&output.stderr);
    // What is wrong with other units of this machine is none of ours; unknown keys are warnings that name the file.
    assert!(output.status.success(), "{said}");
    for (name, _) in units {
        assert!(!said.contains(name), "{said}");
    }
}

#[test]
fn systemd_accepts_it() {
    // Verification wants programs that exist; this one is not installed.
    let of = |name: &str| unit(name).replace("/usr/local/bin/vecud", VECUD);
    accepted("systemd_accepts_it", &[("vecud@engine.service", &of("vecud@.service"))]);
    let daemon = [("vecud.service", &*of("vecud.service")), ("vecud.socket", &*of("vecud.socket"))];
    accepted("systemd_accepts_it", &daemon);
}

#[test]
fn systemd_accepts_the_one_for_interrupts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("rt-config");
    let text = fs::read_to_string(root.join("systemd/vecud-irq-affinity.service")).unwrap();
    let program = root.join("irq-affinity").display().to_string();
    let text = text.replace("/usr/local/sbin/vecud-irq-affinity", &program);
    accepted("systemd_accepts_the_one_for_interrupts", &[("vecud-irq-affinity.service", &text)]);
}

/// `command` of vecud has all options that the service starts it with.
fn starts(service: &str, command: &str) {
    let unit = unit(service);
    let [start] = values(&unit, "ExecStart")[..] else { panic!("one ExecStart") };
    let words: Vec<&str> = start.split_whitespace().collect();
    assert_eq!(words[..2], ["/usr/local/bin/vecud", command]);
    let help = Command::new(VECUD).args([command, "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let options: Vec<&&str> = words.iter().filter(|word| word.starts_with("--")).collect();
    assert!(!options.is_empty());
    for option in options {
        assert!(help.split_whitespace().any(|word| word == *option), "vecud {command} has no {option}:\n{help}");
    }
}

#[test]
fn it_starts_vecud_with_options_that_exist() {
    starts("vecud@.service", "run");
    if cfg!(feature = "daemon") {
        starts("vecud.service", "daemon");
    }
}

/// The daemon makes its socket where the socket unit would, so that clients need not know which of them did.
#[test]
fn the_socket_is_where_the_daemon_would_make_it() {
    let (service, socket) = (unit("vecud.service"), unit("vecud.socket"));
    let folder = values(&service, "RuntimeDirectory")[0];
    assert_eq!(values(&socket, "ListenStream"), [format!("/run/{folder}/vecud.sock")]);
    assert_eq!(values(&socket, "SocketMode"), ["0660"]);
    assert_eq!(values(&socket, "SocketGroup"), values(&service, "Group"));
    // Else the folder goes with the daemon, and the socket with it.
    assert_eq!(values(&service, "RuntimeDirectoryPreserve"), ["yes"]);
    assert!(!values(&service, "ExecStart")[0].contains("--socket"), "which is refused beside a socket unit");
}

/// What tells systemd how the daemon gets on, and what systemd does about it.
#[test]
fn the_daemon_is_watched_and_starts_anew() {
    let unit = unit("vecud.service");
    for (key, value) in [("Type", "notify"), ("Restart", "on-failure"), ("KillMode", "mixed"), ("NotifyAccess", "main")]
    {
        assert_eq!(values(&unit, key), [value], "{key}");
    }
    // A session that does not look around for 3 s is stuck at the earliest.
    assert!(values(&unit, "WatchdogSec")[0].parse::<u32>().unwrap() >= 6);
}

#[test]
fn it_does_not_take_away_what_real_time_threads_need() {
    for service in SERVICES {
        let unit = unit(service);
        assert_eq!(values(&unit, "AmbientCapabilities"), ["CAP_SYS_NICE CAP_IPC_LOCK"]);
        for unlimited in ["LimitMEMLOCK", "LimitRTTIME"] {
            assert_eq!(values(&unit, unlimited), ["infinity"]);
        }
        let priority: u8 = values(&unit, "LimitRTPRIO")[0].parse().unwrap();
        assert!(priority >= vecud::rig::RigHost::default().fifo_priorities.value.1.get());
        for harmful in ["PrivateDevices", "RestrictRealtime", "CPUQuota", "CPUSchedulingPolicy", "SystemCallFilter"] {
            assert!(values(&unit, harmful).is_empty(), "{service}: {harmful}");
        }
    }
}

/// What a service is kept from, and that what a rig needs is left: loopback, a task for each partition, files of its own.
#[test]
fn fmu_code_in_it_is_kept_to_itself() {
    for service in SERVICES {
        let unit = unit(service);
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
            assert_eq!(values(&unit, key), [value], "{service}: {key}");
        }
        // Rigs with thousands of clocks are run.
        assert!(values(&unit, "TasksMax")[0].parse::<u32>().unwrap() > 5000);
    }
}
