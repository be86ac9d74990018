//! Machines that are odd: files that are missing, hidden or full of nonsense are normal.

use crate::doctor::machine::{Machine, good};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use vecud::doctor::show::{self, TextStyle};
use vecud::doctor::{Case, MachineFacts, Target, Tree, Trials, against, rules};

/// All output of a case; that there is one is the point.
fn everything(case: &Case) -> [String; 3] {
    let findings = rules::findings(case);
    let text = show::text(case, &findings, None, TextStyle { columns: 80, color: false });
    let json = show::json(case, &findings, None);
    let _: serde_json::Value = serde_json::from_str(&json).unwrap();
    [text, json, show::script(case, &findings)]
}

#[test]
fn a_machine_without_any_file_has_a_page_too() {
    let folder = crate::program::tempdir().unwrap();
    for root in [folder.path(), Path::new("/does/not/exist"), Path::new("/dev/null")] {
        let target = Target { rig: None, cpus: vec![0, 9999], band: (51, 89) };
        let facts = MachineFacts::read(&Tree::at(root), &target.cpus);
        let [text, ..] = everything(&Case { target, facts, trials: Trials::default(), probe: None });
        assert!(
            text.contains("whether the kernel is a PREEMPT_RT one is not known") && text.contains("not measured"),
            "{text}"
        );
    }
}

fn files(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() { files(&entry, found) } else { found.push(entry) }
    }
}

fn all_files(machine: &Machine) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    files(machine.root(), &mut found);
    found
}

#[test]
fn nonsense_in_every_file_is_survived() {
    let nonsense: [&[u8]; 9] = [
        b"",
        b"\n\n\n",
        b"\xff\xfe\x00\x00",
        b"18446744073709551616",
        b"0-18446744073709551615",
        b"-9223372036854775808",
        b"CPU0 CPU18446744073709551615\n 9: x y\n:\n 1:\n",
        b"[] () [ ) ((",
        "\x1b[2J \u{202e}it's $(reboot) `x`\n'\n".as_bytes(),
    ];
    for content in nonsense {
        let machine = good();
        for file in all_files(&machine) {
            fs::write(file, content).unwrap();
        }
        for output in everything(&machine.case()) {
            assert!(!output.contains(['\x1b', '\u{202e}']), "{output}");
        }
        // And one at a time, among files that are as they should be.
        let machine = good();
        for file in all_files(&machine) {
            let before = fs::read(&file).unwrap();
            fs::write(&file, content).unwrap();
            rules::findings(&machine.case());
            fs::write(&file, before).unwrap();
        }
    }
}

#[test]
fn a_value_that_is_no_number_is_shown_and_not_believed() {
    let machine = good();
    machine.put("/proc/sys/vm/stat_interval", "soon");
    machine.put("/proc/sys/kernel/sched_rt_runtime_us", "some");
    let bad = machine.bad();
    let found: Vec<&str> = bad.iter().map(|finding| finding.found.as_str()).collect();
    assert_eq!(found, ["sched_rt_runtime_us reads `some`", "vm.stat_interval = soon"]);
}

#[test]
fn what_this_user_may_not_read_is_said_as_this_user() {
    let machine = good();
    let folder = machine.tree().path("/sys/kernel/debug");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o000)).unwrap();
    let readable = fs::read_dir(&folder).is_ok();
    let bad = machine.bad();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    if readable {
        // Root reads everything.
        assert_eq!(bad, []);
    } else {
        assert!(bad[0].found.contains("debugfs refuses"), "{bad:#?}");
    }
}

#[test]
fn pages_fit_every_screen() {
    let mut machine = good();
    machine.put("/proc/cmdline", &"isolcpus=".repeat(200));
    machine.put("/proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC\n");
    machine.remove("/sys/kernel/realtime");
    machine.target.rig = Some("a rig with quite a long name of its own".to_owned());
    machine.probe.cores[0].preempted = 1_000_000;
    let case = machine.case();
    let findings = rules::findings(&case);
    // Everything has become worse, and much of it.
    let saved = show::json(&good().case(), &[], None).replace("\"p50_ns\": 2", "\"p50_ns\": 1");
    let file = "/a/folder/with/quite/a/long/name/of/its/own/and/saved.json".to_owned();
    let against = against::compare(file, serde_json::from_str(&saved).unwrap(), case.probe.as_ref(), &findings);
    assert!(against.cores.len() > 1 && !against.new.is_empty());
    for columns in [0, 20, 40, 60, 77, 78, 80, 95, 96, 100, 300] {
        let plain = show::text(&case, &findings, Some(&against), TextStyle { columns, color: false });
        let widest = plain.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns.clamp(32, 110), "{columns}: {widest}\n{plain}");
        assert!(!plain.contains('\x1b') && plain.lines().all(|line| line.trim_end() == line), "{plain}");
        let mut colored = show::text(&case, &findings, Some(&against), TextStyle { columns, color: true });
        for code in ["0", "1", "2", "31", "32", "33"] {
            colored = colored.replace(&format!("\x1b[{code}m"), "");
        }
        assert_eq!(colored, plain);
    }
}
