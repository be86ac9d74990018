use super::*;
use crate::host::Held;
use proptest::prelude::*;

fn class(fmu: usize, millis: u64, member: usize) -> PriorityGroup {
    let period = (millis > 0).then(|| Fraction::new(millis, 1000).unwrap());
    PriorityGroup { fmu, cpu: 0, period, execution: None, members: vec![member] }
}

fn band(low: u8, high: u8) -> (FifoPriority, FifoPriority) {
    (FifoPriority::new(low).unwrap(), FifoPriority::new(high).unwrap())
}

/// The merged order of a rig beside which nothing runs.
fn merge(classes: &[PriorityGroup], feeds: &[(usize, usize)], band: Band) -> Result<Merged, TooNarrow> {
    super::merge(classes, feeds, PrioritySlots { band, held: &Held::new() }).map_err(|no_place| match no_place {
        NoPlace::TooNarrow(narrow) => narrow,
        NoPlace::Held(cpu) => panic!("nobody holds core {cpu}"),
    })
}

/// `(class, fifo)` in merged order.
fn merged(classes: &[PriorityGroup], feeds: &[(usize, usize)], band: (FifoPriority, FifoPriority)) -> Vec<(usize, u8)> {
    merge(classes, feeds, band).unwrap().order.iter().map(|placed| (placed.class, placed.fifo.get())).collect()
}

#[test]
fn shorter_periods_come_first_and_fill_the_band_from_its_top() {
    let classes = [class(0, 1, 0), class(0, 100, 1), class(1, 10, 2)];
    assert_eq!(merged(&classes, &[], band(51, 89)), [(0, 89), (2, 88), (1, 87)]);
}

#[test]
fn a_class_above_a_fast_one_is_at_least_as_urgent() {
    // FMU 0 puts its 100 ms clock above its 1 ms clock; FMU 1 has 10 ms.
    let classes = [class(0, 100, 0), class(0, 1, 1), class(1, 10, 2)];
    assert_eq!(merged(&classes, &[], band(51, 89)), [(0, 89), (1, 88), (2, 87)]);
}

#[test]
fn aperiodic_classes_take_the_period_below_them_and_else_come_last() {
    let classes = [class(0, 0, 0), class(0, 5, 1), class(0, 0, 2), class(1, 10, 3)];
    assert_eq!(merged(&classes, &[], band(51, 89)), [(0, 89), (1, 88), (3, 87), (2, 86)]);
}

#[test]
fn of_equal_periods_the_producer_comes_first() {
    let classes = [class(0, 10, 0), class(1, 10, 1)];
    assert_eq!(merged(&classes, &[(1, 0)], band(51, 89)), [(1, 89), (0, 88)]);
    assert_eq!(merged(&classes, &[(1, 0), (0, 1)], band(51, 89)), [(0, 89), (1, 88)]);
}

#[test]
fn a_short_band_folds_the_nearest_periods_of_different_fmus() {
    let classes = [class(0, 1, 0), class(0, 10, 1), class(1, 9, 2), class(1, 100, 3)];
    assert_eq!(merged(&classes, &[], band(51, 53)), [(0, 53), (2, 52), (1, 52), (3, 51)]);
}

#[test]
fn a_band_that_neighbours_cannot_fill_still_serves_every_fmu() {
    let classes = [class(0, 1, 0), class(0, 2, 1), class(1, 10, 2), class(1, 20, 3)];
    let result = merge(&classes, &[], band(60, 61)).unwrap();
    assert_eq!(result.disordered, [0]);
    let fifo: Vec<_> = result.order.iter().map(|placed| (placed.class, placed.fifo.get())).collect();
    assert_eq!(fifo, [(0, 61), (2, 61), (1, 60), (3, 60)]);
}

#[test]
fn an_fmu_with_more_levels_than_the_band_is_refused_with_the_number_it_needs() {
    let classes = [class(0, 1, 0), class(1, 1, 1), class(1, 2, 2), class(1, 3, 3)];
    assert_eq!(merge(&classes, &[], band(60, 61)), Err(TooNarrow { fmu: 1, needed: 3 }));
}

#[test]
fn every_core_has_the_whole_band() {
    let mut classes = [class(0, 1, 0), class(1, 2, 1)];
    classes[1].cpu = 3;
    assert_eq!(merged(&classes, &[], band(51, 89)), [(0, 89), (1, 89)]);
}

/// Up to five FMUs with up to six classes each, on up to two cores.
fn rigs() -> impl Strategy<Value = Vec<PriorityGroup>> {
    let periods = proptest::collection::vec(0u64..6, 1..6);
    proptest::collection::vec((0usize..2, periods), 1..5).prop_map(|fmus| {
        let mut classes = Vec::new();
        for (fmu, (cpu, periods)) in fmus.into_iter().enumerate() {
            for period in periods {
                let millis = [0, 1, 2, 5, 10, 100][period as usize];
                classes.push(PriorityGroup { cpu, ..class(fmu, millis, classes.len()) });
            }
        }
        classes
    })
}

proptest! {
    #[test]
    fn every_fmu_keeps_its_order_and_its_equality_classes(
        classes in rigs(),
        feeds in proptest::collection::vec((0usize..20, 0usize..20), 0..10),
        low in 1u8..=80,
        width in 1u8..=19,
    ) {
        let feeds: Vec<_> = feeds.into_iter().filter(|(a, b)| *a < classes.len() && *b < classes.len()).collect();
        let levels = |fmu| classes.iter().filter(|class| class.fmu == fmu).count();
        let most = (0..5).map(levels).max().unwrap();
        match merge(&classes, &feeds, band(low, low + width - 1)) {
            Err(narrow) => {
                prop_assert!(most > usize::from(width));
                prop_assert_eq!(narrow.needed, levels(narrow.fmu));
            }
            Ok(merged) => {
                prop_assert!(most <= usize::from(width));
                prop_assert_eq!(merged.order.len(), classes.len());
                for (i, upper) in merged.order.iter().enumerate() {
                    prop_assert!((low..low + width).contains(&upper.fifo.get()));
                    for lower in &merged.order[i + 1..] {
                        let (a, b) = (&classes[upper.class], &classes[lower.class]);
                        if a.cpu == b.cpu {
                            prop_assert!(upper.fifo.get() >= lower.fifo.get());
                        }
                        if a.fmu == b.fmu {
                            prop_assert!(upper.class < lower.class, "order of an FMU is kept");
                            prop_assert!(upper.fifo.get() > lower.fifo.get(), "two classes of one FMU never fold");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_wide_band_gives_every_class_its_own_level_by_its_key(classes in rigs()) {
        let order = merge(&classes, &[], band(1, 99)).unwrap().order;
        let keys = keys(&classes);
        for pair in order.windows(2) {
            let (a, b) = (keys[pair[0].class], keys[pair[1].class]);
            prop_assert!(b.is_none() || a.is_some_and(|a| a <= b.unwrap()));
        }
        for (i, placed) in order.iter().enumerate() {
            let same_core = |p: &&Placed| classes[p.class].cpu == classes[placed.class].cpu;
            let above = order[..i].iter().filter(same_core).count();
            prop_assert_eq!(placed.fifo.get(), 99 - above as u8);
        }
    }
}
