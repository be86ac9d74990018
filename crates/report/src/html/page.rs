//! A page, and the parts that every page has.

use crate::markup::escape;

pub(super) const STYLE: &str = include_str!("style.css");

/// A whole page; `title` and `version` are text, `body` is HTML.
pub(super) fn page(title: &str, body: &str, version: &str) -> String {
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
pub(super) fn header(eyebrow: &str, title: &str, leads: &[String]) -> String {
    let leads: String = leads.iter().map(|lead| format!("<p class=\"lead\">{lead}</p>\n")).collect();
    let title = escape(title);
    format!("<header id=\"top\">\n<p class=\"eyebrow\">{eyebrow}</p>\n<h1>{title}</h1>\n{leads}</header>\n")
}

/// Banner of the verdict: a class (`pass` or `fail`), a sign, a word and a sentence.
pub(super) fn verdict(class: &str, sign: &str, word: &str, sentence: &str) -> String {
    format!(
        "<section class=\"verdict {class}\">\n<span class=\"badge\" aria-hidden=\"true\">{sign}</span>\n\
         <div><h2>{word}</h2><p>{sentence}</p></div>\n</section>\n"
    )
}

/// A list of HTML, and text after it; nothing if it is empty.
pub(super) fn notes(title: &str, notes: &[String], after: &str) -> String {
    let items: String = notes.iter().map(|note| format!("<li>{note}</li>\n")).collect();
    match items.as_str() {
        "" => String::new(),
        items => format!("<section class=\"notes\"><h3>{title}</h3>\n<ul>\n{items}</ul>\n{after}</section>\n"),
    }
}

/// The name of a file beside the page, with a link to it.
pub(super) fn file(name: &str) -> String {
    let text = escape(name);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    match name.chars().all(is_plain) && !name.starts_with('.') {
        true => format!("<a href=\"{text}\"><code>{text}</code></a>"),
        // A report may have been edited: nothing leads elsewhere.
        false => format!("<code>{text}</code>"),
    }
}

/// The anchor of the page of an FMU.
pub(super) fn anchor(fmu: usize) -> String {
    format!("fmu-{}", fmu + 1)
}

/// A part of the page that is folded up on the screen, unless it is `open`, and visible on paper. `summary` and `body` are HTML.
/// Browsers differ in whether they unfold `details` on paper, not in the treatment of content beside it.
pub(super) fn fold(summary: &str, body: &str, open: bool) -> String {
    let open = if open { " open" } else { "" };
    format!(
        "<div class=\"fold\">\n<details{open}>\n<summary>{summary}</summary>\n</details>\n<div class=\"folded\">\n{body}</div>\n</div>\n"
    )
}
