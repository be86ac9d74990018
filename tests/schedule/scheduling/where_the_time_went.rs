//! What the report says of where the time of activations went, against what tracers were told to do.

use crate::program::{Outcome, Rig, changed_tracer, real_time_on_own_core, send};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::time::Duration;

const PARTS: [&str; 6] = ["wakeup", "gate", "executing", "preempted", "blocked", "set_get"];

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_else(|| panic!("no {name} in {value}"))
}

fn list<'a>(clock: &'a Value, name: &str) -> &'a Vec<Value> {
    clock["causes"][name].as_array().expect("a list")
}

/// Whether somebody of this name was at work in one of these activations.
fn met(moments: &[Value], other: &str) -> bool {
    moments.iter().any(|moment| moment["others"].as_array().unwrap().iter().any(|one| one["clock"] == other))
}

/// Rules that hold for each clock of each run in real time.
#[track_caller]
fn is_sound(run: &Outcome) {
    let mut seen = 0;
    for clock in run.report()["clocks"].as_array().unwrap() {
        let name = format!("{}.{}", clock["fmu"], clock["clock"]);
        let (activations, skipped) = (number(clock, "activations"), number(clock, "skipped"));
        if activations == 0 {
            assert_eq!(clock.get("parts"), None, "nothing was measured of {name}");
            continue;
        }
        for part in ["preempted", "blocked", "set_get"] {
            assert_eq!(number(&clock["parts"][part], "count"), activations, "{part} of {name}");
        }
        let (wakeup, machine) = (&clock["wakeup_latency"], &clock["parts"]["wakeup_machine"]);
        assert_eq!(machine["count"], wakeup["count"], "each wake-up of {name} has a part of the machine's");
        assert!(number(machine, "max") <= number(wakeup, "max"), "{name}: {machine} of {wakeup}");
        for (worst, metric) in [("worst_responses", &clock["response"]), ("worst_wakeups", machine)] {
            let key = |moment: &Value| match worst {
                "worst_responses" => number(moment, "response"),
                _ => number(moment, "wakeup") - moment.get("wakeup_rig").map_or(0, |rig| rig.as_u64().unwrap()),
            };
            let moments = list(clock, worst);
            assert_eq!(moments.len() as u64, activations.min(10), "{worst} of {name}");
            for moment in moments {
                let sum: u64 = PARTS.iter().map(|part| number(moment, part)).sum();
                assert_eq!(sum, number(moment, "response"), "the parts of {moment}");
                seen += 1;
            }
            let keys: Vec<u64> = moments.iter().map(key).collect();
            assert!(keys.windows(2).all(|pair| pair[0] >= pair[1]), "{worst} of {name}: {keys:?}");
            // A release that was skipped is no activation.
            if skipped == 0 {
                assert_eq!(keys[0], number(metric, "max"), "{worst} of {name}");
            }
        }
        // Over all activations the parts add up as well.
        if skipped == 0 {
            let mean = |histogram: &Value| histogram["mean"].as_f64().unwrap();
            let others = mean(&clock["parts"]["preempted"]) + mean(&clock["parts"]["blocked"]);
            let sum = mean(&clock["start_latency"]) + mean(&clock["execution"]) + others;
            assert!((sum - mean(&clock["response"])).abs() < 2.0, "{name}: {sum} of {}", clock["response"]);
            assert!(number(&clock["parts"]["set_get"], "max") <= number(&clock["execution"], "max"), "{name}");
        }
        let rows: u64 = list(clock, "overran").iter().map(|row| number(row, "releases")).sum();
        if number(&clock["causes"], "overran_total") <= 16 {
            assert_eq!(rows, number(clock, "overruns"), "overruns of {name}");
        }
    }
    assert!(seen > 0, "nothing was measured");
}

#[test]
fn the_parts_add_up_to_the_response_and_the_worst_are_the_worst() {
    real_time_on_own_core("the_parts_add_up_to_the_response_and_the_worst_are_the_worst", || {
        let run = Rig::new("stop_time = 0.5")
            .tracer("a", "slow_burn_us = 900, equal_b_burn_us = 300")
            .trigger("a.out_high", "a.high")
            .run()
            .exits(0);
        is_sound(&run);
        let fast = run.clock("a", "fast");
        let first = list(&fast, "worst_responses").iter().chain(list(&fast, "worst_wakeups")).next().unwrap();
        let since = number(first, "release_monotonic_ns") - run.report()["start_monotonic_ns"].as_u64().unwrap();
        assert_eq!(since, (first["time_s"].as_f64().unwrap() * 1e9).round() as u64, "{first}");
        assert_eq!(first["time"].as_str().unwrap().contains('/'), first["time_s"] != 0.0, "an exact time: {first}");
    });
}

#[test]
fn virtual_time_has_no_causes() {
    let run = Rig::new("stop_time = 0.1").tracer("a", "").run_virtual().exits(0);
    let fast = run.clock("a", "fast");
    assert_eq!((fast.get("parts"), fast.get("causes")), (None, None), "{fast}");
    assert_eq!(run.report()["hints"].as_array().unwrap().len(), 0);
}

#[test]
fn time_of_more_urgent_clocks_is_preemption() {
    real_time_on_own_core("time_of_more_urgent_clocks_is_preemption", || {
        let run = Rig::new("stop_time = 0.5").tracer("a", "fast_burn_us = 300, slow_burn_us = 4000").run().exits(0);
        is_sound(&run);
        let slow = run.clock("a", "slow");
        let preempted = number(&slow["parts"]["preempted"], "p50");
        // Four milliseconds of its own, between which fast runs at least four times.
        assert!((1_200_000..4_000_000).contains(&preempted), "{slow}");
        let worst = list(&slow, "worst_responses");
        assert!(met(worst, "a.fast"), "{worst:?}");
        assert!(
            number(&worst[9], "executing") >= 4_000_000 && number(&worst[9], "preempted") >= 1_200_000,
            "{worst:?}"
        );
        // Nobody is more urgent than fast.
        assert_eq!(number(&run.clock("a", "fast")["parts"]["preempted"], "max"), 0);
    });
}

#[test]
fn a_wakeup_after_more_urgent_clocks_is_the_rigs_and_not_the_machines() {
    real_time_on_own_core("a_wakeup_after_more_urgent_clocks_is_the_rigs_and_not_the_machines", || {
        // Each release of slow is one of fast as well, which has the core first.
        // A machine that stands still has fast wait for its own last activation; in a fifth of a second it mostly does not.
        let run = Rig::new("stop_time = 0.2").tracer("a", "fast_burn_us = 500, slow_burn_us = 100").run().exits(0);
        is_sound(&run);
        let slow = run.clock("a", "slow");
        let median = |histogram: &Value| number(histogram, "p50");
        let (wakeup, machine) = (median(&slow["wakeup_latency"]), median(&slow["parts"]["wakeup_machine"]));
        assert!(wakeup >= 500_000 && machine < 300_000, "{machine} of {wakeup}: {slow}");
        let late: Vec<_> = list(&slow, "worst_responses").iter().map(|moment| number(moment, "wakeup_rig")).collect();
        assert!(late.iter().all(|rig| *rig >= 500_000), "{late:?}");
        // Nobody is more urgent than fast.
        let fast = run.clock("a", "fast");
        assert_eq!(median(&fast["parts"]["wakeup_machine"]), median(&fast["wakeup_latency"]), "{fast}");
    });
}

#[test]
fn a_wait_for_the_lock_names_its_holder() {
    real_time_on_own_core("a_wait_for_the_lock_names_its_holder", || {
        // Fast sleeps in its locked section in the first 400 µs of each millisecond; slow begins after that, and asks for
        // the lock 500 µs later.
        let run = Rig::new("stop_time = 0.5")
            .tracer(
                "a",
                "fast_lock_sleep_us = 400, slow_burn_us = 1000, equal_a_lock_every = 0, equal_b_lock_every = 0",
            )
            .run()
            .exits(0);
        is_sound(&run);
        let slow = run.clock("a", "slow");
        let worst = list(&slow, "worst_responses");
        let blocked: Vec<_> = worst.iter().filter(|moment| number(moment, "blocked") > 50_000).collect();
        assert!(!blocked.is_empty() && number(&slow["parts"]["blocked"], "max") > 50_000, "{slow}");
        assert!(blocked.iter().all(|moment| moment["blocked_by"] == "a.fast"), "{blocked:#?}");
        // Its own millisecond, without the wait of some 350 µs.
        assert!((1_000_000..1_600_000).contains(&number(&slow["execution"], "p50")), "{slow}");
    });
}

#[test]
fn a_wait_at_the_gate_is_a_part_of_its_own() {
    real_time_on_own_core("a_wait_at_the_gate_is_a_part_of_its_own", || {
        let run = Rig::new("stop_time = 0.5").tracer("a", "slow_lock_us = 1500").run().exits(0);
        is_sound(&run);
        let fast = run.clock("a", "fast");
        let gate = list(&fast, "worst_responses").iter().find(|moment| number(moment, "gate") > 400_000);
        let gate = gate.unwrap_or_else(|| panic!("{fast}"));
        assert!(number(gate, "gate_waits") > 0 && met(std::slice::from_ref(gate), "a.slow"), "{gate}");
    });
}

/// Who polls enters the gate before its release. What it waits there is the gate's, and the time of the one who is in the way
/// that one's own: nothing of it was polled, and the wake-up was in time.
#[test]
fn a_wait_at_the_gate_before_the_release_is_a_wait_at_the_gate() {
    real_time_on_own_core("a_wait_at_the_gate_before_the_release_is_a_wait_at_the_gate", || {
        let run = Rig::new("stop_time = 0.5").tracer("a", "slow_lock_us = 1500").more("[host]\nspin_us = 50\n").run();
        let run = run.exits(0);
        is_sound(&run);
        let fast = run.clock("a", "fast");
        let waited = list(&fast, "worst_responses").iter().filter(|moment| number(moment, "gate") > 400_000);
        let waited: Vec<&Value> = waited.collect();
        assert!(waited.len() >= 5, "{fast}");
        for moment in &waited {
            assert!(number(moment, "gate_waits") > 0 && met(std::slice::from_ref(*moment), "a.slow"), "{moment}");
        }
        let in_time = waited.iter().filter(|moment| number(moment, "wakeup") < number(moment, "gate") / 10);
        assert!(in_time.count() >= waited.len() / 2, "{fast}");
        // Its section alone is that long; those who polled meanwhile have not taken it away.
        let slow = run.clock("a", "slow");
        assert!(number(&slow["execution"], "p50") >= 1_400_000, "{slow}");
    });
}

#[test]
fn each_overrun_has_its_cause() {
    real_time_on_own_core("each_overrun_has_its_cause", || {
        let run = Rig::new("stop_time = 0.3").tracer("a", "slow_burn_us = 23000").run().exits(0);
        is_sound(&run);
        let slow = run.clock("a", "slow");
        let (rows, total) = (list(&slow, "overran"), number(&slow["causes"], "overran_total"));
        assert!(total >= 9 && rows.len() as u64 == total, "{slow}");
        for row in rows {
            assert_eq!((number(row, "budget"), number(row, "releases") >= 2), (10_000_000, true), "{row}");
            assert!(number(&row["predecessor"], "response") >= 20_000_000, "{row}");
            let next = row["predecessor"]["time_s"].as_f64().unwrap() + 0.01;
            assert!((row["release_s"].as_f64().unwrap() - next).abs() < 1e-9, "the release after it: {row}");
        }
        let cause = rows[rows.len() / 2]["cause"].as_str().unwrap();
        assert!(cause.starts_with("its own execution, 2"), "{cause}");
        let kept = Rig::new("stop_time = 0.3\noverrun = 'queue'").tracer("a", "slow_burn_us = 14000").run();
        is_sound(&kept);
        let slow = kept.clock("a", "slow");
        assert!(number(&slow, "overruns") > 5 && number(&slow["causes"], "overran_total") > 5, "{slow}");
        let late = list(&slow, "worst_wakeups").iter().find(|moment| moment["follows"] == true);
        assert!(late.is_some_and(|moment| number(moment, "wakeup") > 1_000_000), "{slow}");
    });
}

#[test]
fn the_kernels_counts_are_those_of_the_thread() {
    real_time_on_own_core("the_kernels_counts_are_those_of_the_thread", || {
        let run = Rig::new("stop_time = 0.5").tracer("a", "slow_burn_us = 2000").run().exits(0);
        let counts = |clock: &str| run.clock("a", clock)["causes"]["thread"]["later"].clone();
        let (fast, slow) = (counts("fast"), counts("slow"));
        let sleeps = run.count("a", "fast", "activations") - 1;
        assert!((sleeps..sleeps + 5).contains(&number(&fast, "voluntary_switches")), "{fast}");
        // It is interrupted by fast at least once in each activation.
        assert!(number(&slow, "involuntary_switches") >= run.count("a", "slow", "activations") - 1, "{slow}");
        if run.report()["host"]["memory_locked"] == true {
            assert_eq!(number(&fast, "minor_faults") + number(&fast, "major_faults"), 0, "{fast}");
        }
    });
}

#[test]
fn a_report_that_is_rebuilt_has_the_same_causes() {
    real_time_on_own_core("a_report_that_is_rebuilt_has_the_same_causes", || {
        let run = Rig::new("stop_time = 0.2").tracer("a", "slow_burn_us = 13000").run().exits(0);
        let page = run.file("report.html");
        for part in ["<h3>Where the time went</h3>", "<h3>The worst activations</h3>", "<h3>Overruns</h3>"] {
            assert!(page.contains(part), "{part}");
        }
        let rebuild = std::process::Command::new(env!("CARGO_BIN_EXE_vecud")).arg("report").arg(&run.out).output();
        assert!(rebuild.unwrap().status.success());
        let section = |page: &str| {
            page.split("<h3>Where the time went</h3>").nth(1).unwrap().split("</section>").next().unwrap().to_owned()
        };
        assert!(section(&run.file("report.html")) == section(&page), "the section differs");
    });
}

/// Histograms are made of notes, by the supervisor. While it does not read them they find no room after a second; then the
/// activations' own threads make them, and nothing is lost.
#[test]
fn nothing_is_lost_while_the_supervisor_does_not_read() {
    for mode in ["flight", "off"] {
        real_time_on_own_core("nothing_is_lost_while_the_supervisor_does_not_read", || {
            let folder = crate::program::tempdir().unwrap();
            let fast = ("intervalDecimal=\"0.001\"", "intervalDecimal=\"0.0002\"");
            let fmu = changed_tracer(folder.path(), "../modelDescription.xml", &[fast]);
            // Three seconds: the notes fill their room within one, and the supervisor reads again before the end.
            let rig = Rig::new("stop_time = 3.0").fmu("a", fmu, "", "").more(&format!("[trace]\nmode = '{mode}'\n"));
            let child = rig.start(rig.command());
            rig.wait_until_it_runs();
            let supervisor = child.id() as i32;
            std::thread::sleep(Duration::from_millis(100));
            send(supervisor, Signal::SIGSTOP);
            std::thread::sleep(Duration::from_millis(1700));
            send(supervisor, Signal::SIGCONT);
            let run = rig.finish(child).exits(0);
            is_sound(&run);
            for clock in run.report()["clocks"].as_array().unwrap() {
                let releases = number(clock, "activations") + number(clock, "skipped");
                for metric in ["wakeup_latency", "start_latency", "response"] {
                    assert_eq!(
                        clock[metric]["count"].as_u64().unwrap_or(0),
                        releases,
                        "{metric} of {}",
                        clock["clock"]
                    );
                }
            }
            let lacks = run.problems().iter().any(|problem| problem.contains("the trace lacks"));
            assert_eq!(lacks, mode == "flight", "there was no room: {:?}", run.problems());
        });
    }
}
