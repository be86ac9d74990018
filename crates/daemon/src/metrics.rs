//! Metrics for Prometheus.
//!
//! Guarantees: a scrape reads shared memory and the status of each rig, and writes nothing: it does not involve any
//! thread that partitions run on. Counters of a run only grow until it is over; the next run of the rig begins again at
//! 0. Each answer has each family, with its type, even without values. No label has unbounded values: labels are rigs,
//! and the FMUs and clocks of running ones.
//!
//! There is no permanent registry: the figures of one instant are put into one that lives as long as the answer is
//! written.

use super::rigs::Rigs;
use super::status::{RigState, RigStatus};
use super::tally::{SEVERITIES, Tally};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, NoLabelSet, prometheus_text, text,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};
use vecud_host::{ClockTotals, Durations, Latencies, RecordedTotals, SessionState, Totals};
use vecud_plan::Mode;
use vecud_report::Scheduling;

/// The form of the families.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposition {
    /// The text format of Prometheus, version 0.0.4.
    Text,
    /// OpenMetrics 1.0.
    OpenMetrics,
}

impl Exposition {
    /// The form for a client with this header `Accept`: OpenMetrics if the header names it and does not prefer plain text.
    pub fn of(accept: &str) -> Exposition {
        let quality = |kind: &str| {
            let mut all = accept.split(',').map(|range| range.split(';').map(str::trim));
            let parameters = all.find_map(|mut parts| parts.next()?.eq_ignore_ascii_case(kind).then_some(parts))?;
            let quality = parameters.filter_map(|parameter| parameter.strip_prefix("q=")).next();
            Some(quality.map_or(1.0, |quality| quality.parse().unwrap_or(0.0)))
        };
        match (quality("application/openmetrics-text"), quality("text/plain")) {
            (Some(open), plain) if open > 0.0 && open >= plain.unwrap_or(0.0) => Exposition::OpenMetrics,
            _ => Exposition::Text,
        }
    }

    /// The type of the content.
    pub fn content_type(self) -> &'static str {
        match self {
            Exposition::Text => prometheus_text::CONTENT_TYPE,
            Exposition::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// Upper bounds of the buckets of all histograms, ns: three in each decade, from latencies of PREEMPT_RT to those that are no
/// longer real time.
const BOUNDS: [u64; 18] = [
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
];

/// All figures at one instant.
#[derive(Debug)]
pub struct Scrape {
    /// Start of the daemon.
    began: SystemTime,
    /// Requests that were answered, by the status of the answer.
    answers: Vec<(u16, u64)>,
    rigs: Vec<RigFigures>,
}

/// Figures of a rig.
#[derive(Debug)]
struct RigFigures {
    status: RigStatus,
    tally: Tally,
    /// `None`: it does not run.
    totals: Option<Totals>,
}

impl Scrape {
    /// Looks at all rigs.
    pub fn take(rigs: &Rigs, began: SystemTime, answers: Vec<(u16, u64)>) -> Scrape {
        let figures = rigs.list().into_iter().map(|rig| {
            let handle = rig.running().and_then(|running| running.handle);
            let totals = handle.filter(|handle| handle.state() != SessionState::Over).map(|handle| handle.totals());
            RigFigures { status: rig.status(), tally: rig.tally(), totals }
        });
        Scrape { began, answers, rigs: figures.collect() }
    }

    /// All families, as text.
    pub fn text(self, exposition: Exposition) -> Result<String, fmt::Error> {
        let mut registry = Registry::with_prefix("vecud");
        registry.register_collector(Box::new(self));
        let mut out = String::new();
        match exposition {
            Exposition::Text => prometheus_text::encode(&mut out, &registry)?,
            Exposition::OpenMetrics => text::encode(&mut out, &registry)?,
        }
        Ok(out)
    }

    /// The rigs that run.
    fn running(&self) -> impl Iterator<Item = (&str, &Totals)> {
        self.rigs.iter().filter_map(|rig| Some((rig.status.name.as_str(), rig.totals.as_ref()?)))
    }

    /// The clocks of the rigs that run, with their labels.
    fn clocks(&self) -> impl Iterator<Item = (Labels<'_>, &ClockTotals)> {
        self.running().flat_map(|(rig, totals)| {
            totals.clocks.iter().map(move |own| (vec![("rig", rig), ("fmu", &own.fmu), ("clock", &own.clock)], own))
        })
    }
}

/// The labels of a series.
type Labels<'a> = Vec<(&'static str, &'a str)>;

/// Counters of a clock: name, what they count, where they are.
type ClockCounter = (&'static str, &'static str, fn(&ClockTotals) -> u64);

const CLOCK_COUNTERS: [ClockCounter; 6] = [
    ("clock_activations", "Activations that ran.", |clock| clock.activations),
    ("clock_overruns", "Releases that found the clock still busy, and ticks that found a full queue.", |clock| {
        clock.overruns
    }),
    ("clock_skipped", "Releases that were left out after an overrun.", |clock| clock.skipped),
    ("clock_coalesced", "Ticks at the time of one that was pending or activated already.", |clock| clock.coalesced),
    ("clock_retimed", "Ticks that came too late for their time and got a later one.", |clock| clock.retimed),
    ("clock_discarded", "Pending ticks that were thrown away.", |clock| clock.discarded),
];

/// Histograms of a clock: name, what they measure, where they are.
type ClockHistogram = (&'static str, &'static str, fn(&Latencies) -> &Durations);

const CLOCK_HISTOGRAMS: [ClockHistogram; 4] = [
    ("clock_wakeup_latency", "From a release to the first instruction after the sleep of its thread.", |own| {
        &own.wakeup
    }),
    ("clock_start_latency", "From a release to the first FMI call of its activation.", |own| &own.start),
    (
        "clock_execution",
        "From the first FMI call of an activation to the end of its last one, without preemption by other clocks.",
        |own| &own.execution,
    ),
    ("clock_response", "From a release to the end of the last FMI call of its activation.", |own| &own.response),
];

/// Counters of a recording: name, unit, what they count, where they are.
type RecordingCounter = (&'static str, Option<Unit>, &'static str, fn(&RecordedTotals) -> u64);

const RECORDING_COUNTERS: [RecordingCounter; 4] = [
    ("recording_rows", None, "Rows that came to the files of the recording.", |own| own.rows),
    ("recording_written", Some(Unit::Bytes), "What was written to the files of the recording.", |own| own.bytes),
    ("recording_late_samples", None, "Samples that came after their row was written.", |own| own.late),
    ("recording_failures", None, "Files of the run that ended early or could not be written.", |own| own.broken),
];

/// Families, one after the other.
struct Families<'a>(DescriptorEncoder<'a>);

impl Families<'_> {
    fn counters<'l, V: EncodeCounterValue>(
        &mut self,
        name: &str,
        unit: Option<&Unit>,
        help: &str,
        series: impl Iterator<Item = (Labels<'l>, V)>,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, unit, MetricType::Counter)?;
        for (labels, value) in series {
            family.encode_family(&labels)?.encode_counter::<NoLabelSet, V, f64>(&value, None)?;
        }
        Ok(())
    }

    fn gauges<'l, V: EncodeGaugeValue>(
        &mut self,
        name: &str,
        unit: Option<&Unit>,
        help: &str,
        series: impl Iterator<Item = (Labels<'l>, V)>,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, unit, MetricType::Gauge)?;
        for (labels, value) in series {
            family.encode_family(&labels)?.encode_gauge(&value)?;
        }
        Ok(())
    }

    fn histograms<'l>(
        &mut self,
        name: &str,
        help: &str,
        series: impl Iterator<Item = (Labels<'l>, &'l Durations)>,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, Some(&Unit::Seconds), MetricType::Histogram)?;
        for (labels, durations) in series {
            let bounds = BOUNDS.iter().map(|bound| *bound as f64 / 1e9).chain([f64::INFINITY]);
            let buckets: Vec<(f64, u64)> = bounds.zip(durations.between(&BOUNDS)).collect();
            let mut series = family.encode_family(&labels)?;
            series.encode_histogram::<NoLabelSet>(durations.sum_s(), durations.count(), &buckets, None)?;
        }
        Ok(())
    }

    fn infos<'l>(&mut self, name: &str, help: &str, series: impl Iterator<Item = Labels<'l>>) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, None, MetricType::Info)?;
        series.into_iter().try_for_each(|labels| family.encode_info(&labels))
    }
}

impl Collector for Scrape {
    fn encode(&self, encoder: DescriptorEncoder) -> fmt::Result {
        let mut families = Families(encoder);
        self.encode_daemon(&mut families)?;
        self.encode_rigs(&mut families)?;
        self.encode_last_runs(&mut families)?;
        self.encode_runs(&mut families)?;
        self.encode_clocks(&mut families)
    }
}

impl Scrape {
    fn encode_daemon(&self, families: &mut Families) -> fmt::Result {
        let build = vec![("version", env!("CARGO_PKG_VERSION"))];
        families.infos("build", "The vecud that answers.", [build].into_iter())?;
        let began = self.began.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let help = "When the daemon began, since 1970.";
        families.gauges("daemon_start_time", Some(&Unit::Seconds), help, [(Vec::new(), began)].into_iter())?;
        let codes: Vec<(String, u64)> = self.answers.iter().map(|(code, count)| (code.to_string(), *count)).collect();
        let series = codes.iter().map(|(code, count)| (vec![("code", code.as_str())], *count));
        families.counters("http_requests", None, "Requests that were answered, by the status of the answer.", series)
    }

    fn encode_rigs(&self, families: &mut Families) -> fmt::Result {
        let of_state = |state| self.rigs.iter().filter(move |rig| rig.status.state == state).count() as u64;
        let series = RigState::ALL.into_iter().map(|state| (vec![("state", state.word())], of_state(state)));
        families.gauges("rigs", None, "Rigs, by what they are doing.", series)?;
        let series = self.rigs.iter().flat_map(|rig| {
            let (name, own) = (rig.status.name.as_str(), rig.status.state);
            RigState::ALL.map(|state| (vec![("rig", name), ("state", state.word())], u64::from(state == own)))
        });
        families.gauges("rig_state", None, "1: the rig is in this state.", series)?;
        let series = self.rigs.iter().flat_map(|rig| {
            let name = rig.status.name.as_str();
            let of_verdict = |verdict, count| (vec![("rig", name), ("verdict", verdict)], count);
            [of_verdict("pass", rig.tally.passed), of_verdict("fail", rig.tally.failed)]
        });
        families.counters("rig_runs", None, "Runs that are over, since the daemon began.", series)?;
        let series = self.rigs.iter().map(|rig| (vec![("rig", rig.status.name.as_str())], rig.tally.restarts));
        let help = "Runs that began because the one before had failed, since the daemon began.";
        families.counters("rig_restarts", None, help, series)
    }

    fn encode_last_runs(&self, families: &mut Families) -> fmt::Result {
        let all = || self.rigs.iter().filter_map(|rig| Some((rig.status.name.as_str(), rig.tally.last?)));
        let series = all().map(|(rig, last)| (vec![("rig", rig)], u64::from(last.is_passed)));
        families.gauges("rig_last_run_passed", None, "1: the last run that is over did what it should.", series)?;
        let series = all().map(|(rig, last)| (vec![("rig", rig)], u64::from(last.exit_code)));
        let help =
            "Exit code of the last run that is over: 0 done, 1 failed, 2 it could not begin, 3 a limit was exceeded.";
        families.gauges("rig_last_run_exit_code", None, help, series)?;
        let series = all().flat_map(|(rig, last)| {
            let counted = SEVERITIES.into_iter().zip(last.problems);
            counted.map(move |((_, severity), count)| (vec![("rig", rig), ("severity", severity)], count))
        });
        families.gauges(
            "rig_last_run_problems",
            None,
            "Problems in the report of the last run that is over.",
            series,
        )?;
        let series = all().flat_map(|(rig, last)| {
            let of_kind = |kind, count| (vec![("rig", rig), ("kind", kind)], count);
            [of_kind("minor", last.page_faults[0]), of_kind("major", last.page_faults[1])]
        });
        let help = "Page faults in threads of clocks after their first activation, in the last run that is over.";
        families.gauges("rig_last_run_page_faults", None, help, series)
    }

    fn encode_runs(&self, families: &mut Families) -> fmt::Result {
        let series = self.running().map(|(rig, totals)| {
            let (mode, scheduling) = (mode(totals.mode), scheduling(totals.scheduling));
            vec![("rig", rig), ("mode", mode), ("scheduling", scheduling)]
        });
        families.infos("run", "How the run that goes on is driven and scheduled.", series)?;
        let series = self.running().map(|(rig, totals)| (vec![("rig", rig)], totals.simulated_s));
        let help = "Simulation time that has passed since the start of the run.";
        families.gauges("run_simulated", Some(&Unit::Seconds), help, series)?;
        for (name, unit, help, of) in &RECORDING_COUNTERS {
            let series = self.running().map(|(rig, totals)| (vec![("rig", rig)], of(&totals.recorded)));
            families.counters(name, unit.as_ref(), help, series)?;
        }
        let dropped = |totals: &Totals| {
            let all = totals.clocks.iter().map(|clock| clock.samples_dropped);
            all.fold(0u64, u64::saturating_add)
        };
        let series = self.running().map(|(rig, totals)| (vec![("rig", rig)], dropped(totals)));
        families.counters("recording_dropped_samples", None, "Samples for which there was no room.", series)
    }

    fn encode_clocks(&self, families: &mut Families) -> fmt::Result {
        for (name, help, of) in CLOCK_COUNTERS {
            families.counters(name, None, help, self.clocks().map(|(labels, clock)| (labels, of(clock))))?;
        }
        for (name, help, of) in CLOCK_HISTOGRAMS {
            let series = self.clocks().filter_map(|(labels, clock)| Some((labels, of(clock.latencies.as_ref()?))));
            families.histograms(name, help, series)?;
        }
        let locks = || {
            let all = self.running().flat_map(|(rig, totals)| totals.locks.iter().map(move |own| (rig, own)));
            all.map(|(rig, own)| (vec![("rig", rig), ("fmu", own.fmu.as_str())], own))
        };
        let series = locks().map(|(labels, own)| (labels, &own.hold));
        families.histograms("lock_hold", "How long the preemption lock of an FMU was held.", series)?;
        let series = locks().map(|(labels, own)| (labels, &own.wait));
        let help = "From asking for the preemption lock of an FMU to having it, when somebody else had it.";
        families.histograms("lock_wait", help, series)
    }
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::RealTime => "realtime",
        Mode::Virtual => "virtual",
    }
}

fn scheduling(scheduling: Scheduling) -> &'static str {
    match scheduling {
        Scheduling::Fifo => "fifo",
        Scheduling::Cooperative => "cooperative",
        Scheduling::Virtual => "virtual",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::RigName;
    use proptest::prelude::*;

    /// A rig that runs, with a clock of this name in an FMU of that name.
    fn running(fmu: &str, clock: &str) -> Scrape {
        let clock = ClockTotals {
            fmu: fmu.to_owned(),
            clock: clock.to_owned(),
            activations: 7,
            overruns: 0,
            skipped: 0,
            coalesced: 0,
            retimed: 0,
            discarded: 0,
            samples_dropped: 0,
            latencies: None,
        };
        let totals = Totals {
            mode: Mode::Virtual,
            scheduling: Scheduling::Virtual,
            simulated_s: 0.5,
            clocks: vec![clock],
            locks: Vec::new(),
            recorded: RecordedTotals::default(),
        };
        let status = RigStatus::new(RigName::new("a").unwrap());
        let rig = RigFigures { status, tally: Tally::default(), totals: Some(totals) };
        Scrape { began: UNIX_EPOCH, answers: Vec::new(), rigs: vec![rig] }
    }

    /// A label's value, in quotes and escaped as the format has it.
    fn quoted(text: &str) -> String {
        format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
    }

    proptest! {
        /// Whatever FMUs and clocks are called, their series is one line, and no line says anything else.
        #[test]
        fn names_are_labels_whatever_is_in_them(fmu in "(?s).{0,12}", clock in "[\"\\\\\n{},=# a-z]{0,12}") {
            for exposition in [Exposition::Text, Exposition::OpenMetrics] {
                let text = running(&fmu, &clock).text(exposition).unwrap();
                let series = format!(
                    "vecud_clock_activations_total{{rig=\"a\",fmu={},clock={}}} 7", quoted(&fmu), quoted(&clock)
                );
                prop_assert_eq!(text.split('\n').filter(|line| **line == series).count(), 1, "{}", text);
                let is_known = |line: &str| line.starts_with("# ") || line.starts_with("vecud_") || line.is_empty();
                prop_assert!(text.split('\n').all(is_known), "{}", text);
            }
        }
    }

    #[test]
    fn bounds_are_written_as_seconds_and_increase() {
        let seconds: Vec<f64> = BOUNDS.iter().map(|bound| *bound as f64 / 1e9).collect();
        assert!(BOUNDS.is_sorted() && seconds.is_sorted());
        assert_eq!((seconds[0], seconds[3], seconds[9], seconds[17]), (1e-6, 1e-5, 1e-3, 0.5));
    }
}
