//! Columns of a recording, thinned for drawing: of any number of rows each column keeps a fixed number of buckets, each with its
//! first, last, least and greatest value. No extreme is lost, however short it was.
//!
//! A value holds until the next one, as it does for readers of the variable, so a bucket begins with the last value of the one
//! before. All columns have the same buckets. When a recording outgrows them, neighbours become one and a bucket is twice as long;
//! its length is a power of two in seconds. The buckets therefore depend on the rows alone: as if their final length had been
//! known at first.
//!
//! Pure, and of bounded size: a row costs a comparison for each column that it may change, and no memory.

use super::names::split;
use std::collections::HashMap;

/// The length of the first bucket, s: about a microsecond.
const FIRST: f64 = 1.0 / (1 << 20) as f64;

/// Rows whose times are kept; with more rows nobody tells one from the next in a drawing.
const INSTANTS: usize = 200;

/// Values of a column in a bucket; a missing value is NaN.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    /// Value at the beginning, or the first value.
    pub first: f64,
    /// Value at the end.
    pub last: f64,
    /// The least value.
    pub low: f64,
    /// The greatest value.
    pub high: f64,
}

impl Bucket {
    /// A bucket in which nothing changes.
    fn holding(value: f64) -> Bucket {
        Bucket { first: value, last: value, low: value, high: value }
    }

    /// Whether the column had a value in it.
    pub fn has_values(&self) -> bool {
        !self.low.is_nan()
    }

    fn take(&mut self, value: f64) {
        if self.first.is_nan() {
            self.first = value;
        }
        self.last = value;
        // Of a number and NaN these give the number.
        (self.low, self.high) = (self.low.min(value), self.high.max(value));
    }

    /// This bucket and the one after it, as one.
    fn and(self, next: Bucket) -> Bucket {
        Bucket {
            first: if self.first.is_nan() { next.first } else { self.first },
            last: next.last,
            low: self.low.min(next.low),
            high: self.high.max(next.high),
        }
    }
}

/// One column of the overview.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// Completed buckets.
    buckets: Vec<Bucket>,
    /// The current bucket, which ends with the present value of the column; NaN: it cannot be drawn.
    open: Bucket,
    has_odd: bool,
    /// Number of ticks, if the column is a clock: it shows ticks, and no value between rows.
    ticks: Option<u64>,
}

impl Envelope {
    fn take(&mut self, value: Option<f64>) {
        let number = match value {
            Some(value) if value.is_finite() => value,
            value => {
                self.has_odd |= value.is_some();
                f64::NAN
            }
        };
        if number.to_bits() != self.open.last.to_bits() {
            self.open.take(number);
        }
        if let Some(ticks) = self.ticks.as_mut().filter(|_| number > 0.0) {
            *ticks += 1;
            self.open.take(0.0);
        }
    }

    /// Completes buckets up to the number `ended`. In those after the current one nothing has changed.
    fn end(&mut self, ended: usize) {
        let held = Bucket::holding(self.open.last);
        self.buckets.push(self.open);
        self.buckets.resize(ended, held);
        self.open = held;
    }

    /// Neighbours become one.
    fn widen(&mut self) {
        if self.buckets.len() % 2 == 1
            && let Some(last) = self.buckets.pop()
        {
            self.open = last.and(self.open);
        }
        self.buckets = halved(&self.buckets);
    }

    fn all(&self) -> impl Iterator<Item = &Bucket> {
        self.buckets.iter().chain([&self.open])
    }

    /// The least and the greatest value; `None`: it had none.
    pub fn range(&self) -> Option<(f64, f64)> {
        let all = self.all().filter(|bucket| bucket.has_values());
        all.map(|bucket| (bucket.low, bucket.high)).reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    /// Whether all values are whole numbers, as far as the buckets show.
    pub fn is_whole(&self) -> bool {
        let shown = self.all().flat_map(|own| [own.first, own.last, own.low, own.high]);
        shown.filter(|value| !value.is_nan()).all(|value| value.fract() == 0.0)
    }

    /// The number of ticks; `None`: the column is no clock.
    pub fn ticks(&self) -> Option<u64> {
        self.ticks
    }

    /// Whether it was infinite or no number at times, which cannot be drawn.
    pub fn has_odd(&self) -> bool {
        self.has_odd
    }
}

/// Joins each two neighbouring buckets.
fn halved(buckets: &[Bucket]) -> Vec<Bucket> {
    let pair = |pair: &[Bucket]| pair.iter().copied().reduce(Bucket::and).expect("a chunk has one at least");
    buckets.chunks(2).map(pair).collect()
}

/// Some columns of a recording.
#[derive(Clone, Debug)]
pub struct Overview {
    names: Vec<String>,
    /// The indices of these columns among all columns of the recording.
    places: Vec<usize>,
    /// By index among all columns of the recording: the column here; `None`: it is not drawn.
    drawn: Vec<Option<usize>>,
    columns: Vec<Envelope>,
    /// Buckets that a column has at most.
    most: usize,
    /// The length of a bucket, s.
    width: f64,
    /// Buckets that have ended, in each column.
    ended: usize,
    /// The times of the first and of the last row, s; `None`: there was none.
    times: Option<(f64, f64)>,
    /// The times of all rows, s, as long as they are few.
    instants: Vec<f64>,
}

impl Overview {
    /// An overview without a row, of the columns at these indices of a recording with columns of these `names`; `most`: buckets
    /// for each.
    pub fn new(names: &[String], places: Vec<usize>, most: usize) -> Overview {
        let mut drawn = vec![None; names.len()];
        places.iter().enumerate().for_each(|(column, place)| drawn[*place] = Some(column));
        let empty = Envelope { buckets: Vec::new(), open: Bucket::holding(f64::NAN), has_odd: false, ticks: None };
        Overview {
            names: places.iter().map(|place| names[*place].clone()).collect(),
            columns: vec![empty; places.len()],
            places,
            drawn,
            most: most.max(2),
            width: FIRST,
            ended: 0,
            times: None,
            instants: Vec::new(),
        }
    }

    /// Marks the columns that are clocks by their places in the recording: their ticks are counted, and drawn as
    /// spikes.
    pub fn with_clocks(mut self, is_clock: impl Fn(usize) -> bool) -> Overview {
        for (column, place) in self.columns.iter_mut().zip(&self.places) {
            column.ticks = is_clock(*place).then_some(0);
        }
        self
    }

    /// An overview without a row, of at most `columns` columns, clocks after all others: of more columns, as many of each
    /// FMU, its first variables and then its first clocks; `most`: buckets for each.
    pub fn of_some(names: &[String], columns: usize, most: usize, is_clock: impl Fn(usize) -> bool) -> Overview {
        Overview::new(names, first_of_each(names, columns, &is_clock), most).with_clocks(is_clock)
    }

    /// The overview that a report draws of a recording with these columns; `is_clock` says of an index whether the column is a
    /// clock.
    pub fn of_report(names: &[String], is_clock: impl Fn(usize) -> bool) -> Overview {
        const COLUMNS: usize = 60;
        const BUCKETS: usize = 1024;
        Overview::of_some(names, COLUMNS, BUCKETS, is_clock)
    }

    /// Takes a row, which is not before the one before it; `value` tells what the column at a place of the recording shows, if it
    /// shows a number.
    pub fn row(&mut self, time: f64, value: impl Fn(usize) -> Option<f64>) {
        self.reach(time);
        for (column, source) in self.columns.iter_mut().zip(&self.places) {
            column.take(value(*source));
        }
    }

    /// Takes the values at a time without a row, as [`Overview::row`] takes a row: no clock ticks.
    pub fn hold(&mut self, time: f64, value: impl Fn(usize) -> Option<f64>) {
        self.reach(time);
        for (column, source) in self.columns.iter_mut().zip(&self.places) {
            column.take(if column.ticks.is_some() { Some(0.0) } else { value(*source) });
        }
    }

    /// Takes a row as [`Overview::row`]. Precondition: compared with the row before, only the columns at these indices
    /// differ, and only clocks at these indices tick; the first row was taken as a whole.
    pub fn changes(&mut self, time: f64, places: impl Iterator<Item = usize>, value: impl Fn(usize) -> Option<f64>) {
        self.reach(time);
        for place in places {
            if let Some(column) = self.drawn[place] {
                self.columns[column].take(value(place));
            }
        }
    }

    /// Goes on to the time of the next row.
    fn reach(&mut self, time: f64) {
        if self.instants.len() <= INSTANTS {
            self.instants.push(time);
        }
        let (begin, end) = self.times.unwrap_or((time, time));
        self.times = Some((begin, end.max(time)));
        // Most rows are in the open bucket. Exactly so: a width is a power of two.
        if time - begin < self.width * (self.ended + 1) as f64 {
            return;
        }
        while (time - begin) / self.width >= self.most as f64 {
            self.width *= 2.0;
            self.ended /= 2;
            self.columns.iter_mut().for_each(Envelope::widen);
        }
        let ended = ((time - begin) / self.width) as usize;
        if ended > self.ended {
            self.ended = ended;
            self.columns.iter_mut().for_each(|column| column.end(ended));
        }
    }

    /// The times of the first and of the last row, s; `None`: there was none.
    pub fn times(&self) -> Option<(f64, f64)> {
        self.times
    }

    /// The times of all rows, s, if there are at most `most` rows, and so few that each can be seen: activations at which something
    /// was recorded.
    pub fn instants(&self, most: usize) -> &[f64] {
        if self.instants.len() <= most.min(INSTANTS) { &self.instants } else { &[] }
    }

    /// Its columns, with their names.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = (&str, &Envelope)> {
        self.names.iter().map(String::as_str).zip(&self.columns)
    }

    /// At most `most` buckets of a column, and the length of each, s. The first one begins with the first row.
    pub fn buckets(&self, column: usize, most: usize) -> (f64, Vec<Bucket>) {
        let (begin, end) = self.times.unwrap_or_default();
        let (mut width, mut buckets) = (self.width, self.columns[column].all().copied().collect::<Vec<_>>());
        while (end - begin) / width >= most.max(2) as f64 {
            width *= 2.0;
            buckets = halved(&buckets);
        }
        (width, buckets)
    }
}

/// The indices of at most `most` columns: of each FMU its first ones, as many as of the others. Clocks come after all other
/// columns: no other section of a report shows values of variables, and most of them show clocks.
fn first_of_each(names: &[String], most: usize, is_clock: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let (clocks, variables): (Vec<usize>, Vec<usize>) = (0..names.len()).partition(|place| is_clock(*place));
    let of_each = variables.into_iter().chain(clocks).map(|place| {
        let number = seen.entry(split(&names[place]).0).or_default();
        *number += 1;
        (*number, place)
    });
    let mut order: Vec<(usize, usize)> = of_each.collect();
    order.sort_unstable();
    let mut places: Vec<usize> = order.into_iter().take(most).map(|(_, place)| place).collect();
    places.sort_unstable_by_key(|place| (is_clock(*place), *place));
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn overview(columns: usize, most: usize) -> Overview {
        let names: Vec<String> = (0..columns).map(|n| format!("a.x{n}")).collect();
        Overview::new(&names, (0..columns).collect(), most)
    }

    /// Its buckets as text, so that NaN is NaN.
    fn shown(overview: &Overview) -> String {
        format!("{:?}", overview.columns)
    }

    #[test]
    fn no_spike_of_any_length_is_lost_and_memory_is_bounded() {
        let mut overview = overview(1, 64);
        for row in 0..200_000 {
            let value = match row {
                123_456 => 1000.0,
                150_000 => -7.5,
                _ => f64::from(row % 3),
            };
            overview.row(f64::from(row) * 1e-3, |_| Some(value));
        }
        let own = &overview.columns[0];
        assert!(own.buckets.len() <= 64 && own.buckets.len() > 32, "{}", own.buckets.len());
        assert_eq!(own.range(), Some((-7.5, 1000.0)));
        let (width, buckets) = overview.buckets(0, 64);
        let peak = buckets.iter().position(|bucket| bucket.high == 1000.0).unwrap();
        assert!((width * peak as f64..width * (peak + 1) as f64).contains(&123.456), "{width} {peak}");
        // Thinned once more for a smaller drawing, too.
        let (_, fewer) = overview.buckets(0, 10);
        assert!(fewer.len() <= 10 && fewer.iter().any(|bucket| bucket.high == 1000.0));
    }

    #[test]
    fn a_value_holds_until_the_next_one_and_one_that_is_gone_leaves_a_gap() {
        let mut overview = overview(1, 8);
        for (time, value) in [(10.0, Some(1.0)), (14.0, Some(3.0)), (15.0, None), (17.0, Some(2.0))] {
            overview.row(time, |_| value);
        }
        let (width, buckets) = overview.buckets(0, 8);
        assert_eq!((width, buckets.len()), (1.0, 8));
        let all: Vec<String> = buckets.iter().map(|own| format!("{}..{} {}", own.low, own.high, own.last)).collect();
        assert_eq!(
            all,
            ["1..1 1", "1..1 1", "1..1 1", "1..1 1", "1..3 3", "3..3 NaN", "NaN..NaN NaN", "2..2 2"].map(str::to_owned)
        );
        assert_eq!(buckets[4].first, 1.0, "a bucket begins with what was there");
    }

    #[test]
    fn the_times_of_rows_are_known_as_long_as_they_are_few() {
        let mut overview = overview(1, 8);
        (0..3).for_each(|time| overview.row(f64::from(time), |_| None));
        assert_eq!((overview.instants(3), overview.instants(2)), (&[0.0, 1.0, 2.0][..], &[][..]));
        (3..100_000).for_each(|time| overview.row(f64::from(time), |_| None));
        assert!(overview.instants(usize::MAX).is_empty() && overview.instants.len() <= INSTANTS + 1);
    }

    #[test]
    fn what_cannot_be_drawn_is_told() {
        let mut overview = overview(2, 8);
        overview.row(0.0, |place| (place == 0).then_some(f64::NAN));
        overview.row(1.0, |place| (place == 0).then_some(0.5));
        let [first, second] = [0, 1].map(|column| &overview.columns[column]);
        assert!(first.has_odd() && !second.has_odd() && !first.is_whole());
        assert_eq!((first.range(), second.range()), (Some((0.5, 0.5)), None));
    }

    #[test]
    fn of_many_columns_each_fmu_has_its_first_ones() {
        let name = |fmu: &str, n: usize| format!("{fmu}.x{n}");
        let names: Vec<String> = (0..50).map(|n| name("a", n)).chain((0..3).map(|n| name("b", n))).collect();
        assert_eq!(first_of_each(&names, 8, |_| false), [0, 1, 2, 3, 4, 50, 51, 52]);
        assert_eq!(first_of_each(&names, 100, |_| false).len(), 53);
        assert_eq!(Overview::of_report(&names, |_| false).columns().len(), 53);
        // The clocks of `a` are its first columns, and that of `b` its second one.
        let is_clock = |place| place < 30 || place == 51;
        assert_eq!(first_of_each(&names, 8, is_clock), [30, 31, 32, 33, 34, 50, 52, 51]);
    }

    #[test]
    fn a_clock_counts_its_ticks_and_holds_nothing() {
        let names = ["a.clock", "a.x"].map(str::to_owned);
        let mut overview = Overview::of_report(&names, |place| place == 0);
        overview.hold(0.0, |_| Some(1.0));
        for (time, tick) in [(1.0, 1.0), (2.0, 1.0), (3.0, 0.0)] {
            overview.row(time, |_| Some(tick));
        }
        overview.changes(4.0, [0].into_iter(), |_| Some(1.0));
        let ticks: Vec<_> = overview.columns().map(|(name, column)| (name, column.ticks())).collect();
        assert_eq!(ticks, [("a.x", None), ("a.clock", Some(3))]);
    }

    proptest! {
        /// Widening step by step gives what the final length would have given at once, and no extreme is lost on the way.
        #[test]
        fn merging_equals_computing_at_once(
            steps in prop::collection::vec((0u32..3_000_000, prop::option::of(-50i8..50)), 1..200),
            most in 2usize..40,
        ) {
            let mut grown = overview(1, most);
            let mut time = 0.0;
            let rows: Vec<(f64, Option<f64>)> = steps.iter().map(|(step, value)| {
                time += f64::from(*step) * 1e-6;
                (time, value.map(f64::from))
            }).collect();
            rows.iter().for_each(|(time, value)| grown.row(*time, |_| *value));
            let mut at_once = Overview { width: grown.width, ..overview(1, most) };
            rows.iter().for_each(|(time, value)| at_once.row(*time, |_| *value));
            prop_assert_eq!(shown(&grown), shown(&at_once));
            prop_assert!(grown.columns[0].buckets.len() <= most);
            let values = || rows.iter().filter_map(|(_, value)| *value);
            let range = values().reduce(f64::min).zip(values().reduce(f64::max));
            prop_assert_eq!(grown.columns[0].range(), range);
        }

        /// A value holds: it is enough to say which columns show something else.
        #[test]
        fn rows_of_changes_are_rows(
            rows in prop::collection::vec((0u32..3_000_000, prop::collection::vec(prop::option::of(-3i8..3), 3)), 1..100),
            most in 2usize..20,
        ) {
            // A column that is not drawn changes, too.
            let names = ["a.x", "a.y", "a.z"].map(str::to_owned);
            let of = || Overview::new(&names, vec![2, 0], most);
            let (mut whole, mut changed, mut time) = (of(), of(), 0.0);
            let mut before: Option<&Vec<Option<i8>>> = None;
            for (step, values) in &rows {
                time += f64::from(*step) * 1e-6;
                let value = |place: usize| values[place].map(|value| if value == 2 { f64::NAN } else { f64::from(value) });
                whole.row(time, value);
                match before {
                    None => changed.row(time, value),
                    Some(before) => changed.changes(time, (0..3).filter(|place| before[*place] != values[*place]), value),
                }
                before = Some(values);
            }
            prop_assert_eq!(shown(&whole), shown(&changed));
        }
    }
}
