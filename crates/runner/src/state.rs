//! The end and the beginning of a run that was cut in two: FMU states and the host's own bookkeeping to a file, and back.
//!
//! Both happen on the main thread while no partition exists: states are taken of whole instances, before
//! Terminate, and set right after Initialization Mode.

use super::privileges::Say;
use super::run_state::{InstanceState, RunState};
use super::stimuli;
use super::thread_host::PartitionHost;
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

/// The state functions that the FMU's description offers.
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
pub fn restore_sizes(run: &RunState, snapshot: &Snapshot) {
    for (instance, sizes) in run.instances.iter().zip(&snapshot.sizes) {
        instance.sizes.iter().zip(sizes).for_each(|(size, value)| size.store(*value, SeqCst));
        instance.resized.fetch_add(1, SeqCst);
    }
}

/// The values that connections and recorded columns had.
pub fn restore_values(run: &RunState, snapshot: &Snapshot) {
    for (cell, value) in run.cells.iter().zip(&snapshot.connections) {
        if let Some(words) = value {
            cell.write(|i| words.get(i).copied().unwrap_or(0));
        }
    }
    for (versions, kept) in run.versions.iter().zip(&snapshot.versions) {
        if let Some(versions) = versions {
            versions.put_back(kept);
        }
    }
    for (name, value) in &snapshot.columns {
        let Some(place) = run.plan.signals.iter().position(|signal| signal.name == *name) else { continue };
        match run.plan.signals[place].too_long(value) {
            None => run.board.set_initial(SignalId(place), value.iter().copied()),
            // The rig gives the string less room than the saved run had.
            Some(_) => run.board.set_initial(SignalId(place), [bytes::NOTHING]),
        }
    }
}

/// The timelines of all tasks: from the start, by the FMUs' clock intervals, or from the saved state of a run.
pub fn timelines(run: &RunState, learned: &[Learned], resumed: Option<&Snapshot>) -> Result<Vec<Timeline>, String> {
    let plan = &run.plan;
    // A run that is taken up again makes the rest of the last step.
    let until = |unit| if run.saves { plan.stop } else { plan.released_until(unit) };
    let roots = vecud_plan::roots(&plan.units);
    let all: Result<Vec<Timeline>, String> = (plan.tasks.iter().enumerate())
        .map(|(index, task)| {
            let (id, unit) = (task.first(), &plan.units[task.first().0]);
            let Some(snapshot) = resumed else {
                let mut timeline = Timeline::new(&unit.release, plan.start, until(unit));
                timeline.learn(learned[id.0], plan.start, run.initial_root(&roots, id));
                return Ok(timeline);
            };
            let left = snapshot.timelines.get(index).cloned().ok_or("is not in the state");
            left.and_then(|left| left.resume(&unit.release, until(unit)))
                .map_err(|why| format!("{} {why}", plan.told_name(unit)))
        })
        .collect();
    let keeping = |timeline: Timeline| if run.saves { timeline.keeping() } else { timeline };
    Ok(all?.into_iter().map(keeping).collect())
}

/// Saves the state of the run: all partitions have returned, and `timelines` have everything that waits. `early`: before the stop
/// time. Failures go to the board.
pub fn save(
    run: &RunState,
    instances: &[&Instance<Running>],
    hosts: &[&'static PartitionHost],
    timelines: &[Timeline],
    early: bool,
    file: &mut File,
    say: Say,
) {
    let has_ended = |fmu: &usize| run.board.fmu(FmuId(*fmu)).findings().count(FindingKind::AskedForEnd) > 0;
    if let Some(fmu) = (0..run.plan.fmus.len()).find(has_ended) {
        let name = &run.plan.fmus[fmu].name;
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
        identity: Identity::of(&run.plan),
        time: reached(run, timelines, early),
        states,
        timelines: timelines.to_vec(),
        connections: connections(run),
        versions: run.versions.iter().map(|of| of.as_ref().map_or_else(Vec::new, Versions::kept)).collect(),
        sizes: sizes(run),
        between: run.instances.iter().map(InstanceState::between_steps).collect(),
        // The supervisor has them, in the order of time.
        columns: Vec::new(),
    };
    let written = snapshot.to_bytes().and_then(|bytes| file.write_all(&bytes).map_err(|error| error.to_string()));
    if let Err(error) = written {
        say(3, kind::STATE_NOT_SAVED, &format!("the state is not saved: {error}"));
    }
}

/// Saves the state of the FMU for which that is requested, and nothing else. Failures go to the board.
pub fn hand_back(
    run: &RunState,
    instances: &[Option<Instance<Running>>],
    hosts: &[&'static PartitionHost],
    file: &mut File,
    say: Say,
) {
    let wanted = run.plan.fmus.iter().position(|fmu| fmu.keeps_final_state);
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

/// Gets the state of each FMU for which that is requested and sets it again, serialised where the FMU can. Failures go to the
/// board; an instance that does not take its state back has come to its end.
pub fn try_out(run: &RunState, instances: &mut [Option<Instance<Running>>], hosts: &[&'static PartitionHost]) {
    for (index, plan) in run.plan.fmus.iter().enumerate().filter(|(_, plan)| plan.tries_state) {
        let Some(instance) = instances[index].take() else { continue };
        set_thread_host(Some(hosts[index]));
        let tried = taken_and_given_back(instance, plan.can_serialize_state);
        hosts[index].returned_from_fmu();
        match tried {
            Ok(instance) => instances[index] = Some(instance),
            Err(failure) => {
                hosts[index].fail(&failure);
                run.board.fmu(FmuId(index)).word(FmuWord::End).store(2, SeqCst);
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

fn connections(run: &RunState) -> Vec<Option<Vec<u64>>> {
    let value = |(connection, cell): (usize, &crate::exchange::Latest)| {
        let mut all = Vec::new();
        let version = cell.read_with(|words| all = words.several(0..words.len()).collect());
        run.bundles.value(&run.plan, ConnectionId(connection)).or_else(|| (version > 0).then_some(all))
    };
    run.cells.iter().enumerate().map(value).collect()
}

/// The sizes of each instance; empty for one that has those of its plan.
fn sizes(run: &RunState) -> Vec<Vec<u64>> {
    let all = run.instances.iter().zip(&run.plan.fmus).map(|(instance, plan)| {
        let now: Vec<u64> = instance.sizes.iter().map(|size| size.load(SeqCst)).collect();
        let changed = now.iter().zip(&plan.sizes).any(|(now, size)| *now != size.start);
        if changed { now } else { Vec::new() }
    });
    all.collect()
}

/// The time before which everything is done: not after anything that waits.
fn reached(run: &RunState, timelines: &[Timeline], early: bool) -> Instant {
    let reached = Nanos(run.board.global(Global::Reached).load(SeqCst) as i64);
    let reached = Instant::from_nanos(run.plan.start.nanos().plus(reached)).max(run.begin);
    let end = run.plan.stop.filter(|_| !early).unwrap_or(reached);
    // Ticks of a stimulus that were not read yet are still to come.
    let known = stimuli::ticks_known_until(run);
    timelines.iter().filter_map(Timeline::next_ever).chain(known).fold(end, Instant::min)
}

/// Discards and counts the activations that wait at the end of the run, and releases up to there that have not begun.
pub fn discard(run: &RunState, timelines: &mut [Timeline]) {
    let now = run.time_since_start(run.board.global(Global::Reached).load(SeqCst));
    for (timeline, task) in timelines.iter_mut().zip(&run.plan.tasks) {
        run.board.task(task.first()).count_shared(TaskWord::Discarded, timeline.discard(now));
    }
    let last = timelines.iter().filter_map(Timeline::last).max();
    last.iter().for_each(|last| leave_out(run, timelines, *last));
}

/// The end of a run in real time, after its threads have counted the releases up to where each saw the end. Returns the last of
/// these instants, the end of the run, in ns since the start of the simulation.
pub fn end_together(run: &RunState, timelines: &mut [Timeline]) -> u64 {
    let asked = run.until(Nanos(run.now()));
    let end = timelines.iter().filter_map(Timeline::last).fold(asked, Instant::max);
    leave_out(run, timelines, end);
    run.since_start(end)
}

/// Counts the releases up to `until` that have not begun. An instance that has failed has no further releases.
fn leave_out(run: &RunState, timelines: &mut [Timeline], until: Instant) {
    for (timeline, unit) in timelines.iter_mut().zip(run.plan.tasks.iter().map(TaskPlan::first)) {
        if !run.instances[run.plan.units[unit.0].fmu.0].failed.load(SeqCst) {
            let released = std::iter::from_fn(|| timeline.leave_out(until)).count();
            run.board.task(unit).count_shared(TaskWord::Discarded, released as u64);
        }
    }
}
