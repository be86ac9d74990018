//! The percentile curve as HdrHistogram's tools draw it: the further right, the rarer; each grid line is ten times rarer
//! than the one before.

use super::figure::{Drawing, Series, level_limits, limits};
use crate::chart::{Axis, AxisTick, Chart, Frame, Path, Scale};
use crate::format::{count, plural, short_duration};
use vecud_record::histogram::Histogram;

/// A limit is drawn when it lies below this multiple of the maximum.
const NEAR: f64 = 2.5;

/// Draws the percentile curve.
pub fn percentiles(series: &[Series], frame: Frame) -> Drawing {
    let all = || series.iter().map(|series| series.histogram);
    let max = all().map(Histogram::max).max().unwrap_or(0).max(1000) as f64;
    let usual = all().map(|own| own.quantile(0.99)).max().unwrap_or(0) as f64;
    let (near, far): (Vec<u64>, Vec<u64>) = limits(series).into_iter().partition(|&limit| limit as f64 <= max * NEAR);
    let top = near.iter().map(|&limit| limit as f64).fold(max, f64::max) * 1.06;
    let most = [if frame.height > 250.0 { 7 } else { 4 }, (frame.plot_height() / 20.0) as usize];
    let least = all().map(Histogram::min).min().unwrap_or(1);
    let upwards = Axis::latencies([max, usual], [top; 2], least, most);
    let title = if upwards.is_log() { "latency (logarithmic)" } else { "latency" };
    let rarest = all().map(Histogram::count).max().unwrap_or(0).max(10) as f64;
    let mut chart = Chart::new(frame, &rareness(rarest, frame.labels - 1), &upwards.titled(title));
    level_limits(&mut chart, &near);
    for series in series {
        let (path, [x, y]) = curve(series.histogram, &chart);
        chart.line(series.style, &path, &series.name);
        chart.mark(series.style, x, y);
    }
    let (noun, verb) = if far.len() == 1 { ("limit", "lies") } else { ("limits", "lie") };
    let far: Vec<String> = far.into_iter().map(short_duration).collect();
    let note = || format!("The {noun} {verb} above this axis: {}.", far.join(", "));
    let notes = (!far.is_empty()).then(note).into_iter().collect();
    Drawing { svg: chart.svg(&format!("Percentile curve of {}", plural(series.len() as u64, "line"))), notes }
}

/// 0 %, 90 %, 99 %, … and below each how rare that is.
fn rareness(most: f64, labels: usize) -> Axis {
    let decades = (most.log10() + 1e-9) as usize;
    let ticks = (0..=decades).step_by(decades.div_ceil(labels).max(1)).map(|power| {
        let (label, below) = match power {
            0 => ("0 %".to_owned(), String::new()),
            1 => ("90 %".to_owned(), "1 in 10".to_owned()),
            2 => ("99 %".to_owned(), "1 in 100".to_owned()),
            n => (format!("99.{} %", "9".repeat(n - 2)), format!("1 in {}", count(10u64.saturating_pow(n as u32)))),
        };
        AxisTick { at: 10f64.powi(power as i32), label, below }
    });
    Axis { scale: Scale::Log { min: 1.0, max: most }, ticks: ticks.collect(), title: "" }
}

/// The path of the quantile function, and the values at which it ends: the maximum's value is one in all of them.
fn curve(histogram: &Histogram, chart: &Chart) -> (Path, [f64; 2]) {
    let total = histogram.count();
    // 1/(1-p) after so many values; the last one stands for itself.
    let rare = |below: u64| total as f64 / total.saturating_sub(below).max(1) as f64;
    let mut at = (chart.x(rare(0)), chart.y(histogram.min() as f64));
    let mut path = Path::default();
    path.step(at.0, at.1);
    let mut below = 0;
    for bucket in histogram.buckets().iter_recorded() {
        below += bucket.count_at_value();
        let value = match below == total {
            true => histogram.max(),
            false => bucket.value_iterated_to().clamp(histogram.min(), histogram.max()),
        };
        let next = (chart.x(rare(below)), chart.y(value as f64));
        // Steps too small to be seen are left out, the last one never.
        if (next.0 - at.0).abs() + (next.1 - at.1).abs() > 0.8 || below == total {
            path.step(at.0, next.1);
            path.level(next.0);
            at = next;
        }
    }
    (path, [rare(total), histogram.max() as f64])
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
        let chart = Chart::new(Frame::LARGE, &rareness(1000.0, 9), &Axis::durations(100_000.0, 5));
        let (path, [x, y]) = curve(&histogram, &chart);
        let end = (chart.x(x), chart.y(y));
        assert_eq!(end, (Frame::LARGE.x(1.0), Frame::LARGE.y(1.0)));
        assert!(path.to_string().ends_with(&format!("V{:.1}H{:.1}", end.1, end.0)), "{path}");
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
