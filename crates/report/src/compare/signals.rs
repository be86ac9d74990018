//! The signals of two recordings: which ones differ, from which time on, and by how much.

use super::table::ComparedTable;
use super::value::{Tolerance, Tolerances, deviation, number};
use super::walk::{ComparedTimes, Side, Span, walk};
use std::io::BufRead;
use vecud_record::recording::RecordingError;

/// A time and the values of both recordings, as text of the files; an empty text is no value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SamplePair {
    /// s.
    pub time: f64,
    /// Value of the run.
    pub a: String,
    /// Value of the reference.
    pub b: String,
}

impl SamplePair {
    fn set(&mut self, time: f64, a: &str, b: &str) {
        self.time = time;
        a.clone_into(&mut self.a);
        b.clone_into(&mut self.b);
    }
}

/// Result for one signal.
#[derive(Clone, Debug)]
pub struct SignalComparison {
    /// `fmu.variable`.
    pub name: String,
    /// The signal's columns in both files, the time not counted.
    pub columns: [usize; 2],
    /// Tolerance of the signal.
    pub tolerance: Tolerance,
    /// Times at which it differs.
    pub differing: u64,
    /// Number of times at which the deviation is beyond the tolerance.
    pub beyond: u64,
    /// Number of times at which the signal differs and only one recording has a row.
    pub one_sided: u64,
    /// Number of times at which the signal differs without a deviation: a value against none, a number against NaN,
    /// text.
    pub unlike: u64,
    /// The first difference.
    pub first: Option<SamplePair>,
    /// The first one beyond the tolerance.
    pub first_beyond: Option<SamplePair>,
    /// The largest absolute deviation.
    pub largest_absolute: Option<(f64, SamplePair)>,
    /// The largest relative deviation.
    pub largest_relative: Option<(f64, SamplePair)>,
    /// The largest value of either side without its sign, from the first difference on; rows that are equal as a whole
    /// do not count.
    magnitude: f64,
}

impl SignalComparison {
    fn take(&mut self, time: f64, both: bool, a: &str, b: &str) {
        let Some(apart) = deviation(a, b) else {
            if self.differing > 0 {
                self.magnitude = self.magnitude.max(number(a).map_or(0.0, f64::abs));
            }
            return;
        };
        self.differing += 1;
        self.one_sided += u64::from(!both);
        if self.first.is_none() {
            self.first.get_or_insert_default().set(time, a, b);
        }
        if !self.tolerance.admits(&apart) {
            self.beyond += 1;
            if self.first_beyond.is_none() {
                self.first_beyond.get_or_insert_default().set(time, a, b);
            }
        }
        if apart.absolute.is_infinite() {
            self.unlike += 1;
            return;
        }
        self.magnitude = self.magnitude.max(apart.absolute / apart.relative);
        let largest = [(&mut self.largest_absolute, apart.absolute), (&mut self.largest_relative, apart.relative)];
        for (largest, apart) in largest {
            if largest.as_ref().is_none_or(|(before, _)| apart > *before) {
                let (most, point) = largest.get_or_insert_default();
                *most = apart;
                point.set(time, a, b);
            }
        }
    }

    /// Message about the deviation from a reference of this name; `None`: the signal is within its tolerance.
    pub fn deviation_from(&self, reference: &str) -> Option<String> {
        let SamplePair { time, a, b } = self.first_beyond.as_ref()?;
        let largest = match &self.largest_absolute {
            Some((most, point)) => format!(", the largest deviation is {most:e} at {} s", point.time),
            None => String::new(),
        };
        let (own, count) = (&self.name, self.beyond);
        let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
        Some(format!("{own} is {a} at {time} s, and {b} in {reference}: beyond the tolerance {times}{largest}"))
    }

    /// The tolerance that its first excess, or its first difference, was judged by.
    pub fn judged_by(&self) -> Tolerance {
        let point = self.first_beyond.as_ref().or(self.first.as_ref());
        let whole = point.and_then(|point| deviation(&point.a, &point.b)).is_some_and(|apart| apart.whole);
        let exact = Tolerance { absolute: 0.0, relative: 0.0, named: false };
        if whole && !self.tolerance.named { exact } else { self.tolerance }
    }

    /// The largest deviation in proportion to the signal. Unlike the largest relative one, it does not speak of the
    /// instant at which a signal passes through zero.
    fn extent(&self) -> f64 {
        self.largest_absolute.as_ref().map_or(f64::INFINITY, |(most, _)| most / self.magnitude)
    }

    /// Orders two signals by their deviation, the worst first.
    fn rank(&self, other: &SignalComparison) -> std::cmp::Ordering {
        let extent = || other.extent().total_cmp(&self.extent());
        (other.beyond > 0).cmp(&(self.beyond > 0)).then_with(extent).then_with(|| self.name.cmp(&other.name))
    }
}

/// The signals of two recordings.
#[derive(Clone, Debug)]
pub struct SignalsComparison {
    /// Compared times.
    pub span: Span,
    /// The signals that differ, the worst first.
    pub different: Vec<SignalComparison>,
    /// Names of the equal signals, in the order of the run's file.
    pub equal: Vec<String>,
    /// Names that only one side has.
    pub only: [Vec<String>; 2],
}

impl SignalsComparison {
    /// Number of compared signals.
    pub fn number(&self) -> usize {
        self.different.len() + self.equal.len()
    }

    /// Whether differences are only where one side has no row.
    pub fn only_between_rows(&self) -> bool {
        !self.different.is_empty() && self.different.iter().all(|signal| signal.one_sided == signal.differing)
    }
}

/// Compares two recordings.
///
/// # Errors
/// A row of one recording is invalid.
pub fn signals<A: BufRead, B: BufRead>(
    a: &mut ComparedTable<A>,
    b: &mut ComparedTable<B>,
    course: &ComparedTimes,
    tolerances: &Tolerances,
) -> Result<SignalsComparison, (Side, RecordingError)> {
    let place = |columns: &[String]| -> std::collections::HashMap<String, usize> {
        let named = columns.iter().enumerate().filter(|(_, name)| !name.is_empty());
        named.map(|(place, name)| (name.clone(), place)).collect()
    };
    let (in_a, in_b) = (place(a.columns()), place(b.columns()));
    let only = |columns: &[String], other: &std::collections::HashMap<String, usize>| -> Vec<String> {
        columns.iter().filter(|name| !name.is_empty() && !other.contains_key(*name)).cloned().collect()
    };
    let only = [only(a.columns(), &in_b), only(b.columns(), &in_a)];
    let common = a.columns().iter().filter_map(|name| Some((name, [*in_a.get(name)?, *in_b.get(name)?])));
    let new = |(name, columns): (&String, [usize; 2])| SignalComparison {
        name: name.clone(),
        columns,
        tolerance: tolerances.of(name),
        differing: 0,
        beyond: 0,
        one_sided: 0,
        unlike: 0,
        first: None,
        first_beyond: None,
        largest_absolute: None,
        largest_relative: None,
        magnitude: 0.0,
    };
    let mut results: Vec<SignalComparison> = common.map(new).collect();
    let same_columns = a.columns() == b.columns();
    let span = walk(a, b, course, |time, both, a, b| {
        // Most rows of equal recordings are equal as a whole.
        if same_columns && a.row() == b.row() {
            return;
        }
        for signal in &mut results {
            signal.take(time, both, a.cell(signal.columns[0]), b.cell(signal.columns[1]));
        }
    })?;
    let (equal, mut different): (Vec<_>, Vec<_>) = results.into_iter().partition(|signal| signal.differing == 0);
    different.sort_by(SignalComparison::rank);
    Ok(SignalsComparison { span, different, equal: equal.into_iter().map(|signal| signal.name).collect(), only })
}
