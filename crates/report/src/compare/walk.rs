//! Two recordings, side by side through time.
//!
//! Recordings of the same run may have different rows: one was thinned out, or keeps changes only, or comes from a tool
//! with other steps. So both are looked at whenever *either* has a row, and each has the value of its last row (zero-order
//! hold). Times at most [`ComparedTimes::same_time`] apart are the same time. A recording has no values before its first row, and
//! none after its end: the end of its run where that is known, else its last row.

use super::table::ComparedTable;
use std::io::BufRead;
use vecud_record::recording::RecordingError;

/// One of the two recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The run under examination.
    A,
    /// The reference.
    B,
}

/// Selection of the compared times.
#[derive(Clone, Copy, Debug)]
pub struct ComparedTimes {
    /// Times that are no more than this apart are the same, s.
    pub same_time: f64,
    /// Only times at which both recordings have a row.
    pub common_only: bool,
    /// Only times before this one, s.
    pub until: Option<f64>,
    /// The ends of the runs, s: at that time itself nothing was recorded any more.
    pub ends: [Option<f64>; 2],
}

impl ComparedTimes {
    /// The times at which a simulation and its reference both have a row.
    pub const OF_A_REFERENCE: ComparedTimes =
        ComparedTimes { same_time: 1e-9, common_only: true, until: None, ends: [None, None] };
}

/// Extent of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span {
    /// First and last time, s; `None`: there was none.
    pub times: Option<(f64, f64)>,
    /// Number of compared times.
    pub moments: u64,
    /// Rows of each before the other one begins.
    pub before: [u64; 2],
    /// Rows of each after the other one's end.
    pub beyond: [u64; 2],
    /// The ends of the recordings, s; `None`: a recording has no rows.
    pub ends: [Option<f64>; 2],
    /// Time of the first row of each, s, and of the last one that was read; `None`: it has no rows.
    pub rows: [Option<(f64, f64)>; 2],
    /// The sides whose last row broke off.
    pub broken_off: [bool; 2],
}

/// Goes through both and shows each time at which both have values: whether both have a row there, and the rows.
///
/// # Errors
/// A row of one recording is invalid.
pub fn walk<A: BufRead, B: BufRead>(
    a: &mut ComparedTable<A>,
    b: &mut ComparedTable<B>,
    course: &ComparedTimes,
    mut visit: impl FnMut(f64, bool, &ComparedTable<A>, &ComparedTable<B>),
) -> Result<Span, (Side, RecordingError)> {
    let mut span = Span::default();
    let in_a = |error| (Side::A, error);
    let in_b = |error| (Side::B, error);
    let covered = |last: Option<f64>, end: Option<f64>, time: f64| {
        last.is_some_and(|last| time <= last + course.same_time) || end.is_some_and(|end| time < end - course.same_time)
    };
    let first = [a.next_time(), b.next_time()];
    loop {
        let (next_a, next_b) = (a.next_time(), b.next_time());
        let time = match (next_a, next_b) {
            (None, None) => break,
            (Some(time), None) | (None, Some(time)) => time,
            (Some(a), Some(b)) => a.min(b),
        };
        if course.until.is_some_and(|until| time >= until) {
            break;
        }
        let is_now = |next: Option<f64>| next.is_some_and(|next| next - time <= course.same_time);
        let (has_a, has_b) = (is_now(next_a), is_now(next_b));
        // The other recording has no more rows, and its last values are outdated.
        let left_a = next_b.is_none() && !covered(b.time(), course.ends[1], time);
        let left_b = next_a.is_none() && !covered(a.time(), course.ends[0], time);
        if has_a {
            a.advance().map_err(in_a)?;
        }
        if has_b {
            b.advance().map_err(in_b)?;
        }
        if left_a || left_b {
            span.beyond[usize::from(left_b)] += 1;
        } else if a.time().is_none() || b.time().is_none() {
            span.before[usize::from(a.time().is_none())] += 1;
        } else if has_a && has_b || !course.common_only {
            span.moments += 1;
            span.times = Some((span.times.map_or(time, |times| times.0), time));
            visit(time, has_a && has_b, a, b);
        }
    }
    let (last, goes_on) = ([a.time(), b.time()], [a.next_time().is_some(), b.next_time().is_some()]);
    for side in 0..2 {
        span.rows[side] = first[side].map(|first| (first, last[side].unwrap_or(first)));
        let end = course.ends[side].filter(|end| last[side].is_none_or(|last| *end >= last)).or(last[side]);
        span.ends[side] = match course.until {
            Some(until) if goes_on[side] => Some(until),
            until => end.map(|end| until.map_or(end, |until| end.min(until))),
        };
    }
    span.broken_off = [a.broken_off(), b.broken_off()];
    Ok(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COURSE: ComparedTimes =
        ComparedTimes { same_time: 1e-9, common_only: false, until: None, ends: [None, None] };

    fn seen(a: &str, b: &str, course: &ComparedTimes) -> (Vec<String>, Span) {
        let table = |rows: &str| {
            let rows: String = rows.split_whitespace().map(|row| format!("{}\n", row.replace(':', ","))).collect();
            format!("time,x\n{rows}")
        };
        let (a, b) = (table(a), table(b));
        let (mut a, mut b) =
            (ComparedTable::of_tool(a.as_bytes()).unwrap(), ComparedTable::of_tool(b.as_bytes()).unwrap());
        let mut moments = Vec::new();
        let span = walk(&mut a, &mut b, course, |time, both, a, b| {
            moments.push(format!("{time}:{}{}{}", a.cell(0), if both { "=" } else { "~" }, b.cell(0)));
        });
        (moments, span.unwrap())
    }

    #[test]
    fn each_has_the_value_of_its_last_row() {
        let (moments, span) = seen("0:1 2:2 4:3", "0:1 1:5 2:6 4:7", &COURSE);
        assert_eq!(moments, ["0:1=1", "1:1~5", "2:2=6", "4:3=7"]);
        assert_eq!((span.moments, span.times, span.ends), (4, Some((0.0, 4.0)), [Some(4.0); 2]));
        let (moments, _) = seen("0:1 2:2 4:3", "0:1 1:5 2:6 4:7", &ComparedTimes { common_only: true, ..COURSE });
        assert_eq!(moments, ["0:1=1", "2:2=6", "4:3=7"]);
        let (moments, span) = seen("0:1 2:2 4:3", "0:1 1:5 2:6 4:7", &ComparedTimes { until: Some(2.0), ..COURSE });
        assert_eq!((moments.len(), span.ends), (2, [Some(2.0); 2]));
    }

    #[test]
    fn times_that_differ_by_rounding_are_the_same() {
        let (moments, _) = seen("0:1 0.3:2 0.6:3", "0:1 0.30000000000000004:2 0.6000000000000001:3", &COURSE);
        assert_eq!(moments, ["0:1=1", "0.3:2=2", "0.6:3=3"]);
        let coarse = ComparedTimes { same_time: 0.01, ..COURSE };
        assert_eq!(seen("0:1 0.299:2", "0:1 0.305:2", &coarse).0.len(), 2);
    }

    #[test]
    fn before_the_first_row_and_after_the_end_there_are_no_values() {
        let (moments, span) = seen("1:1 2:2", "0:0 0.5:0 1:1 2:2 3:3 4:4", &COURSE);
        assert_eq!(moments, ["1:1=1", "2:2=2"]);
        assert_eq!((span.before, span.beyond, span.ends), ([0, 2], [0, 2], [Some(2.0), Some(4.0)]));
        // A recording of changes only is silent when nothing changes: its run went on until 4 s.
        let (moments, span) =
            seen("1:1 2:2", "0:0 1:1 2:2 3:3 4:4", &ComparedTimes { ends: [Some(4.0), None], ..COURSE });
        assert_eq!(moments, ["1:1=1", "2:2=2", "3:2~3"]);
        assert_eq!((span.before, span.beyond, span.ends), ([0, 1], [0, 1], [Some(4.0); 2]));
        let (moments, span) = seen("", "0:0 1:1", &COURSE);
        assert_eq!((moments.len(), span.beyond, span.ends), (0, [0, 2], [None, Some(1.0)]));
        assert_eq!(seen("", "", &COURSE).1, Span::default());
    }
}
