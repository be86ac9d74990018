//! The table of contents, with links: an entry for each FMU with its outcome.

use super::names::breakable;
use super::page::anchor;
use crate::format::{duration, plural};
use crate::steps::tasks;
use crate::{FmuStatus, Run};
use vecud_plan::Mode;

/// The table of contents.
pub fn contents(run: &Run) -> String {
    let mut out = String::from("<nav class=\"contents\" aria-label=\"Contents\">\n<ul class=\"parts\">\n");
    let trace = !run.trace.pictures.is_empty() || !run.trace.files.is_empty() || run.trace.kernel.is_some();
    let parts = [
        ("overview", "Overview", true),
        ("machine", "Machine", true),
        ("signals", "Signals", run.overview.as_ref().is_some_and(|overview| overview.times().is_some())),
        ("trace", "Who ran when", trace),
        ("details", "Details", true),
        ("words", "What the words mean", true),
    ];
    for (id, title, _) in parts.iter().filter(|(.., there)| *there) {
        out += &format!("<li><a href=\"#{id}\">{title}</a></li>\n");
    }
    out += "</ul>\n";
    if !run.fmus.is_empty() {
        out += "<ol class=\"fmus\">\n";
        for (index, fmu) in run.fmus.iter().enumerate() {
            let clocks = || run.clocks.iter().filter(|clock| clock.fmu == fmu.name);
            let overruns: u64 = clocks().map(|clock| clock.overruns).sum();
            let findings: u64 = fmu.findings.iter().map(|finding| finding.count).sum();
            let mut facts = vec![tasks(clocks())];
            if run.mode == Mode::RealTime {
                let worst = clocks().map(|clock| clock.start_latency.max()).max().unwrap_or(0);
                facts.push(format!("started at most {} late", duration(worst)));
            }
            for (number, what) in [(overruns, "overrun"), (findings, "finding")].into_iter().filter(|(n, _)| *n > 0) {
                facts.push(format!("<b>{}</b>", plural(number, what)));
            }
            let bad = !matches!(fmu.status, FmuStatus::Terminated | FmuStatus::Aborted | FmuStatus::Running);
            let (class, mark) = match (bad, overruns + findings > 0) {
                (true, _) => ("fail", "✕"),
                (false, true) => ("warn", "!"),
                (false, false) => ("pass", "✓"),
            };
            out += &format!(
                "<li class=\"{class}\"><i aria-hidden=\"true\">{mark}</i><a href=\"#{}\">{}</a><small>{}</small></li>\n",
                anchor(index),
                breakable(&fmu.name),
                facts.join(" · ")
            );
        }
        out += "</ol>\n";
    }
    out + "</nav>\n"
}
