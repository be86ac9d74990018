//! The FIFO priorities of partitions where the process may not use all those of the rig (semantics S5, S8).

use super::merge::{Merged, NoPlace, Placed, TooNarrow, merge, unlimited};
use super::priority_groups::PriorityGroup;
use super::shared_slots::share_slots;
use super::slots::{Band, PrioritySlots};
use crate::host::Held;
use crate::{FifoReach, Mode};
use std::collections::BTreeMap;
use std::ops::Range;
use vecud_base::priority::FifoPriority;

/// The merged order and its band.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    pub merged: Merged,
    /// The band that partitions may use here.
    pub band: Band,
    /// Why `SCHED_FIFO` is of no use here, although there is some.
    pub cooperative: Option<TooNarrow>,
}

/// The classes before their placement.
#[derive(Clone, Copy)]
pub struct Unplaced<'a> {
    /// FMUs in rig order, most urgent class first.
    pub classes: &'a [PriorityGroup],
    /// Pairs of classes (producer, consumer) of immediate connections.
    pub feeds: &'a [(usize, usize)],
    /// Pairs of classes of one FMU such that one may tick the other.
    pub ticks: &'a [(usize, usize)],
    /// The FIFO priorities that other rigs hold.
    pub held: &'a Held,
}

/// Places the classes in the rig's band, or as near to that as the machine permits: in a band of the same order whose top is the
/// highest available priority, as wide as necessary. `watched`: a watchdog needs a priority above all.
///
/// Gives each level a priority. Levels of one FMU share a priority only if the rig's own band is too narrow; a machine's limit
/// makes a run cooperative instead. Where FIFO priorities do not matter, there may be any number of levels, and other rigs hold
/// none. The error names the rig: its band is too narrow, whatever the machine permits, or other rigs hold all of it on a core.
pub fn place(order: Unplaced, asked: Band, mode: Mode, reach: FifoReach, watched: bool) -> Result<Placement, NoPlace> {
    let Unplaced { classes, feeds, ticks, held } = order;
    let (matters, nothing) = (mode == Mode::RealTime && reach != FifoReach::Nothing, Held::new());
    let held = if matters { held } else { &nothing };
    let as_asked = |merged, cooperative| Placement { merged, band: asked, cooperative };
    let shares = match share_slots(classes, ticks, width(asked)) {
        Ok(shares) => shares,
        Err(_) if !matters => return Ok(as_asked(unlimited(classes, feeds, asked), None)),
        Err(narrow) => return Err(NoPlace::TooNarrow(narrow)),
    };
    let shared = SharedSlots::new(classes, feeds, &shares);
    let all = |held| shared.merge(PrioritySlots { band: asked, held });
    let FifoReach::UpTo(limit) = reach else { return Ok(as_asked(all(held)?, None)) };
    if !matters || limit.get() >= asked.1.get() {
        return Ok(as_asked(all(held)?, None));
    }
    let band = below(limit, asked, &shared.classes, held, watched);
    match shared.merge(PrioritySlots { band, held }) {
        Ok(merged) => Ok(Placement { merged, band, cooperative: None }),
        Err(NoPlace::TooNarrow(narrow)) => Ok(as_asked(all(&nothing)?, Some(narrow))),
        Err(held) => Err(held),
    }
}

/// Number of priorities in a band.
pub fn width(band: Band) -> usize {
    usize::from(band.1.get() - band.0.get()) + 1
}

/// Classes after folding: those that share a priority are one.
struct SharedSlots<'a> {
    /// The original classes of each.
    shares: &'a [Range<usize>],
    classes: Vec<PriorityGroup>,
    feeds: Vec<(usize, usize)>,
}

impl<'a> SharedSlots<'a> {
    fn new(classes: &[PriorityGroup], feeds: &[(usize, usize)], shares: &'a [Range<usize>]) -> SharedSlots<'a> {
        let mut fold_of = vec![0; classes.len()];
        shares.iter().enumerate().for_each(|(share_slots, own)| fold_of[own.clone()].fill(share_slots));
        let together = |own: &Range<usize>| PriorityGroup {
            period: classes[own.clone()].iter().filter_map(|class| class.period).min(),
            members: classes[own.clone()].iter().flat_map(|class| class.members.iter().copied()).collect(),
            ..classes[own.start].clone()
        };
        SharedSlots {
            shares,
            classes: shares.iter().map(together).collect(),
            feeds: feeds.iter().map(|&(a, b)| (fold_of[a], fold_of[b])).filter(|(a, b)| a != b).collect(),
        }
    }

    /// The merged order of the classes that these were made of.
    fn merge(&self, slots: PrioritySlots) -> Result<Merged, NoPlace> {
        let merged = merge(&self.classes, &self.feeds, slots)?;
        let apart = |placed: Placed| self.shares[placed.class].clone().map(move |class| Placed { class, ..placed });
        Ok(Merged { order: merged.order.into_iter().flat_map(apart).collect(), ..merged })
    }
}

/// The band that ends at the machine's limit, and goes down until each core has a priority for each of its classes, or as many as
/// the rig's band.
fn below(limit: FifoPriority, asked: Band, classes: &[PriorityGroup], held: &Held, watched: bool) -> Band {
    let top = limit.get() - u8::from(watched && limit.get() > 1);
    let priority = |value| FifoPriority::new(value).expect("between 1 and the limit");
    let mut classes_on: BTreeMap<usize, usize> = BTreeMap::new();
    classes.iter().for_each(|class| *classes_on.entry(class.cpu).or_default() += 1);
    let band = |bottom| (priority(bottom), priority(top));
    let is_short = |bottom| {
        let slots = PrioritySlots { band: band(bottom), held };
        classes_on.iter().any(|(cpu, classes)| slots.count_free(*cpu) < (*classes).min(width(asked)))
    };
    let mut bottom = asked.0.get().min(top);
    while bottom > 1 && is_short(bottom) {
        bottom -= 1;
    }
    band(bottom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use vecud_base::time::Fraction;

    fn priority(value: u8) -> FifoPriority {
        FifoPriority::new(value).unwrap()
    }

    fn classes(fmus: &[usize]) -> Vec<PriorityGroup> {
        let class = |fmu, i: usize| {
            let period = Some(Fraction::new(i as u64 + 1, 1000).unwrap());
            PriorityGroup { fmu, cpu: 0, period, execution: None, members: vec![100 * fmu + i] }
        };
        fmus.iter().enumerate().flat_map(|(fmu, &n)| (0..n).map(move |i| class(fmu, i))).collect()
    }

    fn placed_in(
        fmus: &[usize],
        (low, high): (u8, u8),
        mode: Mode,
        reach: FifoReach,
        watched: bool,
    ) -> Result<Placement, NoPlace> {
        let order = Unplaced { classes: &classes(fmus), feeds: &[], ticks: &[], held: &Held::new() };
        place(order, (priority(low), priority(high)), mode, reach, watched)
    }

    fn placed(fmus: &[usize], reach: FifoReach, watched: bool) -> Placement {
        placed_in(fmus, (51, 89), Mode::RealTime, reach, watched).unwrap()
    }

    fn ends(placement: &Placement) -> (u8, u8) {
        (placement.band.0.get(), placement.band.1.get())
    }

    #[test]
    fn without_a_limit_or_beyond_it_the_band_is_the_rigs() {
        for reach in [FifoReach::All, FifoReach::UpTo(priority(89)), FifoReach::Nothing] {
            assert_eq!(ends(&placed(&[3, 3], reach, false)), (51, 89));
        }
        let virtual_time = placed_in(&[3], (51, 89), Mode::Virtual, FifoReach::UpTo(priority(2)), false);
        assert_eq!(ends(&virtual_time.unwrap()), (51, 89));
    }

    #[test]
    fn below_a_limit_the_band_goes_down_only_as_far_as_it_has_to() {
        assert_eq!(ends(&placed(&[5, 5], FifoReach::UpTo(priority(60)), false)), (51, 60));
        assert_eq!(ends(&placed(&[6, 6], FifoReach::UpTo(priority(60)), false)), (49, 60));
        assert_eq!(ends(&placed(&[5, 5], FifoReach::UpTo(priority(20)), false)), (11, 20));
        // The watchdog's priority stays free.
        assert_eq!(ends(&placed(&[5, 5], FifoReach::UpTo(priority(20)), true)), (10, 19));
    }

    #[test]
    fn where_levels_do_not_fit_they_fold_and_only_one_fmu_too_large_makes_it_cooperative() {
        let shared = placed(&[3, 3], FifoReach::UpTo(priority(3)), false);
        assert_eq!((ends(&shared), shared.cooperative), ((1, 3), None));
        let hopeless = placed(&[1, 4], FifoReach::UpTo(priority(3)), false);
        assert_eq!((ends(&hopeless), hopeless.cooperative), ((51, 89), Some(TooNarrow { fmu: 1, needed: 4 })));
    }

    #[test]
    fn only_the_rigs_own_band_makes_levels_of_an_fmu_share_a_priority() {
        let fifo = |limit: u8| {
            let reach = FifoReach::UpTo(priority(limit));
            let placement = placed_in(&[4], (60, 62), Mode::RealTime, reach, false).unwrap();
            let fifo: Vec<u8> = placement.merged.order.iter().map(|placed| placed.fifo.get()).collect();
            (fifo, placement.cooperative)
        };
        assert_eq!(fifo(99), (vec![62, 61, 60, 60], None));
        assert_eq!(fifo(5), (vec![5, 4, 3, 3], None), "a band as wide, only lower");
        assert_eq!(fifo(2), (vec![62, 61, 60, 60], Some(TooNarrow { fmu: 0, needed: 3 })));
    }

    #[test]
    fn levels_that_may_not_share_are_too_many_for_fifo_alone() {
        let ticks: Vec<(usize, usize)> = (0..4).flat_map(|a| (a + 1..4).map(move |b| (a, b))).collect();
        let order = Unplaced { classes: &classes(&[4]), feeds: &[], ticks: &ticks, held: &Held::new() };
        let fifo = |mode, reach| {
            let placement = place(order, (priority(60), priority(62)), mode, reach, false)?;
            Ok(placement.merged.order.iter().map(|placed| (placed.class, placed.fifo.get())).collect::<Vec<_>>())
        };
        assert_eq!(fifo(Mode::RealTime, FifoReach::All), Err(NoPlace::TooNarrow(TooNarrow { fmu: 0, needed: 4 })));
        let all = vec![(0, 62), (1, 61), (2, 60), (3, 60)];
        assert_eq!(fifo(Mode::RealTime, FifoReach::Nothing), Ok(all.clone()));
        assert_eq!(fifo(Mode::Virtual, FifoReach::All), Ok(all));
    }

    proptest! {
        #[test]
        fn below_any_limit_each_fmu_keeps_its_order(
            fmus in proptest::collection::vec(1usize..7, 1..5),
            limit in 1u8..=99,
            low in 1u8..=90,
            width in 6u8..=40,
        ) {
            let classes = classes(&fmus);
            let band = (priority(low), priority((low + width).min(99)));
            let reach = FifoReach::UpTo(priority(limit));
            let order = Unplaced { classes: &classes, feeds: &[], ticks: &[], held: &Held::new() };
            let placement = place(order, band, Mode::RealTime, reach, false).unwrap();
            let most = fmus.iter().max().unwrap();
            prop_assert_eq!(placement.cooperative.is_some(), *most > usize::from(limit));
            for (i, upper) in placement.merged.order.iter().enumerate() {
                prop_assert!(placement.cooperative.is_some() || upper.fifo.get() <= limit);
                for lower in &placement.merged.order[i + 1..] {
                    prop_assert!(upper.fifo.get() >= lower.fifo.get());
                    if classes[upper.class].fmu == classes[lower.class].fmu {
                        prop_assert!(upper.class < lower.class && upper.fifo.get() > lower.fifo.get());
                    }
                }
            }
        }
    }
}
