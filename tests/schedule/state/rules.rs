//! The tracer notices an importer that breaks the rules of states and of `fmi3Reset`: otherwise its silence in the other
//! tests would prove nothing. `vecud::ffi` cannot break them (they are types), so this speaks C.

use super::program::cache;
use libloading::{Library, Symbol};
use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering::SeqCst};
use vecud::fmu::archive::{Cache, Unpacked};

type Instance = *mut c_void;
type State = *mut c_void;
// SAFETY of the types below: they are those of FMI 3.0 for the functions of these names.
type Instantiate = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const c_char,
    u8,
    u8,
    *mut c_void,
    // SAFETY: as above.
    unsafe extern "C" fn(*mut c_void, i32, *const c_char, *const c_char),
    unsafe extern "C" fn(*mut c_void),
    extern "C" fn(),
    extern "C" fn(),
) -> Instance;
// SAFETY: as above, of the functions that they are used for.
type OfInstance = unsafe extern "C" fn(Instance) -> i32;
type OfState = unsafe extern "C" fn(Instance, *mut State) -> i32;
type SetState = unsafe extern "C" fn(Instance, State) -> i32;
// SAFETY: as above.
type Activate = unsafe extern "C" fn(Instance, u32, f64) -> i32;
type EnterInitialization = unsafe extern "C" fn(Instance, u8, f64, f64, u8, f64) -> i32;

const OK: i32 = 0;
const ERROR: i32 = 3;
const STATE_WHILE_ACTIVE: &str = "a function of states, or fmi3Reset, while a partition is active";
const FOREIGN_STATE: &str = "a state that is not this instance's, or was freed";

/// What is called inside of `clockUpdate`, so while the partition `slow` is active, and what it returned.
static INSTANCE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static WANTED: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static ANSWER: AtomicI32 = AtomicI32::new(-1);

// SAFETY: called by the library only, on a thread inside of a call; the argument is not looked at.
unsafe extern "C" fn update(_: *mut c_void) {
    let wanted = WANTED.load(SeqCst);
    if wanted.is_null() {
        return;
    }
    // SAFETY: the test has put an `OfState` of the loaded library there; one with fewer arguments ignores the second.
    let function: OfState = unsafe { std::mem::transmute(wanted) };
    let mut state = std::ptr::null_mut();
    // SAFETY: the instance is alive, and what it must not be called for is what the test is about.
    ANSWER.store(unsafe { function(INSTANCE.load(SeqCst), &mut state) }, SeqCst);
}

extern "C" fn nothing() {}

static LOGGED: Mutex<Vec<String>> = Mutex::new(Vec::new());

// SAFETY: called by the library only, with a message that it hands over as the standard says.
unsafe extern "C" fn log(_: *mut c_void, _: i32, _: *const c_char, message: *const c_char) {
    // SAFETY: the tracer hands over a text that ends in NUL and lives until this returns.
    let message = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    LOGGED.lock().unwrap().push(message);
}

struct Tracer {
    library: Library,
    instance: Instance,
}

impl Tracer {
    fn new() -> Tracer {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/tracer");
        let cache = Cache::at(cache());
        let library = Unpacked::open(&path, &cache).unwrap().library("tracer", &cache).unwrap();
        // SAFETY: our own FMU; its initialisers do nothing.
        let library = unsafe { Library::new(library).unwrap() };
        // SAFETY: the signatures are those of fmi3FunctionTypes.h; texts end in NUL.
        let instance = unsafe {
            let instantiate: Symbol<Instantiate> = library.get(b"fmi3InstantiateScheduledExecution").unwrap();
            let none = std::ptr::null_mut();
            instantiate(
                c"t".as_ptr(),
                c"{vecud-tracer-1}".as_ptr(),
                none,
                0,
                1,
                none.cast(),
                log,
                update,
                nothing,
                nothing,
            )
        };
        assert!(!instance.is_null());
        INSTANCE.store(instance, SeqCst);
        LOGGED.lock().unwrap().clear();
        let tracer = Tracer { library, instance };
        tracer.initialise();
        tracer
    }

    /// A function of the library. `T` is its type in fmi3FunctionTypes.h.
    fn function<T: Copy>(&self, name: &str) -> T {
        // SAFETY: callers name the type that belongs to the name; used while the library is loaded only.
        unsafe { *self.library.get::<T>(name).unwrap() }
    }

    fn initialise(&self) {
        // SAFETY: the instance is alive, in state Instantiated, and nobody else calls it; likewise below.
        unsafe {
            assert_eq!(
                self.function::<EnterInitialization>("fmi3EnterInitializationMode")(self.instance, 0, 0.0, 0.0, 0, 0.0),
                OK
            );
            assert_eq!(self.function::<OfInstance>("fmi3ExitInitializationMode")(self.instance), OK);
        }
    }

    fn activate(&self, time: f64) -> i32 {
        const SLOW: u32 = 4;
        // SAFETY: as above.
        unsafe { self.function::<Activate>("fmi3ActivateModelPartition")(self.instance, SLOW, time) }
    }

    /// Whether it has complained of this since it was made.
    fn complains_of(&self, what: &str) -> bool {
        LOGGED.lock().unwrap().iter().any(|message| message.starts_with("Invariant ") && message.contains(what))
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        WANTED.store(std::ptr::null_mut(), SeqCst);
        // SAFETY: once, at the end; no call is under way.
        unsafe { self.function::<unsafe extern "C" fn(Instance)>("fmi3FreeInstance")(self.instance) }
    }
}

/// One after the other: they share the statics that a callback without environment needs.
#[test]
fn the_tracer_notices_calls_while_a_partition_is_active_and_foreign_states() {
    for name in ["fmi3GetFMUState", "fmi3FreeFMUState", "fmi3Reset"] {
        let tracer = Tracer::new();
        let function: *mut c_void = tracer.function::<*mut c_void>(name);
        WANTED.store(function, SeqCst);
        ANSWER.store(-1, SeqCst);
        tracer.activate(0.0);
        assert_eq!(ANSWER.load(SeqCst), ERROR, "{name} while a partition is active");
        WANTED.store(std::ptr::null_mut(), SeqCst);
        assert!(tracer.complains_of(STATE_WHILE_ACTIVE), "{name}");
    }

    let tracer = Tracer::new();
    let (get, free) = ("fmi3GetFMUState", "fmi3FreeFMUState");
    let mut state = std::ptr::null_mut();
    // SAFETY: as in `Tracer`; no partition is active. What is wrong is the state that is set, which the tracer looks up
    // in its list without following it.
    unsafe {
        assert_eq!(tracer.function::<OfState>(get)(tracer.instance, &mut state), OK);
        let freed = state;
        assert_eq!(tracer.function::<SetState>("fmi3SetFMUState")(tracer.instance, state), OK);
        assert_eq!(tracer.function::<OfState>(free)(tracer.instance, &mut state), OK);
        assert!(state.is_null() && !tracer.complains_of(FOREIGN_STATE));
        assert_eq!(tracer.function::<SetState>("fmi3SetFMUState")(tracer.instance, freed), ERROR);
    }
    assert!(tracer.complains_of(FOREIGN_STATE));
    // After fmi3Reset it is not activated before it is initialised.
    // SAFETY: as above.
    assert_eq!(unsafe { tracer.function::<OfInstance>("fmi3Reset")(tracer.instance) }, OK);
    tracer.initialise();
    // SAFETY: as above.
    assert_eq!(unsafe { tracer.function::<OfInstance>("fmi3Reset")(tracer.instance) }, OK);
    assert_eq!(tracer.activate(0.0), ERROR);
    assert!(tracer.complains_of("a call that the state does not allow"));
}
