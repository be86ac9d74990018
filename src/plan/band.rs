//! Which FIFO priorities partitions use where the process may not use all that the rig asks for (design S5, S8).

use super::priorities::{Class, Merged, TooNarrow, merge};
use super::{FifoReach, Mode};
use crate::priority::FifoPriority;

/// Lowest and highest priority.
pub(super) type Band = (FifoPriority, FifoPriority);

/// The merged order and where it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placement {
    pub merged: Merged,
    /// What partitions may use here.
    pub band: Band,
    /// Why `SCHED_FIFO` is of no use here, although there is some.
    pub cooperative: Option<TooNarrow>,
}

/// Places the classes as the rig asks, or as near to that as the machine lets us: in a band of the same order whose top is
/// the highest priority that there is, as wide as it has to be. `watched`: a watchdog needs a priority above all.
///
/// The error is that of the rig: its own band is too narrow, whatever the machine gives.
pub(super) fn place(
    classes: &[Class],
    feeds: &[(usize, usize)],
    asked: Band,
    mode: Mode,
    reach: FifoReach,
    watched: bool,
) -> Result<Placement, TooNarrow> {
    let merged = merge(classes, feeds, asked)?;
    let as_asked = |merged, cooperative| Placement { merged, band: asked, cooperative };
    let FifoReach::UpTo(limit) = reach else { return Ok(as_asked(merged, None)) };
    if mode == Mode::Virtual || limit.get() >= asked.1.get() {
        return Ok(as_asked(merged, None));
    }
    let band = below(limit, asked, levels(classes), watched);
    match merge(classes, feeds, band) {
        Ok(merged) => Ok(Placement { merged, band, cooperative: None }),
        Err(narrow) => Ok(as_asked(merged, Some(narrow))),
    }
}

/// The most classes that one core has.
fn levels(classes: &[Class]) -> usize {
    let on_its_core = |class: &Class| classes.iter().filter(|other| other.cpu == class.cpu).count();
    classes.iter().map(on_its_core).max().unwrap_or(0)
}

fn below(limit: FifoPriority, asked: Band, levels: usize, watched: bool) -> Band {
    let top = limit.get() - u8::from(watched && limit.get() > 1);
    let width = usize::from(asked.1.get() - asked.0.get()) + 1;
    let needed = levels.clamp(1, width) as u8;
    let bottom = asked.0.get().min(top.saturating_sub(needed - 1)).max(1);
    let priority = |value| FifoPriority::new(value).expect("between 1 and the limit");
    (priority(bottom), priority(top))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Fraction;
    use proptest::prelude::*;

    fn priority(value: u8) -> FifoPriority {
        FifoPriority::new(value).unwrap()
    }

    fn classes(fmus: &[usize]) -> Vec<Class> {
        let class = |fmu, i: usize| {
            let period = Some(Fraction::new(i as u64 + 1, 1000).unwrap());
            Class { fmu, cpu: 0, period, members: vec![100 * fmu + i] }
        };
        fmus.iter().enumerate().flat_map(|(fmu, &n)| (0..n).map(move |i| class(fmu, i))).collect()
    }

    fn placed(fmus: &[usize], reach: FifoReach, watched: bool) -> Placement {
        place(&classes(fmus), &[], (priority(51), priority(89)), Mode::RealTime, reach, watched).unwrap()
    }

    fn ends(placement: &Placement) -> (u8, u8) {
        (placement.band.0.get(), placement.band.1.get())
    }

    #[test]
    fn without_a_limit_or_beyond_it_the_band_is_the_rigs() {
        for reach in [FifoReach::All, FifoReach::UpTo(priority(89)), FifoReach::Nothing] {
            assert_eq!(ends(&placed(&[3, 3], reach, false)), (51, 89));
        }
        let virtual_time = place(
            &classes(&[3]),
            &[],
            (priority(51), priority(89)),
            Mode::Virtual,
            FifoReach::UpTo(priority(2)),
            false,
        );
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
        let folded = placed(&[3, 3], FifoReach::UpTo(priority(3)), false);
        assert_eq!((ends(&folded), folded.cooperative), ((1, 3), None));
        let hopeless = placed(&[1, 4], FifoReach::UpTo(priority(3)), false);
        assert_eq!((ends(&hopeless), hopeless.cooperative), ((51, 89), Some(TooNarrow { fmu: 1, needed: 4 })));
    }

    #[test]
    fn a_band_that_is_too_narrow_in_the_rig_is_the_rigs_fault() {
        let band = (priority(60), priority(61));
        let result = place(&classes(&[3]), &[], band, Mode::RealTime, FifoReach::UpTo(priority(50)), false);
        assert_eq!(result, Err(TooNarrow { fmu: 0, needed: 3 }));
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
            let placement = place(&classes, &[], band, Mode::RealTime, reach, false).unwrap();
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
