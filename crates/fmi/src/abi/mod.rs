//! The C interfaces of FMI. Who calls an FMU does not ask which of them it speaks; the few who have to know are named in
//! `tests/repository/architecture.rs`.
//!
//! Each has a file with the list of its functions (the meaning that all share, a [`Function`]; the name in C; the signature;
//! which interface types have it), from which its table is made, and a [`CInterface`]: what loading must know.
//!
//! Calls go through [`Functions`]. FMI 3.0's own functions stand in it, so that nothing lies between a call and the FMU.
//! FMI 2.0 and 1.0 fill it with adapters, and what Rust takes for their instance is an [`adapter::Component`]. An adapter
//! that cannot express a call in its C interface calls nothing and answers [`NOT_CALLED`].

mod adapter;
mod draft;
mod fmi1;
mod fmi2;
mod fmi3;
mod functions;
mod input_derivatives;
mod logger;
mod model;
mod negated;
mod step;
mod table;
mod update;

use super::Function;
use super::interface::MadeFor;
use super::types::*;
use std::ffi::c_void;
use table::FunctionGroup;
use vecud_description::{Abi, Interface};
use vecud_linux::prefetch::prefetch;

pub use draft::DraftFunctions;
pub use fmi1::{Fmi1EventInfo, Fmi1Functions, Fmi1ModelCallbacks, Fmi1SlaveCallbacks};
pub use fmi2::{Fmi2Callbacks, Fmi2EventInfo, Fmi2Functions};
pub use fmi3::Fmi3Functions;
pub use functions::Functions;
pub(super) use step::{RawStep, StepCall};
pub(super) use update::RawUpdate;

#[cfg(test)]
pub(super) use draft::CORE as DRAFT_CORE;

/// Where a function of the list with this name in C is in the library; null when it is not there.
pub(super) type Symbols<'a> = &'a dyn Fn(Function, &'static str) -> *mut c_void;

/// What loading knows of a C interface.
pub(super) struct CInterface {
    pub(super) abi: Abi,
    /// How messages about functions call it.
    pub(super) short: &'static str,
    /// The names of `Status`, in its order.
    pub(super) statuses: [&'static str; 5],
    lists: &'static [&'static [FunctionGroup]],
    /// Functions that have other names here than in the lists.
    other_names: &'static [(Function, &'static str)],
    /// The functions of the lists without which nothing can run; `None`: all of them.
    indispensable: Option<&'static [Function]>,
    /// Functions that only libraries with this interface export.
    pub(super) signs: &'static [&'static str],
    /// Whether a library that says this of its version has it.
    pub(super) has_version: fn(&str) -> bool,
    /// The versions of FMI with this C interface, as messages call them.
    pub(super) versions: &'static str,
    /// Libraries are to export the functions of all interface types, whichever they offer (FMI 3.0.1, 2.5).
    pub(super) wants_all: bool,
    /// Symbols begin with the model identifier.
    prefixed: bool,
    /// Fills a table.
    // SAFETY (of calling it): what `Symbols` finds is null or the address of a C function with the signature in the lists, callable
    // for as long as the table is used.
    resolve: unsafe fn(Symbols) -> Functions,
}

/// A function that returns a text.
// SAFETY (of calling it): the library is loaded.
type TextFunction = unsafe extern "C" fn() -> RawString;

/// The interface whose names are used where none is selected.
pub(super) const NEWEST: Abi = Abi::Fmi3;

/// All C interfaces, in the order in which a library is searched for signs of them.
const ALL: [&CInterface; 4] = [&fmi3::FMI3, &draft::DRAFT, &fmi2::FMI2, &fmi1::FMI1];

impl CInterface {
    pub(super) fn of(abi: Abi) -> &'static CInterface {
        match abi {
            Abi::Fmi1 => &fmi1::FMI1,
            Abi::Fmi2 => &fmi2::FMI2,
            Abi::Fmi3 => &fmi3::FMI3,
            Abi::Draft => &draft::DRAFT,
        }
    }

    /// The other ones.
    pub(super) fn others(&self) -> impl Iterator<Item = &'static CInterface> {
        ALL.into_iter().filter(|other| other.abi != self.abi)
    }

    /// The functions that an FMU of this interface type has.
    pub(super) fn functions(&self, interface: Interface) -> impl Iterator<Item = Function> {
        let groups = self.lists.iter().copied().flatten().filter(move |group| group.of.contains(&interface));
        groups.flat_map(|group| group.functions.iter().map(|(function, _)| *function))
    }

    /// The function's name here, without prefix; of those with several, that of the interface type.
    pub(super) fn name(&self, function: Function, interface: Option<Interface>) -> Option<&'static str> {
        let other = self.other_names.iter().find(|(one, _)| *one == function);
        let groups = self.lists.iter().copied().flatten();
        let is_its = |group: &&FunctionGroup| {
            // What no interface type has to have may be there with any.
            interface.is_none_or(|interface| group.of.is_empty() || group.of.contains(&interface))
        };
        let mut of = groups.filter(is_its);
        let listed = || of.find_map(|group| group.functions.iter().find(|(one, _)| *one == function));
        other.or_else(listed).map(|(_, name)| *name)
    }

    /// The symbol of a function of that name in a library.
    pub(super) fn symbol(&self, name: &str, model_identifier: &str) -> String {
        if self.prefixed { format!("{model_identifier}_{name}") } else { name.to_owned() }
    }

    /// Whether nothing can run without that function of the interface.
    pub(super) fn is_indispensable(&self, function: Function) -> bool {
        self.indispensable.is_none_or(|indispensable| indispensable.contains(&function))
    }

    /// Fills the table by looking symbols up; what is not found refuses.
    ///
    /// # Safety
    /// What `address` returns is null or the address of the C function with that symbol, callable for as long as the table
    /// is used.
    pub(super) unsafe fn load(&self, model_identifier: &str, address: impl Fn(&str) -> *mut c_void) -> Functions {
        let symbol = |function, listed| {
            let other = self.other_names.iter().find(|(one, _)| *one == function);
            address(&self.symbol(other.map_or(listed, |(_, name)| *name), model_identifier))
        };
        // SAFETY: this function's contract, and the signatures in the lists are those of the standard's headers.
        unsafe { (self.resolve)(&symbol) }
    }
}

/// The name of a function in any C interface that has it, the newest first.
pub(super) fn newest_name(function: Function) -> &'static str {
    ALL.into_iter().find_map(|c| c.name(function, None)).unwrap_or("a function of no C interface")
}

/// Functions that only one C interface has, or that have other arguments there.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant)] // one per FMU, looked up without another indirection
pub enum VersionFunctions {
    /// FMI 1.0, behind adapters.
    Fmi1(Fmi1Functions),
    /// FMI 2.0, behind adapters.
    Fmi2(Fmi2Functions),
    /// FMI 3.0.
    Fmi3(Fmi3Functions),
    /// The text before 3.0-alpha.6.
    Draft(DraftFunctions),
}

/// What an instance is made with.
#[derive(Clone, Copy)]
pub(super) struct Birth<'a> {
    pub(super) made_for: &'a MadeFor,
    pub(super) name: RawString,
    pub(super) token: RawString,
    /// Null when there are none.
    pub(super) resources: RawString,
    pub(super) logging_on: RawBool,
    pub(super) environment: RawEnvironment,
    pub(super) lock: PreemptionCallback,
    pub(super) unlock: PreemptionCallback,
}

impl Functions {
    /// What the FMU speaks.
    pub fn abi(&self) -> Abi {
        match self.own {
            VersionFunctions::Fmi1(_) => Abi::Fmi1,
            VersionFunctions::Fmi2(_) => Abi::Fmi2,
            VersionFunctions::Fmi3(_) => Abi::Fmi3,
            VersionFunctions::Draft(_) => Abi::Draft,
        }
    }

    /// The functions of FMI 3.0 alone, of an FMU that speaks it.
    #[inline]
    pub fn fmi3(&self) -> Option<&Fmi3Functions> {
        if let VersionFunctions::Fmi3(own) = &self.own { Some(own) } else { None }
    }

    /// The functions of the draft alone, of an FMU that speaks it.
    #[inline]
    pub fn draft(&self) -> Option<&DraftFunctions> {
        if let VersionFunctions::Draft(own) = &self.own { Some(own) } else { None }
    }

    /// Whether adapters stand between a call and the FMU: only these answer [`NOT_CALLED`] and are believed.
    pub(super) fn adapts(&self) -> bool {
        matches!(self.own, VersionFunctions::Fmi1(_) | VersionFunctions::Fmi2(_))
    }

    /// Makes an instance, or NULL.
    ///
    /// # Safety
    /// The strings are null or NUL-terminated and live until this returns; the environment lives until the library is
    /// unloaded; no instance of the FMU was fatal.
    pub(super) unsafe fn instantiate(&self, birth: &Birth) -> RawInstance {
        // SAFETY: this function's contract.
        unsafe {
            match &self.own {
                VersionFunctions::Fmi1(own) => own.instantiate(birth),
                VersionFunctions::Fmi2(own) => own.instantiate(birth),
                VersionFunctions::Fmi3(own) => own.instantiate(birth),
                VersionFunctions::Draft(own) => own.instantiate(birth),
            }
        }
    }

    /// Asks how far a slave can step from where it is.
    ///
    /// # Safety
    /// The instance is alive and may be stepped; the place can be written to.
    pub(super) unsafe fn get_max_step_size(&self, i: RawInstance, size: &mut f64) -> RawStatus {
        match &self.own {
            VersionFunctions::Fmi2(own) => {
                // SAFETY: this function's contract.
                adapter::status(unsafe { (own.get_max_step_size)(fmi2::Component::behind(i).raw, size) })
            }
            VersionFunctions::Fmi1(_) | VersionFunctions::Fmi3(_) | VersionFunctions::Draft(_) => NOT_CALLED,
        }
    }

    /// Activates the model partition of a clock, or of an element of an array clock.
    ///
    /// # Safety
    /// The instance is alive and in Clock Activation Mode, and that partition of it is not active.
    #[inline(always)] // as `visit`
    pub(super) unsafe fn activate(&self, i: RawInstance, clock: RawReference, element: usize, time: f64) -> RawStatus {
        // SAFETY: this function's contract.
        unsafe {
            match &self.own {
                VersionFunctions::Fmi3(own) => (own.activate_model_partition)(i, clock, time),
                VersionFunctions::Draft(own) => (own.activate_model_partition)(i, clock, element, time),
                VersionFunctions::Fmi1(_) | VersionFunctions::Fmi2(_) => NOT_CALLED,
            }
        }
    }

    /// Reads whether clocks are active: into bytes, or, where there are array clocks, into integers.
    ///
    /// # Safety
    /// The instance is alive, and in a callback or in Event Mode; `bytes` has room for one value of each clock, `integers` for each element.
    #[inline]
    pub(super) unsafe fn get_clocks(
        &self,
        i: RawInstance,
        clocks: &[RawReference],
        bytes: &mut [RawBool],
        integers: &mut [RawDraftClock],
    ) -> RawStatus {
        let (references, n) = (clocks.as_ptr(), clocks.len());
        // SAFETY: this function's contract; any value of a byte and an integer is fine.
        unsafe {
            match &self.own {
                VersionFunctions::Fmi3(own) => (own.get_clock)(i, references, n, bytes.as_mut_ptr()),
                VersionFunctions::Draft(own) => {
                    (own.get_clock)(i, references, n, integers.as_mut_ptr(), integers.len())
                }
                VersionFunctions::Fmi1(_) | VersionFunctions::Fmi2(_) => NOT_CALLED,
            }
        }
    }

    /// Sets whether clocks are active: from bytes, or, where there are array clocks, from integers. No partition is subactive.
    ///
    /// # Safety
    /// The instance is alive and in Event Mode; `bytes` has a value of each clock, `integers` of each element.
    pub(super) unsafe fn set_clocks(
        &self,
        i: RawInstance,
        clocks: &[RawReference],
        bytes: &[RawBool],
        integers: &[RawDraftClock],
    ) -> RawStatus {
        let (references, n) = (clocks.as_ptr(), clocks.len());
        // SAFETY: this function's contract; `subactive` may be NULL.
        unsafe {
            match &self.own {
                VersionFunctions::Fmi3(own) => (own.set_clock)(i, references, n, bytes.as_ptr()),
                VersionFunctions::Draft(own) => {
                    (own.set_clock)(i, references, n, integers.as_ptr(), std::ptr::null(), integers.len())
                }
                VersionFunctions::Fmi1(_) | VersionFunctions::Fmi2(_) => NOT_CALLED,
            }
        }
    }

    /// The platform whose types must be those of the FMU, and the function that says whether they are.
    pub(super) fn types_platform(&self, interface: Interface) -> Option<(&'static str, TextFunction)> {
        match &self.own {
            VersionFunctions::Fmi1(own) => Some(("standard32", own.types_platform(interface))),
            VersionFunctions::Fmi2(own) => Some(("default", own.get_types_platform)),
            VersionFunctions::Fmi3(_) | VersionFunctions::Draft(_) => None,
        }
    }

    /// Asks for the memory that the calls of activations look at.
    #[inline]
    pub(super) fn prefetch(&self) {
        let Functions { set_float64, get_float64, own, .. } = self;
        prefetch(set_float64);
        prefetch(get_float64);
        prefetch(own);
    }
}
