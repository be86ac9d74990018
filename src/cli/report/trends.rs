//! `vecud report A B C ...`: many runs in one page, or as JSON.

use super::arguments::Arguments;
use super::page::{OUT, check_place, show, write};
use super::side::RunFolder;
use crate::cli::diagnostics::say;
use crate::cli::{browser, results};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use vecud_host::Error;
use vecud_report::format::plural;
use vecud_report::{ReportFile, Trends, trends, trends_html, trends_json};

/// Where the page goes by itself: the runs have no folder in common.
const PAGE: &str = "trends.html";

/// Whatever became of the runs: that they were put beside each other is a success.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let page = match &arguments.out {
        None if arguments.json => None,
        out => Some(out.clone().unwrap_or_else(|| PathBuf::from(PAGE))),
    };
    if let Some(page) = &page {
        check_place(page, OUT)?;
    }
    let trends = trends(&reports(arguments)?);
    if let Some(page) = &page {
        write(page, OUT, &trends_html(&trends))?;
    }
    match (arguments.json, &page) {
        (false, Some(page)) => show(&summary(&trends, page), page)?,
        _ => results::print(&trends_json(&trends), None)?,
    }
    if let Some(page) = page.filter(|_| arguments.open) {
        browser::show(&page);
    }
    Ok(ExitCode::SUCCESS)
}

/// The runs, each with its name. Each that cannot be read is told of.
fn reports(arguments: &Arguments) -> Result<Vec<(String, ReportFile)>, Error> {
    let paths = std::iter::once(&arguments.run).chain(&arguments.others);
    let read = |path: &PathBuf| Ok((path.display().to_string(), RunFolder::of(path)?.report()?));
    let (read, unreadable): (Vec<_>, Vec<_>) = paths.map(read).partition(Result::is_ok);
    let mut errors = unreadable.into_iter().filter_map(Result::err);
    match errors.next_back() {
        None => Ok(read.into_iter().flatten().collect()),
        Some(last) => {
            errors.for_each(|error: Error| say(&error.to_string()));
            Err(last)
        }
    }
}

fn summary(trends: &Trends, page: &Path) -> String {
    let failed: Vec<&str> = trends.runs.iter().filter(|run| !run.passed()).map(|run| run.name.as_str()).collect();
    let runs = plural(trends.runs.len() as u64, "run");
    let verdicts = match failed.as_slice() {
        [] => "all passed".to_owned(),
        failed => format!("{} failed: {}", failed.len(), failed.join(", ")),
    };
    let clocks = plural(trends.clocks.len() as u64, "clock");
    let text = format!("{runs}, {clocks}; {verdicts}");
    format!("{}\ntrends: {}\n", vecud_base::plain::plain(&text), page.display())
}
