use super::super::causes::{Causes, KernelCounters, OtherClock, ThreadCounts};
use super::super::sample;
use super::evidence::name;
use super::*;
use crate::{ActivationResult, CoreCounts, Distribution, KernelWork, MemoryOverTime, Run, Scheduling, Served};
use vecud_plan::Mode;

const TASK: usize = 4; // ecu.task_1ms in the sample; plant.step is before it and more urgent.

/// A moment whose parts add up.
fn moment(change: impl FnOnce(&mut ActivationResult)) -> ActivationResult {
    let mut moment =
        ActivationResult { wakeup: 3_000, gate: 500, executing: 20_000, set_get: 900, ..ActivationResult::default() };
    change(&mut moment);
    moment.response = moment.parts().iter().map(|(_, part)| part).sum();
    moment
}

fn other(clock: &str, overlap: u64, under_way: bool) -> OtherClock {
    OtherClock { clock: clock.into(), overlap, under_way }
}

/// The ten worst: some of these, the others as always.
fn ten(worst: Vec<ActivationResult>) -> Vec<ActivationResult> {
    let usual = std::iter::repeat_with(|| moment(|_| ()));
    worst.into_iter().chain(usual).take(10).collect()
}

/// A run in which a millisecond clock has these causes.
fn run(causes: Causes) -> Run {
    let mut run = sample(1);
    run.clocks.iter_mut().for_each(|clock| clock.causes = Causes::default());
    let clock = &mut run.clocks[TASK];
    assert_eq!((name(clock), clock.interval_s), ("ecu.task_1ms".to_owned(), Some(0.001)));
    clock.wakeup_latency = Distribution::of(vec![3_000; 1000]);
    clock.response = Distribution::of(vec![24_000; 1000]);
    clock.execution = Distribution::of(vec![21_000; 1000]);
    clock.causes = causes;
    run
}

fn counts(faults: u64, disk: u64, involuntary: u64) -> KernelCounters {
    KernelCounters {
        minor_faults: faults,
        major_faults: disk,
        voluntary_switches: 10_000,
        involuntary_switches: involuntary,
    }
}

fn thread(first: KernelCounters, later: KernelCounters) -> Causes {
    Causes { thread: Some(ThreadCounts { first: Some(first), later }), ..Causes::default() }
}

#[test]
fn a_healthy_run_has_none() {
    assert_eq!(hints(&sample(1)), [""; 0], "nothing measured");
    let thread = Some(ThreadCounts { first: Some(counts(30, 0, 1)), later: counts(0, 0, 2) });
    let causes = Causes {
        worst_responses: ten(vec![moment(|m| (m.first, m.executing) = (true, 40_000))]),
        worst_wakeups: ten(vec![moment(|m| m.wakeup = 49_000)]),
        thread,
        ..Causes::default()
    };
    assert_eq!(hints(&run(causes)), [""; 0]);
}

#[test]
fn virtual_time_has_none() {
    let mut run = run(Causes { demoted: true, ..Causes::default() });
    assert_eq!(hints(&run).len(), 1);
    run.mode = Mode::Virtual;
    assert_eq!(hints(&run), [""; 0]);
}

#[test]
fn each_hint_states_its_evidence() {
    let worst_wakeups = |worst: Vec<ActivationResult>| Causes { worst_wakeups: ten(worst), ..Causes::default() };
    let worst_responses = |worst: Vec<ActivationResult>| Causes { worst_responses: ten(worst), ..Causes::default() };
    let late = |wakeup: u64, others: Vec<OtherClock>| moment(|m| (m.wakeup, m.others) = (wakeup, others));
    for (causes, words) in [
        (
            Causes { demoted: true, ..Causes::default() },
            "ecu.task_1ms was demoted by the watchdog (max_execution_us): from then on it ran as an ordinary thread, behind \
             everything else on core 2",
        ),
        (
            Causes { other_core: 1, ..Causes::default() },
            "1 activation of ecu.task_1ms ran on another core than 2: something else moves its thread",
        ),
        (
            thread(counts(30, 0, 0), counts(7, 2, 0)),
            "ecu.task_1ms took 9 page faults, 2 from disk after its first activation: its FMU's code touches memory for the \
             first time while it runs, or memory is not locked",
        ),
        (
            // The sample's more urgent clocks of core 2 run 31,000 times.
            thread(KernelCounters::default(), counts(0, 0, 31_003)),
            "ecu.task_1ms lost core 2 31,003 times, more urgent clocks of the rig account for 31,000 at most: other \
             real-time threads or the kernel's own took it",
        ),
        (
            Causes {
                worst_responses: ten(vec![moment(|m| (m.first, m.executing) = (true, 200_000))]),
                ..thread(counts(30, 1, 0), KernelCounters::default())
            },
            "the worst response of ecu.task_1ms, 204 µs, is its first activation, with 31 page faults; the median is 24.0 µs",
        ),
        (
            worst_wakeups(vec![moment(|m| (m.wakeup, m.follows) = (800_000, true))]),
            "1 of the 10 worst wake-ups of ecu.task_1ms, up to 800 µs, waited for the activation before, which had not ended",
        ),
        (
            worst_wakeups(vec![
                late(90_000, vec![other("plant.step", 80_000, false)]),
                late(70_000, vec![other("ecu.task_10ms", 90_000, true), other("plant.step", 35_000, false)]),
            ]),
            "2 of the 10 worst wake-ups of ecu.task_1ms, up to 90.0 µs, coincide with activations of plant.step on core 2, \
             which took up to 80.0 µs of that time",
        ),
        (
            worst_wakeups(vec![late(5_000_000, vec![other("plant.step", 40_000, false)])]),
            "on core 2 the machine (kernel, interrupts, hypervisor) was away: 1 of the 10 worst wake-ups of ecu.task_1ms, up \
             to 5.00 ms; the rig was at work for 40.0 µs of one of them at most; `vecud doctor` says what to look at",
        ),
        (
            worst_wakeups(vec![late(300_000, vec![other("ecu.task_100ms", 300_000, true)]); 4]),
            "4 of the 10 worst wake-ups of ecu.task_1ms, up to 300 µs, fall into activations of ecu.task_100ms, a less urgent \
             clock of that core, 4 times, although it is under way in only 1.0 % of the time: something in it keeps the core, \
             such as a system call",
        ),
        (
            worst_responses(vec![
                moment(|m| (m.blocked, m.blocked_by) = (60_000, Some("ecu.task_10ms".into()))),
                moment(|m| (m.blocked, m.blocked_by) = (90_000, Some("ecu.task_10ms".into()))),
            ]),
            "2 of the 10 worst responses of ecu.task_1ms waited for the preemption lock held by ecu.task_10ms, up to 90.0 µs",
        ),
        (
            worst_responses(vec![moment(|m| (m.gate, m.gate_waits) = (400_000, 1))]),
            "1 of the 10 worst responses of ecu.task_1ms waited to begin, up to 400 µs, while another partition of ecu was in \
             a locked section or asleep",
        ),
        (
            worst_responses(vec![moment(|m| {
                (m.preempted, m.others) = (900_000, vec![other("plant.step", 900_000, false)]);
            })]),
            "1 of the 10 worst responses of ecu.task_1ms, up to 924 µs of an interval of 1.00 ms, went to other partitions of \
             core 2 for the most part, plant.step above all, up to 900 µs",
        ),
        (
            worst_responses(vec![moment(|m| m.executing = 700_000); 10]),
            "10 of the 10 worst responses of ecu.task_1ms, up to 704 µs of an interval of 1.00 ms, were spent in the FMU's own \
             code for the most part, up to 700 µs; the median of its execution is 21.0 µs: the code itself takes longer then, \
             or the machine was away meanwhile",
        ),
    ] {
        assert_eq!(hints(&run(causes)), [words]);
    }
}

#[test]
fn who_is_under_way_as_often_by_chance_is_not_named() {
    let late = moment(|m| (m.wakeup, m.others) = (300_000, vec![other("ecu.task_10ms", 300_000, true)]));
    let mut run = run(Causes { worst_wakeups: ten(vec![late; 4]), ..Causes::default() });
    let slow = &mut run.clocks[5];
    assert_eq!((name(slow), slow.activations), ("ecu.task_10ms".to_owned(), 1000));
    slow.response = Distribution::of(vec![4_000_000; 1000]);
    let hints = hints(&run);
    assert!(hints.len() == 1 && hints[0].contains("nothing of the rig was at work then"), "{hints:?}");
}

#[test]
fn the_machine_is_named_once_for_all_clocks_of_a_core() {
    let late = moment(|m| m.wakeup = 900_000);
    let mut run = run(Causes { worst_wakeups: ten(vec![late.clone()]), ..Causes::default() });
    for clock in [1, 2, 3] {
        run.clocks[clock].causes.worst_wakeups = ten(vec![late.clone(); 2]);
    }
    run.clocks[3].cpu = 1;
    let words = hints(&run);
    assert_eq!(words.len(), 2, "{words:?}");
    assert!(
        words[0].starts_with("on core 1 ")
            && words[0].contains("2 of the 10 worst wake-ups of plant.step, up to 900 µs;")
    );
    let named = ["ecu.injection, up to 900 µs, ", "plant.tooth, up to 900 µs, and some of 1 further clock; nothing"];
    assert!(words[1].starts_with("on core 2 ") && named.iter().all(|part| words[1].contains(part)), "{words:?}");
}

#[test]
fn wakes_of_more_urgent_threads_explain_switches() {
    let mut run = run(thread(KernelCounters::default(), counts(0, 0, 31_500)));
    assert_eq!(hints(&run).len(), 1);
    // A countdown clock sleeps twice for each activation.
    run.clocks[1].causes =
        thread(KernelCounters::default(), KernelCounters { voluntary_switches: 14_000, ..KernelCounters::default() });
    assert_eq!(hints(&run), [""; 0]);
}

#[test]
fn faults_of_a_first_activation_that_nobody_knows_apart_are_no_evidence() {
    let thread = Some(ThreadCounts { first: None, later: counts(30, 0, 0) });
    assert_eq!(hints(&run(Causes { thread, ..Causes::default() })), [""; 0]);
}

#[test]
fn ordinary_threads_lose_their_core_all_the_time() {
    let mut run = run(thread(KernelCounters::default(), counts(0, 0, 40_000)));
    run.host.scheduling = Scheduling::Cooperative;
    assert_eq!(hints(&run), [""; 0]);
}

/// What interrupts the machine every 100 ms is named with its period.
#[test]
fn late_wakeups_that_recur_are_told_with_their_period() {
    let start = run(Causes::default()).start_monotonic_ns;
    let late = |cycle: i64, phase: i64| {
        moment(|m| {
            (m.wakeup, m.release_monotonic_ns) = (300_000, start + (cycle * 100 + phase) * 1_000_000);
        })
    };
    let cycles = [3, 4, 9, 17, 20, 21, 35, 50, 77, 98];
    let causes = |phase: fn(i64) -> i64| Causes {
        worst_wakeups: cycles.iter().map(|cycle| late(*cycle, phase(*cycle))).collect(),
        ..Causes::default()
    };
    let [hint] = &hints(&run(causes(|_| 73)))[..] else { panic!() };
    let words = "10 of 10 lie 73.0 ms to 78.0 ms after the beginning of each 100 ms, counted from the start";
    assert!(hint.contains("on core 2 the machine") && hint.contains(words), "{hint}");
    // Anywhere in their 100 ms they say nothing.
    let [hint] = &hints(&run(causes(|cycle| cycle * 37 % 100)))[..] else { panic!() };
    assert!(!hint.contains("counted from the start"), "{hint}");
}

/// Counts that say something are told; those that every run has are not.
#[test]
fn counts_of_a_core_are_told_when_they_say_something() {
    let usual = [("LOC", 100_000), ("RES", 30_000), ("IPI0", 30_000), ("TLB", 4_000), ("eth0", 99)];
    let served = |all: &[(&str, u64)]| all.iter().map(|&(name, count)| Served { name: name.into(), count }).collect();
    let mut run = run(Causes::default());
    run.wall_seconds = 10.0;
    let counts = CoreCounts {
        cpu: 2,
        interrupts: served(&usual),
        softirqs: served(&[("NET_RX", 9), ("TIMER", 9_000)]),
        steal_ms: Some(10),
        smis: Some(0),
        throttled: None,
    };
    run.host.cores = vec![counts.clone()];
    assert_eq!(hints(&run), [""; 0]);
    run.host.cores = vec![CoreCounts {
        interrupts: served(&[("LOC", 100_000), ("eth0-rx", 12_345), ("xhci_hcd", 100)]),
        softirqs: served(&[("NET_RX", 12_000), ("TIMER", 9_000)]),
        steal_ms: Some(120),
        smis: Some(1),
        throttled: Some(7),
        ..counts
    }];
    let expected = [
        "the hypervisor had core 2 for 120 ms of 10 s although it was wanted here",
        "firmware had core 2 1 time during the run (SMI)",
        "core 2 was slowed down 7 times during the run",
        "core 2 served interrupts of devices during the run, 12,345 of eth0-rx, 100 of xhci_hcd, and softirqs 12,000 of NET_RX:",
    ];
    let told = hints(&run);
    assert_eq!(told.len(), expected.len(), "{told:?}");
    assert!(told.iter().zip(expected).all(|(told, expected)| told.starts_with(expected)), "{told:?}");
}

#[test]
fn who_ran_in_the_worst_traced_wakeup_is_told() {
    let work = |what: &str, ns, rig| KernelWork { what: what.into(), ns, rig };
    let traced = moment(|m| {
        (m.wakeup, m.time_s) = (150_000, 0.4);
        m.kernel = vec![
            work("softirq NET_RX", 132_000, false),
            work("idle", 12_000, false),
            work("interrupt eth0", 4_000, false),
            work("thread ecu.task_1ms", 1_999, true),
        ];
    });
    let words = "in the kernel's trace lies a wake-up of ecu.task_1ms that took 150 µs (at 0.4 s); on core 2 ran meanwhile \
                 softirq NET_RX for 132 µs, nothing for 12.0 µs (no interrupt came: an idle state, firmware or a hypervisor), \
                 interrupt eth0 for 4.00 µs";
    let worse = moment(|m| m.wakeup = 900_000);
    let told = hints(&run(Causes { worst_wakeups: ten(vec![worse, traced.clone()]), ..Causes::default() }));
    assert_eq!(told[0], words, "of the worst one nothing is known");
    assert_eq!(told.len(), 2, "and that the machine was away: {told:?}");
    let mut short = traced.clone();
    short.wakeup = 40_000;
    assert_eq!(hints(&run(Causes { worst_wakeups: ten(vec![short]), ..Causes::default() })), [""; 0]);
    // The same while the activation ran.
    let response = moment(|m| {
        (m.executing, m.time_s) = (300_000, 0.4);
        m.kernel = vec![work("softirq NET_RX", 170_000, false), work("thread ecu.task_1ms", 150_000, true)];
    });
    let told = hints(&run(Causes { worst_responses: ten(vec![response]), ..Causes::default() }));
    let words = "in the kernel's trace lies a response of ecu.task_1ms that took 304 µs (at 0.4 s); on core 2 ran meanwhile \
                 softirq NET_RX for 170 µs, thread ecu.task_1ms for 150 µs";
    assert_eq!(told, [words]);
}

#[test]
fn memory_that_only_grows_is_told_and_what_is_set_up_late_is_not() {
    let told = |resident_kib: Vec<u64>, mode: Mode| {
        let mut run = run(Causes::default());
        (run.mode, run.host.memory_over_time) = (mode, Some(MemoryOverTime { interval_s: 0.5, resident_kib }));
        hints(&run)
    };
    let leak = |each: u64| (0..41).map(|at| 50 * 1024 + at * each).collect::<Vec<u64>>();
    for mode in [Mode::RealTime, Mode::Virtual] {
        let [told] = &told(leak(512), mode)[..] else { panic!("one hint") };
        assert!(told.contains("grows: from 55.0 to 70.0 MiB in the last 15.0 s, 1.000 MiB each second"), "{told}");
    }
    let once = [vec![1024; 30], vec![90_000; 11]].concat();
    let wave = (0..41).map(|at| 50_000 + at % 7 * 3000).collect();
    for kib in [leak(10), leak(0), leak(512)[..15].to_vec(), once, wave, Vec::new()] {
        assert_eq!(told(kib.clone(), Mode::RealTime), [""; 0], "{kib:?}");
    }
}
