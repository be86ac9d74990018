//! Values of any type, one variable at a time: start values, initial outputs. Allocates; not for the hot path
//! (that is [`super::Batch`]).

use super::abi::Functions;
use super::arguments;
use super::batch_bytes::{binary_at, string_at};
use super::function::Function;
use super::shared::{CallContext, SharedInstance};
use super::status::{Failure, Outcome, Status};
use super::types::{RawBool, RawString};
use std::ffi::CString;
use std::ptr;
use vecud_description::{ValueReference, Values, VariableType};

/// Gives the macro `$with` the list of types that cross the boundary as plain arrays of Rust's types.
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

impl SharedInstance {
    /// The call cannot be made with these arguments; the instance is as healthy as before.
    #[cold]
    fn unsuitable(function: Function) -> Failure {
        Failure::new(function, Status::Discard, true)
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
                        let make = |(): &mut (), f: &Functions, i| {
                            // SAFETY: as many references and values as said, alive until the call returns.
                            unsafe { (f.$set)(i, &reference.0, 1, v.as_ptr(), v.len()) }
                        };
                        let shown = |_: &(), _| arguments::of_variables(self.named(&[reference.0]), v.iter());
                        self.call_with(Function::$Set, CallContext::default(), (), make, shown)
                    })*
                    (VariableType::Enumeration, Values::Int64(_)) => {
                        self.set_values(reference, VariableType::Int64, values)
                    }
                    (VariableType::Boolean, Values::Boolean(v)) => {
                        let bytes: Vec<RawBool> = v.iter().map(|&b| RawBool::from(b)).collect();
                        let make = |(): &mut (), f: &Functions, i| {
                            // SAFETY: as above; the bytes are 0 or 1.
                            unsafe { (f.set_boolean)(i, &reference.0, 1, bytes.as_ptr(), bytes.len()) }
                        };
                        let shown = |_: &(), _| arguments::of_variables(self.named(&[reference.0]), v.iter());
                        self.call_with(Function::SetBoolean, CallContext::default(), (), make, shown)
                    }
                    (VariableType::String, Values::String(v)) => self.set_strings(reference, v),
                    (VariableType::Binary, Values::Binary(v)) => {
                        let (sizes, pointers): (Vec<_>, Vec<_>) = v.iter().map(|b| (b.len(), b.as_ptr())).unzip();
                        let make = |(): &mut (), f: &Functions, i| {
                            // SAFETY: as above; each pointer has as many bytes behind it as its size says. The FMU
                            // copies what it wants to keep.
                            unsafe {
                                (f.set_binary)(i, &reference.0, 1, sizes.as_ptr(), pointers.as_ptr(), sizes.len())
                            }
                        };
                        let binaries = || v.iter().map(|bytes| arguments::Binary(bytes));
                        let shown = |_: &(), _| arguments::of_variables(self.named(&[reference.0]), binaries());
                        self.call_with(Function::SetBinary, CallContext::default(), (), make, shown)
                    }
                    _ => Err(SharedInstance::unsuitable(set_function(variable_type))),
                }
            };
        }
        for_each_number!(set!())
    }

    fn set_strings(&self, reference: ValueReference, values: &[String]) -> Result<Outcome, Failure> {
        let owned: Result<Vec<CString>, _> = values.iter().map(|s| CString::new(s.as_str())).collect();
        let owned = owned.map_err(|_| SharedInstance::unsuitable(Function::SetString))?;
        let pointers: Vec<_> = owned.iter().map(|s| s.as_ptr()).collect();
        let make = |(): &mut (), f: &Functions, i| {
            // SAFETY: as many pointers as said, to NUL-terminated strings that live until the call returns; the FMU
            // copies what it wants to keep.
            unsafe { (f.set_string)(i, &reference.0, 1, pointers.as_ptr(), pointers.len()) }
        };
        let strings = || values.iter().map(|text| arguments::string(text.as_bytes()));
        let shown = |_: &(), _| arguments::of_variables(self.named(&[reference.0]), strings());
        self.call_with(Function::SetString, CallContext::default(), (), make, shown)
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
                        let make = |v: &mut &mut Vec<$type>, f: &Functions, i| {
                            // SAFETY: room for as many values as said, alive until the call returns; any bits that
                            // the FMU writes are a value of this type.
                            unsafe { (f.$get)(i, &reference.0, 1, v.as_mut_ptr(), v.len()) }
                        };
                        let shown = |v: &&mut Vec<$type>, is_read| {
                            arguments::of_read(self.named(&[reference.0]), v.iter(), is_read)
                        };
                        self.call_with(Function::$Get, CallContext::default(), &mut v, make, shown)?;
                        Ok(Values::$variant(v))
                    })*
                    VariableType::Enumeration => self.get_values(reference, VariableType::Int64, elements),
                    VariableType::Boolean => {
                        let mut v: Vec<RawBool> = vec![0; elements];
                        let make = |v: &mut &mut Vec<RawBool>, f: &Functions, i| {
                            // SAFETY: as above; read as bytes.
                            unsafe { (f.get_boolean)(i, &reference.0, 1, v.as_mut_ptr(), v.len()) }
                        };
                        let shown = |v: &&mut Vec<RawBool>, is_read| {
                            arguments::of_read(self.named(&[reference.0]), arguments::booleans(v), is_read)
                        };
                        self.call_with(Function::GetBoolean, CallContext::default(), &mut v, make, shown)?;
                        for byte in v.iter().filter(|byte| **byte > 1) {
                            self.environment.host().no_boolean(reference, (*byte).into());
                        }
                        Ok(Values::Boolean(v.into_iter().map(|b| b != 0).collect()))
                    }
                    VariableType::String => self.get_strings(reference, elements).map(Values::String),
                    VariableType::Binary => self.get_binaries(reference, elements).map(Values::Binary),
                    VariableType::Clock => Err(SharedInstance::unsuitable(Function::GetClock)),
                }
            };
        }
        for_each_number!(get!())
    }

    fn get_strings(&self, reference: ValueReference, elements: usize) -> Result<Vec<String>, Failure> {
        let mut pointers = vec![ptr::null(); elements];
        // SAFETY: of a call that has succeeded, and the next one comes later.
        let value = |string: RawString| unsafe { string_at(string.cast()) };
        let make = |pointers: &mut &mut Vec<RawString>, f: &Functions, i| {
            // SAFETY: room for as many pointers as said.
            unsafe { (f.get_string)(i, &reference.0, 1, pointers.as_mut_ptr(), pointers.len()) }
        };
        let shown = |pointers: &&mut Vec<RawString>, is_read: bool| {
            let strings = pointers.iter().map(|string| arguments::string(if is_read { value(*string) } else { &[] }));
            arguments::of_read(self.named(&[reference.0]), strings, is_read)
        };
        self.call_with(Function::GetString, CallContext::default(), &mut pointers, make, shown)?;
        Ok(pointers.iter().map(|string| String::from_utf8_lossy(value(*string)).into_owned()).collect())
    }

    fn get_binaries(&self, reference: ValueReference, elements: usize) -> Result<Vec<Vec<u8>>, Failure> {
        let mut sizes = vec![0; elements];
        let mut pointers = vec![ptr::null(); elements];
        // SAFETY: of a call that has succeeded, and the next one comes later.
        let value = |value: *const u8, size: usize| unsafe { binary_at(value, size) };
        let both = (&mut sizes, &mut pointers);
        let make = |(sizes, pointers): &mut (&mut Vec<usize>, &mut Vec<*const u8>), f: &Functions, i| {
            // SAFETY: room for as many sizes and pointers as said.
            unsafe { (f.get_binary)(i, &reference.0, 1, sizes.as_mut_ptr(), pointers.as_mut_ptr(), elements) }
        };
        let shown = |(sizes, pointers): &(&mut Vec<usize>, &mut Vec<*const u8>), is_read: bool| {
            let binaries = (0..elements)
                .map(|place| arguments::Binary(if is_read { value(pointers[place], sizes[place]) } else { &[] }));
            arguments::of_read(self.named(&[reference.0]), binaries, is_read)
        };
        self.call_with(Function::GetBinary, CallContext::default(), both, make, shown)?;
        Ok(pointers.iter().zip(&sizes).map(|(bytes, size)| value(*bytes, *size).to_vec()).collect())
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
