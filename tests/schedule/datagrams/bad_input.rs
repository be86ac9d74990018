//! Sources of datagrams that cannot be: told by the plan, or found out before anything runs.

use super::*;

/// The lines that it says, but for those of an FMU that has been built for long, as on a busy machine.
fn told(stderr: &str) -> Vec<&str> {
    stderr.lines().filter(|line| !line.starts_with("opening FMU `a`, building it if need be: for ")).collect()
}

/// A rig that is refused with these words, and leaves nothing behind.
#[track_caller]
fn refused(rig: &Rig, words: &[&str]) {
    let run = rig.run().exits(2);
    for word in words {
        assert!(run.stderr.contains(word), "no {word:?} in: {}", run.stderr);
    }
    assert_eq!(told(&run.stderr).len(), 1, "{}", run.stderr);
    assert!(!run.out.exists() && !run.has_trace("a"), "nothing has run");
}

/// The same, and `vecud check` says it in the same words.
#[track_caller]
fn refused_by_check(rig: &Rig, words: &[&str]) {
    refused(rig, words);
    let mut check = Command::new(env!("CARGO_BIN_EXE_vecud"));
    let output = check.arg("check").arg(rig.file()).env("VECUD_CACHE", program::cache()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(told(&String::from_utf8(output.stderr).unwrap()), told(&rig.run().stderr));
}

/// `triggers` begin in line 9; each takes four lines, the second its clock's, the third its address's.
fn rig(triggers: &str) -> Rig {
    Rig::new("stop_time = 0.1").tracer("a", ALONE).more(triggers)
}

#[test]
fn what_the_rig_says_wrong_has_its_line_and_column() {
    let local = address();
    for (trigger, words) in [
        (udp("a.fast", local, ""), vec!["10:9: a.fast is a constant clock: only triggered clocks can have a trigger"]),
        (udp("a.out_high", local, ""), vec!["10:9: a.out_high is no input clock"]),
        (udp("a.hihg", local, ""), vec!["10:9: a has no clock \"hihg\"; did you mean \"high\"?"]),
        (udp("a.high", local, "max_rate = -1"), vec!["12:12: max_rate must be a number of events per second"]),
        (udp("a.high", "192.0.2.1:5005".parse().unwrap(), ""), vec!["11:7: udp = ", "allow_remote = true"]),
        (udp("a.high", "127.0.0.1:0".parse().unwrap(), ""), vec!["11:7: udp = ", "port 0"]),
        (udp("a.high", local, "unix = \"x\""), vec!["12:1: [[trigger]] has both udp and unix"]),
        (unix("a.high", &"x".repeat(108), ""), vec!["11:8: unix = ", "is too long"]),
        (
            udp("a.high", local, "") + &udp("a.low", local, ""),
            vec!["15:7: udp 127.0.0.1:", "is the address of a.high's trigger already (line 10)"],
        ),
        (udp("a.high", local, "") + &unix("a.high", "x", ""), vec!["14:9: a.high already has a trigger in line 10"]),
    ] {
        refused(&rig(&trigger), &words);
    }
}

#[test]
fn a_port_in_use_and_addresses_of_others_are_found_before_anything_runs() {
    let theirs = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = theirs.local_addr().unwrap();
    refused(&rig(&udp("a.high", to, "")), &["test.toml:11:7: ", &to.to_string(), "another program receives there"]);
    let elsewhere = "192.0.2.1:5005".parse().unwrap();
    refused_by_check(&rig(&udp("a.high", elsewhere, "allow_remote = true")), &["test.toml:11:7: ", "no interface"]);
    // Of two sockets the first was made already.
    let both = unix("a.low", "events.sock", "") + &udp("a.high", to, "");
    let rig = rig(&both);
    refused(&rig, &["test.toml:15:7: ", "another program receives there"]);
    assert!(!rig.folder().join("events.sock").exists(), "it is taken back");
}

#[test]
fn a_file_in_the_way_of_a_unix_socket_is_left_alone() {
    let own = rig(&unix("a.low", "events.sock", ""));
    let path = own.folder().join("events.sock");
    std::fs::write(&path, "precious").unwrap();
    refused_by_check(&own, &["test.toml:11:8: ", "events.sock", "no socket: move it away"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    std::fs::remove_file(&path).unwrap();
    let _theirs = UnixDatagram::bind(&path).unwrap();
    refused(&own, &["test.toml:11:8: ", "another program receives there"]);
    assert!(path.exists());
    refused_by_check(&rig(&unix("a.low", "no/events.sock", "")), &["test.toml:11:8: ", "its folder does not exist"]);
    refused_by_check(&rig(&unix("a.low", "test.toml/x", "")), &["test.toml:11:8: ", "a part of the path is no folder"]);
    let folder = own.folder().display().to_string();
    let words = ["test.toml:11:8: ", folder.as_str(), "there is a folder of this name: name a file in it"];
    refused_by_check(&rig(&unix("a.low", &folder, "")), &words);
}

#[test]
fn a_check_makes_and_removes_no_file() {
    let own = rig(&unix("a.low", "events.sock", ""));
    let path = own.folder().join("events.sock");
    let check = || {
        let mut check = Command::new(env!("CARGO_BIN_EXE_vecud"));
        let output = check.arg("check").arg(own.file()).env("VECUD_CACHE", program::cache()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    check();
    assert!(!path.exists());
    drop(UnixDatagram::bind(&path).unwrap());
    check();
    assert!(path.exists(), "left by a process that is gone: the next run replaces it");
    std::fs::remove_file(&path).unwrap();
    let _running = UnixDatagram::bind(&path).unwrap();
    check(); // a rig may be checked while it runs
}
