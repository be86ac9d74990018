//! Values of any type, one variable at a time: start values, initial outputs. Allocates; not for the hot path
//! (that is [`super::Batch`]).

use super::function::Function;
use super::shared::{Cause, Shared};
use super::status::{Failure, Outcome, Status};
use super::types::RawBool;
use crate::fmu::description::{ValueReference, Values, VariableType};
use std::ffi::{CStr, CString};
use std::ptr;

/// Hands the list of types that cross the boundary as plain arrays of what Rust holds too to the macro `$with`.
macro_rules! for_each_number {
    ($with:ident!($($context:tt)*)) => {
        $with! { ($($context)*)
            Float32 f32 get_float32 GetFloat32 set_float32 SetFloat32;
            Float64 f64 get_float64 GetFloat64 set_float64 SetFloat64;
            Int8 i8 get_int8 GetInt8 set_int8 SetInt8;
            UInt8 u8 get_uint8 GetUInt8 set_uint8 SetUInt8;
            Int16 i16 get_int16 GetInt16 set_int16 SetInt16;
            UInt16 u16 get_uint16 GetUInt16 set_uint16 SetUInt16;
            Int32 i32 get_int32 GetInt32 set_int32 SetInt32;
            UInt32 u32 get_uint32 GetUInt32 set_uint32 SetUInt32;
            Int64 i64 get_int64 GetInt64 set_int64 SetInt64;
            UInt64 u64 get_uint64 GetUInt64 set_uint64 SetUInt64;
        }
    };
}
pub(super) use for_each_number;

impl Shared {
    /// The call cannot be made with these arguments; the instance is as healthy as before.
    #[cold]
    fn unsuitable(function: Function) -> Failure {
        Failure { function, status: Status::Discard, clock: None, time: None, refused: true }
    }

    pub(super) fn set_values(
        &self,
        reference: ValueReference,
        variable_type: VariableType,
        values: &Values,
    ) -> Result<Outcome, Failure> {
        macro_rules! set {
            (() $($variant:ident $type:ident $get:ident $Get:ident $set:ident $Set:ident;)*) => {
                match (variable_type, values) {
                    $((VariableType::$variant, Values::$variant(v)) => {
                        self.call(Function::$Set, Cause::default(), |f, i| {
                            // SAFETY: as many references and values as said, alive until the call returns.
                            unsafe { (f.$set)(i, &reference.0, 1, v.as_ptr(), v.len()) }
                        })
                    })*
                    (VariableType::Enumeration, Values::Int64(_)) => {
                        self.set_values(reference, VariableType::Int64, values)
                    }
                    (VariableType::Boolean, Values::Boolean(v)) => {
                        let v: Vec<RawBool> = v.iter().map(|&b| RawBool::from(b)).collect();
                        self.call(Function::SetBoolean, Cause::default(), |f, i| {
                            // SAFETY: as above; the bytes are 0 or 1.
                            unsafe { (f.set_boolean)(i, &reference.0, 1, v.as_ptr(), v.len()) }
                        })
                    }
                    (VariableType::String, Values::String(v)) => self.set_strings(reference, v),
                    (VariableType::Binary, Values::Binary(v)) => {
                        let (sizes, pointers): (Vec<_>, Vec<_>) = v.iter().map(|b| (b.len(), b.as_ptr())).unzip();
                        self.call(Function::SetBinary, Cause::default(), |f, i| {
                            // SAFETY: as above; each pointer has as many bytes behind it as its size says. The FMU
                            // copies what it wants to keep.
                            unsafe {
                                (f.set_binary)(i, &reference.0, 1, sizes.as_ptr(), pointers.as_ptr(), sizes.len())
                            }
                        })
                    }
                    _ => Err(Shared::unsuitable(set_function(variable_type))),
                }
            };
        }
        for_each_number!(set!())
    }

    fn set_strings(&self, reference: ValueReference, values: &[String]) -> Result<Outcome, Failure> {
        let owned: Result<Vec<CString>, _> = values.iter().map(|s| CString::new(s.as_str())).collect();
        let owned = owned.map_err(|_| Shared::unsuitable(Function::SetString))?;
        let pointers: Vec<_> = owned.iter().map(|s| s.as_ptr()).collect();
        self.call(Function::SetString, Cause::default(), |f, i| {
            // SAFETY: as many pointers as said, to NUL-terminated strings that live until the call returns; the FMU
            // copies what it wants to keep.
            unsafe { (f.set_string)(i, &reference.0, 1, pointers.as_ptr(), pointers.len()) }
        })
    }

    pub(super) fn get_values(
        &self,
        reference: ValueReference,
        variable_type: VariableType,
        elements: usize,
    ) -> Result<Values, Failure> {
        macro_rules! get {
            (() $($variant:ident $type:ident $get:ident $Get:ident $set:ident $Set:ident;)*) => {
                match variable_type {
                    $(VariableType::$variant => {
                        let mut v = vec![$type::default(); elements];
                        self.call(Function::$Get, Cause::default(), |f, i| {
                            // SAFETY: room for as many values as said, alive until the call returns; any bits that
                            // the FMU writes are a value of this type.
                            unsafe { (f.$get)(i, &reference.0, 1, v.as_mut_ptr(), v.len()) }
                        })?;
                        Ok(Values::$variant(v))
                    })*
                    VariableType::Enumeration => self.get_values(reference, VariableType::Int64, elements),
                    VariableType::Boolean => {
                        let mut v: Vec<RawBool> = vec![0; elements];
                        self.call(Function::GetBoolean, Cause::default(), |f, i| {
                            // SAFETY: as above; read as bytes.
                            unsafe { (f.get_boolean)(i, &reference.0, 1, v.as_mut_ptr(), v.len()) }
                        })?;
                        Ok(Values::Boolean(v.into_iter().map(|b| b != 0).collect()))
                    }
                    VariableType::String => self.get_strings(reference, elements).map(Values::String),
                    VariableType::Binary => self.get_binaries(reference, elements).map(Values::Binary),
                    VariableType::Clock => Err(Shared::unsuitable(Function::GetClock)),
                }
            };
        }
        for_each_number!(get!())
    }

    fn get_strings(&self, reference: ValueReference, elements: usize) -> Result<Vec<String>, Failure> {
        let mut pointers = vec![ptr::null(); elements];
        self.call(Function::GetString, Cause::default(), |f, i| {
            // SAFETY: room for as many pointers as said.
            unsafe { (f.get_string)(i, &reference.0, 1, pointers.as_mut_ptr(), pointers.len()) }
        })?;
        let copy = |&p: &_| {
            // SAFETY: not null, so by the standard a NUL-terminated string that lives until the next call to the
            // instance, and it is copied here, before any.
            (!ptr::eq(p, ptr::null())).then(|| unsafe { CStr::from_ptr(p) }.to_string_lossy().into_owned())
        };
        Ok(pointers.iter().map(|p| copy(p).unwrap_or_default()).collect())
    }

    fn get_binaries(&self, reference: ValueReference, elements: usize) -> Result<Vec<Vec<u8>>, Failure> {
        let mut sizes = vec![0; elements];
        let mut pointers = vec![ptr::null(); elements];
        self.call(Function::GetBinary, Cause::default(), |f, i| {
            // SAFETY: room for as many sizes and pointers as said.
            unsafe { (f.get_binary)(i, &reference.0, 1, sizes.as_mut_ptr(), pointers.as_mut_ptr(), elements) }
        })?;
        let copy = |(&p, &size): (&*const u8, &usize)| {
            if p.is_null() || size == 0 {
                return Vec::new();
            }
            // SAFETY: not null, so by the standard `size` bytes that live until the next call to the instance, and they
            // are copied here, before any.
            unsafe { std::slice::from_raw_parts(p, size) }.to_vec()
        };
        Ok(pointers.iter().zip(&sizes).map(copy).collect())
    }
}

/// The function that sets variables of a type.
pub fn set_function(variable_type: VariableType) -> Function {
    match variable_type {
        VariableType::Float32 => Function::SetFloat32,
        VariableType::Float64 => Function::SetFloat64,
        VariableType::Int8 => Function::SetInt8,
        VariableType::UInt8 => Function::SetUInt8,
        VariableType::Int16 => Function::SetInt16,
        VariableType::UInt16 => Function::SetUInt16,
        VariableType::Int32 => Function::SetInt32,
        VariableType::UInt32 => Function::SetUInt32,
        VariableType::Int64 | VariableType::Enumeration => Function::SetInt64,
        VariableType::UInt64 => Function::SetUInt64,
        VariableType::Boolean => Function::SetBoolean,
        VariableType::String => Function::SetString,
        VariableType::Binary => Function::SetBinary,
        VariableType::Clock => Function::SetClock,
    }
}

/// The function that gets variables of a type.
pub fn get_function(variable_type: VariableType) -> Function {
    match variable_type {
        VariableType::Float32 => Function::GetFloat32,
        VariableType::Float64 => Function::GetFloat64,
        VariableType::Int8 => Function::GetInt8,
        VariableType::UInt8 => Function::GetUInt8,
        VariableType::Int16 => Function::GetInt16,
        VariableType::UInt16 => Function::GetUInt16,
        VariableType::Int32 => Function::GetInt32,
        VariableType::UInt32 => Function::GetUInt32,
        VariableType::Int64 | VariableType::Enumeration => Function::GetInt64,
        VariableType::UInt64 => Function::GetUInt64,
        VariableType::Boolean => Function::GetBoolean,
        VariableType::String => Function::GetString,
        VariableType::Binary => Function::GetBinary,
        VariableType::Clock => Function::GetClock,
    }
}
