use super::*;
use proptest::prelude::*;
use vecud_base::time::{Fraction, Nanos};

/// One FMU with a class for each of these periods (ms; 0: none) and executions (µs).
fn classes(figures: &[(u64, Option<i64>)]) -> Vec<PriorityGroup> {
    let class = |(member, &(millis, micros)): (usize, &(u64, Option<i64>))| PriorityGroup {
        fmu: 0,
        cpu: 0,
        period: (millis > 0).then(|| Fraction::new(millis, 1000).unwrap()),
        execution: micros.map(|micros| Nanos(micros * 1000)),
        members: vec![member],
    };
    figures.iter().enumerate().map(class).collect()
}

fn of_periods(millis: &[u64]) -> Vec<PriorityGroup> {
    classes(&millis.iter().map(|&millis| (millis, None)).collect::<Vec<_>>())
}

/// How many classes each priority has, most urgent first.
fn sizes(classes: &[PriorityGroup], ticks: &[(usize, usize)], width: usize) -> Vec<usize> {
    share_slots(classes, ticks, width).unwrap().iter().map(ExactSizeIterator::len).collect()
}

#[test]
fn where_there_is_room_nothing_is_shared() {
    assert_eq!(sizes(&of_periods(&[1, 2, 4]), &[], 3), [1, 1, 1]);
}

#[test]
fn equal_neighbours_share_in_pairs_from_the_least_urgent_up() {
    assert_eq!(sizes(&of_periods(&[5; 6]), &[], 4), [1, 1, 2, 2]);
    assert_eq!(sizes(&of_periods(&[0; 5]), &[], 3), [1, 2, 2]);
    assert_eq!(sizes(&of_periods(&[1, 2, 4, 8, 16]), &[], 4), [1, 1, 1, 2], "equal ratios");
    assert_eq!(sizes(&of_periods(&[5; 6]), &[], 1), [6]);
}

#[test]
fn without_execution_times_nearest_periods_come_first() {
    assert_eq!(sizes(&of_periods(&[1, 10, 11, 100]), &[], 3), [1, 2, 1]);
    let one_is_not_known = classes(&[(1, Some(1)), (10, Some(900)), (11, Some(900)), (100, None)]);
    assert_eq!(sizes(&one_is_not_known, &[], 3), [1, 2, 1]);
}

#[test]
fn with_execution_times_those_share_that_delay_each_other_least() {
    // By periods it would be 10 and 11 ms, but that takes 9 ms.
    assert_eq!(sizes(&classes(&[(1, Some(10)), (10, Some(10)), (11, Some(9000)), (100, Some(5))]), &[], 3), [1, 1, 2]);
    assert_eq!(
        sizes(&classes(&[(1, Some(10)), (10, Some(1)), (11, Some(9000)), (100, Some(9000))]), &[], 3),
        [2, 1, 1]
    );
}

#[test]
fn a_triggered_level_never_shares_with_one_that_may_tick_it() {
    assert_eq!(sizes(&of_periods(&[5; 4]), &[(2, 3)], 3), [1, 2, 1]);
    assert_eq!(sizes(&of_periods(&[5; 4]), &[(3, 0)], 2), [2, 2], "whichever of the two is more urgent");
    let all: Vec<(usize, usize)> = (0..4).flat_map(|a| (a + 1..4).map(move |b| (a, b))).collect();
    assert_eq!(share_slots(&of_periods(&[5; 4]), &all, 3), Err(TooNarrow { fmu: 0, needed: 4 }));
    assert_eq!(share_slots(&of_periods(&[5; 4]), &[(0, 1), (1, 3)], 2), Err(TooNarrow { fmu: 0, needed: 3 }));
}

#[test]
fn each_fmu_has_the_whole_band() {
    let mut classes = of_periods(&[1, 2, 3, 4, 5]);
    classes[3].fmu = 1;
    classes[4].fmu = 1;
    assert_eq!(share_slots(&classes, &[], 2).unwrap(), [0..1, 1..3, 3..4, 4..5]);
}

proptest! {
    #[test]
    fn order_is_kept_the_band_is_filled_and_tickers_are_apart(
        millis in proptest::collection::vec(0u64..50, 1..40),
        executions in proptest::collection::vec(1i64..2000, 40),
        known: bool,
        ticks in proptest::collection::vec((0usize..40, 0usize..40), 0..12),
        width in 1usize..20,
    ) {
        let n = millis.len();
        let figures: Vec<_> = millis.iter().zip(executions).map(|(&m, e)| (m, known.then_some(e))).collect();
        let ticks: Vec<_> = ticks.into_iter().filter(|(a, b)| a != b && *a < n && *b < n).collect();
        match share_slots(&classes(&figures), &ticks, width) {
            Ok(ranges) => {
                prop_assert_eq!(ranges.len(), n.min(width));
                let all: Vec<usize> = ranges.iter().cloned().flatten().collect();
                prop_assert_eq!(all, (0..n).collect::<Vec<_>>());
                for (a, b) in ticks {
                    prop_assert!(!ranges.iter().any(|range| range.contains(&a) && range.contains(&b)));
                }
            }
            Err(narrow) => {
                prop_assert!(narrow.needed > width && narrow.needed <= n);
                // With as many as it says it needs it can be done.
                prop_assert_eq!(share_slots(&classes(&figures), &ticks, narrow.needed).unwrap().len(), narrow.needed);
            }
        }
    }
}
