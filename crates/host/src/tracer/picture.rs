//! Selects the interval of a trace that the report draws.

use vecud_plan::{Plan, Release};
use vecud_record::trace::TraceItem;
use vecud_report::Picture;

/// Greatest number of activations that remain distinguishable.
const ACTIVATIONS: usize = 400;
/// Greatest number of periods of the most frequent clock that remain visible.
const PERIODS: i64 = 25;
/// Activations before and after an incident.
const BEFORE: usize = 60;
const AFTER: usize = 20;
/// Length without periodic clocks, ns.
const STRETCH: i64 = 100_000_000;

/// The first interval of a run: until all periodic clocks are released together again, or [`ACTIVATIONS`] of them.
pub(super) struct Gallery {
    until: i64,
    items: Vec<TraceItem>,
    activations: usize,
    /// The run continued beyond it.
    cut: bool,
}

impl Gallery {
    pub(super) fn new(plan: &Plan) -> Gallery {
        Gallery { until: stretch(plan), items: Vec::new(), activations: 0, cut: false }
    }

    /// Takes the next items, by their ends.
    pub(super) fn show(&mut self, items: &[TraceItem]) {
        for item in items {
            let begin = match item {
                TraceItem::Activated(activated) => activated.start,
                TraceItem::Skipped { release, .. } => *release,
                TraceItem::Ticked { at, .. } | TraceItem::Armed { at, .. } => *at,
            };
            if begin >= self.until {
                self.cut = true;
                continue;
            }
            if let TraceItem::Activated(_) = item {
                self.activations += 1;
                if self.activations > ACTIVATIONS {
                    // Neither later ends are shown, nor activations that began after it.
                    (self.until, self.cut) = (self.until.min(begin), true);
                    continue;
                }
            }
            self.items.push(item.clone());
        }
    }

    pub(super) fn finish(self) -> Vec<Picture> {
        let last = self.items.iter().map(TraceItem::at).max();
        let to = match self.cut {
            true => Some(self.until),
            false => last.map(|last| last.min(self.until)),
        };
        let picture = to.filter(|_| last.is_some()).map(|to| Picture { why: None, from: 0, to, items: self.items });
        picture.into_iter().collect()
    }
}

/// Length until all periodic clocks are released together again, or [`PERIODS`] of the shortest, plus half a period.
fn stretch(plan: &Plan) -> i64 {
    let periods: Vec<i64> = plan
        .units
        .iter()
        .filter_map(|unit| match &unit.release {
            Release::Periodic { interval, .. } => Some(interval.nanos().0.max(1)),
            _ => None,
        })
        .collect();
    let (Some(&shortest), Some(&longest)) = (periods.iter().min(), periods.iter().max()) else { return STRETCH };
    let together = periods.iter().try_fold(1_i64, |all, period| {
        (all / gcd(all, *period)).checked_mul(*period).filter(|all| *all <= longest.saturating_mul(10))
    });
    together.unwrap_or(longest).min(shortest.saturating_mul(PERIODS)).saturating_add(shortest / 2)
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The interval around an incident, from items by their ends.
pub(super) fn around<'i>(at: i64, why: String, items: impl Iterator<Item = &'i TraceItem> + Clone) -> Option<Picture> {
    let active = |item: &&TraceItem| matches!(item, TraceItem::Activated(_));
    let before: Vec<&TraceItem> = items.clone().filter(active).filter(|item| item.at() <= at).collect();
    let from = before[before.len().saturating_sub(BEFORE)..].first().map_or(at, |item| item.at());
    let to = items.clone().filter(active).filter(|item| item.at() > at).take(AFTER).last().map_or(at, TraceItem::at);
    let shown: Vec<TraceItem> = items.filter(|item| (from..=to).contains(&item.at())).cloned().collect();
    (from < to).then_some(Picture { why: Some(why), from, to, items: shown })
}
