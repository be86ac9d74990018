//! One order over the priorities of all FMUs (design S5).
//!
//! A *class* is the set of clocks of one FMU that have the same priority. Guarantees, whatever the priorities: classes of
//! one FMU keep their order and get different FIFO priorities; members of a class get the same; all lie in the band.
//! Where the band is wide enough, a class with a shorter period never runs below one of another FMU with a longer one.

use super::order::constrained;
use crate::priority::FifoPriority;
use crate::time::Fraction;

/// Clocks of one FMU with equal priority.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Class {
    /// Index of the FMU in the rig.
    pub fmu: usize,
    /// The FMU's core.
    pub cpu: usize,
    /// The shortest period in this class; `None`: it has none.
    pub period: Option<Fraction>,
    /// The tasks, by their index before sorting, in document order.
    pub members: Vec<usize>,
}

/// Where a class ended up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    /// Index of the class.
    pub class: usize,
    /// Its threads' priority.
    pub fifo: FifoPriority,
}

/// The band is too narrow: this FMU alone has more levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooNarrow {
    /// Index of the FMU in the rig.
    pub fmu: usize,
    /// Priorities that it needs.
    pub needed: usize,
}

/// The merged order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Merged {
    /// All classes, most urgent first.
    pub order: Vec<Placed>,
    /// Cores whose band is so narrow that periods of different FMUs are out of order.
    pub disordered: Vec<usize>,
}

/// Merges classes. Those of one FMU stand together in `classes`, FMUs in rig order, most urgent class first; `feeds` are pairs
/// of classes (producer, consumer) of immediate connections.
pub(super) fn merge(
    classes: &[Class],
    feeds: &[(usize, usize)],
    band: (FifoPriority, FifoPriority),
) -> Result<Merged, TooNarrow> {
    let keys = keys(classes);
    let mut order = by_key(classes, &keys, feeds);
    let width = usize::from(band.1.get() - band.0.get()) + 1;
    let mut level_of = vec![0; classes.len()];
    let mut disordered = Vec::new();
    let mut cpus: Vec<usize> = classes.iter().map(|class| class.cpu).collect();
    cpus.sort_unstable();
    cpus.dedup();
    for cpu in cpus {
        let places: Vec<usize> = (0..order.len()).filter(|&i| classes[order[i]].cpu == cpu).collect();
        let mut here: Vec<usize> = places.iter().map(|&i| order[i]).collect();
        let (levels, in_order) = fold(&here, classes, &keys, width)?;
        for (&class, &level) in here.iter().zip(&levels) {
            level_of[class] = level;
        }
        if !in_order {
            disordered.push(cpu);
            here.sort_by_key(|&class| level_of[class]);
            for (&place, &class) in places.iter().zip(&here) {
                order[place] = class;
            }
        }
    }
    let fifo = |class: usize| FifoPriority::new(band.1.get() - level_of[class] as u8).expect("levels stay in the band");
    let order = order.into_iter().map(|class| Placed { class, fifo: fifo(class) }).collect();
    Ok(Merged { order, disordered })
}

/// The shortest period among a class and the lower classes of its FMU: non-decreasing from the top down, so sorting by it
/// keeps the order of each FMU.
fn keys(classes: &[Class]) -> Vec<Option<Fraction>> {
    let mut keys: Vec<Option<Fraction>> = classes.iter().map(|class| class.period).collect();
    for i in (1..classes.len()).rev() {
        if classes[i].fmu == classes[i - 1].fmu {
            keys[i - 1] = match (keys[i - 1], keys[i]) {
                (Some(upper), Some(lower)) => Some(upper.min(lower)),
                (upper, lower) => upper.or(lower),
            };
        }
    }
    keys
}

/// By key (no period last), then producers before consumers, then rig order.
fn by_key(classes: &[Class], keys: &[Option<Fraction>], feeds: &[(usize, usize)]) -> Vec<usize> {
    let mut sorted: Vec<usize> = (0..classes.len()).collect();
    sorted.sort_by_key(|&class| (keys[class].is_none(), keys[class]));
    let mut order = Vec::with_capacity(classes.len());
    for group in sorted.chunk_by(|&a, &b| keys[a] == keys[b]) {
        let place = |class: usize| group.iter().position(|&other| other == class);
        let chain: Vec<(usize, usize)> = (1..group.len())
            .filter(|&i| classes[group[i]].fmu == classes[group[i - 1]].fmu)
            .map(|i| (i - 1, i))
            .collect();
        let across = feeds.iter().filter(|(a, b)| classes[*a].fmu != classes[*b].fmu);
        let soft: Vec<(usize, usize)> = across.filter_map(|&(a, b)| Some((place(a)?, place(b)?))).collect();
        order.extend(constrained(group.len(), &chain, &soft).into_iter().map(|i| group[i]));
    }
    order
}

/// Levels (0 is the most urgent) for the classes of one core, given in merged order, and whether they follow that order.
fn fold(
    order: &[usize],
    classes: &[Class],
    keys: &[Option<Fraction>],
    width: usize,
) -> Result<(Vec<usize>, bool), TooNarrow> {
    let fmu = |i: usize| classes[order[i]].fmu;
    for i in 0..order.len() {
        let needed = (0..order.len()).filter(|&j| fmu(j) == fmu(i)).count();
        if needed > width {
            return Err(TooNarrow { fmu: fmu(i), needed });
        }
    }
    if order.len() <= width {
        return Ok(((0..order.len()).collect(), true));
    }
    if let Some(levels) = nearest_neighbours(order, classes, keys, width) {
        return Ok((levels, true));
    }
    // Neighbours alone do not fold far enough (A1 A2 B1 B2 in a band of two). Each class takes the level that it would
    // have by folding neighbours, but leaves room for the lower classes of its FMU.
    let mut levels = Vec::with_capacity(order.len());
    let (mut wanted, mut start) = (0, 0);
    for i in 0..order.len() {
        if (start..i).any(|j| fmu(j) == fmu(i)) {
            wanted += 1;
            start = i;
        }
        let above = (0..i).rev().find(|&j| fmu(j) == fmu(i)).map_or(0, |j| levels[j] + 1);
        let below = (i + 1..order.len()).filter(|&j| fmu(j) == fmu(i)).count();
        levels.push(above.max(wanted.min(width - 1 - below)));
    }
    Ok((levels, false))
}

/// Folds neighbours of different FMUs into exactly `width` levels so that the periods folded together are as near as
/// possible (the sum of their ratios' logarithms is the smallest); `None`: impossible.
fn nearest_neighbours(
    order: &[usize],
    classes: &[Class],
    keys: &[Option<Fraction>],
    width: usize,
) -> Option<Vec<usize>> {
    const NO_PERIOD: f64 = 1e6;
    let n = order.len();
    let gap = |i: usize| match (keys[order[i]], keys[order[i + 1]]) {
        (Some(a), Some(b)) => (b.seconds() / a.seconds()).ln(),
        (None, None) => 0.0,
        _ => NO_PERIOD,
    };
    // Where the FMU of each class comes again: such two never share a level.
    let same = |i: usize| (i + 1..n).find(|&j| classes[order[j]].fmu == classes[order[i]].fmu);
    let again: Vec<usize> = (0..n).map(|i| same(i).unwrap_or(n)).collect();
    // best[g][j]: least cost of the first j classes in g levels, and where the last level starts.
    let mut best = vec![vec![(f64::INFINITY, 0); n + 1]; width + 1];
    best[0][0] = (0.0, 0);
    for g in 1..=width {
        for end in g..=n {
            let mut cost = 0.0;
            for start in (0..end).rev() {
                if again[start] < end {
                    break;
                }
                if start + 1 < end {
                    cost += gap(start);
                }
                let total = best[g - 1][start].0 + cost;
                if total < best[g][end].0 {
                    best[g][end] = (total, start);
                }
            }
        }
    }
    if best[width][n].0.is_infinite() {
        return None;
    }
    let mut levels = vec![0; n];
    let mut end = n;
    for g in (1..=width).rev() {
        let start = best[g][end].1;
        levels[start..end].fill(g - 1);
        end = start;
    }
    Some(levels)
}

#[cfg(test)]
#[path = "priorities_tests.rs"]
mod tests;
