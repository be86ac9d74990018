//! The percentile curve as HdrHistogram's tools draw it: the further right, the rarer; each grid line is ten times rarer
//! than the one before.

use super::escape;
use super::figure::{Drawing, Series};
use super::svg::{Frame, Scale, class, duration_ticks, log_duration_ticks, marker};
use crate::format::{count, plural, short_duration};
use vecud_record::histogram::Histogram;

/// Beyond this ratio of maximum to 99 %, the y axis is logarithmic: else one outlier flattens everything.
const STEEP: f64 = 12.0;
/// A limit is drawn when it lies below this multiple of the maximum.
const NEAR: f64 = 2.5;

/// Draws the percentile curve.
pub fn percentiles(series: &[Series], frame: Frame) -> Drawing {
    let most = series.iter().map(|series| series.histogram.count()).max().unwrap_or(0).max(1) as f64;
    let most = most.max(10.0);
    let xs = Scale::Log { min: 1.0, max: most };

    let max = series.iter().map(|series| series.histogram.max()).max().unwrap_or(0).max(1000) as f64;
    let usual = series.iter().map(|series| series.histogram.quantile(0.99)).max().unwrap_or(0).max(1) as f64;
    let (near, far) = limits(series, max * NEAR);
    let top = near.iter().map(|&limit| limit as f64).fold(max, f64::max) * 1.06;
    let (ys, y_ticks, title) = if max > usual * STEEP {
        let least = series.iter().map(|series| series.histogram.min()).min().unwrap_or(1).max(100) as f64;
        let bottom = 10f64.powf(least.log10().floor());
        let most = ((frame.height - frame.top - frame.bottom) / 20.0) as usize;
        (Scale::Log { min: bottom, max: top }, log_duration_ticks(bottom, top, most), "latency (logarithmic)")
    } else {
        let ys = Scale::Linear { max: top };
        let most = if frame.height > 250.0 { 7 } else { 4 };
        (ys, duration_ticks(top, most, ys), "latency")
    };
    let mut out = frame.x_axis(&x_ticks(most, xs, frame.labels - 1));
    out += &frame.y_axis(&y_ticks, title);
    for (i, &limit) in near.iter().enumerate() {
        let (y, left, right) = (frame.y(ys.share(limit as f64)), frame.x(0.0), frame.x(1.0));
        out += &format!("<path class=\"limit\" d=\"M{left:.1} {y:.1}H{right:.1}\"/>\n");
        // Beside each other, as far as there is room.
        let beside = ((right - left) / 110.0).max(1.0) as usize;
        let (x, text) = (left + 8.0 + 110.0 * (i % beside) as f64, short_duration(limit));
        out += &format!("<text class=\"limit-label\" x=\"{x:.1}\" y=\"{:.1}\">limit {text}</text>\n", y - 5.0);
    }
    for series in series {
        let (path, end) = curve(series.histogram, frame, xs, ys);
        let (name, class) = (escape(&series.name), class(series.style));
        out += &format!("<path class=\"line {class}\" d=\"{path}\"><title>{name}</title></path>\n");
        out += &marker(series.style, end.0, end.1);
    }
    let notes = match far.is_empty() {
        true => vec![],
        false => vec![format!(
            "The {} {} above this axis: {}.",
            if far.len() == 1 { "limit" } else { "limits" },
            if far.len() == 1 { "lies" } else { "lie" },
            far.iter().map(|&limit| short_duration(limit)).collect::<Vec<_>>().join(", ")
        )],
    };
    let label = format!("Percentile curve of {}", plural(series.len() as u64, "line"));
    Drawing { svg: frame.svg(&label, &out), notes }
}

/// The different limits: those up to `top`, and those beyond.
fn limits(series: &[Series], top: f64) -> (Vec<u64>, Vec<u64>) {
    let mut limits: Vec<u64> = series.iter().filter_map(|series| series.limit).collect();
    limits.sort_unstable();
    limits.dedup();
    limits.into_iter().partition(|&limit| limit as f64 <= top)
}

/// 0 %, 90 %, 99 %, … and below each how rare that is.
fn x_ticks(most: f64, xs: Scale, labels: usize) -> Vec<(f64, String, String)> {
    let decades = (most.log10() + 1e-9) as usize;
    let ticks = (0..=decades).map(|power| {
        let label = match power {
            0 => "0 %".to_owned(),
            1 => "90 %".to_owned(),
            2 => "99 %".to_owned(),
            n => format!("99.{} %", "9".repeat(n - 2)),
        };
        let below = match power {
            0 => String::new(),
            n => format!("1 in {}", count(10u64.saturating_pow(n as u32))),
        };
        (xs.share(10f64.powi(power as i32)), label, below)
    });
    let every = decades.div_ceil(labels);
    ticks.step_by(every.max(1)).collect()
}

/// The path of the quantile function, and where it ends: at the maximum, which is one value in all of them.
fn curve(histogram: &Histogram, frame: Frame, xs: Scale, ys: Scale) -> (String, (f64, f64)) {
    let total = histogram.count();
    let y = |value: u64| frame.y(ys.share(value as f64));
    // 1/(1-p) after so many values; the last one stands for itself.
    let x = |below: u64| frame.x(xs.share(total as f64 / total.saturating_sub(below).max(1) as f64));
    let mut at = (x(0), y(histogram.min()));
    let mut path = format!("M{:.1} {:.1}", at.0, at.1);
    let mut below = 0;
    for bucket in histogram.buckets().iter_recorded() {
        let next_below = below + bucket.count_at_value();
        let value = match next_below == total {
            true => histogram.max(),
            false => bucket.value_iterated_to().clamp(histogram.min(), histogram.max()),
        };
        let next = (x(next_below), y(value));
        // Steps too small to be seen are left out, the last one never.
        if (next.0 - at.0).abs() + (next.1 - at.1).abs() > 0.8 || next_below == total {
            path += &format!("V{:.1}H{:.1}", next.1, next.0);
            at = next;
        }
        below = next_below;
    }
    (path, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(histogram: &Histogram, limit: Option<u64>) -> Drawing {
        let series = [Series { name: "a".into(), style: 0, histogram, limit }];
        percentiles(&series, Frame::LARGE)
    }

    #[test]
    fn the_curve_ends_at_the_maximum() {
        let histogram = Histogram::of((1..=1000).map(|i| i * 100));
        let (xs, ys) = (Scale::Log { min: 1.0, max: 1000.0 }, Scale::Linear { max: 100_000.0 });
        let (_, end) = curve(&histogram, Frame::LARGE, xs, ys);
        assert_eq!(end, (Frame::LARGE.x(1.0), Frame::LARGE.y(1.0)));
    }

    #[test]
    fn the_axis_says_how_rare() {
        let svg = line(&Histogram::of((1..=1000).map(|i| i * 100)), None).svg;
        assert!(svg.contains(">99.9 %<") && svg.contains(">1 in 1,000<") && !svg.contains("99.99"), "{svg}");
    }

    #[test]
    fn an_outlier_makes_the_axis_logarithmic() {
        let values = (0..10_000).map(|i| 2_000 + i % 5_000);
        assert!(!line(&Histogram::of(values.clone()), None).svg.contains("logarithmic"));
        assert!(line(&Histogram::of(values.chain([5_000_000])), None).svg.contains("logarithmic"));
    }

    #[test]
    fn a_far_limit_is_named() {
        let drawing = line(&Histogram::of([1000, 2000]), Some(1_000_000));
        assert_eq!(drawing.notes, ["The limit lies above this axis: 1 ms."]);
    }
}
