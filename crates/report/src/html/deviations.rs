//! The signals of a comparison: which differ and by how much, and what the worst ones look like.

use super::svg::{Frame, marker, value_ticks};
use super::{breakable, escape, fold};
use crate::compare::{
    ComparedCurve, EXACT, STEPS, SamplePair, SignalComparison, SignalsComparison, round, shown_pair, tolerance_text,
};
use crate::format::{count, plural};

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
    let mut out = String::from(
        "<div class=\"scroll\"><table>\n<thead>\n<tr><th></th><th colspan=\"2\" class=\"group\">Times at which it</th>\
         <th colspan=\"3\" class=\"group\">First difference</th><th colspan=\"3\" class=\"group\">Largest deviation</th>",
    );
    out += if with_tolerance { "<th></th></tr>\n" } else { "</tr>\n" };
    out += "<tr><th>Signal</th><th class=\"n first\">differs</th><th class=\"n\">is beyond</th>\
            <th class=\"n first\">at, s</th><th class=\"n\">run</th><th class=\"n\">reference</th>\
            <th class=\"n first\">size</th><th class=\"n\">at, s</th><th class=\"n\">relative</th>";
    out += if with_tolerance { "<th class=\"n first\">Tolerance</th></tr>\n" } else { "</tr>\n" };
    out += "</thead>\n<tbody>\n";
    out.extend(signals.different.iter().take(LISTED).map(|signal| row(signal, with_tolerance)));
    out += "</tbody>\n</table></div>\n";
    if signals.different.len() > LISTED {
        out += &format!("<p class=\"note\">… and {} more.</p>\n", count((signals.different.len() - LISTED) as u64));
    }
    out
}

fn row(signal: &SignalComparison, with_tolerance: bool) -> String {
    let beyond = match signal.beyond {
        0 => "<td class=\"n zero\">0</td>".to_owned(),
        n => format!("<td class=\"n alarm\">{}</td>", count(n)),
    };
    let first = signal.first.as_ref().map_or("<td></td><td></td><td></td>".to_owned(), |SamplePair { time, a, b }| {
        let (a, b) = shown_pair(a, b);
        let (a, b) = (escape(&a), escape(&b));
        format!("<td class=\"n first\">{time}</td><td class=\"n\">{a}</td><td class=\"n\">{b}</td>")
    });
    let absolute = match &signal.largest_absolute {
        Some((most, point)) => {
            format!("<td class=\"n first max\">{}</td><td class=\"n\">{}</td>", round(*most), point.time)
        }
        None => "<td class=\"n first zero\">–</td><td></td>".to_owned(),
    };
    let relative = match &signal.largest_relative {
        Some((most, _)) => format!("<td class=\"n\">{} %</td>", round(100.0 * most)),
        None => "<td class=\"n zero\">–</td>".to_owned(),
    };
    let unlike = match signal.unlike {
        0 => String::new(),
        n => format!(" <small>({} × no value, NaN or text)</small>", count(n)),
    };
    let tolerance = match with_tolerance {
        true => format!("<td class=\"n first\">{}</td>", tolerance_text(&signal.judged_by())),
        false => String::new(),
    };
    format!(
        "<tr><th scope=\"row\">{}{unlike}</th><td class=\"n first\">{}</td>{beyond}{first}{absolute}{relative}{tolerance}</tr>\n",
        breakable(&signal.name),
        count(signal.differing),
    )
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
    format!(
        "<figure>\n<figcaption><h3>{}</h3><p>up to {} apart, at {at} s</p></figcaption>\n<div class=\"plot\">{}{}</div>\n\
         <ul class=\"legend\"><li>{}<span>run</span></li><li>{}<span>reference</span></li></ul>\n</figure>\n",
        breakable(&signal.name),
        round(largest),
        values(signal, curve),
        apart(signal, curve, largest, at),
        super::figure::key(0),
        super::figure::key(1),
    )
}

/// A place in time as a share of the axis.
fn share(time: f64, (from, to): (f64, f64)) -> f64 {
    if to > from { (time - from) / (to - from) } else { 0.5 }
}

fn values(signal: &SignalComparison, curve: &ComparedCurve) -> String {
    let all = curve.values.iter().flatten().flatten();
    let (low, high) = all.fold((f64::MAX, f64::MIN), |(low, high), (l, h)| (low.min(*l), high.max(*h)));
    let (low, high) = if low <= high { (low, high) } else { (0.0, 0.0) };
    // A line at half of the height, where there is no height. Halves, since the whole range may be beyond all numbers.
    let margin = ((high / 2.0 - low / 2.0) * 0.1).max(high.abs().max(low.abs()) * 1e-12).max(f64::MIN_POSITIVE);
    let (low, high) = ((low - margin).max(f64::MIN), (high + margin).min(f64::MAX));
    let place = |value: f64| (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
    let ticks: Vec<(f64, String)> =
        value_ticks(low, high, 4).into_iter().map(|(value, label)| (place(value), label)).collect();
    let times: Vec<(f64, String, String)> =
        time_ticks(curve).into_iter().map(|(share, _)| (share, String::new(), String::new())).collect();
    let mut out = VALUES.x_axis(&times) + &VALUES.y_axis(&ticks, "value");
    out += &since(signal, curve, &VALUES);
    for (class, values) in ["s0", "s1"].into_iter().zip(&curve.values) {
        out += &format!("<path class=\"line {class}\" d=\"{}\"/>\n", steps(values, &VALUES, place));
    }
    VALUES.svg(&format!("{} of the run and of the reference", escape(&signal.name)), &out)
}

fn apart(signal: &SignalComparison, curve: &ComparedCurve, largest: f64, at: f64) -> String {
    let top = if largest > 0.0 { largest } else { 1.0 };
    let place = |value: f64| value / top / 1.08;
    let times: Vec<(f64, String, String)> =
        time_ticks(curve).into_iter().map(|(share, label)| (share, label, String::new())).collect();
    let labels = [(0.0, "0".to_owned()), (place(top), round(top))];
    let mut out = DEVIATION.x_axis(&times) + &DEVIATION.y_axis(&labels, "apart");
    out += &since(signal, curve, &DEVIATION);
    let values: Vec<Option<(f64, f64)>> = curve.deviation.iter().map(|most| most.map(|most| (most, most))).collect();
    out += &format!("<path class=\"line s3 apart\" d=\"{}\"/>\n", steps(&values, &DEVIATION, place));
    out += &marker(3, DEVIATION.x(share(at, curve.times)), DEVIATION.y(place(largest)));
    DEVIATION.svg(&format!("Deviation of {}", escape(&signal.name)), &out)
}

/// Since when they differ.
fn since(signal: &SignalComparison, curve: &ComparedCurve, frame: &Frame) -> String {
    let Some(first) = &signal.first else { return String::new() };
    let (x, top, bottom) = (frame.x(share(first.time, curve.times)), frame.y(1.0), frame.y(0.0));
    format!("<path class=\"limit\" d=\"M{x:.1} {top:.1}V{bottom:.1}\"/>\n")
}

/// A value stays until the next one; within a step the line reaches from the smallest to the largest.
fn steps(values: &[Option<(f64, f64)>], frame: &Frame, place: impl Fn(f64) -> f64) -> String {
    let mut path = String::new();
    let mut last = None;
    for (step, (low, high)) in values.iter().enumerate().filter_map(|(step, values)| Some((step, (*values)?))) {
        let x = frame.x(step as f64 / STEPS as f64);
        let (low, high) = (frame.y(place(low)), frame.y(place(high)));
        // To the nearer end first, so that a slope is drawn as one.
        let (first, then) = match last {
            Some(last) if f64::abs(last - high) < f64::abs(last - low) => (high, low),
            _ => (low, high),
        };
        path += &if last.is_none() { format!("M{x:.1} {first:.1}") } else { format!("H{x:.1}V{first:.1}") };
        if (first - then).abs() > 0.05 {
            path += &format!("V{then:.1}");
        }
        last = Some(then);
    }
    if last.is_some() {
        path += &format!("H{:.1}", frame.x(1.0));
    }
    path
}

fn time_ticks(curve: &ComparedCurve) -> Vec<(f64, String)> {
    let (from, to) = curve.times;
    if to <= from {
        return vec![(0.5, format!("{from}"))];
    }
    value_ticks(from, to, DEVIATION.labels).into_iter().map(|(time, label)| (share(time, curve.times), label)).collect()
}
