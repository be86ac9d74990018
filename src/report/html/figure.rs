//! A figure: title, sentence, drawing, what is not in the drawing, and a legend with the maximum of each line.

use super::escape;
use super::svg::{class, marker};
use crate::record::histogram::Histogram;
use crate::report::format::{duration, plural, short_duration};

/// Lines with a colour of their own; the others are grey.
pub const COLOURS: usize = 8;

/// One line of a figure.
pub struct Series<'a> {
    pub name: String,
    /// Index of its colour, dashes and mark; from [`COLOURS`] on grey.
    pub style: usize,
    pub histogram: &'a Histogram,
    pub limit: Option<u64>,
}

impl<'a> Series<'a> {
    /// The lines of a figure. Histograms without values are left out; when there are more than colours, those with the
    /// longest maxima get one.
    pub fn list(clocks: impl Iterator<Item = (String, &'a Histogram, Option<u64>)>) -> Vec<Series<'a>> {
        let clocks: Vec<_> = clocks.filter(|(_, histogram, _)| histogram.count() > 0).collect();
        let mut order: Vec<usize> = (0..clocks.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(clocks[i].1.max()));
        let mut coloured: Vec<usize> = order.into_iter().take(COLOURS).collect();
        coloured.sort_unstable();
        let styled = clocks.into_iter().enumerate().map(|(i, (name, histogram, limit))| {
            let style = coloured.iter().position(|&c| c == i).unwrap_or(COLOURS);
            Series { name, style, histogram, limit }
        });
        let mut series: Vec<_> = styled.collect();
        // Grey ones first, so that the others are drawn over them.
        series.sort_by_key(|series| series.style < COLOURS);
        series
    }
}

/// A drawing, and sentences on what it leaves out.
pub struct Drawing {
    pub svg: String,
    pub notes: Vec<String>,
}

/// The figure as HTML. `title` and `sentence` are HTML.
pub fn figure(title: &str, sentence: &str, drawing: &Drawing, series: &[Series]) -> String {
    let notes: String = drawing.notes.iter().map(|note| format!("<p class=\"note\">{}</p>\n", escape(note))).collect();
    let items: String = series.iter().filter(|series| series.style < COLOURS).map(item).collect();
    let others = series.iter().filter(|series| series.style >= COLOURS).count() as u64;
    let others = match others {
        0 => String::new(),
        n => format!(
            "<li class=\"others\">{}<span>{} with shorter maxima</span></li>\n",
            key(COLOURS),
            plural(n, "further clock")
        ),
    };
    format!(
        "<figure>\n<figcaption><h3>{title}</h3><p>{sentence}</p></figcaption>\n<div class=\"plot\">{}</div>\n{notes}\
         <ul class=\"legend\">\n{items}{others}</ul>\n</figure>\n",
        drawing.svg
    )
}

fn item(series: &Series) -> String {
    let limit = match series.limit {
        Some(limit) => format!(", limit {}", short_duration(limit)),
        None => String::new(),
    };
    let (key, name, max) = (key(series.style), escape(&series.name), duration(series.histogram.max()));
    format!("<li class=\"k{}\">{key}<span>{name}</span><b>max {max}{limit}</b></li>\n", series.style)
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
