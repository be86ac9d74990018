//! Datagrams tick clocks of FMUs that make steps, at the first communication point after each (semantics S22).

use super::*;

fn step_clocks() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/step_clocks")
}

#[test]
fn each_datagram_is_a_tick_at_the_next_communication_point() {
    real_time("each_datagram_is_a_tick_at_the_next_communication_point", || {
        let to = address();
        let rig = Rig::of_text(&format!(
            "[rig]\nstop_time = 100\n[record]\n[fmu.s]\npath = '{}'\nstart = {{ out_each = 0 }}\n{}",
            step_clocks().display(),
            udp("s.called", to, "")
        ));
        let child = rig.start(rig.command());
        wait_until_recorded(&rig.out(), "time", 0.0);
        let sender = Sender::udp(to);
        for _ in 0..30 {
            assert!(sender.send(b"called"));
            std::thread::sleep(Duration::from_millis(20));
        }
        wait_until_recorded(&rig.out(), "s.n_called", 30.0);
        send(child.id() as i32, SIGINT);
        let run = rig.finish(child).exits(0);
        assert_eq!(run.signals().last("s.n_called"), 30);
        let count = |what| run.count("s", "step", what);
        assert_eq!((count("received"), count("deferred")), (30, 30));
        // Each is handled at a communication point after it has come, of which there is one each 10 ms.
        let signals = run.signals();
        let called = signals.column("s.last_called");
        let mut times: Vec<f64> = called.iter().map(|cell| cell.parse().unwrap()).filter(|time| *time > 0.0).collect();
        times.dedup();
        assert!(times.is_sorted() && times.len() > 10, "{times:?}");
        let rows = signals.times();
        let is_row = |time: &f64| rows.iter().any(|row| (row - time).abs() < 1e-9);
        assert!(times.iter().all(is_row), "{times:?}");
    });
}

/// What becomes of each datagram for a clock that nothing else ticks.
#[track_caller]
fn every_datagram_has_a_fate(run: &Outcome) -> u64 {
    let count = |what| run.count("s", "step", what);
    let fates = ["deferred", "rate_limited", "kernel_dropped", "refused_ticks", "discarded_ticks"].map(count);
    assert_eq!(fates.iter().sum::<u64>(), count("received"), "{fates:?}: {}", run.clock("s", "step"));
    // They are those of releases too.
    assert!(count("overruns") >= count("refused_ticks") && count("discarded") >= count("discarded_ticks"));
    count("received")
}

/// The first tick that finds 16 waiting ends the run: the thread of the steps leaves at once, and more come before nothing is taken
/// in any more.
#[test]
fn what_comes_when_the_steps_are_over_is_counted() {
    real_time("what_comes_when_the_steps_are_over_is_counted", || {
        for _ in 0..3 {
            let to = address();
            let rig = Rig::of_text(&format!(
                "[rig]\nstop_time = 100\noverrun = 'stop'\n[record]\n[fmu.s]\npath = '{}'\n{}",
                step_clocks().display(),
                udp("s.called", to, "max_rate = 1e6")
            ));
            let child = rig.start(rig.command());
            wait_until_recorded(&rig.out(), "time", 0.0);
            let (_, run) = ends::flood(to, &rig.folder().join("nothing"), || rig.finish(child));
            let run = run.exits(3);
            assert!(every_datagram_has_a_fate(&run) > 16);
            let refused = run.count("s", "step", "refused_ticks");
            assert!(refused > 0);
            let line = run.stdout.lines().find(|line| line.contains("s.step: ") && line.contains("datagrams")).unwrap();
            assert!(line.contains(" dropped since 16 waited already"), "{line}");
        }
    });
}

/// More than wait for a communication point, and some from after the stop time.
#[test]
fn a_flood_between_steps_is_counted() {
    real_time("a_flood_between_steps_is_counted", || {
        for more in ["", "max_rate = 100000"] {
            let to = address();
            let rig = Rig::of_text(&format!(
                "[rig]\nstop_time = 0.3\n[record]\n[fmu.s]\npath = '{}'\n{}",
                step_clocks().display(),
                udp("s.called", to, more)
            ));
            let child = rig.start(rig.command());
            rig.wait_until_it_runs();
            let (_, run) = ends::flood(to, &rig.folder().join("nothing"), || rig.finish(child));
            let run = run.exits(0);
            assert!(every_datagram_has_a_fate(&run) > 1000);
            assert!(run.count("s", "step", "deferred") > 0);
        }
    });
}

#[test]
fn the_plan_says_what_ticks_and_that_real_time_alone_has_it() {
    let rig = Rig::of_text(&format!(
        "[rig]\nstop_time = 0.1\n[record]\n[fmu.s]\npath = '{}'\n{}",
        step_clocks().display(),
        udp("s.called", "127.0.0.1:5005".parse().unwrap(), "max_rate = 70")
    ));
    let check = Command::new(env!("CARGO_BIN_EXE_vecud")).arg("check").arg(rig.file()).output().unwrap();
    let text = String::from_utf8(check.stdout).unwrap();
    let has_line = |words: &[&str]| text.lines().any(|line| words.iter().all(|word| line.contains(word)));
    assert!(has_line(&["s.called", "by udp 127.0.0.1:5005, ticks in s.step"]), "{text}");
    assert!(has_line(&["udp 127.0.0.1:5005", "→  s.called", "at most 70 events per second"]), "{text}");
    assert!(text.contains("s.step has a clock that is ticked by udp 127.0.0.1:5005"), "{text}");
    let run = rig.run_virtual().exits(0);
    assert_eq!(run.signals().last("s.n_called"), 0);
    let note = "s.called is activated by datagrams (udp 127.0.0.1:5005), which virtual time does not receive";
    assert!(run.stderr.contains(note), "{}", run.stderr);
}

#[test]
fn an_fmu_that_makes_steps_has_one_source() {
    let folder = crate::program::tempdir().unwrap();
    let copy = folder.path().join("two");
    assert!(Command::new("cp").arg("-rL").arg(step_clocks()).arg(&copy).status().unwrap().success());
    let description = copy.join("modelDescription.xml");
    let text = std::fs::read_to_string(&description).unwrap();
    let constant = "intervalVariability=\"constant\" intervalDecimal=\"0.015\"";
    assert!(text.contains(constant));
    std::fs::write(&description, text.replace(constant, "intervalVariability=\"triggered\"")).unwrap();
    let triggers = udp("s.called", address(), "") + &udp("s.every", address(), "");
    let rig = Rig::of_text(&format!("[rig]\nstop_time = 0.1\n[fmu.s]\npath = '{}'\n{triggers}", copy.display()));
    let run = rig.run().exits(2);
    assert!(run.stderr.contains(":10:9: datagrams tick another clock of s already"), "{}", run.stderr);
}
