//! The causes of a task's activations, and the clock at the root of each (semantics S11).
//!
//! A triggered or countdown clock follows others: those that may tick its output clock, or arm it. Where the description does not
//! name them, these are all partitions of the FMU.
//!
//! A clock ticks once per instant, so a circle of triggers has no second round: the tick that would close it is coalesced while
//! the rig runs, and reported (semantics S3). A circle that nothing outside of it can start is an error of the rig.

use super::candidates::Candidate;
use super::{ClockNetwork, TickSource};
use crate::described::DescribedFmu;
use crate::findings::Findings;
use crate::rig::Place;
use crate::{Release, UnitId, UnitPlan};
use std::collections::{BTreeSet, HashMap};

/// The candidates that bring this one about, in no order; empty for a clock of its own time.
pub fn of(
    candidate: usize,
    fmus: &[DescribedFmu],
    ClockNetwork { candidates, tick_sources, .. }: &ClockNetwork,
) -> Vec<usize> {
    let of_fmu = |fmu: usize| (0..candidates.len()).filter(move |&other| candidates[other].fmu == fmu);
    let (fmu, said): (usize, Vec<usize>) = match &candidates[candidate].release {
        Release::Triggered { fmu, output_clock } => (fmu.0, tick_sources[fmu.0][*output_clock].ticked_by.clone()),
        Release::Countdown => {
            let fmu = candidates[candidate].fmu;
            let Some(clock) = candidates[candidate].variable(&fmus[fmu]) else { return Vec::new() };
            (fmu, of_fmu(fmu).filter(|&other| candidates[other].owns(&fmus[fmu], clock)).collect())
        }
        _ => return Vec::new(),
    };
    if said.is_empty() { of_fmu(fmu).collect() } else { said }
}

/// Per task: the clocks that can be at the root of a chain which leads to it; itself alone, if it has a time of its own or
/// nothing leads there.
pub fn roots(units: &[UnitPlan]) -> Vec<Vec<UnitId>> {
    let own = |unit: &UnitPlan| unit.caused_by.is_empty();
    let mut roots: Vec<BTreeSet<UnitId>> = units
        .iter()
        .enumerate()
        .map(|(id, unit)| if own(unit) { BTreeSet::from([UnitId(id)]) } else { BTreeSet::new() })
        .collect();
    loop {
        let mut changed = false;
        for (id, unit) in units.iter().enumerate().filter(|(_, unit)| !own(unit)) {
            let more: Vec<UnitId> = unit.caused_by.iter().flat_map(|by| roots[by.0].iter().copied()).collect();
            for root in more {
                changed |= roots[id].insert(root);
            }
        }
        if !changed {
            break;
        }
    }
    let of = |(id, roots): (usize, BTreeSet<UnitId>)| match roots.is_empty() {
        true => vec![UnitId(id)],
        false => roots.into_iter().collect(),
    };
    roots.into_iter().enumerate().map(of).collect()
}

/// Refuses circles that nothing starts, and notes those that may close. `places`: where the rig triggers a clock, by FMU and
/// variable.
pub fn check_circles(
    fmus: &[DescribedFmu],
    ClockNetwork { candidates, tick_sources, .. }: &ClockNetwork,
    places: &HashMap<(usize, usize), Place>,
    findings: &mut Findings,
) {
    let graph = Graph::new(candidates, tick_sources);
    let live = graph.live(candidates);
    let name = |candidate: usize| {
        let described = &fmus[candidates[candidate].fmu];
        format!("{}.{}", described.name(), candidates[candidate].name(described))
    };
    let mut reported = vec![false; candidates.len()];
    for start in 0..candidates.len() {
        let seen = graph.reachable(start);
        if !seen[start] || reported[start] {
            continue;
        }
        let circle: Vec<usize> = (start..candidates.len()).filter(|&d| seen[d] && graph.reachable(d)[start]).collect();
        circle.iter().for_each(|&candidate| reported[candidate] = true);
        if live[start] {
            findings.note(format!(
                "{} may end up triggering itself: at one instant a clock ticks once, further ticks are coalesced",
                name(start)
            ));
        } else {
            let names: Vec<String> = circle.iter().map(|&candidate| name(candidate)).collect();
            let clock = candidates[start].clock.map(|clock| (candidates[start].fmu, clock.variable));
            let place = clock.and_then(|clock| places.get(&clock)).copied().unwrap_or_default();
            let message = format!(
                "the triggers of {} form a circle that nothing outside of it starts, so none of them would ever tick: give \
                 one of them another trigger",
                names.join(", ")
            );
            findings.rig(place, message);
        }
    }
}

/// An edge leads from a candidate to each that its activation may tick, as the descriptions declare it.
struct Graph {
    next: Vec<Vec<usize>>,
    /// For each triggered candidate, the candidates that may tick its source; `None`: undeclared.
    sources: Vec<Option<Vec<usize>>>,
}

impl Graph {
    fn new(candidates: &[Candidate], tick_sources: &[Vec<TickSource>]) -> Graph {
        let mut graph = Graph { next: vec![Vec::new(); candidates.len()], sources: vec![None; candidates.len()] };
        for source in tick_sources.iter().flatten() {
            for &target in &source.targets {
                source.ticked_by.iter().for_each(|&by| graph.next[by].push(target));
                graph.sources[target] = (!source.ticked_by.is_empty()).then(|| source.ticked_by.clone());
            }
        }
        graph
    }

    /// The candidates that can be reached from `start` in one or more steps.
    fn reachable(&self, start: usize) -> Vec<bool> {
        let mut seen = vec![false; self.next.len()];
        let mut open = self.next[start].clone();
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                open.extend(&self.next[node]);
            }
        }
        seen
    }

    /// The candidates that something other than a trigger, or something undeclared, may start.
    fn live(&self, candidates: &[Candidate]) -> Vec<bool> {
        let triggered = |candidate: usize| matches!(candidates[candidate].release, Release::Triggered { .. });
        let mut live: Vec<bool> = (0..candidates.len()).map(|d| !triggered(d) || self.sources[d].is_none()).collect();
        loop {
            let by_live = |d: &usize| self.sources[*d].iter().flatten().any(|&source| live[source]);
            let more: Vec<usize> = (0..candidates.len()).filter(|d| !live[*d]).filter(by_live).collect();
            if more.is_empty() {
                return live;
            }
            more.into_iter().for_each(|candidate| live[candidate] = true);
        }
    }
}
