//! A short life of an interface type: an instance is made, initialised, used for the beginning of its experiment,
//! terminated and freed. Then its state is saved and restored, two instances run together, twice, and FMUs that make
//! steps are called from other threads.

use super::subject::{DESCRIPTION, ExaminedFmu};
use crate::simulation::{self, Beginning, CsvText, RowSink, Simulated, SimulationOptions};
use crate::{Error, EventSink, Prepared};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use vecud_base::time::{Fraction, Instant, Nanos};
use vecud_description::{Interface, InterfaceOffer};
use vecud_fmi::Function;
use vecud_plan::Release;
use vecud_plan::rig;
use vecud_record::csv;
use vecud_record::recording::RecordingError;
use vecud_report::compare::{self, ComparedTable, ComparedTimes, Tolerances};
use vecud_report::{Check, End, Kind, Problem, Remark, Run, Severity, Weight};

/// Greatest number of steps of a life.
const STEPS: u64 = 100;
/// Number of rounds in one process.
const ROUNDS: usize = 2;
/// Exact comparison: no bit may differ.
const EXACT: Tolerances = Tolerances { absolute: 0.0, relative: 0.0, named: Vec::new() };
/// Greatest length of the FMU's last output that is shown after a failure, bytes.
const LAST_WORDS: u64 = 1000;

/// A completed life.
pub struct Lived {
    /// The plan of the simulation.
    pub prepared: Prepared,
    /// Result of the simulation.
    pub run: Run,
    /// The computed rows.
    pub rows: Vec<u8>,
    /// Serialised final state.
    pub state: Vec<u8>,
    /// Findings about the FMU.
    pub remarks: Vec<Remark>,
}

impl Lived {
    /// Whether the life ended without a failure.
    pub fn is_whole(&self) -> bool {
        self.run.end != End::Failure
    }
}

/// Checks an interface type that the FMU offers; `obstacle`: reason why it cannot run.
pub fn of(subject: &ExaminedFmu, interface: Interface, obstacle: Option<&str>) -> Result<Vec<Check>, Error> {
    let name = interface.name();
    if let Some(why) = obstacle {
        return Ok(vec![Check::not_tried(name, why)]);
    }
    let wanted = beginning(subject, interface, false, false);
    let (life, check) = match subject.meanwhile(format!("trying {name}"), || live(subject, &wanted, |_| ()))? {
        Ok(life) => {
            let check = Check::done(name, seen(&life.prepared, &life.run), life.remarks.clone());
            (Some(life), check)
        }
        Err(remarks) => (None, Check::done(name, "", remarks)),
    };
    let mut checks = vec![check];
    let (state, twins) = (format!("{name}, FMU state"), format!("{name}, two instances"));
    let threads = (interface != Interface::ScheduledExecution).then(|| format!("{name}, threads"));
    let Some(life) = life.filter(Lived::is_whole) else {
        let why = format!("one life was not to be had ({name})");
        let others = [state, twins].into_iter().chain(threads);
        checks.extend(others.map(|name| Check::not_tried(name, why.clone())));
        return Ok(checks);
    };
    checks.push(
        subject.meanwhile(format!("trying the state of {name}"), || with_state(subject, interface, &life, state))?,
    );
    checks.push(
        subject.meanwhile(format!("trying two instances of {name}"), || twice(subject, interface, &life, twins))?,
    );
    if let Some(threads) = threads {
        let differ = checks.last().is_some_and(|twins| !twins.remarks.is_empty());
        let trying = || on_threads(subject, interface, &life, differ, threads);
        checks.push(subject.meanwhile(format!("trying {name} on other threads"), trying)?);
    }
    Ok(checks)
}

fn beginning(subject: &ExaminedFmu, interface: Interface, twin: bool, tries_state: bool) -> SimulationOptions {
    SimulationOptions {
        file: subject.wanted.file.clone(),
        interface: Some(interface),
        beginning: Some(Beginning { steps: STEPS, twin, tries_state }),
        ..SimulationOptions::default()
    }
}

/// Plans a simulation with the time limit of the validation for each call.
pub fn prepare(subject: &ExaminedFmu, wanted: &SimulationOptions) -> Result<Result<Prepared, Vec<Remark>>, Error> {
    let prepared = simulation::prepare(wanted, &subject.options(), &EventSink::default());
    let limited = |mut prepared: Prepared| {
        let limit = Nanos::from_seconds(subject.wanted.timeout.as_secs_f64());
        prepared.plan.call_timeout = Some(limit);
        prepared
    };
    prepared.map(|prepared| Ok(limited(prepared))).or_else(|error| refused(error).map(Err))
}

/// Runs a simulation. A failure before its start is a finding about the FMU, or an error.
pub fn live(
    subject: &ExaminedFmu,
    wanted: &SimulationOptions,
    change: impl FnOnce(&mut Prepared),
) -> Result<Result<Lived, Vec<Remark>>, Error> {
    let mut prepared = match prepare(subject, wanted)? {
        Ok(prepared) => prepared,
        Err(remarks) => return Ok(Err(remarks)),
    };
    change(&mut prepared);
    let (text, mut printed) = (CsvText::default(), file()?);
    let copy = printed.try_clone().map_err(|error| Error::System(error.to_string()))?;
    let rows = RowSink {
        out: Box::new(text.clone()),
        are_read: true,
        printed: copy,
        log: None,
        logging_on: false,
        drawn: false,
    };
    let simulated = match simulation::simulate(prepared.clone(), rows, &EventSink::default()) {
        Ok(simulated) => simulated,
        Err(error) => return refused(error).map(|remarks| Err(with_words(remarks, &mut printed))),
    };
    Error::if_asked(&subject.wanted.stop)?;
    let Simulated { run, final_state: state, .. } = simulated;
    let remarks = with_words(of_run(&run), &mut printed);
    Ok(Ok(Lived { prepared, run, rows: text.take(), state, remarks }))
}

fn file() -> Result<File, Error> {
    tempfile::tempfile().map_err(|error| Error::System(format!("no temporary file: {error}")))
}

/// Converts an error into findings about the FMU; an unrelated error remains one.
fn refused(error: Error) -> Result<Vec<Remark>, Error> {
    match error {
        Error::Interrupted | Error::System(_) | Error::NoCache(_) => Err(error),
        Error::Refused(lines) => Ok(vec![Remark::finding(lines.join("\n"))]),
        Error::Archive(error) if !error.is_of_the_fmu() => Err(Error::Archive(error)),
        error => {
            let problems = error.problems();
            if problems.is_empty() {
                return Ok(vec![Remark::finding(error.to_string())]);
            }
            let remark = |problem: rig::Diagnostic| {
                let remark = Remark::finding(problem.message);
                match problem.place.line {
                    0 => remark,
                    line => remark.in_file(DESCRIPTION).at(line, problem.place.column),
                }
            };
            Ok(problems.into_iter().map(remark).collect())
        }
    }
}

/// Findings about the FMU from a run.
pub fn of_run(run: &Run) -> Vec<Remark> {
    run.problems.iter().filter_map(of_problem).collect()
}

fn of_problem(problem: &Problem) -> Option<Remark> {
    let is_of_the_fmu = problem.subject.fmu().is_some();
    match (&problem.kind, problem.severity) {
        // FMUs are allowed to do these.
        (Kind::Offence { offence, .. }, _) if ["asked_for_end", "log_flood"].contains(&&**offence) => None,
        // The limit may be that of this recording.
        (Kind::Offence { offence, .. }, _) if offence == "oversized_value" => Some(Remark::warning(problem.message())),
        (Kind::Warnings { count, .. }, _) => {
            let calls = if *count == 1 { "1 call".to_owned() } else { format!("{count} calls") };
            Some(Remark::warning(format!("{calls} returned a warning (vecud simulate shows what it logs)")))
        }
        (_, Severity::Warning) => is_of_the_fmu.then(|| Remark::warning(problem.message())),
        _ => Some(Remark::finding(problem.message())),
    }
}

/// Adds the last output of FMU code to the findings, if there are any.
fn with_words(mut remarks: Vec<Remark>, printed: &mut File) -> Vec<Remark> {
    let words = last_words(printed).unwrap_or_default();
    if let Some(first) = remarks.iter_mut().find(|remark| remark.weight == Weight::Finding)
        && !words.is_empty()
        && !first.message.contains(&words)
    {
        first.message += &format!("\nit printed:\n{words}");
    }
    remarks
}

fn last_words(printed: &mut File) -> std::io::Result<String> {
    let length = printed.metadata()?.len();
    let mut bytes = Vec::new();
    printed.seek(SeekFrom::Start(length.saturating_sub(LAST_WORDS)))?;
    printed.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// Describes the result of a life.
fn seen(prepared: &Prepared, run: &Run) -> String {
    let activations: u64 = run.clocks.iter().map(|clock| clock.activations).sum();
    let what = match run.has_steps() {
        true => format!("{activations} step{}", if activations == 1 { "" } else { "s" }),
        false => {
            let clocks = run.clocks.iter().filter(|clock| clock.activations > 0).count();
            format!("{activations} activations of {clocks} of {} clocks", run.clocks.len())
        }
    };
    let mut seen = format!("{} s to {} s, {what}, {} columns read", run.start_time, run.end_time, run.signals.len());
    if run.end == End::Signal {
        let timeout = prepared.options.at_most.unwrap_or_default().as_secs_f64();
        seen += &format!(", ended after {timeout} s (--timeout)");
    }
    seen
}

/// Saves and restores the state, and continues from a serialised state in another process.
fn with_state(subject: &ExaminedFmu, interface: Interface, life: &Lived, name: String) -> Result<Check, Error> {
    let plan = &life.prepared.plan.fmus[0];
    if !plan.can_get_and_set_state {
        return Ok(Check::not_tried(name, "it does not say that it can (canGetAndSetFMUState)"));
    }
    let lived = match live(subject, &beginning(subject, interface, false, true), |_| ())? {
        Ok(lived) => lived,
        Err(remarks) => return Ok(Check::done(name, "", remarks)),
    };
    // Earlier findings were reported before.
    let mut remarks: Vec<Remark> =
        lived.remarks.iter().filter(|remark| !life.remarks.contains(remark)).cloned().collect();
    let mut seen = "taken and given back".to_owned();
    if plan.can_serialize_state {
        seen += ", serialised";
    }
    if plan.can_serialize_state && lived.is_whole() {
        match go_on(subject, interface, life)? {
            GoneOn::Not => {}
            GoneOn::Wrong(wrong) => remarks.extend(wrong),
            GoneOn::Compared(times) => seen += &format!(", gone on with in another process: the same at {times} times"),
        }
    }
    Ok(Check::done(name, seen, remarks))
}

/// Result of continuing from a state.
enum GoneOn {
    /// Not comparable: the importer holds a part of the state (clocks, events), or there are too few rows.
    Not,
    Wrong(Vec<Remark>),
    /// Equal values at this number of times.
    Compared(u64),
}

/// Continues from the middle of a life, in another process, with the serialised state that the FMU has there.
fn go_on(subject: &ExaminedFmu, interface: Interface, life: &Lived) -> Result<GoneOn, Error> {
    let plan = &life.prepared.plan;
    let Some((step, steps)) = steps_of(life) else { return Ok(GoneOn::Not) };
    let middle = plan.start.after_many(step, steps / 2);
    match offer(subject, interface) {
        Some(InterfaceOffer::CoSimulation(own)) if !own.has_event_mode && steps >= 4 => {}
        _ => return Ok(GoneOn::Not),
    }
    let part = |start_time: Instant, stop_time: Instant| SimulationOptions {
        file: subject.wanted.file.clone(),
        interface: Some(interface),
        start_time: Some(start_time),
        stop_time: Some(stop_time),
        output_interval: Some(step),
        ..SimulationOptions::default()
    };
    let first = SimulationOptions { keeps_final_state: true, ..part(plan.start, middle) };
    let first = match live(subject, &first, |_| ())? {
        Ok(first) if first.run.end == End::Signal => return Ok(GoneOn::Not),
        Ok(first) if first.is_whole() && !first.state.is_empty() => first,
        Ok(first) => return Ok(GoneOn::Wrong(first.remarks)),
        Err(remarks) => return Ok(GoneOn::Wrong(remarks)),
    };
    let state = first.state;
    let second = part(middle, plan.start.after_many(step, steps));
    let second = match live(subject, &second, |prepared| prepared.plan.fmus[0].initial_state = Some(state))? {
        Ok(second) if second.run.end == End::Signal => return Ok(GoneOn::Not),
        Ok(second) if second.is_whole() => second,
        Ok(second) => return Ok(GoneOn::Wrong(second.remarks)),
        Err(remarks) => return Ok(GoneOn::Wrong(remarks)),
    };
    let (deviations, times) =
        compared(&second.rows, &life.rows, "a life that was not interrupted", &Tolerances::of_a_reference(None), None)?;
    let wrong = |what: String| {
        let serialize = Function::SerializeFMUState.name_in(plan.fmus[0].abi);
        let time = middle.seconds();
        Remark::finding(format!("after it has gone on with its serialised state of {time} s ({serialize}), {what}"))
    };
    Ok(match deviations.is_empty() {
        true => GoneOn::Compared(times),
        false => GoneOn::Wrong(deviations.into_iter().map(wrong).collect()),
    })
}

fn offer<'a>(subject: &'a ExaminedFmu, interface: Interface) -> Option<&'a InterfaceOffer> {
    subject.description.interfaces.iter().find(|offer| offer.interface() == interface)
}

/// Size and number of the steps of a life; `None`: it had no steps, or was ended early.
fn steps_of(life: &Lived) -> Option<(Fraction, u64)> {
    let [unit] = life.prepared.plan.units.as_slice() else { return None };
    let Release::Periodic { interval, .. } = unit.release else { return None };
    let is_over = life.run.has_steps() && life.run.end == End::StopTime;
    let length = life.run.end_time - life.run.start_time;
    is_over.then(|| (interval, (length / interval.seconds()).round().max(0.0) as u64))
}

/// Runs two instances together in one process, and then two new ones.
fn twice(subject: &ExaminedFmu, interface: Interface, life: &Lived, name: String) -> Result<Check, Error> {
    if offer(subject, interface).is_some_and(|offer| offer.common().can_be_instantiated_only_once_per_process) {
        return Ok(Check::not_tried(name, "it can be instantiated only once per process, as it says"));
    }
    let prepared = match prepare(subject, &beginning(subject, interface, true, false))? {
        Ok(prepared) => prepared,
        Err(remarks) => return Ok(Check::done(name, "", remarks)),
    };
    // Each round needs its own text: clones would share their rows.
    let texts: Vec<CsvText> = (0..ROUNDS).map(|_| CsvText::default()).collect();
    let mut printed = file()?;
    let copy = printed.try_clone().map_err(|error| Error::System(error.to_string()))?;
    let names: Vec<String> = prepared.plan.fmus.iter().map(|fmu| fmu.name.clone()).collect();
    let rounds = match simulation::rounds(prepared, texts.clone(), copy, &EventSink::default()) {
        Ok(rounds) => rounds,
        Err(error) => return refused(error).map(|remarks| Check::done(name, "", with_words(remarks, &mut printed))),
    };
    Error::if_asked(&subject.wanted.stop)?;
    let mut remarks = Vec::new();
    for (number, round) in rounds.iter().enumerate() {
        let again = if number == 0 { "" } else { ", when new instances are made" };
        let own = with_words(of_run(&round.run), &mut printed).into_iter();
        let is_new = |remark: &Remark| !life.remarks.contains(&of_first(remark, &names));
        let told = own.filter(is_new).map(|remark| Remark { message: format!("{}{again}", remark.message), ..remark });
        remarks.extend(told);
    }
    let is_whole = rounds.len() == ROUNDS && rounds.iter().all(|round| round.run.end != End::Failure);
    if is_whole {
        for (text, round) in texts.iter().zip(&rounds) {
            let tolerances = Tolerances::of_a_reference(None);
            if let Some(what) = apart(life, &text.take(), &names, round.run.end_time, &tolerances)? {
                remarks.push(of_deviation(subject, interface, life, &what)?);
                break;
            }
        }
    }
    Ok(Check::done(name, format!("{ROUNDS} times 2 in one process"), remarks))
}

/// Runs instances on other threads than the one that instantiates them: one instance, then two at once, unless two
/// already `differ` without that. Values that deviate from those of one alone by a bit are a hint, and no offence: FMI
/// 3.0 (2.2.1) promises parallel calls only across processes.
fn on_threads(
    subject: &ExaminedFmu,
    interface: Interface,
    life: &Lived,
    differ: bool,
    name: String,
) -> Result<Check, Error> {
    let only_once = offer(subject, interface).is_some_and(|o| o.common().can_be_instantiated_only_once_per_process);
    let (mut remarks, mut seen) = (Vec::new(), "one instance on another thread".to_owned());
    let one = "called from another thread than the one that has instantiated it, it gives other values: in real time it always is";
    let two = "two instances at once give other values: leave parallel = false";
    for (twin, meaning) in [(false, one), (true, two)] {
        let why_not = match twin {
            true if only_once => Some("it can be instantiated only once per process, as it says"),
            true if differ => Some("two instances differ already"),
            true if !remarks.is_empty() => Some("one differs already"),
            _ => None,
        };
        if let Some(why) = why_not {
            seen += &format!("; not two at once: {why}");
            continue;
        }
        if let Some(what) = unlike(subject, interface, life, twin)? {
            let again = match computes_the_same_twice(subject, interface, life, &EXACT)? {
                true => "",
                false => "; an instance alone does not compute the same twice either",
            };
            remarks.push(Remark::hint(format!("{meaning} ({what}{again})")));
        }
        if twin {
            seen += ", two at once";
        }
    }
    Ok(Check::done(name, seen, remarks))
}

/// The first difference between instances on threads and one alone; `twin`: two at once.
fn unlike(subject: &ExaminedFmu, interface: Interface, life: &Lived, twin: bool) -> Result<Option<String>, Error> {
    let wanted = beginning(subject, interface, twin, false);
    let lived = match live(subject, &wanted, |prepared| prepared.options.side_by_side = true)? {
        Ok(lived) => lived,
        Err(remarks) => return Ok(remarks.into_iter().next().map(|remark| remark.message)),
    };
    let names: Vec<String> = lived.prepared.plan.fmus.iter().map(|fmu| fmu.name.clone()).collect();
    let is_new = |remark: &&Remark| match names.as_slice() {
        [_, _] => !life.remarks.contains(&of_first(remark, &names)),
        _ => !life.remarks.contains(remark),
    };
    if let Some(remark) = lived.remarks.iter().find(is_new) {
        return Ok(Some(remark.message.clone()));
    }
    apart(life, &lived.rows, &names, lived.run.end_time, &EXACT)
}

/// Whether a single instance computes the same values in each life.
fn computes_the_same_twice(
    subject: &ExaminedFmu,
    interface: Interface,
    life: &Lived,
    tolerances: &Tolerances,
) -> Result<bool, Error> {
    match live(subject, &beginning(subject, interface, false, false), |_| ())? {
        Ok(again) => Ok(compared(&again.rows, &life.rows, "", tolerances, None)?.0.is_empty()),
        Err(_) => Ok(false),
    }
}

/// Finding about a deviation between two instances that run together and one alone.
fn of_deviation(subject: &ExaminedFmu, interface: Interface, life: &Lived, what: &str) -> Result<Remark, Error> {
    let differs = !computes_the_same_twice(subject, interface, life, &Tolerances::of_a_reference(None))?;
    Ok(match differs {
        true => Remark::warning(format!("{what}; an instance alone does not compute the same twice either")),
        false => Remark::finding(format!(
            "{what}; alone it computes the same each time, so that instances share something, such as static variables: where \
             that cannot be mended, say canBeInstantiatedOnlyOncePerProcess"
        )),
    })
}

/// Renames the second instance in a remark to the first, so that known remarks about one instance are recognised.
fn of_first(remark: &Remark, names: &[String]) -> Remark {
    let [first, second] = [&names[0], &names[1]].map(|name| format!("`{name}`"));
    Remark { message: remark.message.replace(&second, &first), ..remark.clone() }
}

/// The first deviation of instances that run together from one alone, before the time `end` at which they ended. With
/// two instances, column names begin with theirs.
fn apart(
    life: &Lived,
    rows: &[u8],
    names: &[String],
    end: f64,
    tolerances: &Tolerances,
) -> Result<Option<String>, Error> {
    let header = life.rows.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    // If one has asked for the end, others have not made that step.
    let is_early = life.run.end != End::StopTime || life.prepared.plan.stop.is_none_or(|stop| end < stop.seconds());
    for name in names {
        let columns = life.prepared.plan.signals.iter().map(|signal| match names.len() {
            1 => signal.name.clone(),
            _ => format!("{name}.{}", signal.name),
        });
        let columns: Vec<String> = std::iter::once("time".to_owned()).chain(columns).collect();
        let mut alone = csv::header(columns.iter().map(String::as_str)).into_bytes();
        alone.extend_from_slice(&life.rows[header..]);
        let until = is_early.then_some(end);
        let (deviations, _) = compared(rows, &alone, "an instance alone", tolerances, until)?;
        if let Some(what) = deviations.into_iter().next() {
            return Ok(Some(what));
        }
    }
    Ok(None)
}

/// The first deviation of some rows before a time, and the number of compared times.
pub fn compared(
    own: &[u8],
    reference: &[u8],
    name: &str,
    tolerances: &Tolerances,
    until: Option<f64>,
) -> Result<(Vec<String>, u64), Error> {
    let broken = |error: RecordingError| Error::System(format!("rows cannot be compared: {}", error.message));
    let mut own = ComparedTable::of_tool(own).map_err(broken)?;
    let mut reference = ComparedTable::of_tool(reference).map_err(broken)?;
    let mut compared = compare::signals(
        &mut own,
        &mut reference,
        &ComparedTimes { until, ..ComparedTimes::OF_A_REFERENCE },
        tolerances,
    )
    .map_err(|(_, error)| broken(error))?;
    let time =
        |signal: &compare::SignalComparison| signal.first_beyond.as_ref().map_or(f64::INFINITY, |point| point.time);
    compared.different.sort_by(|a, b| time(a).total_cmp(&time(b)));
    let deviations = compared.different.iter().filter_map(|signal| signal.deviation_from(name)).collect();
    Ok((deviations, compared.span.moments))
}
