//! What was measured many times: its figures, and the values themselves where they are at hand.
//!
//! `report.json` has the figures, `histograms.hlog` the values; what was read of the first alone has figures only. A run that
//! has ended has both.

use crate::record::histogram::Histogram;
use serde::{Deserialize, Serialize};
use std::ops::Deref;
use std::sync::LazyLock;

/// What `report.json` says of a histogram, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Figures {
    /// How many values there are; 0: the other figures mean nothing.
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

impl Figures {
    fn of(histogram: &Histogram) -> Self {
        Figures {
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
#[serde(from = "Figures", into = "Figures")]
pub struct Distribution {
    /// What `report.json` says of them.
    pub figures: Figures,
    values: Option<Histogram>,
}

impl Distribution {
    /// A distribution of these values.
    pub fn of(values: impl IntoIterator<Item = u64>) -> Distribution {
        Histogram::of(values).into()
    }

    /// Nothing was measured.
    pub(super) fn is_empty(&self) -> bool {
        self.figures.count == 0
    }

    /// Puts in the values that the figures are of.
    pub(super) fn fill(&mut self, values: Histogram) {
        self.values = Some(values);
    }
}

impl From<Histogram> for Distribution {
    fn from(values: Histogram) -> Distribution {
        Distribution { figures: Figures::of(&values), values: (values.count() > 0).then_some(values) }
    }
}

impl From<Figures> for Distribution {
    fn from(figures: Figures) -> Distribution {
        Distribution { figures, values: None }
    }
}

impl From<Distribution> for Figures {
    fn from(distribution: Distribution) -> Figures {
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
