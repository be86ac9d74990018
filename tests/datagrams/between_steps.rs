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
            "[rig]\nstop_time = 1.5\n[record]\n[fmu.s]\npath = '{}'\nstart = {{ out_each = 0 }}\n{}",
            step_clocks().display(),
            udp("s.called", to, "")
        ));
        let child = rig.start(rig.command());
        rig.wait_until_it_runs();
        std::thread::sleep(Duration::from_millis(60));
        let sender = Sender::udp(to);
        for _ in 0..30 {
            assert!(sender.send(b"called"));
            std::thread::sleep(Duration::from_millis(20));
        }
        let run = rig.finish(child, Duration::from_secs(20)).exits(0);
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
    let folder = tempfile::tempdir().unwrap();
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
