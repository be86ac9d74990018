//! Triggers that lead back to where they came from (design S3).
//!
//! A clock ticks once per instant, so a circle of triggers has no second round: what would close it is coalesced while it
//! runs, and reported. A circle that nothing outside of it can start is an error of the rig.

use super::drafts::Draft;
use super::triggers::Output;
use crate::plan::Release;
use crate::plan::findings::{Findings, Unit};
use crate::rig::Place;
use std::collections::HashMap;

/// Refuses circles that nothing starts, and notes those that may close. `places`: where the rig triggers a clock, by FMU
/// and variable.
pub fn check(
    units: &[Unit],
    drafts: &[Draft],
    outputs: &[Vec<Output>],
    places: &HashMap<(usize, usize), Place>,
    findings: &mut Findings,
) {
    let graph = Graph::new(drafts, outputs);
    let live = graph.live(drafts);
    let name = |draft: usize| {
        let unit = &units[drafts[draft].fmu];
        format!("{}.{}", unit.name(), drafts[draft].name(unit))
    };
    let mut reported = vec![false; drafts.len()];
    for start in 0..drafts.len() {
        let seen = graph.reachable(start);
        if !seen[start] || reported[start] {
            continue;
        }
        let circle: Vec<usize> = (start..drafts.len()).filter(|&d| seen[d] && graph.reachable(d)[start]).collect();
        circle.iter().for_each(|&draft| reported[draft] = true);
        if live[start] {
            findings.note(format!(
                "{} may end up triggering itself: at one instant a clock ticks once, further ticks are coalesced",
                name(start)
            ));
        } else {
            let names: Vec<String> = circle.iter().map(|&draft| name(draft)).collect();
            let place = places.get(&(drafts[start].fmu, drafts[start].variable)).copied().unwrap_or_default();
            let message = format!(
                "the triggers of {} form a circle that nothing outside of it starts, so none of them would ever tick: give \
                 one of them another trigger",
                names.join(", ")
            );
            findings.rig(place, message);
        }
    }
}

/// Which draft declares that it may tick which.
struct Graph {
    next: Vec<Vec<usize>>,
    /// Of a triggered draft: those that may tick its source; `None`: not said.
    sources: Vec<Option<Vec<usize>>>,
}

impl Graph {
    fn new(drafts: &[Draft], outputs: &[Vec<Output>]) -> Graph {
        let mut graph = Graph { next: vec![Vec::new(); drafts.len()], sources: vec![None; drafts.len()] };
        for output in outputs.iter().flatten() {
            for &target in &output.targets {
                output.ticked_by.iter().for_each(|&source| graph.next[source].push(target));
                graph.sources[target] = (!output.ticked_by.is_empty()).then(|| output.ticked_by.clone());
            }
        }
        graph
    }

    /// What can be reached from `start` in one or more steps.
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

    /// What something may start that is no trigger, or that is unknown.
    fn live(&self, drafts: &[Draft]) -> Vec<bool> {
        let triggered = |draft: usize| matches!(drafts[draft].release, Release::Triggered { .. });
        let mut live: Vec<bool> = (0..drafts.len()).map(|d| !triggered(d) || self.sources[d].is_none()).collect();
        loop {
            let by_live = |d: &usize| self.sources[*d].iter().flatten().any(|&source| live[source]);
            let more: Vec<usize> = (0..drafts.len()).filter(|d| !live[*d]).filter(by_live).collect();
            if more.is_empty() {
                return live;
            }
            more.into_iter().for_each(|draft| live[draft] = true);
        }
    }
}
