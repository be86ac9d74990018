//! One order over the priorities of all FMUs (semantics S5).
//!
//! A *class* is the set of clocks of one FMU that have the same priority, or neighbouring ones that share a FIFO priority
//! (`shared_slots`). Guarantees, whatever the priorities: classes of one FMU keep their order and get different FIFO priorities;
//! members of a class get the same; all lie in the band. Where the band is wide enough, a class with a shorter period never
//! runs below one of another FMU with a longer one.

use super::priority_groups::PriorityGroup;
use super::slots::{Band, PrioritySlots};
use std::collections::{BTreeMap, HashMap, VecDeque};
use vecud_base::graph::constrained;
use vecud_base::priority::FifoPriority;
use vecud_base::time::Fraction;

/// The place of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Index of the class.
    pub class: usize,
    /// The priority of the threads of the class.
    pub fifo: FifoPriority,
}

/// The band is too narrow: this FMU alone needs more priorities, although levels share where they may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooNarrow {
    /// Index of the FMU in the rig.
    pub fmu: usize,
    /// Priorities that it needs.
    pub needed: usize,
}

/// Why classes cannot be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPlace {
    /// An FMU needs more than there are.
    TooNarrow(TooNarrow),
    /// Others hold all priorities of the band on this core.
    Held(usize),
}

/// The merged order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// All classes, most urgent first.
    pub order: Vec<Placed>,
    /// Cores whose band is so narrow that periods of different FMUs are out of order.
    pub disordered: Vec<usize>,
}

/// Merges classes. Those of one FMU stand together in `classes`, FMUs in rig order, most urgent class first; `feeds` are pairs
/// of classes (producer, consumer) of immediate connections.
pub fn merge(classes: &[PriorityGroup], feeds: &[(usize, usize)], slots: PrioritySlots) -> Result<Merged, NoPlace> {
    let keys = keys(classes);
    let mut order = by_key(classes, &keys, feeds);
    let mut slots_of = BTreeMap::new();
    let mut depth_of = vec![0; classes.len()];
    let mut disordered = Vec::new();
    let mut cpus: Vec<usize> = classes.iter().map(|class| class.cpu).collect();
    cpus.sort_unstable();
    cpus.dedup();
    for cpu in cpus {
        let places: Vec<usize> = (0..order.len()).filter(|&i| classes[order[i]].cpu == cpu).collect();
        let mut here: Vec<usize> = places.iter().map(|&i| order[i]).collect();
        let slots = slots.on(cpu, most_of_one_fmu(&here, classes));
        if slots.is_empty() {
            return Err(NoPlace::Held(cpu));
        }
        let (depths, in_order) = share_slots(&here, classes, &keys, slots.len()).map_err(NoPlace::TooNarrow)?;
        slots_of.insert(cpu, slots);
        for (&class, &depth) in here.iter().zip(&depths) {
            depth_of[class] = depth;
        }
        if !in_order {
            disordered.push(cpu);
            here.sort_by_key(|&class| depth_of[class]);
            for (&place, &class) in places.iter().zip(&here) {
                order[place] = class;
            }
        }
    }
    let fifo = |class: usize| slots_of[&classes[class].cpu][depth_of[class]];
    let order = order.into_iter().map(|class| Placed { class, fifo: fifo(class) }).collect();
    Ok(Merged { order, disordered })
}

/// The largest number of these classes that one FMU has.
fn most_of_one_fmu(these: &[usize], classes: &[PriorityGroup]) -> usize {
    let mut levels_of: HashMap<usize, usize> = HashMap::new();
    these.iter().for_each(|&class| *levels_of.entry(classes[class].fmu).or_default() += 1);
    levels_of.into_values().max().unwrap_or(0)
}

/// An order for which FIFO priorities do not matter: all classes, most urgent first, at the band's priorities as far as these go.
pub fn unlimited(classes: &[PriorityGroup], feeds: &[(usize, usize)], band: Band) -> Merged {
    let mut above: BTreeMap<usize, u8> = BTreeMap::new();
    let placed = |class: usize| {
        let above = above.entry(classes[class].cpu).or_default();
        let fifo = band.1.get().saturating_sub(*above).max(band.0.get());
        *above = above.saturating_add(1);
        Placed { class, fifo: FifoPriority::new(fifo).expect("it is in the band") }
    };
    let order = by_key(classes, &keys(classes), feeds).into_iter().map(placed).collect();
    Merged { order, disordered: Vec::new() }
}

/// The shortest period among a class and the lower classes of its FMU: non-decreasing from the top down, so sorting by it
/// keeps the order of each FMU.
pub fn keys(classes: &[PriorityGroup]) -> Vec<Option<Fraction>> {
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

/// Classes by their key (no period last), then producers before consumers, then in rig order.
fn by_key(classes: &[PriorityGroup], keys: &[Option<Fraction>], feeds: &[(usize, usize)]) -> Vec<usize> {
    let mut sorted: Vec<usize> = (0..classes.len()).collect();
    sorted.sort_by_key(|&class| (keys[class].is_none(), keys[class]));
    // By class: which group of equal keys it is in, and where.
    let mut places = vec![(0, 0); classes.len()];
    let groups: Vec<&[usize]> = sorted.chunk_by(|&a, &b| keys[a] == keys[b]).collect();
    for (number, group) in groups.iter().enumerate() {
        group.iter().enumerate().for_each(|(place, &class)| places[class] = (number, place));
    }
    let mut soft = vec![Vec::new(); groups.len()];
    for &(a, b) in feeds.iter().filter(|(a, b)| classes[*a].fmu != classes[*b].fmu) {
        let ((group, from), (other, to)) = (places[a], places[b]);
        if group == other {
            soft[group].push((from, to));
        }
    }
    let mut order = Vec::with_capacity(classes.len());
    for (group, soft) in groups.into_iter().zip(soft) {
        let chain: Vec<(usize, usize)> = (1..group.len())
            .filter(|&i| classes[group[i]].fmu == classes[group[i - 1]].fmu)
            .map(|i| (i - 1, i))
            .collect();
        order.extend(constrained(group.len(), &chain, &soft).into_iter().map(|i| group[i]));
    }
    order
}

/// The depth of each class of a core below the top of the band (0 is the most urgent), and whether the depths follow the
/// merged order. Precondition: the classes are in merged order.
fn share_slots(
    order: &[usize],
    classes: &[PriorityGroup],
    keys: &[Option<Fraction>],
    width: usize,
) -> Result<(Vec<usize>, bool), TooNarrow> {
    let fmu = |i: usize| classes[order[i]].fmu;
    let mut levels_of: HashMap<usize, usize> = HashMap::new();
    (0..order.len()).for_each(|i| *levels_of.entry(fmu(i)).or_default() += 1);
    for i in 0..order.len() {
        let needed = levels_of[&fmu(i)];
        if needed > width {
            return Err(TooNarrow { fmu: fmu(i), needed });
        }
    }
    if order.len() <= width {
        return Ok(((0..order.len()).collect(), true));
    }
    if let Some(depths) = nearest_neighbours(order, classes, keys, width) {
        return Ok((depths, true));
    }
    // Neighbours alone do not fold far enough (A1 A2 B1 B2 in a band of two). Each class takes the depth that it would
    // have by folding neighbours, but leaves room for the lower classes of its FMU.
    let mut depths = Vec::with_capacity(order.len());
    let (mut wanted, mut start) = (0, 0);
    for i in 0..order.len() {
        if (start..i).any(|j| fmu(j) == fmu(i)) {
            wanted += 1;
            start = i;
        }
        let above = (0..i).rev().find(|&j| fmu(j) == fmu(i)).map_or(0, |j| depths[j] + 1);
        let below = (i + 1..order.len()).filter(|&j| fmu(j) == fmu(i)).count();
        depths.push(above.max(wanted.min(width - 1 - below)));
    }
    Ok((depths, false))
}

/// Folds neighbours of different FMUs into exactly `width` priorities so that the periods folded together are as near as
/// possible (the sum of their ratios' logarithms is the smallest); `None`: impossible.
fn nearest_neighbours(
    order: &[usize],
    classes: &[PriorityGroup],
    keys: &[Option<Fraction>],
    width: usize,
) -> Option<Vec<usize>> {
    const NO_PERIOD: f64 = 1e6;
    // Logarithms as whole numbers of these parts: sums are exact, and equal ratios cost the same.
    const PARTS: f64 = (1u64 << 40) as f64;
    let n = order.len();
    let gap = |i: usize| {
        let logarithm = match (keys[order[i]], keys[order[i + 1]]) {
            (Some(a), Some(b)) => (b.seconds() / a.seconds()).ln(),
            (None, None) => 0.0,
            _ => NO_PERIOD,
        };
        (logarithm * PARTS).round() as i128
    };
    // The cost of a depth from `start` to before `end` is `sums[end - 1] - sums[start]`.
    let mut sums = vec![0; n];
    (1..n).for_each(|i| sums[i] = sums[i - 1] + gap(i - 1));
    // Where a depth may start at the earliest that ends with each class: behind the one before of any FMU that is in it twice.
    let (mut seen, mut earliest) = (HashMap::new(), vec![0; n]);
    for i in 0..n {
        let twin = seen.insert(classes[order[i]].fmu, i + 1).unwrap_or(0);
        earliest[i] = twin.max(if i > 0 { earliest[i - 1] } else { 0 });
    }
    // Least costs of the first classes in g depths, and for each g the begin of the last depth.
    let mut costs: Vec<Option<i128>> = vec![None; n + 1];
    costs[0] = Some(0);
    let mut starts = vec![vec![0; n + 1]];
    for g in 1..=width {
        let (mut next, mut last) = (vec![None; n + 1], vec![0; n + 1]);
        // Starts that may become the best, with their costs, which increase; the latest of equal ones.
        let mut window: VecDeque<(i128, usize)> = VecDeque::new();
        for end in g..=n {
            if let Some(cost) = costs[end - 1] {
                let cost = cost - sums[end - 1];
                while window.back().is_some_and(|(other, _)| *other >= cost) {
                    window.pop_back();
                }
                window.push_back((cost, end - 1));
            }
            while window.front().is_some_and(|(_, start)| *start < earliest[end - 1]) {
                window.pop_front();
            }
            if let Some(&(cost, start)) = window.front() {
                (next[end], last[end]) = (Some(cost + sums[end - 1]), start);
            }
        }
        costs = next;
        starts.push(last);
    }
    costs[n]?;
    let mut depths = vec![0; n];
    let mut end = n;
    for g in (1..=width).rev() {
        let start = starts[g][end];
        depths[start..end].fill(g - 1);
        end = start;
    }
    Some(depths)
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
