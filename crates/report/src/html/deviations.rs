//! The signals of a comparison: the different ones with their deviations, and the curves of the worst.

use super::figure::{Drawing, captioned, entry, legend};
use super::names::breakable;
use super::page::fold;
use super::table::{Cell, Table, cells, html, none, number};
use crate::chart::{Axis, AxisTick, Chart, Frame, Path};
use crate::compare::{
    ComparedCurve, EXACT, STEPS, SamplePair, SignalComparison, SignalsComparison, round, shown_pair, tolerance_text,
};
use crate::format::{count, plural};
use crate::markup::escape;

/// More signals than this are not listed one by one.
const LISTED: usize = 1000;

const VALUES: Frame =
    Frame { width: 360.0, height: 170.0, left: 62.0, right: 14.0, top: 24.0, bottom: 10.0, labels: 3 };
const DEVIATION: Frame =
    Frame { width: 360.0, height: 92.0, left: 62.0, right: 14.0, top: 22.0, bottom: 24.0, labels: 3 };

/// The tables.
pub fn tables(signals: &SignalsComparison, common_only: bool) -> String {
    let times = match signals.span.times {
        Some((from, to)) => format!("{} from {from} s to {to} s", plural(signals.span.moments, "time")),
        None => "no time".to_owned(),
    };
    let at = match common_only {
        true => "those at which both recordings have a row",
        false => "each at which one of the recordings has a row; the other one then has the value of its last row",
    };
    let mut out = format!("<section>\n<h2>Signals</h2>\n<p>Compared at {times}: {at}.</p>\n");
    if signals.different.is_empty() {
        out += &format!(
            "<p class=\"lead\">{} equal.</p>\n",
            match signals.number() {
                0 => "No signal was compared, none is".to_owned(),
                1 => "The signal that both recordings have is".to_owned(),
                n => format!("All {} signals that both recordings have are", count(n as u64)),
            }
        );
    } else {
        out += &different(signals);
    }
    out += &list("equal", &signals.equal, signals.different.is_empty());
    out += &list("only in the run", &signals.only[0], false);
    out += &list("only in the reference", &signals.only[1], false);
    out + "</section>\n"
}

fn different(signals: &SignalsComparison) -> String {
    // The column says something only when it does not say the same of all.
    let with_tolerance = signals.different.iter().any(|signal| tolerance_text(&signal.judged_by()) != EXACT);
    let mut groups = vec![("", 1), ("Times at which it", 2), ("First difference", 3), ("Largest deviation", 3)];
    let mut columns = "Signal|>differs|#is beyond|>at, s|#run|#reference|>size|#at, s|#relative".to_owned();
    if with_tolerance {
        groups.push(("", 1));
        columns += "|>Tolerance";
    }
    let mut out = Table::grouped("", &groups, &columns).rows(signals.different.iter().take(LISTED).map(row));
    if signals.different.len() > LISTED {
        out += &format!("<p class=\"note\">… and {} more.</p>\n", count((signals.different.len() - LISTED) as u64));
    }
    out
}

/// The row of a signal with its tolerance, whether or not the table has a column for it.
fn row(signal: &SignalComparison) -> [Cell; 10] {
    let [at, a, b] = signal.first.as_ref().map_or_else(Default::default, |SamplePair { time, a, b }| {
        let (a, b) = shown_pair(a, b);
        [time.to_string(), a, b]
    });
    let [size, when] = match &signal.largest_absolute {
        Some((most, point)) => [Cell::from(round(*most)).class("max"), point.time.to_string().into()],
        None => [none(), "".into()],
    };
    let relative = |(most, _): &(f64, SamplePair)| format!("{} %", round(100.0 * most)).into();
    let relative = signal.largest_relative.as_ref().map_or_else(none, relative);
    let unlike = match signal.unlike {
        0 => String::new(),
        n => format!(" <small>({} × no value, NaN or text)</small>", count(n)),
    };
    let name = html(breakable(&signal.name) + &unlike);
    let beyond = number(signal.beyond, "alarm");
    cells![name, signal.differing, beyond, at, a, b, size, when, relative, tolerance_text(&signal.judged_by())]
}

fn list(title: &str, names: &[String], open: bool) -> String {
    if names.is_empty() {
        return String::new();
    }
    let mut text: String = names.iter().take(LISTED).map(|name| format!("<code>{}</code> ", escape(name))).collect();
    if names.len() > LISTED {
        text += &format!("… and {} more", count((names.len() - LISTED) as u64));
    }
    let number = plural(names.len() as u64, "signal");
    fold(&format!("{number} {title}"), &format!("<p class=\"lead names\">{text}</p>\n"), open && names.len() <= 40)
}

/// The worst signals, drawn.
pub fn deviations(signals: &SignalsComparison, curves: &[ComparedCurve]) -> String {
    if curves.is_empty() {
        return String::new();
    }
    let figures: String = curves.iter().map(|curve| figure(&signals.different[curve.signal], curve)).collect();
    let which = if curves.len() < signals.different.len() { "The worst signals" } else { "The signals that differ" };
    format!(
        "<section>\n<h2>Where they part</h2>\n<p>{which} over time, in seconds: the run, the reference dashed, and below how \
         far they are apart. The dashed red line is at the first difference, the mark at the largest.</p>\n\
         <div class=\"pair\">\n{figures}</div>\n</section>\n"
    )
}

fn figure(signal: &SignalComparison, curve: &ComparedCurve) -> String {
    let (largest, at) = match &signal.largest_absolute {
        Some((largest, point)) => (*largest, point.time),
        None => (0.0, curve.times.0),
    };
    captioned(
        &breakable(&signal.name),
        &format!("up to {} apart, at {at} s", round(largest)),
        &Drawing { svg: values(signal, curve) + &apart(signal, curve, largest, at), notes: Vec::new() },
        &legend([entry(0, "run", None), entry(1, "reference", None)]),
    )
}

/// The time, in numbers as they are compared.
fn times(curve: &ComparedCurve) -> Axis {
    let (from, to) = curve.times;
    match to > from {
        true => Axis::values(from, to, DEVIATION.labels),
        false => Axis { ticks: vec![AxisTick::new(from, from.to_string())], ..Axis::bare(from, to) },
    }
}

/// A chart with a dashed line since when they differ.
fn chart(signal: &SignalComparison, frame: Frame, times: &Axis, upwards: &Axis) -> Chart {
    let mut chart = Chart::new(frame, times, upwards);
    signal.first.iter().for_each(|first| chart.upright("limit", first.time));
    chart
}

fn values(signal: &SignalComparison, curve: &ComparedCurve) -> String {
    let all = curve.values.iter().flatten().flatten();
    let (low, high) = all.fold((f64::MAX, f64::MIN), |(low, high), (l, h)| (low.min(*l), high.max(*h)));
    let (low, high) = if low <= high { (low, high) } else { (0.0, 0.0) };
    // A line at half of the height, where there is no height. Halves, since the whole range may be beyond all numbers.
    let margin = ((high / 2.0 - low / 2.0) * 0.1).max(high.abs().max(low.abs()) * 1e-12).max(f64::MIN_POSITIVE);
    let upwards = Axis::values((low - margin).max(f64::MIN), (high + margin).min(f64::MAX), 4).titled("value");
    let mut times = times(curve);
    times.ticks.iter_mut().for_each(|tick| tick.label.clear());
    let mut chart = chart(signal, VALUES, &times, &upwards);
    for (style, values) in curve.values.iter().enumerate() {
        let path = steps(values, &chart);
        chart.line(style, &path, "");
    }
    chart.svg(&format!("{} of the run and of the reference", signal.name))
}

fn apart(signal: &SignalComparison, curve: &ComparedCurve, largest: f64, at: f64) -> String {
    let top = if largest > 0.0 { largest } else { 1.0 };
    let ticks = vec![AxisTick::new(0.0, "0"), AxisTick::new(top, round(top))];
    let upwards = Axis { ticks, ..Axis::bare(0.0, top * 1.08) }.titled("apart");
    let mut chart = chart(signal, DEVIATION, &times(curve), &upwards);
    let values: Vec<Option<(f64, f64)>> = curve.deviation.iter().map(|most| most.map(|most| (most, most))).collect();
    chart.path("line s3 apart", steps(&values, &chart), "");
    chart.mark(3, at, largest);
    chart.svg(&format!("Deviation of {}", signal.name))
}

/// A value stays until the next one; within a step the line reaches from the smallest to the largest.
fn steps(values: &[Option<(f64, f64)>], chart: &Chart) -> Path {
    let mut path = Path::default();
    let mut last = f64::INFINITY;
    for (step, (low, high)) in values.iter().enumerate().filter_map(|(step, values)| Some((step, (*values)?))) {
        let x = chart.frame.x(step as f64 / STEPS as f64);
        // To the nearer end first, so that a slope is drawn as one.
        let [first, then] =
            if (last - chart.y(high)).abs() < (last - chart.y(low)).abs() { [high, low] } else { [low, high] };
        path.step(x, chart.y(first));
        path.step(x, chart.y(then));
        last = chart.y(then);
    }
    path.level(chart.frame.x(1.0));
    path
}
