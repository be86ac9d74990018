//! What a partition does at each activation allocates nothing on our side of the boundary (design, S17).

use super::{Host, allocations};
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, OnceLock};
use vecud::ffi::types::*;
use vecud::ffi::{
    Batch, ClockUpdate, Fmi3Functions, Function, Functions, Library, OutputClocks, ThreadHost, VersionFunctions,
    set_thread_host,
};
use vecud::fmu::description::{ValueReference, VariableType};

thread_local! {
    static GIVEN: Cell<Option<(RawEnvironment, ClockUpdateCallback, PreemptionCallback, PreemptionCallback)>> =
        const { Cell::new(None) };
    static CLOCKS: RefCell<OutputClocks> = RefCell::new(OutputClocks::new(&[(ValueReference(7), 1), (ValueReference(8), 1)]));
}

extern "C" fn instantiate(
    _: RawString,
    _: RawString,
    _: RawString,
    _: RawBool,
    _: RawBool,
    environment: RawEnvironment,
    _: Option<LogMessage>,
    update: Option<ClockUpdateCallback>,
    lock: Option<PreemptionCallback>,
    unlock: Option<PreemptionCallback>,
) -> RawInstance {
    GIVEN.set(Some((environment, update.unwrap(), lock.unwrap(), unlock.unwrap())));
    ptr::dangling_mut::<c_void>()
}
extern "C" fn enter(_: RawInstance, _: u8, _: f64, _: f64, _: u8, _: f64) -> RawStatus {
    0
}
extern "C" fn plain(_: RawInstance) -> RawStatus {
    0
}
extern "C" fn activate(_: RawInstance, _: u32, _: f64) -> RawStatus {
    let (environment, update, lock, unlock) = GIVEN.get().unwrap();
    // SAFETY: what was given to this instance, called within a call to it.
    unsafe {
        lock();
        unlock();
        update(environment);
    }
    0
}
extern "C" fn set(_: RawInstance, _: *const u32, _: usize, _: *const f64, _: usize) -> RawStatus {
    0
}
// SAFETY: to be called with room for one value at least, as FMI has it.
unsafe extern "C" fn get(_: RawInstance, _: *const u32, _: usize, values: *mut u8, _: usize) -> RawStatus {
    // SAFETY: the caller's duty.
    unsafe { *values = 3 };
    0
}
extern "C" fn clocks(_: RawInstance, _: *const u32, _: usize, _: *mut u8) -> RawStatus {
    0
}

struct Thread(OnceLock<ClockUpdate>);
static THREAD: Thread = Thread(OnceLock::new());
impl ThreadHost for Thread {
    fn clock_update(&self, _: Option<f64>) {
        CLOCKS.with_borrow_mut(|clocks| self.0.get().unwrap().get_clocks(clocks).unwrap());
    }
    fn lock_preemption(&self) {}
    fn unlock_preemption(&self) {}
    fn warned(&self, _: Function) {}
}

#[test]
fn an_activation_allocates_nothing() {
    let own = Fmi3Functions {
        instantiate_scheduled_execution: instantiate,
        activate_model_partition: activate,
        get_clock: clocks,
        ..Fmi3Functions::refusing()
    };
    let functions = Functions {
        enter_initialization_mode: enter,
        exit_initialization_mode: plain,
        set_float64: set,
        get_boolean: get,
        ..Functions::refusing(VersionFunctions::Fmi3(own))
    };
    let library = Arc::new(Library::from_functions(functions));
    let instance = library.instantiate_scheduled_execution("i", "t", None, false, Arc::new(Host)).unwrap();
    let instance = instance.enter_initialization_mode(0.0, None, None).unwrap().exit_initialization_mode().unwrap();
    let (control, mut partitions) = instance.into_parts(&[ValueReference(1)]);
    assert!(THREAD.0.set(control.clock_update()).is_ok());
    set_thread_host(Some(&THREAD));
    let items = |n| (0..n).map(|i| (ValueReference(i), 2)).collect::<Vec<_>>();
    let mut inputs = Batch::awaiting(VariableType::Float64, items(64));
    let mut outputs = Batch::new(VariableType::Boolean, items(1));

    // A thread-local is made at its first use.
    CLOCKS.with_borrow(|clocks| assert!(!clocks.is_empty()));
    let started = std::time::Instant::now();
    let activations = 100_000u64;
    let count = allocations(|| {
        for n in 0..activations {
            inputs.enable((n as usize * 37) % 64);
            inputs.set_word(5, n);
            let mut setting = partitions[0].begin();
            setting.set(&inputs).unwrap();
            let mut getting = setting.activate(n as f64).unwrap();
            getting.get(&mut outputs).unwrap();
        }
    });
    let elapsed = started.elapsed();
    assert_eq!(count, 0);
    assert_eq!(outputs.word(0), 1);
    println!(
        "{} ns per set, activate (lock, unlock, clock update with fmi3GetClock), get",
        elapsed.as_nanos() as u64 / activations
    );
}
