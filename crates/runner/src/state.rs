//! The end and the beginning of a run that was cut in two: FMU states and the host's own bookkeeping to a file, and back.
//!
//! Both happen on the main thread while no partition exists: states are taken of whole instances, before
//! Terminate, and set right after Initialization Mode.

use super::privileges::Say;
use super::stimuli;
use super::thread_host::PartitionHost;
use super::world::{InstanceState, World};
use crate::exchange::Versions;
use std::fs::File;
use std::io::Write;
use std::sync::atomic::Ordering::SeqCst;
use vecud_base::time::{Instant, Nanos};
use vecud_description::bytes;
use vecud_fmi::{Failure, Instance, Running, StateSupport, set_thread_host};
use vecud_plan::schedule::{Learned, Timeline};
use vecud_plan::snapshot::{Identity, Snapshot};
use vecud_plan::{ConnectionId, FmuId, FmuPlan, SignalId, TaskPlan};
use vecud_record::board::{FmuWord, Global, TaskWord};
use vecud_record::findings::FindingKind;
use vecud_record::log::kind;

/// What the FMU's description offers.
pub fn support(plan: &FmuPlan) -> StateSupport {
    match (plan.can_serialize_state, plan.can_get_and_set_state) {
        (true, _) => StateSupport::Serialize,
        (false, true) => StateSupport::GetAndSet,
        (false, false) => StateSupport::None,
    }
}

/// An instance that has just been initialised, in the state that these bytes are.
pub fn restore(instance: Instance<Running>, bytes: &[u8]) -> Result<Instance<Running>, Failure> {
    let state = instance.deserialize_state(bytes)?;
    let instance = instance.set_state(&state)?;
    let _warning_is_counted = instance.free_state(state)?;
    Ok(instance)
}

/// The sizes that arrays had.
pub fn restore_sizes(world: &World, snapshot: &Snapshot) {
    for (instance, sizes) in world.instances.iter().zip(&snapshot.sizes) {
        instance.sizes.iter().zip(sizes).for_each(|(size, value)| size.store(*value, SeqCst));
        instance.resized.fetch_add(1, SeqCst);
    }
}

/// The values that connections and recorded columns had.
pub fn restore_values(world: &World, snapshot: &Snapshot) {
    for (cell, value) in world.cells.iter().zip(&snapshot.connections) {
        if let Some(words) = value {
            cell.write(|i| words.get(i).copied().unwrap_or(0));
        }
    }
    for (versions, kept) in world.versions.iter().zip(&snapshot.versions) {
        if let Some(versions) = versions {
            versions.put_back(kept);
        }
    }
    for (name, value) in &snapshot.columns {
        let Some(place) = world.plan.signals.iter().position(|signal| signal.name == *name) else { continue };
        match world.plan.signals[place].too_long(value) {
            None => world.board.set_initial(SignalId(place), value.iter().copied()),
            // The rig gives it less room than the one that was left.
            Some(_) => world.board.set_initial(SignalId(place), [bytes::NOTHING]),
        }
    }
}

/// The releases of all tasks: from the start, by what the FMUs have said of their clocks, or from where a run was left.
pub fn timelines(world: &World, learned: &[Learned], resumed: Option<&Snapshot>) -> Result<Vec<Timeline>, String> {
    let plan = &world.plan;
    // A run that is taken up again makes the rest of the last step.
    let until = |task| if world.saves { plan.stop } else { plan.released_until(task) };
    let roots = vecud_plan::roots(&plan.units);
    let all: Result<Vec<Timeline>, String> = (plan.tasks.iter().enumerate())
        .map(|(index, task)| {
            let (unit, task) = (task.first(), &plan.units[task.first().0]);
            let Some(snapshot) = resumed else {
                let mut timeline = Timeline::new(&task.release, plan.start, until(task));
                timeline.learn(learned[unit.0], plan.start, world.initial_root(&roots, unit));
                return Ok(timeline);
            };
            let left = snapshot.timelines.get(index).cloned().ok_or("is not in the state");
            left.and_then(|left| left.resume(&task.release, until(task)))
                .map_err(|why| format!("{} {why}", plan.told_name(task)))
        })
        .collect();
    let keeping = |timeline: Timeline| if world.saves { timeline.keeping() } else { timeline };
    Ok(all?.into_iter().map(keeping).collect())
}

/// Writes down where the run stands: all partitions have come back, and `timelines` have everything that waits. `early`:
/// before the stop time. What fails is told by the board.
pub fn save(
    world: &World,
    instances: &[&Instance<Running>],
    hosts: &[&'static PartitionHost],
    timelines: &[Timeline],
    early: bool,
    file: &mut File,
    say: Say,
) {
    let has_ended = |fmu: &usize| world.board.fmu(FmuId(*fmu)).findings().count(FindingKind::AskedForEnd) > 0;
    if let Some(fmu) = (0..world.plan.fmus.len()).find(has_ended) {
        let name = &world.plan.fmus[fmu].name;
        say(
            3,
            kind::STATE_NOT_SAVED,
            &format!("the state is not saved: fmu `{name}` has asked for the end of the run, so that nothing goes on"),
        );
        return;
    }
    let mut states = Vec::new();
    for (instance, host) in instances.iter().zip(hosts) {
        set_thread_host(Some(*host));
        let state = serialized(instance);
        host.returned_from_fmu();
        match state {
            Ok(state) if !host.has_failed() => states.push(state),
            Ok(_) => instance.fail(),
            Err(failure) => host.fail(&failure),
        }
        if host.has_failed() {
            break;
        }
    }
    set_thread_host(None);
    if states.len() < instances.len() {
        return;
    }
    let snapshot = Snapshot {
        identity: Identity::of(&world.plan),
        time: reached(world, timelines, early),
        states,
        timelines: timelines.to_vec(),
        connections: connections(world),
        versions: world.versions.iter().map(|of| of.as_ref().map_or_else(Vec::new, Versions::kept)).collect(),
        sizes: sizes(world),
        between: world.instances.iter().map(InstanceState::between_steps).collect(),
        // The supervisor has them, in the order of time.
        columns: Vec::new(),
    };
    let written = snapshot.to_bytes().and_then(|bytes| file.write_all(&bytes).map_err(|error| error.to_string()));
    if let Err(error) = written {
        say(3, kind::STATE_NOT_SAVED, &format!("the state is not saved: {error}"));
    }
}

/// Writes down the state of the FMU of which that is wanted, and nothing else. What fails is told by the board.
pub fn hand_back(
    world: &World,
    instances: &[Option<Instance<Running>>],
    hosts: &[&'static PartitionHost],
    file: &mut File,
    say: Say,
) {
    let wanted = world.plan.fmus.iter().position(|fmu| fmu.keeps_final_state);
    let Some((fmu, instance)) = wanted.and_then(|fmu| Some((fmu, instances[fmu].as_ref()?))) else { return };
    set_thread_host(Some(hosts[fmu]));
    let state = serialized(instance);
    hosts[fmu].returned_from_fmu();
    set_thread_host(None);
    match state {
        Err(failure) => hosts[fmu].fail(&failure),
        Ok(bytes) => {
            if let Err(error) = file.write_all(&bytes) {
                say(3, kind::STATE_NOT_SAVED, &format!("the state of the FMU is not written: {error}"));
            }
        }
    }
}

/// Takes the state of each FMU of which that is wanted and gives it back, serialised where the FMU can. What fails is told by the board;
/// an instance that does not take its state back has come to its end.
pub fn try_out(world: &World, instances: &mut [Option<Instance<Running>>], hosts: &[&'static PartitionHost]) {
    for (index, plan) in world.plan.fmus.iter().enumerate().filter(|(_, plan)| plan.tries_state) {
        let Some(instance) = instances[index].take() else { continue };
        set_thread_host(Some(hosts[index]));
        let tried = taken_and_given_back(instance, plan.can_serialize_state);
        hosts[index].returned_from_fmu();
        match tried {
            Ok(instance) => instances[index] = Some(instance),
            Err(failure) => {
                hosts[index].fail(&failure);
                world.board.fmu(FmuId(index)).word(FmuWord::End).store(2, SeqCst);
            }
        }
    }
    set_thread_host(None);
}

fn taken_and_given_back(instance: Instance<Running>, serializes: bool) -> Result<Instance<Running>, Failure> {
    let state = instance.get_state()?;
    let instance = instance.set_state(&state)?;
    let instance = match serializes {
        true => {
            let bytes = instance.serialize_state(&state)?;
            restore(instance, &bytes)?
        }
        false => instance,
    };
    let _warning_is_counted = instance.free_state(state)?;
    Ok(instance)
}

fn serialized(instance: &Instance<Running>) -> Result<Vec<u8>, Failure> {
    let state = instance.get_state()?;
    let bytes = instance.serialize_state(&state)?;
    let _warning_is_counted = instance.free_state(state)?;
    Ok(bytes)
}

fn connections(world: &World) -> Vec<Option<Vec<u64>>> {
    let value = |(connection, cell): (usize, &crate::exchange::Latest)| {
        let mut all = Vec::new();
        let version = cell.read_with(|words| all = words.several(0..words.len()).collect());
        world.cables.value(&world.plan, ConnectionId(connection)).or_else(|| (version > 0).then_some(all))
    };
    world.cells.iter().enumerate().map(value).collect()
}

/// The sizes of each instance; nothing for one that has those of its plan.
fn sizes(world: &World) -> Vec<Vec<u64>> {
    let all = world.instances.iter().zip(&world.plan.fmus).map(|(instance, plan)| {
        let now: Vec<u64> = instance.sizes.iter().map(|size| size.load(SeqCst)).collect();
        let changed = now.iter().zip(&plan.sizes).any(|(now, size)| *now != size.start);
        if changed { now } else { Vec::new() }
    });
    all.collect()
}

/// The time before which everything is done: not after anything that waits.
fn reached(world: &World, timelines: &[Timeline], early: bool) -> Instant {
    let reached = Nanos(world.board.global(Global::Reached).load(SeqCst) as i64);
    let reached = Instant::from_nanos(world.plan.start.nanos().plus(reached)).max(world.begin);
    let end = world.plan.stop.filter(|_| !early).unwrap_or(reached);
    // Ticks of a stimulus that were not read yet are still to come.
    let known = stimuli::ticks_known_until(world);
    timelines.iter().filter_map(Timeline::next_ever).chain(known).fold(end, Instant::min)
}

/// Throws away what waits where the run has ended, and what was released up to there and has not begun, and counts it.
pub fn discard(world: &World, timelines: &mut [Timeline]) {
    let now = world.time_since_start(world.board.global(Global::Reached).load(SeqCst));
    for (timeline, task) in timelines.iter_mut().zip(&world.plan.tasks) {
        world.board.task(task.first()).count_shared(TaskWord::Discarded, timeline.discard(now));
    }
    let last = timelines.iter().filter_map(Timeline::last).max();
    last.iter().for_each(|last| leave_out(world, timelines, *last));
}

/// A run in real time is over for its threads, each of which has counted what was released up to where it has seen that. The last of
/// these instants is the end of the run, ns since the start of the simulation.
pub fn end_together(world: &World, timelines: &mut [Timeline]) -> u64 {
    let asked = world.until(Nanos(world.now()));
    let end = timelines.iter().filter_map(Timeline::last).fold(asked, Instant::max);
    leave_out(world, timelines, end);
    world.since_start(end)
}

/// Counts what was released up to then, and has not begun. Of an instance that has failed nothing is released any more.
fn leave_out(world: &World, timelines: &mut [Timeline], until: Instant) {
    for (timeline, unit) in timelines.iter_mut().zip(world.plan.tasks.iter().map(TaskPlan::first)) {
        if !world.instances[world.plan.units[unit.0].fmu.0].failed.load(SeqCst) {
            let released = std::iter::from_fn(|| timeline.leave_out(until)).count();
            world.board.task(unit).count_shared(TaskWord::Discarded, released as u64);
        }
    }
}
