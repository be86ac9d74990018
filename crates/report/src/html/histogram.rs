//! The step histogram that real-time people know from OSADL: latency to the right, number of values upwards,
//! logarithmic, so that a single outlier is as visible as a million good ones.
//!
//! Nothing lies beyond the axis. If an outlier is so long that a linear axis would leave too little width to the usual values
//! of some line, the axis is logarithmic, too.

use super::figure::{Drawing, Series, limits};
use crate::chart::{Axis, Chart, Frame, Path};
use crate::format::{plural, short_duration};
use vecud_record::histogram::Histogram;

/// The approximate width of a step in the drawing: on a linear axis, and on a logarithmic one, where far more steps have values.
const STEP: [f64; 2] = [4.9, 8.5];
/// A linear axis reaches at most to this multiple of the usual values.
const OUTLIER: f64 = 6.0;
/// A limit is drawn when the axis becomes at most this much longer by it: a linear one, a logarithmic one.
const NEAR: [f64; 2] = [2.5, 20.0];
/// The least begin of a logarithmic axis, ns.
const SHORTEST: f64 = 100.0;

/// Draws the step histogram.
pub fn histogram(series: &[Series], frame: Frame) -> Drawing {
    let steps = Steps::of(series, frame);
    let counts: Vec<Vec<u64>> = series.iter().map(|series| steps.counts(series.histogram)).collect();
    let highest = counts.iter().flatten().copied().max().unwrap_or(0).max(1);
    let top = 10f64.powf((highest as f64 * 1.3).log10().ceil());
    let upwards = Axis::counts(top, (frame.plot_height() / 26.0) as usize).titled("number of values");
    let mut chart = Chart::new(frame, &steps.axis, &upwards);
    let notes = draw_limits(&limits(series), steps.end(), &mut chart);
    for (series, counts) in series.iter().zip(&counts) {
        let mut path = Path::default();
        for (edge, count) in steps.edges.iter().zip(counts.iter().copied().chain([0])) {
            let x = chart.x(*edge as f64);
            // Where nothing was counted there is no line, so that the tails stay readable.
            if path.is_up() && count > 0 {
                path.step(x, chart.y(0.0));
            }
            if !path.is_up() {
                path.step(x, chart.y(count as f64));
            }
            if count == 0 {
                path.lift();
            }
        }
        chart.line(series.style, &path, &series.name);
    }
    for (series, counts) in series.iter().zip(&counts) {
        let count = counts.iter().rfind(|count| **count > 0).copied().unwrap_or(0);
        chart.mark(series.style, series.histogram.max() as f64, count as f64);
    }
    if steps.axis.is_log() {
        chart.text("end dim", frame.x(1.0), frame.top - 11.0, "logarithmic to the right");
    }
    Drawing { svg: chart.svg(&format!("Step histogram of {}", plural(series.len() as u64, "line"))), notes }
}

/// Lines at the limits that the axis reaches, sentences about those that it does not.
fn draw_limits(limits: &[u64], end: u64, chart: &mut Chart) -> Vec<String> {
    let (inside, outside): (Vec<u64>, Vec<u64>) = limits.iter().partition(|limit| **limit < end);
    for (i, limit) in inside.iter().enumerate() {
        let x = chart.x(*limit as f64);
        chart.upright("limit", *limit as f64);
        let (anchor, x) = if x > chart.frame.x(0.8) { ("end", x - 6.0) } else { ("start", x + 6.0) };
        let (y, text) = (chart.frame.top + 13.0 + 15.0 * (i % 4) as f64, short_duration(*limit));
        chart.text(&format!("limit-label {anchor}"), x, y, &format!("limit {text}"));
    }
    let texts: Vec<String> = outside.iter().map(|&limit| short_duration(limit)).collect();
    let (noun, verb) = if texts.len() == 1 { ("limit", "lies") } else { ("limits", "lie") };
    let note = || format!("The {noun} {} {verb} to the right of this axis.", texts.join(", "));
    (!texts.is_empty()).then(note).into_iter().collect()
}

/// Steps along the axis, about equally wide in the drawing. They begin where recorded buckets do, so that each bucket falls
/// into exactly one step.
struct Steps {
    axis: Axis,
    /// The begin of each step, then the end of the last one, ns.
    edges: Vec<u64>,
}

impl Steps {
    fn of(series: &[Series], frame: Frame) -> Steps {
        let counted = || series.iter().map(|series| series.histogram).filter(|own| own.count() > 0);
        let max = counted().map(|own| own.max()).max().unwrap_or(0) as f64;
        let usual = counted().map(|own| own.quantile(0.99)).min().unwrap_or(0) as f64;
        let limit = series.iter().filter_map(|series| series.limit).max().unwrap_or(0) as f64;
        // A limit that is near belongs into the picture.
        let shown = |near: f64| if limit <= max * near { max.max(limit * 1.06) } else { max };
        let steps = STEP.map(|step| frame.width / step);
        if max <= usual * OUTLIER {
            return Steps::linear(shown(NEAR[0]), steps[0], frame.labels);
        }
        // One value that took next to nothing does not stretch the axis; it lies in the first step.
        let min = counted().map(|own| own.quantile(0.02)).min().unwrap_or(0) as f64;
        Steps::logarithmic(min.max(SHORTEST), shown(NEAR[1]), steps[1], counted().next(), frame.labels)
    }

    /// Up to `max`. The width of a step is a power of two, like that of the buckets.
    fn linear(max: f64, most: f64, labels: usize) -> Steps {
        let shown = (max as u64).clamp(1000, 1 << 60) + 1;
        let mut width = 1;
        while (shown / width) as f64 >= most {
            width *= 2;
        }
        let edges: Vec<u64> = (0..=shown.div_ceil(width)).map(|step| step * width).collect();
        Steps { axis: Axis::durations(*edges.last().expect("there are some") as f64, labels), edges }
    }

    /// A logarithmic axis from `min`, or a little less, to `max`. Smaller values lie in the first step.
    fn logarithmic(min: f64, max: f64, steps: f64, buckets: Option<&Histogram>, labels: usize) -> Steps {
        // At 1, 2 or 5 times a power of ten.
        let power = 10f64.powf(min.log10().floor());
        let begin = [5.0, 2.0, 1.0].map(|n| n * power).into_iter().find(|at| *at <= min).unwrap_or(power);
        let end = max.max(begin * 10.0) * 1.05;
        let ratio = (end / begin).ln() / steps;
        let edge = |step: usize| (begin * (ratio * step as f64).exp()) as u64;
        let aligned = |edge: u64| buckets.map_or(edge, |own| own.buckets().lowest_equivalent(edge));
        let mut edges: Vec<u64> = (0..=steps as usize).map(|step| aligned(edge(step))).collect();
        edges.push((end as u64).saturating_add(1));
        edges.dedup();
        Steps { axis: Axis::log_durations(begin, end, labels), edges }
    }

    fn end(&self) -> u64 {
        *self.edges.last().expect("there are some")
    }

    fn counts(&self, histogram: &Histogram) -> Vec<u64> {
        let last = self.edges.len() - 2;
        let mut counts = vec![0; last + 1];
        for bucket in histogram.buckets().iter_recorded() {
            let value = bucket.value_iterated_to().min(histogram.max());
            let step = self.edges.partition_point(|edge| *edge <= value).saturating_sub(1);
            counts[step.min(last)] += bucket.count_at_value();
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(histogram: &Histogram, limit: Option<u64>) -> Vec<Series<'_>> {
        vec![Series { name: "a".into(), style: 0, histogram, limit }]
    }

    fn width_of(steps: &Steps, value: f64) -> f64 {
        steps.axis.scale.share(value)
    }

    #[test]
    fn outliers_are_on_the_axis_and_leave_room_for_what_is_usual() {
        let mut values: Vec<u64> = (0..10_000).map(|i| 2_000 + i % 5_000).collect();
        values.extend([5_200_000, 5_100_000, 900_000]);
        let histogram = Histogram::of(values);
        let steps = Steps::of(&series(&histogram, None), Frame::LARGE);
        assert!(steps.end() > 5_200_000 && steps.counts(&histogram).iter().sum::<u64>() == 10_003);
        assert!(width_of(&steps, 7_000.0) - width_of(&steps, 2_000.0) > 0.12, "{}", width_of(&steps, 7_000.0));
        let beyond = steps.edges.partition_point(|edge| *edge < 800_000);
        assert_eq!(steps.counts(&histogram)[beyond..].iter().sum::<u64>(), 3);
        let svg = super::histogram(&series(&histogram, None), Frame::LARGE).svg;
        assert!(svg.contains("logarithmic to the right") && svg.contains("1 ms"), "{svg}");
    }

    #[test]
    fn without_outliers_the_axis_is_linear_and_everything_is_shown() {
        let histogram = Histogram::of((0..10_000).map(|i| i * 3));
        let steps = Steps::of(&series(&histogram, None), Frame::LARGE);
        assert!(!steps.axis.is_log());
        assert_eq!(steps.counts(&histogram).iter().sum::<u64>(), 10_000);
    }

    #[test]
    fn steps_are_made_of_whole_buckets() {
        for max in [1_000, 33_333, 70_000, 1_000_000, 123_456_789] {
            for values in [vec![max], [vec![200; 1000], vec![max]].concat()] {
                let histogram = Histogram::of(values);
                let steps = Steps::of(&series(&histogram, None), Frame::LARGE);
                let buckets = histogram.buckets();
                let (_, begins) = steps.edges.split_last().unwrap();
                assert!(begins.iter().all(|edge| buckets.lowest_equivalent(*edge) == *edge), "{max}");
                assert!(steps.edges.is_sorted_by(|a, b| a < b), "{:?}", steps.edges);
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
