//! What lies beside the page.

use crate::plan::Mode;
use crate::report::Run;

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
        ("signals.csv or signals.mcap", "what the rig records", !run.signals.is_empty()),
        ("trace.json", "who ran when, for ui.perfetto.dev", !run.trace.files.is_empty()),
        ("run.log", "what FMU code printed and logged", true),
    ];
    let rows = all.iter().filter(|(.., there)| *there);
    let rows: String = rows
        .map(|(name, what, _)| format!("<tr><th scope=\"row\">{}</th><td>{what}</td></tr>\n", super::file(name)))
        .collect();
    format!(
        "<h3>Files</h3>\n<p>Beside this page, as far as the rig asks for them.</p>\n<div class=\"scroll\"><table>\n\
         <thead><tr><th>File</th><th>What it is</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}
