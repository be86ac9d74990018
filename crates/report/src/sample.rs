//! A made-up run, for examples and tests.

use super::{
    ActivationResult, CallResult, Causes, ClockResult, ConnectionResult, CoreCounts, Distribution, DoctorFinding,
    DoctorResult, End, Ended, Fact, FmuResult, FmuStatus, HostResult, KernelCounters, LockResult, MemoryOverTime,
    OtherClock, OverTime, PartsResult, PredictedFrom, ProbeResult, PromiseResult, Run, Schedulability, Scheduling,
    Served, SignalResult, ThreadCounts, TraceResult,
};
use vecud_base::priority::{FifoPriority, FmiPriority};
use vecud_description::IntervalVariability::{self, Constant, Countdown, Triggered};
use vecud_plan::{Mode, TaskKind};
use vecud_record::recording::series::Files;

/// A made-up but plausible run of the engine example: ten seconds of real time on a PREEMPT_RT machine, without
/// problems. The same seed gives the same run.
pub fn sample(seed: u64) -> Run {
    let mut random = Random(seed);
    let clocks = vec![
        clock(&mut random, "ecu", "crank_isr", Triggered, None, 0, 89, 7_000, 4_000),
        clock(&mut random, "ecu", "injection", Countdown, None, 1, 88, 7_000, 3_000),
        clock(&mut random, "plant", "tooth", Countdown, None, 0, 87, 7_000, 2_500),
        clock(&mut random, "plant", "step", Constant, Some(0.001), 1, 86, 10_000, 38_000),
        clock(&mut random, "ecu", "task_1ms", Constant, Some(0.001), 2, 85, 10_000, 21_000),
        clock(&mut random, "ecu", "task_10ms", Constant, Some(0.01), 3, 84, 1_000, 160_000),
        clock(&mut random, "ecu", "task_100ms", Constant, Some(0.1), 4, 83, 100, 900_000),
    ];
    Run {
        rig: "engine".into(),
        version: "0.1.0".into(),
        mode: Mode::RealTime,
        command: ["vecud", "run", "engine.toml"].map(str::to_owned).into(),
        started: "2026-03-01T09:30:00Z".into(),
        start_monotonic_ns: 90_000_000,
        start_time: 0.0,
        end_time: 10.0,
        wall_seconds: 10.002,
        end: End::StopTime,
        ended: Ended::Finished,
        problems: vec![],
        notes: vec![],
        pauses: Default::default(),
        host: host(&mut random),
        stimuli: Vec::new(),
        fmus: vec![fmu(&mut random, "ecu"), fmu(&mut random, "plant")],
        clocks,
        repetition: None,
        connections: vec![ConnectionResult {
            from: "plant.speed".into(),
            to: "ecu.speed".into(),
            timing: "delayed".into(),
            delay: "visible at the next release of plant.step, 1 ms after".into(),
            missed: 0,
            overwritten: 0,
        }],
        promise: PromiseResult { holds: true, covered: 4, columns: 12, until_s: None, broken_by: None },
        samples_dropped: 0,
        log_dropped: 0,
        log_rotations: 0,
        trace: TraceResult::default(),
        signals: signals(),
        recordings: vec![Files { first: "signals.csv".to_owned(), last: "signals.csv".to_owned(), removed: 0 }],
        overview: None,
    }
}

fn signals() -> Vec<SignalResult> {
    let names = [("plant.speed", "rpm"), ("plant.load", "N.m"), ("ecu.target_speed", "rpm"), ("ecu.idle", "")];
    names.map(|(name, unit)| SignalResult { name: name.into(), unit: unit.into(), variable_type: String::new() }).into()
}

fn doctor(random: &mut Random) -> DoctorResult {
    DoctorResult {
        fit: true,
        findings: vec![DoctorFinding {
            check: "smt".into(),
            cpu: Some(2),
            is_problem: false,
            found: "shares its units with core 6".into(),
            why: "both get slower when both work".into(),
        }],
        probe: Some(ProbeResult {
            measured: "2026-02-28T17:00:00Z".into(),
            seconds: 5.0,
            cpus: vec![2],
            fifo_priority: Some(89),
            latency: Distribution::of((0..5_000).map(|_| random.latency(2_300, 1_100))),
        }),
    }
}

fn host(random: &mut Random) -> HostResult {
    let priority = |value| FifoPriority::new(value).expect("Linux has it");
    HostResult {
        kernel: "6.12.9-rt4 #1 SMP PREEMPT_RT".into(),
        preempt_rt: true,
        scheduling: Scheduling::Fifo,
        fifo_band_asked: (priority(51), priority(89)),
        fifo_band_used: Some((priority(83), priority(89))),
        memory_locked: true,
        memory_locked_bytes: 48 << 20,
        memory_wanted_bytes: 48 << 20,
        memory_over_time: Some(MemoryOverTime { interval_s: 0.1, resident_kib: vec![61_440; 100] }),
        dma_latency_held: true,
        clock: "monotonic".into(),
        spin_us: 0.0,
        cpu_model: "Example CPU at 3.20 GHz".into(),
        cpus_online: 4,
        isolated_cpus: vec![2, 3],
        load_at_start: Some([0.08, 0.11, 0.2]),
        load_at_end: Some([0.35, 0.17, 0.21]),
        doctor: Some(doctor(random)),
        facts: [("Clock source", "tsc"), ("Frequency governor", "performance")]
            .map(|(name, value)| Fact { name: name.into(), value: value.into() })
            .into(),
        cores: vec![CoreCounts {
            cpu: 2,
            interrupts: [("LOC", 10_012), ("RES", 44), ("eth0", 3)].map(served).into(),
            softirqs: [("TIMER", 1_003), ("RCU", 12)].map(served).into(),
            steal_ms: Some(0),
            smis: None,
            throttled: Some(0),
        }],
    }
}

fn served((name, count): (&str, u64)) -> Served {
    Served { name: name.into(), count }
}

fn fmu(random: &mut Random, name: &str) -> FmuResult {
    let hold = Distribution::of((0..9_000).map(|_| random.latency(700, 400)));
    let wait = Distribution::of((0..40).map(|_| random.latency(3_000, 2_000)));
    FmuResult {
        name: name.into(),
        path: format!("../fmus/engine_{name}"),
        status: FmuStatus::Terminated,
        lock: LockResult { acquisitions: hold.count(), nested: 120, leaked: 0, unbalanced: 0, hold, wait },
        findings: Vec::new(),
        log: vec![format!("[info] {name}: initialised"), format!("[info] {name}: terminated")],
        calls: [("fmi3GetFloat64", 20_003), ("fmi3ActivateModelPartition", 20_000), ("fmi3Terminate", 1)]
            .map(|(function, calls)| CallResult { function: function.into(), calls, total_ns: None })
            .into(),
    }
}

#[expect(clippy::too_many_arguments, reason = "a table of made-up clocks")]
fn clock(
    random: &mut Random,
    fmu: &str,
    clock: &str,
    kind: IntervalVariability,
    interval_s: Option<f64>,
    fmi: u32,
    fifo: u8,
    activations: u64,
    work: u64,
) -> ClockResult {
    let mut values = [const { Vec::new() }; 10];
    for _ in 0..activations {
        let wakeup = random.latency(2_400, 1_200);
        let start = wakeup + random.latency(350, 120) + u64::from(89 - fifo) * random.latency(100, 900);
        let execution = random.latency(work, work / 12);
        let jitter = start.abs_diff(values[1].last().copied().unwrap_or(start));
        let response = start + execution + random.latency(200, 300);
        let set_get = execution / 16;
        let all = [wakeup, start, jitter, execution, response, 0, 0, set_get, 300, wakeup];
        values.iter_mut().zip(all).for_each(|(list, value)| list.push(value));
    }
    let longest = |values: &[u64]| -> Vec<Option<u64>> {
        let interval = |i: usize| &values[values.len() * i / 100..values.len() * (i + 1) / 100];
        (0..100).map(|i| interval(i).iter().max().copied()).collect()
    };
    let over_time = OverTime {
        interval_s: 0.1,
        resolution_s: 0.1,
        start_latency: longest(&values[1]),
        response: longest(&values[4]),
        ..OverTime::default()
    };
    let causes = causes(&values[4], work / 16);
    let [
        wakeup_latency,
        start_latency,
        start_jitter,
        execution,
        response,
        preempted,
        blocked,
        set_get,
        host,
        wakeup_machine,
    ] = values.map(Distribution::of);
    let parts = PartsResult { preempted, blocked, set_get, host, wakeup_machine };
    ClockResult {
        fmu: fmu.into(),
        clock: clock.into(),
        kind: TaskKind::Clock(kind),
        interval_s,
        activated_by: match (interval_s, kind) {
            (Some(seconds), _) => format!("every {} ms", seconds * 1000.0),
            (None, Triggered) => "plant.crank_tooth".into(),
            (None, _) => "its own countdown".into(),
        },
        fmi_priority: Some(FmiPriority(fmi)),
        fifo_priority: FifoPriority::new(fifo),
        cpu: 2,
        thread: format!("{fmu}.{clock}").chars().take(15).collect(),
        releases: None,
        activations,
        overruns: 0,
        skipped: 0,
        coalesced: 0,
        retimed: 0,
        discarded: 0,
        datagrams: None,
        steps: None,
        arrival_latency: None,
        max_latency: (clock == "task_1ms").then_some(100_000),
        schedulability: Schedulability {
            longest_lock: work / 10,
            shortest_interval: interval_s.is_none().then_some(2_000_000),
            predicted_response: Some(5 * work + 60_000),
            predicted_from: Some(PredictedFrom::Run),
        },
        wakeup_latency,
        start_latency,
        start_jitter,
        execution,
        response,
        over_time: Some(over_time),
        parts,
        causes,
    }
}

/// Causes: the worst of these responses, and a thread that did nothing unusual.
fn causes(responses: &[u64], set_get: u64) -> Causes {
    let mut worst: Vec<(usize, u64)> = responses.iter().copied().enumerate().collect();
    worst.sort_by_key(|(_, response)| std::cmp::Reverse(*response));
    let moment = |&(number, response): &(usize, u64)| ActivationResult {
        time: format!("{number}/1000"),
        time_s: number as f64 / 1e3,
        release_monotonic_ns: 90_000_000 + number as i64 * 1_000_000,
        response,
        wakeup: 2_000.min(response),
        executing: response.saturating_sub(2_000 + set_get),
        set_get: set_get.min(response.saturating_sub(2_000)),
        others: vec![OtherClock { clock: "plant.step".into(), overlap: 700, under_way: true }],
        ..ActivationResult::default()
    };
    let worst_responses: Vec<ActivationResult> = worst.iter().take(10).map(moment).collect();
    let worst_wakeups = worst_responses.iter().take(3).cloned().collect();
    let counts = |voluntary_switches| KernelCounters { voluntary_switches, ..KernelCounters::default() };
    let thread = Some(ThreadCounts { first: Some(counts(1)), later: counts(responses.len() as u64) });
    Causes { worst_responses, worst_wakeups, thread, ..Causes::default() }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Something that takes `typical` when nothing disturbs it, and now and then much longer.
    fn latency(&mut self, typical: u64, spread: u64) -> u64 {
        let bell = (0..6).map(|_| self.uniform()).sum::<f64>() / 6.0;
        let tail = -(1.0 - self.uniform()).ln();
        let disturbed = if self.uniform() < 0.01 { 3.0 * tail } else { 0.25 * tail };
        (typical as f64 + spread as f64 * (bell + disturbed)) as u64
    }
}
