//! The step histogram that real-time people know from OSADL: latency to the right, number of values upwards,
//! logarithmic, so that a single outlier is as visible as a million good ones.

use super::escape;
use super::figure::{Drawing, Series};
use super::svg::{Frame, Scale, class, count_ticks, duration_ticks, marker};
use crate::record::histogram::Histogram;
use crate::report::format::{duration, plural, short_duration};

/// A step is at least that wide in the drawing.
const STEP: f64 = 4.9;
/// The axis shows everything up to this multiple of what is usual; beyond it, only the usual.
const OUTLIER: f64 = 6.0;
/// A limit is drawn when the axis becomes at most this much longer by it.
const NEAR: f64 = 2.5;

/// Draws the step histogram.
pub fn histogram(series: &[Series], frame: Frame) -> Drawing {
    let bins = Bins::for_series(series, frame);
    let counts: Vec<Vec<u64>> = series.iter().map(|series| bins.counts(series.histogram)).collect();
    let highest = counts.iter().flatten().copied().max().unwrap_or(0).max(1);
    let top = 10f64.powf((highest as f64 * 1.3).log10().ceil());
    let (xs, ys) = (Scale::Linear { max: bins.end() as f64 }, Scale::Log { min: 0.6, max: top });

    let x_ticks: Vec<_> = duration_ticks(bins.end() as f64, frame.labels, xs)
        .into_iter()
        .map(|(share, label)| (share, label, String::new()))
        .collect();
    let most = ((frame.height - frame.top - frame.bottom) / 26.0) as usize;
    let mut out = frame.x_axis(&x_ticks);
    out += &frame.y_axis(&count_ticks(top, ys, most), "number of values");
    let mut notes = Vec::new();
    limits(series, &bins, frame, xs, &mut out, &mut notes);
    for (series, counts) in series.iter().zip(&counts) {
        let path = steps(counts, &bins, frame, xs, ys);
        let (name, class) = (escape(&series.name), class(series.style));
        out += &format!("<path class=\"line {class}\" d=\"{path}\"><title>{name}</title></path>\n");
    }
    for (series, counts) in series.iter().zip(&counts) {
        // The mark is at the maximum; when that is beyond the axis, at the edge.
        let last = counts.iter().rposition(|&count| count > 0);
        let (value, count) = match last {
            Some(bin) if bins.beyond(series.histogram) == 0 => ((bin as f64 + 0.5) * bins.width as f64, counts[bin]),
            _ => (bins.end() as f64, 0),
        };
        out += &marker(series.style, frame.x(xs.share(value)), frame.y(ys.share(count as f64)));
    }
    let beyond: u64 = series.iter().map(|series| bins.beyond(series.histogram)).sum();
    if beyond > 0 {
        let max = series.iter().map(|series| series.histogram.max()).max().unwrap_or(0);
        let text = format!("{} beyond {}, up to {}", plural(beyond, "value"), duration(bins.end()), duration(max));
        let (x, y) = (frame.x(1.0), frame.top - 11.0);
        out += &format!("<text class=\"end strong\" x=\"{x:.1}\" y=\"{y:.1}\">{text} →</text>\n");
    }
    let label = format!("Step histogram of {}", plural(series.len() as u64, "line"));
    Drawing { svg: frame.svg(&label, &out), notes }
}

/// Lines at the limits that the axis reaches, sentences about those that it does not.
fn limits(series: &[Series], bins: &Bins, frame: Frame, xs: Scale, out: &mut String, notes: &mut Vec<String>) {
    let mut limits: Vec<u64> = series.iter().filter_map(|series| series.limit).collect();
    limits.sort_unstable();
    limits.dedup();
    let (inside, outside): (Vec<u64>, Vec<u64>) = limits.into_iter().partition(|&limit| limit < bins.end());
    for (i, limit) in inside.iter().enumerate() {
        let (x, top, bottom) = (frame.x(xs.share(*limit as f64)), frame.y(1.0), frame.y(0.0));
        *out += &format!("<path class=\"limit\" d=\"M{x:.1} {top:.1}V{bottom:.1}\"/>\n");
        let (anchor, x) = if x > frame.x(0.8) { ("end", x - 6.0) } else { ("start", x + 6.0) };
        let y = top + 13.0 + 15.0 * (i % 4) as f64;
        let text = short_duration(*limit);
        *out += &format!("<text class=\"limit-label {anchor}\" x=\"{x:.1}\" y=\"{y:.1}\">limit {text}</text>\n");
    }
    if !outside.is_empty() {
        let texts: Vec<String> = outside.iter().map(|&limit| short_duration(limit)).collect();
        let (noun, verb) = if texts.len() == 1 { ("limit", "lies") } else { ("limits", "lie") };
        notes.push(format!("The {noun} {} {verb} to the right of this axis.", texts.join(", ")));
    }
}

/// Equal steps along the axis. Their width is a power of two, like that of the recorded buckets, so that each bucket
/// falls into exactly one step.
struct Bins {
    width: u64,
    number: u64,
}

impl Bins {
    fn for_series(series: &[Series], frame: Frame) -> Bins {
        let max = series.iter().map(|series| series.histogram.max()).max().unwrap_or(0) as f64;
        let usual = series.iter().map(|series| usual(series.histogram)).max().unwrap_or(0) as f64;
        let shown = if max <= usual * OUTLIER { max } else { usual * 2.0 };
        // A limit that is near belongs into the picture.
        let limit = series.iter().filter_map(|series| series.limit).max().unwrap_or(0) as f64;
        let shown = if limit <= shown * NEAR { shown.max(limit * 1.06) } else { shown };
        let shown = (shown as u64).clamp(1000, 1 << 60) + 1;
        let mut width = 1;
        let most = (frame.width / STEP) as u64;
        while shown / width >= most {
            width *= 2;
        }
        Bins { width, number: shown.div_ceil(width) }
    }

    fn end(&self) -> u64 {
        self.width * self.number
    }

    fn counts(&self, histogram: &Histogram) -> Vec<u64> {
        let mut counts = vec![0; self.number as usize];
        for bucket in histogram.buckets().iter_recorded() {
            let value = bucket.value_iterated_to().min(histogram.max());
            if let Some(count) = counts.get_mut((value / self.width) as usize) {
                *count += bucket.count_at_value();
            }
        }
        counts
    }

    fn beyond(&self, histogram: &Histogram) -> u64 {
        histogram.count() - self.counts(histogram).iter().sum::<u64>()
    }
}

/// Where all but the few longest values lie.
fn usual(histogram: &Histogram) -> u64 {
    match histogram.count() {
        count if count < 20 => histogram.max(),
        count => histogram.quantile((1.0 - 1.5 / count as f64).min(0.999)),
    }
}

/// The outline of the steps. Where nothing was counted there is no line, so that the tails stay readable.
fn steps(counts: &[u64], bins: &Bins, frame: Frame, xs: Scale, ys: Scale) -> String {
    let x = |bin: usize| frame.x(xs.share(bin as f64 * bins.width as f64));
    let y = |count: u64| frame.y(ys.share(count as f64));
    let mut path = String::new();
    let mut level = 0;
    for (bin, count) in counts.iter().copied().chain([0]).enumerate() {
        match (level, count) {
            (before, now) if before == now => {}
            (0, now) => path += &format!("M{:.1} {:.1}V{:.1}", x(bin), y(0), y(now)),
            (_, now) => path += &format!("H{:.1}V{:.1}", x(bin), y(now)),
        }
        level = count;
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(histogram: &Histogram, limit: Option<u64>) -> Vec<Series<'_>> {
        vec![Series { name: "a".into(), style: 0, histogram, limit }]
    }

    #[test]
    fn every_value_is_in_a_step_or_beyond() {
        let mut values: Vec<u64> = (0..10_000).map(|i| 2_000 + i % 5_000).collect();
        values.extend([5_200_000, 5_100_000, 900_000]);
        let histogram = Histogram::of(values);
        let bins = Bins::for_series(&series(&histogram, None), Frame::LARGE);
        assert_eq!(bins.beyond(&histogram), 3);
        assert!((7_000..20_000).contains(&bins.end()), "{}", bins.end());
        let drawing = super::histogram(&series(&histogram, None), Frame::LARGE);
        assert!(
            drawing.svg.contains("3 values beyond 1") && drawing.svg.contains(" µs, up to 5.20 ms"),
            "{}",
            drawing.svg
        );
    }

    #[test]
    fn without_outliers_everything_is_shown() {
        let histogram = Histogram::of((0..10_000).map(|i| i * 3));
        assert_eq!(Bins::for_series(&series(&histogram, None), Frame::LARGE).beyond(&histogram), 0);
    }

    #[test]
    fn steps_are_made_of_whole_buckets() {
        for max in [1_000, 33_333, 70_000, 1_000_000, 123_456_789] {
            let histogram = Histogram::of([max]);
            let bins = Bins::for_series(&series(&histogram, None), Frame::LARGE);
            let buckets = histogram.buckets();
            for edge in (0..bins.number).map(|bin| bin * bins.width) {
                assert_eq!(buckets.lowest_equivalent(edge), edge, "{max}");
            }
        }
    }

    #[test]
    fn a_near_limit_is_drawn_and_a_far_one_is_named() {
        let histogram = Histogram::of((0..1000).map(|i| i * 50));
        let near = super::histogram(&series(&histogram, Some(60_000)), Frame::LARGE);
        assert!(near.svg.contains("limit 60 µs") && near.notes.is_empty());
        let far = super::histogram(&series(&histogram, Some(900_000)), Frame::LARGE);
        assert_eq!(far.notes, ["The limit 900 µs lies to the right of this axis."]);
    }
}
