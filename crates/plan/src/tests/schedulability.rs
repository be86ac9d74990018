//! What of a plan is reckoned with.

use super::*;
use crate::schedulability::verdict::ResponseTime;
use crate::schedulability::{MeasuredClock, MeasuredRun, analyse, table};
use vecud_base::time::Nanos;

const FIGURES: &str = "[host]\nwakeup_us = 20\noverhead_us = 5\n\
     [fmu.ecu.clock.fast]\nexecution_us = 200\nlock_us = 0\n[fmu.ecu.clock.slow]\nexecution_us = 1000\nlock_us = 50\n\
     [fmu.plant.clock.step]\nexecution_us = 100\nlock_us = 0\n";

fn with(more: &str) -> Plan {
    ecu_and_plant(&format!("{FIGURES}{more}"))
}

fn measured(this_run: bool, clock: &str, shortest_interval: Option<u64>, activations: u64) -> MeasuredRun {
    let clock = MeasuredClock {
        fmu: "ecu".into(),
        clock: clock.into(),
        activations,
        execution: 30_000,
        lock: 40_000,
        wakeup: 7_000,
        shortest_interval,
        ..MeasuredClock::default()
    };
    MeasuredRun { this_run, clocks: vec![clock] }
}

#[test]
fn the_table_reads_like_this() {
    let plan = with("[fmu.ecu.clock.isr]\nexecution_us = 50\n[[trigger]]\nclock = \"ecu.isr\"\nfrom = \"ecu.tick\"\n");
    let expected = "
Schedulability
  core 3, loaded with 41.6 %
    clock       period       deadline  execution  blocking  interference  worst response     slack
    ecu.isr     as ecu.slow     10 ms      50 µs     55 µs          0 µs          185 µs  9.815 ms
    ecu.fast    1 ms             1 ms     200 µs     55 µs         55 µs          335 µs    665 µs
    plant.step  1 ms             1 ms     100 µs     55 µs        260 µs          440 µs    560 µs
    ecu.slow    10 ms           10 ms       1 ms      0 µs        675 µs          1.7 ms    8.3 ms
  included: 5 µs per activation for the host (the rig's), 20 µs to wake up (the rig's)
";
    let analysis = analyse(&plan, None);
    assert_eq!(table::render(&plan, &analysis, None), expected);
    assert_eq!(table::refusal(&plan, &analysis), None);
}

#[test]
fn who_locks_unknown_long_is_named() {
    let plan = ecu_and_plant(&FIGURES.replace("lock_us = 50\n", ""));
    let text = table::render(&plan, &analyse(&plan, None), None);
    assert!(text.contains("  assumed never to lock, as there is no lock_us: ecu.slow\n"), "{text}");
}

#[test]
fn a_clock_that_nothing_ticks_disturbs_nobody() {
    let plan = with("");
    let analysis = analyse(&plan, None);
    assert_eq!(analysis.clocks[0].result, ResponseTime::Idle);
    assert_eq!(analysis.clocks[1].worst().unwrap().interference, []);
}

#[test]
fn what_is_missing_makes_unknown_whom_it_matters_to_and_nobody_else() {
    let plan = ecu_and_plant("[fmu.plant.clock.step]\nexecution_us = 100\n[host]\nfifo_priorities = [60, 69]\n");
    let unknown = |plan: &Plan| {
        let clocks = analyse(plan, None).clocks;
        clocks.iter().map(|clock| matches!(clock.result, ResponseTime::Unknown)).collect::<Vec<_>>()
    };
    // The isr is never ticked; fast and slow, of which nothing is known, are less urgent than step and share no lock with it.
    // But the ceiling of their FMU is above: it might wait for them.
    assert_eq!(unknown(&plan), [false, true, true, true]);
    let alone = "[fmu.ecu.clock.fast]\nexecution_us = 200\n[fmu.plant]\ncpu = 2\n";
    let text =
        format!("[fmu.ecu]\npath = \"ecu\"\n{}", alone.replace("[fmu.plant]\n", "[fmu.plant]\npath = \"plant\"\n"));
    let plan = try_build(&text, &[description(ECU), description(PLANT)], &host()).unwrap();
    let names: Vec<&str> = plan.units.iter().map(|unit| unit.name.as_str()).collect();
    assert_eq!(names, ["isr", "fast", "step", "slow"]);
    assert_eq!(unknown(&plan), [false, true, true, true], "slow may hold the lock that fast waits for");
}

#[test]
fn listed_times_and_datagrams_come_as_densely_as_they_can() {
    let isr = "[fmu.ecu.clock.isr]\nexecution_us = 50\nlock_us = 0\n[[trigger]]\nclock = \"ecu.isr\"\n";
    let isr_of = |source: &str| {
        let plan = with(&format!("{isr}{source}\n"));
        let clock = analyse(&plan, None).clocks[0].clone();
        let worst = clock.worst().unwrap().response;
        (worst, clock.deadline)
    };
    // 55 each, 55 of blocking, 20 to wake up.
    assert_eq!(isr_of("at = [0.0]"), (Nanos(130_000), None));
    assert_eq!(isr_of("at = [0.0, 1.0, 1.00001]"), (Nanos(175_000), Some(Nanos(10_000))));
    assert_eq!(isr_of("udp = \"127.0.0.1:5005\"\nmax_rate = 100"), (Nanos(955_000), Some(Nanos(160_000_000))));
}

#[test]
fn the_rig_goes_before_a_run_and_a_run_before_nothing() {
    let none = "[host]\nwakeup_us = 1\n[[trigger]]\nclock = \"ecu.isr\"\nudp = \"127.0.0.1:5005\"\n";
    let plan = ecu_and_plant(none);
    let known = |plan: &Plan, measured: &MeasuredRun| analyse(plan, Some(measured)).known;
    let run = measured(false, "isr", Some(5_000_000), 3);
    let isr = &known(&plan, &run).tasks[0];
    assert_eq!(isr.execution.unwrap().0, Nanos(30_000));
    assert_eq!(isr.section.0, Nanos(30_000), "a section is a part of the execution");
    let given = ecu_and_plant(&format!("{none}[fmu.ecu.clock.isr]\nexecution_us = 70\nlock_us = 10\n"));
    let isr = &known(&given, &run).tasks[0];
    assert_eq!((isr.execution.unwrap().0, isr.section.0), (Nanos(70_000), Nanos(10_000)));
    assert_eq!(known(&given, &run).wakeup[0].0, Nanos(1_000));
    let unsaid = ecu_and_plant(&none.replace("wakeup_us = 1\n", ""));
    assert_eq!(known(&unsaid, &run).wakeup[0].0, Nanos(7_000));
}

#[test]
fn what_did_not_happen_in_a_run_did_not_disturb_it() {
    let plan = with("[[trigger]]\nclock = \"ecu.isr\"\nudp = \"127.0.0.1:5005\"\n");
    let idle =
        |this_run| analyse(&plan, Some(&measured(this_run, "isr", None, 0))).clocks[0].result == ResponseTime::Idle;
    assert!(idle(true) && !idle(false));
}

#[test]
fn a_shortest_interval_is_for_clocks_without_a_period() {
    let text = "[fmu.ecu]\npath = \"ecu\"\n[fmu.ecu.clock.fast]\nmin_interval_us = 500\n";
    let error = try_build(text, &[description(ECU)], &host()).unwrap_err().to_string();
    let expected =
        "rig.toml:4:19: min_interval_us is for clocks without a period, and ecu.fast has one of 0.001 s: leave it out";
    assert_eq!(error, expected);
}
