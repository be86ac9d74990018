//! Latency histograms: HdrHistogram's buckets, fixed bounds, nothing lost, nothing allocated while recording.
//!
//! * [`HistogramWriter`] writes, counters in shared memory: for one writer a handful of nanoseconds per value, for several some more.
//! * [`Histogram`] is for readers: HdrHistogram's quantiles, and the exact minimum, maximum and mean.
//! * [`HistogramCursor`] is a reader's memory of its last look, to find newer values; the writer knows nothing of it.
//!
//! Values are nanoseconds from 0 to an hour, in buckets of at most 1/128 of the value (two significant digits). Anything
//! longer counts as an hour in the buckets; the exact maximum keeps the real value.

use super::ring::LINE;
use hdrhistogram::Histogram as Hdr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The largest value with a bucket of its own: one hour.
pub const HIGHEST: u64 = 3_600_000_000_000;
/// Significant decimal digits.
const DIGITS: u8 = 2;
/// Half of the sub-buckets of a bucket, as a power of two (256 sub-buckets give two digits).
const HALF_MAGNITUDE: u32 = 7;
/// Number of counters.
const COUNTERS: usize = 36 << HALF_MAGNITUDE;
const SUM: usize = 0;
/// The smallest value's complement, so that zeroed memory means that there is none.
const LEAST: usize = 1;
const MAX: usize = 2;
const HEADER: usize = 3;

/// Words of memory that one histogram takes: whole cache lines, and the first one is that of the smallest values, too.
pub const WORDS: usize = (HEADER + COUNTERS).next_multiple_of(LINE);

/// The counter of a value: its bucket's power of two, then linearly within.
fn index(value: u64) -> usize {
    let value = value.min(HIGHEST);
    let bucket = 63 - HALF_MAGNITUDE - (value | ((2 << HALF_MAGNITUDE) - 1)).leading_zeros();
    let sub_bucket = (value >> bucket) as usize;
    ((bucket as usize + 1) << HALF_MAGNITUDE) + sub_bucket - (1 << HALF_MAGNITUDE)
}

/// The largest value that shares the counter `index`.
fn highest_at(index: usize) -> u64 {
    let bucket = (index >> HALF_MAGNITUDE).saturating_sub(1);
    let sub_bucket = index - (bucket << HALF_MAGNITUDE);
    ((sub_bucket as u64 + 1) << bucket) - 1
}

/// The writing end: exactly one thread [records](HistogramWriter::record) at a time, or any [count](HistogramWriter::count).
#[derive(Clone, Copy)]
pub struct HistogramWriter<'a> {
    words: &'a [AtomicU64; WORDS],
}

impl<'a> HistogramWriter<'a> {
    /// A histogram in `words`, which are [`WORDS`] many and zero at first.
    ///
    /// # Panics
    /// If there are fewer words.
    pub fn new(words: &'a [AtomicU64]) -> Self {
        HistogramWriter { words: words[..WORDS].try_into().expect("as many words") }
    }

    /// Counts one value. Plain loads and stores, as few as possible: there is one writer, readers only need each word
    /// whole, and each store delays the next locked instruction (those of the preemption lock).
    #[inline]
    pub fn record(&self, nanos: i64) {
        let value = nanos.max(0) as u64;
        if !value > self.words[LEAST].load(Relaxed) {
            self.words[LEAST].store(!value, Relaxed);
        }
        if value > self.words[MAX].load(Relaxed) {
            self.words[MAX].store(value, Relaxed);
        }
        let counter = &self.words[HEADER + index(value)];
        for (word, amount) in [(&self.words[SUM], value), (counter, 1)] {
            word.store(word.load(Relaxed).wrapping_add(amount), Relaxed);
        }
    }

    /// Counts one value, beside others who do the same.
    pub fn count(&self, nanos: i64) {
        self.count_many(nanos, 1);
    }

    /// [Counts](HistogramWriter::count) one value this number of times, at least once.
    pub fn count_many(&self, nanos: i64, times: u64) {
        let value = nanos.max(0) as u64;
        self.words[LEAST].fetch_max(!value, Relaxed);
        self.words[MAX].fetch_max(value, Relaxed);
        self.words[SUM].fetch_add(value.wrapping_mul(times), Relaxed);
        self.words[HEADER + index(value)].fetch_add(times, Relaxed);
    }

    /// The sum of all values, ns.
    pub fn sum(&self) -> u64 {
        self.words[SUM].load(Relaxed)
    }

    /// Copies the histogram. The quantiles come from the counters alone, so a reader beside a writer never sees more
    /// values than were recorded.
    pub fn read(&self) -> Histogram {
        let mut histogram = Histogram::default();
        for (index, word) in self.words[HEADER..HEADER + COUNTERS].iter().enumerate() {
            // FMU code can write anywhere, also here: no sum of counts overflows.
            let count = word.load(Relaxed).min(1 << 50);
            if count > 0 {
                histogram.buckets.record_n(highest_at(index).min(HIGHEST), count).expect("within the bounds");
            }
        }
        if !histogram.buckets.is_empty() {
            histogram.max = self.words[MAX].load(Relaxed);
            // A value that is just being recorded may have its bucket already and these not yet.
            histogram.min = (!self.words[LEAST].load(Relaxed)).min(histogram.max);
            histogram.sum = self.words[SUM].load(Relaxed);
        }
        histogram
    }

    /// Whether these can be the words of a histogram of at most `most` values, several of which may be half recorded. FMU
    /// code can write anywhere, also here.
    pub fn is_possible(&self, most: u64) -> bool {
        let get = |word: usize| self.words[word].load(Relaxed);
        let (mut count, mut low_sum, mut high_sum) = (0u64, 0u128, 0u128);
        let (mut lowest, mut highest) = (None, 0);
        for (index, word) in self.words[HEADER..HEADER + COUNTERS].iter().enumerate() {
            let own = word.load(Relaxed);
            if own > 0 {
                count = count.saturating_add(own);
                let low = if index == 0 { 0 } else { highest_at(index - 1) + 1 };
                low_sum += u128::from(own) * u128::from(low);
                high_sum += u128::from(own) * u128::from(highest_at(index));
                lowest.get_or_insert(highest_at(index));
                highest = low;
            }
        }
        let (least, max, sum) = (get(LEAST), get(MAX), get(SUM));
        let fits = lowest.is_none_or(|lowest| !least <= lowest && max >= highest);
        // What is beyond the bounds is only in the sum, and may be in it several times.
        let most_sum = if max > HIGHEST { u128::MAX } else { high_sum + 2 * u128::from(max) };
        let summed = (low_sum.min(u128::from(u64::MAX))..=most_sum).contains(&u128::from(sum));
        let is_nanos = |value: u64| value <= i64::MAX as u64;
        count <= most && fits && summed && is_nanos(max) && (least == 0 || is_nanos(!least))
    }

    /// Makes a histogram consistent that was copied word by word while values were recorded: moves the exact figures, which
    /// may be from before the last values, to the range that the counters allow.
    pub fn settle(&self) {
        let (mut low_sum, mut lowest, mut highest) = (0u64, None, 0);
        for (index, word) in self.words[HEADER..HEADER + COUNTERS].iter().enumerate() {
            let own = word.load(Relaxed);
            if own > 0 {
                let low = if index == 0 { 0 } else { highest_at(index - 1) + 1 };
                low_sum = low_sum.saturating_add(own.saturating_mul(low));
                lowest.get_or_insert(highest_at(index));
                highest = low;
            }
        }
        let Some(lowest) = lowest else {
            // The counters are zero already; writing them would fault in every page of a copy that holds nothing.
            return self.words[..HEADER].iter().for_each(|word| word.store(0, Relaxed));
        };
        self.words[LEAST].fetch_max(!lowest, Relaxed);
        self.words[MAX].fetch_max(highest, Relaxed);
        self.words[SUM].fetch_max(low_sum, Relaxed);
    }

    /// The number of values in each bucket up to now.
    pub fn counts(&self) -> SparseHistogram {
        let used = index(self.words[MAX].load(Relaxed)) + 1;
        let words = self.words[HEADER..HEADER + used].iter().enumerate();
        // FMU code can write anywhere, also here: no sum of counts overflows.
        let counted =
            words.map(|(index, word)| FilledBucket { index: index as u16, count: word.load(Relaxed).min(1 << 50) });
        SparseHistogram::kept(counted.filter(|own| own.count > 0).collect())
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.words.iter().for_each(|word| word.store(0, Relaxed));
    }

    /// The longest value recorded since the last look with the same [`HistogramCursor`]; `None`: there was none. Exact when it is the
    /// longest of all, else the end of its bucket. Buckets below that of `least` are left for a later look.
    pub fn longest_since(&self, seen: &mut HistogramCursor, least: u64) -> Option<u64> {
        let max = self.words[MAX].load(Relaxed);
        let used = index(max) + 1;
        seen.counts.resize(used.max(seen.counts.len()), 0);
        let mut highest = None;
        for index in index(least)..used {
            let count = self.words[HEADER + index].load(Relaxed) as u32;
            if count != seen.counts[index] {
                (seen.counts[index], highest) = (count, Some(index));
            }
        }
        let exact = highest == Some(used - 1) && max > seen.max;
        if exact {
            seen.max = max;
        }
        highest.map(|highest| if exact { max } else { highest_at(highest).min(max) })
    }
}

/// A reader's memory of a histogram: [`HistogramWriter::longest_since`].
#[derive(Clone, Debug, Default)]
pub struct HistogramCursor {
    /// The lower half of each counter, which no interval between two looks comes round.
    counts: Vec<u32>,
    max: u64,
}

/// The number of values in each bucket that has any: a small histogram, since many are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SparseHistogram(Vec<FilledBucket>);

/// A bucket with values. Packed: thousands are kept for each hour of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(Rust, packed)]
struct FilledBucket {
    index: u16,
    count: u64,
}

impl SparseHistogram {
    /// The counts of an HdrHistogram with the bounds of [`Histogram`].
    pub fn of(buckets: &Hdr<u64>) -> SparseHistogram {
        let recorded = buckets.iter_recorded();
        SparseHistogram::kept(
            recorded
                .map(|own| FilledBucket { index: index(own.value_iterated_to()) as u16, count: own.count_at_value() })
                .collect(),
        )
    }

    /// The histogram with no spare memory.
    fn kept(mut counts: Vec<FilledBucket>) -> SparseHistogram {
        counts.shrink_to_fit();
        SparseHistogram(counts)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of values.
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |all, own| all.saturating_add(own.count))
    }

    /// The number of values up to each of the bounds, which increase, and beyond the one before; last, the number beyond all of
    /// them. No value is counted below a bound that it exceeds: if a bound divides a bucket, the whole bucket counts as beyond, so
    /// a value less than 1/128 below the bound may count as beyond.
    pub fn between(&self, bounds: &[u64]) -> Vec<u64> {
        let mut all = vec![0u64; bounds.len() + 1];
        let mut place = 0;
        for &FilledBucket { index, count } in &self.0 {
            while bounds.get(place).is_some_and(|bound| highest_at(index.into()) > *bound) {
                place += 1;
            }
            all[place] = all[place].saturating_add(count);
        }
        all
    }

    /// Adds those of another one.
    pub fn add(&mut self, other: &SparseHistogram) {
        for &FilledBucket { index, count } in &other.0 {
            match self.0.binary_search_by_key(&index, |own| own.index) {
                Ok(place) => self.0[place].count += count,
                Err(place) => self.0.insert(place, FilledBucket { index, count }),
            }
        }
    }

    /// Counts since an `earlier` state of the same histogram; `None`: `earlier` has counts that this one lacks.
    pub fn since(&self, earlier: &SparseHistogram) -> Option<SparseHistogram> {
        let mut left = earlier.0.iter().peekable();
        let mut came = Vec::new();
        for &FilledBucket { index, count } in &self.0 {
            let before = left.next_if(|own| own.index == index).map_or(0, |own| own.count);
            let more = count.checked_sub(before)?;
            came.extend((more > 0).then_some(FilledBucket { index, count: more }));
        }
        left.next().is_none().then_some(SparseHistogram::kept(came))
    }

    /// The values in HdrHistogram's buckets.
    pub fn buckets(&self) -> Hdr<u64> {
        let mut buckets = Histogram::default().buckets;
        for &FilledBucket { index, count } in &self.0 {
            buckets.record_n(highest_at(index.into()).min(HIGHEST), count).expect("within the bounds");
        }
        buckets
    }
}

/// Recorded values, nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    buckets: Hdr<u64>,
    min: u64,
    max: u64,
    sum: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        let buckets = Hdr::new_with_bounds(1, HIGHEST, DIGITS).expect("valid bounds");
        Histogram { buckets, min: 0, max: 0, sum: 0 }
    }
}

impl Histogram {
    /// A histogram of these values.
    pub fn of(values: impl IntoIterator<Item = u64>) -> Histogram {
        let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        let recorder = HistogramWriter::new(&words);
        for value in values {
            recorder.record(value as i64);
        }
        recorder.read()
    }

    /// A histogram that was written down: HdrHistogram's buckets, and the exact figures beside them. `None`: the buckets
    /// hold what these cannot, or not as many values.
    pub fn from_parts(buckets: &Hdr<u64>, count: u64, min: u64, max: u64, mean: f64) -> Option<Histogram> {
        let mut histogram = Histogram { min, max, ..Histogram::default() };
        histogram.buckets.add(buckets).ok()?;
        histogram.sum = (mean * count as f64).round() as u64;
        (histogram.count() == count && min <= max).then_some(histogram)
    }

    /// Adds another one's values.
    pub fn add(&mut self, other: &Histogram) {
        if other.count() == 0 {
            return;
        }
        self.min = if self.count() == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.sum = self.sum.wrapping_add(other.sum);
        self.buckets.add(&other.buckets).expect("the same bounds");
    }

    /// Values since an `earlier` state of the same recorder; all values, if `earlier` cannot be one. Counts and mean
    /// are exact; the smallest and the largest value are exact if they are those of all, otherwise the ends of their
    /// buckets.
    pub fn since(&self, earlier: &Histogram) -> Histogram {
        let Some(counts) = SparseHistogram::of(&self.buckets).since(&SparseHistogram::of(&earlier.buckets)) else {
            return self.clone();
        };
        let (Some(lowest), Some(highest)) = (counts.0.first(), counts.0.last()) else { return Histogram::default() };
        let (lowest, highest) = (usize::from(lowest.index), usize::from(highest.index));
        let low = if lowest == 0 { 0 } else { highest_at(lowest - 1) + 1 };
        let is_first = earlier.count() == 0;
        Histogram {
            min: if is_first || self.min < earlier.min { self.min } else { low.max(self.min) },
            max: if is_first || self.max > earlier.max { self.max } else { highest_at(highest).min(self.max) },
            sum: self.sum.wrapping_sub(earlier.sum),
            buckets: counts.buckets(),
        }
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.buckets.len()
    }

    /// The exact smallest value; 0 when there is none.
    pub fn min(&self) -> u64 {
        self.min
    }

    /// The exact largest value.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The exact mean.
    pub fn mean(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.sum as f64 / self.count() as f64 }
    }

    /// The value below or at which this share (0 to 1) of all values lies; never beyond the exact maximum.
    pub fn quantile(&self, share: f64) -> u64 {
        if self.count() == 0 { 0 } else { self.buckets.value_at_quantile(share).clamp(self.min, self.max) }
    }

    /// The buckets, for formats that HdrHistogram defines.
    pub fn buckets(&self) -> &Hdr<u64> {
        &self.buckets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_came_since_a_look_is_what_is_left_of_all() {
        let all = |values: &[u64]| Histogram::of(values.iter().copied());
        let before = [1000, 5000, 70];
        let earlier = all(&before);
        let since = |more: &[u64]| all(&[&before, more].concat()).since(&earlier);
        assert_eq!(since(&[]), Histogram::default());
        let longer = since(&[9001, 60]);
        assert_eq!(
            (longer.count(), longer.min(), longer.max(), longer.mean()),
            (2, 60, 9001, 4530.5),
            "they are the ends of all"
        );
        let within = since(&[2001, 2001]);
        assert_eq!((within.count(), within.mean()), (2, 2001.0));
        assert!((1986..=2001).contains(&within.min()) && (2001..=2017).contains(&within.max()), "to 1/128: {within:?}");
        assert_eq!(all(&before).since(&Histogram::default()), all(&before));
        assert_eq!(earlier.since(&all(&[1, 2, 3])), earlier, "it cannot have been that");
    }

    #[test]
    fn the_buckets_are_hdrhistograms() {
        let hdr = Histogram::default().buckets;
        assert_eq!(hdr.distinct_values(), COUNTERS);
        for value in (0..4096).chain((12..42).flat_map(|p| [(1 << p) - 1, 1 << p, (1 << p) + 1])) {
            let value = value.min(HIGHEST);
            assert_eq!(highest_at(index(value)), hdr.highest_equivalent(value), "{value}");
            if value > 0 {
                let other = highest_at(index(value - 1)) == highest_at(index(value));
                assert_eq!(other, hdr.equivalent(value - 1, value), "{value}");
            }
        }
    }

    #[test]
    fn one_histogram_stays_below_64_kib() {
        const { assert!(WORDS * 8 <= 64 * 1024) };
    }

    #[test]
    fn nothing_is_lost_beyond_the_bounds() {
        let histogram = Histogram::of([0, 1, 2 * HIGHEST]);
        assert_eq!((histogram.count(), histogram.min(), histogram.max()), (3, 0, 2 * HIGHEST));
    }

    #[test]
    fn a_negative_latency_counts_as_zero() {
        let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        HistogramWriter::new(&words).record(-5);
        let histogram = HistogramWriter::new(&words).read();
        assert_eq!((histogram.count(), histogram.min(), histogram.max()), (1, 0, 0));
    }

    #[test]
    fn of_several_who_count_at_the_same_time_nothing_is_lost() {
        let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        let each = if cfg!(miri) { 100 } else { 50_000 };
        std::thread::scope(|scope| {
            for first in 0..3 {
                let words = &words;
                scope.spawn(move || {
                    (0..each).for_each(|k| HistogramWriter::new(words).count(100 + first + 3 * (k % 20)))
                });
            }
        });
        let all = Histogram::of((0..3).flat_map(|first| (0..each as u64).map(move |k| 100 + first + 3 * (k % 20))));
        assert_eq!(HistogramWriter::new(&words).read(), all);
    }

    /// A reader may come between the writer's stores, and on some processors see them in another order.
    #[test]
    fn a_value_that_is_being_written_is_read_without_harm() {
        let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        words[HEADER + index(5)].store(1, Relaxed);
        let mut histogram = HistogramWriter::new(&words).read();
        assert!(histogram.quantile(0.5) <= 5 && histogram.min() <= histogram.max());
        // FMU code can write anywhere, also here.
        words[SUM].store(u64::MAX, Relaxed);
        histogram.add(&HistogramWriter::new(&words).read());
        histogram.add(&HistogramWriter::new(&words).read());
        assert_eq!(histogram.count(), 3);
    }

    /// In a copy made beside a writer, the counters may be ahead of all else, by any number of values.
    #[test]
    fn a_copy_that_is_made_beside_a_writer_is_made_possible() {
        let histogram = || (0..WORDS).map(|_| AtomicU64::new(0)).collect::<Vec<_>>();
        let (before, after) = (histogram(), histogram());
        for words in [&before, &after] {
            (500..600).for_each(|value| HistogramWriter::new(words).record(value));
        }
        [3, 70_000, 90_001, 1 << 40].into_iter().for_each(|value| HistogramWriter::new(&after).record(value));
        let copy = histogram();
        for (index, word) in copy.iter().enumerate() {
            let from = if index < HEADER { &before } else { &after };
            word.store(from[index].load(Relaxed), Relaxed);
        }
        assert!(!HistogramWriter::new(&copy).is_possible(1000), "or there is nothing to be shown");
        HistogramWriter::new(&copy).settle();
        assert!(HistogramWriter::new(&copy).is_possible(1000));
        let (read, exact) = (HistogramWriter::new(&copy).read(), HistogramWriter::new(&after).read());
        assert_eq!((read.count(), read.min(), read.quantile(0.99)), (104, exact.min(), exact.quantile(0.99)));
        assert!(read.max() <= exact.max() && exact.max() - read.max() <= exact.max() / 128);
        assert!((read.mean() - exact.mean()).abs() <= exact.mean() / 100.0);
        // What was whole stays as it is, and what is empty is.
        HistogramWriter::new(&after).settle();
        assert_eq!(HistogramWriter::new(&after).read(), exact);
        let empty = histogram();
        empty[MAX].store(7, Relaxed);
        HistogramWriter::new(&empty).settle();
        assert!(empty.iter().all(|word| word.load(Relaxed) == 0));
    }

    #[test]
    fn the_longest_since_the_last_look_is_known_to_a_bucket() {
        let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        let (recorder, mut seen) = (HistogramWriter::new(&words), HistogramCursor::default());
        let mut after = |values: &[i64]| {
            values.iter().for_each(|value| recorder.record(*value));
            recorder.longest_since(&mut seen, 0)
        };
        assert_eq!(after(&[]), None);
        assert_eq!(after(&[7_001, 100_003, 52]), Some(100_003), "exact: there was no longer one");
        assert_eq!(after(&[]), None);
        assert_eq!(after(&[7_001, 7_001]), Some(highest_at(index(7_001))));
        assert_eq!(after(&[100_003]), Some(100_003), "the end of its bucket, cut by the longest of all");
        assert_eq!(after(&[100_004, 3]), Some(100_004));
        assert_eq!(after(&[i64::MAX]), Some(i64::MAX as u64));
        assert_eq!(after(&[12]), Some(12));
    }

    /// What a look at the tail alone has left is there for the next look at all.
    #[test]
    fn a_look_at_the_tail_leaves_the_rest_for_later() {
        let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        let (recorder, mut seen) = (HistogramWriter::new(&words), HistogramCursor::default());
        [100, 5_000].into_iter().for_each(|value| recorder.record(value));
        assert_eq!(recorder.longest_since(&mut seen, 6_000), None, "beyond all that there is");
        assert_eq!(recorder.longest_since(&mut seen, 1_000), Some(5_000));
        assert_eq!(recorder.longest_since(&mut seen, 1_000), None);
        assert_eq!(recorder.longest_since(&mut seen, 0), Some(100));
        assert_eq!(recorder.longest_since(&mut seen, u64::MAX), None);
    }

    proptest! {
        /// Whatever comes between two looks: the parts are the whole, bucket by bucket.
        #[test]
        fn what_has_come_since_and_what_was_there_are_the_whole(
            before in proptest::collection::vec(0..2 * HIGHEST, 0..50), after in proptest::collection::vec(0u64..1000, 0..50)
        ) {
            let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
            let recorder = HistogramWriter::new(&words);
            before.iter().for_each(|value| recorder.record(*value as i64));
            let first = recorder.counts();
            after.iter().for_each(|value| recorder.record(*value as i64));
            let came = recorder.counts().since(&first).unwrap();
            prop_assert_eq!(came.buckets(), Histogram::of(after.iter().copied()).buckets);
            let mut all = first.clone();
            all.add(&came);
            prop_assert_eq!(all.buckets(), recorder.read().buckets);
            prop_assert_eq!(SparseHistogram::of(&all.buckets()), all);
            prop_assert_eq!(first.since(&recorder.counts()).is_none(), !after.is_empty());
        }

        /// Never a value below a bound that it exceeds, and beyond one only what is close to it; all of them once.
        #[test]
        fn values_between_bounds_are_counted_with_the_error_that_is_stated(
            values in proptest::collection::vec(0..2 * HIGHEST, 0..50),
            near in proptest::collection::vec(0u64..3000, 0..50),
            bounds in proptest::collection::btree_set(1u64..5000, 1..8)
        ) {
            let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
            let recorder = HistogramWriter::new(&words);
            values.iter().chain(&near).for_each(|value| recorder.record(*value as i64));
            let (counts, bounds) = (recorder.counts(), Vec::from_iter(bounds));
            let between = counts.between(&bounds);
            prop_assert_eq!(between.iter().sum::<u64>(), counts.total());
            prop_assert_eq!(counts.total(), (values.len() + near.len()) as u64);
            let mut up_to = 0;
            for (bound, own) in bounds.iter().zip(&between) {
                up_to += own;
                let below = |bound: f64| values.iter().chain(&near).filter(|value| (**value as f64) <= bound).count() as u64;
                prop_assert!(up_to <= below(*bound as f64));
                prop_assert!(up_to >= below(*bound as f64 * 127.0 / 128.0 - 1.0));
            }
        }

        #[test]
        fn quantiles_are_within_one_percent(mut values in proptest::collection::vec(1u64..10_000_000_000, 1..300)) {
            let histogram = Histogram::of(values.iter().copied());
            values.sort_unstable();
            for share in [0.5, 0.9, 0.99] {
                let rank = ((share * values.len() as f64).ceil() as usize).max(1) - 1;
                let exact = values[rank] as f64;
                prop_assert!((histogram.quantile(share) as f64 - exact).abs() <= exact * 0.01 + 1.0);
            }
            prop_assert_eq!(histogram.count(), values.len() as u64);
            prop_assert_eq!(histogram.max(), *values.last().unwrap());
        }
    }
}
