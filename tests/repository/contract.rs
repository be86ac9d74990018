//! docs/report.schema.json says what `report.json` has, no more and no less. That reports of runs are what it says is seen wherever a
//! test reads one (`tests/program`, `tests/reports/results/checkpoints.rs`).

use crate::json_schema::Schema;
use serde_json::{Value, json};
use vecud::plan::TaskKind;
use vecud::report::{
    self, ActivationResult, DatagramCounts, Distribution, FindingResult, IntegrationCounts, KernelTrace, KernelWork,
    OtherClock, OverTime, OverrunResult, PartsResult, PauseResult, Pauses, Peaks, Run, SignalResult, StepCounts,
    StimulusResult, TraceFile,
};

/// A run in which everything is that a report can have.
fn full() -> Run {
    let mut run = report::sample(1);
    run.repetition = Some(2);
    run.problems = serde_json::from_str(include_str!("../../crates/report/src/each_problem.json")).unwrap();
    run.notes = vec!["a note".into()];
    run.trace.files = vec![TraceFile { why: vec!["an overrun".into()], ..TraceFile::new("trace.json") }];
    run.trace.kernel = Some(KernelTrace::default());
    run.fmus[0].findings = vec![FindingResult { kind: "lock".into(), count: 1, message: "it kept it".into() }];
    run.signals =
        vec![SignalResult { name: "plant.speed".into(), unit: "rad/s".into(), variable_type: "Float64".into() }];
    run.stimuli = vec![StimulusResult {
        file: "drive.csv".into(),
        interpolation: vecud::plan::Interpolation::Hold,
        columns: 2,
        columns_left_out: 1,
        rows: 9,
        starved: 1,
        first_starved: Some(("ecu.task_1ms".into(), 0.5)),
    }];
    let other = OtherClock { clock: "ecu.task_1ms".into(), overlap: 7, under_way: true };
    let moment = ActivationResult {
        time: "3/2000".into(),
        wakeup_rig: 1,
        gate_waits: 1,
        follows: true,
        first: true,
        blocked_by: Some("plant.step".into()),
        others: vec![other],
        more_others: 1,
        kernel: vec![KernelWork { what: "softirq NET_RX".into(), ns: 132_000, rig: true }],
        ..ActivationResult::default()
    };
    let clock = &mut run.clocks[0];
    clock.datagrams = Some(DatagramCounts { received: 9, rate_limited: 3, dropped: 2 });
    clock.steps = Some(StepCounts {
        steps: 9,
        early_returns: 1,
        rejected_steps: 1,
        taken_back: 2,
        events: 1,
        deferred: 4,
        refused_ticks: 1,
        discarded_ticks: 1,
        max_deviation_s: 0.5,
        integration: Some(IntegrationCounts {
            solver_steps: 8,
            rejected_solver_steps: 1,
            right_hand_sides: 32,
            most_right_hand_sides: 5,
            jacobians: 1,
            state_events: 2,
        }),
    });
    clock.arrival_latency = Some(Distribution::of([1, 2]));
    clock.over_time = Some(OverTime {
        interval_s: 0.1,
        resolution_s: 0.05,
        start_latency: vec![Some(2), None],
        response: vec![None],
        start_latency_peaks: Peaks { at_s: vec![Some(0.05), None], otherwise: vec![Some(1), None] },
        response_peaks: Peaks { at_s: vec![None], otherwise: vec![None] },
    });
    clock.parts = PartsResult { wakeup_machine: Distribution::of([5]), ..PartsResult::default() };
    clock.causes.worst_responses = vec![moment.clone()];
    clock.causes.overran = vec![OverrunResult { predecessor: moment, ..OverrunResult::default() }];
    let first = vec![PauseResult { time_s: 1.0, seconds: 0.5 }];
    run.pauses = Pauses { number: 1, seconds: 0.5, first };
    run
}

/// `checkpoint.json` has what `report.json` has, and one field more.
fn full_report() -> Value {
    serde_json::from_str(&report::checkpoint(&full())).unwrap()
}

#[test]
fn reports_are_what_the_schema_says() {
    let schema = Schema::of("report.schema.json");
    schema.holds(&full_report());
    let mut runs = vec![report::sample(2), full(), full().unfinished(true), full().unfinished(false)];
    let bare = &mut runs[0];
    for clock in &mut bare.clocks {
        (clock.parts, clock.causes, clock.over_time) = Default::default();
        (clock.fmi_priority, clock.fifo_priority, clock.kind) = (None, None, TaskKind::Step);
    }
    bare.host.fifo_band_used = None;
    for run in &runs {
        schema.holds(&serde_json::from_str(&report::json(run)).unwrap());
    }
    assert_eq!(full_report()["format_version"], report::FORMAT_VERSION);
}

/// A field that a report has no more, or has under another name, does not stay in the schema.
#[test]
fn the_schema_has_nothing_that_no_report_has() {
    let Schema(schema) = Schema::of("report.schema.json");
    let report = full_report();
    let mut fields = Vec::new();
    objects(&schema, String::new(), &mut fields);
    assert!(fields.len() > 100, "{}", fields.len());
    for (object, field) in fields {
        let mut without = schema.clone();
        let changed = without.pointer_mut(&object).unwrap();
        changed["properties"].as_object_mut().unwrap().remove(&field);
        changed["required"].as_array_mut().unwrap().retain(|name| *name != field.as_str());
        assert!(!Schema(without).errors(&report).is_empty(), "no report has {field} of {object}");
    }
}

/// The objects in a schema with their fields, each as the object's place and the name.
fn objects(schema: &Value, place: String, found: &mut Vec<(String, String)>) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        assert_eq!(schema["additionalProperties"], false, "{place}");
        found.extend(properties.keys().map(|name| (place.clone(), name.clone())));
    }
    let below: Vec<(String, &Value)> = match schema {
        Value::Object(object) => object.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    for (name, value) in below {
        objects(value, format!("{place}/{name}"), found);
    }
}

/// The checker that tests use sees what is wrong.
#[test]
fn what_is_no_report_is_seen() {
    let schema = Schema::of("report.schema.json");
    for (place, value, error) in [
        ("/format_version", json!(1), "/format_version: 1 is not 2"),
        ("/mode", json!("warp"), "/mode: \"warp\" is none of [\"realtime\",\"virtual\"]"),
        ("/end_time", json!("1"), "/end_time: \"1\" is no \"number\""),
        ("/clocks/1/cpu", json!(-1), "/clocks/1/cpu: -1 is less than 0"),
        ("/clocks/1/cpu", json!(1.5), "/clocks/1/cpu: 1.5 is no \"integer\""),
        ("/clocks/1/kind", json!("other"), "/clocks/1/kind: \"other\" is none of"),
        ("/clocks/0/response", json!({}), "/clocks/0/response: no count"),
        ("/clocks/0/arrival_latency", json!(1), "/clocks/0/arrival_latency: none of its alternatives"),
        ("/host/fifo_band_asked", json!([1]), "/host/fifo_band_asked: fewer than 2"),
        ("/host/fifo_band_asked", json!([1, 100]), "/host/fifo_band_asked/1: 100 is more than 99"),
        ("/host/fifo_band_used", json!([1, 2, 3]), "/host/fifo_band_used: more than 2"),
        ("/promise", json!({ "kept": true }), "/promise: kept is unknown"),
    ] {
        let mut report = full_report();
        *report.pointer_mut(place).unwrap() = value;
        let errors = schema.errors(&report);
        assert!(errors.iter().any(|own| own.starts_with(error)), "{error}: {errors:?}");
    }
}
