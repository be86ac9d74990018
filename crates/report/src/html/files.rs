//! The files beside the page.

use super::table::{Table, html};
use crate::Run;
use vecud_plan::Mode;
use vecud_record::recording::series::Files;

/// A table of the files of the output directory.
pub fn files(run: &Run) -> String {
    let all = [
        ("report.json", "all numbers of this page, for scripts; times in ns", true),
        ("junit.xml", "what was checked, for CI servers", true),
        ("cyclictest.json", "wake-up latencies as cyclictest --json writes them", run.mode == Mode::RealTime),
        ("histograms.hlog", "the histograms, for HdrHistogram’s tools; with report.json enough for vecud report", true),
        (
            "<fmu>.<clock>.<metric>.hgrm",
            "percentiles as text, in µs, for HdrHistogram’s plotter",
            run.mode == Mode::RealTime,
        ),
        ("trace.json", "who ran when, for ui.perfetto.dev", !run.trace.files.is_empty()),
        (
            "kernel-trace.txt",
            "what the kernel traced on the cores of partitions; its times are CLOCK_MONOTONIC",
            run.trace.kernel.as_ref().is_some_and(|kernel| kernel.file.is_some()),
        ),
        ("run.log", "what FMU code printed and logged", true),
        ("run-earlier.log", "what run.log was before it was begun anew", run.log_rotations > 0),
    ];
    let row = |name: String, what: &str| [html(name), html(what.to_owned())];
    let there = all.iter().filter(|(.., there)| *there).map(|(name, what, _)| row(super::page::file(name), what));
    let rows = there.chain(run.recordings.iter().map(|files| row(names(files), &recorded(files))));
    let table = Table::new("File|What it is").rows(rows);
    format!("<h3>Files</h3>\n<p>Beside this page, as far as the rig asks for them.</p>\n{table}")
}

fn names(files: &Files) -> String {
    let (first, last) = (super::page::file(&files.first), super::page::file(&files.last));
    if first == last { first } else { format!("{first} to {last}") }
}

fn recorded(files: &Files) -> String {
    let removed = match files.removed {
        0 => String::new(),
        1 => "; the one before was removed, as the rig says (<code>keep</code>)".to_owned(),
        n => format!("; the {n} before were removed, as the rig says (<code>keep</code>)"),
    };
    format!("what the rig records{removed}")
}
