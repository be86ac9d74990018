//! The tables of a rig that name FMUs: `[fmu.*]`, `[[connect]]`, `[[trigger]]`, `[record]`.

use super::document::{Document, Meaning, Section, describe, elements, number};
use super::{
    At, Endpoint, Limits, OnWarning, Overrun, Place, Rig, RigClock, RigConnect, RigFmu, RigRecord, RigTrigger, Timing,
    TriggerSource, start, suggestion,
};
use crate::time::{Fraction, Instant, Nanos};
use std::path::{Path, PathBuf};
use toml_edit::Item;

const FMU: &[&str] = &["path", "cpu", "lenient", "on_warning", "start", "clock"];
const CLOCK: &[&str] = &["interval", "overrun", "max_latency_us", "max_execution_us", "max_overruns"];
const CONNECT: &[&str] = &["from", "to", "timing"];
const TRIGGER: &[&str] = &["clock", "from", "at", "udp"];
const RECORD: &[&str] = &["signals", "format"];

/// Reads them all.
pub(super) fn read(top: &Section, file: &Path, rig: &mut Rig) {
    let folder = file.parent().unwrap_or(Path::new(""));
    if let Some(fmus) = top.table("fmu", "[fmu]") {
        for (name, item) in fmus.entries() {
            let title = format!("[fmu.{}]", name.value);
            match item.as_table_like() {
                Some(table) => {
                    let section = Section::new(top.document, &title, table, name.place).only(FMU);
                    rig.fmus.push(read_fmu(&section, name, folder));
                }
                None => {
                    let message = format!("{title} must be a table, not {}", describe(item));
                    top.document.problem(name.place, message);
                }
            }
        }
    }
    if rig.fmus.is_empty() {
        top.document.problem(top.place, "the rig has no FMU: add a table [fmu.NAME] with a path");
    }
    for section in top.tables("connect", "[[connect]]") {
        rig.connects.extend(read_connect(&section.only(CONNECT), rig));
    }
    for section in top.tables("trigger", "[[trigger]]") {
        rig.triggers.extend(read_trigger(&section.only(TRIGGER), rig));
    }
    if let Some(section) = top.table("record", "[record]") {
        rig.record = Some(read_record(&section.only(RECORD)));
    }
}

fn read_fmu(section: &Section, name: At<&str>, folder: &Path) -> RigFmu {
    use Meaning::Is;
    let legal = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if name.value.is_empty() || !name.value.chars().all(legal) {
        let message = format!(
            "\"{}\" cannot name an FMU: use letters, digits, _ and - (the name becomes part of file names)",
            name.value
        );
        section.document.problem(name.place, message);
    }
    let path = section.string("path");
    match path {
        None if section.get("path").is_none() => section.missing("path"),
        Some(At { value: "", place }) => section.document.problem(place, "path is empty"),
        _ => {}
    }
    let words = [("ignore", Is(OnWarning::Ignore)), ("log", Is(OnWarning::Log)), ("error", Is(OnWarning::Error))];
    let core = |item: &Item| item.as_integer().and_then(|i| usize::try_from(i).ok());
    RigFmu {
        name: At { value: name.value.to_owned(), place: name.place },
        path: path.map_or(At { value: PathBuf::new(), place: name.place }, |path| At {
            value: folder.join(path.value),
            place: path.place,
        }),
        cpu: section.read("cpu", "a core number", core),
        lenient: section.boolean("lenient").unwrap_or(false),
        on_warning: section.choice("on_warning", &words).unwrap_or(OnWarning::Log),
        start: section.table("start", "start").map(|table| start::read(&table)).unwrap_or_default(),
        clocks: read_clocks(section),
    }
}

fn read_clocks(fmu: &Section) -> Vec<RigClock> {
    let Some(clocks) = fmu.table("clock", "clock") else { return Vec::new() };
    let mut all = Vec::new();
    for (name, item) in clocks.entries() {
        let title = format!("{}.clock.{}]", fmu.title.trim_end_matches(']'), name.value);
        match item.as_table_like() {
            Some(table) => {
                let section = Section::new(fmu.document, &title, table, name.place).only(CLOCK);
                all.push(read_clock(&section, name));
            }
            None => {
                let message = format!("{title} must be a table, not {}", describe(item));
                fmu.document.problem(name.place, message);
            }
        }
    }
    all
}

fn read_clock(section: &Section, name: At<&str>) -> RigClock {
    use Meaning::{Is, NotYet};
    let micros = |key| {
        let positive = |item: &Item| number(item).filter(|&us| us > 0.0 && us <= 1e12);
        section.read(key, "a number of microseconds above 0", positive).map(|us| Nanos((us.value * 1e3).round() as i64))
    };
    let whole = |item: &Item| item.as_integer().and_then(|i| u64::try_from(i).ok());
    let words = [("skip", Is(Overrun::Skip)), ("queue", NotYet), ("stop", NotYet)];
    RigClock {
        name: At { value: name.value.to_owned(), place: name.place },
        interval: read_interval(section),
        overrun: section.choice("overrun", &words),
        limits: Limits {
            max_latency: micros("max_latency_us"),
            max_execution: micros("max_execution_us"),
            max_overruns: section.read("max_overruns", "a whole number", whole).map(|n| n.value),
        },
    }
}

fn read_interval(section: &Section) -> Option<At<Fraction>> {
    let item = section.get("interval")?;
    let place = section.place_of(item);
    let fraction = match (item.as_str(), number(item)) {
        (Some(text), _) => Fraction::parse(text).map_err(|reason| format!("interval = \"{text}\" {reason}")),
        (None, Some(value)) => Fraction::from_f64(value).map_err(|reason| format!("interval = {value} {reason}")),
        (None, None) => {
            Err(format!("interval must be a number of seconds or a fraction as \"1/100\", not {}", describe(item)))
        }
    };
    match fraction {
        Ok(fraction) if fraction.is_zero() => section.document.problem(place, "interval must be above 0"),
        Ok(value) => return Some(At { value, place }),
        Err(message) => section.document.problem(place, message),
    }
    None
}

fn read_connect(section: &Section, rig: &Rig) -> Option<RigConnect> {
    use Meaning::{Is, NotYet};
    let (from, to) = (endpoint(section, "from", rig), endpoint(section, "to", rig));
    let words = [("immediate", Is(Timing::Immediate)), ("delayed", NotYet)];
    let timing = section.choice("timing", &words).unwrap_or(Timing::Immediate);
    Some(RigConnect { from: from?, to: to?, timing })
}

fn read_trigger(section: &Section, rig: &Rig) -> Option<RigTrigger> {
    let clock = endpoint(section, "clock", rig);
    let sources: Vec<&str> = ["from", "at", "udp"].into_iter().filter(|key| section.get(key).is_some()).collect();
    match sources.as_slice() {
        [] => section.document.problem(section.place, "[[trigger]] has neither from (an output clock) nor at (times)"),
        ["from"] => {
            let source = TriggerSource::OutputClock(endpoint(section, "from", rig)?);
            return Some(RigTrigger { clock: clock?, source });
        }
        ["at"] => return Some(RigTrigger { clock: clock?, source: TriggerSource::Times(read_times(section)) }),
        [_] => section.not_yet(section.place_of_key("udp"), "[[trigger]] by udp"),
        [_, second, ..] => {
            let message = format!("[[trigger]] has both {}: one trigger has one source", sources.join(" and "));
            section.document.problem(section.place_of_key(second), message);
        }
    }
    None
}

fn read_times(section: &Section) -> Vec<At<Instant>> {
    let mut times: Vec<At<Instant>> = Vec::new();
    for element in elements(section, "at").unwrap_or_default() {
        let place = element.place;
        let seconds = element.value.as_float().or_else(|| element.value.as_integer().map(|i| i as f64));
        match seconds.and_then(Instant::from_f64) {
            None => section.document.problem(place, "at must be a list of times in seconds, as [0.0, 1.5]"),
            Some(time) if times.last().is_some_and(|last| last.value >= time) => {
                section.document.problem(place, "the times of at must increase strictly");
            }
            Some(value) => times.push(At { value, place }),
        }
    }
    times
}

fn read_record(section: &Section) -> RigRecord {
    use Meaning::{Is, NotYet};
    section
        .choice("format", &[("csv", Is(())), ("mf4", NotYet), ("mdf4", NotYet), ("mdf", NotYet), ("parquet", NotYet)]);
    let everything = || vec![At { value: "*".to_owned(), place: section.place }];
    let Some(patterns) = elements(section, "signals") else { return RigRecord { signals: everything() } };
    let mut signals = Vec::new();
    for pattern in patterns {
        match pattern.value.as_str() {
            Some(text) => signals.push(At { value: text.to_owned(), place: pattern.place }),
            None => section.document.problem(pattern.place, "signals must be a list of patterns, as [\"ecu.*\"]"),
        }
    }
    RigRecord { signals }
}

/// `fmu.variable`, where the FMU is one of the rig's.
fn endpoint(section: &Section, key: &str, rig: &Rig) -> Option<At<Endpoint>> {
    let Some(text) = section.string(key) else {
        if section.get(key).is_none() {
            section.missing(key);
        }
        return None;
    };
    let names = || rig.fmus.iter().map(|fmu| fmu.name.value.as_str());
    match text.value.split_once('.') {
        Some((fmu, variable)) if !fmu.is_empty() && !variable.is_empty() => {
            if names().any(|name| name == fmu) {
                let value = Endpoint { fmu: fmu.to_owned(), variable: variable.to_owned() };
                return Some(At { value, place: text.place });
            }
            unknown_fmu(section.document, text.place, fmu, names().collect());
        }
        _ => {
            let message = format!("{key} = \"{}\" must be written fmu.variable", text.value);
            section.document.problem(text.place, message);
        }
    }
    None
}

fn unknown_fmu(document: &Document, place: Place, written: &str, names: Vec<&str>) {
    let hint = match suggestion(written, names.iter().copied()) {
        none if none.is_empty() => format!("; it has {}", names.join(", ")),
        hint => hint,
    };
    document.problem(place, format!("the rig has no FMU \"{written}\"{hint}"));
}
