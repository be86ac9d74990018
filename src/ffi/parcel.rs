//! Values of one variable of any type, in memory that is used again and again: what is set at run time by request.

use super::function::Function;
use super::shared::{Cause, Shared};
use super::status::{Failure, Outcome, Status};
use super::types::RawBool;
use super::values::for_each_number;
use crate::fmu::description::{ValueReference, VariableType};
use std::ptr;

/// Room for the values of one variable. Everything is allocated when it is made.
pub struct Parcel {
    variable_type: VariableType,
    /// Values of the type, side by side from the start of this memory: at most one word each.
    numbers: Vec<u64>,
    elements: usize,
    /// Strings with their NUL, and binaries.
    bytes: Vec<u8>,
    /// Where each of them starts, and its length.
    texts: Vec<(usize, usize)>,
    pointers: Pointers,
    sizes: Vec<usize>,
}

/// Addresses of texts, right only while a parcel is being set.
struct Pointers(Vec<*const u8>);

// SAFETY: the pointers are written and read within `Shared::set_parcel` only, by the thread that has the parcel.
unsafe impl Send for Pointers {}

impl Parcel {
    /// Room for so many elements and, if some may be strings or binaries, for so many bytes of all of them together.
    pub fn new(elements: usize, bytes: Option<usize>) -> Parcel {
        let (texts, bytes) = bytes.map_or((0, 0), |bytes| (elements, bytes));
        Parcel {
            variable_type: VariableType::Float64,
            numbers: vec![0; elements],
            elements: 0,
            // A NUL for each string.
            bytes: Vec::with_capacity(bytes + texts),
            texts: Vec::with_capacity(texts),
            pointers: Pointers(Vec::with_capacity(texts)),
            sizes: Vec::with_capacity(texts),
        }
    }

    /// Empties it, for values of this type.
    pub fn start(&mut self, variable_type: VariableType) {
        self.variable_type = variable_type;
        self.elements = 0;
        self.bytes.clear();
        self.texts.clear();
    }

    /// Adds a number as a word (see [`super::Batch`]); `false` when there is no room.
    pub fn push_word(&mut self, word: u64) -> bool {
        if self.elements >= self.numbers.len() {
            return false;
        }
        let at = self.elements;
        macro_rules! put {
            (() $($variant:ident $type:ident $get:ident $Get:ident $set:ident $Set:ident;)*) => {
                match self.variable_type {
                    $(VariableType::$variant => self.put(at, <$type as super::batch::Word>::from_word(word)),)*
                    VariableType::Enumeration => self.put(at, word as i64),
                    VariableType::Boolean => self.put(at, RawBool::from(word != 0)),
                    VariableType::String | VariableType::Binary | VariableType::Clock => return false,
                }
            };
        }
        for_each_number!(put!());
        self.elements += 1;
        true
    }

    fn put<T: Copy>(&mut self, at: usize, value: T) {
        const { assert!(size_of::<T>() <= size_of::<u64>() && align_of::<T>() <= align_of::<u64>()) };
        assert!(at < self.numbers.len());
        // SAFETY: a value of this type takes at most a word and is aligned as strictly as one at most, and there are more
        // than `at` words.
        unsafe { self.numbers.as_mut_ptr().cast::<T>().add(at).write(value) }
    }

    /// Adds a string or a binary; `false` when there is no room, or when a string has a NUL in it.
    pub fn push_bytes(&mut self, length: usize, bytes: impl Iterator<Item = u8>) -> bool {
        let room = self.bytes.capacity() - self.bytes.len();
        if self.texts.len() == self.texts.capacity() || room < length + 1 {
            return false;
        }
        let start = self.bytes.len();
        self.bytes.extend(bytes.take(length));
        let length = self.bytes.len() - start;
        if self.variable_type == VariableType::String {
            if self.bytes[start..].contains(&0) {
                return false;
            }
            self.bytes.push(0);
        }
        self.texts.push((start, length));
        self.elements += 1;
        true
    }
}

impl Shared {
    /// Sets the variable to what is in the parcel, in one call; in none when nothing is.
    pub(super) fn set_parcel(
        &self,
        reference: ValueReference,
        parcel: &mut Parcel,
        cause: Cause,
    ) -> Result<Outcome, Failure> {
        let n = parcel.elements;
        if n == 0 {
            return Ok(Outcome::Ok);
        }
        parcel.pointers.0.clear();
        parcel.sizes.clear();
        for (start, length) in &parcel.texts {
            parcel.pointers.0.push(parcel.bytes[*start..].as_ptr());
            parcel.sizes.push(*length);
        }
        let numbers = parcel.numbers.as_ptr();
        let (pointers, sizes) = (parcel.pointers.0.as_ptr(), parcel.sizes.as_ptr());
        macro_rules! set {
            (() $($variant:ident $type:ident $get:ident $Get:ident $set:ident $Set:ident;)*) => {
                match parcel.variable_type {
                    $(VariableType::$variant => self.call(Function::$Set, cause, |f, i| {
                        // SAFETY: `push_word` has put that many values of this type there; alive until the call returns.
                        unsafe { (f.$set)(i, &reference.0, 1, numbers.cast(), n) }
                    }),)*
                    VariableType::Enumeration => self.call(Function::SetInt64, cause, |f, i| {
                        // SAFETY: as above.
                        unsafe { (f.set_int64)(i, &reference.0, 1, numbers.cast(), n) }
                    }),
                    VariableType::Boolean => self.call(Function::SetBoolean, cause, |f, i| {
                        // SAFETY: as above; the bytes are 0 or 1.
                        unsafe { (f.set_boolean)(i, &reference.0, 1, numbers.cast(), n) }
                    }),
                    VariableType::String => self.call(Function::SetString, cause, |f, i| {
                        // SAFETY: as many pointers as elements, one for each text that `push_bytes` has taken and ended
                        // with a NUL; alive until the call returns.
                        unsafe { (f.set_string)(i, &reference.0, 1, pointers.cast(), n) }
                    }),
                    VariableType::Binary => self.call(Function::SetBinary, cause, |f, i| {
                        // SAFETY: as above, and as many sizes; each pointer has as many bytes behind it as its size says.
                        unsafe { (f.set_binary)(i, &reference.0, 1, sizes, pointers, n) }
                    }),
                    VariableType::Clock => {
                        let function = Function::SetClock;
                        Err(Failure { function, status: Status::Discard, clock: None, time: None, refused: true })
                    }
                }
            };
        }
        let result = for_each_number!(set!());
        parcel.pointers.0.fill(ptr::null());
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_that_is_always_empty_has_its_place() {
        let mut parcel = Parcel::new(1, Some(0));
        parcel.start(VariableType::Binary);
        assert!(parcel.push_bytes(0, std::iter::empty()));
    }
}
