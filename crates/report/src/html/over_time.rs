//! The maximum of each interval over the time of the run: whether latencies grow, come in bursts, or were a single event. Where the
//! instant of the maximum is known more exactly than to its interval, it is a needle at that instant, out of the maximum of the rest.

use super::figure::{Drawing, Series, level_limits, limits};
use crate::chart::{Axis, Chart, Frame, Path};
use crate::format::{duration, plural, seconds};
use crate::{OverTime, Peaks};

/// A line with the maximum of each interval.
pub struct Course<'a> {
    points: Vec<Point<'a>>,
    /// Length of an interval, s.
    interval: f64,
    /// Resolution of instants, s.
    resolution: f64,
}

/// The values of one interval.
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
    let points = || courses.iter().flat_map(|course| &course.points);
    let end = courses.iter().map(|course| course.points.len() as f64 * course.interval * 1e9).fold(1.0, f64::max);
    let times = Axis::durations(if end.is_finite() { end } else { 1.0 }, frame.labels);
    let max = points().filter_map(|point| point.longest).max().copied().unwrap_or(0).max(1000) as f64;
    let mut levels: Vec<u64> = points().filter_map(Point::level).collect();
    levels.sort_unstable();
    let usual = levels.get(levels.len() / 2).copied().unwrap_or(0) as f64;
    let most = [5, (frame.plot_height() / 20.0) as usize];
    let least = levels.first().copied().unwrap_or(1);
    let upwards = Axis::latencies([max, usual], [max * 1.08, max * 1.15], least, most);
    let title = if upwards.is_log() { "longest (logarithmic)" } else { "longest" };
    let mut chart = Chart::new(frame, &times, &upwards.titled(title));
    let near: Vec<u64> = limits(series).into_iter().filter(|limit| (*limit as f64) < max * 1.08).collect();
    level_limits(&mut chart, &near);
    for (series, course) in series.iter().zip(courses) {
        let x = |place: usize| chart.x(place as f64 * (course.interval * 1e9));
        let mut path = Path::default();
        for (i, level) in course.points.iter().map(Point::level).enumerate() {
            match level {
                Some(level) => {
                    path.step(x(i), chart.y(level as f64));
                    path.level(x(i + 1));
                }
                None => path.lift(),
            }
        }
        for (i, point) in course.points.iter().enumerate() {
            if let (Some(longest), Some(otherwise)) = (point.longest, point.otherwise) {
                let (bottom, top) = (chart.y(otherwise as f64), chart.y(*longest as f64));
                if bottom - top >= 1.0 {
                    path.stroke(chart.x(course.instant(i) * 1e9), bottom, top);
                }
            }
        }
        chart.line(series.style, &path, &series.name);
    }
    let mut notes = Vec::new();
    for (series, course) in series.iter().zip(courses) {
        let longest = course.points.iter().enumerate().max_by_key(|(_, point)| point.longest);
        if let Some((place, Point { longest: Some(value), at, .. })) = longest {
            let words = at.map(|at| format!("{}: {} at {}", series.name, duration(**value), seconds(at)));
            let title = words.as_deref().unwrap_or(&series.name);
            chart.group(title, |chart| chart.mark(series.style, course.instant(place) * 1e9, **value as f64));
            notes.extend(words);
        }
    }
    // With many lines, the marks show it.
    let told =
        if (1..=2).contains(&notes.len()) { vec![format!("The longest, {}.", notes.join("; "))] } else { Vec::new() };
    let title = format!("The longest value of each interval of the run, {}", plural(series.len() as u64, "line"));
    Drawing { svg: chart.svg(&title), notes: told }
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
