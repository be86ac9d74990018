//! Recorded columns over time: a line that steps from value to value, and where there are more values than room, reaches from the
//! least to the greatest.

use crate::chart::{Axis, Chart, Frame, Path, class};
use crate::format::{plural, significant};
use crate::markup::escape;
use vecud_record::recording::envelope::{Bucket, Envelope, Overview};

/// Characters that a line of a drawing has room for.
pub const LONGEST_LABEL: usize = 100;

/// Nearer to each other on average than this, activations are not marked.
const APART: f64 = 5.0;

/// Ticks of a clock that are nearer to each other than this cannot be told apart.
const NEAR: f64 = 3.0;

/// A column of a recording, with its name beside the figure.
#[derive(Clone, Copy)]
pub struct Line<'o> {
    pub overview: &'o Overview,
    /// Index of the column in the overview.
    pub column: usize,
    pub envelope: &'o Envelope,
    pub label: &'o str,
    /// Up to when its last value holds, s.
    pub until: f64,
}

impl<'o> Line<'o> {
    /// The name of the column.
    pub fn name(&self) -> &'o str {
        self.overview.columns().nth(self.column).map_or("", |(name, _)| name)
    }
}

/// The range of a column's values, in words; `unit` is text and may be empty.
pub fn range_text(column: &Envelope, unit: &str) -> String {
    let unit = if unit.is_empty() { String::new() } else { format!(" {}", escape(unit)) };
    let odd = if column.has_odd() { ", at times infinite or no number" } else { "" };
    match (column.ticks(), column.range()) {
        // Of a clock it says something how often it has ticked, and what it showed does not.
        (Some(ticks), _) => plural(ticks, "tick"),
        (None, None) => "no number".to_owned(),
        (None, Some((low, high))) if low == high => format!("always {}{unit}{odd}", significant(low)),
        (None, Some((low, high))) => format!("{} to {}{unit}{odd}", significant(low), significant(high)),
    }
}

/// Draws them, each in the style of its place, from `from` to `to`, s, on one axis of values; `marks` are times that are marked at the bottom.
pub fn course(lines: &[Line], (from, to): (f64, f64), marks: &[f64], frame: Frame) -> String {
    // A single instant lies in the middle.
    let (from, to) = if to > from { (from, to) } else { (from - 0.5, from + 0.5) };
    let mut chart = Chart::new(frame, &Axis::times(from, to, frame.labels), &values(lines));
    for (style, line) in lines.iter().enumerate() {
        let name = line.name();
        // As many as can be told apart.
        let (width, buckets) = line.overview.buckets(line.column, 2 * frame.plot_width() as usize);
        let begin = line.overview.times().map_or(from, |times| times.0);
        let at = |place: usize| chart.x(begin + place as f64 * width);
        let end = chart.x(line.until);
        let path = if line.envelope.ticks().is_none() {
            steps(&buckets, at, |value| chart.y(value), end)
        } else {
            let ticks = buckets.iter().enumerate().filter(|(_, bucket)| bucket.high > 0.0).map(|(place, _)| at(place));
            let ticks: Vec<f64> = ticks.collect();
            let mut path = Path::default();
            path.step(at(0), frame.y(0.0));
            path.level(end);
            let bands = strokes_and_bands(&ticks, &mut path, frame.y(0.0), frame.y(1.0));
            if !bands.is_empty() {
                chart.path(&format!("mark band {}", class(style)), bands, &format!("many ticks of {name}"));
            }
            path
        };
        chart.line(style, &path, name);
    }
    let room = (frame.plot_width() / APART) as usize;
    let instants = lines.first().map_or(&[][..], |line| line.overview.instants(room));
    let inside: Vec<f64> = marks.iter().copied().filter(|time| (from..=to).contains(time)).collect();
    for (class, times, height, title) in
        [("instants", instants, "v5", "when something was recorded"), ("overran", &inside, "v-9", "overruns")]
    {
        let strokes = times.iter().map(|time| format!("M{:.1} {:.1}{height}", chart.x(*time), frame.y(0.0)));
        let strokes: String = strokes.collect();
        if !strokes.is_empty() {
            chart.path(class, strokes, title);
        }
    }
    let names: Vec<&str> = lines.iter().map(Line::name).collect();
    chart.svg(&format!("{} over time", names.join(", ")))
}

/// The ticks of a clock, from left to right: as a stroke each, and where they cannot be told apart as a band, which is returned.
fn strokes_and_bands(ticks: &[f64], strokes: &mut Path, bottom: f64, top: f64) -> String {
    let mut bands = String::new();
    for near in ticks.chunk_by(|one, next| next - one < NEAR) {
        match near {
            [first, _, .., last] => bands += &format!("M{first:.1} {bottom:.1}V{top:.1}H{last:.1}V{bottom:.1}Z"),
            few => few.iter().for_each(|x| strokes.stroke(*x, bottom, top)),
        }
    }
    bands
}

/// The line of these buckets, up to `end`.
fn steps(buckets: &[Bucket], x: impl Fn(usize) -> f64, y: impl Fn(f64) -> f64, end: f64) -> Path {
    let mut path = Path::default();
    for (place, bucket) in buckets.iter().enumerate() {
        let left = x(place);
        if !bucket.has_values() {
            path.level(left);
            path.lift();
            continue;
        }
        let last = if bucket.last.is_nan() { bucket.high } else { bucket.last };
        let (low, high, last) = (y(bucket.low), y(bucket.high), y(last));
        if path.is_up() {
            path.step(left, y(bucket.first));
        }
        // First where it is not going to stay, so that a slope is drawn as one.
        let turns = if (last - low).abs() < (last - high).abs() { [high, low, last] } else { [low, high, last] };
        turns.into_iter().for_each(|turn| path.step(left, turn));
        if bucket.last.is_nan() {
            path.level(x(place + 1));
            path.lift();
        }
    }
    path.level(end);
    path
}

/// The axis of values, with some room above and below them.
fn values(lines: &[Line]) -> Axis {
    let envelopes = || lines.iter().map(|line| line.envelope);
    let low = envelopes().filter_map(|own| own.range()).map(|range| range.0).reduce(f64::min).unwrap_or(0.0);
    let high = envelopes().filter_map(|own| own.range()).map(|range| range.1).reduce(f64::max).unwrap_or(0.0);
    let margin = match high / 2.0 - low / 2.0 {
        // A line at half of the height.
        0.0 if low == 0.0 => 1.0,
        0.0 => 0.1 * low.abs(),
        half => 0.12 * half,
    };
    let mut axis = Axis::values((low - margin).max(f64::MIN), (high + margin).min(f64::MAX), 3);
    if envelopes().all(|own| own.is_whole()) && high + margin - (low - margin) < 4.0 {
        axis.ticks.retain(|tick| tick.at.fract() == 0.0);
        axis.ticks.iter_mut().for_each(|tick| tick.label = (tick.at + 0.0).to_string());
    }
    // That a clock shows 1 where it ticks says nothing.
    if envelopes().all(|own| own.ticks().is_some()) {
        axis.ticks.clear();
    }
    axis
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overview(rows: &[(f64, f64)]) -> Overview {
        let mut overview = Overview::of_report(&["a.x".to_owned()], |_| false);
        rows.iter().for_each(|(time, value)| overview.row(*time, |_| Some(*value)));
        overview
    }

    fn only(overview: &Overview, until: f64) -> Line<'_> {
        let (label, envelope) = overview.columns().next().unwrap();
        Line { overview, column: 0, envelope, label, until }
    }

    fn drawn(rows: &[(f64, f64)], times: (f64, f64), marks: &[f64]) -> String {
        course(&[only(&overview(rows), times.1)], times, marks, Frame::TINY)
    }

    fn line(svg: &str) -> &str {
        svg.split_once("class=\"line s0\" d=\"").unwrap().1.split('"').next().unwrap()
    }

    #[test]
    fn a_value_holds_until_the_next_one_and_to_the_end() {
        let (x, y) = (|share| Frame::TINY.x(share), |share| Frame::TINY.y(share));
        let svg = drawn(&[(0.0, 0.0), (5.0, 1.0)], (0.0, 10.0), &[]);
        // With a margin of 6 % on both sides.
        let [low, high] = [0.0, 1.0].map(|value| y((value + 0.06) / 1.12));
        assert_eq!(line(&svg), format!("M{:.1} {low:.1}H{:.1}V{high:.1}H{:.1}", x(0.0), x(0.5), x(1.0)));
    }

    #[test]
    fn a_spike_that_is_shorter_than_a_pixel_is_drawn_to_its_top() {
        let rows: Vec<(f64, f64)> = (0..100_000).map(|n| (f64::from(n), f64::from(u8::from(n == 77_777)))).collect();
        let svg = drawn(&rows, (0.0, 1e5), &[]);
        assert!(line(&svg).contains(&format!("V{:.1}V", Frame::TINY.y(1.06 / 1.12))), "{svg}");
    }

    #[test]
    fn of_what_cannot_be_drawn_there_is_a_gap_and_numbers_stay_finite() {
        let svg = drawn(&[(0.0, 1.0), (2.0, f64::NAN), (5.0, 1.0), (6.0, f64::INFINITY)], (0.0, 10.0), &[]);
        assert_eq!(line(&svg).matches('M').count(), 2, "{svg}");
        for values in [[f64::MIN, f64::MAX], [0.0, 5e-324], [1e300, 1.0001e300], [-0.0, 0.0], [850.0; 2]] {
            for times in [(0.0, 10.0), (3.0, 3.0), (1.0, 0.0), (0.0, 2.6e6)] {
                let svg = drawn(&[(0.0, values[0]), (1.0, values[1])], times, &[0.5, f64::NAN]);
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            }
        }
    }

    #[test]
    fn activations_are_marked_where_they_can_be_told_apart() {
        let rows = |number: i32| -> Vec<(f64, f64)> { (0..number).map(|n| (f64::from(n), 0.0)).collect() };
        let svg = drawn(&rows(10), (0.0, 10.0), &[]);
        let ticks = svg.split_once("class=\"instants\" d=\"").unwrap().1.split('"').next().unwrap();
        assert_eq!(ticks.matches('M').count(), 10);
        assert!(ticks.contains(&format!("M{:.1} ", Frame::TINY.x(0.3))), "{ticks}");
        assert!(!drawn(&rows(100), (0.0, 100.0), &[]).contains("instants"));
    }

    /// A clock of 1 ms over seconds is no solid block, and one that ticks a few times has its strokes.
    #[test]
    fn ticks_that_cannot_be_told_apart_are_a_band() {
        let ticks = |times: &[f64]| {
            let mut overview = Overview::of_report(&["a.clock".to_owned()], |_| true);
            times.iter().for_each(|time| overview.row(*time, |_| Some(1.0)));
            let line = only(&overview, 10.0);
            (range_text(line.envelope, ""), course(&[line], (0.0, 10.0), &[], Frame::TINY))
        };
        let (text, svg) = ticks(&[0.0, 5.0, 9.0]);
        assert_eq!(text, "3 ticks");
        assert!(!svg.contains("band") && line(&svg).matches('V').count() == 3, "{svg}");
        let many: Vec<f64> = (0..5000).map(|n| f64::from(n) * 1e-3).chain([9.0]).collect();
        let (text, svg) = ticks(&many);
        assert_eq!(text, "5,001 ticks");
        assert_eq!(line(&svg).matches('V').count(), 1, "{svg}");
        let band = svg.split_once("band s0\" d=\"").unwrap().1.split('"').next().unwrap();
        assert!(band.matches('M').count() == 1 && band.starts_with(&format!("M{:.1} ", Frame::TINY.x(0.0))), "{band}");
        let end: f64 = band.split_once('H').unwrap().1.split('V').next().unwrap().parse().unwrap();
        assert!((end - Frame::TINY.x(0.5)).abs() < 1.0, "{band}");
    }

    #[test]
    fn marks_are_where_they_belong() {
        let svg = drawn(&[(0.0, 0.0), (10.0, 1.0)], (0.0, 10.0), &[5.0, 11.0]);
        let mark = svg.lines().find(|line| line.contains("class=\"overran\"")).unwrap();
        assert!(mark.contains(&format!("d=\"M{:.1} ", Frame::TINY.x(0.5))) && mark.matches('v').count() >= 1, "{mark}");
    }
}
