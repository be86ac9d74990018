//! The code of one FMU: a shared library with its function table.
//!
//! The library stays loaded for as long as anything can call into it: every instance holds it, and after `fmi3Fatal` (no
//! function may be called any more, and its threads may still run) it is never unloaded.
//!
//! Loading an FMU means trusting it: its code runs inside this process, already while it is loaded.

use super::abi::{CInterface, Functions};
use super::environment::Environment;
use super::function::Function;
use super::types::RawString;
use libloading::os::unix;
use std::ffi::{CStr, c_void};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use vecud_description::{Abi, Interface};
use vecud_linux::float_control;
use vecud_linux::prefetch::prefetch;

/// A loaded FMU binary. One for each FMU, shared by all its instances: `fmi3Fatal` concerns all of them.
pub struct Library {
    functions: Functions,
    missing: Vec<Function>,
    version: String,
    /// Whether one instance answered `fmi3Fatal`: none may be called.
    fatal: AtomicBool,
    /// The environments handed to instances. C may hold on to their addresses beyond `fmi3FreeInstance` (a thread of the
    /// FMU that logs late), so they live as long as the code that could use them.
    environments: Mutex<Vec<Arc<Environment>>>,
    /// Beside the pointers that it yielded; absent for tables filled by hand.
    handle: Option<unix::Library>,
}

/// Loads a library whose symbols all code of the process gets that is loaded later, for as long as the process lives.
///
/// # Errors
/// The linker's words.
pub fn preload(file: &Path) -> Result<(), String> {
    // SAFETY: runs the library's initialisers, which is the trust that loading an FMU is, for whose sake it is loaded.
    let opened = unsafe { unix::Library::open(Some(file), unix::RTLD_NOW | unix::RTLD_GLOBAL) };
    float_control::default_fp_control();
    opened.map(std::mem::forget).map_err(|error| words_of(&error))
}

impl Library {
    /// Loads the shared library of an FMU of the version `abi`, to make instances of that interface type: all symbols bound
    /// now, none visible to others. Its exports and its version must not belong to another C interface, whose functions may
    /// have other arguments under the same names.
    pub fn load(path: &Path, abi: Abi, interface: Interface) -> Result<Library, LoadError> {
        let failed = |reason: LoadErrorKind| LoadError { path: path.to_path_buf(), kind: reason };
        // A name without a slash would be searched for in the system's directories.
        let absolute = std::path::absolute(path).map_err(|e| failed(LoadErrorKind::Open(e.to_string())))?;
        // SAFETY: runs the library's initialisers. That they are sound is the trust that loading an FMU is; nothing of
        // ours is lent to them.
        let opened = unsafe { unix::Library::open(Some(&absolute), unix::RTLD_NOW | unix::RTLD_LOCAL) };
        // An initialiser of a library built with -ffast-math changes the floating-point control word of this thread.
        float_control::default_fp_control();
        let handle = opened.map_err(|e| failed(why_not_opened(&absolute, words_of(&e))))?;
        // SAFETY: only the address is taken; nothing is read through the pointer type named here.
        let address = |name: &str| match unsafe { handle.get::<*mut c_void>(name) } {
            Ok(symbol) => symbol.as_raw_ptr(),
            Err(_) => std::ptr::null_mut(),
        };
        // In all versions the library is called as the model identifier.
        let model = absolute.file_stem().unwrap_or_default().to_string_lossy();
        let exports = |c: &CInterface, name: &str| !address(&c.symbol(name, &model)).is_null();
        let sign = |c: &CInterface| c.signs.iter().copied().find(|name| exports(c, name));
        let spoken = CInterface::of(abi);
        if sign(spoken).is_none()
            && let Some((other, sign)) = spoken.others().find_map(|other| Some((other, sign(other)?)))
        {
            return Err(failed(LoadErrorKind::Abi { expected: abi, speaks: other.abi, sign: sign.to_owned() }));
        }
        let instantiate = Function::instantiate(interface);
        let mut missing: Vec<Function> =
            spoken.functions(interface).filter(|function| *function != instantiate).collect();
        missing.push(instantiate);
        missing.retain(|function| !spoken.name(*function, Some(interface)).is_some_and(|name| exports(spoken, name)));
        let unbearable = |function: &Function| *function == instantiate || spoken.is_indispensable(*function);
        if missing.iter().any(unbearable) {
            missing.retain(unbearable);
            return Err(failed(LoadErrorKind::MissingSymbols { abi, interface, missing }));
        }
        // SAFETY: the addresses come from the symbols of these names in an FMU binary, whose signatures the standard
        // fixes; it speaks what was asked for, or nothing shows that it does not; `handle` moves into the same
        // value as the table, so they stay mapped.
        let functions = unsafe { spoken.load(&model, address) };
        let library = Library::assemble(functions, missing, Some(handle));
        let version = &library.version;
        if !(spoken.has_version)(version) {
            let same_name =
                |other: &&CInterface| other.name(Function::GetVersion, None) == spoken.name(Function::GetVersion, None);
            return Err(failed(match spoken.others().filter(same_name).find(|other| (other.has_version)(version)) {
                Some(other) => {
                    let sign = format!("version {version}");
                    LoadErrorKind::Abi { expected: abi, speaks: other.abi, sign }
                }
                None => LoadErrorKind::Version { abi, version: version.clone() },
            }));
        }
        if let Some((wanted, platform)) = library.functions.types_platform(interface)
            && let said = said_by(platform)
            && said != wanted
        {
            return Err(failed(LoadErrorKind::TypesPlatform { abi, interface, wanted, said }));
        }
        Ok(library)
    }

    /// An FMU whose functions were put together by hand. Its version is not checked.
    pub fn from_functions(functions: Functions) -> Library {
        Library::assemble(functions, Vec::new(), None)
    }

    fn assemble(functions: Functions, missing: Vec<Function>, handle: Option<unix::Library>) -> Library {
        float_control::default_fp_control();
        let version = said_by(functions.get_version);
        Library { functions, missing, version, fatal: AtomicBool::new(false), environments: Mutex::default(), handle }
    }

    /// The answer of `fmi3GetVersion`.
    pub fn version(&self) -> String {
        self.version.clone()
    }

    /// The address of a function of its code.
    pub fn address(&self) -> usize {
        self.functions.get_version as usize
    }

    /// The functions of its interface type that this library lacks although it can do without some of them. They refuse.
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
        prefetch(&self.fatal);
        self.functions.prefetch();
    }

    pub(super) fn set_fatal(&self) {
        self.fatal.store(true, Ordering::Release);
    }

    pub(super) fn functions(&self) -> &Functions {
        &self.functions
    }

    /// Unloads the code, unless it was fatal, which runs its destructors.
    ///
    /// # Safety
    /// No function of it is called any more, on whatever thread, and it is never dropped: the process is about to end.
    pub(super) unsafe fn unload(&self) {
        if !self.is_fatal() {
            // SAFETY: the handle's other owner, this value, is never dropped.
            drop(unsafe { std::ptr::read(&self.handle) });
        }
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

/// The text that a function without arguments returns; empty for NULL.
fn said_by(function: unsafe extern "C" fn() -> RawString) -> String {
    // SAFETY: the functions of this type, of the version and of the platform's types, may always be called; they return NULL
    // (wrongly) or a string that lives as long as the library, which is still loaded; it is copied at once.
    unsafe {
        let raw = function();
        if raw.is_null() { String::new() } else { CStr::from_ptr(raw).to_string_lossy().into_owned() }
    }
}

/// dlopen's own words, which `libloading` keeps one level down.
fn words_of(error: &libloading::Error) -> String {
    match error {
        libloading::Error::DlOpen { source } => source.to_string(),
        other => other.to_string(),
    }
}

/// The reason for which dlopen failed: the library itself, or one that it needs.
fn why_not_opened(path: &Path, words: String) -> LoadErrorKind {
    let unresolved = ["cannot open shared object file", "undefined symbol", "version `"];
    if path.is_file() && unresolved.iter().any(|sign| words.contains(sign)) {
        LoadErrorKind::Dependency(words)
    } else {
        LoadErrorKind::Open(words)
    }
}

/// The way out if dlopen's words name only a cause; else nothing.
fn way_out(words: &str) -> &'static str {
    if words.contains("executable stack") {
        "\n  It was linked without a section .note.GNU-stack in each of its objects (assembler files lack it), or with -z execstack. Link it \
         again with -Wl,-z,noexecstack, or change the file: `patchelf --clear-execstack`. Where its code does need one, glibc from 2.41 on \
         allows it with GLIBC_TUNABLES=glibc.rtld.execstack=2 in vecud's environment."
    } else if words.contains("static TLS block") {
        "\n  It has more thread-local variables of the initial-exec model than a running process has room for. Start vecud with more room, \
         such as GLIBC_TUNABLES=glibc.rtld.optional_static_tls=200000 (bytes) in its environment, or compile the library with \
         -ftls-model=global-dynamic."
    } else {
        ""
    }
}

/// Error of loading a shared library as an FMU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// Path of the library.
    pub path: PathBuf,
    /// Kind of the error.
    pub kind: LoadErrorKind,
}

/// Kind of an error of loading a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadErrorKind {
    /// The file cannot be opened; dlopen's words.
    Open(String),
    /// Something that it depends on is not there; dlopen's words.
    Dependency(String),
    /// The library does not export all that an interface type needs.
    MissingSymbols {
        /// The version as which it was loaded.
        abi: Abi,
        /// The interface type.
        interface: Interface,
        /// The missing functions.
        missing: Vec<Function>,
    },
    /// The library speaks another C interface.
    Abi {
        /// Dialect as which it was loaded.
        expected: Abi,
        /// Dialect of the library.
        speaks: Abi,
        /// The evidence: a function that it exports, or its version.
        sign: String,
    },
    /// The library speaks another version of FMI.
    Version {
        /// Dialect as which it was loaded.
        abi: Abi,
        /// Version by the library's own word.
        version: String,
    },
    /// The library was compiled for a platform whose types are other ones.
    TypesPlatform {
        /// Dialect as which it was loaded.
        abi: Abi,
        /// The interface type.
        interface: Interface,
        /// Platform that can be called here.
        wanted: &'static str,
        /// Platform by the library's own word.
        said: String,
    },
}

impl LoadErrorKind {
    /// Whether the library, or something that it needs, may not be read. That is in dlopen's words and nowhere else.
    pub fn is_denied(&self) -> bool {
        matches!(self, LoadErrorKind::Open(words) | LoadErrorKind::Dependency(words) if words.contains("Permission denied"))
    }

    /// Whether the library needs a symbol that nothing has.
    pub fn lacks_a_symbol(&self) -> bool {
        matches!(self, LoadErrorKind::Dependency(words) if words.contains("undefined symbol"))
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.kind {
            LoadErrorKind::Open(words) => write!(f, "{path}: cannot be loaded: {words}{}", way_out(words)),
            LoadErrorKind::Dependency(words) => write!(
                f,
                "{path}: cannot be loaded, since it needs something that is not installed here: {words}\n  \
                 The FMU's documentation/ folder (externalDependencies) may say what to install."
            ),
            LoadErrorKind::MissingSymbols { abi, interface, missing } => {
                let spoken = CInterface::of(*abi);
                let name = |f: &Function| spoken.name(*f, Some(*interface)).unwrap_or(f.name());
                let names: Vec<&str> = missing.iter().map(name).collect();
                let (count, s) = (names.len(), if names.len() == 1 { "" } else { "s" });
                let (interface, version, names) = (interface.name(), spoken.short, names.join(", "));
                write!(f, "{path}: {count} function{s} missing that {interface} ({version}) needs: {names}")
            }
            LoadErrorKind::Abi { expected, speaks, sign } => write!(
                f,
                "{path}: the model description is that of {}, but the library speaks {}: it has {sign}",
                expected.name(),
                speaks.name()
            ),
            LoadErrorKind::Version { abi, version } => {
                let function = Function::GetVersion.name_in(*abi);
                match version.is_empty() {
                    true => write!(f, "{path}: {function} returns no version"),
                    false => {
                        let wanted = CInterface::of(*abi).versions;
                        write!(f, "{path}: {function} says \"{version}\"; only {wanted} can run")
                    }
                }
            }
            LoadErrorKind::TypesPlatform { abi, interface, wanted, said } => {
                let function =
                    CInterface::of(*abi).name(Function::GetTypesPlatform, Some(*interface)).unwrap_or_default();
                write!(f, "{path}: {function} says \"{said}\"; only FMUs of the platform \"{wanted}\" can be called")
            }
        }
    }
}

impl std::error::Error for LoadError {}
