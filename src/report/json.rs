//! `report.json`: the fields of design section 4 that others rely on, and some more.

use super::causes::{Causes, PartsJson};
use super::stimuli::StimulusJson;
use super::trace::TraceJson;
use super::{
    ClockResult, ConnectionResult, End, FindingResult, FmuResult, Host, LockResult, OverTime, Problem, PromiseResult,
    Run, Schedulability, Scheduling, Severity, passed, status,
};
use crate::plan::Mode;
use crate::plan::words::kind_name;
use crate::priority::FifoPriority;
use crate::record::histogram::Histogram;
use serde::Serialize;
use serde_json::value::RawValue;

/// The run as `report.json`: pretty-printed, always in the same order. Times are nanoseconds unless their name says
/// otherwise.
pub fn json(run: &Run) -> String {
    let mut text = serde_json::to_string_pretty(&Report::of(run)).expect("strings, numbers and lists");
    text.push('\n');
    text
}

#[derive(Serialize)]
struct Report<'a> {
    rig: &'a str,
    mode: &'static str,
    verdict: &'static str,
    problems: Vec<String>,
    problem_severities: Vec<&'static str>,
    hints: Vec<String>,
    notes: &'a [String],
    version: &'a str,
    started: &'a str,
    start_monotonic_ns: i64,
    start_time: f64,
    end_time: f64,
    wall_seconds: f64,
    end: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    repetition: Option<u32>,
    samples_dropped: u64,
    log_dropped: u64,
    trace: TraceJson<'a>,
    host: HostJson<'a>,
    fmus: Vec<FmuJson<'a>>,
    clocks: Vec<ClockJson<'a>>,
    stimuli: Vec<StimulusJson>,
    connections: &'a [ConnectionResult],
    promise: &'a PromiseResult,
}

#[derive(Serialize)]
struct HostJson<'a> {
    kernel: &'a str,
    preempt_rt: bool,
    scheduling: &'static str,
    fifo_band_asked: [u8; 2],
    fifo_band_used: Option<[u8; 2]>,
    memory_locked: bool,
    memory_locked_bytes: u64,
    memory_wanted_bytes: u64,
    dma_latency_held: bool,
    clock: &'a str,
    spin_us: f64,
    cpu_model: &'a str,
    cpus_online: usize,
    isolated_cpus: &'a [usize],
    facts: Vec<Fact<'a>>,
}

#[derive(Serialize)]
struct Fact<'a> {
    name: &'a str,
    value: &'a str,
}

#[derive(Serialize)]
struct FmuJson<'a> {
    name: &'a str,
    path: &'a str,
    status: &'static str,
    lock: LockJson,
    findings: Vec<FindingJson<'a>>,
    log: &'a [String],
}

#[derive(Serialize)]
struct FindingJson<'a> {
    kind: &'a str,
    count: u64,
    message: &'a str,
}

#[derive(Serialize)]
struct LockJson {
    acquisitions: u64,
    violations: u64,
    nested: u64,
    leaked: u64,
    unbalanced: u64,
    hold: Hist,
    wait: Hist,
}

#[derive(Serialize)]
struct ClockJson<'a> {
    fmu: &'a str,
    clock: &'a str,
    kind: Option<&'static str>,
    interval_s: Option<f64>,
    activated_by: &'a str,
    fmi_priority: Option<u32>,
    fifo_priority: Option<u8>,
    cpu: usize,
    thread: &'a str,
    activations: u64,
    overruns: u64,
    skipped: u64,
    coalesced: u64,
    retimed: u64,
    discarded: u64,
    received: Option<u64>,
    rate_limited: Option<u64>,
    kernel_dropped: Option<u64>,
    max_latency: Option<u64>,
    #[serde(flatten)]
    schedulability: Schedulability,
    wakeup_latency: Hist,
    start_latency: Hist,
    start_jitter: Hist,
    execution: Hist,
    response: Hist,
    arrival_latency: Option<Hist>,
    #[serde(skip_serializing_if = "Option::is_none")]
    over_time: Option<OverTimeJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<PartsJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    causes: Option<&'a Causes>,
}

/// Hundreds of numbers: each list on a line of its own.
#[derive(Serialize)]
struct OverTimeJson {
    interval_s: f64,
    start_latency: Box<RawValue>,
    response: Box<RawValue>,
}

#[derive(Serialize)]
pub(super) struct Hist {
    count: u64,
    min: u64,
    mean: f64,
    p50: u64,
    p90: u64,
    p99: u64,
    p99_9: u64,
    p99_99: u64,
    max: u64,
}

impl<'a> Report<'a> {
    fn of(run: &'a Run) -> Self {
        Report {
            rig: &run.rig,
            mode: mode(run.mode),
            verdict: if passed(run) { "pass" } else { "fail" },
            problems: run.problems.iter().map(Problem::message).collect(),
            problem_severities: run.problems.iter().map(|problem| severity(problem.severity)).collect(),
            hints: super::hints(run),
            notes: &run.notes,
            version: &run.version,
            started: &run.started,
            start_monotonic_ns: run.start_monotonic_ns,
            start_time: run.start_time,
            end_time: run.end_time,
            wall_seconds: run.wall_seconds,
            end: end(run.end),
            repetition: run.repetition,
            samples_dropped: run.samples_dropped,
            log_dropped: run.log_dropped,
            trace: TraceJson::of(&run.trace),
            host: HostJson::of(&run.host),
            fmus: run.fmus.iter().map(FmuJson::of).collect(),
            clocks: run.clocks.iter().map(ClockJson::of).collect(),
            stimuli: run.stimuli.iter().map(StimulusJson::of).collect(),
            connections: &run.connections,
            promise: &run.promise,
        }
    }
}

/// A mode in the words of `report.json`.
pub(super) fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::RealTime => "realtime",
        Mode::Virtual => "virtual",
    }
}

/// How a run ended, in the same words.
pub(super) fn end(end: End) -> &'static str {
    match end {
        End::StopTime => "stop_time",
        End::Overrun => "overrun",
        End::Signal => "signal",
        End::Failure => "failure",
    }
}

/// How threads were scheduled.
pub(super) fn scheduling(scheduling: Scheduling) -> &'static str {
    match scheduling {
        Scheduling::Fifo => "fifo",
        Scheduling::Cooperative => "cooperative",
        Scheduling::Virtual => "virtual",
    }
}

/// What a problem means.
pub(super) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Failure => "failure",
        Severity::Limit => "limit",
        Severity::Finding => "finding",
        Severity::Warning => "warning",
    }
}

impl<'a> HostJson<'a> {
    fn of(host: &'a Host) -> Self {
        HostJson {
            kernel: &host.kernel,
            preempt_rt: host.preempt_rt,
            scheduling: scheduling(host.scheduling),
            fifo_band_asked: numbers(host.fifo_band_asked),
            fifo_band_used: host.fifo_band_used.map(numbers),
            memory_locked: host.memory_locked,
            memory_locked_bytes: host.memory_locked_bytes,
            memory_wanted_bytes: host.memory_wanted_bytes,
            dma_latency_held: host.dma_latency_held,
            clock: &host.clock,
            spin_us: host.spin_us,
            cpu_model: &host.cpu_model,
            cpus_online: host.cpus_online,
            isolated_cpus: &host.isolated_cpus,
            facts: host.facts.iter().map(|(name, value)| Fact { name, value }).collect(),
        }
    }
}

fn numbers((low, high): (FifoPriority, FifoPriority)) -> [u8; 2] {
    [low.get(), high.get()]
}

impl<'a> FmuJson<'a> {
    fn of(fmu: &'a FmuResult) -> Self {
        let (name, path) = (&fmu.name, &fmu.path);
        let finding = |f: &'a FindingResult| FindingJson { kind: &f.kind, count: f.count, message: &f.message };
        let findings = fmu.findings.iter().map(finding).collect();
        FmuJson { name, path, status: status(fmu.status), lock: LockJson::of(&fmu.lock), findings, log: &fmu.log }
    }
}

impl LockJson {
    fn of(lock: &LockResult) -> Self {
        LockJson {
            acquisitions: lock.acquisitions,
            // Nesting is allowed: counted, but no violation.
            violations: lock.leaked + lock.unbalanced,
            nested: lock.nested,
            leaked: lock.leaked,
            unbalanced: lock.unbalanced,
            hold: Hist::of(&lock.hold),
            wait: Hist::of(&lock.wait),
        }
    }
}

impl<'a> ClockJson<'a> {
    fn of(clock: &'a ClockResult) -> Self {
        let datagrams = clock.datagrams.as_ref();
        ClockJson {
            fmu: &clock.fmu,
            clock: &clock.clock,
            kind: clock.kind.map(kind_name),
            interval_s: clock.interval_s,
            activated_by: &clock.activated_by,
            fmi_priority: clock.fmi_priority.map(|priority| priority.0),
            fifo_priority: clock.fifo_priority.map(|priority| priority.get()),
            cpu: clock.cpu,
            thread: &clock.thread,
            activations: clock.activations,
            overruns: clock.overruns,
            skipped: clock.skipped,
            coalesced: clock.coalesced,
            retimed: clock.retimed,
            discarded: clock.discarded,
            received: datagrams.map(|own| own.received),
            rate_limited: datagrams.map(|own| own.rate_limited),
            kernel_dropped: datagrams.map(|own| own.dropped),
            max_latency: clock.max_latency,
            schedulability: clock.schedulability,
            wakeup_latency: Hist::of(&clock.wakeup_latency),
            start_latency: Hist::of(&clock.start_latency),
            start_jitter: Hist::of(&clock.start_jitter),
            execution: Hist::of(&clock.execution),
            response: Hist::of(&clock.response),
            arrival_latency: datagrams.map(|own| Hist::of(&own.arrival_latency)),
            over_time: clock.over_time.as_ref().map(OverTimeJson::of),
            parts: PartsJson::of(&clock.parts),
            causes: Some(&clock.causes).filter(|causes| **causes != Causes::default()),
        }
    }
}

impl OverTimeJson {
    fn of(own: &OverTime) -> Self {
        let line = |points: &[Option<u64>]| serde_json::value::to_raw_value(points).expect("numbers");
        let OverTime { interval_s, start_latency, response } = own;
        OverTimeJson { interval_s: *interval_s, start_latency: line(start_latency), response: line(response) }
    }
}

impl Hist {
    pub fn of(histogram: &Histogram) -> Self {
        Hist {
            count: histogram.count(),
            min: histogram.min(),
            mean: histogram.mean(),
            p50: histogram.quantile(0.5),
            p90: histogram.quantile(0.9),
            p99: histogram.quantile(0.99),
            p99_9: histogram.quantile(0.999),
            p99_99: histogram.quantile(0.9999),
            max: histogram.max(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DatagramResult, sample};
    use super::*;
    use serde_json::Value;

    fn parsed(run: &Run) -> Value {
        serde_json::from_str(&json(run)).unwrap()
    }

    fn is_hist(value: &Value) {
        let object = value.as_object().unwrap();
        let names = ["count", "min", "mean", "p50", "p90", "p99", "p99_9", "p99_99", "max"];
        assert_eq!(object.len(), names.len());
        for name in names {
            assert!(if name == "mean" { object[name].is_f64() } else { object[name].is_u64() }, "{name}");
        }
    }

    #[test]
    fn the_fields_of_the_contract_are_there_with_their_types() {
        let json = parsed(&sample(1));
        assert_eq!(json["rig"], "engine");
        assert_eq!(json["mode"], "realtime");
        assert_eq!(json["verdict"], "pass");
        assert!(json["problems"].as_array().unwrap().iter().all(Value::is_string));
        let host = &json["host"];
        assert!(host["kernel"].is_string() && host["preempt_rt"].is_boolean() && host["memory_locked"].is_boolean());
        assert_eq!(host["scheduling"], "fifo");
        assert_eq!((&host["fifo_band_asked"], &host["fifo_band_used"]), (&[51, 89].into(), &[83, 89].into()));
        for fmu in json["fmus"].as_array().unwrap() {
            assert!(fmu["name"].is_string());
            assert_eq!(fmu["status"], "terminated");
            assert!(fmu["lock"]["acquisitions"].is_u64() && fmu["lock"]["violations"].is_u64());
            is_hist(&fmu["lock"]["hold"]);
            is_hist(&fmu["lock"]["wait"]);
        }
        let clocks = json["clocks"].as_array().unwrap();
        assert_eq!(clocks.len(), 7);
        for clock in clocks {
            for name in ["fmu", "clock", "kind", "thread"] {
                assert!(clock[name].is_string(), "{name}");
            }
            assert!(clock["interval_s"].is_f64() || clock["interval_s"].is_null());
            for name in ["fmi_priority", "fifo_priority", "cpu", "activations", "overruns", "skipped"] {
                assert!(clock[name].is_u64(), "{name}");
            }
            assert!(clock["coalesced"].is_u64() && clock["retimed"].is_u64());
            for name in ["wakeup_latency", "start_latency", "start_jitter", "execution", "response"] {
                is_hist(&clock[name]);
            }
        }
    }

    #[test]
    fn what_only_datagrams_have_is_null_for_other_clocks() {
        let mut run = sample(1);
        run.clocks[0].datagrams =
            Some(DatagramResult { received: 9, rate_limited: 3, dropped: 2, ..Default::default() });
        let clocks = &parsed(&run)["clocks"];
        assert_eq!((&clocks[0]["received"], &clocks[0]["rate_limited"]), (&9.into(), &3.into()));
        assert_eq!(clocks[0]["kernel_dropped"], 2);
        is_hist(&clocks[0]["arrival_latency"]);
        for name in ["received", "rate_limited", "kernel_dropped", "arrival_latency"] {
            assert!(clocks[1].as_object().unwrap()[name].is_null(), "{name}");
        }
    }

    #[test]
    fn figures_are_those_of_the_histogram() {
        let mut run = sample(1);
        run.clocks[0].response = Histogram::of(1..=10_000);
        let hist = &parsed(&run)["clocks"][0]["response"];
        assert_eq!((hist["count"].as_u64(), hist["min"].as_u64()), (Some(10_000), Some(1)));
        assert_eq!((hist["mean"].as_f64(), hist["max"].as_u64()), (Some(5000.5), Some(10_000)));
        for (name, exact) in [("p50", 5000.0), ("p90", 9000.0), ("p99", 9900.0), ("p99_9", 9990.0), ("p99_99", 9999.0)]
        {
            assert!((hist[name].as_f64().unwrap() - exact).abs() <= exact / 128.0, "{name}");
        }
    }

    #[test]
    fn connections_say_what_came_too_late_and_the_promise_when_it_broke() {
        let mut run = sample(1);
        run.connections[0].missed = 3;
        run.promise = PromiseResult {
            holds: false,
            covered: 4,
            columns: 12,
            until_s: Some(0.25),
            broken_by: Some("an overrun of clock plant.step".into()),
        };
        let report = parsed(&run);
        let connection = &report["connections"][0];
        assert_eq!((&connection["from"], &connection["timing"]), (&"plant.speed".into(), &"delayed".into()));
        assert_eq!((&connection["missed"], &connection["overwritten"]), (&3.into(), &0.into()));
        let promise = &report["promise"];
        assert_eq!((&promise["holds"], &promise["until_s"]), (&false.into(), &0.25.into()));
        assert_eq!(promise["broken_by"], "an overrun of clock plant.step");
    }

    #[test]
    fn a_warning_passes_a_limit_or_a_failure_does_not() {
        for (severity, verdict) in [(Severity::Warning, "pass"), (Severity::Limit, "fail"), (Severity::Failure, "fail")]
        {
            let mut run = sample(1);
            run.problems = vec![Problem::told(severity, "it was late", &[], &[])];
            assert_eq!(parsed(&run)["verdict"], verdict);
            assert_eq!(parsed(&run)["problems"][0], "it was late");
        }
    }

    #[test]
    fn nesting_is_no_violation() {
        let mut run = sample(1);
        run.fmus[0].lock = LockResult { nested: 5, leaked: 2, unbalanced: 1, ..LockResult::default() };
        let lock = &parsed(&run)["fmus"][0]["lock"];
        assert_eq!((lock["violations"].as_u64(), lock["nested"].as_u64()), (Some(3), Some(5)));
    }

    #[test]
    fn a_clock_that_never_ran_has_zeros() {
        let mut run = sample(1);
        run.clocks[0].execution = Histogram::default();
        is_hist(&parsed(&run)["clocks"][0]["execution"]);
        assert_eq!(parsed(&run)["clocks"][0]["execution"]["max"], 0);
    }

    #[test]
    fn the_text_is_the_same_each_time() {
        assert_eq!(json(&sample(3)), json(&sample(3)));
    }
}
