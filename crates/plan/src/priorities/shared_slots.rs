//! Levels of one FMU that share a FIFO priority, where the band has fewer priorities than the FMU has levels (semantics S5).
//!
//! Guarantees: only neighbours in the FMU's order share; a triggered level shares none with one that may tick it, directly or
//! through others, since its partition has to run before the callback returns; the whole band is used.
//!
//! A level that shares a priority waits for a less urgent one of that priority that has begun. The best sharing has the least sum
//! of (delay / period)², where a delay is the time of the less urgent levels of the same priority; squares, since one long delay
//! is worse than many short ones. Unknown execution times count as proportional to the periods: nearest periods then share first.
//! Of equal sums the best one leaves the more urgent levels alone.

use super::merge::{TooNarrow, keys};
use super::priority_groups::PriorityGroup;
use std::ops::Range;

/// The period of a class that has none, s.
const NO_PERIOD: f64 = 1e6;

/// The cost of sharing; smaller is better. First the sum, then the urgency of the levels that share.
type Cost = (u128, u64);

/// The unit of a cost's sum: fine enough for microseconds in seconds, squared.
const SCALE: f64 = 1e15;

/// Ranges of classes with one priority each, in the order of the classes. `ticks`: pairs of classes of one FMU such that one may
/// tick the other.
///
/// The error names an FMU whose classes cannot share so few priorities.
pub fn share_slots(
    classes: &[PriorityGroup],
    ticks: &[(usize, usize)],
    width: usize,
) -> Result<Vec<Range<usize>>, TooNarrow> {
    let periods: Vec<f64> =
        keys(classes).into_iter().map(|key| key.map_or(NO_PERIOD, |period| period.seconds())).collect();
    // The next class with which each must not share.
    let mut apart = vec![usize::MAX; classes.len()];
    for &(a, b) in ticks {
        apart[a.min(b)] = apart[a.min(b)].min(a.max(b));
    }
    let mut ranges = Vec::with_capacity(classes.len());
    let mut start = 0;
    for own in classes.chunk_by(|a, b| a.fmu == b.fmu) {
        let all = start..start + own.len();
        start = all.end;
        if own.len() <= width {
            ranges.extend(all.map(|class| class..class + 1));
            continue;
        }
        let needed = fewest(all.clone(), &apart);
        if needed > width {
            return Err(TooNarrow { fmu: own[0].fmu, needed });
        }
        let executions: Option<Vec<f64>> = own.iter().map(|class| Some(class.execution?.seconds())).collect();
        let work = executions.unwrap_or_else(|| periods[all.clone()].to_vec());
        ranges.extend(cheapest(all, &apart, &periods, &work, width));
    }
    Ok(ranges)
}

/// The least number of priorities that these classes need.
fn fewest(all: Range<usize>, apart: &[usize]) -> usize {
    let (mut needed, mut end) = (1, usize::MAX);
    for class in all {
        if class >= end {
            needed += 1;
            end = usize::MAX;
        }
        end = end.min(apart[class]);
    }
    needed
}

/// Splits classes into `width` ranges. `work`: the execution time of each class, by its index in `all`.
fn cheapest(all: Range<usize>, apart: &[usize], periods: &[f64], work: &[f64], width: usize) -> Vec<Range<usize>> {
    let n = all.len();
    let first = all.start;
    // best[g][j]: the least cost of the first j classes in g ranges, and where the last of these starts.
    let mut best: Vec<Vec<Option<(Cost, usize)>>> = vec![vec![None; n + 1]; width + 1];
    best[0][0] = Some(((0, 0), 0));
    for g in 1..=width {
        for end in g..=n {
            let (mut cost, mut below): (Cost, f64) = ((0, 0), 0.0);
            for start in (g - 1..end).rev() {
                if apart[first + start] < first + end {
                    break;
                }
                let delay = below / periods[first + start];
                cost.0 = cost.0.saturating_add((delay * delay * SCALE).round() as u128);
                cost.1 += if start + 1 < end { (n - start) as u64 } else { 0 };
                below += work[start];
                let Some((before, _)) = best[g - 1][start] else { continue };
                let total = (before.0.saturating_add(cost.0), before.1 + cost.1);
                if best[g][end].is_none_or(|(least, _)| total < least) {
                    best[g][end] = Some((total, start));
                }
            }
        }
    }
    let mut ranges = Vec::with_capacity(width);
    let mut end = n;
    for g in (1..=width).rev() {
        let (_, start) =
            best[g][end].expect("there are at least as many priorities as are needed, and no more than classes");
        ranges.push(first + start..first + end);
        end = start;
    }
    ranges.reverse();
    ranges
}

#[cfg(test)]
#[path = "shared_slots_tests.rs"]
mod tests;
