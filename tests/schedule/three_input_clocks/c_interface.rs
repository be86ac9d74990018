//! The draft's FMU by its C interface, without the program: what it reports to whom, and that it notices every breach of
//! the rules that it can see.

use super::{APERIODIC, Dialect, FIFTY_MS, OUT, TEN_MS};
use libloading::Library;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use vecud::fmu::archive::{BuildChoices, Cache, Unpacked};
use vecud::fmu::description;

type Instance = *mut c_void;
type LogMessage = extern "C" fn(*mut c_void, *const c_char, c_int, *const c_char, *const c_char);
type Update = extern "C" fn(*mut c_void, f64, c_char, c_char, c_char, c_char, c_char, *mut c_char, *mut f64);
type Lock = extern "C" fn();
// SAFETY of the types below: they are those of the draft's headers for the functions that they are used for.
type Instantiate = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const c_char,
    c_char,
    c_char,
    *const c_uint,
    usize,
    *mut c_void,
    LogMessage,
    Update,
    Lock,
    Lock,
) -> Instance;
// SAFETY: as above.
type Plain = unsafe extern "C" fn(Instance) -> c_int;
type EnterInitialization = unsafe extern "C" fn(Instance, c_char, f64, f64, c_char, f64) -> c_int;
type Activate = unsafe extern "C" fn(Instance, c_uint, usize, f64) -> c_int;
// SAFETY: as above.
type GetClock = unsafe extern "C" fn(Instance, *const c_uint, usize, *mut c_int, usize) -> c_int;
type GetInterval = unsafe extern "C" fn(Instance, *const c_uint, usize, *mut f64, usize) -> c_int;
type GetFraction = unsafe extern "C" fn(Instance, *const c_uint, usize, *mut u64, *mut u64, usize) -> c_int;
// SAFETY: as above.
type GetFloat64 = unsafe extern "C" fn(Instance, *const c_uint, usize, *mut f64, usize) -> c_int;
type SetFloat64 = unsafe extern "C" fn(Instance, *const c_uint, usize, *const f64, usize) -> c_int;
type SetInt32 = unsafe extern "C" fn(Instance, *const c_uint, usize, *const i32, usize) -> c_int;
// SAFETY: as above.
type SetString = unsafe extern "C" fn(Instance, *const c_uint, usize, *const *const c_char, usize) -> c_int;

type Inside = Box<dyn Fn(&Fmu)>;

/// What the callback does when OutClock ticks, and what it has seen.
#[derive(Default)]
struct Host {
    inside: Option<Inside>,
    /// Time and `clocksTicked` of each callback.
    updates: Vec<(f64, c_char)>,
    messages: Vec<String>,
    panics: u32,
}

thread_local! {
    static HOST: RefCell<Host> = RefCell::default();
    static FMU: RefCell<Option<&'static Fmu>> = const { RefCell::new(None) };
}

extern "C" fn log_message(_: *mut c_void, name: *const c_char, _: c_int, _: *const c_char, message: *const c_char) {
    // SAFETY: the FMU hands over strings that end with a zero byte.
    let (name, message) = unsafe { (CStr::from_ptr(name), CStr::from_ptr(message)) };
    assert_eq!(name, c"three", "the instance's name comes along");
    HOST.with_borrow_mut(|host| host.messages.push(message.to_string_lossy().into_owned()));
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
extern "C" fn update(
    environment: *mut c_void,
    time: f64,
    ticked: c_char,
    _: c_char,
    _: c_char,
    _: c_char,
    _: c_char,
    early: *mut c_char,
    early_time: *mut f64,
) {
    assert!(environment.is_null() && !early.is_null() && !early_time.is_null());
    HOST.with_borrow_mut(|host| host.updates.push((time, ticked)));
    let inside = HOST.with_borrow_mut(|host| host.inside.take());
    if let Some(inside) = inside {
        // No panic may go through C; `end` asks for them.
        let fmu = FMU.with_borrow(|fmu| fmu.expect("an FMU is under test"));
        if catch_unwind(AssertUnwindSafe(|| inside(fmu))).is_err() {
            HOST.with_borrow_mut(|host| host.panics += 1);
        }
        HOST.with_borrow_mut(|host| host.inside = Some(inside));
    }
}

extern "C" fn lock() {}

struct Fmu {
    library: Library,
    instance: Instance,
    trace: PathBuf,
    _folder: tempfile::TempDir,
}

impl Fmu {
    /// An instance in Initialization Mode with a trace, on a thread of its own: the callback finds it by the thread.
    fn new(location: &CStr) -> &'static Fmu {
        let cache = Cache::at(Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
        let unpacked = Unpacked::open(&Dialect::Draft.folder(), &cache).unwrap();
        let found = description::parse(&unpacked.model_description().unwrap()).unwrap();
        let path = unpacked
            .library_of(found.abi, &found.interfaces[0], &BuildChoices::default(), &cache)
            .unwrap_or_else(|e| panic!("{e}"));
        // SAFETY: the library is the repository's own, built from fmus/three_input_clocks_draft, without initialisers.
        let library = unsafe { Library::new(path).unwrap() };
        let folder = crate::program::tempdir().unwrap();
        let trace = folder.path().join("trace.csv");
        // SAFETY: the type is that of the draft's header, the strings live through the call.
        let instance = unsafe {
            library.get::<Instantiate>(b"fmi3InstantiateScheduledExecution").unwrap()(
                c"three".as_ptr(),
                c"".as_ptr(),
                location.as_ptr(),
                0,
                1,
                std::ptr::null(),
                0,
                std::ptr::null_mut(),
                log_message,
                update,
                lock,
                lock,
            )
        };
        assert!(!instance.is_null());
        let fmu = Fmu { library, instance, trace, _folder: folder };
        let file = CString::new(fmu.trace.to_str().unwrap()).unwrap();
        // SAFETY: as above; arrays are as long as said.
        unsafe {
            let set = fmu.library.get::<SetString>(b"fmi3SetString").unwrap();
            assert_eq!(set(instance, [26].as_ptr(), 1, [file.as_ptr()].as_ptr(), 1), 0);
            // Without work, so that the tick has the time of the activation; with 1 ms, 0.6 ms later.
            let set = fmu.library.get::<SetInt32>(b"fmi3SetInt32").unwrap();
            assert_eq!(set(instance, [20].as_ptr(), 1, [1000].as_ptr(), 1), 0);
            let enter = fmu.library.get::<EnterInitialization>(b"fmi3EnterInitializationMode").unwrap();
            assert_eq!(enter(instance, 0, 0.0, 0.0, 0, 0.0), 0);
        }
        // Tests have few instances, and the callback needs one that outlives it.
        let fmu: &'static Fmu = Box::leak(Box::new(fmu));
        FMU.with_borrow_mut(|current| *current = Some(fmu));
        HOST.with_borrow_mut(|host| *host = Host::default());
        fmu
    }

    fn plain(&self, name: &str) -> c_int {
        // SAFETY: `name` is a function that takes the instance alone.
        unsafe { self.library.get::<Plain>(name.as_bytes()).unwrap()(self.instance) }
    }

    fn activate(&self, clock: u32, element: usize, time: f64) -> c_int {
        // SAFETY: the type is that of the draft's header.
        unsafe {
            self.library.get::<Activate>(b"fmi3ActivateModelPartition").unwrap()(self.instance, clock, element, time)
        }
    }

    fn get_clock(&self) -> (c_int, c_int) {
        let mut value = 99;
        // SAFETY: one reference, one value.
        let get = unsafe { self.library.get::<GetClock>(b"fmi3GetClock").unwrap() };
        // SAFETY: as above.
        let status = unsafe { get(self.instance, [OUT].as_ptr(), 1, &mut value, 1) };
        (status, value)
    }

    fn get_float(&self, reference: u32) -> f64 {
        let mut value = 0.0;
        // SAFETY: one reference, one value.
        let get = unsafe { self.library.get::<GetFloat64>(b"fmi3GetFloat64").unwrap() };
        // SAFETY: as above.
        assert_eq!(unsafe { get(self.instance, [reference].as_ptr(), 1, &mut value, 1) }, 0);
        value
    }

    fn set_float(&self, reference: u32, value: f64) {
        // SAFETY: one reference, one value.
        let set = unsafe { self.library.get::<SetFloat64>(b"fmi3SetFloat64").unwrap() };
        // SAFETY: as above.
        assert_eq!(unsafe { set(self.instance, [reference].as_ptr(), 1, &value, 1) }, 0);
    }

    fn on_tick(&self, inside: impl Fn(&Fmu) + 'static) {
        HOST.with_borrow_mut(|host| host.inside = Some(Box::new(inside)));
    }

    /// Ends the instance; which rules it has seen broken.
    fn end(&self) -> Vec<u32> {
        self.plain("fmi3Terminate");
        assert_eq!(
            HOST.with_borrow(|host| host.panics),
            0,
            "a callback found something else than it should, see above"
        );
        let text = std::fs::read_to_string(&self.trace).unwrap();
        let kinds = text.split("kinds=0x").nth(1).unwrap().split_whitespace().next().unwrap();
        let kinds = u64::from_str_radix(kinds, 16).unwrap();
        (0..64).filter(|bit| kinds >> bit & 1 == 1).collect()
    }
}

fn running() -> &'static Fmu {
    let fmu = Fmu::new(c"file:///tmp/resources/");
    assert_eq!(fmu.plain("fmi3ExitInitializationMode"), 0);
    fmu.on_tick(|fmu| assert_eq!(fmu.get_clock(), (0, 1)));
    fmu
}

#[test]
fn a_tick_is_told_with_its_time_read_once_and_reset() {
    let fmu = running();
    fmu.on_tick(|fmu| {
        assert_eq!(fmu.get_clock(), (0, 1), "active");
        let (mut interval, mut counter, mut resolution) = (9.0, 9, 0);
        // SAFETY: one reference, one value; the types are those of the draft's header.
        unsafe {
            let get = fmu.library.get::<GetInterval>(b"fmi3GetIntervalDecimal").unwrap();
            assert_eq!((get(fmu.instance, [OUT].as_ptr(), 1, &mut interval, 1), interval), (0, 0.0));
            let get = fmu.library.get::<GetFraction>(b"fmi3GetIntervalFraction").unwrap();
            assert_eq!(get(fmu.instance, [OUT].as_ptr(), 1, &mut counter, &mut resolution, 1), 0);
        }
        assert_eq!((counter, resolution), (0, 1));
    });
    fmu.set_float(0, 1.0);
    fmu.set_float(1, 0.5);
    for (time, tick) in [(0.0, Some(0.0006)), (0.01, None), (0.02, Some(0.0206))] {
        HOST.with_borrow_mut(|host| host.updates.clear());
        assert_eq!(fmu.activate(TEN_MS, 0, time), 0);
        let updates = HOST.with_borrow(|host| host.updates.clone());
        assert_eq!(updates.len(), usize::from(tick.is_some()));
        assert!(
            updates.iter().all(|(time, ticked)| *ticked == 1 && (time - tick.unwrap()).abs() < 1e-12),
            "{updates:?}"
        );
        assert_eq!(fmu.get_float(2), 1.5);
    }
    fmu.set_float(3, 7.0);
    assert_eq!(fmu.activate(APERIODIC, 0, 0.0006), 0);
    assert_eq!(fmu.get_float(4), 7.0);
    assert_eq!(fmu.end(), [0; 0], "no rule is broken");
    assert!(HOST.with_borrow(|host| host.messages.is_empty()));
}

#[test]
fn breaches_of_the_rules_are_noticed() {
    let broken = |breach: &dyn Fn(&'static Fmu)| {
        let fmu = running();
        breach(fmu);
        fmu.end()
    };
    assert_eq!(broken(&|_| {}), [0; 0]);
    // The second read finds the clock inactive.
    assert_eq!(
        broken(&|fmu| {
            fmu.on_tick(|fmu| assert_eq!((fmu.get_clock(), fmu.get_clock()), ((0, 1), (0, 0))));
            fmu.activate(TEN_MS, 0, 0.0);
        }),
        [32]
    );
    assert_eq!(broken(&|fmu| assert_eq!(fmu.get_clock(), (0, 0))), [10], "read outside of a callback");
    assert_eq!(
        broken(&|fmu| {
            fmu.on_tick(|_| {});
            fmu.activate(TEN_MS, 0, 0.0);
        }),
        [11],
        "not read in a callback"
    );
    assert_eq!(
        broken(&|fmu| {
            fmu.on_tick(|fmu| {
                fmu.get_clock();
                fmu.activate(FIFTY_MS, 0, 0.0);
            });
            fmu.activate(TEN_MS, 0, 0.0);
        }),
        [0],
        "a less urgent partition inside of a more urgent one"
    );
    assert_eq!(
        broken(&|fmu| {
            fmu.activate(APERIODIC, 0, 0.5);
            fmu.activate(APERIODIC, 0, 0.5);
        }),
        [5],
        "the same time twice"
    );
    assert_eq!(broken(&|fmu| assert_eq!(fmu.activate(FIFTY_MS, 0, 0.051), 0)), [6], "off the grid");
    assert_eq!(
        broken(&|fmu| {
            fmu.activate(APERIODIC, 0, 0.0);
            fmu.set_float(3, 1.0);
            fmu.get_float(4);
        }),
        [7],
        "read after a set without an activation"
    );
    assert_eq!(broken(&|fmu| assert_eq!(fmu.activate(TEN_MS, 1, 0.0), 0)), [33], "an element of a scalar");
    assert_eq!(broken(&|fmu| assert_eq!(fmu.activate(OUT, 0, 0.0), 3)), [0; 0], "an output clock: an error by itself");
    assert_eq!(broken(&|fmu| assert_eq!(fmu.plain("fmi3ExitInitializationMode"), 3)), [12, 13], "wrong state");
    assert_eq!(
        broken(&|fmu| {
            fmu.plain("fmi3Terminate");
            assert_eq!(fmu.activate(TEN_MS, 0, 0.0), 3);
        }),
        [12],
        "after the end"
    );
    let fmu = Fmu::new(c"/tmp/resources/");
    fmu.plain("fmi3ExitInitializationMode");
    assert_eq!(fmu.end(), [34], "a path instead of a URI");
}
