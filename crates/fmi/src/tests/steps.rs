//! Steps of Co-Simulation, by tables filled by hand: what each C interface says of a step comes out as the same thing.

use super::stub::Notes;
use crate::types::*;
use crate::*;
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use vecud_description::{ValueReference, VariableType};

thread_local! {
    /// What the stub was asked for.
    static CALLS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// What the next step answers.
    static ANSWER: Cell<RawStatus> = const { Cell::new(0) };
    /// How many more looks find a step pending; then it has come to a status.
    static PENDING: Cell<(u32, RawStatus)> = const { Cell::new((0, 0)) };
    /// `fmi2Terminated`.
    static TERMINATED: Cell<bool> = const { Cell::new(false) };
}

fn note(call: String) {
    CALLS.with_borrow_mut(|calls| calls.push(call));
}

fn calls() -> String {
    CALLS.take().join(" ")
}

/// An instance of FMI 2.0 that is ready to step.
fn fmi2() -> (InstanceControl, Stepper) {
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
        assert_eq!(kind, 1, "fmi2CoSimulation");
        std::ptr::dangling_mut()
    }
    // SAFETY (of calling it): looks at no pointer.
    unsafe extern "C" fn set_up(_: RawInstance, _: c_int, _: f64, _: f64, _: c_int, _: f64) -> RawStatus {
        0
    }
    // SAFETY (of calling it): looks at no pointer.
    unsafe extern "C" fn fine(_: RawInstance) -> RawStatus {
        0
    }
    // SAFETY (of calling it): looks at no pointer.
    unsafe extern "C" fn cancel(_: RawInstance) -> RawStatus {
        note("cancel".into());
        0
    }
    // SAFETY (of calling it): looks at no pointer.
    unsafe extern "C" fn do_step(_: RawInstance, point: f64, size: f64, no_set: c_int) -> RawStatus {
        note(format!("step({point},{size},{no_set})"));
        ANSWER.get()
    }
    // SAFETY (of calling it): the place can be written to.
    unsafe extern "C" fn get_status(_: RawInstance, kind: c_int, status: *mut RawStatus) -> RawStatus {
        assert_eq!(kind, 0, "fmi2DoStepStatus");
        let (looks, end) = PENDING.get();
        PENDING.set((looks.saturating_sub(1), end));
        // SAFETY: this function's contract.
        unsafe { *status = if looks > 0 { 5 } else { end } };
        0
    }
    // SAFETY (of calling it): the place can be written to.
    unsafe extern "C" fn get_real_status(_: RawInstance, kind: c_int, value: *mut f64) -> RawStatus {
        assert_eq!(kind, 2, "fmi2LastSuccessfulTime");
        // SAFETY: this function's contract.
        unsafe { *value = 0.125 };
        0
    }
    // SAFETY (of calling it): the place can be written to.
    unsafe extern "C" fn get_boolean_status(_: RawInstance, kind: c_int, value: *mut c_int) -> RawStatus {
        assert_eq!(kind, 3, "fmi2Terminated");
        // SAFETY: this function's contract.
        unsafe { *value = TERMINATED.get().into() };
        0
    }
    // SAFETY (of calling it): there is room for the values of all references.
    unsafe extern "C" fn get_real(_: RawInstance, _: *const RawReference, n: usize, values: *mut f64) -> RawStatus {
        note(format!("get({n})"));
        // SAFETY: this function's contract.
        unsafe { std::slice::from_raw_parts_mut(values, n) }.fill(1.5);
        0
    }
    let table = Fmi2Functions {
        instantiate,
        setup_experiment: set_up,
        enter_initialization_mode: fine,
        exit_initialization_mode: fine,
        terminate: fine,
        do_step,
        cancel_step: cancel,
        get_status,
        get_real_status,
        get_boolean_status,
        get_real,
        ..Fmi2Functions::refusing()
    };
    let library = Arc::new(Library::from_functions(table.into()));
    let slave = MadeFor::CoSimulation(StepOptions::default());
    let instance = library.instantiate(&slave, "i", "", None, false, Arc::<Notes>::default()).unwrap();
    let instance = instance.enter_initialization_mode(0.0, None, None).unwrap();
    instance.exit_initialization_mode().unwrap().into_stepper()
}

/// Its outputs are read after a step, and the FMU is told that no earlier state will be set.
#[test]
fn a_step_that_goes_well_has_reached_its_end() {
    let (control, mut stepper) = fmi2();
    let mut outputs = Batch::new(VariableType::Float64, vec![(ValueReference(1), 1)]).all_enabled();
    let mut after = stepper.begin().step(0.5, 0.25).unwrap();
    let said =
        StepResult { reached: 0.75, early_return: false, event_handling_needed: false, terminate_simulation: false };
    assert_eq!((after.said(), after.outcome()), (said, Outcome::Ok));
    after.get(&mut outputs).unwrap();
    assert_eq!((f64::from_bits(outputs.word(0)), calls().as_str()), (1.5, "step(0.5,0.25,1) get(1)"));
    ANSWER.set(1);
    assert_eq!(stepper.begin().step(0.75, 0.25).unwrap().outcome(), Outcome::Warning);
    assert_eq!(control.terminate(vec![stepper]), Ok(Outcome::Ok));
}

/// FMI 2.0.5, 4.2.3: how far it came is asked for; the instance is as healthy as before.
#[test]
fn a_discarded_step_says_how_far_it_came() {
    let (_control, mut stepper) = fmi2();
    ANSWER.set(2);
    let discarded = stepper.begin().step(0.0, 0.25).err().unwrap();
    assert_eq!((discarded.failure.status, discarded.reached), (Status::Discard, 0.125));
    assert_eq!(stepper.health(), Health::Healthy);
    ANSWER.set(3);
    assert_eq!(stepper.begin().step(0.0, 0.25).err().unwrap().failure.status, Status::Error);
    assert_eq!(stepper.health(), Health::Failed);
    assert!(stepper.begin().step(0.0, 0.25).err().unwrap().failure.refused, "nothing is called after an Error");
}

/// FMI 2.0.5, `fmi2Terminated`: the simulation is to end at the time that was reached.
#[test]
fn a_discarded_step_of_an_fmu_that_wants_to_end_is_an_end() {
    let (_control, mut stepper) = fmi2();
    ANSWER.set(2);
    TERMINATED.set(true);
    let said = stepper.begin().step(0.0, 0.25).unwrap().said();
    assert!(said.terminate_simulation && said.early_return && said.reached == 0.125, "{said:?}");
}

/// FMI 2.0.5, `fmi2Pending`: waited for, and given up when it takes too long.
#[test]
fn a_pending_step_is_waited_for_and_given_up_in_the_end() {
    let (_control, mut stepper) = fmi2();
    ANSWER.set(5);
    PENDING.set((3, 0));
    assert_eq!(stepper.begin().step(0.0, 0.25).unwrap().said().reached, 0.25);
    PENDING.set((1, 3));
    assert_eq!(stepper.begin().step(0.25, 0.25).err().unwrap().failure.status, Status::Error);

    let (_control, stepper) = fmi2();
    let mut stepper = stepper.with_patience(Duration::from_millis(2));
    PENDING.set((u32::MAX, 0));
    calls();
    let given_up = stepper.begin().step(0.0, 0.25).err().unwrap();
    assert_eq!(given_up.failure.status, Status::Discard);
    assert_eq!(calls(), "step(0,0.25,1) cancel");
}

/// A status of a step that is none, and Pending from a function that cannot be pending, are errors.
#[test]
fn a_status_that_is_none_is_an_error() {
    let (_control, mut stepper) = fmi2();
    ANSWER.set(77);
    assert_eq!(stepper.begin().step(0.0, 0.25).err().unwrap().failure.status, Status::Error);
}

/// FMI 1.0, `newStep`: a step is made once more, shorter, whether it was discarded or the master has rejected it.
#[test]
fn a_step_of_fmi1_is_made_in_place_of_the_one_before() {
    // SAFETY (of calling it): looks at no pointer.
    unsafe extern "C" fn instantiate(
        _: RawString,
        _: RawString,
        _: RawString,
        _: RawString,
        _: f64,
        _: RawBool,
        _: RawBool,
        _: Fmi1SlaveCallbacks,
        _: RawBool,
    ) -> RawInstance {
        std::ptr::dangling_mut()
    }
    // SAFETY (of calling it): looks at no pointer.
    unsafe extern "C" fn initialize(_: RawInstance, _: f64, _: RawBool, _: f64) -> RawStatus {
        0
    }
    // SAFETY (of calling it): looks at no pointer.
    unsafe extern "C" fn do_step(_: RawInstance, point: f64, size: f64, new_step: RawBool) -> RawStatus {
        note(format!("step({point},{size},{new_step})"));
        ANSWER.get()
    }
    let table = Fmi1Functions {
        instantiate_slave: instantiate,
        initialize_slave: initialize,
        do_step,
        ..Fmi1Functions::refusing()
    };
    let library = Arc::new(Library::from_functions(table.into()));
    let slave = MadeFor::CoSimulation(StepOptions::default());
    let instance = library.instantiate(&slave, "i", "", None, false, Arc::<Notes>::default()).unwrap();
    let instance = instance.enter_initialization_mode(0.0, None, None).unwrap();
    let (_control, mut stepper) = instance.exit_initialization_mode().unwrap().into_stepper();
    assert_eq!(stepper.begin().step(0.0, 1.0).unwrap().said().reached, 1.0);
    assert_eq!(stepper.begin().step_instead(0.0, 0.5).unwrap().said().reached, 0.5);
    ANSWER.set(2);
    let discarded = stepper.begin().step(0.5, 1.0).err().unwrap();
    ANSWER.set(0);
    assert_eq!(discarded.again().step_instead(0.5, 0.25).unwrap().said().reached, 0.75);
    stepper.begin().step(0.75, 1.0).unwrap();
    assert_eq!(calls(), "step(0,1,1) step(0,0.5,0) step(0.5,1,1) step(0.5,0.25,0) step(0.75,1,1)");

    let (_control, mut fmi2) = fmi2();
    assert!(fmi2.begin().step_instead(0.0, 0.5).err().unwrap().failure.refused);
    assert_eq!((calls().as_str(), fmi2.health()), ("", Health::Healthy));
}

/// Serves the thread, and shows calls at a place of its own.
struct Host(CallIndicator);

// SAFETY: each is used on the thread that has made it.
unsafe impl Sync for Host {}

impl ThreadHost for Host {
    fn clock_update(&self, _: Option<f64>) {}
    fn lock_preemption(&self) {}
    fn unlock_preemption(&self) {}
    fn warned(&self, _: Function) {}
    fn shown(&'static self) -> Option<&'static CallIndicator> {
        Some(&self.0)
    }
}

/// A host with its counts; `tag` as in [`CallProbe`].
fn host(tag: u64) -> (&'static Host, &'static CallCounts) {
    let calls: &CallCounts = Box::leak(Box::new([const { AtomicU64::new(0) }; 128]));
    (Box::leak(Box::new(Host(CallIndicator::new(CallProbe { word: Box::leak(Box::default()), tag, calls })))), calls)
}

/// What a stepper makes of a step: its status, how far it came, whether it is the last one.
fn made(step: Result<AfterStep, NoStep>) -> (Result<Outcome, Status>, f64, bool) {
    match step {
        Ok(after) => (Ok(after.outcome()), after.said().reached, after.said().terminate_simulation),
        Err(no) => (Err(no.failure.status), no.reached, false),
    }
}

/// Whatever a step answers: by a batch stepper, settled where it is not regular, it calls, counts and comes to what it does by a stepper.
#[test]
fn steps_in_a_stride_are_those_of_a_stepper() {
    for (answer, pending, terminated) in [(1, (0, 0), false), (2, (0, 0), false), (2, (0, 0), true)]
        .into_iter()
        .chain([(3, (0, 0), false), (4, (0, 0), false), (5, (2, 0), false), (5, (1, 3), false), (77, (0, 0), false)])
    {
        let by = |strides: bool| {
            let (_control, mut stepper) = fmi2();
            let (host, counts) = host(0);
            set_thread_host(Some(host));
            calls();
            ANSWER.set(0);
            TERMINATED.set(terminated);
            let step = if strides {
                let (mut fast_path, mut batch) = (FastPath::begin(), stepper.batch_stepper(host).unwrap());
                assert_eq!(fast_path.step(&mut batch, 0.0, 0.25), Some(0.25));
                ANSWER.set(answer);
                PENDING.set(pending);
                assert_eq!(fast_path.step(&mut batch, 0.25, 0.25), None);
                let irregular = fast_path.irregular().unwrap();
                made(stepper.settle(irregular))
            } else {
                assert_eq!(made(stepper.begin().step(0.0, 0.25)), (Ok(Outcome::Ok), 0.25, false));
                ANSWER.set(answer);
                PENDING.set(pending);
                made(stepper.begin().step(0.25, 0.25))
            };
            let healthy = stepper.health() == Health::Healthy;
            assert_eq!(stepper.batch_stepper(host).is_some(), healthy, "who may not be called makes no steps");
            let counted: Vec<u64> = counts.iter().map(|count| count.load(Relaxed)).collect();
            set_thread_host(None);
            (step, calls(), counted, healthy)
        };
        assert_eq!(by(true), by(false), "answer {answer}");
    }
}

/// Where several threads count, a batch stepper would lose counts.
#[test]
fn no_stride_where_the_place_of_counts_is_shared() {
    let (_control, mut stepper) = fmi2();
    let (shared, _) = host(1 << 32);
    assert!(stepper.batch_stepper(shared).is_none());
}
