//! The draft dialect: what its functions are given, and what its callback may do.

use super::stub::{CLOCK, Notes};
use crate::types::*;
use crate::*;
use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::Arc;
use vecud_description::{Abi, ValueReference};

/// What the stub was given.
#[derive(Clone, Copy)]
struct Given {
    environment: RawEnvironment,
    log: DraftLogMessage,
    update: DraftIntermediateUpdate,
}

impl Given {
    /// How a C FMU calls back, and what it finds in the last two arguments.
    fn update(self, time: f64, clocks_ticked: u8) -> (u8, f64) {
        let (mut requested, mut until) = (77, 77.0);
        // SAFETY: the environment is null or that of an instance whose library the test still holds; both pointers are to
        // live values.
        unsafe { (self.update)(self.environment, time, clocks_ticked, 1, 1, 1, 1, &mut requested, &mut until) };
        (requested, until)
    }
}

thread_local! {
    static GIVEN: Cell<Option<Given>> = const { Cell::new(None) };
    static ACTIVATED: RefCell<Vec<(u32, usize, f64)>> = const { RefCell::new(Vec::new()) };
    static TOLD: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
    static UPDATES: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
    static CLOCKS: RefCell<Option<(ClockUpdate, OutputClocks)>> = const { RefCell::new(None) };
    static DURING: Cell<fn(Given)> = const { Cell::new(|_| ()) };
}

// SAFETY (of calling it): of the pointers only the environment and the callbacks are kept, to be handed back.
unsafe extern "C" fn instantiate(
    _: RawString,
    _: RawString,
    _: RawString,
    _: RawBool,
    _: RawBool,
    _: *const RawReference,
    n: usize,
    environment: RawEnvironment,
    log: Option<DraftLogMessage>,
    update: Option<DraftIntermediateUpdate>,
    lock: Option<PreemptionCallback>,
    unlock: Option<PreemptionCallback>,
) -> RawInstance {
    assert!(n == 0 && lock.is_some() && unlock.is_some());
    GIVEN.set(Some(Given { environment, log: log.unwrap(), update: update.unwrap() }));
    ptr::dangling_mut()
}

// SAFETY (of calling it): looks at no pointer.
unsafe extern "C" fn activate(_: RawInstance, clock: u32, element: usize, time: f64) -> RawStatus {
    ACTIVATED.with_borrow_mut(|all| all.push((clock, element, time)));
    DURING.get()(GIVEN.get().unwrap());
    0
}

// SAFETY (of calling it): the caller has room for as many values as it says.
unsafe extern "C" fn get_clock(_: RawInstance, _: *const u32, n: usize, values: *mut i32, count: usize) -> RawStatus {
    assert_eq!((n, count), (2, 4));
    for (at, value) in [0, i32::MIN, 0, 256].into_iter().enumerate() {
        // SAFETY: room for four values.
        unsafe { values.add(at).write(value) };
    }
    0
}

// SAFETY (of calling it): the caller has as many values as it says.
unsafe extern "C" fn set_fraction(
    _: RawInstance,
    _: *const u32,
    n: usize,
    counters: *const u64,
    resolutions: *const u64,
    count: usize,
) -> RawStatus {
    assert_eq!(n, 1);
    for at in 0..count {
        // SAFETY: as many values as said.
        let (counter, resolution) = unsafe { (*counters.add(at), *resolutions.add(at)) };
        TOLD.with_borrow_mut(|told| told.push(counter as f64 / resolution as f64));
    }
    0
}

// SAFETY (of calling it): looks at no pointer.
unsafe extern "C" fn enter(_: RawInstance, _: u8, _: f64, _: f64, _: u8, _: f64) -> RawStatus {
    0
}
// SAFETY (of calling it): looks at no pointer.
unsafe extern "C" fn plain(_: RawInstance) -> RawStatus {
    0
}
// SAFETY (of calling it): looks at no pointer.
unsafe extern "C" fn free(_: RawInstance) {}

struct Thread;
static THREAD: Thread = Thread;
impl ThreadHost for Thread {
    fn clock_update(&self, time: Option<f64>) {
        UPDATES.with_borrow_mut(|all| all.push(time.expect("the draft says when")));
        CLOCKS.with_borrow_mut(|clocks| {
            if let Some((update, clocks)) = clocks {
                update.get_clocks(clocks).unwrap();
            }
        });
    }
    fn lock_preemption(&self) {}
    fn unlock_preemption(&self) {}
    fn warned(&self, _: Function) {}
}

fn library() -> Arc<Library> {
    let own = DraftFunctions {
        instantiate_scheduled_execution: instantiate,
        activate_model_partition: activate,
        get_clock,
        set_interval_fraction: set_fraction,
        ..DraftFunctions::refusing()
    };
    let functions = Functions {
        enter_initialization_mode: enter,
        exit_initialization_mode: plain,
        terminate: plain,
        free_instance: free,
        ..Functions::refusing(VersionFunctions::Draft(own))
    };
    assert_eq!(functions.abi(), Abi::Draft);
    Arc::new(Library::from_functions(functions))
}

fn instance(notes: &Arc<Notes>) -> Instance<Instantiated> {
    library().instantiate_scheduled_execution("stub", "", Some("file:///r"), true, notes.clone()).unwrap()
}

fn running(clocks: &[ClockElement]) -> (InstanceControl, Vec<Partition>, Arc<Notes>) {
    let notes = Arc::default();
    let instance = instance(&notes).enter_initialization_mode(0.0, None, None).unwrap();
    set_thread_host(Some(&THREAD));
    let (control, partitions) = instance.exit_initialization_mode().unwrap().into_parts(clocks);
    (control, partitions, notes)
}

#[test]
fn each_element_of_a_clock_is_a_partition_of_its_own() {
    let elements = [1, 2].map(|element| ClockElement { clock: CLOCK, element });
    let (_control, mut partitions, _) = running(&elements);
    for partition in &mut partitions {
        partition.begin().activate(0.5).unwrap();
    }
    assert_eq!(ACTIVATED.take(), [(CLOCK.0, 1, 0.5), (CLOCK.0, 2, 0.5)]);
}

#[test]
#[should_panic(expected = "one for each element")]
fn one_element_is_not_two_partitions() {
    let twice = [ClockElement { clock: CLOCK, element: 1 }; 2];
    let _ = running(&twice);
}

#[test]
fn a_callback_reads_the_elements_of_array_clocks_as_any_integer_but_0() {
    let (control, mut partitions, notes) = running(&[CLOCK.into()]);
    let clocks = OutputClocks::new(&[(ValueReference(7), 1), (ValueReference(8), 3)]);
    CLOCKS.set(Some((control.clock_update(), clocks)));
    DURING.set(|given| assert_eq!(given.update(0.25, 128), (0, 0.0), "no early return"));
    partitions[0].begin().activate(0.5).unwrap();
    assert_eq!(UPDATES.take(), [0.25]);
    assert_eq!(CLOCKS.take().unwrap().1.active(), [0, 1, 0, 1]);
    assert_eq!(*notes.foreign.lock().unwrap(), []);
}

#[test]
fn a_callback_without_ticked_clocks_does_nothing_but_answer() {
    let (_control, mut partitions, notes) = running(&[CLOCK.into()]);
    DURING.set(|given| assert_eq!(given.update(0.25, 0), (0, 0.0)));
    partitions[0].begin().activate(0.5).unwrap();
    assert_eq!(UPDATES.take(), [0.0; 0]);
    assert_eq!(GIVEN.get().unwrap().update(0.0, 0), (0, 0.0), "not even from outside of a call");
    assert_eq!(*notes.foreign.lock().unwrap(), []);
}

#[test]
fn null_is_survived_and_a_callback_from_elsewhere_refused() {
    let (_control, _partitions, notes) = running(&[CLOCK.into()]);
    let given = GIVEN.get().unwrap();
    let before = foreign_calls();
    // SAFETY: null is what this is about.
    unsafe { (given.update)(ptr::null_mut(), 0.0, 1, 0, 0, 0, 0, ptr::null_mut(), ptr::null_mut()) };
    assert!(foreign_calls() > before);
    assert_eq!(given.update(0.0, 1), (0, 0.0));
    assert_eq!(*notes.foreign.lock().unwrap(), [ForeignCall::ClockUpdateOutsideCall]);
    // SAFETY: the texts live long enough, the name is null.
    unsafe { (given.log)(given.environment, ptr::null(), 1, c"logEvents".as_ptr(), c"five".as_ptr()) };
    let logged = (Status::Warning, Some("logEvents".to_owned()), "five".to_owned());
    assert_eq!(*notes.logged.lock().unwrap(), [logged]);
}

#[test]
fn intervals_are_set_in_instantiated_and_what_is_released_only_is_refused_without_harm() {
    let notes = Arc::default();
    let instance = instance(&notes);
    let fraction = |counter, resolution| Interval::Fraction { counter, resolution };
    let set = instance.set_draft_intervals(CLOCK, &[fraction(1, 100), fraction(1, 50)]);
    assert_eq!((set, TOLD.take()), (Ok(Outcome::Ok), vec![0.01, 0.02]));
    assert!(instance.set_draft_intervals(CLOCK, &[fraction(1, 100), Interval::Decimal(0.1)]).unwrap_err().refused);
    let instance = instance.enter_initialization_mode(0.0, None, None).unwrap();
    assert!(instance.set_interval(CLOCK, Interval::Decimal(0.1)).unwrap_err().refused);
    assert!(instance.get_interval(CLOCK, true).unwrap_err().refused);
    assert!(instance.get_shift(CLOCK, false).unwrap_err().refused);
    assert_eq!(instance.health(), Health::Healthy);
    // And the other way round.
    let released = super::stub::instance().0;
    assert!(released.set_draft_intervals(CLOCK, &[Interval::Decimal(0.1)]).unwrap_err().refused);
    assert_eq!(super::stub::calls(), []);
}
