//! Axes: from values to shares of their length, with round numbers where labels are.

use crate::format::{count, short_duration};

/// Maps values to shares of an axis.
#[derive(Clone, Copy, Debug)]
pub enum Scale {
    /// A linear scale from `min` to `max`; if both are one value, it lies in the middle.
    Linear {
        /// The value at the left end, or at the bottom.
        min: f64,
        /// The value at the other end.
        max: f64,
    },
    /// A logarithmic scale from `min` to `max`, both above zero; values below `min` lie on the edge.
    Log {
        /// The value at the left end, or at the bottom.
        min: f64,
        /// The value at the other end.
        max: f64,
    },
}

impl Scale {
    /// The place of a value: 0 at the beginning of the axis, 1 at its end.
    pub fn share(&self, value: f64) -> f64 {
        match *self {
            Scale::Linear { min, max } if max <= min => 0.5,
            // Halves, since the whole range may be beyond all numbers.
            Scale::Linear { min, max } => (value / 2.0 - min / 2.0) / (max / 2.0 - min / 2.0),
            Scale::Log { min, max } => (value.max(min) / min).ln() / (max / min).ln(),
        }
    }
}

/// A grid line with its label.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisTick {
    /// The value where it is.
    pub at: f64,
    /// Text; may be empty.
    pub label: String,
    /// A second line of the label, which an x axis has room for.
    pub below: String,
}

impl AxisTick {
    /// A tick with a label of one line.
    pub fn new(at: f64, label: impl Into<String>) -> AxisTick {
        AxisTick { at, label: label.into(), below: String::new() }
    }
}

/// An axis with its labels.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The scale of the axis.
    pub scale: Scale,
    /// Grid lines.
    pub ticks: Vec<AxisTick>,
    /// Quantity and unit of the axis; of the y axis it stands above the figure.
    pub title: &'static str,
}

impl Axis {
    /// An axis without labels.
    pub fn bare(min: f64, max: f64) -> Axis {
        Axis { scale: Scale::Linear { min, max }, ticks: Vec::new(), title: "" }
    }

    /// Durations from 0 to `max`, ns, with at most `most` + 1 labels.
    pub fn durations(max: f64, most: usize) -> Axis {
        Axis { scale: Scale::Linear { min: 0.0, max }, ticks: duration_ticks(max, most), title: "" }
    }

    /// Durations from `min` to `max`, ns, on a logarithmic scale with at most `most` + 1 labels.
    pub fn log_durations(min: f64, max: f64, most: usize) -> Axis {
        Axis { scale: Scale::Log { min, max }, ticks: log_duration_ticks(min, max, most), title: "" }
    }

    /// Counts up to `max` on a logarithmic scale that begins a little below 1.
    pub fn counts(max: f64, most: usize) -> Axis {
        let powers = powers_of_ten().take_while(|value| *value <= max * 1.0001).collect();
        let ticks = thinned(powers, most.max(1)).map(|value| AxisTick::new(value, count(value as u64)));
        Axis { scale: Scale::Log { min: 0.6, max }, ticks: ticks.collect(), title: "" }
    }

    /// An axis of durations up to `linear`, ns; if the longest would leave nothing of the usual ones, a logarithmic one from about `least`
    /// to `log`; at most `most` + 1 labels.
    pub fn latencies([longest, usual]: [f64; 2], [linear, log]: [f64; 2], least: u64, most: [usize; 2]) -> Axis {
        // One outlier flattens everything beyond this ratio.
        if longest <= usual.max(1.0) * 12.0 {
            return Axis::durations(linear, most[0]);
        }
        Axis::log_durations(10f64.powf((least.max(100) as f64).log10().floor()), log, most[1])
    }

    /// Whether it is logarithmic.
    pub fn is_log(&self) -> bool {
        matches!(self.scale, Scale::Log { .. })
    }

    /// Values from `low` to `high` with round labels, not many more than `most`.
    pub fn values(low: f64, high: f64, most: usize) -> Axis {
        Axis { ticks: value_ticks(low, high, most), ..Axis::bare(low, high) }
    }

    /// Times from `from` to `to`, s, with labels in the unit that suits their length, not many more than `most`.
    pub fn times(from: f64, to: f64, most: usize) -> Axis {
        let units = [("d", 86_400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0)];
        let (unit, length) = units.into_iter().find(|(_, length)| to - from >= 3.0 * length).unwrap_or(("s", 1.0));
        let mut ticks = value_ticks(from / length, to / length, most);
        for tick in &mut ticks {
            tick.label += &if tick.at == 0.0 { String::new() } else { format!(" {unit}") };
            tick.at *= length;
        }
        Axis { ticks, ..Axis::bare(from, to) }
    }

    /// The axis with a title.
    #[must_use]
    pub fn titled(self, title: &'static str) -> Axis {
        Axis { title, ..self }
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that is not below this.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|step| *step >= least * 0.999).unwrap_or(least)
}

fn powers_of_ten() -> impl Iterator<Item = f64> {
    (0..20).map(|power| 10f64.powi(power))
}

/// At most `most` of the values, evenly spaced.
fn thinned(values: Vec<f64>, most: usize) -> impl Iterator<Item = f64> {
    let every = values.len().div_ceil(most).max(1);
    values.into_iter().step_by(every)
}

fn duration_ticks(max: f64, most: usize) -> Vec<AxisTick> {
    let step = round_step((max / most.max(1) as f64).max(1.0));
    // One unit for the whole axis: that of its largest value.
    let (unit, nanos) = match max {
        max if max < 1e3 => ("ns", 1.0),
        max if max < 10e6 => ("µs", 1e3),
        max if max < 10e9 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    let decimals = (nanos / step).log10().ceil().max(0.0) as usize;
    let values = (0..=most).map(|i| i as f64 * step).take_while(|value| *value <= max * 1.0001);
    let label = |value| if value == 0.0 { "0".into() } else { format!("{:.decimals$} {unit}", value / nanos) };
    values.map(|value| AxisTick::new(value, label(value))).collect()
}

/// Powers of ten; where there is room, their 2 and 5 fold, too.
fn log_duration_ticks(min: f64, max: f64, most: usize) -> Vec<AxisTick> {
    let values = |steps: &'static [f64]| -> Vec<f64> {
        let values = powers_of_ten().flat_map(|power| steps.iter().map(move |step| step * power));
        values.filter(|value| (min * 0.9999..=max * 1.0001).contains(value)).collect()
    };
    let fine = values(&[1.0, 2.0, 5.0]);
    let values = if fine.len() <= most + 1 { fine } else { values(&[1.0]) };
    thinned(values, most + 1).map(|value| AxisTick::new(value, short_duration(value as u64))).collect()
}

/// Ticks with as many decimals as they need.
fn value_ticks(low: f64, high: f64, most: usize) -> Vec<AxisTick> {
    let most = most as f64 + 2.0;
    let least = high / most - low / most;
    if !(least.is_finite() && least > 0.0) {
        return vec![];
    }
    let step = round_step(least);
    let first = (low / step).ceil();
    let values = (0..=most as usize).map(|i| (first + i as f64) * step).take_while(|value| *value <= high);
    let label = |value: f64| match value.abs().max(step) {
        _ if value == 0.0 => "0".to_owned(),
        1e-4..1e6 => format!("{value:.*}", (-step.log10().floor()).clamp(0.0, 9.0) as usize),
        _ => format!("{:e}", format!("{value:.3e}").parse::<f64>().unwrap_or(value)),
    };
    values.map(|value| AxisTick::new(value, label(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[AxisTick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(
            labels(&duration_ticks(35_000.0, 10)),
            ["0", "5 µs", "10 µs", "15 µs", "20 µs", "25 µs", "30 µs", "35 µs"]
        );
        assert_eq!(duration_ticks(2_000.0, 10)[1].label, "0.2 µs");
        assert_eq!(duration_ticks(52e6, 10)[1].label, "10 ms");
        for max in [1.0, 3.0, 999.0, 1e3, 1e9, 3.6e12, 1.8e19] {
            let ticks = duration_ticks(max, 10);
            assert!((2..=11).contains(&ticks.len()) && ticks.iter().all(|tick| tick.at.is_finite()), "{max} {ticks:?}");
        }
    }

    #[test]
    fn a_log_axis_has_powers_of_ten() {
        let Axis { scale, ticks, .. } = Axis::log_durations(1e3, 1e7, 10);
        assert_eq!(labels(&ticks), ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms"]);
        assert_eq!((scale.share(ticks[0].at), scale.share(ticks[4].at)), (0.0, 1.0));
    }

    #[test]
    fn ticks_of_values_are_round_few_and_finite() {
        assert_eq!(labels(&value_ticks(769.0, 861.0, 4)), ["780", "800", "820", "840", "860"]);
        assert_eq!(labels(&value_ticks(-0.011, 0.011, 4)), ["-0.010", "-0.005", "0", "0.005", "0.010"]);
        for (low, high) in [(f64::MIN, f64::MAX), (0.0, 5e-324), (1e300, 1.0001e300), (1.0, 1.0), (-1e-300, 1e-300)] {
            let ticks = value_ticks(low, high, 4);
            assert!(ticks.len() <= 9 && ticks.iter().all(|tick| tick.at.is_finite()), "{low} {high}: {ticks:?}");
        }
    }

    #[test]
    fn times_have_the_unit_that_suits_their_length() {
        let labels = |from, to| labels(&Axis::times(from, to, 3).ticks).join(" ");
        assert_eq!(labels(0.0, 10.0), "0 2 s 4 s 6 s 8 s 10 s");
        assert_eq!(labels(0.0, 3600.0), "0 20 min 40 min 60 min");
        assert_eq!(labels(0.0, 2.6e6), "0 10 d 20 d 30 d");
        assert_eq!(labels(100.0, 100.0125), "100.000 s 100.005 s 100.010 s");
        let Axis { scale, ticks, .. } = Axis::times(0.0, 7200.0, 3);
        assert!(ticks.iter().all(|tick| (0.0..=1.0).contains(&scale.share(tick.at))));
    }
}
