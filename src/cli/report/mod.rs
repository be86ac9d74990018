//! `vecud report`: the report of a run anew from its recording, a run beside another one, or many runs in one page.

mod against;
pub(super) mod drawn;
mod side;
mod trends;

use super::{browser, results};
pub(super) use side::{ComparisonInput, RunFolder};
use std::io::{IsTerminal, Read, Write, stdout};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use vecud_host::Error;
use vecud_linux::files;
use vecud_linux::process::terminal_size;
use vecud_record::recording::envelope::Overview;
use vecud_record::recording::series::Files;
use vecud_report::{ReportFile, Run, Screen};

#[derive(clap::Args)]
#[command(after_long_help = COMPARED)]
pub struct Arguments {
    /// The run: its output folder, its report.json, or (with --against) its signals.mcap, signals.arrows or any CSV file
    #[arg(value_name = "DIR")]
    run: PathBuf,
    /// Further runs: figures of the clocks are drawn over all of them, in this order
    #[arg(value_name = "MORE", conflicts_with = "against")]
    others: Vec<PathBuf>,
    /// The reference: the output folder of another run, its report.json, its signals.mcap or signals.arrows, or any CSV file
    #[arg(long, value_name = "B")]
    against: Option<PathBuf>,
    /// Largest absolute deviation of signals, in their unit; default: none
    #[arg(long, value_name = "TOL", value_parser = tolerance, allow_hyphen_values = true, requires = "against")]
    abs: Option<f64>,
    /// Largest deviation of signals relative to the larger value (0.01 is 1 %); within --abs or --rel is enough
    #[arg(long, value_name = "TOL", value_parser = tolerance, allow_hyphen_values = true, requires = "against")]
    rel: Option<f64>,
    /// A tolerance for some signals, instead of --abs and --rel: 'plant.*=1e-6', '*.speed=0.1%', '*=1e-6,0.1%',
    /// 'ecu.x=inf'; may be given several times, the last one that names a signal counts
    #[arg(long, value_name = "PATTERN=TOL", requires = "against")]
    tolerance: Vec<vecud_report::compare::NamedTolerance>,
    /// How many times as long latencies and responses may be, in p50 and p99; default: they are not judged
    #[arg(long, value_name = "R", value_parser = ratio, allow_hyphen_values = true, requires = "against")]
    ratio: Option<f64>,
    /// Compares signals only where both recordings have a row (one was thinned out)
    #[arg(long, requires = "against")]
    common_times: bool,
    /// Times that differ by no more than this are the same (of a tool that rounds them); default: 1e-9
    #[arg(long, value_name = "S", value_parser = tolerance, allow_hyphen_values = true, requires = "against")]
    time_tolerance: Option<f64>,
    /// Compares signals only before this time
    #[arg(long, value_name = "S", value_parser = finite, allow_hyphen_values = true, requires = "against")]
    until: Option<f64>,
    /// Where the page goes; default: report.html or comparison.html in DIR, of several runs trends.html
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Of several runs: prints the figures as JSON, and makes a page only with --out
    #[arg(long, requires = "others")]
    json: bool,
    /// Shows the page in the browser
    #[arg(long)]
    open: bool,
}

const COMPARED: &str = "\
Without --against, DIR/report.html is written anew from report.json and histograms.hlog, junit.xml and cyclictest.json beside
it (not with --out), and the table is shown; the exit code is 0, whatever became of the run. Of a run that goes on, or was cut
off, all files of the report are made from checkpoint.json. With it, two runs are shown side by side, here and in comparison.html; the exit code
is 3 when something differs by more than is allowed. Of several runs p50, p99, p99.9 and the maximum of each clock are drawn from run to
run; the exit code is 0, whatever became of them.

Signals are compared at every time at which one of the recordings has a row; the other one has the value of its last row.
NaN equals NaN. Integers (enumerations and booleans, too) are compared exactly unless --tolerance names them. A CSV file of
another tool has the time in seconds in its first column, and columns named fmu.variable. Signals and clocks that only one
side has are listed and not judged; a recording that ends before the reference does is beyond every tolerance.";

pub(super) fn finite(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| "must be a finite number".to_owned())
}

fn tolerance(text: &str) -> Result<f64, String> {
    finite(text).ok().filter(|number| *number >= 0.0).ok_or_else(|| "must be a finite number, 0 or more".to_owned())
}

fn ratio(text: &str) -> Result<f64, String> {
    finite(text)
        .ok()
        .filter(|number| *number > 0.0)
        .ok_or_else(|| "must be a finite number above 0, like 1.5".to_owned())
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Error> {
    match &arguments.against {
        Some(reference) => against::run(&arguments, reference),
        None if !arguments.others.is_empty() => trends::run(&arguments),
        None => rebuild(&arguments),
    }
}

/// Whatever became of the run: that its report was rebuilt is a success.
fn rebuild(arguments: &Arguments) -> Result<ExitCode, Error> {
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
        super::say(&format!("note: recorded signals are {what}: {error}"));
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

/// The option that gives the place of a page.
pub(super) const OUT: &str = "--out";

/// Whether the page may have this place, which the `option` gives: it replaces another page, and nothing else that lies there.
pub(super) fn check_place(page: &Path, option: &str) -> Result<(), Error> {
    /// Of pages, and of drawings.
    const BEGINS: [&[u8]; 2] = [b"<!doctype html>", b"<svg xmlns="];
    let wrong = |what: &str| {
        Err(Error::Report(page.to_owned(), None, format!("{what}; choose another place with {option} FILE")))
    };
    match std::fs::metadata(page) {
        Ok(metadata) if metadata.is_dir() => wrong("the page cannot be written: this is a folder"),
        Ok(metadata) if metadata.is_file() && metadata.len() > 0 => {
            let mut begin = Vec::new();
            let read = files::open(page).and_then(|file| file.take(BEGINS[0].len() as u64).read_to_end(&mut begin));
            match read.is_ok() && BEGINS.iter().any(|own| begin.starts_with(own)) {
                true => Ok(()),
                false => wrong("the page would take the place of a file that is no page"),
            }
        }
        _ => Ok(()),
    }
}

/// Writes the page to its place, which the `option` gives.
pub(super) fn write(page: &Path, option: &str, text: &str) -> Result<(), Error> {
    // A device or a pipe is written to, and not replaced.
    let written = match std::fs::metadata(page) {
        Ok(metadata) if !metadata.is_file() => {
            files::open_device(page).and_then(|mut file| file.write_all(text.as_bytes()))
        }
        _ => vecud_host::write_whole(page, text.as_bytes()),
    };
    written.map_err(|error| {
        Error::Report(
            page.to_owned(),
            None,
            format!("the page cannot be written: {error}; choose another place with {option} FILE"),
        )
    })
}

/// Where results are shown.
pub(super) fn screen() -> Screen {
    let columns = terminal_size(stdout().as_fd()).map_or(120, |(columns, _)| columns);
    let color = stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    Screen { columns, lines: usize::MAX, color }
}

/// The summary; the page has it, too.
fn show(text: &str, page: &Path) -> Result<(), Error> {
    results::print(text, Some(&format!("send it to another place; {} has it, too", page.display())))
}
