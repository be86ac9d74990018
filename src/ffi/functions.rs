//! The function table of one FMU: filled from a shared library, or by hand.
//!
//! A table filled by hand (a stub FMU written in Rust) needs no shared library, so tests of everything above run anywhere.

use super::function::{Function, for_each_function};
use super::types::*;
use std::ffi::{c_int, c_void};

macro_rules! define_functions {
    (required { $($variant:ident, $field:ident, $name:literal, ($($arg:ident: $type:ty),*) -> $ret:ty;)* }
     optional { $($ovariant:ident, $ofield:ident, $oname:literal, ($($oarg:ident: $otype:ty),*) -> $oret:ty;)* }) => {
        /// Every function of `fmi3Functions.h`. What only Model Exchange and Co-Simulation use may be absent.
        ///
        /// Whoever fills in a field vouches that the function does what the standard says of it: it writes no more
        /// elements than it is told there is room for, and does not unwind.
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs)] // the standard's names
        pub struct Functions {
            $(pub $field: unsafe extern "C" fn($($arg: $type),*) -> $ret,)*
            $(pub $ofield: Option<unsafe extern "C" fn($($oarg: $otype),*) -> $oret>,)*
        }

        impl Functions {
            /// A table of functions that do nothing and answer `fmi3Error` or NULL (and version 3.0): the base of
            /// stub FMUs, by struct update syntax.
            pub fn refusing() -> Functions {
                Functions {
                    $($field: {
                        // SAFETY: looks at none of its arguments; the field's type asks for `unsafe`.
                        unsafe extern "C" fn refuse($(_: $type),*) -> $ret {
                            <$ret as Refusal>::REFUSED
                        }
                        refuse
                    },)*
                    $($ofield: None,)*
                }
            }

            /// Fills the table by looking names up; `Err` lists every required function that was not found.
            ///
            /// # Safety
            /// What `symbol` returns for a name is null or the address of a C function with that name's signature in
            /// `fmi3FunctionTypes.h`, callable for as long as the table is used.
            pub(super) unsafe fn resolve(
                symbol: impl Fn(Function) -> *mut c_void,
            ) -> Result<Functions, Vec<Function>> {
                let missing: Vec<Function> =
                    [$(Function::$variant),*].into_iter().filter(|f| symbol(*f).is_null()).collect();
                if !missing.is_empty() {
                    return Err(missing);
                }
                Ok(Functions {
                    // SAFETY: not null, as just checked, and by this function's contract the address of a function of
                    // this signature; code and data pointers have one size on every platform that has dlsym.
                    $($field: unsafe {
                        std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($arg: $type),*) -> $ret>(
                            symbol(Function::$variant),
                        )
                    },)*
                    // SAFETY: as above, and an `Option` of a function pointer holds null as `None`.
                    $($ofield: unsafe {
                        std::mem::transmute::<*mut c_void, Option<unsafe extern "C" fn($($oarg: $otype),*) -> $oret>>(
                            symbol(Function::$ovariant),
                        )
                    },)*
                })
            }
        }
    };
}
for_each_function!(define_functions);
