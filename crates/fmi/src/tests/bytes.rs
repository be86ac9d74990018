//! Strings and binaries through batches: pointers, sizes, and memory that the FMU takes back.

use super::stub::*;
use crate::types::{RawBinary, RawInstance, RawStatus, RawString};
use crate::*;
use std::cell::RefCell;
use std::ffi::CStr;
use vecud_description::{ValueReference, VariableType};

thread_local! {
    /// What the FMU returns next; empty: null.
    static NEXT: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
    /// What was set last, by element.
    static SEEN: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

// SAFETY (of calling it): `n` strings with NULs at their ends.
unsafe extern "C" fn set_string(_: RawInstance, _: *const u32, _: usize, v: *const RawString, n: usize) -> RawStatus {
    // SAFETY: this function's contract.
    let copy = |i: usize| unsafe { CStr::from_ptr(*v.add(i)) }.to_bytes().to_vec();
    SEEN.set((0..n).map(copy).collect());
    0
}

// SAFETY (of calling it): `n` pointers to as many bytes as `sizes` says.
unsafe extern "C" fn set_binary(
    _: RawInstance,
    _: *const u32,
    _: usize,
    sizes: *const usize,
    v: *const RawBinary,
    n: usize,
) -> RawStatus {
    // SAFETY: this function's contract.
    let copy = |i: usize| unsafe { std::slice::from_raw_parts(*v.add(i), *sizes.add(i)) }.to_vec();
    SEEN.set((0..n).map(copy).collect());
    0
}

// SAFETY (of calling it): room for `n` pointers.
unsafe extern "C" fn get_string(_: RawInstance, _: *const u32, _: usize, v: *mut RawString, n: usize) -> RawStatus {
    NEXT.with_borrow(|next| {
        for (i, text) in next.iter().enumerate().take(n) {
            // SAFETY: this function's contract.
            unsafe { *v.add(i) = if text.is_empty() { std::ptr::null() } else { text.as_ptr().cast() } };
        }
    });
    0
}

// SAFETY (of calling it): room for `n` sizes and pointers.
unsafe extern "C" fn get_binary(
    _: RawInstance,
    _: *const u32,
    _: usize,
    sizes: *mut usize,
    v: *mut RawBinary,
    n: usize,
) -> RawStatus {
    NEXT.with_borrow(|next| {
        for (i, value) in next.iter().enumerate().take(n) {
            // SAFETY: this function's contract.
            unsafe { (*sizes.add(i), *v.add(i)) = (value.len(), value.as_ptr()) };
        }
    });
    0
}

fn partition() -> (InstanceControl, Partition) {
    let functions = Functions { set_string, set_binary, get_string, get_binary, ..functions() };
    let (control, partition, _) = running_with(functions);
    (control, partition)
}

fn two(variable_type: VariableType, capacity: usize) -> Batch {
    Batch::awaiting_bytes(variable_type, &[(ValueReference(1), 2, capacity), (ValueReference(2), 1, capacity)])
}

fn fill(batch: &mut Batch, element: usize, value: &[u8]) {
    batch.fill_bytes(element, |room| {
        room[..value.len()].copy_from_slice(value);
        value.len()
    });
}

#[test]
fn what_is_set_reaches_the_fmu_whichever_items_join_first() {
    for variable_type in [VariableType::String, VariableType::Binary] {
        let (_control, mut partition) = partition();
        let mut batch = two(variable_type, 4);
        fill(&mut batch, 0, b"long");
        fill(&mut batch, 2, b"c");
        batch.enable(1);
        partition.begin().set(&batch).unwrap();
        assert_eq!(SEEN.take(), [b"c"]);
        batch.enable(0);
        fill(&mut batch, 0, b"ab");
        let moved = Box::new(batch);
        partition.begin().set(&moved).unwrap();
        assert_eq!(SEEN.take(), [&b"c"[..], b"ab", b""], "a shorter value leaves nothing of the longer one behind");
    }
}

#[test]
fn what_the_fmu_lends_is_copied_before_it_takes_it_back() {
    for variable_type in [VariableType::String, VariableType::Binary] {
        let (_control, mut partition) = partition();
        let mut batch = two(variable_type, 8).all_enabled();
        let end: &[u8] = if variable_type == VariableType::String { b"\0" } else { b"" };
        NEXT.set([&b"one"[..], b"two", b"three"].map(|text| [text, end].concat()).to_vec());
        let mut getting = partition.begin().activate(0.0).unwrap();
        getting.get(&mut batch).unwrap();
        NEXT.with_borrow_mut(|next| next.iter_mut().for_each(|text| text.fill(b'#')));
        let got: Vec<&[u8]> = (0..3).map(|element| batch.bytes(element).unwrap()).collect();
        assert_eq!(got, [&b"one"[..], b"two", b"three"]);
    }
}

#[test]
fn a_value_without_room_leaves_the_element_as_it_was_and_says_its_size() {
    let (_control, mut partition) = partition();
    let mut batch = two(VariableType::Binary, 4).all_enabled();
    NEXT.set(vec![vec![1; 4], vec![2; 5], vec![]]);
    let mut getting = partition.begin().activate(0.0).unwrap();
    getting.get(&mut batch).unwrap();
    assert_eq!((batch.bytes(0), batch.bytes(1), batch.bytes(2)), (Ok(&[1; 4][..]), Err(5), Ok(&[][..])));
    NEXT.set(vec![vec![1; 4], vec![2; 3], vec![]]);
    getting.get(&mut batch).unwrap();
    assert_eq!(batch.bytes(1), Ok(&[2; 3][..]), "the next value that fits is taken");
}

#[test]
fn a_null_string_is_empty() {
    let (_control, mut partition) = partition();
    let mut batch = two(VariableType::String, 4).all_enabled();
    fill(&mut batch, 1, b"old");
    NEXT.set(vec![b"a\0".to_vec(), vec![], vec![]]);
    partition.begin().activate(0.0).unwrap().get(&mut batch).unwrap();
    assert_eq!((batch.bytes(0), batch.bytes(1)), (Ok(&b"a"[..]), Ok(&b""[..])));
}

#[test]
#[should_panic(expected = "Int8 is no type of strings or binaries")]
fn numbers_have_no_bytes() {
    two(VariableType::Int8, 1);
}
