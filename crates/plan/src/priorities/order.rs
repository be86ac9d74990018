//! The order of all tasks, with notes on its causes.

use super::band::{self, Placement, place, width};
use super::merge::{Merged, NoPlace, Placed, TooNarrow};
use super::priority_groups::{PriorityGroup, classes, feeds, ticks};
use super::slots::Band;
use crate::findings::Findings;
use crate::resolved::Resolved;
use crate::{FifoReach, HostFacts, Mode, UnitId};
use std::collections::{BTreeMap, BTreeSet};
use vecud_base::priority::FifoPriority;

/// The order of all tasks, most urgent first, and their FIFO priorities.
pub struct PriorityOrder {
    /// Candidates, most urgent first, with the rank of each.
    pub ranks: Vec<Rank>,
    /// The unit of each candidate, whose number is its place in the order.
    unit_of: Vec<UnitId>,
    /// The FIFO priorities that partitions use here, lowest and highest.
    pub band: Band,
    /// Why `SCHED_FIFO` is of no use here, although there is some.
    pub cooperative: Option<TooNarrow>,
}

/// The rank of a candidate in the order.
pub struct Rank {
    pub candidate: usize,
    /// Within its FMU; 0 is the most urgent.
    pub level: usize,
    pub placed: Placed,
    pub cpu: usize,
}

impl PriorityOrder {
    fn new(classes: &[PriorityGroup], Placement { merged, band, cooperative }: Placement) -> PriorityOrder {
        let mut ranks: Vec<Rank> = Vec::new();
        let levels: Vec<usize> = classes.chunk_by(|a, b| a.fmu == b.fmu).flat_map(|own| 0..own.len()).collect();
        for placed in merged.order {
            let class = &classes[placed.class];
            let level = levels[placed.class];
            ranks.extend(class.members.iter().map(|&candidate| Rank { candidate, level, placed, cpu: class.cpu }));
        }
        let mut unit_of = vec![UnitId(0); ranks.len()];
        ranks.iter().enumerate().for_each(|(id, rank)| unit_of[rank.candidate] = UnitId(id));
        PriorityOrder { ranks, unit_of, band, cooperative }
    }

    /// The unit that a candidate becomes.
    pub fn unit(&self, candidate: usize) -> UnitId {
        self.unit_of[candidate]
    }

    /// The units that these candidates become, most urgent first.
    pub fn units(&self, candidates: &[usize]) -> Vec<UnitId> {
        let mut units: Vec<UnitId> = candidates.iter().map(|&candidate| self.unit(candidate)).collect();
        units.sort_unstable();
        units
    }
}

/// Puts all candidates in order. `cpus`: the core of each FMU. Without room for it the order is empty, and a finding tells why.
pub fn order(resolved: &Resolved, cpus: &[usize], host: &HostFacts, findings: &mut Findings) -> PriorityOrder {
    let Resolved { rig, clocks, .. } = resolved;
    let (asked, candidates) = (rig.host.fifo_priorities.value, &clocks.candidates);
    let classes = classes(candidates, cpus);
    let (feeds, ticks) = (feeds(resolved, &classes), ticks(resolved, &classes, width(asked)));
    let watched = candidates.iter().any(|candidate| candidate.limits.max_execution.is_some());
    let order = band::Unplaced { classes: &classes, feeds: &feeds, ticks: &ticks, held: &host.held() };
    let placement = place(order, asked, rig.mode, host.fifo, watched).unwrap_or_else(|no_place| {
        let message = match no_place {
            NoPlace::TooNarrow(narrow) => too_narrow(resolved, &classes, narrow),
            NoPlace::Held(cpu) => held(host, cpu, asked),
        };
        findings.rig(rig.host.fifo_priorities.place, message);
        let merged = Merged { order: Vec::new(), disordered: Vec::new() };
        Placement { merged, band: asked, cooperative: None }
    });
    refuse_sharing(resolved, &classes, host, findings);
    for cpu in &placement.merged.disordered {
        findings.note(format!(
            "the band of FIFO priorities is so narrow that on core {cpu} a partition may run above one of another FMU that has a \
             shorter period"
        ));
    }
    let order = PriorityOrder::new(&classes, placement);
    note_sharing(resolved, &order, host, findings);
    order
}

/// An FMU has more levels than can share the priorities of the rig's band.
fn too_narrow(Resolved { rig, fmus, .. }: &Resolved, classes: &[PriorityGroup], narrow: TooNarrow) -> String {
    let (low, high) = rig.host.fifo_priorities.value;
    let levels = classes.iter().filter(|class| class.fmu == narrow.fmu).count();
    format!(
        "{} has {levels} priority levels, which need {} FIFO priorities, but fifo_priorities = [{}, {}] has {}: a triggered \
         level shares none with one that may tick it; make it wider (at most [1, 99]), or say in the model description \
         (clocks of the output clocks and of the countdown clocks) which partitions tick them",
        fmus[narrow.fmu].name(),
        narrow.needed,
        low.get(),
        high.get(),
        width((low, high))
    )
}

/// Other rigs hold all priorities of the band on a core.
fn held(host: &HostFacts, cpu: usize, (low, high): Band) -> String {
    format!(
        "no priority is left on core {cpu}: of fifo_priorities = [{}, {}] all are held by {}; make it wider (at most [1, 99]) or another \
         one, name another core (cpus in [host], cpu of an FMU), or stop a rig there",
        low.get(),
        high.get(),
        host.names_on(cpu, None)
    )
}

/// Notes the rigs with which cores and FIFO priorities are shared.
fn note_sharing(
    Resolved { rig, fmus, clocks, .. }: &Resolved,
    order: &PriorityOrder,
    host: &HostFacts,
    findings: &mut Findings,
) {
    if rig.mode == Mode::Virtual {
        return;
    }
    let cpus: BTreeSet<usize> = order.ranks.iter().map(|rank| rank.cpu).collect();
    cpus.into_iter().for_each(|cpu| findings.notes.extend(host.notes_on(cpu)));
    if host.fifo == FifoReach::Nothing || order.cooperative.is_some() {
        return;
    }
    let held = host.held();
    let mut shared: BTreeMap<_, (FifoPriority, Vec<String>)> = BTreeMap::new();
    for Rank { candidate, placed, cpu, .. } in &order.ranks {
        if held.get(cpu).is_some_and(|held| held.contains(&placed.fifo.get())) {
            let candidate = &clocks.candidates[*candidate];
            let fmu = &fmus[candidate.fmu];
            let name = format!("{}.{}", fmu.name(), candidate.name(fmu));
            shared
                .entry((*cpu, placed.fifo.most_urgent_first()))
                .or_insert_with(|| (placed.fifo, Vec::new()))
                .1
                .push(name);
        }
    }
    for ((cpu, _), (fifo, names)) in shared {
        findings.note(format!(
            "core {cpu}: {} shares FIFO {} with {}: of those one that has begun is not interrupted by another; a wider band \
             (fifo_priorities) gives each its own",
            names.join(", "),
            fifo.get(),
            host.names_on(cpu, Some(fifo))
        ));
    }
}

/// `strict_priorities` refuses to let levels of an FMU share FIFO priorities; where there are none, none are shared.
fn refuse_sharing(
    Resolved { rig, fmus, .. }: &Resolved,
    classes: &[PriorityGroup],
    host: &HostFacts,
    findings: &mut Findings,
) {
    let (low, high) = rig.host.fifo_priorities.value;
    let width = width((low, high));
    let Some(place) = rig.host.strict_priorities.filter(|_| rig.mode == Mode::RealTime) else { return };
    for own in classes.chunk_by(|a, b| a.fmu == b.fmu).filter(|own| own.len() > width) {
        let (levels, fmu) = (own.len(), fmus[own[0].fmu].name());
        let message = format!(
            "strict_priorities = true: {fmu} has {levels} priority levels, but fifo_priorities = [{}, {}] has {width}, so that some \
             would share a FIFO priority: make it wider (at most [1, 99]), or allow that by leaving strict_priorities out",
            low.get(),
            high.get()
        );
        match host.fifo {
            FifoReach::Nothing => findings.note(format!("{message}. Here there are no FIFO priorities at all")),
            _ => findings.rig(place, message),
        }
    }
}
