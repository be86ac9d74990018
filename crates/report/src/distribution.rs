//! A quantity that was measured many times: its figures, and the values themselves where they are available.
//!
//! `report.json` has the figures, `histograms.hlog` the values; a report read from the first alone has only figures. A
//! completed run has both.

use serde::{Deserialize, Serialize};
use std::ops::Deref;
use std::sync::LazyLock;
use std::time::Duration;
use vecud_record::histogram::{Histogram, SparseHistogram};

/// Figures of a histogram in `report.json`, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Statistics {
    /// Number of values; 0: the other figures mean nothing.
    pub count: u64,
    /// The smallest value.
    pub min: u64,
    /// Their mean.
    pub mean: f64,
    /// Half of the values are at most this, to a bucket's width; so are the others by their share.
    pub p50: u64,
    /// 90 %.
    #[serde(default)]
    pub p90: u64,
    /// 99 %.
    pub p99: u64,
    /// 99.9 %.
    pub p99_9: u64,
    /// 99.99 %.
    #[serde(default)]
    pub p99_99: u64,
    /// The largest value.
    pub max: u64,
}

impl Statistics {
    fn of(histogram: &Histogram) -> Self {
        Statistics {
            count: histogram.count(),
            min: histogram.min(),
            mean: histogram.mean(),
            p50: histogram.quantile(0.5),
            p90: histogram.quantile(0.9),
            p99: histogram.quantile(0.99),
            p99_9: histogram.quantile(0.999),
            p99_99: histogram.quantile(0.9999),
            max: histogram.max(),
        }
    }
}

/// Values of one metric, ns. As a [`Histogram`] it has none where only the figures are known.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(from = "Statistics", into = "Statistics")]
pub struct Distribution {
    /// Figures of the values in `report.json`.
    pub figures: Statistics,
    values: Option<Histogram>,
    slices: Vec<Slice>,
}

/// The values of one interval of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// Time from the run's start to the beginning of the interval, whole milliseconds.
    pub begin: Duration,
    /// Length of the interval, whole milliseconds.
    pub length: Duration,
    /// The values; at least one.
    pub counts: SparseHistogram,
}

impl Distribution {
    /// The distribution of these values.
    pub fn of(values: impl IntoIterator<Item = u64>) -> Distribution {
        Histogram::of(values).into()
    }

    /// Difference to an `earlier` distribution of the same metric; the whole distribution where values are not known.
    pub(super) fn since(&self, earlier: &Distribution) -> Distribution {
        match (&self.values, &earlier.values) {
            (Some(values), Some(before)) => values.since(before).into(),
            _ => self.clone(),
        }
    }

    /// Whether nothing was measured.
    pub(super) fn is_empty(&self) -> bool {
        self.figures.count == 0
    }

    /// Puts in the values that the figures are of.
    pub(super) fn fill(&mut self, values: Histogram, slices: Vec<Slice>) {
        (self.values, self.slices) = (Some(values), slices);
    }

    /// The values by intervals: those without values are left out, and together the others have all values. Empty if
    /// the times of the values are not known.
    pub fn slices(&self) -> &[Slice] {
        &self.slices
    }

    /// Divides the values into intervals by the counts at some instants since the start of the run, in their order, the
    /// last of them before `end`. Does nothing with invalid instants.
    pub fn split(&mut self, marks: &[(Duration, &SparseHistogram)], end: Duration) {
        let Some(values) = self.values.as_ref().map(|values| SparseHistogram::of(values.buckets())) else { return };
        let (mut slices, mut begin, nothing) = (Vec::new(), Duration::ZERO, SparseHistogram::default());
        let mut before = &nothing;
        for (at, counts) in marks.iter().copied().chain([(end, &values)]) {
            let Some(came) = counts.since(before) else { return };
            let length = at.saturating_sub(begin);
            slices.extend((!came.is_empty()).then_some(Slice { begin, length, counts: came }));
            (begin, before) = (at, counts);
        }
        self.slices = slices;
    }
}

impl From<Histogram> for Distribution {
    fn from(values: Histogram) -> Distribution {
        Distribution {
            figures: Statistics::of(&values),
            values: (values.count() > 0).then_some(values),
            slices: Vec::new(),
        }
    }
}

impl From<Statistics> for Distribution {
    fn from(figures: Statistics) -> Distribution {
        Distribution { figures, values: None, slices: Vec::new() }
    }
}

impl From<Distribution> for Statistics {
    fn from(distribution: Distribution) -> Statistics {
        distribution.figures
    }
}

impl Deref for Distribution {
    type Target = Histogram;

    fn deref(&self) -> &Histogram {
        static NONE: LazyLock<Histogram> = LazyLock::new(Histogram::default);
        self.values.as_ref().unwrap_or(&NONE)
    }
}
