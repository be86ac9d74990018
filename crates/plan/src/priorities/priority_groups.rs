//! Classes of clocks with equal priority, and the constraints on the order of two classes: values from one for the other, ticks
//! from one for the other.

use crate::Timing;
use crate::clocks::candidates::Candidate;
use crate::clocks::causes;
use crate::resolved::Resolved;
use std::collections::BTreeSet;
use vecud_base::priority::FmiPriority;
use vecud_base::time::{Fraction, Nanos};

/// Clocks of one FMU with equal priority, or that share a FIFO priority.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorityGroup {
    /// Index of the FMU in the rig.
    pub fmu: usize,
    /// The FMU's core.
    pub cpu: usize,
    /// The shortest period in this class; `None`: it has none.
    pub period: Option<Fraction>,
    /// The execution times that the rig gives its clocks, all together; `None`: not all are given.
    pub execution: Option<Nanos>,
    /// The candidates, in document order.
    pub members: Vec<usize>,
}

/// FMUs in rig order, most urgent class first. `cpus`: the core of each FMU.
pub fn classes(candidates: &[Candidate], cpus: &[usize]) -> Vec<PriorityGroup> {
    let mut sorted: Vec<usize> = (0..candidates.len()).collect();
    sorted.sort_by_key(|&c| (candidates[c].fmu, candidates[c].priority.map(FmiPriority::most_urgent_first)));
    let equal = |&a: &usize, &b: &usize| {
        candidates[a].fmu == candidates[b].fmu && candidates[a].priority == candidates[b].priority
    };
    let class = |members: &[usize]| {
        let fmu = candidates[members[0]].fmu;
        let period = members.iter().filter_map(|&c| candidates[c].period).min();
        let mut executions = members.iter().map(|&c| candidates[c].figures.execution);
        let execution = executions.try_fold(Nanos(0), |all, one| Some(all.plus(one?)));
        PriorityGroup { fmu, cpu: cpus[fmu], period, execution, members: members.to_vec() }
    };
    sorted.chunk_by(equal).map(class).collect()
}

/// The class of each candidate.
fn class_of(classes: &[PriorityGroup], candidates: usize) -> Vec<usize> {
    let mut class_of = vec![0; candidates];
    for (class, members) in classes.iter().map(|class| &class.members).enumerate() {
        members.iter().for_each(|&candidate| class_of[candidate] = class);
    }
    class_of
}

/// Pairs of classes, without direction, such that one may tick the other, directly or through others: those of each FMU that
/// has more than `width` classes.
pub fn ticks(Resolved { fmus, clocks, .. }: &Resolved, classes: &[PriorityGroup], width: usize) -> Vec<(usize, usize)> {
    if classes.chunk_by(|a, b| a.fmu == b.fmu).all(|own| own.len() <= width) {
        return Vec::new();
    }
    let candidates = clocks.candidates.len();
    let causes: Vec<Vec<usize>> = (0..candidates).map(|candidate| causes::of(candidate, fmus, clocks)).collect();
    let class_of = class_of(classes, candidates);
    let mut pairs = BTreeSet::new();
    for candidate in 0..candidates {
        let mut seen = vec![false; candidates];
        let mut open = causes[candidate].clone();
        while let Some(cause) = open.pop() {
            if !std::mem::replace(&mut seen[cause], true) {
                open.extend(causes[cause].iter().copied().filter(|&other| !seen[other]));
            }
        }
        let own = class_of[candidate];
        let earlier = (0..candidates).filter(|&cause| seen[cause]).map(|cause| class_of[cause]);
        let of_fmu = earlier.filter(|&other| other != own && classes[other].fmu == classes[own].fmu);
        pairs.extend(of_fmu.map(|other| (own.min(other), own.max(other))));
    }
    pairs.into_iter().collect()
}

/// Pairs of classes such that one produces values that the other consumes at the same time, by an immediate connection.
pub fn feeds(resolved: &Resolved, classes: &[PriorityGroup]) -> Vec<(usize, usize)> {
    let class_of = class_of(classes, resolved.clocks.candidates.len());
    let of = |candidates: Vec<usize>| candidates.into_iter().map(|c| class_of[c]).collect::<BTreeSet<usize>>();
    let mut feeds = BTreeSet::new();
    for link in resolved.links.iter().filter(|link| link.timing == Timing::Immediate && !link.is_inside) {
        let (producers, consumers) = (of(resolved.getting(link.source)), of(resolved.setting(link.target)));
        feeds.extend(producers.iter().flat_map(|&p| consumers.iter().map(move |&c| (p, c))));
    }
    feeds.into_iter().collect()
}
