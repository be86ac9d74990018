//! A stub FMU for Model Exchange in each of the four C interfaces, which judges its importer: it knows which calls FMI 3.0 (2.3, 3.2), its
//! draft, FMI 2.0 (3.2.3) and FMI 1.0 allow in which state, notes every other one, and answers as told, or at random. It lives in
//! thread-locals, so each test has its own.

use crate::types::*;
use crate::*;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_int;
use vecud_description::Abi;

/// States of an instance, as the standards have them. FMI 1.0 has no modes: initialised, it is in Continuous-Time Mode here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    Instantiated,
    Configuration,
    Reconfiguration,
    Initialization,
    Event,
    ContinuousTime,
    Terminated,
    /// After Error.
    Failed,
    Freed,
}

struct Instance {
    state: State,
    /// `fmi2SetupExperiment`, or `fmiSetTime` before `fmiInitialize`, was called.
    is_set_up: bool,
    /// States that were saved and not freed: the number of each, and the mode that the instance was in.
    states: Vec<(usize, State)>,
}

/// What the stub says of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Event {
    pub needs_update: bool,
    pub terminate: bool,
    pub nominals_changed: bool,
    pub values_changed: bool,
    pub next_time: Option<f64>,
}

/// The judge's knowledge of all instances of the FMU.
pub struct Judge {
    abi: Abi,
    instances: Vec<Instance>,
    fatal: bool,
    /// FMU states made so far.
    states: usize,
    random: u64,
    /// One in so many calls goes wrong; 0: none.
    failing: u64,
    answers: HashMap<Function, RawStatus>,
    /// What it says of events; `None`: anything.
    event: Option<Event>,
    /// What was called since somebody asked.
    calls: Vec<String>,
    /// What the importer did wrong.
    pub broken: Vec<String>,
    /// How often each function was called in each state.
    pub counts: HashMap<(Function, State), u64>,
    pub failures: u64,
    pub fatals: u64,
}

/// How many continuous states and event indicators the stub has.
pub const NUMBERS: Numbers = Numbers { states: 2, event_indicators: 3 };

/// The C interfaces that have Model Exchange.
pub const ALL: [Abi; 4] = [Abi::Fmi1, Abi::Fmi2, Abi::Fmi3, Abi::Draft];

thread_local! {
    static JUDGE: RefCell<Judge> = RefCell::new(Judge::new(Abi::Fmi3, 0, 0, None));
}

impl Judge {
    fn new(abi: Abi, random: u64, failing: u64, event: Option<Event>) -> Judge {
        Judge {
            abi,
            instances: Vec::new(),
            fatal: false,
            states: 0,
            random,
            failing,
            answers: HashMap::new(),
            event,
            calls: Vec::new(),
            broken: Vec::new(),
            counts: HashMap::new(),
            failures: 0,
            fatals: 0,
        }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % bound
    }

    /// 0 to 4, seldom something that is no status.
    fn answer(&mut self, function: Function) -> RawStatus {
        if let Some(told) = self.answers.get(&function) {
            return *told;
        }
        if self.failing == 0 || self.below(self.failing) > 0 {
            return 0;
        }
        let status = [1, 1, 1, 2, 2, 2, 3, 3, 77, -1, RawStatus::MIN, 4][self.below(12) as usize];
        self.failures += u64::from(status != 1);
        self.fatals += u64::from(status == 4);
        status
    }

    fn event(&mut self) -> Event {
        if let Some(event) = self.event {
            return event;
        }
        Event {
            needs_update: self.below(3) == 0,
            terminate: self.below(9) == 0,
            nominals_changed: self.below(2) == 0,
            values_changed: self.below(2) == 0,
            next_time: (self.below(2) == 0).then_some(1.0),
        }
    }
}

/// Starts over with an FMU of that interface that answers well, and wants nothing of events.
pub fn begin(abi: Abi) {
    JUDGE.set(Judge::new(abi, 0, 0, Some(Event::default())));
}

/// Starts over with one that answers at random, and goes wrong in one call of so many.
pub fn begin_at_random(abi: Abi, random: u64, failing: u64) {
    JUDGE.set(Judge::new(abi, random, failing, None));
}

/// Makes a function return this.
pub fn answer(function: Function, raw: RawStatus) {
    JUDGE.with_borrow_mut(|judge| judge.answers.insert(function, raw));
}

/// What the next events are like.
pub fn say(event: Event) {
    JUDGE.with_borrow_mut(|judge| judge.event = Some(event));
}

/// What was called since the last time.
pub fn calls() -> String {
    JUDGE.with_borrow_mut(|judge| std::mem::take(&mut judge.calls)).join(" ")
}

/// What has been found.
pub fn verdict() -> Judge {
    JUDGE.replace(Judge::new(Abi::Fmi3, 0, 0, None))
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

/// Whether `function` is allowed now, and in which state it leaves the instance if it succeeds. `state`: the number of an FMU state.
fn allowed(abi: Abi, instance: &mut Instance, function: Function, number: usize) -> Result<State, &'static str> {
    use Function as F;
    use State as S;
    let state = instance.state;
    let (is_fmi1, is_fmi2) = (abi == Abi::Fmi1, abi == Abi::Fmi2);
    match (function, state) {
        (F::FreeInstance, S::Freed) => Err("twice"),
        (F::FreeInstance, _) if !instance.states.is_empty() => Err("with states that were not freed"),
        (F::FreeInstance, _) => Ok(S::Freed),
        (_, S::Freed) => Err("after the end"),
        // These are what is left after an error, too.
        (F::Reset, _) => {
            instance.is_set_up = false;
            Ok(S::Instantiated)
        }
        (F::SetFMUState | F::FreeFMUState, _) => {
            let place = instance.states.iter().position(|(own, _)| *own == number);
            let place = place.ok_or("of a state that it does not have")?;
            match function {
                F::SetFMUState => Ok(instance.states[place].1),
                _ => {
                    instance.states.remove(place);
                    Ok(state)
                }
            }
        }
        (_, S::Failed) => Err("after an error"),
        (F::GetFMUState, S::Terminated) => Ok(state),
        (_, S::Terminated) => Err("after the end"),
        (F::SetDebugLogging | F::GetFMUState, _) => Ok(state),
        (F::EnterConfigurationMode, S::Instantiated) => Ok(S::Configuration),
        (F::EnterConfigurationMode, S::Event) => Ok(S::Reconfiguration),
        (F::ExitConfigurationMode, S::Configuration) => Ok(S::Instantiated),
        (F::ExitConfigurationMode, S::Reconfiguration) => Ok(S::Event),
        (F::SetupExperiment, S::Instantiated) => {
            instance.is_set_up = true;
            Ok(state)
        }
        (F::SetTime, S::Instantiated) if is_fmi1 => {
            instance.is_set_up = true;
            Ok(state)
        }
        (F::EnterInitializationMode, S::Instantiated) => match (abi, instance.is_set_up) {
            (Abi::Fmi1, true) => Ok(S::ContinuousTime),
            (Abi::Fmi2, true) | (Abi::Fmi3 | Abi::Draft, _) => Ok(S::Initialization),
            (Abi::Fmi1, false) => Err("without a time"),
            (Abi::Fmi2, false) => Err("without fmi2SetupExperiment"),
        },
        (F::ExitInitializationMode, S::Initialization) => Ok(S::Event),
        (F::SetFloat64, _) => Ok(state),
        (F::GetFloat64, S::Initialization | S::Event | S::ContinuousTime) => Ok(state),
        (F::GetFloat64, S::Instantiated) if !is_fmi1 && !is_fmi2 => Ok(state),
        (F::EnterEventMode, S::ContinuousTime) => Ok(S::Event),
        (F::EnterContinuousTimeMode, S::Event) => Ok(S::ContinuousTime),
        (F::UpdateDiscreteStates, S::Event) => Ok(state),
        (F::UpdateDiscreteStates | F::GetStateValueReferences, S::ContinuousTime) if is_fmi1 => Ok(state),
        (F::SetTime | F::SetContinuousStates | F::CompletedIntegratorStep, S::ContinuousTime) => Ok(state),
        (F::GetContinuousStateDerivatives, S::Event | S::ContinuousTime) => Ok(state),
        (F::GetEventIndicators, S::Event | S::ContinuousTime) => Ok(state),
        (F::GetContinuousStates | F::GetNominalsOfContinuousStates, S::Event | S::ContinuousTime) => Ok(state),
        (F::GetDirectionalDerivative, S::Initialization | S::Event | S::ContinuousTime) => Ok(state),
        (F::GetNumberOfContinuousStates | F::GetNumberOfEventIndicators, _) => Ok(state),
        (F::GetClock | F::SetClock | F::GetIntervalDecimal | F::GetIntervalFraction, S::Event) => Ok(state),
        (F::Terminate, S::Event | S::ContinuousTime) => Ok(S::Terminated),
        _ => Err("in this state"),
    }
}

/// Each function of the stub: judges the call, and answers.
fn call(raw: RawInstance, function: Function, number: usize, arguments: &str) -> RawStatus {
    let index = raw.addr() - 1;
    JUDGE.with_borrow_mut(|judge| {
        let abi = judge.abi;
        let instance = &mut judge.instances[index];
        let state = instance.state;
        *judge.counts.entry((function, state)).or_default() += 1;
        judge.calls.push(format!("{function:?}{arguments}"));
        let verdict = if judge.fatal { Err("after fmi3Fatal") } else { allowed(abi, instance, function, number) };
        if let Err(why) = verdict {
            judge.broken.push(format!("{function:?} of {abi:?}, instance {index}, {state:?}: {why}"));
        }
        let answer = if function == Function::FreeInstance { 0 } else { judge.answer(function) };
        let instance = &mut judge.instances[index];
        match answer {
            0 | 1 => instance.state = verdict.unwrap_or(state),
            // It is as it was before.
            2 => (),
            4 => judge.fatal = true,
            // What it logs is no part of what it computes.
            _ if function == Function::SetDebugLogging => {}
            _ => instance.state = State::Failed,
        }
        answer
    })
}

fn made() -> RawInstance {
    JUDGE.with_borrow_mut(|judge| {
        if judge.fatal {
            judge.broken.push("an instance is made after fmi3Fatal".to_owned());
        }
        if judge.answer(Function::InstantiateModelExchange) > 1 {
            return std::ptr::null_mut();
        }
        judge.instances.push(Instance { state: State::Instantiated, is_set_up: false, states: Vec::new() });
        std::ptr::without_provenance_mut(judge.instances.len())
    })
}

fn event() -> Event {
    JUDGE.with_borrow_mut(Judge::event)
}

/// Fills a vector with 1, 2, 3 and so on.
fn fill(values: *mut f64, n: usize) {
    for at in 0..n {
        // SAFETY: whoever calls an FMU has as much room as it says.
        unsafe { *values.add(at) = (at + 1) as f64 };
    }
}

fn vector(values: *const f64, n: usize) -> String {
    // SAFETY: whoever calls an FMU has as many values as it says.
    format!("{:?}", unsafe { std::slice::from_raw_parts(values, n) })
}

macro_rules! judged {
    ($name:ident: $Name:ident($($arg:ident: $type:ty),*) $note:expr $(, $body:block)?) => {{
        // SAFETY (of calling it): pointers reach as far as the numbers beside them say; the instance is not followed.
        unsafe extern "C" fn $name(i: RawInstance, $($arg: $type),*) -> RawStatus {
            $($body)?
            call(i, Function::$Name, 0, &$note)
        }
        $name
    }};
}

// SAFETY (of calling it): nothing is behind the pointer.
unsafe extern "C" fn free(instance: RawInstance) {
    call(instance, Function::FreeInstance, 0, "");
}

// SAFETY (of calling it): there is room for a pointer.
unsafe extern "C" fn get_state(instance: RawInstance, state: *mut RawState) -> RawStatus {
    // SAFETY: this function's contract.
    let before = unsafe { *state }.addr();
    let answer = call(instance, Function::GetFMUState, 0, "");
    if matches!(answer, 0 | 1) {
        let number = JUDGE.with_borrow_mut(|judge| {
            let own = &mut judge.instances[instance.addr() - 1];
            let now = own.state;
            if let Some(place) = own.states.iter_mut().find(|(number, _)| *number == before) {
                place.1 = now;
                return before;
            }
            judge.states += 1;
            own.states.push((judge.states, now));
            judge.states
        });
        // SAFETY: this function's contract.
        unsafe { *state = std::ptr::without_provenance_mut(number) };
    }
    answer
}

// SAFETY (of calling it): the state is not followed.
unsafe extern "C" fn set_state(instance: RawInstance, state: RawState) -> RawStatus {
    call(instance, Function::SetFMUState, state.addr(), "")
}

// SAFETY (of calling it): there is a pointer to read.
unsafe extern "C" fn free_state(instance: RawInstance, state: *mut RawState) -> RawStatus {
    // SAFETY: this function's contract.
    call(instance, Function::FreeFMUState, unsafe { *state }.addr(), "")
}

// SAFETY (of calling it): each place can be written to.
unsafe extern "C" fn update(
    instance: RawInstance,
    needs_update: *mut RawBool,
    terminate: *mut RawBool,
    nominals_changed: *mut RawBool,
    values_changed: *mut RawBool,
    next_defined: *mut RawBool,
    next: *mut f64,
) -> RawStatus {
    let event = event();
    // SAFETY: this function's contract. Whatever is not 0 is true.
    unsafe {
        (*needs_update, *terminate) = (128 * RawBool::from(event.needs_update), event.terminate.into());
        (*nominals_changed, *values_changed) = (event.nominals_changed.into(), event.values_changed.into());
        (*next_defined, *next) = (event.next_time.is_some().into(), event.next_time.unwrap_or(f64::NAN));
    }
    call(instance, Function::UpdateDiscreteStates, 0, "")
}

// SAFETY (of calling it): both places can be written to.
unsafe extern "C" fn completed(
    instance: RawInstance,
    no_set_before: RawBool,
    enter_event_mode: *mut RawBool,
    terminate: *mut RawBool,
) -> RawStatus {
    let event = event();
    // SAFETY: this function's contract.
    unsafe { (*enter_event_mode, *terminate) = (event.needs_update.into(), event.terminate.into()) };
    call(instance, Function::CompletedIntegratorStep, 0, &format!("({no_set_before})"))
}

/// What FMI 3.0 and the draft have alike.
fn common(own: VersionFunctions) -> Functions {
    Functions {
        free_instance: free,
        set_debug_logging: judged!(debug: SetDebugLogging(_on: u8, _n: usize, _c: *const RawString) ""),
        enter_configuration_mode: judged!(enter_configuration: EnterConfigurationMode() ""),
        exit_configuration_mode: judged!(exit_configuration: ExitConfigurationMode() ""),
        enter_initialization_mode: judged!(
            enter_initialization: EnterInitializationMode(_d: u8, _t: f64, _start: f64, _e: u8, _stop: f64) ""
        ),
        exit_initialization_mode: judged!(exit_initialization: ExitInitializationMode() ""),
        terminate: judged!(terminate: Terminate() ""),
        reset: judged!(reset: Reset() ""),
        get_fmu_state: get_state,
        set_fmu_state: set_state,
        free_fmu_state: free_state,
        set_float64: judged!(set: SetFloat64(_r: *const u32, _n: usize, v: *const f64, c: usize) vector(v, c)),
        get_float64: judged!(get: GetFloat64(_r: *const u32, _n: usize, v: *mut f64, c: usize) "", { fill(v, c) }),
        get_directional_derivative: judged!(
            directional: GetDirectionalDerivative(
                _u: *const u32, _nu: usize, _k: *const u32, _nk: usize, seed: *const f64, n: usize, s: *mut f64, m: usize
            ) vector(seed, n), { fill(s, m) }
        ),
        update_discrete_states: update,
        enter_continuous_time_mode: judged!(enter_continuous: EnterContinuousTimeMode() ""),
        completed_integrator_step: completed,
        set_time: judged!(set_time: SetTime(time: f64) format!("({time})")),
        set_continuous_states: judged!(set_states: SetContinuousStates(x: *const f64, n: usize) vector(x, n)),
        get_continuous_state_derivatives: judged!(
            derivatives: GetContinuousStateDerivatives(v: *mut f64, n: usize) format!("({n})"), { fill(v, n) }
        ),
        get_event_indicators: judged!(
            indicators: GetEventIndicators(v: *mut f64, n: usize) format!("({n})"), { fill(v, n) }
        ),
        get_continuous_states: judged!(
            states: GetContinuousStates(v: *mut f64, n: usize) format!("({n})"), { fill(v, n) }
        ),
        get_nominals_of_continuous_states: judged!(
            nominals: GetNominalsOfContinuousStates(v: *mut f64, n: usize) format!("({n})"), { fill(v, n) }
        ),
        get_number_of_continuous_states: judged!(number_of_states: GetNumberOfContinuousStates(n: *mut usize) "", {
            // SAFETY: whoever calls an FMU has a place for it.
            unsafe { *n = NUMBERS.states }
        }),
        get_number_of_event_indicators: judged!(number_of_indicators: GetNumberOfEventIndicators(n: *mut usize) "", {
            // SAFETY: whoever calls an FMU has a place for it.
            unsafe { *n = NUMBERS.event_indicators }
        }),
        ..Functions::refusing(own)
    }
}

fn fmi3() -> Functions {
    // SAFETY (of calling it): looks at no pointer.
    unsafe extern "C" fn instantiate(
        _: RawString,
        _: RawString,
        _: RawString,
        _: RawBool,
        _: RawBool,
        _: RawEnvironment,
        _: Option<LogMessage>,
    ) -> RawInstance {
        made()
    }
    common(VersionFunctions::Fmi3(Fmi3Functions {
        instantiate_model_exchange: instantiate,
        enter_event_mode: judged!(enter_event: EnterEventMode() ""),
        get_clock: judged!(get_clock: GetClock(_r: *const u32, n: usize, v: *mut RawBool) "", {
            // SAFETY: whoever calls an FMU has as much room as it says.
            (0..n).for_each(|at| unsafe { *v.add(at) = 1 });
        }),
        set_clock: judged!(set_clock: SetClock(_r: *const u32, n: usize, _v: *const RawBool) format!("({n})")),
        ..Fmi3Functions::refusing()
    }))
}

fn draft() -> Functions {
    // SAFETY (of calling it): looks at no pointer.
    unsafe extern "C" fn instantiate(
        _: RawString,
        _: RawString,
        _: RawString,
        _: RawBool,
        _: RawBool,
        _: RawEnvironment,
        _: Option<DraftLogMessage>,
    ) -> RawInstance {
        made()
    }
    // SAFETY (of calling it): as many roots as said, or null for none.
    unsafe extern "C" fn enter_event(
        instance: RawInstance,
        step_event: RawBool,
        roots: *const i32,
        n: usize,
        time_event: RawBool,
    ) -> RawStatus {
        // SAFETY: this function's contract.
        let roots = if roots.is_null() { &[][..] } else { unsafe { std::slice::from_raw_parts(roots, n) } };
        call(instance, Function::EnterEventMode, 0, &format!("({step_event},{roots:?},{time_event})"))
    }
    // SAFETY (of calling it): as many references and values as said, of subactive ones as many or null for none.
    unsafe extern "C" fn set_clock(
        instance: RawInstance,
        references: *const u32,
        n: usize,
        values: *const RawDraftClock,
        subactive: *const RawBool,
        n_values: usize,
    ) -> RawStatus {
        // SAFETY: this function's contract.
        let (references, values) =
            unsafe { (std::slice::from_raw_parts(references, n), std::slice::from_raw_parts(values, n_values)) };
        let which = if subactive.is_null() { "" } else { " subactive" };
        call(instance, Function::SetClock, 0, &format!("({references:?},{values:?}{which})"))
    }
    common(VersionFunctions::Draft(DraftFunctions {
        instantiate_model_exchange: instantiate,
        enter_event_mode: enter_event,
        set_clock,
        // Whatever is not 0 is active: all but the first.
        get_clock: judged!(get_clock_d: GetClock(_r: *const u32, _n: usize, v: *mut RawDraftClock, c: usize) "", {
            // SAFETY: whoever calls an FMU has as much room as it says.
            (0..c).for_each(|at| unsafe { *v.add(at) = (at as RawDraftClock) << 8 });
        }),
        get_interval_decimal: judged!(
            get_decimal_d: GetIntervalDecimal(_r: *const u32, n: usize, v: *mut f64, c: usize) format!("({n})"), { fill(v, c) }
        ),
        get_interval_fraction: judged!(
            get_fraction_d: GetIntervalFraction(_r: *const u32, n: usize, v: *mut u64, w: *mut u64, c: usize)
                format!("({n})"),
            {
                // SAFETY: whoever calls an FMU has as much room as it says.
                (0..c).for_each(|at| unsafe { (*v.add(at), *w.add(at)) = (at as u64 + 1, 1000) });
            }
        ),
        ..DraftFunctions::refusing()
    }))
}

fn fmi2() -> Functions {
    // SAFETY (of calling it): looks at no pointer.
    unsafe extern "C" fn instantiate(
        _: RawString,
        kind: c_int,
        _: RawString,
        _: RawString,
        _: *const Fmi2Callbacks,
        _: c_int,
        _: c_int,
    ) -> RawInstance {
        assert_eq!(kind, 0, "fmi2ModelExchange");
        made()
    }
    // SAFETY (of calling it): the place can be written to.
    unsafe extern "C" fn new_discrete_states(instance: RawInstance, info: *mut Fmi2EventInfo) -> RawStatus {
        let event = event();
        // SAFETY: this function's contract. Whatever is not 0 is true.
        unsafe {
            *info = Fmi2EventInfo {
                new_discrete_states_needed: c_int::from(event.needs_update) << 8,
                terminate_simulation: event.terminate.into(),
                nominals_of_continuous_states_changed: event.nominals_changed.into(),
                values_of_continuous_states_changed: event.values_changed.into(),
                next_event_time_defined: event.next_time.is_some().into(),
                next_event_time: event.next_time.unwrap_or(f64::NAN),
            }
        };
        call(instance, Function::UpdateDiscreteStates, 0, "")
    }
    // SAFETY (of calling it): both places can be written to.
    unsafe extern "C" fn completed(
        instance: RawInstance,
        no_set_before: c_int,
        enter_event_mode: *mut c_int,
        terminate: *mut c_int,
    ) -> RawStatus {
        let event = event();
        // SAFETY: this function's contract.
        unsafe { (*enter_event_mode, *terminate) = (c_int::from(event.needs_update) << 8, event.terminate.into()) };
        call(instance, Function::CompletedIntegratorStep, 0, &format!("({no_set_before})"))
    }
    let same = common(VersionFunctions::Fmi3(Fmi3Functions::refusing()));
    Fmi2Functions {
        instantiate,
        free_instance: same.free_instance,
        set_debug_logging: judged!(debug2: SetDebugLogging(_on: c_int, _n: usize, _c: *const RawString) ""),
        setup_experiment: judged!(set_up: SetupExperiment(_d: c_int, _t: f64, _s: f64, _e: c_int, _stop: f64) ""),
        enter_initialization_mode: judged!(enter_initialization2: EnterInitializationMode() ""),
        exit_initialization_mode: same.exit_initialization_mode,
        terminate: same.terminate,
        reset: same.reset,
        get_fmu_state: get_state,
        set_fmu_state: set_state,
        free_fmu_state: free_state,
        set_real: judged!(set2: SetFloat64(_r: *const u32, n: usize, v: *const f64) vector(v, n)),
        get_real: judged!(get2: GetFloat64(_r: *const u32, n: usize, v: *mut f64) "", { fill(v, n) }),
        get_directional_derivative: judged!(
            directional2: GetDirectionalDerivative(
                _u: *const u32, n_unknowns: usize, _k: *const u32, n_knowns: usize, seed: *const f64, s: *mut f64
            ) vector(seed, n_knowns), { fill(s, n_unknowns) }
        ),
        enter_event_mode: judged!(enter_event2: EnterEventMode() ""),
        new_discrete_states,
        enter_continuous_time_mode: same.enter_continuous_time_mode,
        completed_integrator_step: completed,
        set_time: same.set_time,
        set_continuous_states: same.set_continuous_states,
        get_derivatives: same.get_continuous_state_derivatives,
        get_event_indicators: same.get_event_indicators,
        get_continuous_states: same.get_continuous_states,
        get_nominals_of_continuous_states: same.get_nominals_of_continuous_states,
        ..Fmi2Functions::refusing()
    }
    .into()
}

fn fmi1() -> Functions {
    // SAFETY (of calling it): looks at no pointer.
    unsafe extern "C" fn instantiate(_: RawString, _: RawString, _: Fmi1ModelCallbacks, _: RawBool) -> RawInstance {
        made()
    }
    fn write(info: *mut Fmi1EventInfo) {
        let event = event();
        let info_of_event = Fmi1EventInfo {
            iteration_converged: (!event.needs_update).into(),
            state_value_references_changed: event.nominals_changed.into(),
            state_values_changed: event.values_changed.into(),
            terminate_simulation: event.terminate.into(),
            upcoming_time_event: event.next_time.is_some().into(),
            next_event_time: event.next_time.unwrap_or(f64::NAN),
        };
        // SAFETY: whoever calls an FMU has a place for it.
        unsafe { *info = info_of_event };
    }
    let same = common(VersionFunctions::Fmi3(Fmi3Functions::refusing()));
    Fmi1Functions {
        instantiate_model: instantiate,
        free_model_instance: same.free_instance,
        set_debug_logging: judged!(debug1: SetDebugLogging(_on: RawBool) ""),
        initialize: judged!(initialize: EnterInitializationMode(_c: u8, _t: f64, info: *mut Fmi1EventInfo) "", {
            write(info)
        }),
        terminate: same.terminate,
        set_real: judged!(set1: SetFloat64(_r: *const u32, n: usize, v: *const f64) vector(v, n)),
        get_real: judged!(get1: GetFloat64(_r: *const u32, n: usize, v: *mut f64) "", { fill(v, n) }),
        event_update: judged!(
            event_update: UpdateDiscreteStates(intermediate: u8, info: *mut Fmi1EventInfo) format!("({intermediate})"), {
                write(info)
            }
        ),
        completed_integrator_step: judged!(completed1: CompletedIntegratorStep(call_event_update: *mut u8) "", {
            // SAFETY: whoever calls an FMU has a place for it.
            unsafe { *call_event_update = event().needs_update.into() }
        }),
        set_time: same.set_time,
        set_continuous_states: same.set_continuous_states,
        get_derivatives: same.get_continuous_state_derivatives,
        get_event_indicators: same.get_event_indicators,
        get_continuous_states: same.get_continuous_states,
        get_nominal_continuous_states: same.get_nominals_of_continuous_states,
        get_state_value_references: judged!(references: GetStateValueReferences(r: *mut u32, n: usize) format!("({n})"), {
            // SAFETY: whoever calls an FMU has as much room as it says.
            (0..n).for_each(|at| unsafe { *r.add(at) = 7 + at as u32 });
        }),
        ..Fmi1Functions::refusing()
    }
    .into()
}

/// The stub's table in the C interface that it began with.
pub fn functions() -> Functions {
    match JUDGE.with_borrow(|judge| judge.abi) {
        Abi::Fmi1 => fmi1(),
        Abi::Fmi2 => fmi2(),
        Abi::Fmi3 => fmi3(),
        Abi::Draft => draft(),
    }
}
