//! Reads a recording once for drawing.

use super::side::{Recording, Signals};
use std::collections::{HashMap, HashSet};
use vecud_host::Error;
use vecud_record::recording::RecordingError;
use vecud_record::recording::envelope::Overview;
use vecud_report::compare::number;

/// What a report draws of a recording: as far as it can be read, and why not any further. `clocks`: columns that are known to be some.
pub fn of_report(signals: &Signals, clocks: &HashSet<String>) -> (Option<Overview>, Option<Error>) {
    let mut recording = match signals.open() {
        Ok(recording) => recording,
        Err(error) => return (None, Some(error)),
    };
    let mut overview = Overview::of_report(recording.columns(), |place| is_clock(&recording, clocks, place));
    let failed = take_all(&mut overview, &mut recording).err();
    (overview.times().map(|_| overview), failed.map(|error| signals.broken(error)))
}

/// Buckets for each column of a plot, which is as wide as a page.
pub const BUCKETS: usize = 4096;

/// A stretch of time, s.
#[derive(Clone, Copy)]
pub struct TimeRange {
    /// `None`: from the first row on.
    pub from: Option<f64>,
    /// `None`: up to the last row.
    pub to: Option<f64>,
}

/// Drawing of a stretch of a recording.
pub struct Drawn {
    pub overview: Overview,
    /// The units of signals that have one, by their names, as far as the recording says them.
    pub units: HashMap<String, String>,
    /// Time of the last row, s.
    pub until: f64,
    /// The recording has its last row in the stretch, and ends well.
    pub ends: bool,
    /// The error that stopped the reading.
    pub failed: Option<Error>,
}

/// Reads a stretch of a recording for drawing: the columns that `choose` selects by their names, and by a function that
/// tells from a column's place whether it is a clock. `clocks`: known names of clocks.
pub fn of_stretch(
    signals: &Signals,
    stretch: TimeRange,
    clocks: &HashSet<String>,
    choose: impl FnOnce(&[String], &dyn Fn(usize) -> bool) -> Result<Overview, Error>,
) -> Result<Drawn, Error> {
    let mut recording = signals.open()?;
    let mut overview = choose(recording.columns(), &|place| is_clock(&recording, clocks, place))?;
    let first = recording.next_time();
    let failed = take_stretch(&mut overview, &mut recording, stretch).err();
    let failed = failed.map(|error| signals.broken(error));
    let Some((_, last)) = overview.times() else {
        return Err(failed.unwrap_or_else(|| nothing_there(signals, first, recording.time(), stretch)));
    };
    let goes_on = recording.next_time().is_some();
    Ok(Drawn {
        overview,
        units: recording.units(),
        until: stretch.to.filter(|_| goes_on).unwrap_or(last),
        ends: !goes_on && !recording.broken_off() && failed.is_none(),
        failed,
    })
}

/// Whether a column is a clock: for a CSV file only the report of its run knows.
fn is_clock(recording: &Recording, known: &HashSet<String>, place: usize) -> bool {
    recording.is_clock(place) || known.contains(&recording.columns()[place])
}

fn nothing_there(signals: &Signals, first: Option<f64>, last: Option<f64>, stretch: TimeRange) -> Error {
    let from = stretch.from.map(|from| format!(" from {from} s on")).unwrap_or_default();
    let to = stretch.to.map(|to| format!(" up to {to} s")).unwrap_or_default();
    let rows = match (first, last) {
        (Some(first), Some(last)) if last > first => format!("it has rows from {first} s to {last} s"),
        (Some(first), _) => format!("it begins at {first} s"),
        (None, _) => "it has no rows".to_owned(),
    };
    Error::Report(signals.path().to_owned(), None, format!("there is nothing to plot{from}{to}: {rows}"))
}

fn take_stretch(overview: &mut Overview, recording: &mut Recording, stretch: TimeRange) -> Result<(), RecordingError> {
    let begin = stretch.from.unwrap_or(f64::MIN);
    while let Some(next) = recording.next_time().filter(|next| stretch.to.is_none_or(|to| *next <= to)) {
        // What was there holds when the stretch begins.
        if next > begin && recording.time().is_some_and(|time| time < begin) {
            overview.hold(begin, |column| number(recording.cell(column)));
        }
        recording.advance()?;
        if next >= begin {
            overview.row(next, |column| number(recording.cell(column)));
        }
    }
    // Between two rows there is what the first one has.
    let holds = recording.next_time().is_some() && recording.time().is_some_and(|time| time < begin);
    if holds {
        overview.hold(begin, |column| number(recording.cell(column)));
    }
    Ok(())
}

fn take_all(overview: &mut Overview, recording: &mut Recording) -> Result<(), RecordingError> {
    while recording.next_time().is_some() {
        recording.advance()?;
        if let Some(time) = recording.time() {
            overview.row(time, |column| number(recording.cell(column)));
        }
    }
    Ok(())
}
