//! FMI 2.0 and 1.0 behind their adapters: libraries written in C that note their calls, and tables filled by hand.

use super::loading::compile;
use super::stub::Notes;
use crate::types::*;
use crate::*;
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tempfile::TempDir;
use vecud_description::{Abi, Interface, ValueReference, Values, VariableType};

/// What the functions of both versions share: a list of the calls, four values, and a log.
const COMMON: &str = r#"
#include <stddef.h>
#include <stdio.h>
#include <string.h>
typedef void *C; typedef const char *S; typedef unsigned R;
char calls[4096];
static void note(const char *call) { strcat(calls, call); strcat(calls, " "); }
static double real; static int integer; static char string[64];
static int answer;
void answer_with(int status) { answer = status; }
"#;

/// An FMU of FMI 2.0. `PLATFORM` and `VERSION` are what it says of itself.
const FMI2: &str = r#"
typedef void (*Logger)(void *, S, int, S, S, ...);
typedef struct { Logger log; void *(*allocate)(size_t, size_t); void (*release)(void *); void (*finished)(void *, int); void *environment; } Callbacks;
typedef struct { const Callbacks *callbacks; } Instance;
static int boolean;
const char *fmi2GetTypesPlatform(void) { return PLATFORM; }
const char *fmi2GetVersion(void) { return VERSION; }
C fmi2Instantiate(S name, int type, S guid, S resources, const Callbacks *callbacks, int visible, int logging) {
    char text[200];
    snprintf(text, sizeof text, "Instantiate(%s,%d,%s,%s,%d,%d,%s)", name, type, guid, resources, visible, logging,
        callbacks->finished ? "finished" : "NULL");
    note(text);
    Instance *instance = callbacks->allocate(1, sizeof(Instance));
    instance->callbacks = callbacks;
    callbacks->log(callbacks->environment, name, 1, "cat", "plain");
    callbacks->log(callbacks->environment, name, 0, NULL, "%s", "an argument");
    callbacks->log(callbacks->environment, name, 9, "cat", "%d of %s", 3, "four");
    callbacks->log(callbacks->environment, name, 0, "cat", "%g %s %5.2f%% %c %lu", 0.1, "more than six", 12.345, 'x', 1UL << 40);
    int untouched = 7;
    callbacks->log(callbacks->environment, name, untouched - 7, "cat", "%d%n", 3, &untouched);
    callbacks->log(callbacks->environment, name, untouched - 7, "cat", "%s", NULL);
    char long_one[5000];
    memset(long_one, 'y', sizeof long_one); long_one[4999] = 0;
    callbacks->log(callbacks->environment, name, 0, "cat", "%s", long_one);
    return instance;
}
void fmi2FreeInstance(C c) { note("FreeInstance"); ((Instance *)c)->callbacks->release(c); }
int fmi2SetDebugLogging(C c, int on, size_t n, const S *categories) { note("SetDebugLogging"); return answer; }
int fmi2SetupExperiment(C c, int t, double tolerance, double start, int s, double stop) {
    char text[100]; snprintf(text, sizeof text, "SetupExperiment(%d,%g,%d,%g)", t, start, s, stop); note(text); return answer;
}
int fmi2EnterInitializationMode(C c) { note("EnterInitializationMode"); return answer; }
int fmi2ExitInitializationMode(C c) { note("ExitInitializationMode"); return answer; }
int fmi2Terminate(C c) { note("Terminate"); return answer; }
int fmi2DoStep(C c, double t, double h, int n) { note("DoStep"); return answer; }
int fmi2GetReal(C c, const R *r, size_t n, double *v) { note("GetReal"); for (size_t i = 0; i < n; i++) v[i] = real; return answer; }
int fmi2GetInteger(C c, const R *r, size_t n, int *v) { note("GetInteger"); for (size_t i = 0; i < n; i++) v[i] = integer + (int)i; return answer; }
int fmi2GetBoolean(C c, const R *r, size_t n, int *v) { note("GetBoolean"); for (size_t i = 0; i < n; i++) v[i] = boolean << 8; return answer; }
int fmi2GetString(C c, const R *r, size_t n, S *v) { note("GetString"); for (size_t i = 0; i < n; i++) v[i] = string; return answer; }
int fmi2SetReal(C c, const R *r, size_t n, const double *v) { note("SetReal"); real = v[n - 1]; return answer; }
int fmi2SetInteger(C c, const R *r, size_t n, const int *v) { note("SetInteger"); integer = v[n - 1]; return answer; }
int fmi2SetBoolean(C c, const R *r, size_t n, const int *v) { note("SetBoolean"); boolean = v[n - 1]; return answer; }
int fmi2SetString(C c, const R *r, size_t n, const S *v) { note("SetString"); strcpy(string, v[n - 1]); return answer; }
"#;

/// An FMU of FMI 1.0 with the model identifier `m`. `SLAVE`: of Co-Simulation, else of Model Exchange.
const FMI1: &str = r#"
typedef void (*Logger)(C, S, int, S, S, ...);
#ifdef SLAVE
typedef struct { Logger log; void *(*allocate)(size_t, size_t); void (*release)(void *); void (*finished)(C, int); } Callbacks;
#else
typedef struct { Logger log; void *(*allocate)(size_t, size_t); void (*release)(void *); } Callbacks;
#endif
typedef struct { Callbacks callbacks; } Instance;
static char boolean;
static C make(S name, S guid, Callbacks callbacks, char logging) {
    char text[200]; snprintf(text, sizeof text, "Instantiate(%s,%s,%d)", name, guid, logging); note(text);
    Instance *instance = callbacks.allocate(1, sizeof(Instance));
    instance->callbacks = callbacks;
    callbacks.log(instance, name, 1, "cat", "%s %d", "made", 1);
    return instance;
}
const char *m_fmiGetVersion(void) { return VERSION; }
int m_fmiSetDebugLogging(C c, char on) { note("SetDebugLogging"); return answer; }
int m_fmiGetReal(C c, const R *r, size_t n, double *v) { note("GetReal"); for (size_t i = 0; i < n; i++) v[i] = real; return answer; }
int m_fmiGetInteger(C c, const R *r, size_t n, int *v) { note("GetInteger"); for (size_t i = 0; i < n; i++) v[i] = integer; return answer; }
int m_fmiGetBoolean(C c, const R *r, size_t n, char *v) { note("GetBoolean"); for (size_t i = 0; i < n; i++) v[i] = boolean * 77; return answer; }
int m_fmiGetString(C c, const R *r, size_t n, S *v) { note("GetString"); for (size_t i = 0; i < n; i++) v[i] = string; return answer; }
int m_fmiSetReal(C c, const R *r, size_t n, const double *v) { note("SetReal"); real = v[n - 1]; return answer; }
int m_fmiSetInteger(C c, const R *r, size_t n, const int *v) { note("SetInteger"); integer = v[n - 1]; return answer; }
int m_fmiSetBoolean(C c, const R *r, size_t n, const char *v) { note("SetBoolean"); boolean = v[n - 1]; return answer; }
int m_fmiSetString(C c, const R *r, size_t n, const S *v) { note("SetString"); strcpy(string, v[n - 1]); return answer; }
#ifdef SLAVE
const char *m_fmiGetTypesPlatform(void) { return PLATFORM; }
C m_fmiInstantiateSlave(S name, S guid, S location, S mime, double timeout, char visible, char interactive, Callbacks callbacks, char logging) {
    note(location); note(mime); if (callbacks.finished || timeout != 0 || visible || interactive) note("?");
    return make(name, guid, callbacks, logging);
}
void m_fmiFreeSlaveInstance(C c) { note("FreeSlaveInstance"); ((Instance *)c)->callbacks.release(c); }
int m_fmiInitializeSlave(C c, double start, char s, double stop) {
    char text[100]; snprintf(text, sizeof text, "InitializeSlave(%g,%d,%g)", start, s, stop); note(text); return answer;
}
int m_fmiTerminateSlave(C c) { note("TerminateSlave"); return answer; }
int m_fmiDoStep(C c, double t, double h, char n) { note("DoStep"); return answer; }
#else
typedef struct { char converged, references, values, terminate, upcoming; double next; } EventInfo;
const char *m_fmiGetModelTypesPlatform(void) { return PLATFORM; }
C m_fmiInstantiateModel(S name, S guid, Callbacks callbacks, char logging) { return make(name, guid, callbacks, logging); }
void m_fmiFreeModelInstance(C c) { note("FreeModelInstance"); ((Instance *)c)->callbacks.release(c); }
int m_fmiSetTime(C c, double t) { char text[50]; snprintf(text, sizeof text, "SetTime(%g)", t); note(text); return answer; }
int m_fmiInitialize(C c, char t, double tolerance, EventInfo *info) { info->next = 1; note("Initialize"); return answer; }
int m_fmiTerminate(C c) { note("Terminate"); return answer; }
int m_fmiCompletedIntegratorStep(C c, char *e) { return answer; }
int m_fmiEventUpdate(C c, char i, EventInfo *info) { return answer; }
#endif
"#;

const VERSION2: &str = "#define PLATFORM \"default\"\n#define VERSION \"2.0\"\n";
const VERSION1: &str = "#define PLATFORM \"standard32\"\n#define VERSION \"1.0\"\n";
const SLAVE: &str = "#define SLAVE\n";

/// A library called `m` in a folder of its own, and a handle by which the test asks it.
fn library(parts: &[&str], abi: Abi, interface: Interface) -> (TempDir, Result<Arc<Library>, LoadError>) {
    let dir = TempDir::new().unwrap();
    let path = compile(dir.path(), "m", &[&[COMMON], parts].concat().concat(), &[]);
    (dir, Library::load(&path, abi, interface).map(Arc::new))
}

/// What was called in the library since the last time.
fn calls(dir: &Path) -> String {
    let handle = again(dir);
    // SAFETY: an array that ends with a NUL; nobody calls the library meanwhile.
    unsafe {
        let calls: *mut c_char = *handle.get::<*mut c_char>("calls").unwrap();
        let text = std::ffi::CStr::from_ptr(calls).to_str().unwrap().trim_end().to_owned();
        *calls = 0;
        text
    }
}

/// Its functions return this from now on.
fn answer(dir: &Path, status: c_int) {
    let handle = again(dir);
    // SAFETY: the function has this signature.
    unsafe { handle.get::<unsafe extern "C" fn(c_int)>("answer_with").unwrap()(status) };
}

/// The library, which is loaded.
fn again(dir: &Path) -> libloading::os::unix::Library {
    // SAFETY: it has no initialisers.
    unsafe { libloading::os::unix::Library::new(dir.join("m.so")) }.unwrap()
}

const R: ValueReference = ValueReference(7);

fn slave() -> MadeFor {
    MadeFor::CoSimulation(StepOptions::default())
}

fn set_and_get<S: Readable + Writable>(instance: &Instance<S>) {
    use VariableType::*;
    let values = [
        (Float64, Values::Float64(vec![1.5])),
        (Int32, Values::Int32(vec![-3])),
        (Enumeration, Values::Int64(vec![i64::from(i32::MIN)])),
        (Boolean, Values::Boolean(vec![true])),
        (String, Values::String(vec!["text".to_owned()])),
    ];
    for (variable_type, values) in values {
        assert_eq!(instance.set_values(R, variable_type, &values), Ok(Outcome::Ok), "{variable_type:?}");
        assert_eq!(instance.get_values(R, variable_type, 1), Ok(values), "{variable_type:?}");
    }
}

const SET_AND_GET: &str =
    "SetReal GetReal SetInteger GetInteger SetInteger GetInteger SetBoolean GetBoolean SetString GetString";

/// Serves a thread whose calls are counted.
struct Counting(CallIndicator);

impl ThreadHost for Counting {
    fn clock_update(&self, _: Option<f64>) {}
    fn lock_preemption(&self) {}
    fn unlock_preemption(&self) {}
    fn warned(&self, _: Function) {}
    fn shown(&'static self) -> Option<&'static CallIndicator> {
        Some(&self.0)
    }
}

/// What cannot exist there is refused by name, before anything is called, and the instance is as sound as before.
fn refuses(instance: &Instance<Initialization>) {
    use VariableType::*;
    let (word, calls): (_, &CallCounts) =
        (Box::leak(Box::default()), Box::leak(Box::new([const { AtomicU64::new(0) }; 128])));
    let host = Box::leak(Box::new(Counting(CallIndicator::new(CallProbe { word, tag: 0, calls }))));
    let before = set_thread_host(Some(host));
    let refused = [
        (Float32, Values::Float32(vec![1.0]), Function::SetFloat32, Function::GetFloat32),
        (UInt8, Values::UInt8(vec![1]), Function::SetUInt8, Function::GetUInt8),
        (Binary, Values::Binary(vec![vec![1]]), Function::SetBinary, Function::GetBinary),
        (Float64, Values::Float64(vec![1.0, 2.0]), Function::SetFloat64, Function::GetFloat64),
        (Boolean, Values::Boolean(vec![true, false]), Function::SetBoolean, Function::GetBoolean),
    ];
    for (variable_type, values, set, get) in refused {
        let failure = |function| Failure {
            function,
            status: Status::Discard,
            clock: None,
            time: None,
            answer: None,
            refused: true,
        };
        assert_eq!(instance.set_values(R, variable_type, &values), Err(failure(set)));
        assert_eq!(instance.get_values(R, variable_type, 2), Err(failure(get)));
    }
    let too_large = instance.set_values(R, Enumeration, &Values::Int64(vec![1 << 31])).unwrap_err();
    assert!(too_large.refused && too_large.function == Function::SetInt64, "{too_large}");
    assert_eq!(Function::SetInt64.name_in(Abi::Fmi2), "fmi2SetInteger");
    assert_eq!(instance.health(), Health::Healthy);
    assert!(calls.iter().all(|count| count.load(Relaxed) == 0), "what is not called is not counted");
    set_thread_host(before);
}

#[test]
fn an_fmu_of_fmi2_lives_through_its_calls_in_their_order() {
    let (dir, loaded) = library(&[VERSION2, FMI2], Abi::Fmi2, Interface::CoSimulation);
    let loaded = loaded.unwrap();
    assert_eq!(loaded.version(), "2.0");
    assert!(loaded.missing().contains(&Function::GetFMUState) && !loaded.missing().contains(&Function::DoStep));
    let notes: Arc<Notes> = Arc::default();
    let instance = loaded.instantiate(&slave(), "i", "{guid}", Some("file:///r"), true, notes.clone()).unwrap();
    assert_eq!(calls(dir.path()), "Instantiate(i,1,{guid},file:///r,0,1,NULL)");
    let logged: Vec<_> = notes.logged.lock().unwrap().drain(..).collect();
    let expected = [
        (Status::Warning, Some("cat"), "plain"),
        (Status::Ok, None, "an argument"),
        (Status::Error, Some("cat"), "3 of four"),
        (Status::Ok, Some("cat"), "0.1 more than six 12.35% x 1099511627776"),
        (Status::Ok, Some("cat"), "%d%n"),
        (Status::Ok, Some("cat"), "(null)"),
        (Status::Ok, Some("cat"), &"y".repeat(2047)),
    ];
    assert_eq!(logged, expected.map(|(status, category, text)| (status, category.map(str::to_owned), text.to_owned())));
    instance.set_debug_logging(true, &["cat"]).unwrap();
    set_and_get(&instance);
    // Taken for true, as it is in C, and told.
    assert_eq!(*notes.no_booleans.lock().unwrap(), [(7, 256)]);
    assert_eq!(calls(dir.path()), format!("SetDebugLogging {SET_AND_GET}"));
    let instance = instance.enter_initialization_mode(0.5, Some(2.0), None).unwrap();
    refuses(&instance);
    assert_eq!(calls(dir.path()), "SetupExperiment(0,0.5,1,2) EnterInitializationMode");
    let instance = instance.exit_initialization_mode().unwrap();
    assert_eq!(instance.end(), Ok(Outcome::Ok));
    assert_eq!(calls(dir.path()), "ExitInitializationMode Terminate FreeInstance");
    // The other interface type of the same library lacks what only that has.
    let path = dir.path().join("m.so");
    let error = Library::load(&path, Abi::Fmi2, Interface::ModelExchange).unwrap_err();
    assert!(error.to_string().contains("that Model Exchange (FMI 2.0) needs: fmi2EnterEventMode, "), "{error}");
}

#[test]
fn an_fmu_of_fmi1_lives_through_its_calls_in_their_order_as_slave_and_as_model() {
    let (dir, loaded) = library(&[VERSION1, SLAVE, FMI1], Abi::Fmi1, Interface::CoSimulation);
    let loaded = loaded.unwrap();
    assert_eq!(loaded.version(), "1.0");
    let notes: Arc<Notes> = Arc::default();
    let instance = loaded.instantiate(&slave(), "i", "{guid}", Some("file:///f"), true, notes.clone()).unwrap();
    assert_eq!(calls(dir.path()), "file:///f application/x-fmu-sharedlibrary Instantiate(i,{guid},1)");
    let made = (Status::Warning, Some("cat".to_owned()), "made 1".to_owned());
    assert_eq!(*notes.logged.lock().unwrap(), std::slice::from_ref(&made));
    let instance = instance.enter_initialization_mode(0.5, Some(2.0), None).unwrap();
    set_and_get(&instance);
    assert_eq!(calls(dir.path()), format!("InitializeSlave(0.5,1,2) {SET_AND_GET}"));
    refuses(&instance);
    instance.exit_initialization_mode().unwrap().end().unwrap();
    assert_eq!(calls(dir.path()), "TerminateSlave FreeSlaveInstance");

    let (dir, loaded) = library(&[VERSION1, FMI1], Abi::Fmi1, Interface::ModelExchange);
    let notes: Arc<Notes> = Arc::default();
    let loaded = loaded.unwrap();
    let instance = loaded.instantiate(&MadeFor::ModelExchange, "i", "{guid}", None, false, notes.clone()).unwrap();
    let instance = instance.enter_initialization_mode(0.5, None, None).unwrap();
    refuses(&instance);
    set_and_get(&instance);
    let instance = instance.exit_initialization_mode().unwrap();
    assert_eq!(*notes.logged.lock().unwrap(), [made]);
    drop(instance);
    let start = "Instantiate(i,{guid},0) SetTime(0.5) Initialize";
    assert_eq!(calls(dir.path()), format!("{start} {SET_AND_GET} Terminate FreeModelInstance"));
}

/// FMI 2.0.5, 2.1.3: what was asked for is not there, and the instance can go on; after an Error it cannot.
#[test]
fn a_discard_of_co_simulation_leaves_the_instance_as_it_is() {
    let (dir, loaded) = library(&[VERSION2, FMI2], Abi::Fmi2, Interface::CoSimulation);
    let loaded = loaded.unwrap();
    let instance = loaded.instantiate(&slave(), "i", "", None, true, Arc::<Notes>::default()).unwrap();
    let set = || instance.set_values(R, VariableType::Float64, &Values::Float64(vec![1.0]));
    answer(dir.path(), 2);
    let discarded = set().unwrap_err();
    assert_eq!((discarded.status, discarded.refused, instance.health()), (Status::Discard, false, Health::Healthy));
    // A status that an adapter has for itself, and one that is none, are errors when an FMU returns them.
    answer(dir.path(), c_int::MIN);
    let error = set().unwrap_err();
    assert_eq!((error.status, error.refused, instance.health()), (Status::Error, false, Health::Failed));
    calls(dir.path());
    drop(instance);
    assert_eq!(calls(dir.path()), "FreeInstance");
}

#[test]
fn an_instance_that_cannot_be_set_up_is_not_initialised() {
    let (dir, loaded) = library(&[VERSION2, FMI2], Abi::Fmi2, Interface::CoSimulation);
    let loaded = loaded.unwrap();
    let instance = loaded.instantiate(&slave(), "i", "", None, true, Arc::<Notes>::default()).unwrap();
    answer(dir.path(), 3);
    calls(dir.path());
    assert!(instance.enter_initialization_mode(0.0, None, None).is_err());
    assert_eq!(calls(dir.path()), "SetupExperiment(0,0,0,0) FreeInstance");
}

#[test]
fn another_version_platform_or_interface_is_refused_by_name() {
    use Interface::{CoSimulation, ModelExchange};
    let refused = |parts: &[&str], abi, interface| library(parts, abi, interface).1.unwrap_err();
    let said = |platform, version| format!("#define PLATFORM \"{platform}\"\n#define VERSION \"{version}\"\n");

    let error = refused(&[&said("default", "3.0"), FMI2], Abi::Fmi2, CoSimulation);
    assert!(error.to_string().ends_with("fmi2GetVersion says \"3.0\"; only 2.0 can run"), "{error}");
    let error = refused(&[&said("standard64", "2.0"), FMI2], Abi::Fmi2, CoSimulation);
    let words = "fmi2GetTypesPlatform says \"standard64\"; only FMUs of the platform \"default\" can be called";
    assert!(error.to_string().ends_with(words), "{error}");

    let error = refused(&[&said("standard32", "2.0"), SLAVE, FMI1], Abi::Fmi1, CoSimulation);
    assert!(error.to_string().ends_with("fmiGetVersion says \"2.0\"; only 1.0 can run"), "{error}");
    let error = refused(&[&said("default", "1.0"), FMI1], Abi::Fmi1, ModelExchange);
    assert!(error.to_string().contains("fmiGetModelTypesPlatform says \"default\"; only FMUs of"), "{error}");

    // Each of them tells what it is instead of what it is not.
    let speaks = |error: LoadError| match error.kind {
        LoadErrorKind::Abi { expected, speaks, sign } => (expected, speaks, sign),
        other => panic!("{other:?}"),
    };
    let found = speaks(refused(&[VERSION2, FMI2], Abi::Fmi3, CoSimulation));
    assert_eq!(found, (Abi::Fmi3, Abi::Fmi2, "fmi2GetVersion".to_owned()));
    let found = speaks(refused(&[VERSION2, FMI2], Abi::Fmi1, CoSimulation));
    assert_eq!(found, (Abi::Fmi1, Abi::Fmi2, "fmi2GetVersion".to_owned()));
    let found = speaks(refused(&[VERSION1, SLAVE, FMI1], Abi::Fmi2, CoSimulation));
    assert_eq!(found, (Abi::Fmi2, Abi::Fmi1, "fmiGetVersion".to_owned()));

    // A slave is no model, and none of both has partitions.
    let error = refused(&[VERSION1, SLAVE, FMI1], Abi::Fmi1, ModelExchange);
    assert!(error.to_string().contains("that Model Exchange (FMI 1.0) needs: fmi"), "{error}");
    assert!(error.to_string().contains("fmiInstantiateModel"), "{error}");
    let error = refused(&[VERSION2, FMI2], Abi::Fmi2, Interface::ScheduledExecution);
    assert!(error.to_string().ends_with("needs: fmi3InstantiateScheduledExecution"), "{error}");
}

/// An FMU of FMI 3.0 exports what its interface types have, and no more is asked of it.
#[test]
fn of_fmi3_only_the_functions_of_the_interface_type_are_asked_for() {
    let of_scheduled_execution = ["InstantiateScheduledExecution", "ActivateModelPartition"];
    let names = Function::ALL.iter().map(|f| f.name_in(Abi::Fmi3)).filter(|name| name.starts_with("fmi3"));
    let text: String = names
        .filter(|name| !of_scheduled_execution.contains(&&name[4..]) && *name != "fmi3GetVersion")
        .map(|name| format!("int {name}(void) {{ return 0; }}\n"))
        .chain(["const char* fmi3GetVersion(void) { return \"3.0\"; }".to_owned()])
        .collect();
    let dir = TempDir::new().unwrap();
    let path = compile(dir.path(), "m", &text, &[]);
    for interface in [Interface::CoSimulation, Interface::ModelExchange] {
        assert!(Library::load(&path, Abi::Fmi3, interface).is_ok(), "{interface:?}");
    }
    let error = Library::load(&path, Abi::Fmi3, Interface::ScheduledExecution).unwrap_err();
    let LoadErrorKind::MissingSymbols { missing, .. } = error.kind else { panic!("{error}") };
    assert_eq!(missing.len(), 2, "{missing:?}");
}

thread_local! {
    static SET: RefCell<Vec<Vec<c_int>>> = const { RefCell::new(Vec::new()) };
}

/// A table filled by hand needs no library. What C holds as another type crosses in pieces that are as long as the stack has
/// room for, in order and without a gap.
#[test]
fn long_batches_of_converted_values_cross_in_pieces() {
    // SAFETY (of calling it): looks at no pointer.
    unsafe extern "C" fn instantiate(
        _: RawString,
        _: c_int,
        _: RawString,
        _: RawString,
        _: *const Fmi2Callbacks,
        _: c_int,
        _: c_int,
    ) -> RawInstance {
        std::ptr::dangling_mut()
    }
    // SAFETY (of calling it): there are `n` values.
    unsafe extern "C" fn set(_: RawInstance, _: *const RawReference, n: usize, values: *const c_int) -> RawStatus {
        // SAFETY: this function's contract.
        let values = unsafe { std::slice::from_raw_parts(values, n) };
        SET.with_borrow_mut(|all| all.push(values.to_vec()));
        0
    }
    // SAFETY (of calling it): there are `n` references and room for `n` values.
    unsafe extern "C" fn get(_: RawInstance, r: *const RawReference, n: usize, values: *mut c_int) -> RawStatus {
        for at in 0..n {
            // SAFETY: this function's contract.
            unsafe { *values.add(at) = -(*r.add(at) as c_int) };
        }
        0
    }
    let table = Fmi2Functions { instantiate, set_integer: set, get_integer: get, ..Fmi2Functions::refusing() };
    let library = Arc::new(Library::from_functions(table.into()));
    let instance = library.instantiate(&slave(), "i", "", None, false, Arc::<Notes>::default()).unwrap();
    let items = |n| (0..n).map(|i| (ValueReference(i), 1)).collect::<Vec<_>>();
    let mut batch = Batch::new(VariableType::Enumeration, items(600));
    for element in 0..600 {
        batch.set_word(element, element as u64);
    }
    instance.shared.set_batch(&batch).unwrap();
    let set = SET.take();
    assert_eq!(set.iter().map(Vec::len).collect::<Vec<_>>(), [256, 256, 88]);
    assert_eq!(set.concat(), (0..600).collect::<Vec<c_int>>());
    instance.shared.get_batch(&mut batch).unwrap();
    assert!((0..600).all(|element| batch.word(element) as i64 == -(element as i64)));
    // One that does not fit keeps all of them back.
    batch.set_word(599, 1 << 40);
    assert!(instance.shared.set_batch(&batch).unwrap_err().refused);
    assert_eq!(SET.take(), Vec::<Vec<c_int>>::new());
    assert_eq!(instance.health(), Health::Healthy);
}

/// The names of the standards' headers, of which a list that is wrong would be found with nobody's FMU.
#[test]
fn functions_have_the_names_of_each_version() {
    use Function::*;
    let names = [
        (GetFloat64, ["fmiGetReal", "fmi2GetReal", "fmi3GetFloat64", "fmi3GetFloat64"]),
        (InstantiateCoSimulation, ["fmiInstantiateSlave", "fmi2Instantiate", "fmi3InstantiateCoSimulation", ""]),
        (
            InstantiateModelExchange,
            ["fmiInstantiateModel", "fmi2Instantiate", "fmi3InstantiateModelExchange", "fmi3InstantiateModelExchange"],
        ),
        (UpdateDiscreteStates, ["fmiEventUpdate", "fmi2NewDiscreteStates", "fmi3UpdateDiscreteStates", ""]),
        (DeserializeFMUState, ["", "fmi2DeSerializeFMUstate", "fmi3DeserializeFMUState", "fmi3DeSerializeFMUState"]),
        (SetupExperiment, ["", "fmi2SetupExperiment", "", ""]),
        (EnterEventMode, ["", "fmi2EnterEventMode", "fmi3EnterEventMode", "fmi3EnterEventMode"]),
        (GetContinuousStateDerivatives, ["fmiGetDerivatives", "fmi2GetDerivatives", "", "fmi3GetDerivatives"]),
        (GetStateValueReferences, ["fmiGetStateValueReferences", "", "", ""]),
    ];
    for (function, names) in names {
        for (abi, name) in [Abi::Fmi1, Abi::Fmi2, Abi::Fmi3, Abi::Draft].into_iter().zip(names) {
            assert!(name.is_empty() || function.name_in(abi) == name, "{abi:?}: {}", function.name_in(abi));
        }
    }
    assert_eq!((SetupExperiment.name(), GetFloat64.name()), ("fmi2SetupExperiment", "fmi3GetFloat64"));
    for (number, function) in Function::ALL.iter().enumerate() {
        assert!(CString::new(function.name()).is_ok() && function.name().starts_with("fmi"), "{function}");
        assert_eq!(Function::from_u32(number as u32), Some(*function));
    }
}
