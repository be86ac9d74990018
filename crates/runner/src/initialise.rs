//! From a shared library to an instance in Clock Activation Mode (FMI 3.0, 2.3; semantics S2, S11, S16).
//!
//! One thread, in the plan's order: values travel between instances in Initialization Mode, so that inputs whose sources have initial
//! values start with those.

use super::activation_error::ActivationError;
use super::intervals::told;
use super::refusal::Refusal;
use super::run_state::RunState;
use super::thread_host::{PartitionHost, as_noted};
use super::unit::{Ready, Unit};
use super::values;
use super::{clocks, initial_loop, required_functions, shutdown, state, surroundings};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;
use vecud_base::time::Instant;
use vecud_description::bytes;
use vecud_description::{Abi, Interface, ValueReference};
use vecud_fmi::{
    Batch, Failure, ForeignCall, Function, Health, Initialization, Instance, InstanceHost, Instantiated, Interval,
    Library, LoadErrorKind, MadeFor, Outcome, Readable, ReturnedCall, Status, StepOptions, Terminated, Writable,
    preload, set_thread_host,
};
use vecud_linux::crash::code;
use vecud_linux::thread::current_tid;
use vecud_linux::wake::monotonic_now;
use vecud_plan::schedule::Learned;
use vecud_plan::snapshot::Snapshot;
use vecud_plan::{CallWatch, CoSimulationPlan, FmuId, InitialStep, InterfacePlan, Mode, UnitId};
use vecud_record::board::{Board, Global, OutsideCall, Phase};
use vecud_record::findings::{FindingKind, Occurrence, When};
use vecud_record::log::{self, CALL, kind};

/// The arguments of a call, as text: the clock, the time, then everything else.
pub(super) fn told_arguments(call: &ReturnedCall, arguments: String) -> String {
    let clock = call.clock.map(|clock| clock.0.to_string());
    let time = call.time.map(|time| format!("{time:?}"));
    let all: Vec<String> = [clock, time, Some(arguments)].into_iter().flatten().filter(|one| !one.is_empty()).collect();
    all.join(", ")
}

/// A call as a line of the log, with the name that the function has in C.
fn told_call(call: &ReturnedCall, arguments: String, name: &str) -> String {
    /// Bytes for everything else beside clock and time.
    const LONGEST: usize = log::LONGEST - 100;
    let mut all = told_arguments(call, arguments);
    if all.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|end| all.is_char_boundary(*end));
        all.truncate(end.unwrap_or(0));
        all.push('…');
    }
    let status = match Status::from_raw(call.status) {
        Some(status) => format!("{status:?}"),
        None => call.status.to_string(),
    };
    format!("{name}({all}) -> {status}")
}

/// The callbacks of an instance, from any thread: they write to the board and never wait.
struct InstanceCallbacks {
    board: Board<'static>,
    fmu: FmuId,
    abi: Abi,
    interface: Interface,
    watch: CallWatch,
    /// When the run begins.
    start: Instant,
    /// The instance has logged something.
    has_spoken: AtomicBool,
    /// The rig lets it log more than warnings and errors.
    is_asked_to_log: bool,
    /// The run is in virtual time.
    is_virtual: bool,
    /// The process of the runner.
    process: u32,
}

impl InstanceCallbacks {
    /// Has a line come to the log. Where nothing is in a hurry, waits for the supervisor to read; else the FMU's newest lines stay.
    fn keep(&self, status: u8, category: &[u8], message: &[u8]) {
        let (log, fmu, now) = (self.board.log(), self.fmu.0, monotonic_now());
        let is_kept = || log.offer(Some(fmu), status, now, category, message);
        while !is_kept() {
            // No process reads the log of one that the FMU has forked.
            let is_patient = self.is_virtual || self.board.phase() != Phase::Running;
            if is_patient && std::process::id() == self.process {
                std::thread::sleep(Duration::from_micros(100));
                continue;
            }
            if !self.board.fmu(self.fmu).overflow().put(fmu, status, now, category, message) {
                log.count_lost();
                // An FMU that logs without being asked to is cut to the room that there is.
                if !self.is_asked_to_log {
                    self.board.fmu(self.fmu).findings().note(FindingKind::LogFlood, Occurrence::default());
                }
            }
            break;
        }
    }
}

impl InstanceHost for InstanceCallbacks {
    fn log(&self, status: Status, category: Option<&[u8]>, message: &[u8]) {
        self.has_spoken.store(true, SeqCst);
        self.keep(status as u8, category.unwrap_or_default(), message);
    }

    fn watches_calls(&self) -> bool {
        self.watch != CallWatch::default()
    }

    fn called(&self, call: &ReturnedCall, arguments: &dyn Fn() -> String) {
        if self.watch.times {
            self.board.call_times(self.fmu).add(call.function as u32, call.nanos);
        }
        // Before FMI 3.0 some of these functions do not exist: nothing was called then.
        let name = call.function.name_of(self.abi, self.interface).filter(|_| self.watch.logs);
        if let Some(name) = name {
            self.keep(0, CALL, told_call(call, arguments(), name).as_bytes());
        }
    }

    /// The caller learns of the failure when the instance is freed already.
    fn is_freed_after(&self, failure: &Failure) {
        if !failure.refused {
            self.board.fmu(self.fmu).fail(as_noted(failure), None, self.start, None);
        }
    }

    fn foreign_call(&self, what: ForeignCall) {
        let (finding, value) = match what {
            ForeignCall::ClockUpdateInsideGetClock => (FindingKind::NestedUpdate, 0),
            ForeignCall::IntermediateUpdateOutsideStep => (FindingKind::UpdateOutsideStep, u64::from(current_tid())),
            ForeignCall::ClockUpdateOutsideClockActivation => (FindingKind::OutsideClockActivation, 0),
            ForeignCall::LockOnForeignThread => (FindingKind::ForeignLock, u64::from(current_tid())),
            ForeignCall::ClockUpdateOutsideCall | ForeignCall::ClockUpdateWithoutThreadHost => {
                (FindingKind::ForeignThread, u64::from(current_tid()))
            }
        };
        self.board.fmu(self.fmu).findings().note(finding, Occurrence { value, ..Occurrence::default() });
    }

    fn no_boolean(&self, reference: ValueReference, value: i64) {
        let seen = Occurrence { reference: Some(reference), value: value as u64, ..Occurrence::default() };
        self.board.fmu(self.fmu).findings().note(FindingKind::NotABoolean, seen);
    }
}

/// Loads the libraries of all instances, for as long as the process lives; they must have `more` functions than every FMU.
/// Instances of one FMU share one.
pub fn load(run: &RunState, more: &[Function]) -> Result<Vec<Arc<Library>>, Refusal> {
    let mut libraries: Vec<((PathBuf, Interface), Arc<Library>)> = Vec::new();
    let mut of_instances = Vec::new();
    for (index, fmu) in run.plan.fmus.iter().enumerate() {
        let interface = made_for(fmu).interface();
        let known = libraries.iter().find(|((path, made_for), _)| *path == fmu.library && *made_for == interface);
        let library = match known {
            Some((_, library)) => library.clone(),
            None => {
                let under_way = run.board.global(Global::OutsideCall);
                under_way.store(OutsideCall::tag(FmuId(index)) | OutsideCall::LOADING, SeqCst);
                let preloaded = fmu.preload.iter().try_for_each(|file| {
                    let (name, path, file_shown) = (&fmu.name, fmu.path.display(), file.display());
                    preload(file).map_err(|words| {
                        Refusal::Invalid(format!(
                            "fmu `{name}` ({path}): {file_shown} cannot be loaded before it (preload): {words}"
                        ))
                    })
                });
                let loaded = preloaded.map(|()| Library::load(&fmu.library, fmu.abi, interface));
                under_way.store(0, SeqCst);
                surroundings::look(run, FmuId(index), When::Loading);
                let loaded = loaded?;
                let library = loaded.map_err(|error| {
                    let way_out = match &error.kind {
                        LoadErrorKind::Abi { speaks, .. } => match speaks.dialect() {
                            Some(dialect) => format!(
                                "; dialect = \"{dialect}\" in [fmu.{}] of the rig overrides the description",
                                fmu.name
                            ),
                            None => String::new(),
                        },
                        // Root may read everything, but not without its capabilities.
                        kind if kind.is_denied() => {
                            "; FMU code has no privileges, root's neither: let everybody read the library, its folders and \
                             what it needs (chmod -R a+rX)"
                                .to_owned()
                        }
                        kind if kind.lacks_a_symbol() => {
                            format!("\n  If you know a library that has it: preload = [...] in [fmu.{}] of a rig, or `vecud run --preload`.", fmu.name)
                        }
                        _ => String::new(),
                    };
                    Refusal::Invalid(format!("fmu `{}` ({}): {error}{way_out}", fmu.name, fmu.path.display()))
                })?;
                code::note(library.address(), index as u64 + 1);
                let library = Arc::new(library);
                // Until the process leaves: only then a destructor has the time of the end, and a name.
                library.stays(index as u64 + 1);
                libraries.push(((fmu.library.clone(), interface), library.clone()));
                library
            }
        };
        let needed = required_functions::functions(&run.plan, FmuId(index));
        let mut missing = library.missing().to_vec();
        missing.retain(|function| needed.contains(function) || more.contains(function));
        if !missing.is_empty() {
            let intervals = [Function::GetIntervalDecimal, Function::GetIntervalFraction];
            let hint = match missing.iter().any(|function| intervals.contains(function)) {
                true => "; with get_intervals = false output clocks are not asked for intervals",
                false => "",
            };
            let names: Vec<&str> = missing.iter().map(|function| function.told_of(fmu.abi, interface)).collect();
            let list = names.join(", ");
            let message = format!(
                "fmu `{}` ({}): its library lacks functions that this rig needs: {list}{hint}",
                fmu.name,
                fmu.path.display()
            );
            return Err(Refusal::Invalid(message));
        }
        of_instances.push(library);
    }
    Ok(of_instances)
}

/// The instances on their way to their start. Those that do not get there are ended by [`Underway::give_up`] instead of being
/// dropped, since FMU code runs then.
#[derive(Default)]
pub struct Underway {
    /// From a run before, by FMU; `None`: it has gone on.
    kept: Vec<Option<Instance<Terminated>>>,
    /// Not yet in Initialization Mode, by FMU; `None`: it has gone on.
    instantiated: Vec<Option<Instance<Instantiated>>>,
    /// In Initialization Mode, by FMU; `None`: it has gone on, or has not come there.
    initializing: Vec<Option<Instance<Initialization>>>,
    /// Instances that are initialised and may be activated, in rig order.
    pub ready: Vec<Ready>,
}

impl Underway {
    /// With the instances that were kept from a run before.
    pub fn new(kept: Vec<Instance<Terminated>>) -> Underway {
        Underway { kept: kept.into_iter().map(Some).collect(), ..Underway::default() }
    }

    /// Ends all instances, wherever they are.
    pub fn give_up(self, run: &RunState, hosts: &[&'static PartitionHost]) {
        let Underway { mut kept, mut instantiated, mut initializing, ready } = self;
        shutdown::give_up(run, ready, hosts, |index| {
            drop(kept.get_mut(index).map(Option::take));
            drop(instantiated.get_mut(index).map(Option::take));
            drop(initializing.get_mut(index).map(Option::take));
        });
    }

    /// Instantiates all instances, or resets the kept ones, initialises them, and restores their states if the run goes on from a
    /// saved one. Returns the clock intervals of the FMUs, by task.
    pub fn initialise(
        &mut self,
        run: &'static RunState,
        libraries: &[Arc<Library>],
        hosts: &[&'static PartitionHost],
        resumed: Option<&Snapshot>,
    ) -> Result<Vec<Learned>, Refusal> {
        for (index, fmu) in run.plan.fmus.iter().enumerate() {
            set_thread_host(Some(hosts[index]));
            self.initializing.push(None);
            let instance = match self.kept.get_mut(index).and_then(Option::take) {
                None => {
                    let instance = instantiate(run, FmuId(index), &libraries[index]);
                    surroundings::look(run, FmuId(index), When::Instantiation);
                    instance?
                }
                Some(instance) => checked(hosts[index], instance.reset(), Instance::fail)?,
            };
            instance.declare_states(state::support(fmu));
            self.instantiated.push(Some(checked(hosts[index], set_up(run, FmuId(index), instance), Instance::fail)?));
            surroundings::look(run, FmuId(index), When::Instantiation);
        }
        for step in &run.plan.initialisation {
            self.take(run, hosts, step)?;
        }
        let mut learned = vec![Learned::Nothing; run.plan.units.len()];
        // The buffers of the units have the size of the restored states.
        if let Some(snapshot) = resumed {
            state::restore_sizes(run, snapshot);
        }
        for (index, instance) in self.initializing.iter_mut().enumerate() {
            let instance = instance.take().expect("each is initialised once");
            set_thread_host(Some(hosts[index]));
            let result = clocks::initialise(run, FmuId(index), &instance, hosts[index], &mut learned);
            checked(hosts[index], result, |()| instance.fail())?;
            let between_steps = clocks::between_steps(run, FmuId(index), &instance, hosts[index]);
            let between_steps = checked(hosts[index], between_steps, |_| instance.fail())?;
            let instance = checked(hosts[index], instance.exit_initialization_mode(), Instance::fail)?;
            let instance = match resumed {
                Some(snapshot) => {
                    run.instances[index].expect(snapshot.between.get(index).cloned().unwrap_or_default());
                    let bytes = snapshot.states.get(index).map_or(&[][..], Vec::as_slice);
                    checked(hosts[index], state::restore(instance, bytes), Instance::fail)?
                }
                None => match &run.plan.fmus[index].initial_state {
                    Some(bytes) => checked(hosts[index], state::restore(instance, bytes), Instance::fail)?,
                    None => instance,
                },
            };
            let later = run.plan.initialisation.iter().filter_map(|step| step.gets_initialised(FmuId(index)));
            for batch in later {
                checked(hosts[index], read(run, FmuId(index), &instance, batch), |()| instance.fail())?;
            }
            let ready = Unit::all_of(run, FmuId(index), instance, &between_steps);
            let _ = run.instances[index].updates.set(ready.control.clock_update());
            hosts[index].returned_from_fmu();
            surroundings::look(run, FmuId(index), When::Initialisation);
            self.ready.push(ready);
            if let Some(Ready { units, .. }) = self.ready.last_mut() {
                check_numbers(run, FmuId(index), hosts[index], units)?;
            }
        }
        Ok(learned)
    }

    /// Takes a step of the plan's initialisation.
    fn take(&mut self, run: &RunState, hosts: &[&'static PartitionHost], step: &InitialStep) -> Result<(), Refusal> {
        let fmu = match step {
            InitialStep::Enter(fmu) | InitialStep::Set { fmu, .. } | InitialStep::Get { fmu, .. } => *fmu,
            InitialStep::GetInitialised { .. } => return Ok(()),
            InitialStep::Solve(own) => {
                return initial_loop::solve(run, hosts, own, |step| self.take(run, hosts, step));
            }
        };
        let host = hosts[fmu.0];
        set_thread_host(Some(host));
        let taken = self.take_own(run, fmu, host, step);
        surroundings::look(run, fmu, When::Initialisation);
        taken
    }

    /// A step of one FMU.
    fn take_own(
        &mut self,
        run: &RunState,
        fmu: FmuId,
        host: &PartitionHost,
        step: &InitialStep,
    ) -> Result<(), Refusal> {
        let (before, within) = (&mut self.instantiated[fmu.0], &mut self.initializing[fmu.0]);
        match (step, &*before, &*within) {
            (InitialStep::Enter(_), ..) => {
                let instance = before.take().expect("each enters once");
                *within = Some(checked(host, enter(run, fmu, instance), Instance::fail)?);
                Ok(())
            }
            (InitialStep::Set { batch, .. }, _, Some(instance)) => {
                checked(host, write(run, fmu, instance, batch), |()| instance.fail())
            }
            // FMI 1.0 has no Initialization Mode.
            (InitialStep::Set { batch, .. }, Some(instance), None) => {
                checked(host, write(run, fmu, instance, batch), |()| instance.fail())
            }
            (InitialStep::Get { batch, .. }, _, Some(instance)) => {
                checked(host, read(run, fmu, instance, batch), |()| instance.fail())
            }
            _ => unreachable!("it is read when it has entered"),
        }
    }
}

/// Checks that an FMU for Model Exchange has as many states and event indicators as its description: all buffers have that size.
fn check_numbers(
    run: &RunState,
    fmu: FmuId,
    host: &PartitionHost,
    units: &mut [(UnitId, Unit)],
) -> Result<(), Refusal> {
    let plan = &run.plan.fmus[fmu.0];
    for (_, unit) in units {
        let said = checked(host, unit.numbers(), |_| unit.fail())?;
        let Some(said) = said else { continue };
        let described = run.described_now(fmu);
        let pairs = [
            (Function::GetNumberOfContinuousStates, said.states, described.states),
            (Function::GetNumberOfEventIndicators, said.event_indicators, described.event_indicators),
        ];
        if let Some((function, said, described)) = pairs.into_iter().find(|(_, said, described)| said != described) {
            return Err(Refusal::Invalid(format!(
                "fmu `{}` ({}): {} says {said}, and by its modelDescription.xml it has {described}",
                plan.name,
                plan.path.display(),
                function.name_in(plan.abi)
            )));
        }
    }
    Ok(())
}

/// Checks the result of a call. A warning that the rig treats as an error makes the instance fail: `fail` is called with the
/// result.
fn checked<T>(
    host: &PartitionHost,
    result: Result<T, impl Into<ActivationError>>,
    fail: impl FnOnce(&T),
) -> Result<T, Refusal> {
    host.returned_from_fmu();
    match result {
        Ok(value) if !host.has_failed() => Ok(value),
        Ok(value) => {
            fail(&value);
            Err(Refusal::Failed)
        }
        Err(error) => {
            error.into().note(host);
            Err(Refusal::Failed)
        }
    }
}

/// The interface type that an instance is made for.
fn made_for(plan: &vecud_plan::FmuPlan) -> MadeFor {
    match plan.interface {
        InterfacePlan::ScheduledExecution(_) => MadeFor::ScheduledExecution,
        InterfacePlan::CoSimulation(CoSimulationPlan {
            event_mode_used,
            early_return_allowed,
            ref intermediate,
            ..
        }) => {
            let options = StepOptions::new(event_mode_used, early_return_allowed);
            MadeFor::CoSimulation(match intermediate {
                Some(own) => options.with_intermediate_update(&own.variables()),
                None => options,
            })
        }
        InterfacePlan::ModelExchange(_) => MadeFor::ModelExchange,
    }
}

fn instantiate(run: &RunState, fmu: FmuId, library: &Arc<Library>) -> Result<Instance<Instantiated>, Refusal> {
    let plan = &run.plan.fmus[fmu.0];
    let callbacks = Arc::new(InstanceCallbacks {
        board: run.board,
        fmu,
        abi: plan.abi,
        interface: plan.runs_as(),
        watch: plan.watch,
        start: run.plan.start,
        has_spoken: AtomicBool::new(false),
        is_asked_to_log: plan.log.is_some(),
        is_virtual: run.plan.mode == Mode::Virtual,
        process: std::process::id(),
    });
    let resources = plan.resources.as_deref();
    nix::errno::Errno::clear();
    let spoken = callbacks.clone();
    let logs = plan.log.is_some();
    library.instantiate(&made_for(plan), &plan.name, &plan.token, resources, logs, callbacks).map_err(|failure| {
        let mut missing = missing_file();
        if !logs && !spoken.has_spoken.load(SeqCst) {
            missing += "; it logged nothing, and was not asked to (`vecud run --log`, or log = true in its table of the rig)";
        }
        Refusal::Invalid(format!(
            "fmu `{}` ({}): {}: the instantiation token may not match the binary, or the FMU lacks something that it needs{}",
            plan.name,
            plan.path.display(),
            failure.in_words(plan.abi),
            missing
        ))
    })
}

/// Where relative names of files lead, if the last thing that has failed on this thread was to find a file. Asked right after the call.
fn missing_file() -> String {
    match std::io::Error::last_os_error().kind() {
        std::io::ErrorKind::NotFound => {
            let folder = std::env::current_dir()
                .map_or_else(|_| "a folder that is gone".to_owned(), |own| own.display().to_string());
            format!(" (the last file that it looked for does not exist; relative names start at {folder})")
        }
        _ => String::new(),
    }
}

/// Gives an instance all that it gets before its initialisation.
fn set_up(run: &RunState, fmu: FmuId, instance: Instance<Instantiated>) -> Result<Instance<Instantiated>, Failure> {
    let plan = &run.plan.fmus[fmu.0];
    if let Some(categories) = &plan.log {
        let categories: Vec<&str> = categories.iter().map(String::as_str).collect();
        match instance.set_debug_logging(true, &categories) {
            // A failure to log is no failure of the FMU's computation.
            Err(failure) if instance.health() == Health::Healthy => {
                let message = format!(
                    "fmu `{}`: {}: it may log something else than it is asked for (log)",
                    plan.name,
                    failure.in_words(plan.abi)
                );
                let kind = format!("{} {}", kind::LOGGING_REFUSED, fmu.0);
                run.board.log().push(None, 1, monotonic_now(), kind.as_bytes(), message.as_bytes());
            }
            result => {
                let _warning_is_counted: Outcome = result?;
            }
        }
    }
    let mut instance = instance;
    if !plan.structural_values.is_empty() {
        let configuration = instance.enter_configuration_mode()?;
        for start in &plan.structural_values {
            let _warning_is_counted = configuration.set_values(start.reference, start.variable_type, &start.values)?;
        }
        instance = configuration.exit_configuration_mode()?;
    }
    for start in plan.start_values.iter().filter(|start| !start.in_initialization_mode) {
        let _warning_is_counted = instance.set_values(start.reference, start.variable_type, &start.values)?;
    }
    for clock in plan.draft_clocks.iter().flat_map(|clocks| &clocks.intervals) {
        let intervals: Vec<Interval> =
            clock.intervals.iter().map(|interval| told(*interval, plan.time_unit, clock.fraction)).collect();
        let _warning_is_counted = instance.set_draft_intervals(clock.reference, &intervals)?;
    }
    Ok(instance)
}

/// Enters Initialization Mode.
fn enter(run: &RunState, fmu: FmuId, instance: Instance<Instantiated>) -> Result<Instance<Initialization>, Failure> {
    let plan = &run.plan.fmus[fmu.0];
    // Not the stop time of a run that may be taken up again: the FMU could refuse to go beyond it.
    let stop = run.plan.stop.filter(|_| !run.saves && !plan.keeps_final_state).map(|stop| plan.time_unit.value(stop));
    let instance = instance.enter_initialization_mode(plan.time_unit.value(run.plan.start), stop, plan.tolerance)?;
    for start in plan.start_values.iter().filter(|start| start.in_initialization_mode) {
        let _warning_is_counted = instance.set_values(start.reference, start.variable_type, &start.values)?;
    }
    Ok(instance)
}

/// Gives the recorded columns of an item the values that a batch has of it.
fn record(run: &RunState, fmu: FmuId, item: &vecud_plan::BatchItem, batch: &Batch, number: usize) {
    for (element, signal) in batch.elements(number).zip(&item.signals) {
        let Some(capacity) = run.plan.column(*signal).capacity else {
            run.board.set_initial(*signal, [batch.word(element)]);
            continue;
        };
        let value = batch.bytes(element).ok().filter(|value| value.len() <= capacity);
        run.board.set_initial(*signal, value.map_or(vec![bytes::NOTHING], bytes::packed));
        let size = batch.bytes(element).map_or_else(|size| size, <[u8]>::len);
        if value.is_none() && run.plan.publishes(item, size) {
            let seen = Occurrence { reference: Some(item.reference), value: size as u64, ..Occurrence::default() };
            run.board.fmu(fmu).findings().note(FindingKind::OversizedValue, seen);
        }
    }
}

/// Sets the inputs whose sources have computed values already, and records them.
fn write(
    run: &RunState,
    fmu: FmuId,
    instance: &Instance<impl Writable>,
    planned: &vecud_plan::BatchPlan,
) -> Result<(), Failure> {
    let (mut batch, mut inputs) = values::set(&run.plan, planned);
    for input in &mut inputs {
        input.fetch_initial(&run.cells, &mut batch);
    }
    for (number, item) in planned.items.iter().enumerate() {
        if let (true, Some(values)) = (batch.is_enabled(number), values::load(&batch, number)) {
            let _warning_is_counted = instance.set_values(item.reference, planned.variable_type, &values)?;
            record(run, fmu, item, &batch, number);
        }
    }
    Ok(())
}

/// Reads the outputs that connections and the recording need.
fn read(
    run: &RunState,
    fmu: FmuId,
    instance: &Instance<impl Readable>,
    planned: &vecud_plan::BatchPlan,
) -> Result<(), Failure> {
    let (mut batch, outputs) = values::get(&run.plan, planned);
    for (number, item) in planned.items.iter().enumerate() {
        let values = instance.get_values(item.reference, planned.variable_type, item.elements)?;
        values::store(&mut batch, number, &values);
        record(run, fmu, item, &batch, number);
    }
    for output in outputs {
        if let Some(size) = output.publish(run, None, &batch, None, |_| false) {
            let seen = Occurrence { reference: Some(output.reference), value: size as u64, ..Occurrence::default() };
            run.board.fmu(fmu).findings().note(FindingKind::OversizedValue, seen);
        }
    }
    Ok(())
}
