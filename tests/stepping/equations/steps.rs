//! `rejecting`, `predicting` and `legacy`: the three classes that masters of FMUs for Co-Simulation tell apart, and their lies.

use crate::equations::importer::{ERROR, OK, folder, log, messages};
use libloading::Library;
use std::ffi::{CString, c_char, c_void};
use std::path::Path;
use vecud::fmu::archive::{Cache, Unpacked};
use vecud::fmu::description;

type Raw = *mut c_void;

// SAFETY (of calling it): the message is a text that ends with a zero byte.
unsafe extern "C" fn log_message(_: Raw, _: i32, _: *const c_char, message: *const c_char) {
    // SAFETY: this function's contract.
    unsafe { log(message) };
}

/// An initialised instance of one of them, by the names of FMI 3.0.
struct Steps {
    library: Library,
    raw: Raw,
}

/// What a step has come to.
#[derive(Debug, PartialEq)]
struct Stepped {
    reached: f64,
    event: bool,
    early: bool,
}

/// A function of the FMU, which has these arguments.
macro_rules! call {
    ($steps:ident.$name:ident($($argument:expr => $type:ty),*)) => {{
        // SAFETY: the standard declares it with these arguments.
        let function = unsafe { $steps.library.get::<unsafe extern "C" fn(Raw, $($type),*) -> i32>(stringify!($name).as_bytes()) };
        // SAFETY: the instance is not freed yet, and what pointers lead to outlives the call.
        unsafe { function.unwrap()($steps.raw, $($argument),*) }
    }};
}

type Instantiate = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const c_char,
    bool,
    bool,
    bool,
    bool,
    *const u32,
    usize,
    Raw,
    unsafe extern "C" fn(Raw, i32, *const c_char, *const c_char),
    *const c_void,
) -> Raw;

impl Steps {
    /// Whose first event is at `first`, and the others at every 0.01 s after it. The input is 2.
    fn new(name: &str, first: f64, lie: u64) -> Steps {
        let cache = Cache::at(Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
        let unpacked = Unpacked::open(&folder(name), &cache).unwrap();
        let description = description::parse(&unpacked.model_description().unwrap()).unwrap();
        let offer = &description.interfaces[0];
        let file = unpacked.library_of(description.abi, offer, &Default::default(), &cache).unwrap();
        // SAFETY: these libraries have no initialisers.
        let library = unsafe { Library::new(file) }.unwrap();
        let [instance, token] = [name, &description.instantiation_token].map(|text| CString::new(text).unwrap());
        let nothing = std::ptr::null();
        // SAFETY: the standard declares it with these arguments; texts end with a zero byte, and what may be missing is missing.
        let raw = unsafe {
            let instantiate = library.get::<Instantiate>(b"fmi3InstantiateCoSimulation").unwrap();
            let (token, none) = (token.as_ptr(), std::ptr::null_mut());
            instantiate(
                instance.as_ptr(),
                token,
                nothing,
                false,
                true,
                true,
                true,
                nothing.cast(),
                0,
                none,
                log_message,
                nothing.cast(),
            )
        };
        assert!(!raw.is_null(), "{:?}", messages());
        let steps = Steps { library, raw };
        for (reference, value) in [(1, 2.0), (6, first)] {
            assert_eq!(call!(steps.fmi3SetFloat64(&reference => &u32, 1 => usize, &value => &f64, 1 => usize)), OK);
        }
        assert_eq!(call!(steps.fmi3SetUInt64(&8 => &u32, 1 => usize, &lie => &u64, 1 => usize)), OK);
        let times = (false, 0.0, 0.0, false, 0.0);
        assert_eq!(
            call!(steps.fmi3EnterInitializationMode(
                times.0 => bool, times.1 => f64, times.2 => f64, times.3 => bool, times.4 => f64)),
            OK
        );
        assert_eq!(call!(steps.fmi3ExitInitializationMode()), OK);
        steps
    }

    fn step(&self, point: f64, size: f64) -> (i32, Stepped) {
        let (mut event, mut terminate, mut early, mut reached) = (false, false, false, f64::NAN);
        let status = call!(self.fmi3DoStep(
            point => f64, size => f64, false => bool, &mut event => &mut bool, &mut terminate => &mut bool,
            &mut early => &mut bool, &mut reached => &mut f64));
        assert!(!terminate);
        (status, Stepped { reached, event, early })
    }

    /// An iteration in Event Mode: the next event.
    fn update(&self) -> f64 {
        let ([mut needs, mut terminate, mut nominals, mut values, mut has_next], mut next) = ([true; 5], f64::NAN);
        let status = call!(self.fmi3UpdateDiscreteStates(
            &mut needs => &mut bool, &mut terminate => &mut bool, &mut nominals => &mut bool, &mut values => &mut bool,
            &mut has_next => &mut bool, &mut next => &mut f64));
        assert_eq!((status, needs, terminate, has_next), (OK, false, false, true));
        next
    }

    fn y(&self) -> f64 {
        let mut y = f64::NAN;
        assert_eq!(call!(self.fmi3GetFloat64(&2 => &u32, 1 => usize, &mut y => &mut f64, 1 => usize)), OK);
        y
    }

    fn save(&self) -> Raw {
        let mut state: Raw = std::ptr::null_mut();
        assert_eq!(call!(self.fmi3GetFMUState(&mut state => &mut Raw)), OK);
        state
    }

    fn restore_and_forget(&self, mut state: Raw) {
        assert_eq!(call!(self.fmi3SetFMUState(state => Raw)), OK);
        assert_eq!(call!(self.fmi3FreeFMUState(&mut state => &mut Raw)), OK);
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        // SAFETY: the instance is freed once, and its library is still loaded.
        unsafe { self.library.get::<unsafe extern "C" fn(Raw)>(b"fmi3FreeInstance").unwrap()(self.raw) };
    }
}

fn whole(reached: f64) -> (i32, Stepped) {
    (OK, Stepped { reached, event: false, early: false })
}

fn early(reached: f64) -> (i32, Stepped) {
    (OK, Stepped { reached, event: false, early: true })
}

/// An event at 0.37 of the step: the step is rejected there, and one of that length is made as it is.
#[test]
fn a_step_is_rejected_at_0_37_of_it_and_a_shorter_one_is_made() {
    let fmu = Steps::new("rejecting", 0.0037, 0);
    let before = fmu.save();
    assert_eq!(fmu.step(0.0, 0.01), early(0.0037));
    fmu.restore_and_forget(before);
    assert_eq!(fmu.y(), 0.0);
    assert_eq!(fmu.step(0.0, 0.0037), whole(0.0037));
    assert_eq!(fmu.y(), 2.0 * 0.0037);
    assert_eq!(fmu.step(0.0037, 0.005), whole(0.0037 + 0.005));
    assert_eq!(fmu.step(0.0037 + 0.005, 0.01), early(0.0037 + 0.01));
}

#[test]
fn the_legacy_one_returns_early_and_goes_on_from_there() {
    let fmu = Steps::new("legacy", 0.0037, 0);
    assert_eq!(fmu.step(0.0, 0.01), early(0.0037));
    assert_eq!(fmu.step(0.0037, 0.01), whole(0.0037 + 0.01));
    assert!((fmu.y() - 2.0 * 0.0137).abs() < 1e-15);
    let (status, _) = fmu.step(0.0, 0.01);
    assert_eq!((status, messages().len()), (ERROR, 1), "a step that does not begin where the last one has ended");
}

#[test]
fn the_predicting_one_tells_its_events_and_makes_no_step_beyond_them() {
    let fmu = Steps::new("predicting", 0.0037, 0);
    assert_eq!(fmu.update(), 0.0037);
    assert_eq!(call!(fmu.fmi3EnterStepMode()), OK);
    assert_eq!(fmu.step(0.0, 0.001), whole(0.001));
    assert_eq!(fmu.step(0.001, 0.0027), (OK, Stepped { reached: 0.0037, event: true, early: false }));
    assert_eq!(call!(fmu.fmi3EnterEventMode()), OK);
    assert_eq!(fmu.update(), 0.0037 + 0.01);
    assert_eq!(call!(fmu.fmi3EnterStepMode()), OK);
    assert_eq!(fmu.step(0.0037, 0.02).0, ERROR);
    assert!(messages()[0].contains("beyond the event that was told"));
}

/// What masters rely on (A0, A1 and A4 of the slides on determinate composition), broken.
#[test]
fn they_lie_as_they_are_told() {
    let beyond = Steps::new("rejecting", 1.0, 1);
    assert_eq!(beyond.step(0.0, 0.01), (OK, Stepped { reached: 0.02, event: false, early: false }));

    let never_whole = Steps::new("rejecting", 1.0, 2);
    let before = never_whole.save();
    assert_eq!(never_whole.step(0.0, 0.01), early(0.9 * 0.01));
    never_whole.restore_and_forget(before);
    assert_eq!(never_whole.step(0.0, 0.009), early(0.9 * 0.009), "although it has made a longer one");

    let not_as_told = Steps::new("predicting", 1.0, 3);
    assert_eq!((not_as_told.update(), call!(not_as_told.fmi3EnterStepMode())), (1.0, OK));
    assert_eq!(not_as_told.step(0.0, 0.01), whole(0.01));
    assert_eq!(not_as_told.step(0.01, 0.01), early(0.01 + 0.9 * 0.01), "although its next event is at 1 s");
}
