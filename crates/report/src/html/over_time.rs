//! The maximum of each interval over the time of the run: whether latencies grow, come in bursts, or were a single event. Where the
//! instant of the maximum is known more exactly than to its interval, it is a needle at that instant, out of the maximum of the rest.

use super::escape;
use super::figure::{Drawing, Series};
use super::svg::{Frame, Scale, class, duration_ticks, log_duration_ticks, marker};
use crate::format::{duration, plural, seconds, short_duration};
use crate::{OverTime, Peaks};

/// Beyond this ratio of the longest to the usual value, the y axis is logarithmic.
const STEEP: f64 = 12.0;

/// A line with the maximum of each interval.
pub struct Course<'a> {
    points: Vec<Point<'a>>,
    /// Length of an interval, s.
    interval: f64,
    /// Resolution of instants, s.
    resolution: f64,
}

/// One interval.
struct Point<'a> {
    longest: Option<&'a u64>,
    /// Begin of its instant, s; `None`: somewhere in the interval.
    at: Option<f64>,
    /// The longest of the other values.
    otherwise: Option<u64>,
}

impl Point<'_> {
    /// Typical level of the interval.
    fn level(&self) -> Option<u64> {
        self.otherwise.or(self.longest.copied())
    }
}

impl<'a> Course<'a> {
    /// Course of the start latencies.
    pub fn of_start_latency(own: &'a OverTime) -> Course<'a> {
        Course::of(own, &own.start_latency, &own.start_latency_peaks)
    }

    /// Course of the responses.
    pub fn of_response(own: &'a OverTime) -> Course<'a> {
        Course::of(own, &own.response, &own.response_peaks)
    }

    fn of(own: &OverTime, longest: &'a [Option<u64>], peaks: &Peaks) -> Course<'a> {
        let point = |(place, longest): (usize, &'a Option<u64>)| Point {
            longest: longest.as_ref(),
            at: peaks.at_s.get(place).copied().flatten().filter(|at| at.is_finite()),
            otherwise: peaks.otherwise.get(place).copied().flatten(),
        };
        let points = longest.iter().enumerate().map(point).collect();
        Course { points, interval: own.interval_s, resolution: own.resolution_s }
    }

    /// Time of the longest value of an interval, s: the middle of the time that it can have.
    fn instant(&self, place: usize) -> f64 {
        match self.points[place].at {
            Some(at) => at + 0.5 * self.resolution,
            None => (place as f64 + 0.5) * self.interval,
        }
    }
}

/// Draws them; `courses` belong to `series`.
pub fn over_time(series: &[Series], courses: &[Course], frame: Frame) -> Drawing {
    let all = || courses.iter().flat_map(|course| course.points.iter().filter_map(|point| point.longest.copied()));
    let end = courses.iter().map(|course| course.points.len() as f64 * course.interval * 1e9).fold(1.0, f64::max);
    let xs = Scale::Linear { max: if end.is_finite() { end } else { 1.0 } };
    let max = all().max().unwrap_or(0).max(1000) as f64;
    let mut values: Vec<u64> =
        courses.iter().flat_map(|course| course.points.iter().filter_map(Point::level)).collect();
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
        for (i, level) in course.points.iter().map(Point::level).enumerate() {
            match (last, level) {
                (_, None) => {}
                (Some(before), Some(value)) if before == value => path += &format!("H{:.1}", x(i as f64 + 1.0)),
                (Some(_), Some(value)) => path += &format!("V{:.1}H{:.1}", y(value), x(i as f64 + 1.0)),
                (None, Some(value)) => {
                    path += &format!("M{:.1} {:.1}H{:.1}", x(i as f64), y(value), x(i as f64 + 1.0));
                }
            }
            last = level;
        }
        for (i, point) in course.points.iter().enumerate() {
            if let (Some(longest), Some(otherwise)) = (point.longest, point.otherwise) {
                let (bottom, top) = (y(otherwise), y(*longest));
                if bottom - top >= 1.0 {
                    path += &format!("M{:.1} {bottom:.1}V{top:.1}", frame.x(xs.share(course.instant(i) * 1e9)));
                }
            }
        }
        let (name, class) = (escape(&series.name), class(series.style));
        out += &format!("<path class=\"line {class}\" d=\"{path}\"><title>{name}</title></path>\n");
    }
    let mut notes = Vec::new();
    for (series, course) in series.iter().zip(courses) {
        let longest = course.points.iter().enumerate().max_by_key(|(_, point)| point.longest);
        if let Some((place, Point { longest: Some(value), at, .. })) = longest {
            let mark =
                marker(series.style, frame.x(xs.share(course.instant(place) * 1e9)), frame.y(ys.share(**value as f64)));
            let words = at.map(|at| format!("{}: {} at {}", series.name, duration(**value), seconds(at)));
            let title = words.as_deref().map_or(String::new(), |words| format!("<title>{}</title>", escape(words)));
            out += &format!("<g>{title}{}</g>\n", mark.trim_end());
            notes.extend(words);
        }
    }
    // With many lines, the marks show it.
    let told =
        if (1..=2).contains(&notes.len()) { vec![format!("The longest, {}.", notes.join("; "))] } else { Vec::new() };
    let label = format!("The longest value of each interval of the run, {}", plural(series.len() as u64, "line"));
    Drawing { svg: frame.svg(&label, &out), notes: told }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vecud_record::histogram::Histogram;

    #[test]
    fn intervals_without_values_are_gaps_and_the_mark_is_at_the_longest() {
        let histogram = Histogram::of([1]);
        let series = [Series { name: "a".into(), style: 0, histogram: &histogram, limit: None }];
        let points = vec![Some(2_000), Some(2_000), None, Some(4_000), Some(3_000)];
        let own = OverTime { interval_s: 0.1, resolution_s: 0.1, start_latency: points, ..OverTime::default() };
        let drawing = over_time(&series, &[Course::of_start_latency(&own)], Frame::MEDIUM);
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
            for interval_s in [0.0, 0.05, f64::NAN, f64::INFINITY] {
                let peaks = Peaks { at_s: vec![Some(interval_s)], otherwise: vec![None, Some(u64::MAX), Some(3)] };
                let own =
                    OverTime { interval_s, response: points.to_vec(), response_peaks: peaks, ..OverTime::default() };
                let svg = over_time(&series, &[Course::of_response(&own)], Frame::MEDIUM).svg;
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            }
        }
    }
    /// A month with one spike: it is no step of three hours but a needle at its instant, and its mark says when.
    #[test]
    fn a_spike_is_at_its_instant_and_leaves_its_interval_what_it_was_otherwise() {
        let histogram = Histogram::of([1]);
        let series = [Series { name: "a".into(), style: 0, histogram: &histogram, limit: None }];
        let own = OverTime {
            interval_s: 10_000.0,
            resolution_s: 0.05,
            start_latency: vec![Some(2_000), Some(9_000), Some(2_000)],
            start_latency_peaks: Peaks {
                at_s: vec![Some(5.0), Some(19_000.5), Some(20_000.0)],
                otherwise: vec![Some(2_000); 3],
            },
            ..OverTime::default()
        };
        let drawing = over_time(&series, &[Course::of_start_latency(&own)], Frame::MEDIUM);
        let line = drawing.svg.lines().find(|line| line.contains("class=\"line s0\"")).unwrap();
        assert_eq!(line.matches('M').count(), 2, "a level line and one needle: {line}");
        let at = Frame::MEDIUM.x(19_000.525 / 30_000.0);
        assert!(line.contains(&format!("M{at:.1} ")), "{line}");
        assert!(drawing.svg.contains(&format!("translate({at:.1} ")), "{}", drawing.svg);
        assert!(drawing.notes[0].contains("9.00 µs at 19000.5"), "{:?}", drawing.notes);
    }
}
