//! `cyclictest.json`: wake-up latencies as `cyclictest --json` (rt-tests 2.x) writes them, for the tools that read that.
//!
//! cyclictest measures the machine, so a clock's values here are the machine's part of its wake-up latencies, without the time in which
//! more urgent partitions of the rig had the core. A clock stands in the place of cyclictest's thread. The keys are those of its
//! `file_version` 1, with the colons in `"cmdline:"` and `"rt_test_version:"`. As there, values are whole microseconds, rounded down, and
//! `avg` has two decimals. There is one key more: `name`, the clock. Two things differ: the histogram has all values (cyclictest's ends at
//! the limit of `-h`) to a bucket's width, and `node` is -1, which is cyclictest's word for "not known".

use super::{ClockResult, Run, exit_code};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use vecud_plan::Mode;

/// The run as cyclictest would have written it; `None` in virtual time, where nobody wakes up.
pub fn cyclictest(run: &Run) -> Option<String> {
    if run.mode == Mode::Virtual {
        return None;
    }
    let (release, version) = run.host.kernel.split_once(' ').unwrap_or((&run.host.kernel, ""));
    let start = unix_seconds(&run.started);
    let date = |seconds: Option<u64>| seconds.map(rfc2822).unwrap_or_default();
    let file = File {
        file_version: 1,
        cmdline: format!("vecud run {}", run.rig),
        rt_test_version: format!("vecud {}", run.version),
        start_time: date(start),
        end_time: date(start.map(|start| start.saturating_add(run.wall_seconds.max(0.0) as u64))),
        return_code: exit_code(run),
        sysinfo: SystemEntry {
            sysname: "Linux",
            nodename: "",
            release,
            version,
            machine: MACHINE,
            realtime: u8::from(run.host.preempt_rt),
        },
        num_threads: run.clocks.len(),
        resolution_in_ns: 0,
        thread: run.clocks.iter().enumerate().map(|(number, clock)| (number, ThreadEntry::of(clock))).collect(),
    };
    Some(serde_json::to_string_pretty(&file).expect("strings, numbers and maps") + "\n")
}

/// The machine in the words of `uname -m`.
const MACHINE: &str = match (cfg!(target_arch = "x86_64"), cfg!(target_arch = "aarch64")) {
    (true, _) => "x86_64",
    (_, true) => "aarch64",
    _ => "",
};

#[derive(Serialize)]
struct File<'a> {
    file_version: u8,
    #[serde(rename = "cmdline:")]
    cmdline: String,
    #[serde(rename = "rt_test_version:")]
    rt_test_version: String,
    start_time: String,
    end_time: String,
    return_code: u8,
    sysinfo: SystemEntry<'a>,
    num_threads: usize,
    resolution_in_ns: u8,
    thread: BTreeMap<usize, ThreadEntry>,
}

#[derive(Serialize)]
struct SystemEntry<'a> {
    sysname: &'static str,
    nodename: &'static str,
    release: &'a str,
    version: &'a str,
    machine: &'static str,
    realtime: u8,
}

#[derive(Serialize)]
struct ThreadEntry {
    histogram: BTreeMap<u64, u64>,
    cycles: u64,
    min: u64,
    max: u64,
    avg: Box<RawValue>,
    cpu: usize,
    node: i8,
    name: String,
}

impl ThreadEntry {
    fn of(clock: &ClockResult) -> ThreadEntry {
        let own = clock.wakeup_machine();
        let mut histogram = BTreeMap::new();
        for bucket in own.buckets().iter_recorded() {
            // Within one microsecond of where a bucket ends, what is in it has that value.
            let value = bucket.value_iterated_to().clamp(own.min(), own.max());
            *histogram.entry(value / 1000).or_insert(0) += bucket.count_at_value();
        }
        let avg = RawValue::from_string(format!("{:.2}", own.mean() / 1e3)).expect("a number");
        let (min, max) = (own.min() / 1000, own.max() / 1000);
        let name = format!("{}.{}", clock.fmu, clock.clock);
        ThreadEntry { histogram, cycles: own.count(), min, max, avg, cpu: clock.cpu, node: -1, name }
    }
}

/// Seconds since 1970 of `2026-03-01T09:30:00Z`; `None`: it is no such text.
fn unix_seconds(text: &str) -> Option<u64> {
    let fields: Vec<u64> =
        text.strip_suffix('Z')?.split(['-', 'T', ':']).map(|field| field.parse().ok()).collect::<Option<_>>()?;
    let &[year, month, day, hour, minute, second] = fields.as_slice() else { return None };
    if !(1970..10_000).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years that begin in March, so that a leap day is the last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    Some((days - 719_468) * 86_400 + hour * 3600 + minute * 60 + second)
}

/// `Sun, 01 Mar 2026 09:30:00 +0000`
fn rfc2822(seconds: u64) -> String {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let leap = |year: u64| (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400);
    let (mut year, mut day) = (1970, days);
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let mut month = 0;
    for length in [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    let (weekday, month) = (DAYS[(days % 7) as usize], MONTHS[month]);
    format!("{weekday}, {:02} {month} {year} {hour:02}:{minute:02}:{second:02} +0000", day + 1)
}

#[cfg(test)]
mod tests {
    use super::super::{Problem, Severity, sample};
    use super::*;
    use crate::Distribution;
    use serde_json::Value;

    #[test]
    fn the_keys_are_those_of_cyclictest_in_its_order() {
        let mut run = sample(1);
        run.clocks[0].parts.wakeup_machine = Distribution::of([999, 1_000, 1_999, 52_000_999]);
        let text = cyclictest(&run).unwrap();
        let json: Value = serde_json::from_str(&text).unwrap();
        let keys = [
            "file_version",
            "cmdline:",
            "rt_test_version:",
            "start_time",
            "end_time",
            "return_code",
            "sysinfo",
            "sysname",
            "nodename",
            "release",
            "version",
            "machine",
            "realtime",
            "num_threads",
            "resolution_in_ns",
            "thread",
            "0",
            "histogram",
            "cycles",
            "min",
            "max",
            "avg",
            "cpu",
            "node",
        ];
        let mut rest = text.as_str();
        for key in keys {
            let place = rest.find(&format!("\"{key}\": ")).unwrap_or_else(|| panic!("no {key} in its place"));
            rest = &rest[place + 1..];
        }
        assert_eq!(
            (&json["start_time"], &json["end_time"]),
            (&"Sun, 01 Mar 2026 09:30:00 +0000".into(), &"Sun, 01 Mar 2026 09:30:10 +0000".into())
        );
        let thread = &json["thread"]["0"];
        assert_eq!(thread["histogram"], serde_json::json!({ "0": 1, "1": 2, "52000": 1 }));
        assert_eq!((&thread["cycles"], &thread["min"], &thread["max"]), (&4.into(), &0.into(), &52_000.into()));
        assert!(text.contains("\"avg\": 13001.25,") && thread["name"] == "ecu.crank_isr" && thread["cpu"] == 2);
        assert_eq!((&json["num_threads"], &json["thread"]["6"]["cycles"]), (&7.into(), &100.into()));
    }

    #[test]
    fn a_clock_that_never_ran_has_an_empty_histogram() {
        let mut run = sample(1);
        run.clocks[0].wakeup_latency = Distribution::default();
        run.clocks[0].parts.wakeup_machine = Distribution::default();
        (run.started, run.host.kernel) = ("yesterday".into(), String::new());
        run.problems = vec![Problem::other(Severity::Limit, "late")];
        let json: Value = serde_json::from_str(&cyclictest(&run).unwrap()).unwrap();
        assert_eq!(json["thread"]["0"]["histogram"], serde_json::json!({}));
        assert_eq!((&json["start_time"], &json["return_code"]), (&"".into(), &3.into()));
        run.mode = Mode::Virtual;
        assert_eq!(cyclictest(&run), None);
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (text, date) in [
            ("1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 +0000"),
            ("2000-02-29T23:59:59Z", "Tue, 29 Feb 2000 23:59:59 +0000"),
            ("2026-11-22T03:15:12Z", "Sun, 22 Nov 2026 03:15:12 +0000"),
            ("2100-12-31T00:00:00Z", "Fri, 31 Dec 2100 00:00:00 +0000"),
        ] {
            assert_eq!(rfc2822(unix_seconds(text).unwrap()), date);
        }
        for text in ["", "Z", "2026-11-22", "2026-13-01T00:00:00Z", "0000-01-01T00:00:00Z", "-1-1-1T1:1:1Z"] {
            assert_eq!(unix_seconds(text), None, "{text}");
        }
    }
}
