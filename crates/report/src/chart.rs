//! The chart on which every figure is drawn, as SVG: a [`Frame`], an [`Axis`] to the right and one upwards, and marks on them.
//!
//! | mark | for |
//! |---|---|
//! | [`Chart::line`] along a [`Path`] | a course: steps, slopes, gaps and needles |
//! | [`Chart::path`] | anything else along a path: bands, arrows, crosses |
//! | [`Chart::bar`] | a stretch of a row, or a column |
//! | [`Chart::mark`] | a single value, in the shape of its line |
//! | [`Chart::interval`] | least, median, most of them, greatest: of a distribution, in a row |
//! | [`Chart::upright`], [`Chart::level`] | what is a limit to everything |
//! | [`Chart::text`] | words |
//!
//! [`Chart::x`] and [`Chart::y`] turn values into coordinates of the drawing, which go to the right and down. What lies outside of an
//! axis is drawn on its edge, and what is no number at its beginning: a chart is always finite. In a chart of rows
//! ([`Frame::with_rows`], [`Axis::bare`]) vertical coordinates are those of the drawing.
//!
//! Texts are text: the chart escapes them. Colours, dashes and shapes are classes of html/style.css; a style is an index into
//! them, of which [`COLOURS`] can be told apart, in grey as well.
//!
//! Screen readers get the title of the chart ([`Chart::svg`]), and the spans of its axes as a description.
//!
//! ```
//! use vecud_report::chart::{Axis, Chart, Frame, Path};
//!
//! let (times, latencies) = (Axis::times(0.0, 10.0, 4), Axis::durations(5_000.0, 5).titled("latency"));
//! let mut chart = Chart::new(Frame::MEDIUM, &times, &latencies);
//! chart.level("limit", 4_500.0);
//! let mut path = Path::default();
//! for (time, latency) in [(0.0, 1_000.0), (4.0, 3_000.0), (5.0, 2_000.0)] {
//!     path.step(chart.x(time), chart.y(latency));
//! }
//! path.level(chart.x(10.0));
//! chart.line(0, &path, "a <clock>");
//! chart.mark(0, 4.0, 3_000.0);
//! let svg = chart.svg("Latency of a clock over ten seconds");
//!
//! assert!(svg.contains(">10 s</text>") && svg.contains(">5 µs</text>"));
//! assert!(svg.contains("class=\"line s0\"") && svg.contains("<title>a &lt;clock&gt;</title>"));
//! assert!(svg.contains("aria-label=\"Latency of a clock over ten seconds\""));
//! ```

mod axis;

pub use axis::{Axis, Scale, Tick};

use crate::markup::escape;
use std::fmt::{self, Display, Write};

/// Styles of lines with a colour of their own; the others are grey.
pub const COLOURS: usize = 8;
/// The style of what lines are set against: dotted, without a mark.
pub const BASELINE: usize = usize::MAX;

/// A drawing area with room for axis labels around the plot.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Width of the whole drawing, in units of its `viewBox`.
    pub width: f64,
    /// Height of the whole drawing, in units of its `viewBox`.
    pub height: f64,
    /// Room beside the plot.
    pub left: f64,
    /// Room beside the plot.
    pub right: f64,
    /// Room above the plot.
    pub top: f64,
    /// Room below the plot.
    pub bottom: f64,
    /// Room for that many labels on the x axis.
    pub labels: usize,
}

impl Frame {
    /// Across the page.
    pub const LARGE: Frame =
        Frame { width: 960.0, height: 320.0, left: 64.0, right: 40.0, top: 26.0, bottom: 26.0, labels: 10 };
    /// Two in a row, one row of which is as wide as the page; readable on a telephone, too.
    pub const MEDIUM: Frame =
        Frame { width: 400.0, height: 200.0, left: 54.0, right: 34.0, top: 24.0, bottom: 24.0, labels: 4 };
    /// In place of a larger one, as wide as a telephone is.
    pub const NARROW: Frame =
        Frame { width: 340.0, height: 240.0, left: 56.0, right: 30.0, top: 26.0, bottom: 26.0, labels: 3 };
    /// Some in a row of a card, and as wide as a telephone is.
    pub const SMALL: Frame =
        Frame { width: 360.0, height: 180.0, left: 58.0, right: 24.0, top: 26.0, bottom: 26.0, labels: 3 };
    /// One of many side by side, which is as wide as a telephone is.
    pub const TINY: Frame =
        Frame { width: 340.0, height: 140.0, left: 54.0, right: 14.0, top: 10.0, bottom: 26.0, labels: 3 };

    /// With room for a second line of labels on the x axis.
    #[must_use]
    pub fn with_two_lines(self) -> Frame {
        Frame { height: self.height + 16.0, bottom: self.bottom + 16.0, ..self }
    }

    /// As high as so many rows need.
    #[must_use]
    pub fn with_rows(self, rows: usize, height: f64) -> Frame {
        Frame { height: self.top + height * rows as f64 + self.bottom, ..self }
    }

    /// Whether there is no room for names beside what is drawn: they stand above it.
    pub fn is_narrow(&self) -> bool {
        self.width < 400.0
    }

    /// From a share of the plot's width to a coordinate.
    pub fn x(&self, share: f64) -> f64 {
        self.left + clamped(share) * self.plot_width()
    }

    /// From a share of the plot's height, upwards, to a coordinate.
    pub fn y(&self, share: f64) -> f64 {
        self.height - self.bottom - clamped(share) * self.plot_height()
    }

    /// The width between the ends of the x axis.
    pub fn plot_width(&self) -> f64 {
        self.width - self.left - self.right
    }

    /// The height between the ends of the y axis.
    pub fn plot_height(&self) -> f64 {
        self.height - self.top - self.bottom
    }
}

fn clamped(share: f64) -> f64 {
    if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
}

/// A path of the drawing, mostly of a value that holds until the next one. A step that nobody sees is none.
#[derive(Clone, Debug, Default)]
pub struct Path {
    path: String,
    /// Where the pen is, while it is down.
    pen: Option<(f64, f64)>,
}

impl Path {
    /// Holds its value up to here, and then has this one; after a gap it begins here.
    pub fn step(&mut self, x: f64, y: f64) {
        match self.pen {
            None => self.to(x, y),
            Some((_, before)) if (before - y).abs() <= 0.05 => {}
            Some((before, _)) => {
                if x != before {
                    self.level(x);
                }
                let _ = write!(self.path, "V{y:.1}");
                self.pen = Some((x, y));
            }
        }
    }

    /// Holds its value up to here.
    pub fn level(&mut self, x: f64) {
        if let Some((_, y)) = self.pen {
            // Two in one direction are one.
            let last = self.path.rfind(|c: char| c.is_ascii_alphabetic()).unwrap_or_default();
            if self.path[last..].starts_with('H') {
                self.path.truncate(last);
            }
            let _ = write!(self.path, "H{x:.1}");
            self.pen = Some((x, y));
        }
    }

    /// Goes straight to here; after a gap it begins here.
    pub fn to(&mut self, x: f64, y: f64) {
        let _ = write!(self.path, "{}{x:.1} {y:.1}", if self.pen.is_some() { 'L' } else { 'M' });
        self.pen = Some((x, y));
    }

    /// A gap begins.
    pub fn lift(&mut self) {
        self.pen = None;
    }

    /// An upright stroke by itself.
    pub fn stroke(&mut self, x: f64, from: f64, to: f64) {
        let _ = write!(self.path, "M{x:.1} {from:.1}V{to:.1}");
        self.lift();
    }

    /// Whether there is a gap, or nothing yet.
    pub fn is_up(&self) -> bool {
        self.pen.is_none()
    }
}

impl Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}

/// A chart that is being drawn.
#[derive(Debug)]
pub struct Chart {
    /// Where everything is.
    pub frame: Frame,
    x: Scale,
    y: Scale,
    /// What the axes span, in words.
    description: String,
    svg: String,
}

impl Chart {
    /// With grid lines and labels, and nothing on them.
    pub fn new(frame: Frame, x: &Axis, y: &Axis) -> Chart {
        let mut chart = Chart { frame, x: x.scale, y: y.scale, description: String::new(), svg: String::new() };
        let (left, right, top, bottom) = (frame.x(0.0), frame.x(1.0), frame.y(1.0), frame.y(0.0));
        for Tick { at, label, below } in &x.ticks {
            chart.upright("grid", *at);
            let x = chart.x(*at);
            chart.text("mid", x, bottom + 17.0, label);
            chart.text("mid dim", x, bottom + 31.0, below);
        }
        chart.path("axis", format_args!("M{left:.1} {bottom:.1}H{right:.1}"), "");
        for Tick { at, label, .. } in &y.ticks {
            chart.level("grid", *at);
            let y = chart.y(*at) + 4.0;
            chart.text("end", left - 8.0, y, label);
        }
        chart.text("dim", 4.0, top - 11.0, y.title);
        for (axis, way) in [(x, "to the right"), (y, "upwards")] {
            let named = || axis.ticks.iter().filter(|tick| !tick.label.is_empty());
            if let (Some(first), Some(last)) = (named().next(), named().next_back()) {
                let _ = write!(chart.description, "{way} {} to {}; ", first.label, last.label);
            }
        }
        chart
    }

    /// Where a value of the x axis is.
    pub fn x(&self, value: f64) -> f64 {
        self.frame.x(self.x.share(value))
    }

    /// Where a value of the y axis is.
    pub fn y(&self, value: f64) -> f64 {
        self.frame.y(self.y.share(value))
    }

    /// Whether the y axis reaches as far as this value.
    pub fn is_within(&self, value: f64) -> bool {
        self.y.share(value) <= 1.0
    }

    /// A path; whoever points at it reads `title`, if there is one.
    pub fn path(&mut self, class: &str, path: impl Display, title: &str) {
        let _ = match title {
            "" => writeln!(self.svg, "<path class=\"{class}\" d=\"{path}\"/>"),
            title => writeln!(self.svg, "<path class=\"{class}\" d=\"{path}\"><title>{}</title></path>", escape(title)),
        };
    }

    /// A line in its style.
    pub fn line(&mut self, style: usize, path: &Path, title: &str) {
        self.path(&format!("line {}", class(style)), path, title);
    }

    /// A value, in the shape that belongs to a line of this style.
    pub fn mark(&mut self, style: usize, x: f64, y: f64) {
        self.svg += &marker(style, self.x(x), self.y(y));
    }

    /// A rectangle of the drawing, from its upper left corner.
    pub fn bar(&mut self, class: &str, [x, y, width, height]: [f64; 4], title: &str) {
        let bar =
            format!("<rect class=\"{class}\" x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{height:.1}\"");
        let _ = match title {
            "" => writeln!(self.svg, "{bar}/>"),
            title => writeln!(self.svg, "{bar}><title>{}</title></rect>", escape(title)),
        };
    }

    /// A distribution on the x axis, at a height of the drawing: from the first of four values to the last, thick between the others.
    pub fn interval(&mut self, style: usize, values: [u64; 4], y: f64, title: &str) {
        let [from, median, most, to] = values.map(|value| self.x(value as f64));
        let class = class(style);
        self.group(title, |chart| {
            chart.path(&format!("span {class}"), format_args!("M{from:.1} {y:.1}H{to:.1}"), "");
            let end = most.max(median + 2.0);
            chart.path(&format!("core {class}"), format_args!("M{median:.1} {y:.1}H{end:.1}"), "");
            chart.svg += &marker(style, to, y);
        });
    }

    /// A line from the bottom to the top.
    pub fn upright(&mut self, class: &str, at: f64) {
        let (x, top, bottom) = (self.x(at), self.frame.y(1.0), self.frame.y(0.0));
        self.path(class, format_args!("M{x:.1} {top:.1}V{bottom:.1}"), "");
    }

    /// A line from the left to the right.
    pub fn level(&mut self, class: &str, at: f64) {
        let (y, left, right) = (self.y(at), self.frame.x(0.0), self.frame.x(1.0));
        self.path(class, format_args!("M{left:.1} {y:.1}H{right:.1}"), "");
    }

    /// Words at a place of the drawing.
    pub fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        if !text.is_empty() {
            let text = escape(text);
            let _ = writeln!(self.svg, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>");
        }
    }

    /// What belongs together: whoever points at it reads `title`.
    pub fn group(&mut self, title: &str, draw: impl FnOnce(&mut Chart)) {
        let _ = write!(self.svg, "<g><title>{}</title>", escape(title));
        draw(self);
        self.svg += "</g>\n";
    }

    /// The drawing, with what it shows for whoever cannot see it.
    pub fn svg(self, title: &str) -> String {
        let Frame { width, height, .. } = self.frame;
        let desc = match self.description.trim_end_matches("; ") {
            "" => String::new(),
            description => format!("<desc>{}</desc>\n", escape(description)),
        };
        format!(
            "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">\n{desc}{}</svg>\n",
            escape(title),
            self.svg
        )
    }
}

/// A mark in the shape that belongs to the style.
pub fn marker(style: usize, x: f64, y: f64) -> String {
    const SHAPES: [&str; COLOURS] = [
        "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
        "M-3.6-3.6H3.6V3.6H-3.6Z",
        "M0-4.8L4.6 3.4H-4.6Z",
        "M0-5L5 0L0 5L-5 0Z",
        "M0 4.8L4.6-3.4H-4.6Z",
        "M-1.5-4.5H1.5V-1.5H4.5V1.5H1.5V4.5H-1.5V1.5H-4.5V-1.5H-1.5Z",
        "M-4.5-2H4.5V2H-4.5Z",
        "M-2-4.5H2V4.5H-2Z",
    ];
    let mark =
        |shape| format!("<path class=\"mark s{style}\" transform=\"translate({x:.1} {y:.1})\" d=\"{shape}\"/>\n");
    SHAPES.get(style).map(mark).unwrap_or_default()
}

/// Class of a style: its colour and dashes, or the grey of those beyond the palette.
pub fn class(style: usize) -> String {
    match style {
        0..COLOURS => format!("s{style}"),
        BASELINE => "baseline".to_owned(),
        _ => "sx".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_stays_in_the_frame() {
        assert_eq!(Frame::LARGE.x(f64::NAN), Frame::LARGE.left);
        assert_eq!(Frame::LARGE.y(f64::INFINITY), Frame::LARGE.top);
    }

    #[test]
    fn a_path_has_what_is_seen_and_gaps_where_there_is_nothing() {
        let mut path = Path::default();
        path.step(0.0, 9.0);
        path.step(1.0, 9.01);
        path.step(2.0, 5.0);
        path.level(3.0);
        path.level(4.0);
        path.lift();
        path.step(6.0, 5.0);
        path.to(7.0, 6.0);
        path.stroke(8.0, 0.0, 1.0);
        assert_eq!(path.to_string(), "M0.0 9.0H2.0V5.0H4.0M6.0 5.0L7.0 6.0M8.0 0.0V1.0");
    }
}
