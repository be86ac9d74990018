//! A figure: title, sentence, drawing, notes on omissions, and a legend with the maximum of each line.

use super::names::breakable;
use crate::chart::{COLOURS, Chart, Frame, class, marker};
use crate::format::{duration, short_duration};
use crate::markup::escape;
use vecud_record::histogram::Histogram;

/// One line of a figure.
pub struct Series<'a> {
    /// Plain text, not HTML.
    pub name: String,
    /// Index of its colour, dashes and mark; from [`COLOURS`] on grey.
    pub style: usize,
    pub histogram: &'a Histogram,
    pub limit: Option<u64>,
}

/// The different limits of lines.
pub fn limits(series: &[Series]) -> Vec<u64> {
    let mut limits: Vec<u64> = series.iter().filter_map(|series| series.limit).collect();
    limits.sort_unstable();
    limits.dedup();
    limits
}

/// A line for each limit, which has its words beside those of the others, as far as there is room.
pub fn level_limits(chart: &mut Chart, limits: &[u64]) {
    let beside = (chart.frame.plot_width() / 110.0).max(1.0) as usize;
    for (place, limit) in limits.iter().enumerate() {
        chart.level("limit", *limit as f64);
        let (x, y) = (chart.frame.left + 8.0 + 110.0 * (place % beside) as f64, chart.y(*limit as f64) - 5.0);
        chart.text("limit-label", x, y, &format!("limit {}", short_duration(*limit)));
    }
}

/// The style of each line: its own for the [`COLOURS`] that reach furthest, grey for the others. In all figures of a
/// page a clock has the same style.
pub fn styles(furthest: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..furthest.len()).collect();
    order.sort_by_key(|&line| std::cmp::Reverse(furthest[line]));
    let mut coloured: Vec<usize> = order.into_iter().take(COLOURS).collect();
    coloured.sort_unstable();
    (0..furthest.len()).map(|line| coloured.iter().position(|&other| other == line).unwrap_or(COLOURS)).collect()
}

/// A drawing, and sentences about anything that it leaves out.
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
    let limit =
        |series: &Series| series.limit.map_or(String::new(), |limit| format!(", limit {}", short_duration(limit)));
    let max = |series: &Series| format!("max {}{}", duration(series.histogram.max()), limit(series));
    let entries = series.iter().map(|series| entry(series.style, &breakable(&series.name), Some(max(series))));
    captioned(title, sentence, drawing, &legend(entries))
}

/// A figure with any legend, which is HTML as well. Each has a title and a sentence that explains it.
pub fn captioned(title: &str, sentence: &str, drawing: &Drawing, legend: &str) -> String {
    let notes: String = drawing.notes.iter().map(|note| format!("<p class=\"note\">{}</p>\n", escape(note))).collect();
    format!(
        "<figure>\n<figcaption><h4>{title}</h4><p>{sentence}</p></figcaption>\n<div class=\"plot\">{}</div>\n{notes}\
         {legend}</figure>\n",
        drawing.svg
    )
}

/// The entries of a legend.
pub fn legend(entries: impl IntoIterator<Item = String>) -> String {
    format!("<ul class=\"legend\">\n{}</ul>\n", entries.into_iter().collect::<String>())
}

/// An entry of a legend: the name of a line of this style, as HTML, and its value. A reader who points at it sees that line
/// alone.
pub fn entry(style: usize, name: &str, value: Option<String>) -> String {
    let line = format!("<path class=\"line {}\" d=\"M0 6H28\"/>{}", class(style), marker(style, 14.0, 6.0).trim_end());
    let class = if style < COLOURS && value.is_some() { format!(" class=\"k{style}\"") } else { String::new() };
    let value = value.map_or(String::new(), |value| format!("<b>{value}</b>"));
    format!("<li{class}>{}<span>{name}</span>{value}</li>\n", key(&line))
}

/// The drawing in an entry of a legend: SVG, 28 wide and 12 high.
pub fn key(drawing: &str) -> String {
    format!("<svg class=\"key\" viewBox=\"0 0 28 12\" aria-hidden=\"true\">{drawing}</svg>")
}
