//! A stub FMU that notes every call and answers as told. It lives in thread-locals, so each test has its own.

use crate::types::*;
use crate::values::for_each_number;
use crate::*;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::{CStr, c_void};
use std::sync::{Arc, Mutex};
use vecud_description::ValueReference;

/// What the stub was given when it was instantiated.
#[derive(Clone, Copy)]
pub struct Given {
    pub environment: RawEnvironment,
    pub log: LogMessage,
    pub clock_update: ClockUpdateCallback,
    pub lock: PreemptionCallback,
    pub unlock: PreemptionCallback,
}

/// How a C FMU would call back. That each of these is safe to call with anything is what the tests are about.
impl Given {
    pub fn log(self, status: i32, category: Option<&CStr>, message: Option<&CStr>) {
        let raw = |text: Option<&CStr>| text.map_or(std::ptr::null(), CStr::as_ptr);
        // SAFETY: the environment is null or that of an instance whose library the test still holds; the strings are null
        // or live until the call returns.
        unsafe { (self.log)(self.environment, status, raw(category), raw(message)) }
    }
    pub fn update_clocks(self) {
        // SAFETY: as above.
        unsafe { (self.clock_update)(self.environment) }
    }
    pub fn lock_and_unlock(self) {
        // SAFETY: has no arguments and may be called from anywhere.
        unsafe { (self.lock)() };
        // SAFETY: as above.
        unsafe { (self.unlock)() };
    }
    /// As an FMU that forgot its environment.
    pub fn without_environment(self) -> Given {
        Given { environment: std::ptr::null_mut(), ..self }
    }
}

// SAFETY: the environment is handed to C, which may call back on any thread; the callbacks are made for that.
unsafe impl Send for Given {}

/// The values of a set call, as bytes zero-extended to words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SetCall {
    pub references: Vec<u32>,
    pub words: Vec<u64>,
}

thread_local! {
    static CALLS: RefCell<Vec<Function>> = const { RefCell::new(Vec::new()) };
    static ANSWERS: RefCell<HashMap<Function, i32>> = RefCell::default();
    static GIVEN: Cell<Option<Given>> = const { Cell::new(None) };
    static DURING: RefCell<HashMap<Function, fn(Given)>> = RefCell::default();
    static LAST_SET: RefCell<SetCall> = RefCell::default();
    static NEXT_GET: RefCell<Vec<u64>> = RefCell::default();
    /// Addresses of states: how many were handed out, and those that were not freed.
    static STATES: RefCell<(usize, Vec<usize>)> = RefCell::default();
    static STATE_SIZE: Cell<usize> = const { Cell::new(STATE_BYTES.len()) };
    static NO_STATES: Cell<bool> = const { Cell::new(false) };
    static LAST_BYTES: RefCell<Vec<u8>> = RefCell::default();
    static LAST_CATEGORIES: RefCell<Option<Vec<String>>> = RefCell::default();
}

/// What every state is as bytes.
pub const STATE_BYTES: &[u8] = b"state";

/// How many states were made, and how many of them were not freed.
pub fn states() -> (usize, usize) {
    STATES.with_borrow(|(made, live)| (*made, live.len()))
}
/// The size of a state is said to be this.
pub fn state_size(size: usize) {
    STATE_SIZE.set(size);
}
/// `fmi3GetFMUState` hands out NULL.
pub fn no_states() {
    NO_STATES.set(true);
}
/// What was deserialised last.
pub fn last_bytes() -> Vec<u8> {
    LAST_BYTES.take()
}
/// The categories of the last `fmi3SetDebugLogging`; `None`: its pointer was null.
pub fn last_categories() -> Option<Vec<String>> {
    LAST_CATEGORIES.take()
}

/// # Safety
/// `state` can be written.
unsafe fn new_state(state: *mut RawState) {
    // SAFETY: this function's contract.
    assert!(unsafe { *state }.is_null(), "new memory is asked for");
    if NO_STATES.get() {
        return;
    }
    let address = STATES.with_borrow_mut(|(made, live)| {
        *made += 1;
        live.push(*made);
        *made
    });
    // SAFETY: this function's contract.
    unsafe { *state = std::ptr::without_provenance_mut(address) };
}

fn is_state(state: RawState) {
    STATES.with_borrow(|(_, live)| assert!(live.contains(&state.addr()), "a state that was freed, or never was one"));
}

/// What was called since the last time.
pub fn calls() -> Vec<Function> {
    CALLS.take()
}
/// Makes a function return this.
pub fn answer(function: Function, raw: i32) {
    ANSWERS.with_borrow_mut(|a| a.insert(function, raw));
}
/// Makes a function do this.
pub fn during(function: Function, act: fn(Given)) {
    DURING.with_borrow_mut(|d| d.insert(function, act));
}
/// What was set last.
pub fn last_set() -> SetCall {
    LAST_SET.take()
}
/// What the next get call finds: bytes, zero-extended.
pub fn next_get(words: &[u64]) {
    NEXT_GET.set(words.to_vec());
}
/// What the stub was given when it was instantiated.
pub fn given() -> Given {
    GIVEN.get().expect("the stub was instantiated")
}

/// Notes a call, for functions that a test brings along.
pub fn noted(function: Function) -> RawStatus {
    called(function)
}

fn called(function: Function) -> RawStatus {
    CALLS.with_borrow_mut(|c| c.push(function));
    if let Some(act) = DURING.with_borrow(|d| d.get(&function).copied()) {
        act(given());
    }
    ANSWERS.with_borrow(|a| a.get(&function).copied().unwrap_or(0))
}

// SAFETY (of calling it): none of the pointers is followed; they are only kept to be handed back.
unsafe extern "C" fn instantiate(
    _: RawString,
    _: RawString,
    _: RawString,
    _: RawBool,
    _: RawBool,
    environment: RawEnvironment,
    log: Option<LogMessage>,
    clock_update: Option<ClockUpdateCallback>,
    lock: Option<PreemptionCallback>,
    unlock: Option<PreemptionCallback>,
) -> RawInstance {
    let (log, clock_update) = (log.unwrap(), clock_update.unwrap());
    GIVEN.set(Some(Given { environment, log, clock_update, lock: lock.unwrap(), unlock: unlock.unwrap() }));
    match called(Function::InstantiateScheduledExecution) {
        0 => std::ptr::dangling_mut::<c_void>(),
        _ => std::ptr::null_mut(),
    }
}

// SAFETY (of calling it): nothing is behind the pointer, and nothing is freed.
unsafe extern "C" fn free(_: RawInstance) {
    called(Function::FreeInstance);
}

// SAFETY (of calling it): the caller has room for n values, as `fmi3GetClock` demands.
unsafe extern "C" fn get_clock(_: RawInstance, _: *const u32, n: usize, values: *mut u8) -> RawStatus {
    for (at, &word) in NEXT_GET.take().iter().enumerate().take(n) {
        // SAFETY: room for n values.
        unsafe { *values.add(at) = word as u8 };
    }
    called(Function::GetClock)
}

// SAFETY (of calling it): the caller has room for n values of each kind, as `fmi3GetIntervalDecimal` demands.
unsafe extern "C" fn get_interval(
    _: RawInstance,
    _: *const u32,
    n: usize,
    intervals: *mut f64,
    qualifiers: *mut i32,
) -> RawStatus {
    for (at, &word) in NEXT_GET.take().iter().enumerate().take(n) {
        // SAFETY: room for n of each.
        unsafe { (*intervals.add(at), *qualifiers.add(at)) = (0.25, word as i32) };
    }
    called(Function::GetIntervalDecimal)
}

/// # Safety
/// `n` references and `values` values of type `T` (plain bytes) can be read.
unsafe fn note_set<T: Copy>(references: *const u32, n: usize, values: *const T, count: usize) {
    // SAFETY: this function's contract.
    let (references, values) =
        unsafe { (std::slice::from_raw_parts(references, n), std::slice::from_raw_parts(values, count)) };
    let words = values.iter().map(|value| {
        let mut word = 0u64;
        // SAFETY: `T` is plain and at most eight bytes; little-endian, as all platforms of these tests.
        unsafe {
            std::ptr::copy_nonoverlapping((&raw const *value).cast::<u8>(), (&raw mut word).cast(), size_of::<T>())
        };
        word
    });
    LAST_SET.set(SetCall { references: references.to_vec(), words: words.collect() });
}

/// # Safety
/// `count` values of type `T` (plain bytes) can be written.
unsafe fn give<T: Copy>(values: *mut T, count: usize) {
    let next = NEXT_GET.take();
    assert_eq!(next.len(), count, "the stub was asked for as many values as the test foresaw");
    for (at, word) in next.iter().enumerate() {
        // SAFETY: this function's contract; `T` is plain and at most eight bytes.
        unsafe {
            std::ptr::copy_nonoverlapping((&raw const *word).cast::<u8>(), values.add(at).cast(), size_of::<T>());
        }
    }
}

macro_rules! stub_function {
    ($field:ident: $Name:ident($($arg:ident: $type:ty),*) $body:block) => {{
        // SAFETY (of calling it): the body says what it does with its arguments; the instance is not followed.
        unsafe extern "C" fn $field(_: RawInstance, $($arg: $type),*) -> RawStatus {
            $body
            called(Function::$Name)
        }
        $field
    }};
}

pub fn functions() -> Functions {
    macro_rules! with_numbers {
        (() $($variant:ident $type:ident $get:ident $Get:ident $set:ident $Set:ident;)*) => {
            Functions {
                $($get: stub_function!($get: $Get(_r: *const u32, _n: usize, v: *mut $type, c: usize) {
                    // SAFETY: called by the code under test with room for that many.
                    unsafe { give(v, c) }
                }),
                $set: stub_function!($set: $Set(r: *const u32, n: usize, v: *const $type, c: usize) {
                    // SAFETY: called by the code under test with that many.
                    unsafe { note_set(r, n, v, c) }
                }),)*
                get_boolean: stub_function!(get_boolean: GetBoolean(_r: *const u32, _n: usize, v: *mut u8, c: usize) {
                    // SAFETY: as above.
                    unsafe { give(v, c) }
                }),
                set_boolean: stub_function!(set_boolean: SetBoolean(r: *const u32, n: usize, v: *const u8, c: usize) {
                    // SAFETY: as above.
                    unsafe { note_set(r, n, v, c) }
                }),
                own: VersionFunctions::Fmi3(Fmi3Functions {
                    instantiate_scheduled_execution: instantiate,
                    activate_model_partition: stub_function!(activate: ActivateModelPartition(_c: u32, _t: f64) {}),
                    get_clock,
                    get_interval_decimal: get_interval,
                    ..Fmi3Functions::refusing()
                }),
                free_instance: free,
                terminate: stub_function!(terminate: Terminate() {}),
                reset: stub_function!(reset: Reset() {}),
                get_fmu_state: stub_function!(get_state: GetFMUState(state: *mut RawState) {
                    // SAFETY: called by the code under test with a place for it.
                    unsafe { new_state(state) }
                }),
                set_fmu_state: stub_function!(set_state: SetFMUState(state: RawState) { is_state(state) }),
                free_fmu_state: stub_function!(free_state: FreeFMUState(state: *mut RawState) {
                    // SAFETY: called by the code under test with a state.
                    let state = unsafe { &mut *state };
                    is_state(*state);
                    STATES.with_borrow_mut(|(_, live)| live.retain(|one| *one != state.addr()));
                    *state = std::ptr::null_mut();
                }),
                serialized_fmu_state_size: stub_function!(
                    state_size: SerializedFMUStateSize(state: RawState, size: *mut usize) {
                        is_state(state);
                        // SAFETY: called by the code under test with a place for it.
                        unsafe { *size = STATE_SIZE.get() }
                    }
                ),
                serialize_fmu_state: stub_function!(
                    serialize: SerializeFMUState(state: RawState, bytes: *mut u8, size: usize) {
                        is_state(state);
                        assert_eq!(size, STATE_BYTES.len());
                        // SAFETY: called by the code under test with room for that many.
                        unsafe { std::ptr::copy_nonoverlapping(STATE_BYTES.as_ptr(), bytes, size) }
                    }
                ),
                deserialize_fmu_state: stub_function!(
                    deserialize: DeserializeFMUState(bytes: *const u8, size: usize, state: *mut RawState) {
                        // SAFETY: called by the code under test with that many, and a place for the state.
                        unsafe {
                            LAST_BYTES.set(std::slice::from_raw_parts(bytes, size).to_vec());
                            new_state(state);
                        }
                    }
                ),
                enter_configuration_mode: stub_function!(enter_configuration: EnterConfigurationMode() {}),
                exit_configuration_mode: stub_function!(exit_configuration: ExitConfigurationMode() {}),
                enter_initialization_mode: stub_function!(
                    enter_initialization: EnterInitializationMode(_t: u8, _v: f64, _s: f64, _d: u8, _e: f64) {}
                ),
                exit_initialization_mode: stub_function!(exit_initialization: ExitInitializationMode() {}),
                set_debug_logging: stub_function!(
                    set_debug_logging: SetDebugLogging(_on: u8, n: usize, c: *const RawString) {
                        // SAFETY: called by the code under test with that many strings.
                        let text = |i| unsafe { CStr::from_ptr(*c.add(i)).to_str().unwrap().to_owned() };
                        LAST_CATEGORIES.set((!c.is_null()).then(|| (0..n).map(text).collect()));
                    }
                ),
                ..Functions::refusing(VersionFunctions::Fmi3(Fmi3Functions::refusing()))
            }
        };
    }
    for_each_number!(with_numbers!())
}

/// An instance host that keeps what it is told.
#[derive(Default)]
pub struct Notes {
    pub logged: Mutex<Vec<(Status, Option<String>, String)>>,
    pub foreign: Mutex<Vec<ForeignCall>>,
    /// Booleans that were none, and what they were.
    pub no_booleans: Mutex<Vec<(u32, i64)>>,
}

impl InstanceHost for Notes {
    fn log(&self, status: Status, category: Option<&[u8]>, message: &[u8]) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_ne!(message, b"panic", "asked to");
        self.logged.lock().unwrap().push((status, category.map(text), text(message)));
    }
    fn foreign_call(&self, what: ForeignCall) {
        self.foreign.lock().unwrap().push(what);
    }
    fn no_boolean(&self, reference: ValueReference, value: i64) {
        self.no_booleans.lock().unwrap().push((reference.0, value));
    }
}

pub const CLOCK: ValueReference = ValueReference(1001);

pub fn library() -> Arc<Library> {
    Arc::new(Library::from_functions(functions()))
}

pub fn instantiate_in(library: &Arc<Library>, notes: &Arc<Notes>) -> Result<Instance<Instantiated>, Failure> {
    library.instantiate_scheduled_execution("stub", "{token}", Some("/resources/"), true, notes.clone())
}

/// A fresh instance whose start is no longer among the calls.
pub fn instance() -> (Instance<Instantiated>, Arc<Notes>) {
    let notes = Arc::default();
    let instance = instantiate_in(&library(), &notes).unwrap();
    calls();
    (instance, notes)
}

/// A fresh instance in Clock Activation Mode.
pub fn running() -> (InstanceControl, Partition, Arc<Notes>) {
    running_with(functions())
}

/// The same with other functions.
pub fn running_with(functions: Functions) -> (InstanceControl, Partition, Arc<Notes>) {
    let notes = Arc::default();
    let instance = instantiate_in(&Arc::new(Library::from_functions(functions)), &notes).unwrap();
    let instance = instance.enter_initialization_mode(0.0, None, None).unwrap().exit_initialization_mode().unwrap();
    let (control, mut partitions) = instance.into_parts(&[CLOCK]);
    calls();
    (control, partitions.remove(0), notes)
}
