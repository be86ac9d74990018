//! `report.json`: a [`Run`] as text, and back. Its fields are those of a [`Run`], and figures that follow from them: verdict,
//! hints, violations of the lock. Other programs rely on the fields in docs/report.md.
//!
//! Unknown fields are ignored, and a missing field is an error, except those that were added later.

use super::layout::lines;
use super::words::Word;
use super::{LockResult, Run, hints, hlog, passed};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// The run as `report.json`: pretty-printed, always in the same order. Times are nanoseconds unless their name says
/// otherwise.
pub fn json(run: &Run) -> String {
    let mut text = serde_json::to_string_pretty(run).expect("strings, numbers and lists");
    text.push('\n');
    text
}

/// The state of a running run, as `checkpoint.json`: the fields of `report.json`, and in `histograms` the content of
/// `histograms.hlog`, so that both are of one instant.
pub fn checkpoint(run: &Run) -> String {
    #[derive(Serialize)]
    struct Checkpoint<'a> {
        #[serde(flatten)]
        run: &'a Run,
        histograms: String,
    }
    let mut text =
        serde_json::to_string(&Checkpoint { run, histograms: hlog(run) }).expect("strings, numbers and lists");
    text.push('\n');
    text
}

/// Version of the format of `report.json` and `checkpoint.json`. It increases when a field is removed or changes its
/// meaning, so that older readers would misread it; an added field is no new version. docs/report.schema.json describes
/// the fields.
pub const FORMAT_VERSION: u64 = 2;

impl Serialize for Run {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut file = serializer.serialize_struct("Run", 29)?;
        file.serialize_field("format_version", &FORMAT_VERSION)?;
        file.serialize_field("rig", &self.rig)?;
        file.serialize_field("mode", self.mode.word())?;
        file.serialize_field("verdict", if passed(self) { "pass" } else { "fail" })?;
        file.serialize_field("problems", &self.problems)?;
        file.serialize_field("hints", &hints(self))?;
        file.serialize_field("notes", &self.notes)?;
        file.serialize_field("version", &self.version)?;
        file.serialize_field("command", &lines::<_, S::Error>(&self.command)?)?;
        file.serialize_field("started", &self.started)?;
        file.serialize_field("start_monotonic_ns", &self.start_monotonic_ns)?;
        file.serialize_field("start_time", &self.start_time)?;
        file.serialize_field("end_time", &self.end_time)?;
        file.serialize_field("wall_seconds", &self.wall_seconds)?;
        file.serialize_field("end", self.end.word())?;
        file.serialize_field("ended", self.ended.word())?;
        if let Some(repetition) = self.repetition {
            file.serialize_field("repetition", &repetition)?;
        }
        if !self.pauses.are_none() {
            file.serialize_field("pauses", &self.pauses)?;
        }
        file.serialize_field("samples_dropped", &self.samples_dropped)?;
        file.serialize_field("log_dropped", &self.log_dropped)?;
        file.serialize_field("log_rotations", &self.log_rotations)?;
        file.serialize_field("trace", &self.trace)?;
        file.serialize_field("host", &self.host)?;
        file.serialize_field("fmus", &self.fmus)?;
        file.serialize_field("clocks", &self.clocks)?;
        file.serialize_field("stimuli", &self.stimuli)?;
        file.serialize_field("connections", &self.connections)?;
        file.serialize_field("promise", &self.promise)?;
        file.serialize_field("signals", &lines::<_, S::Error>(&self.signals)?)?;
        file.serialize_field("recordings", &self.recordings)?;
        file.end()
    }
}

impl Serialize for LockResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut lock = serializer.serialize_struct("LockResult", 7)?;
        lock.serialize_field("acquisitions", &self.acquisitions)?;
        // Nesting is allowed: counted, but no violation.
        lock.serialize_field("violations", &(self.leaked + self.unbalanced))?;
        lock.serialize_field("nested", &self.nested)?;
        lock.serialize_field("leaked", &self.leaked)?;
        lock.serialize_field("unbalanced", &self.unbalanced)?;
        lock.serialize_field("hold", &self.hold)?;
        lock.serialize_field("wait", &self.wait)?;
        lock.end()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DatagramCounts, Distribution, Problem, PromiseResult, Severity, sample};
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
        assert!(json["problems"].is_array());
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
        run.clocks[0].datagrams = Some(DatagramCounts { received: 9, rate_limited: 3, dropped: 2 });
        run.clocks[0].arrival_latency = Some(Distribution::default());
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
        run.clocks[0].response = Distribution::of(1..=10_000);
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
            run.problems = vec![Problem::other(severity, "it was late")];
            assert_eq!(parsed(&run)["verdict"], verdict);
            assert_eq!(parsed(&run)["problems"][0]["text"], "it was late");
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
        run.clocks[0].execution = Distribution::default();
        is_hist(&parsed(&run)["clocks"][0]["execution"]);
        assert_eq!(parsed(&run)["clocks"][0]["execution"]["max"], 0);
    }

    #[test]
    fn the_text_is_the_same_each_time() {
        assert_eq!(json(&sample(3)), json(&sample(3)));
    }
}
