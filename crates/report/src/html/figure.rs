//! A figure: title, sentence, drawing, notes on omissions, and a legend with the maximum of each line.

use super::svg::{Frame, class, marker};
use super::{breakable, escape};
use crate::format::{duration, short_duration};
use vecud_record::histogram::Histogram;

/// Lines with a colour of their own; the others are grey.
pub const COLOURS: usize = 8;

/// One line of a figure.
pub struct Series<'a> {
    /// Plain text, not HTML.
    pub name: String,
    /// Index of its colour, dashes and mark; from [`COLOURS`] on grey.
    pub style: usize,
    pub histogram: &'a Histogram,
    pub limit: Option<u64>,
}

/// Style of each line: an own one for the [`COLOURS`] that reach furthest, grey for the others. A clock has the same
/// one in all figures of a page.
pub fn styles(furthest: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..furthest.len()).collect();
    order.sort_by_key(|&line| std::cmp::Reverse(furthest[line]));
    let mut coloured: Vec<usize> = order.into_iter().take(COLOURS).collect();
    coloured.sort_unstable();
    (0..furthest.len()).map(|line| coloured.iter().position(|&other| other == line).unwrap_or(COLOURS)).collect()
}

/// A drawing, and sentences on what it leaves out.
pub struct Drawing {
    pub svg: String,
    pub notes: Vec<String>,
}

/// A drawing for wide windows and paper, and the same for narrow windows: the page shows one of them, so that its text is readable
/// in both.
pub fn wide_and_narrow(wide: Frame, narrow: Frame, draw: impl Fn(Frame) -> Drawing) -> Drawing {
    let Drawing { svg, notes } = draw(wide);
    let narrow = draw(narrow).svg;
    Drawing { svg: format!("<div class=\"wide\">\n{svg}</div>\n<div class=\"narrow\">\n{narrow}</div>\n"), notes }
}

/// The figure as HTML, with the maximum of each line in its legend. `title` and `sentence` are HTML.
pub fn figure(title: &str, sentence: &str, drawing: &Drawing, series: &[Series]) -> String {
    let items: String = series.iter().map(item).collect();
    captioned(title, sentence, drawing, &format!("<ul class=\"legend\">\n{items}</ul>\n"))
}

/// A figure with any legend, which is HTML as well. Each has a title and a sentence on what it shows and how to read it.
pub fn captioned(title: &str, sentence: &str, drawing: &Drawing, legend: &str) -> String {
    let notes: String = drawing.notes.iter().map(|note| format!("<p class=\"note\">{}</p>\n", escape(note))).collect();
    format!(
        "<figure>\n<figcaption><h4>{title}</h4><p>{sentence}</p></figcaption>\n<div class=\"plot\">{}</div>\n{notes}\
         {legend}</figure>\n",
        drawing.svg
    )
}

fn item(series: &Series) -> String {
    let limit = match series.limit {
        Some(limit) => format!(", limit {}", short_duration(limit)),
        None => String::new(),
    };
    let (key, name, max) = (key(series.style), breakable(&series.name), duration(series.histogram.max()));
    let class = if series.style < COLOURS { format!(" class=\"k{}\"", series.style) } else { String::new() };
    format!("<li{class}>{key}<span>{name}</span><b>max {max}{limit}</b></li>\n")
}

/// The line and mark of a series.
pub fn key(style: usize) -> String {
    let mark = marker(style, 14.0, 6.0);
    format!(
        "<svg class=\"key\" viewBox=\"0 0 28 12\" aria-hidden=\"true\"><path class=\"line {}\" d=\"M0 6H28\"/>{}</svg>",
        class(style),
        mark.trim_end()
    )
}
