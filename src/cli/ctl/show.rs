//! Answers of a daemon as people read them.

use super::failure::CtlFailure;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use vecud_base::columns::lines;
use vecud_base::plain::{plain, plain_lines};
use vecud_daemon::RigName;
use vecud_host::Error;
use vecud_plan::rig::RigError;
use vecud_report::Statistics;
use vecud_report::format::{count, duration};

/// Status of a rig.
#[derive(Deserialize)]
pub struct StatusAnswer {
    pub name: String,
    pub state: String,
    pub verdict: Option<String>,
    pub exit_code: Option<u8>,
    pub since: String,
    pub run: Option<String>,
    #[serde(default)]
    pub last_run: Option<String>,
    pub restart_at: Option<String>,
    #[serde(default)]
    pub restarts: u32,
    #[serde(default)]
    pub problems: Vec<StartMistake>,
}

/// Why a rig could not begin.
#[derive(Deserialize)]
pub struct StartMistake {
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    message: String,
}

/// What a clock has measured, as far as it is shown.
#[derive(Deserialize)]
pub struct ClockRow {
    fmu: String,
    clock: String,
    activations: u64,
    overruns: u64,
    wakeup_latency: Statistics,
    start_latency: Statistics,
    execution: Statistics,
    response: Statistics,
}

/// The newest value of a signal.
#[derive(Deserialize)]
pub struct SignalValue {
    name: String,
    r#type: String,
    unit: Option<String>,
    value: Value,
    time: Option<f64>,
}

/// A simulation time; `None`: the rig pauses, and it comes to that when it goes on.
#[derive(Deserialize)]
pub struct HoldsFrom {
    pub time: Option<f64>,
}

/// When a condition held, and with which values.
#[derive(Deserialize)]
pub struct ConditionMet {
    time: f64,
    values: Map<String, Value>,
}

/// A run.
#[derive(Deserialize)]
pub struct ListedRun {
    pub run: String,
    verdict: Option<String>,
    ended: Option<String>,
    pub files: Vec<String>,
}

/// A date without parts of a second.
fn second(date: &str) -> String {
    date.split_once('.').map_or_else(|| date.to_owned(), |(whole, _)| format!("{whole}Z"))
}

/// Text in place of a missing value.
const NONE: &str = "–";

impl StatusAnswer {
    /// Whether no run goes on, nor is to begin.
    pub fn is_over(&self) -> bool {
        matches!(self.state.as_str(), "idle" | "failed") && self.restart_at.is_none()
    }

    /// What came of the last run: `pass`, `fail (exit code 3)`.
    fn outcome(&self) -> Option<String> {
        let verdict = self.verdict.as_deref()?;
        Some(match self.exit_code {
            Some(code) if code != 0 => format!("{verdict} (exit code {code})"),
            _ => verdict.to_owned(),
        })
    }
}

fn or_none(text: Option<&str>) -> String {
    text.unwrap_or(NONE).to_owned()
}

/// A table with these titles.
fn table<const N: usize>(titles: [&str; N], rows: impl Iterator<Item = [String; N]>, right: &[usize]) -> String {
    let rows: Vec<[String; N]> = std::iter::once(titles.map(str::to_owned)).chain(rows).collect();
    lines(rows.iter(), right).map(|line| line + "\n").collect()
}

/// All rigs.
pub fn list(rigs: &[StatusAnswer]) -> String {
    let row = |status: &StatusAnswer| {
        let outcome = status.outcome();
        let [outcome, run] = [outcome.as_deref(), status.run.as_deref()].map(or_none);
        [status.name.clone(), status.state.clone(), second(&status.since), outcome, run]
    };
    table(["rig", "state", "since", "last outcome", "run"], rigs.iter().map(row), &[])
}

/// A rig in one line.
pub fn line(status: &StatusAnswer) -> String {
    let mut parts = vec![plain(&status.state)];
    if status.is_over() {
        parts.extend(status.outcome().map(|outcome| plain(&outcome)));
    }
    parts.extend(status.run.as_ref().map(|run| format!("run {}", plain(run))));
    parts.extend(status.restart_at.as_ref().map(|at| format!("starts anew at {}", plain(at))));
    format!("{}: {}\n", plain(&status.name), parts.join(", "))
}

/// A rig with all that is known of it.
pub fn all(status: &StatusAnswer) -> String {
    let restarts = (status.restarts > 0).then(|| status.restarts.to_string());
    let rows = [
        ("rig", Some(status.name.clone())),
        ("state", Some(status.state.clone())),
        ("since", Some(second(&status.since))),
        ("run", status.run.clone()),
        ("last outcome", status.outcome()),
        ("of run", status.last_run.clone()),
        ("restarts", restarts),
        ("starts anew at", status.restart_at.clone()),
    ];
    let rows = rows.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?]));
    let mut text: String = lines(rows.collect::<Vec<_>>().iter(), &[]).map(|line| line + "\n").collect();
    for StartMistake { file, line, column, message } in &status.problems {
        let mut place = file.as_ref().map(|file| format!("{}:", plain(file))).unwrap_or_default();
        for number in [line, column].into_iter().flatten() {
            place += &format!("{number}:");
        }
        // Further lines of a message belong to its first one.
        let message = plain_lines(message).collect::<Vec<_>>().join("\n    ");
        text += format!("{place} {message}").trim_start();
        text.push('\n');
    }
    text
}

/// What clocks have measured.
pub fn clocks(clocks: &[ClockRow]) -> String {
    let figure = |figures: &Statistics, value: u64| if figures.count == 0 { NONE.to_owned() } else { duration(value) };
    let row = |clock: &ClockRow| {
        let ClockRow { wakeup_latency: wakeup, start_latency: start, execution, response, .. } = clock;
        [
            format!("{}.{}", clock.fmu, clock.clock),
            count(clock.activations),
            count(clock.overruns),
            figure(wakeup, wakeup.p99),
            figure(wakeup, wakeup.max),
            figure(start, start.p99),
            figure(start, start.max),
            figure(execution, execution.p50),
            figure(execution, execution.max),
            figure(response, response.max),
        ]
    };
    let titles = [
        "clock",
        "activations",
        "overruns",
        "wake-up p99",
        "max",
        "start p99",
        "max",
        "execution p50",
        "max",
        "response max",
    ];
    table(titles, clocks.iter().map(row), &[1, 2, 3, 4, 5, 6, 7, 8, 9])
}

/// What clocks have measured, in one line.
pub fn figures(elapsed: f64, clocks: &[ClockRow]) -> String {
    let activations: u64 = clocks.iter().map(|clock| clock.activations).sum();
    let overruns: u64 = clocks.iter().map(|clock| clock.overruns).sum();
    let latest = clocks.iter().map(|clock| &clock.start_latency).filter(|figures| figures.count > 0).map(|own| own.max);
    let latest = latest.max().map_or(String::new(), |max| format!(", start latency at most {}", duration(max)));
    format!("{elapsed:.1} s: {} activations, {} overruns{latest}\n", count(activations), count(overruns))
}

/// The newest values of signals.
pub fn signals(signals: &[SignalValue]) -> String {
    let row = |signal: &SignalValue| {
        let [value, unit] = [value(&signal.value), or_none(signal.unit.as_deref())];
        let at = signal.time.map_or(NONE.to_owned(), time);
        [signal.name.clone(), signal.r#type.clone(), value, unit, at]
    };
    table(["signal", "type", "value", "unit", "time (s)"], signals.iter().map(row), &[2, 4])
}

/// The newest values of signals, in one line.
pub fn values(signals: &[SignalValue]) -> String {
    let one = |signal: &SignalValue| format!("{} = {}", plain(&signal.name), plain(&value(&signal.value)));
    signals.iter().map(one).collect::<Vec<_>>().join(", ") + "\n"
}

/// From when each value holds that was set.
pub fn set(times: &Map<String, Value>) -> String {
    let row = |(name, at): (&String, &Value)| [name.clone(), at["time"].as_f64().map_or(NONE.to_owned(), time)];
    table(["variable", "set from (s)"], times.iter().map(row), &[1])
}

/// When a condition held.
pub fn held(held: &ConditionMet) -> String {
    let values: Vec<String> =
        held.values.iter().map(|(name, own)| format!("{} = {}", plain(name), plain(&value(own)))).collect();
    let with = if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) };
    format!("it holds at {} s{with}\n", time(held.time))
}

/// Runs of a rig, and if that has `older` ones, the command that lists them.
pub fn runs(runs: &[ListedRun], older: Option<&str>) -> String {
    let row = |run: &ListedRun| {
        let [ended, verdict] = [or_none(run.ended.as_deref()), or_none(run.verdict.as_deref())];
        [run.run.clone(), ended, verdict, run.files.len().to_string()]
    };
    let older = older.zip(runs.first());
    let hint = older.map(|(rig, first)| format!("older runs: vecud ctl runs {rig} --before {}\n", first.run));
    table(["run", "ended", "verdict", "files"], runs.iter().map(row), &[3]) + &hint.unwrap_or_default()
}

/// A simulation time (s), to the nanosecond.
pub fn time(time: f64) -> String {
    let text = format!("{time:.9}");
    let text = text.trim_end_matches('0');
    text.strip_suffix('.').unwrap_or(text).to_owned()
}

/// A value as it is, texts without quotes.
fn value(value: &Value) -> String {
    match value {
        Value::Null => NONE.to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Mistakes in a text that was sent are in the file that it came from; `None`: from standard input.
pub fn in_own_file(failure: CtlFailure, rig: &RigName, sent: Option<&Path>) -> CtlFailure {
    let CtlFailure::Answered(mut answered) = failure else { return failure };
    if let Error::Rig(RigError { problems }) = &mut answered.error {
        let theirs = PathBuf::from(format!("{rig}.toml"));
        for problem in problems.iter_mut().filter(|problem| problem.file.file_name() == theirs.file_name()) {
            problem.file = sent.unwrap_or(Path::new("standard input")).to_owned();
        }
    }
    CtlFailure::Answered(answered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn status(value: Value) -> StatusAnswer {
        let mut whole = json!({"name": "a", "state": "idle", "verdict": null, "exit_code": null, "since": "2026-11-26T00:00:00.123Z",
            "run": null, "restart_at": null});
        whole.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
        serde_json::from_value(whole).unwrap()
    }

    #[test]
    fn a_rig_is_a_line_and_a_row() {
        let fresh = status(json!({}));
        assert_eq!(line(&fresh), "a: idle\n");
        let over = status(json!({"verdict": "fail", "exit_code": 3, "run": "r\u{1b}"}));
        assert_eq!(line(&over), "a: idle, fail (exit code 3), run r\\u{1b}\n");
        let runs = status(json!({"state": "running", "verdict": "pass", "exit_code": 0, "run": "r"}));
        assert_eq!(line(&runs), "a: running, run r\n");
        assert_eq!(
            list(&[fresh, over]),
            "rig  state  since                 last outcome        run\n\
             a    idle   2026-11-26T00:00:00Z  –                   –\n\
             a    idle   2026-11-26T00:00:00Z  fail (exit code 3)  r\\u{1b}\n"
        );
        let failed = json!({"file": "a.toml", "line": 3, "column": 7, "message": "no\nline"});
        let failed = status(json!({"state": "failed", "problems": [failed, {"message": "x"}], "restarts": 2}));
        let text = all(&failed);
        assert!(text.contains("restarts  2\n") && text.ends_with("a.toml:3:7: no\n    line\nx\n"), "{text}");
    }

    #[test]
    fn values_are_shown_as_they_are() {
        let signal = |value: Value, time: Value| json!({"name": "ecu.speed", "type": "Float64", "unit": "rpm", "value": value, "time": time});
        let some =
            [signal(json!(812.5), json!(12.345)), signal(json!(null), json!(null)), signal(json!("NaN"), json!(1))];
        let some: Vec<SignalValue> = serde_json::from_value(some.to_vec().into()).unwrap();
        assert_eq!(
            signals(&some),
            "signal     type     value  unit  time (s)\n\
             ecu.speed  Float64  812.5  rpm     12.345\n\
             ecu.speed  Float64      –  rpm          –\n\
             ecu.speed  Float64    NaN  rpm          1\n"
        );
        assert_eq!(values(&some[..1]), "ecu.speed = 812.5\n");
        let at: ConditionMet =
            serde_json::from_value(json!({"time": 12.003, "values": {"a.b": true, "a.c": [1, 2]}})).unwrap();
        assert_eq!(held(&at), "it holds at 12.003 s: a.b = true, a.c = [1,2]\n");
        for (seconds, text) in [(0.0, "0"), (12.0, "12"), (0.1, "0.1"), (100.000000001, "100.000000001")] {
            assert_eq!(time(seconds), text);
        }
    }
}
