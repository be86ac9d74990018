//! Compares two runs: the differences, their beginning, their size, and whether they are acceptable.
//!
//! Pure: recordings come as readers, and stream. What is compared:
//!
//! * *Signals* of two recordings ([`signals()`]): at every time at which one of them has a row, see `walk.rs`; by their
//!   values, see `value.rs`.
//! * *Clocks* of two reports: figures and their ratios, see `clocks.rs`.
//!
//! What makes a comparison fail ([`Comparison::excesses`]): a signal beyond its tolerance; a recording that ends before the
//! reference does (a run that died halfway would else be equal to it); a latency beyond the ratio that was asked for.
//! Signals and clocks that only one side has are listed.

mod clocks;
mod curve;
mod signals;
mod table;
mod terminal;
mod value;
mod walk;

pub use clocks::{ClockComparison, ClocksComparison, ComparedMetric, FIGURES, clocks};
pub use curve::{ComparedCurve, STEPS, curves};
pub use signals::{SamplePair, SignalComparison, SignalsComparison, signals};
pub use table::Table;
pub use terminal::comparison_summary;
pub(super) use terminal::some;
pub use value::{NamedTolerance, Tolerance, Tolerances, number};
pub use walk::{ComparedTimes, Side, Span};

use super::ReportFile;
use super::format::{count, duration, plural};

/// Two runs, compared.
#[derive(Debug)]
pub struct Comparison {
    /// Where the run and the reference are, for people.
    pub names: [String; 2],
    /// Their reports; a recording of another tool has none.
    pub reports: [Option<ReportFile>; 2],
    /// Their signals; `None`: one of them has no recording.
    pub signals: Option<SignalsComparison>,
    /// Their clocks; `None`: one of them has no report.
    pub clocks: Option<ClocksComparison>,
    /// Curves of the worst signals.
    pub curves: Vec<ComparedCurve>,
    /// Limit on the ratio of latencies.
    pub ratio: Option<f64>,
    /// Times at which only one side has a row were left out.
    pub common_only: bool,
    /// What the user should know.
    pub notes: Vec<String>,
}

impl Comparison {
    /// Violations of the limits, in sentences, in the order of time; empty if there are none.
    pub fn excesses(&self) -> Vec<String> {
        let mut excesses = Vec::new();
        if let Some(signals) = &self.signals {
            excesses.extend(too_short(signals));
            let mut beyond: Vec<(&SignalComparison, &SamplePair)> =
                signals.different.iter().filter_map(|signal| Some((signal, signal.first_beyond.as_ref()?))).collect();
            beyond.sort_by(|(_, one), (_, other)| one.time.total_cmp(&other.time));
            excesses.extend(beyond.into_iter().map(|(signal, point)| first_beyond(signal, point)));
        }
        if let (Some(clocks), Some(limit)) = (&self.clocks, self.ratio) {
            excesses.extend(clocks.beyond(limit).into_iter().map(|(clock, metric, figure)| {
                let [a, b] = metric.figures[figure].map(duration);
                let (fmu, clock, name) = (&clock.fmu, &clock.clock, metric.name);
                format!(
                    "{fmu}.{clock}: {} of the {name} is {a}, {} the reference's {b}; the limit is {limit} times",
                    FIGURES[figure],
                    times(metric.ratio(figure))
                )
            }));
        }
        excesses
    }

    /// Whether two recordings with signals have no common time at which both have values: that is no equality. If both
    /// recordings are empty, clocks may suffice, and a recording that ends too early is judged as such.
    pub fn never_met(&self) -> bool {
        let Some(signals) = &self.signals else { return false };
        let clocks = self.clocks.as_ref().is_some_and(|clocks| !clocks.common.is_empty());
        let empty = signals.span.rows == [None, None];
        signals.number() > 0 && signals.span.moments == 0 && too_short(signals).is_none() && !(empty && clocks)
    }

    /// All notes, from the caller and from the comparison.
    pub(super) fn all_notes(&self) -> Vec<String> {
        let mut notes = self.notes.clone();
        let Some(signals) = &self.signals else { return notes };
        let span = &signals.span;
        for side in 0..2 {
            let (own, other) = (&self.names[side], &self.names[1 - side]);
            if span.before[side] > 0 {
                notes.push(format!("{} of {own} before the first row of {other}", rows(span.before[side])));
            }
            if side == 0 && span.beyond[0] > 0 {
                notes.push(format!("{} of {own} after the end of {other}", rows(span.beyond[0])));
            }
            if span.broken_off[side] {
                notes.push(format!("the last row of {own} breaks off and was left out"));
            }
        }
        if signals.only_between_rows() {
            notes.push(
                "all differences are at times at which only one of the recordings has a row, and the other one holds its last \
                 value; --common-times leaves these times out"
                    .to_owned(),
            );
        }
        notes
    }
}

fn rows(number: u64) -> String {
    match number {
        1 => "not compared: 1 row".to_owned(),
        number => format!("not compared: {}", plural(number, "row")),
    }
}

/// The run's recording ends before the reference's.
fn too_short(signals: &SignalsComparison) -> Option<String> {
    let [a, b] = signals.span.ends;
    let beyond = signals.span.beyond[1];
    match (a, b) {
        (None, Some(b)) => Some(format!("the recording has no rows; the reference has some, until {b} s")),
        (Some(a), Some(b)) if beyond > 0 => Some(format!(
            "the recording ends at {a} s; the reference goes on until {b} s ({} more)",
            plural(beyond, "row")
        )),
        _ => None,
    }
}

fn first_beyond(signal: &SignalComparison, point: &SamplePair) -> String {
    let tolerance = match tolerance_text(&signal.judged_by()) {
        text if text == EXACT => text,
        text => format!("tolerance {text}"),
    };
    let (name, time) = (&signal.name, point.time);
    let more = match signal.beyond {
        1 => "there only".to_owned(),
        n => format!("the first of {} times", count(n)),
    };
    let [a, b] = [&point.a, &point.b].map(|cell| beginning(shown(cell)));
    format!("{name}: {a} against {b} at {time} s, {more} ({tolerance})")
}

/// A value for a line of text: strings and binaries may have a million characters.
fn beginning(cell: &str) -> String {
    const MOST: usize = 40;
    match cell.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}… ({} characters)", &cell[..end], count(cell.chars().count() as u64)),
        None => cell.to_owned(),
    }
}

/// No deviation is admitted.
pub(super) const EXACT: &str = "exact";

/// `1e-6`, `0.1 %`, `1e-6 or 0.1 %`, `exact`, `any`
pub(super) fn tolerance_text(tolerance: &Tolerance) -> String {
    let (absolute, relative) = (tolerance.absolute, tolerance.relative);
    let share = || format!("{} %", round(relative * 100.0));
    match (absolute > 0.0, relative > 0.0) {
        (false, false) => EXACT.to_owned(),
        _ if absolute.is_infinite() || relative.is_infinite() => "any".to_owned(),
        (true, false) => round(absolute),
        (false, true) => share(),
        (true, true) => format!("{} or {}", round(absolute), share()),
    }
}

/// A cell for people.
pub(super) fn shown(cell: &str) -> &str {
    if cell.is_empty() { "no value" } else { cell }
}

/// Two cells, with no more digits than show that they differ.
pub(super) fn shown_pair(a: &str, b: &str) -> (String, String) {
    let long = |cell: &str| cell.len() > 8;
    let short = |value: f64, digits: usize| match format!("{value:.digits$e}").parse::<f64>() {
        Ok(value) if (1e-4..1e7).contains(&value.abs()) || value == 0.0 => format!("{value}"),
        Ok(value) => format!("{value:e}"),
        Err(_) => format!("{value}"),
    };
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(x), Ok(y)) if long(a) || long(b) => {
            let digits = (4..17).find(|&digits| format!("{x:.digits$e}") != format!("{y:.digits$e}")).unwrap_or(17);
            (short(x, digits), short(y, digits))
        }
        (Ok(x), Err(_)) if long(a) => (short(x, 4), shown(b).to_owned()),
        (Err(_), Ok(y)) if long(b) => (shown(a).to_owned(), short(y, 4)),
        _ => (shown(a).to_owned(), shown(b).to_owned()),
    }
}

/// A number with three significant digits: `0.00123`, `1.23e-7`, `12300`.
pub(super) fn round(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { "∞".to_owned() };
    }
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    match rounded.abs() {
        1e-4..1e7 => format!("{rounded}"),
        _ => format!("{rounded:e}"),
    }
}

/// A ratio for people: `1.25 times`.
fn times(ratio: Option<f64>) -> String {
    match ratio {
        None => "1 times".to_owned(),
        Some(ratio) => format!("{} times", ratio_text(ratio)),
    }
}

/// `1.25`, `12.5`, `125`, `∞`
pub(super) fn ratio_text(ratio: f64) -> String {
    match ratio {
        ratio if !ratio.is_finite() => "∞".to_owned(),
        ratio if ratio < 9.995 => format!("{ratio:.2}"),
        ratio if ratio < 99.95 => format!("{ratio:.1}"),
        ratio => format!("{ratio:.0}"),
    }
}

#[cfg(test)]
mod tests;
