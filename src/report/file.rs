//! `report.json`: the fields of design section 4 that others rely on, and some more, as they are in the file. Written from a
//! [`Run`] and read into one by `read.rs`; what is in there as it is in a [`Run`] is not listed again.
//!
//! Fields that are not known are passed over, and one that is missing is an error, but for those that came later.

use super::causes::{Causes, PartsFile, is_default};
use super::{
    ClockResult, ConnectionResult, End, FindingResult, FmuResult, Host, LockResult, OverTime, Problem, PromiseResult,
    Run, Schedulability, Scheduling, Severity, StimulusResult, TraceResult, passed, status,
};
use crate::plan::Mode;
use crate::plan::words::kind_name;
use crate::priority::FifoPriority;
use crate::record::histogram::Histogram;
use serde::{Deserialize, Serialize};

/// The run as `report.json`: pretty-printed, always in the same order. Times are nanoseconds unless their name says
/// otherwise.
pub fn json(run: &Run) -> String {
    let mut text = serde_json::to_string_pretty(&ReportFile::of(run)).expect("strings, numbers and lists");
    text.push('\n');
    text
}

/// A `report.json`. The fields are those of the file.
#[derive(Debug, Deserialize, Serialize)]
pub struct ReportFile {
    pub(super) rig: String,
    pub(super) mode: String,
    pub(super) verdict: String,
    pub(super) problems: Vec<String>,
    pub(super) problem_severities: Vec<String>,
    /// They follow from the rest.
    #[serde(skip_deserializing)]
    hints: Vec<String>,
    pub(super) notes: Vec<String>,
    pub(super) version: String,
    pub(super) started: String,
    pub(super) start_monotonic_ns: i64,
    pub(super) start_time: f64,
    pub(super) end_time: f64,
    pub(super) wall_seconds: f64,
    pub(super) end: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) repetition: Option<u32>,
    pub(super) samples_dropped: u64,
    pub(super) log_dropped: u64,
    #[serde(default)]
    pub(super) trace: TraceResult,
    pub(super) host: HostFile,
    pub(super) fmus: Vec<FmuFile>,
    pub(super) clocks: Vec<ClockFile>,
    #[serde(default)]
    pub(super) stimuli: Vec<StimulusResult>,
    #[serde(default)]
    pub(super) connections: Vec<ConnectionResult>,
    pub(super) promise: PromiseResult,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct HostFile {
    pub kernel: String,
    pub preempt_rt: bool,
    pub scheduling: String,
    pub fifo_band_asked: [u8; 2],
    pub fifo_band_used: Option<[u8; 2]>,
    pub memory_locked: bool,
    pub memory_locked_bytes: u64,
    pub memory_wanted_bytes: u64,
    pub dma_latency_held: bool,
    pub clock: String,
    pub spin_us: f64,
    pub cpu_model: String,
    pub cpus_online: usize,
    pub isolated_cpus: Vec<usize>,
    pub facts: Vec<Fact>,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Fact {
    pub name: String,
    pub value: String,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct FmuFile {
    pub name: String,
    pub path: String,
    pub status: String,
    pub lock: LockFile,
    pub findings: Vec<FindingResult>,
    pub log: Vec<String>,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct LockFile {
    pub acquisitions: u64,
    /// It follows from the others.
    #[serde(skip_deserializing)]
    violations: u64,
    pub nested: u64,
    pub leaked: u64,
    pub unbalanced: u64,
    pub hold: Figures,
    pub wait: Figures,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct ClockFile {
    pub fmu: String,
    pub clock: String,
    #[serde(deserialize_with = "Option::deserialize")] // one that is missing is an error
    pub kind: Option<String>,
    pub interval_s: Option<f64>,
    pub activated_by: String,
    #[serde(deserialize_with = "Option::deserialize")]
    pub fmi_priority: Option<u32>,
    pub fifo_priority: Option<u8>,
    pub cpu: usize,
    pub thread: String,
    pub activations: u64,
    pub overruns: u64,
    pub skipped: u64,
    pub coalesced: u64,
    pub retimed: u64,
    pub discarded: u64,
    pub received: Option<u64>,
    pub rate_limited: Option<u64>,
    pub kernel_dropped: Option<u64>,
    pub max_latency: Option<u64>,
    #[serde(flatten)]
    pub schedulability: Schedulability,
    pub wakeup_latency: Figures,
    pub start_latency: Figures,
    pub start_jitter: Figures,
    pub execution: Figures,
    pub response: Figures,
    pub arrival_latency: Option<Figures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_time: Option<OverTime>,
    #[serde(default, skip_serializing_if = "PartsFile::is_empty")]
    pub parts: PartsFile,
    #[serde(default, skip_serializing_if = "is_default")]
    pub causes: Causes,
}

/// What `report.json` says of a histogram, ns.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(super) struct Figures {
    pub count: u64,
    pub min: u64,
    pub mean: f64,
    pub p50: u64,
    #[serde(default)]
    p90: u64,
    pub p99: u64,
    pub p99_9: u64,
    #[serde(default)]
    p99_99: u64,
    pub max: u64,
}

impl ReportFile {
    fn of(run: &Run) -> Self {
        ReportFile {
            rig: run.rig.clone(),
            mode: mode(run.mode).into(),
            verdict: if passed(run) { "pass" } else { "fail" }.into(),
            problems: run.problems.iter().map(Problem::message).collect(),
            problem_severities: run.problems.iter().map(|problem| severity(problem.severity).into()).collect(),
            hints: super::hints(run),
            notes: run.notes.clone(),
            version: run.version.clone(),
            started: run.started.clone(),
            start_monotonic_ns: run.start_monotonic_ns,
            start_time: run.start_time,
            end_time: run.end_time,
            wall_seconds: run.wall_seconds,
            end: end(run.end).into(),
            repetition: run.repetition,
            samples_dropped: run.samples_dropped,
            log_dropped: run.log_dropped,
            trace: run.trace.clone(),
            host: HostFile::of(&run.host),
            fmus: run.fmus.iter().map(FmuFile::of).collect(),
            clocks: run.clocks.iter().map(ClockFile::of).collect(),
            stimuli: run.stimuli.clone(),
            connections: run.connections.clone(),
            promise: run.promise.clone(),
        }
    }
}

impl HostFile {
    fn of(host: &Host) -> Self {
        let fact = |(name, value): &(String, String)| Fact { name: name.clone(), value: value.clone() };
        HostFile {
            kernel: host.kernel.clone(),
            preempt_rt: host.preempt_rt,
            scheduling: scheduling(host.scheduling).into(),
            fifo_band_asked: numbers(host.fifo_band_asked),
            fifo_band_used: host.fifo_band_used.map(numbers),
            memory_locked: host.memory_locked,
            memory_locked_bytes: host.memory_locked_bytes,
            memory_wanted_bytes: host.memory_wanted_bytes,
            dma_latency_held: host.dma_latency_held,
            clock: host.clock.clone(),
            spin_us: host.spin_us,
            cpu_model: host.cpu_model.clone(),
            cpus_online: host.cpus_online,
            isolated_cpus: host.isolated_cpus.clone(),
            facts: host.facts.iter().map(fact).collect(),
        }
    }
}

fn numbers((low, high): (FifoPriority, FifoPriority)) -> [u8; 2] {
    [low.get(), high.get()]
}

impl FmuFile {
    fn of(fmu: &FmuResult) -> Self {
        FmuFile {
            name: fmu.name.clone(),
            path: fmu.path.clone(),
            status: status(fmu.status).into(),
            lock: LockFile::of(&fmu.lock),
            findings: fmu.findings.clone(),
            log: fmu.log.clone(),
        }
    }
}

impl LockFile {
    fn of(lock: &LockResult) -> Self {
        LockFile {
            acquisitions: lock.acquisitions,
            // Nesting is allowed: counted, but no violation.
            violations: lock.leaked + lock.unbalanced,
            nested: lock.nested,
            leaked: lock.leaked,
            unbalanced: lock.unbalanced,
            hold: Figures::of(&lock.hold),
            wait: Figures::of(&lock.wait),
        }
    }
}

impl ClockFile {
    fn of(clock: &ClockResult) -> Self {
        let datagrams = clock.datagrams.as_ref();
        ClockFile {
            fmu: clock.fmu.clone(),
            clock: clock.clock.clone(),
            kind: clock.kind.map(|kind| kind_name(kind).into()),
            interval_s: clock.interval_s,
            activated_by: clock.activated_by.clone(),
            fmi_priority: clock.fmi_priority.map(|priority| priority.0),
            fifo_priority: clock.fifo_priority.map(|priority| priority.get()),
            cpu: clock.cpu,
            thread: clock.thread.clone(),
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
            wakeup_latency: Figures::of(&clock.wakeup_latency),
            start_latency: Figures::of(&clock.start_latency),
            start_jitter: Figures::of(&clock.start_jitter),
            execution: Figures::of(&clock.execution),
            response: Figures::of(&clock.response),
            arrival_latency: datagrams.map(|own| Figures::of(&own.arrival_latency)),
            over_time: clock.over_time.clone(),
            parts: PartsFile::of(&clock.parts),
            causes: clock.causes.clone(),
        }
    }
}

impl Figures {
    pub fn of(histogram: &Histogram) -> Self {
        Figures {
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
