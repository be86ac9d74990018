//! A comparison on the terminal: signals that differ, then clocks, then the verdicts, then the violations.

use super::{ClocksComparison, Comparison, SignalsComparison, ratio_text, round, shown};
use crate::ellipsis::cut;
use crate::format::{count, duration, plural, seconds};
use crate::{ReportFile, Screen, passed};
use vecud_base::columns;
use vecud_base::plain::plain;
use vecud_plan::Mode;

/// Number of signals and clocks that are listed; the page has all of them.
const MOST: usize = 20;

/// Summary of a comparison; `page` is the path of the page.
pub fn comparison_summary(comparison: &Comparison, page: &str, screen: Screen) -> String {
    let mut lines = Vec::new();
    if let Some(signals) = &comparison.signals {
        lines.extend(of_signals(signals, screen));
        lines.push(String::new());
    }
    if let Some(clocks) = comparison.clocks.as_ref().filter(|clocks| !clocks.common.is_empty()) {
        lines.extend(of_clocks(clocks, screen));
        lines.push(String::new());
    }
    lines.extend(comparison.all_notes().iter().map(|note| format!("{}: {}", style("2", "note", screen), plain(note))));
    for (side, word) in ["run", "reference"].into_iter().enumerate() {
        let what = match &comparison.reports[side] {
            None => "a recording without a report".to_owned(),
            Some(ReportFile { run, .. }) => format!(
                "{}, {} to {}, {}, {}",
                if run.mode == Mode::Virtual { "virtual time" } else { "real time" },
                seconds(run.start_time),
                seconds(run.end_time),
                if passed(run) { "passed" } else { "failed" },
                plural(run.problems.len() as u64, "problem"),
            ),
        };
        lines.push(format!("{:10} {}: {what}", format!("{word}:"), plain(&comparison.names[side])));
    }
    let excesses = comparison.excesses();
    for excess in excesses.iter().take(3) {
        lines.push(format!("{}: {}", style("31", "beyond", screen), plain(excess)));
    }
    if excesses.len() > 3 {
        lines.push(format!("… and {} more beyond what is allowed", count(excesses.len() as u64 - 3)));
    }
    lines.push(match excesses.is_empty() {
        true => style("32", "nothing is beyond what is allowed", screen),
        false => style("31", &format!("{} beyond what is allowed", plural(excesses.len() as u64, "thing")), screen),
    });
    lines.push(format!("comparison: {}", plain(page)));
    lines.join("\n") + "\n"
}

fn style(code: &str, text: &str, screen: Screen) -> String {
    if screen.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

fn of_signals(signals: &SignalsComparison, screen: Screen) -> Vec<String> {
    let mut lines = Vec::new();
    let titles = ["signal", "differs", "beyond", "first at", "largest", "at", "relative", "at"];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    for signal in signals.different.iter().take(MOST) {
        let largest = |of: &Option<(f64, super::SamplePair)>, scale: f64, unit: &str| match of {
            Some((most, point)) => [round(most * scale) + unit, format!("{} s", point.time)],
            None => [shown_unlike(signal), String::new()],
        };
        let [absolute, at] = largest(&signal.largest_absolute, 1.0, "");
        let [relative, relative_at] = largest(&signal.largest_relative, 100.0, " %");
        let first = signal.first.as_ref().map(|point| format!("{} s", point.time)).unwrap_or_default();
        let name = signal.name.clone();
        let (differs, beyond) = (count(signal.differing), count(signal.beyond));
        rows.push(vec![name, differs, beyond, first, absolute, at, relative, relative_at]);
    }
    if rows.len() > 1 {
        lines.extend(aligned(&rows, 1, screen));
        if signals.different.len() > MOST {
            lines.push(format!("… {}", plural((signals.different.len() - MOST) as u64, "more signal")));
        }
    }
    let span = match signals.span.times {
        Some((from, to)) => format!("{} from {from} s to {to} s", plural(signals.span.moments, "time")),
        None => "no time".to_owned(),
    };
    let number = signals.number() as u64;
    lines.push(match signals.different.len() as u64 {
        0 => format!("{} equal at {span}", plural(number, "signal")),
        n => format!("{} of {} different at {span}", count(n), plural(number, "signal")),
    });
    for (side, word) in ["run", "reference"].into_iter().enumerate() {
        let only = &signals.only[side];
        if !only.is_empty() {
            lines.push(format!("only in the {word}: {}", some(only)));
        }
    }
    lines
}

/// Explains a missing deviation: the first values that have none.
fn shown_unlike(signal: &super::SignalComparison) -> String {
    let first = signal.first.as_ref();
    first.map(|point| format!("{} / {}", shown(&point.a), shown(&point.b))).unwrap_or_default()
}

/// The first few of a list.
pub fn some(names: &[String]) -> String {
    const FEW: usize = 8;
    let shown: Vec<String> = names.iter().take(FEW).map(|name| plain(name)).collect();
    match names.len().saturating_sub(FEW) {
        0 => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), count(more as u64)),
    }
}

fn of_clocks(clocks: &ClocksComparison, screen: Screen) -> Vec<String> {
    // The run's value, the reference's, and the ratio, of as many figures as there is room for.
    let figures: &[usize] = match screen.columns {
        _ if clocks.common.iter().all(|clock| clock.metrics.is_empty()) => &[],
        ..100 => &[1],
        100..130 => &[0, 1],
        130..160 => &[0, 1, 3],
        _ => &[0, 1, 2, 3],
    };
    let mut rows = Vec::new();
    let mut head = vec!["clock".to_owned(), "run / reference".to_owned()];
    for figure in figures {
        head.extend([super::FIGURES[*figure].to_owned(), String::new(), "ratio".to_owned()]);
    }
    rows.push(head);
    for clock in clocks.common.iter().take(MOST) {
        let name = format!("{}.{}", clock.fmu, clock.clock);
        for (place, metric) in clock.metrics.iter().enumerate() {
            let mut row = vec![if place == 0 { name.clone() } else { String::new() }, metric.name.to_owned()];
            for figure in figures {
                let [a, b] = metric.figures[*figure].map(duration);
                row.extend([a, b, metric.ratio(*figure).map_or("–".to_owned(), ratio_text)]);
            }
            rows.push(row);
        }
        let differ = clock.counts.iter().filter(|(_, [a, b])| a != b);
        let counts: Vec<String> =
            differ.map(|(what, [a, b])| format!("{what} {} against {}", count(*a), count(*b))).collect();
        if !counts.is_empty() {
            rows.push(vec![if clock.metrics.is_empty() { name } else { String::new() }, counts.join(", ")]);
        }
    }
    let mut lines = if rows.len() > 1 { aligned(&rows, 2, screen) } else { vec![] };
    if clocks.common.len() > MOST {
        lines.push(format!("… {}", plural((clocks.common.len() - MOST) as u64, "more clock")));
    }
    if clocks.no_latencies {
        lines.push("no latencies: in virtual time nothing is late".to_owned());
    }
    for (side, word) in ["run", "reference"].into_iter().enumerate() {
        if !clocks.only[side].is_empty() {
            lines.push(format!("clocks only in the {word}: {}", some(&clocks.only[side])));
        }
    }
    lines
}

/// Rows as columns, the first column to the left, numbers to the right; the first row is the head. No line is longer than the
/// screen is wide.
fn aligned(rows: &[Vec<String>], left: usize, screen: Screen) -> Vec<String> {
    let right: Vec<usize> = (left..rows[0].len()).collect();
    let line = |(index, text): (usize, String)| {
        let text = cut(&text, screen.columns);
        if index == 0 { style("2", &text, screen) } else { text }
    };
    columns::lines(rows.iter(), &right).enumerate().map(line).collect()
}
