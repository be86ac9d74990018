//! `vecud report A`.

use super::arguments::Arguments;
use super::drawn;
use super::page::{OUT, check_place, show, write};
use super::side::RunFolder;
use crate::cli::browser;
use crate::cli::diagnostics::say;
use crate::cli::results::screen;
use std::path::Path;
use std::process::ExitCode;
use vecud_host::Error;
use vecud_linux::files;
use vecud_record::recording::envelope::Overview;
use vecud_record::recording::series::Files;
use vecud_report::{ReportFile, Run};

/// Whatever became of the run: that its report was rebuilt is a success.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let folder = RunFolder::of(&arguments.run)?;
    let page = arguments.out.clone().unwrap_or_else(|| folder.path.join("report.html"));
    check_place(&page, OUT)?;
    let report = folder.report()?;
    let overview = overview(&folder, &report);
    let run = match report.of_checkpoint() {
        Some(run) => {
            let run = run.map_err(|error| Error::Report(folder.report_path().to_owned(), None, error.message))?;
            let mut run = Run { overview, ..run };
            if report.is_cut_off() {
                run.recordings = in_folder(&run.recordings, &folder)?;
            }
            if arguments.out.is_none() {
                let failures = vecud_host::write_unfinished(&folder.path, &run);
                if !failures.is_empty() {
                    return Err(Error::Report(folder.path.clone(), None, failures.join("; ")));
                }
            } else {
                write(&page, OUT, &vecud_report::html(&run))?;
            }
            run
        }
        None => {
            let run = Run { overview, ..with_histograms(&folder, &report)? };
            write(&page, OUT, &vecud_report::html(&run))?;
            if arguments.out.is_none() {
                write_for_programs(&folder.path, &run)?;
            }
            run
        }
    };
    show(&vecud_report::summary(&run, &page.display().to_string(), screen(), &[]), &page)?;
    if arguments.open {
        browser::show(&page);
    }
    Ok(ExitCode::SUCCESS)
}

/// The remaining files of recordings, each in its format, of a run whose end is unknown: after its last checkpoint it
/// may have removed old files.
fn in_folder(recordings: &[Files], folder: &RunFolder) -> Result<Vec<Files>, Error> {
    let names = folder.names()?;
    Ok(recordings.iter().filter_map(|known| known.among(names.iter().map(String::as_str))).collect())
}

/// What the page draws of the recording. One that cannot be read costs its figures, and not the page.
fn overview(folder: &RunFolder, report: &ReportFile) -> Option<Overview> {
    let (overview, failed) = match folder.signals() {
        Ok(Some(signals)) => drawn::of_report(&signals, &report.recorded_clocks()),
        Ok(None) => (None, None),
        Err(error) => (None, Some(error)),
    };
    if let Some(error) = failed {
        let what = if overview.is_some() { "not drawn to their end" } else { "not drawn" };
        say(&format!("note: recorded signals are {what}: {error}"));
    }
    overview
}

/// The run of a `report.json`, with what is beside it.
fn with_histograms(folder: &RunFolder, report: &ReportFile) -> Result<Run, Error> {
    let log = folder.path.join("histograms.hlog");
    let text = match files::read_to_string(&log) {
        Ok(text) => text,
        Err(_) if !report.has_histograms() => String::new(),
        Err(error) => {
            let what = format!(
                "{error}; the figures of report.html are drawn from this file: put it back beside report.json, or run the \
                 rig again (report.json alone is enough for --against)"
            );
            return Err(Error::Report(log, None, what));
        }
    };
    report.rebuild(&text).map_err(|error| {
        let file = if error.in_log { log } else { folder.report_path().to_owned() };
        Error::Report(file, None, error.message)
    })
}

/// The files beside the page that follow from the report.
fn write_for_programs(folder: &Path, run: &Run) -> Result<(), Error> {
    let others = [("junit.xml", Some(vecud_report::junit(run))), ("cyclictest.json", vecud_report::cyclictest(run))];
    for (name, text) in others {
        if let Some(text) = text {
            let path = folder.join(name);
            let why = |error| Error::Report(path.clone(), None, format!("the file cannot be written: {error}"));
            vecud_host::write_whole(&path, text.as_bytes()).map_err(why)?;
        }
    }
    Ok(())
}
