//! The code of one FMU: a shared library with its function table.
//!
//! The library stays loaded for as long as anything can call into it: every instance holds it, and after `fmi3Fatal` (no
//! function may be called any more, and who knows what still runs in there) it is never unloaded.
//!
//! Loading an FMU means trusting it: its code runs inside this process, already while it is loaded.

use super::environment::Environment;
use super::function::Function;
use super::functions::Functions;
use crate::fmu::description::Abi;
use crate::sys::float_control;
use crate::sys::prefetch::prefetch;
use libloading::os::unix;
use std::ffi::CStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A loaded FMU binary. One for each FMU, shared by all its instances: `fmi3Fatal` concerns all of them.
pub struct Library {
    functions: Functions,
    missing: Vec<Function>,
    version: String,
    /// One instance answered `fmi3Fatal`: none may be called.
    fatal: AtomicBool,
    /// The environments handed to instances. C may hold on to their addresses beyond `fmi3FreeInstance` (a thread of the
    /// FMU that logs late), so they live as long as the code that could use them.
    environments: Mutex<Vec<Arc<Environment>>>,
    /// Beside the pointers that it yielded; absent for tables filled by hand.
    handle: Option<unix::Library>,
}

impl Library {
    /// Loads the shared library of an FMU with Scheduled Execution that speaks `abi`: all symbols bound now, none visible
    /// to others. What the library exports and says of its version must not belong to the other one, whose functions have
    /// other arguments under the same names.
    pub fn load(path: &Path, abi: Abi) -> Result<Library, LoadError> {
        let failed = |reason: LoadErrorKind| LoadError { path: path.to_path_buf(), kind: reason };
        // A name without a slash would be searched for in the system's directories.
        let absolute = std::path::absolute(path).map_err(|e| failed(LoadErrorKind::Open(e.to_string())))?;
        // SAFETY: runs the library's initialisers. That they are sound is the trust that loading an FMU is; nothing of
        // ours is lent to them.
        let opened = unsafe { unix::Library::open(Some(&absolute), unix::RTLD_NOW | unix::RTLD_LOCAL) };
        // An initialiser of a library built with -ffast-math changes the floating-point control word of this thread.
        float_control::default_fp_control();
        let handle = opened.map_err(|e| failed(why_not_opened(&absolute, words_of(&e))))?;
        let symbol = |name: &str| {
            // SAFETY: only the address is taken; nothing is read through the pointer type named here.
            let found = unsafe { handle.get::<*mut std::ffi::c_void>(name) };
            found.map_or(std::ptr::null_mut(), |symbol| symbol.as_raw_ptr())
        };
        let exported = |names: &[&'static str]| names.iter().copied().find(|name| !symbol(name).is_null());
        if let (None, Some(sign)) = (exported(signs(abi)), exported(signs(other(abi)))) {
            return Err(failed(LoadErrorKind::Abi { expected: abi, sign: sign.to_owned() }));
        }
        // SAFETY: the addresses come from the symbols of these names in an FMU binary, whose signatures the standard
        // fixes; it speaks what was asked for, or nothing shows that it does not; `handle` moves into the same
        // value as the table, so they stay mapped.
        let (functions, missing) = unsafe { Functions::load(abi, |function| symbol(function.name_in(abi))) };
        // The draft does not say that all functions must be there, as FMI 3.0 does.
        let unbearable = |function: &Function| abi == Abi::Fmi3 || CORE.contains(function);
        if missing.iter().any(unbearable) {
            let missing = missing.into_iter().filter(unbearable).collect();
            return Err(failed(LoadErrorKind::MissingSymbols { abi, missing }));
        }
        let library = Library::assemble(functions, missing, Some(handle));
        match spoken_by(&library.version) {
            of if of.contains(&abi) => Ok(library),
            [] => Err(failed(LoadErrorKind::Version(library.version.clone()))),
            _ => {
                let sign = format!("version {}", library.version);
                Err(failed(LoadErrorKind::Abi { expected: abi, sign }))
            }
        }
    }

    /// An FMU whose functions were put together by hand. Its version is not checked.
    pub fn from_functions(functions: Functions) -> Library {
        Library::assemble(functions, Vec::new(), None)
    }

    fn assemble(functions: Functions, missing: Vec<Function>, handle: Option<unix::Library>) -> Library {
        float_control::default_fp_control();
        // SAFETY: `fmi3GetVersion` has no arguments, may always be called, and returns NULL (wrongly) or a string that
        // lives as long as the library, which is still loaded here; it is copied at once.
        let version = unsafe {
            let raw = (functions.get_version)();
            if raw.is_null() { String::new() } else { CStr::from_ptr(raw).to_string_lossy().into_owned() }
        };
        Library { functions, missing, version, fatal: AtomicBool::new(false), environments: Mutex::default(), handle }
    }

    /// What `fmi3GetVersion` says.
    pub fn version(&self) -> String {
        self.version.clone()
    }

    /// Where its code is: the address of a function of it.
    pub fn address(&self) -> usize {
        self.functions.get_version as usize
    }

    /// Which of the functions that Scheduled Execution has this library of the draft lacks. They refuse.
    pub fn missing(&self) -> &[Function] {
        &self.missing
    }

    /// Whether some instance answered `fmi3Fatal`, so that no instance of this FMU may be called.
    pub fn is_fatal(&self) -> bool {
        self.fatal.load(Ordering::Acquire)
    }

    /// Asks for the memory that the calls of activations look at.
    #[inline]
    pub(super) fn prefetch(&self) {
        let Functions { set_float64, get_float64, own, .. } = &self.functions;
        prefetch(&self.fatal);
        prefetch(set_float64);
        prefetch(get_float64);
        prefetch(own);
    }

    pub(super) fn set_fatal(&self) {
        self.fatal.store(true, Ordering::Release);
    }

    pub(super) fn functions(&self) -> &Functions {
        &self.functions
    }

    /// Keeps an environment alive as long as the code that may call back with it.
    pub(super) fn keep(&self, environment: Arc<Environment>) {
        self.environments.lock().unwrap_or_else(PoisonError::into_inner).push(environment);
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        if *self.fatal.get_mut() {
            // Never dlclose after a Fatal: leave the code mapped, and what it may call back with alive.
            std::mem::forget(self.handle.take());
            std::mem::forget(std::mem::take(self.environments.get_mut().unwrap_or_else(PoisonError::into_inner)));
        }
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library").field("version", &self.version).field("fatal", &self.is_fatal()).finish()
    }
}

/// What `fmi3GetVersion` may say in which dialect: 3.0, its patch releases, and later minor versions, which only add what may
/// be ignored (FMI 3.0.2, 2.6); the alphas before it, or what they were to become.
fn spoken_by(version: &str) -> &'static [Abi] {
    match version {
        "3.0" => &[Abi::Fmi3, Abi::Draft],
        alpha if alpha.starts_with("3.0-alpha") => &[Abi::Draft],
        other if other.starts_with("3.") => &[Abi::Fmi3],
        _ => &[],
    }
}

/// What no FMU of the draft can do without, whatever its variables are.
pub(super) const CORE: &[Function] = &[
    Function::GetVersion,
    Function::SetDebugLogging,
    Function::InstantiateScheduledExecution,
    Function::FreeInstance,
    Function::EnterInitializationMode,
    Function::ExitInitializationMode,
    Function::Terminate,
    Function::GetClock,
    Function::ActivateModelPartition,
];

/// Functions that only libraries with that interface export.
fn signs(abi: Abi) -> &'static [&'static str] {
    match abi {
        Abi::Fmi1 | Abi::Fmi2 => &[],
        Abi::Fmi3 => &["fmi3DeserializeFMUState", "fmi3GetShiftDecimal", "fmi3GetContinuousStateDerivatives"],
        Abi::Draft => &["fmi3DeSerializeFMUState", "fmi3GetDerivatives"],
    }
}

fn other(abi: Abi) -> Abi {
    match abi {
        Abi::Fmi1 | Abi::Fmi2 | Abi::Fmi3 => Abi::Draft,
        Abi::Draft => Abi::Fmi3,
    }
}

/// dlopen's own words, which `libloading` keeps one level down.
fn words_of(error: &libloading::Error) -> String {
    match error {
        libloading::Error::DlOpen { source } => source.to_string(),
        other => other.to_string(),
    }
}

/// Whether dlopen complains of the library itself or of what it needs.
fn why_not_opened(path: &Path, words: String) -> LoadErrorKind {
    let unresolved = ["cannot open shared object file", "undefined symbol", "version `"];
    if path.is_file() && unresolved.iter().any(|sign| words.contains(sign)) {
        LoadErrorKind::Dependency(words)
    } else {
        LoadErrorKind::Open(words)
    }
}

/// Why a shared library is no FMU that can run here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// Which library.
    pub path: PathBuf,
    /// What is wrong with it.
    pub kind: LoadErrorKind,
}

/// What is wrong with a shared library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadErrorKind {
    /// It cannot be opened; dlopen's words.
    Open(String),
    /// Something that it depends on is not there; dlopen's words.
    Dependency(String),
    /// It does not export all that Scheduled Execution needs.
    MissingSymbols {
        /// As which it was loaded.
        abi: Abi,
        /// What is not there.
        missing: Vec<Function>,
    },
    /// It speaks the other dialect.
    Abi {
        /// As which it was loaded.
        expected: Abi,
        /// What shows that: a function that it exports, or its version.
        sign: String,
    },
    /// It speaks another version of FMI.
    Version(String),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.kind {
            LoadErrorKind::Open(words) => write!(f, "{path}: cannot be loaded: {words}"),
            LoadErrorKind::Dependency(words) => write!(
                f,
                "{path}: cannot be loaded, since it needs something that is not installed here: {words}\n  \
                 The FMU's documentation/ folder (externalDependencies) may say what to install."
            ),
            LoadErrorKind::MissingSymbols { abi, missing } => {
                let names: Vec<&str> = missing.iter().map(|f| f.name_in(*abi)).collect();
                let (count, s) = (names.len(), if names.len() == 1 { "" } else { "s" });
                let version = if *abi == Abi::Draft { "draft of FMI 3.0" } else { "FMI 3.0" };
                let names = names.join(", ");
                write!(f, "{path}: {count} function{s} missing that Scheduled Execution ({version}) needs: {names}")
            }
            LoadErrorKind::Abi { expected, sign } => write!(
                f,
                "{path}: the model description is that of {}, but the library speaks {}: it has {sign}",
                expected.name(),
                other(*expected).name()
            ),
            LoadErrorKind::Version(version) if version.is_empty() => {
                write!(f, "{path}: fmi3GetVersion returns no version")
            }
            LoadErrorKind::Version(version) => {
                write!(f, "{path}: fmi3GetVersion says \"{version}\"; only FMI 3 can run")
            }
        }
    }
}

impl std::error::Error for LoadError {}
