//! A small importer of Model Exchange, for FMUs of all versions: fixed steps of RK4, events located by repeating a step, nothing of the
//! program's. `importer.h` is its side in C, which is linked into the library of each FMU.

use libloading::Library;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use vecud::fmu::description::{self, Abi, ModelDescription};

/// Status codes, the same in all versions.
pub const OK: i32 = 0;
pub const DISCARD: i32 = 2;
pub const ERROR: i32 = 3;

/// What an iteration of an event has told.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Update {
    needs_update: i32,
    pub terminate: i32,
    nominals_changed: i32,
    pub values_changed: i32,
    has_next: i32,
    next: f64,
}

thread_local! {
    static MESSAGES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// What FMUs have logged on this thread since the last time somebody asked.
pub fn messages() -> Vec<String> {
    MESSAGES.take()
}

// SAFETY (of calling it): the message is a text that ends with a zero byte.
pub unsafe extern "C" fn log(message: *const c_char) {
    // SAFETY: this function's contract.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    MESSAGES.with_borrow_mut(|messages| messages.push(text));
}

macro_rules! functions {
    ($($name:ident($($argument:ty),*) -> $result:ty;)*) => {
        struct Functions { $($name: unsafe extern "C" fn($($argument),*) -> $result,)* }

        impl Functions {
            fn of(library: &Library) -> Functions {
                // SAFETY: importer.h declares each of them with these arguments.
                unsafe { Functions { $($name: *library.get(concat!("importer_", stringify!($name)).as_bytes()).unwrap(),)* } }
            }
        }
    };
}

type Raw = *mut c_void;

functions! {
    new(*const c_char, unsafe extern "C" fn(*const c_char)) -> Raw;
    free(Raw) -> ();
    set_debug_logging(Raw, i32) -> i32;
    number_of_states(Raw, *mut usize) -> i32;
    number_of_indicators(Raw, *mut usize) -> i32;
    resize(Raw, u32, u64) -> i32;
    set_up(Raw, f64) -> i32;
    enter_initialization(Raw, f64) -> i32;
    exit_initialization(Raw, *mut Update) -> i32;
    enter_event_mode(Raw) -> i32;
    update(Raw, *mut Update) -> i32;
    enter_continuous_time(Raw) -> i32;
    terminate(Raw) -> i32;
    reset(Raw) -> i32;
    set_time(Raw, f64) -> i32;
    set_states(Raw, *const f64, usize) -> i32;
    get_states(Raw, *mut f64, usize) -> i32;
    get_derivatives(Raw, *mut f64, usize) -> i32;
    get_indicators(Raw, *mut f64, usize) -> i32;
    get_nominals(Raw, *mut f64, usize) -> i32;
    completed(Raw, *mut i32, *mut i32) -> i32;
    set_real(Raw, u32, f64) -> i32;
    get_reals(Raw, u32, *mut f64, usize) -> i32;
    set_integer(Raw, u32, i32) -> i32;
    get_integer(Raw, u32, *mut i32) -> i32;
    set_text(Raw, u32, *const c_char) -> i32;
    directional(Raw, *const u32, usize, *const u32, usize, *const f64, *mut f64) -> i32;
    save(Raw, *mut Raw) -> i32;
    restore(Raw, Raw) -> i32;
    forget(Raw, *mut Raw) -> i32;
}

/// An instance of an FMU of this repository. Its functions answer as the FMU does.
pub struct Fmu {
    functions: Functions,
    raw: Raw,
    pub description: ModelDescription,
    pub states: usize,
    pub indicators: usize,
    _library: Library,
}

macro_rules! call {
    ($fmu:ident.$name:ident($($argument:expr),*)) => {
        // SAFETY: the instance is not freed yet, the arguments are what importer.h says, and what pointers lead to outlives the call.
        unsafe { ($fmu.functions.$name)($fmu.raw, $($argument),*) }
    };
}

impl Fmu {
    /// A new instance of `fmus/NAME`, which has so many states and event indicators.
    pub fn new(name: &str, states: usize, indicators: usize) -> Fmu {
        let folder = folder(name);
        let description = fs::read_to_string(folder.join("modelDescription.xml")).unwrap();
        let description = description::parse(&description).unwrap();
        let file = built(name, &description);
        // SAFETY: these libraries have no initialisers.
        let library = unsafe { Library::new(&file) }.unwrap();
        let functions = Functions::of(&library);
        let raw = instantiate(&functions, &description);
        Fmu { functions, raw, description, states, indicators, _library: library }
    }

    /// Puts a new instance in the place of this one.
    pub fn renew(&mut self) {
        call!(self.free());
        self.raw = instantiate(&self.functions, &self.description);
    }

    /// The value reference of a variable.
    pub fn reference(&self, name: &str) -> u32 {
        self.description.variable(name).unwrap_or_else(|| panic!("there is no {name}")).value_reference.0
    }

    pub fn set_debug_logging(&self) -> i32 {
        call!(self.set_debug_logging(1))
    }

    /// The number of states, where the FMU's version has it say so.
    pub fn number_of_states(&self) -> (i32, usize) {
        let mut number = self.states;
        (call!(self.number_of_states(&mut number)), number)
    }

    /// The number of event indicators, where the FMU's version has it say so.
    pub fn number_of_indicators(&self) -> (i32, usize) {
        let mut number = self.indicators;
        (call!(self.number_of_indicators(&mut number)), number)
    }

    /// Sets a structural parameter, in Configuration Mode.
    pub fn resize(&self, reference: u32, value: u64) -> i32 {
        call!(self.resize(reference, value))
    }

    pub fn set_up(&self, start: f64) -> i32 {
        call!(self.set_up(start))
    }

    pub fn enter_initialization(&self, start: f64) -> i32 {
        call!(self.enter_initialization(start))
    }

    pub fn exit_initialization(&self, update: &mut Update) -> i32 {
        call!(self.exit_initialization(update))
    }

    pub fn enter_event_mode(&self) -> i32 {
        call!(self.enter_event_mode())
    }

    pub fn update(&self, update: &mut Update) -> i32 {
        call!(self.update(update))
    }

    pub fn enter_continuous_time(&self) -> i32 {
        call!(self.enter_continuous_time())
    }

    pub fn terminate(&self) -> i32 {
        call!(self.terminate())
    }

    pub fn reset(&self) -> i32 {
        call!(self.reset())
    }

    pub fn set_time(&self, time: f64) -> i32 {
        call!(self.set_time(time))
    }

    pub fn set_states(&self, x: &[f64]) -> i32 {
        call!(self.set_states(x.as_ptr(), x.len()))
    }

    pub fn get_states(&self, x: &mut [f64]) -> i32 {
        call!(self.get_states(x.as_mut_ptr(), x.len()))
    }

    pub fn get_derivatives(&self, dx: &mut [f64]) -> i32 {
        call!(self.get_derivatives(dx.as_mut_ptr(), dx.len()))
    }

    pub fn get_indicators(&self, z: &mut [f64]) -> i32 {
        call!(self.get_indicators(z.as_mut_ptr(), z.len()))
    }

    pub fn get_nominals(&self, nominals: &mut [f64]) -> i32 {
        call!(self.get_nominals(nominals.as_mut_ptr(), nominals.len()))
    }

    /// The second result: whether the FMU wants to enter Event Mode, and to end.
    pub fn completed(&self) -> (i32, [bool; 2]) {
        let (mut enter, mut terminate) = (0, 0);
        let status = call!(self.completed(&mut enter, &mut terminate));
        (status, [enter != 0, terminate != 0])
    }

    pub fn set_real(&self, reference: u32, value: f64) -> i32 {
        call!(self.set_real(reference, value))
    }

    pub fn get_reals(&self, reference: u32, values: &mut [f64]) -> i32 {
        call!(self.get_reals(reference, values.as_mut_ptr(), values.len()))
    }

    pub fn set_integer(&self, reference: u32, value: i32) -> i32 {
        call!(self.set_integer(reference, value))
    }

    pub fn get_integer(&self, reference: u32, value: &mut i32) -> i32 {
        call!(self.get_integer(reference, value))
    }

    pub fn set_text(&self, reference: u32, value: &str) -> i32 {
        let value = CString::new(value).unwrap();
        call!(self.set_text(reference, value.as_ptr()))
    }

    pub fn directional(&self, unknowns: &[u32], knowns: &[u32], seed: &[f64], sensitivity: &mut [f64]) -> i32 {
        assert_eq!((knowns.len(), unknowns.len()), (seed.len(), sensitivity.len()));
        call!(self.directional(
            unknowns.as_ptr(),
            unknowns.len(),
            knowns.as_ptr(),
            knowns.len(),
            seed.as_ptr(),
            sensitivity.as_mut_ptr()
        ))
    }

    /// Makes a saved state, which restore_and_forget takes.
    pub fn save(&self) -> Raw {
        let mut state: Raw = std::ptr::null_mut();
        assert_eq!(call!(self.save(&mut state)), OK);
        state
    }

    pub fn restore_and_forget(&self, mut state: Raw) {
        assert_eq!(call!(self.restore(state)), OK);
        assert_eq!(call!(self.forget(&mut state)), OK);
        assert!(state.is_null());
    }

    /// The value of a variable by name; the FMU must be able to say it.
    pub fn real(&self, name: &str) -> f64 {
        let mut value = [f64::NAN];
        assert_eq!(self.get_reals(self.reference(name), &mut value), OK, "{name}: {:?}", messages());
        value[0]
    }

    /// As `real`, of an Int32 or Integer.
    pub fn integer(&self, name: &str) -> i32 {
        let mut value = 0;
        assert_eq!(self.get_integer(self.reference(name), &mut value), OK, "{name}: {:?}", messages());
        value
    }

    /// Sets a variable by name; the FMU must allow it.
    pub fn set(&self, name: &str, value: f64) {
        assert_eq!(self.set_real(self.reference(name), value), OK, "{name}: {:?}", messages());
    }
}

impl Drop for Fmu {
    fn drop(&mut self) {
        call!(self.free());
    }
}

fn instantiate(functions: &Functions, description: &ModelDescription) -> Raw {
    let token = CString::new(description.instantiation_token.as_str()).unwrap();
    // SAFETY: the text ends with a zero byte; the function for messages is there as long as the program.
    let raw = unsafe { (functions.new)(token.as_ptr(), log) };
    assert!(!raw.is_null(), "{} cannot be instantiated: {:?}", description.model_name, messages());
    raw
}

pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(name)
}

/// The library of an FMU, which is made once for all tests of this program.
fn built(name: &str, description: &ModelDescription) -> PathBuf {
    static BUILT: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let folders = Path::new(env!("CARGO_TARGET_TMPDIR")).join("equations");
    let file = folders.join(format!("{name}.so"));
    let mut built = BUILT.lock().unwrap();
    if !built.iter().any(|other| other == name) {
        fs::create_dir_all(&folders).unwrap();
        // Not over a file that another process may have loaded.
        let _ = fs::remove_file(&file);
        build(&folder(name), description, &file);
        built.push(name.to_owned());
    }
    file
}

/// Compiles the sources of an FMU, and the importer's side in C, without a warning.
fn build(folder: &Path, description: &ModelDescription, file: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = folder.join("sources");
    let model = &description.interfaces[0].common().model_identifier;
    let (dialect, side): (&[&str], &str) = match description.abi {
        Abi::Fmi1 => (&["-Wl,-Bsymbolic"], "importer_fmi1.c"),
        Abi::Fmi2 => (&["-Wl,-Bsymbolic"], "importer_fmi2.c"),
        _ => (&["-fvisibility=hidden", "-DFMI3_OVERRIDE_FUNCTION_PREFIX"], "importer_fmi3.c"),
    };
    // In FMI 1.0, the file of the model's name has all others in it.
    let whole = sources.join(format!("{model}.c"));
    let files: Vec<PathBuf> = match description.abi {
        Abi::Fmi1 => vec![whole],
        _ => fs::read_dir(&sources)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|end| end == "c"))
            .collect(),
    };
    let output = Command::new("cc")
        .args([
            "-std=c11",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-D_GNU_SOURCE",
            "-O1",
            "-fPIC",
            "-ffp-contract=off",
            "-shared",
        ])
        .args(dialect)
        .arg("-I")
        .arg(root.join("crates/fmu/src/headers"))
        .arg("-I")
        .arg(&sources)
        .arg(format!("-DMODEL_IDENTIFIER={model}"))
        .args(files)
        .arg(root.join("tests/stepping/equations").join(side))
        .arg("-o")
        .arg(file)
        .args(["-lm", "-Wl,-z,defs"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}: {}", folder.display(), String::from_utf8_lossy(&output.stderr));
}

/// What has led to an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    Time,
    State,
    Step,
}

/// What sets the inputs of an FMU as they are at a time.
type Inputs<'a> = Box<dyn Fn(&Fmu, f64) + 'a>;

/// A run of an FMU in Continuous-Time Mode, between two steps.
pub struct Run<'a> {
    pub fmu: &'a Fmu,
    pub time: f64,
    pub x: Vec<f64>,
    /// When something is to happen that the FMU knows beforehand.
    next: Option<f64>,
    /// The FMU has asked for the end.
    pub over: bool,
    /// Whether each event indicator was above zero after the last step or event.
    domains: Vec<bool>,
    /// Called before each evaluation with its time.
    inputs: Inputs<'a>,
    pub events: Vec<(f64, Cause)>,
    /// How often a step was halved because the FMU has discarded it.
    pub halved: usize,
}

#[track_caller]
fn fine(status: i32) {
    assert_eq!(status, OK, "{:?}", messages());
}

impl<'a> Run<'a> {
    /// From before Initialization Mode into Continuous-Time Mode.
    pub fn begin(fmu: &'a Fmu, start: f64, inputs: impl Fn(&Fmu, f64) + 'a) -> Run<'a> {
        fine(fmu.set_up(start));
        fine(fmu.enter_initialization(start));
        let (x, domains) = (vec![0.0; fmu.states], vec![false; fmu.indicators]);
        let (events, inputs) = (Vec::new(), Box::new(inputs));
        let mut run = Run { fmu, time: start, x, next: None, over: false, domains, inputs, events, halved: 0 };
        (run.inputs)(fmu, start);
        let mut update = Update::default();
        fine(fmu.exit_initialization(&mut update));
        run.iterate(update);
        run
    }

    /// Iterates an event to its end, of which `update` is the last that is known, and leaves Event Mode.
    fn iterate(&mut self, mut update: Update) {
        let mut iterations = 0;
        while update.needs_update != 0 && update.terminate == 0 {
            fine(self.fmu.update(&mut update));
            iterations += 1;
            assert!(iterations < 100, "an event at {} does not end", self.time);
        }
        self.over = update.terminate != 0;
        self.next = (update.has_next != 0).then_some(update.next);
        if self.over {
            return;
        }
        fine(self.fmu.enter_continuous_time());
        fine(self.fmu.get_states(&mut self.x));
        self.domains = self.domains_now();
    }

    fn domains_now(&self) -> Vec<bool> {
        let mut z = vec![0.0; self.fmu.indicators];
        fine(self.fmu.get_indicators(&mut z));
        z.iter().map(|z| *z > 0.0).collect()
    }

    /// Has time and states be those of a point within the step.
    fn place(&self, time: f64, x: &[f64]) {
        fine(self.fmu.set_time(time));
        (self.inputs)(self.fmu, time);
        fine(self.fmu.set_states(x));
    }

    fn slope(&self, time: f64, x: &[f64]) -> Option<Vec<f64>> {
        self.place(time, x);
        let mut slope = vec![0.0; x.len()];
        match self.fmu.get_derivatives(&mut slope) {
            DISCARD => None,
            status => {
                fine(status);
                Some(slope)
            }
        }
    }

    /// The states after a step of RK4 from the present point to `end`, which the FMU then has; `None`: it has discarded it.
    fn try_step(&self, end: f64) -> Option<Vec<f64>> {
        let (t, h) = (self.time, end - self.time);
        let on = |slope: &[f64], h: f64| -> Vec<f64> { self.x.iter().zip(slope).map(|(x, k)| x + h * k).collect() };
        let k1 = self.slope(t, &self.x)?;
        let k2 = self.slope(t + 0.5 * h, &on(&k1, 0.5 * h))?;
        let k3 = self.slope(t + 0.5 * h, &on(&k2, 0.5 * h))?;
        let k4 = self.slope(end, &on(&k3, h))?;
        let slope: Vec<f64> = (0..self.x.len()).map(|i| (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]) / 6.0).collect();
        let x = on(&slope, h);
        // The next step begins there, so it must be possible.
        self.slope(end, &x)?;
        Some(x)
    }

    /// The first point in (`before`, `after`] at which an event indicator has changed its domain, to the last bits.
    fn locate(&self, mut before: f64, mut after: f64) -> f64 {
        loop {
            let middle = before + 0.5 * (after - before);
            if middle <= before || middle >= after {
                return after;
            }
            let has_changed = self.try_step(middle).is_none() || self.domains_now() != self.domains;
            match has_changed {
                true => after = middle,
                false => before = middle,
            }
        }
    }

    /// One step of at most `h`, not beyond `stop`, with the event that it leads to.
    pub fn step(&mut self, stop: f64, h: f64) {
        let until = self.next.map_or(stop, |next| next.min(stop));
        // Without a rest that would be no step.
        let mut end = if self.time + 1.000001 * h >= until { until } else { self.time + h };
        let mut x = self.try_step(end);
        while x.is_none() {
            self.halved += 1;
            end = self.time + 0.5 * (end - self.time);
            assert!(end > self.time, "no step from {} is possible: {:?}", self.time, messages());
            x = self.try_step(end);
        }
        let is_state_event = self.domains_now() != self.domains;
        if is_state_event {
            end = self.locate(self.time, end);
            x = self.try_step(end);
        }
        self.time = end;
        self.x = x.expect("it was tried before");
        let (status, [wants_event, terminate]) = self.fmu.completed();
        fine(status);
        self.over |= terminate;
        let cause = match () {
            () if is_state_event => Cause::State,
            () if self.next.is_some_and(|next| end >= next) => Cause::Time,
            () if wants_event => Cause::Step,
            () => return,
        };
        self.events.push((end, cause));
        fine(self.fmu.enter_event_mode());
        self.iterate(Update { needs_update: 1, ..Update::default() });
    }

    /// Steps of at most `h` to `stop`, or to where the FMU ends.
    pub fn to(&mut self, stop: f64, h: f64) {
        while self.time < stop && !self.over {
            self.step(stop, h);
        }
    }

    pub fn events_of(&self, cause: Cause) -> Vec<f64> {
        self.events.iter().filter(|(_, of)| *of == cause).map(|(time, _)| *time).collect()
    }
}
