//! A recording, gone through once for what is drawn of it.

use super::side::{Recording, Signals, broken, open};
use crate::recording::ReadError;
use crate::recording::envelope::Overview;
use crate::report::compare::number;
use crate::supervisor::Error;

/// What a report draws of a recording: as far as it can be read, and why not any further.
pub fn of_report(signals: &Signals) -> (Option<Overview>, Option<Error>) {
    let mut recording = match open(signals) {
        Ok(recording) => recording,
        Err(error) => return (None, Some(error)),
    };
    let mut overview = Overview::of_report(recording.columns());
    let failed = take_all(&mut overview, &mut recording).err();
    (overview.times().map(|_| overview), failed.map(|error| broken(&signals.path, error)))
}

fn take_all(overview: &mut Overview, recording: &mut Recording) -> Result<(), ReadError> {
    while recording.next_time().is_some() {
        recording.advance()?;
        if let Some(time) = recording.time() {
            overview.row(time, |column| number(recording.cell(column)));
        }
    }
    Ok(())
}
