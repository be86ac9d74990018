//! `report.html`: one self-contained page. Problems first, then the run as a whole and the machine, then a page for each
//! FMU, then details; each figure says what it shows and how to read it.
//!
//! Bounded: of a rig with a thousand clocks figures have the worst lines and say so, so the page stays small enough to be
//! opened and is written within a second or so.
//!
//! No script and nothing from elsewhere: a policy in the page forbids both. Everything that came from an FMU, a rig or
//! the machine is escaped.

mod calls;
mod clocks;
mod comparison;
mod connections;
mod contents;
mod cores;
mod course;
mod deviations;
mod figure;
mod files;
mod fmus;
mod gantt;
mod glossary;
mod head;
mod hints;
mod histogram;
mod machine;
mod over_time;
mod overruns;
mod overview;
mod panel;
mod parts;
mod percentiles;
mod plot;
mod problems;
mod selection;
mod signals;
mod spread;
mod stimuli;
mod table;
mod tiles;
mod trends;
mod worst;

use super::Run;
use super::markup::{escape, escape_with_code};

const STYLE: &str = include_str!("style.css");

pub use comparison::comparison_html;
pub use plot::{Plot, Plotted, plot_html, plot_svg};
pub use trends::trends_html;

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

/// A whole page; `title` and `version` are text, `body` is HTML.
fn page(title: &str, body: &str, version: &str) -> String {
    let mut page = String::with_capacity(body.len() + STYLE.len() + 1024);
    page += "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    page += "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n";
    page += "<meta name=\"color-scheme\" content=\"light dark\">\n";
    page += &format!("<title>{}</title>\n", escape(title));
    page += &format!("<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}");
    page += &format!("</main>\n<footer>vecud {}</footer>\n</body>\n</html>\n", escape(version));
    page
}

/// The top of a page: what it is, as text what it is of, and paragraphs of HTML.
fn header(eyebrow: &str, title: &str, leads: &[String]) -> String {
    let leads: String = leads.iter().map(|lead| format!("<p class=\"lead\">{lead}</p>\n")).collect();
    let title = escape(title);
    format!("<header id=\"top\">\n<p class=\"eyebrow\">{eyebrow}</p>\n<h1>{title}</h1>\n{leads}</header>\n")
}

/// Banner of the verdict: a class (`pass` or `fail`), a sign, a word and a sentence.
fn verdict(class: &str, sign: &str, word: &str, sentence: &str) -> String {
    format!(
        "<section class=\"verdict {class}\">\n<span class=\"badge\" aria-hidden=\"true\">{sign}</span>\n\
         <div><h2>{word}</h2><p>{sentence}</p></div>\n</section>\n"
    )
}

/// A list of HTML, and what comes after it; nothing when it is empty.
fn notes(title: &str, notes: &[String], after: &str) -> String {
    let items: String = notes.iter().map(|note| format!("<li>{note}</li>\n")).collect();
    match items.as_str() {
        "" => String::new(),
        items => format!("<section class=\"notes\"><h3>{title}</h3>\n<ul>\n{items}</ul>\n{after}</section>\n"),
    }
}

/// The name of a file beside the page, with a link to it.
fn file(name: &str) -> String {
    let text = escape(name);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    match name.chars().all(is_plain) && !name.starts_with('.') {
        true => format!("<a href=\"{text}\"><code>{text}</code></a>"),
        // A report may have been edited: nothing leads elsewhere.
        false => format!("<code>{text}</code>"),
    }
}

/// The anchor of the page of an FMU.
fn anchor(fmu: usize) -> String {
    format!("fmu-{}", fmu + 1)
}

/// Something that is folded up on the screen, unless it is `open`, and is there on paper. `summary` and `body` are HTML. Browsers differ
/// in whether they unfold on paper what is inside of `details`, not in what is beside.
fn fold(summary: &str, body: &str, open: bool) -> String {
    let open = if open { " open" } else { "" };
    format!(
        "<div class=\"fold\">\n<details{open}>\n<summary>{summary}</summary>\n</details>\n<div class=\"folded\">\n{body}</div>\n</div>\n"
    )
}

/// `fmu.clock` with the FMU's part in the background.
fn name(fmu: &str, clock: &str) -> String {
    format!("<span class=\"fmu\">{}.</span>{}", breakable(fmu), breakable(clock))
}

/// A name as HTML. A long one may be broken where its words end, or else anywhere.
fn breakable(name: &str) -> String {
    const WHOLE: usize = 16;
    if name.chars().count() <= WHOLE {
        return escape(name);
    }
    let mut out = String::new();
    let mut unbroken = 0;
    for c in name.chars() {
        out += &escape(c.encode_utf8(&mut [0; 4]));
        unbroken += 1;
        if matches!(c, '_' | '.') || unbroken == WHOLE {
            out += "<wbr>";
            unbroken = 0;
        }
    }
    out
}

#[cfg(test)]
mod tests;
