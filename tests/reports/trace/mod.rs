//! The trace: that it tells what happened, all of it where it says so, and that it survives whatever happens to the run.

mod flight;
mod json;
mod kernel;
use crate::program;
mod survives;

use json::TraceFile;
use program::clock::{DELAYED, HIGH, LOW, NAMES, OUT_HIGH, OUT_LOW};
use program::{Outcome, Rig, real_time};
use std::path::Path;

/// Two instances on one core that preempt and trigger each other, and lock and arm all the time.
fn rig(more: &str) -> Rig {
    let a = "slow_burn_us = 600, slow_lock_us = 700, slow_tick_in_lock = true, fast_tick_high_every = 3, \
             equal_a_burn_us = 60, equal_b_burn_us = 150, fast_tick_low_every = 7, low_burn_us = 250, \
             low_lock_us = 100, low_lock_nested = true, delayed_tick_high_every = 1, arm_every = 1";
    let b = "slow_burn_us = 300, slow_lock_us = 1300, equal_a_lock_us = 80, equal_a_tick_low_every = 3, \
             low_burn_us = 200, low_tick_high_every = 2, high_burn_us = 30, arm_every = 3, arm_interval = 0.0031";
    Rig::new("stop_time = 0.5")
        .tracer("a", a)
        .tracer("b", b)
        .trigger("a.out_high", "a.high")
        .trigger("b.out_high", "b.high")
        .trigger("a.out_low", "b.low")
        .trigger("b.out_low", "a.low")
        .more("[record]\nsignals = ['*.count_*']\n[trace]\nmode = 'all'")
        .more(more)
}

/// What holds in real and in virtual time: every activation is there, with its time, its ticks and its arrow.
fn holds_everything(run: &Outcome, file: &TraceFile) {
    assert_eq!(run.report()["trace"]["dropped"], 0);
    file.assert_nested();
    assert_eq!(file.activations().count() as u64, run.report()["trace"]["files"][0]["activations"].as_u64().unwrap());
    for fmu in ["a", "b"] {
        let trace = run.trace(fmu);
        for clock in program::clock::INPUTS {
            let name = NAMES[clock as usize];
            let traced = file.of_clock(fmu, name);
            assert_eq!(traced.len() as u64, run.count(fmu, name, "activations"), "{fmu}.{name}, as the report counts");
            let times: Vec<f64> = traced.iter().map(|slice| slice.time()).collect();
            assert_eq!(times, trace.activations(clock), "activation times of {fmu}.{name}, as the FMU has got them");
            let releases = file.instants.iter().filter(|i| i.fmu == fmu && i.clock == name && i.name == "release");
            assert_eq!(releases.count(), traced.len(), "a release for each");
        }
        for (output, name) in [(OUT_HIGH, "tick out_high"), (OUT_LOW, "tick out_low")] {
            let ticks = file.instants.iter().filter(|instant| instant.fmu == fmu && instant.name == name);
            assert_eq!(ticks.count() as u64, trace.ticks(output), "{fmu}: {name}");
        }
        assert_eq!(file.named(fmu, "clock update").len(), trace.count("update", "begin"), "{fmu}");
    }
}

/// Every arrow goes from a tick for this clock at this time to the activation of this clock at this time.
fn arrows_are_right(file: &TraceFile) {
    for arrow in &file.arrows {
        let (fmu, clock, at) = &arrow.head;
        let target = file.of_clock(fmu, clock).into_iter().find(|slice| slice.from == *at).expect("at its begin");
        let full = format!("{fmu}.{clock}");
        let tick = file.instants.iter().find(|instant| {
            let own = (&instant.fmu, &instant.clock, instant.from) == (&arrow.tail.0, &arrow.tail.1, arrow.tail.2);
            own && (instant.args["target"] == full || instant.name == format!("arm {clock}"))
        });
        let tick = tick.unwrap_or_else(|| panic!("no tick at the tail of {arrow:?}"));
        let retimed = target.args["retimed"] == true;
        assert!(if retimed { tick.time() < target.time() } else { tick.time() == target.time() }, "{arrow:?}");
        assert!(file.activations().any(|slice| slice.contains(tick)), "it ticked inside of an activation: {arrow:?}");
    }
    assert_eq!(file.stray_arrows().first(), None, "an arrow points at an activation, not at something in it");
    for (fmu, clock) in [("a", HIGH), ("a", LOW), ("a", DELAYED), ("b", HIGH), ("b", LOW), ("b", DELAYED)] {
        let name = NAMES[clock as usize];
        let arrows = file.arrows.iter().filter(|arrow| arrow.head.0 == fmu && arrow.head.1 == name).count();
        assert_eq!(arrows, file.of_clock(fmu, name).len(), "each {fmu}.{name} has an arrow");
    }
}

#[test]
fn the_trace_agrees_with_what_the_fmus_have_noted() {
    real_time("the_trace_agrees_with_what_the_fmus_have_noted", || {
        let run = rig("").run().exits(0);
        let file = TraceFile::of(&run, "trace.json");
        holds_everything(&run, &file);
        arrows_are_right(&file);
        let start = run.report()["start_monotonic_ns"].as_i64().unwrap();
        let since = |ns: i64| (ns - start) as f64 / 1e3;
        // What two clocks of the processor may differ by, µs.
        const OFF: f64 = 2.0;
        for fmu in ["a", "b"] {
            let trace = run.trace(fmu);
            // FMU code ran inside of its slice: so order and nesting are those of the FMU.
            for clock in program::clock::INPUTS {
                let of = |phase| trace.events.iter().filter(move |e| e.is("activate", phase) && e.clock == clock);
                let slices = file.of_clock(fmu, NAMES[clock as usize]);
                for ((begin, end), slice) in of("begin").zip(of("end")).zip(slices) {
                    assert!(slice.from <= since(begin.ns) && since(end.ns) <= slice.to, "{begin:?} {end:?} {slice:?}");
                }
                // Locked sections and clock updates begin and end where the FMU has said so, one after the other.
                let own = |e: &&program::Event| e.clock == clock;
                let sections = outermost(trace.events.iter().filter(own));
                let locked: Vec<_> =
                    file.named(fmu, "locked").into_iter().filter(|s| s.clock == NAMES[clock as usize]).collect();
                assert_eq!(locked.len(), sections.len(), "{fmu}.{}", NAMES[clock as usize]);
                for ([lock, locked_by, unlock, unlocked], slice) in sections.into_iter().zip(locked) {
                    let near = |at: f64, from: i64, to: i64| (since(from) - OFF..=since(to) + OFF).contains(&at);
                    assert!(near(slice.from, lock, locked_by) && near(slice.to, unlock, unlocked), "{slice:?}");
                }
                let of = |phase| trace.events.iter().filter(move |e| e.is("update", phase) && e.clock == clock);
                let updates = file.named(fmu, "clock update").into_iter();
                let updates = updates.filter(|slice| slice.clock == NAMES[clock as usize]);
                for ((begin, end), slice) in of("begin").zip(of("end")).zip(updates) {
                    let inside = since(begin.ns) - OFF <= slice.from && slice.to <= since(end.ns) + OFF;
                    assert!(inside, "{begin:?} {end:?} {slice:?}");
                }
            }
        }
        // And who ran meanwhile is who has preempted.
        let preempted: Vec<_> = file.slices.iter().filter(|slice| slice.name == "preempted").collect();
        assert!(preempted.len() > 100, "{}", preempted.len());
        for slice in preempted {
            let by = slice.args["by"].as_str().unwrap();
            let ran = file
                .activations()
                .find(|other| format!("{}.{}", other.fmu, other.clock) == by && (other.from - slice.from).abs() < OFF);
            assert!(ran.is_some_and(|other| (other.to - slice.to).abs() < OFF), "{slice:?}: {ran:?}");
        }
    });
}

/// Outermost locked sections of one clock: begin and end of the call that locks, and of the one that unlocks.
fn outermost<'e>(events: impl Iterator<Item = &'e program::Event>) -> Vec<[i64; 4]> {
    let (mut depth, mut sections, mut own) = (0, Vec::new(), [0; 4]);
    for event in events {
        match (event.what.as_str(), event.phase.as_str()) {
            ("lock", "begin") if depth == 0 => own[0] = event.ns,
            ("lock", "end") => {
                depth += 1;
                if depth == 1 {
                    own[1] = event.ns;
                }
            }
            ("unlock", "begin") if depth == 1 => own[2] = event.ns,
            ("unlock", "end") => {
                depth -= 1;
                if depth == 0 {
                    own[3] = event.ns;
                    sections.push(own);
                }
            }
            _ => {}
        }
    }
    sections
}

#[test]
fn virtual_time_is_traced_in_exactly_its_order() {
    let run = rig("").run_virtual().exits(0);
    let file = TraceFile::of(&run, "trace.json");
    holds_everything(&run, &file);
    arrows_are_right(&file);
    for fmu in ["a", "b"] {
        let begins = run.trace(fmu).events.into_iter().filter(|event| event.is("activate", "begin"));
        let order: Vec<_> = begins.map(|event| (NAMES[event.clock as usize].to_owned(), event.time)).collect();
        let traced = file.activations().filter(|slice| slice.fmu == fmu);
        let traced: Vec<_> = traced.map(|slice| (slice.clock.clone(), slice.time())).collect();
        assert_eq!(traced, order, "{fmu}");
    }
    let all: Vec<_> = file.activations().collect();
    assert!(all.windows(2).all(|pair| pair[0].to <= pair[1].from), "one after the other");
    assert!(all.iter().all(|slice| (slice.from / 1e6 - slice.time()).abs() < 0.0005), "at their times");
}

#[test]
fn virtual_time_is_not_traced_unless_the_rig_says_so() {
    let run = Rig::new("stop_time = 0.05").tracer("a", "").run_virtual().exits(0);
    assert!(!run.out.join("trace.json").exists());
    assert_eq!(run.report()["trace"]["mode"], "off");
}

/// The order of the founding text's figure, with partitions of such lengths that it stays the same
/// when they take some milliseconds longer.
#[test]
fn the_trace_shows_the_figure_of_the_founding_text() {
    let (ten, aperiodic, fifty) = ("Clock10ms", "AperiodicClock", "Clock50ms");
    let wanted = [
        ("begin", ten, 0.0),
        ("tick", ten, 0.0), // the aperiodic one waits, and the 50 ms one since t0
        ("end", ten, 0.0),
        ("begin", aperiodic, 0.0),
        ("begin", ten, 0.01), // preempts, and does not tick
        ("end", ten, 0.01),
        ("end", aperiodic, 0.0),
        ("begin", fifty, 0.0), // still its own activation time
        ("begin", ten, 0.02),  // preempts
        ("tick", ten, 0.02),
        ("end", ten, 0.02),
        ("begin", aperiodic, 0.02), // before the 50 ms partition goes on
        ("end", aperiodic, 0.02),
        ("end", fifty, 0.0),
        ("begin", ten, 0.03),
    ];
    real_time("the_trace_shows_the_figure_of_the_founding_text", || {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/three_input_clocks");
        let start = "AIn1 = 1.25, AIn2 = 2.5, burn_10ms_us = 2000, burn_aperiodic_first_us = 8500, \
                     burn_aperiodic_us = 2000, burn_50ms_us = 8400";
        let run = Rig::new("stop_time = 0.05")
            .fmu("three", path, start, "")
            .connect("three.AOut", "three.BIn")
            .trigger("three.OutClock", "three.AperiodicClock")
            .more("[trace]\nmode = 'all'")
            .run()
            .exits(0);
        let file = TraceFile::of(&run, "trace.json");
        let mut seen: Vec<(f64, &str, &str, f64)> = Vec::new();
        for slice in file.activations() {
            seen.push((slice.from, "begin", &slice.clock, slice.time()));
            seen.push((slice.to, "end", &slice.clock, slice.time()));
        }
        for tick in file.instants.iter().filter(|instant| instant.name == "tick OutClock") {
            seen.push((tick.from, "tick", &tick.clock, tick.time()));
        }
        seen.sort_by(|a, b| a.0.total_cmp(&b.0));
        let seen: Vec<_> = seen.into_iter().map(|(_, what, clock, time)| (what, clock, time)).collect();
        assert_eq!(seen[..wanted.len()], wanted);
        let arrow = &file.arrows[0];
        assert_eq!((arrow.tail.1.as_str(), arrow.head.1.as_str()), (ten, aperiodic));
        let preempted = |clock| -> Vec<String> {
            let all = file.named("three", "preempted").into_iter().filter(|slice| slice.clock == clock);
            all.take(2).map(|slice| slice.args["by"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(preempted(aperiodic), ["three.Clock10ms"]);
        assert_eq!(preempted(fifty), ["three.Clock10ms", "three.AperiodicClock"]);
        // The report draws it.
        let page = run.file("report.html");
        assert!(page.contains("Who ran when") && page.contains("class=\"arrow\"") && page.contains("bar off"));
    });
}
