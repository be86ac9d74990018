//! The producers and consumers of a connection, and the number of versions that a delayed one keeps (semantics S11).
//!
//! Bounds: a consumer starts at most [`LATE`] and its period (17 periods where overruns queue, since 16 releases may wait)
//! after its release. For that long the host keeps the versions of each producer, by the shortest time between two instants at
//! which its values become visible: its interval; for a triggered or countdown clock the shortest interval of a clock at the
//! root of its chain; and [`UNKNOWN`] where no interval is known before the run (changing and asked clocks, datagrams).
//! Versions that come faster, or are read later, are counted as overwritten.

use crate::clocks::causes::roots;
use crate::findings::Findings;
use crate::rig::{Rig, Timing};
use crate::{
    BatchPlan, ConnectionPlan, DelayPlan, FmuPlan, Overrun, ProducerPlan, Release, TaskPlan, UnitId, UnitPlan,
};
use vecud_base::time::Fraction;
use vecud_description::VariableType;

/// The delay of a consumer's start beyond its period, s.
const LATE: f64 = 0.1;

/// Assumed time between two versions of a producer whose interval is unknown, s.
const UNKNOWN: f64 = 0.001;

/// Bytes that all versions of a connection may take.
const BYTES: usize = 64 << 20;

/// The largest number of versions of one producer: that of `vecud_runner::exchange::versions`.
const VERSIONS: usize = (1 << 16) - 1;

/// The tasks at both ends of one connection, most urgent first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    pub producers: Vec<UnitId>,
    pub consumers: Vec<UnitId>,
}

/// The producers and consumers of each connection, by its index. `connections`: their number.
pub fn ends(connections: usize, units: &[UnitPlan], fmus: &[FmuPlan]) -> Vec<Ends> {
    fn note<'a>(batches: impl IntoIterator<Item = &'a BatchPlan>, mut note: impl FnMut(usize)) {
        let items = batches.into_iter().flat_map(|batch| &batch.items);
        items.flat_map(|item| &item.connections).for_each(|connection| note(connection.0));
    }
    fn add(units: &mut Vec<UnitId>, unit: UnitId) {
        if units.last() != Some(&unit) {
            units.push(unit);
        }
    }
    let mut ends = vec![Ends::default(); connections];
    for (id, unit) in units.iter().enumerate() {
        note(&unit.set, |connection| add(&mut ends[connection].consumers, UnitId(id)));
        // Variables of callbacks may be read in every partition of the FMU.
        let on_ticks = fmus[unit.fmu.0].on_ticks().iter().map(|on_tick| &on_tick.batch);
        note(unit.get.iter().chain(on_ticks), |connection| add(&mut ends[connection].producers, UnitId(id)));
    }
    ends
}

/// Adds the producers, the consumers and the number of versions to each delayed connection.
pub fn complete(
    mut connections: Vec<ConnectionPlan>,
    tasks: &[TaskPlan],
    units: &[UnitPlan],
    fmus: &[FmuPlan],
    rig: &Rig,
    findings: &mut Findings,
) -> Vec<ConnectionPlan> {
    let roots = roots(units);
    let ends = ends(connections.len(), units, fmus);
    for (index, (connection, ends)) in connections.iter_mut().zip(ends).enumerate() {
        if connection.timing != Timing::Delayed {
            continue;
        }
        let delay = plan(ends, tasks, units, &roots);
        // Times and numbers, an element's words, and its length if it has one.
        let element = match connection.extrapolation {
            _ if is_bytes(connection) => 8 + connection.capacity.next_multiple_of(8),
            extrapolation => 8 * (1 + extrapolation.orders()),
        };
        let version = connection.elements.saturating_mul(element).saturating_add(64);
        let versions: usize = delay.producers.iter().map(|producer| producer.versions + 1).sum();
        if version.saturating_mul(versions) > BYTES || delay.producers.iter().any(|p| p.versions > VERSIONS) {
            let message = format!(
                "{} → {} is delayed and would have to keep {versions} versions of {version} bytes; {BYTES} bytes are possible: \
                 use timing = \"immediate\", a slower producer, fewer elements or a smaller max_size",
                connection.from, connection.to
            );
            let place = rig.connects.get(index).map(|connect| connect.to.place).unwrap_or_default();
            findings.rig(place, message);
        }
        connection.delay = Some(delay);
    }
    connections
}

fn is_bytes(connection: &ConnectionPlan) -> bool {
    matches!(connection.variable_type, VariableType::String | VariableType::Binary)
}

fn plan(
    Ends { producers, consumers }: Ends,
    tasks: &[TaskPlan],
    units: &[UnitPlan],
    roots: &[Vec<UnitId>],
) -> DelayPlan {
    let stays = |unit: &UnitPlan| matches!(unit.release, Release::Periodic { .. }) && !unit.leaves_its_grid();
    let all_periodic = consumers.iter().all(|id| stays(&units[id.0]));
    let by_release = all_periodic && !consumers.is_empty();
    let late = |id: &UnitId| {
        let unit = &units[id.0];
        let period = unit.release.shortest_known().map_or(0.0, Fraction::seconds);
        LATE + period * if tasks[unit.task.0].overrun == Overrun::Queue { 17.0 } else { 1.0 }
    };
    let kept = consumers.iter().map(late).fold(LATE, f64::max);
    let selected: f64 = consumers.iter().map(|id| count(late(id), seconds(&units[id.0]))).sum();
    let producer = |id: UnitId| {
        let all = count(kept, visible_every(id, units, roots));
        let versions = if by_release { all.min(selected) } else { all };
        ProducerPlan { unit: id, versions: versions.min(u32::MAX.into()) as usize }
    };
    let with_tick = consumers.iter().all(|to| producers.iter().all(|from| goes_with_tick(*from, *to, units)));
    DelayPlan { producers: producers.into_iter().map(producer).collect(), consumers, by_release, with_tick }
}

/// Whether `to` sees the outputs of `from`'s Event Mode at their very time: that FMU ticks it.
fn goes_with_tick(from: UnitId, to: UnitId, units: &[UnitPlan]) -> bool {
    let (producer, consumer) = (&units[from.0], &units[to.0]);
    let is_ticked = matches!(consumer.release, Release::Triggered { fmu, .. } if fmu == producer.fmu);
    producer.leaves_its_grid() && is_ticked
}

/// The number of versions in a span of `time`, with one at either end.
fn count(time: f64, every: f64) -> f64 {
    (time / every).ceil() + 2.0
}

fn seconds(unit: &UnitPlan) -> f64 {
    unit.release.shortest_known().map_or(UNKNOWN, Fraction::seconds)
}

/// The shortest time between two instants at which values of a task become visible.
fn visible_every(id: UnitId, units: &[UnitPlan], roots: &[Vec<UnitId>]) -> f64 {
    let of = |root: &UnitId| match &units[root.0].release {
        Release::At(times) => {
            let gaps = times.windows(2).map(|pair| pair[1].nanos().minus(pair[0].nanos()).seconds());
            // Never more than there are.
            gaps.fold(LATE, f64::min).max(1e-6)
        }
        _ if units[root.0].leaves_its_grid() => seconds(&units[root.0]).min(UNKNOWN),
        _ => seconds(&units[root.0]),
    };
    roots[id.0].iter().map(of).fold(f64::INFINITY, f64::min).max(1e-9)
}
