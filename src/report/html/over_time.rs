//! The maximum of each interval over the time of the run: whether latencies grow, come in bursts, or were a single event.

use super::escape;
use super::figure::{Drawing, Series};
use super::svg::{Frame, Scale, class, duration_ticks, log_duration_ticks, marker};
use crate::report::format::{plural, short_duration};

/// Beyond this ratio of the longest to the usual value, the y axis is logarithmic.
const STEEP: f64 = 12.0;

/// A line with the maximum of each interval.
pub struct Course<'a> {
    pub points: &'a [Option<u64>],
    /// Length of an interval, s.
    pub interval: f64,
}

/// Draws them; `courses` belong to `series`.
pub fn over_time(series: &[Series], courses: &[Course], frame: Frame) -> Drawing {
    let all = || courses.iter().flat_map(|course| course.points.iter().flatten().copied());
    let end = courses.iter().map(|course| course.points.len() as f64 * course.interval * 1e9).fold(1.0, f64::max);
    let xs = Scale::Linear { max: if end.is_finite() { end } else { 1.0 } };
    let max = all().max().unwrap_or(0).max(1000) as f64;
    let mut values: Vec<u64> = all().collect();
    values.sort_unstable();
    let usual = values.get(values.len() / 2).copied().unwrap_or(0).max(1) as f64;
    let (ys, y_ticks, title) = if max > usual * STEEP {
        let least = values.first().copied().unwrap_or(1).max(100) as f64;
        let bottom = 10f64.powf(least.log10().floor());
        let scale = Scale::Log { min: bottom, max: max * 1.15 };
        let most = ((frame.height - frame.top - frame.bottom) / 20.0) as usize;
        (scale, log_duration_ticks(bottom, max * 1.15, most), "longest (logarithmic)")
    } else {
        let scale = Scale::Linear { max: max * 1.08 };
        (scale, duration_ticks(max * 1.08, 5, scale), "longest")
    };
    let x_ticks: Vec<_> =
        duration_ticks(end, frame.labels, xs).into_iter().map(|(share, label)| (share, label, String::new())).collect();
    let mut out = frame.x_axis(&x_ticks);
    out += &frame.y_axis(&y_ticks, title);
    let mut limits: Vec<u64> = series.iter().filter_map(|series| series.limit).collect();
    limits.sort_unstable();
    limits.dedup();
    for limit in limits.into_iter().filter(|limit| (*limit as f64) < max * 1.08) {
        let (y, left, right) = (frame.y(ys.share(limit as f64)), frame.x(0.0), frame.x(1.0));
        out += &format!("<path class=\"limit\" d=\"M{left:.1} {y:.1}H{right:.1}\"/>\n");
        let (x, text) = (left + 6.0, short_duration(limit));
        out += &format!("<text class=\"limit-label\" x=\"{x:.1}\" y=\"{:.1}\">limit {text}</text>\n", y - 5.0);
    }
    for (series, course) in series.iter().zip(courses) {
        let width = course.interval * 1e9;
        let x = |point: f64| frame.x(xs.share(point * width));
        let y = |value: u64| frame.y(ys.share(value as f64));
        let mut path = String::new();
        let mut last = None;
        for (i, value) in course.points.iter().enumerate() {
            match (last, value) {
                (_, None) => {}
                (Some(before), Some(value)) if before == *value => path += &format!("H{:.1}", x(i as f64 + 1.0)),
                (Some(_), Some(value)) => path += &format!("V{:.1}H{:.1}", y(*value), x(i as f64 + 1.0)),
                (None, Some(value)) => {
                    path += &format!("M{:.1} {:.1}H{:.1}", x(i as f64), y(*value), x(i as f64 + 1.0));
                }
            }
            last = *value;
        }
        let (name, class) = (escape(&series.name), class(series.style));
        out += &format!("<path class=\"line {class}\" d=\"{path}\"><title>{name}</title></path>\n");
    }
    for (series, course) in series.iter().zip(courses) {
        let longest = course.points.iter().enumerate().max_by_key(|(_, value)| **value);
        if let Some((place, Some(value))) = longest {
            let at = xs.share((place as f64 + 0.5) * course.interval * 1e9);
            out += &marker(series.style, frame.x(at), frame.y(ys.share(*value as f64)));
        }
    }
    let label = format!("The longest value of each interval of the run, {}", plural(series.len() as u64, "line"));
    Drawing { svg: frame.svg(&label, &out), notes: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::histogram::Histogram;

    #[test]
    fn intervals_without_values_are_gaps_and_the_mark_is_at_the_longest() {
        let histogram = Histogram::of([1]);
        let series = [Series { name: "a".into(), style: 0, histogram: &histogram, limit: None }];
        let points = [Some(2_000), Some(2_000), None, Some(4_000), Some(3_000)];
        let drawing = over_time(&series, &[Course { points: &points, interval: 0.1 }], Frame::MEDIUM);
        let line = drawing.svg.lines().find(|line| line.contains("class=\"line s0\"")).unwrap();
        assert_eq!(line.matches('M').count(), 2, "{line}");
        let mark = drawing.svg.lines().find(|line| line.contains("class=\"mark s0\"")).unwrap();
        assert!(mark.contains(&format!("translate({:.1} ", Frame::MEDIUM.x(0.7))), "{mark}");
        assert!(drawing.svg.contains(">400 ms<"), "{}", drawing.svg);
    }

    #[test]
    fn odd_courses_are_drawn_too() {
        let histogram = Histogram::of([1]);
        let series = [Series { name: "a".into(), style: 0, histogram: &histogram, limit: Some(0) }];
        for points in [&[][..], &[None], &[Some(0)], &[Some(u64::MAX), Some(1)]] {
            for interval in [0.0, 0.05, f64::NAN, f64::INFINITY] {
                let svg = over_time(&series, &[Course { points, interval }], Frame::MEDIUM).svg;
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            }
        }
    }
}
