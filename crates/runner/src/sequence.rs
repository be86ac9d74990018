//! One run after the other, with the libraries loaded and the instances kept: `fmi3Terminate`, then `fmi3Reset` (FMI 3.0, 2.3.1;
//! requirements, row 37).
//!
//! Every run has a [`RunState`] of its own. Between two runs no partition thread exists, and the shared memory is the
//! supervisor's: the runner enters [`Phase::Between`] and touches nothing until the supervisor has taken the results of the run,
//! cleared the memory, and set another phase (`Initialising`: go on; `Stopping`: that was all).

use super::activation::Activation;
use super::calls::SharedOutputs;
use super::initialise::{self, Underway};
use super::job::Job;
use super::privileges::{self, Granted, Say};
use super::reconfigure::Reconfigurable;
use super::refusal::Refusal;
use super::run_state::{Ending, RunState};
use super::thread_host::{Dispatch, PartitionHost};
use super::unit::{Ready, Unit};
use super::{shutdown, state, stimuli, surroundings, threads, virtual_time};
use std::cell::RefCell;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use vecud_base::time::Nanos;
use vecud_fmi::{Function, Health, Instance, Library, Running, Terminated, set_thread_host};
use vecud_linux::cycles::TickScale;
use vecud_linux::preemption::LockMember;
use vecud_linux::process::Log;
use vecud_linux::wake::monotonic_now;
use vecud_plan::schedule::Timeline;
use vecud_plan::snapshot::Snapshot;
use vecud_plan::{FmuId, OnError, UnitId};
use vecud_record::board::{Board, Global, Phase, Scheduling};
use vecud_record::log::{LONGEST, kind};

/// The data that all runs of a job share.
pub struct Sequence<'a> {
    /// The supervisor's order.
    pub job: Job,
    /// The memory shared with the supervisor.
    pub board: Board<'static>,
    /// The kernel's permissions.
    pub granted: Granted,
    /// Converts time stamp differences of the lock.
    pub scale: TickScale,
    /// The folder of all runs, opened while that was a privilege.
    pub folder: std::io::Result<OwnedFd>,
    /// Where FMU code prints to.
    pub log: Option<Arc<Log>>,
    /// Where the run goes on from.
    pub resumed: Option<Snapshot>,
    /// Where the state is saved to.
    pub state_file: File,
    /// Tells the supervisor.
    pub say: Say<'a>,
}

/// A run that came to its end. Its instances are whole again.
struct Run {
    state: &'static RunState,
    hosts: Vec<&'static PartitionHost>,
    instances: Vec<Option<Instance<Running>>>,
    /// All threads could be started.
    ran: bool,
}

impl Run {
    fn code(&self) -> i32 {
        code(self.state, self.ran)
    }
}

/// 1 when an instance has failed so far, or threads could not be started.
fn code(state: &RunState, ran: bool) -> i32 {
    let failed = state.instances.iter().any(|instance| instance.failed.load(SeqCst));
    i32::from(failed || !ran)
}

impl Sequence<'_> {
    /// Runs the job. Returns 0 when its last run came to its regular end, 1 when that failed, 2 when there was none.
    pub fn run(mut self) -> i32 {
        self.board.set_phase(Phase::Loading);
        let mut libraries: Vec<Arc<Library>> = Vec::new();
        let mut kept: Vec<Instance<Terminated>> = Vec::new();
        let mut foreign_calls = 0;
        for number in 1.. {
            self.job.vary(number);
            let state = match RunState::new(&self.job, self.board, self.granted, self.scale) {
                Ok(state) => &*Box::leak(Box::new(state)),
                Err(message) => return self.refuse(Refusal::Invalid(message)),
            };
            if number == 1 {
                privileges::lock_memory(&state.plan, state.board, self.say);
                libraries = match initialise::load(state, &self.more_functions()) {
                    Ok(libraries) => libraries,
                    Err(refusal) => return self.refuse(refusal),
                };
                self.board.set_phase(Phase::Initialising);
            }
            let run = match self.once(state, &libraries, std::mem::take(&mut kept)) {
                Ok(run) => run,
                Err(code) => return code,
            };
            let all = vecud_fmi::foreign_calls();
            self.board.global(Global::ForeignCalls).store(all - foreign_calls, SeqCst);
            foreign_calls = all;
            match self.go_on(number, run) {
                Ok(instances) => kept = instances,
                Err(code) => return code,
            }
        }
        unreachable!("there is a last run")
    }

    /// The functions that are called beyond a plain run of the plan: not every FMU of the draft has them.
    fn more_functions(&self) -> Vec<Function> {
        let mut more = Vec::new();
        let fmus = &self.job.plan.fmus;
        let tries = || fmus.iter().filter(|fmu| fmu.tries_state);
        let tries_all = tries().any(|fmu| fmu.can_serialize_state);
        let saves = self.job.save_state || tries_all || fmus.iter().any(|fmu| fmu.keeps_final_state);
        let restores = self.resumed.is_some() || tries_all || fmus.iter().any(|fmu| fmu.initial_state.is_some());
        if tries().next().is_some() {
            more.extend([Function::GetFMUState, Function::SetFMUState, Function::FreeFMUState]);
        }
        if saves {
            more.extend([Function::GetFMUState, Function::SerializedFMUStateSize, Function::SerializeFMUState]);
        }
        if restores {
            more.extend([Function::DeserializeFMUState, Function::SetFMUState]);
        }
        if saves || restores {
            more.push(Function::FreeFMUState);
        }
        // Variants have new instances.
        if self.job.runs > 1 && self.job.variants.is_empty() {
            more.push(Function::Reset);
        }
        more
    }

    /// Reports that there is no run, and why. The phase bounds the time in which the FMUs end, whose code may hang there, so this
    /// comes before they are ended. Returns the exit code.
    fn refuse(&self, refusal: Refusal) -> i32 {
        match refusal {
            Refusal::Invalid(message) => {
                say_all(&message, self.say);
                self.board.set_phase(Phase::Refused);
                2
            }
            Refusal::Failed => {
                self.board.set_phase(Phase::Stopping);
                1
            }
        }
    }

    /// One run, from instances that were kept or from new ones. `Err`: there is none; the exit code.
    fn once(
        &mut self,
        state: &'static RunState,
        libraries: &[Arc<Library>],
        kept: Vec<Instance<Terminated>>,
    ) -> Result<Run, i32> {
        let virtual_time = state.scheduling == Scheduling::Virtual;
        let hosts: Vec<&'static PartitionHost> = (0..state.plan.fmus.len())
            .map(|fmu| {
                let dispatch = match virtual_time {
                    true => Dispatch::Events(RefCell::new(Vec::with_capacity(64))),
                    false => Dispatch::Threads,
                };
                let host = PartitionHost::new(state, FmuId(fmu), LockMember::outside(), dispatch);
                // Leaked: FMU code may call back until the very end of the process.
                &*Box::leak(Box::new(host))
            })
            .collect();
        let host = |unit: &UnitId| hosts[state.plan.units[unit.0].fmu.0];
        for task in &state.plan.tasks {
            let mut others = task.others().to_vec();
            others.sort_unstable();
            host(&task.first()).join(others.iter().map(host).collect());
        }
        let resumed = self.resumed.as_ref();
        let mut underway = Underway::new(kept);
        let learned = match underway.initialise(state, libraries, &hosts, resumed) {
            Ok(learned) => learned,
            Err(refusal) => {
                let code = self.refuse(refusal);
                underway.give_up(state, &hosts);
                return Err(code);
            }
        };
        if let Some(snapshot) = resumed {
            state::restore_values(state, snapshot);
        }
        let timelines = match state::timelines(state, &learned, resumed) {
            Ok(timelines) => timelines,
            Err(message) => {
                let code = self.refuse(Refusal::Invalid(message));
                underway.give_up(state, &hosts);
                return Err(code);
            }
        };
        state.tell_grids(&timelines);
        let mut controls = Vec::new();
        let mut reconfigurable = Vec::new();
        let mut units: Vec<(UnitId, Unit)> = Vec::new();
        for (fmu, Ready { control, units: own }) in underway.ready.into_iter().enumerate() {
            if state.board.structure(FmuId(fmu)).is_some() {
                reconfigurable.push(Reconfigurable::new(state, FmuId(fmu), control.reconfiguration()));
            }
            controls.push(control);
            units.extend(own);
        }
        units.sort_by_key(|(id, _)| *id);
        let shared = SharedOutputs::of(&state.plan);
        let of_unit = |(id, unit)| Activation::new(state, id, unit, &shared);
        let activations = Activation::of_tasks(state, units.into_iter().map(of_unit).collect());
        set_thread_host(None);
        let (activations, timelines, ran) = match virtual_time {
            true if self.job.side_by_side => match run_side_by_side(state, activations, timelines) {
                Ok((activations, timelines)) => (activations, timelines, true),
                Err(problem) => {
                    (self.say)(3, kind::NOT_STARTED, &problem);
                    (Vec::new(), Vec::new(), false)
                }
            },
            true => {
                let (activations, timelines) = run_virtual(state, activations, &hosts, timelines, &reconfigurable);
                (activations, timelines, true)
            }
            false => match threads::run(state, activations, timelines, reconfigurable, self.say) {
                Ok((activations, timelines)) => (activations, timelines, true),
                Err(activations) => (activations, Vec::new(), false),
            },
        };
        surroundings::look_at_the_end(state);
        state.leave_ticks();
        self.board.set_phase(Phase::Stopping);
        self.board.global(Global::Complete).store(i64::MAX as u64, SeqCst);
        activations.iter().for_each(|activation| activation.calls.settle(state));
        let mut instances = shutdown::join(state, controls, activations);
        if code(state, ran) == 0 {
            state::try_out(state, &mut instances, &hosts);
        }
        let run = Run { state, hosts, instances, ran };
        if state.saves {
            self.save(&run, timelines);
        } else if run.code() == 0 {
            state::hand_back(run.state, &run.instances, &run.hosts, &mut self.state_file, self.say);
        }
        Ok(run)
    }

    /// Writes the state down, unless something has failed: that leaves nothing to go on with.
    fn save(&mut self, run: &Run, mut timelines: Vec<Timeline>) {
        let instances: Option<Vec<_>> = run.instances.iter().map(Option::as_ref).collect();
        match instances.filter(|_| run.code() == 0 && !stimuli::has_broken(run.state)) {
            Some(instances) => {
                let early = run.state.ending() == Ending::Discard;
                let (file, say) = (&mut self.state_file, self.say);
                state::save(run.state, &instances, &run.hosts, &timelines, early, file, say);
            }
            None => state::discard(run.state, &mut timelines),
        }
    }

    /// Ends the instances, or prepares them for the next run. `Err`: that was the last one; its code.
    fn go_on(&self, number: u32, run: Run) -> Result<Vec<Instance<Terminated>>, i32> {
        let Run { state, ref hosts, .. } = run;
        let over = |code: i32| {
            let stopped = self.board.global(Global::StopRequest).load(SeqCst) != 0;
            number >= self.job.runs || stopped || (code != 0 && state.plan.on_error == OnError::Stop)
        };
        let is_fatal = |health: Health| health == Health::Fatal;
        let usable = |instance: &Option<Instance<_>>| instance.as_ref().is_some_and(|i| !is_fatal(i.health()));
        if over(run.code()) || !run.ran || !run.instances.iter().all(usable) {
            let (ran, instances) = (run.ran, run.instances);
            shutdown::end_instances(state, instances, hosts);
            return Err(code(state, ran));
        }
        if !self.job.variants.is_empty() {
            shutdown::end_instances(state, run.instances, hosts);
            let goes_on = !over(code(state, true)) && self.next_run(number + 1);
            return if goes_on { Ok(Vec::new()) } else { Err(code(state, true)) };
        }
        let instances = shutdown::terminate(state, run.instances.into_iter().flatten().collect(), hosts);
        let fatal = instances.iter().any(|instance| is_fatal(instance.health()));
        if over(code(state, true)) || fatal || !self.next_run(number + 1) {
            shutdown::free(instances, hosts);
            return Err(code(state, true));
        }
        Ok(instances)
    }

    /// Leaves the shared memory to the supervisor until the next run. `false`: there is none.
    fn next_run(&self, number: u32) -> bool {
        self.board.global(Global::Panicked).store(u64::from(vecud_fmi::host_panicked()), SeqCst);
        self.board.set_phase(Phase::Between);
        while self.board.phase() == Phase::Between {
            std::thread::sleep(Duration::from_millis(1));
        }
        if self.board.phase() != Phase::Initialising {
            return false;
        }
        let Some(log) = self.log.as_ref().filter(|_| self.job.has_folders) else { return true };
        let path = self.job.log_of(number);
        let folder = self.folder.as_ref().map_err(|error| std::io::Error::from(error.kind()));
        if let Err(error) = folder.and_then(|folder| log.go_on_in(folder.as_fd(), path.clone())) {
            (self.say)(
                1,
                kind::FILE_INCOMPLETE,
                &format!("what FMUs print does not go to {}: {error}", path.display()),
            );
        }
        true
    }
}

fn run_side_by_side(
    state: &'static RunState,
    activations: Vec<Activation>,
    timelines: Vec<Timeline>,
) -> Result<(Vec<Activation>, Vec<Timeline>), String> {
    state.set_start(Nanos(monotonic_now()));
    state.board.set_phase(Phase::Running);
    let left = virtual_time::side_by_side::run(state, activations, timelines);
    state.board.global(Global::Ended).store(monotonic_now() as u64, SeqCst);
    left
}

fn run_virtual(
    state: &'static RunState,
    mut activations: Vec<Activation>,
    hosts: &[&'static PartitionHost],
    timelines: Vec<Timeline>,
    reconfigurable: &[Reconfigurable],
) -> (Vec<Activation>, Vec<Timeline>) {
    state.set_start(Nanos(monotonic_now()));
    state.board.set_phase(Phase::Running);
    let timelines = virtual_time::run(state, &mut activations, hosts, timelines, reconfigurable);
    state.board.global(Global::Ended).store(monotonic_now() as u64, SeqCst);
    (activations, timelines)
}

/// Why there is no run, in as many log lines as it takes: a list of missing functions is longer than one. The supervisor
/// puts them together again.
fn say_all(message: &str, say: Say) {
    let mut rest = message;
    while !rest.is_empty() {
        let end = (0..=LONGEST.min(rest.len())).rev().find(|&at| rest.is_char_boundary(at));
        let (piece, more) = rest.split_at(end.unwrap_or(rest.len()));
        say(3, kind::NOT_STARTED, piece);
        rest = more;
    }
}
