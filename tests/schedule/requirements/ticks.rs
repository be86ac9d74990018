//! Where the ticks of output clocks go.

use super::program::clock::{FAST, HIGH, LOW, OUT_HIGH, OUT_LOW, SLOW};
use super::program::{Kind, Outcome, Rig, real_time, real_time_on_own_core};
use super::tracer;
use std::collections::BTreeMap;

#[test]
fn a_tick_activates_all_clocks_of_all_fmus_that_it_triggers_once_in_the_merged_order() {
    let quiet = "equal_a_tick_low_every = 0, arm_every = 0";
    let rig = || {
        Rig::new("stop_time = 0.2")
            .tracer("b", &format!("slow_tick_high_every = 0, {quiet}"))
            .tracer("a", &format!("slow_tick_high_every = 1, {quiet}"))
            .trigger("a.out_high", "b.low")
            .trigger("a.out_high", "a.low")
            .trigger("a.out_high", "b.high")
            .trigger("a.out_high", "a.high")
    };
    let check = |run: &Outcome, virtual_time: bool| {
        let merged: Vec<(String, u32)> = run.report()["clocks"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|clock| {
                let reference = [("high", HIGH), ("low", LOW)].into_iter().find(|(name, _)| clock["clock"] == *name)?.1;
                Some((clock["fmu"].as_str().unwrap().to_owned(), reference))
            })
            .collect();
        assert_eq!(merged.len(), 4);
        assert!(merged[..2].iter().all(|(_, clock)| *clock == HIGH), "{merged:?}");
        let mut of_a_tick: BTreeMap<u64, Vec<(i64, String, u32)>> = BTreeMap::new();
        for fmu in ["a", "b"] {
            let trace = run.trace(fmu);
            for event in trace.events.iter().filter(|e| e.is("activate", "begin") && [HIGH, LOW].contains(&e.clock)) {
                of_a_tick.entry(event.time.to_bits()).or_default().push((event.ns, fmu.to_owned(), event.clock));
            }
        }
        let ticked: Vec<u64> = run.trace("a").activations(SLOW).into_iter().map(f64::to_bits).collect();
        assert_eq!(of_a_tick.keys().copied().collect::<Vec<_>>(), ticked, "at the time of the tick");
        assert_eq!(ticked.len(), 20);
        for (time, mut activations) in of_a_tick {
            activations.sort();
            let order: Vec<(String, u32)> = activations.into_iter().map(|(_, fmu, clock)| (fmu, clock)).collect();
            assert_eq!(order, merged, "at {} s, in virtual time: {virtual_time}", f64::from_bits(time));
        }
    };
    check(&rig().run_virtual().exits(0), true);
    // Without priorities each FMU takes turns by itself, so there is no order among them.
    real_time_on_own_core("a_tick_activates_all_clocks_of_all_fmus_that_it_triggers_once_in_the_merged_order", || {
        check(&rig().run().exits(0), false);
    });
}

/// `slow` ticks `out_low` and takes 2.5 ms before it says so; `fast` interrupts it, and its own clock update reads the tick.
#[test]
fn a_tick_that_another_partitions_callback_collects_is_dispatched_once_at_its_own_time() {
    real_time("a_tick_that_another_partitions_callback_collects", || {
        let folder = crate::program::tempdir().unwrap();
        let ticked = "    fmu->ticked[output_clock] = true;\n";
        let later = format!("{ticked}    if (activation->clock == SLOW) burn(fmu, activation, 2500000);\n");
        let whose = ("../modelDescription.xml", "clocks=\"1 2 3 4 5 7\"", "clocks=\"4\"");
        let path = tracer(folder.path(), &[("partitions.c", ticked, &later), whose]);
        let start = "fast_tick_high_every = 1, slow_tick_low_every = 1, slow_tick_high_every = 0, \
                 equal_a_tick_low_every = 0, arm_every = 0";
        let rig = Rig::new("stop_time = 0.3")
            .fmu("a", path.clone(), start, "")
            .trigger("a.out_low", "a.low")
            .trigger("a.out_high", "a.high");
        let run = rig.run().exits(0);
        let trace = run.trace("a");
        let (_, broken) = trace.check(Kind::Preemptive);
        assert!(broken.is_empty(), "{broken:#?}");
        // Once each, and at the time of the partition that ticked, although others collected it.
        assert_eq!(trace.activations(LOW), trace.activations(SLOW));
        assert_eq!(trace.activations(HIGH), trace.activations(FAST));
        let slow = trace.events.iter().find(|e| e.is("activate", "begin") && e.clock == SLOW).unwrap().tid;
        let found =
            |output: u32| trace.events.iter().filter(move |e| e.is("get_clock", "end") && e.hash >> output & 1 == 1);
        // A machine that stands still leaves out releases.
        let [slows, fasts] = [("slow", SLOW, 30), ("fast", FAST, 300)].map(|(name, clock, released)| {
            let activated = trace.activations(clock).len();
            assert_eq!(activated as u64 + run.count("a", name, "skipped"), released, "{name}");
            activated
        });
        assert!(slows > 10, "{slows}");
        assert_eq!((found(OUT_LOW).count(), found(OUT_HIGH).count()), (slows, fasts));
        assert_eq!(found(OUT_LOW).filter(|e| e.tid != slow).count(), slows, "fast came in between each time");
        // The callback of slow itself finds nothing, which is normal.
        let nothing = trace.events.iter().filter(|e| e.is("get_clock", "end") && e.tid == slow && e.hash == 0);
        assert_eq!(nothing.count(), slows);
        assert_eq!(run.finding("a", "tick_read_late"), None);
    });
}

/// `fast` ticks `high`, which runs inside of that callback and has one of its own.
#[test]
fn a_callback_begins_and_ends_while_another_one_has_not_returned() {
    real_time_on_own_core("a_callback_begins_and_ends_while_another_one_has_not_returned", || {
        let run = Rig::new("stop_time = 0.5")
            .tracer("a", "fast_tick_high_every = 1, high_tick_low_every = 1, equal_a_tick_low_every = 0")
            .trigger("a.out_high", "a.high")
            .trigger("a.out_low", "a.low")
            .run()
            .exits(0);
        let trace = run.trace("a");
        let (_, mut broken) = trace.check(Kind::Preemptive);
        broken.extend(run.check_ticks("a", OUT_HIGH, "a", HIGH));
        broken.extend(run.check_ticks("a", OUT_LOW, "a", LOW));
        assert!(broken.is_empty(), "{broken:#?}");
        let (mut open, mut nested) = (Vec::new(), 0);
        for event in &trace.events {
            if event.is("update", "begin") {
                nested += u64::from(!open.is_empty());
                open.push(event.tid);
            } else if event.is("update", "end") {
                assert_eq!(open.pop(), Some(event.tid), "the inner one returns first");
            }
        }
        assert_eq!(nested, run.count("a", "fast", "activations"), "one inside of each of fast's");
    });
}
