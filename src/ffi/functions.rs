//! The function table of one FMU: filled from a shared library, or by hand.
//!
//! A table filled by hand (a stub FMU written in Rust) needs no shared library, so tests of everything above run anywhere.

use super::function::{Function, for_each_function};
use super::types::*;
use crate::fmu::description::Abi;
use std::ffi::{c_int, c_void};

macro_rules! define_table {
    ($(#[$doc:meta])* $Table:ident { $($(#[$own_doc:meta])* $own:ident: $Own:ty)? }
     required { $($variant:ident, $field:ident, $name:literal, ($($arg:ident: $type:ty),*) -> $ret:ty;)* }
     optional { $($ovariant:ident, $ofield:ident, $oname:literal, ($($oarg:ident: $otype:ty),*) -> $oret:ty;)* }) => {
        $(#[$doc])*
        ///
        /// Whoever fills in a field vouches that the function does what the standard says of it: it writes no more
        /// elements than it is told there is room for, and does not unwind.
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs)] // the standard's names
        pub struct $Table {
            // SAFETY (of calling them): the instance is alive and in a state in which the standard allows the call, and
            // pointers reach as far as the numbers beside them say.
            $(pub $field: unsafe extern "C" fn($($arg: $type),*) -> $ret,)*
            $(pub $ofield: Option<unsafe extern "C" fn($($oarg: $otype),*) -> $oret>,)*
            $($(#[$own_doc])* pub $own: $Own,)?
        }

        impl $Table {
            const REQUIRED: &[Function] = &[$(Function::$variant),*];

            /// A table of functions that do nothing and answer `fmi3Error` or NULL (and version 3.0): the base of
            /// stub FMUs, by struct update syntax.
            pub fn refusing($($own: $Own)?) -> $Table {
                $Table {
                    $($field: {
                        // SAFETY: looks at none of its arguments; the field's type asks for `unsafe`.
                        unsafe extern "C" fn refuse($(_: $type),*) -> $ret {
                            <$ret as Refusal>::REFUSED
                        }
                        refuse
                    },)*
                    $($ofield: None,)*
                    $($own,)?
                }
            }

            /// Fills the table by looking names up; what is not found refuses.
            ///
            /// # Safety
            /// What `symbol` returns for a function is null or the address of a C function with the signature that this
            /// table gives it, callable for as long as the table is used.
            unsafe fn resolve(symbol: &impl Fn(Function) -> *mut c_void, $($own: $Own)?) -> $Table {
                let mut table = $Table::refusing($($own)?);
                $(
                    let found = symbol(Function::$variant);
                    if !found.is_null() {
                        // SAFETY: by this function's contract the address of a function of this signature; code and data
                        // pointers have one size on every platform that has dlsym.
                        table.$field = unsafe {
                            std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($arg: $type),*) -> $ret>(found)
                        };
                    }
                )*
                $(
                    // SAFETY: as above, and an `Option` of a function pointer holds null as `None`.
                    table.$ofield = unsafe {
                        std::mem::transmute::<*mut c_void, Option<unsafe extern "C" fn($($oarg: $otype),*) -> $oret>>(
                            symbol(Function::$ovariant),
                        )
                    };
                )*
                table
            }
        }
    };
}

macro_rules! define_tables {
    (common { $($common:tt)* } released { $($released:tt)* } draft { $($draft:tt)* }) => {
        define_table! {
            /// Every function of an FMU with Scheduled Execution. What only Model Exchange and Co-Simulation use may be
            /// absent.
            Functions {
                /// Those whose signatures depend on the dialect.
                own: Own
            }
            $($common)*
        }
        define_table! {
            /// The functions that look like this in the released dialect only.
            ReleasedFunctions {}
            $($released)*
        }
        define_table! {
            /// The functions that look like this in the draft only.
            DraftFunctions {}
            $($draft)*
        }
    };
}
for_each_function!(define_tables);

/// Functions whose signatures depend on the dialect, in the one that the FMU speaks.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant)] // one per FMU, looked up without another indirection
pub enum Own {
    /// FMI 3.0.
    Released(ReleasedFunctions),
    /// The text before 3.0-alpha.6.
    Draft(DraftFunctions),
}

impl Functions {
    /// What the FMU speaks.
    pub fn abi(&self) -> Abi {
        match self.own {
            Own::Released(_) => Abi::Fmi3,
            Own::Draft(_) => Abi::Draft,
        }
    }

    /// Fills the table by looking names up, and lists every function that was not found although Scheduled Execution has
    /// it. Those refuse.
    ///
    /// # Safety
    /// What `symbol` returns for a function is null or the address of a C function with that function's signature in that
    /// dialect's headers, callable for as long as the table is used.
    pub(super) unsafe fn load(abi: Abi, symbol: impl Fn(Function) -> *mut c_void) -> (Functions, Vec<Function>) {
        let (own, required) = match abi {
            // FMUs of FMI 1.0 and 2.0 have none of these functions, so that their libraries are refused.
            Abi::Fmi1 | Abi::Fmi2 | Abi::Fmi3 => {
                // SAFETY: this function's contract.
                (Own::Released(unsafe { ReleasedFunctions::resolve(&symbol) }), ReleasedFunctions::REQUIRED)
            }
            // SAFETY: as above.
            Abi::Draft => (Own::Draft(unsafe { DraftFunctions::resolve(&symbol) }), DraftFunctions::REQUIRED),
        };
        let required = Functions::REQUIRED.iter().chain(required).copied();
        let missing = required.filter(|&function| symbol(function).is_null()).collect();
        // SAFETY: as above.
        (unsafe { Functions::resolve(&symbol, own) }, missing)
    }
}
