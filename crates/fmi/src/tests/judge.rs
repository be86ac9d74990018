//! A stub FMU that judges its importer: it knows which calls FMI 3.0 allows in which state of Scheduled Execution (2.3, 5.2),
//! notes every other one, and answers, calls back and ticks at random. It lives in thread-locals, so each test has its own.

use crate::types::*;
use crate::*;
use std::cell::RefCell;
use std::ffi::c_void;

/// States of an instance, as the standard has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Instantiated,
    Configuration,
    Reconfiguration,
    Initialization,
    ClockActivation,
    Terminated,
    /// After Discard or Error.
    Failed,
    Freed,
}

/// What the FMU does while its callbacks can be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    Nothing,
    /// A set of variables of this clock has not been followed by an activation.
    Set,
    /// Activated; variables can be read.
    Activated,
}

/// Not activated yet.
const NEVER: (Task, f64) = (Task::Nothing, f64::NEG_INFINITY);

struct Instance {
    state: State,
    given: (RawEnvironment, ClockUpdateCallback, PreemptionCallback, PreemptionCallback),
    /// By clock.
    tasks: [(Task, f64); PARTITIONS],
    /// Depth of clock updates that the importer has to answer.
    updates: usize,
    /// Per open update: how often output clocks and countdown intervals were read.
    read: Vec<[u32; 2]>,
    /// States that were saved and not freed: the number of each, and the mode that the instance was in.
    states: Vec<(usize, State)>,
}

/// The judge's knowledge of all instances of the FMU.
#[derive(Default)]
pub struct Judge {
    instances: Vec<Instance>,
    fatal: bool,
    /// Functions that the importer is inside of, innermost last.
    stack: Vec<Function>,
    /// FMU states made so far.
    states: usize,
    random: u64,
    /// One in so many calls goes wrong; 0: none.
    failing: u64,
    /// What the importer did wrong.
    pub broken: Vec<String>,
    pub calls: u64,
    pub answered_updates: u64,
    pub failures: u64,
    pub fatals: u64,
}

/// Model partitions of each instance; their clocks are 1 and up, their variables `100 * clock`, a countdown clock is 9.
pub const PARTITIONS: usize = 3;
const COUNTDOWN: u32 = 9;

thread_local! {
    static JUDGE: RefCell<Judge> = RefCell::default();
}

/// Starts over.
pub fn begin(random: u64, failing: u64) {
    JUDGE.set(Judge { random, failing, ..Judge::default() });
}

/// What has been found.
pub fn verdict() -> Judge {
    JUDGE.take()
}

/// At the end, when no handle is left: nobody was forgotten.
pub fn all_gone(abandoned: usize) {
    JUDGE.with_borrow_mut(|judge| {
        let left = judge.instances.iter().map(|instance| instance.state).filter(|state| *state != State::Freed);
        let left: Vec<State> = left.collect();
        if !judge.fatal && left.len() != abandoned {
            judge.broken.push(format!("{left:?} are left, {abandoned} of them abandoned"));
        }
    });
}

impl Judge {
    fn below(&mut self, bound: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % bound
    }

    /// 0 to 4, seldom something that is no status.
    fn answer(&mut self) -> i32 {
        if self.failing == 0 || self.below(self.failing) > 0 {
            return 0;
        }
        let status = [1, 1, 1, 2, 3, 3, 77, -1, 4][self.below(9) as usize];
        self.failures += u64::from(status != 1);
        self.fatals += u64::from(status == 4);
        status
    }
}

/// Whether `function` is allowed now, and in which state it leaves the instance if it succeeds.
fn allowed(instance: &mut Instance, function: Function, clock: u32, time: f64) -> Result<State, &'static str> {
    use Function as F;
    use State as S;
    let state = instance.state;
    let task = (1..=PARTITIONS as u32).contains(&clock).then(|| clock as usize - 1);
    let reading_clocks = matches!(function, F::GetClock | F::GetIntervalDecimal | F::GetIntervalFraction);
    match (function, state) {
        (F::FreeInstance, S::Freed) => Err("twice"),
        (F::FreeInstance, _) if !instance.states.is_empty() => Err("with states that were not freed"),
        (F::FreeInstance, _) => Ok(S::Freed),
        // These are what is left after an error, too (2.3.1).
        (F::Reset, S::Instantiated | S::Initialization | S::ClockActivation | S::Terminated | S::Failed) => {
            instance.tasks = [NEVER; PARTITIONS];
            Ok(S::Instantiated)
        }
        (F::SetFMUState | F::FreeFMUState, _) if state != S::Freed => {
            let place = instance.states.iter().position(|(number, _)| *number == clock as usize);
            let (_, saved) = instance.states[place.ok_or("of a state that it does not have")?];
            match function {
                F::SetFMUState => Ok(saved),
                _ => {
                    instance.states.remove(place.unwrap_or_default());
                    Ok(state)
                }
            }
        }
        (_, S::Failed) => Err("after an error"),
        (F::GetFMUState, S::Terminated) => Ok(state),
        (_, S::Terminated | S::Freed) => Err("after the end"),
        (F::SetDebugLogging, _) if clock == 1 => Err("of all categories with a pointer to some"),
        (F::SetDebugLogging | F::GetFMUState, _) => Ok(state),
        (F::EnterConfigurationMode, S::Instantiated) => Ok(S::Configuration),
        (F::EnterConfigurationMode, S::ClockActivation) => Ok(S::Reconfiguration),
        (F::ExitConfigurationMode, S::Configuration) => Ok(S::Instantiated),
        (F::ExitConfigurationMode, S::Reconfiguration) => Ok(S::ClockActivation),
        (F::EnterInitializationMode, S::Instantiated) => Ok(S::Initialization),
        (F::ExitInitializationMode, S::Initialization) => Ok(S::ClockActivation),
        (F::SetFloat64, S::Instantiated | S::Configuration | S::Reconfiguration | S::Initialization) => Ok(state),
        (F::GetFloat64, S::Instantiated | S::Initialization) => Ok(state),
        (F::SetFloat64, S::ClockActivation) => {
            instance.tasks[task.ok_or("of a variable of no partition")?].0 = Task::Set;
            Ok(state)
        }
        (F::GetFloat64, S::ClockActivation) => match instance.tasks[task.ok_or("of a variable of no partition")?].0 {
            Task::Activated => Ok(state),
            Task::Set => Err("after a set without an activation in between"),
            Task::Nothing => Err("without an activation"),
        },
        (F::ActivateModelPartition, S::ClockActivation) => {
            let (task, last) = &mut instance.tasks[task.ok_or("of no input clock")?];
            let increases = time > std::mem::replace(last, time);
            *task = Task::Activated;
            if increases { Ok(state) } else { Err("of a time that does not increase") }
        }
        (F::Terminate, S::ClockActivation) => Ok(S::Terminated),
        (F::SetIntervalDecimal | F::GetShiftDecimal | F::SetShiftDecimal, S::Initialization) => Ok(state),
        (F::GetIntervalDecimal | F::GetIntervalFraction, S::Initialization) => Ok(state),
        // A changing clock that was activated.
        (F::GetIntervalDecimal, S::ClockActivation) if task.is_some() => match instance.tasks[clock as usize - 1].0 {
            Task::Activated => Ok(state),
            _ => Err("of a changing clock that was not activated"),
        },
        (_, S::ClockActivation) if reading_clocks => {
            if instance.updates == 0 {
                return Err("outside of a clock update");
            }
            let read = instance.read.last_mut().ok_or("outside of a clock update")?;
            let count = &mut read[usize::from(function != F::GetClock)];
            *count += 1;
            if *count > 1 { Err("twice in one clock update") } else { Ok(state) }
        }
        _ => Err("in this state"),
    }
}

/// Each function of the stub: judges the call, does something, answers.
fn call(raw: RawInstance, function: Function, clock: u32, time: f64) -> RawStatus {
    let index = raw.addr() - 1;
    let doing = JUDGE.with_borrow_mut(|judge| {
        judge.calls += 1;
        let instance = &mut judge.instances[index];
        let state = instance.state;
        let verdict = if judge.fatal { Err("after fmi3Fatal") } else { allowed(instance, function, clock, time) };
        if let Err(why) = verdict {
            judge.broken.push(format!("{}, instance {index}, {state:?}: {why}", function.name()));
        }
        let next = verdict.unwrap_or(state);
        judge.stack.push(function);
        // FMU code calls back: where it belongs, and now and then where it does not.
        let belongs = function == Function::ActivateModelPartition;
        let updates = if belongs { judge.below(3) } else { u64::from(judge.below(12) == 0) };
        let locks = judge.below(4) == 0;
        // Freed memory calls nobody.
        let quiet = next == State::Freed || function == Function::FreeInstance;
        (next, if quiet { 0 } else { updates }, locks && !quiet)
    });
    let (next, updates, locks) = doing;
    (0..updates).for_each(|_| call_back(index, locks));
    let recovers = matches!(function, Function::FreeInstance | Function::Reset | Function::SetFMUState);
    JUDGE.with_borrow_mut(|judge| {
        judge.stack.pop();
        let answer = if function == Function::FreeInstance { 0 } else { judge.answer() };
        let instance = &mut judge.instances[index];
        match answer {
            // An error in a call from inside of this one stays.
            0 | 1 if instance.state != State::Failed || recovers => instance.state = next,
            0 | 1 => {}
            4 => judge.fatal = true,
            // What it logs is no part of what it computes.
            _ if function == Function::SetDebugLogging => {}
            _ => instance.state = State::Failed,
        }
        answer
    })
}

/// The FMU calls `clockUpdate`, maybe with its lock held.
fn call_back(index: usize, locked: bool) {
    let (environment, update, lock, unlock) = JUDGE.with_borrow_mut(|judge| {
        let reading = judge
            .stack
            .iter()
            .any(|f| matches!(f, Function::GetClock | Function::GetIntervalDecimal | Function::GetIntervalFraction));
        let instance = &mut judge.instances[index];
        // Only then has the importer to answer; inside of the reading of clocks it must not.
        if instance.state == State::ClockActivation && !reading {
            instance.updates += 1;
            instance.read.push([0; 2]);
        }
        instance.given
    });
    if locked {
        // SAFETY: has no arguments and may be called from anywhere.
        unsafe { lock() };
    }
    // SAFETY: the environment is that of an instance whose library the test still holds.
    unsafe { update(environment) };
    if locked {
        // SAFETY: as for the lock.
        unsafe { unlock() };
    }
    JUDGE.with_borrow_mut(|judge| {
        let reading = judge
            .stack
            .iter()
            .any(|f| matches!(f, Function::GetClock | Function::GetIntervalDecimal | Function::GetIntervalFraction));
        let instance = &mut judge.instances[index];
        if reading || instance.updates == 0 {
            return;
        }
        instance.updates -= 1;
        let read = instance.read.pop().unwrap_or_default();
        judge.answered_updates += u64::from(read == [1, 1]);
        // A model partition has to be answered; what calls back from elsewhere, set and get included, need not be.
        let required = judge.stack.last() == Some(&Function::ActivateModelPartition);
        let healthy = !judge.fatal && judge.instances[index].state == State::ClockActivation;
        if required && healthy && read != [1, 1] {
            judge.broken.push(format!("a clock update of instance {index} read {read:?}"));
        }
    });
}

// SAFETY (of calling it): none of the pointers is followed; they are only kept to be handed back.
unsafe extern "C" fn instantiate(
    _: RawString,
    _: RawString,
    _: RawString,
    _: RawBool,
    _: RawBool,
    environment: RawEnvironment,
    _: Option<LogMessage>,
    clock_update: Option<ClockUpdateCallback>,
    lock: Option<PreemptionCallback>,
    unlock: Option<PreemptionCallback>,
) -> RawInstance {
    JUDGE.with_borrow_mut(|judge| {
        if judge.fatal {
            judge.broken.push("fmi3InstantiateScheduledExecution after fmi3Fatal".to_owned());
        }
        if judge.answer() > 1 {
            return std::ptr::null_mut();
        }
        let given = (environment, clock_update.unwrap(), lock.unwrap(), unlock.unwrap());
        let (state, read, states) = (State::Instantiated, Vec::new(), Vec::new());
        judge.instances.push(Instance { state, given, tasks: [NEVER; PARTITIONS], updates: 0, read, states });
        std::ptr::without_provenance_mut::<c_void>(judge.instances.len())
    })
}

// SAFETY (of calling it): nothing is behind the pointer.
unsafe extern "C" fn free(instance: RawInstance) {
    call(instance, Function::FreeInstance, 0, 0.0);
}

macro_rules! judged {
    ($name:ident: $Name:ident($($arg:ident: $type:ty),*) $clock:expr, $time:expr) => {{
        // SAFETY (of calling it): references and values are as many as said; the instance is not followed.
        unsafe extern "C" fn $name(i: RawInstance, $($arg: $type),*) -> RawStatus {
            call(i, Function::$Name, $clock, $time)
        }
        $name
    }};
}

// SAFETY (of calling it): there is room for a pointer.
unsafe extern "C" fn get_state(instance: RawInstance, state: *mut RawState) -> RawStatus {
    let answer = call(instance, Function::GetFMUState, 0, 0.0);
    if matches!(answer, 0 | 1) {
        let number = JUDGE.with_borrow_mut(|judge| {
            judge.states += 1;
            let instance = &mut judge.instances[instance.addr() - 1];
            instance.states.push((judge.states, instance.state));
            judge.states
        });
        // SAFETY: this function's contract.
        unsafe { *state = std::ptr::without_provenance_mut(number) };
    }
    answer
}

// SAFETY (of calling it): there is a pointer to read.
unsafe extern "C" fn free_state(instance: RawInstance, state: *mut RawState) -> RawStatus {
    // SAFETY: this function's contract.
    call(instance, Function::FreeFMUState, unsafe { *state }.addr() as u32, 0.0)
}

/// The first of the references.
fn first(references: *const u32, n: usize) -> u32 {
    // SAFETY: whoever calls an FMU has as many references as it says.
    if n > 0 { unsafe { *references } } else { 0 }
}

/// The stub's table.
pub fn functions() -> Functions {
    let own = Fmi3Functions {
        instantiate_scheduled_execution: instantiate,
        activate_model_partition: judged!(activate: ActivateModelPartition(clock: u32, time: f64) clock, time),
        get_clock: judged!(get_clock: GetClock(_r: *const u32, _n: usize, _v: *mut u8) 0, 0.0),
        get_interval_decimal: judged!(
            get_interval: GetIntervalDecimal(r: *const u32, n: usize, _v: *mut f64, _q: *mut i32) first(r, n), 0.0
        ),
        set_interval_decimal: judged!(
            set_interval: SetIntervalDecimal(r: *const u32, n: usize, _v: *const f64) first(r, n), 0.0
        ),
        get_shift_decimal: judged!(get_shift: GetShiftDecimal(r: *const u32, n: usize, _v: *mut f64) first(r, n), 0.0),
        set_shift_decimal: judged!(
            set_shift: SetShiftDecimal(r: *const u32, n: usize, _v: *const f64) first(r, n), 0.0
        ),
        ..Fmi3Functions::refusing()
    };
    Functions {
        free_instance: free,
        terminate: judged!(terminate: Terminate() 0, 0.0),
        enter_configuration_mode: judged!(enter_configuration: EnterConfigurationMode() 0, 0.0),
        exit_configuration_mode: judged!(exit_configuration: ExitConfigurationMode() 0, 0.0),
        enter_initialization_mode: judged!(
            enter_initialization: EnterInitializationMode(_t: u8, _v: f64, _s: f64, _d: u8, _e: f64) 0, 0.0
        ),
        exit_initialization_mode: judged!(exit_initialization: ExitInitializationMode() 0, 0.0),
        set_debug_logging: judged!(
            set_debug_logging: SetDebugLogging(_on: u8, n: usize, c: *const RawString) (n == 0 && !c.is_null()).into(), 0.0
        ),
        reset: judged!(reset: Reset() 0, 0.0),
        get_fmu_state: get_state,
        set_fmu_state: judged!(set_state: SetFMUState(state: RawState) state.addr() as u32, 0.0),
        free_fmu_state: free_state,
        set_float64: judged!(set: SetFloat64(r: *const u32, n: usize, _v: *const f64, _c: usize) first(r, n) / 100, 0.0),
        get_float64: judged!(get: GetFloat64(r: *const u32, n: usize, _v: *mut f64, _c: usize) first(r, n) / 100, 0.0),
        ..Functions::refusing(VersionFunctions::Fmi3(own))
    }
}

/// Reads clocks as an importer should.
pub fn read_clocks(update: &ClockUpdate) {
    let mut clocks = OutputClocks::new(&[(vecud_description::ValueReference(7), 1)]);
    if update.get_clocks(&mut clocks).is_ok() {
        let _ = update.get_interval_decimal(&[COUNTDOWN], &mut [0.0], &mut [0]);
    }
}
