//! The loop that a user would write for this one FMU: who is due at which millisecond is worked out beforehand, values are
//! copied from the outputs of a clock to its inputs, and every status is looked at.

use super::idle::{PERIODS, VALUES, period, references};
use libloading::{Library, Symbol};
use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::time::Instant;

// SAFETY of the types below: they are those of FMI 3.0 for the functions that they are used for, as `symbol` demands.
type Instantiate = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const c_char,
    bool,
    bool,
    *mut c_void,
    *const c_void,
    extern "C" fn(*mut c_void),
    extern "C" fn(),
    extern "C" fn(),
) -> *mut c_void;
// SAFETY: as above.
type Set = unsafe extern "C" fn(*mut c_void, *const u32, usize, *const f64, usize) -> i32;
type Get = unsafe extern "C" fn(*mut c_void, *const u32, usize, *mut f64, usize) -> i32;
// SAFETY: as above.
type Activate = unsafe extern "C" fn(*mut c_void, u32, f64) -> i32;
type Free = unsafe extern "C" fn(*mut c_void);

extern "C" fn update(_: *mut c_void) {}
extern "C" fn preemption() {}

struct Clock {
    reference: u32,
    inputs: [u32; VALUES],
    outputs: [u32; VALUES],
    u: [f64; VALUES],
    y: [f64; VALUES],
    computed: bool,
}

/// Runs about so many activations: nanoseconds per activation.
pub fn run(library: &Path, clocks: usize, connected: bool, activations: u64) -> Result<f64, String> {
    // SAFETY: `idle.c` does nothing when it is loaded, and its functions have the types of the standard.
    let library = unsafe { Library::new(library) }.map_err(|error| error.to_string())?;
    // SAFETY: as above.
    let (instantiate, free, set, get, activate) = unsafe {
        (
            symbol::<Instantiate>(&library, c"fmi3InstantiateScheduledExecution")?,
            symbol::<Free>(&library, c"fmi3FreeInstance")?,
            symbol::<Set>(&library, c"fmi3SetFloat64")?,
            symbol::<Get>(&library, c"fmi3GetFloat64")?,
            symbol::<Activate>(&library, c"fmi3ActivateModelPartition")?,
        )
    };
    let mut clocks: Vec<Clock> = (0..clocks).map(clock).collect();
    let cycle: u64 = 2 * PERIODS.iter().max().copied().unwrap_or(1);
    let due: Vec<Vec<usize>> = (0..cycle)
        .map(|ms| {
            // As vecud orders them: the same work, in the same places.
            let mut due: Vec<usize> = (0..clocks.len()).filter(|&clock| ms % period(clock) == 0).collect();
            due.sort_by_key(|clock| clock % PERIODS.len());
            due
        })
        .collect();
    let (name, token) = (c"idle", c"{vecud-idle}");
    // SAFETY: strings and functions that live until the instance is freed.
    let instance = unsafe {
        let none = std::ptr::null_mut();
        let (name, token) = (name.as_ptr(), token.as_ptr());
        instantiate(name, token, std::ptr::null(), false, false, none, none, update, preemption, preemption)
    };
    if instance.is_null() {
        return Err("there is no instance".to_owned());
    }
    let (mut done, mut went_well) = (0, true);
    let start = Instant::now();
    for ms in 0.. {
        if done >= activations {
            break;
        }
        let due = &due[(ms % cycle) as usize];
        done += due.len() as u64;
        let time = ms as f64 / 1000.0;
        for &clock in due {
            let clock = &mut clocks[clock];
            // SAFETY: the instance is there, and as many references and values as said.
            unsafe {
                if clock.computed {
                    went_well &= set(instance, clock.inputs.as_ptr(), VALUES, clock.u.as_ptr(), VALUES) == 0;
                }
                went_well &= activate(instance, clock.reference, time) == 0;
                if connected {
                    went_well &= get(instance, clock.outputs.as_ptr(), VALUES, clock.y.as_mut_ptr(), VALUES) == 0;
                    clock.u = clock.y;
                    clock.computed = true;
                }
            }
        }
    }
    let nanos = start.elapsed().as_nanos() as f64 / done as f64;
    // SAFETY: it was instantiated, and nobody uses it any more.
    unsafe { free(instance) };
    if went_well { Ok(nanos) } else { Err("a call went wrong".to_owned()) }
}

/// A function of the library.
///
/// # Safety
/// `F` must be its type.
// SAFETY: told above; nothing is called here.
unsafe fn symbol<'a, F>(library: &'a Library, name: &CStr) -> Result<Symbol<'a, F>, String> {
    // SAFETY: the caller says that it is of this type.
    unsafe { library.get(name.to_bytes_with_nul()) }.map_err(|error| error.to_string())
}

fn clock(number: usize) -> Clock {
    let (reference, input, output) = references(number);
    let from = |first: u32| std::array::from_fn(|value| first + value as u32);
    Clock { reference, inputs: from(input), outputs: from(output), u: [0.0; VALUES], y: [0.0; VALUES], computed: false }
}
