//! Reads the text of a rig into a [`Rig`]: the top level, `[rig]` and `[host]`.

use super::document::{Document, TableReader, describe, elements, number};
use super::fmu_name::unknown_fmu;
use super::seconds::read_positive;
use super::task::overrun;
use super::{
    At, HostClock, Mode, OnError, OnNan, Place, Rig, RigError, RigHost, SharedLibraries, TriggerTime, figures, tables,
};
use std::path::Path;
use toml_edit::{Item, Value};
use vecud_base::priority::FifoPriority;
use vecud_base::time::{Instant, Nanos};

const TOP: &[&str] =
    &["rig", "host", "fmu", "master", "connect", "trigger", "stimulus", "record", "report", "daemon", "trace"];
const RIG: &[&str] = &[
    "name",
    "mode",
    "start_time",
    "stop_time",
    "step",
    "overrun",
    "on_error",
    "nan",
    "shared_libraries",
    "serialise",
    "trigger_time",
    "shutdown_timeout",
    "call_timeout",
];
const HOST: &[&str] = &[
    "fifo_priorities",
    "strict_priorities",
    "cpus",
    "exclusive",
    "lock_memory",
    "clock",
    "spin_us",
    "phase_us",
    "stack_kib",
    "memory_limit",
    "log_limit",
    "wakeup_us",
    "overhead_us",
];

/// Reads a rig file's text. `file` names it in messages, and is the base of its relative paths.
pub fn parse(text: &str, file: &Path) -> Result<Rig, RigError> {
    let document = Document::new(file, text);
    let toml = document.parse(text)?;
    let mut rig = Rig { file: file.to_owned(), ..Rig::empty() };
    rig.name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let top = TableReader::new(&document, "the rig file", toml.as_table(), Place { line: 1, column: 1 }).only(TOP);
    let section = top.table("rig", "[rig]").map(|section| section.only(RIG));
    section.into_iter().for_each(|section| read_rig(section, &mut rig));
    if let Some(section) = top.table("host", "[host]") {
        read_host(section.only(HOST), &mut rig.host);
    }
    tables::read(&top, file, &mut rig);
    rig.serialise = section.map(|section| read_serialise(&section, &rig)).unwrap_or_default();
    let problems = document.into_problems();
    if problems.is_empty() { Ok(rig) } else { Err(RigError { problems }) }
}

fn read_rig(section: TableReader, rig: &mut Rig) {
    if let Some(name) = section.string("name") {
        if name.value.is_empty() || name.value.contains(['/', '\0']) || name.value.starts_with('.') {
            let message = format!("name = \"{}\" cannot be the name of a folder", name.value);
            section.document.problem(name.place, message);
        }
        rig.name = name.value.to_owned();
    }
    if let Some(mode) = section.choice("mode", &[("realtime", Mode::RealTime), ("virtual", Mode::Virtual)]) {
        rig.mode = mode;
    }
    rig.start_time = instant(&section, "start_time");
    rig.stop_time = instant(&section, "stop_time");
    rig.step = read_positive(&section, "step");
    if let Some(overrun) = overrun(&section) {
        rig.overrun = overrun;
    }
    if let Some(on_error) = section.choice("on_error", &[("stop", OnError::Stop), ("continue", OnError::Continue)]) {
        rig.on_error = on_error;
    }
    if let Some(nan) = section.choice("nan", &[("note", OnNan::Note), ("stop", OnNan::Stop)]) {
        rig.nan = nan;
    }
    let shared = [("refuse", SharedLibraries::Refuse), ("trust", SharedLibraries::Trust)];
    if let Some(choice) = section.choice("shared_libraries", &shared) {
        rig.shared_libraries = choice;
    }
    if let Some(time) = section.choice("trigger_time", &[("source", TriggerTime::Source), ("now", TriggerTime::Now)]) {
        rig.trigger_time = time;
    }
    if let Some(timeout) = section.read("shutdown_timeout", "a number of seconds above 0, at most 1e6", |item| {
        number(item).filter(|&seconds| seconds > 0.0 && seconds <= 1e6)
    }) {
        rig.shutdown_timeout = Nanos::from_seconds(timeout.value);
    }
    if let Some(timeout) = section.read("call_timeout", "a number of seconds, 0 (no limit) to 1e6", |item| {
        number(item).filter(|seconds| (0.0..=1e6).contains(seconds))
    }) {
        rig.call_timeout = Some(Nanos::from_seconds(timeout.value)).filter(|limit| limit.0 > 0);
    }
}

/// The FMUs that take turns, when the FMUs of the rig are known.
fn read_serialise(section: &TableReader, rig: &Rig) -> Vec<At<String>> {
    let Some(written) = elements(section, "serialise") else { return Vec::new() };
    let place = section.place_of_key("serialise");
    let mut names: Vec<At<String>> = Vec::new();
    let mut has_problem = false;
    for At { value: item, place } in &written {
        let place = *place;
        let known = || rig.fmus.iter().map(|fmu| fmu.name.value.as_str());
        match item.as_str() {
            None => {
                section.document.problem(place, "serialise must be a list of names of FMUs, as [\"pump\", \"valve\"]");
            }
            Some(name) if !known().any(|known| known == name) => {
                unknown_fmu(section.document, place, name, known().collect());
            }
            Some(name) if names.iter().any(|own| own.value == name) => {
                section.document.problem(place, format!("{name} stands in serialise already"));
            }
            Some(name) => {
                names.push(At { value: name.to_owned(), place });
                continue;
            }
        }
        has_problem = true;
    }
    if names.len() < 2 && !has_problem {
        section.document.problem(place, "serialise needs at least two FMUs: these make their steps one at a time");
    }
    names
}

fn read_host(section: TableReader, host: &mut RigHost) {
    if let Some(band) = read_band(&section) {
        host.fifo_priorities = band;
    }
    if section.boolean("strict_priorities") == Some(true) {
        host.strict_priorities = section.get("strict_priorities").map(|item| section.place_of(item));
    }
    for cpu in elements(&section, "cpus").unwrap_or_default() {
        match cpu.value.as_integer().and_then(|i| usize::try_from(i).ok()) {
            Some(value) => host.cpus.push(At { value, place: cpu.place }),
            None => section.document.problem(cpu.place, "cpus must be a list of core numbers, as [2, 3]"),
        }
    }
    if section.boolean("exclusive") == Some(true) {
        host.exclusive = section.get("exclusive").map(|item| section.place_of(item));
    }
    if let Some(lock_memory) = section.boolean("lock_memory") {
        host.lock_memory = lock_memory;
    }
    let micros = |item: &Item| number(item).filter(|us| (0.0..=1e6).contains(us));
    if let Some(spin) = section.read("spin_us", "a number of microseconds from 0 to 1e6", micros) {
        host.spin = At { value: Nanos((spin.value * 1e3).round() as i64), place: spin.place };
    }
    let within = |item: &Item| number(item).filter(|us| (0.0..1e4).contains(us));
    if let Some(phase) = section.read("phase_us", "a number of microseconds from 0 on, below 1e4", within) {
        host.phase = Nanos((phase.value * 1e3).round() as i64);
    }
    if let Some(clock) = section.choice("clock", &[("monotonic", HostClock::Monotonic), ("tai", HostClock::Tai)]) {
        host.clock = clock;
    }
    let size =
        |item: &Item| item.as_integer().and_then(|i| usize::try_from(i).ok()).filter(|i| (64..=65536).contains(i));
    if let Some(stack) = section.read("stack_kib", "a whole number from 64 to 65536", size) {
        host.stack_kib = stack.value;
    }
    let mebibytes =
        |item: &Item| item.as_integer().and_then(|i| u64::try_from(i).ok()).filter(|i| (1..=1 << 24).contains(i));
    if let Some(limit) = section.read("memory_limit", "a whole number of MiB from 1 to 16777216", mebibytes) {
        host.memory_limit_mib = Some(limit.value);
    }
    if let Some(limit) = section.read("log_limit", "a whole number of MiB from 1 to 16777216", mebibytes) {
        host.log_limit_mib = limit.value;
    }
    host.wakeup = figures::read_host(&section, "wakeup_us");
    host.overhead = figures::read_host(&section, "overhead_us");
}

/// The lowest and the highest priority of partitions.
fn read_band(section: &TableReader) -> Option<At<(FifoPriority, FifoPriority)>> {
    let item = section.get("fifo_priorities")?;
    let place = section.place_of(item);
    let numbers: Option<Vec<i64>> = item.as_array().and_then(|array| array.iter().map(Value::as_integer).collect());
    let priority = |number: i64| u8::try_from(number).ok().and_then(FifoPriority::new);
    let both = |numbers: &Vec<i64>| match numbers.as_slice() {
        &[lowest, highest] => priority(lowest).zip(priority(highest)),
        _ => None,
    };
    let band = numbers.as_ref().and_then(both);
    let hint = match band {
        Some(value) if value.0.get() <= value.1.get() => return Some(At { value, place }),
        Some(_) => ": the lower one comes first",
        None => "",
    };
    let found = numbers.filter(|numbers| numbers.len() <= 4).map_or_else(|| describe(item), |n| format!("{n:?}"));
    let message = format!("fifo_priorities must be [lowest, highest] with both from 1 to 99, not {found}{hint}");
    section.document.problem(place, message);
    None
}

/// A simulation time.
pub(super) fn instant(section: &TableReader, key: &str) -> Option<At<Instant>> {
    section.read(key, "a finite number of seconds, below 1e18", |item| number(item).and_then(Instant::from_f64))
}
