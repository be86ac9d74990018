//! The curves of the worst signals: a second walk through the recordings, when these signals are known.
//!
//! The curves have a fixed number of steps however long the recordings are; each step keeps the smallest and the largest
//! value, so that no peak is lost.

use super::signals::{SignalComparison, SignalsComparison};
use super::table::ComparedTable;
use super::value::{deviation, number};
use super::walk::{ComparedTimes, Side, walk};
use std::io::BufRead;
use vecud_record::recording::RecordingError;

/// Steps of a curve.
pub const STEPS: usize = 400;

/// One signal of both recordings over time.
#[derive(Clone, Debug)]
pub struct ComparedCurve {
    /// The place of the signal in [`SignalsComparison::different`].
    pub signal: usize,
    /// First and last time, s.
    pub times: (f64, f64),
    /// Smallest and largest value of each step; `None`: none.
    pub values: [Vec<Option<(f64, f64)>>; 2],
    /// Largest absolute deviation of each step.
    pub deviation: Vec<Option<f64>>,
}

/// The curves of the first `most` signals that differ by numbers.
///
/// # Errors
/// A row of one of the files is none: they have changed since the first walk.
pub fn curves<A: BufRead, B: BufRead>(
    a: &mut ComparedTable<A>,
    b: &mut ComparedTable<B>,
    course: &ComparedTimes,
    comparison: &SignalsComparison,
    most: usize,
) -> Result<Vec<ComparedCurve>, (Side, RecordingError)> {
    let Some(times) = comparison.span.times else { return Ok(vec![]) };
    let has_numbers = |(_, signal): &(usize, &SignalComparison)| signal.largest_absolute.is_some();
    let worst: Vec<(usize, &SignalComparison)> =
        comparison.different.iter().enumerate().filter(has_numbers).take(most).collect();
    let new = |(signal, _): &(usize, &SignalComparison)| ComparedCurve {
        signal: *signal,
        times,
        values: [vec![None; STEPS], vec![None; STEPS]],
        deviation: vec![None; STEPS],
    };
    let mut curves: Vec<ComparedCurve> = worst.iter().map(new).collect();
    if curves.is_empty() {
        return Ok(curves);
    }
    let length = times.1 - times.0;
    walk(a, b, course, |time, _, a, b| {
        let share = if length > 0.0 { (time - times.0) / length } else { 0.0 };
        let step = ((share * STEPS as f64) as usize).min(STEPS - 1);
        for (curve, (_, signal)) in curves.iter_mut().zip(&worst) {
            // The files may have changed since.
            if a.columns().get(signal.columns[0]) != Some(&signal.name)
                || b.columns().get(signal.columns[1]) != Some(&signal.name)
            {
                continue;
            }
            let cells = [a.cell(signal.columns[0]), b.cell(signal.columns[1])];
            for (values, cell) in curve.values.iter_mut().zip(cells) {
                if let Some(value) = number(cell).filter(|value| value.is_finite()) {
                    let (low, high) = values[step].unwrap_or((value, value));
                    values[step] = Some((low.min(value), high.max(value)));
                }
            }
            let apart = deviation(cells[0], cells[1]).map_or(0.0, |apart| apart.absolute);
            if apart.is_finite() {
                curve.deviation[step] = Some(curve.deviation[step].unwrap_or(0.0).max(apart));
            }
        }
    })?;
    Ok(curves)
}
