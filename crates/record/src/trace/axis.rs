//! The axis of virtual time: simulation time, and beside it the order of events at one instant.
//!
//! Numbers that count up with everything that is noted become offsets of [`STEP`] each from their instant, or of less where
//! the next instant is nearer than that: what comes later never lies before.

use super::assemble::{Activated, TraceItem};

/// Distance between two events of the same instant, ns.
pub const STEP: i64 = 1000;

/// Holds the items of one instant back until the next one is known.
#[derive(Debug, Default)]
pub struct InstantSorter {
    /// The simulation time at which the run begins, ns.
    begin: i64,
    held: Vec<TraceItem>,
    /// Instant of the held items, since the start.
    instant: Option<i64>,
    /// First number of that instant.
    first: i64,
}

impl InstantSorter {
    /// An axis that begins at this simulation time, ns.
    pub fn new(begin: i64) -> InstantSorter {
        InstantSorter { begin, ..InstantSorter::default() }
    }

    /// The next items in their order; gives back those of instants that are over.
    pub fn place(&mut self, items: Vec<TraceItem>) -> Vec<TraceItem> {
        let mut placed = Vec::new();
        for item in items {
            self.held.push(item);
            let Some(TraceItem::Activated(activated)) = self.held.last() else { continue };
            let (instant, first) = (activated.time.saturating_sub(self.begin), activated.start);
            // What it ticked in its callbacks came before its own end, and belongs to its instant.
            if self.instant.is_none_or(|before| instant > before) {
                let later = self.held.iter().position(|item| item.at() >= first).unwrap_or(self.held.len() - 1);
                let later = self.held.split_off(later);
                placed.append(&mut self.flush(instant.saturating_sub(self.instant.unwrap_or(instant))));
                (self.held, self.instant, self.first) = (later, Some(instant), first);
            }
        }
        placed
    }

    /// Everything that is held: there is nothing more.
    pub fn finish(&mut self) -> Vec<TraceItem> {
        self.flush(i64::MAX)
    }

    fn flush(&mut self, gap: i64) -> Vec<TraceItem> {
        let last = self.held.iter().map(TraceItem::at).max().unwrap_or(self.first);
        let step = (gap / (2 * (last - self.first + 2)).max(1)).clamp(1, STEP);
        let (instant, first) = (self.instant.unwrap_or(0), self.first);
        let at = |number: i64| instant.saturating_add((number - first).max(0).saturating_mul(step));
        let mut held = std::mem::take(&mut self.held);
        for item in &mut held {
            match item {
                TraceItem::Ticked { at: own, .. }
                | TraceItem::Armed { at: own, .. }
                | TraceItem::Skipped { at: own, .. } => {
                    *own = at(*own);
                }
                TraceItem::Activated(Activated { release, woken, start, end, execution, inside, .. }) => {
                    (*start, *end, *execution) = (at(*start), at(*end), 0);
                    (*release, *woken) = (instant, instant);
                    for section in inside {
                        (section.from, section.to) = (at(section.from), at(section.to));
                    }
                }
            }
        }
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vecud_plan::UnitId;

    fn active(unit: usize, time: i64, start: i64, end: i64) -> TraceItem {
        TraceItem::Activated(Activated {
            unit: UnitId(unit),
            time,
            release: start,
            woken: start,
            start,
            end,
            execution: end - start,
            retimed: false,
            unfinished: false,
            inside: Vec::new(),
            preempted: Vec::new(),
            flow: None,
        })
    }

    fn tick(at: i64) -> TraceItem {
        TraceItem::Ticked { unit: UnitId(0), output: 0, target: UnitId(1), taken: true, time: 0, at, flow: 1 }
    }

    fn places(items: &[TraceItem]) -> Vec<(i64, i64)> {
        let place = |item: &TraceItem| match item {
            TraceItem::Activated(activated) => (activated.start, activated.end),
            other => (other.at(), other.at()),
        };
        items.iter().map(place).collect()
    }

    #[test]
    fn order_becomes_offsets_of_a_microsecond_from_each_instant() {
        let mut axis = InstantSorter::new(5_000_000_000);
        let first = [tick(2), active(0, 5_000_000_000, 1, 3), active(1, 5_000_000_000, 4, 5)];
        assert_eq!(axis.place(first.to_vec()), [], "the next instant may be near");
        let placed = axis.place(vec![tick(7), active(0, 5_010_000_000, 6, 8)]);
        assert_eq!(places(&placed), [(1000, 1000), (0, 2000), (3000, 4000)]);
        assert_eq!(
            places(&axis.finish()),
            [(10_001_000, 10_001_000), (10_000_000, 10_002_000)],
            "the tick is in its instant"
        );
    }

    #[test]
    fn a_near_instant_is_not_reached() {
        let mut axis = InstantSorter::new(0);
        axis.place(vec![active(0, 0, 0, 9), active(0, 100, 10, 11)]);
        let placed = axis.place(vec![active(0, 200, 12, 13)]);
        assert!(placed.iter().all(|item| (100..200).contains(&item.at())), "{placed:?}");
    }
}
