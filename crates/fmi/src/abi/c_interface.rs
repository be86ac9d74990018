//! A C interface of FMI, as loading has to know it.

use super::functions::Functions;
use super::table::FunctionGroup;
use super::table::Symbols;
use crate::Function;
use crate::types::*;
use std::ffi::c_void;
use vecud_description::{Abi, Interface};

/// A C interface, as loading needs it.
pub(crate) struct CInterface {
    pub(crate) abi: Abi,
    /// The name of the interface in messages about functions.
    pub(crate) short: &'static str,
    /// The names of `Status`, in its order.
    pub(crate) statuses: [&'static str; 5],
    pub(super) lists: &'static [&'static [FunctionGroup]],
    /// Functions that have other names here than in the lists.
    pub(super) other_names: &'static [(Function, &'static str)],
    /// The functions of the lists without which nothing can run; `None`: all functions.
    pub(super) indispensable: Option<&'static [Function]>,
    /// Functions that only libraries with this interface export.
    pub(crate) signs: &'static [&'static str],
    /// Whether a library that says this of its version has it.
    pub(crate) has_version: fn(&str) -> bool,
    /// The versions of FMI with this C interface, as messages call them.
    pub(crate) versions: &'static str,
    /// Libraries are to export the functions of all interface types, whichever they offer (FMI 3.0.1, 2.5).
    pub(crate) wants_all: bool,
    /// Symbols begin with the model identifier.
    pub(super) prefixed: bool,
    /// Fills a table.
    // SAFETY (of calling it): what `Symbols` finds is null or the address of a C function with the signature in the lists, callable
    // for as long as the table is used.
    pub(super) resolve: unsafe fn(Symbols) -> Functions,
}

/// A function that returns a text.
// SAFETY (of calling it): the library is loaded.
pub(crate) type TextFunction = unsafe extern "C" fn() -> RawString;

impl CInterface {
    /// The functions that an FMU of this interface type has.
    pub(crate) fn functions(&self, interface: Interface) -> impl Iterator<Item = Function> {
        let groups = self.lists.iter().copied().flatten().filter(move |group| group.of.contains(&interface));
        groups.flat_map(|group| group.functions.iter().map(|(function, _)| *function))
    }

    /// The function's name in this interface, without prefix; if it has several, that of the interface type.
    pub(crate) fn name(&self, function: Function, interface: Option<Interface>) -> Option<&'static str> {
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
    pub(crate) fn symbol(&self, name: &str, model_identifier: &str) -> String {
        if self.prefixed { format!("{model_identifier}_{name}") } else { name.to_owned() }
    }

    /// Whether nothing can run without that function of the interface.
    pub(crate) fn is_indispensable(&self, function: Function) -> bool {
        self.indispensable.is_none_or(|indispensable| indispensable.contains(&function))
    }

    /// Fills the table by looking symbols up; what is not found refuses.
    ///
    /// # Safety
    /// What `address` returns is null or the address of the C function with that symbol, callable for as long as the table
    /// is used.
    pub(crate) unsafe fn load(&self, model_identifier: &str, address: impl Fn(&str) -> *mut c_void) -> Functions {
        let symbol = |function, listed| {
            let other = self.other_names.iter().find(|(one, _)| *one == function);
            address(&self.symbol(other.map_or(listed, |(_, name)| *name), model_identifier))
        };
        // SAFETY: this function's contract, and the signatures in the lists are those of the standard's headers.
        unsafe { (self.resolve)(&symbol) }
    }
}
