//! A table of C functions, made from the list of an interface: each with its signature, its name in C, and the
//! interface types that need it.

use crate::Function;
use crate::types::{NOT_CALLED, RawInstance, RawStatus, RawString};
use std::ffi::c_void;
use vecud_description::Interface;

/// The address in the library of a function of the list with this name in C; null if it is not there.
pub(super) type Symbols<'a> = &'a dyn Fn(Function, &'static str) -> *mut c_void;

/// Functions of a list that the same interface types have.
pub struct FunctionGroup {
    /// The interface types that need these functions; none: they are beside the standard, and called where they are there.
    pub of: &'static [Interface],
    /// The functions, and their names in C.
    pub functions: &'static [(Function, &'static str)],
}

/// The stand-in in a table for a missing function, by return type.
pub trait StubAnswer<R> {
    const ANSWER: R;
}

/// Answers `fmi3Error`, NULL, and version 3.0.
pub struct RefusingStub;
impl StubAnswer<RawStatus> for RefusingStub {
    const ANSWER: RawStatus = 3; // fmi3Error
}
impl StubAnswer<RawInstance> for RefusingStub {
    const ANSWER: RawInstance = std::ptr::null_mut();
}
impl StubAnswer<RawString> for RefusingStub {
    const ANSWER: RawString = c"3.0".as_ptr();
}
impl StubAnswer<()> for RefusingStub {
    const ANSWER: () = ();
}

/// The answer that nothing was called: an adapter's stand-in for a function that cannot exist in its C interface.
pub struct Absent;
impl StubAnswer<RawStatus> for Absent {
    const ANSWER: RawStatus = NOT_CALLED;
}
impl StubAnswer<RawString> for Absent {
    const ANSWER: RawString = std::ptr::null();
}
impl StubAnswer<()> for Absent {
    const ANSWER: () = ();
}

/// Makes the table of a list.
macro_rules! table {
    ($(#[$doc:meta])* $Table:ident $({ $(#[$own_doc:meta])* $own:ident: $Own:ty })?
     $([$($interface:ident)*] {
         $($variant:ident, $field:ident, $name:literal, ($($arg:ident: $type:ty),*) -> $ret:ty;)*
     })*) => {
        $(#[$doc])*
        ///
        /// The code that fills in a field guarantees that the function behaves as the standard says: it writes no more
        /// elements than it is told there is room for, and does not unwind.
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs)] // the standard's names
        pub struct $Table {
            // SAFETY (of calling them): the instance is alive and in a state in which the standard allows the call, and
            // pointers reach as far as the numbers beside them say.
            $($(pub $field: unsafe extern "C" fn($($arg: $type),*) -> $ret,)*)*
            $($(#[$own_doc])* pub $own: $Own,)?
        }

        impl $Table {
            /// The functions of this table.
            pub(in crate::abi) const LIST: &[FunctionGroup] = &[$(FunctionGroup {
                of: &[$(Interface::$interface),*],
                functions: &[$((Function::$variant, $name)),*],
            }),*];

            /// A table of functions that do nothing and answer `fmi3Error` or NULL (and version 3.0): the base of
            /// stub FMUs, by struct update syntax.
            pub fn refusing($($own: $Own)?) -> $Table {
                $Table::answering::<crate::abi::table::RefusingStub>($($own)?)
            }

            pub(in crate::abi) fn answering<A>($($own: $Own)?) -> $Table
            where
                $($(A: crate::abi::table::StubAnswer<$ret>,)*)*
            {
                $Table {
                    $($($field: {
                        // SAFETY: looks at none of its arguments; the field's type asks for `unsafe`.
                        unsafe extern "C" fn answer<A: crate::abi::table::StubAnswer<$ret>>($(_: $type),*) -> $ret {
                            A::ANSWER
                        }
                        answer::<A>
                    },)*)*
                    $($own,)?
                }
            }

            /// Fills the table by looking names up; what is not found refuses.
            ///
            /// # Safety
            /// What `symbol` returns for a function is null or the address of a C function with the signature that this
            /// table gives it, callable for as long as the table is used.
            pub(in crate::abi) unsafe fn resolve(symbol: crate::abi::table::Symbols, $($own: $Own)?) -> $Table {
                let mut table = $Table::refusing($($own)?);
                $($(
                    let found = symbol(Function::$variant, $name);
                    if !found.is_null() {
                        // SAFETY: by this function's contract the address of a function of this signature; code and data
                        // pointers have one size on every platform that has dlsym.
                        table.$field = unsafe {
                            std::mem::transmute::<*mut std::ffi::c_void, unsafe extern "C" fn($($arg: $type),*) -> $ret>(
                                found,
                            )
                        };
                    }
                )*)*
                table
            }
        }
    };
}
pub(super) use table;
