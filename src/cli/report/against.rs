//! `vecud report A --against B`.

use super::arguments::Arguments;
use super::page::{OUT, check_place, show, write};
use super::side::{ComparisonInput, Recording, Signals};
use crate::cli::browser;
use crate::cli::results::screen;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use vecud_host::Error;
use vecud_record::recording::{RecordingError, series};
use vecud_report::compare::{self, ComparedCurve, ComparedTimes, Comparison, Side, SignalsComparison, Tolerances};

/// Signals that are drawn.
const DRAWN: usize = 6;
/// Two times that are nearer than this are the same: floating point, and tools that print 10 digits.
const SAME_TIME: f64 = 1e-9;

pub fn run(arguments: &Arguments, reference: &Path) -> Result<ExitCode, Error> {
    let inputs = [ComparisonInput::of(&arguments.run)?, ComparisonInput::of(reference)?];
    let out = arguments.out.clone().unwrap_or_else(|| inputs[0].folder.join("comparison.html"));
    check_place(&out, OUT)?;
    let tolerances = Tolerances {
        absolute: arguments.abs.unwrap_or(0.0),
        relative: arguments.rel.unwrap_or(0.0),
        named: arguments.tolerance.clone(),
    };
    let ends = [0, 1].map(|side| inputs[side].report.as_ref().map(vecud_report::ReportFile::end_time));
    let course = ComparedTimes {
        same_time: arguments.time_tolerance.unwrap_or(SAME_TIME),
        common_only: arguments.common_times,
        until: arguments.until,
        ends,
    };
    let mut notes = Vec::new();
    let (signals, curves) = match [&inputs[0].signals, &inputs[1].signals] {
        [Some(a), Some(b)] => {
            let (signals, curves) = signals([a, b], &course, &tolerances)?;
            (Some(signals), curves)
        }
        files => {
            let without = inputs.iter().zip(files).filter(|(_, file)| file.is_none());
            notes.extend(without.map(|(input, _)| {
                let name = &input.name;
                format!(
                    "signals were not compared: {name} has no recording ({}); [record] in its rig makes one",
                    series::ANY
                )
            }));
            if !tolerances.named.is_empty() || arguments.abs.is_some() || arguments.rel.is_some() {
                return Err(Error::Report(arguments.run.clone(), None, format!("tolerances of signals: {}", notes[0])));
            }
            (None, vec![])
        }
    };
    let clocks = match [&inputs[0].report, &inputs[1].report] {
        [Some(a), Some(b)] => Some(compare::clocks(a, b)),
        _ => None,
    };
    let nothing = signals.as_ref().is_none_or(|signals| signals.number() == 0)
        && clocks.as_ref().is_none_or(|clocks| clocks.common.is_empty());
    if nothing {
        return Err(nothing_in_common(&inputs, signals.as_ref()));
    }
    if arguments.ratio.is_some() && !clocks.as_ref().is_some_and(compare::ClocksComparison::can_be_judged) {
        let what =
            "--ratio: there are no latencies to judge; both sides have to be runs in real time with a report.json";
        return Err(Error::Report(arguments.run.clone(), None, what.to_owned()));
    }
    let [a, b] = inputs;
    let comparison = Comparison {
        names: [a.name, b.name],
        reports: [a.report, b.report],
        signals,
        clocks,
        curves,
        ratio: arguments.ratio,
        common_only: arguments.common_times,
        notes,
    };
    if comparison.never_met() {
        return Err(never_met(&comparison, arguments));
    }
    write(&out, OUT, &vecud_report::comparison_html(&comparison))?;
    show(&compare::comparison_summary(&comparison, &out.display().to_string(), screen()), &out)?;
    if arguments.open {
        browser::show(&out);
    }
    Ok(ExitCode::from(if comparison.excesses().is_empty() { 0 } else { 3 }))
}

/// Compares two recordings, and looks at the worst signals again.
fn signals(
    files: [&Signals; 2],
    course: &ComparedTimes,
    tolerances: &Tolerances,
) -> Result<(SignalsComparison, Vec<ComparedCurve>), Error> {
    let in_file = |(side, error): (Side, RecordingError)| files[usize::from(side == Side::B)].broken(error);
    let both = || -> Result<[Recording; 2], Error> { Ok([files[0].open()?, files[1].open()?]) };
    let [mut a, mut b] = both()?;
    let in_b: HashSet<&String> = b.columns().iter().collect();
    let names: Vec<&str> = a.columns().iter().filter(|name| in_b.contains(name)).map(String::as_str).collect();
    if let Some(pattern) = tolerances.idle(&names).filter(|_| !names.is_empty()) {
        let what = format!(
            "--tolerance '{pattern}=…' names no signal that both recordings have; these have {}",
            names.iter().take(5).copied().collect::<Vec<_>>().join(", ")
        );
        return Err(Error::Report(files[0].path().to_owned(), None, what));
    }
    let signals = compare::signals(&mut a, &mut b, course, tolerances).map_err(in_file)?;
    // What is no file (a pipe) cannot be read twice.
    let again = files.iter().all(|recording| recording.is_of_files());
    if signals.different.is_empty() || !again {
        return Ok((signals, vec![]));
    }
    let [mut a, mut b] = both()?;
    let curves = compare::curves(&mut a, &mut b, course, &signals, DRAWN).map_err(in_file)?;
    Ok((signals, curves))
}

fn never_met(comparison: &Comparison, arguments: &Arguments) -> Error {
    let [a, b] = &comparison.names;
    let rows = |side: usize| match comparison.signals.as_ref().and_then(|signals| signals.span.rows[side]) {
        None => "no rows".to_owned(),
        Some((from, _)) if arguments.until.is_some() => format!("rows from {from} s on"),
        Some((from, to)) => format!("rows from {from} s to {to} s"),
    };
    let at = if arguments.common_times { "both have a row (--common-times)" } else { "both have values" };
    let until = arguments.until.map(|until| format!(" before --until {until}")).unwrap_or_default();
    let (own, other) = (rows(0), rows(1));
    let what = format!(
        "there is nothing to compare with {b}: here are {own}, there {other}, and there is no time{until} at which {at}"
    );
    Error::Report(PathBuf::from(a), None, what)
}

fn nothing_in_common(inputs: &[ComparisonInput; 2], signals: Option<&SignalsComparison>) -> Error {
    let (a, b) = (&inputs[0].name, &inputs[1].name);
    let what = match signals {
        None => format!("there is nothing to compare with {b}: they have neither signals nor clocks in common"),
        Some(signals) => {
            let few = |names: &[String]| match names {
                [] => "none".to_owned(),
                names => names.iter().take(4).cloned().collect::<Vec<_>>().join(", "),
            };
            format!(
                "there is nothing to compare with {b}: no column has the same name in both; columns are named fmu.variable, \
                 here {}, there {}",
                few(&signals.only[0]),
                few(&signals.only[1])
            )
        }
    };
    Error::Report(PathBuf::from(a), None, what)
}
