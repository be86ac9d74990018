//! `vecud new rig`: a rig file for FMUs, made from their descriptions.
//!
//! Clear choices are written: a trigger where one output clock fits, a connection where one output fits. For an
//! ambiguous one, each candidate is a line in a comment.

use crate::cli::made::{UnfinishedOutput, folder_of};
use crate::cli::preview::described;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use vecud_base::plain::{Plain, plain};
use vecud_base::time::Fraction;
use vecud_description::{
    Causality, Interface, InterfaceOffer, IntervalVariability, ModelDescription, Values, Variability, Variable,
};
use vecud_host::{Error, HostResources};
use vecud_linux::stop::StopToken;
use vecud_plan::FmuInput;
use vecud_plan::rig::{self, Rig};

/// Names that a comment lists at most; tasks and triggers are all there.
const LISTED: usize = 20;

/// An FMU of the new rig.
struct Part {
    /// Its name in the rig.
    name: String,
    /// Its path as the rig file says it.
    path: String,
    /// The file or folder itself, whatever links lead there.
    file: PathBuf,
    description: ModelDescription,
}

/// Makes the file, and gives what there is to be said of it.
pub fn make(name: &Path, fmus: &[PathBuf], stop: &StopToken) -> Result<String, Error> {
    let file = rig_file(name)?;
    let folder = folder_of(&file);
    let folder = folder.canonicalize().map_err(Error::file(folder))?;
    let (mut parts, mut names) = (Vec::new(), BTreeSet::new());
    for path in fmus {
        let (_, description) = described(path, stop.clone())?;
        let name = free_name(&Rig::for_fmu(path).name, &mut names);
        let file = path.canonicalize().map_err(Error::file(path))?;
        parts.push(Part { name, path: path_from(&folder, path)?, file, description });
    }
    let text = text(&file, &parts);
    let undecided = undecided(&text, &file, &parts)?;
    UnfinishedOutput::file(&file, &text)?.keep(stop);
    let clocks = parts.iter().map(|part| input_clocks(part).len()).sum();
    let plural = |count: usize, what: &str| vecud_report::format::plural(count as u64, what);
    let shown = file.display();
    let stepping: Vec<String> =
        parts.iter().filter(|part| steps(part).is_some()).map(|part| plain(&part.name)).collect();
    let stepping = match stepping.is_empty() {
        true => String::new(),
        false => format!("; steps are made by {}", stepping.join(", ")),
    };
    let mut told =
        format!("{shown}: a rig of {} with {}{stepping}\n", plural(parts.len(), "FMU"), plural(clocks, "input clock"));
    for problem in undecided {
        let _ = writeln!(told, "to be decided: {problem}");
    }
    let _ = writeln!(told, "next: vecud check {shown}, vecud run {shown}");
    Ok(told)
}

/// The file of a rig of this name.
fn rig_file(name: &Path) -> Result<PathBuf, Error> {
    let file = match name.extension() {
        Some(extension) if extension == "toml" => name.to_owned(),
        _ => {
            let mut file = name.as_os_str().to_owned();
            file.push(".toml");
            PathBuf::from(file)
        }
    };
    match name.file_name().and_then(|name| name.to_str()) {
        Some(last) if !last.starts_with('.') && !name.as_os_str().as_encoded_bytes().ends_with(b"/") => Ok(file),
        _ => Err(Error::Command(format!(
            "\"{}\" cannot be the name of a rig, which becomes that of a file and of a folder",
            name.display()
        ))),
    }
}

/// The name, or that with a number, which no other FMU has.
fn free_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let mut all = std::iter::once(name.to_owned()).chain(numbered);
    let free = all.find(|name| !taken.contains(name)).expect("numbers do not end");
    taken.insert(free.clone());
    free
}

/// The path of an FMU for a file in `folder`: as short as it can be, or as it is if it counts from the root.
fn path_from(folder: &Path, fmu: &Path) -> Result<String, Error> {
    let path = if fmu.is_absolute() {
        fmu.to_owned()
    } else {
        // A link stays what it is.
        let place = match fmu.file_name() {
            Some(name) => folder_of(fmu).canonicalize().map(|folder| folder.join(name)),
            None => fmu.canonicalize(),
        };
        relative(folder, &place.map_err(Error::file(fmu))?)
    };
    let not_utf8 = || Error::Command(format!("{}: its name is not UTF-8, which no rig file can say", path.display()));
    path.to_str().map(str::to_owned).ok_or_else(not_utf8)
}

/// The way from a folder to a file; both begin at the root.
fn relative(folder: &Path, file: &Path) -> PathBuf {
    let common = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(common).map(|_| Path::new(".."));
    let down = file.components().skip(common).map(|part| Path::new(part.as_os_str()));
    let way: PathBuf = up.chain(down).collect();
    if way == Path::new("") { PathBuf::from(".") } else { way }
}

/// What still keeps the rig from having a plan, with its place in the file.
fn undecided(text: &str, file: &Path, parts: &[Part]) -> Result<Vec<rig::Diagnostic>, Error> {
    let rig = match rig::parse(text, file) {
        Ok(rig) => rig,
        Err(error) => return Ok(error.problems),
    };
    let inputs: Vec<FmuInput> = rig
        .fmus
        .iter()
        .zip(parts)
        .map(|(fmu, part)| FmuInput {
            description: &part.description,
            // Nothing is loaded for a plan: it stands for what two instances of one FMU share.
            library: part.file.clone(),
            folder: String::new(),
            resources: None,
            path: fmu.path.value.clone(),
            tells_max_step: false,
        })
        .collect();
    let host = HostResources::look(None)?;
    Ok(vecud_plan::build(&rig, &inputs, &[], &host.facts()).err().map(|error| error.problems).unwrap_or_default())
}

/// The rig file.
fn text(file: &Path, parts: &[Part]) -> String {
    let shown = plain(&file.file_name().unwrap_or_default().to_string_lossy());
    let stops = parts.iter().filter_map(|part| part.description.default_experiment.stop_time);
    let stop = stops.fold(None, |longest: Option<f64>, stop| Some(longest.map_or(stop, |longest| longest.max(stop))));
    let stop = stop.filter(|stop| *stop > 0.0 && *stop <= LONGEST_STOP).unwrap_or(10.0);
    let mut out = format!(
        "# A rig: which FMUs run, and how they are connected.\n\
         #\n\
         #     vecud check {shown}     # its plan: tasks, priorities, cores, connections\n\
         #     vecud run {shown}\n\
         #\n\
         # What is commented out is an example. All keys are in docs/rig.md of vecud.\n\
         \n\
         [rig]\n\
         stop_time = {stop:?}     # s; without it the rig runs until Ctrl-C\n\
         # mode = \"virtual\"    # as fast as possible, repeatable to the byte\n"
    );
    for part in parts {
        write_fmu(&mut out, part);
    }
    write_triggers(&mut out, parts);
    write_connections(&mut out, parts);
    out += "\n# ---- What is kept: in vecud-out/, beside report.html ----\n\n[record]\nsignals = [\"*\"]\n";
    out
}

/// Longer experiments are not taken over (s).
const LONGEST_STOP: f64 = 1e6;

fn write_fmu(out: &mut String, part: &Part) {
    let _ = write!(out, "\n# ---- {}", Plain(&part.name));
    if let Some(description) = &part.description.description {
        let _ = write!(out, ": {}", Plain(description));
    }
    let _ = match steps(part) {
        Some(offer) => writeln!(out, " ----\n# It makes steps ({}).", offer.interface().name()),
        None => writeln!(out, " ----\n# Input clocks, which are its tasks, the most urgent first:"),
    };
    let clocks = input_clocks(part);
    let width = clocks.iter().map(|clock| plain(&clock.name).chars().count()).max().unwrap_or(0).min(40);
    for clock in &clocks {
        let _ = writeln!(out, "#   {:width$}  {}", plain(&clock.name), release(part, clock));
    }
    let outputs: Vec<String> = output_clocks(part).map(|clock| plain(&clock.name)).collect();
    if !outputs.is_empty() && steps(part).is_none() {
        let _ = writeln!(out, "# Output clocks, which can trigger: {}", outputs.join(", "));
    }
    let _ = writeln!(out, "\n[fmu.{}]\npath = {}", key(&part.name), quoted(&part.path));
    if let Some(offer) = steps(part) {
        let internal = match offer {
            InterfaceOffer::CoSimulation(own) => own.fixed_internal_step_size,
            _ => None,
        };
        let internal = internal.and_then(|amount| part.description.time.duration(amount));
        *out += &match (part.description.default_experiment.step_size, internal) {
            (None, None) => "step = 0.001                # s: how far each goes; the FMU does not say\n".to_owned(),
            (size, internal) => {
                let own = size.or(internal).unwrap_or(Fraction::ZERO);
                let is_decimal = Fraction::from_f64(own.seconds()) == Ok(own);
                let own = if is_decimal { format!("{:?}", own.seconds()) } else { format!("\"{own}\"") };
                format!("# step = {own}     # s: how far each goes; without it as the FMU suggests\n")
            }
        };
        if offer.interface() == Interface::ModelExchange {
            *out += "# solver = \"rk4\"           # or \"euler\"; in virtual time also \"auto\", \"dopri5\", \"bdf\" with a tolerance\n\
                     # internal_step = \"1/4000\"  # s: the step of the solver; without it as far as each goes\n";
        }
        *out += "# max_latency_us = 200     # limits: exit code 3 when one is exceeded\n# max_overruns = 0\n";
    }
    let starts: Vec<String> = part
        .description
        .variables
        .iter()
        .filter(|variable| variable.causality == Causality::Parameter && variable.variability != Variability::Constant)
        .filter_map(|variable| Some(format!("{} = {}", key(&variable.name), value(variable.start.as_ref()?)?)))
        .take(LISTED)
        .collect();
    if !starts.is_empty() {
        let _ = writeln!(out, "# start = {{ {} }}     # its parameters; inputs can stand here, too", starts.join(", "));
    }
    if let Some(clock) = clocks.first() {
        let _ = writeln!(
            out,
            "# [fmu.{}.clock.{}]     # limits: exit code 3 when one is exceeded\n# max_latency_us = 200\n# max_overruns = 0",
            key(&part.name),
            key(&clock.name)
        );
    }
}

/// What an FMU says of its steps, if that is how it runs.
fn steps(part: &Part) -> Option<&InterfaceOffer> {
    let offered = |wanted| part.description.interfaces.iter().find(|offer| offer.interface() == wanted);
    let first = [Interface::ScheduledExecution, Interface::CoSimulation, Interface::ModelExchange]
        .into_iter()
        .find_map(offered);
    first.filter(|offer| offer.interface() != Interface::ScheduledExecution)
}

/// The input clocks of an FMU in the order of their priorities; those that nothing serves are none.
fn input_clocks(part: &Part) -> Vec<&Variable> {
    if steps(part).is_some() {
        return Vec::new();
    }
    let is_input = |variable: &&Variable| variable.clock.is_some() && variable.causality == Causality::Input;
    let mut clocks: Vec<&Variable> = part.description.variables.iter().filter(is_input).collect();
    let urgency = |clock: &&Variable| {
        let priority = clock.clock.as_ref().and_then(|clock| clock.priority);
        priority.map_or(u32::MAX, |priority| priority.most_urgent_first())
    };
    clocks.sort_by_key(urgency);
    clocks
}

fn output_clocks(part: &Part) -> impl Iterator<Item = &Variable> {
    let is_output = |variable: &&Variable| variable.clock.is_some() && variable.causality == Causality::Output;
    part.description.variables.iter().filter(is_output)
}

/// What activates a clock, in words.
fn release(part: &Part, variable: &Variable) -> String {
    let Some(clock) = &variable.clock else { return String::new() };
    let interval = clock.interval.map(|interval| format!("every {} s", interval.seconds()));
    match clock.interval_variability {
        IntervalVariability::Triggered if clock.triggered_by.is_some() => "triggered, as the FMU says".to_owned(),
        IntervalVariability::Triggered => "triggered: see [[trigger]] below".to_owned(),
        IntervalVariability::Countdown => "countdown: the FMU says when".to_owned(),
        IntervalVariability::Changing => "changing: the FMU says when".to_owned(),
        kind => match interval {
            Some(interval) if kind == IntervalVariability::Constant => interval,
            Some(interval) => {
                format!("{interval}, or as [fmu.{}.clock.{}] interval says", key(&part.name), key(&variable.name))
            }
            None => "periodic: the FMU says its interval".to_owned(),
        },
    }
}

/// A clock and whose it is.
#[derive(Clone, Copy)]
struct Clocked<'a> {
    part: usize,
    name: &'a str,
    clock: &'a Variable,
}

impl Clocked<'_> {
    fn quoted(&self) -> String {
        quoted(&format!("{}.{}", self.name, self.clock.name))
    }

    /// Whether this output clock can trigger that input clock: it does not tick because of it.
    fn can_trigger(&self, target: &Clocked) -> bool {
        self.part != target.part || !self.clock.clocks.contains(&target.clock.value_reference)
    }
}

fn write_triggers(out: &mut String, parts: &[Part]) {
    let (mut sources, mut targets) = (Vec::new(), Vec::new());
    for (part, own) in parts.iter().enumerate() {
        let clocked = |clock| Clocked { part, name: &own.name, clock };
        sources.extend(output_clocks(own).map(clocked));
        targets.extend(input_clocks(own).into_iter().filter(|clock| waits_for_a_trigger(clock)).map(clocked));
    }
    if targets.is_empty() {
        return;
    }
    *out += "\n# ---- What activates triggered clocks: ticks of output clocks, times, or datagrams ----\n";
    for target in &targets {
        let fits: Vec<&Clocked> = sources.iter().filter(|source| source.can_trigger(target)).collect();
        let named: Vec<&Clocked> =
            fits.iter().copied().filter(|source| source.clock.name == target.clock.name).collect();
        let is_alone = targets.len() == 1;
        match (named.as_slice(), fits.as_slice()) {
            ([one], _) => write_trigger(out, target, one),
            ([], [one]) if is_alone => write_trigger(out, target, one),
            _ => {
                *out += "\n# From one of these; without it the clock never ticks.\n";
                let _ = writeln!(out, "# [[trigger]]\n# clock = {}", target.quoted());
                for source in fits.iter().take(LISTED) {
                    let _ = writeln!(out, "# from = {}", source.quoted());
                }
                *out += "# at = [0.0, 1.0]     # s\n# udp = \"127.0.0.1:5005\"\n";
            }
        }
    }
}

fn write_trigger(out: &mut String, target: &Clocked, source: &Clocked) {
    let _ = writeln!(out, "\n[[trigger]]\nclock = {}\nfrom = {}", target.quoted(), source.quoted());
}

fn waits_for_a_trigger(variable: &Variable) -> bool {
    variable.clock.as_ref().is_some_and(|clock| {
        clock.interval_variability == IntervalVariability::Triggered && clock.triggered_by.is_none()
    })
}

fn write_connections(out: &mut String, parts: &[Part]) {
    let is_value = |variable: &&Variable| variable.clock.is_none();
    let mut left = Vec::new();
    let mut written = String::new();
    for (index, part) in parts.iter().enumerate() {
        let inputs = part.description.variables.iter().filter(|variable| variable.causality == Causality::Input);
        for input in inputs.filter(is_value) {
            let to = format!("{}.{}", part.name, input.name);
            let others = parts.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, other)| other);
            let fits: Vec<String> = others
                .filter_map(|other| {
                    let output = other.description.variable(&input.name)?;
                    let is_same = output.causality == Causality::Output
                        && output.variable_type == input.variable_type
                        && output.dimensions == input.dimensions;
                    is_same.then(|| quoted(&format!("{}.{}", other.name, output.name)))
                })
                .collect();
            match fits.as_slice() {
                [] => left.push(to),
                [from] => {
                    let _ = writeln!(written, "\n[[connect]]\nfrom = {from}\nto = {}", quoted(&to));
                }
                several => {
                    let _ = writeln!(written, "\n# One of these.\n# [[connect]]");
                    for from in several {
                        let _ = writeln!(written, "# from = {from}");
                    }
                    let _ = writeln!(written, "# to = {}", quoted(&to));
                }
            }
        }
    }
    if written.is_empty() && left.is_empty() {
        return;
    }
    *out += "\n# ---- Which output feeds which input ----\n";
    *out += &written;
    if !left.is_empty() {
        let shown: Vec<String> = left.iter().take(LISTED).map(|name| plain(name)).collect();
        let more = left.len().saturating_sub(LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = writeln!(out, "\n# Nothing feeds these, which keep their start values: {}{more}", shown.join(", "));
        *out += "# [[connect]]\n# from = \"FMU.OUTPUT\"\n";
        let _ = writeln!(out, "# to = {}", quoted(&left[0]));
    }
}

/// A start value as a rig says it; `None`: of a type that an example does better without.
fn value(values: &Values) -> Option<String> {
    if values.len() != 1 {
        return None;
    }
    Some(match values {
        Values::Float32(v) if v[0].is_finite() => format!("{:?}", v[0]),
        Values::Float64(v) if v[0].is_finite() => format!("{:?}", v[0]),
        Values::Boolean(v) => v[0].to_string(),
        Values::String(v) => quoted(&v[0]),
        Values::Int8(v) => v[0].to_string(),
        Values::UInt8(v) => v[0].to_string(),
        Values::Int16(v) => v[0].to_string(),
        Values::UInt16(v) => v[0].to_string(),
        Values::Int32(v) => v[0].to_string(),
        Values::UInt32(v) => v[0].to_string(),
        Values::Int64(v) => v[0].to_string(),
        Values::UInt64(v) => v[0].to_string(),
        _ => return None,
    })
}

/// A key of TOML.
fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(is_bare) { name.to_owned() } else { quoted(name) }
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out += &format!("\\u{:04X}", c as u32),
            c => out.push(c),
        }
    }
    out + "\""
}
