//! Axes and lines. Coordinates are those of the `viewBox`; everything that is drawn is finite.

use crate::format::{count, short_duration};
use std::fmt::Write;

/// A drawing area with room for axis labels around the plot.
#[derive(Clone, Copy)]
pub struct Frame {
    pub width: f64,
    pub height: f64,
    pub left: f64,
    pub right: f64,
    pub top: f64,
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
    pub fn with_two_lines(self) -> Frame {
        Frame { height: self.height + 16.0, bottom: self.bottom + 16.0, ..self }
    }

    /// Whether there is no room for names beside what is drawn: they stand above it.
    pub fn is_narrow(&self) -> bool {
        self.width < 400.0
    }

    /// From a share of the plot's width to a coordinate.
    pub fn x(&self, share: f64) -> f64 {
        self.left + clamped(share) * (self.width - self.left - self.right)
    }

    /// From a share of the plot's height, upwards, to a coordinate.
    pub fn y(&self, share: f64) -> f64 {
        self.height - self.bottom - clamped(share) * (self.height - self.top - self.bottom)
    }

    /// The element around everything; `content` is SVG already, `label` must be escaped.
    pub fn svg(&self, label: &str, content: &str) -> String {
        let (width, height) = (self.width, self.height);
        format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">\n{content}</svg>\n")
    }

    /// Labels and grid lines of the x axis. A label may have a second line.
    pub fn x_axis(&self, ticks: &[(f64, String, String)]) -> String {
        let (top, bottom) = (self.y(1.0), self.y(0.0));
        let mut out = String::new();
        for (share, label, below) in ticks {
            let x = self.x(*share);
            let _ = writeln!(out, "<path class=\"grid\" d=\"M{x:.1} {top:.1}V{bottom:.1}\"/>");
            let _ = writeln!(out, "<text class=\"mid\" x=\"{x:.1}\" y=\"{:.1}\">{label}</text>", bottom + 17.0);
            if !below.is_empty() {
                let _ = writeln!(out, "<text class=\"mid dim\" x=\"{x:.1}\" y=\"{:.1}\">{below}</text>", bottom + 31.0);
            }
        }
        let (left, right) = (self.x(0.0), self.x(1.0));
        let _ = writeln!(out, "<path class=\"axis\" d=\"M{left:.1} {bottom:.1}H{right:.1}\"/>");
        out
    }

    /// Labels, grid lines and title of the y axis.
    pub fn y_axis(&self, ticks: &[(f64, String)], title: &str) -> String {
        let (left, right) = (self.x(0.0), self.x(1.0));
        let mut out = String::new();
        for (share, label) in ticks {
            let y = self.y(*share);
            let _ = writeln!(out, "<path class=\"grid\" d=\"M{left:.1} {y:.1}H{right:.1}\"/>");
            let _ = writeln!(out, "<text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{label}</text>", left - 8.0, y + 4.0);
        }
        if !title.is_empty() {
            let _ = writeln!(out, "<text class=\"dim\" x=\"4\" y=\"{:.1}\">{title}</text>", self.top - 11.0);
        }
        out
    }
}

fn clamped(share: f64) -> f64 {
    if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
}

/// From values to shares of an axis.
#[derive(Clone, Copy)]
pub enum Scale {
    /// From 0 to `max`.
    Linear { max: f64 },
    /// From `min` to `max`, both above zero; what is below `min` lies on the edge.
    Log { min: f64, max: f64 },
}

impl Scale {
    pub fn share(&self, value: f64) -> f64 {
        match *self {
            Scale::Linear { max } => value / max,
            Scale::Log { min, max } => (value.max(min) / min).ln() / (max / min).ln(),
        }
    }
}

/// Round durations from 0 up to `max` nanoseconds, at most `most` + 1 of them, as shares of `scale`.
pub fn duration_ticks(max: f64, most: usize, scale: Scale) -> Vec<(f64, String)> {
    let rough = (max / most.max(1) as f64).max(1.0);
    let power = 10f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|step| *step >= rough * 0.999).unwrap_or(rough);
    // One unit for the whole axis: that of its largest value.
    let (unit, nanos) = unit(max);
    let decimals = (nanos / step).log10().ceil().max(0.0) as usize;
    let ticks = (0..=most).map(|i| i as f64 * step).take_while(|value| *value <= max * 1.0001);
    ticks
        .map(|value| match value {
            0.0 => (0.0, "0".to_owned()),
            _ => (scale.share(value), format!("{:.decimals$} {unit}", value / nanos)),
        })
        .collect()
}

fn unit(max: f64) -> (&'static str, f64) {
    match max {
        max if max < 1e3 => ("ns", 1.0),
        max if max < 10e6 => ("µs", 1e3),
        max if max < 10e9 => ("ms", 1e6),
        _ => ("s", 1e9),
    }
}

/// Powers of ten of a logarithmic axis of durations, at most `most` + 1 of them; where there is room, their 2 and 5 fold, too.
pub fn log_duration_ticks(min: f64, max: f64, most: usize) -> Vec<(f64, String)> {
    let scale = Scale::Log { min, max };
    let values = |steps: &'static [f64]| -> Vec<f64> {
        let powers = (0..20).map(|power| 10f64.powi(power));
        let values = powers.flat_map(|power| steps.iter().map(move |step| step * power));
        values.filter(|value| (min * 0.9999..=max * 1.0001).contains(value)).collect()
    };
    let fine = values(&[1.0, 2.0, 5.0]);
    let values = if fine.len() <= most + 1 { fine } else { values(&[1.0]) };
    let every = values.len().div_ceil(most + 1).max(1);
    values.into_iter().step_by(every).map(|value| (scale.share(value), short_duration(value as u64))).collect()
}

/// Powers of ten of a logarithmic axis of counts.
pub fn count_ticks(max: f64, scale: Scale, most: usize) -> Vec<(f64, String)> {
    let powers: Vec<f64> = (0..20).map(|power| 10f64.powi(power)).take_while(|value| *value <= max * 1.0001).collect();
    let every = powers.len().div_ceil(most.max(1)).max(1);
    powers.into_iter().step_by(every).map(|value| (scale.share(value), count(value as u64))).collect()
}

/// Round numbers from `low` to `high`, not many more than `most`, with as many decimals as they need.
pub fn value_ticks(low: f64, high: f64, most: usize) -> Vec<(f64, String)> {
    let most = most as f64 + 2.0;
    let least = high / most - low / most;
    if !(least.is_finite() && least > 0.0) {
        return vec![];
    }
    let power = 10f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|step| *step >= least).unwrap_or(least);
    let first = (low / step).ceil();
    let values = (0..=most as usize).map(|i| (first + i as f64) * step).take_while(|value| *value <= high);
    let label = |value: f64| match value.abs().max(step) {
        1e-4..1e6 => format!("{value:.*}", (-step.log10().floor()).clamp(0.0, 9.0) as usize),
        _ => format!("{:e}", format!("{value:.3e}").parse::<f64>().unwrap_or(value)),
    };
    values.map(|value| (value, if value == 0.0 { "0".to_owned() } else { label(value) })).collect()
}

/// Round times from `from` to `to`, s, as shares of that and in the unit that suits its length; not many more than `most`.
pub fn time_ticks(from: f64, to: f64, most: usize) -> Vec<(f64, String, String)> {
    let units = [("d", 86_400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0)];
    let (unit, length) = units.into_iter().find(|(_, length)| to - from >= 3.0 * length).unwrap_or(("s", 1.0));
    let ticks = value_ticks(from / length, to / length, most).into_iter();
    ticks
        .map(|(value, label)| {
            let label = if value == 0.0 { label } else { format!("{label} {unit}") };
            ((value * length - from) / (to - from), label, String::new())
        })
        .collect()
}

/// A mark in the shape that belongs to the series.
pub fn marker(series: usize, x: f64, y: f64) -> String {
    const SHAPES: [&str; 8] = [
        "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
        "M-3.6-3.6H3.6V3.6H-3.6Z",
        "M0-4.8L4.6 3.4H-4.6Z",
        "M0-5L5 0L0 5L-5 0Z",
        "M0 4.8L4.6-3.4H-4.6Z",
        "M-1.5-4.5H1.5V-1.5H4.5V1.5H1.5V4.5H-1.5V1.5H-4.5V-1.5H-1.5Z",
        "M-4.5-2H4.5V2H-4.5Z",
        "M-2-4.5H2V4.5H-2Z",
    ];
    match SHAPES.get(series) {
        Some(shape) => {
            format!("<path class=\"mark s{series}\" transform=\"translate({x:.1} {y:.1})\" d=\"{shape}\"/>\n")
        }
        None => String::new(),
    }
}

/// The style of what lines are set against: dotted, without a mark.
pub const BASELINE: usize = usize::MAX;

/// Class of a line: its colour and dashes, or the grey of those beyond the palette.
pub fn class(series: usize) -> String {
    match series {
        0..8 => format!("s{series}"),
        BASELINE => "baseline".to_owned(),
        _ => "sx".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        let labels = |max| -> Vec<String> {
            duration_ticks(max, 10, Scale::Linear { max }).into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(labels(35_000.0), ["0", "5 µs", "10 µs", "15 µs", "20 µs", "25 µs", "30 µs", "35 µs"]);
        assert_eq!(labels(2_000.0)[1], "0.2 µs");
        assert_eq!(labels(52e6)[1], "10 ms");
        for max in [1.0, 3.0, 999.0, 1e3, 1e9, 3.6e12, 1.8e19] {
            let ticks = duration_ticks(max, 10, Scale::Linear { max });
            assert!((2..=11).contains(&ticks.len()) && ticks.iter().all(|tick| tick.0.is_finite()), "{max} {ticks:?}");
        }
    }

    #[test]
    fn a_log_axis_has_powers_of_ten() {
        let ticks = log_duration_ticks(1e3, 1e7, 10);
        assert_eq!(ticks.iter().map(|tick| &*tick.1).collect::<Vec<_>>(), ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms"]);
        assert_eq!((ticks[0].0, ticks[4].0), (0.0, 1.0));
    }

    #[test]
    fn ticks_of_values_are_round_few_and_finite() {
        let labels = |low, high| value_ticks(low, high, 4).into_iter().map(|(_, label)| label).collect::<Vec<_>>();
        assert_eq!(labels(769.0, 861.0), ["780", "800", "820", "840", "860"].map(str::to_owned)[..].to_vec());
        assert_eq!(labels(-0.011, 0.011), ["-0.010", "-0.005", "0", "0.005", "0.010"]);
        for (low, high) in [(f64::MIN, f64::MAX), (0.0, 5e-324), (1e300, 1.0001e300), (1.0, 1.0), (-1e-300, 1e-300)] {
            let ticks = value_ticks(low, high, 4);
            assert!(ticks.len() <= 9 && ticks.iter().all(|tick| tick.0.is_finite()), "{low} {high}: {ticks:?}");
        }
    }

    #[test]
    fn times_have_the_unit_that_suits_their_length() {
        let labels =
            |from, to| time_ticks(from, to, 3).into_iter().map(|(_, label, _)| label).collect::<Vec<_>>().join(" ");
        assert_eq!(labels(0.0, 10.0), "0 2 s 4 s 6 s 8 s 10 s");
        assert_eq!(labels(0.0, 3600.0), "0 20 min 40 min 60 min");
        assert_eq!(labels(0.0, 2.6e6), "0 10 d 20 d 30 d");
        assert_eq!(labels(100.0, 100.0125), "100.000 s 100.005 s 100.010 s");
        assert!(time_ticks(0.0, 7200.0, 3).iter().all(|tick| (0.0..=1.0).contains(&tick.0)));
    }

    #[test]
    fn what_is_not_a_number_stays_in_the_frame() {
        assert_eq!(Frame::LARGE.x(f64::NAN), Frame::LARGE.left);
        assert_eq!(Frame::LARGE.y(f64::INFINITY), Frame::LARGE.top);
    }
}
