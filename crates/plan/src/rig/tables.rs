//! The tables of a rig that name FMUs: `[fmu.*]`, `[[connect]]`, `[[trigger]]`, `[[stimulus]]`, `[record]`.

use super::document::{TableReader, describe, elements};
use super::fmu_name::{FMU_NAME, is_fmu_name};
use super::record::read_record;
use super::seconds::{read_fraction, read_positive};
use super::stimuli::read_stimulus;
use super::triggers::read_trigger;
use super::variable_name::variable_name;
use super::{
    At, Extrapolation, GetIntervals, Logging, MasterClass, OnWarning, Rig, RigClock, RigConnect, RigFmu, StepSize,
    StepWishes, Timing, UnitsOfConnection, daemon, figures, integration, masters, report, start, task, trace,
};
use std::path::{Path, PathBuf};
use toml_edit::{Item, Value};
use vecud_description::{Abi, Interface};

const FMU: &[&str] = &[
    "path",
    "cpu",
    "dialect",
    "lenient",
    "on_warning",
    "log",
    "preload",
    "get_intervals",
    "compiler_options",
    "define",
    "env",
    "start",
    "clock",
    "interface",
    "step",
    "step_size",
    "retry_steps",
    "internal_steps",
    "class",
    "max_step",
    "parallel",
];
const CLOCK: &[&str] = &["interval", "shift"];
const CONNECT: &[&str] = &["from", "to", "timing", "max_size", "units", "extrapolation"];

/// Reads them all.
pub(super) fn read(top: &TableReader, file: &Path, rig: &mut Rig) {
    let folder = file.parent().unwrap_or(Path::new(""));
    if let Some(fmus) = top.table("fmu", "[fmu]") {
        for (name, item) in fmus.entries() {
            let title = format!("[fmu.{}]", name.value);
            match item.as_table_like() {
                Some(table) => {
                    let known: Vec<&str> = [FMU, &task::KEYS, &figures::KEYS_OF_STEP, &integration::KEYS].concat();
                    let section = TableReader::new(top.document, &title, table, name.place).only(&known);
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
    check_env(top, rig);
    let names: Vec<&str> = rig.fmus.iter().map(|fmu| fmu.name.value.as_str()).collect();
    rig.masters = masters::read(top, &names);
    for section in top.tables("connect", "[[connect]]") {
        rig.connects.extend(read_connect(&section.only(CONNECT), rig));
    }
    for section in top.tables("trigger", "[[trigger]]") {
        rig.triggers.extend(read_trigger(section, folder, rig));
    }
    for section in top.tables("stimulus", "[[stimulus]]") {
        rig.stimuli.extend(read_stimulus(section, folder, rig));
    }
    if let Some(section) = top.table("record", "[record]") {
        rig.record = Some(read_record(section));
    }
    if let Some(section) = top.table("report", "[report]") {
        rig.report = report::read(section);
    }
    if let Some(section) = top.table("daemon", "[daemon]") {
        let section = section.only(daemon::DAEMON);
        rig.daemon = daemon::read(&section);
        rig.watch = daemon::read_watch(&section);
    }
    if let Some(section) = top.table("trace", "[trace]") {
        rig.trace = trace::read(section);
    }
}

fn read_fmu(section: &TableReader, name: At<&str>, folder: &Path) -> RigFmu {
    if !is_fmu_name(name.value) {
        let message = format!("\"{}\" cannot name an FMU: {FMU_NAME}", name.value);
        section.document.problem(name.place, message);
    }
    let path = section.string("path");
    match path {
        None if section.get("path").is_none() => section.missing("path"),
        Some(At { value: "", place }) => section.document.problem(place, "path is empty"),
        _ => {}
    }
    let words = [("ignore", OnWarning::Ignore), ("log", OnWarning::Log), ("error", OnWarning::Error)];
    let dialects = [("draft", Abi::Draft), ("released", Abi::Fmi3)];
    fn placed_in<T>(section: &TableReader, key: &str, value: Option<T>) -> Option<At<T>> {
        value.zip(section.get(key)).map(|(value, item)| At { value, place: section.place_of(item) })
    }
    let core = |item: &Item| item.as_integer().and_then(|i| usize::try_from(i).ok());
    let get_intervals = |item: &Item| match (item.as_bool(), item.as_str()) {
        (Some(false), _) => Some(GetIntervals::Never),
        (Some(true), _) => Some(GetIntervals::Decimal),
        (_, Some("fraction")) => Some(GetIntervals::Fraction),
        _ => None,
    };
    let interfaces = [
        ("scheduled-execution", Interface::ScheduledExecution),
        ("co-simulation", Interface::CoSimulation),
        ("model-exchange", Interface::ModelExchange),
    ];
    let classes = [
        ("predictable", MasterClass::Predictable),
        ("rollback", MasterClass::Rollback),
        ("legacy", MasterClass::Legacy),
    ];
    let first_of_task = task::KEYS
        .iter()
        .chain(&figures::KEYS_OF_STEP)
        .filter_map(|key| section.get(key))
        .map(|item| section.place_of(item))
        .min();
    RigFmu {
        name: At { value: name.value.to_owned(), place: name.place },
        path: path.map_or(At { value: PathBuf::new(), place: name.place }, |path| At {
            value: folder.join(path.value),
            place: path.place,
        }),
        cpu: section.read("cpu", "a core number", core),
        dialect: placed_in(section, "dialect", section.choice("dialect", &dialects)),
        lenient: section.boolean("lenient").unwrap_or(false),
        on_warning: section.choice("on_warning", &words).unwrap_or(OnWarning::Log),
        log: read_log(section),
        preload: read_preload(section, folder),
        get_intervals: section.read("get_intervals", "true, false or \"fraction\"", get_intervals),
        trusts_compiler_options: section
            .choice("compiler_options", &[("reviewed", false), ("trust", true)])
            .unwrap_or(false),
        define: section.table("define", "define").map(|table| read_define(&table)).unwrap_or_default(),
        env: section.table("env", "env").map(|table| read_env(&table)).unwrap_or_default(),
        start: section.table("start", "start").map(|table| start::read(&table)).unwrap_or_default(),
        clocks: read_clocks(section),
        interface: placed_in(section, "interface", section.choice("interface", &interfaces)),
        step: read_positive(section, "step"),
        step_size: placed_in(section, "step_size", section.choice("step_size", &StepSize::WORDS)),
        retry_steps: placed_in(section, "retry_steps", section.boolean("retry_steps")),
        internal_steps: section
            .boolean("internal_steps")
            .filter(|wanted| *wanted)
            .and_then(|_| section.get("internal_steps").map(|item| section.place_of(item))),
        class: placed_in(section, "class", section.choice("class", &classes)),
        max_step: read_positive(section, "max_step"),
        parallel: placed_in(section, "parallel", section.boolean("parallel")),
        integration: integration::read(section),
        task: first_of_task.map(|place| At { value: task::read(section), place }),
        wishes: StepWishes::default(),
    }
}

/// `true`, `false`, or names of categories.
fn read_log(section: &TableReader) -> Option<Logging> {
    let item = section.get("log")?;
    if let Some(all) = item.as_bool() {
        return Some(if all { Logging::All } else { Logging::Off });
    }
    if item.as_array().is_none_or(|names| names.is_empty()) {
        let what = if item.is_array() { "an empty list".to_owned() } else { describe(item) };
        let message = format!("log must be true, false or a list of log categories, not {what}");
        section.document.problem(section.place_of(item), message);
        return None;
    }
    let names = elements(section, "log")?.into_iter().filter_map(|At { value, place }| match value.as_str() {
        Some(name) => Some(At { value: name.to_owned(), place }),
        None => {
            section.document.problem(place, "log has the names of log categories, each a string");
            None
        }
    });
    Some(Logging::Categories(names.collect()))
}

/// Names of libraries, and their files.
fn read_preload(section: &TableReader, folder: &Path) -> Vec<PathBuf> {
    let Some(names) = section.get("preload").and_then(|_| elements(section, "preload")) else { return Vec::new() };
    let read = |At { value, place }: At<&Value>| match value.as_str() {
        // The linker looks for a name.
        Some(name) if !name.is_empty() && !name.contains('/') => Some(PathBuf::from(name)),
        Some(name) if !name.is_empty() => Some(folder.join(name)),
        _ => {
            section.document.problem(place, "preload has the names of libraries, or their files, each a string");
            None
        }
    };
    names.into_iter().filter_map(read).collect()
}

/// Variables of the environment, each with its value.
fn read_env(section: &TableReader) -> Vec<(At<String>, String)> {
    let mut all = Vec::new();
    for (name, item) in section.entries() {
        let wrong = match (name.value, item.as_str()) {
            ("", _) => "a variable of env has no name".to_owned(),
            (own, _) if own.contains(['=', '\0']) => {
                format!("{own:?} cannot name a variable of the environment: no name has = or a zero in it")
            }
            (own, None) => format!("{own} in env must be a text, not {}", describe(item)),
            (own, Some(value)) if value.contains('\0') => {
                format!("{own} in env has a zero in it, where the environment ends a text")
            }
            (own, Some(value)) => {
                all.push((At { value: own.to_owned(), place: name.place }, value.to_owned()));
                continue;
            }
        };
        section.document.problem(name.place, wrong);
    }
    all
}

/// Checks the environment variables: all FMUs of a rig are in one process, which has one environment.
fn check_env(top: &TableReader, rig: &Rig) {
    let all =
        || rig.fmus.iter().flat_map(|fmu| fmu.env.iter().map(move |(name, value)| (&fmu.name.value, name, value)));
    for (at, (fmu, name, value)) in all().enumerate() {
        let other = all().take(at).find(|(_, own, other)| own.value == name.value && *other != value);
        if let Some((first, ..)) = other {
            let way_out = "all FMUs of a rig are in one process, and see the same; give them one value, or run them in rigs of their own";
            let message =
                format!("env of `{fmu}` has another value of {} than that of `{first}`: {way_out}", name.value);
            top.document.problem(name.place, message);
        }
    }
}

/// Macros with a value, `true` for one without, or `false` for none.
fn read_define(section: &TableReader) -> Vec<(At<String>, Option<String>)> {
    let one_line = |text: &&str| !text.chars().any(char::is_control);
    let value = |item: &Item| match (item.as_bool(), item.as_integer(), item.as_str().filter(one_line)) {
        (Some(defined), ..) => Some(defined.then(String::new)),
        (_, Some(number), _) => Some(Some(number.to_string())),
        (_, _, Some(text)) => Some(Some(text.to_owned())),
        _ => None,
    };
    let mut all = Vec::new();
    for (name, item) in section.entries() {
        match value(item) {
            Some(value) => all.push((At { value: name.value.to_owned(), place: name.place }, value)),
            None => {
                let message = format!(
                    "{} in define must be a text in one line, a whole number, true or false, not {}",
                    name.value,
                    describe(item)
                );
                section.document.problem(name.place, message);
            }
        }
    }
    all
}

fn read_clocks(fmu: &TableReader) -> Vec<RigClock> {
    let Some(clocks) = fmu.table("clock", "clock") else { return Vec::new() };
    let known: Vec<&str> = [CLOCK, &task::KEYS, &figures::KEYS].concat();
    let mut all = Vec::new();
    for (name, item) in clocks.entries() {
        let title = format!("{}.clock.{}]", fmu.title.trim_end_matches(']'), name.value);
        match item.as_table_like() {
            Some(table) => {
                let section = TableReader::new(fmu.document, &title, table, name.place).only(&known);
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

fn read_clock(section: &TableReader, name: At<&str>) -> RigClock {
    RigClock {
        name: At { value: name.value.to_owned(), place: name.place },
        interval: read_positive(section, "interval"),
        shift: read_fraction(section, "shift"),
        task: task::read(section),
    }
}

fn read_connect(section: &TableReader, rig: &Rig) -> Option<RigConnect> {
    let (from, to) = (variable_name(section, "from", rig), variable_name(section, "to", rig));
    let words = [("immediate", Timing::Immediate), ("delayed", Timing::Delayed)];
    let timing = section.choice("timing", &words);
    let size = |item: &Item| item.as_integer().and_then(|i| usize::try_from(i).ok()).filter(|&i| i > 0);
    let max_size = section.read("max_size", "a whole number of bytes above 0", size);
    let words = [("convert", UnitsOfConnection::Convert), ("as_is", UnitsOfConnection::AsIs)];
    let units = section.choice("units", &words).unwrap_or_default();
    let value = section.choice("extrapolation", &Extrapolation::WORDS).unwrap_or_default();
    let place = section.get("extrapolation").map(|item| section.place_of(item)).unwrap_or_default();
    let extrapolation = At { value, place };
    Some(RigConnect { from: from?, to: to?, timing, max_size, units, extrapolation })
}
