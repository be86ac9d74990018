//! The run as a page, section by section.

use super::page::page;
use super::{connections, contents, files, fmus, gantt, glossary, head, hints, overview, signals, stimuli};
use crate::Run;

/// The run as a page.
pub fn html(run: &Run) -> String {
    let mut body = String::with_capacity(64 * 1024);
    body += &head::head(run);
    body += &hints::list(run);
    body += &contents::contents(run);
    body += &overview::overview(run);
    body += &signals::section(run);
    body += &gantt::section(run);
    body += &fmus::fmus(run);
    body += "<section id=\"details\">\n<h2>Details</h2>\n";
    body += &connections::connections(run);
    body += &stimuli::stimuli(run);
    body += &files::files(run);
    body += "</section>\n";
    body += &glossary::glossary(run);
    page(&format!("{} – vecud report", run.rig), &body, &run.version)
}
