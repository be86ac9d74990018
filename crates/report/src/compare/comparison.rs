//! Two runs, compared: the figures beyond the limits, and notes for the user.

use super::clocks::{ClocksComparison, FIGURES};
use super::curve::ComparedCurve;
use super::signals::{SamplePair, SignalComparison, SignalsComparison};
use super::text::{EXACT, ratio_text, shown, tolerance_text};
use crate::ReportFile;
use crate::format::{count, duration, plural};

/// Two runs, compared.
#[derive(Debug)]
pub struct Comparison {
    /// The places of the run and of the reference, for people.
    pub names: [String; 2],
    /// Their reports; a recording of another tool has none.
    pub reports: [Option<ReportFile>; 2],
    /// The comparison of their signals; `None`: one of them has no recording.
    pub signals: Option<SignalsComparison>,
    /// The comparison of their clocks; `None`: one of them has no report.
    pub clocks: Option<ClocksComparison>,
    /// Curves of the worst signals.
    pub curves: Vec<ComparedCurve>,
    /// Limit on the ratio of latencies.
    pub ratio: Option<f64>,
    /// Times at which only one side has a row were left out.
    pub common_only: bool,
    /// Notes for the user.
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
    pub(crate) fn all_notes(&self) -> Vec<String> {
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
pub(super) fn beginning(cell: &str) -> String {
    const MOST: usize = 40;
    match cell.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}… ({} characters)", &cell[..end], count(cell.chars().count() as u64)),
        None => cell.to_owned(),
    }
}

/// A ratio for people: `1.25 times`.
fn times(ratio: Option<f64>) -> String {
    match ratio {
        None => "1 times".to_owned(),
        Some(ratio) => format!("{} times", ratio_text(ratio)),
    }
}
