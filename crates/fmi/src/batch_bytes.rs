//! Strings and binaries of a batch: room for each element, and the arrays of pointers and sizes that C gets.
//!
//! Guarantees: everything is allocated when the batch is made; the FMU's values are copied before this module is left,
//! so before the next call to the instance *of this thread* (FMI 3.0, 2.2.6.2: memory of the FMU is valid no longer than
//! that). Precondition: the caller keeps other partitions of the instance out by the preemption lock.
//!
//! A value that is longer than its room is not cut: the element keeps what it had and says so.

use super::abi::Functions;
use super::arguments::{self, References};
use super::function::Function;
use super::shared::{CallContext, SharedInstance};
use super::status::{Failure, Outcome};
use super::types::{RawBinary, RawString};
use std::ffi::CStr;
use std::ops::Range;
use std::ptr;

/// The elements of a batch, all by their places: enabled ones first.
#[derive(Debug)]
pub(super) struct Bytes {
    /// A NUL follows each value, so each has one byte more than its capacity.
    rooms: Vec<Vec<u8>>,
    sizes: Vec<usize>,
    /// Each points to its room.
    pointers: Vec<*const u8>,
    /// Size of a value that was too long for its room; else 0.
    refused: Vec<usize>,
    /// The lengths that the FMU has answered.
    their_sizes: Vec<usize>,
    their_pointers: Vec<*const u8>,
}

// SAFETY: the pointers that are followed point to memory that the rooms own, which moves with them and which nobody else
// knows; those of the FMU are followed only inside `get_strings` and `get_binaries`, which have just received them.
unsafe impl Send for Bytes {}

impl Bytes {
    /// A batch whose elements are empty; `capacities` in bytes, without the NUL.
    pub(super) fn new(capacities: Vec<usize>) -> Bytes {
        let count = capacities.len();
        let rooms: Vec<Vec<u8>> = capacities.into_iter().map(|capacity| vec![0; capacity + 1]).collect();
        Bytes {
            pointers: rooms.iter().map(|room| room.as_ptr()).collect(),
            rooms,
            sizes: vec![0; count],
            refused: vec![0; count],
            their_sizes: vec![0; count],
            their_pointers: vec![ptr::null(); count],
        }
    }

    pub(super) fn rotate_right(&mut self, range: Range<usize>, by: usize) {
        self.rooms[range.clone()].rotate_right(by);
        self.sizes[range.clone()].rotate_right(by);
        self.pointers[range.clone()].rotate_right(by);
        self.refused[range].rotate_right(by);
    }

    /// The value, or how long one was that did not fit.
    #[inline]
    pub(super) fn get(&self, place: usize) -> Result<&[u8], usize> {
        match self.refused[place] {
            0 => Ok(&self.rooms[place][..self.sizes[place]]),
            size => Err(size),
        }
    }

    /// `fill` writes into the room and returns the length.
    #[inline]
    pub(super) fn fill(&mut self, place: usize, fill: impl FnOnce(&mut [u8]) -> usize) {
        let room = &mut self.rooms[place];
        let capacity = room.len() - 1;
        let size = fill(&mut room[..capacity]).min(capacity);
        room[size] = 0;
        self.sizes[place] = size;
        self.refused[place] = 0;
        // The room has not moved, but only this pointer may be followed after the room was borrowed for writing.
        self.pointers[place] = room.as_ptr();
    }

    /// Copies a value, if there is room for it.
    pub(super) fn take(&mut self, place: usize, theirs: &[u8]) {
        if theirs.len() < self.rooms[place].len() {
            self.fill(place, |room| {
                room[..theirs.len()].copy_from_slice(theirs);
                theirs.len()
            });
        } else {
            self.refused[place] = theirs.len();
        }
    }
}

impl Bytes {
    /// The first `count` elements as arguments of a call.
    fn shown_strings(&self, references: References, count: usize) -> String {
        let values = (0..count).map(|place| arguments::string(self.get(place).unwrap_or_default()));
        arguments::of_variables(references, values)
    }

    /// The first `count` elements as arguments of a call.
    fn shown_binaries(&self, references: References, count: usize) -> String {
        let values = (0..count).map(|place| arguments::Binary(self.get(place).unwrap_or_default()));
        arguments::of_variables(references, values)
    }
}

impl SharedInstance {
    #[inline]
    pub(super) fn set_strings_of(&self, references: &[u32], count: usize, bytes: &Bytes) -> Result<Outcome, Failure> {
        let pointers = &bytes.pointers[..count];
        let shown = |_: &(), _| bytes.shown_strings(self.named(references), count);
        self.call_with(
            Function::SetString,
            CallContext::default(),
            (),
            |(), f, i| {
                let strings: *const RawString = pointers.as_ptr().cast();
                // SAFETY: as many references and pointers as said; each points to a room in which a NUL follows the value;
                // all are alive and unchanged until the call returns, and the FMU copies what it wants to keep.
                unsafe { (f.set_string)(i, references.as_ptr(), references.len(), strings, pointers.len()) }
            },
            shown,
        )
    }

    #[inline]
    pub(super) fn set_binaries_of(&self, references: &[u32], count: usize, bytes: &Bytes) -> Result<Outcome, Failure> {
        let (sizes, pointers): (_, &[RawBinary]) = (&bytes.sizes[..count], &bytes.pointers[..count]);
        let shown = |_: &(), _| bytes.shown_binaries(self.named(references), count);
        self.call_with(
            Function::SetBinary,
            CallContext::default(),
            (),
            |(), f, i| {
                // SAFETY: as above; each pointer's room has at least as many bytes as its size says.
                unsafe {
                    (f.set_binary)(i, references.as_ptr(), references.len(), sizes.as_ptr(), pointers.as_ptr(), count)
                }
            },
            shown,
        )
    }

    #[inline]
    pub(super) fn get_strings_of(
        &self,
        references: &[u32],
        count: usize,
        bytes: &mut Bytes,
    ) -> Result<Outcome, Failure> {
        let theirs = &mut bytes.their_pointers[..count];
        theirs.fill(ptr::null());
        let make = |theirs: &mut &mut [*const u8], f: &Functions, i| {
            let strings: *mut RawString = theirs.as_mut_ptr().cast();
            // SAFETY: as many references and as much room for pointers as said, alive until the call returns.
            unsafe { (f.get_string)(i, references.as_ptr(), references.len(), strings, theirs.len()) }
        };
        let shown = |theirs: &&mut [*const u8], is_read: bool| {
            let strings = theirs.iter().map(|string| {
                // SAFETY: asked for only where the call has succeeded, before the next one.
                arguments::string(if is_read { unsafe { string_at(*string) } } else { &[] })
            });
            arguments::of_read(self.named(references), strings, is_read)
        };
        let outcome = self.call_with(Function::GetString, CallContext::default(), theirs, make, shown)?;
        for place in 0..count {
            // SAFETY: the call has succeeded. This thread makes no other before the value is copied, and the caller keeps the others
            // away.
            let value = unsafe { string_at(bytes.their_pointers[place]) };
            bytes.take(place, value);
        }
        Ok(outcome)
    }

    #[inline]
    pub(super) fn get_binaries_of(
        &self,
        references: &[u32],
        count: usize,
        bytes: &mut Bytes,
    ) -> Result<Outcome, Failure> {
        let (sizes, theirs) = (&mut bytes.their_sizes[..count], &mut bytes.their_pointers[..count]);
        sizes.fill(0);
        theirs.fill(ptr::null());
        let make = |(sizes, theirs): &mut (&mut [usize], &mut [*const u8]), f: &Functions, i| {
            let (sizes, values) = (sizes.as_mut_ptr(), theirs.as_mut_ptr());
            // SAFETY: as many references and as much room for sizes and pointers as said, alive until the call returns.
            unsafe { (f.get_binary)(i, references.as_ptr(), references.len(), sizes, values, count) }
        };
        let shown = |(sizes, theirs): &(&mut [usize], &mut [*const u8]), is_read: bool| {
            let binaries = (0..count).map(|place| {
                // SAFETY: asked for only where the call has succeeded, before the next one.
                arguments::Binary(if is_read { unsafe { binary_at(theirs[place], sizes[place]) } } else { &[] })
            });
            arguments::of_read(self.named(references), binaries, is_read)
        };
        let outcome = self.call_with(Function::GetBinary, CallContext::default(), (sizes, theirs), make, shown)?;
        for place in 0..count {
            // SAFETY: the call has succeeded, as above.
            let value = unsafe { binary_at(bytes.their_pointers[place], bytes.their_sizes[place]) };
            bytes.take(place, value);
        }
        Ok(outcome)
    }
}

/// The string at a pointer of the FMU; nothing for null.
///
/// # Safety
/// The call that gave it has succeeded, and the instance is not called while the string is looked at: by the standard it is
/// NUL-terminated and lives until the next call.
pub(super) unsafe fn string_at<'a>(string: *const u8) -> &'a [u8] {
    let string: RawString = string.cast();
    // SAFETY: not null, and the caller's contract.
    if string.is_null() { &[] } else { unsafe { CStr::from_ptr(string) }.to_bytes() }
}

/// The binary at a pointer of the FMU; nothing for null.
///
/// # Safety
/// As [`string_at`]: by the standard there are `size` bytes.
pub(super) unsafe fn binary_at<'a>(value: *const u8, size: usize) -> &'a [u8] {
    match value.is_null() || size == 0 || size > isize::MAX as usize {
        true => &[],
        // SAFETY: not null, and the caller's contract; no object is larger than `isize::MAX`.
        false => unsafe { std::slice::from_raw_parts(value, size) },
    }
}
