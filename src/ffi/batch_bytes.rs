//! Strings and binaries of a batch: room for each element, and the arrays of pointers and sizes that C gets.
//!
//! Guarantees: everything is allocated when the batch is made; what an FMU returns is copied before this module is left,
//! so before the next call to the instance *of this thread* (FMI 3.0, 2.2.6.2: memory of the FMU is valid no longer than
//! that). Other partitions of the instance must be kept out by the caller, who holds the preemption lock.
//!
//! A value that is longer than its room is not cut: the element keeps what it had and says so.

use super::batch::Batch;
use super::function::Function;
use super::shared::{Cause, Shared};
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
    /// What the FMU answers.
    their_sizes: Vec<usize>,
    their_pointers: Vec<*const u8>,
}

// SAFETY: the pointers that are followed point to memory that the rooms own, which moves with them and which nobody else
// knows; those of the FMU are followed only inside `get_strings` and `get_binaries`, which have just received them.
unsafe impl Send for Bytes {}

impl Bytes {
    /// All elements empty; `capacities` in bytes, without the NUL.
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

impl Shared {
    #[inline]
    pub(super) fn set_strings_of(&self, batch: &Batch, bytes: &Bytes) -> Result<Outcome, Failure> {
        let (references, pointers) = (batch.enabled_references(), &bytes.pointers[..batch.enabled_elements()]);
        self.call(Function::SetString, Cause::default(), |f, i| {
            let strings: *const RawString = pointers.as_ptr().cast();
            // SAFETY: as many references and pointers as said; each points to a room in which a NUL follows the value;
            // all are alive and unchanged until the call returns, and the FMU copies what it wants to keep.
            unsafe { (f.set_string)(i, references.as_ptr(), references.len(), strings, pointers.len()) }
        })
    }

    #[inline]
    pub(super) fn set_binaries_of(&self, batch: &Batch, bytes: &Bytes) -> Result<Outcome, Failure> {
        let (references, count) = (batch.enabled_references(), batch.enabled_elements());
        let (sizes, pointers): (_, &[RawBinary]) = (&bytes.sizes[..count], &bytes.pointers[..count]);
        self.call(Function::SetBinary, Cause::default(), |f, i| {
            // SAFETY: as above; each pointer's room has at least as many bytes as its size says.
            unsafe {
                (f.set_binary)(i, references.as_ptr(), references.len(), sizes.as_ptr(), pointers.as_ptr(), count)
            }
        })
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
        let outcome = self.call(Function::GetString, Cause::default(), |f, i| {
            let strings: *mut RawString = theirs.as_mut_ptr().cast();
            // SAFETY: as many references and as much room for pointers as said, alive until the call returns.
            unsafe { (f.get_string)(i, references.as_ptr(), references.len(), strings, theirs.len()) }
        })?;
        for place in 0..count {
            let string: RawString = bytes.their_pointers[place].cast();
            // SAFETY: not null, so by the standard a NUL-terminated string that lives until the next call to the
            // instance. This thread makes none before it is copied, and the caller keeps the others away.
            let value = if string.is_null() { &[] } else { unsafe { CStr::from_ptr(string) }.to_bytes() };
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
        let outcome = self.call(Function::GetBinary, Cause::default(), |f, i| {
            let (sizes, values) = (sizes.as_mut_ptr(), theirs.as_mut_ptr());
            // SAFETY: as many references and as much room for sizes and pointers as said, alive until the call returns.
            unsafe { (f.get_binary)(i, references.as_ptr(), references.len(), sizes, values, count) }
        })?;
        for place in 0..count {
            let (value, size) = (bytes.their_pointers[place], bytes.their_sizes[place]);
            let value = match value.is_null() || size == 0 || size > isize::MAX as usize {
                true => &[],
                // SAFETY: not null, so by the standard `size` bytes that live until the next call to the instance, as
                // above; no object is larger than `isize::MAX`.
                false => unsafe { std::slice::from_raw_parts(value, size) },
            };
            bytes.take(place, value);
        }
        Ok(outcome)
    }
}
