//! A chart while it is drawn, and the styles of its content.

use super::axis::{Axis, AxisTick, Scale};
use super::frame::Frame;
use super::path::Path;
use crate::markup::escape;
use std::fmt::{Display, Write};

/// Styles of lines with a colour of their own; the others are grey.
pub const COLOURS: usize = 8;
/// The style of lines that serve as a reference: dotted, without a mark.
pub const BASELINE: usize = usize::MAX;

/// A chart that is being drawn.
#[derive(Debug)]
pub struct Chart {
    /// The frame of the drawing.
    pub frame: Frame,
    x: Scale,
    y: Scale,
    /// A description of the axes, in words.
    description: String,
    svg: String,
}

impl Chart {
    /// A chart with grid lines and labels, and no content.
    pub fn new(frame: Frame, x: &Axis, y: &Axis) -> Chart {
        let mut chart = Chart { frame, x: x.scale, y: y.scale, description: String::new(), svg: String::new() };
        let (left, right, top, bottom) = (frame.x(0.0), frame.x(1.0), frame.y(1.0), frame.y(0.0));
        for AxisTick { at, label, below } in &x.ticks {
            chart.upright("grid", *at);
            let x = chart.x(*at);
            chart.text("mid", x, bottom + 17.0, label);
            chart.text("mid dim", x, bottom + 31.0, below);
        }
        chart.path("axis", format_args!("M{left:.1} {bottom:.1}H{right:.1}"), "");
        for AxisTick { at, label, .. } in &y.ticks {
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

    /// The coordinate of a value of the x axis.
    pub fn x(&self, value: f64) -> f64 {
        self.frame.x(self.x.share(value))
    }

    /// The coordinate of a value of the y axis.
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

    /// Draws a group; a reader who points at it sees `title`.
    pub fn group(&mut self, title: &str, draw: impl FnOnce(&mut Chart)) {
        let _ = write!(self.svg, "<g><title>{}</title>", escape(title));
        draw(self);
        self.svg += "</g>\n";
    }

    /// The drawing, with a description for readers who cannot see it.
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

/// Class of a style: its colour and dashes, or the grey of styles beyond the palette.
pub fn class(style: usize) -> String {
    match style {
        0..COLOURS => format!("s{style}"),
        BASELINE => "baseline".to_owned(),
        _ => "sx".to_owned(),
    }
}
